// ninodes run: loads, checks, runs, and tells how it went.
#include "commands.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- signals -----------------------------------------------------------------------------------

static struct {
    pthread_mutex_t lock;
    nino_job *job; // the one to cancel, NULL: none yet or no more
    nino_ctx *ctx; // the one to pause, likewise
} ask = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void cancel_job(void)
{
    pthread_mutex_lock(&ask.lock);
    if (ask.job)
        nino_job_cancel(ask.job);
    pthread_mutex_unlock(&ask.lock);
}

static void pause_job(bool is_paused)
{
    pthread_mutex_lock(&ask.lock);
    if (ask.ctx)
        nino_ctx_pause(ask.ctx, is_paused);
    pthread_mutex_unlock(&ask.lock);
}

static void set_ctx(nino_ctx *ctx)
{
    pthread_mutex_lock(&ask.lock);
    ask.ctx = ctx;
    pthread_mutex_unlock(&ask.lock);
}

static void set_job(nino_job *job)
{
    pthread_mutex_lock(&ask.lock);
    ask.job = job;
    if (job && signals_stopped())
        nino_job_cancel(job);
    pthread_mutex_unlock(&ask.lock);
}

// ---- loading and checking ----------------------------------------------------------------------

// "NODE.INPUT=N" for every seed of the graph.
static nino_status set_seeds(nino_graph *g, uint64_t seed, nino_error *err)
{
    nino_status st = NINO_OK;
    size_t set = 0;
    const size_t n = nino_graph_nodes(g, NULL, 0);
    nino_graph_node *list = calloc(n + 1, sizeof(*list));
    if (!list)
        return NINO_ERR_NOMEM;
    nino_graph_nodes(g, list, n);
    for (size_t i = 0; i < n && !st; i++)
        for (const nino_param *p = list[i].def ? list[i].def->params : NULL; p && p->key && !st;
             p++) {
            char text[300];
            if (p->type != NINO_SEED)
                continue;
            snprintf(text, sizeof(text), "%s.%s=%llu", list[i].id, p->key,
                     (unsigned long long) seed);
            st = nino_graph_set(g, text, err);
            set++;
        }
    free(list);
    if (!set)
        say("--seed: no node of this workflow has a seed");
    return st;
}

nino_graph *load_graph(const options *o, const char *cmd, int *rc)
{
    nino_error err = { .code = NINO_OK };
    nino_graph *g = nino_graph_load_file(o->arg[0], &err);
    if (!g) {
        *rc = report_error(o, cmd, &err,
                           "WORKFLOW is a ComfyUI workflow, or a picture that holds one");
        if (err.code == NINO_ERR_FORMAT || err.code == NINO_ERR_RANGE)
            *rc = EXIT_WORKFLOW;
        if (err.code == NINO_ERR_IO)
            *rc = EXIT_MISSING;
        return NULL;
    }
    nino_status st = o->has_seed ? set_seeds(g, o->seed, &err) : NINO_OK;
    for (size_t i = 0; i < o->set.n && !st; i++)
        st = nino_graph_set(g, o->set.item[i], &err);
    if (!st)
        return g;
    report_error(o, cmd, &err, "--set NODE.INPUT=VALUE; ninodes nodes CLASS lists the inputs");
    *rc = EXIT_USAGE;
    nino_graph_destroy(&g);
    return NULL;
}

typedef struct problems {
    const options *o;
    const char *cmd;
    const nino_graph_node *nodes;
    size_t n_nodes, errors, missing;
    bool only_errors;
    char code[32], message[320], where[160];
} problems;

static void on_cmd_run_issue(void *priv, const nino_issue *i)
{
    problems *p = priv;
    const bool is_error = i->severity == NINO_ISSUE_ERROR;
    const char *class = "";
    if (!is_error && p->only_errors)
        return;
    for (size_t k = 0; k < p->n_nodes; k++)
        if (!strcmp(p->nodes[k].id, i->node))
            class = p->nodes[k].class_type;
    char where[160];
    snprintf(where, sizeof(where), "%s%s%s%s%s", i->node, *class ? " " : "", class,
             *i->input ? "." : "", i->input);
    if (is_error && !p->errors++) {
        snprintf(p->code, sizeof(p->code), "%s", i->code);
        snprintf(p->message, sizeof(p->message), "%s", i->message);
        memcpy(p->where, where, sizeof(where));
    }
    p->missing += is_error && !strcmp(i->code, "missing_file");
    if (is_error || !p->o->quiet)
        say("%s: %s: %s%s%s (%s)", p->cmd, is_error ? "error" : "warning", where,
            *where ? ": " : "", i->message, i->code);
    if (!p->o->json)
        return;
    js_line("event/1", "issue");
    js_text("severity", is_error ? "error" : "warning");
    js_text("code", i->code);
    js_text("node", i->node);
    js_text("class_type", class);
    js_text("input", i->input);
    js_text("message", i->message);
    js_end();
}

static int cmd_run_check(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx,
                         bool only_errors)
{
    problems p = { .o = o, .cmd = cmd, .only_errors = only_errors };
    const size_t n = nino_graph_nodes(g, NULL, 0);
    nino_graph_node *nodes = calloc(n + 1, sizeof(*nodes));
    if (nodes) {
        nino_graph_nodes(g, nodes, n);
        p.nodes = nodes;
        p.n_nodes = n;
    }
    const size_t errors = nino_graph_check(g, ctx, on_cmd_run_issue, &p);
    free(nodes);
    if (!errors)
        return EXIT_OK;
    const bool is_missing = p.missing == errors;
    if (o->json)
        js_envelope_error(cmd, p.code, p.message, p.where,
                          is_missing ? "--models DIR and --input DIR say where to look" : NULL);
    return is_missing ? EXIT_MISSING : EXIT_WORKFLOW;
}

