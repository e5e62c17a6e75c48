// Scaling of images and latents: sizes, crops and values of every method. Expected numbers were
// worked out by hand from the definitions, or follow from symmetry.
#include <math.h>

#include "core/node/util.h"
#include "core/op/backend.h"
#include "tests/test.h"

static nino_run run;

static nino_array *make(int64_t h, int64_t w, int64_t c, const float *values)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, c));
    CHECK(a);
    for (int64_t i = 0; values && i < h * w * c; i++)
        nino_array_f32(a)[i] = values[i];
    return a;
}

// Scales and gives x back.
static nino_array *scaled(nino_array *x, int64_t w, int64_t h, nino_scale_method m, bool center)
{
    nino_array *out = NULL;
    nino_error err = { 0 };
    CHECK_OK(nino_rescale(&run, x, w, h, m, center, &out, &err), err);
    CHECK(out->shape.rank == x->shape.rank);
    CHECK(out->shape.dim[x->shape.rank - 3] == h && out->shape.dim[x->shape.rank - 2] == w);
    nino_array_unref(&x);
    return out;
}

static void check_values(nino_array *a, const float *want, int64_t n, float tol)
{
    CHECK(nino_shape_count(&a->shape) == n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(nino_array_f32(a)[i] - want[i]) <= tol)) {
            fprintf(stderr, "value %d is %.7g, expected %.7g\n", (int) i,
                    (double) nino_array_f32(a)[i], (double) want[i]);
            exit(1);
        }
    nino_array_unref(&a);
}

// A flat picture stays flat, whatever the method and size; a size of its own changes nothing.
static void flat_and_same(void)
{
    float ramp[5 * 7 * 3], same[5 * 7 * 3];
    for (int i = 0; i < 105; i++) {
        same[i] = 0.6f;
        ramp[i] = (float) (i * 37 % 256) / 255.0f;
    }
    for (int m = NINO_SCALE_NEAREST; m <= NINO_SCALE_LANCZOS; m++) {
        static const int64_t size[][2] = { { 3, 2 }, { 14, 10 }, { 1, 1 }, { 7, 11 } };
        const float level = m == NINO_SCALE_LANCZOS ? 153.0f / 255.0f : 0.6f;
        for (int i = 0; i < 4; i++) {
            nino_array *a =
                scaled(make(5, 7, 3, same), size[i][0], size[i][1], (nino_scale_method) m, i & 1);
            for (int64_t k = 0; k < nino_shape_count(&a->shape); k++)
                CHECK(fabsf(nino_array_f32(a)[k] - level) < 1e-6f);
            nino_array_unref(&a);
        }
        check_values(scaled(make(5, 7, 3, ramp), 7, 5, (nino_scale_method) m, false), ramp, 105,
                     2e-6f);
    }
}

static void plain_methods(void)
{
    const float row[] = { 0, 1, 2, 3 };
    check_values(scaled(make(1, 4, 1, row), 2, 1, NINO_SCALE_NEAREST, false),
                 (const float[]){ 1, 3 }, 2, 0);
    check_values(scaled(make(1, 4, 1, row), 8, 1, NINO_SCALE_NEAREST, false),
                 (const float[]){ 0, 0, 1, 1, 2, 2, 3, 3 }, 8, 0);
    check_values(scaled(make(1, 4, 1, row), 2, 1, NINO_SCALE_AREA, false),
                 (const float[]){ 0.5f, 2.5f }, 2, 1e-6f);
    check_values(scaled(make(1, 4, 1, row), 8, 1, NINO_SCALE_BILINEAR, false),
                 (const float[]){ 0, 0.25f, 0.75f, 1.25f, 1.75f, 2.25f, 2.75f, 3 }, 8, 1e-6f);
    check_values(scaled(make(1, 4, 1, row), 2, 1, NINO_SCALE_BILINEAR, false),
                 (const float[]){ 0.5f, 2.5f }, 2, 1e-6f);
}

static void crops(void)
{
    // 6 wide, 2 high -> square: two columns off each side
    const float wide[] = { 0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15 };
    check_values(scaled(make(2, 6, 1, wide), 2, 2, NINO_SCALE_NEAREST, true),
                 (const float[]){ 2, 3, 12, 13 }, 4, 0);
    check_values(scaled(make(6, 2, 1, wide), 2, 2, NINO_SCALE_NEAREST, true),
                 (const float[]){ 4, 5, 10, 11 }, 4, 0);
    // (3 - 2) / 2 is a half: it rounds to even, so nothing is cut off
    const float three[] = { 0, 1, 2, 3, 4, 5 };
    check_values(scaled(make(2, 3, 1, three), 3, 3, NINO_SCALE_NEAREST, true),
                 (const float[]){ 0, 1, 2, 3, 4, 5, 3, 4, 5 }, 9, 0);
    // five dimensions: frames are scaled one by one
    nino_array *video = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 1, 2, 1));
    CHECK(video);
    for (int i = 0; i < 4; i++)
        nino_array_f32(video)[i] = (float) i;
    check_values(scaled(video, 4, 1, NINO_SCALE_NEAREST, false),
                 (const float[]){ 0, 0, 1, 1, 2, 2, 3, 3 }, 8, 0);
}

