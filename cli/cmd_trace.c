// ninodes trace: checks, sums up, compares and converts trace files, and gives advice on one.
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int cmd_trace_check(const options *o)
{
    nino_error err = { .code = NINO_OK };
    uint64_t n = 0;
    if (nino_trace_check(o->arg[1], &n, &err))
        return report_error(o, "trace", &err, NULL);
    if (o->json) {
        js_envelope("trace");
        js_uint("events", n);
        js_envelope_end();
    } else {
        printf("%s: ok, %llu events\n", o->arg[1], (unsigned long long) n);
    }
    return EXIT_OK;
}

typedef struct both {
    nino_stats *s;
    nino_history *h;
} both;

static void to_both(void *priv, const nino_event *ev, size_t n,
                    const char *(*name)(void *priv, uint32_t id), void *name_priv)
{
    const both *b = priv;
    nino_stats_add(b->s, ev, n, name, name_priv);
    nino_history_add(b->h, ev, n, name, name_priv);
}

static int cmd_trace_summary(const options *o)
{
    nino_error err = { .code = NINO_OK };
    both b = { nino_stats_create(), nino_history_create(0) };
    nino_stats *s = b.s;
    nino_ceilings ceilings;
    int rc = EXIT_OK;
    if (!s || !b.h) {
        say("trace: out of memory");
        rc = EXIT_RUN;
    } else if (nino_trace_read(o->arg[1], to_both, &b, &err)) {
        rc = report_error(o, "trace", &err, NULL);
    } else if (o->json) {
        js_envelope("trace");
        report_json(s, told_ceilings(b.h, &ceilings));
        report_work_json(b.h);
        js_envelope_end();
    } else {
        report_nodes(stdout, s);
        report_memory(stdout, s);
        report_energy(stdout, s);
        printf("statistics (ninodes help statistics):\n");
        report_statistics(stdout, s);
        report_kernels(stdout, s, 40, told_ceilings(b.h, &ceilings));
    }
    nino_stats_destroy(&b.s);
    nino_history_destroy(&b.h);
    return rc;
}

// ---- two runs ----------------------------------------------------------------------------------

static nino_history *cmd_trace_load(const options *o, const char *path, int *rc)
{
    nino_error err = { .code = NINO_OK };
    nino_history *h = nino_history_create(0);
    if (!h) {
        say("trace: out of memory");
        *rc = EXIT_RUN;
    } else if (nino_history_load(h, path, &err)) {
        *rc = report_error(o, "trace", &err, NULL);
        nino_history_destroy(&h);
    }
    return h;
}

// Of one: a result, a run of a node, a step, a call.
static double cmd_trace_change(const nino_compare_row *r)
{
    return r->a.median > 0 ? 100 * (r->b.median / r->a.median - 1) : (double) NAN;
}

static void row_json(const nino_compare_row *r)
{
    static const char *const verdicts[] = { "faster", "none", "slower" };
    js_open(NULL, '{');
    js_text("kind", nino_compare_kind_name(r->kind));
    js_text("node", r->node);
    js_text("kernel", r->name);
    js_text("shape", r->shape);
    js_uint("calls_a", r->n_a);
    js_uint("calls_b", r->n_b);
    js_num("total_ms_a", r->total_a * 1e3);
    js_num("total_ms_b", r->total_b * 1e3);
    js_num("median_ms_a", r->a.median * 1e3);
    js_num("median_ms_b", r->b.median * 1e3);
    js_num("mad_ms_a", r->a.mad * 1e3);
    js_num("mad_ms_b", r->b.mad * 1e3);
    js_num("change_percent", cmd_trace_change(r));
    js_num("low_percent", r->effect.low);
    js_num("high_percent", r->effect.high);
    js_num("p", r->effect.p);
    js_text("verdict", r->effect.is_too_few ? NULL : verdicts[r->effect.verdict + 1]);
    js_bool("cached_a", r->cached_a);
    js_bool("cached_b", r->cached_b);
    js_close('}');
}

