// What a plot says of the place that its cursor is at, or that arrows have stepped to: as the description
// of the widget, for screen readers, as a tooltip, and beside a crosshair.
#include "plot/area_priv.h"

#include <math.h>

#include "base/i18n.h"

gboolean nino_area_item_place(NinoArea *a, double *x, double *y)
{
    return a->item >= 0 && a->type->item && a->type->item(a, a->item, x, y, a->user);
}

void nino_area_say(NinoArea *a, const char *markup)
{
    char *plain = NULL;
    pango_parse_markup(markup, -1, 0, NULL, &plain, NULL, NULL);
    if (g_strcmp0(plain, a->said) != 0)
        gtk_accessible_update_property(GTK_ACCESSIBLE(a), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       plain ? plain : "", -1);
    g_free(a->said);
    a->said = plain;
}

static void read_time(NinoArea *a, guint64 t, GString *text)
{
    char when[40];
    NinoPlotBox box;
    const guint64 begin = nino_history_begin(nino_run_history(a->run));
    nino_format_ns(when, sizeof(when), (double) t - (double) begin);
    g_string_append_printf(text, _("at %s"), when);
    const nino_event *note = nino_area_note_at(a, t);
    if (note) {
        g_autofree char *said = g_markup_escape_text(nino_run_name(a->run, note->name), -1);
        g_string_append_printf(text, _(", noted: %s"), said);
    }
    const gsize at = text->len;
    nino_area_get_box(a, &box);
    if (a->type->read)
        a->type->read(a, t, text, a->user);
    else if (a->type->tip)
        a->type->tip(a, (double) nino_area_x(a, &box, t), (double) (box.y + box.h / 2), text,
                     a->user);
    if (text->len > at)
        g_string_insert(text, (gssize) at, "\n");
}

void nino_area_read_out(NinoArea *a)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const guint64 t = a->type->has_time ? nino_run_cursor(a->run) : 0;
    double x, y;
    if (t)
        read_time(a, t, text);
    else if (nino_area_item_place(a, &x, &y) && a->type->tip)
        a->type->tip(a, x, y, text, a->user);
    nino_area_say(a, text->str);
}

// The pointer moves cursors too, without a focus: nobody listens there.
static void on_area_cursor(NinoArea *a)
{
    if (gtk_widget_has_focus(GTK_WIDGET(a)))
        nino_area_read_out(a);
}

static void on_area_focus(NinoArea *a)
{
    if (a->type->has_time || a->type->item)
        on_area_cursor(a);
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

static void on_area_cleared(NinoArea *a)
{
    a->item = -1;
    nino_area_say(a, "");
}

static gboolean on_tooltip(GtkWidget *w, int x, int y, gboolean keyboard, GtkTooltip *tip,
                           gpointer user)
{
    (void) user;
    NinoArea *a = NINO_AREA(w);
    if (keyboard) { // what was read out
        gtk_tooltip_set_text(tip, a->said);
        return a->said && *a->said;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    if (!a->type->tip || !a->type->tip(a, x, y, text, a->user))
        return FALSE;
    gtk_tooltip_set_markup(tip, text->str);
    return TRUE;
}

void nino_area_add_reading(NinoArea *a)
{
    g_signal_connect_object(a->run, "cleared", G_CALLBACK(on_area_cleared), a, G_CONNECT_SWAPPED);
    if (a->type->has_time)
        g_signal_connect_object(a->run, "cursor", G_CALLBACK(on_area_cursor), a, G_CONNECT_SWAPPED);
    g_signal_connect(a, "notify::has-focus", G_CALLBACK(on_area_focus), NULL);
    if (a->type->tip) {
        gtk_widget_set_has_tooltip(GTK_WIDGET(a), TRUE);
        g_signal_connect(a, "query-tooltip", G_CALLBACK(on_tooltip), NULL);
    }
}

// ---- the things of a plot -----------------------------------------------------------------------

void nino_area_draw_item(NinoArea *a, NinoPlot *p)
{
    double x, y;
    if (!nino_area_item_place(a, &x, &y))
        return;
    const GdkRGBA hair = nino_plot_alpha(&p->fg, 0.45f), edge = nino_plot_alpha(&p->fg, 0.6f);
    g_auto(GStrv) lines = g_strsplit(a->said ? a->said : "", "\n", 10);
    const float h = nino_plot_text_height(p), fx = floorf((float) x), fy = floorf((float) y);
    float w = 0;
    guint n = 0;
    for (; lines[n] && *lines[n]; n++)
        w = MAX(w, nino_plot_text_width(p, lines[n]));
    w = MIN(w, p->width - 16);
    nino_plot_bar(p, fx, 0, 1, p->height, &hair);
    nino_plot_bar(p, 0, fy, p->width, 1, &hair);
    if (!n)
        return;
    const float bw = w + 12, bh = (float) n * h + 8;
    const float left = CLAMP(fx + 10 + bw <= p->width ? fx + 10 : fx - 10 - bw, 0, p->width - bw);
    const float top = MAX(fy + 10 + bh <= p->height ? fy + 10 : fy - 10 - bh, 0);
    nino_plot_bar(p, left, top, bw, bh, &p->bg);
    nino_plot_frame(p, left, top, bw, bh, &edge);
    for (guint i = 0; i < n; i++)
        nino_plot_text(p, left + 6, top + 4 + (float) i * h, w, NINO_PLOT_LEFT, &p->fg, lines[i]);
}

gboolean nino_area_item_key(NinoArea *a, guint key)
{
    double x, y;
    int to = a->item;
    switch (key) {
    case GDK_KEY_Left:
    case GDK_KEY_Up: to = MAX(to - 1, 0); break;
    case GDK_KEY_Right:
    case GDK_KEY_Down: to++; break;
    case GDK_KEY_Home: to = 0; break;
    case GDK_KEY_End:
        while (a->type->item(a, to + 1, &x, &y, a->user))
            to++;
        break;
    case GDK_KEY_Escape:
        if (to < 0)
            return FALSE;
        to = -1;
        break;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
        return nino_area_item_place(a, &x, &y) && a->type->click &&
               a->type->click(a, x, y, 1, a->user);
    default: return FALSE;
    }
    if (to < 0 || a->type->item(a, to, &x, &y, a->user))
        a->item = to;
    nino_area_read_out(a);
    gtk_widget_queue_draw(GTK_WIDGET(a));
    return TRUE;
}
