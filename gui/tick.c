// Timers that fire together.
#include "tick.h"

enum { GRID_US = 100000 };

guint nino_tick_add(guint wait_ms, GSourceFunc func, gpointer user)
{
    const gint64 now = g_get_monotonic_time(), wanted = now + (gint64) wait_ms * 1000;
    gint64 at = (wanted + GRID_US / 2) / GRID_US * GRID_US;
    if (at <= now)
        at += GRID_US;
    GSource *source = g_timeout_source_new(wait_ms);
    g_source_set_callback(source, func, user, NULL);
    const guint id = g_source_attach(source, NULL);
    g_source_set_ready_time(source, at); // to the microsecond, unlike an interval
    g_source_unref(source);
    return id;
}
