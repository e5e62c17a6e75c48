// The folder that keeps a worker's queue.
#include "core/worker/queue_store.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_walk.h"
#include "core/base/vars.h"
#include "core/base/num.h"
#include "core/workflow/workflow.h"
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define QUEUE_FILE "queue.json"
#define MAX_ID ((uint64_t) 1 << 53) // of a job; beyond it somebody has made the number up

struct nino_store {
    char *dir;
    int lock_fd;
};

// ---- the folder --------------------------------------------------------------------------------

// NULL: there is none, or no memory.
static char *find_dir(const char *dir)
{
    char path[4096];
    return nino_state_dir(dir, path, sizeof(path)) ? strdup(path) : NULL;
}

static void lock_path(nino_buf *path, const char *dir)
{
    nino_buf_addf(path, "%s/worker.lock", dir);
}

// Takes the lock and says in the file who has it.
static nino_status queue_store_take(nino_store *s, nino_error *err)
{
    nino_buf path = { 0 };
    lock_path(&path, s->dir);
    nino_status st = NINO_OK;
    if (path.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, s->dir, "out of memory");
    else if ((s->lock_fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) < 0)
        st = nino_fail(err, NINO_ERR_IO, path.data, "%s", strerror(errno));
    else if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
        st = errno == EWOULDBLOCK ? nino_fail_kind(err, NINO_ERR_IO, "busy", s->dir,
                                                   "another worker keeps its queue there")
                                  : nino_fail(err, NINO_ERR_IO, path.data, "%s", strerror(errno));
    else if (ftruncate(s->lock_fd, 0) || dprintf(s->lock_fd, "%d\n", (int) getpid()) < 0)
        st = nino_fail(err, NINO_ERR_IO, path.data, "cannot be written: %s", strerror(errno));
    nino_buf_release(&path);
    return st;
}

int nino_store_owner(const char *dir)
{
    nino_buf path = { 0 };
    char text[16] = "";
    int pid = 0;
    char *own = find_dir(dir);
    if (own)
        lock_path(&path, own);
    const int fd =
        path.data && !path.failed ? open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    // Shared: two who ask at the same time do not take each other for a worker.
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK &&
        pread(fd, text, sizeof(text) - 1, 0) > 0)
        pid = (int) strtol(text, NULL, 10);
    if (fd >= 0)
        close(fd);
    nino_buf_release(&path);
    free(own);
    return pid > 0 ? pid : 0;
}

nino_store *nino_store_open(const char *dir, nino_error *err)
{
    nino_store *s = calloc(1, sizeof(*s));
    if (!s) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    s->lock_fd = -1;
    s->dir = find_dir(dir);
    nino_status st = NINO_OK;
    if (!s->dir)
        st = dir ? nino_fail(err, NINO_ERR_NOMEM, "", "out of memory")
                 : nino_fail(err, NINO_ERR_MISSING, "HOME",
                             "is not set, nor is XDG_STATE_HOME: no place to keep the queue");
    else if (!(st = nino_file_mkdirs(s->dir, true, err)))
        st = queue_store_take(s, err);
    if (st)
        nino_store_close(&s);
    return s;
}

void nino_store_close(nino_store **store)
{
    nino_store *s = *store;
    if (!s)
        return;
    if (s->lock_fd >= 0)
        close(s->lock_fd); // the lock goes with it; the file stays, or two could hold "the" lock
    free(s->dir);
    free(s);
    *store = NULL;
}

const char *nino_store_dir(const nino_store *s) { return s ? s->dir : ""; }

// ---- writing -----------------------------------------------------------------------------------

static void job_file(char *buf, size_t size, uint64_t id)
{
    snprintf(buf, size, "job-%llu.json", (unsigned long long) id);
}

nino_status nino_store_save_workflow(nino_store *s, const nino_wjob *j, nino_error *err)
{
    char name[40];
    if (!s)
        return NINO_OK;
    job_file(name, sizeof(name), j->q.id);
    return nino_file_save(s->dir, name, true, j->workflow, j->workflow_bytes, err);
}

static void remove_below(const nino_store *s, const char *name)
{
    nino_buf path = { 0 };
    nino_buf_addf(&path, "%s/%s", s->dir, name);
    if (!path.failed)
        unlink(path.data);
    nino_buf_release(&path);
}

