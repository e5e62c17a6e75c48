// The TAESD family against torch: the demo model of data/tiny, and the published networks with a
// real photo when the test data is there.
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/media/png.h"
#include "core/model/latent_format.h"
#include "tests/vae.h"

static const nino_tile_params whole = { .style = NINO_TILE_NEVER };

static void check_demo(test_device *d)
{
    nino_error err = { 0 };
    nino_weights *w = test_open("data/tiny/models/vae/vae_tiny.safetensors");
    nino_weights *e = test_open("data/tiny/expected.safetensors");
    nino_vae *v = NULL;
    CHECK_OK(nino_vae_load(w, "vae_tiny", &v, &err), err);
    CHECK(v->kind == NINO_VAE_TINY && v->channels == 4 && v->factor == 8);
    CHECK(v->has_encoder && v->has_decoder);
    CHECK(v->scale == 1 && v->shift == 0); // from vae_scale and vae_shift of the file
    nino_array *z = test_tensor(e, "decode_in", true), *y = test_tensor(e, "decode_out", true);
    nino_array *x = test_tensor(e, "encode_in", true), *m = test_tensor(e, "encode_out", true);
    for (int64_t i = 0; i < nino_shape_count(&y->shape); i++)
        nino_array_f32(y)[i] = fminf(fmaxf(nino_array_f32(y)[i], 0), 1);
    nino_array *got = test_decode(d, v, z, &whole, NULL);
    printf("  demo decode: nmse %.2e\n", test_nmse(got, y));
    CHECK(test_nmse(got, y) <= 1e-9);
    nino_array_unref(&got);
    got = test_encode(d, v, x, &whole, NULL);
    printf("  demo encode: nmse %.2e\n", test_nmse(got, m));
    CHECK(test_nmse(got, m) <= 1e-9);
    nino_array *all[] = { z, y, x, m, got };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    nino_weights_unref(&e);
}

// The whole landscape in 16-bit storage: what a GPU does by default.
static void check_storage(test_device *d, nino_precision precision, const char *what, double psnr)
{
    nino_error err = { 0 };
    nino_weights *w = test_open("data/tiny/models/vae/vae_tiny.safetensors");
    nino_weights *l = test_open("data/tiny/input/demo.latent");
    nino_vae *v = NULL;
    nino_array *z = NULL;
    CHECK_OK(nino_vae_load(w, "vae_tiny", &v, &err), err);
    CHECK_OK(nino_latent_load(l, &z, &err), err);
    nino_array *part = test_crop(z, 30, 8, 16, 24);
    nino_array *want = test_decode(d, v, part, &whole, NULL);
    nino_stream_set_precision(d->s, precision);
    nino_array *got = test_decode(d, v, part, &whole, NULL);
    nino_stream_set_precision(d->s, NINO_PREC_F32);
    printf("  demo in %s storage: %.1f dB\n", what, test_psnr(got, want));
    CHECK(test_psnr(got, want) > psnr && test_max_diff(got, want) > 0);
    nino_array *all[] = { z, part, want, got };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    nino_weights_unref(&l);
}

// ---- published networks ----------------------------------------------------------------------
static nino_vae *load(const char *assets, const char *family, const char *decoder_ext)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    nino_weights *enc = test_open("%s/models/vae_approx/%s_encoder.safetensors", assets, family);
    nino_weights *dec =
        test_open("%s/models/vae_approx/%s_decoder.%s", assets, family, decoder_ext);
    CHECK_OK(nino_vae_tiny_load(enc, dec, family, &v, &err), err);
    CHECK_STR(v->family, family);
    CHECK(v->factor == (v->fold ? 16 : 8) && v->has_encoder && v->has_decoder);
    nino_weights_unref(&enc);
    nino_weights_unref(&dec);
    return v;
}

static nino_array *read_png(const char *dir, const char *name)
{
    char path[512], *data;
    size_t len;
    nino_error err = { 0 };
    nino_png p = { 0 };
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    CHECK_OK(nino_file_read(path, 1 << 26, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &p, &err), err);
    free(data);
    nino_array *a = nino_array_ref(p.pixels);
    nino_png_release(&p);
    return a;
}

// 255 x truncated, as SaveImage does, back on the scale of 0..1
static void truncate_pixels(nino_array *a)
{
    uint8_t *u = malloc((size_t) nino_shape_count(&a->shape));
    CHECK(u != NULL);
    nino_to_u8_truncated(u, nino_array_f32(a), (size_t) nino_shape_count(&a->shape));
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = (float) u[i] / 255;
    free(u);
}

