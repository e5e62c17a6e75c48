// The full-size AutoencoderKL (ch 128, mult 1,2,4,4, z 16, random weights) on OpenCL: memory of a
// 512x512 decode, and 1024x1024 in tiles against the whole image. Minutes of work, so only in the
// long form.
#include "tests/random_vae.h"
#include "tests/vae.h"

#define MIB 1048576.0
#define CELLS 128   // 1024 pixels
#define CONTEXT 160 // pixels that a decoder's convolutions look away from a tile's border

static nino_array *noise(int cells)
{
    uint64_t seed = 7;
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, cells, cells, 16));
    CHECK(z != NULL);
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] = random_vae_value(&seed);
    return z;
}

// The promise of the library: at most 1.2 GiB above the weights, and the plan knows it exactly.
static void check_memory(test_device *d, const nino_vae *v)
{
    uint64_t act = 0, weights = 0;
    nino_error err = { 0 };
    nino_mem_stat m;
    CHECK_OK(nino_vae_decode_peak(d->s, v, 1, 64, 64, &act, &weights, &err), err);
    nino_array *z = noise(64);
    nino_array *y = test_decode(d, v, z, &(nino_tile_params){ .style = NINO_TILE_NEVER }, NULL);
    nino_pool_stat(d->be->pool, &m);
    const double above = (double) (m.peak - m.by_owner[NINO_OWN_WEIGHTS]);
    printf("  512x512: %.0f MiB above %.0f MiB of weights; plan %.0f above %.0f\n", above / MIB,
           (double) m.by_owner[NINO_OWN_WEIGHTS] / MIB, (double) act / MIB, (double) weights / MIB);
    CHECK(above <= 1.2 * 1024 * MIB);
    CHECK(fabs(above / (double) act - 1) <= 0.05);
    nino_array_unref(&y);
    nino_array_unref(&z);
}

// Away from tile borders only what is global in this network can differ: statistics of the norms
// and the attention of the middle block see one tile instead of the whole image.
static void check_tiles(test_device *d, const nino_vae *v)
{
    const nino_tile_params tiles = { .style = NINO_TILE_ALWAYS, .tile = 512, .overlap = 64 };
    nino_tile_report r;
    nino_array *z = noise(CELLS);
    nino_array *whole = test_decode(d, v, z, &(nino_tile_params){ .style = NINO_TILE_NEVER }, NULL);
    nino_array *tiled = test_decode(d, v, z, &tiles, &r);
    CHECK(r.tiled && r.n_tiles >= 4 && r.seam.n_seams >= 4);
    const int inside = r.tile_w - CONTEXT;
    nino_array *a = test_crop(tiled, 0, 0, inside, inside);
    nino_array *b = test_crop(whole, 0, 0, inside, inside);
    printf(
        "  1024x1024: %d tiles of %d, seam mean %.2f max %.1f gradient %+.2f of 255; PSNR %.1f dB "
        "in all, %.1f dB away from borders\n",
        r.n_tiles, r.tile_w, r.seam.mean, r.seam.max, r.seam.gradient, test_psnr(tiled, whole),
        test_psnr(a, b));
    CHECK(test_psnr(a, b) >= 30);
    CHECK(test_psnr(a, b) > test_psnr(tiled, whole));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&tiled);
    nino_array_unref(&whole);
    nino_array_unref(&z);
}

int main(void)
{
    const char *is_long = getenv("NINODES_TEST_LONG");
    test_dir dir;
    test_device d;
    nino_vae *v = NULL;
    nino_error err = { 0 };
    if (!is_long || !*is_long)
        return test_skip("minutes of work; NINODES_TEST_LONG=1 runs it");
    if (!test_device_open(&d, "cl", 0))
        return test_skip("no OpenCL device");
    dir = test_dir_create();
    random_vae r = random_vae_full(16);
    r.with_encoder = false;
    CHECK_OK(random_vae_save(r, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "random", &v, &err), err);
    nino_weights_unref(&w);
    check_memory(&d, v);
    check_tiles(&d, v);
    nino_vae_unref(&v);
    test_device_close(&d);
    test_dir_remove(&dir, (const char *const[]){ "v", NULL });
    return 0;
}
