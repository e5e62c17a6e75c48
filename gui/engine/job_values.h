// The values that a job was queued with, and how they differ from those of the job before: "seed 7 → 8".
#pragma once
#include <glib.h>

// Of all nodes of a workflow; NULL: unreadable. g_hash_table_unref().
GHashTable *nino_job_values(const char *workflow, gsize len);
// NULL: nothing differs, or they are not of the same workflow. g_free().
char *nino_job_values_differ(GHashTable *before, GHashTable *now);
