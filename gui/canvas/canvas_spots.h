// Groups and points of links: where they are, which are selected, and what moves while it is
// dragged. Numbered as in the document: groups, then points.
#pragma once
#include "canvas/canvas_view.h"
#include "canvas/spot.h"

enum { NINO_GROUP_MIN_WIDTH = 60, NINO_GROUP_MIN_HEIGHT = 40 };

typedef struct CanvasSpots {
    nino_document *doc; // whose they are; NULL: none
    GPtrArray *all;     // NinoSpot
    // How far a drag has come, in the workflow: of all that are is_moved, or of the lower right
    // corner of the group `resized` (-1: none).
    double dx, dy;
    int resized;
} CanvasSpots;

void nino_canvas_spots_init(CanvasSpots *s);
void nino_canvas_spots_clear(CanvasSpots *s);
void nino_canvas_spots_release(CanvasSpots *s);
// The widgets of the document's groups and points, as children of `parent` before `next`; those
// that stay keep theirs. nodes: NinoNodeView, as a group's name tells how many are in it.
void nino_canvas_spots_sync(CanvasSpots *s, nino_document *d, GPtrArray *nodes, GtkWidget *parent,
                            GtkWidget *next);
void nino_canvas_spots_show(CanvasSpots *s, const CanvasView *v); // who of them is in view
void nino_canvas_spots_allocate(CanvasSpots *s, const CanvasView *v);

// ---- places in the workflow, with what is being dragged
graphene_rect_t nino_canvas_spots_group_box(const CanvasSpots *s, int group);
graphene_point_t nino_canvas_spots_point(const CanvasSpots *s, int reroute);
graphene_rect_t nino_canvas_spots_box(const CanvasSpots *s, const NinoSpot *one);
graphene_rect_t nino_canvas_spots_handle(const CanvasSpots *s,
                                         const NinoSpot *one); // to take it by
NinoSpot *nino_canvas_spots_at(const CanvasSpots *s, double x, double y, gboolean *is_corner);

// ---- which are selected, or have the keyboard
NinoSpot *nino_canvas_spots_of_point(const CanvasSpots *s, int reroute);
int nino_canvas_spots_n_selected(const CanvasSpots *s);
NinoSpot *nino_canvas_spots_selected_group(const CanvasSpots *s); // the first, or NULL
void nino_canvas_spots_select_none(CanvasSpots *s);
void nino_canvas_spots_select_in(CanvasSpots *s, const graphene_rect_t *area); // NULL: all
gboolean nino_canvas_spots_is_bright(const CanvasSpots *s, int number);

// ---- changing the document
// A group takes along what is inside.
gboolean nino_canvas_spots_takes(const CanvasSpots *s, graphene_point_t middle);
void nino_canvas_spots_take(CanvasSpots *s); // sets is_moved
int nino_canvas_spots_n_moved(const CanvasSpots *s);
nino_status nino_canvas_spots_move(CanvasSpots *s, double dx, double dy, nino_error *err);
nino_status nino_canvas_spots_delete(CanvasSpots *s, nino_error *err); // the selected ones
nino_status nino_canvas_spots_color(CanvasSpots *s, const char *color, nino_error *err);
