// Internal to core/worker: the worker's fields; worker.c runs jobs, answer.c talks to viewers.
#pragma once
#include "core/base/arena.h"
#include "core/run/context.h"
#include "core/monitor/link/serve.h"
#include "core/worker/queue_store.h"
#include <ninodes/worker.h>

#include <pthread.h>

struct nino_worker {
    nino_ctx_params params; // texts in the arena, job points to options
    nino_job_options options;
    nino_arena *arena;
    nino_store *store;    // NULL: nothing is kept
    pthread_mutex_t lock; // guards all below
    pthread_cond_t changed;
    nino_ctx *ctx; // NULL until it is open
    nino_jobs jobs;
    nino_job *job;     // that of jobs.running
    bool is_cancelled; // somebody cancelled jobs.running, maybe before there was a job
    bool is_paused, is_stopping, is_ending;
    bool want_reload, want_trim; // as soon as no job runs
    int idle_s;                  // as in nino_worker_params
    uint64_t needed_ns;          // somebody watched then, or there was work
    uint64_t version;
    char notice[sizeof(((nino_stored *) 0)->notice)];
    char device[128];
    nino_error save_error; // code NINO_OK: what is stored is what is here
};

extern const nino_server_ops nino_worker_ops;

// The lock is held for all of these.
void nino_worker_changed(nino_worker *w);                    // viewers are told
void nino_worker_save(nino_worker *w);                       // stores the queue, and tells viewers
bool nino_worker_queue(const nino_worker *w, nino_queue *q); // q->jobs is the caller's to free
double nino_worker_now(void);                                // Unix time
