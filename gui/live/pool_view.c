// The memory pool as it is now (or was at the end of the selected range): every arena a strip, its
// blocks in the colour of what they are for, the gaps between them empty; how fragmented it is, the
// largest free block, and whether one more request would fit.
#include "plot/view.h"

#include "base/i18n.h"
#include "base/scroller.h"
#include "plot/area.h"
#include "live/describe.h"

#include <math.h>

enum { STRIP = 26, GAP = 6, LEFT = 96, TOP = 26, UPDATE_MS = 250 };

static const char *const owners[] = { N_("weights"), N_("activations"), N_("workspace"),
                                      N_("staging") };
static const int owner_colour[] = { 0, 1, 2, 5 };

typedef struct Pool {
    NinoRun *run; // the widgets hold it
    GtkWidget *area, *figures, *size, *answer;
    char *said; // to screen readers
    nino_pool_map map;
    gint64 updated;
} Pool;

// ---- data --------------------------------------------------------------------------------------

static void set_text(GtkWidget *label, const char *text)
{
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(label)), text) != 0)
        gtk_label_set_text(GTK_LABEL(label), text);
}

static void show_answer(Pool *p)
{
    static const char *const answers[] = {
        [NINO_FIT_BLOCK] = N_("fits into a free block"),
        [NINO_FIT_ARENA] = N_("fits with one more arena"),
        [NINO_FIT_TRIM] = N_("fits after idle arenas are given back"),
        [NINO_FIT_NO] = N_("does not fit"),
    };
    const double mib = gtk_spin_button_get_value(GTK_SPIN_BUTTON(p->size));
    const gboolean is_known = p->map.n_arenas || p->map.reserved;
    const char *answer = is_known
                             ? _(answers[nino_pool_map_fit(&p->map, (uint64_t) (mib * 1048576))])
                             : _("is not known yet");
    g_autofree char *shown = g_strdup_printf(_("MiB be served? It %s"), answer);
    set_text(p->answer, shown);
    g_autofree char *all =
        g_strdup_printf(_("Would a request of %.0f MiB be served? It %s"), mib, answer);
    if (g_strcmp0(all, p->said) == 0)
        return;
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->size), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                   all, -1); // the focus stays there
    g_free(p->said);
    p->said = g_steal_pointer(&all);
}

static void show_figures(Pool *p)
{
    const nino_pool_map *m = &p->map;
    char use[32], held[32], budget[32], largest[32], all[32], unknown[32];
    nino_format_bytes(use, sizeof(use), (double) m->in_use);
    nino_format_bytes(held, sizeof(held), (double) m->reserved);
    nino_format_bytes(budget, sizeof(budget), (double) m->budget);
    nino_format_bytes(largest, sizeof(largest), (double) m->largest_free);
    nino_format_bytes(all, sizeof(all), (double) m->free_bytes);
    nino_format_bytes(unknown, sizeof(unknown), (double) m->unknown_bytes);
    g_autofree char *text = g_strdup_printf(
        _("%s in use of %s held%s%s · %s free, the largest block of it %s%s%s"), use, held,
        m->budget ? _(", budget ") : "", m->budget ? budget : "", all, largest,
        m->unknown_bytes ? _(" · from before watching ") : "", m->unknown_bytes ? unknown : "");
    const gboolean is_there = m->reserved || m->budget;
    set_text(p->figures, is_there ? text : "");
    gtk_widget_set_visible(p->figures, is_there);
}

static void pool_view_update(NinoArea *area)
{
    Pool *p = nino_area_user(area);
    guint64 t0, t1;
    nino_pool_map m;
    if (!gtk_widget_get_mapped(GTK_WIDGET(area)))
        return;
    nino_run_draw_begin(p->run);
    const gboolean is_part = nino_run_range(p->run, &t0, &t1);
    if (!nino_history_pool(nino_run_history(p->run), is_part ? t1 : UINT64_MAX, &m, NULL)) {
        nino_pool_map_release(&p->map);
        p->map = m;
    }
    const int height = TOP + (int) p->map.n_arenas * (STRIP + GAP) + 8;
    int now;
    gtk_widget_get_size_request(p->area, NULL, &now);
    if (MAX(height, 90) != now)
        gtk_widget_set_size_request(p->area, 240, MAX(height, 90));
    show_figures(p);
    show_answer(p);
    p->updated = g_get_monotonic_time();
    gtk_widget_queue_draw(GTK_WIDGET(area));
    nino_run_draw_end(p->run);
}

static void on_pool_view_changed(NinoArea *area)
{
    Pool *p = nino_area_user(area);
    if (!nino_run_is_live(p->run) ||
        g_get_monotonic_time() - p->updated >= UPDATE_MS * (gint64) 1000)
        pool_view_update(area);
}

