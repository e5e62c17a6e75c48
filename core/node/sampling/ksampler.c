// KSampler, KSamplerAdvanced, SamplerCustom, SamplerCustomAdvanced, AddNoise, and what other nodes
// that sample use of them. Behaviour of ComfyUI's nodes.py, comfy/samplers.py (KSampler) and
// nodes_custom_sampler.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/sampling/sample_preview.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

// ---- running ---------------------------------------------------------------------------------

// The input latent with other samples, which it takes.
static nino_status give_latent(nino_run *r, int slot, const nino_latent *in, nino_array *samples,
                               nino_error *err)
{
    nino_latent out = { .samples = samples, .noise_mask = nino_array_ref(in->noise_mask) };
    if (in->batch_index) {
        const size_t bytes = (size_t) in->samples->shape.dim[0] * sizeof(int64_t);
        if ((out.batch_index = malloc(bytes)))
            memcpy(out.batch_index, in->batch_index, bytes);
        else
            nino_array_unref(&out.samples); // which says: no memory
    }
    return nino_out_latent(r, slot, out, err);
}

typedef struct watcher {
    nino_run *r;
    nino_preview *preview;
} watcher;

static void on_ksampler_step(void *priv, const nino_sample_step *step)
{
    const watcher *w = priv;
    nino_run_step(w->r, (uint32_t) step->step, (uint32_t) step->total);
    nino_preview_step(w->preview, step);
}

static nino_status ksampler_encode(void *priv, const nino_vae *vae, const nino_array *pixels,
                                   nino_array **out, nino_error *err)
{
    return nino_encode_pixels(priv, vae, pixels, out, err);
}

// A sampling of its own for each turn of the node.
static nino_resume_place ksampler_keep_at(nino_run *r)
{
    nino_resume_place at = nino_services_of(r->ctx)->steps(r->ctx);
    const nino_hash all[2] = { r->key ? *r->key : (nino_hash){ 0 }, at.key };
    const uint64_t turn = r->n_sampled++;
    nino_hasher *h = at.dir && r->key && !r->is_plan ? nino_hasher_create() : NULL;
    if (!h)
        return (nino_resume_place){ 0 };
    nino_hasher_add(h, all, sizeof(all));
    nino_hasher_add(h, &turn, sizeof(turn));
    at.key = nino_hasher_finish(&h);
    return at;
}

nino_status nino_node_sample(nino_run *r, const nino_guider *g, nino_noise noise,
                             const nino_sampler *sampler, const nino_sigmas *sigmas,
                             const nino_latent *latent, const nino_sampling_how *how,
                             nino_error *err)
{
    const nino_sampling_how h = how ? *how : (nino_sampling_how){ 0 };
    const bool has_denoised = r->def->outputs[1].key && r->def->outputs[1].type == NINO_PORT_LATENT;
    nino_array *out = NULL, *denoised = NULL;
    const nino_resume_place keep = ksampler_keep_at(r);
    int n_kept = 0;
    watcher w = { .r = r };
    const nino_guide_encode encode = { .fn = ksampler_encode, .priv = r };
    if (!h.no_previews)
        w.preview = nino_preview_create(r, g->model->format);
    const nino_sample_params p = { .guider = g,
                                   .noise = noise,
                                   .sampler = sampler,
                                   .sigmas = sigmas->v,
                                   .n_sigmas = sigmas->n,
                                   .samples = latent->samples,
                                   .samples_factor = latent->factor,
                                   .noise_mask = latent->noise_mask,
                                   .batch_index = latent->batch_index,
                                   .part = latent->part,
                                   .precision = h.precision,
                                   .keeps_scores = h.keeps_scores,
                                   .one_by_one = h.one_by_one,
                                   .keep = &keep,
                                   .n_kept = &n_kept,
                                   .encode = &encode,
                                   .log = r->log,
                                   .on_step = on_ksampler_step,
                                   .priv = &w };
    nino_status st = nino_sample_latent(r->stream, &p, &out, has_denoised ? &denoised : NULL, err);
    nino_preview_destroy(&w.preview);
    nino_services_of(r->ctx)->set_kept_steps(r->ctx, n_kept);
    if (!st && has_denoised)
        st = give_latent(r, 1, latent, denoised, err);
    if (!st)
        st = give_latent(r, 0, latent, out, err);
    else
        nino_array_unref(&out);
    return st;
}

