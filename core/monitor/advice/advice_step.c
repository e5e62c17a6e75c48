// Advice on sampling: previews that cost too much, steps that took longer than their like, and why.
#include "core/monitor/advice/advice_rules.h"

#include "core/base/num.h"

enum { MAX_STEPS = 4096 };

typedef struct steps {
    size_t n;
    double *seconds, sum, median;
    const nino_event **ev;
} steps;

static int advice_step_by_value(const void *x, const void *y)
{
    const double a = *(const double *) x, b = *(const double *) y;
    return a < b ? -1 : a > b;
}

static double advice_step_quantile(const double *sorted, size_t n, double q)
{
    const double at = q * (double) (n - 1);
    const size_t i = (size_t) at;
    return i + 1 < n ? sorted[i] + (at - (double) i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

static void advise_previews(advisor *a, const steps *s)
{
    size_t n, used = 0;
    double sum = 0;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_PREVIEW, &n);
    for (size_t i = 0; ev && i < n; i++)
        if (ev[i].t_ns >= a->begin_ns) {
            sum += ev[i].u.step.seconds;
            used++;
        }
    const double share = s->sum > 0 ? sum / (s->sum + sum) : 0;
    if (used < 2 || share < 0.03)
        return;
    const double apart = (double) s->n / (double) used; // steps from one to the next
    const unsigned every = (unsigned) ceil(apart * share / 0.01);
    nino_advice *v = every > apart ? nino_advice_new(a, "previews-costly", "") : NULL;
    if (!v)
        return;
    SAY(a, v->title, "Fewer previews: every %u steps", every);
    SAY(a, v->evidence,
        "%zu previews took %s, %.1f %% of %s of sampling, %s each; one every %.1f steps", used,
        NINO_ADVICE_TIME(a, sum), share * 100, NINO_ADVICE_TIME(a, s->sum + sum),
        NINO_ADVICE_TIME(a, sum / (double) used), apart);
    v->gain_s = sum * (1 - apart / every);
    SAY(a, v->how, "%s x (1 - %.1f / %u)", NINO_ADVICE_TIME(a, sum), apart, every);
    v->action = NINO_ADVICE_OPTION;
    PUT(v->setting, "--preview-every %u", every);
}

// Mean of the device's clock between two times; NaN: not known.
static double mean_mhz(const advisor *a, uint64_t t0, uint64_t t1)
{
    size_t n, used = 0;
    double sum = 0;
    const nino_reading *mhz = nino_history_counter(a->h, NINO_COUNTER_GPU_CLOCK, &n);
    for (size_t i = nino_reading_lower(mhz, n, t0); i < n && mhz[i].t_ns < t1; i++)
        if (isfinite(mhz[i].value)) {
            sum += mhz[i].value;
            used++;
        }
    return used ? sum / (double) used : (double) NAN;
}

static size_t count_memory(const advisor *a, uint64_t t0, uint64_t t1)
{
    size_t n, used = 0;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_MEM, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, t0) : n; i < n && ev[i].t_ns < t1; i++)
        used +=
            ev[i].sub == NINO_MEM_TRIM || ev[i].sub == NINO_MEM_FAIL || ev[i].sub == NINO_MEM_ARENA;
    return used;
}

static double late_seconds(const advisor *a, uint64_t t0, uint64_t t1)
{
    nino_track_info track[64];
    const size_t n = nino_history_tracks(a->h, track, 64);
    double sum = 0;
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(a->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(a->h, track[i].number, t0); k < m && ev[k].t_ns < t1;
             k++)
            sum += ev[k].kind == NINO_EV_TRANSFER ? (double) ev[k].u.kernel.dur_ns * 1e-9 : 0;
    }
    return sum;
}

