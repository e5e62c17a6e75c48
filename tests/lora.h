// What tests of LoRA share: files of random tensors, a network file with some of them changed.
#pragma once
#include <math.h>

#include "core/file/safetensors.h"
#include "core/model/merge/lora_patch.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

typedef struct lora_made { // what a file is made of
    nino_st_entry e[64];
    char name[64][96];
    int n;
    uint64_t seed;
} lora_made;

// Adds a tensor of random values and returns them.
static inline const float *lora_tensor(lora_made *m, const char *name, nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a && m->n < 64 && strlen(name) < sizeof(m->name[0]));
    m->seed += 0x9e3779b97f4a7c15u;
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = random_vae_value(&m->seed);
    snprintf(m->name[m->n], sizeof(m->name[0]), "%s", name);
    m->e[m->n] = (nino_st_entry){ m->name[m->n], a };
    m->n++;
    return nino_array_f32(a);
}

static inline void lora_number(lora_made *m, const char *name, float v)
{
    lora_tensor(m, name, NINO_SHAPE(1));
    nino_array_f32(m->e[m->n - 1].array)[0] = v;
}

// Changes of a layer of [n,c] that are no products beside it. NULL ends.
static const char *const lora_other_kinds[] = { "LoHa", "LoKr", "DoRA", "diff", NULL };

static inline void lora_other(lora_made *m, int kind, const char *layer, int64_t n, int64_t c)
{
    static const struct {
        int kind;
        const char *end;
        int rows, cols; // 0: n, c; below: n or c by so much
    } t[] = { { 0, "hada_w1_a", 0, 2 },  { 0, "hada_w1_b", 2, 0 },     { 0, "hada_w2_a", 0, 2 },
              { 0, "hada_w2_b", 2, 0 },  { 1, "lokr_w1", 2, 4 },       { 1, "lokr_w2", -2, -4 },
              { 2, "dora_scale", 0, 1 }, { 2, "lora_A.weight", 3, 0 }, { 2, "lora_B.weight", 0, 3 },
              { 3, "diff", 0, 0 } };
    char name[96];
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        if (t[i].kind == kind) {
            snprintf(name, sizeof(name), "diffusion_model.%s.%s", layer, t[i].end);
            lora_tensor(m, name,
                        NINO_SHAPE(t[i].rows > 0 ? t[i].rows
                                   : t[i].rows   ? n / -t[i].rows
                                                 : n,
                                   t[i].cols > 0 ? t[i].cols
                                   : t[i].cols   ? c / -t[i].cols
                                                 : c));
        }
}

static inline nino_weights *lora_save(lora_made *m, const test_dir *dir, const char *file)
{
    nino_error err = { 0 };
    CHECK_OK(nino_st_save(dir->path, file, true, m->e, m->n, NULL, 0, &err), err);
    return test_open("%s/%s", dir->path, file);
}

static inline void lora_forget(lora_made *m)
{
    for (int i = 0; i < m->n; i++) {
        nino_array *a = (nino_array *) m->e[i].array;
        nino_array_unref(&a);
    }
    m->n = 0;
}