static void check_photo(test_device *d, const char *assets, const char *family, int channels,
                        bool with_encoder)
{
    char dir[512], name[64];
    nino_error err = { 0 };
    nino_vae *v = load(assets, family, "safetensors");
    CHECK(v->channels == channels);
    snprintf(dir, sizeof(dir), "%s/taesd_ref", assets);
    nino_weights *w = test_open("%s/%s_shiba.latent", dir, family);
    nino_array *z = NULL;
    CHECK_OK(nino_latent_load(w, &z, &err), err);
    if (v->takes_unfolded) {
        nino_array *folded = nino_latent_fold(z, v->fold);
        CHECK(folded);
        nino_array_unref(&z);
        z = folded;
    }
    snprintf(name, sizeof(name), "%s_shiba_decoded.png", family);
    nino_array *want = read_png(dir, name), *photo = read_png(dir, "shiba_512x512.png");
    nino_array *got = test_decode(d, v, z, &whole, NULL);
    if (with_encoder) {
        nino_array *again = test_encode(d, v, photo, &whole, NULL);
        printf("  %s: encode nmse %.1e\n", family, test_nmse(again, z));
        CHECK(test_nmse(again, z) <= 1e-6);
        nino_array_unref(&again);
    }
    truncate_pixels(got);
    const double psnr = test_psnr(got, want), worst = 255 * test_max_diff(got, want);
    printf("  %s: %.1f dB, largest difference %.0f, %.1f dB to the photo\n", family, psnr, worst,
           test_psnr(got, photo));
    CHECK(psnr >= 50 && worst <= 2.01);
    nino_array *all[] = { z, want, photo, got };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    nino_weights_unref(&w);
    nino_vae_unref(&v);
}

// The corner of the photo: near enough to it, nothing of the rest is seen (not true of TAEF2, whose
// pools look at the whole picture). Quick enough for ref.
static void check_corner(test_device *d, const char *assets)
{
    nino_vae *v = load(assets, "taesd", "safetensors");
    nino_weights *w = test_open("%s/taesd_ref/taesd_shiba.safetensors", assets);
    nino_array *z = test_tensor(w, "latent_comfy", true);
    nino_array *want = test_tensor(w, "decoded_rgb01", true);
    nino_array *part = test_crop(z, 0, 0, 20, 20);
    nino_array *got = test_decode(d, v, part, &whole, NULL);
    nino_array *a = test_crop(got, 0, 0, 16, 16), *b = test_crop(want, 0, 0, 16, 16);
    printf("  taesd, corner: nmse %.1e\n", test_nmse(a, b));
    CHECK(test_nmse(a, b) <= 1e-9);
    nino_array *all[] = { z, want, part, got, a, b };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    nino_weights_unref(&w);
    nino_vae_unref(&v);
}

// The .pth that upstream publishes holds what the safetensors file holds.
static void check_pth(test_device *d, const char *assets)
{
    nino_vae *a = load(assets, "taef2", "safetensors"), *b = load(assets, "taef2", "pth");
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 3, 4, 128));
    for (int i = 0; i < 3 * 4 * 128; i++)
        nino_array_f32(z)[i] = (float) (i * 5 % 17) / 8 - 1;
    nino_array *p = test_decode(d, a, z, &whole, NULL), *q = test_decode(d, b, z, &whole, NULL);
    printf("  taef2, .pth against .safetensors: largest difference %.1e\n", test_max_diff(p, q));
    CHECK(test_max_diff(p, q) <= 1e-6);
    nino_array_unref(&z);
    nino_array_unref(&p);
    nino_array_unref(&q);
    nino_vae_unref(&a);
    nino_vae_unref(&b);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const char *assets = test_assets();
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL;
    if (!assets)
        test_skip_part("the published networks");
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        check_demo(&d);
        check_storage(&d, NINO_PREC_F16, "f16", 50);
        check_storage(&d, NINO_PREC_BF16, "bf16", 35);
        if (assets) {
            check_corner(&d, assets);
            check_pth(&d, assets);
        }
        if (assets && (is_long || !strcmp(*name, "cl"))) {
            check_photo(&d, assets, "taesd", 4, true);
            check_photo(&d, assets, "taef1", 16, is_long);
            check_photo(&d, assets, "taef2", 128, is_long);
        }
        test_device_close(&d);
    }
    return 0;
}
