// nino_replay(): the call that a kernel was launched for, made again by itself, in turn with each way
// to cut it; and what else is known of one kernel: its source, what its driver says.
#include <ninodes/kernel.h>

#include "core/base/error.h"
#include "core/base/params.h"
#include "core/event/publish.h"
#include "core/harness/kernel_call.h"
#include "core/harness/kernel_check_priv.h"
#include "core/harness/measure_first.h"
#include "core/harness/tune_choices.h"
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, RECORDS = 256 };

typedef struct replay {
    const nino_replay_params *p;
    nino_backend *be;
    nino_monitor *monitor;
    nino_mon_reader *reader;
    nino_tuning now; // as the device is set
    const nino_tune_row *row[NINO_MAX_SETTINGS];
    check_job job;
    check_side side;
    nino_replay_result *r;
    // Seconds of the kernels in the present call, and in every call of setting 0 that counts.
    double sum[NINO_REPLAY_KERNELS], (*kernel_s)[NINO_MAX_ROUNDS];
    uint64_t launches[NINO_REPLAY_KERNELS];
    size_t n_calls;
} replay;

static void replay_set(const replay *x, int k)
{
    x->be->profile.tuning = x->now;
    if (x->row[k])
        *nino_tune_field(&x->be->profile.tuning, x->row[k]) = x->r->setting[k].value;
}

// The settings besides the present one: each other value of each row that this op goes by.
static void list_settings(replay *x)
{
    const nino_op_id op = x->job.d.op;
    nino_replay_result *r = x->r;
    const bool is_product = op == NINO_OP_LINEAR || op == NINO_OP_CONV2D || op == NINO_OP_CONV3D;
    const bool is_wino = nino_sched_conv(&x->be->profile, &x->job.d) == NINO_CONV_WINOGRAD;
    r->n_settings = 1;
    for (const nino_tune_row *row = nino_tune_rows; row->name && x->p->sweep && is_product; row++) {
        const int now = *nino_tune_field(&x->now, row);
        if (!row->tunes || !nino_tune_fits(&x->be->profile, row) || row->is_winograd != is_wino)
            continue;
        for (int i = 0; i < NINO_MAX_TUNE_VALUES && row->value[i]; i++) {
            if (row->value[i] == (now ? now : row->standard) || r->n_settings == NINO_MAX_SETTINGS)
                continue;
            nino_replay_setting *s = &r->setting[r->n_settings];
            x->row[r->n_settings++] = row;
            snprintf(s->name, sizeof(s->name), "%s", row->name);
            s->value = row->value[i];
        }
    }
}

// Settings want workspaces of different sizes: the largest is for all.
static nino_status prepare(replay *x, nino_error *err)
{
    const nino_backend_impl *impl = x->be->impl;
    size_t most = 0;
    int largest = 0;
    for (int k = 0; k < (int) x->r->n_settings && impl->workspace; k++) {
        replay_set(x, k);
        const size_t n = impl->workspace(x->be, &x->job.d);
        largest = n > most ? k : largest;
        most = n > most ? n : most;
    }
    replay_set(x, largest);
    return check_side_prepare(&x->side, &x->job, err);
}

// Takes what the call's kernels have told: their seconds, and those of each.
static double take_records(replay *x)
{
    nino_event ev[RECORDS];
    uint64_t lost;
    double all = 0;
    size_t n;
    memset(x->sum, 0, sizeof(x->sum));
    memset(x->launches, 0, sizeof(x->launches));
    while ((n = nino_mon_reader_read(x->reader, ev, RECORDS, &lost)) > 0)
        for (size_t i = 0; i < n; i++) {
            if (ev[i].kind != NINO_EV_KERNEL)
                continue;
            const char *name = nino_monitor_name_text(x->monitor, ev[i].name);
            nino_replay_result *r = x->r;
            size_t k = 0;
            all += (double) ev[i].u.kernel.dur_ns * 1e-9;
            while (k < r->n_kernels && strcmp(r->kernel[k].name, name) != 0)
                k++;
            if (k == NINO_REPLAY_KERNELS)
                continue;
            if (k == r->n_kernels)
                snprintf(r->kernel[r->n_kernels++].name, sizeof(r->kernel[k].name), "%s", name);
            x->sum[k] += (double) ev[i].u.kernel.dur_ns * 1e-9;
            x->launches[k]++;
        }
    return all;
}

