// DPM-Solver of orders 1, 2, 3 in t = -ln sigma (Lu et al. 2022), with a fixed number of
// evaluations ("fast") or with step size control by a PID controller ("adaptive"): k-diffusion.
#include "core/sample/solver/solve.h"
#include <float.h>
#include <string.h>

typedef struct dpm {
    nino_solve *s;
    const float *x;             // the state a step starts from
    float *eps, *eps_1, *eps_2; // noise at t, t + h r1, t + h r2
    float *u;                   // inner states
    bool has_eps_1;             // eps_1 is known (the orders share it)
} dpm;

static nino_status dpm_create(dpm *p, nino_solve *s)
{
    float *a[4];
    const nino_status st = nino_solve_arrays(s, a, 4);
    if (st == NINO_OK)
        *p = (dpm){ .s = s, .eps = a[0], .eps_1 = a[1], .eps_2 = a[2], .u = a[3] };
    return st;
}

// eps = (u - D) / sigma
static nino_status find_eps(dpm *p, const float *u, float t, float *eps)
{
    const float sigma = f_exp(-t);
    const nino_status st = nino_solve_denoise(p->s, u, sigma, eps, NULL);
    if (st == NINO_OK)
        EACH(p->s) eps[i] = (u[i] - eps[i]) / sigma;
    return st;
}

static nino_status dpm_begin(dpm *p, const float *x, float t)
{
    p->x = x;
    p->has_eps_1 = false;
    return find_eps(p, x, t, p->eps);
}

static nino_status step_1(dpm *p, float t, float next, float *out)
{
    const float c = f_exp(-next) * f_expm1(next - t);
    EACH(p->s) out[i] = p->x[i] - c * p->eps[i];
    return NINO_OK;
}

static nino_status find_eps_1(dpm *p, float t, float h, double r1)
{
    if (p->has_eps_1)
        return NINO_OK;
    const float t1 = t + (float) r1 * h, c = f_exp(-t1) * f_expm1((float) r1 * h);
    EACH(p->s) p->u[i] = p->x[i] - c * p->eps[i];
    p->has_eps_1 = true;
    return find_eps(p, p->u, t1, p->eps_1);
}

static nino_status step_2(dpm *p, float t, float next, double r1, float *out)
{
    const float h = next - t, sigma = f_exp(-next), grow = f_expm1(h);
    const nino_status st = find_eps_1(p, t, h, r1);
    const float c = sigma * grow, c1 = sigma / (float) (2 * r1) * grow;
    if (st == NINO_OK)
        EACH(p->s) out[i] = p->x[i] - c * p->eps[i] - c1 * (p->eps_1[i] - p->eps[i]);
    return st;
}

static nino_status step_3(dpm *p, float t, float next, float *out)
{
    const double r1 = 1.0 / 3, r2 = 2.0 / 3;
    const float h = next - t, h2 = (float) r2 * h, t2 = t + h2;
    nino_status st = find_eps_1(p, t, h, r1);
    if (st)
        return st;
    const float grow2 = f_expm1(h2), a = f_exp(-t2) * grow2;
    const float b = f_exp(-t2) * (float) (r2 / r1) * (grow2 / h2 - 1.0f);
    EACH(p->s) p->u[i] = p->x[i] - a * p->eps[i] - b * (p->eps_1[i] - p->eps[i]);
    if ((st = find_eps(p, p->u, t2, p->eps_2)))
        return st;
    const float sigma = f_exp(-next), grow = f_expm1(h);
    const float c = sigma * grow, c2 = sigma / (float) r2 * (grow / h - 1.0f);
    EACH(p->s) out[i] = p->x[i] - c * p->eps[i] - c2 * (p->eps_2[i] - p->eps[i]);
    return NINO_OK;
}

// t of the first sigma and of the last that is not 0.
static nino_status range(nino_solve *s, float *from, float *to)
{
    const int n = s->n_steps;
    const float last = s->sigma[n] == 0 ? s->sigma[n - 1] : s->sigma[n];
    if (!(s->sigma[0] > 0) || !(last > 0))
        return nino_solve_fail(s, "the first and the last sigma must be above 0");
    *from = -f_log(s->sigma[0]);
    *to = -f_log(last);
    return NINO_OK;
}

// D = x - sigma eps, for progress
static void dpm_report(dpm *p, int k, float t, float *D)
{
    const float sigma = f_exp(-t);
    EACH(p->s) D[i] = p->x[i] - sigma * p->eps[i];
    nino_solve_report(p->s, k, sigma, p->x, D);
}

