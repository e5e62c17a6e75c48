// Upscale models against what torch and chaiNNer-org/spandrel make of one small picture: the network
// alone (y_raw), and with the edge that it needs, clamped and cropped, as a tile is computed (y).
#include "core/model/upscale/upscale.h"
#include "core/tile/tile_upscale.h"
#include "tests/vae.h"

static const struct {
    const char *name, *file, *family;
    int scale, unshuffle;
    bool is_own; // is part of the project's own data
} cases[] = {
    { "up_old_x4", "up_old_x4_tiny.pth", "esrgan", 4, 1, true },
    { "up_realesrgan_x2", "up_realesrgan_x2_tiny.safetensors", "esrgan", 2, 2, true },
    { "up_compact_x2", "up_compact_x2_tiny.safetensors", "compact", 2, 1, true },
    { "up_realesrgan_x4", "up_realesrgan_x4_tiny.pth", "esrgan", 4, 1, false },
    { "up_bsrgan_x2", "up_bsrgan_x2_tiny.safetensors", "esrgan", 2, 1, false },
    { "up_compact_x4", "up_compact_x4_tiny.pth", "compact", 4, 1, false },
};

// The network alone, mirrored up to the next multiple of what it unshuffles.
static nino_array *raw(test_device *d, const nino_upscale *u, const nino_array *x, int f)
{
    nino_error err = { 0 };
    const int64_t *s = x->shape.dim, h = (s[1] + f - 1) / f * f, w = (s[2] + f - 1) / f * f;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3));
    for (int64_t i = 0; i < h * w; i++)
        memcpy(nino_array_f32(a) + i * 3,
               nino_array_f32(x) +
                   (nino_upscale_source(s[1], i / w) * s[2] + nino_upscale_source(s[2], i % w)) * 3,
               3 * sizeof(float));
    nino_tensor *t = u->run(d->s, u, nino_upload(d->s, a, NINO_F32));
    nino_array_unref(&a);
    a = nino_download(d->s, t, NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    nino_array *y = test_crop(a, 0, 0, (int) s[1] * u->scale, (int) s[2] * u->scale);
    nino_array_unref(&a);
    return y;
}

static void check_one(test_device *d, const char *data, size_t i)
{
    nino_error err = { 0 };
    nino_upscale *u = NULL;
    nino_weights *w = test_open("%s/models/upscale_models/%s", data, cases[i].file);
    nino_weights *io = test_open("%s/synth/%s_io.safetensors", data, cases[i].name);
    CHECK_OK(nino_upscale_load(w, cases[i].file, &u, &err), err);
    CHECK_STR(u->family, cases[i].family);
    CHECK(u->scale == cases[i].scale);
    nino_array *x = test_tensor(io, "x", true), *want = test_tensor(io, "y_raw", true);
    nino_array *y = raw(d, u, x, cases[i].unshuffle);
    printf("  %s: nmse %.1e", cases[i].name, test_nmse(y, want));
    CHECK(test_nmse(y, want) <= 1e-6);
    nino_array_unref(&y);
    nino_array_unref(&want);
    want = test_tensor(io, "y", true);
    CHECK_OK(nino_upscale_tiled(d->s, u, x, &y, NULL, &err), err);
    printf(", as a tile %.1e\n", test_nmse(y, want));
    CHECK(test_nmse(y, want) <= 1e-6);
    nino_array_unref(&y);
    nino_array_unref(&want);
    nino_array_unref(&x);
    nino_upscale_unref(&u);
    nino_weights_unref(&io);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));)
            for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                if (cases[i].is_own || !test_data_is_own(data))
                    check_one(&d, data, i);
        test_device_close(&d);
    }
    return 0;
}
