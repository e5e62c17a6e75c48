// What diffusion transformers share: time steps as vectors, pictures as tokens, tables of positions.
// Sources: Vaswani et al., Attention Is All You Need (2017); Peebles and Xie, Scalable Diffusion
// Models with Transformers (2023); Su et al., RoFormer (2021); order of features and circular
// padding: black-forest-labs/flux, ComfyUI ldm/common_dit.py.
#include "core/model/dit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SINUSOID 256 // channels of a time step

nino_tensor *nino_dit_sinusoid(nino_stream *s, const float *v, int64_t n, int64_t stride,
                               float scale)
{
    enum { HALF = SINUSOID / 2 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, SINUSOID));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for the time steps");
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < HALF; k++) {
            const float rate = expf(-logf(10000) * (float) k / HALF);
            const float angle = scale * v[i * stride] * rate;
            nino_array_f32(a)[i * SINUSOID + k] = cosf(angle);
            nino_array_f32(a)[i * SINUSOID + HALF + k] = sinf(angle);
        }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

nino_tensor *nino_dit_even(nino_stream *s, nino_tensor *x)
{
    for (int axis = 1; axis < 3; axis++)
        if (nino_dim(x, axis) % 2)
            x = nino_concat(s, x, nino_slice(s, nino_ref(x), axis, 0, 1), axis);
    return x;
}

nino_tensor *nino_dit_tokens(nino_stream *s, nino_tensor *x, int64_t p)
{
    if (p > 1)
        x = nino_dit_even(s, x);
    const int64_t n = nino_dim(x, 0), h = nino_dim(x, 1) / p, w = nino_dim(x, 2) / p;
    const int64_t c = nino_dim(x, 3);
    if (p > 1) {
        x = nino_reshape(s, x, NINO_SHAPE(n * h, p, w, p, c));
        x = nino_permute(s, x, (const int[]){ 0, 2, 4, 1, 3 });
    }
    return nino_reshape(s, x, NINO_SHAPE(n, h * w, p * p * c));
}

nino_tensor *nino_dit_picture(nino_stream *s, nino_tensor *x, int64_t p, int64_t height,
                              int64_t width)
{
    const int64_t n = nino_dim(x, 0), c = nino_dim(x, 2) / (p * p);
    const int64_t h = nino_dit_side(height, p), w = nino_dit_side(width, p);
    if (p > 1) {
        x = nino_reshape(s, x, NINO_SHAPE(n * h, w, c, p, p));
        x = nino_permute(s, x, (const int[]){ 0, 3, 1, 4, 2 });
    }
    x = nino_reshape(s, x, NINO_SHAPE(n, p * h, p * w, c));
    return nino_slice(s, nino_slice(s, x, 1, 0, height), 2, 0, width);
}

nino_tensor *nino_dit_picture_by_cell(nino_stream *s, nino_tensor *x, int64_t p, int64_t height,
                                      int64_t width)
{
    const int64_t n = nino_dim(x, 0), c = nino_dim(x, 2) / (p * p);
    const int64_t h = nino_dit_side(height, p), w = nino_dit_side(width, p);
    x = nino_reshape(s, x, NINO_SHAPE(n * h, w, p, p * c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3 });
    x = nino_reshape(s, x, NINO_SHAPE(n, p * h, p * w, c));
    return nino_slice(s, nino_slice(s, x, 1, 0, height), 2, 0, width);
}

// ---- positions -------------------------------------------------------------------------------
float *nino_rope_put(float *to, const nino_rope_axes *a, const double *pos)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < a->channels[i] / 2; k++) {
            const double angle = pos[i] / pow(a->theta, 2.0 * k / (double) a->channels[i]);
            *to++ = (float) cos(angle);
            *to++ = (float) sin(angle);
        }
    return to;
}

void nino_rope_cache_init(nino_rope_cache *c)
{
    *c = (nino_rope_cache){ .oldest = 0 };
    pthread_mutex_init(&c->lock, NULL);
}

void nino_rope_cache_release(nino_rope_cache *c)
{
    for (int i = 0; i < NINO_ROPE_TABLES; i++) {
        nino_array_unref(&c->kept[i].table);
        free(c->kept[i].key);
    }
    pthread_mutex_destroy(&c->lock);
}

// Of the lock's holder: puts a new table in place of the oldest one.
static nino_array *rope_cache_make(nino_rope_cache *c, const void *key, size_t size,
                                   nino_rope_make_fn *make)
{
    const int i = c->oldest;
    void *own = realloc(c->kept[i].key, size);
    if (!own)
        return NULL;
    c->oldest = (i + 1) % NINO_ROPE_TABLES;
    nino_array_unref(&c->kept[i].table);
    c->kept[i].key = own;
    memcpy(own, key, size);
    c->kept[i].key_size = size;
    return c->kept[i].table = make(key);
}

nino_array *nino_rope_cache_get(nino_rope_cache *c, const void *key, size_t size,
                                nino_rope_make_fn *make)
{
    nino_array *a = NULL;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < NINO_ROPE_TABLES && !a; i++)
        if (c->kept[i].table && c->kept[i].key_size == size && !memcmp(c->kept[i].key, key, size))
            a = c->kept[i].table;
    if (!a)
        a = rope_cache_make(c, key, size, make);
    if (a)
        nino_array_ref(a);
    pthread_mutex_unlock(&c->lock);
    return a;
}

nino_tensor *nino_rope_upload(nino_stream *s, nino_rope_cache *c, const void *key, size_t size,
                              nino_rope_make_fn *make)
{
    if (nino_stream_status(s, NULL))
        return NULL;
    nino_array *a = nino_rope_cache_get(c, key, size, make);
    nino_tensor *t = a ? nino_upload(s, a, NINO_F32)
                       : nino_stream_fail(s, NINO_ERR_NOMEM, "model", "no memory for positions");
    nino_array_unref(&a);
    return t;
}
