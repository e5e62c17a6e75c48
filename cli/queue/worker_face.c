// A worker's side of the shared queue: takes a job from the stream, hands it to the worker of this
// process, and says how it stands. A job is the worker's while it says so every second; who is silent
// for --claim-after seconds loses it to another one.
//
// What a job writes goes into OUTPUT/.ID.WORKER, which becomes OUTPUT/ID, whole, when it has ended;
// only then the job is done for the queue. So files of a worker that died are nobody's, and those of a
// job that was done, but not said to be, are not made twice.
#include "queue/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 500, BEAT_MS = 1000, ANSWER_MS = 30000, CLAIM_S = 30 };

struct worker_face {
    queue *q;
    pthread_t thread;
    int stop; // atomic
    nino_attach *a;
    char me[100], output[PATH_MAX - 200];
    uint64_t claim_ms, return_max;
    bool is_quiet, was_away;
};

typedef struct face_job {
    const char *id;
    char part[PATH_MAX], whole[PATH_MAX]; // where files are until the end, and then
    uint64_t local;                       // its number here
} face_job;

static bool is_stopped(const worker_face *f) { return __atomic_load_n(&f->stop, __ATOMIC_ACQUIRE); }

static uint64_t face_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

// Said once each time that Redis goes away or comes back.
static void tell_away(worker_face *f, bool is_away)
{
    if (is_away && !f->was_away)
        say("worker: %s: %s; waiting until it answers", queue_shown(f->q), queue_error(f->q));
    else if (!is_away && f->was_away)
        say("worker: %s answers again", queue_shown(f->q));
    f->was_away = is_away;
}

// ---- files -------------------------------------------------------------------------------------

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void remove_folder(const char *path)
{
    char *const roots[] = { (char *) path, NULL };
    FTS *t = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; t && (e = fts_read(t));) {
        if (e->fts_info == FTS_DP)
            rmdir(e->fts_accpath);
        else if (e->fts_info != FTS_D)
            unlink(e->fts_accpath);
    }
    if (t)
        fts_close(t);
}

// What an attempt that was not ended has left.
static void remove_attempts(const worker_face *f, const char *id)
{
    char *const roots[] = { (char *) f->output, NULL };
    char start[64], path[PATH_MAX];
    const size_t n = (size_t) snprintf(start, sizeof(start), ".%s.", id);
    FTS *t = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *e = t ? fts_read(t) : NULL;
    for (e = e ? fts_children(t, FTS_NAMEONLY) : NULL; e; e = e->fts_link)
        if (!strncmp(e->fts_name, start, n)) {
            snprintf(path, sizeof(path), "%s/%.250s", f->output, e->fts_name);
            remove_folder(path);
        }
    if (t)
        fts_close(t);
}

// Paths of the files of a folder, sorted; NULL-terminated, to be freed one by one. NULL: out of memory.
static char **list_files(const char *dir)
{
    char *const roots[] = { (char *) dir, NULL };
    char **out = calloc(1, sizeof(*out));
    size_t n = 0;
    FTS *t = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *e; t && out && (e = fts_read(t));) {
        char **more = e->fts_info == FTS_F ? realloc(out, (n + 2) * sizeof(*out)) : NULL;
        if (!more)
            continue;
        out = more;
        if ((out[n] = strdup(e->fts_path)))
            n++;
        out[n] = NULL;
    }
    if (t)
        fts_close(t);
    return out;
}

static void free_files(char **file)
{
    for (char **p = file; p && *p; p++)
        free(*p);
    free(file);
}

static bool is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

