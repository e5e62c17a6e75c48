// Sampling one latent: from a node latent, noise and sigmas through a sampler to a node latent.
// Semantics: ComfyUI 0.3.64 comfy/sample.py, comfy/samplers.py (CFGGuider.inner_sample, KSAMPLER,
// KSamplerX0Inpaint), comfy/utils.py (reshape_mask).
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/eta.h"
#include "core/base/time.h"
#include "core/op/backend.h"

typedef struct sampling {
    nino_guide_run run;
    const nino_sample_params *p;
    nino_array *node; // the latent with the model's channels
    float *latent;    // model latent, channels first
    float *noise, *mask_noise;
    float *mask; // [B][cells]: 1 may change; NULL: all may
    float *now;  // what the mask is at the current sigma: `mask`, or an array of its own
    float *x, *mixed, *last;
    float times[NINO_RUN_TIMES];
    bool has_last, in_step;     // in_step: the scope of a step is open
    uint64_t begin_ns, load_ns; // of the step that runs
    uint64_t start_ns, start_load_ns;
    nino_resume *resume;
    nino_guide_run other; // of the negative side's own model
    nino_guider other_guider, patched_guider;
    nino_guide_run spared; // what is taken from there, walked on a plan of the device
    int n_computed;        // evaluations since the last step that was told
    int n_taken;           // steps that were
    int total;
    double sigma;
    int step;
    nino_eta eta;
} sampling;

static nino_status sample_latent_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "", "no memory to sample a latent of this size");
}

// ---- the latent ------------------------------------------------------------------------------

static bool is_zero(const nino_array *a)
{
    const float *v = nino_array_f32(a);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        if (v[i] != 0)
            return false;
    return true;
}

// So many cells of another size, but not none.
static int64_t in_cells(int64_t n, int had, int want)
{
    const int64_t k = (int64_t) rint((double) n * had / want);
    return k > 0 ? k : 1;
}

// An empty latent takes the channels and the cells of the model; a picture becomes a video of one
// frame. factor: pixels a cell it was made for; 0: as the model's.
static nino_status sample_latent_fit_latent(const nino_diffusion *net, const nino_array *in,
                                            int factor, nino_array **out, nino_error *err)
{
    const bool is_video = net->format->time_factor > 1;
    const bool is_resized = factor && factor != net->format->factor && is_zero(in);
    nino_shape shape = in->shape;
    const int64_t had = shape.rank > 1 ? shape.dim[shape.rank - 1] : 0;
    if (in->dtype != NINO_F32 || shape.rank < 4 || (shape.rank == 5 && !is_video))
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", net->name,
                              "%s models sample pictures, this latent is something else",
                              net->family);
    if (had != net->format->channels && !is_zero(in))
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", net->name,
                              "the latent has %lld channels, this model (%s) works on %d",
                              (long long) had, net->family, net->format->channels);
    if (is_video && shape.rank == 4)
        shape = NINO_SHAPE(shape.dim[0], 1, shape.dim[1], shape.dim[2], had);
    for (int i = shape.rank - 3; is_resized && i < shape.rank - 1; i++)
        shape.dim[i] = in_cells(shape.dim[i], factor, net->format->factor);
    if (had == net->format->channels && !is_resized) {
        if (shape.rank == in->shape.rank) {
            *out = nino_array_ref((nino_array *) in);
            return NINO_OK;
        }
        if ((*out = nino_array_create(NINO_F32, shape)))
            memcpy((*out)->data, in->data, in->bytes);
    } else {
        shape.dim[shape.rank - 1] = net->format->channels;
        *out = nino_array_create(NINO_F32, shape);
    }
    return *out ? NINO_OK : sample_latent_no_memory(err);
}

