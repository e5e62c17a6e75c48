// ninodes capture: what debug captures hold, how two differ, and one captured node run again.
#include "../commands.h"

#include <stdlib.h>
#include <string.h>

typedef struct told {
    const options *o;
    size_t n, n_same;
    char first[256]; // the first node of which something differs
} told;

static const char *verdict_words(const nino_capture_row *r)
{
    switch (r->verdict) {
    case NINO_CAPTURE_SAME: return "same";
    case NINO_CAPTURE_DIFFERS: return "differs";
    case NINO_CAPTURE_SHAPE: return "other shape";
    case NINO_CAPTURE_ONLY_A: return "only in A";
    case NINO_CAPTURE_ONLY_B: return "only in B";
    }
    return "";
}

static void row_json(const nino_capture_row *r)
{
    js_line("event/1", "tensor");
    js_text("node", r->node_id);
    js_text("class_type", r->class_type);
    js_text("side", r->is_output ? "output" : "input");
    js_text("tensor", r->tensor);
    js_text("verdict", verdict_words(r));
    js_num("nmse", r->nmse);
    js_num("psnr", r->psnr);
    js_num("max", r->most);
    js_text("shape_a", r->shape_a);
    js_text("shape_b", r->shape_b);
    js_end();
}

static void on_row(void *priv, const nino_capture_row *r)
{
    told *t = priv;
    char where[200];
    snprintf(where, sizeof(where), "%s %s %s%s%s", r->node_id, r->class_type,
             r->is_output ? "output" : "input", *r->tensor ? " " : "", r->tensor);
    t->n++;
    t->n_same += r->verdict == NINO_CAPTURE_SAME;
    if (r->verdict != NINO_CAPTURE_SAME && !*t->first)
        snprintf(t->first, sizeof(t->first), "%s: %s", where, verdict_words(r));
    if (t->o->json)
        row_json(r);
    else if (r->verdict == NINO_CAPTURE_DIFFERS)
        printf("%-48s %s  NMSE %.2e, PSNR %.1f dB, max %.3g\n", where, r->shape_a, r->nmse, r->psnr,
               r->most);
    else if (r->verdict == NINO_CAPTURE_SHAPE)
        printf("%-48s %s against %s\n", where, r->shape_a, r->shape_b);
    else
        printf("%-48s %s%s%s\n", where, r->shape_a, *r->shape_a ? "  " : "", verdict_words(r));
}

// As diff and cmp: 0 where all is the same, else 1.
static int tell_end(const told *t)
{
    const int rc = t->n == t->n_same ? EXIT_OK : EXIT_RUN;
    if (t->o->json) {
        js_envelope("capture");
        js_uint("tensors", t->n);
        js_uint("same", t->n_same);
        js_text("first_difference", *t->first ? t->first : NULL);
        js_envelope_end();
        return rc;
    }
    printf("%zu of %zu tensors are the same", t->n_same, t->n);
    printf(*t->first ? "; the first difference: %s\n" : "%s\n", t->first);
    return rc;
}

static int capture_fail(const options *o, const nino_error *err)
{
    const int rc = report_error(o, "capture", err, NULL);
    return err->code == NINO_ERR_IO || err->code == NINO_ERR_FORMAT ? EXIT_MISSING : rc;
}

static int diff(const options *o)
{
    told t = { .o = o };
    nino_error err = { .code = NINO_OK };
    if (nino_capture_diff(o->arg[1], o->arg[2], on_row, &t, &err))
        return capture_fail(o, &err);
    return tell_end(&t);
}

// ---- running again ---------------------------------------------------------------------------

enum { MAX_RUNS = 4096 };

typedef struct runs {
    const options *o;
    char *path[MAX_RUNS];
    size_t n;
    char device[64];
    told t;
} runs;

static void on_info(void *priv, const nino_capture_info *i)
{
    runs *r = priv;
    if (!*r->device)
        snprintf(r->device, sizeof(r->device), "%s", i->device);
    if (r->n < MAX_RUNS)
        r->path[r->n++] = strdup(i->path);
}

static void print_info(void *priv, const nino_capture_info *i)
{
    const options *o = priv;
    if (o->json) {
        js_line("event/1", "captured");
        js_text("node", i->node_id);
        js_text("class_type", i->class_type);
        js_text("device", i->device);
        js_text("precision", i->precision);
        js_text("path", i->path);
        js_end();
    } else {
        printf("%-6s %-28s %-6s %-6s %s\n", i->node_id, i->class_type, i->device, i->precision,
               i->path);
    }
}

static int list(const options *o)
{
    nino_error err = { .code = NINO_OK };
    if (nino_capture_list(o->arg[1], print_info, (void *) (uintptr_t) o, &err))
        return capture_fail(o, &err);
    if (o->json) {
        js_envelope("capture");
        js_envelope_end();
    }
    return EXIT_OK;
}

// A folder holds nodes that cannot be run again, such as those that load: they are passed over.
static int run_one(runs *r, nino_ctx *ctx, const char *path, const nino_job_options *jo)
{
    nino_error err = { .code = NINO_OK };
    if (!nino_capture_replay(ctx, path, jo, on_row, &r->t, &err))
        return EXIT_OK;
    if (r->n > 1 && (err.code == NINO_ERR_MISSING || err.code == NINO_ERR_UNSUPPORTED)) {
        say("capture: %s: passed over, %s", err.where, err.msg);
        return EXIT_OK;
    }
    return capture_fail(r->o, &err);
}

static int run_again(const options *o, runs *r)
{
    nino_error err = { .code = NINO_OK };
    nino_ctx_params p;
    nino_job_options jo;
    int rc = EXIT_OK;
    if (nino_capture_list(o->arg[1], on_info, r, &err))
        return capture_fail(o, &err);
    fill_ctx_params(o, &p, &jo);
    if (!p.device)
        p.device = r->device;
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx)
        return report_error(o, "capture", &err, "ninodes devices lists the devices");
    for (size_t i = 0; i < r->n && !rc; i++)
        rc = r->path[i] ? run_one(r, ctx, r->path[i], &jo) : EXIT_NOMEM;
    nino_ctx_destroy(&ctx);
    return rc ? rc : tell_end(&r->t);
}

static int run(const options *o)
{
    runs *r = calloc(1, sizeof(*r));
    if (!r)
        return EXIT_NOMEM;
    r->o = r->t.o = o;
    const int rc = run_again(o, r);
    for (size_t i = 0; i < r->n; i++)
        free(r->path[i]);
    free(r);
    return rc;
}

int cmd_capture(const options *o)
{
    const char *word = o->arg[0];
    if (!strcmp(word, "diff") && o->n_args == 3)
        return diff(o);
    if (!strcmp(word, "run") && o->n_args == 2)
        return run(o);
    if (!strcmp(word, "ls") && o->n_args == 2)
        return list(o);
    say("capture: ls DIR, diff A B or run DIR");
    return EXIT_USAGE;
}