nino_status nino_node_run_ksampler(nino_run *r, const nino_ksampler *k,
                                   const nino_sampling_how *how, nino_error *err)
{
    nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    const nino_guider g = { .refs = 1,
                            .kind = NINO_GUIDE_CFG,
                            .model = m,
                            .positive = nino_in_cond(r, 1),
                            .negative = nino_in_cond(r, 2),
                            .cfg = k->cfg };
    const nino_noise noise = { .is_disabled = k->is_noise_off, .seed = k->seed };
    const nino_sampler sampler = nino_sampler_default((nino_sampler_id) k->sampler);
    const nino_ksampler_steps steps = {
        .scheduler = (nino_scheduler) k->scheduler,
        .discard_penultimate = nino_sampler_get(sampler.id)->discards_penultimate,
        .steps = (int) k->steps,
        .denoise = k->denoise,
        .start_step = k->start_step,
        .end_step = k->end_step,
        .force_full_denoise = !k->keeps_noise,
    };
    nino_sigmas sigmas = { 0 };
    nino_status st = nino_schedule_ksampler(m->sampling, &steps, &sigmas, err);
    if (!st)
        st = nino_node_sample(r, &g, noise, &sampler, &sigmas, nino_in_latent(r, 3), how, err);
    nino_sigmas_release(&sigmas);
    return st;
}

// ---- KSampler --------------------------------------------------------------------------------

typedef struct ksampler_params {
    uint64_t seed;
    int64_t steps, sampler_name, scheduler;
    double cfg, denoise;
} ksampler_params;

static nino_status ksampler_run(nino_run *r, nino_error *err)
{
    const ksampler_params *p = r->params;
    const nino_ksampler k = { .seed = p->seed,
                              .steps = p->steps,
                              .sampler = p->sampler_name,
                              .scheduler = p->scheduler,
                              .cfg = p->cfg,
                              .denoise = p->denoise,
                              .start_step = -1,
                              .end_step = -1 };
    return nino_node_run_ksampler(r, &k, NULL, err);
}

bool nino_ksampler_is_apart(nino_value *const *in, int64_t sampler)
{
    const nino_guider g = { .kind = NINO_GUIDE_CFG,
                            .model = in[0] ? in[0]->u.model : NULL,
                            .positive = in[1] ? in[1]->u.cond : NULL,
                            .negative = in[2] ? in[2]->u.cond : NULL };
    return nino_guide_is_apart(&g, (nino_sampler_id) sampler);
}

static bool ksampler_is_apart(nino_value *const *in, const void *params)
{
    return nino_ksampler_is_apart(in, ((const ksampler_params *) params)->sampler_name);
}

static const nino_port ksampler_in[] = { NINO_PORT(model, MODEL),
                                         NINO_PORT(positive, CONDITIONING),
                                         NINO_PORT(negative, CONDITIONING),
                                         NINO_PORT(latent_image, LATENT),
                                         { 0 } };
const char *const nino_enable_names[] = { "enable", "disable", NULL };
const char *const nino_disable_names[] = { "disable", "enable", NULL };

NINO_NODE(ksampler, "KSampler", "KSampler", "sampling", "Denoises a latent, guided by two prompts",
          .inputs = ksampler_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(ksampler_params, KSAMPLER_PARAMS(ksampler_params)),
          NINO_ALIASES({ .name = "ROCMMemorySafeKSampler",
                         .ignored = NINO_WORDS("memory_safety_level"),
                         .note = "this class was removed; KSampler runs in its place, with the "
                                 "settings as they are" }),
          NINO_RUN(ksampler_run, .items = NINO_ITEMS_SHARED,
                   .items_apart_with = ksampler_is_apart));

