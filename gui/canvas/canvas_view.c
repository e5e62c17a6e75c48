// Arithmetic only: no widget is touched here.
#include "canvas/canvas_view.h"

#include <math.h>

void nino_canvas_view_world(const CanvasView *v, double sx, double sy, double *x, double *y)
{
    *x = (sx - v->x) / v->zoom;
    *y = (sy - v->y) / v->zoom;
}

CanvasPart nino_canvas_view_part(const CanvasView *v)
{
    CanvasPart p;
    nino_canvas_view_world(v, 0, 0, &p.x0, &p.y0);
    nino_canvas_view_world(v, v->width, v->height, &p.x1, &p.y1);
    return p;
}

graphene_rect_t nino_canvas_view_on_screen(const CanvasView *v, const graphene_rect_t *box)
{
    return GRAPHENE_RECT_INIT(
        (float) (box->origin.x * v->zoom + v->x), (float) (box->origin.y * v->zoom + v->y),
        (float) (box->size.width * v->zoom), (float) (box->size.height * v->zoom));
}

gboolean nino_canvas_view_sees(const CanvasView *v, const graphene_rect_t *box, double margin)
{
    const double x = box->origin.x * v->zoom + v->x, y = box->origin.y * v->zoom + v->y;
    return x < v->width + margin && y < v->height + margin &&
           x + box->size.width * v->zoom > -margin && y + box->size.height * v->zoom > -margin;
}

NinoDetail nino_canvas_view_detail(const CanvasView *v)
{
    return v->zoom >= NINO_CANVAS_LEGIBLE - 1e-9 ? NINO_DETAIL_FULL
           : v->zoom >= 0.24                     ? NINO_DETAIL_TITLE
                                                 : NINO_DETAIL_BOX;
}

// In steps, so that nodes are not drawn anew at every move of the wheel.
double nino_canvas_view_text(const CanvasView *v)
{
    const double wanted = NINO_NODE_TEXT * NINO_CANVAS_LEGIBLE / v->zoom;
    double size = NINO_NODE_TEXT;
    while (size < wanted - 1e-6)
        size *= 1.25;
    return size;
}

gboolean nino_canvas_view_has_room(const CanvasView *v)
{
    return v->width >= 50 && v->height >= 50;
}

gboolean nino_canvas_view_zoom_at(CanvasView *v, double zoom, double sx, double sy)
{
    zoom = CLAMP(zoom, NINO_CANVAS_MIN_ZOOM, NINO_CANVAS_MAX_ZOOM);
    if (!isfinite(sx) || !isfinite(sy) || zoom == v->zoom)
        return FALSE;
    v->x = sx - (sx - v->x) * zoom / v->zoom;
    v->y = sy - (sy - v->y) * zoom / v->zoom;
    v->zoom = zoom;
    v->wants_fit = FALSE;
    return TRUE;
}

void nino_canvas_view_center(CanvasView *v, double x, double y)
{
    v->x = v->width / 2.0 - x * v->zoom;
    v->y = v->height / 2.0 - y * v->zoom;
}

void nino_canvas_view_show(CanvasView *v, const graphene_rect_t *box, double most_zoom)
{
    v->zoom = CLAMP(MIN((v->width - 48) / box->size.width, (v->height - 48) / box->size.height),
                    NINO_CANVAS_MIN_ZOOM, most_zoom);
    v->x = (v->width - box->size.width * v->zoom) / 2 - box->origin.x * v->zoom;
    v->y = (v->height - box->size.height * v->zoom) / 2 - box->origin.y * v->zoom;
}

void nino_canvas_view_reveal(CanvasView *v, const graphene_rect_t *box)
{
    const double w = v->width, h = v->height;
    const double x0 = box->origin.x * v->zoom + v->x, y0 = box->origin.y * v->zoom + v->y;
    const double x1 = x0 + box->size.width * v->zoom, y1 = y0 + box->size.height * v->zoom;
    if (w < 50)
        return;
    v->x += x0 < 20 ? 20 - x0 : x1 > w - 20 ? MAX(w - 20 - x1, 20 - x0) : 0;
    v->y += y0 < 20 ? 20 - y0 : y1 > h - 20 ? MAX(h - 20 - y1, 20 - y0) : 0;
}

void nino_canvas_view_fit(CanvasView *v, const graphene_rect_t *all, double least_zoom)
{
    nino_canvas_view_show(v, all, 1);
    if (v->zoom < least_zoom) { // its start
        const double height = all->size.height * least_zoom;
        v->zoom = least_zoom;
        v->x = 24 - all->origin.x * least_zoom;
        v->y = MAX((v->height - height) / 2, 24) - all->origin.y * least_zoom;
    }
    v->fitted.box = *all;
    v->fitted.least = least_zoom;
    v->fitted.zoom = v->zoom;
    v->fitted.x = v->x;
    v->fitted.y = v->y;
}

gboolean nino_canvas_view_is_fitted(const CanvasView *v)
{
    return v->fitted.zoom == v->zoom && v->fitted.x == v->x && v->fitted.y == v->y;
}
