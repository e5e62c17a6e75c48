// What decoding in tiles loses: PSNR and largest difference against the whole decode, by VAE, way and
// size of tiles, as a table in Markdown; and what exact bands cost. Nothing here is a speed.
//   bench/tiles [--device SEL] [--picture FILE] [VAE or checkpoint ...]
// Default: the demo's VAE, and where they are the tiny autoencoder of SD1 and a small AutoencoderKL
// with random weights, on the sheet of the demo's pictures. `make tiles` keeps the result.
#include "core/base/file.h"
#include "core/media/image.h"
#include "tests/vae.h"
#include <time.h>

#define DEMO "data/demo/models/checkpoints/demo_flux.safetensors"

static test_device dev;
static nino_error err;

static nino_array *picture_of(const char *path)
{
    nino_image image = { 0 };
    char *data = NULL;
    size_t len = 0;
    CHECK_OK(nino_file_read(path, (size_t) 1 << 28, false, &data, &len, &err), err);
    CHECK_OK(nino_image_read(data, len, path, true, &image, &err), err);
    CHECK(image.channels >= 3);
    nino_array *a = nino_array_ref(image.pixels);
    nino_image_release(&image);
    free(data);
    return a;
}

static nino_vae *vae_of(const char *path)
{
    nino_vae *v = NULL;
    char encoder[400];
    const char *half = strstr(path, "_decoder.");
    nino_weights *w = test_open("%s", path), *e = NULL;
    if (half) {
        snprintf(encoder, sizeof(encoder), "%.*s_encoder.%s", (int) (half - path), path,
                 half + strlen("_decoder."));
        e = test_open("%s", encoder);
        CHECK_OK(nino_vae_tiny_load(e, w, NULL, &v, &err), err);
    } else {
        CHECK_OK(nino_vae_load(w, path, &v, &err), err);
    }
    nino_weights_unref(&w);
    nino_weights_unref(&e);
    return v;
}

static void row(const nino_vae *v, const nino_array *z, const nino_array *want, const char *way,
                nino_tile_params p)
{
    nino_tile_report r;
    nino_array *got = test_decode(&dev, v, z, &p, &r);
    if (r.tiled)
        printf("| %s | %d | %d | %d | %.1f | %.1f |\n", way, p.tile, r.overlap, r.n_tiles,
               test_psnr(got, want), 255 * test_max_diff(got, want));
    fflush(stdout);
    nino_array_unref(&got);
}

static void measure(const char *path, const nino_array *picture, const char *picture_name)
{
    static const int tiles[] = { 768, 512, 256, 128 };
    const nino_tile_params whole = { .style = NINO_TILE_NEVER };
    nino_vae *v = vae_of(path);
    nino_array *z = test_encode(&dev, v, picture, &whole, NULL);
    nino_array *want = test_decode(&dev, v, z, &whole, NULL);
    const int64_t *d = want->shape.dim;
    printf("\n%s (%s), %s, %d x %d, f32:\n\n| way | tile | overlap | tiles | PSNR dB | largest "
           "difference /255 |\n|---|--:|--:|--:|--:|--:|\n",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, v->detail, picture_name, (int) d[2],
           (int) d[1]);
    for (int i = 0; i < 4; i++) {
        const nino_tile_params p = { .style = NINO_TILE_ALWAYS,
                                     .tile = tiles[i],
                                     .overlap = tiles[i] / 8 };
        row(v, z, want, "one pass", p);
    }
    for (int i = 1; i < 3; i++)
        row(v, z, want, "three passes (stock)",
            (nino_tile_params){
                .style = NINO_TILE_STOCK, .tile = tiles[i], .overlap = tiles[i] / 8 });
    for (int i = 2; i < 4 && v->decode_bands; i++)
        row(v, z, want, "exact bands",
            (nino_tile_params){ .style = NINO_TILE_EXACT, .tile = tiles[i] });
    nino_array_unref(&z);
    nino_array_unref(&want);
    nino_vae_unref(&v);
}

