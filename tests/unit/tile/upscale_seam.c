// What is told of the seams of enlarged pictures, against the same computed from what comes out: the step across
// each line where a tile begins or ends, less the steps beside it, over all pictures.
#include "core/tile/tile_upscale.h"
#include "tests/unit/tile/pointwise.h"

#include <math.h>

enum { N = 2, W = 200, H = 150, F = 2, SIDE = 128, SHARED = 32 };

// Mean |difference| of the values on both sides of column (or row) `at` of picture b.
static double step(const nino_array *a, int b, int at, bool is_row)
{
    const int w = W * F, h = H * F, n = is_row ? w : h;
    const float *p = nino_array_f32(a) + (size_t) b * w * h * 3;
    double sum = 0;
    for (int i = 0; i < n * 3; i++) {
        const int k = i % 3, along = i / 3;
        const int to = is_row ? at * w + along : along * w + at, from = to - (is_row ? w : 1);
        sum += fabs((double) p[to * 3 + k] - (double) p[from * 3 + k]);
    }
    return sum;
}

static double gradient(const nino_array *a)
{
    static const int lines[] = { (SIDE - SHARED) * F,
                                 SIDE * F }; // where the second begins, the first ends
    double across = 0, beside = 0, n = 0;
    for (int b = 0; b < N; b++)
        for (int k = 0; k < 4; k++) {
            const int at = lines[k / 2];
            across += step(a, b, at, k % 2);
            beside += step(a, b, at - 1, k % 2) + step(a, b, at + 1, k % 2);
            n += 3.0 * F * (k % 2 ? W : H);
        }
    return 255 * (across / n - beside / (2 * n));
}

int main(void)
{
    nino_error err = { .code = NINO_OK };
    nino_tile_report r;
    nino_array *out = NULL, *in = nino_array_create(NINO_F32, NINO_SHAPE(N, H, W, 3));
    const nino_upscale u = {
        .refs = 1, .name = "larger", .scale = F, .least = 1, .multiple = 1, .run = pw_upscale
    };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK(in && be && s);
    for (int i = 0; i < N * H * W * 3; i++)
        nino_array_f32(in)[i] = (float) (i * 37 % 101 + i / 3 % W) / 400;
    pw_make();
    nino_stream_set_choice(s, &(nino_choice){ .tile = SIDE });
    CHECK_OK(nino_upscale_tiled(s, &u, in, &out, &r, &err), err);
    CHECK(r.n_tiles == 4 && r.seam.n_seams == N * 4);
    CHECK(r.seam.pixels == (uint64_t) N * W * H * F * F);
    const int computed = (SIDE + W - SIDE + SHARED) * (SIDE + H - SIDE + SHARED);
    CHECK(r.seam.recomputed == (uint64_t) N * (uint64_t) (computed - W * H) * F * F);
    const double want = gradient(out);
    printf("  gradient %.6f, told %.6f\n", want, r.seam.gradient);
    CHECK(fabs(want) > 1e-3 && fabs(r.seam.gradient - want) <= 1e-4 * fabs(want));
    nino_array_unref(&in);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    pw_release();
    nino_backend_close(&be);
    return 0;
}
