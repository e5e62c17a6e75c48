// Figures are lines of the command, as `ninodes devices` prints them; what is measured next is its
// stderr, line by line. The child ends when the row goes.
#include "engine/measure_row.h"

#include <signal.h>
#include <string.h>

#include "base/child.h"
#include "base/i18n.h"
#include "base/tokens.h"
#include "base/places.h"

typedef struct Row {
    NinoEngine *engine;
    char *device, *last; // last: line of stderr
    GtkWidget *text, *button;
    GSubprocess *child; // NULL: nothing is measured
    GCancellable *cancellable;
} Row;

static void row_free(gpointer user)
{
    Row *r = user;
    g_cancellable_cancel(r->cancellable); // no answer comes any more
    if (r->child)
        nino_child_signal(r->child, SIGKILL);
    g_clear_object(&r->child);
    g_object_unref(r->cancellable);
    g_object_unref(r->engine);
    g_free(r->device);
    g_free(r->last);
    g_free(r);
}

static void row_update(Row *r)
{
    const gboolean is_busy = nino_engine_running(r->engine) != NULL;
    gtk_widget_set_sensitive(r->button, !r->child && !is_busy);
    gtk_button_set_label(GTK_BUTTON(r->button),
                         r->child ? _("Measuring…") : _("Measure this device"));
    gtk_widget_set_tooltip_text(
        r->button, is_busy ? _("A job runs: the two would slow each other down")
                           : _("Takes some seconds; shares of peak and predicted times then refer "
                               "to what this device was measured to do"));
}

static GSubprocess *spawn(const Row *r, gboolean is_measuring, GError **error)
{
    g_autofree char *program = nino_place_of_command();
    const char *argv[] = { program ? program : "ninodes", "devices", NULL, NULL, NULL, NULL };
    int n = 2;
    if (is_measuring)
        argv[n++] = "--measure";
    if (is_measuring && *r->device) {
        argv[n++] = "--device";
        argv[n++] = r->device;
    }
    return g_subprocess_newv(
        argv,
        is_measuring ? G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE
                     : G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
        error);
}

// ---- figures ------------------------------------------------------------------------------------

// "208 GFLOP/s f32, 23.6 GB/s, as measured on this device, 2026-11-29"
static void append_speed(GString *text, const char *device, const char *line)
{
    static const char measured[] = ", as measured on this device, ",
                      sheet[] = ", of the data sheet";
    const char *at = strstr(line, measured), *assumed = at ? NULL : strstr(line, sheet);
    g_string_append_printf(text, "%s%s: ", text->len ? "\n" : "", device);
    g_string_append_len(text, line, at ? at - line : assumed ? assumed - line : -1);
    if (at)
        g_string_append_printf(text, _(", measured on %s"), at + strlen(measured));
    else if (assumed)
        g_string_append(text, _(", of the data sheet"));
}

// Of the table, the names of devices and the lines below them that tell speeds.
static char *figures_of(const char *table)
{
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
    GString *text = g_string_new(NULL);
    const char *head = lines[0] ? strstr(lines[0], "NAME") : NULL;
    const size_t column = head ? (size_t) (head - lines[0]) : 0;
    for (int i = 1; column && lines[i]; i++)
        if (lines[i][0] == ' ' && strstr(lines[i], "FLOP/s") && strlen(lines[i - 1]) > column)
            append_speed(text, lines[i - 1] + column, g_strstrip(lines[i]));
    if (!text->len)
        g_string_append(text, _("Not measured yet, and no data sheet is known"));
    return g_string_free(text, FALSE);
}

static void on_figures(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autofree char *out = NULL;
    g_autoptr(GError) error = NULL;
    const gboolean ok =
        g_subprocess_communicate_utf8_finish(G_SUBPROCESS(child), result, &out, NULL, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the row is gone
    const Row *r = user;
    g_autofree char *text = ok ? figures_of(out) : g_strdup(error->message);
    gtk_label_set_text(GTK_LABEL(r->text), text);
}

static void ask_figures(Row *r)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) p = spawn(r, FALSE, &error);
    if (p)
        g_subprocess_communicate_utf8_async(p, NULL, r->cancellable, on_figures, r);
    else
        gtk_label_set_text(GTK_LABEL(r->text), error->message);
}

// ---- measuring ----------------------------------------------------------------------------------

static void on_measured(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    if (!g_subprocess_wait_finish(G_SUBPROCESS(child), result, &error) &&
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    Row *r = user;
    if (g_subprocess_get_successful(r->child))
        ask_figures(r);
    else
        gtk_label_set_text(GTK_LABEL(r->text),
                           r->last ? r->last : _("The device could not be measured"));
    g_clear_object(&r->child);
    row_update(r);
}

static void on_line(GObject *stream, GAsyncResult *result, gpointer user)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *line =
        g_data_input_stream_read_line_finish(G_DATA_INPUT_STREAM(stream), result, NULL, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    Row *r = user;
    if (!line) { // its end: now how it went
        g_subprocess_wait_async(r->child, r->cancellable, on_measured, r);
        return;
    }
    g_free(r->last);
    r->last = g_utf8_make_valid(line, -1);
    gtk_label_set_text(GTK_LABEL(r->text), r->last);
    g_data_input_stream_read_line_async(G_DATA_INPUT_STREAM(stream), G_PRIORITY_DEFAULT,
                                        r->cancellable, on_line, r);
}

static void on_measure(Row *r)
{
    g_autoptr(GError) error = NULL;
    g_clear_pointer(&r->last, g_free);
    r->child = spawn(r, TRUE, &error);
    if (r->child) {
        g_autoptr(GDataInputStream) lines =
            g_data_input_stream_new(g_subprocess_get_stderr_pipe(r->child));
        g_data_input_stream_read_line_async(lines, G_PRIORITY_DEFAULT, r->cancellable, on_line, r);
    } else {
        gtk_label_set_text(GTK_LABEL(r->text), error->message);
    }
    row_update(r);
}

// ---- the widget ---------------------------------------------------------------------------------

static void on_queue(GtkWidget *row) { row_update(g_object_get_data(G_OBJECT(row), "row")); }

GtkWidget *nino_measure_row_new(NinoEngine *engine, const char *device, GtkWidget **named)
{
    Row *r = g_new0(Row, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    r->engine = g_object_ref(engine);
    r->device = g_strdup(device ? device : "");
    r->cancellable = g_cancellable_new();
    r->text = gtk_label_new(_("Asking…"));
    gtk_label_set_xalign(GTK_LABEL(r->text), 0);
    gtk_label_set_wrap(GTK_LABEL(r->text), TRUE);
    gtk_label_set_selectable(GTK_LABEL(r->text), TRUE);
    *named = r->button = gtk_button_new();
    gtk_widget_set_halign(r->button, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(box), r->text);
    gtk_box_append(GTK_BOX(box), r->button);
    g_object_set_data_full(G_OBJECT(box), "row", r, row_free);
    g_signal_connect_swapped(r->button, "clicked", G_CALLBACK(on_measure), r);
    g_signal_connect_object(engine, "queue", G_CALLBACK(on_queue), box, G_CONNECT_SWAPPED);
    row_update(r);
    ask_figures(r);
    return box;
}
