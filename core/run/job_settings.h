// Internal: the options that a job runs with, complete, and the folders that they name. A context
// has its own, for checks and for jobs that say nothing else.
#pragma once
#include "core/base/params.h"
#include "core/file/model_paths.h"
#include "core/node/node_impl.h"
#include <ninodes/job.h>

typedef struct nino_settings {
    nino_arena *arena;  // of the texts
    nino_job_options o; // nothing is left to be decided but precision AUTO
    nino_paths *paths;
    nino_preview_settings previews;
} nino_settings;

// `over` (its size is right; may be NULL) laid over `base`. preview_path: where previews go, or
// NULL: there are none; it must outlive the settings. NULL: out of memory.
nino_settings *nino_settings_create(const nino_job_options *base, const nino_job_options *over,
                                    char *preview_path, const nino_log *log, nino_error *err);
void nino_settings_destroy(nino_settings **s); // NULL-safe

// ---- what a worker needs of a job beyond ninodes/job.h
uint32_t nino_job_scope(nino_job *job); // of its events; 0: it has not begun
// A callback of nino_graph_check(): keeps the first error in the nino_error that is its priv.
void nino_first_issue(void *error, const nino_issue *i);
