// The timeline: for every thread its scopes (job > node > stage > step > tile) as nested bars, for
// every device queue what waits (queued, submitted) and what runs, all on the shared time axis.
// Close by, every kernel is a bar with its name; from afar, a pixel column shows how busy the queue
// was with each op family.
#include "live/timeline_priv.h"

#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"
#include "live/describe.h"

static void timeline_plot_box(NinoArea *area, float width, float height, NinoPlotBox *box,
                              gpointer user)
{
    (void) area;
    const float left = (float) ((const Timeline *) user)->gutter;
    *box = (NinoPlotBox){ left, 0, MAX(width - left - 8, 1), height };
}

// ---- drawing -----------------------------------------------------------------------------------

static void draw_ruler(NinoArea *area, NinoPlot *p, gpointer user)
{
    Timeline *t = user;
    const nino_history *h = nino_run_history(t->run);
    NinoPlotBox box;
    guint64 t0, t1;
    timeline_plot_box(area, p->width, p->height, &box, user);
    if (!nino_history_end(h))
        return;
    nino_run_view(t->run, &t0, &t1);
    nino_timeline_draw_legend(p, t, 2);
    box.y = p->height - nino_plot_text_height(p) - 4;
    box.h = 0;
    nino_plot_time_axis(p, &box, t0, t1, nino_history_begin(h));
}

static gboolean tip_ruler(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    (void) area, (void) x, (void) user;
    if (y > RULER / 2.0)
        return FALSE;
    g_string_append(text, _("Colours of kernels: op families. <b>queued</b>: kernels that wait and "
                            "were not yet handed to the driver; <b>submitted</b>: handed to it, "
                            "but not begun"));
    return TRUE;
}

// What was noted, at the bottom beside its line; one that has no room is left out (the read-out and
// the other plots have it).
static void draw_notes(NinoArea *area, NinoPlot *p, const NinoPlotBox *box)
{
    size_t n;
    NinoRun *run = nino_area_run(area);
    const nino_event *ev = nino_history_points(nino_run_history(run), NINO_EV_NOTE, &n);
    const float line = nino_plot_text_height(p);
    float free_from = box->x;
    for (size_t i = 0; i < n; i++) {
        const char *text = nino_run_name(run, ev[i].name);
        const float x = nino_area_x(area, box, ev[i].t_ns);
        const float w = MIN(nino_plot_text_width(p, text), 240);
        const float left = MIN(x + 5, box->x + box->w - w - 4);
        if (x < box->x || x >= box->x + box->w || left < free_from)
            continue;
        nino_plot_bar(p, left - 2, box->y + box->h - line - 4, w + 4, line + 2, &p->bg);
        nino_plot_text(p, left, box->y + box->h - line - 3, 240, NINO_PLOT_LEFT, &p->fg, text);
        free_from = left + w + 8;
    }
}

static void timeline_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    Timeline *t = user;
    const nino_history *h = nino_run_history(t->run);
    NinoPlotBox box;
    guint64 t0, t1;
    timeline_plot_box(area, p->width, p->height, &box, user);
    nino_timeline_lay_out(t);
    if (!t->n_rows && !t->find && !nino_timeline_has_flags(t)) {
        nino_plot_empty(p, _("Nodes, steps and kernels appear here while a workflow runs"));
        return;
    }
    if (t->find && !t->n_found)
        nino_plot_empty(p, _("Nothing here has this in its name"));
    nino_run_view(t->run, &t0, &t1);
    float top = 0;
    if (p->cr) { // an export has its ruler inside
        nino_timeline_draw_legend(p, t, 4);
        top = RULER - 14;
        box.h = p->height - top - 20;
        box.y = top;
    }
    NinoPlot grid = *p; // times are in the ruler
    grid.dim.alpha = 0;
    nino_plot_time_axis(p->cr ? p : &grid, &box, t0, t1, nino_history_begin(h));
    nino_timeline_draw_rows(area, p, t, &box, top);
    nino_area_draw_marks(area, p, &box);
    draw_notes(area, p, &box);
}

// ---- what is where -----------------------------------------------------------------------------

