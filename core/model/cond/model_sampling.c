// How models were trained: noise levels of their time steps, meaning of their outputs.
// Discrete: Ho et al. (2020) with Stable Diffusion's betas; zero terminal SNR: Lin et al. (2023);
// EDM: Karras et al. (2022); flow: Liu et al. (2022), shift: Esser et al. (2024).
#include "core/model/cond/model_sampling.h"
#include "core/tensor/scalar.h"
#include <stdlib.h>
#include <string.h>

#define N_BETAS 1000
#define SKIP_STEPS 20 // DISTILLED: 50 of the 1000
#define BEFORE_START 999999999.9
static const double pi = 3.14159265358979323846;

static nino_sampling *model_sampling_create(nino_schedule_kind schedule, nino_prediction prediction,
                                            int n)
{
    nino_sampling *ms = calloc(1, sizeof(*ms));
    if (!ms)
        return NULL;
    ms->refs = 1;
    ms->schedule = schedule;
    ms->prediction = prediction;
    ms->sigma_data = 1;
    ms->shift = 1;
    ms->multiplier = 1;
    ms->n = n;
    const bool is_logged =
        schedule == NINO_SCHEDULE_DISCRETE || schedule == NINO_SCHEDULE_DISTILLED;
    ms->sigmas = calloc((size_t) n, sizeof(float));
    ms->log_sigmas = is_logged ? calloc((size_t) n, sizeof(float)) : NULL;
    if (!ms->sigmas || (is_logged && !ms->log_sigmas))
        nino_sampling_unref(&ms);
    return ms;
}

static nino_sampling *model_sampling_finish(nino_sampling *ms)
{
    ms->sigma_min = ms->sigmas[0];
    ms->sigma_max = ms->sigmas[ms->n - 1];
    return ms;
}

// sigma[N_BETAS], in double
static void discrete_sigmas(double *sigma, bool zero_snr)
{
    const double first = sqrt(0.00085), last = sqrt(0.012);
    const double step = (last - first) / (N_BETAS - 1);
    double alpha_bar = 1;
    for (int i = 0; i < N_BETAS; i++) {
        const double root = i < N_BETAS / 2 ? first + step * i : last - step * (N_BETAS - 1 - i);
        alpha_bar *= 1 - root * root;
        sigma[i] = sqrt((1 - alpha_bar) / alpha_bar);
    }
    if (!zero_snr)
        return;
    double signal[N_BETAS]; // sqrt(alpha_bar): shifted to end in 0, scaled to start as before
    for (int i = 0; i < N_BETAS; i++)
        signal[i] = sqrt(1 / (sigma[i] * sigma[i] + 1));
    const double s0 = signal[0], st = signal[N_BETAS - 1];
    for (int i = 0; i < N_BETAS; i++) {
        const double s = (signal[i] - st) * (s0 / (s0 - st));
        const double bar = i < N_BETAS - 1 ? s * s : 4.8973451890853435e-08; // not quite 0
        sigma[i] = sqrt((1 - bar) / bar);
    }
}

nino_sampling *nino_sampling_discrete(nino_prediction prediction, bool zero_snr)
{
    nino_sampling *ms = model_sampling_create(NINO_SCHEDULE_DISCRETE, prediction, N_BETAS);
    if (!ms)
        return NULL;
    double sigma[N_BETAS];
    discrete_sigmas(sigma, zero_snr);
    for (int i = 0; i < N_BETAS; i++) {
        ms->sigmas[i] = (float) sigma[i];
        ms->log_sigmas[i] = (float) log(sigma[i]);
    }
    return model_sampling_finish(ms);
}

nino_sampling *nino_sampling_distilled(nino_prediction prediction, bool zero_snr)
{
    nino_sampling *ms =
        model_sampling_create(NINO_SCHEDULE_DISTILLED, prediction, N_BETAS / SKIP_STEPS);
    if (!ms)
        return NULL;
    double sigma[N_BETAS];
    discrete_sigmas(sigma, zero_snr);
    for (int i = 0; i < ms->n; i++) {
        ms->sigmas[i] = (float) sigma[SKIP_STEPS * i + SKIP_STEPS - 1];
        ms->log_sigmas[i] = f_log(ms->sigmas[i]);
    }
    return model_sampling_finish(ms);
}

nino_sampling *nino_sampling_flow(double shift, double multiplier)
{
    nino_sampling *ms = model_sampling_create(NINO_SCHEDULE_FLOW, NINO_PRED_FLOW, 1000);
    if (!ms)
        return NULL;
    ms->shift = shift;
    ms->multiplier = multiplier;
    for (int i = 0; i < ms->n; i++)
        ms->sigmas[i] =
            nino_sampling_sigma(ms, (float) (i + 1) / (float) ms->n * (float) multiplier);
    return model_sampling_finish(ms);
}

