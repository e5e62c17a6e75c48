// What a VAE needs on a device, from walking the model on a plan backend, and whether that fits.
#include "core/tile/fit.h"
#include "core/base/error.h"
#include "core/op/backend.h"

// What goes through: images together, or a clip.
typedef struct walk {
    const nino_vae *v;
    bool is_decode, is_clip;
    int64_t n, pieces; // images, latent frames; clips that are streamed: how often
    int64_t h, w;
} walk;

static nino_tensor *input(nino_stream *s, const walk *k, int64_t n)
{
    const int unit = k->is_decode ? 1 : k->v->factor;
    const int64_t c = k->is_decode ? k->v->channels : 3;
    return nino_zeros(s, NINO_SHAPE(n, k->h * unit, k->w * unit, c), nino_stream_act_type(s));
}

static void run_once(nino_stream *s, const walk *k)
{
    const nino_vae *v = k->v;
    if (!k->is_clip) {
        nino_tensor *t = input(s, k, k->n);
        nino_unref(k->is_decode ? v->decode(s, v, t) : v->encode(s, v, t));
    } else if (!v->decode_next) {
        nino_unref(v->decode_clip(s, v, input(s, k, k->n)));
    } else {
        nino_vae_clip clip;
        nino_vae_clip_begin(&clip, v, k->is_decode);
        for (int64_t i = 0; i < k->pieces; i++) {
            const int64_t n = !k->is_decode && (i || v->pads_end) ? v->time_factor : 1;
            nino_unref(nino_vae_clip_next(s, &clip, input(s, k, n)));
        }
        nino_vae_clip_end(&clip);
    }
}

static nino_status need_get(nino_stream *s, const walk *k, nino_vae_need *out, nino_error *err)
{
    nino_backend *be = nino_stream_backend(s);
    nino_stream *dry = NULL;
    nino_status st = NINO_OK;
    nino_backend *plan = nino_plan_open(&be->profile, 0, be->log, err);
    if (!plan)
        return err ? err->code : NINO_ERR_NOMEM;
    dry = nino_stream_create(
        &(nino_stream_params){ .backend = plan, .precision = nino_stream_precision(s) }, err);
    if (!dry) {
        st = err ? err->code : NINO_ERR_NOMEM;
        goto end;
    }
    // The first walk brings the weights in, the second one meets them there, as a second tile does.
    for (int pass = 0; pass < 2 && !st; pass++) {
        nino_pool_reset_peak(plan->pool);
        out->flops = -plan->flops;
        run_once(dry, k);
        st = nino_stream_status(dry, err);
    }
    if (!st) {
        nino_mem_stat m;
        nino_pool_stat(plan->pool, &m);
        out->weights = m.by_owner[NINO_OWN_WEIGHTS];
        out->activations = m.peak - out->weights;
        out->reserved = m.reserved;
        out->flops += plan->flops;
        out->ops = plan->ops;
    }
end:
    nino_stream_destroy(&dry);
    nino_backend_close(&plan);
    return st;
}

nino_status nino_vae_need_get(nino_stream *s, const nino_vae *v, bool is_decode, int n, int h,
                              int w, nino_vae_need *out, nino_error *err)
{
    const walk k = { .v = v, .is_decode = is_decode, .n = n, .h = h, .w = w };
    return need_get(s, &k, out, err);
}

nino_status nino_vae_need_clip(nino_stream *s, const nino_vae *v, bool is_decode, int64_t t,
                               int chunk, int h, int w, nino_vae_need *out, nino_error *err)
{
    // From the third piece of a stream on nothing changes.
    const walk k = { .v = v,
                     .is_decode = is_decode,
                     .is_clip = true,
                     .n = chunk > 0 && chunk < t ? chunk : t,
                     .pieces = t < 4 ? t : 4,
                     .h = h,
                     .w = w };
    const nino_status st = need_get(s, &k, out, err);
    out->flops *= (double) t / (double) (v->decode_next ? k.pieces : k.n);
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
