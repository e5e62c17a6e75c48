// Internal: the folder that keeps a worker's queue: queue.json says which jobs there are and how
// far they got, job-ID.json is the workflow of one. Every file appears whole or not at all, a
// workflow before the queue that names it; so a process that is killed loses nothing.
#pragma once
#include "core/worker/job_lists.h"

typedef struct nino_store nino_store;

// dir NULL: $XDG_STATE_HOME/ninodes, or ~/.local/state/ninodes. Takes the folder for this process:
// NINO_ERR_IO, kind "busy" when another worker has it. NINO_ERR_MISSING: no HOME either.
nino_store *nino_store_open(const char *dir, nino_error *err);
void nino_store_close(nino_store **s); // NULL-safe
int nino_store_owner(const char *dir); // process that has the folder, 0: none
const char *nino_store_dir(const nino_store *s);

// Every function takes NULL for "nothing is kept".
nino_status nino_store_save_workflow(nino_store *s, const nino_wjob *j, nino_error *err);
void nino_store_drop_workflow(nino_store *s, uint64_t id); // after the queue without it was saved
nino_status nino_store_save(nino_store *s, const nino_jobs *jobs, const nino_queue *q,
                            nino_error *err);

typedef struct nino_stored {
    bool is_paused;
    bool is_rebuilt;  // from the workflows alone: what had ended may wait again
    char notice[320]; // one line on what is not as it was left, or ""
} nino_stored;
// Fills empty `jobs`. A job that ran waits again, first, one time more `lost`. Files that no job
// names are removed. Nothing stored is fine.
//
// A queue.json that is damaged, in whatever way, is set aside as queue.json.damaged, and the jobs
// are made anew of the workflows that are there; so they are where it is missing. Workflows that
// cannot be used are set aside likewise. A queue.json or a workflow that waits and cannot be read
// (permission, an error of the disk, no descriptor) may be whole: that is an error with its path, and
// nothing has changed.
nino_status nino_store_load(nino_store *s, nino_jobs *jobs, nino_stored *out, nino_error *err);
