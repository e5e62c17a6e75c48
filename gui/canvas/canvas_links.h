// Links between nodes: how they run, how they are drawn, and the one that is being dragged.
#pragma once
#include "canvas/canvas_kept.h"
#include "canvas/canvas_spots.h"
#include "node/style.h"

// What the canvas shows of a workflow: all that links need to be drawn and found.
typedef struct CanvasScene {
    nino_document *doc;
    GPtrArray *nodes;     // NinoNodeView, by number of the node
    GHashTable *selected; // ids of nodes
    const CanvasSpots *spots;
    const CanvasView *view;
} CanvasScene;

typedef struct CanvasLinks {
    CanvasKept drawn;
    // While one is dragged:
    int node, slot; // the end that stays
    gboolean from_output;
    int cut_node, cut_input; // the input it was taken from, or -1
} CanvasLinks;

// The points a link goes through; g_free() it.
graphene_point_t *nino_canvas_link_points(const CanvasScene *c, const nino_doc_link *l, int *n);
int nino_canvas_links_at(const CanvasScene *c, double x, double y, int *segment); // -1: none
void nino_canvas_links_draw(CanvasLinks *own, const CanvasScene *c, const NinoGraphColors *colors,
                            GtkSnapshot *s);

// ---- the one that is dragged
const char *nino_canvas_links_type(const CanvasLinks *own,
                                   nino_document *d); // NULL: its node has gone
// From its end to the place (px, py) of the screen.
void nino_canvas_links_draw_dragged(const CanvasLinks *own, const CanvasScene *c, double px,
                                    double py, const NinoGraphColors *colors, GtkSnapshot *s);