nino_sampling *nino_sampling_flux(double mu)
{
    nino_sampling *ms = model_sampling_create(NINO_SCHEDULE_FLUX, NINO_PRED_FLOW, 10000);
    if (!ms)
        return NULL;
    ms->shift = mu;
    for (int i = 0; i < ms->n; i++)
        ms->sigmas[i] = nino_sampling_sigma(ms, (float) (i + 1) / (float) ms->n);
    return model_sampling_finish(ms);
}

nino_sampling *nino_sampling_continuous(nino_schedule_kind schedule, nino_prediction prediction,
                                        double sigma_min, double sigma_max, double sigma_data)
{
    nino_sampling *ms = model_sampling_create(schedule, prediction, 1000);
    if (!ms)
        return NULL;
    ms->sigma_data = sigma_data;
    const float from = (float) log(sigma_min), to = (float) log(sigma_max);
    for (int i = 0; i < ms->n; i++)
        ms->sigmas[i] = f_exp(f_linspace(from, to, ms->n, i));
    return model_sampling_finish(ms);
}

double nino_sampling_flux_mu(double max_shift, double base_shift, int width, int height)
{
    const double slope = (max_shift - base_shift) / (4096 - 256);
    return (double) width * height / 256 * slope + (base_shift - slope * 256);
}

nino_sampling *nino_sampling_ref(nino_sampling *ms)
{
    if (ms)
        __atomic_add_fetch(&ms->refs, 1, __ATOMIC_RELAXED);
    return ms;
}

void nino_sampling_unref(nino_sampling **ms)
{
    nino_sampling *p = *ms;
    *ms = NULL;
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    free(p->sigmas);
    free(p->log_sigmas);
    free(p);
}

bool nino_sampling_is_flow(const nino_sampling *ms) { return ms->prediction == NINO_PRED_FLOW; }

// ---- sigma <-> time step ----------------------------------------------------------------------
// exp of the log sigmas' linear interpolation at t, in table steps
static float interpolated_sigma(const nino_sampling *ms, float t)
{
    t = fminf(fmaxf(t, 0.0f), (float) (ms->n - 1));
    const float low = floorf(t), w = t - low;
    return f_exp((1.0f - w) * ms->log_sigmas[(int) low] + w * ms->log_sigmas[(int) ceilf(t)]);
}

float nino_sampling_sigma(const nino_sampling *ms, float t)
{
    switch (ms->schedule) {
    case NINO_SCHEDULE_DISCRETE: return interpolated_sigma(ms, t);
    case NINO_SCHEDULE_DISTILLED:
        return interpolated_sigma(ms, (t - (SKIP_STEPS - 1)) / SKIP_STEPS);
    case NINO_SCHEDULE_FLOW: {
        const float u = t / (float) ms->multiplier;
        if (ms->shift == 1)
            return u;
        return (float) ms->shift * u / (1.0f + (float) (ms->shift - 1) * u);
    }
    case NINO_SCHEDULE_FLUX: {
        const float e = (float) exp(ms->shift);
        return 1.0f / (e + (1.0f / t - 1.0f)) * e; // torch divides a number by a tensor like this
    }
    case NINO_SCHEDULE_EDM: return f_exp(t / 0.25f);
    case NINO_SCHEDULE_V: return f_tan(t * (float) pi / 2.0f);
    case NINO_SCHEDULE_COSMOS:
        return t >= ms->sigma_max / (ms->sigma_max + 1.0f) ? ms->sigma_max : t / (1.0f - t);
    }
    return 0;
}

static int nearest_log_sigma(const nino_sampling *ms, float sigma)
{
    const float l = f_log(sigma);
    int best = 0;
    for (int i = 1; i < ms->n; i++)
        if (fabsf(l - ms->log_sigmas[i]) < fabsf(l - ms->log_sigmas[best]))
            best = i;
    return best;
}

float nino_sampling_timestep(const nino_sampling *ms, float sigma)
{
    switch (ms->schedule) {
    case NINO_SCHEDULE_DISCRETE: return (float) nearest_log_sigma(ms, sigma);
    case NINO_SCHEDULE_DISTILLED:
        return (float) (nearest_log_sigma(ms, sigma) * SKIP_STEPS + SKIP_STEPS - 1);
    case NINO_SCHEDULE_FLOW: return sigma * (float) ms->multiplier;
    case NINO_SCHEDULE_FLUX: return sigma;
    case NINO_SCHEDULE_EDM: return 0.25f * f_log(sigma);
    case NINO_SCHEDULE_V: return f_atan(sigma) / (float) pi * 2.0f;
    case NINO_SCHEDULE_COSMOS: return sigma / (sigma + 1.0f);
    }
    return 0;
}

