// ninodes run: loads, checks, runs, and tells how it went.
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void queued_json(const nino_graph *g)
{
    const size_t n = nino_graph_nodes(g, NULL, 0);
    nino_graph_node *list = calloc(n + 1, sizeof(*list));
    if (list)
        nino_graph_nodes(g, list, n);
    js_line("event/1", "queued");
    js_open("nodes", '[');
    for (size_t i = 0; list && i < n; i++) {
        js_open(NULL, '{');
        js_text("node", list[i].id);
        js_text("class_type", list[i].class_type);
        js_close('}');
    }
    js_close(']');
    js_end();
    free(list);
}

static nino_job_text *texts_of(const nino_job *job, size_t *n)
{
    *n = nino_job_texts(job, NULL, 0);
    nino_job_text *list = calloc(*n + 1, sizeof(*list));
    if (list)
        nino_job_texts(job, list, *n);
    else
        *n = 0;
    return list;
}

static void cmd_run_tell_json(const options *o, const nino_job *job, const nino_stats *s)
{
    size_t n, n_texts;
    const char **paths = outputs_of(job, &n);
    nino_job_text *texts = texts_of(job, &n_texts);
    js_envelope("run");
    js_text("workflow", o->arg[0]);
    js_open("outputs", '[');
    for (size_t i = 0; i < n; i++)
        js_text(NULL, paths[i]);
    js_close(']');
    js_open("texts", '[');
    for (size_t i = 0; i < n_texts; i++) {
        js_open(NULL, '{');
        js_text("node", texts[i].node);
        js_text("title", texts[i].title);
        js_text("text", texts[i].text);
        js_close('}');
    }
    js_close(']');
    report_json(s, NULL);
    js_envelope_end();
    free(paths);
    free(texts);
}

static void tell_paths(const nino_job *job)
{
    size_t n;
    const char **paths = outputs_of(job, &n);
    for (size_t i = 0; i < n; i++)
        out_path(paths[i]);
    fflush(stdout); // --watch: who reads it need not wait for the next
    free(paths);
}

static void cmd_run_tell(nino_job *job, const nino_stats *s, const watched *w)
{
    const nino_event *last = w->last;
    size_t n_texts;
    nino_job_text *texts = texts_of(job, &n_texts);
    for (size_t i = 0; i < n_texts; i++)
        fprintf(stderr, "%s\n%s\n", texts[i].title, texts[i].text);
    report_nodes(stderr, s);
    report_memory(stderr, s);
    report_energy(stderr, s);
    for (size_t i = 0; i < w->n_chosen; i++)
        fprintf(stderr, "  chosen: %s\n", w->chosen[i]);
    report_tiles(stderr, &last[2], nino_job_name(job, last[2].name));
    report_seams(stderr, &last[0]);
    report_video(stderr, &last[1]);
    free(texts);
}

static int cmd_run_run_job(const options *o, nino_ctx *ctx, nino_graph *g)
{
    nino_error err = { .code = NINO_OK };
    nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .trace_path = o->trace };
    char parts[4200];
    shard_options(o, 0, 0, &jo, parts, sizeof(parts));
    if (o->json)
        queued_json(g);
    watched w = { .p = progress_create(nino_graph_name(g), o->quiet, o->json),
                  .s = nino_stats_create(),
                  .lines = o->json ? event_lines_create() : NULL,
                  .h = o->advise ? nino_history_create(0) : NULL };
    nino_job *job = NULL;
    char hint[64];
    int rc = EXIT_RUN;
    const bool ok = w.p && w.s && (!o->json || w.lines) && (!o->advise || w.h);
    if (!ok)
        say("run: out of memory");
    else if (!(job = nino_job_start(ctx, g, &jo, &err)))
        rc = report_error(o, "run", &err, NULL);
    if (job) {
        const nino_status st = follow(job, &w, &err);
        progress_destroy(&w.p);
        const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .history = w.h, .graph = g,
                                       .ctx = ctx };
        if (!st && w.h && o->json)
            report_advice_json(&in);
        if (!st && o->json)
            cmd_run_tell_json(o, job, w.s);
        else if (!st && !o->quiet)
            cmd_run_tell(job, w.s, &w);
        if (!st && !o->json)
            tell_paths(job);
        if (!st && w.h && !o->json)
            report_advice(stderr, &in);
        if (st && o->json && err.code != NINO_ERR_CANCELLED) {
            js_line("event/1", "execution_error");
            js_text("where", err.where);
            js_text("message", err.msg);
            js_end();
        }
        rc =
            st ? report_error(o, "run", &err,
                              st == NINO_ERR_CANCELLED ? go_on_hint(ctx, hint, sizeof(hint)) : NULL)
               : EXIT_OK;
        if (st == NINO_ERR_CANCELLED && signals_stopped())
            rc = 128 + signals_stopped();
    }
    nino_job_destroy(&job);
    event_lines_destroy(&w.lines);
    nino_stats_destroy(&w.s);
    nino_history_destroy(&w.h);
    progress_destroy(&w.p);
    return rc;
}