// Node latent to model latent: channels first for the sampler, channels last for what
// conditioning sees of it. An empty one stays as it is.
static nino_status enter_model(sampling *s, nino_array **last, nino_error *err)
{
    nino_guide_run *r = &s->run;
    nino_array *model = nino_array_create(NINO_F32, s->node->shape);
    nino_array *first = NULL;
    if (model) {
        memcpy(model->data, s->node->data, model->bytes);
        if (s->p->part.has_values || !is_zero(model))
            nino_latent_process_in(r->guider->model->format, nino_array_f32(model),
                                   r->batch * r->cells, 1);
        first = nino_array_to_channels_first(model);
    }
    if (first && (s->latent = malloc(first->bytes)))
        memcpy(s->latent, first->data, first->bytes);
    nino_array_unref(&first);
    *last = model;
    return s->latent ? NINO_OK : sample_latent_no_memory(err);
}

static nino_array *leave_model(const sampling *s, const float *x)
{
    const nino_guide_run *r = &s->run;
    nino_shape shape = s->node->shape; // channels first
    shape.dim[1] = r->channels;
    memcpy(shape.dim + 2, r->axis, (size_t) r->n_axes * sizeof(r->axis[0]));
    nino_array *first = nino_array_create(NINO_F32, shape), *out = NULL;
    if (!first)
        return NULL;
    memcpy(first->data, x, first->bytes);
    nino_latent_process_out(r->guider->model->format, nino_array_f32(first), r->batch, r->cells);
    out = nino_array_to_channels_last(first);
    nino_array_unref(&first);
    return out;
}

// ---- the noise mask --------------------------------------------------------------------------

// The latent's mask at its size, for every picture of the batch.
static nino_status sample_latent_fit_mask(sampling *s, nino_error *err)
{
    const nino_array *m = s->p->noise_mask;
    nino_guide_run *r = &s->run;
    const int64_t h = r->axis[r->n_axes - 2], w = r->axis[r->n_axes - 1];
    if (!m)
        return NINO_OK;
    if (m->dtype != NINO_F32 || m->shape.rank != 3)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "noise_mask",
                              "a mask has three dimensions");
    nino_array flat = *m;
    flat.shape = NINO_SHAPE(m->shape.dim[0], m->shape.dim[1], m->shape.dim[2], 1);
    const bool is_scaled = m->shape.dim[1] != h || m->shape.dim[2] != w;
    nino_array *scaled = is_scaled
                             ? nino_planes_scale(&flat, h, w, NINO_FILTER_BILINEAR, false, err)
                             : nino_array_ref((nino_array *) m);
    if (!scaled)
        return sample_latent_no_memory(err);
    if (is_scaled)
        scaled->shape = NINO_SHAPE(m->shape.dim[0], h, w);
    if (r->n_axes == 3) {
        nino_array *frames = nino_planes_to_frames(scaled, r->axis[0], err);
        nino_array_unref(&scaled);
        scaled = frames;
    }
    if (scaled && (s->mask = malloc((size_t) (r->batch * r->cells) * sizeof(float)))) {
        const int64_t had = nino_shape_count(&scaled->shape) / r->cells;
        for (int64_t b = 0; b < r->batch; b++)
            memcpy(s->mask + b * r->cells, nino_array_f32(scaled) + b % had * r->cells,
                   (size_t) r->cells * sizeof(float));
    }
    nino_array_unref(&scaled);
    if (!s->mask)
        return sample_latent_no_memory(err);
    s->now = s->mask;
    if (s->p->guider->model->has_differential &&
        !(s->now = malloc((size_t) (r->batch * r->cells) * sizeof(float))))
        return sample_latent_no_memory(err);
    return NINO_OK;
}

