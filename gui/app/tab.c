// The text of the workflow is in a nino_graph; the list of nodes is made from it.
#include "app/tab.h"

#include <string.h>

#include "app/node_list.h"

struct _NinoTab {
    GtkWidget parent;
    NinoNodeList *nodes;
    nino_graph *graph;
    char *path, *title, *uid;
    gboolean is_changed;
};

G_DEFINE_TYPE(NinoTab, nino_tab, GTK_TYPE_WIDGET)
enum { CHANGED, CHECKED, N_SIGNALS };
static guint signals[N_SIGNALS];

static gboolean fail(GError **error, const nino_error *err)
{
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s%s%s", err->where, *err->where ? ": " : "",
                err->msg);
    return FALSE;
}

static void take(NinoTab *tab, nino_graph *g, const char *path)
{
    nino_graph_destroy(&tab->graph);
    tab->graph = g;
    g_free(tab->path);
    g_free(tab->title);
    tab->path = g_strdup(path);
    tab->title = path ? g_path_get_basename(path) : g_strdup("Untitled");
    nino_node_list_set_graph(tab->nodes, g);
    g_signal_emit(tab, signals[CHECKED], 0);
    g_signal_emit(tab, signals[CHANGED], 0);
}

gboolean nino_tab_open(NinoTab *tab, const char *path, GError **error)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load_file(path, &err);
    if (!g)
        return fail(error, &err);
    tab->is_changed = FALSE;
    take(tab, g, path);
    return TRUE;
}

gboolean nino_tab_restore(NinoTab *tab, const char *json, gsize len, const char *path,
                          GError **error)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, len, path ? path : "recovered workflow", &err);
    if (!g)
        return fail(error, &err);
    tab->is_changed = TRUE;
    take(tab, g, path);
    return TRUE;
}

const char *nino_tab_title(NinoTab *tab) { return tab->title; }
const char *nino_tab_uid(NinoTab *tab) { return tab->uid; }
gboolean nino_tab_is_changed(NinoTab *tab) { return tab->is_changed; }
gboolean nino_tab_is_empty(NinoTab *tab) { return !tab->graph && !tab->path; }
nino_graph *nino_tab_graph(NinoTab *tab) { return tab->graph; }

// A picture is never written over with text.
static gboolean is_text_file(const char *path)
{
    g_autofree char *lower = path ? g_ascii_strdown(path, -1) : NULL;
    return lower && g_str_has_suffix(lower, ".json");
}

const char *nino_tab_path(NinoTab *tab) { return is_text_file(tab->path) ? tab->path : NULL; }

const char *nino_tab_json(NinoTab *tab, gboolean api, gsize *len, GError **error)
{
    const char *text = NULL;
    if (tab->graph)
        text = api ? nino_graph_api_json(tab->graph, len) : nino_graph_json(tab->graph, len);
    if (!text)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_FAILED, "There is no workflow here");
    return text;
}

static gboolean write_file(const char *path, const char *text, gsize len, GError **error)
{
    return g_file_set_contents_full(path, text, (gssize) len, G_FILE_SET_CONTENTS_CONSISTENT, 0666,
                                    error);
}

gboolean nino_tab_export_api(NinoTab *tab, const char *path, GError **error)
{
    gsize len = 0;
    const char *text = nino_tab_json(tab, TRUE, &len, error);
    return text && write_file(path, text, len, error);
}

gboolean nino_tab_save(NinoTab *tab, const char *path, GError **error)
{
    gsize len = 0;
    const char *text = nino_tab_json(tab, FALSE, &len, error);
    if (!text || !write_file(path, text, len, error))
        return FALSE;
    char *copy = g_strdup(path);
    g_free(tab->path);
    g_free(tab->title);
    tab->path = copy;
    tab->title = g_path_get_basename(copy);
    tab->is_changed = FALSE;
    g_signal_emit(tab, signals[CHANGED], 0);
    return TRUE;
}

gboolean nino_tab_set(NinoTab *tab, const char *assignment, GError **error)
{
    nino_error err = { 0 };
    if (!tab->graph || nino_graph_set(tab->graph, assignment, &err))
        return fail(error, &err);
    tab->is_changed = TRUE;
    g_signal_emit(tab, signals[CHECKED], 0);
    g_signal_emit(tab, signals[CHANGED], 0);
    return TRUE;
}

void nino_tab_undo(NinoTab *tab) { (void) tab; }
void nino_tab_redo(NinoTab *tab) { (void) tab; }
gboolean nino_tab_can_undo(NinoTab *tab) { return (void) tab, FALSE; }
gboolean nino_tab_can_redo(NinoTab *tab) { return (void) tab, FALSE; }
void nino_tab_advance(NinoTab *tab) { (void) tab; }

// ---- marks --------------------------------------------------------------------------------------

void nino_tab_mark_reset(NinoTab *tab) { nino_node_list_reset(tab->nodes); }

void nino_tab_mark_begin(NinoTab *tab, const char *scope_name)
{
    nino_node_list_begin(tab->nodes, scope_name);
}

void nino_tab_mark_progress(NinoTab *tab, const char *scope_name, double fraction)
{
    (void) tab, (void) scope_name, (void) fraction;
}

void nino_tab_mark_end(NinoTab *tab, const char *scope_name, double seconds, gint64 mem_delta,
                       gboolean ok, gboolean cached)
{
    (void) mem_delta, (void) cached;
    nino_node_list_end(tab->nodes, scope_name, seconds, ok);
}

void nino_tab_mark_error(NinoTab *tab, const char *id, const char *text)
{
    (void) text;
    nino_node_list_end(tab->nodes, id, 0, FALSE);
}

void nino_tab_show_node(NinoTab *tab, const char *id) { nino_node_list_show(tab->nodes, id); }

// ---- the object ---------------------------------------------------------------------------------

static void dispose(GObject *o)
{
    NinoTab *tab = NINO_TAB(o);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(tab))))
        gtk_widget_unparent(child);
    G_OBJECT_CLASS(nino_tab_parent_class)->dispose(o);
}

static void finalize(GObject *o)
{
    NinoTab *tab = NINO_TAB(o);
    nino_graph_destroy(&tab->graph);
    g_free(tab->path);
    g_free(tab->title);
    g_free(tab->uid);
    G_OBJECT_CLASS(nino_tab_parent_class)->finalize(o);
}

static void nino_tab_class_init(NinoTabClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    signals[CHANGED] = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
    signals[CHECKED] = g_signal_new("checked", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
}

static void nino_tab_init(NinoTab *tab)
{
    tab->uid = g_uuid_string_random();
    tab->title = g_strdup("Untitled");
    tab->nodes = NINO_NODE_LIST(nino_node_list_new());
    gtk_widget_set_parent(GTK_WIDGET(tab->nodes), GTK_WIDGET(tab));
}

GtkWidget *nino_tab_new(void) { return g_object_new(NINO_TYPE_TAB, NULL); }
