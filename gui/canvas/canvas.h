// The workflow as a canvas: nodes are widgets at any zoom, links are drawn. Edits the document it
// shows; borrowed, it must outlive the canvas or be replaced by NULL.
//
// Signals: "changed" (the document or the place shown is another one), "selection" (other nodes are
// selected), "problem" (char *: why an edit was refused). Property: "zoom".
// Actions (for menus and D-Bus): canvas.undo redo cut copy paste paste-links duplicate delete
// select-all select-none mute bypass collapse pin group fit zoom-in zoom-out zoom-reset add
// add-at-slot add-model connect bend rename enter leave subgraph unpack ports menu minimap
// choose-file edit-mask, and
// canvas.color with a name. Keys for them are given by who uses the canvas.
#pragma once
#include "node/node_mark.h"
#include <gtk/gtk.h>
#include <ninodes/document.h>

#define NINO_TYPE_CANVAS (nino_canvas_get_type())
G_DECLARE_FINAL_TYPE(NinoCanvas, nino_canvas, NINO, CANVAS, GtkWidget)

GtkWidget *nino_canvas_new(void);
void nino_canvas_set_document(NinoCanvas *c, nino_document *d);
nino_document *nino_canvas_get_document(NinoCanvas *c);
// The document was changed by someone else.
void nino_canvas_refresh(NinoCanvas *c);

// Marks of a run, by execution id ("57:41"); an instance of a subgraph shows the sum of what is
// inside. Drawn at most 10 times a second. NULL: none.
void nino_canvas_mark(NinoCanvas *c, const char *node_id, const NinoNodeMark *mark);
void nino_canvas_clear_marks(NinoCanvas *c);

// What the next run would do with the node, by execution id; an instance of a subgraph shows whether
// something inside would run.
void nino_canvas_set_ahead(NinoCanvas *c, const char *node_id, NinoNodeAhead ahead);
void nino_canvas_clear_ahead(NinoCanvas *c);
// The values that are shown are those of the last run; others will be marked, until the document is
// another one.
void nino_canvas_remember_values(NinoCanvas *c);

// Why the node cannot run, found before any run; by execution id, several are joined. An instance
// of a subgraph shows one of what is inside. Kept until cleared or the document is another one. They
// are seen once nino_canvas_show_marks() says that all of them are there.
void nino_canvas_add_issue(NinoCanvas *c, const char *node_id, const char *text);
void nino_canvas_clear_issues(NinoCanvas *c);
void nino_canvas_show_marks(NinoCanvas *c); // now, with all other marks

// A picture in the node, below its values: what it made. NULL: none. By execution id; kept until it
// is taken away or the document is another one; an instance of a subgraph shows the newest one of
// what is inside. Nodes that load a picture show it by themselves (nino_folders_set()).
void nino_canvas_set_picture(NinoCanvas *c, const char *node_id, GdkTexture *picture);

// What can be added: a class of nodes, or "CLASS\nINPUT\nFILE", its loader with a model. Values of this
// type can be dropped on the canvas.
typedef char NinoCanvasItem;
#define NINO_TYPE_CANVAS_ITEM (nino_canvas_item_get_type())
GType nino_canvas_item_get_type(void);
// Adds it where nothing lies, and selects it.
void nino_canvas_add_item(NinoCanvas *c, const NinoCanvasItem *item);
// A file goes to the node at that place of the widget which loads such files, else it becomes a node
// that loads it (x < 0: where there is room). FALSE: it holds a workflow, or is nothing that nodes
// load. "problem" tells why it cannot be taken.
gboolean nino_canvas_take_file(NinoCanvas *c, const char *path, double x, double y);
// The file becomes what the selected node loads, or the first that loads its kind, or a new one.
void nino_canvas_use_file(NinoCanvas *c, const char *path);
// The files of the model folders (NinoSearchItem): their keys are such items, the detail is the loader's
// title, and the terms are the folder's name.
GPtrArray *nino_canvas_models(void);

// Scrolls to the node, selects it and gives it the focus; "57:41" enters the subgraph. FALSE: there
// is none.
gboolean nino_canvas_show_node(NinoCanvas *c, const char *node_id);
void nino_canvas_fit(NinoCanvas *c); // the selection, else everything
// Everything, or the start of it where all would be too small to read.
void nino_canvas_first_view(NinoCanvas *c);
void nino_canvas_set_zoom(NinoCanvas *c, double zoom);
double nino_canvas_get_zoom(NinoCanvas *c);
void nino_canvas_set_offset(NinoCanvas *c, double x, double y); // what is at the top left corner
void nino_canvas_get_offset(NinoCanvas *c, double *x, double *y);
// Ids of the selected nodes; NULL-terminated, free with g_strfreev().
char **nino_canvas_get_selection(NinoCanvas *c);
void nino_canvas_select(NinoCanvas *c, const char *const *ids);
