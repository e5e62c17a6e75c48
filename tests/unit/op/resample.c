// Resampling tables and the op against PyTorch (nearest-exact, bilinear, bicubic, area) and Pillow
// (Lanczos).
#include "core/op/backend.h"
#include "core/op/resample.h"
#include "tests/test.h"
#include "tests/unit/op/torch_values.h"

#include <math.h>

static nino_error err;

static void test_values(void)
{
    static const struct {
        nino_filter filter;
        const float *want[2];
    } cases[NINO_FILTER_COUNT] = {
        { NINO_FILTER_NEAREST, { nearest_exact_8x4, nearest_exact_3x11 } },
        { NINO_FILTER_BILINEAR, { bilinear_8x4, bilinear_3x11 } },
        { NINO_FILTER_BICUBIC, { bicubic_8x4, bicubic_3x11 } },
        { NINO_FILTER_AREA, { area_8x4, area_3x11 } },
        { NINO_FILTER_LANCZOS, { lanczos_8x4, lanczos_3x11 } },
    };
    static const int sizes[2][2] = { { 8, 4 }, { 3, 11 } };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    const nino_stream_params p = { .backend = be };
    nino_stream *s = nino_stream_create(&p, &err);
    CHECK(s);
    // Two images of two channels: the pattern, and its negative.
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(2, 5, 7, 2));
    for (int i = 0; i < 140; i++) {
        const double v = (double) ((i % 70 / 2 * 13 + 5) % 31) / 31 * 2 - 1;
        nino_array_f32(x)[i] = (float) (i % 2 ? -v : v);
    }
    for (int c = 0; c < NINO_FILTER_COUNT; c++)
        for (int k = 0; k < 2; k++) {
            const int h = sizes[k][0], w = sizes[k][1];
            nino_tensor *t = nino_resample(s, nino_upload(s, x, NINO_F32), h, w, cases[c].filter);
            nino_array *y = nino_download(s, t, NINO_F32);
            CHECK(y && y->shape.dim[0] == 2 && y->shape.dim[1] == h && y->shape.dim[2] == w);
            for (int i = 0; i < 4 * h * w; i++) {
                const float want = cases[c].want[k][i / 2 % (h * w)] * (i % 2 ? -1.0f : 1.0f);
                CHECK(fabsf(nino_array_f32(y)[i] - want) < 2e-6f);
            }
            nino_array_unref(&y);
        }
    nino_tensor *t = nino_resample(s, nino_upload(s, x, NINO_F32), 0, 4, NINO_FILTER_AREA);
    CHECK(!t && nino_stream_status(s, &err) == NINO_ERR_ARG);
    nino_array_unref(&x);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

// Any pair of sizes: indices inside the input, weights that sum to one.
static void test_tables(void)
{
    static const int sizes[] = { 1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 100, 333 };
    for (int f = 0; f < NINO_FILTER_COUNT; f++)
        for (int i = 0; i < 12; i++)
            for (int o = 0; o < 12; o++) {
                const int in = sizes[i], out = sizes[o];
                nino_resample_axis a;
                CHECK_OK(nino_resample_make((nino_filter) f, in, out, &a, &err), err);
                CHECK(a.taps >= 1 && a.taps <= in);
                for (int k = 0; k < out; k++) {
                    double sum = 0;
                    CHECK(a.start[k] >= 0 && a.start[k] + a.taps <= in);
                    CHECK(k == 0 || a.start[k] >= a.start[k - 1]);
                    for (int t = 0; t < a.taps; t++)
                        sum += a.weight[k * a.taps + t];
                    CHECK(fabs(sum - 1) < 1e-5);
                    if (in == out) // every filter leaves an image of the same size alone
                        CHECK(a.weight[k * a.taps + (k - a.start[k])] > 0.99999f);
                }
                nino_resample_release(&a);
            }
}

int main(void)
{
    test_tables();
    test_values();
    return 0;
}
