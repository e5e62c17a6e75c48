// Where Flux takes its tokens to be: text at the origin, the picture's grid, and reference latents
// by each of the three methods. A token's row and column are read back from its slowest angles.
#include "core/model/flux/flux.h"
#include "core/model/cond/cond.h"
#include "tests/test.h"

#include <math.h>

#define DEPTH 32 // channels of a head: 4 for the picture, 14 each for row and column

typedef struct place {
    int picture, row, column;
} place;

// The angle of pair k of an axis with n channels that begins at pair `first`.
static double angle_of(const float *t, int first, int k)
{
    return atan2((double) t[2 * (first + k) + 1], (double) t[2 * (first + k)]);
}

static int position(const float *t, int first, int channels)
{
    const int k = channels / 2 - 1; // the slowest: no more than a turn
    return (int) rint(angle_of(t, first, k) * pow(10000, 2.0 * k / channels));
}

static void check(const flux_rope *r, const place *want, int n)
{
    nino_array *a = flux_rope_make(r);
    CHECK(a && a->shape.dim[0] == n && a->shape.dim[1] == DEPTH);
    for (int i = 0; i < n; i++) {
        const float *t = nino_array_f32(a) + (int64_t) i * DEPTH;
        const place got = { position(t, 0, 4), position(t, 2, 14), position(t, 9, 14) };
        if (memcmp(&got, &want[i], sizeof(got)) != 0)
            fprintf(stderr, "token %d: picture %d, row %d, column %d\n", i, got.picture, got.row,
                    got.column);
        CHECK(!memcmp(&got, &want[i], sizeof(got)));
    }
    nino_array_unref(&a);
}

int main(void)
{
    // one word, a picture of 2 x 4 cells, references of 3 x 2 and 2 x 2
    flux_rope r = { .place = { .axes = { 10000, 3, { 4, 14, 14 } }, .patch = 2, .step = 1 },
                    .text = 1,
                    .n = 3,
                    .h = { 2, 3, 2 },
                    .w = { 4, 2, 2 } };
    const place text = { 0, 0, 0 };
    r.method = NINO_REFS_OFFSET; // the second one: the whole is 3 high, so it goes beside
    check(&r,
          (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 } },
          6);
    r.method = NINO_REFS_INDEX;
    check(&r,
          (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 1, 0 }, { 2, 0, 0 } },
          6);
    r.method = NINO_REFS_UXO; // from row 1, column 2; then 3 and 2 cells on
    check(&r,
          (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 2 }, { 0, 3, 3 } },
          6);
    return 0;
}
