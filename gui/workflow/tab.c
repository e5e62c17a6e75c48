// The workflow is a nino_document; what would run is made from it a moment after the last change.
#include "workflow/tab.h"

#include <string.h>

#include "settings/keys.h"
#include "viewer/how_made.h"
#include "canvas/canvas.h"
#include "base/i18n.h"

#define CHECK_DELAY_MS 150

struct _NinoTab {
    GtkWidget parent;
    NinoCanvas *canvas;
    GHashTable *marks; // id -> NinoNodeMark, what the canvas shows
    nino_document *doc;
    nino_graph *graph; // of the document as it was at the last check; NULL: it has none
    char *path, *title, *uid;
    guint check_timer;
    guint64 seen; // version of the document that was checked or is going to be
    gboolean is_untouched, is_recovered;
};

G_DEFINE_TYPE(NinoTab, nino_tab, GTK_TYPE_WIDGET)
enum { CHANGED, CHECKED, PROBLEM, N_SIGNALS };
static guint signals[N_SIGNALS];

static gboolean tab_fail(GError **error, const nino_error *err)
{
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s%s%s", err->where, *err->where ? ": " : "",
                err->msg);
    return FALSE;
}

// ---- the executable form ------------------------------------------------------------------------

static void check_now(NinoTab *tab)
{
    g_clear_handle_id(&tab->check_timer, g_source_remove);
    nino_graph_destroy(&tab->graph);
    size_t len = 0;
    const char *text = nino_document_json(tab->doc, &len, NULL);
    if (text && nino_document_n_nodes(tab->doc) > 0)
        tab->graph = nino_graph_load(text, len, tab->title, NULL);
    g_signal_emit(tab, signals[CHECKED], 0);
}

static gboolean on_tab_check(gpointer user)
{
    NinoTab *tab = user;
    tab->check_timer = 0;
    check_now(tab);
    return G_SOURCE_REMOVE;
}

// Something in the document is another one now.
static void tab_touched(NinoTab *tab)
{
    tab->seen = nino_document_version(tab->doc);
    tab->is_untouched = FALSE;
    if (!tab->check_timer)
        tab->check_timer = g_timeout_add(CHECK_DELAY_MS, on_tab_check, tab);
    g_signal_emit(tab, signals[CHANGED], 0);
}

// The canvas also says so when only the place that it shows is another one.
static void on_canvas_changed(NinoCanvas *canvas, gpointer user)
{
    (void) canvas;
    NinoTab *tab = user;
    if (nino_document_version(tab->doc) != tab->seen)
        tab_touched(tab);
}

static void on_tab_problem(NinoCanvas *canvas, const char *text, gpointer user)
{
    (void) canvas;
    g_signal_emit(user, signals[PROBLEM], 0, text);
}

nino_graph *nino_tab_graph(NinoTab *tab)
{
    if (tab->check_timer)
        check_now(tab);
    return tab->graph;
}

// ---- opening ------------------------------------------------------------------------------------

static void tab_take(NinoTab *tab, nino_document *doc, const char *path)
{
    nino_canvas_set_document(tab->canvas, doc);
    nino_document_destroy(&tab->doc);
    tab->doc = doc;
    tab->seen = nino_document_version(doc);
    g_autofree char *copy = g_strdup(path);
    g_free(tab->path);
    g_free(tab->title);
    tab->title = copy ? g_path_get_basename(copy) : g_strdup(_("Untitled"));
    tab->path = g_steal_pointer(&copy);
    tab->is_untouched = FALSE;
    check_now(tab);
    g_signal_emit(tab, signals[CHANGED], 0);
}

// Time and memory of each node, as after a run here.
static void mark_profile(NinoTab *tab, const nino_run_profile *p)
{
    for (size_t i = 0; i < p->n_nodes; i++)
        nino_tab_mark_end(tab, p->nodes[i].node, p->nodes[i].seconds, p->nodes[i].memory_delta,
                          p->nodes[i].is_cached ? NINO_NODE_CACHED : NINO_NODE_DONE);
}

gboolean nino_tab_open(NinoTab *tab, const char *path, GError **error)
{
    nino_error err = { 0 };
    nino_document *doc = nino_document_load_file(path, &err);
    if (!doc)
        return tab_fail(error, &err);
    tab->is_recovered = FALSE;
    tab_take(tab, doc, path);
    nino_run_profile profile = { 0 };
    if (nino_document_origin(doc) == NINO_DOCUMENT_IMPORT && nino_profile_read(path, &profile)) {
        mark_profile(tab, &profile);
        nino_run_profile_release(&profile);
    }
    return TRUE;
}

