// How long a cancel takes: an evaluation of a full-size SD1.5 UNet at 512x512 (random weights) is
// cancelled after different times, and the time until the stream is closed again is taken: once
// with everything in place, once with nothing (weights unread, no kernel compiled).
//   bench/cancel [--rounds N] [--device SEL]
#include "core/base/time.h"
#include "core/op/backend.h"
#include "core/op/device/device.h"
#include "tests/random_net.h"
#include "tests/diffusion.h"
#include <ninodes/ctx.h>

#include <pthread.h>
#include <sys/stat.h>

enum { MAX_ROUNDS = 100, CELLS = 64, TOKENS = 77 };

static const net_unet unet = { 320, 4, { 1, 2, 4, 4 }, { 1, 1, 1, 0 }, 1, 768, 0, 4, 4, false };
static nino_error err;
static volatile int cancel;
static nino_diffusion *model;
static test_inputs in;
static const float timestep = 500;

static char *data_path(const char *name)
{
    static char path[300];
    const char *b = getenv("B");
    snprintf(path, sizeof(path), "%s/bench-data", b ? b : "build");
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/bench-data/%s", b ? b : "build", name);
    return path;
}

static void load(void)
{
    char *path = data_path("cancel.safetensors");
    net_list l = net_list_unet(&unet, NULL);
    net_save(&l, path, NINO_F16, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    unlink(path);
    CHECK_OK(nino_diffusion_load(w, "unet", &model, &err), err);
    nino_weights_unref(&w);
    in = (test_inputs){ .x = test_values(NINO_SHAPE(1, CELLS, CELLS, 4), 1),
                        .context = test_values(NINO_SHAPE(1, TOKENS, 768), 2),
                        .timestep = &timestep };
}

static void *evaluate(void *be)
{
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .cancel = &cancel, .precision = NINO_PREC_F32 },
        &err);
    CHECK(s != NULL);
    nino_array *out = test_forward_or(s, model, &in, &err);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    return NULL;
}

// Seconds from the cancel, which comes after `delay` seconds, to the end.
static double cancel_after(nino_backend *be, double delay)
{
    pthread_t t;
    cancel = 0;
    CHECK(pthread_create(&t, NULL, evaluate, be) == 0);
    usleep((useconds_t) (delay * 1e6));
    const uint64_t start = nino_now_ns();
    cancel = 1;
    pthread_join(t, NULL);
    return (double) (nino_now_ns() - start) * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static void print(const char *title, double *v, int n)
{
    qsort(v, (size_t) n, sizeof(*v), by_value);
    printf("%-24s n %d  median %.0f ms  p95 %.0f ms  max %.0f ms\n", title, n, v[n / 2] * 1e3,
           v[(n * 95 + 99) / 100 - 1] * 1e3, v[n - 1] * 1e3);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double v[MAX_ROUNDS];
    const char *device = "cl";
    int rounds = 20;
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--rounds"))
            rounds = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--device"))
            device = argv[++i];
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    // PoCL keeps what it compiles in this folder: a new one has nothing.
    char *cache = data_path("cancel-XXXXXX");
    CHECK(mkdtemp(cache) != NULL);
    setenv("POCL_CACHE_DIR", cache, 1);
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .cache_dir = "" };
    load();
    for (int i = 0; i < rounds; i++) { // further every time; what was compiled before stays
        nino_backend *be = nino_device_open(device, &p, NULL, &err);
        CHECK_OK(be ? NINO_OK : err.code, err);
        v[i] = cancel_after(be, 0.1 + 0.4 * i);
        nino_backend_close(&be);
    }
    print("first use", v, rounds);
    nino_backend *be = nino_device_open(device, &p, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    cancel = 0;
    evaluate(be);
    for (int i = 0; i < rounds; i++)
        v[i] = cancel_after(be, 0.05 + 0.31 * i);
    print("everything in place", v, rounds);
    nino_backend_close(&be);
    return 0;
}
