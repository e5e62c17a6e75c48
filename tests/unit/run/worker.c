// The worker's lists and what it keeps on disk: order, limits, what is there again after a crash,
// and what happens to files that somebody has damaged.
#include "core/monitor/link/queue_view.h"
#include "core/worker/queue_store.h"
#include "tests/test.h"

#include <sys/stat.h>
#include <sys/wait.h>

static char root[64];
static nino_error err;

static nino_wjob *make(nino_jobs *jobs, const char *name)
{
    static const char *const models[] = { "/m/one", "/m/two", NULL };
    const nino_job_options options = { NINO_JOB_OPTIONS_INIT, .models = models,
                                       .output_dir = "/o",    .precision = NINO_PRECISION_BF16,
                                       .preview_every = 4,    .preview_share = 0.07 };
    const nino_queue_job q = { .id = jobs->next_id++,
                               .name = name,
                               .n_nodes = 3,
                               .queued_s = 1700000000.25,
                               .options = &options };
    nino_wjob *j = nino_wjob_create(&q, name, strlen(name));
    CHECK(j);
    return j;
}

// "running|waiting,waiting|finished"
static const char *order(const nino_jobs *jobs)
{
    static char text[4096];
    size_t n = 0, len;
    nino_queue_job *list = nino_jobs_list(jobs, &n);
    CHECK(list);
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        len = strlen(text);
        snprintf(text + len, sizeof(text) - len, "%s%s:%s", i ? " " : "", list[i].name,
                 nino_queue_state_name(list[i].state));
    }
    free(list);
    return text;
}

static void test_lists(void)
{
    nino_jobs jobs = { .next_id = 1 };
    nino_wjob *a = make(&jobs, "a"), *b = make(&jobs, "b"), *c = make(&jobs, "c");
    nino_jobs_insert(&jobs, a, 0);
    nino_jobs_insert(&jobs, b, 0);
    nino_jobs_insert(&jobs, c, 2);
    CHECK_STR(order(&jobs), "a:waiting c:waiting b:waiting");
    nino_jobs_unlink(&jobs, b);
    nino_jobs_insert(&jobs, b, 1);
    nino_jobs_unlink(&jobs, a);
    nino_jobs_insert(&jobs, a, 99);
    CHECK_STR(order(&jobs), "b:waiting c:waiting a:waiting");
    CHECK(nino_jobs_find(&jobs, 3) == c && !nino_jobs_find(&jobs, 4));
    CHECK(c->q.options->models && !c->q.options->input_dir);
    CHECK_STR(c->q.options->models[1], "/m/two");
    CHECK(!c->q.options->models[2]);
    nino_jobs_unlink(&jobs, b);
    jobs.running = b;
    b->q.state = NINO_QUEUE_RUNNING;
    CHECK_STR(order(&jobs), "b:running c:waiting a:waiting");
    for (int i = 0; i < NINO_JOBS_KEPT + 2; i++) {
        nino_wjob *j = make(&jobs, "x");
        j->q.state = NINO_QUEUE_DONE;
        nino_wjob *extra = nino_jobs_finish(&jobs, j);
        CHECK((extra != NULL) == (i >= NINO_JOBS_KEPT));
        CHECK(!extra || extra->q.id == (uint64_t) (4 + i - NINO_JOBS_KEPT));
        nino_wjob_destroy(&extra);
    }
    CHECK(nino_jobs_find(&jobs, 2) == b);
    nino_jobs_release(&jobs);
    CHECK_STR(order(&jobs), "");
}

static void save(nino_store *s, const nino_jobs *jobs, bool is_paused)
{
    nino_queue q = { .is_worker = 1, .is_paused = is_paused };
    q.jobs = nino_jobs_list(jobs, &q.n_jobs);
    CHECK(q.jobs);
    CHECK_OK(nino_store_save(s, jobs, &q, &err), err);
    free((nino_queue_job *) q.jobs);
}

