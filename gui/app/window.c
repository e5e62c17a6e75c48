// Window actions: open, run, cancel. The state of the run is also a stateful action (`win.state`),
// so that scripts and tests can read it over D-Bus.
#include "app/window.h"

#include "live/family_plot.h"
#include "app/node_list.h"
#include "app/session.h"

struct _NinoWindow {
    GtkApplicationWindow parent;
    NinoNodeList *nodes;
    NinoFamilyPlot *plot;
    GtkStack *stack;
    GtkLabel *hint, *status, *memory;
    GtkPicture *picture;
    GtkProgressBar *progress;
    NinoWindowOptions options;
    nino_graph *graph;
    char *path;
    char *log_line;
    Session *session;
    GHashTable *open_nodes; // scope id -> begin time
    GHashTable *node_names; // scope id -> "ID CLASS"
};

G_DEFINE_TYPE(NinoWindow, nino_window, GTK_TYPE_APPLICATION_WINDOW)

static void set_enabled(NinoWindow *w, const char *action, gboolean enabled)
{
    GAction *a = g_action_map_lookup_action(G_ACTION_MAP(w), action);
    g_simple_action_set_enabled(G_SIMPLE_ACTION(a), enabled);
}

static void set_state(NinoWindow *w, const char *state)
{
    GAction *a = g_action_map_lookup_action(G_ACTION_MAP(w), "state");
    g_simple_action_set_state(G_SIMPLE_ACTION(a), g_variant_new_string(state));
}

static void show_problem(NinoWindow *w, const char *text)
{
    gtk_label_set_text(w->status, text);
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->status), text);
}

// ---- events of the worker ---------------------------------------------------------------------

static void on_node_begin(NinoWindow *w, const nino_event *ev)
{
    const char *name = session_name(w->session, ev->name);
    uint64_t *t = g_new(uint64_t, 1);
    *t = ev->t_ns;
    g_hash_table_insert(w->open_nodes, GUINT_TO_POINTER(ev->id), t);
    g_hash_table_insert(w->node_names, GUINT_TO_POINTER(ev->id), g_strdup(name));
    nino_node_list_begin(w->nodes, name);
    char text[160];
    g_snprintf(text, sizeof(text), "%s (%u of %u)", name, ev->u.scope.arg0 + 1, ev->u.scope.arg1);
    gtk_label_set_text(w->status, text);
}

static void on_scope_end(NinoWindow *w, const nino_event *ev)
{
    const uint64_t *begin = g_hash_table_lookup(w->open_nodes, GUINT_TO_POINTER(ev->id));
    if (!begin)
        return; // a stage or a tile
    nino_node_list_end(w->nodes, g_hash_table_lookup(w->node_names, GUINT_TO_POINTER(ev->id)),
                       (double) (ev->t_ns - *begin) * 1e-9, ev->u.scope.arg0 == 0);
    g_hash_table_remove(w->open_nodes, GUINT_TO_POINTER(ev->id));
}

static void show_memory(NinoWindow *w, const nino_event *ev)
{
    g_autofree char *used = g_format_size_full(ev->u.mem.in_use, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *held = g_format_size_full(ev->u.mem.reserved, G_FORMAT_SIZE_IEC_UNITS);
    g_autofree char *text = g_strdup_printf("%s of %s", used, held);
    gtk_label_set_text(w->memory, text);
}

static gboolean show_picture(NinoWindow *w, const char *path, const char *what, GError **error)
{
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GdkTexture) texture = gdk_texture_new_from_file(file, error);
    if (!texture)
        return FALSE;
    gtk_picture_set_paintable(w->picture, GDK_PAINTABLE(texture));
    g_autofree char *alt =
        g_strdup_printf("%s %s, %d by %d pixels", what, path, gdk_texture_get_width(texture),
                        gdk_texture_get_height(texture));
    gtk_picture_set_alternative_text(w->picture, alt);
    gtk_stack_set_visible_child_name(w->stack, "image");
    return TRUE;
}

static void show_step(NinoWindow *w, const nino_event *ev)
{
    g_autofree char *text = g_strdup_printf("Step %u of %u, %.2f s a step", ev->u.step.step,
                                            ev->u.step.total, ev->u.step.seconds);
    g_autofree char *left = NULL;
    if (ev->u.step.eta_s >= 0) // not while it is not known
        left = g_strdup_printf("%s, %.0f s left", text, ev->u.step.eta_s);
    gtk_label_set_text(w->status, left ? left : text);
}

