// Weights on their way from a file to the device: how much memory the process takes beside the
// device's, reading ahead, and that what is there is not read again. NINODES_TEST_LONG: 2 GiB.
#include "core/op/device/device.h"
#include "tests/load.h"
#include "tests/vae.h"

#include <dirent.h>
#include <unistd.h>

enum { ALLOWED = 64 << 20 }; // the promise is 256 MiB, whatever the file

static nino_error err;

static void test_load(const char *device, const char *path, int n)
{
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .cache_dir = "" };
    nino_backend *be = nino_device_open(device, &params, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_weights *f = nino_weights_open(path, &err);
    CHECK_OK(f ? NINO_OK : err.code, err);
    load_model m = load_describe(f, n);
    const uint64_t rss = load_rss();
    const bool has_peak = load_reset_peak();
    CHECK_OK(load_all(be, &m, &err), err);
    nino_mem_stat s;
    nino_pool_stat(be->pool, &s);
    const uint64_t now = has_peak ? load_peak() : load_rss();
    const uint64_t extra = now > rss + s.in_use ? now - rss - s.in_use : 0;
    printf("  %s: %.0f MiB of weights, %.1f MiB beside\n", device,
           (double) s.by_owner[NINO_OWN_WEIGHTS] / 0x1p20, (double) extra / 0x1p20);
#ifndef __SANITIZE_ADDRESS__ // which keeps what was freed, and needs an eighth on top
    CHECK(rss == 0 || extra <= ALLOWED);
#endif
    const uint64_t bytes = be->load_bytes, ns = be->load_ns;
    CHECK(bytes == s.by_owner[NINO_OWN_WEIGHTS] && ns > 0);
    const uint64_t read = load_read_so_far();
    CHECK_OK(load_all(be, &m, &err), err); // from the cache
    CHECK(be->load_bytes == bytes && be->load_ns == ns);
    CHECK(load_read_so_far() - read < 4096); // this very question reads /proc
    nino_backend_drop_weights(be);
    CHECK_OK(load_all(be, &m, &err), err);
    CHECK(be->load_bytes == 2 * bytes);
    load_forget(&m);
    nino_weights_unref(&f);
    nino_backend_close(&be);
}

// Whether a thread of this process is called so.
static bool has_thread(const char *name)
{
    char path[300], text[32];
    DIR *d = opendir("/proc/self/task");
    bool is_there = false;
    CHECK(d);
    for (struct dirent *e; (e = readdir(d)) && !is_there;) {
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        is_there = f && fgets(text, sizeof(text), f) && !strncmp(text, name, strlen(name));
        if (f)
            fclose(f);
    }
    closedir(d);
    return is_there;
}

// The thread that reads ahead ends with the file, in the middle of it too; order and hints are any.
static void test_ahead(const char *path, int n)
{
    for (int round = 0; round < 4; round++) {
        nino_weights *f = nino_weights_open(path, &err);
        CHECK_OK(f ? NINO_OK : err.code, err);
        for (int i = round == 1 ? n : 0; i-- > 0;)
            nino_weights_expect(f, nino_weights_at(f, i));
        for (int i = 0; round > 1 && i < n; i++)
            nino_weights_expect(f, nino_weights_at(f, i));
        nino_weights_read_ahead(f, nino_weights_at(f, round == 3 ? n - 1 : 0));
        if (round == 3)
            nino_weights_read_ahead(f, nino_weights_at(f, 0));
        for (int i = 0; !has_thread("nino-read-ahead"); i++) {
            CHECK(i < 5000); // it gives itself its name
            usleep(1000);
        }
        nino_weights_unref(&f);
        CHECK(!has_thread("nino-read-ahead"));
    }
}

int main(void)
{
    test_dir dir = test_dir_create();
    static const char *const files[] = { "load.safetensors", NULL };
    char path[300];
    const uint64_t bytes = getenv("NINODES_TEST_LONG") ? (uint64_t) 2 << 30 : 48 << 20;
    snprintf(path, sizeof(path), "%s/load.safetensors", dir.path);
    const int n = load_write(path, bytes);
    test_ahead(path, n);
    test_load("cl", path, n);
    test_dir_remove(&dir, files);
    return 0;
}
