// Finding devices: from many threads at once, without an OpenCL library, without a driver.
#include "tests/cl.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t start;

static void *list_devices(void *out)
{
    nino_device_info info[16];
    pthread_barrier_wait(&start);
    *(size_t *) out = nino_devices(info, 16);
    return NULL;
}

// PoCL 3.1 fails or crashes when its first callers come together; ours must not.
static void test_threads(void)
{
    enum { N = 8 };
    pthread_t thread[N];
    size_t n[N];
    CHECK(pthread_barrier_init(&start, NULL, N) == 0);
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&thread[i], NULL, list_devices, &n[i]) == 0);
    for (int i = 0; i < N; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    for (int i = 0; i < N; i++)
        CHECK(n[i] == n[0] && n[i] >= 1);
}

static void test_info(void)
{
    nino_device_info info[16];
    const size_t n = nino_devices(info, 16);
    bool has_ref = false;
    for (size_t i = 0; i < n && i < 16; i++) {
        CHECK(info[i].selector[0] && info[i].name[0]);
        CHECK(info[i].compute_units >= 1);
        if (!strcmp(info[i].selector, "ref")) {
            has_ref = true;
            continue;
        }
        CHECK(!strncmp(info[i].selector, "cl:", 3));
        CHECK(info[i].driver[0] && info[i].platform[0]);
        CHECK(info[i].profile[0]);
        CHECK(info[i].mem_bytes > 1 << 20 && info[i].max_buffer > 1 << 20);
    }
    CHECK(has_ref);
    CHECK(nino_devices(info, 0) == n);
}

static void test_budget(void)
{
    const nino_cl_device *list;
    nino_profile profile = { 0 };
    for (size_t i = nino_cl_devices(&list); i-- > 0;) {
        const uint64_t all = nino_cl_budget(&list[i], &profile);
        CHECK(all > 0 && all < list[i].info.mem_bytes);
        profile.mem_bytes = 64 << 20;
        CHECK(nino_cl_budget(&list[i], &profile) == (uint64_t) 48 << 20); // less a quarter
        profile.mem_bytes = 0;
    }
}

// A limit is obeyed, a broken device is refused with its reason.
static void test_open(void)
{
    const nino_cl_device *dev = test_cl_device();
    nino_error err;
    nino_mem_stat m;
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .mem_limit = 12345678, .cache_dir = "" };
    nino_backend *be = nino_cl_open(dev, &params, NULL, &err);
    CHECK(be);
    nino_pool_stat(be->pool, &m);
    CHECK(m.budget == 12345678);
    CHECK(!((nino_cl *) be)->cache); // "": none
    nino_backend_close(&be);
    nino_cl_device broken = *dev;
    snprintf(broken.info.problem, sizeof(broken.info.problem), "it is on fire");
    CHECK(!nino_cl_open(&broken, NULL, NULL, &err));
    CHECK(err.code == NINO_ERR_DEVICE && strstr(err.msg, "on fire"));
}

