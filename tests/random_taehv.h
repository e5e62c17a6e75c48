// Small tiny video autoencoders with TAEHV's names and random weights, and what they compute,
// written as plainly as the paper's code says it: frame by frame, channel by channel.
#pragma once
#include "tests/vae.h"

typedef struct tae_net {
    int z, patch, width[4], grow[3], pool[3];
    bool no_encoder, keeps_rows; // keeps_rows: the first change of the frame rate has two frames'
    nino_dtype dtype;
} tae_net;

typedef struct tae_file {
    nino_st_entry e[256];
    char names[256][64];
    int n;
    uint32_t seed;
    nino_dtype dtype;
} tae_file;

static inline float tae_value(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float) (*seed >> 8) / (1 << 23) - 1;
}

static inline void tae_tensor(tae_file *f, nino_shape shape, float spread, const char *half, int i,
                              const char *leaf)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a && f->n < 256);
    for (int64_t k = 0; k < nino_shape_count(&shape); k++)
        nino_array_f32(a)[k] = tae_value(&f->seed) * spread;
    snprintf(f->names[f->n], sizeof(f->names[0]), "%s.%d.%s", half, i, leaf);
    f->e[f->n] = (nino_st_entry){ f->names[f->n], nino_array_convert(a, f->dtype) };
    f->n++;
    nino_array_unref(&a);
}

static inline void tae_conv(tae_file *f, const char *half, int i, const char *leaf, int n, int c,
                            int k, bool has_bias)
{
    char name[32];
    snprintf(name, sizeof(name), "%sweight", leaf);
    tae_tensor(f, NINO_SHAPE(n, c, k, k), 1.7f / sqrtf((float) (c * k * k)), half, i, name);
    snprintf(name, sizeof(name), "%sbias", leaf);
    if (has_bias)
        tae_tensor(f, NINO_SHAPE(n), 0.2f, half, i, name);
}

static inline void tae_mem(tae_file *f, const char *half, int i, int c)
{
    tae_conv(f, half, i, "conv.0.", c, 2 * c, 3, true);
    tae_conv(f, half, i, "conv.2.", c, c, 3, true);
    tae_conv(f, half, i, "conv.4.", c, c, 3, true);
}

static inline void tae_fill(tae_file *f, const tae_net *t)
{
    const int colours = 3 * t->patch * t->patch, *w = t->width;
    *f = (tae_file){ .seed = 5, .dtype = t->dtype };
    tae_conv(f, "decoder", 1, "", w[0], t->z, 3, true);
    for (int g = 0; g < 3; g++) {
        const int rows = t->grow[g] * w[g] * (g == 0 && t->keeps_rows ? 2 : 1);
        for (int i = 0; i < 3; i++)
            tae_mem(f, "decoder", 3 + 6 * g + i, w[g]);
        tae_conv(f, "decoder", 7 + 6 * g, "conv.", rows, w[g], 1, false);
        tae_conv(f, "decoder", 8 + 6 * g, "", w[g + 1], w[g], 3, false);
    }
    tae_conv(f, "decoder", 22, "", colours, w[3], 3, true);
    if (t->no_encoder)
        return;
    tae_conv(f, "encoder", 0, "", w[3], colours, 3, true);
    for (int g = 0; g < 3; g++) {
        tae_conv(f, "encoder", 2 + 5 * g, "conv.", w[3], t->pool[g] * w[3], 1, false);
        tae_conv(f, "encoder", 3 + 5 * g, "", w[3], w[3], 3, false);
        for (int i = 0; i < 3; i++)
            tae_mem(f, "encoder", 4 + 5 * g + i, w[3]);
    }
    tae_conv(f, "encoder", 17, "", t->z, w[3], 3, true);
}

static inline void tae_release(tae_file *f)
{
    for (int i = 0; i < f->n; i++) {
        nino_array *a = (nino_array *) f->e[i].array;
        nino_array_unref(&a);
    }
}

static inline nino_vae *tae_make(const test_dir *dir, const char *file, const tae_net *t,
                                 tae_file *f)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    tae_fill(f, t);
    CHECK_OK(nino_st_save(dir->path, file, false, f->e, f->n, NULL, 0, &err), err);
    nino_weights *w = test_open("%s/%s", dir->path, file);
    CHECK_OK(nino_vae_load(w, file, &v, &err), err);
    nino_weights_unref(&w);
    return v;
}