nino_status nino_sample_dpm_fast(nino_solve *s)
{
    float *x = s->x, *next_x, from = 0, to = 0;
    dpm p;
    nino_status st;
    if ((st = dpm_create(&p, s)) || (st = nino_solve_arrays(s, &next_x, 1)) ||
        (st = range(s, &from, &to)))
        return st;
    // Steps of order 3; the last ones make the number of evaluations n_steps.
    const int n = s->n_steps, m = n / 3 + 1, rest = n % 3;
    for (int k = 0; k < m; k++) {
        const float t = f_linspace(from, to, m + 1, k), next = f_linspace(from, to, m + 1, k + 1);
        const int order = rest ? (k < m - 1 ? 3 : rest) : k < m - 2 ? 3 : m - k;
        if ((st = dpm_begin(&p, x, t)))
            return st;
        dpm_report(&p, k, t, next_x);
        st = order == 1   ? step_1(&p, t, next, next_x)
             : order == 2 ? step_2(&p, t, next, 0.5, next_x)
                          : step_3(&p, t, next, next_x);
        if (st)
            return st;
        memcpy(x, next_x, (size_t) s->count * sizeof(float));
    }
    return NINO_OK;
}

// ---- adaptive ---------------------------------------------------------------------------------
typedef struct pid {                // Soderlind (2003)
    double h, b1, b2, b3, error[3]; // inverse errors, newest first
    bool is_started;
} pid;

// Takes a step's error; true: the step counts. h is then the next step's size.
static bool pid_accepts(pid *p, double error, double accept_safety)
{
    const double inverse = 1 / (error + 1e-8);
    if (!p->is_started)
        p->error[1] = p->error[2] = inverse;
    p->is_started = true;
    p->error[0] = inverse;
    const double factor =
        1 + atan(pow(p->error[0], p->b1) * pow(p->error[1], p->b2) * pow(p->error[2], p->b3) - 1);
    const bool is_accepted = factor >= accept_safety;
    if (is_accepted) {
        p->error[2] = p->error[1];
        p->error[1] = p->error[0];
    }
    p->h *= factor;
    return is_accepted;
}

// Root mean square of (low - high) over what is tolerated.
static double step_error(nino_solve *s, const float *low, const float *high, const float *prev)
{
    const float atol = (float) s->opt->atol, rtol = (float) s->opt->rtol;
    double sum = 0;
    EACH(s)
    {
        const float delta = fmaxf(atol, rtol * fmaxf(fabsf(low[i]), fabsf(prev[i])));
        const float e = (low[i] - high[i]) / delta;
        sum += (double) e * e;
    }
    return sqrt(sum) / sqrt((double) s->count);
}

// Both estimates of x at `next`: of order - 1 and of order.
static nino_status both_orders(dpm *p, int order, float t, float next, float *low, float *high)
{
    nino_status st = order == 2 ? step_1(p, t, next, low) : step_2(p, t, next, 1.0 / 3, low);
    if (st == NINO_OK)
        st = order == 2 ? step_2(p, t, next, 0.5, high) : step_3(p, t, next, high);
    return st;
}

nino_status nino_sample_dpm_adaptive(nino_solve *s)
{
    const nino_sampler *o = s->opt;
    float *a[4], t = 0, end = 0;
    dpm p;
    nino_status st;
    if (o->order != 2 && o->order != 3)
        return nino_solve_fail(s, "order must be 2 or 3");
    if ((st = dpm_create(&p, s)) || (st = nino_solve_arrays(s, a, 4)) || (st = range(s, &t, &end)))
        return st;
    float *x = s->x, *prev = a[0], *low = a[1], *high = a[2], *D = a[3];
    const bool is_forward = end > t;
    if (!is_forward && o->eta != 0)
        return nino_solve_fail(s, "eta must be 0 where sigmas rise");
    const double order = o->eta != 0 ? 1.5 : o->order;
    pid control = { .h = is_forward ? fabs(o->h_init) : -fabs(o->h_init),
                    .b1 = (o->pcoeff + o->icoeff + o->dcoeff) / order,
                    .b2 = -(o->pcoeff + 2 * o->dcoeff) / order,
                    .b3 = o->dcoeff / order };
    memcpy(prev, x, (size_t) s->count * sizeof(float));
    for (int k = 0; is_forward ? t < end - 1e-5f : t > end + 1e-5f; k++) {
        const float aim = t + (float) control.h;
        const float next = is_forward ? fminf(end, aim) : fmaxf(end, aim);
        if (next == t)
            return nino_solve_fail(s, "the step size fell to nothing: rtol and atol are too small");
        float down = next, up = 0;
        if (o->eta != 0) {
            const float sigma = nino_ancestral_step(f_exp(-t), f_exp(-next), o->eta).down;
            down = fminf(end, -f_log(sigma));
            up = f_sqrt(f_exp(-next) * f_exp(-next) - f_exp(-down) * f_exp(-down));
        }
        if ((st = dpm_begin(&p, x, t)))
            return st;
        dpm_report(&p, k, t, D);
        if ((st = both_orders(&p, o->order, t, down, low, high)))
            return st;
        const double error = step_error(s, low, high, prev);
        if (!isfinite(error))
            return nino_solve_fail(s, "the step's error is not a finite number");
        if (!pid_accepts(&control, error, o->accept_safety))
            continue;
        memcpy(prev, low, (size_t) s->count * sizeof(float));
        memcpy(x, high, (size_t) s->count * sizeof(float));
        t = next;
        if (up > 0) {
            nino_solve_noise(s, D);
            EACH(s) x[i] += up * (float) o->s_noise * D[i];
        }
    }
    return NINO_OK;
}
