// A picture with its mask, painted by pointer or by keys.
//
// Left button and Space paint, the right button erases; the middle button moves the view, the wheel and
// + - 0 1 zoom, arrows move the brush (Shift: a pixel), [ ] change its size, B and E choose the tool.
// Signal "changed": the mask, the brush or its place.
#pragma once
#include "mask/mask.h"
#include <gtk/gtk.h>

#define NINO_TYPE_MASK_AREA (nino_mask_area_get_type())
G_DECLARE_FINAL_TYPE(NinoMaskArea, nino_mask_area, NINO, MASK_AREA, GtkWidget)

// mask: must outlive it.
GtkWidget *nino_mask_area_new(NinoMask *mask);
NinoBrush nino_mask_area_brush(NinoMaskArea *a);
void nino_mask_area_set_brush(NinoMaskArea *a, NinoBrush brush);
void nino_mask_area_zoom(NinoMaskArea *a, double factor); // 0: all in view
double nino_mask_area_get_zoom(NinoMaskArea *a);
void nino_mask_area_refresh(NinoMaskArea *a); // the mask was changed by someone else
// A place of the picture in the widget, for who looks from outside.
void nino_mask_area_place(NinoMaskArea *a, double x, double y, double *wx, double *wy);
