// Diffusion network benchmark: one evaluation of a full-size SD1.5 UNet at 512x512, of a unit-sized
// Flux (one double and one single block, 1024 image and 256 text tokens), of one block of Wan 1.3B
// (5 latent frames of 256x256: 1280 tokens, 512 of text), of one of Qwen-Image and one of each kind
// of Z-Image (1024x1024: 4096 tokens, 512 of text), and of one layer of Qwen3-4B (512 and 4608
// tokens), random weights. Prints GFLOP/s, the ratio to OpenBLAS's sgemm measured in turns with it, and where
// the time goes by op family.
//   bench/networks [--rounds N] [--device SEL] [--only TEXT] [--precision f32|bf16] [--weights f16|bf16] [--ops]
// --weights: as the file has them, f16 unless the precision is bf16; --ops: by op and shape
#include "core/base/time.h"
#include "core/event/publish.h"
#include "core/op/backend.h"
#include "core/op/device/device.h"
#include "tests/random_dit.h"
#include "tests/random_llm.h"
#include "tests/diffusion.h"
#include <ninodes/ctx.h>

#include <cblas.h>
#include <sys/stat.h>

enum { MAX_ROUNDS = 32, GEMM = 2048 };

static nino_error err;
static nino_backend *backend;
static int rounds = 3;
static bool by_op;
static nino_precision precision = NINO_PREC_F32;
static const char *stored; // NULL: as the precision has it

typedef struct network {
    const char *title;
    net_unet unet; // ch 0: another
    net_flux flux; // hidden 0: Wan
    int cells, tokens;
    net_wan wan;
    int frames;    // 0: pictures
    net_qwen qwen; // hidden 0: none
    const net_zimage *zimage;
    const net_llm *llm;
} network;

static const net_zimage zimage_unit = { 3840, 128, 1, 1, 10240, 2560, 256, 1024 };

static const net_llm llm_layer = { 2560, 1, 32, 8, 128, 9728, 1024, true, false, false, 0, 0, 0 };

static const network networks[] = {
    { "SD1.5 UNet, 512x512",
      { 320, 4, { 1, 2, 4, 4 }, { 1, 1, 1, 0 }, 1, 768, 0, 4, 4, false },
      { 0 },
      64,
      77,
      { 0 },
      0,
      { 0 },
      NULL,
      NULL },
    { "Flux 1 + 1 blocks, 1024 + 256 tokens",
      { 0 },
      { 3072, 128, 1, 1, 16, 4096, 768, true },
      64,
      256,
      { 0 },
      0,
      { 0 },
      NULL,
      NULL },
    { "Wan 1.3B, 1 block, 1280 + 512 tokens",
      { 0 },
      { 0 },
      32,
      512,
      { 1536, 8960, 1, 16, 16, 4096, 0, 0, 0 },
      5,
      { 0 },
      NULL,
      NULL },
    { "Qwen-Image, 1 block, 4096 + 512 tokens",
      { 0 },
      { 0 },
      128,
      512,
      { 0 },
      1,
      { 3072, 128, 1, 12288, 3584, false },
      NULL,
      NULL },
    { "Z-Image 1 + 1 + 1 blocks, 4096 + 512 tokens",
      { 0 },
      { 0 },
      128,
      512,
      { 0 },
      0,
      { 0 },
      &zimage_unit,
      NULL },
    { "Qwen3-4B, 1 layer, 512 tokens", { 0 }, { 0 }, 0, 512, { 0 }, 0, { 0 }, NULL, &llm_layer },
    { "Qwen3-4B, 1 layer, 4608 tokens", { 0 }, { 0 }, 0, 4608, { 0 }, 0, { 0 }, NULL, &llm_layer },
};

static double seconds_since(uint64_t start) { return (double) (nino_now_ns() - start) * 1e-9; }

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, (size_t) rounds, sizeof(*v), by_value);
    return rounds % 2 ? v[rounds / 2] : (v[rounds / 2 - 1] + v[rounds / 2]) / 2;
}