// ---- what they compute: frames [t][c][h][w] --------------------------------------------------

typedef struct tae_clip {
    int t, c, h, w;
    double *p;
} tae_clip;

static inline tae_clip tae_new(int t, int c, int h, int w)
{
    tae_clip a = { t, c, h, w, calloc((size_t) t * (size_t) c * (size_t) h * (size_t) w, 8) };
    CHECK(a.p);
    return a;
}

static inline double *tae_at(const tae_clip *a, int t, int c, int y, int x)
{
    return &a->p[(((size_t) t * (size_t) a->c + (size_t) c) * (size_t) a->h + (size_t) y) *
                     (size_t) a->w +
                 (size_t) x];
}

static inline nino_array *tae_get(const tae_file *f, const char *half, int i, const char *leaf)
{
    char name[64];
    snprintf(name, sizeof(name), "%s.%d.%s", half, i, leaf);
    for (int k = 0; k < f->n; k++)
        if (!strcmp(f->names[k], name))
            return nino_array_convert((nino_array *) f->e[k].array, NINO_F32);
    return NULL;
}

// Consumes x. `last` rows only, if it is not 0.
static inline tae_clip tae_run_conv(const tae_file *f, const char *half, int i, const char *leaf,
                                    int stride, int last, tae_clip x)
{
    char name[32];
    snprintf(name, sizeof(name), "%sweight", leaf);
    nino_array *w = tae_get(f, half, i, name);
    snprintf(name, sizeof(name), "%sbias", leaf);
    nino_array *b = tae_get(f, half, i, name);
    CHECK(w && w->shape.dim[1] == x.c);
    const int k = (int) w->shape.dim[2], rows = (int) w->shape.dim[0];
    const int from = last ? rows - last : 0;
    tae_clip y = tae_new(x.t, rows - from, (x.h - 1) / stride + 1, (x.w - 1) / stride + 1);
    for (int t = 0; t < y.t; t++)
        for (int n = 0; n < y.c; n++)
            for (int q = 0; q < y.h * y.w; q++) {
                const int oy = q / y.w, ox = q % y.w;
                double sum = b ? (double) nino_array_f32(b)[from + n] : 0;
                for (int c = 0; c < x.c; c++)
                    for (int tap = 0; tap < k * k; tap++) {
                        const int iy = oy * stride + tap / k - k / 2;
                        const int ix = ox * stride + tap % k - k / 2;
                        if (iy >= 0 && ix >= 0 && iy < x.h && ix < x.w)
                            sum += *tae_at(&x, t, c, iy, ix) *
                                   (double) nino_array_f32(w)[((from + n) * x.c + c) * k * k + tap];
                    }
                *tae_at(&y, t, n, oy, ox) = sum;
            }
    nino_array_unref(&w);
    nino_array_unref(&b);
    free(x.p);
    return y;
}

static inline size_t tae_count(const tae_clip *a)
{
    return (size_t) a->t * (size_t) a->c * (size_t) a->h * (size_t) a->w;
}

static inline tae_clip tae_relu(tae_clip x)
{
    for (size_t i = 0; i < tae_count(&x); i++)
        x.p[i] = fmax(x.p[i], 0);
    return x;
}

static inline tae_clip tae_run_mem(const tae_file *f, const char *half, int i, tae_clip x)
{
    tae_clip both = tae_new(x.t, 2 * x.c, x.h, x.w);
    const size_t frame = (size_t) x.c * (size_t) x.h * (size_t) x.w;
    for (int t = 0; t < x.t; t++) {
        memcpy(both.p + (size_t) (2 * t) * frame, x.p + (size_t) t * frame, frame * 8);
        if (t)
            memcpy(both.p + (size_t) (2 * t + 1) * frame, x.p + (size_t) (t - 1) * frame,
                   frame * 8);
    }
    tae_clip y = tae_relu(tae_run_conv(f, half, i, "conv.0.", 1, 0, both));
    y = tae_relu(tae_run_conv(f, half, i, "conv.2.", 1, 0, y));
    y = tae_run_conv(f, half, i, "conv.4.", 1, 0, y);
    for (size_t k = 0; k < tae_count(&y); k++)
        y.p[k] += x.p[k];
    free(x.p);
    return tae_relu(y);
}

