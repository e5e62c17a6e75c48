// An entry is "SESSION GROUP|PATH": groups of two sessions may have one name.
#include "viewer/gallery.h"

#include <string.h>

#include "settings/prefs.h"

#define KEY "results"

enum { MAX_KEPT = 48 }; // files

static const char *path_of(const char *entry)
{
    const char *bar = strchr(entry, '|');
    return bar ? bar + 1 : entry;
}

void nino_gallery_keep(const char *group, const char *path)
{
    static gint64 session;
    g_auto(GStrv) old = nino_state_list(KEY);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    g_autofree char *name = g_strdelimit(g_strdup(group), "|", ' ');
    session = session ? session : g_get_real_time();
    g_autofree char *entry =
        g_strdup_printf("%" G_GINT64_FORMAT " %s|%s", session / G_USEC_PER_SEC, name, path);
    const guint n = g_strv_length(old);
    for (guint i = n >= MAX_KEPT ? n - MAX_KEPT + 1 : 0; i < n; i++)
        if (strcmp(path_of(old[i]), path) != 0) // written over
            g_ptr_array_add(list, old[i]);
    g_ptr_array_add(list, entry);
    g_ptr_array_add(list, NULL);
    nino_state_set_list(KEY, (const char *const *) list->pdata);
}

void nino_gallery_restore(NinoViewer *v)
{
    g_auto(GStrv) old = nino_state_list(KEY);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (char **e = old; *e; e++) {
        const char *path = path_of(*e);
        if (path == *e || !g_file_test(path, G_FILE_TEST_IS_REGULAR))
            continue;
        g_autofree char *group = g_strndup(*e, (gsize) (path - 1 - *e));
        nino_viewer_add(v, group, path);
        g_ptr_array_add(list, *e);
    }
    g_ptr_array_add(list, NULL);
    if (list->len != g_strv_length(old) + 1)
        nino_state_set_list(KEY, (const char *const *) list->pdata);
}
