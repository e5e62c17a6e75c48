// Where the time of the selected range went, by call path: an icicle (the whole on top, parts
// below), of the time on the device or of the wall time of the scopes. A click makes a part the
// whole; Backspace goes back up.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/area.h"
#include "plot/pick_menu.h"

#include <math.h>

enum { ROW = 21, LEGEND = 22, UPDATE_MS = 500 };

typedef struct Flame {
    NinoRun *run; // the widgets hold it
    GtkWidget *area, *device, *scope;
    nino_flame *node;
    double *from; // of each node: where it begins, as a share of its root
    size_t n;
    uint64_t total;
    int32_t root, focus; // -1: all; none
    gint64 updated;
    double *taken; // scratch: what the children of a node have used so far
} Flame;

// ---- data --------------------------------------------------------------------------------------

static void flame_forget(Flame *f)
{
    g_clear_pointer(&f->node, free);
    g_clear_pointer(&f->from, g_free);
    g_clear_pointer(&f->taken, g_free);
    f->n = 0;
    f->total = 0;
    f->root = f->focus = -1;
}

// Nodes keep their place from one update to the next if their path is the same.
static int32_t same_node(const Flame *f, const nino_flame *old, int32_t i)
{
    if (i < 0)
        return -1;
    const int32_t parent = same_node(f, old, old[i].parent);
    if (old[i].parent >= 0 && parent < 0)
        return -1;
    for (size_t k = 0; k < f->n; k++)
        if (f->node[k].parent == parent && f->node[k].name == old[i].name &&
            f->node[k].kind == old[i].kind && f->node[k].family == old[i].family)
            return (int32_t) k;
    return -1;
}

static void flame_place(Flame *f)
{
    double roots = 0;
    f->total = 0;
    f->from = g_new(double, f->n + 1);
    f->taken = g_new0(double, f->n + 1);
    for (size_t i = 0; i < f->n; i++)
        f->total += f->node[i].parent < 0 ? f->node[i].ns : 0;
    for (size_t i = 0; i < f->n; i++) {
        const int32_t up = f->node[i].parent;
        double *next = up < 0 ? &roots : &f->taken[up];
        f->from[i] = (up < 0 ? 0 : f->from[up]) + *next;
        *next += (double) f->node[i].ns;
    }
}

static void show_scope(Flame *f, gboolean is_part)
{
    char ns[40];
    nino_format_ns(ns, sizeof(ns), (double) f->total);
    g_autofree char *text =
        f->n ? g_strdup_printf("%s, %s", is_part ? _("Selected range") : _("Whole run"), ns)
             : g_strdup("");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(f->scope)), text) != 0)
        gtk_label_set_text(GTK_LABEL(f->scope), text);
}

static void flame_update(NinoArea *area)
{
    Flame *f = nino_area_user(area);
    guint64 t0, t1;
    if (!gtk_widget_get_mapped(GTK_WIDGET(area)))
        return;
    nino_run_draw_begin(f->run);
    const gboolean is_part = nino_run_range(f->run, &t0, &t1);
    nino_flame *old = f->node;
    const int32_t root = f->root, focus = f->focus;
    f->node = NULL;
    flame_forget(f);
    const gboolean on_device = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(f->device));
    if (!nino_history_flame(nino_run_history(f->run), t0, t1, on_device, &f->node, &f->n, NULL)) {
        flame_place(f);
        f->root = same_node(f, old, root);
        f->focus = same_node(f, old, focus);
    }
    free(old);
    show_scope(f, is_part);
    f->updated = g_get_monotonic_time();
    gtk_widget_queue_draw(GTK_WIDGET(area));
    nino_run_draw_end(f->run);
}

static void on_flame_changed(NinoArea *area)
{
    Flame *f = nino_area_user(area);
    if (!nino_run_is_live(f->run) ||
        g_get_monotonic_time() - f->updated >= UPDATE_MS * (gint64) 1000)
        flame_update(area);
}

static void on_flame_cleared(NinoArea *area)
{
    Flame *f = nino_area_user(area);
    flame_forget(f);
    show_scope(f, FALSE);
    gtk_widget_queue_draw(GTK_WIDGET(area));
}

// ---- drawing -----------------------------------------------------------------------------------

static gboolean is_flame_inside(const Flame *f, int32_t i)
{
    while (i >= 0 && i != f->root)
        i = f->node[i].parent;
    return i == f->root;
}

