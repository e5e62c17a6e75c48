// ninodes jobs --queue: adds jobs to a shared queue in Redis, shows how they stand, waits for them.
#include "queue/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LOOK_MS = 250, MAX_LIST = 100 };

static int no_redis(const options *o, queue *q)
{
    say("jobs: %s: %s", queue_shown(q), queue_error(q));
    if (o->json)
        js_envelope_error("jobs", "lost", queue_error(q), queue_shown(q), NULL);
    return EXIT_LOST;
}

static int bad_job(const options *o, const char *id, const char *what)
{
    nino_error e = { .code = NINO_ERR_UNKNOWN, .kind = "unknown" };
    snprintf(e.where, sizeof(e.where), "job %.60s", id);
    snprintf(e.msg, sizeof(e.msg), "%s", what);
    return report_error(o, "jobs", &e, "ninodes jobs ls --queue URL lists them");
}

// ---- one job -----------------------------------------------------------------------------------

typedef struct seen_job {
    char state[16], name[200], worker[100], progress[300], error[600];
    long queued, started, ended, files;
} seen_job;

static bool look_at(queue *q, const char *id, seen_job *j)
{
    char number[24];
    const struct {
        const char *name;
        long *to;
    } field[] = { { "queued", &j->queued },
                  { "started", &j->started },
                  { "ended", &j->ended },
                  { "files", &j->files } };
    *j = (seen_job){ .files = 0 };
    if (!queue_field(q, id, "state", j->state, sizeof(j->state)) ||
        !queue_field(q, id, "name", j->name, sizeof(j->name)) ||
        !queue_field(q, id, "worker", j->worker, sizeof(j->worker)) ||
        !queue_field(q, id, "progress", j->progress, sizeof(j->progress)) ||
        !queue_field(q, id, "error", j->error, sizeof(j->error)))
        return false;
    for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
        if (!queue_field(q, id, field[i].name, number, sizeof(number)))
            return false;
        *field[i].to = strtol(number, NULL, 10);
    }
    return true;
}

static bool has_ended(const seen_job *j)
{
    return !strcmp(j->state, "done") || !strcmp(j->state, "failed") ||
           !strcmp(j->state, "cancelled");
}

static void job_members(queue *q, const char *id, const seen_job *j)
{
    char field[32], path[4200];
    js_text("id", id);
    js_text("state", j->state);
    js_text("name", j->name);
    js_text("worker", *j->worker ? j->worker : NULL);
    js_text("progress", *j->progress ? j->progress : NULL);
    js_int("queued", j->queued);
    js_int("started", j->started);
    js_int("ended", j->ended);
    js_open("outputs", '[');
    for (long i = 1; i <= j->files; i++) {
        snprintf(field, sizeof(field), "file:%ld", i);
        if (queue_field(q, id, field, path, sizeof(path)))
            js_text(NULL, path);
    }
    js_close(']');
    js_text("error", *j->error ? j->error : NULL);
}

// ---- files that came through Redis -------------------------------------------------------------

// Writes DIR/NAME and says where. Names come from another machine: they stay below DIR.
static bool write_file(const char *dir, const char *name, const char *data, size_t len)
{
    char path[4400];
    snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
    if (*name == '/' || strstr(name, "..")) {
        say("jobs: %s: is no name of a result", name);
        return false;
    }
    for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(path, 0777);
    }
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(data, 1, len, f) == len;
    if (f)
        ok = !fclose(f) && ok;
    if (ok)
        out_path(path);
    else
        say("jobs: %s: %s", path, strerror(errno));
    return ok;
}

static int fetch_files(const options *o, queue *q, const char *id)
{
    char key[400];
    snprintf(key, sizeof(key), "%s:files:%s", queue_stream(q), id);
    const char *word[] = { "HGETALL", key };
    redisReply *r = queue_send(q, 2, word, NULL);
    if (!r)
        return no_redis(o, q);
    bool ok = r->type == REDIS_REPLY_ARRAY && r->elements;
    if (!ok)
        bad_job(o, id,
                "its files are not in Redis: the worker has them (--return says up to which size "
                "they come back)");
    else
        mkdir(o->output, 0777);
    for (size_t i = 0; ok && i + 1 < r->elements; i += 2)
        ok = write_file(o->output, r->element[i]->str, r->element[i + 1]->str,
                        (size_t) r->element[i + 1]->len);
    freeReplyObject(r);
    return ok ? EXIT_OK : EXIT_MISSING;
}

static int show_job(const options *o, queue *q, const char *id, const seen_job *j)
{
    char field[32], path[4200];
    if (o->json) {
        js_envelope("jobs");
        js_open("jobs", '[');
        js_open(NULL, '{');
        job_members(q, id, j);
        js_close('}');
        js_close(']');
        js_envelope_end();
        return EXIT_OK;
    }
    if (o->output && j->files)
        return fetch_files(o, q, id);
    for (long i = 1; i <= j->files; i++) {
        snprintf(field, sizeof(field), "file:%ld", i);
        if (queue_field(q, id, field, path, sizeof(path)))
            out_path(path);
    }
    return EXIT_OK;
}