static nino_status measure_call(void *priv, int k, bool is_warmup, double *seconds, nino_error *err)
{
    replay *x = priv;
    const nino_replay_setting *s = &x->r->setting[k];
    char what[64] = "as it is set now";
    if (*s->name)
        snprintf(what, sizeof(what), "%s = %d", s->name, s->value);
    if (is_warmup && x->p->progress)
        x->p->progress(x->p->priv, what);
    replay_set(x, k);
    const uint64_t n_kernels = x->r->n_kernels;
    const nino_status st = check_side_time(&x->side, seconds, err);
    const double told = take_records(x);
    if (told > 0)
        *seconds = told;
    if (k) // only those of setting 0 are kept
        x->r->n_kernels = n_kernels;
    if (k || is_warmup || st || x->n_calls == NINO_MAX_ROUNDS)
        return st;
    for (size_t i = 0; i < x->r->n_kernels; i++) {
        x->kernel_s[i][x->n_calls] = x->sum[i];
        x->r->kernel[i].launches = x->launches[i];
    }
    x->n_calls++;
    return NINO_OK;
}

static nino_status measure_all(replay *x, nino_error *err)
{
    const int rounds = x->p->rounds > 0 ? x->p->rounds : ROUNDS;
    nino_replay_result *r = x->r;
    const nino_experiment_params ep = { NINO_EXPERIMENT_PARAMS_INIT,
                                        .settings = (int) r->n_settings,
                                        .warmup = 1,
                                        .rounds_min = rounds,
                                        .rounds_max = rounds,
                                        .alpha = 0.05 };
    nino_experiment *e = nino_experiment_create(&ep, err);
    nino_status st = e ? nino_experiment_run(e, measure_call, x, err) : NINO_ERR_NOMEM;
    for (int k = 0; k < (int) r->n_settings && !st; k++) {
        nino_experiment_spread(e, k, &r->setting[k].time);
        if (k)
            nino_experiment_effect(e, k, &r->setting[k].effect);
        else
            r->setting[k].effect =
                (nino_effect){ .percent = NAN, .low = NAN, .high = NAN, .p = NAN };
    }
    for (size_t i = 0; i < r->n_kernels && !st; i++)
        nino_spread_of(x->kernel_s[i], x->n_calls, &r->kernel[i].time);
    nino_experiment_destroy(&e);
    return st;
}

// The job of the text. What comes out other than it was told would be another call.
static nino_status make_job(replay *x, nino_error *err)
{
    nino_check_case c;
    nino_dtype type;
    char again[NINO_CALL_TEXT];
    nino_status st = nino_call_read(x->p->call, &c, &type, err);
    if (!st)
        st = check_job_init(&x->job, &c, type, &x->be->profile, 1, err);
    if (!st && strcmp(nino_call_write(again, &x->job.d), x->p->call) != 0)
        st = nino_fail(err, NINO_ERR_UNSUPPORTED, x->p->call,
                       "it cannot be made alone; the nearest is %s", again);
    return st;
}

static void replay_describe(replay *x)
{
    const nino_backend *be = x->be;
    nino_replay_result *r = x->r;
    nino_ceilings limits = { .measured_at = 0 };
    snprintf(r->device, sizeof(r->device), "%s", be->info.name);
    snprintf(r->driver, sizeof(r->driver), "%s", be->info.driver);
    snprintf(r->schedule, sizeof(r->schedule), "%s", be->profile.schedule->name);
    r->flops = nino_sched_flops(&be->profile, &x->job.d);
    r->bytes = nino_ops[x->job.d.op].bytes(&x->job.d);
    r->peak_percent = NAN;
    nino_ceilings_load(x->p->cache_dir, &be->info, &limits, NULL);
    if (limits.measured_at)
        r->peak_percent =
            100 * nino_ceilings_share(&limits, r->flops, r->bytes, r->setting[0].time.median,
                                      (unsigned) nino_dtype_bits(x->job.d.dst_type));
}