// Where a node is drawn; FALSE: nowhere. Ancestors of the root span the width.
static gboolean flame_box_of(const Flame *f, int32_t i, float width, NinoPlotBox *box)
{
    const double from = f->root < 0 ? 0 : f->from[f->root];
    const double all = f->root < 0 ? (double) f->total : (double) f->node[f->root].ns;
    const double scale = all > 0 ? ((double) width - 8) / all : 0;
    box->y = LEGEND + (float) f->node[i].depth * ROW;
    box->h = ROW - 1;
    int32_t up = f->root;
    while (up >= 0 && up != i)
        up = f->node[up].parent;
    if (f->root >= 0 && up == i) {
        box->x = 4;
        box->w = width - 8;
        return TRUE;
    }
    if (!is_flame_inside(f, i))
        return FALSE;
    box->x = floorf(4 + (float) ((f->from[i] - from) * scale));
    box->w = floorf(4 + (float) ((f->from[i] - from + (double) f->node[i].ns) * scale)) - box->x;
    return box->w >= 1;
}

// Which colour a node has.
static size_t colour_of(const Flame *f, const nino_flame *n)
{
    const char *names[NINO_HISTORY_FAMILIES];
    if (n->kind <= NINO_EV_TILE)
        return nino_plot_scope(n->kind, nino_run_name(f->run, n->name));
    const size_t k = nino_history_families(nino_run_history(f->run), names, NINO_HISTORY_FAMILIES);
    return nino_plot_family(n->family < k ? names[n->family] : NULL);
}

static const char *flame_name(const Flame *f, int32_t i)
{
    return nino_run_title(f->run, nino_run_name(f->run, f->node[i].name));
}

static void flame_draw_legend(NinoPlot *p, const gboolean *seen)
{
    float x = 6;
    for (size_t i = NINO_PLOT_SERIES; i < NINO_PLOT_COLOURS; i++)
        if (seen[i])
            x = nino_plot_legend(p, x, 2, nino_plot_colour(i), nino_plot_kind_name(i));
}

static void flame_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    Flame *f = user;
    NinoPlotBox b;
    gboolean seen[NINO_PLOT_COLOURS] = { FALSE };
    if (!f->n) {
        nino_plot_empty(p, _("Where the time of the run goes appears here"));
        return;
    }
    for (size_t i = 0; i < f->n; i++) {
        if (!flame_box_of(f, (int32_t) i, p->width, &b))
            continue;
        const size_t kind = colour_of(f, &f->node[i]);
        const GdkRGBA c = *nino_plot_colour(kind), ink = nino_plot_ink(&c);
        seen[kind] = TRUE;
        nino_plot_bar(p, b.x, b.y, MAX(b.w - 1, 1), b.h, &c);
        if ((int32_t) i == f->focus)
            nino_plot_frame(p, b.x, b.y, MAX(b.w - 1, 1), b.h, &p->fg);
        if (b.w < 30)
            continue;
        char ns[40], text[128];
        nino_format_ns(ns, sizeof(ns), (double) f->node[i].ns);
        g_snprintf(text, sizeof(text), "%s  %s  %.0f %%", flame_name(f, (int32_t) i), ns,
                   100 * (double) f->node[i].ns / (double) f->total);
        nino_plot_text(p, b.x + 4, b.y + floorf((b.h - nino_plot_text_height(p)) / 2), b.w - 8,
                       NINO_PLOT_LEFT, &ink, text);
    }
    flame_draw_legend(p, seen);
}

// ---- pointer and keys --------------------------------------------------------------------------

static int32_t node_at(NinoArea *area, Flame *f, double x, double y)
{
    NinoPlotBox b;
    const float width = (float) gtk_widget_get_width(GTK_WIDGET(area));
    for (size_t i = 0; i < f->n; i++)
        if (flame_box_of(f, (int32_t) i, width, &b) && x >= (double) b.x &&
            x < (double) (b.x + b.w) && y >= (double) b.y && y < (double) (b.y + b.h))
            return (int32_t) i;
    return -1;
}

static void flame_describe(Flame *f, int32_t i, GString *text)
{
    const nino_flame *n = &f->node[i];
    char ns[40];
    g_autofree char *name = g_markup_escape_text(flame_name(f, i), -1);
    nino_format_ns(ns, sizeof(ns), (double) n->ns);
    g_string_append_printf(text, _("<b>%s</b>\n%s, %llu times\n%.1f %% of the range"), name, ns,
                           (unsigned long long) n->calls, 100 * (double) n->ns / (double) f->total);
    if (n->parent >= 0) {
        g_autofree char *up = g_markup_escape_text(flame_name(f, n->parent), -1);
        g_string_append_printf(text, _("\n%.1f %% of %s"),
                               100 * (double) n->ns / (double) f->node[n->parent].ns, up);
    }
}

static gboolean flame_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    const int32_t i = node_at(area, user, x, y);
    if (i >= 0)
        flame_describe(user, i, text);
    return i >= 0;
}