// ---- drawing -----------------------------------------------------------------------------------

static uint64_t arena_end(const nino_pool_map *m, const nino_pool_arena *a)
{
    const nino_pool_block *last = &m->block[a->first + a->n - 1];
    return MAX(a->bytes, last->offset + last->bytes);
}

static uint64_t largest_arena(const nino_pool_map *m)
{
    uint64_t most = 1;
    for (size_t i = 0; i < m->n_arenas; i++)
        most = MAX(most, arena_end(m, &m->arena[i]));
    return most;
}

static GdkRGBA free_colour(const NinoPlot *p) { return nino_plot_alpha(&p->fg, 0.22f); }

// Neighbouring blocks of one owner within a pixel are one bar.
static void draw_arena(NinoPlot *p, const nino_pool_map *m, const nino_pool_arena *a, float y,
                       double scale)
{
    const GdkRGBA empty = free_colour(p);
    const float width = MAX(floorf((float) ((double) arena_end(m, a) * scale)), 2);
    nino_plot_bar(p, LEFT, y, width, STRIP, &empty);
    float drawn = LEFT;
    for (uint32_t i = a->first; i < a->first + a->n; i++) {
        const nino_pool_block *b = &m->block[i];
        if (b->is_free)
            continue;
        const float x0 = floorf(LEFT + (float) ((double) b->offset * scale));
        const float x1 = floorf(LEFT + (float) ((double) (b->offset + b->bytes) * scale));
        if (x1 <= drawn && x0 < drawn)
            continue;
        const float from = MAX(x0, drawn), to = MAX(x1, from + 1);
        nino_plot_bar(p, from, y, to - from > 3 ? to - from - 1 : to - from, STRIP,
                      nino_plot_colour((size_t) owner_colour[b->owner % NINO_OWN_COUNT]));
        drawn = to;
    }
    const GdkRGBA line = nino_plot_alpha(&p->fg, 0.35f);
    nino_plot_frame(p, LEFT - 1, y - 1, width + 2, STRIP + 2, &line);
}

static void pool_view_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    const Pool *pool = user;
    const nino_pool_map *m = &pool->map;
    if (!m->n_arenas) {
        nino_plot_empty(p, _("The blocks of the memory pool appear here while a workflow runs"));
        return;
    }
    float x = LEFT;
    for (int o = 0; o < NINO_OWN_COUNT; o++)
        x = nino_plot_legend(p, x, 4, nino_plot_colour((size_t) owner_colour[o]), _(owners[o]));
    const GdkRGBA empty = free_colour(p);
    nino_plot_legend(p, x, 4, &empty, _("free"));
    const double scale = ((double) p->width - LEFT - 10) / (double) largest_arena(m);
    const float line = nino_plot_text_height(p);
    for (size_t i = 0; i < m->n_arenas; i++) {
        const float y = TOP + (float) i * (STRIP + GAP);
        char size[32];
        nino_format_bytes(size, sizeof(size), (double) arena_end(m, &m->arena[i]));
        nino_plot_text(p, LEFT - 8, y + floorf((STRIP - line) / 2), LEFT - 12, NINO_PLOT_RIGHT,
                       &p->dim, size);
        draw_arena(p, m, &m->arena[i], y, scale);
    }
}

static gboolean pool_view_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    const Pool *p = user;
    const nino_pool_map *m = &p->map;
    const int i = (int) floor((y - TOP) / (STRIP + GAP));
    if (i < 0 || (size_t) i >= m->n_arenas || x < LEFT)
        return FALSE;
    const double scale =
        (double) (gtk_widget_get_width(GTK_WIDGET(area)) - LEFT - 10) / (double) largest_arena(m);
    const uint64_t at = (uint64_t) ((x - LEFT) / scale);
    const nino_pool_arena *a = &m->arena[i];
    for (uint32_t k = a->first; k < a->first + a->n; k++) {
        const nino_pool_block *b = &m->block[k];
        char size[32], offset[32], since[48];
        if (at < b->offset || at >= b->offset + b->bytes)
            continue;
        nino_format_bytes(size, sizeof(size), (double) b->bytes);
        nino_format_bytes(offset, sizeof(offset), (double) b->offset);
        g_string_append_printf(text, _("<b>%s</b> %s at %s of arena %u"),
                               b->is_free ? _("free") : _(owners[b->owner % NINO_OWN_COUNT]), size,
                               offset, a->number);
        if (b->is_free)
            return TRUE;
        nino_history *h = nino_run_history(p->run);
        g_autoptr(GString) path = g_string_new(NULL);
        nino_format_ns(since, sizeof(since), (double) (m->t_ns - MIN(m->t_ns, b->since_ns)));
        g_string_append_printf(text, _("\nin use for %s"), since);
        nino_describe_path(p->run, nino_history_span_of(h, b->scope), path);
        if (path->len)
            g_string_append_printf(text, _("\nby %s"), path->str);
        return TRUE;
    }
    return FALSE;
}