// Its name is on the disk as well. Where the folder is there already, another worker has ended the job
// before: its files stay. False: *err says why there are none.
static bool make_whole(const worker_face *f, const face_job *j, nino_error *err)
{
    if (rename(j->part, j->whole) && !is_folder(j->whole)) {
        err->code = NINO_ERR_IO;
        snprintf(err->msg, sizeof(err->msg), "%.250s: %s", j->whole, strerror(errno));
        return false;
    }
    remove_folder(j->part);
    const int fd = open(f->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    return true;
}

static char *read_whole(const char *path, size_t max, size_t *len)
{
    FILE *in = fopen(path, "re");
    char *data = in ? malloc(max + 1) : NULL;
    *len = data ? fread(data, 1, max + 1, in) : 0;
    if (in)
        fclose(in);
    if (data && *len <= max)
        return data;
    free(data);
    return NULL;
}

// Small results also go to who asked for them. Without a shared folder there is no other way.
static void return_files(worker_face *f, const face_job *j, char *const *file)
{
    char key[400];
    uint64_t left = f->return_max;
    struct stat s;
    for (char *const *p = file; *p; p++) {
        if (stat(*p, &s) || (uint64_t) s.st_size > left)
            return;
        left -= (uint64_t) s.st_size;
    }
    snprintf(key, sizeof(key), "%s:files:%s", queue_stream(f->q), j->id);
    for (char *const *p = file; *p; p++) {
        size_t len[4] = { 4, strlen(key), 0, 0 };
        char *data = read_whole(*p, f->return_max, &len[3]);
        const char *word[] = { "HSET", key, *p + strlen(j->whole) + 1, data };
        len[2] = strlen(word[2]);
        redisReply *r = data ? queue_send(f->q, 4, word, len) : NULL;
        if (r)
            freeReplyObject(r);
        free(data);
    }
    const char *word[] = { "EXPIRE", key, "86400" };
    redisReply *r = *file ? queue_send(f->q, 3, word, NULL) : NULL;
    if (r)
        freeReplyObject(r);
}

// ---- the end of a job --------------------------------------------------------------------------

// Tries until the queue knows, or this worker is to end: then another one finds the files.
static void tell_end(worker_face *f, const face_job *j, const char *state, const char *error,
                     char *const *file)
{
    char answer[32] = "";
    size_t n = 0;
    while (file && file[n])
        n++;
    const char **arg = calloc(n + 5, sizeof(*arg));
    if (!arg)
        return; // then it is another worker's, which finds the files
    memcpy(arg, (const char *const[]){ j->id, f->me, state, error }, 4 * sizeof(*arg));
    for (size_t i = 0; i < n; i++)
        arg[4 + i] = file[i];
    while (!queue_script(f->q, queue_end_script, answer, sizeof(answer), arg) && !is_stopped(f)) {
        tell_away(f, true);
        poll(NULL, 0, BEAT_MS);
    }
    tell_away(f, false);
    free(arg);
    if (!f->is_quiet)
        say("worker: job %s: %s%s%s%s", j->id, strcmp(answer, "lost") ? state : "taken over",
            *error ? ": " : "", error, *answer ? "" : " (not told yet)");
}

static void end_done(worker_face *f, const face_job *j)
{
    char **file = list_files(j->whole);
    if (file)
        return_files(f, j, file);
    tell_end(f, j, "done", "", file);
    free_files(file);
}

static void end_failed(worker_face *f, const face_job *j, const nino_error *e)
{
    char text[600];
    snprintf(text, sizeof(text), "%s%s%s", e->where, *e->where ? ": " : "", e->msg);
    remove_folder(j->part);
    tell_end(f, j, "failed", text, NULL);
}

static void hand_back(worker_face *f, const face_job *j)
{
    char idle[32], answer[32];
    snprintf(idle, sizeof(idle), "%llu", (unsigned long long) f->claim_ms);
    const char *arg[] = { j->id, f->me, idle, NULL };
    queue_script(f->q, queue_release_script, answer, sizeof(answer), arg);
    remove_folder(j->part);
}

// ---- running -----------------------------------------------------------------------------------

static bool is_flag(worker_face *f, const char *id, const char *field)
{
    char text[8];
    return queue_field(f->q, id, field, text, sizeof(text)) && !strcmp(text, "1");
}

static bool queue_here(worker_face *f, face_job *j, nino_error *err)
{
    size_t len = 0;
    char name[300], precision[16];
    char *text = queue_long_field(f->q, j->id, "workflow", &len);
    nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .output_dir = j->part,
                            .no_profile = is_flag(f, j->id, "no_profile"),
                            .no_metadata = is_flag(f, j->id, "no_metadata") };
    queue_field(f->q, j->id, "name", name, sizeof(name));
    queue_field(f->q, j->id, "precision", precision, sizeof(precision));
    nino_precision_opt_find(precision, &jo.precision);
    const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE,
                             .workflow = text,  .workflow_bytes = len,
                             .name = name,      .options = &jo };
    nino_control_reply r;
    const bool ok = text && !nino_control_call(f->a, &c, ANSWER_MS, &r, err);
    if (!text)
        snprintf(err->msg, sizeof(err->msg), "it has no workflow");
    if (ok)
        j->local = r.job;
    free(text);
    return ok;
}

static void ask_here(worker_face *f, nino_control_cmd cmd, uint64_t job)
{
    const nino_control c = { NINO_CONTROL_INIT, .cmd = cmd, .job = job };
    nino_control_call(f->a, &c, ANSWER_MS, NULL, NULL);
}