// The description of the widget says what has the focus, for screen readers.
static void set_focus(Flame *f, int32_t i)
{
    f->focus = i;
    g_autoptr(GString) text = g_string_new(NULL);
    if (i >= 0)
        flame_describe(f, i, text);
    nino_area_say(NINO_AREA(f->area), text->str);
    gtk_widget_queue_draw(f->area);
}

// A scope becomes the whole, a kernel the selected one.
static void flame_activate(Flame *f, int32_t i)
{
    if (i >= 0 && f->node[i].kind > NINO_EV_TILE)
        nino_run_set_kernel(f->run, f->node[i].name);
    else
        f->root = i;
    set_focus(f, i);
}

static gboolean flame_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    (void) n_press;
    flame_activate(user, node_at(area, user, x, y));
    return TRUE;
}

// Whether a scope was reached by the same names.
static gboolean is_on_path(const Flame *f, const nino_span *s, int32_t at, int32_t node)
{
    while (at >= 0 && node >= 0) {
        if (s[at].name != f->node[node].name || s[at].kind != f->node[node].kind)
            return FALSE;
        at = s[at].parent;
        node = f->node[node].parent;
    }
    return node < 0 && at < 0;
}

// The longest of the scopes that a node sums up, in the selected range; -1: none is known.
static int32_t longest_scope(const Flame *f, int32_t node)
{
    size_t n;
    guint64 t0, t1, most = 0;
    int32_t found = -1;
    nino_history *h = nino_run_history(f->run);
    const nino_span *s = nino_history_spans(h, &n);
    nino_run_range(f->run, &t0, &t1);
    for (size_t i = 0; i < n; i++) {
        const guint64 end = s[i].end_ns ? s[i].end_ns : nino_history_end(h);
        if (s[i].begin_ns >= t1 || end <= t0 || !is_on_path(f, s, (int32_t) i, node))
            continue;
        if (found < 0 || end - s[i].begin_ns > most) {
            most = end - s[i].begin_ns;
            found = (int32_t) i;
        }
    }
    return found;
}

static void flame_pick(Flame *f, int32_t i)
{
    set_focus(f, i);
    if (f->node[i].kind > NINO_EV_TILE)
        nino_run_pick_kernel(f->run, f->node[i].name);
    else
        nino_run_pick_span(f->run, longest_scope(f, i));
}

// As the whole, or one level up.
static void menu_flame(GSimpleAction *a, GVariant *parameter, gpointer box)
{
    (void) parameter;
    Flame *f = g_object_get_data(box, "flame");
    if (g_str_equal(g_action_get_name(G_ACTION(a)), "up"))
        flame_activate(f, f->root >= 0 ? f->node[f->root].parent : -1);
    else if (f->focus >= 0)
        flame_activate(f, f->focus);
}

static gboolean flame_menu(NinoArea *area, double *x, double *y, GMenu *more, gpointer user)
{
    Flame *f = user;
    NinoPlotBox b = { .w = 0 };
    const float width = (float) gtk_widget_get_width(GTK_WIDGET(area));
    if (*x < 0 && (f->focus < 0 || !flame_box_of(f, f->focus, width, &b)))
        return FALSE;
    const int32_t i = *x < 0 ? f->focus : node_at(area, f, *x, *y);
    g_autoptr(GMenu) own = g_menu_new();
    if (*x < 0) {
        *x = (double) (b.x + b.w / 2);
        *y = (double) (b.y + b.h / 2);
    }
    if (i >= 0) {
        flame_pick(f, i);
        if (f->node[i].kind <= NINO_EV_TILE)
            g_menu_append(own, _("Make it the whole"), "flame.whole");
    }
    if (f->root >= 0)
        g_menu_append(own, _("One level up"), "flame.up");
    g_menu_append_section(more, NULL, G_MENU_MODEL(own));
    return i >= 0;
}

// The next node at the same depth with the same parent.
static int32_t sibling(const Flame *f, int32_t i, int step)
{
    const int32_t parent = i >= 0 ? f->node[i].parent : -1;
    for (int32_t k = i + step; k >= 0 && (size_t) k < f->n; k += step)
        if (f->node[k].parent == parent && f->node[k].depth == (i >= 0 ? f->node[i].depth : 0))
            return k;
    return i;
}

static int32_t first_child(const Flame *f, int32_t i)
{
    for (size_t k = 0; k < f->n; k++)
        if (f->node[k].parent == i)
            return (int32_t) k;
    return i;
}

