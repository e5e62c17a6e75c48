// The workflow's nodes as rows: id, class, what is wrong with it, and while it runs its state and
// time.
#pragma once
#include <gtk/gtk.h>
#include <ninodes/ninodes.h>

#define NINO_TYPE_NODE_LIST (nino_node_list_get_type())
G_DECLARE_FINAL_TYPE(NinoNodeList, nino_node_list, NINO, NODE_LIST, GtkWidget)

GtkWidget *nino_node_list_new(void);
// Shows the nodes of a workflow and its problems (checked without looking for files). Returns the
// number of errors.
size_t nino_node_list_set_graph(NinoNodeList *list, nino_graph *g);
void nino_node_list_reset(NinoNodeList *list); // forget states and times
// Node scope "ID CLASS" began at / ended after.
void nino_node_list_begin(NinoNodeList *list, const char *scope_name);
void nino_node_list_end(NinoNodeList *list, const char *scope_name, double seconds, gboolean ok);
void nino_node_list_show(NinoNodeList *list, const char *id); // selects it and scrolls there