// ---- KSamplerAdvanced ------------------------------------------------------------------------

typedef struct advanced_params {
    int64_t add_noise, steps, sampler_name, scheduler, start_at_step, end_at_step,
        return_with_leftover_noise;
    uint64_t noise_seed;
    double cfg;
} advanced_params;

static nino_status ksampler_advanced_run(nino_run *r, nino_error *err)
{
    const advanced_params *p = r->params;
    const nino_ksampler k = { .seed = p->noise_seed,
                              .steps = p->steps,
                              .sampler = p->sampler_name,
                              .scheduler = p->scheduler,
                              .cfg = p->cfg,
                              .denoise = 1,
                              .is_noise_off = p->add_noise == 1,
                              .keeps_noise = p->return_with_leftover_noise == 1,
                              .start_step = (int) p->start_at_step,
                              .end_step = (int) p->end_at_step };
    return nino_node_run_ksampler(r, &k, NULL, err);
}

static bool advanced_is_apart(nino_value *const *in, const void *params)
{
    return nino_ksampler_is_apart(in, ((const advanced_params *) params)->sampler_name);
}

NINO_NODE(ksampler_advanced, "KSamplerAdvanced", "KSampler (Advanced)", "sampling",
          "KSampler for a part of the steps, with or without noise before and after",
          .inputs = ksampler_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(advanced_params, KSAMPLER_ADVANCED_PARAMS(advanced_params)),
          NINO_RUN(ksampler_advanced_run, .items = NINO_ITEMS_SHARED,
                   .items_apart_with = advanced_is_apart));

// ---- SamplerCustom, SamplerCustomAdvanced ----------------------------------------------------

typedef struct custom_params {
    bool add_noise;
    uint64_t noise_seed;
    double cfg;
} custom_params;

static nino_status ksampler_custom_run(nino_run *r, nino_error *err)
{
    const custom_params *p = r->params;
    nino_model *m = nino_need_model(r, 0, err);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    const nino_guider g = { .refs = 1,
                            .kind = NINO_GUIDE_CFG,
                            .model = m,
                            .positive = nino_in_cond(r, 1),
                            .negative = nino_in_cond(r, 2),
                            .cfg = p->cfg };
    const nino_noise noise = { .is_disabled = !p->add_noise, .seed = p->noise_seed };
    return nino_node_sample(r, &g, noise, nino_in_sampler(r, 3), nino_in_sigmas(r, 4),
                            nino_in_latent(r, 5), NULL, err);
}

static bool custom_is_apart(nino_value *const *in, const void *params)
{
    (void) params;
    return in[3] && nino_ksampler_is_apart(in, in[3]->u.sampler.id);
}

static const nino_port custom_out[] = { NINO_PORT(output, LATENT),
                                        NINO_PORT(denoised_output, LATENT),
                                        { 0 } };
NINO_NODE(sampler_custom, "SamplerCustom", "SamplerCustom", "sampling/custom_sampling",
          "Denoises a latent with a sampler and sigmas of one's own",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(positive, CONDITIONING),
                      NINO_PORT(negative, CONDITIONING), NINO_PORT(sampler, SAMPLER),
                      NINO_PORT(sigmas, SIGMAS), NINO_PORT(latent_image, LATENT)),
          .outputs = custom_out,
          NINO_PARAMS(custom_params,
                      NINO_P_BOOL(custom_params, add_noise, true, .label = "Add noise",
                                  .help = "Off: the latent already has its noise"),
                      NINO_P_SEED(custom_params, noise_seed, .label = "Seed",
                                  .help = "Start of the random numbers"),
                      NINO_P_FLOAT(custom_params, cfg, 8.0, 0.0, 100.0, 0.1, .label = "CFG",
                                   .ui_max.f = 20.0, .help = KSAMPLER_CFG_HELP)),
          NINO_RUN(ksampler_custom_run, .items = NINO_ITEMS_SHARED,
                   .items_apart_with = custom_is_apart));

