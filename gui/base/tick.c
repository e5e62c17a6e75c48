// Timers that fire together.
#include "base/tick.h"

enum { GRID_MS = 100 };

guint nino_tick_add(guint wait_ms, GSourceFunc func, gpointer user)
{
    const gint64 now = g_get_monotonic_time(), wanted = now + (gint64) wait_ms * 1000;
    const gint64 grid = wait_ms > 0 && wait_ms < GRID_MS ? wait_ms * 1000 : GRID_MS * 1000;
    gint64 at = (wanted + grid / 2) / grid * grid;
    if (at <= now)
        at += grid;
    GSource *source = g_timeout_source_new(wait_ms);
    g_source_set_callback(source, func, user, NULL);
    const guint id = g_source_attach(source, NULL);
    g_source_set_ready_time(source, at); // to the microsecond, unlike an interval
    g_source_unref(source);
    return id;
}
