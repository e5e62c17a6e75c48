// ninodes kernel: one kernel of a run: what it was launched for, beside its peers; its source, its machine
// code, and the call made again alone, in turn with other ways to cut it.
#include "commands.h"
#include "kernel/kernel_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct about {
    const options *o;
    const char *kernel;
    nino_history *h; // NULL: no trace was given
    nino_launch_stat *launch;
    size_t n_launches;
    int own; // the longest of the kernel's; -1: none
    nino_kernel_told told;
    nino_ceilings ceilings;
    bool has_ceilings;
    // What was asked for; all of it is there before anything is printed.
    char *source, *all_options;
    char *code_source, *code_options, code_kernel[NINO_KERNEL_SYMBOL]; // source NULL: the same
    nino_kernel_told code_told;
    kernel_code code;
    const char *no_code; // why there is none; NULL: there is
    nino_replay_result replayed;
} about;

static const char *text_of(const about *a, uint32_t id) { return nino_history_name(a->h, id); }

// ---- where it comes from -----------------------------------------------------------------------

static int no_such_kernel(const about *a)
{
    char known[400] = "";
    nino_error err = { .code = NINO_ERR_UNKNOWN };
    for (size_t i = 0; i < a->n_launches; i++) {
        const size_t n = strlen(known);
        const char *name = text_of(a, a->launch[i].kernel);
        if (!strstr(known, name)) // as a part of another is no harm
            snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "", name);
    }
    snprintf(err.where, sizeof(err.where), "%s", a->kernel);
    snprintf(err.msg, sizeof(err.msg), "no such kernel in the trace; there are %.200s",
             *known ? known : "none");
    report_error(a->o, "kernel", &err, NULL);
    return EXIT_USAGE;
}

static int load(about *a)
{
    nino_error err = { .code = NINO_OK };
    a->h = nino_history_create(0);
    if (!a->h || nino_history_load(a->h, a->o->trace, &err))
        return a->h ? report_error(a->o, "kernel", &err, NULL)
                    : (say("kernel: out of memory"), EXIT_RUN);
    a->launch = nino_history_launches(a->h, 0, UINT64_MAX, &a->n_launches);
    for (size_t i = 0; i < a->n_launches && a->own < 0; i++)
        if (!strcmp(text_of(a, a->launch[i].kernel), a->kernel))
            a->own = (int) i;
    if (a->own < 0)
        return no_such_kernel(a);
    nino_kernel_told_read(&a->told, text_of(a, a->launch[a->own].launch));
    a->has_ceilings = told_ceilings(a->h, &a->ceilings) != NULL;
    return EXIT_OK;
}

// ---- peers -------------------------------------------------------------------------------------

static double share_of(const about *a, const nino_launch_stat *s)
{
    const double calls = (double) s->calls;
    return a->has_ceilings && s->total_ns
               ? 100 * nino_ceilings_share(&a->ceilings, s->flops / calls, s->bytes / calls,
                                           (double) s->total_ns * 1e-9 / calls, s->bits)
               : (double) NAN;
}

// Launches of the same op, the kernel's own among them.
static bool is_peer(const about *a, const nino_launch_stat *s)
{
    const nino_launch_stat *own = &a->launch[a->own];
    return s->kernel == own->kernel || (own->op && s->op == own->op);
}

static void peers_text(const about *a)
{
    double all = 0;
    for (size_t i = 0; i < a->n_launches; i++)
        all += (double) a->launch[i].total_ns;
    printf("%-28s %-16s %8s %10s %10s %6s %9s %7s\n", "kernel", "shape", "calls", "total ms",
           "mean ms", "share", "GFLOP/s", "% peak");
    for (size_t i = 0; i < a->n_launches; i++) {
        const nino_launch_stat *s = &a->launch[i];
        nino_kernel_told t;
        char peak[16] = "-";
        if (!is_peer(a, s))
            continue;
        if (isfinite(share_of(a, s)))
            snprintf(peak, sizeof(peak), "%.0f", share_of(a, s));
        printf("%-28s %-16s %8llu %10.3f %10.4f %5.1f%% %9.1f %7s%s\n", text_of(a, s->kernel),
               text_of(a, s->shape), (unsigned long long) s->calls, (double) s->total_ns * 1e-6,
               (double) s->total_ns * 1e-6 / (double) s->calls,
               all > 0 ? 100 * (double) s->total_ns / all : 0,
               s->total_ns ? s->flops / (double) s->total_ns : 0, peak,
               (int) i == a->own ? "  <" : "");
        if (a->o->verbose && nino_kernel_told_read(&t, text_of(a, s->launch)))
            printf("    %s | %s\n", t.program, t.call);
    }
}

