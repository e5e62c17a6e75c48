// An AutoencoderKL with random weights, written as safetensors in LDM names: any width, levels and
// latent channels. Weights are scaled by 1/sqrt(fan-in), so that activations stay of order one
// through the whole net.
#pragma once
#include "core/file/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct random_vae {
    int ch, mult[4], n_levels, n_res, z;
    bool quant_convs, with_encoder, is_blank; // is_blank: zeros, where only sizes matter
    bool is_folded;                           // FLUX.2's: a batch norm of squares of 2 x 2 cells
    nino_dtype dtype;
    uint64_t seed;
    nino_st_entry *entries;
    char (*names)[96];
    int n;
} random_vae;

// ch 128, mult 1,2,4,4: the net of SDXL, SD3 and Flux.
static inline random_vae random_vae_full(int z)
{
    return (random_vae){ .ch = 128,
                         .mult = { 1, 2, 4, 4 },
                         .n_levels = 4,
                         .n_res = 2,
                         .z = z,
                         .with_encoder = true,
                         .dtype = NINO_F16,
                         .seed = 1 };
}

// Roughly normal: the sum of four uniform numbers, variance 1.
static inline float random_vae_value(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    const uint64_t r = *state;
    const int sum =
        (int) (r & 0xffff) + (int) (r >> 16 & 0xffff) + (int) (r >> 32 & 0xffff) + (int) (r >> 48);
    return (float) (sum - 2 * 65535) * (1.7320508f / 65535.0f);
}

static inline void random_vae_add(random_vae *v, const char *name, nino_shape shape, float mean,
                                  float sigma)
{
    snprintf(v->names[v->n], sizeof(v->names[0]), "%s", name);
    if (v->is_blank) {
        v->entries[v->n] = (nino_st_entry){ v->names[v->n], nino_array_create(v->dtype, shape) };
        v->n++;
        return;
    }
    nino_array *f = nino_array_create(NINO_F32, shape);
    const int64_t count = nino_shape_count(&shape);
    for (int64_t i = 0; i < count; i++)
        nino_array_f32(f)[i] = mean + sigma * random_vae_value(&v->seed);
    v->entries[v->n] = (nino_st_entry){ v->names[v->n], nino_array_convert(f, v->dtype) };
    v->n++;
    nino_array_unref(&f);
}

static inline void random_vae_conv(random_vae *v, const char *prefix, const char *name, int out,
                                   int in, int k)
{
    char full[96];
    snprintf(full, sizeof(full), "%s%s.weight", prefix, name);
    random_vae_add(v, full, NINO_SHAPE(out, in, k, k), 0, 1 / sqrtf((float) (in * k * k)));
    snprintf(full, sizeof(full), "%s%s.bias", prefix, name);
    random_vae_add(v, full, NINO_SHAPE(out), 0, 0.05f);
}

static inline void random_vae_norm(random_vae *v, const char *prefix, const char *name, int c)
{
    char full[96];
    snprintf(full, sizeof(full), "%s%s.weight", prefix, name);
    random_vae_add(v, full, NINO_SHAPE(c), 1, 0.1f);
    snprintf(full, sizeof(full), "%s%s.bias", prefix, name);
    random_vae_add(v, full, NINO_SHAPE(c), 0, 0.1f);
}

static inline void random_vae_res(random_vae *v, const char *prefix, int in, int out)
{
    random_vae_norm(v, prefix, ".norm1", in);
    random_vae_conv(v, prefix, ".conv1", out, in, 3);
    random_vae_norm(v, prefix, ".norm2", out);
    random_vae_conv(v, prefix, ".conv2", out, out, 3);
    if (in != out)
        random_vae_conv(v, prefix, ".nin_shortcut", out, in, 1);
}

