// Reference softmax and attention.
#include "core/op/ref/ref.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// v[i] = exp(v[i] - max) / sum
static void softmax(double *v, int64_t n)
{
    double max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        max = v[i] > max ? v[i] : max;
    for (int64_t i = 0; i < n; i++)
        sum += v[i] = exp(v[i] - max);
    for (int64_t i = 0; i < n; i++)
        v[i] /= sum;
}

nino_status nino_ref_softmax(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t n = s->dim[s->rank - 1], rows = nino_shape_count(s) / n;
    double *v = malloc((size_t) n * sizeof(*v));
    if (!v)
        return nino_ref_nomem(err);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < n; i++)
            v[i] = (double) a->x[0][r * n + i] * a->d->attr.scale;
        softmax(v, n);
        for (int64_t i = 0; i < n; i++)
            a->y[r * n + i] = (float) v[i];
    }
    free(v);
    return NINO_OK;
}

// Adds the bias to the logits; false: it hides every key.
static bool attn_add_bias(double *p, const float *bias, int64_t n)
{
    bool sees_any = false;
    for (int64_t j = 0; j < n; j++)
        if (bias[j] <= -FLT_MAX)
            p[j] = -INFINITY;
        else {
            p[j] += bias[j];
            sees_any = true;
        }
    return sees_any;
}

// One query against the first tk keys of its head. k, v: first key's and value's channels of the head, rows
// are `row` apart; bias may be NULL.
static void attn_attend(const float *q, const float *k, const float *v, const float *bias,
                        int64_t tk, int64_t depth, int64_t row, double scale, double *p,
                        double *out)
{
    for (int64_t j = 0; j < tk; j++) {
        double dot = 0;
        for (int64_t c = 0; c < depth; c++)
            dot += (double) q[c] * k[j * row + c];
        p[j] = dot * scale;
    }
    memset(out, 0, (size_t) depth * sizeof(*out));
    if (bias && !attn_add_bias(p, bias, tk))
        return;
    softmax(p, tk);
    for (int64_t j = 0; j < tk; j++)
        for (int64_t c = 0; c < depth; c++)
            out[c] += p[j] * v[j * row + c];
}

// The bias of a batch item, head and query.
static const float *bias_row(const nino_ref_args *a, int64_t b, int64_t head, int64_t i)
{
    const nino_shape *s = &a->d->src[3];
    if (a->d->n_src < 4)
        return NULL;
    b = s->dim[0] == 1 ? 0 : b;
    head = s->dim[1] == 1 ? 0 : head;
    i = s->dim[2] == 1 ? 0 : i;
    return a->x[3] + ((b * s->dim[1] + head) * s->dim[2] + i) * s->dim[3];
}

nino_status nino_ref_attention(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->src[0];
    const int64_t n = s->dim[0], tq = s->dim[1], row = s->dim[2], tk = a->d->src[1].dim[1];
    const int64_t depth = row / a->d->attr.heads, kv_row = a->d->src[1].dim[2];
    const int64_t together = a->d->attr.heads / nino_op_kv_heads(a->d);
    const bool is_causal = a->d->attr.is_causal;
    double *p = malloc((size_t) (tk + depth) * sizeof(*p));
    if (!p)
        return nino_ref_nomem(err);
    nino_status st = NINO_OK;
    for (int64_t b = 0; b < n && !st; b++)
        for (int64_t h = 0; h < row && !st; h += depth)
            for (int64_t i = 0; i < tq && !(st = nino_ref_cancelled(a, err)); i++) {
                const int64_t at = (b * tq + i) * row + h, seen = is_causal ? i + tk - tq + 1 : tk;
                const int64_t key = b * tk * kv_row + h / depth / together * depth;
                attn_attend(a->x[0] + at, a->x[1] + key, a->x[2] + key,
                            bias_row(a, b, h / depth, i), seen, depth, kv_row, a->d->attr.scale, p,
                            p + tk);
                for (int64_t c = 0; c < depth; c++)
                    a->y[at + c] = (float) p[tk + c];
            }
    free(p);
    return st;
}
