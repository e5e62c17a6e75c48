// The window that a mask is painted in.
#pragma once
#include <gtk/gtk.h>

// png: the picture with the mask as its alpha; lives until it returns.
typedef void (*NinoMaskDone)(gpointer user, GBytes *png);
// Opens the picture. FALSE and *error: it is none. `done` is called when the mask is saved, not after
// `parent` went.
gboolean nino_mask_edit(GtkWidget *parent, const char *path, NinoMaskDone done, gpointer user,
                        GError **error);
