// Writing plots, tables and traces to files.
#include "plot/export.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>

#include "base/chosen.h"
#include "base/i18n.h"
#include "plot/plot.h"

static const char *const plot_types[] = { "png", "svg", "pdf", NULL };
static const char *const table_types[] = { "csv", "json", NULL };
static const char *const all_types[] = { "png", "svg", "pdf", "csv", "json", NULL };
static const char *const no_types[] = { NULL };

void nino_view_set_export(GtkWidget *view, const NinoViewExport *x)
{
    g_object_set_data(G_OBJECT(view), "nino-export", (gpointer) x);
}

const NinoViewExport *nino_view_get_export(GtkWidget *view)
{
    return g_object_get_data(G_OBJECT(view), "nino-export");
}

const char *const *nino_export_types(GtkWidget *view, gboolean with_plot, gboolean with_table)
{
    const NinoViewExport *x = nino_view_get_export(view);
    const gboolean plot = with_plot && x && x->draw, table = with_table && x && x->rows;
    return plot && table ? all_types : plot ? plot_types : table ? table_types : no_types;
}

static gboolean export_fail(GError **error, const char *path, const char *why)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", path, why);
    return FALSE;
}

// ---- plots -------------------------------------------------------------------------------------

static cairo_status_t export_append(void *bytes, const unsigned char *data, unsigned n)
{
    g_byte_array_append(bytes, data, n);
    return CAIRO_STATUS_SUCCESS;
}

enum { FOOTER = 18 };

// What was run, how long it took, with which version; when the picture was made.
static char *caption(GtkWidget *view)
{
    size_t n;
    char ns[40] = "";
    NinoRun *run = g_object_get_data(G_OBJECT(view), "nino-run");
    nino_history *h = run ? nino_run_history(run) : NULL;
    const nino_span *s = h ? nino_history_spans(h, &n) : NULL;
    const nino_span *job = NULL;
    for (size_t i = 0; s && i < n; i++)
        if (s[i].kind == NINO_EV_JOB)
            job = &s[i];
    if (job)
        nino_format_ns(
            ns, sizeof(ns),
            (double) ((job->end_ns ? job->end_ns : nino_history_end(h)) - job->begin_ns));
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *when = g_date_time_format(now, "%Y-%m-%d %H:%M");
    return g_strdup_printf("%s%s%s%sninodes %s · %s", job ? nino_run_name(run, job->name) : "",
                           job ? " · " : "", ns, job ? " · " : "", nino_version(), when);
}

static void draw_caption(GtkWidget *view, cairo_t *cr, int w, int h, gboolean is_dark)
{
    int width, height;
    g_autofree char *text = caption(view);
    PangoLayout *l = pango_cairo_create_layout(cr);
    PangoFontDescription *font = pango_font_description_from_string("Sans");
    pango_font_description_set_absolute_size(font, NINO_FONT_SMALL * PANGO_SCALE);
    pango_layout_set_font_description(l, font);
    pango_layout_set_text(l, text, -1);
    pango_layout_set_single_paragraph_mode(l, TRUE);
    pango_layout_set_ellipsize(l, PANGO_ELLIPSIZE_END);
    pango_layout_set_width(l, (w - 12) * PANGO_SCALE);
    pango_layout_get_pixel_size(l, &width, &height);
    const NinoTheme theme = is_dark ? NINO_THEME_DARK : NINO_THEME_LIGHT;
    gdk_cairo_set_source_rgba(cr, nino_token(NINO_COLOUR_PLOT, theme));
    cairo_rectangle(cr, 0, h - FOOTER, w, FOOTER);
    cairo_fill(cr);
    gdk_cairo_set_source_rgba(cr, nino_token(NINO_COLOUR_PLOT_DIM, theme));
    cairo_move_to(cr, 6, h - FOOTER + (FOOTER - height) / 2.0);
    pango_cairo_show_layout(cr, l);
    pango_font_description_free(font);
    g_object_unref(l);
}