static gboolean pool_view_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    const Pool *p = user;
    const nino_pool_map *m = &p->map;
    if ((size_t) i >= m->n_blocks)
        return FALSE;
    const nino_pool_block *b = &m->block[i];
    const double scale =
        (double) (gtk_widget_get_width(GTK_WIDGET(area)) - LEFT - 10) / (double) largest_arena(m);
    *x = LEFT + ((double) b->offset + (double) b->bytes / 2) * scale;
    *y = TOP + b->arena * (STRIP + GAP) + STRIP / 2.0;
    return TRUE;
}

// ---- widget ------------------------------------------------------------------------------------

static void pool_view_export_draw(GtkWidget *view, cairo_t *cr, double w, double h,
                                  gboolean is_dark)
{
    const Pool *p = g_object_get_data(G_OBJECT(view), "pool");
    nino_area_export(p->area, cr, w, h, is_dark);
}

static void pool_view_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    const Pool *p = g_object_get_data(G_OBJECT(view), "pool");
    for (size_t i = 0; i < p->map.n_blocks; i++) {
        const nino_pool_block *b = &p->map.block[i];
        const NinoCell cells[] = {
            { "arena", NULL, p->map.arena[b->arena].number },
            { "offset_bytes", NULL, (double) b->offset },
            { "bytes", NULL, (double) b->bytes },
            { "use", b->is_free ? "free" : owners[b->owner % NINO_OWN_COUNT], 0 },
        };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void pool_free(gpointer data)
{
    Pool *p = data;
    nino_pool_map_release(&p->map);
    g_free(p->said);
    g_free(p);
}

static GtkWidget *pool_view_make_bar(Pool *p)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    GtkWidget *both = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_HAIR);
    p->figures = gtk_label_new(_("No memory is held"));
    gtk_label_set_xalign(GTK_LABEL(p->figures), 0);
    gtk_label_set_ellipsize(GTK_LABEL(p->figures), PANGO_ELLIPSIZE_END);
    gtk_widget_set_tooltip_text(p->figures,
                                _("A request that is larger than the largest free block needs one "
                                  "more arena, however much is free"));
    GtkWidget *ask = gtk_label_new(_("Would a request of"));
    p->size = gtk_spin_button_new_with_range(1, 1 << 20, 64);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(p->size), 256);
    gtk_accessible_update_property(GTK_ACCESSIBLE(p->size), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Size of a request in MiB"), -1);
    p->answer = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(p->answer), 0);
    gtk_label_set_width_chars(GTK_LABEL(p->answer), 42);
    gtk_box_append(GTK_BOX(both), p->figures);
    gtk_box_append(GTK_BOX(both), bar);
    gtk_box_append(GTK_BOX(bar), ask);
    gtk_box_append(GTK_BOX(bar), p->size);
    gtk_box_append(GTK_BOX(bar), p->answer);
    gtk_widget_set_margin_start(both, NINO_SPACE_S);
    gtk_widget_set_margin_end(both, NINO_SPACE_S);
    gtk_widget_set_margin_top(both, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(both, NINO_SPACE_S);
    g_signal_connect_swapped(p->size, "value-changed", G_CALLBACK(show_answer), p);
    return both;
}

static GtkWidget *new_pool_view(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Blocks of the memory pool"),
                                       .draw = pool_view_draw,
                                       .draws_itself = TRUE,
                                       .tip = pool_view_tip,
                                       .item = pool_view_item,
                                       .min_width = 240,
                                       .min_height = 90 };
    static const NinoViewExport x = { .draw = pool_view_export_draw,
                                      .rows = pool_view_export_rows };
    Pool *p = g_new0(Pool, 1);
    p->run = run;
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), pool_view_make_bar(p));
    p->area = nino_area_new(run, &type, p, NULL);
    GtkWidget *scroll = nino_plot_scroller_new(p->area);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(box), scroll);
    gtk_accessible_update_relation(GTK_ACCESSIBLE(p->area), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY,
                                   p->figures, NULL, -1);
    g_object_set_data_full(G_OBJECT(box), "pool", p, pool_free);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_pool_view_changed), p->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(pool_view_update), p->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(pool_view_update), p->area, G_CONNECT_SWAPPED);
    g_signal_connect(p->area, "map", G_CALLBACK(pool_view_update), NULL);
    nino_view_set_export(box, &x);
    return box;
}

const NinoViewType nino_view_pool = {
    .id = "pool",
    .title = N_("Memory pool"),
    .help = N_("Blocks of the memory pool, fragmentation, and whether a request would fit"),
    .create = new_pool_view,
};
