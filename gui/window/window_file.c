// Files of the window: open, save, close with a question in the bar, and what autosave recovered.
#include "window/window_priv.h"

#include <ninodes/monitor.h>
#include <string.h>

#include "workflow/autosave.h"
#include "settings/actions.h"
#include "settings/prefs.h"
#include "base/i18n.h"
#include "base/chosen.h"

#define SNIFF_BYTES 4096

// ---- open ---------------------------------------------------------------------------------------

static gboolean is_trace(const char *path)
{
    if (g_str_has_suffix(path, ".gz") || g_str_has_suffix(path, ".ninotrace"))
        return TRUE;
    if (!g_str_has_suffix(path, ".json"))
        return FALSE;
    char head[SNIFF_BYTES + 1] = "";
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, SNIFF_BYTES, f) : 0;
    head[n] = 0;
    if (f)
        fclose(f);
    return strstr(head, "\"traceEvents\"") != NULL;
}

static void open_path(NinoWindow *w, const char *path)
{
    for (int i = 0; i < gtk_notebook_get_n_pages(w->tabs); i++) // already open: to the front
        if (!g_strcmp0(nino_tab_source(NINO_TAB(gtk_notebook_get_nth_page(w->tabs, i))), path)) {
            gtk_notebook_set_current_page(w->tabs, i);
            gtk_widget_grab_focus(GTK_WIDGET(nino_tab_canvas(nino_window_tab(w))));
            return;
        }
    if (is_trace(path)) {
        nino_window_open_trace(w, path);
        return;
    }
    nino_window_need_demo(w, path);
    NinoTab *tab = nino_window_tab(w);
    const gboolean reuse = tab && nino_tab_is_empty(tab);
    if (!reuse)
        tab = nino_window_add_tab(w);
    g_autoptr(GError) error = NULL;
    if (!nino_tab_open(tab, path, &error)) { // what is open stays
        if (!reuse)
            nino_window_remove_tab(w, tab);
        nino_bar_show(w->bar, "open", NINO_BAR_ERROR, error->message, NULL);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            nino_window_forget_recent(w, path);
        return;
    }
    nino_bar_hide(w->bar, "open");
    nino_window_add_recent(w, path);
    nino_window_tabs_update(w);
    nino_window_check(w);
    gtk_widget_grab_focus(GTK_WIDGET(nino_tab_canvas(tab))); // its keys work at once
    if (GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(tab), "errors")))
        nino_window_show_panel(w, "problems");
    else if (nino_document_opens_form(nino_tab_document(tab)))
        nino_window_show_panel(w, "form");
}

void nino_window_take(NinoWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file);
    NinoTab *tab = nino_window_tab(w);
    NinoTab *used = tab ? tab : nino_window_add_tab(w);
    if (path && nino_canvas_take_file(nino_tab_canvas(used), path, -1, -1))
        return;
    if (!tab)
        nino_window_remove_tab(w, used);
    nino_window_open(w, file);
}

void nino_window_open(NinoWindow *w, GFile *file)
{
    g_autofree char *path = g_file_get_path(file);
    if (path)
        open_path(w, path);
    else
        nino_bar_show(w->bar, "open", NINO_BAR_ERROR, _("Only local files can be opened"), NULL);
}

static void action_open_path(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    open_path(user, g_variant_get_string(parameter, NULL));
}

static void on_recent_closed(GtkPopover *menu, gpointer canvas)
{
    g_signal_handlers_disconnect_by_func(menu, on_recent_closed, canvas);
    gtk_widget_grab_focus(canvas);
}

// By key; the canvas has the keys again afterwards.
static void action_recent(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    GtkPopover *menu = gtk_menu_button_get_popover(w->recent_button);
    NinoTab *tab = nino_window_tab(w);
    if (menu && tab && gtk_widget_get_sensitive(GTK_WIDGET(w->recent_button)))
        g_signal_connect_object(menu, "closed", G_CALLBACK(on_recent_closed), nino_tab_canvas(tab),
                                0);
    gtk_menu_button_popup(w->recent_button);
}

static void on_result_wanted(NinoViewer *v, const char *path, gpointer user)
{
    (void) v;
    open_path(user, path);
}

static void on_result_used(NinoViewer *v, const char *path, gpointer user)
{
    (void) v;
    NinoWindow *w = user;
    if (!nino_window_tab(w))
        nino_window_add_tab(w);
    nino_canvas_use_file(nino_tab_canvas(nino_window_tab(w)), path);
    nino_window_show_perspective(w, "compose");
}