static int dry_run(const options *o, nino_ctx *ctx, nino_graph *g)
{
    nino_error err = { .code = NINO_OK };
    nino_scheme *s = nino_scheme_create(ctx, g, NULL, NULL, 0, &err);
    if (!s)
        return report_error(o, "run", &err, NULL);
    const int rc = print_plan(o, "run", nino_scheme_plan(s), s, NULL, 0);
    nino_scheme_destroy(&s);
    return rc;
}

// Runs once, and again whenever the file was saved; what is wrong with it then is said.
static int watch_runs(const options *o, nino_ctx *ctx, nino_graph *first)
{
    file_watch w = { .fd = -1 };
    if (!watch_open(&w, o->arg[0]))
        return EXIT_RUN;
    uint64_t since = now_ns();
    int rc = cmd_run_run_job(o, ctx, first);
    while (!signals_stopped()) {
        notify_end(o, w.name, since, rc);
        if (!o->quiet)
            say("run: waiting until %s is saved; Ctrl-C ends", w.name);
        if (!watch_wait(&w))
            break;
        since = now_ns();
        nino_graph *g = load_graph(o, "run", &rc);
        if (g && !(rc = check_graph(o, "run", g, ctx)))
            rc = cmd_run_run_job(o, ctx, g);
        nino_graph_destroy(&g);
    }
    watch_close(&w);
    return signals_stopped() ? 128 + signals_stopped() : rc;
}

static int cmd_run_run(const options *o, const grid *cells, nino_ctx *ctx, nino_graph *g)
{
    if (cells->n_axes)
        return o->dry_run ? grid_dry_run(o, cells, ctx, g) : grid_run(o, cells, ctx, g);
    return o->dry_run ? dry_run(o, ctx, g)
           : o->watch ? watch_runs(o, ctx, g)
                      : cmd_run_run_job(o, ctx, g);
}

int cmd_run(const options *o)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    grid cells;
    if (o->watch && (o->grid.n || o->dry_run || o->json || !strcmp(o->arg[0], "-"))) {
        say("run: --watch is for a file, without --grid, --dry-run and --json");
        return EXIT_USAGE;
    }
    char device[16][160];
    const size_t n_devices = devices_of(o, device);
    // What looks at one run, or is a part of one, keeps it whole: its devices share tiles and pictures only.
    const bool is_whole = o->watch || o->advise || o->trace || o->shard || o->dry_run || o->joins;
    if (!shard_check(o) || !grid_parse(o, &cells))
        return EXIT_USAGE;
    if (o->trace && nino_place_check(o->trace, &err)) {
        grid_release(&cells);
        return report_error(o, "run", &err, NULL);
    }
    follow_signals();
    nino_graph *g = load_graph(o, "run", &rc);
    if (!g || (rc = grid_check_values(o, &cells, g))) {
        nino_graph_destroy(&g);
        grid_release(&cells);
        return rc;
    }
    nino_ctx_params p;
    nino_job_options jo;
    fill_ctx_params(o, &p, &jo);
    p.serve = !o->dry_run && !(o->telemetry && !strcmp(o->telemetry, "off"));
    p.title = nino_graph_name(g);
    p.steps = o->resume || crash_is_again() ? NINO_STEPS_RESUME : NINO_STEPS_KEEP;
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx) {
        rc = report_error(o, "run", &err, "ninodes devices lists the devices");
        if (err.code == NINO_ERR_UNKNOWN)
            rc = EXIT_DEVICE;
    } else if (!(rc = check_graph(o, "run", g, ctx)) && !(rc = grid_check(o, &cells, g, ctx))) {
        if (signals_stopped()) {
            rc = 128 + signals_stopped();
        } else {
            follow_ctx(ctx);
            const uint64_t since = now_ns();
            rc = n_devices > 1 && !is_whole ? devices_run(o, &cells, ctx, g, cmd_run_run)
                                            : cmd_run_run(o, &cells, ctx, g);
            follow_ctx(NULL);
            if (!o->watch && !signals_stopped())
                notify_end(o, nino_graph_name(g), since, rc);
        }
    }
    if (!nino_ctx_quit(&ctx)) { // the driver's threads are still at it
        fflush(NULL);
        _exit(rc);
    }
    nino_graph_destroy(&g);
    grid_release(&cells);
    return rc;
}
