// Noise levels written by hand, and those of LTX-Video. Behaviour of ComfyUI's
// nodes_custom_sampler.py (ManualSigmas) and nodes_lt.py (LTXVScheduler).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/node/planar.h"

// ---- ManualSigmas ----------------------------------------------------------------------------

typedef struct manual_params {
    const char *sigmas;
} manual_params;

// The next of what [-+]?(\d*\.*\d+) matches; all else is between them. NULL: no more.
static const char *manual_next(const char *s, size_t *len)
{
    static const char digits[] = "0123456789";
    for (; *s; s++) {
        const size_t sign = *s == '-' || *s == '+';
        const size_t whole = strspn(s + sign, digits), dots = strspn(s + sign + whole, ".");
        const size_t rest = strspn(s + sign + whole + dots, digits);
        if (!whole && !rest)
            continue;
        *len = sign + whole + (rest ? dots + rest : 0);
        return s;
    }
    return NULL;
}

static nino_status manual_read(const char *s, nino_sigmas *out, nino_error *err)
{
    size_t len = 0;
    for (; (s = manual_next(s, &len)); s += len) {
        char text[64];
        double v = 0;
        const size_t plus = *s == '+';
        snprintf(text, sizeof(text), "%.*s", (int) (len - plus), s + plus);
        const size_t at = *text == '-'; // ".5" is a number there
        char number[72];
        snprintf(number, sizeof(number), "%.*s%s%s", (int) at, text, text[at] == '.' ? "0" : "",
                 text + at);
        if (len >= sizeof(text) || !nino_parse_double(number, &v))
            return nino_fail_kind(err, NINO_ERR_FORMAT, "value", "sigmas", "'%.40s' is no number",
                                  text);
        out->v[out->n++] = (float) v;
    }
    return NINO_OK;
}

static nino_status manual_run(nino_run *r, nino_error *err)
{
    const char *text = ((const manual_params *) r->params)->sigmas;
    nino_sigmas s = { .v = calloc(strlen(text) + 1, sizeof(float)) };
    const nino_status st = s.v ? manual_read(text, &s, err)
                               : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st)
        return nino_out_sigmas(r, 0, s, err);
    free(s.v);
    return st;
}

NINO_NODE(manual_sigmas, "ManualSigmas", "ManualSigmas", "model/sampling/sigmas",
          "Noise levels written by hand", NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(manual_params,
                      NINO_P_STRING(manual_params, sigmas, "1, 0.5", .label = "Sigmas",
                                    .help = "Numbers, from noise to picture; what stands between "
                                            "them does not count, exponents are not read")),
          NINO_RUN(manual_run));

// ---- LTXVScheduler ---------------------------------------------------------------------------

typedef struct ltxv_params {
    int64_t steps;
    double max_shift, base_shift, terminal;
    bool stretch;
} ltxv_params;

// Cells of the latent, or of one of usual size.
static double ltxv_tokens(const nino_latent *l)
{
    const nino_picture s = l ? nino_picture_of(l->samples) : (nino_picture){ .t = 1 };
    return l ? (double) (s.t * s.h * s.w) : 4096;
}

static nino_status ltxv_run(nino_run *r, nino_error *err)
{
    const ltxv_params *p = r->params;
    const double slope = (p->max_shift - p->base_shift) / (4096 - 1024);
    const double shift = ltxv_tokens(nino_in_latent(r, 0)) * slope + p->base_shift - slope * 1024;
    nino_sigmas s = { .n = (int) p->steps + 1 };
    s.v = calloc((size_t) s.n, sizeof(float));
    if (!s.v)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int i = 0; i < s.n - 1; i++) {
        const double t = 1 - (double) i / (double) p->steps;
        s.v[i] = (float) (exp(shift) / (exp(shift) + (1 / t - 1)));
    }
    // the last level above zero becomes the terminal one
    const float last = 1 - s.v[s.n - 2], by = last / (float) (1 - p->terminal);
    for (int i = 0; p->stretch && i < s.n - 1; i++)
        s.v[i] = last > 0 ? 1 - (1 - s.v[i]) / by : s.v[i];
    return nino_out_sigmas(r, 0, s, err);
}

NINO_NODE(ltxv_scheduler, "LTXVScheduler", "LTXVScheduler", "sampling/custom_sampling/schedulers",
          "Noise levels that depend on the latent's size",
          NINO_INPUTS(NINO_PORT(latent, LATENT, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(SIGMAS, SIGMAS)),
          NINO_PARAMS(ltxv_params,
                      NINO_P_INT(ltxv_params, steps, 20, 1, 10000, 1, .label = "Steps",
                                 .help = "Number of steps", .ui_max.i = 100),
                      NINO_P_FLOAT(ltxv_params, max_shift, 2.05, 0.0, 100.0, 0.01,
                                   .label = "Largest shift", .ui_max.f = 10,
                                   .help = "That of a latent of 4096 cells"),
                      NINO_P_FLOAT(ltxv_params, base_shift, 0.95, 0.0, 100.0, 0.01,
                                   .label = "Least shift", .ui_max.f = 10,
                                   .help = "That of a latent of 1024 cells"),
                      NINO_P_BOOL(ltxv_params, stretch, true, .label = "Stretch",
                                  .help = "Ends at the terminal level"),
                      NINO_P_FLOAT(ltxv_params, terminal, 0.1, 0.0, 0.99, 0.01, .label = "Terminal",
                                   .help = "Noise level of the last step, with stretch")),
          NINO_RUN(ltxv_run));
