// Grids of ninodes run: one run for each value of an input, or each pair, and the sheet of them.
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HINT "--grid NODE.INPUT=V1,V2,...; ninodes nodes CLASS lists the inputs"

size_t grid_cells(const grid *g) { return g->axis[0].n * (g->n_axes == 2 ? g->axis[1].n : 1); }

static bool grid_refuse(const options *o, const char *text)
{
    if (o->json)
        js_envelope_error("run", nino_status_name(NINO_ERR_ARG), text, "--grid", HINT);
    say("run: %s", text);
    return false;
}

bool grid_parse(const options *o, grid *g)
{
    *g = (grid){ .n_axes = 0 };
    if (o->grid.n > 2)
        return grid_refuse(o, "--grid takes two axes at most");
    if (o->grid.n && (o->trace || o->advise))
        return grid_refuse(o, o->trace ? "--trace is of one run, not of a --grid"
                                       : "--advise is on one run, not on a --grid");
    for (size_t i = 0; i < o->grid.n; i++) {
        nino_error err = { .code = NINO_OK };
        if (nino_axis_parse(o->grid.item[i], &g->axis[i], &err)) {
            report_error(o, "run", &err, HINT);
            grid_release(g);
            return false;
        }
        g->n_axes++;
    }
    if (g->n_axes == 2 && !strcmp(g->axis[0].input, g->axis[1].input)) {
        grid_release(g);
        return grid_refuse(o, "both axes of the --grid change the same input");
    }
    return true;
}

void grid_release(grid *g)
{
    nino_axis_release(&g->axis[0]);
    nino_axis_release(&g->axis[1]);
    g->n_axes = 0;
}

void grid_axes_json(const grid *g)
{
    js_open("axes", '[');
    for (size_t i = 0; i < g->n_axes; i++) {
        js_open(NULL, '{');
        js_text("input", g->axis[i].input);
        js_open("values", '[');
        for (size_t k = 0; k < g->axis[i].n; k++)
            js_text(NULL, g->axis[i].value[k]);
        js_close(']');
        js_close('}');
    }
    js_close(']');
}

// ---- values ------------------------------------------------------------------------------------

static nino_status grid_set(nino_graph *graph, const nino_axis *a, size_t i, nino_error *err)
{
    char *text = nino_axis_assignment(a, i);
    const nino_status st = text ? nino_graph_set(graph, text, err) : NINO_ERR_NOMEM;
    free(text);
    return st;
}

// Which value of axis k cell i has.
static size_t grid_value_of(const grid *g, size_t k, size_t i)
{
    return k ? i / g->axis[0].n : i % g->axis[0].n;
}

nino_status grid_set_cell(nino_graph *graph, const grid *g, size_t i, nino_error *err)
{
    nino_status st = NINO_OK;
    for (size_t k = 0; k < g->n_axes && !st; k++)
        st = grid_set(graph, &g->axis[k], grid_value_of(g, k, i), err);
    return st;
}

int grid_check_values(const options *o, const grid *g, nino_graph *graph)
{
    nino_error err = { .code = NINO_OK };
    for (size_t k = 0; k < g->n_axes; k++)
        for (size_t i = g->axis[k].n; i-- > 0;) // so that the first one stays
            if (grid_set(graph, &g->axis[k], i, &err)) {
                report_error(o, "run", &err, HINT);
                return EXIT_USAGE;
            }
    return EXIT_OK;
}

int grid_check(const options *o, const grid *g, nino_graph *graph, const nino_ctx *ctx)
{
    nino_error err = { .code = NINO_OK };
    for (size_t k = 0; k < g->n_axes; k++)
        for (size_t i = g->axis[k].n; i-- > 0;) {
            int rc = EXIT_OK;
            if (grid_set(graph, &g->axis[k], i, &err))
                return report_error(o, "run", &err, HINT);
            if ((rc = check_graph_errors(o, "run", graph, ctx)))
                return rc;
        }
    return EXIT_OK;
}

// ---- running -----------------------------------------------------------------------------------

typedef struct cell {
    nino_status status;
    double ms;
    size_t n_cached, n_paths;
    char **path;
    char error[520];
} cell;

typedef struct grid_state {
    const options *o;
    const grid *g;
    nino_ctx *ctx;
    nino_graph *graph;
    watched w;
    size_t n;
    cell *cell;
    char *sheet;
} grid_state;

static double grid_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

// "2/6 3.seed=5 3.cfg=7"
static void cell_name(const grid *g, size_t i, char *out, size_t size)
{
    int n = snprintf(out, size, "%zu/%zu", i + 1, grid_cells(g));
    for (size_t k = 0; k < g->n_axes && (size_t) n < size; k++)
        n += snprintf(out + n, size - (size_t) n, " %.60s=%.60s", g->axis[k].input,
                      g->axis[k].value[grid_value_of(g, k, i)]);
}

