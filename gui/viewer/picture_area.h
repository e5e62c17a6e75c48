// Shows one picture, or two with a movable border between them; zoom and pan by pointer and keys.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_PICTURE_AREA (nino_picture_area_get_type())
G_DECLARE_FINAL_TYPE(NinoPictureArea, nino_picture_area, NINO, PICTURE_AREA, GtkWidget)

GtkWidget *nino_picture_area_new(void);
// What is shown; keeps zoom and place when the size is the same as before. NULL: nothing.
void nino_picture_area_set(NinoPictureArea *a, GdkTexture *texture);
GdkTexture *nino_picture_area_get(NinoPictureArea *a);
// A second picture, scaled to the size of the first; shown right of the border. NULL: none.
void nino_picture_area_compare(NinoPictureArea *a, GdkTexture *other);
void nino_picture_area_set_split(NinoPictureArea *a, double split); // 0 .. 1 of the picture's width
double nino_picture_area_split(NinoPictureArea *a);
// Pixels of the screen a pixel of the picture; 0: as large as fits.
void nino_picture_area_set_zoom(NinoPictureArea *a, double zoom);
double nino_picture_area_zoom(NinoPictureArea *a); // in use now, never 0
// Signals: "zoomed" when the zoom in use changes; "split-moved" when the user dragged the border.
