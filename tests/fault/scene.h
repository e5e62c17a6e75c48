// What writes files, for the tests of faults: each scene brings its folder into a known state, does
// one thing that changes files, and looks at what is there: the old state or the new one, both of
// them whole.
#pragma once
#include "core/media/image.h"
#include "core/media/video.h"
#include "core/sample/guide/resume.h"
#include "core/worker/queue_store.h"
#include "tests/fault/system.h"
#include "tests/unit/monitor/trace_run.h"
#include <ninodes/history.h>
#include <ninodes/serve.h>

#include <ftw.h>
#include <sys/stat.h>

enum { ACT_OK = 0, ACT_REFUSED = 3, ACT_WRONG = 4 }; // exit statuses of an act
enum { IS_OLD = 10, IS_NEW = 11 };                   // of a look

typedef struct scene {
    const char *name;
    int (*prepare)(void *priv);
    int (*act)(void *priv);
    int (*look)(void *priv);
    bool is_spare; // what it writes saves work only: it may succeed without it
    bool goes_on;  // from what is there, so that a second time leads further
} scene;

static char scene_root[40];
static char scene_now[160]; // what is being tried, said when a check fails

static inline void scene_say(void) { fputs(scene_now, stdout); }

static int scene_remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void) s;
    (void) type;
    return at->level ? remove(path) : 0;
}