static void place_json(const grid *g, size_t i)
{
    js_uint("column", grid_value_of(g, 0, i));
    js_uint("row", grid_value_of(g, 1, i));
}

static void begin_json(const grid *g, size_t i)
{
    js_line("event/1", "cell");
    js_uint("index", i);
    js_uint("total", grid_cells(g));
    place_json(g, i);
    js_open("values", '[');
    for (size_t k = 0; k < g->n_axes; k++) {
        js_open(NULL, '{');
        js_text("input", g->axis[k].input);
        js_text("value", g->axis[k].value[grid_value_of(g, k, i)]);
        js_close('}');
    }
    js_close(']');
    js_end();
}

static void cell_json(const grid *g, const cell *c, size_t i)
{
    js_uint("index", i);
    place_json(g, i);
    js_text("status", nino_status_name(c->status));
    js_num("ms", c->ms);
    js_uint("reused", c->n_cached);
    js_open("outputs", '[');
    for (size_t k = 0; k < c->n_paths; k++)
        js_text(NULL, c->path[k]);
    js_close(']');
    js_text("error", *c->error ? c->error : NULL);
}

static void keep_paths(cell *c, const nino_job *job)
{
    size_t n;
    const char **paths = outputs_of(job, &n);
    c->path = calloc(n + 1, sizeof(*c->path));
    for (size_t i = 0; c->path && i < n; i++)
        if ((c->path[c->n_paths] = strdup(paths[i])))
            c->n_paths++;
    free(paths);
}

static void tell_cell(const grid_state *s, size_t i)
{
    const cell *c = &s->cell[i];
    char name[300];
    cell_name(s->g, i, name, sizeof(name));
    if (s->o->json) {
        js_line("event/1", "cell_done");
        cell_json(s->g, c, i);
        js_end();
    }
    if (c->status && c->status != NINO_ERR_CANCELLED)
        say("run: %s: %s", name, c->error);
    if (c->status || s->o->json)
        return;
    if (!s->o->quiet)
        say("%s: %.2f s, %zu nodes reused", name, c->ms * 1e-3, c->n_cached);
    for (size_t k = 0; k < c->n_paths; k++)
        out_path(c->path[k]);
    fflush(stdout);
}

// False: there is no use in going on.
static bool run_cell(grid_state *s, size_t i, nino_error *err)
{
    cell *c = &s->cell[i];
    nino_job *job = NULL;
    nino_job_options jo = { NINO_JOB_OPTIONS_INIT };
    char name[300], parts[4200];
    if (!shard_options(s->o, i, s->n, &jo, parts, sizeof(parts)))
        return true;
    const double begin = grid_now_ms();
    cell_name(s->g, i, name, sizeof(name));
    s->w.n_cached = 0;
    if (s->o->json)
        begin_json(s->g, i);
    s->w.p = progress_create(name, s->o->quiet, s->o->json);
    if (!s->w.p || grid_set_cell(s->graph, s->g, i, err) ||
        !(job = nino_job_start(s->ctx, s->graph, &jo, err)))
        c->status = err->code ? err->code : NINO_ERR_NOMEM;
    else
        c->status = follow(job, &s->w, err);
    progress_destroy(&s->w.p);
    c->ms = grid_now_ms() - begin;
    c->n_cached = s->w.n_cached;
    if (c->status)
        snprintf(c->error, sizeof(c->error), "%s%s%s", err->where, *err->where ? ": " : "",
                 err->msg);
    if (job && !c->status)
        keep_paths(c, job);
    nino_job_destroy(&job);
    tell_cell(s, i);
    return c->status != NINO_ERR_CANCELLED;
}

// Beside the file of the first cell that has one.
static void save_sheet(grid_state *s)
{
    nino_error err = { .code = NINO_OK };
    const nino_axis *rows = s->g->n_axes == 2 ? &s->g->axis[1] : NULL;
    const char **picture = calloc(s->n, sizeof(*picture)), *first = NULL;
    char *dir = NULL;
    for (size_t i = 0; picture && i < s->n; i++) {
        const cell *c = &s->cell[i];
        picture[i] = nino_sheet_choose((const char *const *) c->path, c->n_paths);
        first = first ? first : picture[i];
    }
    if (first) {
        const char *slash = strrchr(first, '/');
        const nino_sheet sheet = { &s->g->axis[0], rows, picture };
        dir = slash ? strndup(first, (size_t) (slash - first)) : strdup(".");
        if (!dir || nino_sheet_save(&sheet, dir, &s->sheet, &err))
            say("run: no sheet: %s%s%s", err.where, *err.where ? ": " : "", err.msg);
    } else if (!signals_stopped()) {
        say("run: no sheet: no cell has a picture");
    }
    if (s->sheet && s->o->json) {
        js_line("event/1", "sheet");
        js_text("path", s->sheet);
        js_uint("columns", s->g->axis[0].n);
        js_uint("rows", rows ? rows->n : 1);
        js_end();
    } else if (s->sheet) {
        out_path(s->sheet);
    }
    free(dir);
    free(picture);
}

