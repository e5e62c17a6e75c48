// What the tests of widgets share: the main loop for a while, and until something is so.
#pragma once
#include <gtk/gtk.h>

#include "tests/test.h"

static inline void spin_loop(int ms)
{
    const gint64 end = g_get_monotonic_time() + (gint64) ms * 1000;
    do
        while (g_main_context_iteration(NULL, FALSE))
            ;
    while (g_get_monotonic_time() < end && (g_usleep(2000), TRUE));
}

// With a plain space between a number and its unit, as tests write it; g_free().
static inline char *plain(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "\302\240", -1);
    return g_strjoinv(" ", parts);
}

static inline gboolean tells(const char *text, const char *part)
{
    g_autofree char *all = plain(text), *wanted = plain(part);
    return strstr(all, wanted) != NULL;
}

// Waits for something that takes the display a while.
#define WAIT_FOR(cond)                                                                             \
    do {                                                                                           \
        for (int tries_ = 0; !(cond) && tries_ < 400; tries_++)                                    \
            spin_loop(25);                                                                         \
        CHECK(cond);                                                                               \
    } while (0)
