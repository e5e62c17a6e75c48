// Stacked busy-time plot: fixed bins in time, colours by op family, totals in the legend.
// Bars are axis-aligned colour nodes: on a software renderer that is 5-10 times cheaper than
// strokes.
#include "live/family_plot.h"

#include <math.h>

#define MAX_FAMILIES 8 // the last one collects the rest
#define REDRAW_MS 100
#define FIRST_BIN_NS 20000000ull // 20 ms; doubles when the run outgrows the plot
#define MAX_BINS 1024
#define LEGEND_ROW 18

typedef struct Family {
    char name[24];
    double seconds;
} Family;

struct _NinoFamilyPlot {
    GtkWidget parent;
    Family family[MAX_FAMILIES];
    int n_families;
    double *bin; // [MAX_BINS][MAX_FAMILIES] busy nanoseconds
    int n_bins;
    uint64_t origin_ns, bin_ns;
    guint timer;
    gboolean dirty;
};

G_DEFINE_TYPE(NinoFamilyPlot, nino_family_plot, GTK_TYPE_WIDGET)

// Okabe-Ito: distinguishable with every common colour blindness, on light and dark.
static const GdkRGBA colours[MAX_FAMILIES] = {
    { 0.00f, 0.45f, 0.70f, 1 }, { 0.90f, 0.62f, 0.00f, 1 }, { 0.00f, 0.62f, 0.45f, 1 },
    { 0.84f, 0.37f, 0.00f, 1 }, { 0.34f, 0.71f, 0.91f, 1 }, { 0.80f, 0.47f, 0.65f, 1 },
    { 0.94f, 0.89f, 0.26f, 1 }, { 0.55f, 0.55f, 0.55f, 1 },
};

static int family_index(NinoFamilyPlot *p, const char *name)
{
    for (int i = 0; i < p->n_families; i++)
        if (!g_strcmp0(p->family[i].name, name))
            return i;
    if (p->n_families == MAX_FAMILIES) {
        g_strlcpy(p->family[MAX_FAMILIES - 1].name, "other", sizeof(p->family[0].name));
        return MAX_FAMILIES - 1;
    }
    g_strlcpy(p->family[p->n_families].name, *name ? name : "other", sizeof(p->family[0].name));
    return p->n_families++;
}

// Twice as long a time axis: neighbouring bins merge.
static void double_bins(NinoFamilyPlot *p)
{
    for (int i = 0; i < MAX_BINS / 2; i++)
        for (int f = 0; f < MAX_FAMILIES; f++)
            p->bin[i * MAX_FAMILIES + f] =
                p->bin[2 * i * MAX_FAMILIES + f] + p->bin[(2 * i + 1) * MAX_FAMILIES + f];
    memset(p->bin + MAX_BINS / 2 * MAX_FAMILIES, 0, MAX_BINS / 2 * MAX_FAMILIES * sizeof(*p->bin));
    p->bin_ns *= 2;
    p->n_bins = (p->n_bins + 1) / 2;
}

void nino_family_plot_add(NinoFamilyPlot *p, const char *family, uint64_t start_ns, uint64_t dur_ns)
{
    if (!p->origin_ns)
        p->origin_ns = start_ns;
    if (start_ns < p->origin_ns || dur_ns == 0)
        return;
    const int f = family_index(p, family);
    p->family[f].seconds += (double) dur_ns * 1e-9;
    uint64_t from = start_ns - p->origin_ns;
    const uint64_t to = from + dur_ns;
    while (to / p->bin_ns >= MAX_BINS)
        double_bins(p);
    while (from < to) { // a long kernel fills several bins
        const uint64_t b = from / p->bin_ns, end = MIN(to, (b + 1) * p->bin_ns);
        p->bin[b * MAX_FAMILIES + (uint64_t) f] += (double) (end - from);
        p->n_bins = MAX(p->n_bins, (int) b + 1);
        from = end;
    }
    p->dirty = TRUE;
}

static void draw_text(GtkWidget *w, GtkSnapshot *s, float x, float y, const char *text,
                      const GdkRGBA *c)
{
    PangoLayout *l = gtk_widget_create_pango_layout(w, text);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT(x, y));
    gtk_snapshot_append_layout(s, l, c);
    gtk_snapshot_restore(s);
    g_object_unref(l);
}

static void draw_axes(GtkWidget *w, GtkSnapshot *s, const graphene_rect_t *area, double seconds,
                      const GdkRGBA *fg)
{
    GdkRGBA faint = *fg;
    faint.alpha = 0.15f;
    for (int i = 0; i <= 2; i++) { // 100 %, 50 %, 0 %
        const float y = area->origin.y + area->size.height * (float) i / 2;
        gtk_snapshot_append_color(
            s, &faint, &GRAPHENE_RECT_INIT(area->origin.x, floorf(y), area->size.width, 1));
        char label[16];
        g_snprintf(label, sizeof(label), "%d %%", 100 - 50 * i);
        draw_text(w, s, 4, y - 8, label, fg);
    }
    char end[32];
    g_snprintf(end, sizeof(end), seconds < 1 ? "%.2f s" : "%.1f s", seconds);
    draw_text(w, s, area->origin.x + area->size.width - 48, area->origin.y + area->size.height + 2,
              end, fg);
    draw_text(w, s, area->origin.x, area->origin.y + area->size.height + 2, "0 s", fg);
}