double nino_sampling_percent_to_sigma(const nino_sampling *ms, double percent)
{
    if (percent <= 0)
        return ms->schedule == NINO_SCHEDULE_FLOW || ms->schedule == NINO_SCHEDULE_FLUX
                   ? 1
                   : BEFORE_START;
    if (percent >= 1)
        return 0;
    const double t = 1 - percent;
    switch (ms->schedule) {
    case NINO_SCHEDULE_DISCRETE:
    case NINO_SCHEDULE_DISTILLED: return nino_sampling_sigma(ms, (float) (t * 999.0));
    case NINO_SCHEDULE_FLOW: return ms->shift == 1 ? t : ms->shift * t / (1 + (ms->shift - 1) * t);
    case NINO_SCHEDULE_FLUX: return exp(ms->shift) / (exp(ms->shift) + (1 / t - 1));
    case NINO_SCHEDULE_EDM:
    case NINO_SCHEDULE_V:
    case NINO_SCHEDULE_COSMOS: {
        const double low = log(ms->sigma_min);
        return exp((log(ms->sigma_max) - low) * t + low);
    }
    }
    return 0;
}

bool nino_sampling_is_max_denoise(const nino_sampling *ms, float sigma)
{
    const double a = ms->sigma_max, b = sigma;
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b)) || b > a;
}

// ---- arrays -----------------------------------------------------------------------------------
void nino_sampling_noise_scaling(const nino_sampling *ms, float sigma, bool max_denoise,
                                 const float *noise, const float *latent, float *x, int64_t n)
{
    float a = sigma, b = 1.0f; // x = a noise + b latent
    if (nino_sampling_is_flow(ms))
        b = 1.0f - sigma;
    else if (max_denoise && ms->prediction != NINO_PRED_COSMOS_RFLOW)
        a = f_sqrt(1.0f + sigma * sigma);
    for (int64_t i = 0; i < n; i++)
        x[i] = noise[i] * a + (latent ? latent[i] * b : 0.0f);
}

void nino_sampling_inverse_noise_scaling(const nino_sampling *ms, float sigma, float *x, int64_t n)
{
    if (!nino_sampling_is_flow(ms))
        return;
    for (int64_t i = 0; i < n; i++)
        x[i] /= 1.0f - sigma;
}

void nino_sampling_calculate_input(const nino_sampling *ms, float sigma, const float *x, float *dst,
                                   int64_t n)
{
    const float d2 = (float) (ms->sigma_data * ms->sigma_data);
    switch (ms->prediction) {
    case NINO_PRED_FLOW:
    case NINO_PRED_IMG_TO_IMG:
        if (dst != x)
            memcpy(dst, x, (size_t) n * sizeof(float));
        return;
    case NINO_PRED_COSMOS_RFLOW:
        for (int64_t i = 0; i < n; i++)
            dst[i] = x[i] * (1.0f - sigma / (sigma + 1.0f));
        return;
    default: break;
    }
    const float scale = f_sqrt(sigma * sigma + d2);
    for (int64_t i = 0; i < n; i++)
        dst[i] = x[i] / scale;
}

void nino_sampling_calculate_denoised(const nino_sampling *ms, float sigma, const float *output,
                                      const float *x, float *dst, int64_t n)
{
    const float d = (float) ms->sigma_data, d2 = (float) (ms->sigma_data * ms->sigma_data);
    const float var = sigma * sigma + d2, dev = f_sqrt(var);
    switch (ms->prediction) {
    case NINO_PRED_EPS:
    case NINO_PRED_FLOW:
        for (int64_t i = 0; i < n; i++)
            dst[i] = x[i] - output[i] * sigma;
        break;
    case NINO_PRED_V:
        for (int64_t i = 0; i < n; i++)
            dst[i] = x[i] * d2 / var - output[i] * sigma * d / dev;
        break;
    case NINO_PRED_EDM:
        for (int64_t i = 0; i < n; i++)
            dst[i] = x[i] * d2 / var + output[i] * sigma * d / dev;
        break;
    case NINO_PRED_X0:
    case NINO_PRED_IMG_TO_IMG:
        if (dst != output)
            memcpy(dst, output, (size_t) n * sizeof(float));
        break;
    case NINO_PRED_LCM: {
        const float t = nino_sampling_timestep(ms, sigma) * 10.0f;
        const float skip = 1.0f / (t * t + 0.25f) * 0.25f, out = t / f_sqrt(t * t + 0.25f);
        for (int64_t i = 0; i < n; i++)
            dst[i] = out * (x[i] - output[i] * sigma) + skip * x[i];
        break;
    }
    case NINO_PRED_COSMOS_RFLOW: {
        const float s = sigma / (sigma + 1.0f);
        for (int64_t i = 0; i < n; i++)
            dst[i] = x[i] * (1.0f - s) - output[i] * s;
        break;
    }
    }
}
