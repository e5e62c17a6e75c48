// Workflows that were opened or saved lately, and the picture that each of them made last.
#pragma once
#include <glib.h>

char **nino_recent_list(void); // paths, the last one first; g_strfreev()
void nino_recent_add(const char *path);
void nino_recent_forget(const char *path); // it is gone
// A run of the workflow wrote this picture.
void nino_recent_made(const char *path, const char *picture);
// Of what it made last, else the example's own, else the file itself where it is a picture. NULL: none is there; g_free().
char *nino_recent_picture(const char *path);