void nino_store_drop_workflow(nino_store *s, uint64_t id)
{
    char name[40];
    if (!s)
        return;
    job_file(name, sizeof(name), id);
    remove_below(s, name);
}

nino_status nino_store_save(nino_store *s, const nino_jobs *jobs, const nino_queue *q,
                            nino_error *err)
{
    nino_buf b = { 0 };
    if (!s)
        return NINO_OK;
    nino_queue_write(&b, q);
    if (b.len)
        b.len--; // one more member
    nino_json_add_u64(&b, "next", jobs->next_id);
    nino_buf_adds(&b, "}\n");
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, QUEUE_FILE, "out of memory")
                                    : nino_file_save(s->dir, QUEUE_FILE, true, b.data, b.len, err);
    nino_buf_release(&b);
    return st;
}

// ---- reading -----------------------------------------------------------------------------------

static nino_status read_below(const nino_store *s, const char *name, char **data, size_t *len,
                              nino_error *err)
{
    nino_buf path = { 0 };
    nino_buf_addf(&path, "%s/%s", s->dir, name);
    const nino_status st = path.failed ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                                       : nino_file_read(path.data, 64 << 20, false, data, len, err);
    nino_buf_release(&path);
    return st;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

// A file that could not be read now (no descriptor, an error of the disk, no permission) but may be
// whole: nothing must be made of that.
static bool is_unreadable(nino_status st, const nino_error *e)
{
    return st == NINO_ERR_IO && strcmp(e->kind, "path") != 0;
}

// The numbers of the workflows in the folder, ascending; malloc'd. NULL: errno says why not.
static uint64_t *list_workflows(const nino_store *s, size_t *n)
{
    size_t cap = 16;
    uint64_t *list = malloc(cap * sizeof(*list));
    DIR *d = opendir(s->dir);
    *n = 0;
    for (const struct dirent *e; d && list && (e = readdir(d));) {
        char number[24];
        uint64_t id;
        const size_t len = strlen(e->d_name);
        if (len < 10 || len > 30 || strncmp(e->d_name, "job-", 4) != 0 ||
            strcmp(e->d_name + len - 5, ".json") != 0)
            continue;
        snprintf(number, sizeof(number), "%.*s", (int) len - 9, e->d_name + 4);
        if (!nino_parse_u64(number, &id) || !id || id > MAX_ID)
            continue;
        if (*n == cap) {
            uint64_t *more = realloc(list, 2 * cap * sizeof(*list));
            if (!more)
                free(list);
            list = more;
            cap *= 2;
        }
        if (list)
            list[(*n)++] = id;
    }
    if (d)
        closedir(d);
    else
        free(list);
    if (!d)
        return NULL;
    if (list)
        qsort(list, *n, sizeof(*list), by_number);
    return list;
}

// Workflows of jobs that are in no list any more.
static void sweep(const nino_store *s, const nino_jobs *jobs)
{
    size_t n;
    uint64_t *list = list_workflows(s, &n);
    for (size_t i = 0; list && i < n; i++)
        if (!nino_jobs_find(jobs, list[i]))
            nino_store_drop_workflow((nino_store *) s, list[i]);
    free(list);
}

// Gives a file that cannot be used a name of its own, which nothing here touches again: NAME.damaged,
// or with a number behind it.
static nino_status set_aside(const nino_store *s, const char *name, char *aside, size_t size,
                             nino_error *err)
{
    nino_buf from = { 0 }, to = { 0 };
    bool is_free = false;
    nino_buf_addf(&from, "%s/%s", s->dir, name);
    for (int i = 1; i < 1000 && !is_free && !to.failed; i++) {
        snprintf(aside, size, i == 1 ? "%s.damaged" : "%s.damaged-%d", name, i);
        nino_buf_clear(&to);
        nino_buf_addf(&to, "%s/%s", s->dir, aside);
        is_free = !to.failed && access(to.data, F_OK) && errno == ENOENT;
    }
    nino_status st = NINO_OK;
    if (from.failed || to.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    else if (!is_free || rename(from.data, to.data))
        st = nino_fail(err, NINO_ERR_IO, from.data, "is damaged, and cannot be set aside: %s",
                       is_free ? strerror(errno) : "too many of the kind");
    nino_buf_release(&from);
    nino_buf_release(&to);
    return st;
}

// One more thing to say; the first ones count when there is no room.
__attribute__((format(printf, 2, 3))) static void note(nino_stored *out, const char *fmt, ...)
{
    const size_t n = strlen(out->notice);
    va_list ap;
    va_start(ap, fmt);
    if (n + 40 < sizeof(out->notice)) {
        snprintf(out->notice + n, sizeof(out->notice) - n, "%s", n ? "; " : "");
        vsnprintf(out->notice + strlen(out->notice), sizeof(out->notice) - strlen(out->notice), fmt,
                  ap);
    }
    va_end(ap);
}

// A workflow that is in the folder as a job that waits: what else there was to know is lost.
// NINO_ERR_FORMAT and NINO_ERR_IO: it cannot be used.
static nino_status rebuild_job(nino_store *s, nino_jobs *jobs, uint64_t id, nino_error *err)
{
    static const nino_job_options none = { NINO_JOB_OPTIONS_INIT };
    char name[40], *text = NULL;
    size_t len = 0;
    job_file(name, sizeof(name), id);
    nino_status st = read_below(s, name, &text, &len, err);
    nino_graph *g = st ? NULL : nino_graph_load(text, len, name, err);
    if (!st && !g)
        st = err->code == NINO_ERR_NOMEM ? NINO_ERR_NOMEM : NINO_ERR_FORMAT;
    if (!st) {
        const nino_queue_job q = { .id = id,
                                   .state = NINO_QUEUE_WAITING,
                                   .name = name,
                                   .n_nodes = (uint32_t) nino_graph_nodes(g, NULL, 0),
                                   .options = &none };
        nino_wjob *j = nino_wjob_create(&q, text, len);
        if (j)
            nino_jobs_insert(jobs, j, 0);
        else
            st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    nino_graph_destroy(&g);
    free(text);
    return st;
}

// The queue anew from the workflows that are there, in the order in which they were queued.
static nino_status rebuild(nino_store *s, nino_jobs *jobs, const char *why, nino_stored *out,
                           nino_error *err)
{
    size_t n, n_jobs = 0, n_bad = 0;
    char aside[64];
    nino_status st = NINO_OK;
    uint64_t *list = list_workflows(s, &n);
    if (!list)
        return nino_file_errno(err, s->dir, "cannot be listed");
    for (size_t i = 0; i < n && !st; i++) {
        nino_error e = { .code = NINO_OK };
        char name[40];
        st = rebuild_job(s, jobs, list[i], &e);
        if (st == NINO_ERR_NOMEM || is_unreadable(st, &e)) {
            if (err)
                *err = e;
            break;
        }
        job_file(name, sizeof(name), list[i]);
        n_bad += st != NINO_OK;
        n_jobs += st == NINO_OK;
        st = st ? set_aside(s, name, aside, sizeof(aside), err) : NINO_OK;
        jobs->next_id = list[i] + 1;
    }
    free(list);
    if (st)
        return st;
    note(out, "%s: %zu %s again; names, options and which of them had ended are lost", why, n_jobs,
         n_jobs == 1 ? "job waits" : "jobs wait");
    if (n_bad)
        note(out, "%zu damaged %s aside: job-*.json.damaged", n_bad,
             n_bad == 1 ? "workflow is set" : "workflows are set");
    out->is_rebuilt = true;
    return NINO_OK;
}

// One job of the stored queue. Its workflow may be missing only if somebody has removed the file. err: not NULL.
static nino_status restore(nino_store *s, nino_jobs *jobs, const nino_queue_job *q,
                           nino_stored *out, nino_error *err)
{
    char name[40], aside[64], *text = NULL;
    size_t len = 0;
    const bool did_run = q->state == NINO_QUEUE_RUNNING;
    const bool is_over = !did_run && q->state != NINO_QUEUE_WAITING;
    job_file(name, sizeof(name), q->id);
    nino_error e = { .code = NINO_OK };
    const nino_status st = read_below(s, name, &text, &len, &e);
    if (st == NINO_ERR_NOMEM || q->id > MAX_ID || nino_jobs_find(jobs, q->id)) {
        free(text);
        return st == NINO_ERR_NOMEM
                   ? nino_fail(err, st, name, "out of memory")
                   : nino_fail(err, NINO_ERR_FORMAT, QUEUE_FILE,
                               "job %llu is there twice, or cannot be", (unsigned long long) q->id);
    }
    if (is_unreadable(st, &e) && !is_over) {
        free(text);
        *err = e;
        return st;
    }
    if (st && !is_over) {
        note(out, "job %llu (%.60s) is lost: %.80s", (unsigned long long) q->id, q->name, e.msg);
        return st == NINO_ERR_MISSING ? NINO_OK : set_aside(s, name, aside, sizeof(aside), err);
    }
    nino_wjob *j = nino_wjob_create(q, text, len);
    free(text);
    if (!j)
        return nino_fail(err, NINO_ERR_NOMEM, s->dir, "out of memory");
    j->q.scope = 0; // of another process
    if (did_run) {
        j->q.state = NINO_QUEUE_WAITING;
        j->q.started_s = 0;
        j->q.lost++;
        note(out, "the worker died while job %llu (%.60s) ran", (unsigned long long) q->id,
             q->name);
    }
    if (is_over) { // they come newest first
        nino_wjob **at = &jobs->finished;
        while (*at)
            at = &(*at)->next;
        *at = j;
    } else {
        nino_jobs_insert(jobs, j, 0);
    }
    if (jobs->next_id <= j->q.id)
        jobs->next_id = j->q.id + 1;
    return NINO_OK;
}

// The queue as it was stored. NINO_ERR_FORMAT: it is damaged; jobs may have been added.
static nino_status load_queue(nino_store *s, nino_jobs *jobs, const char *text, size_t len,
                              nino_stored *out, nino_error *err)
{
    uint64_t next = 0;
    nino_status st = NINO_OK;
    nino_queue_view *v = nino_queue_view_parse(text, len, err);
    if (!v)
        return err->code == NINO_ERR_NOMEM ? NINO_ERR_NOMEM : NINO_ERR_FORMAT;
    for (size_t i = 0; i < v->q.n_jobs && !st; i++)
        st = restore(s, jobs, &v->q.jobs[i], out, err);
    if (nino_json_u64(nino_json_get(v->doc->root, "next"), &next) && next > jobs->next_id &&
        next <= MAX_ID)
        jobs->next_id = next;
    out->is_paused = v->q.is_paused;
    nino_queue_view_destroy(&v);
    return st;
}

// Sets a damaged queue aside and begins anew; e says what is wrong with it.
static nino_status load_damaged(nino_store *s, nino_jobs *jobs, const nino_error *e,
                                nino_stored *out, nino_error *err)
{
    char aside[64], why[200];
    const nino_status st = set_aside(s, QUEUE_FILE, aside, sizeof(aside), err);
    if (st)
        return st;
    nino_jobs_release(jobs);
    *jobs = (nino_jobs){ .next_id = 1 };
    *out = (nino_stored){ .is_paused = false };
    snprintf(why, sizeof(why), QUEUE_FILE " was damaged (%.80s) and is %s now", e->msg, aside);
    return rebuild(s, jobs, why, out, err);
}

nino_status nino_store_load(nino_store *s, nino_jobs *jobs, nino_stored *out, nino_error *err)
{
    char *text = NULL;
    size_t len = 0, n = 0;
    nino_error e = { .code = NINO_OK };
    *out = (nino_stored){ .is_paused = false };
    if (!s)
        return NINO_OK;
    nino_status st = read_below(s, QUEUE_FILE, &text, &len, &e);
    if (st == NINO_ERR_MISSING) {
        uint64_t *list = list_workflows(s, &n);
        if (!list)
            return nino_file_errno(err, s->dir, "cannot be listed");
        free(list);
        return n ? rebuild(s, jobs, QUEUE_FILE " was missing", out, err) : NINO_OK;
    }
    if (!st)
        st = load_queue(s, jobs, text, len, out, &e);
    free(text);
    if (st == NINO_ERR_FORMAT)
        return load_damaged(s, jobs, &e, out, err);
    if (st && err)
        *err = e;
    if (!st)
        sweep(s, jobs);
    return st;
}
