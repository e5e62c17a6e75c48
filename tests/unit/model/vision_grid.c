// How Qwen2.5-VL's eyes cut up a picture: whole cells as transformers' smart_resize counts them, windows
// in their order, patches against torch's bilinear interpolate written out; which kernels they have.
#include <math.h>

#include "core/model/llm/vision.h"
#include "tests/random_net.h"

#include "tests/diffusion.h"

enum { CELL = 28, PATCH = 14, WINDOW = 4, LEAST = 3136, MOST = 12845056 };

// Python's round(): half to even.
static int64_t rounded(int64_t pixels)
{
    const int64_t q = pixels / CELL, r = pixels % CELL;
    return q + (r > CELL / 2 || (r == CELL / 2 && q % 2));
}

static void wanted_cells(int64_t h, int64_t w, int64_t *rows, int64_t *cols)
{
    *rows = rounded(h);
    *cols = rounded(w);
    const int64_t pixels = *rows * *cols * CELL * CELL;
    const double much = sqrt((double) (h * w) / MOST), few = sqrt(LEAST / (double) (h * w));
    if (pixels > MOST) {
        *rows = (int64_t) fmax(1, floor((double) h / much / CELL));
        *cols = (int64_t) fmax(1, floor((double) w / much / CELL));
    } else if (pixels < LEAST) {
        *rows = (int64_t) ceil((double) h * few / CELL);
        *cols = (int64_t) ceil((double) w * few / CELL);
    }
}

// Where a cell comes: inside, right, bottom, corner; then the window, then its place in it.
static int64_t order_of(const nino_vision_grid *g, int64_t cell)
{
    const int64_t y = cell / g->cols, x = cell % g->cols;
    const int64_t is_right = x >= g->cols / WINDOW * WINDOW,
                  is_bottom = y >= g->rows / WINDOW * WINDOW;
    const int64_t window = y / WINDOW * 1000 + x / WINDOW;
    return ((is_right + 2 * is_bottom) * 1000000 + window) * 16 + y % WINDOW * 4 + x % WINDOW;
}

static void check_groups(const nino_vision_grid *g)
{
    const int64_t down = g->rows / WINDOW, across = g->cols / WINDOW;
    const int64_t h = g->rows % WINDOW, w = g->cols % WINDOW;
    const int64_t want[4][2] = { { down * across, WINDOW * WINDOW },
                                 { w ? down : 0, WINDOW * w },
                                 { h ? across : 0, WINDOW * h },
                                 { h && w, h * w } };
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (want[i][0]) {
            CHECK(n < g->n_groups && g->group[n].windows == want[i][0]);
            CHECK(g->group[n++].cells == want[i][1]);
        }
    CHECK(n == g->n_groups);
}

static void check_grid(int64_t h, int64_t w)
{
    nino_vision_grid g;
    int64_t rows, cols;
    wanted_cells(h, w, &rows, &cols);
    CHECK(nino_vision_grid_make(&g, h, w));
    if (g.rows != rows || g.cols != cols)
        fprintf(stderr, "%d x %d: %d x %d cells\n", (int) h, (int) w, g.rows, g.cols);
    CHECK(g.rows == rows && g.cols == cols);
    bool *seen = calloc((size_t) (rows * cols), sizeof(*seen));
    CHECK(seen);
    for (int64_t i = 0; i < rows * cols; i++) {
        CHECK(g.cell[i] >= 0 && g.cell[i] < rows * cols && !seen[g.cell[i]]);
        seen[g.cell[i]] = true;
        CHECK(!i || order_of(&g, g.cell[i - 1]) < order_of(&g, g.cell[i]));
    }
    check_groups(&g);
    free(seen);
    nino_vision_grid_release(&g);
    CHECK(!g.n_groups && !g.cell);
}

// ---- patches ---------------------------------------------------------------------------------
typedef struct axis {
    int64_t a, b;
    double of_b;
} axis;

// torch: F.interpolate(mode="bilinear", align_corners=False, antialias=False).
static axis axis_at(int64_t in, int64_t out, int64_t i)
{
    const double at = fmax(0, ((double) i + 0.5) * (double) in / (double) out - 0.5);
    const int64_t a = (int64_t) at;
    return (axis){ a, a + 1 < in ? a + 1 : a, at - (double) a };
}

static double colour(const nino_array *p, int64_t y, int64_t x, int c)
{
    return (double) nino_array_f32(p)[(y * p->shape.dim[2] + x) * p->shape.dim[3] + c];
}

static double scaled(const nino_array *p, const nino_vision_grid *g, int64_t y, int64_t x, int c)
{
    const axis v = axis_at(p->shape.dim[1], g->rows * CELL, y);
    const axis u = axis_at(p->shape.dim[2], g->cols * CELL, x);
    const double top = colour(p, v.a, u.a, c) * (1 - u.of_b) + colour(p, v.a, u.b, c) * u.of_b;
    const double low = colour(p, v.b, u.a, c) * (1 - u.of_b) + colour(p, v.b, u.b, c) * u.of_b;
    return top * (1 - v.of_b) + low * v.of_b;
}

