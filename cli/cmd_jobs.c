// ninodes jobs: looks at the queue of a worker and changes it; pauses and cancels runs.
#include "commands.h"
#include "queue/queue.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MS = 30000, STATE_MS = 10000 };

// ---- finding the worker ------------------------------------------------------------------------

// Waits for the first snapshot of the queue. NULL: none came.
static const nino_queue *first_queue(nino_attach *a)
{
    nino_event ev[128];
    for (int i = 0; i < STATE_MS / 100; i++) {
        size_t n;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        const nino_status st = nino_attach_read(a, ev, 128, &n, NULL);
        const nino_queue *q = nino_control_queue(a);
        if (q || st)
            return q;
        poll(&p, 1, 100);
    }
    return NULL;
}

// The newest worker; without one the only run there is.
static nino_attach *attach_default(nino_error *err)
{
    nino_run_info run[32];
    const size_t all = nino_attach_list(run, 32), n = all < 32 ? all : 32;
    for (size_t i = 0; i < n; i++) {
        nino_attach *a = nino_attach_open(run[i].socket, NULL);
        const nino_queue *q = a ? first_queue(a) : NULL;
        if (q && (q->is_worker || n == 1))
            return a;
        if (a)
            nino_attach_close(&a);
    }
    *err = (nino_error){ .code = NINO_ERR_MISSING, .kind = "missing" };
    snprintf(err->msg, sizeof(err->msg), "%s",
             n ? "several runs and no worker: say which with --worker" : "no worker runs");
    return NULL;
}

// ---- telling -----------------------------------------------------------------------------------

// What else is to be known of how a job stands; "": nothing.
static void job_reason(const nino_queue_job *j, char *buf, size_t size)
{
    const bool is_failed = j->state == NINO_QUEUE_FAILED && *j->err.msg;
    const bool died = j->lost && (j->state == NINO_QUEUE_WAITING || j->state == NINO_QUEUE_FAILED);
    snprintf(buf, size, "%s%s%s", died ? ": the worker died in it" : "", is_failed ? ": " : "",
             is_failed ? j->err.msg : "");
}

static void print_job(const nino_queue_job *j)
{
    char id[24], time[24] = "", text[1200], line[1200];
    snprintf(id, sizeof(id), "%llu", (unsigned long long) j->id);
    if (j->started_s > 0)
        snprintf(time, sizeof(time), "%.1f s", queue_job_seconds(j));
    snprintf(text, sizeof(text), "%.500s", j->name);
    job_reason(j, text + strlen(text), sizeof(text) - strlen(text));
    nino_utf8_printable(line, sizeof(line), text, strlen(text)); // one line
    printf("%5s  %-9s %5u  %9s  %zu  %s\n", id, nino_queue_state_name(j->state), j->n_nodes, time,
           j->n_outputs, line);
}

static int cmd_jobs_list(const options *o, nino_attach *a)
{
    const nino_queue *q = first_queue(a);
    if (!q) {
        say("jobs: the worker does not say what it does");
        return EXIT_LOST;
    }
    if (o->json) {
        js_envelope("jobs");
        js_int("pid", nino_attach_pid(a));
        js_text("device", q->device);
        queue_json(q);
        js_envelope_end();
        return EXIT_OK;
    }
    if (q->is_paused && !o->quiet)
        say("jobs: paused%s%s", *q->notice ? ": " : "", q->notice);
    if (q->n_jobs)
        printf("%5s  %-9s %5s  %9s  %s  %s\n", "JOB", "STATE", "NODES", "TIME", "N", "NAME");
    for (size_t i = 0; i < q->n_jobs; i++)
        print_job(&q->jobs[i]);
    return EXIT_OK;
}

static const nino_queue_job *cmd_jobs_find_job(const nino_queue *q, uint64_t id)
{
    for (size_t i = 0; q && i < q->n_jobs; i++)
        if (q->jobs[i].id == id)
            return &q->jobs[i];
    return NULL;
}

static int cmd_jobs_show(const options *o, const nino_queue_job *j)
{
    if (o->json) {
        js_envelope("jobs");
        js_open("jobs", '[');
        queue_job_json(j);
        js_close(']');
        js_envelope_end();
        return EXIT_OK;
    }
    for (size_t i = 0; i < j->n_texts; i++)
        fprintf(stderr, "%s\n%s\n", j->texts[i].title, j->texts[i].text);
    for (size_t i = 0; i < j->n_outputs; i++)
        out_path(j->outputs[i]);
    return EXIT_OK;
}

static int no_job(const options *o, uint64_t id)
{
    nino_error e = { .code = NINO_ERR_UNKNOWN, .kind = "unknown", .where = "job" };
    snprintf(e.msg, sizeof(e.msg), "there is no job %llu", (unsigned long long) id);
    return report_error(o, "jobs", &e, "ninodes jobs ls lists them");
}

