// Rows are real widgets in a GtkListBox: workflows have tens of nodes, and each row is named for a
// screen reader.
#include "app/node_list.h"

typedef struct Row {
    GtkWidget *row;
    GtkWidget *status; // fixed-width label: "1.23 s", "running", "cached"
} Row;

struct _NinoNodeList {
    GtkWidget parent;
    GtkWidget *scroller, *box;
    GHashTable *rows; // id -> Row
};

G_DEFINE_TYPE(NinoNodeList, nino_node_list, GTK_TYPE_WIDGET)

typedef struct Problems {
    GHashTable *by_node; // id -> GString
    GString *general;
} Problems;

static void collect(void *priv, const nino_issue *issue)
{
    Problems *p = priv;
    if (issue->severity != NINO_ISSUE_ERROR)
        return;
    GString *text = *issue->node ? g_hash_table_lookup(p->by_node, issue->node) : p->general;
    if (!text) {
        text = g_string_new(NULL);
        g_hash_table_insert(p->by_node, g_strdup(issue->node), text);
    }
    g_string_append_printf(text, "%s%s", text->len ? "\n" : "", issue->message);
}

static void free_string(gpointer s) { g_string_free(s, TRUE); }

static GtkWidget *label(const char *text, const char *css_class, float xalign)
{
    GtkWidget *l = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(l), xalign);
    gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
    if (css_class)
        gtk_widget_add_css_class(l, css_class);
    return l;
}

static void add_row(NinoNodeList *list, const char *id, const char *title, const char *detail,
                    const char *problem)
{
    Row *r = g_new0(Row, 1);
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    gtk_widget_set_margin_start(line, 8);
    gtk_widget_set_margin_end(line, 8);
    gtk_widget_set_margin_top(line, 4);
    gtk_widget_set_margin_bottom(line, 4);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(texts), label(title, "heading", 0));
    gtk_box_append(GTK_BOX(texts),
                   label(problem ? problem : detail, problem ? "error" : "dim-label", 0));
    r->status = label("", "numeric", 1);
    gtk_label_set_width_chars(GTK_LABEL(r->status), 9);
    gtk_box_append(GTK_BOX(line), texts);
    gtk_box_append(GTK_BOX(line), r->status);
    r->row = gtk_list_box_row_new();
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(r->row), line);
    if (problem)
        gtk_widget_set_tooltip_text(r->row, problem);
    g_autofree char *name =
        g_strdup_printf("%s, node %s%s%s", title, id, problem ? ", " : "", problem ? problem : "");
    gtk_accessible_update_property(GTK_ACCESSIBLE(r->row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_list_box_append(GTK_LIST_BOX(list->box), r->row);
    g_hash_table_insert(list->rows, g_strdup(id), r);
}

static void clear(NinoNodeList *list)
{
    g_hash_table_remove_all(list->rows);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(list->box)))
        gtk_list_box_remove(GTK_LIST_BOX(list->box), child);
}

size_t nino_node_list_set_graph(NinoNodeList *list, nino_graph *g)
{
    clear(list);
    Problems problems = {
        .by_node = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_string),
        .general = g_string_new(NULL),
    };
    const size_t n_errors = nino_graph_check(g, NULL, collect, &problems);
    const size_t n = nino_graph_nodes(g, NULL, 0);
    g_autofree nino_graph_node *nodes = g_new0(nino_graph_node, n ? n : 1);
    nino_graph_nodes(g, nodes, n);
    for (size_t i = 0; i < n; i++) {
        const GString *problem = g_hash_table_lookup(problems.by_node, nodes[i].id);
        g_autofree char *detail = g_strdup_printf("%s · %s", nodes[i].id, nodes[i].class_type);
        const char *title = nodes[i].title && *nodes[i].title ? nodes[i].title
                            : nodes[i].def                    ? nodes[i].def->title
                                                              : nodes[i].class_type;
        add_row(list, nodes[i].id, title, detail, problem ? problem->str : NULL);
    }
    if (problems.general->len)
        add_row(list, "workflow", "Workflow", "", problems.general->str);
    g_hash_table_unref(problems.by_node);
    g_string_free(problems.general, TRUE);
    return n_errors;
}

static void set_status(gpointer key, gpointer value, gpointer text)
{
    (void) key;
    gtk_label_set_text(GTK_LABEL(((Row *) value)->status), text);
}

void nino_node_list_reset(NinoNodeList *list)
{
    g_hash_table_foreach(list->rows, set_status, (gpointer) "");
}

// Scope names are "ID CLASS"; ids never contain a space.
static Row *row_of(NinoNodeList *list, const char *scope_name)
{
    const char *space = strchr(scope_name, ' ');
    g_autofree char *id =
        space ? g_strndup(scope_name, (gsize) (space - scope_name)) : g_strdup(scope_name);
    return g_hash_table_lookup(list->rows, id);
}

void nino_node_list_begin(NinoNodeList *list, const char *scope_name)
{
    Row *r = row_of(list, scope_name);
    if (r)
        gtk_label_set_text(GTK_LABEL(r->status), "running");
}

void nino_node_list_end(NinoNodeList *list, const char *scope_name, double seconds, gboolean ok)
{
    Row *r = row_of(list, scope_name);
    if (!r)
        return;
    char text[32];
    if (ok)
        g_snprintf(text, sizeof(text), seconds < 1 ? "%.0f ms" : "%.2f s",
                   seconds < 1 ? seconds * 1e3 : seconds);
    gtk_label_set_text(GTK_LABEL(r->status), ok ? text : "failed");
}

void nino_node_list_show(NinoNodeList *list, const char *id)
{
    Row *r = row_of(list, id);
    if (!r)
        return;
    gtk_list_box_select_row(GTK_LIST_BOX(list->box), GTK_LIST_BOX_ROW(r->row));
    gtk_widget_grab_focus(r->row); // also scrolls
}

static void dispose(GObject *o)
{
    NinoNodeList *list = NINO_NODE_LIST(o);
    g_clear_pointer(&list->rows, g_hash_table_unref);
    g_clear_pointer(&list->scroller, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_node_list_parent_class)->dispose(o);
}

static void nino_node_list_class_init(NinoNodeListClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "nodelist");
}

static void nino_node_list_init(NinoNodeList *list)
{
    list->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    list->box = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(list->box), GTK_SELECTION_BROWSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(list->box), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Nodes of the workflow", -1);
    list->scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(list->scroller), list->box);
    gtk_widget_set_parent(list->scroller, GTK_WIDGET(list));
}

GtkWidget *nino_node_list_new(void) { return g_object_new(NINO_TYPE_NODE_LIST, NULL); }
