// The roofline: what every kernel of the selected range reached against the ceilings of the device,
// measured where it was measured, with the gfx1151 profile as an overlay; over the arithmetic per
// byte that must move, or per byte that its work-groups request.
#include "live/roofline_priv.h"

#include "base/i18n.h"
#include "base/tokens.h"
#include "plot/view.h"

#include <math.h>

// What a choice of the axis counts.
static const struct {
    const char *id, *name, *tip;
} axes[ROOFLINE_AXES] = {
    { "least", N_("Per byte that must move"),
      N_("arithmetic of the op for every byte that it must move at least, each operand once: what "
         "memory has to give when nothing is read twice") },
    { "requested", N_("Per byte that work-groups request"),
      N_("arithmetic of the op for every byte that the kernel's work-groups load and store, as it "
         "is cut for this device: an operand counts as often as they fill their tiles with it, or "
         "go over it; caches serve what they request again. Not known of some kernels") },
};

// ---- data --------------------------------------------------------------------------------------

const char nino_roofline_overlay[] = "gfx1151";

gboolean nino_roofline_is_known(const Roofline *r, const nino_op_stat *o)
{
    return r->axis == ROOFLINE_LEAST || o->requested > 0;
}

double nino_roofline_intensity(const Roofline *r, const nino_op_stat *o)
{
    const gboolean is_requested = r->axis == ROOFLINE_REQUESTED && nino_roofline_is_known(r, o);
    return o->flops / (is_requested ? o->requested : o->bytes);
}

#define BESIDE 0.2 // decades: a square at the first or last mark has room for all of itself

static void roofline_widen(double *lo, double *hi, double v)
{
    if (v > 0 && isfinite(v)) {
        *lo = MIN(*lo, floor(log10(v)));
        *hi = MAX(*hi, ceil(log10(v)));
    }
}

double nino_roofline_cache(const nino_ceilings *c)
{
    double best = 0;
    for (size_t i = 0; i < c->n_points; i++)
        best = MAX(best, MAX(c->point[i].copy, c->point[i].read));
    return best;
}

void nino_roofline_update(Roofline *r)
{
    nino_op_stat all[ROOFLINE_OPS];
    const nino_stats *s = nino_run_stats(r->run);
    const size_t n = s ? MIN(nino_stats_ops(s, all, ROOFLINE_OPS), ROOFLINE_OPS) : 0;
    r->n = r->n_unknown = 0;
    r->total_ns = 0;
    r->lo_x = -1;
    r->hi_x = 3;
    r->lo_y = 10; // of FLOP/s
    r->hi_y = 11;
    for (size_t i = 0; i < n; i++)
        if (all[i].flops > 0 && all[i].bytes > 0 && all[i].total_ns) {
            r->op[r->n++] = all[i];
            r->total_ns += all[i].total_ns;
            r->n_unknown += !nino_roofline_is_known(r, &all[i]);
            roofline_widen(&r->lo_x, &r->hi_x, nino_roofline_intensity(r, &all[i]));
            roofline_widen(&r->lo_y, &r->hi_y, all[i].gflops * 1e9);
            roofline_widen(&r->lo_y, &r->hi_y,
                           all[i].gflops * 0.5e9); // for the names of the lowest
        }
    const nino_ceilings *c = nino_run_ceilings(r->run);
    r->has_ceilings = c != NULL;
    if (c) {
        r->c = *c;
        roofline_widen(&r->lo_y, &r->hi_y, r->c.flops_f32 * 1.2);
        roofline_widen(&r->lo_y, &r->hi_y, r->c.flops_f16 * 1.2);
    }
    if (r->has_overlay)
        roofline_widen(&r->lo_y, &r->hi_y, r->overlay.flops_f16 * 1.2);
    r->hi_y += 0.6; // for the names of the highest ones
    r->lo_y = MAX(r->lo_y, floor(r->hi_y) - 7);
    r->lo_x = MAX(r->lo_x, -3) - BESIDE;
    r->hi_x += BESIDE;
}

// Of the limit, 0 to 1. A kernel that is faster than it has shown that it was measured too low: the
// run raises it (core/op/ceilings.h) when it ends.
static double share_of(const nino_op_stat *o, double most)
{
    return MIN(o->gflops * 1e9 / most, 1);
}

// What bounds a kernel, and at how many FLOP/s; 0: not known. What must move comes from memory at
// best once; what is requested comes from caches at best. f16 where its storage is short and the
// device computes faster in it is not told apart: the higher ceiling is shown as a line.
typedef enum Limit { LIMIT_ARITHMETIC, LIMIT_MEMORY, LIMIT_CACHE } Limit;

