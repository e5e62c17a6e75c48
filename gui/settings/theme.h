// Light, dark or high contrast: as the desktop's portal says, or as the user prefers.
#pragma once
#include <gtk/gtk.h>

void nino_theme_start(
    void); // after GTK is initialised; follows preference and desktop from then on