// The kernel or transfer at a time, or within `slack` of it; NULL: none.
static const nino_event *slice_near(const nino_history *h, uint16_t track, uint64_t at,
                                    uint64_t slack)
{
    size_t n;
    const nino_event *ev = nino_history_slices(h, track, &n), *best = NULL;
    const size_t i = nino_history_slice_at(h, track, at + slack);
    for (size_t k = i; k > 0 && i - k < 8; k--) {
        const nino_event *e = &ev[k - 1];
        if (e->t_ns + e->u.kernel.dur_ns + slack >= at &&
            (!best || e->u.kernel.dur_ns > best->u.kernel.dur_ns))
            best = e;
    }
    return best;
}

// Describes what lies in the row at a time.
static gboolean timeline_describe(Timeline *t, const Row *r, uint64_t at, uint64_t slack,
                                  GString *text)
{
    const nino_history *h = nino_run_history(t->run);
    if (r->kind != ROW_SCOPES) {
        const nino_event *e = slice_near(h, r->track, at, slack);
        if (e)
            nino_describe_slice(t->run, e, text);
        return e != NULL;
    }
    size_t n, n_spans;
    const nino_span *s = nino_history_spans(h, &n_spans);
    const uint32_t *row = nino_history_row(h, r->track, r->depth, &n);
    const View v = { .h = h };
    const size_t i = nino_timeline_span_at(&v, s, row, n, at - MIN(at, slack));
    if (i >= n || s[row[i]].begin_ns > at + slack)
        return FALSE;
    nino_describe_span(t->run, (int32_t) row[i], text);
    return TRUE;
}

static guint64 pixel_ns(Timeline *t, const NinoPlotBox *box)
{
    guint64 t0, t1;
    nino_run_view(t->run, &t0, &t1);
    return (guint64) ((double) (t1 - t0) / (double) box->w);
}

static gboolean timeline_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    Timeline *t = user;
    NinoPlotBox box;
    GtkWidget *w = GTK_WIDGET(area);
    timeline_plot_box(area, (float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &box,
                      user);
    const Row *r = nino_timeline_row_at(t, y);
    return r && x >= (double) box.x &&
           timeline_describe(t, r, nino_area_time(area, &box, x), pixel_ns(t, &box), text);
}

static gboolean read_row(NinoArea *area, guint64 at, GString *text, gpointer user)
{
    (void) area;
    Timeline *t = user;
    return t->focus_row < t->n_rows && timeline_describe(t, &t->row[t->focus_row], at, 0, text);
}

gboolean nino_timeline_pick(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    Timeline *t = user;
    NinoPlotBox box;
    GtkWidget *w = GTK_WIDGET(area);
    timeline_plot_box(area, (float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w), &box,
                      user);
    const Row *r = nino_timeline_row_at(t, y);
    if (!r)
        return FALSE;
    const nino_history *h = nino_run_history(t->run);
    const guint64 at = nino_area_time(area, &box, x);
    t->focus_row = (int) (r - t->row);
    if (r->kind == ROW_QUEUE || r->kind == ROW_HOST) {
        const nino_event *e = slice_near(h, r->track, at, pixel_ns(t, &box));
        if (e)
            nino_run_pick_slice(t->run, e);
        else
            nino_run_set_kernel(t->run, 0);
        return e != NULL;
    }
    if (r->kind != ROW_SCOPES)
        return FALSE;
    size_t n, n_spans; // a double click selects the scope's time, too
    const nino_span *s = nino_history_spans(h, &n_spans);
    const uint32_t *row = nino_history_row(h, r->track, r->depth, &n);
    const View v = { .h = h };
    const size_t i = nino_timeline_span_at(&v, s, row, n, at);
    if (i >= n || s[row[i]].begin_ns > at)
        return TRUE;
    const int32_t span = (int32_t) row[i];
    if (n_press == 2)
        nino_run_select(t->run, s[span].begin_ns,
                        s[span].end_ns ? s[span].end_ns : nino_history_end(h));
    nino_run_pick_span(t->run, span);
    return TRUE;
}

// ---- read-out ----------------------------------------------------------------------------------

