// Internal: what the files of the canvas share.
#pragma once
#include "canvas/canvas.h"
#include "canvas/canvas_links.h"
#include "canvas/canvas_spots.h"
#include "node/style.h"

typedef enum CanvasDrag {
    DRAG_NONE,
    DRAG_PAN,
    DRAG_BOX,
    DRAG_SELECTION, // nodes, groups and points of links
    DRAG_RESIZE,
    DRAG_LINK,
    DRAG_GROUP_SIZE,
    DRAG_MINIMAP,
} CanvasDrag;

typedef struct CanvasMoved { // a node being dragged
    NinoNodeView *view;
    double x, y;
} CanvasMoved;

struct _NinoCanvas {
    GtkWidget parent;
    // What is shown.
    nino_document *doc;
    char *prefix;         // of execution ids: "57:"
    GPtrArray *nodes;     // NinoNodeView, by number of the node
    GHashTable *by_id;    // id -> NinoNodeView
    GHashTable *selected; // ids of nodes
    CanvasSpots spots;
    CanvasLinks links;

    // Where and how.
    CanvasView view;
    guint moved_source;
    CanvasKept grid;
    gboolean has_minimap;
    GtkWidget *bar;                    // the way into subgraphs
    GtkWidget *popover, *focus_before; // of it; weak

    // canvas_marks.c: what a run and a check said, by execution id.
    GHashTable *marks;    // NinoNodeMark
    GHashTable *issues;   // text
    GHashTable *pictures; // GdkTexture
    GHashTable *ahead;    // NinoNodeAhead
    GHashTable *sent;     // "ID\nVALUE" -> text, of the last run
    guint mark_source;

    // canvas_input.c: what the pointer does.
    double px, py; // where it is
    gboolean is_space_down;
    CanvasDrag drag;
    gboolean has_moved;
    double x0, y0, ox0, oy0; // where the drag began
    double dx, dy;           // how far it has come, in the workflow
    GArray *moved;           // CanvasMoved
    NinoNodeView *target;
};

enum { SIGNAL_CHANGED, SIGNAL_SELECTION, SIGNAL_PROBLEM, N_SIGNALS };

// Something of the document changed: shows it and tells.
void nino_canvas_changed(NinoCanvas *c);
void nino_canvas_sync(NinoCanvas *c);
// The view moved or nodes did: who is visible, then allocation.
void nino_canvas_moved(NinoCanvas *c);
gboolean nino_canvas_moved_later(gpointer canvas); // as an idle source
// FALSE: it was refused, and "problem" said why.
gboolean nino_canvas_did(NinoCanvas *c, nino_status st, const nino_error *err);
void nino_canvas_selection_changed(NinoCanvas *c);
void nino_canvas_select_only(NinoCanvas *c, const char *id);
void nino_canvas_toggle(NinoCanvas *c, const char *id, gboolean selected);
int nino_canvas_first_selected(NinoCanvas *c);                   // number of the node; -1: none
const char **nino_canvas_selected_ids(NinoCanvas *c, size_t *n); // g_free() the array
void nino_canvas_zoom_at(NinoCanvas *c, double zoom, double x, double y);
NinoNodeView *nino_canvas_node_at(NinoCanvas *c, double sx, double sy);
NinoNodeView *nino_canvas_node(NinoCanvas *c, int node);
void nino_canvas_reveal(NinoCanvas *c, const graphene_rect_t *box);
void nino_canvas_reveal_node(NinoCanvas *c, NinoNodeView *v);

// ---- marks
void nino_canvas_free_mark(gpointer mark);

// The value of a node of this place at the last run; NULL: it was not seen then.
const char *nino_canvas_sent(gpointer canvas, const char *id, const char *name);
double nino_canvas_room(gpointer canvas, const graphene_rect_t *at);

// ---- selection
void nino_canvas_unselect(NinoCanvas *c); // nodes and spots, without telling
void nino_canvas_select_spot(NinoCanvas *c, NinoSpot *s, gboolean selected);
// What is selected moves: taken, shown elsewhere while it is dragged, written down.
void nino_canvas_take_selection(NinoCanvas *c);
void nino_canvas_drag_selection(NinoCanvas *c, double dx, double dy);
void nino_canvas_drop_selection(NinoCanvas *c, double dx, double dy);

// ---- drawing
void nino_canvas_draw(NinoCanvas *c, GtkSnapshot *s);
CanvasScene nino_canvas_scene(NinoCanvas *c);
graphene_rect_t nino_canvas_bounds(NinoCanvas *c); // of everything, in the workflow
// Fits again when nodes grew (results, previews) and nobody has moved the view since.
void nino_canvas_fit_grown(NinoCanvas *c);
// The minimap's place on the screen; FALSE: it is not shown, as while everything is in view.
gboolean nino_canvas_minimap_box(NinoCanvas *c, graphene_rect_t *box, double *scale,
                                 graphene_rect_t *bounds);

// ---- input and actions
void nino_canvas_add_input(NinoCanvas *c);
void nino_canvas_add_keys(NinoCanvas *c);
void nino_canvas_focus_spot(NinoCanvas *c, NinoSpot *s); // selects it, and shows it
// Place in the canvas as place inside a node.
void nino_canvas_inside(NinoCanvas *c, NinoNodeView *v, double sx, double sy, double *x, double *y);
int nino_canvas_number_of(NinoCanvas *c, NinoNodeView *v); // in the document
// FALSE: there is no slot at that place of the node. The drag then ends in drop_link().
gboolean nino_canvas_begin_link(NinoCanvas *c, NinoNodeView *v, double x, double y);
void nino_canvas_drop_link(NinoCanvas *c);
void nino_canvas_show_wanted(NinoCanvas *c, gboolean on); // slots that the dragged link fits
void nino_canvas_add_actions(GtkWidgetClass *wc);
void nino_canvas_enable_actions(NinoCanvas *c); // menus and buttons show what can be done
void nino_canvas_open_search(NinoCanvas *c, double sx, double sy, const char *type,
                             gboolean from_output,
                             gboolean is_loose); // is_loose: nobody points there
void nino_canvas_open_slots(NinoCanvas *c);      // of the selected node, to add another one there
void nino_canvas_take_items(NinoCanvas *c);      // that are dropped on it
void nino_canvas_add_item_at(NinoCanvas *c, const NinoCanvasItem *item, double sx, double sy);
void nino_canvas_take_files(NinoCanvas *c); // that are dropped on it
gboolean
nino_canvas_paste_files(NinoCanvas *c);      // FALSE: the clipboard has neither file nor picture
void nino_canvas_choose_file(NinoCanvas *c); // for the selected node
void nino_canvas_edit_mask(NinoCanvas *c);   // of the picture that it loads
void nino_canvas_open_models(NinoCanvas *c); // to add one with the node that loads it
void nino_canvas_open_connect(NinoCanvas *c);
void nino_canvas_open_bend(NinoCanvas *c);
// A menu for what is selected, or for the canvas.
void nino_canvas_open_menu(NinoCanvas *c, double sx, double sy, gboolean of_selection);
void nino_canvas_open_menu_by_key(NinoCanvas *c);
void nino_canvas_open_rename(NinoCanvas *c, int node, int group);
// Middle of a node on the screen; -1: of the canvas.
void nino_canvas_middle_of(NinoCanvas *c, int node, double *x, double *y);
void nino_canvas_open_ports(NinoCanvas *c); // of the selected node, else of the subgraph shown
void nino_canvas_open_rename_port(NinoCanvas *c, int node, gboolean is_output, int slot);
void nino_canvas_show_popover(NinoCanvas *c, GtkWidget *popover, double sx, double sy);
