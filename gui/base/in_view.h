// Keys act on what is seen.
#pragma once
#include <gtk/gtk.h>

// From now on a key that comes to what lies in the scroller first brings it into view. What was
// scrolled away keeps the keys otherwise, and a list that it opens stands beside the screen (where
// GTK 4.8 finds no monitor).
void nino_in_view_keep(GtkScrolledWindow *scroller);