static nino_status custom_advanced_run(nino_run *r, nino_error *err)
{
    return nino_node_sample_custom(r, NULL, err);
}

nino_status nino_node_sample_custom(nino_run *r, const nino_sampling_how *how, nino_error *err)
{
    return nino_node_sample(r, nino_in_guider(r, 1), r->in[0]->u.noise, nino_in_sampler(r, 2),
                            nino_in_sigmas(r, 3), nino_in_latent(r, 4), how, err);
}

bool nino_sample_custom_is_apart(nino_value *const *in, const void *params)
{
    (void) params;
    return in[1] && in[2] && nino_guide_is_apart(in[1]->u.guider, in[2]->u.sampler.id);
}

NINO_NODE(sampler_custom_advanced, "SamplerCustomAdvanced", "SamplerCustomAdvanced",
          "sampling/custom_sampling",
          "Denoises a latent with noise, guider, sampler and sigmas of one's own",
          NINO_INPUTS(NINO_SAMPLE_CUSTOM_PORTS), .outputs = custom_out,
          NINO_RUN(custom_advanced_run, .items = NINO_ITEMS_SHARED,
                   .items_apart_with = nino_sample_custom_is_apart));

// ---- AddNoise --------------------------------------------------------------------------------

// The noise that a stretch of the schedule would remove, added to a model latent (channels first).
static void ksampler_add_noise(const nino_model *m, const nino_noise *noise, float sigma,
                               const int64_t *batch_index, nino_array *first, float *drawn)
{
    const nino_shape *s = &first->shape;
    const int64_t item = nino_shape_count(s) / s->dim[0], cells = item / s->dim[1];
    float *v = nino_array_f32(first);
    bool is_zero = true;
    for (int64_t i = 0; i < item * s->dim[0] && is_zero; i++)
        is_zero = v[i] == 0;
    if (!is_zero)
        nino_latent_process_in(m->format, v, s->dim[0], cells);
    if (!noise->is_disabled)
        nino_noise_fill(noise->seed, drawn, s->dim[0], item, batch_index);
    nino_sampling_noise_scaling(m->sampling, sigma, false, drawn, v, v, item * s->dim[0]);
    nino_latent_process_out(m->format, v, s->dim[0], cells);
    for (int64_t i = 0; i < item * s->dim[0]; i++)
        v[i] = isfinite(v[i]) ? v[i] : 0;
}

static nino_status add_noise_run(nino_run *r, nino_error *err)
{
    const nino_model *m = nino_need_model(r, 0, err);
    const nino_sigmas *s = nino_in_sigmas(r, 2);
    const nino_latent *in = nino_in_latent(r, 3);
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    const nino_shape *shape = &in->samples->shape;
    if (shape->dim[shape->rank - 1] != m->net->format->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", m->net->name,
                              "the latent has %lld channels, this model (%s) works on %d",
                              (long long) shape->dim[shape->rank - 1], m->net->family,
                              m->net->format->channels);
    if (!s->n || r->is_plan) {
        r->out[0] = nino_value_ref(r->in[3]);
        return NINO_OK;
    }
    const float sigma = s->n > 1 ? fabsf(s->v[0] - s->v[s->n - 1]) : s->v[0];
    nino_array *first = nino_array_to_channels_first(in->samples), *out = NULL;
    float *drawn = first ? calloc(1, first->bytes) : NULL;
    if (drawn) {
        ksampler_add_noise(m, &r->in[1]->u.noise, sigma, in->batch_index, first, drawn);
        out = nino_array_to_channels_last(first);
    }
    nino_array_unref(&first);
    free(drawn);
    return give_latent(r, 0, in, out, err);
}

NINO_NODE(add_noise, "AddNoise", "AddNoise", "_for_testing/custom_sampling/noise",
          "Adds the noise that a part of a schedule removes",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(noise, NOISE), NINO_PORT(sigmas, SIGMAS),
                      NINO_PORT(latent_image, LATENT)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(add_noise_run));
