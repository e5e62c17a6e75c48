// A long-lived process that takes jobs over its monitor socket (ninodes/control.h) and runs them
// one after the other.
//
// The queue lives in a folder: every waiting job, its workflow and the files that finished jobs
// wrote are there again after the process was killed. A job that ran then waits again, at the
// front, and the queue is paused so that what killed the worker does not do so again unasked. A
// queue whose file is damaged or missing is made anew of the workflows beside it, and paused; the
// damaged file is kept under another name, which the log and the queue's notice say.
//
// Threads: a worker belongs to the thread that runs it, except nino_worker_stop(), which any thread
// may call.
#pragma once
#include <ninodes/control.h>

NINO_BEGIN

typedef struct nino_worker nino_worker;

#define NINO_WORKER_PARAMS_INIT .size = sizeof(nino_worker_params)
typedef struct nino_worker_params {
    // Set by NINO_WORKER_PARAMS_INIT.
    size_t size;
    // The context of its jobs; `serve` is always on. NULL: the defaults.
    const nino_ctx_params *ctx;
    // Where the queue is kept. NULL: $XDG_STATE_HOME/ninodes; "": nowhere.
    const char *state_dir;
    // Starts with the queue running, whatever happened before; only a queue that had to be made
    // anew stays paused.
    bool resume;
    // Ends by itself when for so many seconds nobody was connected, no job ran and none waited in a
    // queue that is not paused. 0: never. What waits in a paused queue is there at the next start.
    int idle_s;
} nino_worker_params;

// Opens the device, the socket and the queue. One worker at a time uses a state folder. Errors: as
// nino_ctx_create(); NINO_ERR_IO (state folder, socket); kind "busy": another worker has the
// folder.
NINO_API nino_worker *nino_worker_create(const nino_worker_params *params, nino_error *err);
// Runs jobs on the calling thread until nino_worker_stop() or a SHUTDOWN request. NINO_OK, or why
// the queue could not be written when it ended.
NINO_API nino_status nino_worker_run(nino_worker *w, nino_error *err);
// Ends nino_worker_run(): the running job is cancelled and waits again.
NINO_API void nino_worker_stop(nino_worker *w);
// Must not be called while it runs.
NINO_API void nino_worker_destroy(nino_worker **w);
// Path of its socket, owned by w.
NINO_API const char *nino_worker_socket(const nino_worker *w);
// Id of the process that has the state folder (as in nino_worker_params); 0: none has it. It may
// still be opening its device, or be about to end.
NINO_API int nino_worker_find(const char *state_dir);

NINO_END
