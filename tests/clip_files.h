// Random encoders of every kind in files, with small tokenizers, and looking at conditioning.
#pragma once
#include "tests/random_text.h"

static test_dir dir;
static test_services data;
static nino_text_services services;
static nino_error err;
static nino_weights *file_l, *file_g, *file_h, *file_t5, *file_umt5;

static inline void make_files(void)
{
    const random_text l = { .width = 32, .layers = 3, .mlp = 48, .dtype = NINO_F16 };
    const random_text g = { .width = 40,
                            .layers = 4,
                            .mlp = 48,
                            .dtype = NINO_F16,
                            .seed = 1,
                            .has_projection = true,
                            .projection = 36,
                            .is_open = true };
    const random_text h = { .prefix = "cond_stage_model.model.",
                            .width = 32,
                            .layers = 3,
                            .mlp = 48,
                            .dtype = NINO_F16,
                            .seed = 2,
                            .has_projection = true,
                            .is_open = true };
    const random_text t5 = {
        .width = 64, .layers = 2, .mlp = 80, .is_t5 = true, .heads = 4, .seed = 3
    };
    const random_text umt5 = {
        .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .is_umt5 = true, .heads = 3, .seed = 4
    };
    file_l = random_text_file(&dir, "l", &l, 1, NULL);
    file_g = random_text_file(&dir, "g", &g, 1, NULL);
    file_h = random_text_file(&dir, "h", &h, 1, NULL);
    file_t5 = random_text_file(&dir, "t5", &t5, 1, NULL);
    file_umt5 = random_text_file(&dir, "umt5", &umt5, 1, NULL);
}

static inline nino_clip *load(nino_clip_type type, nino_weights *a, nino_weights *b,
                              nino_weights *c)
{
    nino_weights *w[] = { a, b, c };
    nino_clip *clip = NULL;
    CHECK_OK(nino_clip_load(w, 1 + !!b + !!c, type, &services, "test", &clip, &err), err);
    return clip;
}

static inline nino_cond *encode(nino_stream *s, const nino_clip *c, const char *text)
{
    return test_clip_encode(s, c, &(nino_clip_text){ .all = text });
}

static inline const float *row(const nino_cond *c, int64_t i)
{
    const nino_array *a = c->entry[0].context;
    CHECK(i < a->shape.dim[1]);
    return nino_array_f32(a) + i * a->shape.dim[2];
}

static inline bool is_shape(const nino_array *a, int64_t rows, int64_t width)
{
    return a && a->shape.rank == 3 && a->shape.dim[0] == 1 && a->shape.dim[1] == rows &&
           a->shape.dim[2] == width;
}

static inline bool is_pooled(const nino_cond *c, int64_t width)
{
    const nino_array *a = c->entry[0].pooled;
    return a && a->shape.rank == 2 && a->shape.dim[0] == 1 && a->shape.dim[1] == width;
}

static inline bool near(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f))
            return false;
    return true;
}

static inline bool zero(const float *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != 0)
            return false;
    return true;
}

static inline void clip_files_open(void)
{
    dir = test_dir_create();
    services = random_text_services(&data, &dir);
    make_files();
}

// files: what else is in the folder, NULL-terminated
static inline void clip_files_close(const char *const *files)
{
    static const char *const own[] = { "l", "g", "h", "t5", "umt5", "bpe_simple_vocab_16e6.txt" };
    nino_weights *all[] = { file_l, file_g, file_h, file_t5, file_umt5 };
    for (int i = 0; i < 5; i++)
        nino_weights_unref(&all[i]);
    test_services_close(&data);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        unlink(nino_name_of("%s/%s", dir.path, own[i]).s);
    test_dir_remove(&dir, files);
}
