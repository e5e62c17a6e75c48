// Where the chunks of a clip lie, for every short clip, size and overlap: they cover it, share what they
// are to share, and where one takes over both have seen enough around.
#include "core/tile/video_tiles.h"
#include "tests/test.h"

// end: latent frames that the chunk before reached; of frames, 1 + (end - 1) tc are there.
static void check_next(const nino_chunk *c, int64_t end, int64_t size, int64_t shared, int tc,
                       int radius)
{
    CHECK(c->first == end - shared - 1 && c->first >= 0 && c->n <= size && c->n > shared + 1);
    CHECK(c->skip - 1 == c->from - (1 + c->first * tc) && c->skip >= 1);
    if (radius < 0 || shared < 2 * radius) {
        CHECK(c->skip == 1 && c->blend == shared * tc);
        CHECK(c->from + c->blend == 1 + (end - 1) * tc);
        return;
    }
    const int64_t cut = (c->from - 1) / tc;
    CHECK(!c->blend && (c->from - 1) % tc == 0);
    CHECK(cut >= c->first + radius && cut <= end - 1 - radius);
    CHECK(cut - c->first >= end - 1 - cut && cut - c->first <= end - cut); // in the middle
}

static void check(int64_t t, int chunk, int overlap, int tc, int radius)
{
    const int64_t shared = overlap < 0 ? 0 : overlap;
    const int64_t size = chunk < shared + 2 ? shared + 2 : chunk;
    nino_chunk c = { 0 };
    CHECK(nino_chunk_get(t, chunk, overlap, tc, radius, 0, &c));
    CHECK(!c.first && !c.from && !c.skip && !c.blend && c.n == (size < t ? size : t));
    int64_t end = c.n;
    for (int i = 1; nino_chunk_get(t, chunk, overlap, tc, radius, i, &c); i++) {
        CHECK(end < t && c.first + c.n > end && c.first + c.n <= t);
        CHECK(c.n == size || c.first + c.n == t);
        check_next(&c, end, size, shared, tc, radius);
        end = c.first + c.n;
    }
    CHECK(end == t);
}

int main(void)
{
    nino_chunk c;
    for (int64_t t = 1; t < 24; t++)
        for (int chunk = 0; chunk < 9; chunk++)
            for (int overlap = -1; overlap < 6; overlap++)
                for (int radius = -1; radius < 3; radius++)
                    for (int tc = 1; tc <= 4; tc += 3)
                        check(t, chunk, overlap, tc, radius);
    CHECK(!nino_chunk_get(0, 4, 1, 4, -1, 0, &c));
    return 0;
}
