// Thousands of jobs through one worker, each with a name of its own: names are not kept for good.
// NINODES_TEST_LONG: so many that the memory of the process shows whether anything is.
#include "core/event/ring.h"
#include "core/worker/worker_priv.h"
#include "tests/test.h"
#include <ninodes/control.h>

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

enum { ANSWER_MS = 60000, ROUND = 300 };

static nino_error err;

static void *work(void *w)
{
    nino_error e = { 0 };
    CHECK_OK(nino_worker_run(w, &e), e);
    return NULL;
}

static nino_control_reply ask(nino_attach *a, const nino_control *c)
{
    nino_control_reply r;
    CHECK_OK(nino_control_call(a, c, ANSWER_MS, &r, &err), err);
    return r;
}

// Queues a picture of a colour of its own and waits until the worker has nothing to do.
static void run_one(nino_attach *a, int i)
{
    char name[64], text[600];
    uint64_t job;
    snprintf(name, sizeof(name), "workflow number %d of many.json", i);
    snprintf(text, sizeof(text),
             "{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":16,\"height\":16,"
             "\"batch_size\":1,\"color\":%d}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{"
             "\"filename_prefix\":\"a\",\"images\":[\"1\",0]}}}",
             i);
    const nino_control add = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .workflow = text,
                               .workflow_bytes = strlen(text), .name = name };
    job = ask(a, &add).job;
    for (bool is_done = false; !is_done;) {
        nino_event ev[64];
        size_t n;
        CHECK_OK(nino_attach_read(a, ev, 64, &n, &err), err);
        const nino_queue *q = nino_control_queue(a);
        for (size_t k = 0; q && k < q->n_jobs; k++)
            if (q->jobs[k].id == job && q->jobs[k].state >= NINO_QUEUE_DONE) {
                CHECK(q->jobs[k].state == NINO_QUEUE_DONE && q->jobs[k].n_outputs == 1);
                unlink(q->jobs[k].outputs[0]);
                is_done = true;
            }
        if (!n && !is_done)
            usleep(200);
    }
}

// What is kept of each job but bounded is full from here on: the rings, and the texts that pass.
static void fill(nino_monitor *m)
{
    const int n = atomic_load(&m->n_rings);
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < NINO_RING_SIZE; k += 32)
            atomic_fetch_add(&atomic_load(&m->ring[i])->word[k][0], 0);
    for (int i = 0; i < 2 * NINO_PASSING_KEPT; i++)
        nino_monitor_passing(m, "/tmp/ninodes-many-XXXXXX/as_long_as_a_path_00001_.png");
}

// Runs jobs from..to - 1. Returns the KiB that the process has in memory then, when what may be kept has been given back.
static long run_many(nino_attach *a, int from, int to)
{
    char line[128];
    long kib = 0;
    FILE *f;
    for (int i = from; i < to; i++)
        run_one(a, i);
    ask(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_RELOAD });
    usleep(300000);
    malloc_trim(0);
    CHECK((f = fopen("/proc/self/status", "r")) != NULL);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

int main(void)
{
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL;
    const int warm = is_long ? 2 * ROUND : 5, all = is_long ? 7 * ROUND : 200;
    char dir[] = "/tmp/ninodes-many-XXXXXX", cmd[64];
    pthread_t thread;
    CHECK(mkdtemp(dir));
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .output_dir = dir };
    const nino_ctx_params c = { NINO_CTX_PARAMS_INIT, .device = "ref", .job = &o };
    const nino_worker_params p = { NINO_WORKER_PARAMS_INIT, .ctx = &c, .state_dir = "" };
    nino_worker *w = nino_worker_create(&p, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(!pthread_create(&thread, NULL, work, w));
    nino_attach *a = nino_attach_open(nino_worker_socket(w), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    run_many(a, 0, 5);
    const nino_names *names = nino_ctx_monitor(w->ctx)->names;
    const uint32_t before = nino_names_count(names);
    fill(nino_ctx_monitor(w->ctx));
    const long kib = run_many(a, 5, warm);
    long now = kib;
    for (int i = warm; i < all; i += ROUND)
        now = run_many(a, i, i + ROUND < all ? i + ROUND : all);
    printf("  %d jobs: %u names kept after 5, %u at the end\n", all, before,
           nino_names_count(names));
    CHECK(nino_names_count(names) == before);
    if (is_long) {
        const double each = (double) (now - kib) * 1024 / (all - warm);
        printf("  resident %ld KiB after %d jobs, then %.0f bytes a job\n", kib, warm, each);
        CHECK(each < 300);
    }
    nino_attach_close(&a);
    nino_worker_stop(w);
    pthread_join(thread, NULL);
    nino_worker_destroy(&w);
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    return system(cmd);
}