static void on_events(gpointer user, const nino_event *ev, size_t n)
{
    NinoWindow *w = user;
    const nino_event *progress = NULL, *memory = NULL, *step = NULL,
                     *preview = NULL; // only the newest of a batch is shown
    for (size_t i = 0; i < n; i++) {
        switch (ev[i].kind) {
        case NINO_EV_NODE: on_node_begin(w, &ev[i]); break;
        case NINO_EV_END: on_scope_end(w, &ev[i]); break;
        case NINO_EV_KERNEL:
            nino_family_plot_add(w->plot, session_name(w->session, ev[i].u.kernel.family),
                                 ev[i].t_ns, ev[i].u.kernel.dur_ns);
            break;
        case NINO_EV_PROGRESS: progress = &ev[i]; break;
        case NINO_EV_MEM: memory = &ev[i]; break;
        case NINO_EV_STEP_INFO: step = &ev[i]; break;
        case NINO_EV_PREVIEW: preview = &ev[i]; break;
        default: break;
        }
    }
    if (step)
        show_step(w, step);
    if (preview) // a file that has gone again is no problem: the result comes
        show_picture(w, session_name(w->session, preview->name), "Preview", NULL);
    if (progress && progress->u.progress.total > 0)
        gtk_progress_bar_set_fraction(
            w->progress, CLAMP(progress->u.progress.done / progress->u.progress.total, 0, 1));
    if (memory)
        show_memory(w, memory);
}

static void on_output(gpointer user, const char *path)
{
    NinoWindow *w = user;
    g_autoptr(GError) error = NULL;
    if (g_str_has_suffix(path, ".png") && !show_picture(w, path, "Result", &error))
        show_problem(w, error->message);
}

static void on_log(gpointer user, const char *line)
{
    NinoWindow *w = user;
    g_free(w->log_line);
    w->log_line = g_strdup(line);
}

static void on_state(gpointer user, SessionState state, const char *message)
{
    NinoWindow *w = user;
    const gboolean running = state == SESSION_RUNNING;
    set_enabled(w, "run", !running);
    set_enabled(w, "cancel", running);
    nino_family_plot_set_live(w->plot, running);
    switch (state) {
    case SESSION_RUNNING: set_state(w, "running"); return;
    case SESSION_DONE: {
        gtk_progress_bar_set_fraction(w->progress, 1);
        g_autofree char *summary = nino_family_plot_summary(w->plot);
        g_autofree char *text = g_strdup_printf("Done. %s", summary);
        gtk_label_set_text(w->status, text);
        set_state(w, "done");
        return;
    }
    case SESSION_CANCELLED:
        gtk_label_set_text(w->status, "Cancelled");
        set_state(w, "cancelled");
        return;
    case SESSION_FAILED:
        show_problem(w, message);
        set_state(w, "failed");
        return;
    }
}

// ---- actions ----------------------------------------------------------------------------------

static void end_session(NinoWindow *w)
{
    session_free(w->session);
    w->session = NULL;
    g_hash_table_remove_all(w->open_nodes);
    g_hash_table_remove_all(w->node_names);
}

static void action_run(GSimpleAction *action, GVariant *parameter, gpointer user)
{
    (void) action, (void) parameter;
    static const SessionCallbacks callbacks = { on_events, on_output, on_log, on_state };
    NinoWindow *w = user;
    end_session(w);
    nino_family_plot_clear(w->plot);
    nino_node_list_reset(w->nodes);
    gtk_progress_bar_set_fraction(w->progress, 0);
    const SessionOptions o = {
        .workflow = w->path,
        .models = (const char *const *) w->options.models,
        .input = w->options.input,
        .output = w->options.output,
        .device = w->options.device,
        .preview = "auto",
    };
    g_autoptr(GError) error = NULL;
    w->session = session_start(&o, &callbacks, w, &error);
    if (!w->session) {
        show_problem(w, error->message);
        set_state(w, "failed");
    }
}

static void action_cancel(GSimpleAction *action, GVariant *parameter, gpointer user)
{
    (void) action, (void) parameter;
    NinoWindow *w = user;
    if (w->session)
        session_cancel(w->session);
}

static void on_chosen(GtkNativeDialog *dialog, int response, gpointer user)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        nino_window_open(user, file);
    }
    g_object_unref(dialog);
}

