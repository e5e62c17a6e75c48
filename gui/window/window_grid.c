// Grids of runs: their cells are jobs of the queue; when all have ended, the sheet is made and
// shown.
#include "window/window_priv.h"

#include <string.h>

#include "viewer/gallery.h"
#include "window/grid_window.h"
#include "settings/prefs.h"
#include "base/i18n.h"
#include <ninodes/grid.h>

typedef struct Cell {
    guint64 job;          // 0: the worker has not answered yet
    gboolean seen, ended; // seen: it was in the queue
    char **outputs;
} Cell;

typedef struct Grid {
    guint number;
    char *uid;
    nino_axis axis[2];
    gsize n_axes, n;
    Cell *cell;
    gboolean stops;    // the user cancelled a cell: the others go too
    NinoWindow *w;     // weak, while the sheet is made
    char *path, *text; // of the sheet; what was wrong with it
} Grid;

static void grid_free(gpointer p)
{
    Grid *g = p;
    for (gsize i = 0; i < g->n; i++)
        g_strfreev(g->cell[i].outputs);
    g_free(g->cell);
    nino_axis_release(&g->axis[0]);
    nino_axis_release(&g->axis[1]);
    g_free(g->uid);
    free(g->path);
    g_free(g->text);
    g_free(g);
}

// ---- the sheet ----------------------------------------------------------------------------------

static void window_grid_make_sheet(GTask *task, gpointer source, gpointer data, GCancellable *c)
{
    (void) source, (void) c;
    Grid *g = data;
    g_autofree const char **picture = g_new0(const char *, g->n);
    const char *first = NULL;
    for (gsize i = 0; i < g->n; i++) {
        char **files = g->cell[i].outputs;
        if (files)
            picture[i] = nino_sheet_choose((const char *const *) files, g_strv_length(files));
        first = first ? first : picture[i];
    }
    nino_error err = { 0 };
    const nino_sheet sheet = { &g->axis[0], g->n_axes == 2 ? &g->axis[1] : NULL, picture };
    g_autofree char *dir = first ? g_path_get_dirname(first) : NULL;
    if (dir && nino_sheet_save(&sheet, dir, &g->path, &err))
        g->text = g_strdup_printf("%s: %s", err.where, err.msg);
    g_task_return_boolean(task, TRUE);
}

static void on_sheet(GObject *source, GAsyncResult *result, gpointer data)
{
    (void) source, (void) result;
    Grid *g = data;
    NinoWindow *w = g->w;
    if (!w)
        return;
    g_object_remove_weak_pointer(G_OBJECT(w), (gpointer *) &g->w);
    if (gtk_widget_in_destruction(GTK_WIDGET(w)) || !w->engine)
        return;
    if (g->path) {
        g_autofree char *whole = g_canonicalize_filename(g->path, NULL);
        g_autofree char *group = g_strdup_printf("sheet %s", whole);
        g_autofree char *name = g_path_get_basename(whole);
        g_autofree char *said = g_strdup_printf(_("The sheet of the grid is %s"), name);
        nino_viewer_add(w->viewer, group, whole);
        nino_window_has_results(w);
        nino_gallery_keep(group, whole);
        nino_window_say(w, said);
    } else if (g->text) {
        nino_bar_show(w->bar, "grid", NINO_BAR_ERROR, g->text, NULL);
    }
}

// ---- the jobs -----------------------------------------------------------------------------------

static const NinoJob *window_grid_find_job(NinoWindow *w, guint64 id)
{
    GPtrArray *jobs = nino_engine_jobs(w->engine);
    for (guint i = 0; i < jobs->len; i++) {
        const NinoJob *j = jobs->pdata[i];
        if (j->id == id)
            return j;
    }
    return NULL;
}

static void take_outputs(Cell *c, char **outputs)
{
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (char **o = outputs; o && *o; o++) {
        g_autofree char *whole = g_canonicalize_filename(*o, NULL);
        g_strv_builder_add(b, whole);
    }
    c->outputs = g_strv_builder_end(b);
}

static void ignore(gpointer user, const nino_control_reply *reply) { (void) user, (void) reply; }

// Once the user has cancelled one. Meanwhile the next one may have begun, or even ended.
static void stop_rest(NinoWindow *w, Grid *g)
{
    for (gsize i = 0; i < g->n; i++) {
        const NinoJob *j = g->cell[i].job ? window_grid_find_job(w, g->cell[i].job) : NULL;
        const nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_CANCEL,
                                 .job = g->cell[i].job };
        if (j && j->state < NINO_QUEUE_DONE)
            nino_engine_send(w->engine, &c, ignore, NULL);
    }
}

// TRUE when all cells have ended.
static gboolean window_grid_look_at(NinoWindow *w, Grid *g)
{
    gsize ended = 0;
    gboolean stops = g->stops;
    for (gsize i = 0; i < g->n; i++) {
        Cell *c = &g->cell[i];
        const NinoJob *j = c->job && !c->ended ? window_grid_find_job(w, c->job) : NULL;
        c->seen |= j != NULL;
        if (j && j->state >= NINO_QUEUE_DONE) {
            c->ended = TRUE;
            take_outputs(c, j->outputs);
            stops |= j->state == NINO_QUEUE_CANCELLED;
        } else if (c->job && !j && c->seen) { // somebody took it out
            c->ended = TRUE;
        }
        ended += c->ended;
    }
    if (stops && !g->stops) {
        g->stops = TRUE;
        stop_rest(w, g);
    }
    return ended == g->n;
}

