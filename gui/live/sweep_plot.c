// The sweep as a plot: a group for each choice, a column for each of its values from the least time to median and
// spread, over a band of the time as the device is set now.
#include "live/sweep_plot.h"

#include <math.h>
#include <string.h>

#include "base/i18n.h"
#include "base/places.h"
#include "plot/area.h"

enum { LEFT = 74, TOP = 22, BOTTOM = 38, HEIGHT = 190, MOST = 64 };

typedef struct Point {
    char name[32];
    int value;
    double median, mad, least; // ms
    char said[160];            // of the difference to now
} Point;

typedef struct Sweep {
    NinoRun *run; // the area's
    GtkWidget *box, *area, *keep, *status;
    Point now, point[MOST]; // now: as the device is set
    int n, chosen;
    GCancellable *cancellable;
} Sweep;

static Sweep *sweep_of(GtkWidget *box) { return g_object_get_data(G_OBJECT(box), "sweep"); }

// ---- what was printed --------------------------------------------------------------------------

static double number(const GMatchInfo *m, int i)
{
    g_autofree char *text = g_match_info_fetch(m, i);
    return text ? g_ascii_strtod(text, NULL) : NAN;
}

static void sweep_read(Sweep *s, const char *printed)
{
    g_autoptr(GRegex) line = g_regex_new(
        "^(\\w+)\\s+(-?\\d+)\\s+([\\d.]+) ms, MAD ([\\d.]+), fastest ([\\d.]+)\\s+(.*)$",
        G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GRegex) first =
        g_regex_new("^median of \\d+ ([\\d.]+) ms, MAD ([\\d.]+), fastest ([\\d.]+)",
                    G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GMatchInfo) m = NULL, now = NULL;
    s->n = 0;
    s->chosen = -1;
    if (!g_regex_match(first, printed, 0, &now))
        return;
    s->now = (Point){ .median = number(now, 1), .mad = number(now, 2), .least = number(now, 3) };
    for (g_regex_match(line, printed, 0, &m); g_match_info_matches(m) && s->n < MOST;
         g_match_info_next(m, NULL)) {
        g_autofree char *name = g_match_info_fetch(m, 1), *said = g_match_info_fetch(m, 6);
        Point *p = &s->point[s->n++];
        *p = (Point){ .value = (int) number(m, 2),
                      .median = number(m, 3),
                      .mad = number(m, 4),
                      .least = number(m, 5) };
        g_strlcpy(p->name, name, sizeof(p->name));
        g_strlcpy(p->said, said, sizeof(p->said));
    }
}

// ---- drawing -----------------------------------------------------------------------------------

typedef struct Scale {
    NinoPlotBox box;
    double top;  // ms
    float width; // of a column
} Scale;

// Between two groups there is room for half a column.
static float column_x(const Sweep *s, const Scale *c, int i)
{
    int groups = 0;
    for (int k = 1; k <= i; k++)
        groups += strcmp(s->point[k].name, s->point[k - 1].name) != 0;
    return c->box.x + ((float) i + (float) groups * 0.5f) * c->width;
}

static Scale sweep_scale(const Sweep *s, float width, float height)
{
    Scale c = { .box = { LEFT, TOP, MAX(width - LEFT - 10, 1), MAX(height - TOP - BOTTOM, 1) } };
    c.top = s->now.median + s->now.mad;
    for (int i = 0; i < s->n; i++)
        c.top = MAX(c.top, s->point[i].median + s->point[i].mad);
    c.top = MAX(c.top * 1.08, 1e-6);
    c.width = 1;
    const float all = s->n ? (column_x(s, &c, s->n - 1) - c.box.x) + 1.5f : 1;
    c.width = MIN(c.box.w / all, 90);
    return c;
}

static void format_ms(char *buf, size_t size, double ms) { nino_format_ns(buf, size, ms * 1e6); }

static float time_y(const Scale *c, double ms)
{
    return c->box.y + c->box.h - (float) (ms / c->top) * c->box.h;
}

