// Small files of the app that are read whole and written whole.
#include "base/key_file.h"

#include <errno.h>
#include <glib/gstdio.h>

GKeyFile *nino_key_file_open(const char *path, GError **error)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) e = NULL;
    if (g_key_file_load_from_file(file, path, G_KEY_FILE_KEEP_COMMENTS, &e) ||
        g_error_matches(e, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        return g_steal_pointer(&file);
    if (e->domain != G_KEY_FILE_ERROR) {
        g_propagate_error(error, g_steal_pointer(&e));
        return NULL;
    }
    g_autofree char *aside = g_strconcat(path, ".damaged", NULL);
    if (g_rename(path, aside)) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "%s: %s", path,
                    g_strerror(errno));
        return NULL;
    }
    g_message("%s was damaged (%s) and is %s now", path, e->message, aside);
    return g_key_file_new(); // what was read before the damage is in the other
}

gboolean nino_key_file_save(GKeyFile *file, const char *path, GError **error)
{
    g_autofree char *dir = g_path_get_dirname(path);
    if (g_mkdir_with_parents(dir, 0700)) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "%s: %s", dir,
                    g_strerror(errno));
        return FALSE;
    }
    return g_key_file_save_to_file(file, path, error);
}