// ---- what exact bands cost -----------------------------------------------------------------------

static void put(void *priv, int64_t first, nino_tensor *rows)
{
    nino_array *a = nino_download(priv, rows, NINO_F32);
    (void) first;
    nino_array_unref(&a);
}

// rows 0: whole. Seconds of the processor, all threads; *mib: the highest use besides weights.
static double decode_once(const nino_vae *v, const nino_array *z, int64_t rows, bool on_host,
                          double *mib)
{
    const nino_vae_bands how = { rows, on_host, put, dev.s };
    nino_mem_stat m;
    nino_pool_reset_peak(dev.be->pool);
    const clock_t begin = clock();
    nino_tensor *t = nino_upload(dev.s, z, nino_stream_act_type(dev.s));
    if (rows)
        v->decode_bands(dev.s, v, t, &how);
    else
        put(dev.s, 0, v->decode(dev.s, v, t));
    CHECK_OK(nino_stream_finish(dev.s, &err), err);
    const double seconds = (double) (clock() - begin) / CLOCKS_PER_SEC;
    nino_pool_stat(dev.be->pool, &m);
    *mib = (double) (m.peak - m.by_owner[NINO_OWN_WEIGHTS]) / 0x1p20;
    return seconds;
}

static void cost(const char *path, const nino_array *picture)
{
    enum { N = 3, WAYS = 4 };
    static const char *const names[] = { "whole", "exact, 256 rows", "exact, 64 rows",
                                         "exact, 64 rows, maps on the host" };
    static const int rows[] = { 0, 256, 64, 64 };
    double ratio[WAYS][N], mib[WAYS];
    nino_vae *v = vae_of(path);
    nino_array *z = test_encode(&dev, v, picture, &(nino_tile_params){ 0 }, NULL);
    decode_once(v, z, 0, false, mib); // warms up
    decode_once(v, z, 64, true, mib);
    for (int i = 0; i < N; i++) {
        const double whole = decode_once(v, z, 0, false, &mib[0]);
        for (int k = 0; k < WAYS; k++)
            ratio[k][i] = k ? decode_once(v, z, rows[k], k == 3, &mib[k]) / whole : 1;
    }
    printf("\nCost, %s, time of the processor as ratios within %d rounds:\n\n| way | MiB beside "
           "weights | "
           "time, least and most |\n|---|--:|--:|\n",
           strrchr(path, '/') + 1, N);
    for (int k = 0; k < WAYS; k++) {
        double lo = ratio[k][0], hi = lo;
        for (int i = 1; i < N; i++) {
            lo = fmin(lo, ratio[k][i]);
            hi = fmax(hi, ratio[k][i]);
        }
        printf("| %s | %.0f | %.2f to %.2f |\n", names[k], mib[k], lo, hi);
    }
    nino_array_unref(&z);
    nino_vae_unref(&v);
}

int main(int argc, char **argv)
{
    const char *device = "cl", *picture = "data/demo/sheet.png", *assets = test_assets();
    char path[400];
    int first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2)
        *(strcmp(argv[first], "--device") ? &picture : &device) = argv[first + 1];
    if (!test_device_open(&dev, device, 0))
        CHECK(test_device_open(&dev, "ref", 0));
    nino_array *a = picture_of(picture);
    const char *name = strrchr(picture, '/') ? strrchr(picture, '/') + 1 : picture;
    printf("What tiles lose against the whole decode, on %s.\n", dev.be->info.name);
    for (int i = first; i < argc; i++)
        measure(argv[i], a, name);
    if (first == argc) {
        cost(DEMO, a);
        measure(DEMO, a, name);
    }
    static const char *const more[] = { "vae_approx/taesd_decoder.safetensors",
                                        "vae/ae_tiny.safetensors" };
    for (int i = 0; i < 2 && assets && first == argc; i++) {
        snprintf(path, sizeof(path), "%s/models/%s", assets, more[i]);
        measure(path, a, name);
    }
    nino_array_unref(&a);
    test_device_close(&dev);
    return 0;
}