// Differential diffusion (Levin and Fried 2023): a cell may change once the time that is left is
// less than its mask.
static void mask_at(const sampling *s, double sigma)
{
    const nino_sampling *ms = s->run.sampling;
    const nino_model *m = s->p->guider->model;
    const float first = s->p->sigmas[0], last = s->p->sigmas[s->p->n_sigmas - 1];
    const float from = nino_sampling_timestep(ms, first);
    const float to = nino_sampling_timestep(ms, last > ms->sigma_min ? last : ms->sigma_min);
    const float limit = (nino_sampling_timestep(ms, (float) sigma) - to) / (from - to);
    const bool is_mixed = m->differential > 0 && m->differential < 1;
    const float hard = (float) m->differential, soft = (float) (1.0 - m->differential);
    for (int64_t i = 0; i < s->run.batch * s->run.cells; i++) {
        const float on = s->mask[i] >= limit ? 1.0f : 0.0f;
        s->now[i] = is_mixed ? hard * on + soft * s->mask[i] : on;
    }
}

// a = a where the mask is 1, b where it is 0.
static void sample_latent_mix(const sampling *s, float *a, const float *b)
{
    const nino_guide_run *r = &s->run;
    for (int64_t n = 0; n < r->batch; n++)
        for (int64_t c = 0; c < r->channels; c++)
            for (int64_t i = 0; i < r->cells; i++, a++, b++) {
                const float m = s->now[n * r->cells + i];
                *a = *a * m + *b * (1.0f - m);
            }
}

// ---- what earlier runs computed ----------------------------------------------------------------

static void spared_release(sampling *s)
{
    nino_backend *plan = s->spared.s ? nino_stream_backend(s->spared.s) : NULL;
    nino_guide_release_feeds(&s->spared);
    if (s->spared.s)
        nino_guide_forget(&s->spared);
    nino_stream_destroy(&s->spared.s);
    nino_backend_close(&plan);
}

static bool spared_begin(sampling *s)
{
    const nino_backend *be = nino_stream_backend(s->run.s);
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, NULL);
    const nino_stream_params p = { .backend = plan,
                                   .precision = nino_stream_precision(s->run.s),
                                   .keeps_scores = nino_stream_keeps_scores(s->run.s) };
    s->spared = s->run;
    s->spared.feeds = NULL;
    s->spared.times = (nino_run_times){ .t = s->run.times.t, .n = s->run.times.n };
    s->spared.fits = NULL;
    s->spared.n_fits = 0;
    s->spared.other = NULL; // its part is not told of
    s->spared.map = (nino_attention_map){ .n = 0 };
    s->spared.spare = NULL;
    memset(s->spared.memory, 0, sizeof(s->spared.memory));
    if (!(s->spared.s = plan ? nino_stream_create(&p, NULL) : NULL))
        nino_backend_close(&plan);
    return s->spared.s != NULL;
}

// An evaluation was taken: progress goes on by what it would have cost.
static void spared_tell(sampling *s, float sigma, float *uncond)
{
    if (!s->spared.s && !spared_begin(s))
        return;
    const nino_backend *plan = nino_stream_backend(s->spared.s);
    const double before = plan->flops;
    if (!nino_guide_denoise(&s->spared, NULL, sigma, NULL, uncond, NULL))
        nino_stream_spare(s->run.s, plan->flops - before);
}

// ---- what the sampler calls ------------------------------------------------------------------

