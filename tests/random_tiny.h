// A TAESD-like network with random weights in one file (ComfyUI's combined prefixes): any width,
// levels and blocks a level. Needs no more than a few cells of context, unlike AutoencoderKL.
#pragma once
#include <sys/stat.h>

#include "tests/random_vae.h"
#include "tests/test.h"

typedef struct random_tiny {
    int width, levels, blocks, z;  // levels: resolutions; factor is 1 << (levels - 1)
    bool with_pool;                // TAEF2's pools in the blocks of the lowest resolution
    const char *encoder, *decoder; // prefixes; NULL leaves the part out
} random_tiny;

static inline void random_tiny_conv(random_vae *v, const char *prefix, int i, const char *leaf,
                                    int out, int in, int k, bool bias)
{
    char name[64];
    snprintf(name, sizeof(name), "%s%d%s.weight", prefix, i, leaf);
    random_vae_add(v, name, NINO_SHAPE(out, in, k, k), 0, 0.9f / sqrtf((float) (in * k * k)));
    snprintf(name, sizeof(name), "%s%d%s.bias", prefix, i, leaf);
    if (bias)
        random_vae_add(v, name, NINO_SHAPE(out), 0, 0.05f);
}

static inline int random_tiny_blocks(random_vae *v, const random_tiny *t, const char *prefix, int i,
                                     bool with_pool)
{
    char name[64];
    for (int b = 0; b < t->blocks; b++, i++) {
        random_tiny_conv(v, prefix, i, ".conv.0", t->width, t->width, 3, true);
        random_tiny_conv(v, prefix, i, ".conv.2", t->width, t->width, 3, true);
        random_tiny_conv(v, prefix, i, ".conv.4", t->width, t->width, 3, true);
        if (!with_pool)
            continue;
        random_tiny_conv(v, prefix, i, ".pool.0", 4 * t->width, t->width, 1, false);
        snprintf(name, sizeof(name), "%s%d.pool.1", prefix, i);
        random_vae_norm(v, name, "", 4 * t->width);
        random_tiny_conv(v, prefix, i, ".pool.3", t->width, 4 * t->width, 1, false);
    }
    return i;
}

static inline nino_status random_tiny_save(const random_tiny *t, const char *dir, const char *name,
                                           nino_error *err)
{
    random_vae v = { .dtype = NINO_F32, .seed = 77 };
    v.entries = calloc(512, sizeof(*v.entries));
    v.names = calloc(512, sizeof(*v.names));
    if (t->decoder) {
        random_tiny_conv(&v, t->decoder, 1, "", t->width, t->z, 3, true);
        int i = random_tiny_blocks(&v, t, t->decoder, 3, t->with_pool);
        for (int level = 1; level < t->levels; level++) {
            random_tiny_conv(&v, t->decoder, i + 1, "", t->width, t->width, 3, false);
            i = random_tiny_blocks(&v, t, t->decoder, i + 2, false);
        }
        random_tiny_conv(&v, t->decoder, i, "", 3, t->width, 3, true);
    }
    if (t->encoder) {
        random_tiny_conv(&v, t->encoder, 0, "", t->width, 3, 3, true);
        int i = random_tiny_blocks(&v, t, t->encoder, 1, false);
        for (int level = 1; level < t->levels; level++) {
            random_tiny_conv(&v, t->encoder, i, "", t->width, t->width, 3, false);
            i = random_tiny_blocks(&v, t, t->encoder, i + 1,
                                   t->with_pool && level == t->levels - 1);
        }
        random_tiny_conv(&v, t->encoder, i, "", t->z, t->width, 3, true);
    }
    return random_vae_write(&v, dir, name, err);
}

// ROOT/vae_approx as ComfyUI keeps it, for tests without the published networks: "taesd" and
// "taef1" of four and sixteen channels.
static inline void random_tiny_approx(const char *root)
{
    static const struct {
        const char *name;
        int z;
    } nets[] = { { "taesd", 4 }, { "taef1", 16 } };
    char dir[512], file[64];
    nino_error err = { 0 };
    snprintf(dir, sizeof(dir), "%s/vae_approx", root);
    mkdir(root, 0700);
    CHECK(!mkdir(dir, 0700));
    for (int i = 0; i < 4; i++) {
        const bool decodes = i & 1;
        const random_tiny t = { .width = 8,
                                .levels = 4,
                                .blocks = 1,
                                .z = nets[i / 2].z,
                                .encoder = decodes ? NULL : "",
                                .decoder = decodes ? "" : NULL };
        snprintf(file, sizeof(file), "%s_%s.safetensors", nets[i / 2].name,
                 decodes ? "decoder" : "encoder");
        CHECK_OK(random_tiny_save(&t, dir, file, &err), err);
    }
}