static int queue_wait(const options *o, queue *q, const char *id)
{
    char told[300] = "";
    for (;;) {
        seen_job j;
        if (!look_at(q, id, &j))
            return no_redis(o, q);
        if (!*j.state)
            return bad_job(o, id, "there is none of this id");
        if (!strcmp(j.state, "done"))
            return show_job(o, q, id, &j);
        if (has_ended(&j)) {
            nino_error e = { .code = *j.state == 'c' ? NINO_ERR_CANCELLED : NINO_ERR_IO };
            snprintf(e.where, sizeof(e.where), "job %.60s", id);
            snprintf(e.msg, sizeof(e.msg), "%.300s", *j.error ? j.error : j.state);
            return report_error(o, "jobs", &e, NULL);
        }
        if (!o->quiet && !o->json && *j.progress && strcmp(told, j.progress) != 0 && o->verbose)
            say("jobs: %s: %s", id, j.progress);
        snprintf(told, sizeof(told), "%s", j.progress);
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
    }
}

// ---- the commands ------------------------------------------------------------------------------

static int queue_list(const options *o, queue *q)
{
    char key[300], most[16];
    snprintf(key, sizeof(key), "%s:jobs", queue_stream(q));
    snprintf(most, sizeof(most), "%d", MAX_LIST - 1);
    const char *word[] = { "ZREVRANGE", key, "0", most };
    redisReply *r = queue_send(q, 4, word, NULL);
    if (!r || r->type == REDIS_REPLY_ERROR) {
        if (r)
            freeReplyObject(r);
        return no_redis(o, q);
    }
    if (o->json) {
        js_envelope("jobs");
        js_text("queue", queue_shown(q));
        js_open("jobs", '[');
    } else if (r->elements) {
        printf("%-18s %-9s %s\n", "JOB", "STATE", "NAME");
    }
    for (size_t i = 0; i < r->elements; i++) {
        const char *id = r->element[i]->str;
        seen_job j;
        if (!look_at(q, id, &j) || !*j.state)
            continue;
        if (o->json) {
            js_open(NULL, '{');
            job_members(q, id, &j);
            js_close('}');
        } else {
            printf("%-18s %-9s %s%s%s%s\n", id, j.state, j.name,
                   *j.progress || *j.error ? ": " : "", j.progress, j.error);
        }
    }
    if (o->json) {
        js_close(']');
        js_envelope_end();
    }
    freeReplyObject(r);
    return EXIT_OK;
}

static int queue_add(const options *o, queue *q)
{
    int rc = EXIT_OK;
    size_t len = 0;
    char id[64];
    options w = *o;
    w.arg[0] = o->arg[1];
    nino_graph *g = load_graph(&w, "jobs", &rc);
    if (!g)
        return rc;
    const char *text = o->object_info.n ? nino_graph_api_json(g, &len) : nino_graph_json(g, &len);
    const char *slash = strrchr(o->arg[1], '/');
    const char *arg[] = { slash ? slash + 1 : o->arg[1],        text,
                          o->precision ? o->precision : "auto", o->no_profile ? "1" : "0",
                          o->no_metadata ? "1" : "0",           NULL };
    if (!text || !len) {
        say("jobs: out of memory");
        rc = EXIT_NOMEM;
    } else if (!queue_script(q, queue_add_script, id, sizeof(id), arg)) {
        rc = no_redis(o, q);
    } else if (o->wait) {
        rc = queue_wait(o, q, id);
    } else if (o->json) {
        js_envelope("jobs");
        js_text("id", id);
        js_envelope_end();
    } else {
        printf("%s\n", id);
    }
    nino_graph_destroy(&g);
    return rc;
}

static int queue_cancel(const options *o, queue *q, const char *id)
{
    char state[32];
    const char *arg[] = { id, NULL };
    if (!queue_script(q, queue_cancel_script, state, sizeof(state), arg))
        return no_redis(o, q);
    if (!strcmp(state, "unknown"))
        return bad_job(o, id, "there is none of this id");
    if (strcmp(state, "cancelled") != 0 && strcmp(state, "asked") != 0)
        return bad_job(o, id, "it has ended already");
    return EXIT_OK;
}

int queue_jobs(const options *o)
{
    const char *word = o->n_args ? o->arg[0] : "ls";
    const bool is_ls = !strcmp(word, "ls"), is_add = !strcmp(word, "add");
    if (!one_of("ls|add|wait|show|cancel", word)) {
        say("jobs: %s: with --queue there are ls, add, wait, show and cancel", word);
        return EXIT_USAGE;
    }
    if (!is_ls && (o->n_args != 2 || (!is_add && !queue_is_id(o->arg[1])))) {
        say("jobs: %s needs %s", word, is_add ? "a WORKFLOW" : "the id of a job");
        return EXIT_USAGE;
    }
    queue *q = queue_create("jobs", o->queue);
    if (!q)
        return EXIT_USAGE;
    int rc = EXIT_OK;
    seen_job j;
    if (is_ls)
        rc = queue_list(o, q);
    else if (is_add)
        rc = queue_add(o, q);
    else if (!strcmp(word, "wait"))
        rc = queue_wait(o, q, o->arg[1]);
    else if (!strcmp(word, "cancel"))
        rc = queue_cancel(o, q, o->arg[1]);
    else if (!look_at(q, o->arg[1], &j))
        rc = no_redis(o, q);
    else
        rc = *j.state ? show_job(o, q, o->arg[1], &j)
                      : bad_job(o, o->arg[1], "there is none of this id");
    queue_destroy(&q);
    return rc;
}
