// A workflow drawn small: groups, links, nodes with their colours.
#include "thumbnail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 30, TITLE = 30 }; // units of the editor's canvas; titles stand above their bodies

typedef struct colour {
    uint8_t r, g, b;
} colour;

typedef struct rect {
    double x, y, w, h;
} rect;

static const colour BACKGROUND = { 32, 33, 36 }, BODY = { 62, 67, 75 }, HEAD = { 96, 104, 116 },
                    LINK = { 150, 154, 160 }, UNKNOWN = { 150, 62, 58 }, GROUP = { 52, 70, 94 };

static int sketch_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// "#rgb" or "#rrggbb"; other where it is neither.
static colour sketch_colour(const char *text, colour other)
{
    int v[6] = { 0 };
    const size_t n = text && *text == '#' ? strlen(text + 1) : 0;
    if (n != 3 && n != 6)
        return other;
    for (size_t i = 0; i < n; i++)
        if ((v[i] = sketch_hex(text[1 + i])) < 0)
            return other;
    if (n == 3)
        return (colour){ (uint8_t) (v[0] * 17), (uint8_t) (v[1] * 17), (uint8_t) (v[2] * 17) };
    return (colour){ (uint8_t) (v[0] * 16 + v[1]), (uint8_t) (v[2] * 16 + v[3]),
                     (uint8_t) (v[4] * 16 + v[5]) };
}

static rect sketch_box(const nino_doc_node *n)
{
    const bool is_small = n->is_collapsed || n->kind == NINO_DOC_REROUTE;
    rect r = { n->x, n->y - TITLE, is_small ? 80 : n->width, is_small ? TITLE : n->height + TITLE };
    if (r.w < 20)
        r.w = 200;
    if (r.h < 20)
        r.h = 80;
    return r;
}

static void sketch_cover(rect *all, rect r)
{
    const double right = fmax(all->x + all->w, r.x + r.w);
    const double bottom = fmax(all->y + all->h, r.y + r.h);
    all->x = fmin(all->x, r.x);
    all->y = fmin(all->y, r.y);
    all->w = right - all->x;
    all->h = bottom - all->y;
}

// The canvas is scaled by `scale` from (x, y).
typedef struct canvas {
    thumbnail *t;
    double x, y, scale;
} canvas;

static void sketch_dot(const canvas *c, int x, int y, colour k, int alpha)
{
    if (x < 0 || y < 0 || x >= c->t->width || y >= c->t->height)
        return;
    uint8_t *p = c->t->rgba + ((size_t) y * (size_t) c->t->width + (size_t) x) * 4;
    p[0] = (uint8_t) ((p[0] * (255 - alpha) + k.r * alpha) / 255);
    p[1] = (uint8_t) ((p[1] * (255 - alpha) + k.g * alpha) / 255);
    p[2] = (uint8_t) ((p[2] * (255 - alpha) + k.b * alpha) / 255);
    p[3] = 255;
}

static void sketch_fill(const canvas *c, rect r, colour k, int alpha)
{
    const int x0 = (int) fmax(floor((r.x - c->x) * c->scale), 0);
    const int y0 = (int) fmax(floor((r.y - c->y) * c->scale), 0);
    const int x1 = (int) fmin(ceil((r.x + r.w - c->x) * c->scale), c->t->width);
    const int y1 = (int) fmin(ceil((r.y + r.h - c->y) * c->scale), c->t->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            sketch_dot(c, x, y, k, alpha);
}

static void sketch_line(const canvas *c, double x0, double y0, double x1, double y1)
{
    const double dx = (x1 - x0) * c->scale, dy = (y1 - y0) * c->scale;
    const int n = (int) fmin(fmax(fabs(dx), fabs(dy)), 4096) + 1;
    for (int i = 0; i <= n; i++)
        sketch_dot(c, (int) ((x0 - c->x) * c->scale + dx * i / n),
                   (int) ((y0 - c->y) * c->scale + dy * i / n), LINK, 255);
}

static void sketch_draw(const canvas *c, const nino_document *d)
{
    for (int i = 0; i < nino_document_n_groups(d); i++) {
        const nino_doc_group *g = nino_document_group(d, i);
        sketch_fill(c, (rect){ g->x, g->y, g->width, g->height }, sketch_colour(g->color, GROUP),
                    90);
    }
    for (int i = 0; i < nino_document_n_links(d); i++) {
        const nino_doc_link *l = nino_document_link(d, i);
        const nino_doc_node *from = nino_document_node(d, l->from);
        const nino_doc_node *to = nino_document_node(d, l->to);
        if (!from || !to)
            continue;
        const rect a = sketch_box(from), b = sketch_box(to);
        sketch_line(c, a.x + a.w, fmin(a.y + TITLE + 10 + l->from_slot * 20.0, a.y + a.h), b.x,
                    fmin(b.y + TITLE + 10 + l->to_slot * 20.0, b.y + b.h));
    }
    for (int i = 0; i < nino_document_n_nodes(d); i++) {
        const nino_doc_node *n = nino_document_node(d, i);
        const rect r = sketch_box(n);
        const int alpha = n->mode == NINO_MODE_ALWAYS ? 255 : 110;
        sketch_fill(c, r, sketch_colour(n->bgcolor, BODY), alpha);
        sketch_fill(c, (rect){ r.x, r.y, r.w, TITLE },
                    n->kind == NINO_DOC_UNKNOWN ? UNKNOWN : sketch_colour(n->color, HEAD), alpha);
    }
}

nino_status thumbnail_sketch(const nino_document *d, int side, thumbnail *out, nino_error *err)
{
    const int n = nino_document_n_nodes(d);
    rect all = { 0, 0, 200, 100 };
    for (int i = 0; i < n; i++) {
        const rect r = sketch_box(nino_document_node(d, i));
        if (!isfinite(r.x) || !isfinite(r.y) || !isfinite(r.w) || !isfinite(r.h))
            continue;
        if (i)
            sketch_cover(&all, r);
        else
            all = r;
    }
    const double width = all.w + 2 * MARGIN, height = all.h + 2 * MARGIN;
    const canvas c = { out, all.x - MARGIN, all.y - MARGIN, side / fmax(width, height) };
    out->width = (int) fmax(ceil(width * c.scale), 1);
    out->height = (int) fmax(ceil(height * c.scale), 1);
    out->rgba = malloc((size_t) out->width * (size_t) out->height * 4);
    if (!out->rgba) {
        *err = (nino_error){ .code = NINO_ERR_NOMEM, .kind = "", .msg = "out of memory" };
        return NINO_ERR_NOMEM;
    }
    sketch_fill(&c, (rect){ c.x, c.y, width, height }, BACKGROUND, 255);
    sketch_draw(&c, d);
    return NINO_OK;
}