// ---- the ceiling -----------------------------------------------------------------------------
static float *gemm_operand(void)
{
    uint64_t seed = 3;
    float *a = malloc((size_t) GEMM * GEMM * sizeof(*a));
    CHECK(a != NULL);
    for (int i = 0; i < GEMM * GEMM; i++)
        a[i] = random_vae_value(&seed);
    return a;
}

// FLOP/s of a large product, the best of a few.
static double blas_speed(float *const m[3])
{
    double best = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t start = nino_now_ns();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GEMM, GEMM, GEMM, 1, m[0], GEMM,
                    m[1], GEMM, 0, m[2], GEMM);
        const double speed = 2.0 * GEMM * GEMM * GEMM / seconds_since(start);
        best = speed > best ? speed : best;
    }
    usleep(150000); // its threads spin for a while when they have nothing to do
    return best;
}

// ---- our side --------------------------------------------------------------------------------
typedef struct workload {
    nino_diffusion *d; // or
    nino_encoder *e;   // with x, which are rows of its embedding
    nino_array *x;
    test_inputs in;
    nino_array *owned[3];
} workload;

static const float timestep = 500;

// The file is gone when this returns; the weights are read through the open descriptor.
static nino_weights *make_file(const network *n)
{
    char path[300];
    const char *b = getenv("B");
    snprintf(path, sizeof(path), "%s/bench-data", b ? b : "build");
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/bench-data/network.safetensors", b ? b : "build");
    net_list l = n->llm           ? net_list_llm(n->llm)
                 : n->zimage      ? net_list_zimage(n->zimage, NULL)
                 : n->unet.ch     ? net_list_unet(&n->unet, NULL)
                 : n->flux.hidden ? net_list_flux(&n->flux, NULL)
                 : n->qwen.hidden ? net_list_qwen(&n->qwen, NULL)
                                  : net_list_wan(&n->wan, NULL);
    const bool is_bf16 = stored ? !strcmp(stored, "bf16") : precision == NINO_PREC_BF16;
    net_save(&l, path, is_bf16 ? NINO_BF16 : NINO_F16, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    unlink(path);
    return w;
}

static workload open_workload(const network *n)
{
    workload w = { 0 };
    nino_weights *file = make_file(n);
    if (n->llm) {
        CHECK_OK(nino_encoder_load(NINO_ENC_QWEN3, file, "", NULL, &w.e, &err), err);
        nino_weights_unref(&file);
        w.x = test_values(NINO_SHAPE(1, n->tokens, n->llm->width), 1);
        return w;
    }
    CHECK_OK(nino_diffusion_load(file, n->title, &w.d, &err), err);
    nino_weights_unref(&file);
    const int c = w.d->format->channels;
    w.owned[0] = test_values(n->frames ? NINO_SHAPE(1, n->frames, n->cells, n->cells, c)
                                       : NINO_SHAPE(1, n->cells, n->cells, c),
                             1);
    w.owned[1] = test_values(NINO_SHAPE(1, n->tokens, w.d->context_dim), 2);
    w.owned[2] = w.d->y_dim ? test_values(NINO_SHAPE(1, w.d->y_dim), 3) : NULL;
    w.in = (test_inputs){ .x = w.owned[0],
                          .context = w.owned[1],
                          .y = w.owned[2],
                          .timestep = &timestep,
                          .guidance = 3.5f };
    return w;
}

static void close_workload(workload *w)
{
    nino_diffusion_unref(&w->d);
    nino_encoder_destroy(&w->e);
    nino_array_unref(&w->x);
    for (int i = 0; i < 3; i++)
        nino_array_unref(&w->owned[i]);
}

static nino_array *encode(nino_stream *s, const workload *w)
{
    const nino_llm_in in = {
        .x = nino_upload(s, w->x, NINO_F32), .stage = "llm", .n_out = 1, .out = { 1 }
    };
    nino_array *out = nino_download(s, nino_llm_run(s, w->e->net, &in), NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    return out;
}

// Seconds of one evaluation; *flops: of its ops.
static double evaluate(const workload *w, nino_monitor *m, double *flops)
{
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = backend, .monitor = m, .precision = precision }, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    const double before = backend->flops;
    const uint64_t start = nino_now_ns();
    nino_array *out = w->e ? encode(s, w) : test_forward(s, w->d, &w->in);
    const double seconds = seconds_since(start);
    *flops = backend->flops - before;
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    return seconds;
}

static const char *name_of(void *monitor, uint32_t id)
{
    return nino_monitor_name_text(monitor, id);
}

static void print_table(const workload *w)
{
    static nino_event ev[1 << 14];
    static nino_op_stat row[256];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = nino_mon_reader_create(m);
    nino_stats *stats = nino_stats_create();
    double flops;
    uint64_t lost = 0;
    CHECK(m && reader && stats);
    const double seconds = evaluate(w, m, &flops);
    for (size_t n; (n = nino_mon_reader_read(reader, ev, sizeof(ev) / sizeof(*ev), &lost)) > 0;)
        nino_stats_add(stats, ev, n, name_of, m);
    const size_t n = by_op ? nino_stats_ops(stats, row, 256) : nino_stats_families(stats, row, 256);
    for (size_t i = 0; i < n; i++)
        printf("  %-28s %5llu launches  %8.3f s  %5.1f %%  %7.1f GFLOP/s  %6.1f GB/s\n",
               row[i].name, (unsigned long long) row[i].calls, (double) row[i].total_ns * 1e-9,
               (double) row[i].total_ns * 1e-7 / seconds, row[i].gflops, row[i].gbps);
    nino_stats_destroy(&stats);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
}

static void run(const network *n, float *const gemm[3])
{
    double speed[MAX_ROUNDS], ratio[MAX_ROUNDS], ceiling[MAX_ROUNDS], flops;
    workload w = open_workload(n);
    backend->load_ns = 0;
    const double first = evaluate(&w, NULL, &flops); // reads and packs the weights
    const double load = (double) backend->load_ns * 1e-9;
    for (int i = 0; i < rounds; i++) {
        ceiling[i] = blas_speed(gemm);
        speed[i] = flops / evaluate(&w, NULL, &flops);
        ratio[i] = speed[i] / ceiling[i];
    }
    const double gflops = median(speed) * 1e-9;
    printf("%-38s %7.2f s  %6.1f GFLOP/s  %.2f of sgemm (%.1f GFLOP/s)  %.0f GFLOP; first %.2f s, "
           "%.2f of them loading\n",
           n->title, flops * 1e-9 / gflops, gflops, median(ratio), median(ceiling) * 1e-9,
           flops * 1e-9, first, load);
    print_table(&w);
    close_workload(&w);
    nino_backend_drop_weights(backend);
}

int main(int argc, char **argv)
{
    const char *device = NULL, *only = "";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--ops"))
            by_op = true;
        else if (!strcmp(argv[i], "--device") && i + 1 < argc)
            device = argv[++i];
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--precision") && i + 1 < argc)
            precision = strcmp(argv[++i], "bf16") ? NINO_PREC_F32 : NINO_PREC_BF16;
        else if (!strcmp(argv[i], "--weights") && i + 1 < argc)
            stored = argv[++i];
        else if (!strcmp(argv[i], "--rounds") && i + 1 < argc)
            rounds = atoi(argv[++i]);
    }
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    backend = nino_device_open(device ? device : "cl", NULL, NULL, &err);
    CHECK_OK(backend ? NINO_OK : err.code, err);
    printf("device: %s, %u compute units (%s, %s)\n", backend->info.name,
           backend->info.compute_units, backend->info.platform, backend->info.driver);
    float *const gemm[3] = { gemm_operand(), gemm_operand(), gemm_operand() };
    for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++)
        if (strstr(networks[i].title, only))
            run(&networks[i], gemm);
    for (int i = 0; i < 3; i++)
        free(gemm[i]);
    nino_backend_close(&backend);
    return 0;
}