static gboolean write_plot(GtkWidget *view, const char *path, int w, int h, gboolean is_dark,
                           GError **error)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    const gboolean is_png = g_str_has_suffix(path, ".png");
    const double scale = is_png ? 2 : 1; // sharp on paper
    cairo_surface_t *s = is_png ? cairo_image_surface_create(CAIRO_FORMAT_ARGB32, w * 2, h * 2)
                         : g_str_has_suffix(path, ".svg")
                             ? cairo_svg_surface_create_for_stream(export_append, bytes, w, h)
                             : cairo_pdf_surface_create_for_stream(export_append, bytes, w, h);
    cairo_t *cr = cairo_create(s);
    cairo_scale(cr, scale, scale);
    nino_view_get_export(view)->draw(view, cr, w, h - FOOTER, is_dark);
    draw_caption(view, cr, w, h, is_dark);
    cairo_status_t st = cairo_status(cr);
    cairo_destroy(cr);
    if (!st && is_png)
        st = cairo_surface_write_to_png_stream(s, export_append, bytes);
    cairo_surface_finish(s);
    st = st ? st : cairo_surface_status(s);
    cairo_surface_destroy(s);
    if (st)
        return export_fail(error, path, cairo_status_to_string(st));
    return g_file_set_contents(path, (const char *) bytes->data, (gssize) bytes->len, error);
}

// ---- tables ------------------------------------------------------------------------------------

typedef struct Table {
    GString *out;
    gboolean is_json;
    size_t n;
} Table;

// No more digits than give the same number again: 0.00072, not 0.00072000000000000005.
static void export_add_number(GString *s, double v, gboolean is_json)
{
    char buf[G_ASCII_DTOSTR_BUF_SIZE];
    if (isfinite(v)) {
        g_ascii_formatd(buf, sizeof(buf), "%.15g", v);
        if (g_ascii_strtod(buf, NULL) != v)
            g_ascii_dtostr(buf, sizeof(buf), v);
        g_string_append(s, buf);
    } else if (is_json)
        g_string_append(s, "null");
}

static void export_add_text(GString *s, const char *text, gboolean is_json)
{
    if (!is_json && !strpbrk(text, "\",\n\r")) {
        g_string_append(s, text);
        return;
    }
    g_string_append_c(s, '"');
    for (const char *p = text; *p; p++) {
        if (is_json && (unsigned char) *p < 0x20)
            g_string_append_printf(s, "\\u%04x", (unsigned) *p);
        else if (*p == '"' || (is_json && *p == '\\'))
            g_string_append_printf(s, "%c%c", is_json ? '\\' : '"', *p);
        else
            g_string_append_c(s, *p);
    }
    g_string_append_c(s, '"');
}

void nino_cells_to_json(GString *out, const NinoCell *cells, size_t n)
{
    g_string_append_c(out, '{');
    for (size_t i = 0; i < n; i++) {
        g_string_append(out, i ? "," : "");
        export_add_text(out, cells[i].column, TRUE);
        g_string_append(out, ": ");
        if (cells[i].text)
            export_add_text(out, cells[i].text, TRUE);
        else
            export_add_number(out, cells[i].number, TRUE);
    }
    g_string_append_c(out, '}');
}

static void add_csv(GString *out, const NinoCell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g_string_append(out, i ? "," : "");
        if (cells[i].text)
            export_add_text(out, cells[i].text, FALSE);
        else
            export_add_number(out, cells[i].number, FALSE);
    }
    g_string_append(out, "\r\n");
}

static void export_add_row(gpointer user, const NinoCell *cells, size_t n)
{
    Table *t = user;
    if (t->is_json) {
        g_string_append(t->out, t->n ? ",\n  " : "\n  ");
        nino_cells_to_json(t->out, cells, n);
    } else {
        for (size_t i = 0; i < n && !t->n; i++) {
            g_string_append(t->out, i ? "," : "");
            export_add_text(t->out, cells[i].column, FALSE);
        }
        g_string_append(t->out, t->n ? "" : "\r\n");
        add_csv(t->out, cells, n);
    }
    t->n++;
}