int check_graph(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx)
{
    return cmd_run_check(o, cmd, g, ctx, false);
}

int check_graph_errors(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx)
{
    return cmd_run_check(o, cmd, g, ctx, true);
}

// ---- running -----------------------------------------------------------------------------------

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

static bool is_cached(const nino_event *ev, const char *name)
{
    const size_t n = strlen(name), k = strlen(" (cached)");
    return ev->kind == NINO_EV_NODE && n > k && !strcmp(name + n - k, " (cached)");
}

nino_status follow(nino_job *job, watched *w, nino_error *err)
{
    nino_status st = NINO_OK;
    nino_event ev[512];
    set_job(job);
    for (;;) {
        const size_t n = nino_job_poll(job, ev, 512);
        progress_add(w->p, ev, n, nino_job_name, job);
        nino_stats_add(w->s, ev, n, nino_job_name, job);
        if (w->h)
            nino_history_add(w->h, ev, n, nino_job_name, job);
        if (w->lines)
            event_lines_add(w->lines, ev, n, nino_job_name, job);
        for (size_t i = 0; i < n; i++) {
            const char *name = nino_job_name(job, ev[i].name);
            if (ev[i].kind == NINO_EV_STAGE && !strcmp(name, "paused"))
                signals_standing();
            if (ev[i].kind == NINO_EV_SEAM || ev[i].kind == NINO_EV_CLIP)
                w->last[ev[i].kind == NINO_EV_CLIP] = ev[i];
            w->n_cached += is_cached(&ev[i], name);
        }
        if (signals_take_status())
            progress_print(w->p);
        progress_draw(w->p);
        if (n)
            continue;
        if (nino_job_done(job, &st, err))
            break;
        nino_job_wait(job, 50);
    }
    set_job(NULL);
    return st;
}

const char **outputs_of(const nino_job *job, size_t *n)
{
    *n = nino_job_outputs(job, NULL, 0);
    const char **paths = calloc(*n + 1, sizeof(*paths));
    nino_job_output *list = calloc(*n + 1, sizeof(*list));
    if (paths && list)
        nino_job_outputs(job, list, *n);
    else
        *n = 0;
    for (size_t i = 0; i < *n; i++)
        paths[i] = list[i].path;
    free(list);
    return paths;
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

static void cmd_run_tell(const nino_job *job, const nino_stats *s, const nino_event last[2])
{
    size_t n, n_texts;
    const char **paths = outputs_of(job, &n);
    nino_job_text *texts = texts_of(job, &n_texts);
    for (size_t i = 0; i < n_texts; i++)
        fprintf(stderr, "%s\n%s\n", texts[i].title, texts[i].text);
    report_nodes(stderr, s);
    report_memory(stderr, s);
    report_energy(stderr, s);
    report_seams(stderr, &last[0]);
    report_video(stderr, &last[1]);
    for (size_t i = 0; i < n; i++)
        printf("%s\n", paths[i]);
    free(paths);
    free(texts);
}

const char *go_on_hint(const nino_ctx *ctx, char *out, size_t size)
{
    const int n = nino_ctx_kept_steps(ctx);
    snprintf(out, size, "%d %s kept: --resume goes on from there", n,
             n == 1 ? "step is" : "steps are");
    return n ? out : NULL;
}

static int cmd_run_run_job(const options *o, nino_ctx *ctx, nino_graph *g)
{
    nino_error err = { .code = NINO_OK };
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .trace_path = o->trace };
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
            cmd_run_tell(job, w.s, w.last);
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
    nino_plan plan = { .n_scopes = 0 };
    if (nino_graph_plan(ctx, g, NULL, NULL, &plan, &err))
        return report_error(o, "run", &err, NULL);
    const int rc = print_plan(o, "run", &plan, NULL, 0);
    nino_plan_release(&plan);
    return rc;
}

static int cmd_run_run(const options *o, const grid *cells, nino_ctx *ctx, nino_graph *g)
{
    if (cells->n_axes)
        return o->dry_run ? grid_dry_run(o, cells, ctx, g) : grid_run(o, cells, ctx, g);
    return o->dry_run ? dry_run(o, ctx, g) : cmd_run_run_job(o, ctx, g);
}

int cmd_run(const options *o)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    grid cells;
    if (!grid_parse(o, &cells))
        return EXIT_USAGE;
    signals_watch_pause(pause_job);
    signals_watch(cancel_job);
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
    p.steps = o->resume ? NINO_STEPS_RESUME : NINO_STEPS_KEEP;
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx) {
        rc = report_error(o, "run", &err, "ninodes devices lists the devices");
        if (err.code == NINO_ERR_UNKNOWN)
            rc = EXIT_DEVICE;
    } else if (!(rc = check_graph(o, "run", g, ctx)) && !(rc = grid_check(o, &cells, g, ctx))) {
        if (signals_stopped()) {
            rc = 128 + signals_stopped();
        } else {
            set_ctx(ctx);
            rc = cmd_run_run(o, &cells, ctx, g);
            set_ctx(NULL);
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