// The line under the plot says what is at the cursor in the chosen row, for who uses no pointer.
static void show_readout(Timeline *t)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const guint64 at = nino_run_cursor(t->run);
    if (at && gtk_widget_has_focus(t->area))
        read_row(NINO_AREA(t->area), at, text, t);
    char *plain = NULL;
    pango_parse_markup(text->str, -1, 0, NULL, &plain, NULL, NULL);
    for (char *c = plain; c && *c; c++)
        if (*c == '\n')
            *c = ' ';
    const char *hint = "", *more = NULL;
    if (t->n_rows) {
        hint = _("Drag selects a range, the wheel zooms, f fits the selection, Home shows all");
        more = _("Drag selects a range, the wheel zooms, arrows and n/p step, f fits the "
                 "selection, Home shows all, m notes something, h, i and c hide, pin "
                 "and collapse a row");
    }
    gtk_label_set_text(GTK_LABEL(t->readout), plain && *plain ? plain : hint);
    gtk_widget_set_tooltip_text(t->readout, plain && *plain ? plain : more);
    g_free(plain);
}

// ---- keyboard ----------------------------------------------------------------------------------

// Moves the cursor to the next (previous) beginning in the row.
static void step_in_row(Timeline *t, const Row *r, gboolean forward)
{
    const nino_history *h = nino_run_history(t->run);
    guint64 at = nino_run_cursor(t->run), t0, t1, found = 0;
    nino_run_view(t->run, &t0, &t1);
    if (!at)
        at = t0;
    size_t n, n_spans;
    if (r->kind == ROW_SCOPES) {
        const nino_span *s = nino_history_spans(h, &n_spans);
        const uint32_t *row = nino_history_row(h, r->track, r->depth, &n);
        for (size_t i = 0; i < n && (!forward || !found); i++)
            if (forward ? s[row[i]].begin_ns > at : s[row[i]].begin_ns < at)
                found = s[row[i]].begin_ns;
    } else {
        const nino_event *ev = nino_history_slices(h, r->track, &n);
        const size_t i = nino_history_slice_at(h, r->track, forward ? at + 1 : at);
        found = forward ? (i < n ? ev[i].t_ns : 0) : (i > 0 ? ev[i - 1].t_ns : 0);
    }
    if (!found)
        return;
    if (found < t0 || found >= t1) {
        const guint64 half = (t1 - t0) / 2;
        nino_run_set_view(t->run, found > half ? found - half : 0, found + half);
    }
    nino_run_set_cursor(t->run, found);
}

static gboolean on_timeline_key(NinoArea *area, guint key, GdkModifierType mods, gpointer user)
{
    Timeline *t = user;
    (void) mods;
    if (!t->n_rows)
        return FALSE;
    t->focus_row = CLAMP(t->focus_row, 0, t->n_rows - 1);
    const Row *r = &t->row[t->focus_row];
    switch (key) {
    case GDK_KEY_h: nino_timeline_toggle(t, r, ROW_HIDDEN); break;
    case GDK_KEY_i: nino_timeline_toggle(t, r, ROW_PINNED); break;
    case GDK_KEY_c: nino_timeline_toggle(t, r, ROW_COLLAPSED); break;
    case GDK_KEY_Up: t->focus_row = MAX(t->focus_row - 1, 0); break;
    case GDK_KEY_Down: t->focus_row = MIN(t->focus_row + 1, t->n_rows - 1); break;
    case GDK_KEY_n: step_in_row(t, r, TRUE); break;
    case GDK_KEY_p: step_in_row(t, r, FALSE); break;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter: { // as a double click at the cursor
        NinoPlotBox box;
        GtkWidget *w = GTK_WIDGET(area);
        timeline_plot_box(area, (float) gtk_widget_get_width(w), 1, &box, user);
        nino_timeline_pick(area, (double) nino_area_x(area, &box, nino_run_cursor(t->run)),
                           (double) (nino_timeline_row_y(t, r) + 1), 2, user);
        break;
    }
    default: return FALSE;
    }
    show_readout(t); // another row
    nino_area_read_out(area);
    gtk_widget_queue_draw(GTK_WIDGET(area));
    return TRUE;
}

// ---- widget ------------------------------------------------------------------------------------