static gboolean write_table(GtkWidget *view, const char *path, GError **error)
{
    Table t = { .out = g_string_new(NULL), .is_json = g_str_has_suffix(path, ".json") };
    if (t.is_json)
        g_string_append_c(t.out, '[');
    nino_view_get_export(view)->rows(view, export_add_row, &t);
    if (t.is_json)
        g_string_append(t.out, "\n]\n");
    const gboolean ok = g_file_set_contents(path, t.out->str, (gssize) t.out->len, error);
    g_string_free(t.out, TRUE);
    return ok;
}

gboolean nino_export_view(GtkWidget *view, const char *path, int width, int height,
                          gboolean is_dark, GError **error)
{
    const NinoViewExport *x = nino_view_get_export(view);
    const char *dot = strrchr(path, '.');
    if (dot && g_strv_contains(plot_types, dot + 1))
        return x && x->draw ? write_plot(view, path, width, height, is_dark, error)
                            : export_fail(error, path, _("this view has no plot"));
    if (dot && g_strv_contains(table_types, dot + 1))
        return x && x->rows ? write_table(view, path, error)
                            : export_fail(error, path, _("this view has no table"));
    return export_fail(error, path, _("the name must end in .png, .svg, .pdf, .csv or .json"));
}

gboolean nino_export_trace(NinoRun *run, const char *path, GError **error)
{
    nino_error err;
    if (nino_history_save(nino_run_history(run), path, &err) == NINO_OK)
        return TRUE;
    return export_fail(error, err.where, err.msg);
}

// ---- asking ------------------------------------------------------------------------------------

typedef struct Ask {
    GtkWidget *view;
    NinoRun *run;
    char *kind;
    GtkFileChooserNative *chooser;
} Ask;

static void show_error(GtkWidget *view, const GError *error)
{
    GtkRoot *root = gtk_widget_get_root(view);
    GtkWidget *d = gtk_message_dialog_new(
        root ? GTK_WINDOW(root) : NULL, GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT,
        GTK_MESSAGE_ERROR, GTK_BUTTONS_CLOSE, "%s", _("The file was not written"));
    gtk_message_dialog_format_secondary_text(GTK_MESSAGE_DIALOG(d), "%s",
                                             error ? error->message : "");
    g_signal_connect(d, "response", G_CALLBACK(gtk_window_destroy), NULL);
    gtk_window_present(GTK_WINDOW(d));
}

static const char *const *types_of(const char *kind)
{
    static const char *const trace_types[] = { "json.gz", "json", "pftrace", "ninotrace", NULL };
    return !strcmp(kind, "trace") ? trace_types : !strcmp(kind, "table") ? table_types : plot_types;
}

// The ending that was typed, else the format that was chosen; a file that is there already was not asked
// about under its new name.
static char *chosen_path(Ask *a, const char *path, GError **error)
{
    const char *const *types = types_of(a->kind);
    const char *want = gtk_file_chooser_get_choice(GTK_FILE_CHOOSER(a->chooser), "format");
    gsize had = 0;
    for (int i = 0; types[i]; i++) {
        g_autofree char *end = g_strconcat(".", types[i], NULL);
        if (!g_str_has_suffix(path, end))
            continue;
        if (i) // not the one that was offered
            return g_strdup(path);
        had = strlen(end);
        break;
    }
    if (!want || (had && !strcmp(want, types[0])))
        return g_strdup(path);
    g_autofree char *stem = g_strndup(path, strlen(path) - had);
    char *named = g_strconcat(stem, ".", want, NULL);
    if (!g_file_test(named, G_FILE_TEST_EXISTS))
        return named;
    export_fail(error, named, _("is there already: type its name to replace it"));
    g_free(named);
    return NULL;
}