gboolean nino_tab_restore(NinoTab *tab, const char *json, gsize len, const char *path,
                          GError **error)
{
    nino_error err = { 0 };
    nino_document *doc = nino_document_load(json, len, path ? path : _("recovered workflow"), &err);
    if (!doc)
        return tab_fail(error, &err);
    tab->is_recovered = TRUE; // not in its file yet, whatever the document thinks
    tab_take(tab, doc, path);
    return TRUE;
}

gboolean nino_tab_open_text(NinoTab *tab, const char *json, gsize len, const char *title,
                            GError **error)
{
    nino_error err = { 0 };
    nino_document *doc = nino_document_load(json, len, title, &err);
    if (!doc)
        return tab_fail(error, &err);
    tab->is_recovered = FALSE;
    tab_take(tab, doc, NULL);
    g_free(tab->title);
    tab->title = g_strdup(title);
    g_signal_emit(tab, signals[CHANGED], 0);
    return TRUE;
}

const char *nino_tab_title(NinoTab *tab) { return tab->title; }
const char *nino_tab_uid(NinoTab *tab) { return tab->uid; }
gboolean nino_tab_is_empty(NinoTab *tab) { return tab->is_untouched; }
nino_document *nino_tab_document(NinoTab *tab) { return tab->doc; }

gboolean nino_tab_is_changed(NinoTab *tab)
{
    return tab->is_recovered || (!tab->is_untouched && nino_document_is_changed(tab->doc));
}

// A picture is never written over with text.
const char *nino_tab_path(NinoTab *tab)
{
    return nino_document_origin(tab->doc) == NINO_DOCUMENT_IMPORT && tab->path &&
                   !g_str_has_suffix(tab->path, ".json")
               ? NULL
               : tab->path;
}

const char *nino_tab_source(NinoTab *tab) { return tab->path; }

// ---- writing ------------------------------------------------------------------------------------

const char *nino_tab_json(NinoTab *tab, gboolean api, gsize *len, GError **error)
{
    nino_error err = { 0 };
    const char *text =
        api ? nino_document_api_json(tab->doc, len, &err) : nino_document_json(tab->doc, len, &err);
    if (!text)
        tab_fail(error, &err);
    return text;
}

static gboolean tab_write_file(const char *path, const char *text, gsize len, GError **error)
{
    return g_file_set_contents_full(path, text, (gssize) len, G_FILE_SET_CONTENTS_CONSISTENT, 0666,
                                    error);
}

gboolean nino_tab_export_api(NinoTab *tab, const char *path, GError **error)
{
    gsize len = 0;
    const char *text = nino_tab_json(tab, TRUE, &len, error);
    return text && tab_write_file(path, text, len, error);
}

gboolean nino_tab_save(NinoTab *tab, const char *path, GError **error)
{
    gsize len = 0;
    const char *text = nino_tab_json(tab, FALSE, &len, error);
    if (!text || !tab_write_file(path, text, len, error))
        return FALSE;
    char *copy = g_strdup(path);
    g_free(tab->path);
    g_free(tab->title);
    tab->path = copy;
    tab->title = g_path_get_basename(copy);
    tab->is_recovered = FALSE;
    nino_document_set_saved(tab->doc);
    g_signal_emit(tab, signals[CHANGED], 0);
    return TRUE;
}

// ---- changing -----------------------------------------------------------------------------------

// Changed by this file and not by the canvas, which has to be told.
static void changed_here(NinoTab *tab)
{
    nino_canvas_refresh(tab->canvas);
    tab_touched(tab);
}

void nino_tab_changed_elsewhere(NinoTab *tab) { changed_here(tab); }

void nino_tab_undo(NinoTab *tab)
{
    if (!nino_document_undo(tab->doc, NULL))
        changed_here(tab);
}

void nino_tab_redo(NinoTab *tab)
{
    if (!nino_document_redo(tab->doc, NULL))
        changed_here(tab);
}

const char *nino_tab_undo_name(NinoTab *tab) { return nino_document_undo_name(tab->doc); }
const char *nino_tab_redo_name(NinoTab *tab) { return nino_document_redo_name(tab->doc); }

