// Small copies of pictures: scaling a large one in every frame is what software rendering cannot
// do.
#pragma once
#include <gtk/gtk.h>

GdkTexture *nino_small_picture(GdkTexture *picture); // a new reference
// NULL: it cannot be read.
GdkTexture *nino_small_picture_load(const char *path);
