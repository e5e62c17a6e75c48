// The figures of memory are the peaks of plans, as in bench/results/plan-gfx1151.md (tests/gui/compose/test_computer.sh compares).
#include "window/computer_window.h"

#include <stdlib.h>
#include <string.h>

#include "base/focus.h"
#include "base/i18n.h"
#include "base/places.h"
#include "base/scroller.h"
#include "base/tokens.h"
#include "engine/forecast.h"
#include "engine/measure_row.h"

#define GIB (1024.0 * 1024 * 1024)

// clang-format off
static const struct { const char *family, *task; double gib; } needs[] = {
    { "SD1.5", N_("512 × 512"), 2.10 },
    { "SDXL", N_("1024 × 1024"), 7.20 },
    { "FLUX.2 klein 4B", N_("1024 × 1024, bf16"), 13.45 },
    { "FLUX.2 klein 9B", N_("1024 × 1024, 8-bit floats"), 14.40 },
    { "SD3.5 medium", N_("1024 × 1024, f16"), 15.23 },
    { "SD3.5 large", N_("1024 × 1024, 8-bit floats"), 18.56 },
    { "Z-Image-Turbo", N_("1024 × 1024, bf16"), 19.14 },
    { "WAN 2.2 5B", N_("video of 1280 × 704, 121 frames"), 19.74 },
    { "Chroma", N_("1024 × 1024, bf16"), 26.30 },
    { "FLUX.1 dev", N_("1024 × 1024"), 32.05 },
    { "WAN 2.2 A14B", N_("video of 1280 × 720, 81 frames"), 39.41 },
    { "Qwen-Image", N_("1328 × 1328"), 48.26 },
};
// clang-format on

// A workflow that needs nothing: its plan tells what runs may take.
static const char nothing[] =
    "{\"1\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {}}, \"2\": {\"class_type\": "
    "\"SaveLatent\", \"inputs\": {\"samples\": [\"1\", 0]}}}";

typedef struct Computer {
    GtkWidget *memory, *budget, *verdict[G_N_ELEMENTS(needs)];
    GCancellable *cancellable;
    char *device; // selector; NULL: the default one
} Computer;

static void computer_free(gpointer user)
{
    Computer *c = user;
    g_cancellable_cancel(c->cancellable); // no answer comes any more
    g_object_unref(c->cancellable);
    g_free(c->device);
    g_free(c);
}

// ---- the memory of the device -------------------------------------------------------------------

// "15.6 GiB"; 0: it is something else.
static double gib_of(const char *text)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    char *end;
    double v = g_ascii_strtod(text, &end);
    while (*end == ' ')
        end++;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (g_str_equal(end, units[i]))
            return v / GIB;
        v *= 1024;
    }
    return 0;
}

// Of the table of `ninodes devices`: the row of this device, else the first. FALSE: there is none.
static gboolean find_memory(const char *table, const char *device, char **name, double *gib)
{
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
    const char *memory = lines[0] ? strstr(lines[0], "MEMORY") : NULL,
               *names = lines[0] ? strstr(lines[0], "NAME") : NULL;
    gboolean any = FALSE;
    for (int i = 1; memory && names && lines[i]; i++) {
        const gsize end = (gsize) (memory - lines[0]) + strlen("MEMORY"),
                    at = (gsize) (names - lines[0]);
        if (*lines[i] == ' ' || strlen(lines[i]) <= at || end < 10)
            continue; // how fast the one above is
        const gboolean is_it = device && g_str_has_prefix(lines[i], device);
        if (any && !is_it)
            continue;
        g_autofree char *text = g_strndup(lines[i] + end - 10, 10);
        *gib = gib_of(g_strstrip(text));
        g_free(*name);
        *name = g_strdup(lines[i] + at);
        any = TRUE;
    }
    return any && *gib > 0;
}

static void show_verdicts(Computer *c, double gib)
{
    for (gsize i = 0; i < G_N_ELEMENTS(needs); i++) {
        const gboolean fits = needs[i].gib <= gib;
        GtkLabel *label = GTK_LABEL(c->verdict[i]);
        gtk_label_set_text(label, fits ? _("✓ fits") : _("slower: parts are read again"));
        gtk_widget_add_css_class(GTK_WIDGET(label), fits ? "success" : "dim-label");
    }
}

