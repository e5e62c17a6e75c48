// The seam meter on pictures whose steps are known.
#include "core/tile/seam.h"
#include "tests/test.h"

#include <math.h>

enum { LONG = 14, SHORT = 3, C = 2 };
static const nino_tile_axis three = { .n = 3, .pos = { 0, 4, 8 }, .len = { 6, 6, 6 } };
static const nino_tile_axis one = { .n = 1, .pos = { 0 }, .len = { SHORT } };

// A ramp of 0.01 a pixel that is 0.2 higher from 4 and 8 on and as before from 6 and 10 on, where the tiles
// begin and end: steps of 0.21 and 0.19 across, 0.01 beside.
static float level(int i)
{
    return 0.01f * (float) i + (i / 2 % 2 == 0 && i >= 4 && i < 10 ? 0.2f : 0);
}

static void check_lines(bool is_down)
{
    float image[LONG * SHORT * C];
    const int w = is_down ? SHORT : LONG, h = is_down ? LONG : SHORT;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < C; k++)
                image[(y * w + x) * C + k] = level(is_down ? y : x);
    nino_seam m = { 0 };
    nino_seam_result r;
    nino_seam_lines(&m, image, h, w, C, is_down ? &one : &three, is_down ? &three : &one, 1);
    nino_seam_report(&m, LONG * SHORT, LONG * SHORT + 6, 2, NULL, &r);
    CHECK(m.n_across == 4 * SHORT * C && m.n_beside == 8 * SHORT * C);
    CHECK(fabs(r.gradient - 255 * (0.2 - 0.01)) < 1e-3);
    CHECK(r.pixels == 4 * LONG * SHORT && r.recomputed == 4 * 6);
    CHECK(r.mean == 0 && r.max == 0 && r.n_seams == 0);
}

// Twice as many elements as cells; lines at the picture's edge have nothing beside them.
static void check_units(void)
{
    const nino_tile_axis axis = { .n = 2, .pos = { 0, 2 }, .len = { 3, 3 } };
    const nino_tile_axis edge = { .n = 2, .pos = { 0, 1 }, .len = { 5, 4 } };
    float image[10];
    for (int i = 0; i < 10; i++)
        image[i] = i < 4 ? 0 : i < 6 ? 1.0f : 3.0f; // lines at 4 and 6
    nino_seam m = { 0 };
    nino_seam_lines(&m, image, 1, 10, 1, &axis, &one, 2);
    CHECK(m.n_across == 2 && m.across == 1 + 2 && m.beside == 0);
    nino_seam_lines(&m, image, 1, 5, 1, &edge, &one, 1);
    CHECK(m.n_across == 2);
}

static void check_shared(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(2, 2)),
               *b = nino_array_create(NINO_F32, NINO_SHAPE(2, 2)),
               *c = nino_array_create(NINO_F32, NINO_SHAPE(1, 2));
    const float p[] = { 0, 0.5f, 1, 1.5f }, q[] = { 0.25f, 0.5f, 0.5f, 2 };
    memcpy(a->data, p, sizeof(p));
    memcpy(b->data, q, sizeof(q));
    nino_seam m = { 0 }, seen = { .is_picture = true };
    nino_seam_result r;
    nino_seam_compare(&m, a, b);
    nino_seam_compare(&m, a, NULL);
    nino_seam_compare(&m, a, c); // of another shape
    nino_seam_report(&m, 4, 4, 1, NULL, &r);
    CHECK(r.n_seams == 1 && r.max == 255 * 0.5 && r.mean == 255 * 1.25 / 4 && r.gradient == 0);
    nino_seam_compare(&seen, a, b); // 1.5 and 2 look alike
    CHECK(seen.sum == 0.75 && seen.max == 0.5);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
}

int main(void)
{
    check_lines(false);
    check_lines(true);
    check_units();
    check_shared();
    return 0;
}