static const nino_queue_job *local_job(worker_face *f, uint64_t id)
{
    const nino_queue *q = nino_control_queue(f->a);
    for (size_t i = 0; q && i < q->n_jobs; i++)
        if (q->jobs[i].id == id)
            return &q->jobs[i];
    return NULL;
}

// Says that the job is alive. False: it is to be given up; *is_lost: somebody else has it.
static bool beat(worker_face *f, const face_job *j, const progress *p, bool *is_lost)
{
    char text[300], answer[32] = "ok";
    progress_text(p, text, sizeof(text));
    const char *arg[] = { j->id, f->me, text, NULL };
    tell_away(f, !queue_script(f->q, queue_beat_script, answer, sizeof(answer), arg));
    *is_lost = !strcmp(answer, "lost");
    return !strcmp(answer, "ok");
}

// Until it has ended here. NULL: this worker is about to end, or *is_lost.
static const nino_queue_job *follow_here(worker_face *f, const face_job *j, progress *p,
                                         bool *is_lost)
{
    nino_event ev[256];
    uint64_t next = 0;
    for (;;) {
        size_t n = 0;
        const nino_status st = nino_attach_read(f->a, ev, 256, &n, NULL);
        progress_add(p, ev, n, nino_attach_name, f->a);
        const nino_queue_job *q = local_job(f, j->local);
        if (q && q->state >= NINO_QUEUE_DONE)
            return q;
        if (st || is_stopped(f))
            return NULL;
        if (face_now_ms() >= next) {
            next = face_now_ms() + BEAT_MS;
            if (!beat(f, j, p, is_lost))
                ask_here(f, NINO_CONTROL_CANCEL, j->local);
            if (*is_lost)
                return NULL;
        }
        struct pollfd w = { nino_attach_fd(f->a), POLLIN, 0 };
        if (!n)
            poll(&w, 1, 100);
    }
}

static void run_here(worker_face *f, face_job *j)
{
    nino_error e = { .code = NINO_OK };
    bool is_lost = false;
    remove_attempts(f, j->id);
    if (mkdir(j->part, 0777) && errno != EEXIST) {
        snprintf(e.msg, sizeof(e.msg), "%.300s: %s", j->part, strerror(errno));
        end_failed(f, j, &e);
        return;
    }
    if (!queue_here(f, j, &e)) {
        end_failed(f, j, &e);
        return;
    }
    progress *p = progress_create("", true, true);
    const nino_queue_job *q = p ? follow_here(f, j, p, &is_lost) : NULL;
    if (is_lost) {
        say("worker: job %s: another worker has it now", j->id);
        remove_folder(j->part);
    } else if (!q || (is_stopped(f) && q->state == NINO_QUEUE_CANCELLED)) {
        hand_back(f, j);
    } else if (q->state == NINO_QUEUE_DONE && make_whole(f, j, &e)) {
        end_done(f, j);
    } else if (q->state == NINO_QUEUE_DONE) {
        end_failed(f, j, &e);
    } else if (q->state == NINO_QUEUE_FAILED) {
        e = q->err;
        end_failed(f, j, &e);
    } else {
        remove_folder(j->part);
        tell_end(f, j, "cancelled", "", NULL);
    }
    progress_destroy(&p);
    ask_here(f, NINO_CONTROL_REMOVE, j->local);
}

static void take(worker_face *f, const char *id)
{
    char most[16], answer[32] = "";
    face_job j = { .id = id };
    snprintf(most, sizeof(most), "%d", QUEUE_MAX_ATTEMPTS);
    const char *arg[] = { id, f->me, most, NULL };
    if (!queue_is_id(id) || !queue_script(f->q, queue_begin_script, answer, sizeof(answer), arg) ||
        strcmp(answer, "run") != 0)
        return;
    snprintf(j.part, sizeof(j.part), "%s/.%.40s.%s", f->output, id, f->me);
    snprintf(j.whole, sizeof(j.whole), "%s/%.40s", f->output, id);
    if (!f->is_quiet)
        say("worker: job %s", id);
    if (is_folder(j.whole)) // who made it died before it could say so
        end_done(f, &j);
    else
        run_here(f, &j);
}

// ---- taking ------------------------------------------------------------------------------------

// The id of the first entry of a list of them; NULL: it is empty.
static const char *first_id(const redisReply *list)
{
    const redisReply *e =
        list && list->type == REDIS_REPLY_ARRAY && list->elements ? list->element[0] : NULL;
    return e && e->type == REDIS_REPLY_ARRAY && e->elements && e->element[0]->str
               ? e->element[0]->str
               : NULL;
}

