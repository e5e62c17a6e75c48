// How a picture was made: the profile that its file carries of the run.
#pragma once
#include <glib.h>
#include <ninodes/run_profile.h>

// FALSE: the file carries none. out: nino_run_profile_release().
gboolean nino_profile_read(const char *path, nino_run_profile *out);
// "8.8 s on DEVICE, 2026-11-22 09:40, peak 8.4 MiB"; g_free().
char *nino_profile_summary(const nino_run_profile *p);
// "a red circle · seed 7 · 10 steps · 8.8 s · 8.4 MiB", what of it the file tells; g_free().
char *nino_made_line(const char *path);