// Runs this program again with a variable set and an argument that says what to expect.
static int again_status(const char *self, const char *variable, const char *value, const char *what)
{
    int status;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setenv(variable, value, 1);
        execl(self, self, what, (char *) NULL);
        _exit(99);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void again(const char *self, const char *variable, const char *value, const char *what)
{
    CHECK(again_status(self, variable, value, what) == 0);
}

// Only ref is there; asking for OpenCL, or for no device, says so, and why.
static int expect_none(const char *why)
{
    nino_device_info info[16];
    nino_error err;
    char found[4096];
    CHECK(nino_devices(info, 16) == 1);
    CHECK_STR(info[0].selector, "ref");
    CHECK(!nino_device_open("cl", NULL, NULL, &err));
    CHECK(err.code == NINO_ERR_UNKNOWN && err.msg[0]);
    CHECK(!nino_device_open(NULL, NULL, NULL, &err)); // never the reference unasked
    CHECK(err.code == NINO_ERR_DEVICE && strstr(err.msg, why));
    CHECK_STR(err.kind, "none");
    const size_t n = nino_devices_explain(found, sizeof(found));
    CHECK(n == strlen(found) && n < sizeof(found) && found[n - 1] == '\n');
    CHECK(strstr(found, why) && strstr(found, "to do: "));
    CHECK(nino_devices_explain(found, 9) == n && strlen(found) == 8);
    CHECK(nino_devices_explain(NULL, 0) == n);
    nino_backend *be = nino_device_open("ref", NULL, NULL, &err);
    CHECK(be);
    nino_backend_close(&be);
    return 0;
}

// A query of the driver has failed, which the environment says: the device is the same as ever, or
// it is refused by the query's name, and nothing computes in its place.
static int expect_refused(const char *profile)
{
    nino_device_info info[16];
    nino_error err;
    CHECK(nino_devices(info, 16) == 2);
    if (!info[0].problem[0]) {
        CHECK_STR(info[0].profile, profile);
        return 0;
    }
    CHECK(strstr(info[0].problem, "Info(CL_") &&
          strstr(info[0].problem, "CL_INVALID_COMMAND_QUEUE"));
    CHECK(info[0].name[0] && !info[0].profile[0] && !info[0].schedule[0]);
    CHECK(!nino_device_open(NULL, NULL, NULL, &err));
    CHECK(err.code == NINO_ERR_DEVICE && strstr(err.msg, info[0].problem));
    CHECK_STR(err.where, info[0].name);
    CHECK(!nino_device_open("cl", NULL, NULL, &err) && strstr(err.msg, info[0].problem));
    return 3;
}

// Every call of the enumeration fails once.
static void test_queries(const char *self, const nino_device_info *healthy)
{
    enum { FIRST = 3 }; // after those for platforms and devices
    char fault[32], profile[80];
    int refused = 0, status;
    snprintf(profile, sizeof(profile), "refused %s", healthy->profile);
    again(self, "NINODES_FAIL_CL", "1:-36",
          "none clGetPlatformIDs fails: CL_INVALID_COMMAND_QUEUE");
    again(self, "NINODES_FAIL_CL", "2:-36", "none clGetDeviceIDs fails: CL_INVALID_COMMAND_QUEUE");
    for (int n = FIRST;; n++, refused++) {
        snprintf(fault, sizeof(fault), "%d:-36", n);
        if ((status = again_status(self, "NINODES_FAIL_CL", fault, profile)) != 3)
            break;
    }
    CHECK(status == 0 && refused >= 18);
}

// A GPU's file that belongs to others.
static void test_locked(const char *dir)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/kfd", dir);
    CHECK(!nino_cl_is_locked(path)); // there is none
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && !nino_cl_is_locked(path));
    CHECK(fchmod(fd, 0) == 0 && close(fd) == 0);
    const bool is_root = geteuid() == 0;
    CHECK(!is_root || (chmod(dir, 0755) == 0 && seteuid(65534) == 0));
    CHECK(nino_cl_is_locked(path));
    CHECK(!is_root || seteuid(0) == 0);
    CHECK(unlink(path) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strncmp(argv[1], "none ", 5))
        return expect_none(argv[1] + 5);
    if (argc == 2 && !strncmp(argv[1], "refused ", 8))
        return expect_refused(argv[1] + 8);
    char dir[] = "/tmp/ninodes-device-XXXXXX", library[64];
    CHECK(mkdtemp(dir));
    again(argv[0], "OCL_ICD_VENDORS", dir, "none no driver"); // a loader that finds none
    snprintf(library, sizeof(library), "%s/a.icd", dir);
    FILE *f = fopen(library, "w");
    CHECK(f && fputs("libno-such-driver.so\n", f) > 0 && fclose(f) == 0);
    again(argv[0], "OCL_ICD_VENDORS", dir, "none can");
    CHECK(unlink(library) == 0);
    snprintf(library, sizeof(library), "%s/libOpenCL.so.1", dir);
    f = fopen(library, "w");
    CHECK(f && fputs("not a library\n", f) > 0 && fclose(f) == 0);
    again(argv[0], "LD_LIBRARY_PATH", dir, "none libOpenCL.so.1"); // no loader that works
    CHECK(unlink(library) == 0);
    test_locked(dir);
    CHECK(rmdir(dir) == 0);
    test_queries(argv[0], &test_cl_device()->info);
    test_threads();
    test_info();
    test_budget();
    test_open();
    return 0;
}