// Ids of nodes in subgraphs are "57:41": each part but the last is entered. Returns the levels.
static int tab_enter(nino_document *doc, const char **id, nino_error *err)
{
    int levels = 0;
    const char *colon;
    while ((colon = strchr(*id, ':')) && nino_document_find(doc, *id) < 0) {
        g_autofree char *part = g_strndup(*id, (gsize) (colon - *id));
        if (nino_document_enter(doc, part, err))
            break;
        levels++;
        *id = colon + 1;
    }
    return levels;
}

gboolean nino_tab_set_value(NinoTab *tab, const char *node, const char *input, const char *value,
                            GError **error)
{
    nino_error err = { 0 };
    const int depth = nino_document_depth(tab->doc);
    if (depth) // what is shown now is part of a subgraph: ids count from the outside
        nino_document_leave(tab->doc, depth, NULL);
    const int levels = tab_enter(tab->doc, &node, &err);
    const nino_status st = nino_document_set_text(tab->doc, node, input, value, &err);
    nino_document_seal(tab->doc);
    if (levels)
        nino_document_leave(tab->doc, levels, NULL);
    if (st)
        return tab_fail(error, &err);
    changed_here(tab);
    return TRUE;
}

gboolean nino_tab_set(NinoTab *tab, const char *assignment, GError **error)
{
    const char *eq = strchr(assignment, '='), *dot = strchr(assignment, '.');
    if (!eq || !dot || dot > eq) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    _("“%s” is not NODE.INPUT=VALUE"), assignment);
        return FALSE;
    }
    g_autofree char *node = g_strndup(assignment, (gsize) (dot - assignment)),
                    *input = g_strndup(dot + 1, (gsize) (eq - dot - 1));
    return nino_tab_set_value(tab, node, input, eq + 1, error);
}

void nino_tab_advance(NinoTab *tab)
{
    const guint64 random = ((guint64) g_random_int() << 32) | g_random_int();
    const guint64 before = nino_document_version(tab->doc);
    if (!nino_document_advance(tab->doc, random, NULL) && nino_document_version(tab->doc) != before)
        tab_touched(tab);
}

// ---- marks --------------------------------------------------------------------------------------

// Scope names are "ID CLASS"; ids never contain a space.
static char *tab_id_of(const char *scope_name)
{
    return g_strndup(scope_name, strcspn(scope_name, " "));
}

static void tab_mark(NinoTab *tab, const char *scope_name, const NinoNodeMark *m)
{
    g_autofree char *id = tab_id_of(scope_name);
    nino_canvas_mark(tab->canvas, id, m);
    g_hash_table_replace(tab->marks, g_steal_pointer(&id), g_memdup2(m, sizeof(*m)));
}

void nino_tab_mark_reset(NinoTab *tab, gboolean queued)
{
    g_hash_table_remove_all(tab->marks);
    nino_canvas_clear_marks(tab->canvas);
    nino_graph *g = queued ? nino_tab_graph(tab) : NULL;
    const size_t n = g ? nino_graph_nodes(g, NULL, 0) : 0;
    g_autofree nino_graph_node *nodes = g_new0(nino_graph_node, n + 1);
    if (g)
        nino_graph_nodes(g, nodes, n);
    for (size_t i = 0; i < n; i++)
        tab_mark(tab, nodes[i].id,
                 &(NinoNodeMark){ .state = NINO_NODE_QUEUED, .progress = -1, .seconds = -1 });
}

void nino_tab_mark_begin(NinoTab *tab, const char *scope_name)
{
    tab_mark(tab, scope_name,
             &(NinoNodeMark){ .state = NINO_NODE_RUNNING, .progress = -1, .seconds = -1 });
}

void nino_tab_mark_progress(NinoTab *tab, const char *scope_name, double fraction)
{
    g_autofree char *id = tab_id_of(scope_name);
    const NinoNodeMark *had = g_hash_table_lookup(tab->marks, id);
    const gboolean is_paused =
        had && had->state == NINO_NODE_PAUSED; // steps of before are told late
    tab_mark(tab, scope_name,
             &(NinoNodeMark){ .state = is_paused ? NINO_NODE_PAUSED : NINO_NODE_RUNNING,
                              .progress = fraction,
                              .seconds = -1 });
}