static void draw_column(const Sweep *s, NinoPlot *p, const Scale *c, int i)
{
    const Point *e = &s->point[i];
    const float x = floorf(column_x(s, c, i)), w = MAX(floorf(c->width) - 6, 3);
    const float y = floorf(time_y(c, e->median)), bottom = c->box.y + c->box.h;
    const float high = floorf(time_y(c, e->median + e->mad));
    const float low = floorf(time_y(c, MAX(e->median - e->mad, e->least)));
    const float line = nino_plot_text_height(p), mid = floorf(x + w / 2);
    char value[24];
    const gboolean is_less = e->median + e->mad < s->now.median - s->now.mad;
    nino_plot_bar(p, x, y, w, bottom - y, nino_plot_colour(is_less ? 2 : 0));
    nino_plot_bar(p, mid, high, 1, MAX(low - high, 1), &p->fg); // the spread
    nino_plot_bar(p, mid - 3, high, 7, 1, &p->fg);
    nino_plot_bar(p, mid - 3, low, 7, 1, &p->fg);
    if (i == s->chosen)
        nino_plot_frame(p, x - 2, y - 2, w + 4, bottom - y + 3, &p->fg);
    g_snprintf(value, sizeof(value), "%d", e->value);
    nino_plot_text(p, mid, bottom + 3, 0, NINO_PLOT_CENTRE, &p->fg, value);
    if (!i || strcmp(e->name, s->point[i - 1].name) != 0)
        nino_plot_text(p, x, bottom + 3 + line, 0, NINO_PLOT_LEFT, &p->dim, e->name);
}

static void sweep_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    const Sweep *s = user;
    const Scale c = sweep_scale(s, p->width, p->height);
    char took[40], text[96];
    if (!s->n)
        return;
    nino_plot_value_axis(p, &c.box, c.top, format_ms);
    const GdkRGBA band = nino_plot_alpha(nino_plot_colour(1), 0.3f);
    const float y0 = time_y(&c, s->now.median + s->now.mad);
    const float y1 = time_y(&c, MAX(s->now.median - s->now.mad, 0));
    for (int i = 0; i < s->n; i++)
        draw_column(s, p, &c, i);
    nino_plot_bar(p, c.box.x, y0, c.box.w, MAX(y1 - y0, 1), &band);
    nino_plot_bar(p, c.box.x, floorf(time_y(&c, s->now.median)), c.box.w, 1, nino_plot_colour(1));
    format_ms(took, sizeof(took), s->now.median);
    g_snprintf(text, sizeof(text), _("as the device is set now: %s"), took);
    const float x = nino_plot_legend(p, LEFT, 3, nino_plot_colour(1), text);
    nino_plot_legend(p, x, 3, nino_plot_colour(2), _("less, beyond the spread of both"));
}

// ---- choosing ----------------------------------------------------------------------------------

static Scale scale_now(const Sweep *s)
{
    return sweep_scale(s, (float) gtk_widget_get_width(s->area),
                       (float) gtk_widget_get_height(s->area));
}

static int column_at(const Sweep *s, double x)
{
    const Scale c = scale_now(s);
    for (int i = 0; i < s->n; i++) {
        const double left = (double) column_x(s, &c, i);
        if (x >= left && x < left + (double) c.width)
            return i;
    }
    return -1;
}

static void sweep_choose(Sweep *s, int i)
{
    char took[40];
    s->chosen = i;
    gtk_widget_set_sensitive(s->keep, i >= 0);
    if (i >= 0) {
        const Point *e = &s->point[i];
        format_ms(took, sizeof(took), e->median);
        g_autofree char *text = g_strdup_printf("%s %d: %s, %s", e->name, e->value, took, e->said);
        gtk_label_set_text(GTK_LABEL(s->status), text);
    }
    gtk_widget_queue_draw(s->area);
}

static gboolean sweep_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) area, (void) y;
    const Sweep *s = user;
    const int i = column_at(s, x);
    char median[40], mad[40], least[40];
    if (i < 0)
        return FALSE;
    const Point *e = &s->point[i];
    format_ms(median, sizeof(median), e->median);
    format_ms(mad, sizeof(mad), e->mad);
    format_ms(least, sizeof(least), e->least);
    g_autofree char *said = g_markup_escape_text(e->said, -1);
    g_string_append_printf(text, _("<b>%s %d</b>: median %s, MAD %s, fastest %s\n%s"), e->name,
                           e->value, median, mad, least, said);
    return TRUE;
}

static gboolean sweep_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    (void) area;
    const Sweep *s = user;
    const Scale c = scale_now(s);
    if (i < 0 || i >= s->n)
        return FALSE;
    *x = (double) (column_x(s, &c, i) + c.width / 2 - 3);
    *y = (double) time_y(&c, s->point[i].median);
    return TRUE;
}

