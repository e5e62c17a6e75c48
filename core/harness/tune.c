// nino_tune(): tries values of a device's schedule parameters against the standard, in interleaved
// rounds, and keeps what is faster beyond doubt. What wins among several looks better than it is,
// so the gain that is told is measured anew afterwards.
#include "core/base/error.h"
#include "core/base/params.h"
#include "core/base/vars.h"
#include "core/event/student.h"
#include "core/harness/kernel_check_priv.h"
#include "core/op/device/device.h"
#include "core/harness/tune_choices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 16 };

// ---- measuring ---------------------------------------------------------------------------------

typedef struct session {
    nino_backend *be;
    const nino_tune_params *p;
    int rounds;
    nino_error *err;
} session;

// One case, prepared for the standard and for a candidate: workspaces may differ.
typedef struct pair {
    check_job job;
    check_side side[2];
} pair;

static void tune_set(const session *s, const nino_tune_row *row, int value)
{
    *nino_tune_field(&s->be->profile.tuning, row) = value;
}

static nino_status pair_open(pair *t, const session *s, const nino_tune_row *row, int value,
                             const nino_check_case *c)
{
    *t = (pair){ .side = { { .be = s->be, .in_place = -1 }, { .be = s->be, .in_place = -1 } } };
    const nino_profile *p = &s->be->profile;
    nino_status st = check_job_init(&t->job, c, nino_tune_type(p, row), p, 1, s->err);
    for (int i = 0; i < 2 && !st; i++) {
        tune_set(s, row, i ? value : row->standard);
        st = check_side_prepare(&t->side[i], &t->job, s->err);
    }
    return st;
}

static void pair_close(pair *t)
{
    check_side_release(&t->side[0]);
    check_side_release(&t->side[1]);
    check_job_release(&t->job);
}

// The logarithm of time with `value` / time with the standard, of every round; the two take turns
// in going first.
static nino_status measure_pair(const session *s, const nino_tune_row *row, int value, pair *t,
                                double *out)
{
    for (int r = -1; r < s->rounds; r++) { // the first round compiles and warms up
        double took[2];
        for (int k = 0; k < 2; k++) {
            const int i = (r & 1) ^ k;
            tune_set(s, row, i ? value : row->standard);
            const nino_status st = check_side_time(&t->side[i], &took[i], s->err);
            if (st)
                return st;
        }
        if (r >= 0)
            out[r] += log(took[1] / took[0]);
    }
    return NINO_OK;
}

// Mean and 95 % interval of the logarithm of the ratio, over the row's cases.
typedef struct estimate {
    double mean, low, high;
} estimate;

static nino_status tune_compare(const session *s, const nino_tune_row *row, int value,
                                estimate *out)
{
    double log_ratio[MAX_ROUNDS] = { 0 }, sum = 0, square = 0;
    const int n_cases = s->p->quick ? 1 : NINO_MAX_TUNE_CASES;
    int n = 0;
    nino_status st = NINO_OK;
    for (int i = 0; i < n_cases && (s->p->quick || row->cases[i]) && !st; i++, n++) {
        pair t;
        st = pair_open(&t, s, row, value, s->p->quick ? row->small_case : row->cases[i]);
        if (!st)
            st = measure_pair(s, row, value, &t, log_ratio);
        pair_close(&t);
    }
    tune_set(s, row, row->standard);
    for (int r = 0; r < s->rounds; r++)
        sum += log_ratio[r] /= n;
    out->mean = sum / s->rounds;
    for (int r = 0; r < s->rounds; r++)
        square += (log_ratio[r] - out->mean) * (log_ratio[r] - out->mean);
    const double half =
        nino_student_quantile(0.05, s->rounds - 1) * sqrt(square / (s->rounds - 1) / s->rounds);
    out->low = out->mean - half;
    out->high = out->mean + half;
    return st;
}

static nino_status tune_row(const session *s, const nino_tune_row *row, nino_tune_choice *c)
{
    nino_status st = NINO_OK;
    double best = 0;
    *c = (nino_tune_choice){ .standard = row->standard, .value = row->standard };
    snprintf(c->name, sizeof(c->name), "%s", row->name);
    for (int i = 0; i < NINO_MAX_TUNE_VALUES && row->value[i] && !st; i++) {
        char what[64];
        estimate e;
        if (row->value[i] == row->standard)
            continue;
        snprintf(what, sizeof(what), "%s = %d", row->name, row->value[i]);
        if (s->p->progress)
            s->p->progress(s->p->priv, what);
        st = tune_compare(s, row, row->value[i], &e);
        if (!st && e.mean < best) {
            best = e.mean;
            c->value = row->value[i];
        }
    }
    if (st || c->value == row->standard)
        return st;
    estimate e; // fresh rounds: the winner was also the luckiest
    st = tune_compare(s, row, c->value, &e);
    c->gain = 100 * (1 - exp(e.mean));
    c->gain_low = 100 * (1 - exp(e.high));
    c->gain_high = 100 * (1 - exp(e.low));
    if (!(c->gain_low > 0)) // not beyond doubt
        *c = (nino_tune_choice){ .standard = row->standard, .value = row->standard };
    snprintf(c->name, sizeof(c->name), "%s", row->name);
    return st;
}

static void tune_describe(nino_tuning_info *t, const nino_device_info *d)
{
    snprintf(t->device, sizeof(t->device), "%s", d->name);
    snprintf(t->driver, sizeof(t->driver), "%s", d->driver);
    snprintf(t->platform, sizeof(t->platform), "%s", d->platform);
    snprintf(t->version, sizeof(t->version), "%s", nino_version());
    t->tuned_at = (int64_t) time(NULL);
}

nino_status nino_tune(const nino_tune_params *params, nino_tuning_info *out, nino_error *err)
{
    nino_tune_params p;
    if (!NINO_TAKE(&p, params, NINO_TUNE_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    nino_error mine = { .code = NINO_OK };
    session s = { .p = &p, .err = &mine };
    const nino_ctx_params cp = { .cache_dir = s.p->cache_dir };
    nino_tuning_info t = { .n = 0 };
    s.rounds = s.p->quick ? 4 : MAX_ROUNDS;
    s.be = nino_device_open(s.p->device, &cp, NULL, &mine);
    nino_status st = mine.code;
    if (s.be) {
        s.be->profile.tuning = (nino_tuning){ 0 };
        if (s.be->profile.gemm == NINO_GEMM_CLBLAST) // it is what is to be decided
            s.be->profile.gemm = NINO_GEMM_AUTO;
        tune_describe(&t, &s.be->info);
        for (const nino_tune_row *r = nino_tune_rows; r->name && !st; r++) {
            if (!nino_tune_fits(&s.be->profile, r) || (!r->tunes && s.p->quick) ||
                (st = tune_row(&s, r, &t.choice[t.n])))
                continue;
            tune_set(&s, r, t.choice[t.n++].value); // counts when the next one is tried
        }
        if (!st && !t.n)
            st = nino_fail(&mine, NINO_ERR_UNSUPPORTED, s.be->info.selector,
                           "only OpenCL devices have something to tune");
        if (!st)
            st = nino_tuning_save(s.p->cache_dir, &s.be->info, &t, &mine);
    }
    nino_backend_close(&s.be);
    if (st && err)
        *err = mine;
    if (!st)
        *out = t;
    return st;
}