static nino_status replay_run(replay *x, nino_error *err)
{
    nino_status st = make_job(x, err);
    x->now = x->be->profile.tuning;
    x->side = (check_side){ .be = x->be, .in_place = x->job.d.op == NINO_OP_BLEND ? 0 : -1 };
    if (st)
        return st;
    list_settings(x);
    if ((st = prepare(x, err)) || (st = measure_all(x, err)))
        return st;
    replay_set(x, 0);
    replay_describe(x);
    return NINO_OK;
}

static nino_status replay_open(replay *x, nino_error *err)
{
    const nino_ctx_params cp = { .cache_dir = x->p->cache_dir };
    x->be = nino_device_open(x->p->device, &cp, NULL, err);
    if (!x->be)
        return err->code;
    if (x->p->schedule && x->be->profile.schedule->is_plain)
        return nino_fail(err, NINO_ERR_ARG, x->p->schedule, "the device %s has no schedules",
                         x->be->profile.name);
    nino_measure_first(x->be, x->p->cache_dir);
    if (x->p->schedule)
        return nino_sched_find(x->p->schedule, x->p->schedule, &x->be->profile.schedule, err);
    return NINO_OK;
}

nino_status nino_replay(const nino_replay_params *params, nino_replay_result *out, nino_error *err)
{
    nino_replay_params p;
    nino_error mine = { .code = NINO_OK };
    if (!NINO_TAKE(&p, params, NINO_REPLAY_PARAMS_INIT, err))
        return NINO_ERR_ARG;
    if (!p.call || p.rounds > NINO_MAX_ROUNDS)
        return p.call ? nino_fail(err, NINO_ERR_RANGE, "rounds", "more than %d", NINO_MAX_ROUNDS)
                      : nino_fail(err, NINO_ERR_ARG, "call", "which one is missing");
    nino_replay_result r = { .load = NAN };
    replay x = { .p = &p, .r = &r };
    if (getloadavg(&r.load, 1) != 1)
        r.load = NAN;
    nino_status st = replay_open(&x, &mine);
    x.kernel_s = calloc(NINO_REPLAY_KERNELS, sizeof(*x.kernel_s));
    x.monitor = nino_monitor_create();
    x.reader = x.monitor ? nino_mon_reader_create(x.monitor) : NULL;
    if (!st && (!x.reader || !x.kernel_s))
        st = nino_fail(&mine, NINO_ERR_NOMEM, "replay", "out of memory");
    if (!st) {
        x.be->monitor = x.monitor;
        st = replay_run(&x, &mine);
        check_side_release(&x.side);
        check_job_release(&x.job);
        x.be->monitor = NULL;
    }
    nino_backend_close(&x.be);
    nino_mon_reader_destroy(&x.reader);
    nino_monitor_destroy(&x.monitor);
    free(x.kernel_s);
    if (st && err)
        *err = mine;
    if (!st)
        *out = r;
    return st;
}

// ---- its program -------------------------------------------------------------------------------

typedef struct program {
    char text[NINO_KERNEL_PROGRAM];
    const char *schedule, *file, *options; // in it
} program;

static nino_status split(const char *text, program *p, nino_error *err)
{
    if (snprintf(p->text, sizeof(p->text), "%s", text) < (int) sizeof(p->text)) {
        char *rest = p->text;
        p->schedule = strsep(&rest, " ");
        p->file = strsep(&rest, " ");
        p->options = rest ? rest : "";
        if (*p->schedule && p->file && *p->file && !strpbrk(p->file, "./\\"))
            return NINO_OK;
    }
    return nino_fail(err, NINO_ERR_FORMAT, text, "a program is SCHEDULE FILE OPTIONS");
}

nino_status nino_kernel_source(const char *text, char **source, char **options, nino_error *err)
{
    program p = { .file = NULL };
    const nino_status st = split(text, &p, err);
    return st ? st : nino_device_source(p.schedule, p.file, p.options, source, options, err);
}

