// ninodes plan: what a run would need, by scope, without arithmetic, and what it would choose; for
// several memory budgets a line each.
#include "commands.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BUDGETS = 64 };

// ---- one plan's choices ------------------------------------------------------------------------

static nino_scheme_choice choice_at(const nino_scheme *s, size_t i)
{
    nino_scheme_choice c = { NINO_SCHEME_CHOICE_INIT };
    nino_scheme_choice_get(s, i, &c, NULL);
    return c;
}

static nino_scheme_info info_of(const nino_scheme *s)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_scheme_get(s, &i, NULL);
    return i;
}

void print_scheme(const nino_scheme *s)
{
    const nino_scheme_info i = info_of(s);
    for (size_t k = 0; k < nino_scheme_choices(s); k++) {
        const nino_scheme_choice c = choice_at(s, k);
        printf("chosen    %s: %s\n", c.node, c.what);
    }
    if (nino_scheme_choices(s))
        printf("          %s; against the whole it loses %s\n", i.why, i.loss);
    if (!i.fits && i.least_bytes)
        printf("needs     at least %.1f MiB: node %s\n", (double) i.least_bytes / 0x1p20,
               i.least_node);
}

static void scheme_json(const nino_scheme *s)
{
    const nino_scheme_info i = info_of(s);
    js_uint("budget", i.budget);
    js_bool("fits", i.fits);
    js_bool("pressed", i.is_pressed);
    js_uint("peak_bytes", i.peak_bytes);
    js_num("seconds", i.seconds);
    js_num("load_seconds", i.load_seconds);
    js_num("unchosen_seconds", i.unchosen_seconds);
    js_num("unlimited_seconds", i.unlimited_seconds);
    js_bool("is_load_measured", i.is_load_measured);
    js_uint("load_bytes", i.load_bytes);
    js_int("ways", i.ways);
    js_uint("least_bytes", i.least_bytes);
    js_text("least_node", i.least_node);
    js_text("loss", i.loss);
    js_text("why", i.why);
    js_open("choices", '[');
    for (size_t k = 0; k < nino_scheme_choices(s); k++) {
        const nino_scheme_choice c = choice_at(s, k);
        js_open(NULL, '{');
        js_text("node", c.node);
        js_text("what", c.what);
        js_int("tile", c.tile);
        js_int("rows", c.rows);
        js_int("images", c.images);
        js_int("chunk", c.chunk);
        js_bool("narrow", c.is_narrow);
        js_bool("newest_first", c.is_newest_first);
        js_close('}');
    }
    js_close(']');
}

void print_scheme_json(const nino_scheme *s)
{
    js_open("scheme", '{');
    scheme_json(s);
    js_close('}');
}

// ---- several budgets ---------------------------------------------------------------------------

static void curve_line(const nino_scheme *s)
{
    const nino_scheme_info i = info_of(s);
    char a[32], b[32], c[32];
    human_bytes(a, sizeof(a), (double) i.budget);
    if (!i.fits) {
        printf("%12s  does not fit", a);
        if (i.least_bytes)
            printf(": needs at least %.1f MiB: node %s", (double) i.least_bytes / 0x1p20,
                   i.least_node);
        printf("\n");
        return;
    }
    printf("%12s %9.3f s %9.3f s %11s %11s  %-18s", a, i.seconds, i.load_seconds,
           human_bytes(b, sizeof(b), (double) i.load_bytes),
           human_bytes(c, sizeof(c), (double) i.peak_bytes), i.loss);
    for (size_t k = 0; k < nino_scheme_choices(s); k++) {
        const nino_scheme_choice one = choice_at(s, k);
        printf("%s%s: %s", k ? "; " : "", one.node, one.what);
    }
    printf("%s\n", nino_scheme_choices(s) ? "" : "as without a budget");
}

// False: said why not.
static bool read_budgets(const char *list, uint64_t out[MAX_BUDGETS], size_t *n)
{
    char text[1024], *rest = NULL;
    *n = 0;
    if (snprintf(text, sizeof(text), "%s", list) >= (int) sizeof(text)) {
        say("plan: --budget: too long");
        return false;
    }
    for (char *p = strtok_r(text, ",", &rest); p; p = strtok_r(NULL, ",", &rest)) {
        if (*n == MAX_BUDGETS || !parse_size(p, &out[*n])) {
            say("plan: --budget needs up to %d sizes such as 8GiB,512M, not %s", MAX_BUDGETS, p);
            return false;
        }
        ++*n;
    }
    if (!*n)
        say("plan: --budget needs sizes such as 8GiB,512M");
    return *n > 0;
}

static int curve(const options *o, nino_ctx *ctx, nino_graph *g)
{
    uint64_t budget[MAX_BUDGETS];
    size_t n;
    int rc = EXIT_NOMEM; // until one fits
    bool is_load_measured = false;
    nino_error err = { .code = NINO_OK };
    nino_scheme *s = NULL;
    if (!read_budgets(o->budget, budget, &n))
        return EXIT_USAGE;
    if (o->json) {
        js_envelope("plan");
        js_open("budgets", '[');
    } else {
        printf("%12s %11s %11s %11s %11s  %-18s%s\n", "budget", "time", "of it read",
               "weights read", "peak", "loses", "chosen");
    }
    for (size_t i = 0; i < n && (s = nino_scheme_create(ctx, g, o->profile, NULL, budget[i], &err));
         i++) {
        rc = info_of(s).fits ? EXIT_OK : rc;
        is_load_measured = info_of(s).is_load_measured;
        if (o->json)
            js_open(NULL, '{');
        (o->json ? scheme_json : curve_line)(s);
        if (o->json)
            js_close('}');
        nino_scheme_destroy(&s);
    }
    if (o->json) {
        js_close(']');
        js_envelope_end();
    } else {
        printf("times are predicted, with assumed efficiencies and %s rate of reading weights\n",
               is_load_measured ? "the measured" : "an assumed");
    }
    return err.code ? report_error(o, "plan", &err, NULL) : rc;
}

// ---- the command -------------------------------------------------------------------------------

static int plan_once(const options *o, nino_ctx *ctx, nino_graph *g)
{
    nino_error err = { .code = NINO_OK };
    nino_scheme *s = nino_scheme_create(ctx, g, o->profile, NULL, 0, &err);
    if (!s) {
        const int rc = report_error(o, "plan", &err, NULL);
        return err.code == NINO_ERR_UNKNOWN ? EXIT_USAGE : rc;
    }
    const int rc = print_plan(o, "plan", nino_scheme_plan(s), s, NULL, 0);
    nino_scheme_destroy(&s);
    return rc;
}

int cmd_plan(const options *o)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    nino_graph *g = load_graph(o, "plan", &rc);
    if (!g)
        return rc;
    nino_ctx_params params;
    nino_job_options jo;
    fill_ctx_params(o, &params, &jo);
    jo.no_files = true; // where results could be written does not matter
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    if (!ctx) {
        rc = report_error(o, "plan", &err, "ninodes devices lists the devices");
        if (err.code == NINO_ERR_UNKNOWN)
            rc = EXIT_DEVICE;
    } else if (!(rc = check_graph(o, "plan", g, ctx))) {
        rc = (o->budget ? curve : plan_once)(o, ctx, g);
    }
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&g);
    return rc;
}
