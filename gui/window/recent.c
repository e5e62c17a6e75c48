// Both are lists in the app's state: of paths, and of a path and its picture in turn.
#include "window/recent.h"

#include <string.h>

#include "settings/prefs.h"
#include "viewer/frames.h"
#include "window/welcome.h"

#define MAX_RECENT 12
#define PICTURES "recent-pictures"

char **nino_recent_list(void) { return nino_state_list("recent"); }

static void put(const char *path, gboolean first)
{
    g_auto(GStrv) old = nino_recent_list();
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    if (first)
        g_ptr_array_add(list, (gpointer) path);
    for (int i = 0; old[i] && list->len < MAX_RECENT; i++)
        if (strcmp(old[i], path) != 0)
            g_ptr_array_add(list, old[i]);
    g_ptr_array_add(list, NULL);
    nino_state_set_list("recent", (const char *const *) list->pdata);
}

void nino_recent_add(const char *path) { put(path, TRUE); }

void nino_recent_forget(const char *path) { put(path, FALSE); }

void nino_recent_made(const char *path, const char *picture)
{
    g_auto(GStrv) old = nino_state_list(PICTURES);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    g_ptr_array_add(list, (gpointer) path);
    g_ptr_array_add(list, (gpointer) picture);
    for (int i = 0; old[i] && old[i + 1] && list->len < 2 * MAX_RECENT; i += 2)
        if (strcmp(old[i], path) != 0) {
            g_ptr_array_add(list, old[i]);
            g_ptr_array_add(list, old[i + 1]);
        }
    g_ptr_array_add(list, NULL);
    nino_state_set_list(PICTURES, (const char *const *) list->pdata);
}

static gboolean is_there(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_REGULAR) && nino_frames_can_show(path);
}

char *nino_recent_picture(const char *path)
{
    g_auto(GStrv) all = nino_state_list(PICTURES);
    for (int i = 0; all[i] && all[i + 1]; i += 2)
        if (!strcmp(all[i], path) && is_there(all[i + 1]))
            return g_strdup(all[i + 1]);
    g_autofree char *own = nino_welcome_picture(path);
    return own ? g_steal_pointer(&own) : is_there(path) ? g_strdup(path) : NULL;
}
