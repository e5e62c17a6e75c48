// Judges pictures of the demo models: which shape, which colours, where, how large, and how it
// moves. Knows only the drawings of data/train/draw.py and the words of a caption.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct drawn_word {
    const char *word;
    float v[3];
} drawn_word;

// As data/train/draw.py has them.
static const drawn_word drawn_colours[] = {
    { "red", { 0.86f, 0.13f, 0.15f } },    { "green", { 0.13f, 0.62f, 0.22f } },
    { "blue", { 0.13f, 0.30f, 0.85f } },   { "yellow", { 0.97f, 0.85f, 0.15f } },
    { "orange", { 0.96f, 0.52f, 0.08f } }, { "purple", { 0.52f, 0.18f, 0.68f } },
    { "white", { 0.97f, 0.97f, 0.97f } },  { "black", { 0.05f, 0.05f, 0.06f } },
};
static const drawn_word drawn_places[] = {
    // centre
    { "", { 0.5f, 0.5f } },
    { "on the left", { 0.28f, 0.5f } },
    { "on the right", { 0.72f, 0.5f } },
    { "at the top", { 0.5f, 0.28f } },
    { "at the bottom", { 0.5f, 0.72f } },
};
static const drawn_word drawn_sizes[] = { { "small", { 0.15f } },
                                          { "", { 0.23f } },
                                          { "large", { 0.32f } } }; // radius
static const char *const drawn_shapes[] = { "circle", "square", "triangle", "star", "cross" };
static const char *const drawn_motions[] = { "moving left",   "moving right", "moving up",
                                             "moving down",   "growing",      "shrinking",
                                             "standing still" };
#define DRAWN_N(a) ((int) (sizeof(a) / sizeof((a)[0])))

// What a picture shows; indices into the tables above, -1: nothing that stands out.
typedef struct drawn_look {
    int shape, colour, back, place, size;
    float x, y, r; // centre and radius, of the picture's side
    float fit;     // overlap with that shape, drawn clean: intersection over union
} drawn_look;

// ---- the shapes --------------------------------------------------------------------------------

// Negative inside a shape of radius 1 about (0, 0); only the sign is used.
static inline float drawn_distance(int shape, float x, float y)
{
    const float ax = fabsf(x), ay = fabsf(y);
    if (shape == 0)
        return hypotf(x, y) - 1;
    if (shape == 1)
        return fmaxf(ax, ay) - 0.86f;
    if (shape == 2)
        return fmaxf(0.866f * ax - 0.5f * (y - 0.15f), y - 0.15f) - 0.55f;
    if (shape == 4)
        return fminf(fmaxf(ax - 1, ay - 0.32f), fmaxf(ay - 1, ax - 0.32f));
    const float sector = 1.2566371f, tip = 1.12f, notch = 0.48f;
    const float turned = atan2f(x, -y) + sector / 2;
    const float a = fabsf(turned - sector * floorf(turned / sector) - sector / 2);
    const float px = hypotf(x, y) * cosf(a), py = hypotf(x, y) * sinf(a);
    const float ex = notch * cosf(sector / 2) - tip, ey = notch * sinf(sector / 2);
    return (px - tip) * ey - py * ex;
}

// Area and the middle's height of a shape of radius 1.
static inline void drawn_measure(int shape, float *area, float *middle)
{
    double n = 0, y_sum = 0;
    for (int j = 0; j < 120; j++)
        for (int i = 0; i < 120; i++) {
            const float x = ((float) i - 59.5f) / 48, y = ((float) j - 59.5f) / 48;
            if (drawn_distance(shape, x, y) < 0) {
                n++;
                y_sum += y;
            }
        }
    *area = (float) (n / (48 * 48));
    *middle = (float) (y_sum / n);
}

// ---- what stands out ----------------------------------------------------------------------------

static inline int drawn_by_value(const void *a, const void *b)
{
    const float x = *(const float *) a, y = *(const float *) b;
    return (x > y) - (x < y);
}

// Median of each channel along the border.
static inline void drawn_border(const float *rgb, int w, int h, float back[3])
{
    float *v = malloc(sizeof(float) * (size_t) w * (size_t) h);
    for (int c = 0; c < 3; c++) {
        int n = 0;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
                    v[n++] = rgb[(y * w + x) * 3 + c];
        qsort(v, (size_t) n, sizeof(*v), drawn_by_value);
        back[c] = v[n / 2];
    }
    free(v);
}