// Follows a job to its end: its files on stdout, the exit status says how it went. is_new: the
// worker has just taken it, so a list without it is one of before.
static int wait_for(const options *o, nino_attach *a, uint64_t id, bool is_new)
{
    nino_event ev[512];
    const double expected = is_new ? unix_now() + STATE_MS / 1000.0 : 0;
    for (;;) {
        size_t n;
        nino_error e = { .code = NINO_OK };
        const nino_status st = nino_attach_read(a, ev, 512, &n, &e);
        const nino_queue *q = nino_control_queue(a);
        const nino_queue_job *j = cmd_jobs_find_job(q, id);
        if (q && !j && unix_now() > expected)
            return no_job(o, id);
        if (j && j->state >= NINO_QUEUE_DONE) {
            if (j->state == NINO_QUEUE_DONE)
                return cmd_jobs_show(o, j);
            return report_error(o, "jobs", &j->err, NULL);
        }
        if (st) {
            say("jobs: the worker has gone");
            if (o->json)
                js_envelope_error("jobs", "lost", "the worker has gone", "", NULL);
            return EXIT_LOST;
        }
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        if (!n)
            poll(&p, 1, 1000);
    }
}

// ---- asking ------------------------------------------------------------------------------------

// Paths as the worker will understand them. NULL stays NULL; false: no memory.
static bool absolute(const char *path, char **out)
{
    char cwd[4096];
    *out = NULL;
    if (!path || !*path)
        return true;
    if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)))
        return (*out = strdup(path)) != NULL;
    const size_t size = strlen(cwd) + strlen(path) + 2;
    if ((*out = malloc(size)))
        snprintf(*out, size, "%s/%s", cwd, path);
    return *out != NULL;
}

typedef struct paths {
    char *input, *output, *trace;
    char **models;
} paths;

static bool paths_fill(paths *p, const options *o)
{
    bool ok = absolute(o->input, &p->input) && absolute(o->output, &p->output) &&
              absolute(o->trace, &p->trace) &&
              (p->models = calloc(o->models.n + 1, sizeof(char *)));
    for (size_t i = 0; ok && i < o->models.n; i++)
        ok = absolute(o->models.item[i], &p->models[i]);
    return ok;
}

static void paths_release(paths *p)
{
    free(p->input);
    free(p->output);
    free(p->trace);
    for (char **m = p->models; m && *m; m++)
        free(*m);
    free(p->models);
}

static int tell_reply(const options *o, const nino_control_reply *r)
{
    if (o->json) {
        js_envelope("jobs");
        js_uint("job", r->job);
        js_uint("bytes", r->bytes);
        js_envelope_end();
    } else if (*r->text) {
        out_path(r->text); // a workflow
    } else if (r->job) {
        printf("%llu\n", (unsigned long long) r->job);
    }
    return EXIT_OK;
}

static int ask(const options *o, nino_attach *a, const nino_control *c)
{
    nino_error err = { .code = NINO_OK };
    nino_control_reply r;
    const nino_status st = nino_control_call(a, c, ANSWER_MS, &r, &err);
    if (!st && o->wait && r.job)
        return wait_for(o, a, r.job, true);
    if (!st)
        return tell_reply(o, &r);
    const bool is_class = o->object_info.n && c->cmd == NINO_CONTROL_QUEUE;
    const int rc = report_error(o, "jobs", &err,
                                is_class ? "the worker knows a class of the FILE only if it was "
                                           "started with the same --object-info"
                                         : NULL);
    if (st == NINO_ERR_IO)
        return EXIT_LOST;
    if (c->cmd == NINO_CONTROL_QUEUE && (st == NINO_ERR_FORMAT || st == NINO_ERR_RANGE))
        return EXIT_WORKFLOW;
    return rc;
}

static int cmd_jobs_add(const options *o, nino_attach *a)
{
    int rc = EXIT_OK;
    size_t len = 0;
    options w = *o;
    paths p = { 0 };
    w.arg[0] = o->arg[1];
    nino_graph *g = load_graph(&w, "jobs", &rc);
    if (!g)
        return rc;
    nino_ctx_params cp;
    nino_job_options jo;
    fill_ctx_params(o, &cp, &jo);
    // in API form the values have the names that the classes given here say
    const char *text = o->object_info.n ? nino_graph_api_json(g, &len) : nino_graph_json(g, &len);
    const char *slash = strrchr(o->arg[1], '/');
    if (!text || !len || !paths_fill(&p, o)) {
        say("jobs: out of memory");
        rc = EXIT_NOMEM;
    } else {
        jo.models = (const char *const *) p.models;
        jo.input_dir = p.input;
        jo.output_dir = p.output;
        jo.trace_path = p.trace;
        const nino_control c = { NINO_CONTROL_INIT,
                                 .cmd = NINO_CONTROL_QUEUE,
                                 .position = o->front ? 1 : (int) o->position,
                                 .workflow = text,
                                 .workflow_bytes = len,
                                 .name = slash ? slash + 1 : o->arg[1],
                                 .options = &jo };
        rc = ask(o, a, &c);
    }
    paths_release(&p);
    nino_graph_destroy(&g);
    return rc;
}

