// The settings of ninodes.conf as a page of the preferences: every key of the library's table, with
// where its value comes from. What is chosen is a line of the user's own ninodes.conf.
#pragma once
#include <gtk/gtk.h>

GtkWidget *nino_engine_page_new(void);
