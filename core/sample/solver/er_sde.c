// ER-SDE solver, variance-preserving, up to stage 3: Cui et al. (2023), "Elucidating the solution
// space of extended reverse-time SDE for diffusion models", arXiv 2309.06169. In
// lambda = sigma / alpha; the noise scale phi(lambda) chooses among SDEs and the ODE.
#include "core/sample/solver/solve.h"
#include <string.h>

#define N_POINTS 200

static double er_eta(const nino_sampler *o)
{
    return o->solver_type == NINO_SOLVER_ODE ? 0 : o->eta;
}

static bool er_has_noise(const nino_sampler *o)
{
    return o->s_noise > 0 && (o->solver_type == NINO_SOLVER_ER_SDE || er_eta(o) != 0);
}

static float phi(const nino_sampler *o, float lambda)
{
    if (o->solver_type == NINO_SOLVER_ER_SDE)
        return lambda * (f_exp(f_pow(lambda, 0.3f)) + 10.0f);
    return f_pow(lambda, (float) (er_eta(o) + 1)); // reverse-time SDE; without eta the ODE
}

// Sums over [to, from] of 1 / phi and of (lambda - from) / phi, for stages 2 and 3.
static void integrate(const nino_sampler *o, float from, float to, float *flat, float *linear)
{
    const float step = -(to - from) / (float) N_POINTS;
    double sum = 0, sum_linear = 0;
    for (int q = 0; q < N_POINTS; q++) {
        const float at = to + (float) q * step, scale = phi(o, at);
        sum += (double) (1.0f / scale);
        sum_linear += (double) ((at - from) / scale);
    }
    *flat = (float) sum * step;
    *linear = (float) sum_linear * step;
}

typedef struct er_state {
    float *D, *old, *slope, *old_slope, *noise;
} er_state;

static float er_lambda(const nino_solve *s, int k)
{
    return f_exp(-nino_half_log_snr(s, s->sigma[k]));
}

static void er_step(nino_solve *s, int k, er_state *e)
{
    const nino_sampler *o = s->opt;
    float *x = s->x, *D = e->D;
    const int stage = o->max_stage < k + 1 ? o->max_stage : k + 1;
    const float from = er_lambda(s, k), to = er_lambda(s, k + 1);
    const float alpha_s = s->sigma[k] / from, alpha = s->sigma[k + 1] / to;
    const float r = phi(o, to) / phi(o, from), keep = alpha / alpha_s * r;
    const float add = alpha * (1.0f - r), dt = to - from;
    EACH(s) x[i] = keep * x[i] + add * D[i];
    if (stage >= 2) {
        float flat, linear;
        integrate(o, from, to, &flat, &linear);
        const float h = from - er_lambda(s, k - 1), w2 = alpha * (dt + flat * phi(o, to));
        EACH(s) e->slope[i] = (D[i] - e->old[i]) / h;
        EACH(s) x[i] += w2 * e->slope[i];
        if (stage >= 3) {
            const float h2 = (from - er_lambda(s, k - 2)) / 2.0f;
            const float w3 = alpha * (dt * dt / 2.0f + linear * phi(o, to));
            EACH(s) x[i] += w3 * ((e->slope[i] - e->old_slope[i]) / h2);
        }
    }
    if (er_has_noise(o)) {
        const float var = to * to - from * from * (r * r), size = var > 0 ? f_sqrt(var) : 0;
        nino_solve_noise(s, e->noise);
        EACH(s) x[i] += alpha * e->noise[i] * (float) o->s_noise * size;
    }
}

static void swap(float **a, float **b)
{
    float *t = *a;
    *a = *b;
    *b = t;
}

nino_status nino_sample_er_sde(nino_solve *s)
{
    float *a[5];
    nino_status st = nino_solve_arrays(s, a, 5);
    er_state e = { a[0], a[1], a[2], a[3], a[4] };
    nino_solve_offset_first_sigma(s);
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        if ((st = nino_solve_denoise(s, s->x, s->sigma[k], e.D, NULL)))
            break;
        nino_solve_report(s, k, s->sigma[k], s->x, e.D);
        if (s->sigma[k + 1] == 0)
            memcpy(s->x, e.D, (size_t) s->count * sizeof(float));
        else
            er_step(s, k, &e);
        swap(&e.D, &e.old);
        swap(&e.slope, &e.old_slope);
    }
    return st;
}