static void draw_legend(NinoFamilyPlot *p, GtkSnapshot *s, float x, float width, const GdkRGBA *fg)
{
    double total = 0;
    for (int f = 0; f < p->n_families; f++)
        total += p->family[f].seconds;
    const float step = width / MAX(1, MIN(p->n_families, 4));
    for (int f = 0; f < p->n_families; f++) {
        const float lx = x + step * (float) (f % 4), ly = (float) (f / 4) * LEGEND_ROW;
        gtk_snapshot_append_color(s, &colours[f], &GRAPHENE_RECT_INIT(lx, ly + 4, 10, 10));
        char text[80];
        g_snprintf(text, sizeof(text), "%s %.2f s (%.0f %%)", p->family[f].name,
                   p->family[f].seconds, total > 0 ? 100 * p->family[f].seconds / total : 0);
        draw_text(GTK_WIDGET(p), s, lx + 14, ly, text, fg);
    }
}

static void snapshot(GtkWidget *w, GtkSnapshot *s)
{
    NinoFamilyPlot *p = NINO_FAMILY_PLOT(w);
    const float width = (float) gtk_widget_get_width(w), height = (float) gtk_widget_get_height(w);
    const float top = p->n_families > 4 ? 2 * LEGEND_ROW + 8 : LEGEND_ROW + 8;
    if (width < 120 || height < top + 60)
        return;
    GdkRGBA fg;
    gtk_style_context_get_color(gtk_widget_get_style_context(w), &fg);
    const graphene_rect_t area = GRAPHENE_RECT_INIT(48, top, width - 56, height - top - 22);
    const int shown = MAX(p->n_bins, 50);
    draw_axes(w, s, &area, (double) shown * (double) p->bin_ns * 1e-9, &fg);
    draw_legend(p, s, area.origin.x, area.size.width, &fg);
    if (!p->n_bins) {
        draw_text(w, s, area.origin.x + 12, area.origin.y + area.size.height / 2 - 9,
                  "Kernel time by op family appears here while a workflow runs", &fg);
        return;
    }
    const double bar = (double) area.size.width / shown;
    for (int b = 0; b < p->n_bins; b++) {
        // whole pixels: neighbouring bars neither overlap nor leave gaps
        const float x0 = floorf(area.origin.x + (float) (bar * b));
        const float x1 = floorf(area.origin.x + (float) (bar * (b + 1)));
        float y = area.origin.y + area.size.height;
        for (int f = 0; f < p->n_families; f++) {
            const double share = p->bin[b * MAX_FAMILIES + f] / (double) p->bin_ns;
            const float h = (float) MIN(share, 1.0) * area.size.height;
            if (h <= 0)
                continue;
            y = MAX(y - h, area.origin.y);
            gtk_snapshot_append_color(s, &colours[f],
                                      &GRAPHENE_RECT_INIT(x0, y, MAX(x1 - x0, 1), h));
        }
    }
}

static gboolean on_timer(gpointer user)
{
    NinoFamilyPlot *p = user;
    if (p->dirty) {
        p->dirty = FALSE;
        gtk_widget_queue_draw(GTK_WIDGET(p));
    }
    return G_SOURCE_CONTINUE;
}

void nino_family_plot_set_live(NinoFamilyPlot *p, gboolean live)
{
    if (live && !p->timer)
        p->timer = g_timeout_add(REDRAW_MS, on_timer, p);
    if (!live) {
        g_clear_handle_id(&p->timer, g_source_remove);
        gtk_widget_queue_draw(GTK_WIDGET(p));
    }
}

void nino_family_plot_clear(NinoFamilyPlot *p)
{
    memset(p->bin, 0, MAX_BINS * MAX_FAMILIES * sizeof(*p->bin));
    p->n_families = p->n_bins = 0;
    p->origin_ns = 0;
    p->bin_ns = FIRST_BIN_NS;
    memset(p->family, 0, sizeof(p->family));
    gtk_widget_queue_draw(GTK_WIDGET(p));
}

char *nino_family_plot_summary(NinoFamilyPlot *p)
{
    GString *text = g_string_new(NULL);
    for (int f = 0; f < p->n_families; f++)
        g_string_append_printf(text, "%s%s %.3f s", f ? ", " : "", p->family[f].name,
                               p->family[f].seconds);
    return g_string_free(text, FALSE);
}

static void measure(GtkWidget *w, GtkOrientation orientation, int for_size, int *minimum,
                    int *natural, int *minimum_baseline, int *natural_baseline)
{
    (void) w, (void) for_size;
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 110;
    *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : 180;
    *minimum_baseline = *natural_baseline = -1;
}

static void dispose(GObject *o)
{
    NinoFamilyPlot *p = NINO_FAMILY_PLOT(o);
    g_clear_handle_id(&p->timer, g_source_remove);
    G_OBJECT_CLASS(nino_family_plot_parent_class)->dispose(o);
}

static void finalize(GObject *o)
{
    g_free(NINO_FAMILY_PLOT(o)->bin);
    G_OBJECT_CLASS(nino_family_plot_parent_class)->finalize(o);
}

static void nino_family_plot_class_init(NinoFamilyPlotClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = dispose;
    G_OBJECT_CLASS(klass)->finalize = finalize;
    GTK_WIDGET_CLASS(klass)->snapshot = snapshot;
    GTK_WIDGET_CLASS(klass)->measure = measure;
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "familyplot");
}

static void nino_family_plot_init(NinoFamilyPlot *p)
{
    p->bin = g_new0(double, MAX_BINS *MAX_FAMILIES);
    p->bin_ns = FIRST_BIN_NS;
    gtk_accessible_update_property(GTK_ACCESSIBLE(p), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Kernel time by op family", -1);
}

GtkWidget *nino_family_plot_new(void) { return g_object_new(NINO_TYPE_FAMILY_PLOT, NULL); }
