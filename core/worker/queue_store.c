// The folder that keeps a worker's queue.
#include "core/worker/queue_store.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/vars.h"
#include "core/base/num.h"
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define QUEUE_FILE "queue.json"

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
    else if (!(st = nino_file_mkdirs(s->dir, true, err)) && !(st = queue_store_take(s, err)))
        nino_file_sweep_parts(s->dir);
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

static void sweep(const nino_store *s, const nino_jobs *jobs)
{
    DIR *d = opendir(s->dir);
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));) {
        char number[24];
        uint64_t id;
        const size_t n = strlen(e->d_name);
        if (n < 10 || n > 30 || strncmp(e->d_name, "job-", 4) != 0 ||
            strcmp(e->d_name + n - 5, ".json") != 0)
            continue;
        snprintf(number, sizeof(number), "%.*s", (int) n - 9, e->d_name + 4);
        if (nino_parse_u64(number, &id) && !nino_jobs_find(jobs, id))
            remove_below(s, e->d_name);
    }
    closedir(d);
}

// One job of the stored queue. Its workflow may be missing only if somebody has removed the file.
static nino_status restore(nino_store *s, nino_jobs *jobs, const nino_queue_job *q, char *notice,
                           size_t size, nino_error *err)
{
    char name[40], *text = NULL;
    size_t len = 0;
    const bool did_run = q->state == NINO_QUEUE_RUNNING;
    const bool is_over = !did_run && q->state != NINO_QUEUE_WAITING;
    job_file(name, sizeof(name), q->id);
    nino_error e = { .code = NINO_OK };
    if (read_below(s, name, &text, &len, &e) && !is_over) {
        snprintf(notice, size, "job %llu (%.60s) is lost: %.120s", (unsigned long long) q->id,
                 q->name, e.msg);
        return NINO_OK;
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
        snprintf(notice, size, "the worker died while job %llu (%.60s) ran",
                 (unsigned long long) q->id, q->name);
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

nino_status nino_store_load(nino_store *s, nino_jobs *jobs, bool *paused, char *notice, size_t size,
                            nino_error *err)
{
    char *text = NULL;
    size_t len = 0;
    nino_error e = { .code = NINO_OK };
    notice[0] = 0;
    *paused = false;
    if (!s)
        return NINO_OK;
    nino_status st = read_below(s, QUEUE_FILE, &text, &len, &e);
    if (st == NINO_ERR_MISSING)
        return NINO_OK;
    nino_queue_view *v = st ? NULL : nino_queue_view_parse(text, len, &e);
    free(text);
    if (!v) {
        if (err)
            *err = e;
        return e.code;
    }
    uint64_t next = 0;
    for (size_t i = 0; i < v->q.n_jobs && !st; i++)
        st = restore(s, jobs, &v->q.jobs[i], notice, size, err);
    if (nino_json_u64(nino_json_get(v->doc->root, "next"), &next) && next > jobs->next_id)
        jobs->next_id = next;
    *paused = v->q.is_paused;
    nino_queue_view_destroy(&v);
    if (!st)
        sweep(s, jobs);
    return st;
}