static inline void scene_clear(void)
{
    nftw(scene_root, scene_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static pid_t scene_owner;

static inline void scene_end(void)
{
    if (getpid() != scene_owner)
        return;
    scene_clear();
    rmdir(scene_root);
}

static inline void scene_begin(void) // in memory where that can be: fsync would take the time
{
    snprintf(scene_root, sizeof(scene_root), "/dev/shm/ninodes-fault-XXXXXX");
    if (!mkdtemp(scene_root)) {
        snprintf(scene_root, sizeof(scene_root), "/tmp/ninodes-fault-XXXXXX");
        CHECK(mkdtemp(scene_root) != NULL);
    }
    scene_owner = getpid();
    atexit(scene_end);
    atexit(scene_say);
}

static inline const char *scene_path(const char *name)
{
    static char path[200];
    snprintf(path, sizeof(path), "%s/%s", scene_root, name);
    return path;
}

// The exit status of an act that ended with st: an error must be one line that says something.
static inline int act_end(nino_status st, const nino_error *e)
{
    if (!st)
        return ACT_OK;
    return e->code == st && e->msg[0] && !strchr(e->msg, '\n') ? ACT_REFUSED : ACT_WRONG;
}

// Runs it in a process of its own, as a start does, and returns its result.
static inline int apart(int (*act)(void *priv))
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        _exit(act(NULL));
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int scene_parts; // half-written files that are there

static int scene_count_part(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void) s;
    (void) type;
    (void) at;
    scene_parts += strstr(path, ".ninodes.part") != NULL;
    return 0;
}

static inline int scene_count_parts(void)
{
    scene_parts = 0;
    nftw(scene_root, scene_count_part, 16, FTW_PHYS);
    return scene_parts;
}

// ---- an output in the place of an older one ---------------------------------------------------

enum { OLD_BYTES = 9000, NEW_BYTES = 70000 };

static inline nino_status save_bytes(char c, size_t n, nino_error *e)
{
    char *text = malloc(n);
    CHECK(text);
    memset(text, c, n);
    const nino_status st = nino_file_save(scene_root, "out/a.bin", true, text, n, e);
    free(text);
    return st;
}

static int output_prepare(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    CHECK_OK(save_bytes('o', OLD_BYTES, &e), e);
    return 0;
}

static int output_act(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    return act_end(save_bytes('n', NEW_BYTES, &e), &e);
}

static int output_look(void *priv)
{
    (void) priv;
    nino_error e = { 0 };
    char *data = NULL;
    size_t n = 0;
    CHECK_OK(nino_file_read(scene_path("out/a.bin"), 1 << 20, false, &data, &n, &e), e);
    CHECK(n == OLD_BYTES || n == NEW_BYTES);
    for (size_t i = 0; i < n; i++)
        CHECK(data[i] == (n == NEW_BYTES ? 'n' : 'o'));
    free(data);
    return n == NEW_BYTES ? IS_NEW : IS_OLD;
}

// ---- clips, whose writers go back to fill in a count ------------------------------------------

static int scene_empty(void *priv)
{
    (void) priv;
    return 0;
}

static nino_status write_clip(nino_video_format format, const char *name, nino_error *e)
{
    const nino_video_params p = {
        .format = format, .width = 16, .height = 16, .fps = 8, .quality = 50
    };
    nino_file_writer *w = NULL;
    nino_video *v = NULL;
    uint8_t rgb[16 * 16 * 3] = { 0 };
    nino_status st = nino_file_writer_open(scene_root, name, true, &w, e);
    if (!st)
        st = nino_video_create(w, &p, &v, e);
    for (int i = 0; i < 3 && !st; i++) {
        memset(rgb, 80 * i, sizeof(rgb));
        st = nino_video_add(v, rgb, e);
    }
    if (!st)
        st = nino_video_finish(&v, e);
    nino_video_abort(&v);
    if (!st)
        st = nino_file_writer_commit(&w, false, e);
    nino_file_writer_abort(&w);
    return st;
}

static int clip_act(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    nino_status st = write_clip(NINO_VIDEO_APNG, "c.png", &e);
    if (!st)
        st = write_clip(NINO_VIDEO_WEBP, "c.webp", &e);
    return act_end(st, &e);
}

static int clip_look(void *priv)
{
    (void) priv;
    static const char *const names_of_clips[] = { "c.png", "c.webp" };
    int n_there = 0;
    for (int i = 0; i < 2; i++) {
        char *data = NULL;
        size_t n = 0;
        nino_image p;
        nino_error e = { 0 };
        if (access(scene_path(names_of_clips[i]), F_OK))
            continue;
        CHECK_OK(nino_file_read(scene_path(names_of_clips[i]), 1 << 20, false, &data, &n, &e), e);
        CHECK_OK(nino_image_read(data, n, names_of_clips[i], true, &p, &e), e);
        CHECK(p.frames == (i ? 3 : 1) && p.width == 16); // of a PNG its picture is read
        nino_image_release(&p);
        free(data);
        n_there++;
    }
    return n_there == 2 ? IS_NEW : IS_OLD;
}

// ---- traces: Chrome's appears whole, the others can be read at any time -----------------------

static const char *const trace_files[] = { "t.json.gz", "t.ninotrace", "t.pftrace" };

static int trace_act(void *priv)
{
    nino_error e = { 0 };
    nino_event ev[64];
    nino_status st = NINO_OK;
    const size_t n = a_run(ev);
    (void) priv;
    for (int i = 0; i < 3 && !st; i++) {
        nino_trace *t = nino_trace_create(scene_path(trace_files[i]), &e);
        if (!t)
            return act_end(e.code, &e);
        nino_trace_add(t, ev, n, name_of, NULL);
        st = nino_trace_finish(&t, &e);
    }
    return act_end(st, &e);
}

static int trace_look(void *priv)
{
    (void) priv;
    int n_whole = 0;
    for (int i = 0; i < 2; i++) { // Perfetto's is for other programs
        nino_error e = { 0 };
        nino_history *h = nino_history_create(4096);
        CHECK(h);
        if (!access(scene_path(trace_files[i]), F_OK)) {
            CHECK_OK(nino_history_load(h, scene_path(trace_files[i]), &e), e);
            n_whole += nino_history_count(h) >= 20;
        }
        nino_history_destroy(&h);
    }
    return n_whole == 2 && !access(scene_path(trace_files[2]), F_OK) ? IS_NEW : IS_OLD;
}

// ---- what is kept of a run, in the place of an older trace: whole in every form ----------------

static const char *const kept_files[] = { "k.ninotrace", "k.json", "k.json.gz", "k.pftrace" };
enum { N_KEPT = sizeof(kept_files) / sizeof(kept_files[0]), OLD_RECORDS = 40, NEW_RECORDS = 1500 };

// A job in which memory changes so many times less one.
static nino_history *kept_run(int n_records)
{
    nino_history *h = nino_history_create(4096);
    CHECK(h);
    for (int i = 0; i < n_records; i++) {
        const nino_event ev = i ? memory(1000 + (uint64_t) i * 100, (uint64_t) (i % 7) * 512)
                                : scope(1000, NINO_EV_JOB, 1, 1, 0);
        nino_history_add(h, &ev, 1, name_of, NULL);
    }
    return h;
}

static nino_status kept_save(int n_records, nino_error *e)
{
    nino_history *h = kept_run(n_records);
    nino_status st = NINO_OK;
    for (int i = 0; i < N_KEPT && !st; i++)
        st = nino_history_save(h, scene_path(kept_files[i]), e);
    nino_history_destroy(&h);
    return st;
}

static int kept_prepare(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    CHECK_OK(kept_save(OLD_RECORDS, &e), e);
    return 0;
}

static int kept_act(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    return act_end(kept_save(NEW_RECORDS, &e), &e);
}

static off_t kept_bytes(const char *path)
{
    struct stat s;
    CHECK(!stat(path, &s));
    return s.st_size;
}

// Perfetto's is for other programs: it is as long as one that is written apart, but for the process ids in it.
static bool kept_is_as_long(const char *path, int n_records)
{
    char apart_path[] = "/tmp/ninodes-kept-XXXXXX.pftrace";
    nino_error e = { 0 };
    const off_t bytes = kept_bytes(path);
    const int fd = mkstemps(apart_path, 8);
    nino_history *h = kept_run(n_records);
    CHECK(fd >= 0 && !close(fd));
    CHECK_OK(nino_history_save(h, apart_path, &e), e);
    const off_t off = bytes - kept_bytes(apart_path);
    CHECK(!unlink(apart_path));
    nino_history_destroy(&h);
    return off > -64 && off < 64;
}

static int kept_look(void *priv)
{
    (void) priv;
    int n_new = 0;
    for (int i = 0; i < N_KEPT - 1; i++) {
        nino_error e = { 0 };
        uint64_t n;
        size_t n_mem;
        nino_history *h = nino_history_create(4096);
        CHECK(h);
        CHECK_OK(nino_trace_check(scene_path(kept_files[i]), &n, &e), e);
        CHECK_OK(nino_history_load(h, scene_path(kept_files[i]), &e), e);
        nino_history_points(h, NINO_EV_MEM, &n_mem);
        CHECK(n_mem == OLD_RECORDS - 1 || n_mem == NEW_RECORDS - 1);
        n_new += n_mem == NEW_RECORDS - 1;
        nino_history_destroy(&h);
    }
    const char *last = scene_path(kept_files[N_KEPT - 1]);
    const bool is_new = kept_is_as_long(last, NEW_RECORDS);
    CHECK(is_new || kept_is_as_long(last, OLD_RECORDS));
    return n_new + is_new == N_KEPT ? IS_NEW : IS_OLD;
}

// ---- the queue of a worker --------------------------------------------------------------------

static nino_status queue_add(nino_store *s, nino_jobs *jobs, nino_error *e)
{
    static const char text[] = "{\"1\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{}}}";
    static const nino_job_options options = { NINO_JOB_OPTIONS_INIT };
    const nino_queue_job q = { .id = jobs->next_id++, .name = "w", .options = &options };
    nino_wjob *j = nino_wjob_create(&q, text, strlen(text));
    CHECK(j);
    const nino_status st = nino_store_save_workflow(s, j, e);
    nino_jobs_insert(jobs, j, 0);
    return st;
}

static nino_status queue_save(nino_store *s, nino_jobs *jobs, nino_error *e)
{
    nino_queue q = { .is_worker = 1 };
    q.jobs = nino_jobs_list(jobs, &q.n_jobs);
    CHECK(q.jobs);
    const nino_status st = nino_store_save(s, jobs, &q, e);
    free((nino_queue_job *) q.jobs);
    return st;
}

// Adds jobs; takes the first away when there are already some.
static int queue_act(void *priv)
{
    nino_error e = { 0 };
    nino_jobs jobs = { .next_id = 1 };
    nino_stored stored;
    nino_store *s = nino_store_open(scene_path("state"), &e);
    (void) priv;
    if (!s)
        return act_end(e.code, &e);
    nino_status st = nino_store_load(s, &jobs, &stored, &e);
    nino_wjob *first = st ? NULL : jobs.waiting;
    for (int i = 0; i < 2 && !st; i++)
        if (!(st = queue_add(s, &jobs, &e)))
            st = queue_save(s, &jobs, &e);
    if (!st && first) {
        const uint64_t id = first->q.id;
        nino_jobs_unlink(&jobs, first);
        nino_wjob_destroy(&first);
        if (!(st = queue_save(s, &jobs, &e)))
            nino_store_drop_workflow(s, id);
    }
    nino_jobs_release(&jobs);
    nino_store_close(&s);
    return act_end(st, &e);
}

static int queue_prepare(void *priv) { return queue_act(priv); }

// From the jobs 1, 2 over 3 and 4 to 2, 3, 4, nothing left out and nothing made up; further on the
// next time.
static int queue_look(void *priv)
{
    (void) priv;
    nino_error e = { 0 };
    nino_jobs jobs = { .next_id = 1 };
    nino_stored stored;
    unsigned there = 0;
    nino_store *s = nino_store_open(scene_path("state"), &e);
    CHECK_OK(s ? NINO_OK : e.code, e);
    CHECK_OK(nino_store_load(s, &jobs, &stored, &e), e);
    CHECK(!stored.is_rebuilt && !stored.notice[0]);
    for (const nino_wjob *j = jobs.waiting; j; j = j->next)
        there |= 1u << j->q.id;
    CHECK(there && there % 2 == 0 &&
          !((there / (there & -there)) & (there / (there & -there) + 1)));
    nino_jobs_release(&jobs);
    nino_store_close(&s);
    return there == 0x1c ? IS_NEW : IS_OLD;
}

// ---- steps of a sampling ----------------------------------------------------------------------

enum { N_STEPS = 3, STEP_FLOATS = 300 };

static nino_resume *steps_open(void)
{
    const nino_resume_place at = { .dir = scene_path("steps"), .key = { 1, 2 }, .goes_on = true };
    return nino_resume_open(&at, STEP_FLOATS, NULL);
}

static void step_values(int i, float *v)
{
    for (int k = 0; k < STEP_FLOATS; k++)
        v[k] = (float) (i * 1000 + k);
}

static int steps_act(void *priv)
{
    float x[STEP_FLOATS], y[STEP_FLOATS], z[STEP_FLOATS];
    (void) priv;
    nino_resume *r = steps_open();
    for (int i = 0; i < N_STEPS; i++) {
        step_values(i, x);
        step_values(-i, y);
        if (!nino_resume_take(r, x, i, z, NULL))
            nino_resume_add(r, x, i, y, NULL);
        else if (memcmp(y, z, sizeof(y)) != 0)
            return ACT_WRONG;
    }
    nino_resume_close(&r, true);
    return ACT_OK;
}

static int steps_look(void *priv)
{
    (void) priv;
    float x[STEP_FLOATS], y[STEP_FLOATS], z[STEP_FLOATS];
    int n = 0;
    nino_resume *r = steps_open();
    CHECK(r);
    for (; n < N_STEPS; n++) {
        step_values(n, x);
        step_values(-n, y);
        if (!nino_resume_take(r, x, n, z, NULL))
            break;
        CHECK(!memcmp(y, z, sizeof(y)));
    }
    nino_resume_close(&r, true);
    return n == N_STEPS ? IS_NEW : IS_OLD;
}

// ---- what a browser keeps with the HTTP server ------------------------------------------------

static nino_serve *served(nino_error *e)
{
    char dir[3][80];
    static const char *const sub[] = { "in", "out", "user" };
    for (int i = 0; i < 3; i++) {
        snprintf(dir[i], sizeof(dir[i]), "%s/%s", scene_root, sub[i]);
        if (nino_file_mkdirs(dir[i], false, e))
            return NULL;
    }
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT,
                                  .models = (const char *const[]){ dir[0], NULL },
                                  .input_dir = dir[0], .output_dir = dir[1] };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = dir[2] };
    return nino_serve_create(&p, e);
}