static void on_timeline_cursor(NinoArea *area) { show_readout(nino_area_user(area)); }

void nino_timeline_update(Timeline *t)
{
    nino_timeline_lay_out(t);
    const int h = (int) t->height + 2;
    int now;
    gtk_widget_get_size_request(t->area, NULL, &now);
    if (MAX(h, 80) != now)
        gtk_widget_set_size_request(t->area, 240, MAX(h, 80));
    gtk_widget_queue_draw(t->area);
}

static void on_timeline_changed(NinoArea *area)
{
    nino_timeline_update(nino_area_user(area));
    show_readout(nino_area_user(area));
}

// Names have other ids from now on.
static void on_timeline_cleared(NinoArea *area)
{
    Timeline *t = nino_area_user(area);
    if (t->matches)
        g_hash_table_remove_all(t->matches);
}

// Pinned rows stay where they are.
static void on_timeline_scroll(NinoArea *area)
{
    const Timeline *t = nino_area_user(area);
    if (t->pinned_height > 0)
        gtk_widget_queue_draw(t->area);
}

static void timeline_free(gpointer user)
{
    nino_timeline_rows_free(user);
    g_free(user);
}

static void timeline_export_draw(GtkWidget *view, cairo_t *cr, double w, double h, gboolean is_dark)
{
    Timeline *t = g_object_get_data(G_OBJECT(view), "timeline");
    nino_area_export(t->area, cr, w, h, is_dark);
}

static GtkWidget *new_timeline(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Timeline"),
                                       .draw = timeline_draw,
                                       .tip = timeline_tip,
                                       .read = read_row,
                                       .click = nino_timeline_pick,
                                       .menu = nino_timeline_menu,
                                       .key = on_timeline_key,
                                       .box = timeline_plot_box,
                                       .has_time = TRUE,
                                       .min_width = 240,
                                       .min_height = 80 };
    static const NinoAreaType ruler = { .label = N_("Time axis"),
                                        .draw = draw_ruler,
                                        .tip = tip_ruler,
                                        .box = timeline_plot_box,
                                        .has_time = TRUE,
                                        .min_width = 240,
                                        .min_height = RULER };
    static const NinoViewExport x = { .draw = timeline_export_draw };
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    Timeline *t = g_new0(Timeline, 1);
    t->run = run;
    t->gutter = GUTTER;
    t->area = nino_area_new(run, &type, t, NULL);
    t->ruler = nino_area_new(run, &ruler, t, NULL);
    gtk_widget_set_vexpand(t->ruler, FALSE);
    gtk_widget_set_focusable(t->ruler, FALSE);
    t->readout = gtk_label_new(NULL);
    gtk_label_set_xalign(GTK_LABEL(t->readout), 0);
    gtk_label_set_ellipsize(GTK_LABEL(t->readout), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(t->readout, "dim-label");
    gtk_widget_set_margin_start(t->readout, NINO_SPACE_S);
    gtk_widget_set_margin_end(t->readout, NINO_SPACE_S);
    GtkWidget *scroll = nino_plot_scroller_new(t->area);
    gtk_widget_set_vexpand(scroll, TRUE);
    gtk_box_append(GTK_BOX(box), t->ruler);
    gtk_box_append(GTK_BOX(box), scroll);
    gtk_box_append(GTK_BOX(box), t->readout);
    g_object_set_data_full(G_OBJECT(box), "timeline", t, timeline_free);
    t->scroll = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroll));
    g_signal_connect_object(t->scroll, "value-changed", G_CALLBACK(on_timeline_scroll), t->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(on_timeline_cleared), t->area,
                            G_CONNECT_SWAPPED);
    nino_timeline_add_menu(box);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_timeline_changed), t->area,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cursor", G_CALLBACK(on_timeline_cursor), t->area,
                            G_CONNECT_SWAPPED);
    on_timeline_changed(NINO_AREA(t->area));
    show_readout(t);
    nino_view_set_export(box, &x);
    return box;
}

const NinoViewType nino_view_timeline = {
    .id = "timeline",
    .title = N_("Timeline"),
    .help = N_("Nodes, steps, tiles and kernels of host and device on one axis"),
    .create = new_timeline,
};