static void on_budget(gpointer user, const char *text, gboolean fits)
{
    static const char before[] = "(budget ";
    Computer *c = user;
    const char *at = strstr(text, before);
    g_auto(GStrv) parts = g_strsplit(at ? at + strlen(before) : "", ")", 2);
    const double gib = parts[0] ? gib_of(parts[0]) : 0;
    (void) fits;
    g_autofree char *budget =
        gib > 0 ? g_strdup_printf(_("%.1f GiB of it are for runs"), gib) : g_strdup(text);
    gtk_label_set_text(GTK_LABEL(c->budget), budget);
    gtk_widget_show(c->budget);
    if (gib > 0)
        show_verdicts(c, gib);
}

static void on_devices(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autofree char *out = NULL, *name = NULL;
    g_autoptr(GError) error = NULL;
    double gib = 0;
    g_subprocess_communicate_utf8_finish(G_SUBPROCESS(child), result, &out, NULL, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the window is gone
    Computer *c = user;
    if (!out || !find_memory(out, c->device, &name, &gib)) {
        gtk_label_set_text(GTK_LABEL(c->memory), error ? error->message : _("No device was found"));
        return;
    }
    g_autofree char *text = g_strdup_printf(_("%s: %.1f GiB of memory"), name, gib);
    gtk_label_set_text(GTK_LABEL(c->memory), text);
}

static void ask_devices(Computer *c)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *program = nino_place_of_command();
    const char *argv[] = { program ? program : "ninodes", "devices", NULL };
    g_autoptr(GSubprocess) p = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error);
    if (!p) {
        gtk_label_set_text(GTK_LABEL(c->memory), error->message);
        return;
    }
    g_subprocess_communicate_utf8_async(p, NULL, c->cancellable, on_devices, c);
}

// ---- the window ---------------------------------------------------------------------------------

static GtkWidget *left_label(const char *text, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_widget_add_css_class(label, css);
    return label;
}

static GtkWidget *make_needs(Computer *c)
{
    GtkWidget *grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(grid), NINO_SPACE_L);
    gtk_grid_set_row_spacing(GTK_GRID(grid), NINO_SPACE_XS);
    for (int i = 0; i < (int) G_N_ELEMENTS(needs); i++) {
        g_autofree char *gib = g_strdup_printf("%.1f GiB", needs[i].gib);
        GtkWidget *need = left_label(gib, "numeric");
        gtk_label_set_xalign(GTK_LABEL(need), 1);
        c->verdict[i] = left_label("", "numeric");
        gtk_grid_attach(GTK_GRID(grid), left_label(needs[i].family, "text"), 0, i, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), left_label(_(needs[i].task), "dim-label"), 1, i, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), need, 2, i, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), c->verdict[i], 3, i, 1, 1);
    }
    return grid;
}

GtkWidget *nino_computer_window_new(GtkWindow *parent, NinoEngine *engine, const char *device)
{
    Computer *c = g_new0(Computer, 1);
    GtkWidget *window = gtk_window_new(), *named = NULL,
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_M),
              *scroll = nino_page_scroller_new(box);
    c->cancellable = g_cancellable_new();
    c->memory = left_label(_("Asking…"), "text");
    c->budget = left_label("", "text");
    gtk_widget_hide(c->budget); // until it is known
    gtk_window_set_title(GTK_WINDOW(window), _("What this computer can do"));
    gtk_window_set_default_size(GTK_WINDOW(window), 620, 640);
    gtk_window_set_transient_for(GTK_WINDOW(window), parent);
    gtk_widget_add_css_class(box, "page");
    gtk_box_append(GTK_BOX(box), left_label(_("Device"), "heading"));
    gtk_box_append(GTK_BOX(box), c->memory);
    gtk_box_append(GTK_BOX(box), c->budget);
    gtk_box_append(GTK_BOX(box), nino_measure_row_new(engine, device, &named));
    gtk_accessible_update_property(GTK_ACCESSIBLE(named), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   _("Speed"), -1);
    gtk_box_append(GTK_BOX(box), left_label(_("What fits into this memory"), "heading"));
    gtk_box_append(GTK_BOX(box), make_needs(c));
    gtk_box_append(GTK_BOX(box),
                   left_label(_("What a run needs at its peak, weights included, as planned for "
                                "gfx1151 from published shapes; quantised files need less"),
                              "dim-label"));
    gtk_window_set_child(GTK_WINDOW(window), scroll);
    g_object_set_data_full(G_OBJECT(window), "computer", c, computer_free);
    nino_focus_when_placed(named); // else the figures, which can be selected, show a cursor
    c->device = device && *device ? g_strdup(device) : NULL;
    ask_devices(c);
    nino_plan_ask(nothing, strlen(nothing), NULL, NULL, c->device, c->cancellable, on_budget, c);
    return window;
}
