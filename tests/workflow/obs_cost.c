// What being watched costs (long test; make check-long): processor time of the thread that serves a
// viewer at 10 Hz and of the viewer itself, and the job's time with and without one, in interleaved
// pairs. The processor times are bounded here; job times depend on the machine and are printed.
#include "core/base/time.h"
#include "core/run/context.h"
#include "tests/flow.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PAIRS = 15 };

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 1024, 'height': 1024, "
    "'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'vae_tiny.safetensors'}},"
    "'3': {'class_type': 'VAEDecodeTiled', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0], "
    "'tile_size': 128, 'overlap': 32, 'temporal_size': 64, 'temporal_overlap': 8}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

// Processor time of this process's thread of that name; 0: the kernel does not tell.
static uint64_t thread_ns(const char *name)
{
    uint64_t ns = 0;
    DIR *d = opendir("/proc/self/task");
    for (const struct dirent *e; d && (e = readdir(d));) {
        char path[300], comm[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        const bool is_it = f && fgets(comm, sizeof(comm), f) && !strncmp(comm, name, strlen(name));
        if (f)
            fclose(f);
        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
        f = is_it ? fopen(path, "r") : NULL;
        unsigned long long v;
        if (f && fscanf(f, "%llu", &v) == 1)
            ns += v;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return ns;
}

static struct {
    char socket[128];
    atomic_int stop;
    uint64_t events, viewer_ns;
} shared;

// As the app does: takes what there is ten times a second, into statistics.
static void *view(void *priv)
{
    (void) priv;
    nino_error err = { 0 };
    nino_attach *a = nino_attach_open(shared.socket, &err);
    nino_stats *s = nino_stats_create();
    CHECK_OK(a && s ? NINO_OK : err.code, err);
    while (!atomic_load(&shared.stop)) {
        nino_event ev[512];
        size_t n;
        do {
            CHECK_OK(nino_attach_read(a, ev, 512, &n, &err), err);
            nino_stats_add(s, ev, n, nino_attach_name, a);
            shared.events += n;
        } while (n);
        nino_control_queue(a);
        usleep(100000);
    }
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    shared.viewer_ns += (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
    nino_stats_destroy(&s);
    nino_attach_close(&a);
    return NULL;
}

// Wakes as often as the serving thread does: on a busy virtual machine that alone makes a job
// faster, and it is not what is to be measured.
static void *idle(void *priv)
{
    while (!atomic_load(&shared.stop))
        usleep(20000);
    return priv;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

// Seconds of the clock; *cpu: of processors, all threads.
static double run(nino_ctx *ctx, nino_graph *g, bool is_watched, double *cpu)
{
    pthread_t t;
    nino_error err = { 0 };
    uint64_t bytes;
    nino_status st = NINO_OK;
    CHECK(nino_ctx_give_back(ctx, false, &bytes)); // nothing comes from the cache
    atomic_store(&shared.stop, 0);
    CHECK(!pthread_create(&t, NULL, is_watched ? view : idle, NULL));
    const uint64_t begin = nino_now_ns();
    *cpu = cpu_seconds();
    nino_job *job = nino_job_start(
        ctx, g, &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .is_silent = true }, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    while (!nino_job_done(job, &st, &err))
        nino_job_wait(job, 1000);
    const double seconds = (double) (nino_now_ns() - begin) * 1e-9;
    *cpu = cpu_seconds() - *cpu;
    CHECK_OK(st, err);
    nino_job_output file;
    CHECK(nino_job_outputs(job, &file, 1) == 1 && !unlink(file.path));
    nino_job_destroy(&job);
    atomic_store(&shared.stop, 1);
    CHECK(!pthread_join(t, NULL));
    return seconds;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static nino_ctx *open_one(int serve)
{
    static const char *const models[] = { "data/tiny/models", NULL };
    static char output[256];
    nino_error err = { 0 };
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .serve = serve,
                                .job =
                                    &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = models,
                                                         .output_dir = output, .no_profile = 1 } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

typedef struct pair {
    double seconds[2], cpu[2]; // [1]: watched
} pair;

// Contexts of their own for every pair, made and used in turns: where their memory lies makes
// several percent of difference, which stays as long as they do.
static pair run_pair(nino_graph *g, int first, uint64_t *serve_ns, nino_device_info *info)
{
    pair r;
    nino_ctx *ctx[2] = { NULL };
    for (int k = 0; k < 2; k++)
        ctx[k ^ first] = open_one(k ^ first);
    nino_ctx_device(ctx[1], info);
    snprintf(shared.socket, sizeof(shared.socket), "%s", nino_ctx_socket(ctx[1]));
    for (int k = 0; k < 2; k++)
        run(ctx[k ^ first], g, false, &r.cpu[0]); // kernels and memory are there after it
    const uint64_t before = thread_ns("nino-serve");
    for (int k = 0; k < 2; k++) {
        const int is_on = k ^ first;
        r.seconds[is_on] = run(ctx[is_on], g, is_on, &r.cpu[is_on]);
    }
    *serve_ns += thread_ns("nino-serve") - before;
    for (int k = 0; k < 2; k++)
        nino_ctx_destroy(&ctx[k ^ first]);
    return r;
}

int main(void)
{
    const char *is_long = getenv("NINODES_TEST_LONG");
    if (!is_long || !*is_long || access("data/tiny/models", R_OK)) {
        printf("skip: a long test (make check-long)\n");
        return 77;
    }
    setenv("XDG_RUNTIME_DIR", flow_temp(), 1);
    nino_graph *g = flow_graph(flow);
    nino_device_info info;
    double ratio[PAIRS], work[PAIRS], watched = 0;
    uint64_t serve_ns = 0;
    for (int i = 0; i < PAIRS; i++) {
        const pair r = run_pair(g, i & 1, &serve_ns, &info);
        ratio[i] = r.seconds[1] / r.seconds[0];
        work[i] = r.cpu[1] / r.cpu[0];
        watched += r.seconds[1];
    }
    const double serve_s = (double) serve_ns * 1e-9;
    qsort(ratio, PAIRS, sizeof(ratio[0]), by_value);
    qsort(work, PAIRS, sizeof(work[0]), by_value);
    printf("  device: %s\n  one viewer at 10 Hz, %d pairs of %.1f s: %.0f events/s\n", info.name,
           PAIRS, watched / PAIRS, (double) shared.events / watched);
    printf("  serving thread %.2f %% of a core, viewer with statistics %.2f %%\n",
           100 * serve_s / watched, 100 * (double) shared.viewer_ns * 1e-9 / watched);
    printf("  job time watched / no telemetry: median %.4f (%.4f to %.4f)\n", ratio[PAIRS / 2],
           ratio[0], ratio[PAIRS - 1]);
    printf("  processor time of the process, the same way: median %.4f (%.4f to %.4f)\n",
           work[PAIRS / 2], work[0], work[PAIRS - 1]);
    CHECK(shared.events > 1000);
    CHECK(serve_s < 0.03 * watched); // 0 where the kernel does not tell
    CHECK((double) shared.viewer_ns * 1e-9 < 0.03 * watched);
    nino_graph_destroy(&g);
    flow_clean();
    return 0;
}