static double bound(const Roofline *r, const nino_op_stat *o, Limit *limit)
{
    const nino_ceilings *c = &r->c;
    const gboolean is_requested = r->axis == ROOFLINE_REQUESTED && nino_roofline_is_known(r, o);
    if (!r->has_ceilings || c->bandwidth <= 0 || c->flops_f32 <= 0)
        return 0;
    // What must move is a working set, which caches may hold.
    const double set = nino_ceilings_bandwidth(c, (uint64_t) (o->bytes / (double) o->calls));
    const double rate =
        is_requested ? MAX(nino_roofline_cache(c), c->bandwidth) : MAX(set, c->bandwidth);
    const gboolean is_cache = rate > 1.2 * c->bandwidth;
    const double most = rate * nino_roofline_intensity(r, o),
                 peak = MAX(c->flops_f32, c->flops_f16);
    // A data sheet tells of memory alone: what was faster had its data in caches.
    const gboolean is_beyond = !c->n_points && o->gflops * 1e9 > most;
    *limit = most >= peak || is_beyond ? LIMIT_ARITHMETIC : is_cache ? LIMIT_CACHE : LIMIT_MEMORY;
    return *limit == LIMIT_ARITHMETIC ? peak : most;
}

// ---- pointer and keys --------------------------------------------------------------------------

static NinoPlotBox box_in(NinoArea *area)
{
    GtkWidget *w = GTK_WIDGET(area);
    return nino_roofline_box((float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w),
                             nino_area_line(area));
}

static gboolean roofline_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    Roofline *r = user;
    const NinoPlotBox b = box_in(area);
    nino_roofline_update(r);
    if ((size_t) i >= r->n)
        return FALSE;
    *x = (double) nino_roofline_x(r, &b, nino_roofline_intensity(r, &r->op[i]));
    *y = (double) nino_roofline_y(r, &b, r->op[i].gflops * 1e9);
    return TRUE;
}

static const char *const limits[] = { N_("arithmetic"), N_("memory bandwidth"),
                                      N_("cache bandwidth") };

static const nino_op_stat *roofline_at(NinoArea *area, Roofline *r, double x, double y)
{
    const NinoPlotBox b = box_in(area);
    const nino_op_stat *best = NULL;
    double least = 12;
    for (size_t i = 0; i < r->n; i++) {
        const double dx =
            x - (double) nino_roofline_x(r, &b, nino_roofline_intensity(r, &r->op[i]));
        const double dy = y - (double) nino_roofline_y(r, &b, r->op[i].gflops * 1e9);
        const double d = hypot(dx, dy) - (double) nino_roofline_side(r, &r->op[i]) / 2;
        if (d < least) {
            least = d;
            best = &r->op[i];
        }
    }
    return best;
}

static void add_intensities(const nino_op_stat *o, GString *text)
{
    g_string_append_printf(text, _("\n%.2f FLOP per byte that must move"), o->flops / o->bytes);
    if (!(o->requested > 0))
        g_string_append(text, _("; what its work-groups request is not known"));
    else if (fabs(o->requested / o->bytes - 1) < 1e-3)
        g_string_append(text, _("; its work-groups request the same"));
    else
        g_string_append_printf(text, _("; %.2f per byte that its work-groups request"),
                               o->flops / o->requested);
}

static gboolean roofline_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    Roofline *r = user;
    const nino_op_stat *o = roofline_at(area, r, x, y);
    char took[32], speed[32], top[32];
    const NinoPlotBox b = box_in(area);
    if (!o && x >= (double) b.x && y <= (double) (b.y + b.h))
        return FALSE;
    if (!o) {
        g_string_append(text,
                        _("Each square is a kernel, its area the time it took. Kernels under a "
                          "slope can be limited by that bandwidth, those under a level by "
                          "arithmetic. <b>FLOP per byte</b>: "));
        g_string_append(text, _(axes[r->axis].tip));
        return TRUE;
    }
    nino_format_ns(took, sizeof(took), (double) o->total_ns);
    nino_roofline_format(speed, sizeof(speed), o->gflops * 1e9);
    g_string_append_printf(text, _("<b>%s</b> (%s), %llu calls, %s\n%s, %.1f GB/s that must move"),
                           o->name, o->family, (unsigned long long) o->calls, took, speed, o->gbps);
    add_intensities(o, text);
    Limit limit;
    const double most = bound(r, o, &limit);
    if (most <= 0)
        return TRUE;
    nino_roofline_format(top, sizeof(top), most);
    g_string_append_printf(text,
                           r->c.measured_at
                               ? _("\nlimit: %s, %s as measured; it reached %.0f %%")
                               : _("\nlimit: %s, %s by the data sheet; it reached %.0f %%"),
                           _(limits[limit]), top, 100 * share_of(o, most));
    return TRUE;
}

static gboolean roofline_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    Roofline *r = user;
    const nino_op_stat *o = roofline_at(area, r, x, y);
    if (!o || n_press != 1)
        return FALSE;
    nino_run_set_kernel(r->run, nino_history_find(nino_run_history(r->run), o->name));
    gtk_widget_queue_draw(r->area);
    return TRUE;
}

