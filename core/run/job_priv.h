// Internal: what a worker needs of a job beyond ninodes/job.h.
#pragma once
#include <ninodes/job.h>

uint32_t nino_job_scope(nino_job *job); // of its events; 0: it has not begun
// A callback of nino_graph_check(): keeps the first error in the nino_error that is its priv.
void nino_first_issue(void *error, const nino_issue *i);