static inline tae_clip tae_double(tae_clip x)
{
    tae_clip y = tae_new(x.t, x.c, 2 * x.h, 2 * x.w);
    for (int t = 0; t < y.t; t++)
        for (int c = 0; c < y.c; c++)
            for (int q = 0; q < y.h * y.w; q++)
                *tae_at(&y, t, c, q / y.w, q % y.w) = *tae_at(&x, t, c, q / y.w / 2, q % y.w / 2);
    free(x.p);
    return y;
}

// z [t][z][h][w] in the network's space -> all its frames but the first time - 1, channels first.
static inline tae_clip tae_decode(const tae_file *f, const tae_net *n, tae_clip x)
{
    int time = 1;
    for (size_t i = 0; i < tae_count(&x); i++)
        x.p[i] = 3 * tanh(x.p[i] / 3);
    x = tae_relu(tae_run_conv(f, "decoder", 1, "", 1, 0, x));
    for (int g = 0; g < 3; g++) {
        for (int i = 0; i < 3; i++)
            x = tae_run_mem(f, "decoder", 3 + 6 * g + i, x);
        x = tae_run_conv(f, "decoder", 7 + 6 * g, "conv.", 1, n->grow[g] * x.c, tae_double(x));
        x.t *= n->grow[g]; // channels first: frames are blocks of channels as they lie
        x.c /= n->grow[g];
        time *= n->grow[g];
        x = tae_run_conv(f, "decoder", 8 + 6 * g, "", 1, 0, x);
    }
    x = tae_run_conv(f, "decoder", 22, "", 1, 0, tae_relu(x));
    const int p = n->patch;
    tae_clip y = tae_new(x.t - (time - 1), 3, x.h * p, x.w * p);
    for (int t = 0; t < y.t; t++)
        for (int c = 0; c < 3; c++)
            for (int q = 0; q < y.h * y.w; q++) {
                const int row = q / y.w, col = q % y.w;
                *tae_at(&y, t, c, row, col) =
                    *tae_at(&x, t + time - 1, (c * p + row % p) * p + col % p, row / p, col / p);
            }
    free(x.p);
    return y;
}

static inline tae_clip tae_encode(const tae_file *f, const tae_net *n, tae_clip x)
{
    const int p = n->patch, time = n->pool[0] * n->pool[1] * n->pool[2];
    const int whole = (x.t + time - 1) / time * time;
    tae_clip y = tae_new(whole, 3 * p * p, x.h / p, x.w / p);
    for (int t = 0; t < whole; t++)
        for (int c = 0; c < 3; c++)
            for (int q = 0; q < x.h * x.w; q++) {
                const int row = q / x.w, col = q % x.w;
                *tae_at(&y, t, (c * p + row % p) * p + col % p, row / p, col / p) =
                    *tae_at(&x, t < x.t ? t : x.t - 1, c, row, col);
            }
    free(x.p);
    y = tae_relu(tae_run_conv(f, "encoder", 0, "", 1, 0, y));
    for (int g = 0; g < 3; g++) {
        y.t /= n->pool[g];
        y.c *= n->pool[g];
        y = tae_run_conv(f, "encoder", 2 + 5 * g, "conv.", 1, 0, y);
        y = tae_run_conv(f, "encoder", 3 + 5 * g, "", 2, 0, y);
        for (int i = 0; i < 3; i++)
            y = tae_run_mem(f, "encoder", 4 + 5 * g + i, y);
    }
    return tae_run_conv(f, "encoder", 17, "", 1, 0, y);
}

// Channels last and back.
static inline tae_clip tae_from(const nino_array *a)
{
    const int64_t *d = a->shape.dim + (a->shape.rank == 5);
    tae_clip x = tae_new((int) d[0], (int) d[3], (int) d[1], (int) d[2]);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        const int64_t q = i / d[3];
        *tae_at(&x, (int) (q / d[2] / d[1]), (int) (i % d[3]), (int) (q / d[2] % d[1]),
                (int) (q % d[2])) = (double) nino_array_f32(a)[i];
    }
    return x;
}

static inline nino_array *tae_to(tae_clip x)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(x.t, x.h, x.w, x.c));
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        const int64_t q = i / x.c;
        nino_array_f32(a)[i] = (float) *tae_at(&x, (int) (q / x.w / x.h), (int) (i % x.c),
                                               (int) (q / x.w % x.h), (int) (q % x.w));
    }
    free(x.p);
    return a;
}
