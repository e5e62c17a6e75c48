// The judge of the demo's pictures: knows every shape, colour, place, size and motion that it is
// shown, soft or noisy, and says so when it is shown something else.
#include "tests/drawn.h"
#include "tests/test.h"

#define SIDE 96

static unsigned seed = 7;
static float random_unit(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float) (seed >> 8) / (float) (1u << 24);
}

// A scene as its caption has it, with 3 x 3 samples a pixel and noise.
static void draw(float *rgb, const drawn_wish *w, float x, float y, float r, float noise)
{
    const float turn = 0.1f * (2 * random_unit() - 1), c = cosf(turn) / r, s = sinf(turn) / r;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            float cover = 0;
            for (int k = 0; k < 9; k++) {
                const float u = ((float) i + ((float) (k % 3) + 0.5f) / 3) / SIDE - x;
                const float v = ((float) j + ((float) (k / 3) + 0.5f) / 3) / SIDE - y;
                cover += drawn_distance(w->shape, c * u - s * v, s * u + c * v) < 0;
            }
            for (int k = 0; k < 3; k++)
                rgb[(j * SIDE + i) * 3 + k] = drawn_colours[w->colour].v[k] * cover / 9 +
                                              drawn_colours[w->back].v[k] * (1 - cover / 9) +
                                              noise * (2 * random_unit() - 1);
        }
}

static float *canvas(void)
{
    static float rgb[SIDE * SIDE * 3];
    return rgb;
}

static void pictures(void)
{
    int n = 0;
    float worst = 1;
    for (int shape = 0; shape < 5; shape++)
        for (int place = 0; place < 5; place++)
            for (int size = 0; size < (place ? 2 : 3); size++) {
                drawn_wish w = { shape, n % 8, (n + 1 + n / 8 % 7) % 8, place, size, -1 };
                const float *at = drawn_places[place].v, r = drawn_sizes[size].v[0];
                draw(canvas(), &w, at[0] + 0.03f * (2 * random_unit() - 1),
                     at[1] + 0.03f * (2 * random_unit() - 1), r * (0.93f + 0.14f * random_unit()),
                     n % 2 ? 0.03f : 0);
                const drawn_look look = drawn_see(canvas(), SIDE, SIDE);
                const char *wrong = drawn_wrong(&w, &look);
                if (wrong)
                    printf("%d %d %d: %s, fit %.2f as %d\n", shape, place, size, wrong,
                           (double) look.fit, look.shape);
                CHECK(!wrong);
                worst = look.fit < worst ? look.fit : worst;
                w.shape = (shape + 1) % 5;
                CHECK_STR(drawn_wrong(&w, &look), "shape");
                w.shape = shape;
                w.colour = (w.colour + 1) % 8;
                CHECK_STR(drawn_wrong(&w, &look), "colour");
                w.colour = n % 8;
                w.place = (place + 1) % 5;
                CHECK_STR(drawn_wrong(&w, &look), "place");
                n++;
            }
    printf("  %d scenes known, least overlap %.2f\n", n, (double) worst);
}

static void motions(void)
{
    for (int m = 0; m < DRAWN_N(drawn_motions); m++) {
        static const float step[7][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
        const drawn_wish w = { m % 5, 0, 2, 0, 1, m };
        drawn_look look[2];
        for (int end = 0; end < 2; end++) {
            const float t = end ? 0.21f : -0.21f, grow = m == 4   ? 1 + 2 * t
                                                         : m == 5 ? 1 - 2 * t
                                                                  : 1;
            draw(canvas(), &w, 0.5f + t * step[m][0], 0.5f + t * step[m][1], 0.2f * grow, 0.02f);
            look[end] = drawn_see(canvas(), SIDE, SIDE);
        }
        CHECK(drawn_motion(&look[0], &look[1]) == m);
    }
}

static void nothing(void)
{
    const drawn_wish w = { 0, 0, 2, 0, 1, -1 };
    draw(canvas(), &w, 0.5f, 0.5f, 0.001f, 0.02f); // background alone
    drawn_look look = drawn_see(canvas(), SIDE, SIDE);
    CHECK(look.shape == -1 && look.back == 2);
    CHECK_STR(drawn_wrong(&w, &look), "nothing there");
    draw(canvas(), &w, 0.3f, 0.5f, 0.15f, 0); // two shapes: no one scene
    float *second = malloc(sizeof(float) * SIDE * SIDE * 3);
    memcpy(second, canvas(), sizeof(float) * SIDE * SIDE * 3);
    draw(canvas(), &w, 0.7f, 0.5f, 0.15f, 0);
    for (int i = 0; i < SIDE * SIDE * 3; i += 3)
        if (second[i] > 0.5f)
            memcpy(canvas() + i, second + i, sizeof(float) * 3);
    free(second);
    look = drawn_see(canvas(), SIDE, SIDE);
    CHECK_STR(drawn_wrong(&w, &look), "nothing there");
}

static void captions(void)
{
    drawn_wish w;
    CHECK(drawn_read("a small red star at the top on a white background", &w));
    CHECK(w.shape == 3 && w.colour == 0 && w.back == 6 && w.place == 3 && w.size == 0);
    CHECK(w.motion == -1);
    CHECK(drawn_read("a green square moving right on a red background", &w));
    CHECK(w.shape == 1 && w.colour == 1 && w.back == 0 && w.motion == 1 && w.size == 1);
    CHECK(!drawn_read("a red boat", &w));
}

int main(void)
{
    pictures();
    motions();
    nothing();
    captions();
    return 0;
}
