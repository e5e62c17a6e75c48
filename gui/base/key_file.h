// Small files of the app in GLib's key file format: settings, keys, lists. Nothing in them is lost
// because a file could not be read: it is not written anew then.
#pragma once
#include <glib.h>

// What is in it; empty where there is no such file. One that is damaged is set aside as PATH.damaged
// and counts as empty. NULL: it cannot be read now (no descriptor, no permission, an error of the
// disk).
GKeyFile *nino_key_file_open(const char *path, GError **error);
// Its folder is made where there is none.
gboolean nino_key_file_save(GKeyFile *file, const char *path, GError **error);
