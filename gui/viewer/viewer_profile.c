// How the result was made: what its file tells of the run, node by node.
#include "viewer/how_made.h"
#include "viewer/viewer_priv.h"

#include <ninodes/node.h>

#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"

static void add_cell(GtkWidget *grid, const char *text, int column, int row)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), column ? 1 : 0);
    if (column)
        gtk_widget_add_css_class(label, "numeric");
    gtk_grid_attach(GTK_GRID(grid), label, column, row, 1, 1);
}

static void viewer_profile_add_node(GtkWidget *grid, const nino_run_profile_node *n, int row)
{
    const nino_node_def *def = nino_node_find(n->class_type, NULL);
    g_autofree char *name = g_strdup_printf("%s %s", n->node, def ? def->title : n->class_type);
    g_autofree char *time =
        n->is_cached ? g_strdup(_("cached")) : g_strdup_printf("%.3f s", n->seconds);
    const guint64 bytes = (guint64) ABS(n->memory_delta);
    g_autofree char *size = g_format_size_full(bytes, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *memory =
        bytes ? g_strdup_printf("%s%s", n->memory_delta < 0 ? "−" : "+", size) : g_strdup("");
    add_cell(grid, name, 0, row);
    add_cell(grid, time, 1, row);
    add_cell(grid, memory, 2, row);
}

static GtkWidget *table(const nino_run_profile *p)
{
    GtkWidget *grid = gtk_grid_new(), *scroller = nino_page_scroller_new(grid);
    gtk_grid_set_column_spacing(GTK_GRID(grid), NINO_SPACE_L);
    gtk_accessible_update_property(GTK_ACCESSIBLE(grid), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Time and memory of the nodes"), -1);
    for (size_t i = 0; i < p->n_nodes; i++)
        viewer_profile_add_node(grid, &p->nodes[i], (int) i);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroller), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroller), 320);
    return scroller;
}

static gboolean viewer_profile_drop(gpointer popover)
{
    gtk_widget_unparent(popover);
    g_object_unref(popover);
    return G_SOURCE_REMOVE;
}

static void on_viewer_profile_closed(GtkPopover *popover)
{
    g_idle_add(viewer_profile_drop, g_object_ref(popover));
}

void nino_viewer_show_profile(NinoViewer *v, const char *path)
{
    nino_run_profile p = { 0 };
    const gboolean has = nino_profile_read(path, &p);
    GtkWidget *popover = gtk_popover_new(),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S),
              *open = gtk_button_new_with_label(_("Open its workflow"));
    g_autofree char *text =
        has ? nino_profile_summary(&p) : g_strdup(_("The file carries no profile of its run"));
    GtkWidget *head = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(head), 0);
    gtk_box_append(GTK_BOX(box), head);
    if (has)
        gtk_box_append(GTK_BOX(box), table(&p));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(open), "win.viewer-open-workflow");
    g_signal_connect_swapped(open, "clicked", G_CALLBACK(gtk_popover_popdown), popover);
    gtk_box_append(GTK_BOX(box), open);
    gtk_popover_set_child(GTK_POPOVER(popover), box);
    gtk_widget_set_parent(popover, v->made);
    g_signal_connect(popover, "closed", G_CALLBACK(on_viewer_profile_closed), NULL);
    gtk_popover_popup(GTK_POPOVER(popover));
    nino_run_profile_release(&p);
}