// What a worker held that has been silent for too long. NULL: nothing.
static redisReply *claim(worker_face *f, const char **id)
{
    char idle[32];
    snprintf(idle, sizeof(idle), "%llu", (unsigned long long) f->claim_ms);
    const char *word[] = { "XAUTOCLAIM", queue_stream(f->q), "ninodes", f->me, idle, "0-0", "COUNT",
                           "1" };
    redisReply *r = queue_send(f->q, 8, word, NULL);
    *id = r && r->type == REDIS_REPLY_ARRAY && r->elements > 1 ? first_id(r->element[1]) : NULL;
    return r;
}

static redisReply *wait_for_new(worker_face *f, const char **id)
{
    char ms[16];
    snprintf(ms, sizeof(ms), "%d", WAIT_MS);
    const char *word[] = { "XREADGROUP", "GROUP", "ninodes", f->me,     "COUNT",
                           "1",          "BLOCK", ms,        "STREAMS", queue_stream(f->q),
                           ">" };
    redisReply *r = queue_send(f->q, 11, word, NULL);
    const redisReply *s = r && r->type == REDIS_REPLY_ARRAY && r->elements ? r->element[0] : NULL;
    *id = s && s->elements > 1 ? first_id(s->element[1]) : NULL;
    return r;
}

static bool make_group(worker_face *f)
{
    const char *word[] = { "XGROUP", "CREATE", queue_stream(f->q), "ninodes", "0", "MKSTREAM" };
    redisReply *r = queue_send(f->q, 6, word, NULL);
    const bool ok = r && (r->type != REDIS_REPLY_ERROR || strstr(r->str, "BUSYGROUP"));
    if (r)
        freeReplyObject(r);
    return ok;
}

static void *face_thread(void *priv)
{
    worker_face *f = priv;
    bool has_group = false;
    while (!is_stopped(f)) {
        const char *id = NULL;
        redisReply *r = NULL;
        if (has_group || (has_group = make_group(f))) {
            r = claim(f, &id);
            if (r && !id) {
                freeReplyObject(r);
                r = wait_for_new(f, &id);
            }
        }
        tell_away(f, !r);
        if (id && !is_stopped(f))
            take(f, id);
        else if (!r || r->type == REDIS_REPLY_ERROR) {
            has_group = false; // a stream that was removed is made again
            poll(NULL, 0, BEAT_MS);
        }
        if (r)
            freeReplyObject(r);
    }
    return NULL;
}

worker_face *worker_face_start(const options *o, const char *socket)
{
    nino_error err = { .code = NINO_OK };
    worker_face *f = calloc(1, sizeof(*f));
    const char *dir = o->output ? o->output : "output";
    char host[64] = "host", whole[PATH_MAX];
    uint32_t draw = 0;
    if (!f || !(f->q = queue_create("worker", o->queue)))
        goto failed;
    mkdir(dir, 0777);
    if (!realpath(dir, whole) || strlen(whole) >= sizeof(f->output)) {
        say("worker: %s: %s", dir, strerror(errno));
        goto failed;
    }
    memcpy(f->output, whole, strlen(whole) + 1);
    gethostname(host, sizeof(host) - 1);
    if (getrandom(&draw, sizeof(draw), 0) != sizeof(draw))
        draw = (uint32_t) face_now_ms();
    snprintf(f->me, sizeof(f->me), "%.50s-%d-%08x", host, (int) getpid(), draw);
    f->claim_ms = (o->claim_after ? o->claim_after : CLAIM_S) * 1000;
    f->return_max = o->return_max;
    f->is_quiet = o->quiet;
    if (!(f->a = nino_attach_open(socket, &err))) {
        report_error(o, "worker", &err, NULL);
        goto failed;
    }
    if (!pthread_create(&f->thread, NULL, face_thread, f))
        return f;
    say("worker: cannot start a thread");
failed:
    if (f && f->a)
        nino_attach_close(&f->a);
    if (f)
        queue_destroy(&f->q);
    free(f);
    return NULL;
}

void worker_face_stop(worker_face *f) { __atomic_store_n(&f->stop, 1, __ATOMIC_RELEASE); }

void worker_face_destroy(worker_face **pf)
{
    worker_face *f = *pf;
    if (!f)
        return;
    worker_face_stop(f);
    pthread_join(f->thread, NULL);
    nino_attach_close(&f->a);
    queue_destroy(&f->q);
    free(f);
    *pf = NULL;
}
