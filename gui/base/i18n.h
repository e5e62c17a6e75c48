// The language of what the app shows: _(), N_(), C_() and ngettext() of gettext, and their start.
//
// Marked is what people read. Not marked: names of nodes, inputs, kernels, actions and files, what
// is written into a file, and messages of the library, which are English everywhere.
#pragma once
#include <glib/gi18n.h>

// Before GTK starts. language: "de", or "system" for what the desktop says.
void nino_i18n_start(const char *language);