// Why the slow steps were slow: the first cause that its own figures show.
static void say_cause(const advisor *a, nino_advice *v, const steps *s, double limit)
{
    double slow = 0, rest = 0, compile = 0, kept = 0, late = 0;
    size_t n_slow = 0, n_rest = 0, memory = 0;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t t1 = s->ev[i]->t_ns, d = (uint64_t) (s->ev[i]->u.step.seconds * 1e9);
        const uint64_t t0 = t1 > d ? t1 - d : 0;
        const double mhz = mean_mhz(a, t0, t1);
        const bool is_slow = s->ev[i]->u.step.seconds > limit;
        if (isfinite(mhz)) {
            *(is_slow ? &slow : &rest) += mhz;
            *(is_slow ? &n_slow : &n_rest) += 1;
        }
        if (!is_slow)
            continue;
        double saved;
        compile += nino_advice_compiling(a, t0, t1, NULL, &saved);
        kept += saved;
        late += late_seconds(a, t0, t1);
        memory += count_memory(a, t0, t1);
    }
    slow = n_slow ? slow / (double) n_slow : (double) NAN;
    rest = n_rest ? rest / (double) n_rest : (double) NAN;
    if (compile > 0.2 * v->gain_s) {
        if (kept > 0.5 * compile)
            SAY(a, v->title, "Slow steps compiled kernels: the next run has them");
        else
            SAY(a, v->title, "Slow steps waited for their kernels");
        ADD(a, v->evidence, "%s of them went into compiling", NINO_ADVICE_TIME(a, compile));
    } else if (slow < 0.93 * rest) {
        SAY(a, v->title, "The device throttles: its clock fell in the slow steps");
        ADD(a, v->evidence, "clock %.0f MHz in them, %.0f MHz in the others", slow, rest);
    } else if (late > 0.2 * v->gain_s) {
        SAY(a, v->title, "Slow steps waited for weights");
        ADD(a, v->evidence, "%s of them were copies", NINO_ADVICE_TIME(a, late));
    } else if (memory) {
        SAY(a, v->title, "Slow steps made or lost memory");
        ADD(a, v->evidence, "exchanges of memory with the driver in them: %zu", memory);
    } else {
        SAY(a, v->title, "Some steps are slower than their like");
        ADD(a, v->evidence, "no compiling, copies or clock changes in them: other programs?");
    }
}

static void advise_slow_steps(advisor *a, const steps *s, const double *sorted)
{
    const double q1 = advice_step_quantile(sorted, s->n, 0.25),
                 q3 = advice_step_quantile(sorted, s->n, 0.75);
    const double limit = fmax(q3 + 3 * (q3 - q1), s->median * 1.3); // Tukey's far outliers
    double extra = 0, most = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->seconds[i] > limit) {
            extra += s->seconds[i] - s->median;
            most = fmax(most, s->seconds[i]);
            n++;
        }
    if (s->n < 6 || !n || extra < 0.02 * a->wall_s)
        return;
    nino_advice *v = nino_advice_new(a, "slow-steps", "");
    if (!v)
        return;
    v->gain_s = extra;
    SAY(a, v->evidence, "%zu of %zu steps, the longest took %s; the median is %s", n, s->n,
        NINO_ADVICE_TIME(a, most), NINO_ADVICE_TIME(a, s->median));
    SAY(a, v->how, "%s: the time that they took beyond the median", NINO_ADVICE_TIME(a, extra));
    say_cause(a, v, s, limit);
}

void nino_advise_sampler(advisor *a)
{
    size_t n;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_STEP_INFO, &n);
    const size_t first = ev ? nino_history_lower(ev, n, a->begin_ns) : n;
    steps s = { .n = n - first < MAX_STEPS ? n - first : MAX_STEPS };
    double *sorted = calloc(s.n + 1, sizeof(*sorted));
    s.seconds = calloc(s.n + 1, sizeof(*s.seconds));
    s.ev = calloc(s.n + 1, sizeof(*s.ev));
    if (s.n && sorted && s.seconds && s.ev) {
        for (size_t i = 0; i < s.n; i++) {
            s.ev[i] = &ev[first + i];
            s.seconds[i] = sorted[i] = ev[first + i].u.step.seconds;
            s.sum += s.seconds[i];
        }
        qsort(sorted, s.n, sizeof(*sorted), advice_step_by_value);
        s.median = advice_step_quantile(sorted, s.n, 0.5);
        advise_previews(a, &s);
        advise_slow_steps(a, &s, sorted);
    }
    free(sorted);
    free(s.seconds);
    free(s.ev);
}
