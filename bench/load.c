// Loading benchmark: a safetensors file of F16, BF16 and F32 matrices of 4096 x 3072 brought to the
// device, into memory that the device has to get first and into memory that the pool holds already;
// in turns with plain reads of the same file, into one buffer and into fresh memory of its size.
// Processor seconds are those of all threads: they hold on a busy machine, where times do not.
// Then what the process grows by beside the device's memory, and a further use of the weights,
// which should read nothing.
//   bench/load [--mib N] [--rounds N] [--device SEL] [--cold]     --cold: from the disk, not from
//   the page cache
#include "core/base/time.h"
#include "core/op/device/device.h"
#include "tests/load.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static nino_error err;
static const char *device;
static uint64_t mib = 256;
static int rounds = 3;
static bool is_cold;
static uint64_t file_bytes;

// Of all threads; what a machine that is busy otherwise cannot stretch.
static double cpu_seconds(void) { return (double) clock() / CLOCKS_PER_SEC; }

static double seconds_since(uint64_t start) { return (double) (nino_now_ns() - start) * 1e-9; }

// The whole file into one buffer, or into memory as large as the file.
static double read_plainly(const char *path, bool is_fresh)
{
    const size_t room = 1 << 20, all = (size_t) file_bytes + room;
    char *buf = mmap(NULL, is_fresh ? all : room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && buf != MAP_FAILED);
    if (is_fresh)
        madvise(buf, all, MADV_HUGEPAGE);
    const uint64_t start = nino_now_ns();
    for (size_t at = 0; read(fd, buf + (is_fresh ? at : 0), room) > 0; at += room)
        continue;
    const double s = seconds_since(start);
    munmap(buf, is_fresh ? all : room);
    close(fd);
    return s;
}

static void leave_cache(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && !fdatasync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
    close(fd);
}

typedef struct result {
    double fresh, warm, again; // seconds: into new memory, into the pool's, without loading
    double warm_cpu;           // processor seconds
    double extra_mib;          // beside the device's memory, at most
    uint64_t read_again;       // bytes
} result;

static double load_seconds(nino_backend *be, const load_model *m)
{
    const uint64_t start = nino_now_ns();
    CHECK_OK(load_all(be, m, &err), err);
    return seconds_since(start);
}

static result load_once(const char *path, int n)
{
    result r = { 0 };
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT };
    nino_backend *be = nino_device_open(device, &params, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_weights *f = nino_weights_open(path, &err);
    CHECK_OK(f ? NINO_OK : err.code, err);
    load_model m = load_describe(f, n);
    const uint64_t before = load_rss();
    const bool has_peak = load_reset_peak();
    r.fresh = load_seconds(be, &m);
    nino_mem_stat s;
    nino_pool_stat(be->pool, &s);
    const double peak = (double) (has_peak ? load_peak() : load_rss());
    r.extra_mib = (peak - (double) before - (double) s.in_use) / 1048576;
    const uint64_t read = load_read_so_far();
    r.again = load_seconds(be, &m);
    r.read_again = load_read_so_far() - read;
    if (is_cold)
        leave_cache(path);
    nino_backend_drop_weights(be);
    r.warm_cpu = -cpu_seconds();
    r.warm = load_seconds(be, &m);
    r.warm_cpu += cpu_seconds();
    load_forget(&m);
    nino_weights_unref(&f);
    nino_backend_close(&be);
    return r;
}

static void options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--mib") && i + 1 < argc)
            mib = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
            rounds = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--device") && i + 1 < argc)
            device = argv[++i];
        else if (!strcmp(argv[i], "--cold"))
            is_cold = true;
        else {
            fprintf(stderr, "usage: load [--mib N] [--rounds N] [--device SEL] [--cold]\n");
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    char path[300];
    struct stat st;
    const char *b = getenv("B");
    options(argc, argv);
    snprintf(path, sizeof(path), "%s/bench-data", b ? b : "build");
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/bench-data/load.safetensors", b ? b : "build");
    const int n = load_write(path, mib << 20);
    CHECK(!stat(path, &st));
    file_bytes = (uint64_t) st.st_size;
    const double gb = (double) st.st_size * 1e-9;
    printf("loading %.2f GB, %d tensors\n", gb, n);
    printf("%10s %10s %10s %10s %8s %15s %10s %10s %10s\n", "read", "fresh read", "load", "reload",
           "reload/", "processor s/GB", "MiB beside", "again, s", "bytes read");
    printf("%10s %10s %10s %10s %8s %7s %7s %10s\n", "GB/s", "GB/s", "GB/s", "GB/s", "read", "read",
           "reload", "device's");
    for (int i = 0; i < rounds; i++) {
        fflush(stdout);
        if (is_cold)
            leave_cache(path);
        const double cpu = cpu_seconds(), read = read_plainly(path, false);
        const double read_cpu = cpu_seconds() - cpu, fresh = read_plainly(path, true);
        if (is_cold)
            leave_cache(path);
        const result r = load_once(path, n);
        printf("%10.2f %10.2f %10.2f %10.2f %8.2f %7.3f %7.3f %10.0f %10.4f %10llu\n", gb / read,
               gb / fresh, gb / r.fresh, gb / r.warm, read / r.warm, read_cpu / gb, r.warm_cpu / gb,
               r.extra_mib, r.again, (unsigned long long) r.read_again);
    }
    unlink(path);
    return 0;
}
