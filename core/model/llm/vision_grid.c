// From a picture to patches in the order of the vision network's windows: scaled to whole cells
// without antialias, normalised colours. Sources: ComfyUI text_encoders/qwen_vl.py; huggingface/
// transformers' Qwen2.5-VL image processor (sizes).
#include <math.h>
#include <stdlib.h>

#include "core/model/llm/vision.h"
#include "core/op/resample.h"

#define SIDE 14  // of a patch
#define CELL 28  // of four
#define WINDOW 4 // cells along one side
#define LEAST (4.0 * SIDE * SIDE * 4)
#define MOST (16384.0 * SIDE * SIDE * 4)

// Whole cells along sides of h and w pixels; Python's round() is half to even.
static void cells_of(double h, double w, int *rows, int *cols)
{
    double ch = nearbyint(h / CELL), cw = nearbyint(w / CELL);
    if (ch * cw * CELL * CELL > MOST) {
        const double by = sqrt(h * w / MOST);
        ch = fmax(1, floor(h / by / CELL));
        cw = fmax(1, floor(w / by / CELL));
    } else if (ch * cw * CELL * CELL < LEAST) {
        const double by = sqrt(LEAST / (h * w));
        ch = ceil(h * by / CELL);
        cw = ceil(w * by / CELL);
    }
    *rows = (int) ch;
    *cols = (int) cw;
}

// The cells of one window, row by row.
static int32_t *put_window(const nino_vision_grid *g, int y0, int x0, int h, int w, int32_t *to)
{
    for (int y = y0; y < y0 + h; y++)
        for (int x = x0; x < x0 + w; x++)
            *to++ = y * g->cols + x;
    return to;
}

bool nino_vision_grid_make(nino_vision_grid *g, int64_t height, int64_t width)
{
    *g = (nino_vision_grid){ .n_groups = 0 };
    cells_of((double) height, (double) width, &g->rows, &g->cols);
    g->cell = malloc((size_t) g->rows * (size_t) g->cols * sizeof(*g->cell));
    int32_t *to = g->cell;
    for (int part = 0; to && part < NINO_VISION_GROUPS; part++) {
        const bool is_right = part & 1, is_bottom = part >> 1;
        const int h = is_bottom ? g->rows % WINDOW : WINDOW,
                  w = is_right ? g->cols % WINDOW : WINDOW;
        const int down = is_bottom ? h > 0 : g->rows / WINDOW;
        const int across = is_right ? w > 0 : g->cols / WINDOW;
        const int y0 = is_bottom ? g->rows - h : 0, x0 = is_right ? g->cols - w : 0;
        if (!down || !across)
            continue;
        g->group[g->n_groups].windows = (int64_t) down * across;
        g->group[g->n_groups++].cells = (int64_t) h * w;
        for (int y = 0; y < down; y++)
            for (int x = 0; x < across; x++)
                to = put_window(g, y0 + y * WINDOW, x0 + x * WINDOW, h, w, to);
    }
    return g->cell;
}

void nino_vision_grid_release(nino_vision_grid *g)
{
    free(g->cell);
    *g = (nino_vision_grid){ .n_groups = 0 };
}

// One colour at row y, column x of the scaled picture.
static float sample(const nino_array *p, const nino_resample_axis *ay, const nino_resample_axis *ax,
                    int y, int x, int c)
{
    const int64_t w = p->shape.dim[2], channels = p->shape.dim[3];
    float sum = 0;
    for (int i = 0; i < ay->taps; i++) {
        const float *row = nino_array_f32(p) + (ay->start[y] + i) * w * channels + c;
        float along = 0;
        for (int k = 0; k < ax->taps; k++)
            along += ax->weight[(int64_t) x * ax->taps + k] * row[(ax->start[x] + k) * channels];
        sum += ay->weight[(int64_t) y * ay->taps + i] * along;
    }
    return sum;
}

static void put_patch(const nino_array *p, const nino_resample_axis *ay,
                      const nino_resample_axis *ax, int y0, int x0, float *to)
{
    static const float mean[] = { 0.48145466f, 0.4578275f, 0.40821073f },
                       dev[] = { 0.26862954f, 0.26130258f, 0.27577711f };
    for (int c = 0; c < 3; c++)
        for (int y = y0; y < y0 + SIDE; y++)
            for (int x = x0; x < x0 + SIDE; x++)
                *to++ = (sample(p, ay, ax, y, x, c) - mean[c]) / dev[c];
}

nino_array *nino_vision_patches(const nino_vision_grid *g, const nino_array *picture)
{
    const int64_t n = (int64_t) g->rows * g->cols, values = INT64_C(3) * SIDE * SIDE;
    const int64_t *dim = picture->shape.dim;
    nino_resample_axis ay = { 0 }, ax = { 0 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 4 * n, values));
    if (a &&
        (nino_resample_make(NINO_FILTER_BILINEAR, dim[1], (int64_t) g->rows * CELL, &ay, NULL) ||
         nino_resample_make(NINO_FILTER_BILINEAR, dim[2], (int64_t) g->cols * CELL, &ax, NULL)))
        nino_array_unref(&a);
    for (int64_t i = 0; a && i < 4 * n; i++) {
        const int cell = g->cell[i / 4], k = (int) (i % 4);
        put_patch(picture, &ay, &ax, cell / g->cols * CELL + k / 2 * SIDE,
                  cell % g->cols * CELL + k % 2 * SIDE, nino_array_f32(a) + i * values);
    }
    nino_resample_release(&ay);
    nino_resample_release(&ax);
    return a;
}