// CLIP's mean and deviation, published with its preprocessor.
static void check_patches(int64_t h, int64_t w, int64_t channels)
{
    static const double mean[] = { 0.48145466, 0.4578275, 0.40821073 },
                        dev[] = { 0.26862954, 0.26130258, 0.27577711 };
    nino_array *p = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, channels));
    nino_vision_grid g;
    CHECK(p && nino_vision_grid_make(&g, h, w));
    for (int64_t i = 0; i < h * w * channels; i++)
        nino_array_f32(p)[i] = (float) (i * 37 % 101) / 100;
    nino_array *a = nino_vision_patches(&g, p);
    CHECK(a && a->shape.rank == 3 && a->shape.dim[2] == (int64_t) 3 * PATCH * PATCH);
    CHECK(a->shape.dim[0] == 1 && a->shape.dim[1] == 4 * (int64_t) g.rows * g.cols);
    const float *at = nino_array_f32(a);
    for (int64_t i = 0; i < a->shape.dim[1]; i++) {
        const int64_t y0 = g.cell[i / 4] / g.cols * CELL + i % 4 / 2 * PATCH;
        const int64_t x0 = g.cell[i / 4] % g.cols * CELL + i % 2 * PATCH;
        for (int c = 0; c < 3; c++)
            for (int64_t k = 0; k < PATCH * PATCH; k++) {
                const double v = scaled(p, &g, y0 + k / PATCH, x0 + k % PATCH, c);
                CHECK(fabs((double) *at++ - (v - mean[c]) / dev[c]) < 2e-4);
            }
    }
    nino_array_unref(&a);
    nino_array_unref(&p);
    nino_vision_grid_release(&g);
}

// One tensor for both frames, or one for each; sides of 14.
static void check_kernels(void)
{
    static const struct {
        int rank, second; // of the second tensor; 0: there is none
        int64_t dim[5], second_dim[4];
        bool is_kernel;
    } t[] = { { 5, 0, { 8, 3, 2, 14, 14 }, { 0 }, true },
              { 5, 0, { 8, 3, 2, 14, 13 }, { 0 }, false },
              { 5, 0, { 8, 3, 2, 16, 14 }, { 0 }, false },
              { 5, 0, { 8, 3, 1, 14, 14 }, { 0 }, false },
              { 5, 0, { 8, 1, 2, 14, 14 }, { 0 }, false },
              { 4, 0, { 8, 3, 14, 14 }, { 0 }, false },
              { 4, 4, { 8, 3, 14, 14 }, { 8, 3, 14, 14 }, true },
              { 4, 4, { 8, 3, 14, 16 }, { 8, 3, 14, 16 }, false },
              { 4, 4, { 8, 3, 13, 14 }, { 8, 3, 13, 14 }, false },
              { 4, 4, { 8, 3, 14, 14 }, { 4, 3, 14, 14 }, false },
              { 5, 4, { 8, 3, 2, 14, 14 }, { 8, 3, 14, 14 }, false } };
    const test_dir dir = test_dir_create();
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        net_list list = { 0 };
        net_add(&list, "visual.patch_embed.proj.weight", t[i].rank, t[i].dim);
        if (t[i].second)
            net_add(&list, "visual.patch_embed.proj.weight.1", t[i].second, t[i].second_dim);
        nino_weights *w = test_net_file(&dir, list, "v");
        nino_error err = { 0 };
        nino_layers layers = { 0 };
        nino_loader l = { .file = w, .prefix = "", .layers = &layers, .err = &err };
        CHECK(!nino_vision_load(&l, 16) && l.st == NINO_ERR_FORMAT); // the rest is missing
        CHECK(!strstr(err.msg, "is not the kernel of patches") == t[i].is_kernel);
        nino_layers_release(&layers);
        nino_weights_unref(&w);
    }
    test_dir_remove(&dir, (const char *const[]){ "v", NULL });
}

int main(void)
{
    static const int64_t sides[] = { 1,  13, 14, 15,  27,  28,  29,  41,  42,  43,  55,  56,  57,
                                     70, 84, 98, 111, 112, 113, 126, 140, 154, 224, 300, 1000 };
    const int n = sizeof(sides) / sizeof(sides[0]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            check_grid(sides[i], sides[k]);
    check_grid(3584, 3584); // exactly the most
    check_grid(3584, 3612);
    check_grid(3612, 3584);
    check_grid(10, 2000000);
    check_grid(4001, 8003);
    check_patches(60, 90, 3);
    check_patches(30, 200, 4);
    check_patches(170, 113, 3);
    check_patches(56, 56, 3);
    check_patches(1, 3, 3);
    check_kernels();
    return 0;
}