nino_status nino_kernel_ask(const char *device, const char *cache_dir, const char *text,
                            const char *kernel, nino_kernel_facts *out, nino_error *err)
{
    const nino_ctx_params cp = { .cache_dir = cache_dir };
    nino_kernel_facts f = { .local_bytes = 0 };
    nino_error mine = { .code = NINO_OK };
    program p = { .file = NULL };
    nino_status st = split(text, &p, &mine);
    nino_backend *be = st ? NULL : nino_device_open(device, &cp, NULL, &mine);
    st = mine.code;
    if (be && !be->impl->ask)
        st = nino_fail(&mine, NINO_ERR_UNSUPPORTED, be->info.selector, "it compiles no kernels");
    if (be && !st)
        st = nino_sched_find(p.schedule, p.schedule, &be->profile.schedule, &mine);
    if (be && !st && !(st = be->impl->ask(be, p.file, p.options, kernel, &f, &mine))) {
        snprintf(f.device, sizeof(f.device), "%s", be->info.name);
        snprintf(f.driver, sizeof(f.driver), "%s", be->info.driver);
    }
    nino_backend_close(&be);
    if (st && err)
        *err = mine;
    if (!st)
        *out = f;
    return st;
}

// ---- on another device -------------------------------------------------------------------------

// The first of the main launches: "KERNEL FILE OPTIONS\n...".
static nino_status take_launch(const nino_profile *p, char *launches, const nino_op_desc *d,
                               char kernel[NINO_KERNEL_SYMBOL], nino_kernel_told *out,
                               nino_error *err)
{
    char *rest = launches, *line = launches ? strsep(&rest, "\n") : NULL;
    const char *name = line && *line ? strsep(&line, " ") : NULL;
    if (!name || !line)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, nino_ops[d->op].name, "%s launches no kernel",
                         p->name);
    nino_kernel_told t;
    char call[NINO_CALL_TEXT];
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ')
        line[--n] = 0;
    snprintf(kernel, NINO_KERNEL_SYMBOL, "%s", name);
    snprintf(t.program, sizeof(t.program), "%s %s", p->schedule->name, line);
    snprintf(t.call, sizeof(t.call), "%s", nino_call_write(call, d));
    *out = t;
    return NINO_OK;
}

nino_status nino_kernel_on(const char *profile, const char *call, char kernel[NINO_KERNEL_SYMBOL],
                           nino_kernel_told *out, nino_error *err)
{
    nino_profile p;
    nino_check_case c;
    nino_dtype type;
    nino_buf launches = { 0 };
    nino_programs programs = { .launches = &launches };
    nino_backend *lister = NULL, *be = NULL;
    check_job job = { .w = NULL };
    check_side side = { .in_place = -1 };
    nino_status st = nino_profile_load(profile, &p, err);
    if (st || (st = nino_tuning_ship(&p, err)) || (st = nino_call_read(call, &c, &type, err)))
        return st;
    if (!(lister = nino_device_program_lister(&p, NULL, &programs)))
        return nino_fail(err, NINO_ERR_UNSUPPORTED, profile, "it compiles no kernels");
    if (!(be = nino_plan_open(&p, 0, NULL, err))) {
        nino_backend_close(&lister);
        return NINO_ERR_NOMEM;
    }
    nino_plan_set_lister(be, lister);
    side.be = be;
    side.in_place = c.op == NINO_OP_BLEND ? 0 : -1;
    st = check_job_init(&job, &c, type == NINO_F32 ? p.act_type : type, &p, 1, err);
    if (!st)
        st = check_side_prepare(&side, &job, err);
    if (!st)
        st = be->impl->run(be, &side.call, err);
    if (!st)
        st = take_launch(&p, launches.data, &job.d, kernel, out, err);
    check_side_release(&side);
    check_job_release(&job);
    nino_backend_close(&be);
    nino_programs_release(&programs);
    nino_buf_release(&launches);
    return st;
}
