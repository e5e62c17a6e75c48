// Small copies of pictures: scaling a large one in every frame is what software rendering cannot
// do.
#pragma once
#include <gtk/gtk.h>

GdkTexture *nino_small_picture(GdkTexture *picture); // a new reference
// As nodes read it: upright, the first frame of what moves. NULL: it cannot be read.
GdkTexture *nino_full_picture_load(const char *path);
GdkTexture *nino_small_picture_load(const char *path);
