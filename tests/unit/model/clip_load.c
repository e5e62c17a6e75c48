// Text encoders from files: which file is which, the types they make, what does not fit together.
#include "core/model/detect.h"
#include "tests/random_text.h"

static test_dir dir;
static nino_error err;

#define CLIP_L                                                                                     \
    {                                                                                              \
        .width = 32, .layers = 2, .mlp = 16, .vocab = 8                                            \
    }
#define CLIP_G                                                                                     \
    {                                                                                              \
        .width = 40, .layers = 2, .mlp = 16, .vocab = 8, .has_projection = true                    \
    }
#define CLIP_H                                                                                     \
    {                                                                                              \
        .width = 1024, .layers = 1, .mlp = 16, .vocab = 8, .dtype = NINO_F8_E4M3                   \
    }
#define WIDE_G                                                                                     \
    {                                                                                              \
        .width = 1280, .layers = 1, .mlp = 16, .vocab = 8, .dtype = NINO_F8_E4M3, .is_open = true  \
    }
#define T5                                                                                         \
    {                                                                                              \
        .width = 24, .layers = 2, .mlp = 16, .is_t5 = true, .heads = 3                             \
    }
#define UMT5                                                                                       \
    {                                                                                              \
        .width = 24, .layers = 2, .mlp = 16, .is_t5 = true, .heads = 3, .is_umt5 = true            \
    }

enum { L, G, H, WIDE, T, U, OTHER, N_FILES };
static nino_weights *file[N_FILES];
static const char *const names[N_FILES] = { "l", "g", "h", "wide", "t5", "umt5", "other" };

static void make_files(void)
{
    static const random_text kinds[] = { CLIP_L, CLIP_G, CLIP_H, WIDE_G, T5, UMT5 };
    for (int i = 0; i < OTHER; i++)
        file[i] = random_text_file(&dir, names[i], &kinds[i], 1, NULL);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(8, 4, 3, 3));
    const nino_st_entry unet[] = { { "input_blocks.0.0.weight", a } };
    CHECK_OK(nino_st_save(dir.path, "other", false, unet, 1, NULL, 0, &err), err);
    nino_array_unref(&a);
    file[OTHER] = test_open("%s/other", dir.path);
}

// "G L" of an encoder list, by enc[]
static const char *encoders(const nino_clip *c)
{
    static char out[64];
    out[0] = 0;
    for (int i = 0; i < NINO_ENC_COUNT; i++)
        if (c->enc[i]) {
            CHECK(c->enc[i]->id == (nino_encoder_id) i);
            snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s ", nino_encoder_names[i]);
        }
    return out;
}

static nino_status load(const int *which, int n, nino_clip_type type, nino_clip **c)
{
    nino_weights *w[4];
    for (int i = 0; i < n; i++)
        w[i] = file[which[i]];
    err = (nino_error){ 0 };
    *c = NULL;
    return nino_clip_load(w, n, type, NULL, "some files", c, &err);
}

static void test_good(void)
{
    static const struct {
        int n, file[3];
        nino_clip_type wanted, got;
        const char *encoders;
    } good[] = {
        { 1, { L }, NINO_CLIP_SD1, NINO_CLIP_SD1, "clip_l " },
        { 1, { G }, NINO_CLIP_SD1, NINO_CLIP_SD1, "clip_l " }, // too small to tell
        { 1, { WIDE }, NINO_CLIP_SD1, NINO_CLIP_SDXL_REFINER, "clip_g " },
        { 1, { H }, NINO_CLIP_SD1, NINO_CLIP_SD2, "clip_h " },
        { 1, { T }, NINO_CLIP_SD1, NINO_CLIP_T5, "t5 " },
        { 1, { U }, NINO_CLIP_SD1, NINO_CLIP_WAN, "umt5 " },
        { 1, { U }, NINO_CLIP_WAN, NINO_CLIP_WAN, "umt5 " },
        { 2, { L, WIDE }, NINO_CLIP_SDXL, NINO_CLIP_SDXL, "clip_l clip_g " },
        { 2, { WIDE, L }, NINO_CLIP_SDXL, NINO_CLIP_SDXL, "clip_l clip_g " },
        { 2, { G, L }, NINO_CLIP_SDXL, NINO_CLIP_SDXL, "clip_l clip_g " }, // the wider one
        { 2, { T, L }, NINO_CLIP_FLUX, NINO_CLIP_FLUX, "clip_l t5 " },
        { 2, { L, T }, NINO_CLIP_FLUX, NINO_CLIP_FLUX, "clip_l t5 " },
        { 3, { T, G, L }, NINO_CLIP_SD3, NINO_CLIP_SD3, "clip_l clip_g t5 " },
        { 2, { T, WIDE }, NINO_CLIP_SD3, NINO_CLIP_SD3, "clip_g t5 " },
        { 1, { T }, NINO_CLIP_SD3, NINO_CLIP_SD3, "t5 " },
        { 1, { T }, NINO_CLIP_CHROMA, NINO_CLIP_CHROMA, "t5 " },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        nino_clip *c = NULL;
        CHECK_OK(load(good[i].file, good[i].n, good[i].wanted, &c), err);
        CHECK(c->type == good[i].got && c->weight_bytes > 0 && !c->layer);
        CHECK_STR(encoders(c), good[i].encoders);
        CHECK_STR(c->name, "some files");
        nino_clip *copy = nino_clip_copy(c);
        CHECK(copy && copy->enc[NINO_ENC_T5] == c->enc[NINO_ENC_T5]);
        nino_clip_unref(&c);
        CHECK_STR(encoders(copy), good[i].encoders); // the networks are still there
        nino_clip_unref(&copy);
    }
    nino_clip *a = NULL, *b = NULL;
    CHECK_OK(load((int[]){ L }, 1, NINO_CLIP_SD1, &a), err);
    CHECK_OK(load((int[]){ T }, 1, NINO_CLIP_SD1, &b), err);
    CHECK(memcmp(&a->identity, &b->identity, sizeof(a->identity)));
    nino_clip_unref(&a);
    nino_clip_unref(&b);
}

