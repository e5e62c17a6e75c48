// The language of what the app shows: _(), N_(), C_() and ngettext() of gettext, and their start.
//
// Marked is what people read. Not marked: names of nodes, inputs, kernels, actions and files, what
// is written into a file, and errors of the library, which are English everywhere. What it says of runs and
// workflows it translates itself, by the function here.
//
// Figures that people read are printf's and have the decimal mark of the desktop. Values of nodes, options, settings
// and what is exported are as their files have them, 7.5 everywhere: g_ascii_formatd() and g_ascii_dtostr().
#pragma once
#include <glib/gi18n.h>

// Before GTK starts. language: "de", or "system" for what the desktop says.
void nino_i18n_start(const char *language);
// Advice and what is wrong with a workflow, in that language: a nino_translate_fn.
const char *nino_i18n_translate(const char *text) G_GNUC_FORMAT(1);