static void diff_json(const options *o, const nino_compare *c)
{
    js_envelope("trace");
    js_text("a", o->arg[1]);
    js_text("b", o->arg[2]);
    js_num("joules_a", c->joules_a);
    js_num("joules_b", c->joules_b);
    js_uint("peak_a", c->peak_a);
    js_uint("peak_b", c->peak_b);
    js_text("end_a", c->end_a);
    js_text("end_b", c->end_b);
    js_uint("files_a", c->files_a);
    js_uint("files_b", c->files_b);
    js_open("rows", '[');
    for (size_t i = 0; i < c->n_rows; i++)
        row_json(&c->rows[i]);
    js_close(']');
    js_envelope_end();
}

// "0.51", "0.0123": so that a call of a few microseconds is seen.
static const char *diff_ms(char *buf, size_t size, double seconds)
{
    snprintf(buf, size, seconds < 1e-4 ? "%.4f" : "%.2f", seconds * 1e3);
    return buf;
}

// "-12.3 %  faster (p 0.0002)"
static void diff_line(const nino_compare_row *r, bool has_files)
{
    static const char *const words[] = { "faster", "none shown", "slower" };
    const nino_effect *f = &r->effect;
    char name[200], a[32], b[32], p[40] = "";
    switch (r->kind) {
    case NINO_COMPARE_RUN: snprintf(name, sizeof(name), has_files ? "run, a file" : "run"); break;
    case NINO_COMPARE_NODE: snprintf(name, sizeof(name), "%s", r->node); break;
    case NINO_COMPARE_STEPS: snprintf(name, sizeof(name), "  a step"); break;
    case NINO_COMPARE_KERNEL:
        snprintf(name, sizeof(name), "    a call of %s %s", r->name, r->shape);
        break;
    }
    printf("  %-44.44s %9s %9s ", name, r->n_a ? diff_ms(a, sizeof(a), r->a.median) : "",
           r->n_b ? diff_ms(b, sizeof(b), r->b.median) : "");
    if (!r->n_a || !r->n_b) {
        printf(" only in %s\n", r->n_a ? "A" : "B");
        return;
    }
    if (r->cached_a != r->cached_b) {
        printf(" cached in %s\n", r->cached_a ? "A" : "B");
        return;
    }
    if (!f->is_too_few)
        snprintf(p, sizeof(p), f->p < 1e-4 ? "  %s (p < 0.0001)" : "  %s (p %.4f)",
                 words[f->verdict + 1], f->p);
    printf("%+8.1f %%%s\n", cmd_trace_change(r), p);
}

// What verdicts there are, or are not, come from.
static void diff_basis(const nino_compare_row *run)
{
    const unsigned long long a = run->a.n, b = run->b.n;
    if (a == 1 && b == 1)
        printf("  one run each: no verdict (bench WORKFLOW --against measures in turn)\n");
    else
        printf("  %llu and %llu runs of the same work; what differed between the recordings as a "
               "whole is in it\n  (bench WORKFLOW --against measures in turn)\n",
               a, b);
}

static void diff_text(const options *o, const nino_compare *c)
{
    char a[32], b[32];
    size_t shown = 0, left_out = 0;
    const bool has_files = c->files_a && c->files_b;
    printf("  A: %s%s%s\n  B: %s%s%s\n  %-44s %9s %9s %10s\n", o->arg[1], *c->end_a ? ", " : "",
           c->end_a, o->arg[2], *c->end_b ? ", " : "", c->end_b, "", "A ms", "B ms", "change");
    for (size_t i = 0; i < c->n_rows; i++) {
        shown = c->rows[i].kind == NINO_COMPARE_KERNEL ? shown + 1 : 0;
        if (shown <= 5) // the kernels of a node that differ most
            diff_line(&c->rows[i], has_files);
        else
            left_out++;
    }
    if (left_out)
        printf("  (%zu kernels with smaller differences; --json has all)\n", left_out);
    if (c->n_rows && c->rows[0].n_a && c->rows[0].n_b)
        diff_basis(&c->rows[0]);
    printf("  pool peak %s, %s", human_bytes(a, sizeof(a), (double) c->peak_a),
           human_bytes(b, sizeof(b), (double) c->peak_b));
    if (isfinite(c->joules_a) && isfinite(c->joules_b))
        printf("; energy %.1f J, %.1f J", c->joules_a, c->joules_b);
    printf("\n");
}