static nino_status denoise(void *priv, const float *x, double sigma, float *denoised, float *uncond,
                           nino_error *err)
{
    sampling *s = priv;
    nino_guide_run *r = &s->run;
    const bool is_plan = nino_stream_is_plan(r->s);
    const float *asked = x;
    if (nino_resume_take(s->resume, asked, sigma, denoised, uncond)) {
        spared_tell(s, (float) sigma, uncond);
        return NINO_OK;
    }
    s->n_computed++;
    if (!s->begin_ns) {
        s->begin_ns = nino_now_ns();
        s->load_ns = nino_stream_backend(r->s)->load_ns;
    }
    if (s->mask && !is_plan) {
        if (s->now != s->mask)
            mask_at(s, sigma);
        if (r->net->has_frame_times) // kept frames are told not to be noisy
            memcpy(s->mixed, s->latent, r->count * sizeof(*s->mixed));
        else
            nino_sampling_noise_scaling(r->sampling, (float) sigma, false, s->mask_noise, s->latent,
                                        s->mixed, (int64_t) r->count);
        // mixed holds the noisy latent; x goes where the mask is 1
        for (int64_t n = 0, k = 0; n < r->batch; n++)
            for (int64_t c = 0; c < r->channels; c++)
                for (int64_t i = 0; i < r->cells; i++, k++) {
                    const float m = s->now[n * r->cells + i];
                    s->mixed[k] = x[k] * m + s->mixed[k] * (1.0f - m);
                }
        x = s->mixed;
    }
    const nino_status st = nino_guide_denoise(r, x, (float) sigma, denoised, uncond, err);
    if (st)
        return st;
    if (is_plan) {
        *denoised = 0;
        if (uncond)
            *uncond = 0;
    } else if (s->mask) {
        sample_latent_mix(s, denoised, s->latent);
    }
    nino_resume_add(s->resume, asked, sigma, denoised, uncond);
    return NINO_OK;
}

static void begin_step(sampling *s, int total)
{
    // A plan shows the first two, which it walks; the others are counted where those are.
    if ((nino_stream_is_plan(s->run.s) && s->step >= 2) || nino_resume_has_next(s->resume))
        return;
    nino_scope_begin(s->run.s, NINO_EV_STEP, "step", (uint32_t) s->step, (uint32_t) total);
    s->in_step = true;
}

static void end_step(sampling *s)
{
    if (s->in_step)
        nino_scope_end(s->run.s);
    s->in_step = false;
}

static void publish_step(const sampling *s, const nino_sample_step *step)
{
    nino_event ev = { .kind = NINO_EV_STEP_INFO };
    ev.u.step.step = (uint32_t) step->step;
    ev.u.step.total = (uint32_t) step->total;
    ev.u.step.sigma = step->sigma;
    ev.u.step.seconds = step->seconds;
    ev.u.step.eta_s = step->eta_s;
    if (nino_stream_monitor(s->run.s))
        nino_monitor_publish(nino_stream_monitor(s->run.s), &ev);
}

static void tell_step(sampling *s, double sigma, const float *denoised)
{
    const nino_guide_run *r = &s->run;
    const nino_backend *be = nino_stream_backend(r->s);
    const uint64_t now = nino_now_ns();
    const double run = (double) (now - s->start_ns - (be->load_ns - s->start_load_ns)) * 1e-9;
    nino_sample_step info = { .step = s->step,
                              .total = s->total,
                              .sigma = sigma,
                              .denoised = denoised,
                              .shape = { .rank = r->n_axes + 2,
                                         .dim = { r->batch, r->channels } } };
    memcpy(info.shape.dim + 2, r->axis, (size_t) r->n_axes * sizeof(r->axis[0]));
    if (s->begin_ns)
        info.seconds = (double) (now - s->begin_ns - (be->load_ns - s->load_ns)) * 1e-9;
    info.eta_s = nino_eta_left(&s->eta, run, s->step, info.total);
    s->begin_ns = 0;
    publish_step(s, &info);
    if (s->p->on_step)
        s->p->on_step(s->p->priv, &info);
}

// Everything that the first evaluations of a step need is in the scope of the step; what a sampler
// of two evaluations a step does after it has told of x0 is in the next one's.
static void on_sample_latent_step(void *priv, int step, int total, double sigma, const float *x,
                                  const float *denoised)
{
    sampling *s = priv;
    nino_guide_run *r = &s->run;
    const bool is_plan = nino_stream_is_plan(r->s);
    (void) x;
    end_step(s);
    s->step = step + 1;
    s->total = total > s->step ? total : s->step;
    s->n_taken += s->resume && !s->n_computed;
    if (s->n_taken == s->step && !nino_resume_has_next(s->resume))
        nino_resume_tell_taken(nino_stream_monitor(s->run.s), s->p->log, s->n_taken, s->total);
    if (!is_plan) {
        memcpy(s->last, denoised, r->count * sizeof(*s->last));
        s->has_last = true;
        if (s->n_computed)
            tell_step(s, sigma, denoised);
    }
    s->n_computed = 0;
    if (step + 1 < total)
        begin_step(s, total);
}

