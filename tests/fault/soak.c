// Thousands of mixed jobs in one process, a third of them cancelled at any moment: memory,
// descriptors, threads, mappings and buffers of the device stay as they are, a cancel is quick, and
// what is not cancelled has the same bits from first to last. NINODES_SOAK jobs; a few without it,
// some hundred in the long form.
#include "tests/fault/flows.h"
#include "tests/fault/tool/cl_layer.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <malloc.h>
#include <time.h>

static nino_error err;
static const cl_fault *device; // NULL: what is on it cannot be counted

typedef struct state {
    long rss_kib, files, threads, maps, objects;
    long long bytes; // of the device
} state;

static long entries(const char *folder)
{
    long n = -2; // . and ..
    DIR *d = opendir(folder);
    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static long lines_of(const char *path, const char *label, long *value)
{
    char line[512];
    long n = 0;
    FILE *f = fopen(path, "r");
    CHECK(f);
    while (fgets(line, sizeof(line), f)) {
        n++;
        if (label && !strncmp(line, label, strlen(label)))
            *value = atol(line + strlen(label));
    }
    fclose(f);
    return n;
}

static state look(void)
{
    state s = { .files = entries("/proc/self/fd"), .threads = entries("/proc/self/task") };
    malloc_trim(0);
    lines_of("/proc/self/status", "RssAnon:", &s.rss_kib);
    s.maps = lines_of("/proc/self/maps", NULL, NULL);
    if (device) {
        s.objects = atomic_load(&device->objects);
        s.bytes = atomic_load(&device->bytes);
    }
    return s;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

// ---- jobs ---------------------------------------------------------------------------------------

static unsigned long long dice = 88172645463325252ULL; // xorshift
static double chance(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (double) (dice >> 11) / 9007199254740992.0;
}

static double took[FLOWS]; // of the last whole run
static uint64_t expected[FLOWS];

static void run_whole(nino_ctx *ctx, nino_graph *g, int i)
{
    uint64_t made;
    const double start = seconds();
    CHECK_OK(flows_run(ctx, g, &made, &err), err);
    took[i] = seconds() - start;
    if (!expected[i])
        expected[i] = made;
    CHECK(made == expected[i]);
}

// Seconds from the cancel to the end; below 0: the job was quicker.
static double run_cancelled(nino_ctx *ctx, nino_graph *g, int i)
{
    const double wait = chance() * took[i];
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    nanosleep(&(struct timespec){ (time_t) wait, (long) ((wait - (time_t) wait) * 1e9) }, NULL);
    const double start = seconds();
    nino_job_cancel(job);
    const flow_result r = flow_finish(job);
    for (size_t k = 0; k < r.n_paths; k++)
        unlink(r.path[k]);
    CHECK(!r.st || r.st == NINO_ERR_CANCELLED);
    return r.st ? seconds() - start : -1;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static void tell(long n, const state *a, const state *b, double *late, long cancels, bool is_full)
{
    const double kib = (double) (b->rss_kib - a->rss_kib);
    qsort(late, (size_t) cancels, sizeof(*late), compare);
    const double p50 = cancels ? late[cancels / 2] * 1e3 : 0;
    const double p99 = cancels ? late[cancels * 99 / 100] * 1e3 : 0;
    const double most = cancels ? late[cancels - 1] * 1e3 : 0;
    CHECK(b->files == a->files && b->threads <= a->threads);
    CHECK(b->objects <= a->objects && b->bytes <= a->bytes);
    // Allocators move by MiBs; what is kept of every job shows over a hundred of them.
    if (is_full)
        CHECK(kib < 8192 + 0.3 * (double) n && b->maps <= a->maps + 16);
    figure_add("mixed jobs in one process", "flat", true,
               "%ld jobs, of the second half: %+.0f KiB, %+ld descriptors, %+ld threads, %+ld "
               "mappings, %+ld objects and %+lld bytes of the device",
               n, kib, b->files - a->files, b->threads - a->threads, b->maps - a->maps,
               b->objects - a->objects, b->bytes - a->bytes);
    figure_add("cancels", "p99 <= 250 ms", p99 <= 250,
               "%ld: p50 %.0f ms, p99 %.0f ms, most %.0f ms", cancels, p50, p99, most);
}

static void take_layer(void)
{
    static char layer[PATH_MAX + 32];
    char exe[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
    snprintf(layer, sizeof(layer), "%s/tool/cl_layer.so", dirname(exe));
    setenv("OPENCL_LAYERS", layer, 1);
    void *lib = dlopen(layer, RTLD_NOW);
    device = lib ? dlsym(lib, "cl_fault_now") : NULL;
}

int main(void)
{
    const char *text = getenv("NINODES_SOAK"), *is_long = getenv("NINODES_TEST_LONG");
    const long n = text && *text ? atol(text) : is_long && *is_long ? 300 : 12;
    if (!flows_are_here())
        return test_skip("the models of the project are not here");
    setenv("NINODES_HELPERS", "0", 1);
    take_layer();
    flows_prepare();
    nino_device_info one;
    const bool has_cl = nino_devices(&one, 1) && strcmp(one.selector, "ref") != 0;
    nino_ctx *ctx = flows_open(has_cl ? "cl" : "ref", 0, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    nino_graph *g[FLOWS];
    double *late = calloc((size_t) n + 1, sizeof(*late));
    long cancels = 0;
    state half = { 0 };
    CHECK(late);
    for (int i = 0; i < FLOWS; i++) {
        CHECK(g[i] = flows_graph(i, &err));
        if (n >= 100 || i < 2)
            run_whole(ctx, g[i], i);
    }
    const int flows = n >= 100 ? FLOWS : 2;
    for (long k = 0; k < n; k++) {
        const int i = (int) (k % flows);
        if (k == n / 2) {
            for (int w = 0; w < flows; w++) // the same state at both ends
                run_whole(ctx, g[w], w);
            half = look();
        }
        if (k % 3 == 2) {
            const double s = run_cancelled(ctx, g[i], i);
            if (s >= 0)
                late[cancels++] = s;
        } else {
            run_whole(ctx, g[i], i);
        }
    }
    for (int w = 0; w < flows; w++)
        run_whole(ctx, g[w], w);
    const state end = look();
    tell(n, &half, &end, late, cancels, n >= 100);
    for (int i = 0; i < FLOWS; i++)
        nino_graph_destroy(&g[i]);
    nino_ctx_destroy(&ctx);
    free(late);
    flow_clean();
    return 0;
}
