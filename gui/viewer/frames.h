// Loads the frames of one result (files of a batch, or one animated file) without holding up the
// main loop.
#pragma once
#include <gtk/gtk.h>

// frames: GdkTextures in order. fps: of a moving file; 0: stills, or it does not say. error: NULL,
// or why the rest is missing (the first frames may be there all the same).
typedef void (*NinoFramesReady)(gpointer user, GPtrArray *frames, double fps, const GError *error);

// Calls ready on the main loop, never before it returns, never after `cancellable` was cancelled.
void nino_frames_load(const char *const *paths, GCancellable *cancellable, NinoFramesReady ready,
                      gpointer user);
// True for what can be shown, by name: PNG, JPEG, WebP, MP4, MOV, WebM, Matroska, .latent.
gboolean nino_frames_can_show(const char *path);
// Puts the first frame of a file into a picture that shows nothing yet, when it was read.
void nino_frames_fill(GtkPicture *picture, const char *path, int size);
// A small picture of a texture, at most `size` pixels a side, drawn by the main loop.
GdkTexture *nino_frames_thumbnail(GdkTexture *texture, int size);
