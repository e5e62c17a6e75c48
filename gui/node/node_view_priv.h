// Internal to node_view*.c: what a node's widget holds.
#pragma once
#include "node/node_view.h"

enum { PICTURE_MIN = 60, PICTURE_MAX = 220 }; // height of a picture on a node

typedef struct Slot {
    char *label, *type;
    double y; // inside the view
    gboolean is_linked, is_optional, is_row;
} Slot;

typedef struct Row {
    char *name, *label;
    double y, height;
    GtkWidget *editor;
    gboolean is_text, is_control, is_linked, is_inert, is_changed; // is_changed: since the last run
} Row;

struct _NinoNodeView {
    GtkWidget parent;
    char *id, *title, *signature, *color, *bgcolor;
    nino_doc_kind kind;
    NinoCategory category;
    int mode;
    double x, y, width, height, min_height; // of the whole view
    gboolean is_collapsed, is_pinned, is_selected, has_editors;
    NinoDetail detail;
    double text;              // of the title from afar
    GArray *inputs, *outputs; // Slot
    GArray *rows;             // Row
    NinoNodeMark mark;
    gboolean has_mark;
    NinoNodeAhead ahead;
    char *error;
    double error_width;        // as drawn
    GdkTexture *made, *loaded; // the picture to show: what it made, or what it loads
    char *loaded_path;
    double picture_y;
    char *wanted;
    gboolean wants_inputs;
    const NinoNodeHost *host;
    gpointer user;
};

#define SLOTS(a, i) (&g_array_index((a), Slot, (i)))
#define ROWS(v, i) (&g_array_index((v)->rows, Row, (i)))

static inline gboolean nino_node_view_is_end(const NinoNodeView *v)
{
    return v->kind == NINO_DOC_INPUT || v->kind == NINO_DOC_OUTPUT;
}

static inline double nino_node_view_title_height(const NinoNodeView *v)
{
    return v->kind == NINO_DOC_REROUTE ? 0 : NINO_NODE_TITLE;
}

// An end of a subgraph has a place below its ports where a dropped link makes a new one.
static inline double nino_node_view_new_port_y(const NinoNodeView *v)
{
    const guint n = v->kind == NINO_DOC_INPUT ? v->outputs->len : v->inputs->len;
    return nino_node_view_title_height(v) + (n + 0.7) * NINO_NODE_SLOT;
}

// Below the node, where its error is told in one line; empty: none is. What has no room there is in the tooltip.
graphene_rect_t nino_node_view_error_box(const NinoNodeView *v);

// Where the labels of rows stand.
void nino_node_view_label_area(const NinoNodeView *v, double *x, double *width);
// ---- node_view.c
void nino_node_view_name_it(NinoNodeView *v);    // for a screen reader
void nino_node_view_describe(NinoNodeView *v);   // what the next run would do, and why
void nino_node_view_place_rows(NinoNodeView *v); // in the size that it has
void nino_node_view_place_again(NinoNodeView *v, const nino_doc_node *n); // the picture is new
void nino_node_view_need_editors(NinoNodeView *v);

void nino_node_view_snapshot(GtkWidget *w, GtkSnapshot *s); // node_view_draw.c