static void test_bad(void)
{
    static const struct {
        int n, file[3];
        nino_clip_type type;
        const char *where, *msg;
    } bad[] = {
        { 1, { OTHER }, NINO_CLIP_SD1, "other", "it holds a diffusion model" },
        { 2, { L, OTHER }, NINO_CLIP_FLUX, "other", "it holds a diffusion model" },
        { 2, { L, L }, NINO_CLIP_SDXL, "/l", "holds a CLIP-L, and so does" },
        { 2, { T, T }, NINO_CLIP_FLUX, "t5", "holds a T5, and so does" },
        { 1, { L }, NINO_CLIP_SDXL, "some files", "CLIP-L and CLIP-G; no file holds a CLIP-G" },
        { 1, { L }, NINO_CLIP_FLUX, "some files", "of Flux is CLIP-L and T5; no file holds a T5" },
        { 2, { L, U }, NINO_CLIP_FLUX, "umt5", "it holds a UMT5; the text encoder of Flux is" },
        { 1, { T }, NINO_CLIP_WAN, "t5", "it holds a T5; the text encoder of Wan is UMT5" },
        { 1, { H }, NINO_CLIP_SD3, "h", "any of CLIP-L, CLIP-G and T5" },
        { 1, { L }, NINO_CLIP_CHROMA, "/l", "it holds a CLIP-L; the text encoder of Chroma is T5" },
        { 1, { T }, NINO_CLIP_SDXL_REFINER, "t5", "the SDXL refiner is CLIP-G" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        nino_clip *c = NULL;
        CHECK(load(bad[i].file, bad[i].n, bad[i].type, &c) == NINO_ERR_FORMAT);
        CHECK(!c);
        CHECK_STR(err.kind, "model");
        if (!strstr(err.where, bad[i].where) || !strstr(err.msg, bad[i].msg)) {
            fprintf(stderr, "case %zu: %s: %s\n", i, err.where, err.msg);
            CHECK(false);
        }
    }
}

// ---- checkpoints -----------------------------------------------------------------------------

static void test_checkpoints(void)
{
    static const struct {
        random_text t[3];
        int n;
        nino_clip_type type;
        const char *encoders;
    } good[] = {
        { { { .prefix = "cond_stage_model.transformer.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8 } },
          1,
          NINO_CLIP_SD1,
          "clip_l " },
        { { { .prefix = "cond_stage_model.model.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8,
              .is_open = true } },
          1,
          NINO_CLIP_SD2,
          "clip_h " },
        { { { .prefix = "conditioner.embedders.0.transformer.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8 },
            { .prefix = "conditioner.embedders.1.model.",
              .width = 40,
              .layers = 1,
              .mlp = 8,
              .vocab = 8,
              .is_open = true } },
          2,
          NINO_CLIP_SDXL,
          "clip_l clip_g " },
        { { { .prefix = "conditioner.embedders.0.model.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8,
              .is_open = true } },
          1,
          NINO_CLIP_SDXL_REFINER,
          "clip_g " },
        { { { .prefix = "text_encoders.clip_l.", .width = 32, .layers = 1, .mlp = 8, .vocab = 8 },
            { .prefix = "text_encoders.t5xxl.",
              .width = 24,
              .layers = 1,
              .mlp = 8,
              .is_t5 = true,
              .heads = 3 } },
          2,
          NINO_CLIP_FLUX,
          "clip_l t5 " },
        { { { .prefix = "text_encoders.clip_l.transformer.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8 },
            { .prefix = "text_encoders.clip_g.transformer.",
              .width = 32,
              .layers = 1,
              .mlp = 8,
              .vocab = 8 },
            { .prefix = "text_encoders.t5xxl.",
              .width = 24,
              .layers = 1,
              .mlp = 8,
              .is_t5 = true,
              .heads = 3 } },
          3,
          NINO_CLIP_SD3,
          "clip_l clip_g t5 " },
        { { { .prefix = "text_encoders.umt5xxl.",
              .width = 24,
              .layers = 1,
              .mlp = 8,
              .is_t5 = true,
              .heads = 3 } },
          1,
          NINO_CLIP_WAN,
          "umt5 " },
    };
    nino_clip_type type;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        nino_weights *w = random_text_file(&dir, "ckpt", good[i].t, good[i].n, NULL);
        nino_clip *c = NULL;
        CHECK_OK(nino_clip_type_of_checkpoint(w, &type, &err), err);
        CHECK(type == good[i].type);
        CHECK_OK(nino_clip_load(&w, 1, type, NULL, "ckpt", &c, &err), err);
        CHECK_STR(encoders(c), good[i].encoders);
        nino_clip_unref(&c);
        nino_weights_unref(&w);
    }
    CHECK(nino_clip_type_of_checkpoint(file[OTHER], &type, &err) == NINO_ERR_MISSING);
}

int main(void)
{
    static const char *const files[] = {
        "l", "g", "h", "wide", "t5", "umt5", "other", "ckpt", NULL
    };
    dir = test_dir_create();
    make_files();
    test_good();
    test_bad();
    test_checkpoints();
    for (int i = 0; i < N_FILES; i++)
        nino_weights_unref(&file[i]);
    test_dir_remove(&dir, files);
    return 0;
}
