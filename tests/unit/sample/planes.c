// What conditioning does with small pictures, masks and batches, for all small sizes against torch's
// definitions of bilinear and nearest, ComfyUI's cut of the centre and its choice out of a batch.
#include <math.h>

#include "core/base/error.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/test.h"

static nino_error err;

static nino_array *filled(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = sinf((float) (i * i % 97) + 0.3f * (float) i);
    return a;
}

typedef struct part { // of a picture: rows and columns that are left
    int y, h, x, w;
} part;

// common_upscale(crop="center")
static part centre_of(int h, int w, int new_h, int new_w)
{
    const double old = (double) w / h, new = (double) new_w / new_h;
    part p = { 0, h, 0, w };
    if (old > new)
        p.x = (int) nearbyint((w - w * (new / old)) / 2);
    else if (old < new)
        p.y = (int) nearbyint((h - h * (old / new)) / 2);
    p.w -= 2 * p.x;
    p.h -= 2 * p.y;
    return p;
}

// Where value i of `n` is read among `had`: between *a and *b, *b by the share that is returned.
static double between(int i, int n, int had, int *a, int *b)
{
    const double at = fmax((i + 0.5) * had / n - 0.5, 0);
    *a = (int) floor(at);
    *b = *a + 1 < had ? *a + 1 : had - 1;
    return at - *a;
}

static double value(const nino_array *a, int n, int y, int x, int c)
{
    const int64_t *d = a->shape.dim;
    return (double) nino_array_f32(a)[((n * d[1] + y) * d[2] + x) * d[3] + c];
}

static double bilinear(const nino_array *a, const part *p, int n, int i, int h, int j, int w, int c)
{
    int y0, y1, x0, x1;
    const double v = between(i, h, p->h, &y0, &y1), u = between(j, w, p->w, &x0, &x1);
    const double top = value(a, n, p->y + y0, p->x + x0, c) * (1 - u) +
                       value(a, n, p->y + y0, p->x + x1, c) * u,
                 low = value(a, n, p->y + y1, p->x + x0, c) * (1 - u) +
                       value(a, n, p->y + y1, p->x + x1, c) * u;
    return top * (1 - v) + low * v;
}

static void check_scaled(const nino_array *a, int h, int w, bool center)
{
    const int had_h = (int) a->shape.dim[1], had_w = (int) a->shape.dim[2];
    const int batch = (int) a->shape.dim[0], c = (int) a->shape.dim[3];
    const part all = { 0, had_h, 0, had_w };
    const part p = center ? centre_of(had_h, had_w, h, w) : all;
    nino_array *out = nino_planes_scale(a, h, w, NINO_FILTER_BILINEAR, center, &err),
               *first = center ? nino_planes_first(a, h, w, &err) : NULL;
    if (p.h < 1 || p.w < 1) {
        CHECK(!out && !first && err.code == NINO_ERR_RANGE);
        CHECK_STR(err.msg, "nothing of a picture is left to scale");
        return;
    }
    CHECK(out && out->shape.dim[1] == h && out->shape.dim[2] == w && out->shape.dim[3] == c);
    CHECK((out == a) == (h == had_h && w == had_w)); // as it is where nothing changes
    for (int k = 0; k < batch * h * w * c; k++) {
        const int n = k / (h * w * c), i = k / (w * c) % h, j = k / c % w;
        const double got = (double) nino_array_f32(out)[k];
        CHECK(fabs(got - bilinear(a, &p, n, i, h, j, w, k % c)) < 1e-5);
        if (!first)
            continue;
        // torch's nearest, in floats
        const int y = (int) floorf((float) i * ((float) p.h / (float) h)),
                  x = (int) floorf((float) j * ((float) p.w / (float) w));
        CHECK((double) nino_array_f32(first)[k] == value(a, n, p.y + y, p.x + x, k % c));
    }
    nino_array_unref(&out);
    nino_array_unref(&first);
}

static void check_sizes(void)
{
    for (int h = 1; h <= 7; h++)
        for (int w = 1; w <= 9; w += h % 2 + 1) {
            nino_array *a = filled(NINO_SHAPE(2, h, w, 3));
            for (int new_h = 1; new_h <= 9; new_h += 1 + h % 2)
                for (int new_w = 1; new_w <= 8; new_w++)
                    for (int center = 0; center < 2; center++)
                        check_scaled(a, new_h, new_w, center);
            nino_array_unref(&a);
        }
}