static inline void random_vae_mid(random_vae *v, const char *side, int c)
{
    static const char *const convs[] = { ".q", ".k", ".v", ".proj_out" };
    char p[48];
    snprintf(p, sizeof(p), "%s.mid.block_1", side);
    random_vae_res(v, p, c, c);
    snprintf(p, sizeof(p), "%s.mid.attn_1", side);
    random_vae_norm(v, p, ".norm", c);
    for (int i = 0; i < 4; i++)
        random_vae_conv(v, p, convs[i], c, c, 1);
    snprintf(p, sizeof(p), "%s.mid.block_2", side);
    random_vae_res(v, p, c, c);
}

static inline void random_vae_decoder(random_vae *v)
{
    const int top = v->ch * v->mult[v->n_levels - 1];
    char p[48];
    random_vae_conv(v, "decoder", ".conv_in", top, v->z, 3);
    random_vae_mid(v, "decoder", top);
    for (int level = v->n_levels - 1, in = top; level >= 0; level--) {
        const int out = v->ch * v->mult[level];
        for (int b = 0; b <= v->n_res; b++, in = out) {
            snprintf(p, sizeof(p), "decoder.up.%d.block.%d", level, b);
            random_vae_res(v, p, in, out);
        }
        snprintf(p, sizeof(p), "decoder.up.%d", level);
        if (level > 0)
            random_vae_conv(v, p, ".upsample.conv", out, out, 3);
    }
    random_vae_norm(v, "decoder", ".norm_out", v->ch * v->mult[0]);
    random_vae_conv(v, "decoder", ".conv_out", 3, v->ch * v->mult[0], 3);
}

static inline void random_vae_encoder(random_vae *v)
{
    char p[48];
    random_vae_conv(v, "encoder", ".conv_in", v->ch, 3, 3);
    int in = v->ch;
    for (int level = 0; level < v->n_levels; level++) {
        const int out = v->ch * v->mult[level];
        for (int b = 0; b < v->n_res; b++, in = out) {
            snprintf(p, sizeof(p), "encoder.down.%d.block.%d", level, b);
            random_vae_res(v, p, in, out);
        }
        snprintf(p, sizeof(p), "encoder.down.%d", level);
        if (level < v->n_levels - 1)
            random_vae_conv(v, p, ".downsample.conv", out, out, 3);
    }
    random_vae_mid(v, "encoder", in);
    random_vae_norm(v, "encoder", ".norm_out", in);
    random_vae_conv(v, "encoder", ".conv_out", 2 * v->z, in, 3);
}

// The file of what was added to v, which goes.
static inline nino_status random_vae_write(random_vae *v, const char *dir, const char *name,
                                           nino_error *err)
{
    const nino_status st = nino_st_save(dir, name, false, v->entries, v->n, NULL, 0, err);
    for (int i = 0; i < v->n; i++) {
        nino_array *a = (nino_array *) v->entries[i].array;
        nino_array_unref(&a);
    }
    free(v->entries);
    free(v->names);
    return st;
}

// Writes dir/name.
static inline nino_status random_vae_save(random_vae v, const char *dir, const char *name,
                                          nino_error *err)
{
    v.entries = calloc(512, sizeof(*v.entries));
    v.names = calloc(512, sizeof(*v.names));
    v.n = 0;
    v.seed = v.seed * 0x9e3779b97f4a7c15u + 1;
    random_vae_decoder(&v);
    if (v.with_encoder)
        random_vae_encoder(&v);
    if (v.quant_convs) {
        random_vae_conv(&v, "", "post_quant_conv", v.z, v.z, 1);
        random_vae_conv(&v, "", "quant_conv", 2 * v.z, 2 * v.z, 1);
    }
    if (v.is_folded) {
        random_vae_add(&v, "bn.running_mean", NINO_SHAPE(4 * v.z), 0, 0.3f);
        random_vae_add(&v, "bn.running_var", NINO_SHAPE(4 * v.z), 1, 0.1f);
    }
    return random_vae_write(&v, dir, name, err);
}
