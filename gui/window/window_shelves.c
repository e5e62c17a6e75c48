// The drawers that things are taken from: kinds of nodes, model files, workflows.
#include "window/window_priv.h"

#include <ninodes/inspect.h>
#include <string.h>

#include "base/i18n.h"
#include "canvas/search.h"
#include "node/folders.h"
#include "window/recent.h"
#include "workflow/shelf.h"

// ---- nodes and models ---------------------------------------------------------------------------

static GPtrArray *shelf_nodes(gpointer window)
{
    (void) window;
    GPtrArray *items = nino_search_nodes(NULL, FALSE);
    for (guint i = items->len; i-- > 0;) {
        const NinoSearchItem *item = g_ptr_array_index(items, i);
        if (!g_strcmp0(item->detail, "__hidden__")) // the editor makes those itself
            g_ptr_array_remove_index(items, i);
    }
    return items;
}

static GPtrArray *shelf_models(gpointer window)
{
    (void) window;
    return nino_canvas_models();
}

static guint64 budget_of(NinoWindow *w)
{
    nino_pool_map pool = { 0 };
    nino_error err = { 0 };
    if (nino_history_pool(nino_run_history(w->records), UINT64_MAX, &pool, &err))
        return 0;
    const guint64 budget = pool.budget;
    nino_pool_map_release(&pool);
    return budget;
}

static void add_types(GString *text, const nino_inspect *i)
{
    for (size_t k = 0; k < i->n_dtypes; k++)
        g_string_append_printf(text, "%s%s", k ? ", " : "\n", i->dtypes[k].name);
    if (strcmp(i->quantisation, "none") != 0)
        g_string_append_printf(text, " (%s)", i->quantisation);
}

// Family, size, types of numbers, and whether it fits into what the last run had.
static char *about_model(gpointer window, const NinoSearchItem *item)
{
    nino_inspect i = { 0 };
    nino_error err = { 0 };
    const char *folder = item->terms, *file = item->title;
    g_autofree char *path = nino_folders_model_path(folder, file);
    if (!path)
        return g_strdup_printf(_("%s is gone"), file);
    if (nino_inspect_file(path, &i, &err))
        return g_strdup_printf("%s\n%s", file, err.msg);
    g_autofree char *size = g_format_size_full(i.file_bytes, G_FORMAT_SIZE_IEC_UNITS);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s\n%s, %s", file, i.format, size);
    for (size_t k = 0; k < i.n_parts; k++)
        g_string_append_printf(text, "\n%s: %s%s%s", i.parts[k].role, i.parts[k].family,
                               *i.parts[k].detail ? ", " : "", i.parts[k].detail);
    add_types(text, &i);
    const guint64 budget = budget_of(window);
    g_autofree char *room = g_format_size_full(budget, G_FORMAT_SIZE_IEC_UNITS);
    if (budget)
        g_string_append_printf(text,
                               i.tensor_bytes <= budget
                                   ? _("\nfits into the device's %s")
                                   : _("\nlarger than the device's %s: parts are read again"),
                               room);
    nino_inspect_release(&i);
    return g_string_free(text, FALSE);
}

// What the library says of the class.
static char *about_node(gpointer window, const NinoSearchItem *item)
{
    (void) window;
    const nino_node_def *def = nino_node_find(item->key, NULL);
    return def ? g_strdup_printf("%s\n%s", def->key, def->help ? def->help : "") : NULL;
}

// Where no workflow is open, a new one takes it.
void nino_window_add_item(NinoWindow *w, const char *key)
{
    nino_window_show_perspective(w, "compose");
    if (!nino_window_tab(w))
        gtk_widget_activate_action(GTK_WIDGET(w), "win.new", NULL);
    NinoTab *tab = nino_window_tab(w);
    if (tab)
        nino_canvas_add_item(nino_tab_canvas(tab), key);
}

static void on_shelf_item(gpointer window, const char *key) { nino_window_add_item(window, key); }

// ---- workflows ----------------------------------------------------------------------------------

static void shelf_files(GPtrArray *items, char **paths, const char *group)
{
    for (char **p = paths; p && *p; p++) {
        NinoSearchItem *item = g_new0(NinoSearchItem, 1);
        *item = (NinoSearchItem){ .title = g_path_get_basename(*p),
                                  .detail = g_strdup(group),
                                  .key = g_strdup(*p),
                                  .terms = g_path_get_dirname(*p),
                                  .picture = nino_recent_picture(*p),
                                  .rank = (int) items->len };
        g_ptr_array_add(items, item);
    }
}

static GPtrArray *shelf_workflows(gpointer window)
{
    (void) window;
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    g_auto(GStrv) recent = nino_recent_list();
    g_auto(GStrv) examples = nino_welcome_examples();
    shelf_files(items, recent, _("Recent"));
    shelf_files(items, examples, _("Examples"));
    return items;
}

static void on_shelf_workflow(gpointer window, const char *path)
{
    gtk_widget_activate_action(window, "win.open-path", "s", path);
}

GtkWidget *nino_window_new_shelf(NinoWindow *w, const char *name)
{
    static const NinoShelfType nodes = { .search = N_("Search for a node to add"),
                                         .not_found = N_("No node has this in its name"),
                                         .empty = { .icon = "list-add-symbolic",
                                                    .text = N_("There are no nodes") },
                                         .items = shelf_nodes,
                                         .is_dragged = TRUE,
                                         .about = about_node,
                                         .chosen = on_shelf_item };
    static const NinoShelfType models = { .search = N_("Search for a model to add"),
                                          .not_found = N_("No such files in the model folders"),
                                          .empty = { "drive-harddisk-symbolic",
                                                     N_("The model folders have no models"),
                                                     { { N_("Preferences"), "app.preferences" },
                                                       { N_("Read again"), "win.reload" } } },
                                          .items = shelf_models,
                                          .is_by_terms = TRUE,
                                          .is_dragged = TRUE,
                                          .about = about_model,
                                          .chosen = on_shelf_item };
    static const NinoShelfType flows = { .search = N_("Search for a workflow to open"),
                                         .not_found = N_("No such workflow"),
                                         .empty = { "folder-symbolic",
                                                    N_("No workflow was opened yet"),
                                                    { { N_("Open…"), "win.open" } } },
                                         .items = shelf_workflows,
                                         .chosen = on_shelf_workflow };
    return nino_shelf_new(g_str_equal(name, "nodes")    ? &nodes
                          : g_str_equal(name, "models") ? &models
                                                        : &flows,
                          w);
}