// ---- the run ---------------------------------------------------------------------------------

static nino_status sample_latent_allocate(sampling *s, bool is_plan)
{
    nino_guide_run *r = &s->run;
    const size_t bytes = (is_plan ? 16 : r->count) * sizeof(float);
    bool ok = (s->x = calloc(1, bytes)) && (s->noise = calloc(1, bytes)) &&
              (s->mixed = calloc(1, bytes)) && (s->last = calloc(1, bytes));
    if (!is_plan)
        for (int k = 0; k < NINO_COND_KINDS && ok; k++)
            ok = (r->out[k] = malloc(bytes)) &&
                 (r->weight[k] = malloc((size_t) (r->batch * r->cells) * sizeof(float)));
    return ok ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status make_noise(sampling *s, nino_error *err)
{
    const nino_guide_run *r = &s->run;
    const int64_t item = r->channels * r->cells;
    s->mask_noise = s->noise;
    if (!s->p->noise.is_disabled && !nino_noise_fill_part(s->p->noise.seed, s->noise, r->batch,
                                                          item, s->p->batch_index, &s->p->part))
        return sample_latent_no_memory(err);
    if (s->mask && nino_sampler_get(s->p->sampler->id)->has_own_mask_noise) {
        if (!(s->mask_noise = malloc(r->count * sizeof(float))) ||
            !nino_noise_fill_part(s->p->noise.seed + 1, s->mask_noise, r->batch, item, NULL,
                                  &s->p->part))
            return sample_latent_no_memory(err);
    }
    return NINO_OK;
}

// Samplers that ask for more in between have those made one by one.
static void tell_times(sampling *s)
{
    nino_guide_run *r = &s->run;
    const int n = s->p->n_sigmas - 1;
    for (int i = 0; i < n && n <= NINO_RUN_TIMES; i++)
        s->times[i] = nino_sampling_timestep(r->sampling, s->p->sigmas[i]);
    r->times = (nino_run_times){ .t = s->times, .n = n <= NINO_RUN_TIMES ? n : 0 };
}

static nino_status run_sampler(sampling *s, nino_error *err)
{
    const nino_sample_params *p = s->p;
    nino_guide_run *r = &s->run;
    tell_times(s);
    const bool is_plan = nino_stream_is_plan(r->s);
    const float first = p->sigmas[0], end = p->sigmas[p->n_sigmas - 1];
    const int64_t item = r->channels * r->cells;
    const nino_sampler_run run = { .ms = r->sampling,
                                   .denoise = denoise,
                                   .denoise_priv = s,
                                   .x = s->x,
                                   .count = is_plan ? 1 : (int64_t) r->count,
                                   .whole = is_plan ? 0 : p->part.total * item,
                                   .at = p->part.first * item,
                                   .sigmas = p->sigmas,
                                   .n_sigmas = p->n_sigmas,
                                   .seed = p->noise.seed,
                                   .on_step = on_sample_latent_step,
                                   .step_priv = s,
                                   .cancel = nino_stream_cancel_flag(r->s) };
    if (!is_plan)
        nino_sampling_noise_scaling(r->sampling, first,
                                    nino_sampling_is_max_denoise(r->sampling, first), s->noise,
                                    s->latent, s->x, (int64_t) r->count);
    s->start_ns = nino_now_ns();
    s->start_load_ns = nino_stream_backend(r->s)->load_ns;
    if (p->n_sigmas > 1)
        begin_step(s, p->n_sigmas - 1);
    const nino_status st = nino_sampler_run_all(p->sampler, &run, err);
    end_step(s);
    if (!st && !is_plan)
        nino_sampling_inverse_noise_scaling(r->sampling, end, s->x, (int64_t) r->count);
    return st;
}

static void sample_latent_release(sampling *s)
{
    spared_release(s);
    nino_guide_release_feeds(&s->run);
    nino_guide_release_conds(&s->run);
    nino_guide_forget(&s->run);
    nino_guide_release_feeds(&s->other);
    nino_guide_release_conds(&s->other);
    nino_guide_forget(&s->other);
    for (int k = 0; k < NINO_COND_KINDS; k++) {
        free(s->run.out[k]);
        free(s->run.weight[k]);
    }
    if (s->mask_noise != s->noise)
        free(s->mask_noise);
    free(s->noise);
    free(s->latent);
    if (s->now != s->mask)
        free(s->now);
    free(s->mask);
    free(s->x);
    free(s->mixed);
    free(s->last);
    nino_array_unref(&s->node);
}

// What is kept is of use to a run that was stopped, or that has more memory the next time.
static void end_resume(sampling *s, nino_status st)
{
    const bool is_stopped =
        st == NINO_ERR_CANCELLED || st == NINO_ERR_DEVICE || st == NINO_ERR_NOMEM;
    const int n = s->resume && is_stopped ? s->step : 0;
    if (s->p->n_kept && (*s->p->n_kept = n))
        nino_resume_tell_kept(nino_stream_monitor(s->run.s), n, s->total);
    nino_resume_close(&s->resume, is_stopped);
}

// DUAL_MODEL: the negative side is asked of another network, with its own conditioning.
static nino_status begin_other(sampling *s, nino_error *err)
{
    nino_guide_run *r = &s->run, *o = &s->other;
    const nino_guider *g = r->guider;
    if (g->kind != NINO_GUIDE_DUAL_MODEL)
        return NINO_OK;
    if (g->model2->net->format->channels != r->channels ||
        g->model2->net->format->time_factor != g->model->net->format->time_factor)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "model_negative",
                              "%s samples other latents than %s", g->model2->net->name,
                              g->model->net->name);
    s->other_guider = (nino_guider){
        .refs = 1, .kind = NINO_GUIDE_BASIC, .model = g->model2, .positive = g->negative, .cfg = 1
    };
    *o = (nino_guide_run){ .s = r->s,
                           .guider = &s->other_guider,
                           .net = g->model2->net,
                           .sampling = g->model2->sampling,
                           .one_by_one = r->one_by_one,
                           .whole = r->whole,
                           .encode = r->encode,
                           .asked = r->asked,
                           .latent = r->latent,
                           .mask = r->mask,
                           .seed = r->seed };
    nino_guide_set_shape(o, &s->node->shape);
    o->out[NINO_COND_POSITIVE] = r->out[NINO_COND_NEGATIVE];
    o->weight[NINO_COND_POSITIVE] = r->weight[NINO_COND_NEGATIVE];
    r->other = o;
    return nino_guide_conds(o, err);
}

