// Palettes. Median cut: Heckbert 1982, "Color Image Quantization for Frame Buffer Display", with
// the choices of Pillow's Quant.c (the box with most pixels is cut, along the axis that is longest
// in luminance, after the value that holds the median). Drawing: Pillow's Palette.c and Convert.c
// look colours up in cells of 4x4x4. Error diffusion: Floyd and Steinberg 1976.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/palette.h"

#define MAX_COLORS 65536 // more: the low bits of all colours are dropped until there are fewer

typedef struct tint {
    uint8_t v[3]; // without the dropped bits
    uint64_t count, sum[3];
} tint;

typedef struct box {
    size_t from, n; // colours
    uint64_t pixels;
    bool is_cut;
} box;

typedef struct cutter {
    tint *colors;
    box boxes[2 * NINO_PALETTE_MAX];
    int n_boxes;
    int heap[NINO_PALETTE_MAX + 2], n_heap; // boxes, most pixels first; from 1
} cutter;

static int palette_by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

static uint64_t packed(const uint8_t v[3], int drop)
{
    return (uint64_t) (v[0] >> drop) << 16 | (uint64_t) (v[1] >> drop) << 8 | v[2] >> drop;
}

// The different colours, in keys[]: without the dropped bits, above the whole colour.
static size_t sort_colors(const uint8_t (*rgb)[3], size_t n, int drop, uint64_t *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = packed(rgb[i], drop) << 24 | packed(rgb[i], 0);
    qsort(keys, n, sizeof(*keys), palette_by_value);
    size_t different = 1;
    for (size_t i = 1; i < n; i++)
        different += keys[i] >> 24 != keys[i - 1] >> 24;
    return different;
}

static tint *count_colors(const uint8_t (*rgb)[3], size_t n, size_t *n_colors)
{
    uint64_t *keys = calloc(n, sizeof(*keys));
    tint *out = NULL;
    if (!keys)
        return NULL;
    for (int drop = 0; (*n_colors = sort_colors(rgb, n, drop, keys)) > MAX_COLORS;)
        drop++;
    out = calloc(*n_colors, sizeof(*out));
    for (size_t i = 0, at = 0; out && i < n; i++) {
        at += i && keys[i] >> 24 != keys[i - 1] >> 24;
        out[at].count++;
        for (int k = 0; k < 3; k++) {
            out[at].v[k] = (uint8_t) (keys[i] >> (24 + 16 - 8 * k));
            out[at].sum[k] += keys[i] >> (16 - 8 * k) & 255;
        }
    }
    free(keys);
    return out;
}

// ---- a heap of boxes -------------------------------------------------------------------------
// Which of two equally full boxes comes first decides what is cut last, so ties go Pillow's way.

static uint64_t fullness(const cutter *c, int at) { return c->boxes[c->heap[at]].pixels; }

static void palette_heap_push(cutter *c, int b)
{
    int at = ++c->n_heap;
    for (; at > 1 && c->boxes[b].pixels > fullness(c, at / 2); at /= 2)
        c->heap[at] = c->heap[at / 2];
    c->heap[at] = b;
}