static void on_response(GtkNativeDialog *dialog, int response, Ask *a)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = nino_chosen_path(dialog, response);
    if (path) {
        gboolean dark = FALSE;
        g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark, NULL);
        g_autofree char *named = chosen_path(a, path, &error);
        const gboolean ok =
            !named ? FALSE
            : !strcmp(a->kind, "trace")
                ? nino_export_trace(a->run, named, &error)
                : nino_export_view(a->view, named, MAX(gtk_widget_get_width(a->view), 640),
                                   MAX(gtk_widget_get_height(a->view), 360), dark, &error);
        if (!ok)
            show_error(a->view, error);
    }
    g_object_unref(a->chooser);
    g_object_unref(a->view);
    g_object_unref(a->run);
    g_free(a->kind);
    g_free(a);
}

static void offer_formats(GtkFileChooser *chooser, const char *kind)
{
    static const struct {
        const char *type, *label;
    } all[] = {
        { "png", N_("PNG picture") },
        { "svg", N_("SVG drawing") },
        { "pdf", N_("PDF document") },
        { "csv", N_("CSV table") },
        { "json.gz", N_("Chrome trace, packed (.json.gz)") },
        { "json", N_("JSON") },
        { "pftrace", N_("Perfetto trace (.pftrace)") },
        { "ninotrace", N_("Own form (.ninotrace), all that was recorded") },
    };
    const char *const *types = types_of(kind);
    g_autoptr(GPtrArray) labels = g_ptr_array_new();
    for (int i = 0; types[i]; i++)
        for (gsize k = 0; k < G_N_ELEMENTS(all); k++)
            if (!strcmp(all[k].type, types[i]))
                g_ptr_array_add(labels, (gpointer) _(all[k].label));
    g_ptr_array_add(labels, NULL);
    gtk_file_chooser_add_choice(chooser, "format", _("Format"), (const char **) types,
                                (const char **) labels->pdata);
    gtk_file_chooser_set_choice(chooser, "format", types[0]);
}

void nino_export_ask(GtkWidget *view, NinoRun *run, const char *kind)
{
    Ask *a = g_new0(Ask, 1);
    GtkRoot *root = gtk_widget_get_root(view);
    const char *id = gtk_widget_get_name(view);
    g_autofree char *name = g_strdup_printf("%s.%s", id && *id ? id : "view", types_of(kind)[0]);
    a->view = g_object_ref(view);
    a->run = g_object_ref(run);
    a->kind = g_strdup(kind);
    a->chooser = nino_chooser_new(_("Export"), root ? GTK_WINDOW(root) : NULL,
                                  GTK_FILE_CHOOSER_ACTION_SAVE, _("_Export"));
    gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(a->chooser), name);
    offer_formats(GTK_FILE_CHOOSER(a->chooser), kind);
    g_signal_connect(a->chooser, "response", G_CALLBACK(on_response), a);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(a->chooser));
}

static void on_export_action(GSimpleAction *action, GVariant *parameter, gpointer view)
{
    (void) parameter;
    nino_export_ask(view, g_object_get_data(G_OBJECT(view), "nino-export-run"),
                    g_action_get_name(G_ACTION(action)));
}

void nino_export_install(GtkWidget *view, NinoRun *run)
{
    g_object_set_data(G_OBJECT(view), "nino-run", run); // its widgets hold it
    static const GActionEntry entries[] = { { .name = "plot", .activate = on_export_action },
                                            { .name = "table", .activate = on_export_action },
                                            { .name = "trace", .activate = on_export_action } };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), entries, G_N_ELEMENTS(entries), view);
    g_object_set_data_full(G_OBJECT(view), "nino-export-run", g_object_ref(run), g_object_unref);
    const NinoViewExport *x = nino_view_get_export(view);
    if (!x || !x->draw)
        g_action_map_remove_action(G_ACTION_MAP(group), "plot");
    if (!x || !x->rows)
        g_action_map_remove_action(G_ACTION_MAP(group), "table");
    gtk_widget_insert_action_group(view, "export", G_ACTION_GROUP(group));
}