static int diff(const options *o)
{
    nino_error err = { .code = NINO_OK };
    const double limit = o->fail_over ? parse_percent(o->fail_over) : INFINITY;
    nino_compare c;
    int rc = EXIT_OK;
    if (o->n_args < 3 || limit < 0) {
        say(o->n_args < 3 ? "trace: diff needs two files"
                          : "trace: --fail-over needs a percentage such as 5%%");
        return EXIT_USAGE;
    }
    nino_history *a = cmd_trace_load(o, o->arg[1], &rc),
                 *b = a ? cmd_trace_load(o, o->arg[2], &rc) : NULL;
    if (a && b && nino_compare_runs(a, b, &c, &err)) {
        rc = report_error(o, "trace", &err, NULL);
    } else if (a && b) {
        if (o->json)
            diff_json(o, &c);
        else
            diff_text(o, &c);
        const double worse = c.n_rows ? cmd_trace_change(&c.rows[0]) : 0;
        if (worse > limit) {
            say("trace: B takes %.1f %% longer, more than %s", worse, o->fail_over);
            rc = EXIT_REGRESSION;
        }
        nino_compare_release(&c);
    }
    nino_history_destroy(&a);
    nino_history_destroy(&b);
    return rc;
}

// ---- other forms -------------------------------------------------------------------------------

static void to_trace(void *trace, const nino_event *ev, size_t n,
                     const char *(*name)(void *priv, uint32_t id), void *priv)
{
    nino_trace_add(trace, ev, n, name, priv);
}

static int cmd_trace_convert(const options *o)
{
    nino_error err = { .code = NINO_OK };
    if (o->n_args < 3) {
        say("trace: convert needs the file to write");
        return EXIT_USAGE;
    }
    nino_trace *t = nino_trace_create_whole(o->arg[2], &err);
    nino_status st = t ? nino_trace_read(o->arg[1], to_trace, t, &err) : err.code;
    if (!st)
        st = nino_trace_finish(&t, &err);
    nino_trace_abort(&t);
    if (st)
        return report_error(o, "trace", &err, NULL);
    if (o->json) {
        js_envelope("trace");
        js_text("output", o->arg[2]);
        js_envelope_end();
    } else {
        out_path(o->arg[2]);
    }
    return EXIT_OK;
}

static int cmd_trace_advise(const options *o)
{
    int rc = EXIT_OK;
    nino_history *h = cmd_trace_load(o, o->arg[1], &rc);
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .history = h };
    if (!h)
        return rc;
    if (o->json) {
        report_advice_json(&in);
        js_envelope("trace");
        js_envelope_end();
    } else {
        report_advice(stdout, &in);
    }
    nino_history_destroy(&h);
    return rc;
}

int cmd_trace(const options *o)
{
    static const struct {
        const char *name;
        int (*run)(const options *o);
    } verbs[] = {
        { "check", cmd_trace_check },     { "summary", cmd_trace_summary }, { "diff", diff },
        { "convert", cmd_trace_convert }, { "advice", cmd_trace_advise },   { "trend", trace_trend }
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (!strcmp(o->arg[0], verbs[i].name)) {
            if (o->n_args > 1 || verbs[i].run == trace_trend)
                return verbs[i].run(o);
            say("trace: %s needs a file", o->arg[0]);
            return EXIT_USAGE;
        }
    say("trace: %s is not one of check, summary, diff, convert, advice, trend", o->arg[0]);
    return EXIT_USAGE;
}