// What runs waits where it is, or goes on; of all else nothing changes.
void nino_tab_mark_paused(NinoTab *tab, const char *scope_name, gboolean is_paused)
{
    g_autofree char *id = tab_id_of(scope_name);
    const NinoNodeMark *had = g_hash_table_lookup(tab->marks, id);
    NinoNodeMark m = had ? *had : (NinoNodeMark){ 0 };
    if (m.state != (is_paused ? NINO_NODE_RUNNING : NINO_NODE_PAUSED))
        return;
    m.state = is_paused ? NINO_NODE_PAUSED : NINO_NODE_RUNNING;
    tab_mark(tab, scope_name, &m);
}

void nino_tab_mark_end(NinoTab *tab, const char *scope_name, double seconds, gint64 mem_delta,
                       NinoNodeState state)
{
    const NinoNodeMark m = {
        .state = state, .progress = -1, .seconds = seconds, .bytes = mem_delta
    };
    tab_mark(tab, scope_name, &m);
}

// Nodes that were not reached have nothing to show any more.
static gboolean is_waiting(gpointer id, gpointer m, gpointer tab)
{
    if (((const NinoNodeMark *) m)->state != NINO_NODE_QUEUED)
        return FALSE;
    nino_canvas_mark(((NinoTab *) tab)->canvas, id, NULL);
    return TRUE;
}

void nino_tab_mark_over(NinoTab *tab) { g_hash_table_foreach_remove(tab->marks, is_waiting, tab); }

void nino_tab_mark_error(NinoTab *tab, const char *id, const char *text)
{
    nino_canvas_mark(
        tab->canvas, id,
        &(NinoNodeMark){ .state = NINO_NODE_FAILED, .progress = -1, .seconds = -1, .error = text });
}

void nino_tab_show_node(NinoTab *tab, const char *id) { nino_canvas_show_node(tab->canvas, id); }

NinoCanvas *nino_tab_canvas(NinoTab *tab) { return tab->canvas; }

// ---- the object ---------------------------------------------------------------------------------

static void tab_dispose(GObject *o)
{
    NinoTab *tab = NINO_TAB(o);
    g_clear_handle_id(&tab->check_timer, g_source_remove);
    if (tab->canvas) {
        nino_canvas_set_document(tab->canvas, NULL); // borrowed, and about to go
        g_signal_handlers_disconnect_by_data(tab->canvas, tab);
        gtk_widget_unparent(GTK_WIDGET(tab->canvas));
        tab->canvas = NULL;
    }
    G_OBJECT_CLASS(nino_tab_parent_class)->dispose(o);
}

static void tab_finalize(GObject *o)
{
    NinoTab *tab = NINO_TAB(o);
    nino_graph_destroy(&tab->graph);
    nino_document_destroy(&tab->doc);
    g_free(tab->path);
    g_free(tab->title);
    g_free(tab->uid);
    g_hash_table_unref(tab->marks);
    G_OBJECT_CLASS(nino_tab_parent_class)->finalize(o);
}

static void nino_tab_class_init(NinoTabClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = tab_dispose;
    G_OBJECT_CLASS(klass)->finalize = tab_finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    signals[CHANGED] = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
    signals[PROBLEM] = g_signal_new("problem", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
    signals[CHECKED] = g_signal_new("checked", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                    NULL, NULL, G_TYPE_NONE, 0);
}

static void nino_tab_init(NinoTab *tab)
{
    tab->uid = g_uuid_string_random();
    tab->title = g_strdup(_("Untitled"));
    tab->is_untouched = TRUE;
    tab->doc = nino_document_new(NULL);
    if (!tab->doc)
        g_error("out of memory"); // as every allocation of GLib
    tab->marks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    tab->canvas = NINO_CANVAS(nino_canvas_new());
    nino_keys_add_to_canvas(GTK_WIDGET(tab->canvas));
    nino_canvas_set_document(tab->canvas, tab->doc);
    g_signal_connect(tab->canvas, "changed", G_CALLBACK(on_canvas_changed), tab);
    g_signal_connect(tab->canvas, "problem", G_CALLBACK(on_tab_problem), tab);
    gtk_widget_set_parent(GTK_WIDGET(tab->canvas), GTK_WIDGET(tab));
}

GtkWidget *nino_tab_new(void) { return g_object_new(NINO_TYPE_TAB, NULL); }
