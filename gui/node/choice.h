// A button that shows the chosen text and opens a list to choose from. Lighter than GtkDropDown,
// whose list exists before it is asked for: a canvas has hundreds of these.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_CHOICE (nino_choice_get_type())
G_DECLARE_FINAL_TYPE(NinoChoice, nino_choice, NINO, CHOICE, GtkButton)

// list: what there is to choose from, asked for when the list opens; the caller frees it.
GtkWidget *nino_choice_new(char **(*list)(gpointer user),
                           void (*chosen)(gpointer user, const char *), gpointer user);
const char *nino_choice_get_text(GtkWidget *choice);
void nino_choice_set_text(GtkWidget *choice, const char *text);
