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

enum { MAX_CASES = 3, MAX_ROUNDS = 16 };

static const nino_check_case tall = {
    .op = NINO_OP_LINEAR, .src = { { 1024, 1024 } }, .n = 1024, .weight = NINO_F16
};
static const nino_check_case flat = {
    .op = NINO_OP_LINEAR, .src = { { 77, 768 } }, .n = 3072, .weight = NINO_F16
};
static const nino_check_case few_narrow = {
    .op = NINO_OP_LINEAR, .src = { { 1, 1280 } }, .n = 1280, .weight = NINO_F16
};
static const nino_check_case few_wide = {
    .op = NINO_OP_LINEAR, .src = { { 8, 1024 } }, .n = 4096, .weight = NINO_F16
};
static const nino_check_case even = {
    .op = NINO_OP_LINEAR, .src = { { 192, 640 } }, .n = 640, .weight = NINO_F32
};
static const nino_check_case up_rows = {
    .op = NINO_OP_LINEAR, .src = { { 1024, 320 } }, .n = 1280, .weight = NINO_F32
};
static const nino_check_case wide = { .op = NINO_OP_CONV2D,
                                      .attr = { .kernel = 3, .stride = 1 },
                                      .src = { { 1, 64, 64, 256 } },
                                      .n = 256,
                                      .weight = NINO_F16 };
static const nino_check_case deep = { .op = NINO_OP_CONV2D,
                                      .attr = { .kernel = 3, .stride = 1 },
                                      .src = { { 1, 128, 128, 128 } },
                                      .n = 128,
                                      .weight = NINO_F16 };
static const nino_check_case point = { .op = NINO_OP_CONV2D,
                                       .attr = { .kernel = 1, .stride = 1 },
                                       .src = { { 1, 64, 64, 320 } },
                                       .n = 320,
                                       .weight = NINO_F16 };
static const nino_check_case small_gemm = {
    .op = NINO_OP_LINEAR, .src = { { 128, 128 } }, .n = 128, .weight = NINO_F16
};
static const nino_check_case small_conv = { .op = NINO_OP_CONV2D,
                                            .attr = { .kernel = 3, .stride = 1 },
                                            .src = { { 1, 32, 32, 32 } },
                                            .n = 32,
                                            .weight = NINO_F16 };

const nino_tune_row nino_tune_rows[] = {
    { "gemm_pieces",
      offsetof(nino_tuning, gemm_pieces),
      NINO_TUNES_GEMM_PIECES,
      false,
      NINO_STANDARD_GEMM_PIECES,
      { 1, 2, 4, 8, 16 },
      { &tall, &flat, &point },
      &small_gemm },
    { "gemm_rows",
      offsetof(nino_tuning, gemm_rows),
      NINO_TUNES_GEMM_ROWS,
      false,
      NINO_STANDARD_GEMM_ROWS,
      { 24, 48, 72, 96 },
      { &tall, &flat, &point },
      &small_gemm },
    { "wino_tiles",
      offsetof(nino_tuning, wino_tiles),
      NINO_TUNES_WINO_TILES,
      true,
      NINO_STANDARD_WINO_TILES,
      { 56, 84, 112, 168, 224 },
      { &wide, &deep },
      &small_conv },
    { "gemm_tile",
      offsetof(nino_tuning, gemm_tile),
      NINO_TUNES_GEMM_TILE,
      false,
      NINO_STANDARD_GEMM_TILE,
      { 1, 2, 3 },
      { &tall, &flat, &point },
      &small_gemm },
#define ENGINE(rows, ...)                                                                          \
    {                                                                                              \
        .name = "engine_" #rows, .offset = offsetof(nino_tuning, engine_##rows),                   \
        .standard = NINO_STANDARD_ENGINE, .value = { NINO_GEMM_NATIVE, NINO_GEMM_CLBLAST },        \
        .cases = {                                                                                 \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    ENGINE(few, &few_narrow, &few_wide),
    ENGINE(flat, &flat, &even),
    ENGINE(tall, &tall, &up_rows),
    { .name = NULL },
};

int *nino_tune_field(nino_tuning *t, const nino_tune_row *row)
{
    return (int *) (void *) ((char *) t + row->offset);
}

bool nino_tune_allows(const nino_tune_row *row, int value)
{
    for (int i = 0; i < NINO_MAX_TUNE_VALUES; i++)
        if (row->value[i] == value && value)
            return true;
    return false;
}

bool nino_tuning_apply(const char *cache_dir, const nino_device_info *d, nino_profile *p)
{
    nino_tuning_info t;
    if (!nino_is_true(nino_vars_get()->kernel_tuning) || nino_tuning_load(cache_dir, d, &t, NULL))
        return false;
    for (const nino_tune_row *r = nino_tune_rows; r->name; r++)
        for (size_t i = 0; i < t.n; i++)
            if (!strcmp(t.choice[i].name, r->name))
                *nino_tune_field(&p->tuning, r) = t.choice[i].value;
    return true;
}

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

bool nino_tune_fits(const nino_profile *p, const nino_tune_row *row)
{
    if (!row->tunes)
        return p->has_blas && p->gemm != NINO_GEMM_NATIVE;
    const bool fits = (p->schedule->tunes & row->tunes) != 0;
    return fits && (!row->is_winograd || p->has_winograd);
}

static void tune_set(const session *s, const nino_tune_row *row, int value)
{
    *nino_tune_field(&s->be->profile.tuning, row) = value;
}

static nino_status pair_open(pair *t, const session *s, const nino_tune_row *row, int value,
                             const nino_check_case *c)
{
    *t = (pair){ .side = { { .be = s->be, .in_place = -1 }, { .be = s->be, .in_place = -1 } } };
    // f32 in every case: Winograd and the CPU kernels are for it
    nino_status st = check_job_init(&t->job, c, NINO_F32, &s->be->profile, 1, s->err);
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
    const int n_cases = s->p->quick ? 1 : MAX_CASES;
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
