// What transformers over text share: the causal bias, and residual sums in f32.
#include "core/model/text_block.h"

#include <float.h>

nino_tensor *nino_attend_bias(nino_stream *s, int64_t len, const bool *attend)
{
    if (!attend || nino_stream_status(s, NULL))
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, 1, len));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "mask", "out of memory for %lld positions",
                                (long long) len);
    for (int64_t k = 0; k < len; k++)
        nino_array_f32(a)[k] = attend[k] ? 0 : -FLT_MAX;
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

static nino_dtype branch_type(const nino_stream *s)
{
    return nino_stream_act_type(s) == NINO_BF16 ? NINO_BF16 : NINO_F32;
}

nino_tensor *nino_branch_norm(nino_stream *s, nino_tensor *x, const nino_norm *n)
{
    return nino_cast(s, nino_rms_norm(s, x, n), branch_type(s));
}

nino_tensor *nino_branch_add(nino_stream *s, nino_tensor *x, nino_tensor *t, const nino_linear *l)
{
    if (nino_dtype_of(t) == NINO_F32)
        return nino_linear_add(s, t, l, x);
    return nino_add(s, x, nino_cast(s, nino_linear_op(s, t, l), NINO_F32));
}
