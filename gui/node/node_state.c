// Shapes are told apart without their colours: dot, ring, arc, bars, disc, ring with a dot, square, bolt, cross, sign.
#include "node/node_state.h"

#include "base/i18n.h"

#define R 5.5 // of what fills the place

GdkRGBA nino_node_state_color(NinoNodeState state, const NinoGraphColors *c)
{
    switch (state) {
    case NINO_NODE_IDLE:
    case NINO_NODE_QUEUED: return c->dim;
    case NINO_NODE_RUNNING: return c->running;
    case NINO_NODE_PAUSED: return c->paused;
    case NINO_NODE_DONE: return c->done;
    case NINO_NODE_CACHED: return c->cached;
    case NINO_NODE_CANCELLED: return c->cancelled;
    case NINO_NODE_KILLED: return c->killed;
    case NINO_NODE_FAILED:
    case NINO_NODE_INVALID: break;
    }
    return c->error;
}

const char *nino_node_state_spoken(NinoNodeState state)
{
    switch (state) {
    case NINO_NODE_IDLE: break;
    case NINO_NODE_QUEUED: return _(", queued");
    case NINO_NODE_RUNNING: return _(", running");
    case NINO_NODE_PAUSED: return _(", paused");
    case NINO_NODE_DONE: return _(", done");
    case NINO_NODE_CACHED: return _(", cached");
    case NINO_NODE_CANCELLED: return _(", cancelled");
    case NINO_NODE_KILLED: return _(", the worker died in it");
    case NINO_NODE_FAILED: return _(", failed");
    case NINO_NODE_INVALID: return _(", cannot run");
    }
    return "";
}

static void circle(cairo_t *cr, double cx, double cy, double r)
{
    cairo_arc(cr, cx, cy, r, 0, 2 * G_PI);
}

// From the top, as far as it is; a quarter where that is not known.
static void draw_arc(cairo_t *cr, double cx, double cy, double progress, const GdkRGBA *color)
{
    GdkRGBA faint = *color;
    faint.alpha = 0.3f;
    gdk_cairo_set_source_rgba(cr, &faint);
    circle(cr, cx, cy, R);
    cairo_stroke(cr);
    gdk_cairo_set_source_rgba(cr, color);
    cairo_arc(cr, cx, cy, R, -G_PI / 2,
              -G_PI / 2 + 2 * G_PI * (progress < 0 ? 0.25 : CLAMP(progress, 0, 1)));
    cairo_stroke(cr);
}

static void draw_bolt(cairo_t *cr, double cx, double cy)
{
    static const double at[][2] = { { 1.5, -R }, { -4, 1 }, { -0.5, 1 },
                                    { -1.5, R }, { 4, -1 }, { 0.5, -1 } };
    for (gsize i = 0; i < G_N_ELEMENTS(at); i++)
        cairo_line_to(cr, cx + at[i][0], cy + at[i][1]);
    cairo_close_path(cr);
    cairo_fill(cr);
}

static void draw_cross(cairo_t *cr, double cx, double cy)
{
    const double far = 4;
    cairo_move_to(cr, cx - far, cy - far);
    cairo_line_to(cr, cx + far, cy + far);
    cairo_move_to(cr, cx + far, cy - far);
    cairo_line_to(cr, cx - far, cy + far);
    cairo_stroke(cr);
}

void nino_node_state_draw(cairo_t *cr, double cx, double cy, NinoNodeState state, double progress,
                          const NinoGraphColors *c)
{
    const GdkRGBA color = nino_node_state_color(state, c);
    gdk_cairo_set_source_rgba(cr, &color);
    cairo_set_line_width(cr, 2.5);
    switch (state) {
    case NINO_NODE_IDLE: circle(cr, cx, cy, 3.5), cairo_fill(cr); break;
    case NINO_NODE_QUEUED: circle(cr, cx, cy, R - 1), cairo_stroke(cr); break;
    case NINO_NODE_RUNNING: draw_arc(cr, cx, cy, progress, &color); break;
    case NINO_NODE_PAUSED:
        cairo_rectangle(cr, cx - 4.5, cy - R, 3.5, 2 * R);
        cairo_rectangle(cr, cx + 1, cy - R, 3.5, 2 * R);
        cairo_fill(cr);
        break;
    case NINO_NODE_DONE: circle(cr, cx, cy, R), cairo_fill(cr); break;
    case NINO_NODE_CACHED:
        cairo_set_line_width(cr, 1.5);
        circle(cr, cx, cy, R), cairo_stroke(cr);
        circle(cr, cx, cy, 2.5), cairo_fill(cr);
        break;
    case NINO_NODE_CANCELLED: cairo_rectangle(cr, cx - 4.5, cy - 4.5, 9, 9), cairo_fill(cr); break;
    case NINO_NODE_KILLED: draw_bolt(cr, cx, cy); break;
    case NINO_NODE_FAILED: draw_cross(cr, cx, cy); break;
    case NINO_NODE_INVALID: // an exclamation mark
        cairo_rectangle(cr, cx - 1.5, cy - R, 3, 7);
        cairo_rectangle(cr, cx - 1.5, cy + 3, 3, 3);
        cairo_fill(cr);
        break;
    }
}

char *nino_node_state_text(const NinoNodeMark *m)
{
    switch (m->state) {
    case NINO_NODE_QUEUED: return g_strdup(_("queued"));
    case NINO_NODE_CACHED: return g_strdup(_("cached"));
    case NINO_NODE_CANCELLED: return g_strdup(_("cancelled"));
    case NINO_NODE_KILLED: return g_strdup(_("worker died"));
    case NINO_NODE_FAILED: return g_strdup(_("failed"));
    default: break;
    }
    GString *s = g_string_new(m->state == NINO_NODE_PAUSED ? _("paused") : NULL);
    if ((m->state == NINO_NODE_RUNNING || m->state == NINO_NODE_PAUSED) && m->progress >= 0)
        g_string_append_printf(s, "%s%.0f %%", s->len ? " · " : "", 100 * CLAMP(m->progress, 0, 1));
    if (m->seconds >= 0)
        g_string_append_printf(s, m->seconds < 1 ? "%s%.0f ms" : "%s%.2f s", s->len ? " · " : "",
                               m->seconds < 1 ? m->seconds * 1e3 : m->seconds);
    if (m->bytes) {
        const guint64 abs = (guint64) (m->bytes < 0 ? -m->bytes : m->bytes);
        g_autofree char *size = g_format_size_full(abs, G_FORMAT_SIZE_IEC_UNITS);
        g_string_append_printf(s, "%s%s%s", s->len ? " · " : "", m->bytes < 0 ? "−" : "+", size);
    }
    return g_string_free(s, FALSE);
}