typedef void (*Chosen)(NinoWindow *w, const char *path);

static void on_window_file_chosen(GtkNativeDialog *dialog, int response, gpointer user)
{
    g_autofree char *path = nino_chosen_path(dialog, response);
    if (path)
        ((Chosen) g_object_get_data(G_OBJECT(dialog), "then"))(user, path);
    g_object_unref(dialog);
}

// endings: NULL-terminated, or NULL for all files.
static void window_file_choose(NinoWindow *w, GtkFileChooserAction what, const char *title,
                               const char *name, const char *const *endings,
                               const char *filter_name, Chosen then)
{
    const gboolean save = what == GTK_FILE_CHOOSER_ACTION_SAVE;
    GtkFileChooserNative *dialog =
        nino_chooser_new(title, GTK_WINDOW(w), what, save ? _("_Save") : _("_Open"));
    if (name)
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    if (endings) {
        g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
        gtk_file_filter_set_name(filter, filter_name);
        for (int i = 0; endings[i]; i++)
            gtk_file_filter_add_suffix(filter, endings[i]);
        gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    }
    g_object_set_data(G_OBJECT(dialog), "then", (gpointer) then);
    g_signal_connect_object(dialog, "response", G_CALLBACK(on_window_file_chosen), w, 0);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void action_open(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    static const char *const endings[] = { "json", "png",    "webp",        "jpg",  "jpeg", "apng",
                                           "mp4",  "webm",   "mov",         "flac", "mp3",  "opus",
                                           "ogg",  "latent", "safetensors", NULL };
    window_file_choose(user, GTK_FILE_CHOOSER_ACTION_OPEN, _("Open workflow"), NULL, endings,
                       _("Workflows, pictures and videos that hold one"), open_path);
}

static void action_open_trace(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    static const char *const endings[] = { "ninotrace", "json", "gz", NULL };
    window_file_choose(user, GTK_FILE_CHOOSER_ACTION_OPEN, _("Open trace"), NULL, endings,
                       _("Traces"), nino_window_open_trace);
}

static void action_new(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoTab *tab = nino_window_add_tab(user);
    nino_window_tabs_update(user);
    gtk_widget_grab_focus(GTK_WIDGET(nino_tab_canvas(tab)));
}

// ---- save ---------------------------------------------------------------------------------------

static gboolean window_file_save_to(NinoWindow *w, NinoTab *tab, const char *to)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_strdup(to); // it may be the tab's own, which goes as it is saved
    if (!nino_tab_save(tab, path, &error)) {
        nino_bar_show(w->bar, "save", NINO_BAR_ERROR, error->message, NULL);
        return FALSE;
    }
    nino_bar_hide(w->bar, "save");
    nino_autosave_forget(nino_tab_uid(tab));
    nino_window_add_recent(w, path);
    g_autofree char *text = g_strdup_printf(_("Saved %s"), path);
    nino_window_say(w, text);
    return TRUE;
}

static void save_current_to(NinoWindow *w, const char *path)
{
    if (nino_window_tab(w))
        window_file_save_to(w, nino_window_tab(w), path);
}

static void window_file_save_as(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    static const char *const endings[] = { "json", NULL };
    const char *title = nino_tab_title(tab), *dot = strrchr(title, '.');
    g_autofree char *stem = dot ? g_strndup(title, (gsize) (dot - title)) : g_strdup(title);
    g_autofree char *name = g_strconcat(stem, ".json", NULL);
    window_file_choose(w, GTK_FILE_CHOOSER_ACTION_SAVE, _("Save workflow"), name, endings,
                       _("Workflows (JSON)"), save_current_to);
}

static void export_to(NinoWindow *w, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (nino_window_tab(w) && !nino_tab_export_api(nino_window_tab(w), path, &error))
        nino_bar_show(w->bar, "save", NINO_BAR_ERROR, error->message, NULL);
}

static void action_save(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoWindow *w = user;
    NinoTab *tab = nino_window_tab(w);
    if (!tab)
        return;
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "save") && nino_tab_path(tab))
        window_file_save_to(w, tab, nino_tab_path(tab));
    else
        window_file_save_as(w);
}

static void action_export(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    static const char *const endings[] = { "json", NULL };
    window_file_choose(user, GTK_FILE_CHOOSER_ACTION_SAVE, _("Export in API form"),
                       "workflow_api.json", endings, _("Workflows (JSON)"), export_to);
}

