// Timers that lead to drawing fire together, at multiples of 100 ms (of what they wait, when that
// is less): GTK then makes one frame for all of them, and a frame costs the same whatever little
// has changed.
#pragma once
#include <glib.h>

// Calls func once, as g_timeout_add() does, about `wait_ms` from now.
guint nino_tick_add(guint wait_ms, GSourceFunc func, gpointer user);