static void action_open(GSimpleAction *action, GVariant *parameter, gpointer user)
{
    (void) action, (void) parameter;
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
        "Open workflow", GTK_WINDOW(user), GTK_FILE_CHOOSER_ACTION_OPEN, "_Open", "_Cancel");
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Workflows (JSON, PNG)");
    gtk_file_filter_add_suffix(filter, "json");
    gtk_file_filter_add_suffix(filter, "png");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    g_object_unref(filter);
    g_signal_connect(dialog, "response", G_CALLBACK(on_chosen), user);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

void nino_window_open(NinoWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file);
    if (!path) {
        show_problem(w, "Only local files can be opened");
        return;
    }
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load_file(path, &err);
    if (!g) { // keep what is open: a bad file must not cost the user anything
        g_autofree char *text = g_strdup_printf("%s: %s", err.where, err.msg);
        show_problem(w, text);
        return;
    }
    end_session(w);
    nino_graph_destroy(&w->graph);
    w->graph = g;
    g_free(w->path);
    w->path = g_steal_pointer(&path);
    g_autofree char *name = g_path_get_basename(w->path);
    g_autofree char *title = g_strdup_printf("%s – Ninodes Studio", name);
    gtk_window_set_title(GTK_WINDOW(w), title);
    const size_t n_errors = nino_node_list_set_graph(w->nodes, g);
    gtk_stack_set_visible_child_name(w->stack, "empty");
    gtk_label_set_text(w->hint, n_errors ? "This workflow has problems; see the list"
                                         : "Run shows the result here");
    g_autofree char *status =
        n_errors ? g_strdup_printf("%zu problem%s", n_errors, n_errors == 1 ? "" : "s")
                 : g_strdup("Ready");
    gtk_label_set_text(w->status, status);
    nino_family_plot_clear(w->plot);
    set_enabled(w, "run", n_errors == 0);
    set_enabled(w, "cancel", FALSE);
    set_state(w, n_errors ? "invalid" : "ready");
}

static gboolean on_drop(GtkDropTarget *target, const GValue *value, double x, double y,
                        gpointer user)
{
    (void) target, (void) x, (void) y;
    GSList *files = g_value_get_boxed(value);
    if (!files)
        return FALSE;
    nino_window_open(user, files->data);
    return TRUE;
}

static void dispose(GObject *o)
{
    NinoWindow *w = NINO_WINDOW(o);
    if (w->open_nodes)
        end_session(w);
    g_clear_pointer(&w->open_nodes, g_hash_table_unref);
    g_clear_pointer(&w->node_names, g_hash_table_unref);
    G_OBJECT_CLASS(nino_window_parent_class)->dispose(o);
}

static void finalize(GObject *o)
{
    NinoWindow *w = NINO_WINDOW(o);
    nino_graph_destroy(&w->graph);
    g_free(w->path);
    g_free(w->log_line);
    g_strfreev(w->options.models);
    g_free(w->options.input);
    g_free(w->options.output);
    g_free(w->options.device);
    G_OBJECT_CLASS(nino_window_parent_class)->finalize(o);
}

static void nino_window_class_init(NinoWindowClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    gtk_widget_class_set_template_from_resource(wc, "/org/ninodes/Studio/window.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, NinoWindow, name)
    BIND(nodes);
    BIND(plot);
    BIND(stack);
    BIND(hint);
    BIND(picture);
    BIND(progress);
    BIND(status);
    BIND(memory);
#undef BIND
}

static void nino_window_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "open", .activate = action_open },
        { .name = "run", .activate = action_run },
        { .name = "cancel", .activate = action_cancel },
        { .name = "state", .state = "'empty'" },
    };
    g_type_ensure(NINO_TYPE_NODE_LIST);
    g_type_ensure(NINO_TYPE_FAMILY_PLOT);
    gtk_widget_init_template(GTK_WIDGET(w));
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    set_enabled(w, "run", FALSE);
    set_enabled(w, "cancel", FALSE);
    w->open_nodes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    w->node_names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    GtkDropTarget *drop = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect(drop, "drop", G_CALLBACK(on_drop), w);
    gtk_widget_add_controller(GTK_WIDGET(w), GTK_EVENT_CONTROLLER(drop));
}

GtkWidget *nino_window_new(GtkApplication *app, const NinoWindowOptions *options)
{
    NinoWindow *w = g_object_new(NINO_TYPE_WINDOW, "application", app, NULL);
    w->options = (NinoWindowOptions){ .models = g_strdupv(options->models),
                                      .input = g_strdup(options->input),
                                      .output = g_strdup(options->output),
                                      .device = g_strdup(options->device) };
    return GTK_WIDGET(w);
}