// The status of the answer; *text, if not NULL, becomes its body.
static int served_ask(nino_serve *s, const char *method, const char *target, const char *body,
                      char *text, size_t size)
{
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT,
                                  .method = method,
                                  .target = target,
                                  .host = "localhost",
                                  .content_type = "application/json",
                                  .body = body,
                                  .body_bytes = strlen(body) };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
    CHECK(a);
    const int status = a->status;
    if (text && a->fd < 0)
        snprintf(text, size, "%.*s", (int) a->bytes, (const char *) a->body);
    else if (text) {
        const ssize_t n = pread(a->fd, text, size - 1, 0);
        text[n > 0 ? n : 0] = 0;
    }
    nino_serve_drop(&c);
    return status;
}

static int serve_act(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    nino_serve *s = served(&e);
    if (!s)
        return act_end(e.code, &e);
    const int a = served_ask(s, "POST", "/settings", "{\"a.b\":2,\"c\":\"new\"}", NULL, 0);
    const int b = served_ask(s, "POST", "/userdata/w.json", "{\"new\":1}", NULL, 0);
    nino_serve_destroy(&s);
    return a == 200 && b == 200 ? ACT_OK : a >= 400 || b >= 400 ? ACT_REFUSED : ACT_WRONG;
}

static int serve_prepare(void *priv)
{
    nino_error e = { 0 };
    (void) priv;
    nino_serve *s = served(&e);
    CHECK_OK(s ? NINO_OK : e.code, e);
    CHECK(served_ask(s, "POST", "/settings", "{\"a.b\":1}", NULL, 0) == 200);
    CHECK(served_ask(s, "POST", "/userdata/w.json", "{\"old\":1}", NULL, 0) == 200);
    nino_serve_destroy(&s);
    return 0;
}

