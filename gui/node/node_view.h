// One node of the canvas as a widget: title, slots and values are where workflow files expect them
// (titles of 30, slots of 20, values of 24), the editors are real widgets.
#pragma once
#include "node/editors.h"
#include "node/node_mark.h"
#include "node/style.h"

#define NINO_TYPE_NODE_VIEW (nino_node_view_get_type())
G_DECLARE_FINAL_TYPE(NinoNodeView, nino_node_view, NINO, NODE_VIEW, GtkWidget)

enum { NINO_NODE_TITLE = 30, NINO_NODE_SLOT = 20, NINO_NODE_ROW = 24, NINO_NODE_TEXT = 13 };

// How much of a node is drawn.
typedef enum NinoDetail {
    NINO_DETAIL_FULL,
    NINO_DETAIL_TITLE, // large, and the values in one line; no slot names
    NINO_DETAIL_BOX,   // no text
} NinoDetail;

// What a node asks of who shows it.
typedef struct NinoNodeHost {
    void (*edit)(gpointer user, const char *id, const char *name, NinoEditKind kind,
                 const char *text);
    const nino_doc_node *(*find)(gpointer user, const char *id); // NULL: it has gone
    // The value at the last run; NULL: there was none.
    const char *(*sent)(gpointer user, const char *id, const char *name);
    // How wide a line at `at` may be before it meets another node beside it, in the coordinates of the workflow.
    double (*room)(gpointer user, const graphene_rect_t *at);
} NinoNodeHost;

// `host` must be static.
GtkWidget *nino_node_view_new(const nino_doc_node *n, const NinoNodeHost *host, gpointer user);
void nino_node_view_update(NinoNodeView *v, const nino_doc_node *n);
const char *nino_node_view_id(NinoNodeView *v);
const char *nino_node_view_title(NinoNodeView *v);
// In the coordinates of the workflow, title included.
void nino_node_view_get_box(NinoNodeView *v, graphene_rect_t *box);
graphene_point_t nino_node_view_middle(NinoNodeView *v);
void nino_node_view_set_place(NinoNodeView *v, double x, double y); // while it is dragged
void nino_node_view_set_size(NinoNodeView *v, double width, double height);
// Where links begin and end, in the coordinates of the workflow.
graphene_point_t nino_node_view_input(NinoNodeView *v, int i);
graphene_point_t nino_node_view_output(NinoNodeView *v, int i);
// The slot at a point inside the view, or -1.
int nino_node_view_input_at(NinoNodeView *v, double x, double y);
int nino_node_view_output_at(NinoNodeView *v, double x, double y);
gboolean nino_node_view_is_resize_corner(NinoNodeView *v, double x, double y);

// text: the size of the title where only that is shown, so that it can be read from there.
void nino_node_view_set_detail(NinoNodeView *v, NinoDetail detail, double text);
NinoDetail nino_node_view_get_detail(const NinoNodeView *v);
void nino_node_view_set_selected(NinoNodeView *v, gboolean selected);
void nino_node_view_set_mark(NinoNodeView *v, const NinoNodeMark *mark); // NULL: none
void nino_node_view_set_ahead(NinoNodeView *v, NinoNodeAhead ahead);
void nino_node_view_set_picture(NinoNodeView *v, GdkTexture *picture); // a small one, or NULL
// While a link is dragged: slots that it fits are drawn full, others dim. NULL: no link.
void nino_node_view_set_wanted(NinoNodeView *v, const char *type, gboolean inputs);
gboolean nino_node_view_edit(NinoNodeView *v); // gives the focus to its first editor
// On the minimap; is_dot: too small for an edge, it has to be seen by its colour alone.
GdkRGBA nino_node_view_map_color(NinoNodeView *v, gboolean is_dot);