static nino_status sample_latent_sample(sampling *s, nino_array **out, nino_array **denoised,
                                        nino_error *err)
{
    nino_guide_run *r = &s->run;
    const bool is_plan = nino_stream_is_plan(r->s);
    nino_array *latent = NULL, *result = NULL, *x0 = NULL;
    nino_array mask = { .dtype = NINO_F32 };
    nino_status st = sample_latent_allocate(s, is_plan) ? sample_latent_no_memory(err) : NINO_OK;
    if (st || (st = enter_model(s, &latent, err)) || (st = sample_latent_fit_mask(s, err)))
        goto end;
    if (s->mask) {
        mask.data = s->mask;
        mask.shape = (nino_shape){ .rank = r->n_axes + 1, .dim = { r->batch } };
        memcpy(mask.shape.dim + 1, r->axis, (size_t) r->n_axes * sizeof(r->axis[0]));
        mask.bytes = (size_t) nino_shape_count(&mask.shape) * sizeof(float);
        r->mask = &mask;
    }
    r->latent = latent;
    r->seed = s->p->noise.seed;
    if (!is_plan && !nino_guide_has_past(r->guider->model)) // else steps are not what they seem
        s->resume = nino_resume_open(s->p->keep, r->count, s->p->log);
    if ((st = nino_guide_conds(r, err)) || (st = begin_other(s, err)) ||
        (!is_plan && (st = make_noise(s, err))) || (st = run_sampler(s, err)))
        goto end;
    result = is_plan ? nino_array_create(NINO_F32, s->node->shape) : leave_model(s, s->x);
    if (!result) {
        st = sample_latent_no_memory(err);
        goto end;
    }
    if (denoised) {
        x0 = s->has_last ? leave_model(s, s->last) : nino_array_ref(result);
        if (!x0) {
            st = sample_latent_no_memory(err);
            goto end;
        }
        *denoised = x0;
    }
    *out = nino_array_ref(result);
end:
    end_resume(s, st);
    nino_array_unref(&result);
    nino_array_unref(&latent);
    return st;
}

