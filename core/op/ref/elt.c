// Reference elementwise ops and the activation functions of every epilogue.
#include "core/op/ref/ref.h"

#include <math.h>

double nino_ref_activate(nino_act act, double v)
{
    switch (act) {
    case NINO_ACT_RELU: return v < 0 ? 0 : v;
    case NINO_ACT_SILU: return v / (1 + exp(-v));
    case NINO_ACT_GELU: return v / 2 * (1 + erf(v * 0.70710678118654752440));
    case NINO_ACT_GELU_TANH:
        return v / 2 * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)));
    case NINO_ACT_QUICK_GELU: return v / (1 + exp(-1.702 * v));
    case NINO_ACT_SIGMOID: return 1 / (1 + exp(-v));
    case NINO_ACT_TANH: return tanh(v);
    case NINO_ACT_TANH3: return 3 * tanh(v / 3);
    case NINO_ACT_CLAMP01: return v < 0 ? 0 : v > 1 ? 1 : v;
    case NINO_ACT_LEAKY: return v < 0 ? 0.2 * v : v;
    default: return v;
    }
}

nino_status nino_ref_act(const nino_ref_args *a, nino_error *err)
{
    const int64_t n = nino_shape_count(&a->d->dst), c = a->w ? a->d->weight->n : 1;
    (void) err;
    for (int64_t i = 0; i < n; i++) {
        const float v = a->x[0][i];
        if (a->w)
            a->y[i] = v < 0 ? v * a->w[i % c] : v;
        else
            a->y[i] = (float) nino_ref_activate(a->d->attr.act, v);
    }
    return NINO_OK;
}

nino_status nino_ref_add(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->dst;
    const int64_t c = s->rank ? s->dim[s->rank - 1] : 1, n = nino_shape_count(s);
    nino_op_rows r = { 0 };
    (void) err;
    nino_op_broadcast(s, &a->d->src[1], &r);
    for (int64_t i = 0; i < n; i++)
        a->y[i] = a->x[0][i] + a->x[1][nino_ref_row(&r, i / c) * c + i % c];
    return NINO_OK;
}

nino_status nino_ref_gate_add(const nino_ref_args *a, nino_error *err)
{
    const nino_shape *s = &a->d->dst;
    const int64_t c = s->dim[s->rank - 1], n = nino_shape_count(s);
    nino_op_rows r = { 0 };
    (void) err;
    nino_op_broadcast(s, &a->d->src[2], &r);
    for (int64_t i = 0; i < n; i++)
        a->y[i] = (float) (a->x[0][i] +
                           (double) a->x[1][i] * a->x[2][nino_ref_row(&r, i / c) * c + i % c]);
    return NINO_OK;
}

nino_status nino_ref_mul(const nino_ref_args *a, nino_error *err)
{
    (void) err;
    for (int64_t i = 0, n = nino_shape_count(&a->d->dst); i < n; i++)
        a->y[i] = (float) (nino_ref_activate(a->d->attr.act, a->x[0][i]) * a->x[1][i]);
    return NINO_OK;
}

nino_status nino_ref_glu(const nino_ref_args *a, nino_error *err)
{
    const int64_t c = a->d->dst.dim[a->d->dst.rank - 1], n = nino_shape_count(&a->d->dst);
    (void) err;
    for (int64_t i = 0; i < n; i++) {
        const float *x = a->x[0] + i / c * 2 * c + i % c;
        a->y[i] = (float) (x[0] * nino_ref_activate(a->d->attr.act, x[c]));
    }
    return NINO_OK;
}

nino_status nino_ref_rope(const nino_ref_args *a, nino_error *err)
{
    const int64_t tokens = a->d->src[1].dim[0], depth = a->d->src[1].dim[1];
    const int64_t c = a->d->dst.dim[2], n = nino_shape_count(&a->d->dst);
    (void) err;
    for (int64_t i = 0; i < n; i += 2) {
        const float *t = a->x[1] + i / c % tokens * depth + i % depth;
        const double u = a->x[0][i], v = a->x[0][i + 1];
        a->y[i] = (float) (u * t[0] - v * t[1]);
        a->y[i + 1] = (float) (u * t[1] + v * t[0]);
    }
    return NINO_OK;
}

nino_status nino_ref_scale(const nino_ref_args *a, nino_error *err)
{
    (void) err;
    for (int64_t i = 0, n = nino_shape_count(&a->d->dst); i < n; i++)
        a->y[i] = (float) ((double) a->x[0][i] * a->d->attr.scale + a->d->attr.shift);
    return NINO_OK;
}

nino_status nino_ref_check_finite(const nino_ref_args *a, nino_error *err)
{
    (void) err;
    for (int64_t i = 0, n = nino_shape_count(&a->d->src[0]); i < n; i++)
        *a->count += !isfinite(a->x[0][i]);
    return NINO_OK;
}