static gboolean roofline_key(NinoArea *area, guint keyval, GdkModifierType mods, gpointer user)
{
    (void) area;
    Roofline *r = user;
    if ((keyval != GDK_KEY_g && keyval != GDK_KEY_G) || (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK)))
        return FALSE;
    r->has_overlay = !r->has_overlay && r->overlay.bandwidth > 0;
    gtk_widget_queue_draw(r->area);
    return TRUE;
}

// ---- widget ------------------------------------------------------------------------------------

static Roofline *roofline_of(GtkWidget *view)
{
    return g_object_get_data(G_OBJECT(view), "roofline");
}

static void roofline_export_draw(GtkWidget *view, cairo_t *cr, double w, double h, gboolean is_dark)
{
    nino_area_export(roofline_of(view)->area, cr, w, h, is_dark);
}

static void roofline_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    static const char *const limit_ids[] = { "arithmetic", "memory", "cache" };
    Roofline *r = roofline_of(view);
    nino_roofline_update(r);
    for (size_t i = 0; i < r->n; i++) {
        const nino_op_stat *o = &r->op[i];
        Limit limit = LIMIT_ARITHMETIC;
        const double most = bound(r, o, &limit);
        const NinoCell cells[] = {
            { "kernel", o->name, 0 },
            { "family", o->family, 0 },
            { "calls", NULL, (double) o->calls },
            { "total_ms", NULL, (double) o->total_ns * 1e-6 },
            { "flop_per_byte", NULL, o->flops / o->bytes },
            { "flop_per_requested_byte", NULL, o->requested > 0 ? o->flops / o->requested : NAN },
            { "gflops", NULL, o->gflops },
            { "gbps", NULL, o->gbps },
            { "axis", nino_roofline_is_known(r, o) ? axes[r->axis].id : axes[ROOFLINE_LEAST].id,
              0 },
            { "limit", most > 0 ? limit_ids[limit] : "", 0 },
            { "share_of_limit", NULL, most > 0 ? share_of(o, most) : NAN },
            { "limit_of", nino_run_peak_of(r->run), 0 },
        };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void on_axis(GtkToggleButton *choice, Roofline *r)
{
    if (!gtk_toggle_button_get_active(choice))
        return;
    r->axis = (RooflineAxis) GPOINTER_TO_INT(g_object_get_data(G_OBJECT(choice), "axis"));
    gtk_widget_queue_draw(r->area);
}

static GtkWidget *roofline_make_bar(Roofline *r)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M), *first = NULL;
    GtkWidget *both = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(both, "linked");
    gtk_widget_set_margin_start(bar, NINO_SPACE_S);
    gtk_widget_set_margin_top(bar, NINO_SPACE_S);
    gtk_box_append(GTK_BOX(bar), gtk_label_new(_("Arithmetic intensity")));
    gtk_box_append(GTK_BOX(bar), both);
    for (int i = 0; i < ROOFLINE_AXES; i++) {
        GtkWidget *choice = gtk_toggle_button_new_with_label(_(axes[i].name));
        g_object_set_data(G_OBJECT(choice), "axis", GINT_TO_POINTER(i));
        gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(choice), GTK_TOGGLE_BUTTON(first));
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(choice), i == (int) r->axis);
        gtk_widget_set_tooltip_text(choice, _(axes[i].tip));
        g_signal_connect(choice, "toggled", G_CALLBACK(on_axis), r);
        gtk_box_append(GTK_BOX(both), choice);
        r->choice[i] = choice;
        first = first ? first : choice;
    }
    return bar;
}

static GtkWidget *new_roofline(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Roofline"),
                                       .draw = nino_roofline_draw,
                                       .tip = roofline_tip,
                                       .item = roofline_item,
                                       .click = roofline_click,
                                       .key = roofline_key,
                                       .min_width = 360,
                                       .min_height = 240 };
    static const NinoViewExport x = { .draw = roofline_export_draw, .rows = roofline_export_rows };
    Roofline *r = g_new0(Roofline, 1);
    r->run = run;
    r->has_overlay = nino_ceilings_of_profile(nino_roofline_overlay, &r->overlay, NULL) == NINO_OK;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), roofline_make_bar(r));
    r->area = nino_area_new(run, &type, r, NULL);
    gtk_box_append(GTK_BOX(box), r->area);
    g_object_set_data_full(G_OBJECT(box), "roofline", r, g_free);
    nino_view_set_export(box, &x);
    return box;
}

static char *roofline_save(GtkWidget *view) { return g_strdup(axes[roofline_of(view)->axis].id); }

static void roofline_restore(GtkWidget *view, const char *text)
{
    const Roofline *r = roofline_of(view);
    for (int i = 0; i < ROOFLINE_AXES; i++)
        if (i == 0 || !strcmp(axes[i].id, text))
            gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(r->choice[i]), TRUE);
}

const NinoViewType nino_view_roofline = {
    .id = "roofline",
    .title = N_("Roofline"),
    .help = N_("What kernels reach against the ceilings of the device"),
    .create = new_roofline,
    .save = roofline_save,
    .restore = roofline_restore,
};