static void grid_tell_json(const grid_state *s)
{
    js_envelope("run");
    js_text("workflow", s->o->arg[0]);
    js_open("outputs", '[');
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->cell[i].n_paths; k++)
            js_text(NULL, s->cell[i].path[k]);
    if (s->sheet)
        js_text(NULL, s->sheet);
    js_close(']');
    js_open("grid", '{');
    grid_axes_json(s->g);
    js_open("cells", '[');
    for (size_t i = 0; i < s->n; i++) {
        js_open(NULL, '{');
        cell_json(s->g, &s->cell[i], i);
        js_close('}');
    }
    js_close(']');
    js_text("sheet", s->sheet);
    js_close('}');
    report_json(s->w.s, NULL);
    js_envelope_end();
}

// The error of the first cell that failed, or of the one that was stopped.
static int end_of_grid(const grid_state *s, const nino_error *first)
{
    char hint[64];
    if (first->code != NINO_ERR_CANCELLED)
        return report_error(s->o, "run", first, NULL);
    const int rc = report_error(s->o, "run", first, go_on_hint(s->ctx, hint, sizeof(hint)));
    return signals_stopped() ? 128 + signals_stopped() : rc;
}

int grid_run(const options *o, const grid *g, nino_ctx *ctx, nino_graph *graph)
{
    nino_error err = { .code = NINO_OK }, first = { .code = NINO_OK };
    grid_state s = { .o = o,
                     .g = g,
                     .ctx = ctx,
                     .graph = graph,
                     .n = grid_cells(g),
                     .cell = calloc(grid_cells(g), sizeof(cell)),
                     .w = { .s = nino_stats_create(),
                            .lines = o->json ? event_lines_create() : NULL } };
    int rc = EXIT_RUN;
    bool goes_on = s.cell && s.w.s && (!o->json || s.w.lines);
    const bool ok = goes_on;
    if (!ok)
        say("run: out of memory");
    for (size_t i = 0; i < s.n && goes_on; i++) {
        err = (nino_error){ .code = NINO_OK };
        goes_on = run_cell(&s, i, &err);
        if (err.code && (!first.code || err.code == NINO_ERR_CANCELLED))
            first = err;
    }
    if (ok) {
        if (!o->shard)
            save_sheet(&s);
        if (!first.code && o->json)
            grid_tell_json(&s);
        if (!first.code && !o->json && !o->quiet) {
            report_nodes(stderr, s.w.s);
            report_memory(stderr, s.w.s);
            report_energy(stderr, s.w.s);
        }
        rc = first.code ? end_of_grid(&s, &first) : EXIT_OK;
    }
    for (size_t i = 0; s.cell && i < s.n; i++) {
        for (size_t k = 0; k < s.cell[i].n_paths; k++)
            free(s.cell[i].path[k]);
        free(s.cell[i].path);
    }
    free(s.cell);
    free(s.sheet);
    event_lines_destroy(&s.w.lines);
    nino_stats_destroy(&s.w.s);
    return rc;
}

// ---- planning ----------------------------------------------------------------------------------

int grid_dry_run(const options *o, const grid *g, nino_ctx *ctx, nino_graph *graph)
{
    nino_error err = { .code = NINO_OK };
    nino_plan most = { .n_scopes = 0 };
    double seconds = 0;
    bool knows = true;
    for (size_t i = 0; i < grid_cells(g) && !signals_stopped(); i++) {
        nino_plan p = { .n_scopes = 0 };
        if (grid_set_cell(graph, g, i, &err) || nino_graph_plan(ctx, graph, NULL, NULL, &p, &err)) {
            nino_plan_release(&most);
            return report_error(o, "run", &err, NULL);
        }
        seconds += p.seconds;
        knows &= p.seconds > 0;
        if (!i || p.peak_bytes > most.peak_bytes) {
            nino_plan_release(&most);
            most = p;
        } else {
            nino_plan_release(&p);
        }
    }
    const int rc = signals_stopped() ? 128 + signals_stopped()
                                     : print_plan(o, "run", &most, NULL, g, knows ? seconds : 0);
    nino_plan_release(&most);
    return rc;
}