static void peers_json(const about *a)
{
    js_open("peers", '[');
    for (size_t i = 0; i < a->n_launches; i++) {
        const nino_launch_stat *s = &a->launch[i];
        nino_kernel_told t;
        if (!is_peer(a, s))
            continue;
        nino_kernel_told_read(&t, text_of(a, s->launch));
        js_open(NULL, '{');
        js_text("kernel", text_of(a, s->kernel));
        js_text("shape", text_of(a, s->shape));
        js_text("program", t.program);
        js_text("call", t.call);
        js_uint("calls", s->calls);
        js_uint("total_ns", s->total_ns);
        js_uint("min_ns", s->min_ns);
        js_uint("max_ns", s->max_ns);
        js_num("flops", s->flops);
        js_num("bytes", s->bytes);
        js_num("peak_percent", share_of(a, s));
        js_close('}');
    }
    js_close(']');
}

// ---- source and code ---------------------------------------------------------------------------

// A program for processors becomes nothing on a GPU: what that would do the same call with is looked at.
static int find_elsewhere(about *a)
{
    nino_error err = { .code = NINO_OK };
    if (!strstr(a->all_options, "-DSCHED_CPU=1") || !*a->told.call)
        return EXIT_OK;
    if (nino_kernel_on(KERNEL_CODE_TARGET, a->told.call, a->code_kernel, &a->code_told, &err) ||
        nino_kernel_source(a->code_told.program, &a->code_source, &a->code_options, &err))
        return report_error(a->o, "kernel", &err, NULL);
    return EXIT_OK;
}

static int find_program(about *a)
{
    nino_error err = { .code = NINO_OK };
    if (nino_kernel_source(a->told.program, &a->source, &a->all_options, &err)) {
        const int rc = report_error(a->o, "kernel", &err, NULL);
        return err.code == NINO_ERR_FORMAT || err.code == NINO_ERR_UNKNOWN ? EXIT_USAGE : rc;
    }
    if (!a->o->code)
        return EXIT_OK;
    const int elsewhere = find_elsewhere(a);
    if (elsewhere)
        return elsewhere;
    a->no_code = kernel_code_make(a->code_source ? a->code_source : a->source,
                                  a->code_source ? a->code_options : a->all_options,
                                  a->code_source ? a->code_kernel : a->kernel, &a->code);
    if (!a->no_code || a->o->json)
        return EXIT_OK;
    err.code = NINO_ERR_UNSUPPORTED;
    snprintf(err.where, sizeof(err.where), "%s", a->kernel);
    snprintf(err.msg, sizeof(err.msg), "no machine code: %.300s", a->no_code);
    return report_error(a->o, "kernel", &err, NULL);
}

static void tell_source(const about *a)
{
    if (a->o->json) {
        js_text("options", a->all_options);
        js_text("source", a->source);
    } else {
        printf("// options: %s\n", a->all_options);
        out_data(a->source, strlen(a->source));
    }
}

typedef struct figure {
    const char *name;
    uint64_t value;
} figure;

static void tell_figures(const about *a, const figure *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a->o->json)
            js_uint(f[i].name, f[i].value);
        else
            printf("%s %s %llu", i ? "," : "", f[i].name, (unsigned long long) f[i].value);
}

