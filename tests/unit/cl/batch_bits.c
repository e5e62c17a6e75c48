// Pictures of a batch have the bits that they have alone, however many go through a VAE together, since
// plans choose that by forecasts: in the device's own schedule, in the long form in each, in 16 bits too.
#include "core/tile/tile.h"
#include "tests/cl.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

enum { PICTURES = 5, C = 4 };

static nino_error err;
static nino_vae *vae;

static void make(void)
{
    static const char *const files[] = { "v", NULL };
    const random_vae net = { .ch = 32,
                             .mult = { 1, 2 },
                             .n_levels = 2,
                             .n_res = 1,
                             .z = C,
                             .with_encoder = true,
                             .dtype = NINO_F32,
                             .seed = 5 };
    const test_dir dir = test_dir_create();
    CHECK_OK(random_vae_save(net, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "v", &vae, &err), err);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
}

static nino_array *batch(nino_shape shape)
{
    uint64_t state = 7;
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = 0.5f + 0.2f * random_vae_value(&state);
    return a;
}

// With so many together; 0: only the first picture, alone.
static nino_array *run(nino_stream *s, bool is_decode, const nino_array *in, int images)
{
    const nino_tile_params p = { .style = NINO_TILE_NEVER, .tile = 512, .overlap = 64 };
    const nino_choice c = { .images = images };
    nino_array *out = NULL;
    nino_stream_set_choice(s, &c);
    CHECK_OK(is_decode ? nino_vae_decode_tiled(s, vae, in, &p, &out, NULL, &err)
                       : nino_vae_encode_tiled(s, vae, in, &p, &out, NULL, &err),
             err);
    nino_stream_set_choice(s, NULL);
    return out;
}

static void test_size(nino_stream *s, const char *schedule, bool is_decode, int h, int w)
{
    const int unit = is_decode ? 1 : vae->factor;
    nino_array *in = batch(NINO_SHAPE(PICTURES, h * unit, w * unit, is_decode ? C : 3));
    nino_array *want = run(s, is_decode, in, 1);
    for (int together = 2; together <= PICTURES; together++) {
        nino_array *got = run(s, is_decode, in, together);
        if (memcmp(got->data, want->data, want->bytes)) {
            fprintf(stderr, "%s, %s, %s of %d x %d cells: other bits with %d of %d together\n",
                    schedule, nino_stream_storage(s), is_decode ? "decode" : "encode", w, h,
                    together, PICTURES);
            exit(1);
        }
        nino_array_unref(&got);
    }
    nino_array_unref(&want);
    nino_array_unref(&in);
}

// which: NULL: the device's own.
static void test_schedule(const nino_sched *which, nino_precision precision)
{
    // so few cells that products have kernels for few rows; around the least that Winograd is for
    static const int sizes[][2] = {
        { 3, 2 }, { 3, 4 }, { 5, 7 }, { 9, 8 }, { 16, 15 }, { 24, 22 }
    };
    nino_backend *be = nino_cl_open(test_cl_device(), NULL, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    if (which) { // as a GPU of that schedule, for which products are split
        be->profile.schedule = which;
        be->profile.units = 40;
        be->profile.peak_f16 = 59e12;
        be->profile.peak_f32 = 29e12;
        be->profile.bandwidth = 220e9;
    }
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = be, .precision = precision }, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int k = 0; k < 2; k++)
            test_size(s, be->profile.schedule->name, k, sizes[i][0], sizes[i][1]);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

int main(void)
{
    make();
    test_schedule(NULL, NINO_PREC_F32);
    for (const nino_sched *k = nino_scheds; getenv("NINODES_TEST_LONG") && k->name; k++) {
        test_schedule(k, NINO_PREC_F32);
        if (k->has_matrix)
            test_schedule(k, NINO_PREC_F16);
    }
    nino_vae_unref(&vae);
    return 0;
}
