// Finding devices: from many threads at once, without an OpenCL library, without a driver.
#include "tests/cl.h"

#include <pthread.h>
#include <sys/wait.h>

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
static void again(const char *self, const char *variable, const char *value, const char *what)
{
    int status;
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setenv(variable, value, 1);
        execl(self, self, what, (char *) NULL);
        _exit(99);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Only ref is there, and asking for OpenCL says so.
static int expect_none(void)
{
    nino_device_info info[16];
    nino_error err;
    CHECK(nino_devices(info, 16) == 1);
    CHECK_STR(info[0].selector, "ref");
    CHECK(!nino_device_open("cl", NULL, NULL, &err));
    CHECK(err.code == NINO_ERR_UNKNOWN && err.msg[0]);
    nino_backend *be = nino_device_open(NULL, NULL, NULL, &err);
    CHECK(be);
    CHECK_STR(be->impl->name, "ref");
    nino_backend_close(&be);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "none"))
        return expect_none();
    char dir[] = "/tmp/ninodes-device-XXXXXX", library[64];
    CHECK(mkdtemp(dir));
    again(argv[0], "OCL_ICD_VENDORS", dir, "none"); // a loader that finds no driver
    snprintf(library, sizeof(library), "%s/libOpenCL.so.1", dir);
    FILE *f = fopen(library, "w");
    CHECK(f && fputs("not a library\n", f) > 0 && fclose(f) == 0);
    again(argv[0], "LD_LIBRARY_PATH", dir, "none"); // no loader that works
    CHECK(unlink(library) == 0 && rmdir(dir) == 0);
    again(argv[0], "NINODES_FAIL_CL", "1:-32", "none"); // finding platforms fails
    test_threads();
    test_info();
    test_budget();
    test_open();
    return 0;
}
