// Internal: the jobs of a worker: one that runs, those that wait, in order, and the newest of those
// that have ended. Plain data, no locks.
#pragma once
#include "core/base/params.h"
#include <ninodes/control.h>

enum { NINO_JOBS_KEPT = 100 }; // finished ones

typedef struct nino_wjob nino_wjob;
struct nino_wjob {
    nino_wjob *next;
    nino_queue_job q;         // as viewers see it; all texts are the job's own
    nino_job_options options; // where q.options points to; texts in the arena
    nino_arena *arena;
    char *workflow;
    size_t workflow_bytes;
};

typedef struct nino_jobs {
    nino_wjob *running, *waiting, *finished;
    uint64_t next_id;
} nino_jobs;

// A job that is in no list yet, with copies of what is given. NULL: out of memory.
nino_wjob *nino_wjob_create(const nino_queue_job *q, const char *workflow, size_t len);
void nino_wjob_destroy(nino_wjob **j); // NULL-safe
// Takes over a malloc'd text.
void nino_wjob_set_workflow(nino_wjob *j, char *workflow, size_t len);
// False: out of memory, nothing changed.
bool nino_wjob_add_output(nino_wjob *j, const char *path);
bool nino_wjob_add_text(nino_wjob *j, const nino_job_text *t);

nino_wjob *nino_jobs_find(const nino_jobs *jobs, uint64_t id);
// Among the waiting; position 0: last, 1: first.
void nino_jobs_insert(nino_jobs *jobs, nino_wjob *j, int position);
void nino_jobs_unlink(nino_jobs *jobs, nino_wjob *j); // from whichever list it is in
// Puts it in front of the finished; returns the one that is one too many, unlinked, or NULL.
nino_wjob *nino_jobs_finish(nino_jobs *jobs, nino_wjob *j);
// A malloc'd list of *n: running, waiting, finished; its texts live as long as the jobs. NULL: out
// of memory.
nino_queue_job *nino_jobs_list(const nino_jobs *jobs, size_t *n);
void nino_jobs_release(nino_jobs *jobs);
