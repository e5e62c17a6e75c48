// What is chosen becomes the arguments of one child (engine/suite_run.h). While a job of the queue runs the button
// waits: the two would slow each other down; that one ran meanwhile is said beside the result.
#include "window/suite_window.h"

#include <math.h>
#include <string.h>

#include "base/chosen.h"
#include "base/i18n.h"
#include "base/tokens.h"
#include "engine/suite_run.h"
#include "window/suite_form.h"
#include "window/suite_table.h"
#include "window/window_priv.h"

typedef struct Suite {
    GtkWidget *window, *form, *start, *cancel, *open, *save, *bar, *status, *table;
    GtkTextView *report;
    NinoEngine *engine;
    char *device, *shown; // shown: file of the result, NULL: none
    NinoSuiteRun *run;    // NULL: nothing is measured
    gboolean is_disturbed;
} Suite;

static Suite *suite_of(GtkWidget *window) { return g_object_get_data(G_OBJECT(window), "suite"); }

static void suite_free(gpointer user)
{
    Suite *s = user;
    if (s->run)
        nino_suite_run_stop(s->run);
    g_object_unref(s->engine);
    g_free(s->device);
    g_free(s->shown);
    g_free(s);
}

static void suite_status(Suite *s, const char *text)
{
    gtk_label_set_text(GTK_LABEL(s->status), text);
    gtk_widget_set_tooltip_text(s->status, text);
}

static void suite_update(Suite *s)
{
    const gboolean is_busy = nino_engine_running(s->engine) != NULL;
    const gboolean has_cases = nino_suite_form_has_cases(s->form);
    gtk_widget_set_sensitive(s->form, !s->run);
    gtk_widget_set_sensitive(s->start, !s->run && !is_busy && has_cases);
    gtk_widget_set_sensitive(s->cancel, s->run != NULL);
    gtk_widget_set_sensitive(s->save, s->shown != NULL);
    gtk_widget_set_visible(s->bar, s->run != NULL);
    gtk_widget_set_tooltip_text(
        s->start, is_busy      ? _("A job runs: the two would slow each other down")
                  : !has_cases ? _("Choose a case")
                               : _("Measures every case under every setting in turn"));
    s->is_disturbed |= s->run && is_busy;
}

// ---- results ------------------------------------------------------------------------------------

gboolean nino_suite_window_open(GtkWidget *window, const char *path, GError **error)
{
    Suite *s = suite_of(window);
    nino_suite_result r;
    nino_error err;
    if (nino_suite_load(path, &r, &err)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", err.where, err.msg);
        return FALSE;
    }
    char *report = nino_suite_report(&r);
    nino_suite_table_set(s->table, &r);
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(s->report), report ? report : "", -1);
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(r.bench.measured_at);
    g_autofree char *when = at ? g_date_time_format(at, "%F %H:%M") : g_strdup("");
    g_autofree char *text = g_strdup_printf(
        s->is_disturbed ? _("%s, %s, %s; a job ran meanwhile: its share is in the times")
                        : "%s, %s, %s",
        r.suite, r.bench.device, when);
    suite_status(s, text);
    free(report);
    nino_suite_release(&r);
    g_free(s->shown);
    s->shown = g_strdup(path);
    suite_update(s);
    return TRUE;
}

gboolean nino_suite_window_save(GtkWidget *window, const char *path, GError **error)
{
    Suite *s = suite_of(window);
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(s->report);
    GtkTextIter from, to;
    g_autofree char *text = NULL;
    gsize len = 0;
    if (!s->shown) {
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, _("There is no result yet"));
        return FALSE;
    }
    if (g_str_has_suffix(path, ".json")) {
        if (!g_file_get_contents(s->shown, &text, &len, error))
            return FALSE;
    } else {
        gtk_text_buffer_get_bounds(buffer, &from, &to);
        text = gtk_text_buffer_get_text(buffer, &from, &to, FALSE);
        len = strlen(text);
    }
    return g_file_set_contents(path, text, (gssize) len, error);
}

// ---- measuring ----------------------------------------------------------------------------------

static void on_suite_told(gpointer user, double share, const char *text)
{
    Suite *s = user;
    gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(s->bar), CLAMP(share, 0, 1));
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(s->bar), text);
}