static void tell_code(const about *a)
{
    const kernel_code *c = &a->code;
    const figure figures[] = {
        { "vgprs", c->vgprs },
        { "sgprs", c->sgprs },
        { "spills", c->spills },
        { "scratch_bytes", c->scratch },
        { "local_bytes", c->local_bytes },
        { "waves_per_simd", c->occupancy },
        { "code_bytes", c->bytes },
    };
    const figure kinds[] = {
#define X(id, word) { #word, c->mix[CODE_##id] },
        CODE_KINDS(X)
#undef X
    };
    const size_t n_figures = sizeof(figures) / sizeof(figures[0]);
    if (!a->o->json) {
        if (a->code_source)
            printf("; this run's kernel is for processors; " KERNEL_CODE_TARGET
                   " does the call by %s of %s\n; %s\n",
                   a->code_kernel, a->code_told.program, a->code_told.call);
        printf("; for " KERNEL_CODE_TARGET ", by %s -O3; %s\n;", c->compiler,
               a->code_source ? a->code_options : a->all_options);
        tell_figures(a, figures, n_figures);
        printf("\n; instructions:");
        tell_figures(a, kinds, CODE_KIND_COUNT);
        printf("\n%s", c->text);
        return;
    }
    if (a->no_code) {
        js_text("no_code", a->no_code);
        return;
    }
    js_open("code", '{');
    js_text("target", KERNEL_CODE_TARGET);
    js_text("compiler", c->compiler);
    js_text("kernel", a->code_source ? a->code_kernel : a->kernel);
    js_text("program", a->code_source ? a->code_told.program : a->told.program);
    js_text("call", a->code_source ? a->code_told.call : a->told.call);
    tell_figures(a, figures, n_figures);
    js_open("instructions", '{');
    tell_figures(a, kinds, CODE_KIND_COUNT);
    js_close('}');
    js_text("text", c->text);
    js_close('}');
}

// What the driver says; that it cannot be asked here is no error of the command.
static void tell_facts(const about *a)
{
    nino_kernel_facts f;
    nino_error err = { .code = NINO_OK };
    if (nino_kernel_ask(a->o->device, NULL, a->told.program, a->kernel, &f, &err)) {
        if (!a->o->json)
            printf("driver: %s\n", err.msg);
        return;
    }
    if (a->o->json) {
        js_open("driver", '{');
        js_text("device", f.device);
        js_uint("local_bytes", f.local_bytes);
        js_uint("private_bytes", f.private_bytes);
        js_uint("most_items", f.most_items);
        js_uint("multiple", f.multiple);
        js_close('}');
        return;
    }
    printf("driver: on %s a work-group has at most %llu work-items, best a multiple of %llu, and "
           "takes %llu bytes of local memory; a work-item has %llu of its own\n",
           f.device, (unsigned long long) f.most_items, (unsigned long long) f.multiple,
           (unsigned long long) f.local_bytes, (unsigned long long) f.private_bytes);
}

// ---- once more ---------------------------------------------------------------------------------

static void on_setting(void *priv, const char *what)
{
    const about *a = priv;
    if (!a->o->quiet && !a->o->json)
        fprintf(stderr, "measuring: %s\n", what);
}

static void replay_json(const nino_replay_result *r)
{
    js_open("replay", '{');
    js_text("device", r->device);
    js_text("schedule", r->schedule);
    js_num("load", r->load);
    js_num("flops", r->flops);
    js_num("bytes", r->bytes);
    js_num("peak_percent", r->peak_percent);
    js_open("kernels", '[');
    for (size_t i = 0; i < r->n_kernels; i++) {
        js_open(NULL, '{');
        js_text("name", r->kernel[i].name);
        js_uint("launches", r->kernel[i].launches);
        js_num("median_ms", r->kernel[i].time.median * 1e3);
        js_num("mad_ms", r->kernel[i].time.mad * 1e3);
        js_close('}');
    }
    js_close(']');
    js_open("settings", '[');
    for (size_t i = 0; i < r->n_settings; i++) {
        const nino_replay_setting *s = &r->setting[i];
        js_open(NULL, '{');
        js_text("name", s->name);
        js_int("value", s->value);
        js_num("median_ms", s->time.median * 1e3);
        js_num("mad_ms", s->time.mad * 1e3);
        js_num("min_ms", s->time.min * 1e3);
        js_num("percent", s->effect.percent);
        js_num("low", s->effect.low);
        js_num("high", s->effect.high);
        js_num("p", s->effect.p);
        js_close('}');
    }
    js_close(']');
    js_close('}');
}