static nino_stored stored;
static nino_status load(nino_store *s, nino_jobs *jobs)
{
    *jobs = (nino_jobs){ .next_id = 1 };
    return nino_store_load(s, jobs, &stored, &err);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static bool exists(const char *dir, const char *name)
{
    char path[200];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return !lstat(path, &st);
}

static void test_store(void)
{
    char dir[100];
    nino_jobs jobs = { .next_id = 1 }, again;
    snprintf(dir, sizeof(dir), "%s/deep/state", root);
    nino_store *s = nino_store_open(dir, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK(!nino_store_open(dir, &err) && !strcmp(err.kind, "busy"));
    CHECK_OK(load(s, &again), err); // nothing stored is an empty queue
    CHECK(!stored.is_paused && !stored.notice[0] && !again.waiting && again.next_id == 1);

    nino_wjob *a = make(&jobs, "a"), *b = make(&jobs, "b"), *c = make(&jobs, "c");
    CHECK_OK(nino_store_save_workflow(s, a, &err), err);
    CHECK_OK(nino_store_save_workflow(s, b, &err), err);
    CHECK_OK(nino_store_save_workflow(s, c, &err), err);
    jobs.running = a;
    a->q.state = NINO_QUEUE_RUNNING;
    a->q.scope = 17;
    CHECK(nino_wjob_add_output(a, "/o/one.png"));
    nino_jobs_insert(&jobs, b, 0);
    c->q.state = NINO_QUEUE_FAILED;
    c->q.err.code = NINO_ERR_RANGE;
    snprintf(c->q.err.where, sizeof(c->q.err.where), "3.steps");
    snprintf(c->q.err.msg, sizeof(c->q.err.msg), "is \"odd\"");
    CHECK(nino_wjob_add_text(c, &(nino_job_text){ "4", "title", "two\nlines" }));
    CHECK(!nino_jobs_finish(&jobs, c));
    jobs.next_id = 40;
    save(s, &jobs, false);
    write_file(dir, "job-39.json", "{}"); // of a job that was never in the queue
    nino_store_close(&s);

    // after a crash
    s = nino_store_open(dir, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK_OK(load(s, &again), err);
    CHECK_STR(order(&again), "a:waiting b:waiting c:failed");
    CHECK(again.next_id == 40 && !exists(dir, "job-39.json") && exists(dir, "job-1.json"));
    CHECK(strstr(stored.notice, "died while job 1 (a) ran"));
    const nino_wjob *j = again.waiting;
    CHECK(j->q.lost == 1 && !j->q.scope && j->q.n_outputs == 1 && j->workflow_bytes == 1);
    CHECK_STR(j->q.outputs[0], "/o/one.png");
    CHECK_STR(j->workflow, "a");
    CHECK(j->q.options->precision == NINO_PRECISION_BF16 && j->q.options->preview_every == 4 &&
          j->q.options->preview_share == 0.07);
    CHECK_STR(j->q.options->models[0], "/m/one");
    CHECK(j->q.queued_s > 1700000000.2 && j->q.queued_s < 1700000000.3);
    CHECK(again.finished->q.err.code == NINO_ERR_RANGE);
    CHECK_STR(again.finished->q.err.msg, "is \"odd\"");
    CHECK_STR(again.finished->q.texts[0].text, "two\nlines");
    nino_jobs_release(&again);

    // a workflow that was removed takes its job along, and says so
    CHECK(exists(dir, "job-2.json"));
    nino_store_drop_workflow(s, 2);
    CHECK_OK(load(s, &again), err);
    CHECK_STR(order(&again), "a:waiting c:failed");
    nino_jobs_release(&again);
    save(s, &jobs, true);
    CHECK_OK(load(s, &again), err);
    CHECK(stored.is_paused && !stored.is_rebuilt);
    nino_jobs_release(&again);

    nino_store_close(&s);
    nino_jobs_release(&jobs);
}

static const char *const flow = "{\"1\":{\"class_type\":\"NoSuchClass\",\"inputs\":{}}}";

static void read_text(const char *dir, const char *name, char *out, size_t size)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    CHECK(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
}

// Every way for queue.json to be damaged: it is kept under another name, the jobs are there again,
// and one line says all that.
static void test_damaged(void)
{
    char dir[100], text[400], long_text[2000] = "";
    nino_jobs again;
    for (int i = 0; i < 300; i++)
        strncat(long_text, "[[[[[", 6);
    const char *const bad[] = {
        "", // cut to nothing
        "{",
        "\x1f\x8b binary",
        "[]",
        "null",
        long_text, // deeper than anything
        "{\"schema\":\"queue/1\"}",
        "{\"schema\":\"queue/1\",\"jobs\":{}}",
        "{\"schema\":\"queue/2\",\"jobs\":[]}", // of another version
        "{\"schema\":1,\"jobs\":[]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":1}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[1]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":\"2\",\"state\":\"waiting\"}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":2,\"state\":\"asleep\"}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":-2,\"state\":\"waiting\"}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":18446744073709551615,\"state\":\"done\"}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":2,\"state\":\"waiting\",\"options\":7}]}",
        "{\"schema\":\"queue/1\",\"jobs\":[{\"id\":2,\"state\":\"waiting\"},"
        "{\"id\":2,\"state\":\"done\"}]}", // twice
    };
    snprintf(dir, sizeof(dir), "%s/damaged", root);
    nino_store *s = nino_store_open(dir, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    write_file(dir, "job-2.json", flow);
    write_file(dir, "job-11.json", flow);
    const size_t n = sizeof(bad) / sizeof(bad[0]);
    for (size_t i = 0; i < n; i++) {
        char aside[40];
        snprintf(aside, sizeof(aside), i ? "queue.json.damaged-%zu" : "queue.json.damaged", i + 1);
        write_file(dir, "queue.json", bad[i]);
        CHECK_OK(load(s, &again), err);
        CHECK_STR(order(&again), "job-2.json:waiting job-11.json:waiting");
        CHECK(again.next_id == 12 && again.waiting->q.n_nodes == 1);
        CHECK_STR(again.waiting->workflow, flow);
        CHECK(stored.is_rebuilt && !exists(dir, "queue.json"));
        CHECK(strstr(stored.notice, "queue.json was damaged (") && !strchr(stored.notice, '\n'));
        CHECK(strstr(stored.notice, aside) && strstr(stored.notice, "2 jobs wait again"));
        read_text(dir, aside, text, sizeof(text));
        CHECK(!strncmp(text, bad[i], sizeof(text) - 1)); // nothing of it is lost
        nino_jobs_release(&again);
    }

    // missing, and one of the workflows damaged: it is kept as well
    write_file(dir, "job-11.json", "{\"1\":{\"class_type\":\"NoSu");
    CHECK_OK(load(s, &again), err);
    CHECK_STR(order(&again), "job-2.json:waiting");
    CHECK(stored.is_rebuilt && again.next_id == 12); // no number is given twice
    CHECK(strstr(stored.notice, "queue.json was missing: 1 job waits again") &&
          strstr(stored.notice, "1 damaged workflow is set aside: job-*.json.damaged"));
    CHECK(exists(dir, "job-11.json.damaged") && !exists(dir, "job-11.json"));
    save(s, &again, true);
    nino_jobs_release(&again);
    CHECK_OK(load(s, &again), err); // all is well again
    CHECK_STR(order(&again), "job-2.json:waiting");
    CHECK(!stored.is_rebuilt && !stored.notice[0] && stored.is_paused);
    CHECK(exists(dir, "job-11.json.damaged") && exists(dir, "queue.json.damaged"));
    nino_jobs_release(&again);

    // a workflow that cannot be read takes its job along, but is not removed
    CHECK(!chdir(dir) && !unlink("job-2.json") && !mkdir("job-2.json", 0755));
    CHECK_OK(load(s, &again), err);
    CHECK(!again.waiting &&
          strstr(stored.notice, "job 2 (job-2.json) is lost: not a regular file"));
    CHECK(exists(dir, "job-2.json.damaged"));
    nino_jobs_release(&again);

    // what may be whole is not touched: the error names it
    CHECK(!unlink("queue.json") && !mkdir("queue.json", 0755));
    CHECK(load(s, &again) == NINO_ERR_IO);
    CHECK(strstr(err.where, "/damaged/queue.json") && exists(dir, "queue.json"));
    nino_jobs_release(&again);
    nino_store_close(&s);
}

// The permission of root is to read everything: as somebody else.
static void test_forbidden(void)
{
    int status;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        nino_jobs again;
        char dir[] = "/tmp/nino-worker-XXXXXX", cmd[64];
        if (!geteuid())
            CHECK(!setgid(65534) && !setuid(65534));
        CHECK(mkdtemp(dir) && !chdir(dir));
        nino_store *s = nino_store_open(dir, &err);
        CHECK_OK(s ? NINO_OK : err.code, err);
        write_file(dir, "job-1.json", flow);
        write_file(dir, "queue.json", "{");
        CHECK(!chmod("queue.json", 0));
        CHECK(load(s, &again) == NINO_ERR_IO && strstr(err.where, "/queue.json"));
        CHECK(strstr(err.msg, "Permission denied") && exists(dir, "job-1.json"));
        CHECK(!chmod("queue.json", 0600) && !chmod(dir, 0500)); // it cannot be set aside
        CHECK(load(s, &again) == NINO_ERR_IO && strstr(err.where, "/queue.json"));
        CHECK(strstr(err.msg, "is damaged, and cannot be set aside: Permission denied"));
        CHECK(!chmod(dir, 0700));
        nino_jobs_release(&again);
        nino_store_close(&s);
        snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
        exit(system(cmd) != 0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/nino-worker-XXXXXX", tmp && strlen(tmp) < 30 ? tmp : "/tmp");
    CHECK(mkdtemp(root));
    test_lists();
    test_store();
    test_damaged();
    test_forbidden();
    // no place to keep it: said, not guessed
    unsetenv("HOME");
    unsetenv("XDG_STATE_HOME");
    CHECK(!nino_store_open(NULL, &err) && err.code == NINO_ERR_MISSING);
    setenv("XDG_STATE_HOME", root, 1);
    nino_store *s = nino_store_open(NULL, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    CHECK(strstr(nino_store_dir(s), root) && strstr(nino_store_dir(s), "/ninodes"));
    nino_store_close(&s);
    nino_store_close(&s);
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
    return system(cmd) != 0;
}
