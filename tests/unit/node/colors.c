// Few colours, colour spaces and morphology: values worked out by hand from Pillow's and kornia's
// definitions.
#include "core/node/palette.h"
#include "tests/node.h"

static void image(const char *port, nino_array *a) { node_give(port, node_image(a)); }

// A grey image of one row from bytes.
static nino_array *greys(int n, const int *v)
{
    nino_array *a = node_array(SHAPE(1, 1, n, 3), NULL, 0);
    for (int i = 0; i < n * 3; i++)
        nino_array_f32(a)[i] = ((float) v[i / 3] + 0.25f) / 255.0f;
    return a;
}
#define GREYS(...)                                                                                 \
    greys((int) (sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)), (const int[]){ __VA_ARGS__ })

static void expect_greys(int n, const int *v)
{
    const nino_array *a = node_out_image(0);
    CHECK(nino_shape_count(&a->shape) == n * 3);
    for (int i = 0; i < n * 3; i++)
        if (nino_array_f32(a)[i] != (float) v[i / 3] / 255.0f) {
            fprintf(stderr, "value %d is %g, expected %d\n", i, (double) nino_array_f32(a)[i] * 255,
                    v[i / 3]);
            exit(1);
        }
}
#define EXPECT_GREYS(...)                                                                          \
    expect_greys((int) (sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)),                       \
                 (const int[]){ __VA_ARGS__ })

// The brighter part takes the value that passes the middle: 250, 200 and 10, whose mean is 153.
static void few_colors(void)
{
    node_new("ImageQuantize");
    image("image", GREYS(0, 10, 200, 250));
    node_go();
    EXPECT_GREYS(0, 10, 200, 250);
    node_set("colors", "2");
    node_go();
    EXPECT_GREYS(0, 0, 153, 153); // 10 is nearer to 0
    node_set("colors", "1");
    node_go();
    EXPECT_GREYS(115, 115, 115, 115);
    image("image", GREYS(7, 7));
    node_set("colors", "9");
    node_go();
    EXPECT_GREYS(7, 7);
    // 100 takes the white one's 103 * 7/16 = 45 and is 145; its -7 leave 97 for the last
    image("image", GREYS(0, 255, 100, 100));
    node_set("colors", "2");
    node_set("dither", "floyd-steinberg");
    node_go();
    EXPECT_GREYS(0, 152, 152, 152);
    image("image", A(SHAPE(1, 1, 1, 4), 0, 0, 0, 0));
    node_fails("shape", "image");
}

// Thresholds of order 1 with two colours: 256 * (-1.5, .5; 1.5, -.5) / 4 + .5 = -95.5, 32.5 above
// 96.5, -31.5; and what is drawn is the nearer of the palette.
static void ordered(void)
{
    nino_palette p = { .n = 2, .rgb = { { 255, 255, 255 }, { 0, 0, 0 } } };
    uint8_t v[5][3] = { { 100, 100, 100 }, { 100, 100, 100 }, { 100, 100, 100 }, { 240, 0, 100 } };
    nino_error err;
    nino_palette_bayer(&p, v, 2, 2, 1);
    CHECK(v[0][0] == 4 && v[1][1] == 132 && v[2][2] == 196);
    CHECK(v[3][0] == 208 && v[3][1] == 0 && v[3][2] == 68);
    CHECK_OK(nino_palette_draw(&p, v, 2, 2, false, &err), err);
    CHECK(v[0][0] == 0 && v[1][0] == 255 && v[2][0] == 255 && v[3][0] == 0);
    uint8_t w[4][3] = { { 0 } };
    nino_palette_bayer(&p, w, 1, 4, 2); // row 0: -1.5/4 -1.5/16, .5/4 -1.5/16, ... + .5/16
    CHECK(w[0][0] == 0 && w[1][0] == 8 && w[2][0] == 0 && w[3][0] == 40);
}

// Diffusion and patterns keep the mean of a flat grey between black and white; the rows below get
// what is left, so this checks more than a row.
static void keeps_mean(const char *dither, double tolerance)
{
    enum { N = 32 };
    node_new("ImageQuantize");
    nino_array *a = node_array(SHAPE(2, N, N, 3), NULL, 0);
    double mean[2] = { 0 };
    for (int i = 0; i < 2 * N * N * 3; i++)
        nino_array_f32(a)[i] = i / 3 % (N * N) < 512 ? 1 : 0;
    image("image", a);
    node_set("colors", "2");
    node_set("dither", dither);
    node_go();
    nino_palette p = { .n = 2, .rgb = { { 255, 255, 255 }, { 0, 0, 0 } } };
    static uint8_t v[N * N][3];
    nino_error err;
    memset(v, 90, sizeof(v));
    if (strcmp(dither, "floyd-steinberg") != 0)
        nino_palette_bayer(&p, v, N, N, 3);
    CHECK_OK(nino_palette_draw(&p, v, N, N, !strcmp(dither, "floyd-steinberg"), &err), err);
    for (int i = 0; i < N * N * 3; i++) {
        mean[0] += v[i / 3][i % 3] / (N * N * 3.0);
        mean[1] += nino_array_f32(node_out_image(0))[i] * 255 / (N * N * 3.0);
    }
    CHECK(fabs(mean[0] - 90) <= tolerance && fabs(mean[1] - 127.5) <= tolerance);
}