static void action_to_path(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    const char *path = g_variant_get_string(parameter, NULL);
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "save-to"))
        save_current_to(user, path);
    else
        export_to(user, path);
}

// ---- close --------------------------------------------------------------------------------------

static void close_tab(NinoWindow *w, NinoTab *tab)
{
    if (!tab)
        return;
    if (!nino_tab_is_changed(tab)) {
        nino_window_remove_tab(w, tab);
        return;
    }
    const char *uid = nino_tab_uid(tab);
    g_autofree char *id = g_strdup_printf("close-%s", uid),
                    *text = g_strdup_printf(_("“%s” has unsaved changes"), nino_tab_title(tab)),
                    *save = g_strdup_printf("win.save-tab::%s", uid),
                    *discard = g_strdup_printf("win.discard-tab::%s", uid);
    const NinoBarButton buttons[] = { { _("Save and close"), save },
                                      { _("Close without saving"), discard },
                                      { 0 } };
    nino_bar_show(w->bar, id, NINO_BAR_WARNING, text, buttons);
}

static void action_close_tab(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    const char *name = g_action_get_name(G_ACTION(a));
    NinoTab *tab = parameter ? nino_window_find_tab(w, g_variant_get_string(parameter, NULL))
                             : nino_window_tab(w);
    if (!tab)
        return;
    if (g_str_equal(name, "discard-tab")) {
        nino_window_remove_tab(w, tab);
    } else if (g_str_equal(name, "save-tab")) {
        gtk_notebook_set_current_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
        if (!nino_tab_path(tab))
            window_file_save_as(w); // it closes with the next try
        else if (window_file_save_to(w, tab, nino_tab_path(tab)))
            nino_window_remove_tab(w, tab);
    } else {
        close_tab(w, tab);
    }
}

// The app goes with this window: who starts it now is to wait (main.c asks for this action).
static void begin_end(NinoWindow *w)
{
    GtkApplication *app = gtk_window_get_application(GTK_WINDOW(w));
    GAction *quit = app ? g_action_map_lookup_action(G_ACTION_MAP(app), "quit") : NULL;
    if (quit)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(quit), FALSE);
}

static void action_discard_all(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NINO_WINDOW(user)->closes = TRUE;
    begin_end(user);
    gtk_window_close(user);
}

// Asks in the bar what is to happen with unsaved work and a running job.
static gboolean on_close_request(GtkWindow *window, gpointer user)
{
    (void) user;
    NinoWindow *w = NINO_WINDOW(window);
    int n_changed = 0;
    for (int i = 0; i < gtk_notebook_get_n_pages(w->tabs); i++)
        n_changed += nino_tab_is_changed(NINO_TAB(gtk_notebook_get_nth_page(w->tabs, i)));
    const gboolean runs = nino_engine_running(w->engine) && !nino_engine_is_attached(w->engine);
    if (w->closes || (!n_changed && !runs)) {
        begin_end(w);
        nino_autosave_end();
        return FALSE;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    if (n_changed)
        g_string_append_printf(text,
                               ngettext("%d workflow has unsaved changes. ",
                                        "%d workflows have unsaved changes. ", (gulong) n_changed),
                               n_changed);
    if (runs)
        g_string_append(text, _("A job is running; it waits and runs again at the next start. "));
    const NinoBarButton buttons[] = { { _("Quit anyway"), "win.discard-all" }, { 0 } };
    nino_bar_show(w->bar, "quit", NINO_BAR_WARNING, text->str, buttons);
    return TRUE;
}

// ---- edit ---------------------------------------------------------------------------------------

static void action_undo(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) parameter;
    NinoTab *tab = nino_window_tab(user);
    if (!tab)
        return;
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "undo"))
        nino_tab_undo(tab);
    else
        nino_tab_redo(tab);
    nino_window_tabs_update(user);
}

// The canvas' own actions, for menus and D-Bus.
static void action_canvas(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoTab *tab = nino_window_tab(user);
    g_autofree char *name =
        g_strdup_printf("canvas.%s", g_action_get_name(G_ACTION(a)) + strlen("canvas-"));
    if (tab)
        gtk_widget_activate_action_variant(GTK_WIDGET(nino_tab_canvas(tab)), name, parameter);
}

