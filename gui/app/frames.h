// Loads the frames of one result (files of a batch, or one animated file) without holding up the
// main loop.
#pragma once
#include <gtk/gtk.h>

// frames: GdkTextures in order. error: NULL, or why the rest is missing (the first frames may be
// there all the same).
typedef void (*NinoFramesReady)(gpointer user, GPtrArray *frames, const GError *error);

// Calls ready on the main loop, never before it returns, never after `cancellable` was cancelled.
void nino_frames_load(const char *const *paths, GCancellable *cancellable, NinoFramesReady ready,
                      gpointer user);
// True for what can be shown: PNG, JPEG, WebP by name.
gboolean nino_frames_can_show(const char *path);
// A small picture of a texture, at most `size` pixels a side, drawn by the main loop.
GdkTexture *nino_frames_thumbnail(GdkTexture *texture, int size);
