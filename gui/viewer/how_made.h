// The profile that a picture carries of the run that made it: as text, and as marks on the nodes.
#pragma once
#include "workflow/tab.h"

#include <ninodes/run_profile.h>

// FALSE: the file carries none. out: nino_run_profile_release().
gboolean nino_profile_read(const char *path, nino_run_profile *out);
// Time and memory of each node, as after a run here.
void nino_profile_mark(const nino_run_profile *p, NinoTab *tab);
// "8.8 s on DEVICE, 2026-11-22 09:40, peak 8.4 MiB"; g_free().
char *nino_profile_summary(const nino_run_profile *p);