// resize_to_batch_size()
static void check_batches(void)
{
    for (int had = 1; had <= 9; had++) {
        nino_array *a = filled(NINO_SHAPE(had, 2, 3));
        for (int n = 1; n <= 20; n++) {
            nino_array *out = nino_planes_pick(a, n, &err);
            CHECK(out && out->shape.dim[0] == n && (out == a) == (n == had));
            for (int i = 0; i < n; i++) {
                int from = i;
                if (n == 1)
                    from = 0;
                else if (n < had)
                    from = (int) nearbyint(i * ((had - 1) / (double) (n - 1)));
                else if (n > had)
                    from = (int) floor((i + 0.5) * (had / (double) n));
                CHECK(!memcmp(nino_array_f32(out) + i * 6,
                              nino_array_f32(a) + (from < had ? from : had - 1) * 6,
                              6 * sizeof(float)));
            }
            nino_array_unref(&out);
        }
        nino_array_unref(&a);
    }
}

static void check_frames(void)
{
    for (int had = 1; had <= 6; had++) {
        nino_array *a = filled(NINO_SHAPE(had, 2, 3));
        for (int n = 1; n <= 13; n++) {
            nino_array *out = nino_planes_to_frames(a, n, &err);
            CHECK(out && out->shape.dim[0] == n && (out == a) == (n == had));
            for (int k = 0; k < n * 6; k++) {
                int from, to;
                const double u = between(k / 6, n, had, &from, &to);
                const double want = (double) nino_array_f32(a)[from * 6 + k % 6] * (1 - u) +
                                    (double) nino_array_f32(a)[to * 6 + k % 6] * u;
                CHECK(fabs((double) nino_array_f32(out)[k] - want) < 1e-5);
            }
            nino_array_unref(&out);
        }
        nino_array_unref(&a);
    }
}

static void check_waves(void)
{
    static const double at[] = { 0, 1, 6.5, -3, 1024 };
    static const int sizes[] = { 2, 4, 6, 256 };
    float v[257];
    for (int k = 0; k < 20; k++) {
        const int dim = sizes[k / 5], half = dim / 2;
        v[dim] = 77;
        CHECK(nino_guide_embed(v, at[k % 5], dim) == v + dim && v[dim] == 77);
        for (int i = 0; i < half; i++) {
            const double a = at[k % 5] * pow(10000, -(double) i / half);
            CHECK(fabs((double) v[i] - cos(a)) < 1e-3 &&
                  fabs((double) v[half + i] - sin(a)) < 1e-3);
        }
    }
}

// Of a clip the mean of each frame's mask tells how noisy it is.
static void check_frame_times(void)
{
    enum { B = 2, T = 3, N = 2, PLANE = 4 };
    nino_array *mask = filled(NINO_SHAPE(B, T, 2, 2));
    nino_guide_run r = { .batch = B, .axis = { T, 2, 2 }, .n_axes = 3, .mask = mask };
    float t[N * B * T];
    nino_guide_frame_times(&r, 500, N, t);
    for (int i = 0; i < N * B * T; i++) {
        double sum = 0;
        for (int k = 0; k < PLANE; k++)
            sum += (double) nino_array_f32(mask)[i % (B * T) * PLANE + k];
        CHECK(fabs((double) t[i] - sum / PLANE * 500) < 1e-3);
    }
    nino_diffusion net = { .has_frame_times = true };
    r.net = &net;
    CHECK(nino_guide_frames(&r) == T);
    r.n_axes = 2;
    CHECK(nino_guide_frames(&r) == 0);
    r.n_axes = 3;
    r.mask = NULL;
    CHECK(nino_guide_frames(&r) == 0);
    r.mask = mask;
    net.has_frame_times = false;
    CHECK(nino_guide_frames(&r) == 0);
    nino_array_unref(&mask);
}

int main(void)
{
    check_sizes();
    check_batches();
    check_frames();
    check_waves();
    check_frame_times();
    return 0;
}