static gboolean on_flame_key(NinoArea *area, guint key, GdkModifierType mods, gpointer user)
{
    (void) area, (void) mods;
    Flame *f = user;
    if (!f->n)
        return FALSE;
    const int32_t parent = f->focus >= 0 ? f->node[f->focus].parent : -1;
    switch (key) {
    case GDK_KEY_Left: set_focus(f, sibling(f, f->focus, -1)); return TRUE;
    case GDK_KEY_Right: set_focus(f, sibling(f, f->focus, 1)); return TRUE;
    case GDK_KEY_Down: set_focus(f, first_child(f, f->focus)); return TRUE;
    case GDK_KEY_Up: set_focus(f, parent); return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter: flame_activate(f, f->focus); return TRUE;
    case GDK_KEY_BackSpace:
    case GDK_KEY_Escape:
        if (f->root < 0)
            return FALSE;
        flame_activate(f, f->node[f->root].parent);
        return TRUE;
    default: return FALSE;
    }
}

// ---- widget ------------------------------------------------------------------------------------

static void flame_export_draw(GtkWidget *view, cairo_t *cr, double w, double h, gboolean is_dark)
{
    const Flame *f = g_object_get_data(G_OBJECT(view), "flame");
    nino_area_export(f->area, cr, w, h, is_dark);
}

static void flame_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    const Flame *f = g_object_get_data(G_OBJECT(view), "flame");
    for (size_t i = 0; i < f->n; i++) {
        g_autoptr(GString) path = g_string_new(NULL);
        for (int32_t k = (int32_t) i; k >= 0; k = f->node[k].parent) {
            g_string_prepend(path, k == (int32_t) i ? "" : ";");
            g_string_prepend(path, nino_run_name(f->run, f->node[k].name));
        }
        const NinoCell cells[] = { { "path", path->str, 0 },
                                   { "ns", NULL, (double) f->node[i].ns },
                                   { "calls", NULL, (double) f->node[i].calls } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void flame_free(gpointer data)
{
    flame_forget(data);
    g_free(data);
}

static GtkWidget *flame_make_bar(Flame *f)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    f->device = gtk_toggle_button_new_with_label(_("On device"));
    GtkWidget *wall = gtk_toggle_button_new_with_label(_("Wall time"));
    gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(wall), GTK_TOGGLE_BUTTON(f->device));
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(f->device), TRUE);
    gtk_widget_set_tooltip_text(f->device,
                                _("Time of kernels and transfers, by the scopes around"));
    gtk_widget_set_tooltip_text(wall, _("Time between begin and end of the scopes"));
    gtk_widget_add_css_class(bar, "linked");
    gtk_widget_set_margin_start(bar, NINO_SPACE_S);
    gtk_widget_set_margin_top(bar, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(bar, NINO_SPACE_S);
    gtk_box_append(GTK_BOX(bar), f->device);
    gtk_box_append(GTK_BOX(bar), wall);
    f->scope = gtk_label_new("");
    gtk_widget_add_css_class(f->scope, "dim-label");
    gtk_widget_set_margin_start(f->scope, NINO_SPACE_M);
    GtkWidget *both = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_box_append(GTK_BOX(both), bar);
    gtk_box_append(GTK_BOX(both), f->scope);
    gtk_widget_set_hexpand(f->scope, TRUE);
    gtk_label_set_xalign(GTK_LABEL(f->scope), 0);
    gtk_box_append(GTK_BOX(both), nino_pick_menu_button(f->run, _("Menu of the chosen part")));
    return both;
}

static GtkWidget *new_flame(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Time by call path"),
                                       .draw = flame_draw,
                                       .draws_itself = TRUE,
                                       .tip = flame_tip,
                                       .click = flame_click,
                                       .menu = flame_menu,
                                       .key = on_flame_key,
                                       .min_width = 240,
                                       .min_height = LEGEND + 8 * ROW };
    static const NinoViewExport x = { .draw = flame_export_draw, .rows = flame_export_rows };
    Flame *f = g_new0(Flame, 1);
    f->run = run;
    f->root = f->focus = -1;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), flame_make_bar(f));
    f->area = nino_area_new(run, &type, f, NULL);
    gtk_box_append(GTK_BOX(box), f->area);
    g_object_set_data_full(G_OBJECT(box), "flame", f, flame_free);
    static const GActionEntry actions[] = { { .name = "whole", .activate = menu_flame },
                                            { .name = "up", .activate = menu_flame } };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    g_action_map_add_action_entries(G_ACTION_MAP(group), actions, G_N_ELEMENTS(actions), box);
    gtk_widget_insert_action_group(box, "flame", G_ACTION_GROUP(group));
    g_signal_connect_object(run, "changed", G_CALLBACK(on_flame_changed), f->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(flame_update), f->area, G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(on_flame_cleared), f->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_swapped(f->device, "toggled", G_CALLBACK(flame_update), f->area);
    g_signal_connect(f->area, "map", G_CALLBACK(flame_update), NULL);
    nino_view_set_export(box, &x);
    return box;
}

const NinoViewType nino_view_flame = {
    .id = "flame",
    .title = N_("Flame graph"),
    .help = N_("Where the time of the selected range went, by call path"),
    .create = new_flame,
};