static int serve_look(void *priv)
{
    (void) priv;
    nino_error e = { 0 };
    char settings[200], file[200];
    nino_serve *s = served(&e);
    CHECK_OK(s ? NINO_OK : e.code, e);
    CHECK(served_ask(s, "GET", "/settings", "", settings, sizeof(settings)) == 200);
    CHECK(served_ask(s, "GET", "/userdata/w.json", "", file, sizeof(file)) == 200);
    nino_serve_destroy(&s);
    const bool is_new = strstr(settings, "\"new\"") != NULL;
    CHECK(is_new || (strstr(settings, "a.b") && strstr(settings, "1")));
    CHECK(!strcmp(file, "{\"new\":1}") || !strcmp(file, "{\"old\":1}"));
    return is_new && !strcmp(file, "{\"new\":1}") ? IS_NEW : IS_OLD;
}

static const scene scenes[] = {
    { "output", output_prepare, output_act, output_look, false, false },
    { "clips", scene_empty, clip_act, clip_look, false, false },
    { "traces", scene_empty, trace_act, trace_look, false, false },
    { "kept runs", kept_prepare, kept_act, kept_look, false, false },
    { "queue", queue_prepare, queue_act, queue_look, false, true },
    { "steps", scene_empty, steps_act, steps_look, true, false },
    { "serve", serve_prepare, serve_act, serve_look, false, false },
};
enum { N_SCENES = sizeof(scenes) / sizeof(scenes[0]) };
