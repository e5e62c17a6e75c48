// Where the files lie that come with the app: beside the program in a build, below share/ in an install.
#pragma once
#include <glib.h>

// A file or folder of ours, of "workflows", "demo"; NULL: it is not there. g_free().
char *nino_place(const char *folder, const char *name);
// The translations.
char *nino_place_of_catalogues(void);
// The command `ninodes`; NULL: it is neither beside the program nor in PATH. g_free().
char *nino_place_of_command(void);
