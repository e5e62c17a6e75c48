// Normalized attention guidance. Source: Chen et al. 2025, "Normalized Attention Guidance: Universal
// Negative Guidance for Diffusion Models"; ComfyUI 0.33.0 comfy_extras/nodes_nag.py.
#include "core/model/nag.h"

#include <math.h>

#define LEAST 1e-6f // a norm is at least this

// The mean size of each token's values, [n,T], on the host; consumes z [n,T,C].
static nino_array *sizes_of(nino_stream *s, nino_tensor *z)
{
    const int64_t n = nino_dim(z, 0), t = nino_dim(z, 1), c = nino_dim(z, 2);
    nino_tensor *up = nino_act_op(s, nino_ref(z), NINO_ACT_RELU);
    nino_tensor *down = nino_act_op(s, nino_scale(s, z, -1, 0), NINO_ACT_RELU);
    z = nino_reshape(s, nino_add(s, up, down), NINO_SHAPE(n * t, 1, c));
    return nino_download(s, nino_group_stat(s, z, 1), NINO_F32); // means lead three numbers each
}

// What guided tokens are multiplied by: no longer than tau times the plain ones, and alpha of that.
static nino_tensor *gate_of(nino_stream *s, const nino_patch *p, nino_tensor *plain,
                            nino_tensor *guided)
{
    const int64_t n = nino_dim(plain, 0), t = nino_dim(plain, 1), c = nino_dim(plain, 2);
    nino_array *a = sizes_of(s, plain), *b = sizes_of(s, guided), *out = NULL;
    nino_tensor *gate = NULL;
    if (a && b && (out = nino_array_create(NINO_F32, NINO_SHAPE(n, t)))) {
        for (int64_t i = 0; i < n * t; i++) {
            const float had = fmaxf(nino_array_f32(a)[3 * i] * (float) c, LEAST);
            const float ratio = fmaxf(nino_array_f32(b)[3 * i] * (float) c, LEAST) / had;
            nino_array_f32(out)[i] = (float) p->v[1] * fminf(ratio, (float) p->v[2]) / ratio;
        }
        gate = nino_upload(s, out, nino_stream_act_type(s));
    } else if (a && b) {
        nino_stream_fail(s, NINO_ERR_NOMEM, "NAGuidance", "no memory for its factors");
    }
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&out);
    return gate;
}

// The first rows that share a conditioning of a side; -1: there are none.
static int64_t rows_of(const nino_pass *p, bool is_negative)
{
    for (int64_t i = 0; i + p->images <= p->n_rows && p->images > 0; i += p->images)
        if ((p->negative && p->negative[i]) == is_negative)
            return i;
    return -1;
}

// [first, first + n) of an axis; NULL: nothing.
static nino_tensor *part(nino_stream *s, nino_tensor *x, int axis, int64_t first, int64_t n)
{
    return n > 0 ? nino_slice(s, nino_ref(x), axis, first, n) : NULL;
}

static nino_tensor *joined(nino_stream *s, nino_tensor *a, nino_tensor *b, int axis)
{
    return a && b ? nino_concat(s, a, b, axis) : a ? a : b;
}

static nino_tensor *led_away(nino_stream *s, const nino_patch *p, nino_tensor *plain,
                             nino_tensor *other)
{
    static const int turn[] = { 0, 2, 1 };
    const float scale = (float) p->v[0];
    nino_tensor *guided =
        nino_add(s, nino_scale(s, nino_ref(plain), scale, 0), nino_scale(s, other, 1 - scale, 0));
    nino_tensor *gate = gate_of(s, p, nino_ref(plain), nino_ref(guided));
    // tokens last, where a gate has a value for each
    plain = nino_scale(s, nino_permute(s, plain, turn), 1 - (float) p->v[1], 0);
    return nino_permute(s, nino_gate_add(s, plain, nino_permute(s, guided, turn), gate), turn);
}

nino_tensor *nino_pass_nag(nino_stream *s, const nino_pass *p, nino_tensor *z, int64_t first)
{
    const nino_patch *nag = nino_pass_next(p, NINO_PATCH_NAG, NULL);
    const int64_t yes = nag ? rows_of(p, false) : -1, no = nag ? rows_of(p, true) : -1;
    if (yes < 0 || no < 0 || nino_stream_status(s, NULL))
        return z;
    const int64_t rows = nino_dim(z, 0), n = p->images, tokens = nino_dim(z, 1) - first;
    nino_tensor *pos = part(s, z, 0, yes, n), *neg = part(s, z, 0, no, n);
    nino_tensor *text = part(s, pos, 1, 0, first);
    nino_tensor *img = part(s, pos, 1, first, tokens), *away = part(s, neg, 1, first, tokens);
    nino_tensor *before = part(s, z, 0, 0, yes);
    nino_tensor *after = part(s, z, 0, yes + n, rows - yes - n);
    nino_unref(pos);
    nino_unref(neg);
    nino_unref(z);
    z = joined(s, text, led_away(s, nag, img, away), 1);
    return joined(s, joined(s, before, z, 0), after, 0);
}