static void add_canvas_action(NinoWindow *w, const char *of_canvas, const GVariantType *type)
{
    g_autofree char *name = g_strdup_printf("canvas-%s", of_canvas + strlen("canvas."));
    g_autoptr(GSimpleAction) a = g_simple_action_new(name, type);
    g_signal_connect(a, "activate", G_CALLBACK(action_canvas), w);
    g_action_map_add_action(G_ACTION_MAP(w), G_ACTION(a));
}

static void add_canvas_actions(NinoWindow *w)
{
    for (const NinoCommand *c = nino_commands; c->action; c++)
        if (g_str_has_prefix(c->action, "canvas."))
            add_canvas_action(w, c->action, NULL);
    add_canvas_action(w, "canvas.color", G_VARIANT_TYPE_STRING);
}

static void action_set(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    g_autoptr(GError) error = NULL;
    NinoTab *tab = nino_window_tab(w);
    if (!tab)
        return;
    if (nino_tab_set(tab, g_variant_get_string(parameter, NULL), &error))
        nino_bar_hide_about(w->bar, nino_tab_uid(tab), "edit");
    else
        nino_window_refuse(w, tab, error->message);
}

// ---- start and end ------------------------------------------------------------------------------

void nino_window_recover(NinoWindow *w)
{
    g_autoptr(GPtrArray) found = nino_autosave_recover();
    guint n = 0;
    for (guint i = 0; i < found->len; i++) {
        const NinoRecovered *r = found->pdata[i];
        NinoTab *tab = nino_window_add_tab(w);
        if (nino_tab_restore(tab, r->json, r->len, r->path, NULL))
            n++;
        else {
            nino_autosave_leave(r);
            nino_window_remove_tab(w, tab);
        }
    }
    if (n) {
        g_autofree char *text = g_strdup_printf(
            ngettext("%u unsaved workflow of an earlier session was recovered",
                     "%u unsaved workflows of an earlier session were recovered", n),
            n);
        nino_bar_show(w->bar, "recovered", NINO_BAR_INFO, text, NULL);
    }
    nino_window_autosave(w); // keeps them in this session's folder, then removes the old ones
}

// The user comes back, perhaps with the file that was missing.
static void on_active(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    if (tab && gtk_window_is_active(GTK_WINDOW(w)) && g_object_get_data(G_OBJECT(tab), "errors"))
        nino_window_check(w);
}

void nino_window_file_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "new", .activate = action_new },
        { .name = "open", .activate = action_open },
        { .name = "open-path", .activate = action_open_path, .parameter_type = "s" },
        { .name = "recent", .activate = action_recent },
        { .name = "open-trace", .activate = action_open_trace },
        { .name = "save", .activate = action_save },
        { .name = "save-as", .activate = action_save },
        { .name = "save-to", .activate = action_to_path, .parameter_type = "s" },
        { .name = "export-api", .activate = action_export },
        { .name = "export-api-to", .activate = action_to_path, .parameter_type = "s" },
        { .name = "close-tab", .activate = action_close_tab },
        { .name = "close-tab-uid", .activate = action_close_tab, .parameter_type = "s" },
        { .name = "save-tab", .activate = action_close_tab, .parameter_type = "s" },
        { .name = "discard-tab", .activate = action_close_tab, .parameter_type = "s" },
        { .name = "discard-all", .activate = action_discard_all },
        { .name = "undo", .activate = action_undo },
        { .name = "redo", .activate = action_undo },
        { .name = "set", .activate = action_set, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
    add_canvas_actions(w);
    g_signal_connect(w->viewer, "open", G_CALLBACK(on_result_wanted), w);
    g_signal_connect(w->viewer, "use", G_CALLBACK(on_result_used), w);
    g_signal_connect(w, "notify::is-active", G_CALLBACK(on_active), NULL);
    g_signal_connect(w->tabs, "notify::page", G_CALLBACK(nino_window_on_switch), w);
    g_signal_connect(w, "close-request", G_CALLBACK(on_close_request), NULL);
    nino_window_show_recent(w);
    nino_window_tabs_update(w);
}

void nino_window_file_dispose(NinoWindow *w)
{
    g_clear_handle_id(&w->autosave_timer, g_source_remove);
    if (!w->tabs)
        return;
    g_signal_handlers_disconnect_by_data(w->tabs, w);
    // Editors that lose the focus while they go still change their document.
    for (int i = 0; i < gtk_notebook_get_n_pages(w->tabs); i++)
        g_signal_handlers_disconnect_by_data(gtk_notebook_get_nth_page(w->tabs, i), w);
}