static void on_suite_ended(gpointer user, const char *why)
{
    Suite *s = user;
    g_autofree char *path = nino_suite_run_newest();
    g_autoptr(GError) error = NULL;
    s->run = NULL;
    if (why)
        suite_status(s, why);
    else if (!path || !nino_suite_window_open(s->window, path, &error))
        suite_status(s, error ? error->message : _("The benchmark ended without a result"));
    suite_update(s);
}

void nino_suite_window_start(GtkWidget *window)
{
    Suite *s = suite_of(window);
    g_autoptr(GError) error = NULL;
    NinoSuiteAsk ask = { .device = s->device };
    if (!gtk_widget_get_sensitive(s->start))
        return;
    g_autofree const char **cases = nino_suite_form_get(s->form, &ask);
    if (nino_engine_state(s->engine) == NINO_ENGINE_READY && !nino_engine_is_attached(s->engine))
        nino_engine_simple(s->engine, NINO_CONTROL_TRIM, 0); // the device's memory is the suite's
    ask.cases = cases;
    s->is_disturbed = FALSE;
    s->run = nino_suite_run_start(&ask, on_suite_told, on_suite_ended, s, &error);
    on_suite_told(s, 0, _("Starting…"));
    suite_status(s, s->run ? _("Measuring…") : error->message);
    suite_update(s);
}

void nino_suite_window_stop(GtkWidget *window)
{
    Suite *s = suite_of(window);
    if (!s->run)
        return;
    nino_suite_run_stop(s->run);
    s->run = NULL;
    suite_status(s, _("Stopped; nothing was kept"));
    suite_update(s);
}

// ---- files --------------------------------------------------------------------------------------

static void on_suite_file(GtkNativeDialog *d, int response, GtkWidget *window)
{
    const gboolean is_save =
        gtk_file_chooser_get_action(GTK_FILE_CHOOSER(d)) == GTK_FILE_CHOOSER_ACTION_SAVE;
    g_autoptr(GError) error = NULL;
    g_autoptr(GFile) file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(d));
    g_autofree char *path = file ? g_file_get_path(file) : NULL;
    if (response == GTK_RESPONSE_ACCEPT && path &&
        !(is_save ? nino_suite_window_save : nino_suite_window_open)(window, path, &error))
        suite_status(suite_of(window), error->message);
    g_object_unref(d);
}

static void suite_ask_file(Suite *s, const char *title, GtkFileChooserAction action)
{
    const gboolean is_save = action == GTK_FILE_CHOOSER_ACTION_SAVE;
    GtkFileChooserNative *d =
        nino_chooser_new(title, GTK_WINDOW(s->window), action, is_save ? _("_Save") : _("_Open"));
    if (is_save) {
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(d), "benchmark.md");
    } else {
        g_autofree char *newest = nino_suite_run_newest();
        g_autofree char *dir = newest ? g_path_get_dirname(newest) : nino_suite_run_folder();
        g_autoptr(GFile) folder = g_file_new_for_path(dir);
        gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(d), folder, NULL);
    }
    g_signal_connect_object(d, "response", G_CALLBACK(on_suite_file), s->window, 0);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}

static void on_suite_open(Suite *s)
{
    suite_ask_file(s, _("Open a result of the suite"), GTK_FILE_CHOOSER_ACTION_OPEN);
}

static void on_suite_save(Suite *s)
{
    suite_ask_file(s, _("Save the report"), GTK_FILE_CHOOSER_ACTION_SAVE);
}

// ---- the window ---------------------------------------------------------------------------------

static GtkWidget *suite_button(GtkWidget *line, const char *label, const char *help,
                               GCallback clicked, gpointer user)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_widget_set_tooltip_text(b, help);
    g_signal_connect_swapped(b, "clicked", clicked, user);
    gtk_box_append(GTK_BOX(line), b);
    return b;
}

static GtkWidget *suite_buttons(Suite *s)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    s->start = suite_button(line, _("Start"), "", G_CALLBACK(nino_suite_window_start), s->window);
    gtk_widget_add_css_class(s->start, "suggested-action");
    s->cancel = suite_button(line, _("Stop"), _("Ends the measuring; nothing is kept"),
                             G_CALLBACK(nino_suite_window_stop), s->window);
    s->status = gtk_label_new(_("No result yet"));
    gtk_label_set_xalign(GTK_LABEL(s->status), 0);
    gtk_label_set_ellipsize(GTK_LABEL(s->status), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(s->status, TRUE);
    gtk_box_append(GTK_BOX(line), s->status);
    s->open = suite_button(line, _("Open result…"), _("Shows a result that was kept"),
                           G_CALLBACK(on_suite_open), s);
    s->save = suite_button(line, _("Save report…"),
                           _("The report; or the result, under a name with .json"),
                           G_CALLBACK(on_suite_save), s);
    return line;
}

