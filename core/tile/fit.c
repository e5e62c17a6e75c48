// What a VAE needs on a device, from walking the model on a plan backend, and whether that fits.
#include "core/tile/fit.h"
#include "core/base/error.h"
#include "core/op/backend.h"

nino_status nino_vae_need_get(nino_stream *s, const nino_vae *v, bool is_decode, int n, int h,
                              int w, nino_vae_need *out, nino_error *err)
{
    nino_backend *be = nino_stream_backend(s);
    const int unit = is_decode ? 1 : v->factor;
    const nino_shape shape =
        NINO_SHAPE(n, (int64_t) h * unit, (int64_t) w * unit, is_decode ? v->channels : 3);
    nino_stream *walk = NULL;
    nino_status st = NINO_OK;
    nino_backend *plan = nino_plan_open(&be->profile, 0, be->log, err);
    if (!plan)
        return err ? err->code : NINO_ERR_NOMEM;
    walk = nino_stream_create(
        &(nino_stream_params){ .backend = plan, .precision = nino_stream_precision(s) }, err);
    if (!walk) {
        st = err ? err->code : NINO_ERR_NOMEM;
        goto end;
    }
    // The first walk brings the weights in, the second one meets them there, as a second tile does.
    for (int pass = 0; pass < 2 && !st; pass++) {
        nino_pool_reset_peak(plan->pool);
        nino_tensor *t = nino_zeros(walk, shape, nino_stream_act_type(walk));
        t = is_decode ? v->decode(walk, v, t) : v->encode(walk, v, t);
        nino_unref(t);
        st = nino_stream_status(walk, err);
    }
    if (!st) {
        nino_mem_stat m;
        nino_pool_stat(plan->pool, &m);
        out->weights = m.by_owner[NINO_OWN_WEIGHTS];
        out->activations = m.peak - out->weights;
        out->reserved = m.reserved;
    }
end:
    nino_stream_destroy(&walk);
    nino_backend_close(&plan);
    return st;
}

nino_status nino_vae_decode_peak(nino_stream *s, const nino_vae *v, int n, int h, int w,
                                 uint64_t *activation_bytes, uint64_t *weight_bytes,
                                 nino_error *err)
{
    nino_vae_need need = { 0 };
    const nino_status st = nino_vae_need_get(s, v, true, n, h, w, &need, err);
    if (st)
        return st;
    *activation_bytes = need.activations;
    *weight_bytes = need.weights;
    return NINO_OK;
}

bool nino_vae_fits(nino_stream *s, const nino_vae_need *need, uint64_t *budget)
{
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(s)->pool, &m);
    // Weights, this VAE's or others', are given up when memory is short; the rest stays.
    const uint64_t others = m.in_use - m.by_owner[NINO_OWN_WEIGHTS];
    *budget = m.budget;
    return !m.budget || need->reserved + others <= m.budget;
}
