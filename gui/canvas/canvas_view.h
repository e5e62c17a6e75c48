// Where the workflow lies on the screen: screen = workflow * zoom + (x, y).
#pragma once
#include "node/node_view.h"

#define NINO_CANVAS_MIN_ZOOM 0.05
#define NINO_CANVAS_MAX_ZOOM 4.0
#define NINO_CANVAS_LEGIBLE 0.7 // from here on the text in nodes has 9 px

typedef struct CanvasView {
    double width, height; // of the screen's part that it has; 0: not yet
    double zoom, x, y;
    gboolean wants_fit; // of everything, as soon as there is a size
    struct {
        double least;        // that it was asked for
        double zoom, x, y;   // where fitting everything put it; zoom 0: it has not
        graphene_rect_t box; // and what everything was
    } fitted;
} CanvasView;

typedef struct CanvasPart { // of the workflow
    double x0, y0, x1, y1;
} CanvasPart;

CanvasPart nino_canvas_view_part(const CanvasView *v); // that is on the screen
void nino_canvas_view_world(const CanvasView *v, double sx, double sy, double *x, double *y);
graphene_rect_t nino_canvas_view_on_screen(const CanvasView *v, const graphene_rect_t *box);
// Whether any of a box of the workflow is seen, or would be `margin` further out.
gboolean nino_canvas_view_sees(const CanvasView *v, const graphene_rect_t *box, double margin);
// How much of a node is worth drawing at this zoom.
NinoDetail nino_canvas_view_detail(const CanvasView *v);
double
nino_canvas_view_text(const CanvasView *v); // how large text in nodes is to be, to be legible
gboolean nino_canvas_view_has_room(const CanvasView *v); // large enough to fit something into

// ---- changing it: who shows the workflow calls nino_canvas_moved() after
// The place (sx, sy) of the screen stays; FALSE: nothing has changed.
gboolean nino_canvas_view_zoom_at(CanvasView *v, double zoom, double sx, double sy);
void nino_canvas_view_center(CanvasView *v, double x, double y); // a place of the workflow
void nino_canvas_view_show(CanvasView *v, const graphene_rect_t *box, double most_zoom);
void nino_canvas_view_reveal(CanvasView *v, const graphene_rect_t *box); // no further than needed
// All of it, or its start where it would get smaller than that.
void nino_canvas_view_fit(CanvasView *v, const graphene_rect_t *all, double least_zoom);
gboolean nino_canvas_view_is_fitted(const CanvasView *v); // and nobody has moved it since