// What a word on the command line asks for; needs says whether a job's number must follow.
typedef enum needs { NO_JOB, MAYBE_JOB, ONE_JOB, JOB_AND_VALUE } needs;
static const struct request {
    const char *word;
    nino_control_cmd cmd;
    needs needs;
} requests[] = {
    { "pause", NINO_CONTROL_PAUSE, NO_JOB },      { "resume", NINO_CONTROL_RESUME, NO_JOB },
    { "cancel", NINO_CONTROL_CANCEL, MAYBE_JOB }, { "set", NINO_CONTROL_SET, JOB_AND_VALUE },
    { "move", NINO_CONTROL_MOVE, ONE_JOB },       { "remove", NINO_CONTROL_REMOVE, MAYBE_JOB },
    { "retry", NINO_CONTROL_RETRY, ONE_JOB },     { "workflow", NINO_CONTROL_WORKFLOW, ONE_JOB },
    { "reload", NINO_CONTROL_RELOAD, NO_JOB },    { "trim", NINO_CONTROL_TRIM, NO_JOB },
    { "shutdown", NINO_CONTROL_SHUTDOWN, NO_JOB }
};

static bool job_number(const char *word, uint64_t *id)
{
    char *end;
    errno = 0;
    *id = strtoull(word, &end, 10);
    return *word >= '0' && *word <= '9' && !*end && !errno;
}

static int usage(const char *word, const char *what)
{
    say("jobs: %s needs %s (see ninodes help jobs)", word, what);
    return EXIT_USAGE;
}

// The request that the words make; EXIT_OK, or said what is wrong with them.
static int request_of(const options *o, nino_control *c)
{
    const char *word = o->arg[0];
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        const struct request *r = &requests[i];
        if (strcmp(word, r->word) != 0)
            continue;
        *c = (nino_control){ NINO_CONTROL_INIT, .cmd = r->cmd,
                             .position = o->front ? 1 : (int) o->position, .after_job = o->after };
        if (o->n_args > 1 + (r->needs != NO_JOB) + (r->needs == JOB_AND_VALUE))
            return usage(word, "fewer words");
        if (r->needs == NO_JOB || (r->needs == MAYBE_JOB && o->n_args == 1))
            return EXIT_OK;
        if (o->n_args < 2 || !job_number(o->arg[1], &c->job))
            return usage(word, "the number of a job");
        if (r->needs == JOB_AND_VALUE && o->n_args < 3)
            return usage(word, "NODE.INPUT=VALUE");
        c->assignment = r->needs == JOB_AND_VALUE ? o->arg[2] : NULL;
        return EXIT_OK;
    }
    say("jobs: %s is not one of ls, add, wait, show, pause, resume, cancel, set, move, remove, "
        "retry, workflow, reload, trim, shutdown",
        word);
    return EXIT_USAGE;
}

int cmd_jobs(const options *o)
{
    const char *word = o->n_args ? o->arg[0] : "ls";
    const bool is_ls = !strcmp(word, "ls"), is_add = !strcmp(word, "add");
    const bool is_wait = !strcmp(word, "wait"), is_show = !strcmp(word, "show");
    nino_error err = { .code = NINO_OK };
    nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING };
    uint64_t id = 0;
    int rc = EXIT_OK;
    if (o->queue)
        return queue_jobs(o);
    if (is_add && o->n_args != 2)
        return usage(word, "a WORKFLOW");
    if ((is_wait || is_show) && (o->n_args != 2 || !job_number(o->arg[1], &id)))
        return usage(word, "the number of a job");
    if (!is_ls && !is_add && !is_wait && !is_show && (rc = request_of(o, &c)))
        return rc;
    nino_attach *a = o->worker ? nino_attach_open(o->worker, &err) : attach_default(&err);
    if (!a)
        return report_error(o, "jobs", &err, "ninodes worker starts one");
    if (is_ls) {
        rc = cmd_jobs_list(o, a);
    } else if (is_add) {
        rc = cmd_jobs_add(o, a);
    } else if (is_wait) {
        rc = wait_for(o, a, id, false);
    } else if (is_show) {
        const nino_queue_job *j = cmd_jobs_find_job(first_queue(a), id);
        rc = j ? cmd_jobs_show(o, j) : no_job(o, id);
    } else {
        rc = ask(o, a, &c);
    }
    nino_attach_close(&a);
    return rc;
}