// Half-way between perpendicular vectors of lengths 1 and 3: the direction between, length 2.
static void bislerp(void)
{
    const float ab[] = { 1, 0, 0, 3 };
    const float s = sqrtf(0.5f);
    nino_array *a = scaled(make(1, 2, 2, ab), 4, 1, NINO_SCALE_BISLERP, false);
    const float q = (float) M_PI / 8; // a quarter of the way is at 22.5 degrees, length 1.5
    const float want[] = { 1, 0, 1.5f * cosf(q), 1.5f * sinf(q), 2.5f * sinf(q), 2.5f * cosf(q),
                           0, 3 };
    check_values(a, want, 8, 2e-6f);
    a = scaled(make(1, 2, 2, ab), 1, 1, NINO_SCALE_BISLERP, false);
    check_values(a, (const float[]){ 2 * s, 2 * s }, 2, 2e-6f);
    // opposite vectors have no arc between them; zeros have no direction
    const float opposite[] = { 1, 0, -1, 0 }, zero[] = { 0, 0, 0, 0 };
    check_values(scaled(make(1, 2, 2, opposite), 1, 1, NINO_SCALE_BISLERP, false),
                 (const float[]){ 0, 0 }, 2, 1e-6f);
    check_values(scaled(make(1, 2, 2, zero), 3, 1, NINO_SCALE_BISLERP, false),
                 (const float[]){ 0, 0, 0, 0, 0, 0 }, 6, 0);
}

// Lanczos through 8 bits: one white pixel of 4, doubled. Weights of the 8 outputs over the inputs
// are sinc(x) sinc(x/3) at distances .25, .75 ..., normalised over what is inside.
static void lanczos(void)
{
    const float white[] = { 0, 1, 0, 0 };
    float want[8];
    for (int x = 0; x < 8; x++) {
        const double at = (x + 0.5) / 2;
        double sum = 0, mine = 0;
        for (int i = 0; i < 4; i++) {
            const double d = i + 0.5 - at, p = M_PI * d;
            const double w = fabs(d) >= 3     ? 0
                             : fabs(d) < 1e-9 ? 1
                                              : 3 * sin(p) * sin(p / 3) / (p * p);
            sum += w;
            mine += i == 1 ? w : 0;
        }
        const double v = floor(mine / sum * 255 + 0.5);
        want[x] = (float) (v < 0 ? 0 : v > 255 ? 255 : v) / 255.0f;
    }
    check_values(scaled(make(1, 4, 1, white), 8, 1, NINO_SCALE_LANCZOS, false), want, 8, 1e-6f);
    check_values(scaled(make(4, 1, 1, white), 1, 8, NINO_SCALE_LANCZOS, false), want, 8, 1e-6f);
    // values are cut to bytes before: 0.999 is 254, 2 is 255, NaN 0
    const float odd[] = { 0.999f, 2.0f, -1.0f, NAN };
    check_values(scaled(make(1, 4, 1, odd), 4, 1, NINO_SCALE_LANCZOS, false),
                 (const float[]){ 254.0f / 255, 1, 0, 0 }, 4, 1e-6f);
}

// With alpha, colours count by it: what is invisible leaves no trace.
static void lanczos_alpha(void)
{
    const float half[] = { 1, 0, 0, 1, 0, 1, 0, 0 }; // red, and green that nobody sees
    nino_array *a = scaled(make(1, 2, 4, half), 1, 1, NINO_SCALE_LANCZOS, false);
    check_values(a, (const float[]){ 1, 0, 0, 128.0f / 255 }, 4, 1e-6f);
    const float thin[] = { 0.5f, 0.25f, 1, 0.1f };
    a = scaled(make(1, 1, 4, thin), 1, 1, NINO_SCALE_LANCZOS, false); // the same size: as it is
    check_values(a, (const float[]){ 127.0f / 255, 63.0f / 255, 1, 25.0f / 255 }, 4, 1e-6f);
}

static void refusals(void)
{
    nino_array *x = make(2, 2, 1, NULL), *out = NULL;
    nino_error err = { 0 };
    CHECK(nino_rescale(&run, x, 0, 4, NINO_SCALE_AREA, false, &out, &err) == NINO_ERR_RANGE);
    CHECK(nino_rescale(&run, x, (int64_t) 1 << 40, (int64_t) 1 << 40, NINO_SCALE_BISLERP, false,
                       &out, &err) == NINO_ERR_NOMEM);
    CHECK_STR(err.kind, "limit");
    CHECK(!out);
    CHECK(!nino_node_array(NINO_F32, NINO_SHAPE((int64_t) 1 << 20, 1 << 12, 1 << 12), "x", &err));
    CHECK(strstr(err.msg, "GiB are free"));
    nino_array_unref(&x);
}

int main(void)
{
    nino_error err = { 0 };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    const nino_stream_params sp = { .backend = be };
    CHECK_OK(be ? NINO_OK : err.code, err);
    run.stream = nino_stream_create(&sp, &err);
    run.def = nino_node_find("ImageScale", NULL);
    CHECK(run.stream && run.def);
    flat_and_same();
    plain_methods();
    crops();
    bislerp();
    lanczos();
    lanczos_alpha();
    refusals();
    nino_stream_destroy(&run.stream);
    nino_backend_close(&be);
    return 0;
}
