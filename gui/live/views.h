// The views of a run, a file each: the window makes its menu and its tabs from this list.
#pragma once
#include "plot/view.h"

extern const NinoViewType *const nino_views[];      // ends with NULL
const NinoViewType *nino_view_find(const char *id); // NULL: there is none
// Of the view "kernel": shows its page "peers", "source", "code" or "replay".
void nino_kernel_view_page(GtkWidget *kernel_view, const char *page);