// The guider, or what the last of a model's patches that make one of two sides wants in its place.
static const nino_guider *patched_guider(const nino_guider *g, nino_guider *to)
{
    const nino_patch *last = NULL;
    for (int i = 0; i < g->model->n_patches; i++)
        if (g->model->patch[i].kind <= NINO_PATCH_PERP_NEG)
            last = &g->model->patch[i];
    if (g->kind != NINO_GUIDE_CFG || !last || last->kind != NINO_PATCH_PERP_NEG)
        return g;
    *to = *g;
    to->kind = NINO_GUIDE_PERP_NEG;
    to->middle = last->empty;
    to->cfg2 = last->v[0];
    to->is_patched = true;
    return to;
}

nino_status nino_sample_latent(nino_stream *s, const nino_sample_params *p, nino_array **out,
                               nino_array **denoised, nino_error *err)
{
    const nino_model *m = p->guider->model;
    sampling *run = calloc(1, sizeof(*run));
    if (!run)
        return sample_latent_no_memory(err);
    run->p = p;
    run->run = (nino_guide_run){ .s = s,
                                 .guider = patched_guider(p->guider, &run->patched_guider),
                                 .net = m->net,
                                 .sampling = m->sampling,
                                 .one_by_one = p->one_by_one,
                                 .whole = p->part.total,
                                 .encode = p->encode };
    nino_error e = { 0 };
    const nino_precision before = nino_stream_asked_precision(s);
    run->run.asked = before;
    nino_precision wanted = p->precision ? p->precision : m->precision;
    if (!wanted && !before && m->net->wants_bf16 && nino_stream_precision(s) == NINO_PREC_F16)
        wanted = NINO_PREC_BF16;
    if ((wanted ? wanted : before) == NINO_PREC_MIXED && m->net->wants_bf16)
        wanted = NINO_PREC_MIXED_BF16;
    nino_status st =
        sample_latent_fit_latent(m->net, p->samples, p->samples_factor, &run->node, &e);
    if (!st && !p->n_sigmas) { // nothing to do
        *out = nino_array_ref(run->node);
        if (denoised)
            *denoised = nino_array_ref(run->node);
    } else if (!st) {
        if (wanted)
            nino_stream_set_precision(s, wanted);
        nino_guide_set_shape(&run->run, &run->node->shape);
        const bool kept = nino_stream_keep_scores(s, p->keeps_scores);
        st = sample_latent_sample(run, out, denoised, &e);
        nino_stream_keep_scores(s, kept);
        nino_stream_set_precision(s, before);
    }
    sample_latent_release(run);
    free(run);
    if (st && err)
        *err = e;
    return st;
}