static inline float drawn_apart(const float *a, const float *b)
{
    return hypotf(hypotf(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static inline int drawn_colour_of(const float *rgb)
{
    int best = 0;
    for (int i = 1; i < DRAWN_N(drawn_colours); i++)
        if (drawn_apart(rgb, drawn_colours[i].v) < drawn_apart(rgb, drawn_colours[best].v))
            best = i;
    return best;
}

// Keeps the largest connected part of mask (1 inside); *stray: pixels that were elsewhere.
static inline int drawn_largest(unsigned char *mask, int w, int h, int *stray)
{
    int *stack = malloc(sizeof(int) * (size_t) w * (size_t) h), best = 0, total = 0, mark = 1,
        keep = 0;
    for (int i = 0; i < w * h; i++) {
        if (mask[i] != 1)
            continue;
        int n = 0, count = 0;
        mark = mark == 255 ? 2 : mark + 1;
        for (stack[n++] = i, mask[i] = (unsigned char) mark; n; count++) {
            const int at = stack[--n], x = at % w, y = at / w;
            const int next[4] = { x > 0 ? at - 1 : at, x < w - 1 ? at + 1 : at, y > 0 ? at - w : at,
                                  y < h - 1 ? at + w : at };
            for (int k = 0; k < 4; k++)
                if (mask[next[k]] == 1) {
                    mask[next[k]] = (unsigned char) mark;
                    stack[n++] = next[k];
                }
        }
        total += count;
        if (count > best) {
            best = count;
            keep = mark;
        }
    }
    for (int i = 0; i < w * h; i++)
        mask[i] = mask[i] && mask[i] == keep;
    free(stack);
    *stray = total - best;
    return best;
}

// ---- the verdict --------------------------------------------------------------------------------

// Overlap of the mask with a clean shape.
static inline float drawn_overlap(const unsigned char *mask, int w, int h, int shape, float cx,
                                  float cy, float r, float turn)
{
    const float c = cosf(turn) / r, s = sinf(turn) / r;
    int both = 0, either = 0;
    for (int j = 0; j < h; j++)
        for (int i = 0; i < w; i++) {
            const float x = (float) i + 0.5f - cx, y = (float) j + 0.5f - cy;
            const bool in = fabsf(x) < 1.2f * r && fabsf(y) < 1.2f * r &&
                            drawn_distance(shape, c * x - s * y, s * x + c * y) < 0;
            both += in && mask[j * w + i];
            either += in || mask[j * w + i];
        }
    return either ? (float) both / (float) either : 0;
}

static inline void drawn_fit(const unsigned char *mask, int w, int h, int area, drawn_look *look)
{
    double mx = 0, my = 0;
    for (int i = 0; i < w * h; i++)
        if (mask[i]) {
            mx += i % w + 0.5;
            my += i / w + 0.5;
        }
    const float x = (float) (mx / area), y = (float) (my / area);
    look->fit = 0;
    for (int shape = 0; shape < DRAWN_N(drawn_shapes); shape++) {
        float unit, middle;
        drawn_measure(shape, &unit, &middle);
        for (int k = 0; k < 9; k++) {
            const float r = sqrtf((float) area / unit) * (1 + 0.04f * (float) (k / 3 - 1));
            const float turn = 0.1f * (float) (k % 3 - 1), cy = y - middle * r;
            const float fit = drawn_overlap(mask, w, h, shape, x, cy, r, turn);
            if (fit > look->fit) {
                look->shape = shape;
                look->fit = fit;
                look->x = x / (float) w;
                look->y = cy / (float) h;
                look->r = r / (float) w;
            }
        }
    }
}

static inline int drawn_nearest(const drawn_word *table, int n, float x, float y)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (hypotf(table[i].v[0] - x, table[i].v[1] - y) <
            hypotf(table[best].v[0] - x, table[best].v[1] - y))
            best = i;
    return best;
}

// rgb [h,w,3] in 0..1
static inline drawn_look drawn_see(const float *rgb, int w, int h)
{
    drawn_look look = { -1, -1, -1, -1, -1, 0, 0, 0, 0 };
    float back[3], *away = malloc(sizeof(float) * (size_t) w * (size_t) h);
    float *sorted = malloc(sizeof(float) * (size_t) w * (size_t) h);
    unsigned char *mask = calloc((size_t) w, (size_t) h);
    drawn_border(rgb, w, h, back);
    look.back = drawn_colour_of(back);
    for (int i = 0; i < w * h; i++)
        away[i] = drawn_apart(rgb + 3 * i, back);
    memcpy(sorted, away, sizeof(float) * (size_t) w * (size_t) h);
    qsort(sorted, (size_t) (w * h), sizeof(*sorted), drawn_by_value);
    const float most = sorted[(int) ((float) (w * h) * 0.985f)]; // the smallest shape has 3 %
    for (int i = 0; i < w * h; i++)
        mask[i] = away[i] > 0.5f * most;
    int stray, area = drawn_largest(mask, w, h, &stray);
    if (most > 0.12f && area > w * h / 100 && stray * 5 < area) {
        double sum[3] = { 0 }, n = 0;
        for (int i = 0; i < w * h; i++)
            for (int c = 0; c < 3 && mask[i] && away[i] > 0.8f * most; c++) {
                sum[c] += rgb[3 * i + c];
                n += c == 0;
            }
        const float mean[3] = { (float) (sum[0] / n), (float) (sum[1] / n), (float) (sum[2] / n) };
        look.colour = drawn_colour_of(mean);
        drawn_fit(mask, w, h, area, &look);
        look.place = drawn_nearest(drawn_places, DRAWN_N(drawn_places), look.x, look.y);
        look.size = drawn_nearest(drawn_sizes, DRAWN_N(drawn_sizes), look.r, 0);
    }
    free(away);
    free(sorted);
    free(mask);
    return look;
}

// How the shape goes from the first look to the last; -1: nothing to see.
static inline int drawn_motion(const drawn_look *first, const drawn_look *last)
{
    if (first->shape < 0 || last->shape < 0)
        return -1;
    const float dx = last->x - first->x, dy = last->y - first->y, grown = logf(last->r / first->r);
    if (fabsf(grown) > 0.4f)
        return grown > 0 ? 4 : 5;
    if (hypotf(dx, dy) < 0.12f)
        return 6;
    return fabsf(dx) > fabsf(dy) ? (dx < 0 ? 0 : 1) : (dy < 0 ? 2 : 3);
}

// ---- what a caption asks for --------------------------------------------------------------------

typedef struct drawn_wish {
    int shape, colour, back, place, size, motion; // motion -1: a picture
} drawn_wish;

// "a small red circle on the left on a blue background"; false: not such a caption.
static inline bool drawn_read(const char *caption, drawn_wish *wish)
{
    *wish = (drawn_wish){ -1, -1, -1, 0, 1, -1 };
    const char *ground = strstr(caption, " background");
    for (int i = 0; i < DRAWN_N(drawn_shapes); i++)
        if (strstr(caption, drawn_shapes[i]))
            wish->shape = i;
    for (int i = 0; i < DRAWN_N(drawn_colours); i++) {
        const char *word = drawn_colours[i].word;
        for (const char *at = caption; (at = strstr(at, word)); at += strlen(word))
            *(at + strlen(word) == ground ? &wish->back : &wish->colour) = i;
    }
    for (int i = 1; i < DRAWN_N(drawn_places); i++)
        if (strstr(caption, drawn_places[i].word))
            wish->place = i;
    for (int i = 0; i < DRAWN_N(drawn_motions); i++)
        if (strstr(caption, drawn_motions[i]))
            wish->motion = i;
    if (strstr(caption, "small"))
        wish->size = 0;
    if (strstr(caption, "large"))
        wish->size = 2;
    return wish->shape >= 0 && wish->colour >= 0 && wish->back >= 0;
}

// Name of the first thing that is not as asked for, NULL: all is. A clip's place and size change.
static inline const char *drawn_wrong(const drawn_wish *wish, const drawn_look *look)
{
    if (look->shape < 0)
        return "nothing there";
    if (look->back != wish->back)
        return "background";
    if (look->colour != wish->colour)
        return "colour";
    if (look->shape != wish->shape || look->fit < 0.7f)
        return "shape";
    if (wish->motion < 0 && look->place != wish->place)
        return "place";
    if (wish->motion < 0 && look->size != wish->size)
        return "size";
    return NULL;
}