static void replay_text(const about *a, const nino_replay_result *r)
{
    const nino_spread *now = &r->setting[0].time;
    printf("device: %s (%s), schedule %s\n", r->device, r->driver, r->schedule);
    printf("call: %s\n", a->told.call);
    printf("median of %llu %.4f ms, MAD %.4f, fastest %.4f: %.1f GFLOP/s, %.1f GB/s",
           (unsigned long long) now->n, now->median * 1e3, now->mad * 1e3, now->min * 1e3,
           r->flops / now->median * 1e-9, r->bytes / now->median * 1e-9);
    if (isfinite(r->peak_percent))
        printf(", %.0f %% of what the device was measured to do", r->peak_percent);
    printf("\n");
    for (size_t i = 0; i < r->n_kernels; i++)
        printf("  %-30s %3llu x %10.4f ms, MAD %.4f\n", r->kernel[i].name,
               (unsigned long long) r->kernel[i].launches, r->kernel[i].time.median * 1e3,
               r->kernel[i].time.mad * 1e3);
    for (size_t i = 1; i < r->n_settings; i++) {
        const nino_replay_setting *s = &r->setting[i];
        char text[200];
        printf("%-12s %4d %10.4f ms, MAD %.4f, fastest %.4f  %s\n", s->name, s->value,
               s->time.median * 1e3, s->time.mad * 1e3, s->time.min * 1e3,
               nino_effect_text(&s->effect, text, sizeof(text)));
    }
    if (a->o->sweep && r->n_settings == 1)
        printf("the schedule %s has nothing to choose for this op\n", r->schedule);
}

static int replay(about *a)
{
    nino_error err = { .code = NINO_OK };
    const nino_replay_params p = { NINO_REPLAY_PARAMS_INIT,       .device = a->o->device,
                                   .call = a->told.call,          .schedule = a->o->schedule,
                                   .rounds = (int) a->o->samples, .sweep = a->o->sweep,
                                   .progress = on_setting,        .priv = a };
    if (!nino_replay(&p, &a->replayed, &err))
        return EXIT_OK;
    const int rc = report_error(a->o, "kernel", &err, NULL);
    return err.code == NINO_ERR_FORMAT    ? EXIT_USAGE
           : err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE
                                          : rc;
}

// ------------------------------------------------------------------------------------------------

static const char *wrong_of(const about *a)
{
    const options *o = a->o;
    const bool wants_call = o->replay || o->sweep, wants_program = o->source || o->code;
    if (!o->trace && !o->program && !o->call)
        return "which run is it of? --trace FILE, or --program and --call";
    if (o->samples > NINO_MAX_ROUNDS)
        return "at most 128 samples";
    if ((wants_program && !*a->told.program) || (wants_call && !*a->told.call))
        return wants_call ? "the trace does not tell what the kernel was called with; --call does"
                          : "the trace does not tell the kernel's program; --program does";
    return NULL;
}

static void kernel_tell(const about *a)
{
    const options *o = a->o;
    const bool is_plain = !o->source && !o->code && !o->replay && !o->sweep;
    if (o->json) {
        js_envelope("kernel");
        js_text("kernel", a->kernel);
        js_text("program", a->told.program);
        js_text("call", a->told.call);
    } else if (is_plain) {
        printf("kernel: %s\nprogram: %s\ncall: %s\n", a->kernel,
               *a->told.program ? a->told.program : "not told",
               *a->told.call ? a->told.call : "not told");
    }
    if ((is_plain || o->json) && *a->told.program)
        tell_facts(a);
    if ((is_plain || o->json) && a->h)
        o->json ? peers_json(a) : peers_text(a);
    if (o->source)
        tell_source(a);
    if (o->code)
        tell_code(a);
    if (o->replay || o->sweep)
        o->json ? replay_json(&a->replayed) : replay_text(a, &a->replayed);
    if (o->json)
        js_envelope_end();
}

int cmd_kernel(const options *o)
{
    about a = { .o = o, .kernel = o->arg[0], .own = -1 };
    int rc = o->trace ? load(&a) : EXIT_OK;
    if (!rc && o->program)
        snprintf(a.told.program, sizeof(a.told.program), "%s", o->program);
    if (!rc && o->call)
        snprintf(a.told.call, sizeof(a.told.call), "%s", o->call);
    const char *wrong = rc ? NULL : wrong_of(&a);
    if (wrong) {
        say("kernel: %s", wrong);
        rc = EXIT_USAGE;
    }
    if (!rc && (o->source || o->code))
        rc = find_program(&a);
    if (!rc && (o->replay || o->sweep))
        rc = replay(&a);
    if (!rc)
        kernel_tell(&a);
    kernel_code_release(&a.code);
    free(a.source);
    free(a.all_options);
    free(a.code_source);
    free(a.code_options);
    free(a.launch);
    nino_history_destroy(&a.h);
    return rc;
}