static void on_window_grid_queue(NinoEngine *engine, gpointer user)
{
    (void) engine;
    NinoWindow *w = user;
    for (guint i = w->grids->len; i-- > 0;) {
        Grid *g = w->grids->pdata[i];
        if (!window_grid_look_at(w, g))
            continue;
        g_ptr_array_steal_index(w->grids, i);
        g->w = w;
        g_object_add_weak_pointer(G_OBJECT(w), (gpointer *) &g->w);
        g_autoptr(GTask) task = g_task_new(NULL, NULL, on_sheet, g);
        g_task_set_task_data(task, g, grid_free);
        g_task_run_in_thread(task, window_grid_make_sheet);
    }
}

// tag: number of the grid and of the cell; job 0: it was refused.
static void on_cell(NinoWindow *w, guint tag, guint64 job)
{
    for (guint i = 0; w->grids && i < w->grids->len; i++) {
        Grid *g = w->grids->pdata[i];
        if (g->number != tag >> 16 || (tag & 0xffff) >= g->n)
            continue;
        Cell *c = &g->cell[tag & 0xffff];
        c->job = job;
        c->ended = !job;
        if (g->stops)
            stop_rest(w, g);
    }
    if (w->grids)
        on_window_grid_queue(w->engine, w);
}

// ---- starting -----------------------------------------------------------------------------------

static gboolean window_grid_refuse(NinoWindow *w, const nino_error *err)
{
    g_autofree char *text =
        *err->where ? g_strdup_printf("%s: %s", err->where, err->msg) : g_strdup(err->msg);
    nino_bar_show(w->bar, "grid", NINO_BAR_ERROR, text, NULL);
    return FALSE;
}

static nino_status window_grid_set_cell(const Grid *g, nino_graph *graph, gsize cell,
                                        nino_error *err)
{
    nino_status st = NINO_OK;
    for (gsize k = 0; k < g->n_axes && !st; k++) {
        const gsize i = k ? cell / g->axis[0].n : cell % g->axis[0].n;
        char *text = nino_axis_assignment(&g->axis[k], i);
        st = text ? nino_graph_set(graph, text, err) : NINO_ERR_NOMEM;
        free(text);
    }
    return st;
}

static gboolean window_grid_start(NinoWindow *w, NinoTab *tab, const char *const *axes)
{
    nino_error err = { 0 };
    gsize len = 0;
    const char *text = nino_tab_json(tab, FALSE, &len, NULL);
    nino_graph *graph = text ? nino_graph_load(text, len, nino_tab_title(tab), &err) : NULL;
    Grid *g = g_new0(Grid, 1);
    gboolean ok = graph != NULL;
    for (gsize i = 0; ok && axes[i] && i < 2; i++) {
        ok = !nino_axis_parse(axes[i], &g->axis[i], &err);
        g->n_axes += ok;
    }
    g->n = ok && g->n_axes ? g->axis[0].n * (g->n_axes == 2 ? g->axis[1].n : 1) : 0;
    g->cell = g_new0(Cell, g->n + 1);
    for (gsize i = g->n; ok && i-- > 0;) // all of them before the first one is queued
        ok = !window_grid_set_cell(g, graph, i, &err);
    if (!ok || !g->n) {
        grid_free(g);
        nino_graph_destroy(&graph);
        return window_grid_refuse(w, &err);
    }
    static guint numbers;
    g->number = ++numbers & 0xffff;
    g->uid = g_strdup(nino_tab_uid(tab));
    g_ptr_array_add(w->grids, g);
    nino_state_set_list(NINO_GRID_STATE, axes);
    nino_bar_hide(w->bar, "grid");
    for (gsize i = 0; i < g->n; i++) {
        window_grid_set_cell(g, graph, i, NULL);
        const char *json = nino_graph_json(graph, &len);
        nino_window_queue_workflow(w, tab, json, len, 0, FALSE, on_cell,
                                   g->number << 16 | (guint) i);
    }
    nino_graph_destroy(&graph);
    g_object_set_data(G_OBJECT(tab), "run-state", NULL);
    nino_window_say(w, _("Queued"));
    nino_window_run_update(w);
    return TRUE;
}

static gboolean on_asked(gpointer user, const char *uid, const char *const *axes)
{
    NinoWindow *w = user;
    NinoTab *tab = nino_window_find_tab(w, uid);
    return tab && window_grid_start(w, tab, axes);
}

static void action_grid(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    gsize len = 0;
    const char *json = tab ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
    g_autofree char *content = json ? nino_queue_content(json, len) : NULL;
    if (tab)
        nino_grid_window_present(GTK_WINDOW(w), tab, nino_queue_panel_seconds(w->queue, content),
                                 on_asked, w);
}

// Lines of NODE.INPUT=VALUES, one or two.
static void action_queue_grid(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    g_auto(GStrv) axes = g_strsplit(g_variant_get_string(parameter, NULL), "\n", 2);
    if (tab)
        window_grid_start(w, tab, (const char *const *) axes);
}

void nino_window_grid_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "grid", .activate = action_grid },
        { .name = "queue-grid", .activate = action_queue_grid, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    w->grids = g_ptr_array_new_with_free_func(grid_free);
    g_signal_connect_after(w->engine, "queue", G_CALLBACK(on_window_grid_queue), w);
}

void nino_window_grid_dispose(NinoWindow *w) { g_clear_pointer(&w->grids, g_ptr_array_unref); }