static GtkWidget *suite_pages(Suite *s)
{
    GtkWidget *pages = gtk_notebook_new(), *scroll = gtk_scrolled_window_new();
    s->table = nino_suite_table_new();
    s->report = GTK_TEXT_VIEW(gtk_text_view_new());
    gtk_text_view_set_editable(s->report, FALSE);
    gtk_text_view_set_accepts_tab(s->report, FALSE);
    gtk_widget_add_css_class(GTK_WIDGET(s->report), "log");
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->report), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Report"), -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), GTK_WIDGET(s->report));
    gtk_notebook_append_page(GTK_NOTEBOOK(pages), s->table, gtk_label_new(_("Table")));
    gtk_notebook_append_page(GTK_NOTEBOOK(pages), scroll, gtk_label_new(_("Report")));
    nino_window_name_tab(GTK_NOTEBOOK(pages), s->table, _("Table"));
    nino_window_name_tab(GTK_NOTEBOOK(pages), scroll, _("Report"));
    gtk_notebook_set_show_border(GTK_NOTEBOOK(pages), FALSE);
    gtk_widget_set_vexpand(pages, TRUE);
    gtk_widget_set_size_request(pages, -1, 160);
    return pages;
}

static void on_suite_form(gpointer suite)
{
    Suite *s = suite;
    if (s->form) // it is there
        suite_update(s);
}

static void on_suite_queue(GtkWidget *window) { suite_update(suite_of(window)); }

static void suite_keys(GtkWidget *window)
{
    GtkShortcut *escape = gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Escape, 0),
                                           gtk_named_action_new("window.close"));
    GtkEventController *keys = gtk_shortcut_controller_new();
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys), escape);
    gtk_widget_add_controller(window, keys);
}

GtkWidget *nino_suite_window_new(GtkWindow *parent, NinoEngine *engine, const char *device)
{
    Suite *s = g_new0(Suite, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    *s = (Suite){ .window = gtk_window_new(),
                  .engine = g_object_ref(engine),
                  .device = g_strdup(device ? device : "") };
    g_object_set_data_full(G_OBJECT(s->window), "suite", s, suite_free);
    gtk_window_set_title(GTK_WINDOW(s->window), _("Benchmark suite"));
    gtk_window_set_transient_for(GTK_WINDOW(s->window), parent);
    gtk_window_set_destroy_with_parent(GTK_WINDOW(s->window), TRUE);
    gtk_window_set_hide_on_close(GTK_WINDOW(s->window), TRUE);
    gtk_window_set_default_size(GTK_WINDOW(s->window), 1180, 700);
    g_object_set(box, "margin-start", NINO_SPACE_M, "margin-end", NINO_SPACE_M, "margin-top",
                 NINO_SPACE_M, "margin-bottom", NINO_SPACE_M, NULL);
    s->form = nino_suite_form_new(on_suite_form, s);
    s->bar = gtk_progress_bar_new();
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(s->bar), TRUE);
    gtk_progress_bar_set_ellipsize(GTK_PROGRESS_BAR(s->bar), PANGO_ELLIPSIZE_END);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("How far the benchmark is"), -1);
    gtk_box_append(GTK_BOX(box), s->form);
    gtk_box_append(GTK_BOX(box), suite_buttons(s));
    gtk_box_append(GTK_BOX(box), s->bar);
    gtk_box_append(GTK_BOX(box), suite_pages(s));
    gtk_window_set_child(GTK_WINDOW(s->window), box);
    suite_keys(s->window);
    g_signal_connect_object(engine, "queue", G_CALLBACK(on_suite_queue), s->window,
                            G_CONNECT_SWAPPED);
    g_autofree char *newest = nino_suite_run_newest();
    if (newest) // one that cannot be read any more is none
        nino_suite_window_open(s->window, newest, NULL);
    suite_update(s);
    return s->window;
}