static gboolean sweep_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    (void) area, (void) y, (void) n_press;
    const int i = column_at(user, x);
    if (i >= 0)
        sweep_choose(user, i);
    return i >= 0;
}

// ---- keeping -----------------------------------------------------------------------------------

static void on_kept(GObject *child, GAsyncResult *result, gpointer user)
{
    g_autofree char *out = NULL, *said = NULL;
    g_autoptr(GError) error = NULL;
    g_subprocess_communicate_utf8_finish(G_SUBPROCESS(child), result, &out, &said, &error);
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return; // the plot is gone
    Sweep *s = user;
    const gboolean ok = !error && g_subprocess_get_successful(G_SUBPROCESS(child));
    g_autofree char *text =
        ok ? g_strdup_printf(_("%s %d is kept for this device; runs of a worker that starts from "
                               "now on use it"),
                             s->point[s->chosen].name, s->point[s->chosen].value)
           : g_strstrip(g_strdup(error  ? error->message
                                 : said ? said
                                        : ""));
    gtk_label_set_text(GTK_LABEL(s->status), text);
    gtk_widget_set_sensitive(s->keep, TRUE);
}

static void on_sweep_keep(GtkButton *b, Sweep *s)
{
    (void) b;
    g_autoptr(GError) error = NULL;
    g_autofree char *program = nino_place_of_command();
    const char *device = nino_run_device(s->run);
    if (s->chosen < 0)
        return;
    g_autofree char *choice =
        g_strdup_printf("%s=%d", s->point[s->chosen].name, s->point[s->chosen].value);
    const char *argv[] = { program ? program : "ninodes", "tune", "-q", "--keep", choice,
                           device ? "--device" : NULL,    device, NULL };
    g_autoptr(GSubprocess) child = g_subprocess_newv(
        argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    if (!child) {
        gtk_label_set_text(GTK_LABEL(s->status), error->message);
        return;
    }
    gtk_widget_set_sensitive(s->keep, FALSE);
    g_subprocess_communicate_utf8_async(child, NULL, s->cancellable, on_kept, s);
}

// ---- widget ------------------------------------------------------------------------------------

static void sweep_free(gpointer user)
{
    Sweep *s = user;
    g_cancellable_cancel(s->cancellable);
    g_object_unref(s->cancellable);
    g_free(s);
}

void nino_sweep_plot_set(GtkWidget *plot, const char *printed)
{
    Sweep *s = sweep_of(plot);
    sweep_read(s, printed);
    gtk_widget_set_visible(plot, s->n > 0);
    gtk_label_set_text(GTK_LABEL(s->status), _("Choose a column to keep its value"));
    sweep_choose(s, -1);
}

GtkWidget *nino_sweep_plot_new(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Sweep"),
                                       .draw = sweep_draw,
                                       .tip = sweep_tip,
                                       .item = sweep_item,
                                       .click = sweep_click,
                                       .draws_itself = TRUE,
                                       .min_width = 240,
                                       .min_height = HEIGHT };
    Sweep *s = g_new0(Sweep, 1);
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    s->run = run;
    s->chosen = -1;
    s->cancellable = g_cancellable_new();
    s->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    s->area = nino_area_new(run, &type, s, NULL);
    gtk_widget_set_vexpand(s->area, FALSE);
    s->keep = gtk_button_new_with_label(_("Keep this"));
    gtk_widget_set_tooltip_text(s->keep, _("Writes the chosen value to the tuning of this device"));
    gtk_widget_set_sensitive(s->keep, FALSE);
    g_signal_connect(s->keep, "clicked", G_CALLBACK(on_sweep_keep), s);
    s->status = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(s->status), TRUE);
    gtk_label_set_xalign(GTK_LABEL(s->status), 0);
    gtk_widget_add_css_class(s->status, "dim-label");
    gtk_widget_add_css_class(bar, "strip");
    gtk_box_append(GTK_BOX(bar), s->keep);
    gtk_box_append(GTK_BOX(bar), s->status);
    gtk_box_append(GTK_BOX(s->box), s->area);
    gtk_box_append(GTK_BOX(s->box), bar);
    g_object_set_data_full(G_OBJECT(s->box), "sweep", s, sweep_free);
    gtk_widget_hide(s->box);
    return s->box;
}