static int palette_heap_pop(cutter *c)
{
    const int top = c->heap[1], last = c->heap[c->n_heap--];
    int at = 1;
    for (int child; (child = 2 * at) <= c->n_heap; at = child) {
        child += child < c->n_heap && fullness(c, child) < fullness(c, child + 1);
        if (c->boxes[last].pixels > fullness(c, child))
            break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
    return top;
}

// ---- median cut ------------------------------------------------------------------------------

static int longest_axis(const tint *c, size_t n)
{
    static const int weight[3] = { 77, 150, 29 };
    int axis = 0, best = -1;
    for (int k = 0; k < 3; k++) {
        int lo = 255, hi = 0;
        for (size_t i = 0; i < n; i++) {
            lo = c[i].v[k] < lo ? c[i].v[k] : lo;
            hi = c[i].v[k] > hi ? c[i].v[k] : hi;
        }
        if ((hi - lo) * weight[k] > best) {
            best = (hi - lo) * weight[k];
            axis = k;
        }
    }
    return axis;
}

// The least value of the brighter part, which has at least half of the pixels; but both have some.
static int cut_value(const tint *c, const box *b, int axis)
{
    uint64_t count[256] = { 0 }, bright = 0;
    int lo = 255, v = 256, above = 256;
    for (size_t i = 0; i < b->n; i++) {
        count[c[i].v[axis]] += c[i].count;
        lo = c[i].v[axis] < lo ? c[i].v[axis] : lo;
    }
    while (bright * 2 <= b->pixels && v > 0)
        if (count[--v]) {
            bright += count[v];
            if (v > lo)
                above = v;
        }
    return v > lo ? v : above;
}

// The brighter part comes first.
static void palette_cut(cutter *c, int at)
{
    box *b = &c->boxes[at], *part[2] = { &c->boxes[c->n_boxes], &c->boxes[c->n_boxes + 1] };
    tint *v = c->colors + b->from;
    const int axis = longest_axis(v, b->n), least = cut_value(v, b, axis);
    *part[0] = *part[1] = (box){ .from = b->from };
    for (size_t i = 0; i < b->n; i++)
        if (v[i].v[axis] >= least) {
            const tint one = v[i];
            v[i] = v[part[0]->n];
            v[part[0]->n++] = one;
            part[0]->pixels += one.count;
        }
    part[1]->from += part[0]->n;
    part[1]->n = b->n - part[0]->n;
    part[1]->pixels = b->pixels - part[0]->pixels;
    b->is_cut = true;
    c->n_boxes += 2;
    palette_heap_push(c, c->n_boxes - 2);
    palette_heap_push(c, c->n_boxes - 1);
}

static void average(const tint *c, size_t n, uint8_t out[3])
{
    uint64_t count = 0, sum[3] = { 0 };
    for (size_t i = 0; i < n; i++) {
        count += c[i].count;
        for (int k = 0; k < 3; k++)
            sum[k] += c[i].sum[k];
    }
    for (int k = 0; k < 3; k++)
        out[k] = (uint8_t) (0.5 + (double) sum[k] / (double) count);
}

nino_status nino_palette_make(const uint8_t (*rgb)[3], size_t n_pixels, int n, nino_palette *out,
                              nino_error *err)
{
    cutter c = { .n_boxes = 1 };
    size_t n_colors = 0;
    if (!(c.colors = count_colors(rgb, n_pixels, &n_colors)))
        return nino_fail(err, NINO_ERR_NOMEM, "palette", "out of memory");
    c.boxes[0] = (box){ .n = n_colors, .pixels = n_pixels };
    palette_heap_push(&c, 0);
    for (int left = n; left > 1 && c.n_heap;) {
        const int b = palette_heap_pop(&c);
        if (c.boxes[b].n == 1)
            continue;
        palette_cut(&c, b);
        left--;
    }
    out->n = 0;
    for (size_t at = 0; at < n_colors;) // in the order of the colours, which cuts keep
        for (int i = 0; i < c.n_boxes; i++)
            if (c.boxes[i].from == at && !c.boxes[i].is_cut) {
                average(c.colors + at, c.boxes[i].n, out->rgb[out->n++]);
                at += c.boxes[i].n;
                break;
            }
    free(c.colors);
    return NINO_OK;
}

// ---- drawing ---------------------------------------------------------------------------------

#define CELLS ((size_t) 64 * 64 * 64)
#define UNKNOWN 256

// The colour nearest to the dark corner of v's cell, the first of several.
static int nearest(const nino_palette *p, uint16_t *cells, const uint8_t v[3])
{
    uint16_t *cell = &cells[(v[0] >> 2) * 64 * 64 + (v[1] >> 2) * 64 + (v[2] >> 2)];
    if (*cell != UNKNOWN)
        return *cell;
    int best = 0, least = 1 << 30;
    for (int i = 0; i < p->n; i++) {
        int d = 0;
        for (int k = 0; k < 3; k++)
            d += ((v[k] & ~3) - p->rgb[i][k]) * ((v[k] & ~3) - p->rgb[i][k]);
        if (d < least) {
            least = d;
            best = i;
        }
    }
    *cell = (uint16_t) best;
    return best;
}

static uint8_t byte_range(int v) { return v < 0 ? 0 : v > 255 ? 255 : (uint8_t) v; }

// One row; below[x + 1] is what pixel x gets from the row above and leaves for the one below, in
// sixteenths. The last pixel leaves what blue is wrong by in all three, as in Pillow.
static void diffuse_row(const nino_palette *p, uint16_t *cells, uint8_t (*row)[3], int64_t width,
                        int (*below)[3])
{
    int wrong[3][3] = { { 0 } }; // of this pixel and the two to its left, by channel
    for (int64_t x = 0; x < width; x++) {
        for (int k = 0; k < 3; k++)
            row[x][k] = byte_range(row[x][k] + (7 * wrong[k][0] + below[x + 1][k]) / 16);
        const uint8_t *color = p->rgb[nearest(p, cells, row[x])];
        for (int k = 0; k < 3; k++) {
            wrong[k][2] = wrong[k][1];
            wrong[k][1] = wrong[k][0];
            wrong[k][0] = row[x][k] - color[k];
            below[x][k] = 3 * wrong[k][0] + 5 * wrong[k][1] + wrong[k][2];
            row[x][k] = color[k];
        }
    }
    const int *blue = wrong[2];
    below[width][0] = 5 * blue[0] + blue[1];
    below[width][1] = below[width][2] = blue[0];
}

nino_status nino_palette_draw(const nino_palette *p, uint8_t (*rgb)[3], int64_t height,
                              int64_t width, bool diffuse, nino_error *err)
{
    uint16_t *cells = malloc(CELLS * sizeof(*cells));
    int(*below)[3] = calloc((size_t) width + 1, sizeof(*below));
    const bool ok = cells && below;
    for (size_t i = 0; ok && i < CELLS; i++)
        cells[i] = UNKNOWN;
    for (int64_t y = 0; ok && y < height; y++) {
        uint8_t(*row)[3] = rgb + y * width;
        if (diffuse)
            diffuse_row(p, cells, row, width, below);
        else
            for (int64_t x = 0; x < width; x++)
                memcpy(row[x], p->rgb[nearest(p, cells, row[x])], 3);
    }
    free(cells);
    free(below);
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "palette", "out of memory");
}

// Bayer 1973: every quarter of the matrix is the half-sized one plus a step of its own. Sums of
// small powers of two: exact.
static float palette_threshold(int64_t y, int64_t x, int order)
{
    static const float quarter[2][2] = { { -1.5f, 0.5f }, { 1.5f, -0.5f } };
    float sum = 0, scale = 0.25f;
    for (int bit = 0; bit < order; bit++, scale /= 4)
        sum += quarter[y >> bit & 1][x >> bit & 1] * scale;
    return sum;
}

void nino_palette_bayer(const nino_palette *p, uint8_t (*rgb)[3], int64_t height, int64_t width,
                        int order)
{
    const float spread = (float) (2.0 * 256 / p->n);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            const float add = spread * palette_threshold(y, x, order) + 0.5f;
            for (int k = 0; k < 3; k++) {
                const float v = (float) rgb[y * width + x][k] + add;
                rgb[y * width + x][k] = v < 0 ? 0 : v > 255 ? 255 : (uint8_t) v;
            }
        }
}