// More colours than are told apart: low bits go, the palette's colours are still true means.
static void many_colors(void)
{
    enum { N = 70000 };
    static uint8_t v[N][3];
    for (int i = 0; i < N; i++) {
        v[i][0] = (uint8_t) (i >> 9);
        v[i][1] = (uint8_t) (i >> 1);
        v[i][2] = (uint8_t) (i & 1 ? 129 : 1);
    }
    nino_palette p;
    nino_error err;
    CHECK_OK(nino_palette_make((const uint8_t(*)[3]) v, N, 256, &p, &err), err);
    CHECK(p.n == 256);
    double sum = 0;
    for (int i = 0; i < p.n; i++)
        sum += p.rgb[i][1];
    CHECK(fabs(sum / p.n - 127.5) < 10);
    CHECK_OK(nino_palette_make((const uint8_t(*)[3]) v, N, 1, &p, &err), err);
    CHECK(p.n == 1 && p.rgb[0][0] == 68 && p.rgb[0][2] == 65);
}

static void yuv(void)
{
    node_new("ImageRGBToYUV");
    image("image", A(SHAPE(1, 1, 2, 3), 1, 0, 0, 0.5f, 0.5f, 0.5f));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 1e-6f, 0.299f, 0.299f, 0.299f, 0.5f, 0.5f, 0.5f);
    const float u = -0.299f * 0.564f + 0.5f, v = 0.701f * 0.713f + 0.5f;
    EXPECT(node_out_image(1), SHAPE(1, 1, 2, 3), 1e-6f, u, u, u, 0.5f, 0.5f, 0.5f);
    EXPECT(node_out_image(2), SHAPE(1, 1, 2, 3), 1e-6f, v, v, v, 0.5f, 0.5f, 0.5f);
    image("image", A(SHAPE(1, 1, 1, 1), 1));
    node_fails("shape", "image");
    node_new("ImageYUVToRGB");
    image("Y", A(SHAPE(1, 1, 2, 1), 0.299f, 0.5f));
    image("U", A(SHAPE(1, 1, 2, 3), u, u, u, 0.4f, 0.5f, 0.6f));
    image("V", A(SHAPE(1, 1, 2, 1), v, 0.6f));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 1e-3f, 1, 0, 0, 0.6403f, 0.4286f, 0.5f);
    image("U", A(SHAPE(1, 1, 1, 1), 1));
    node_fails("shape", "U");
}

static void morphology(void)
{
#define ROW SHAPE(1, 1, 6, 1)
    node_new("Morphology");
    image("image", A(ROW, 0, 3, 0, 0, 5, 4));
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 0, 0, 0, 0, 0, 4);
    node_set("operation", "dilate");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 3, 3, 3, 5, 5, 5);
    node_set("kernel_size", "4"); // two to the left, one to the right
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 3, 3, 3, 5, 5, 5);
    image("image", A(ROW, 0, 0, 7, 0, 0, 0));
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 0, 7, 7, 7, 7, 0);
    node_set("kernel_size", "999");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 7, 7, 7, 7, 7, 7);
    node_set("kernel_size", "3");
    image("image", A(ROW, 0, 3, 0, 0, 5, 4));
    node_set("operation", "open");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 0, 0, 0, 0, 4, 4);
    node_set("operation", "close");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 3, 3, 3, 3, 5, 5);
    node_set("operation", "gradient");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 3, 3, 3, 5, 5, 1);
    node_set("operation", "top_hat");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 0, 3, 0, 0, 1, 0);
    node_set("operation", "bottom_hat");
    node_go();
    EXPECT(node_out_image(0), ROW, 0, 3, 0, 3, 3, 0, 1);
    node_set("operation", "dilate"); // both ways: a square
    nino_array *a = node_array(SHAPE(1, 5, 5, 1), NULL, 0);
    nino_array_f32(a)[2 * 5 + 2] = 1;
    image("image", a);
    node_go();
    for (int i = 0; i < 25; i++)
        CHECK(nino_array_f32(node_out_image(0))[i] ==
              (i / 5 >= 1 && i / 5 <= 3 && i % 5 >= 1 && i % 5 <= 3));
}

static void optimal_steps(void)
{
    node_new("OptimalStepsScheduler");
    node_set("model_type", "Wan");
    node_go();
    const nino_sigmas *s = &node.out[0]->u.sigmas;
    CHECK(s->n == 21 && s->v[0] == 1 && s->v[1] == 0.997f && s->v[20] == 0);
    node_set("denoise", "0.1");
    node_go();
    s = &node.out[0]->u.sigmas;
    CHECK(s->n == 3 && s->v[0] == 0.539f && s->v[1] == 0.208f && s->v[2] == 0);
    node_set("denoise", "0");
    node_go();
    CHECK(node.out[0]->u.sigmas.n == 0);
}

int main(void)
{
    node_open();
    few_colors();
    ordered();
    keeps_mean("floyd-steinberg", 2);
    keeps_mean("bayer-8", 3);
    many_colors();
    yuv();
    morphology();
    optimal_steps();
    node_close();
    return 0;
}
