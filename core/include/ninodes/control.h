// Driving a worker over the socket that viewers watch: queue, reorder, pause, cancel, set values.
//
// One connection does it all: nino_attach_open() connects, nino_attach_read() takes in events,
// replies and snapshots of the queue; the functions here send requests and hand out what came.
// Nothing here blocks but nino_control_call(). A `ninodes run` answers PING, PAUSE, RESUME, CANCEL
// and TRIM; a worker answers all. Only processes of the same user get an answer at all.
//
// Thread-safety: as nino_attach: one thread at a time.
#pragma once
#include <ninodes/job.h>
#include <ninodes/monitor.h>

NINO_BEGIN

typedef enum nino_control_cmd {
    NINO_CONTROL_PING = 0,
    // Workflow, name, options, position -> job.
    NINO_CONTROL_QUEUE,
    // Job (queued) to position.
    NINO_CONTROL_MOVE,
    // Job: queued or finished; 0: all finished ones.
    NINO_CONTROL_REMOVE,
    // The running job stops between two kernels, no other one starts.
    NINO_CONTROL_PAUSE,
    // Job: running or queued; 0: the running one.
    NINO_CONTROL_RESUME, //
    NINO_CONTROL_CANCEL,
    // Job (queued), assignment.
    NINO_CONTROL_SET,
    // Job (finished): its workflow is queued again -> job.
    NINO_CONTROL_RETRY,
    // Job -> text: the workflow as JSON.
    NINO_CONTROL_WORKFLOW,
    // Forget models, results and lists of files: read anew when next needed.
    NINO_CONTROL_RELOAD,
    // The same, and give the device's memory back -> bytes; the running job keeps what it uses:
    // both happen when it has ended.
    NINO_CONTROL_TRIM,
    // End the worker; what runs and waits is there again at the next start.
    NINO_CONTROL_SHUTDOWN,
    NINO_CONTROL_COUNT
} nino_control_cmd;

#define NINO_CONTROL_INIT .size = sizeof(nino_control)
typedef struct nino_control {
    // Set by NINO_CONTROL_INIT.
    size_t size;
    nino_control_cmd cmd;
    uint64_t job;
    // 0: at the end of the queue; 1: next to run; 2: after that one; and so on.
    int position;
    // As nino_graph_load() takes it; need not be terminated.
    const char *workflow;
    size_t workflow_bytes;
    // Of the workflow, for people.
    const char *name;
    // Where the job differs from the worker's own settings; NULL: nowhere. Relative paths are the
    // worker's: send absolute ones. preview_share goes as whole per cent.
    const nino_job_options *options;
    // "NODE.INPUT=VALUE".
    const char *assignment;
    // Of SHUTDOWN: when the running job has ended, not now.
    bool after_job;
} nino_control;

typedef struct nino_control_reply {
    // What nino_control_send() returned.
    uint32_t request;
    // Code NINO_OK: done. NINO_ERR_UNSUPPORTED: this process does not do that.
    nino_error err;
    uint64_t job, bytes;
    // "" or as said above; owned by the attach until its next reply is taken.
    const char *text;
} nino_control_reply;

// Sends a request, or keeps what the socket does not take now for later: nino_attach_read() goes
// on sending. Returns its number (never 0), 0 and *err: NINO_ERR_IO (the run has ended),
// NINO_ERR_NOMEM, NINO_ERR_ARG (larger than 16 MiB).
NINO_API uint32_t nino_control_send(nino_attach *a, const nino_control *c, nino_error *err);
// True while part of a request waits for the socket: poll() for writing too, then read.
NINO_API bool nino_control_pending(const nino_attach *a);
// Takes the next reply, in the order of the requests. False: none yet.
NINO_API bool nino_control_next(nino_attach *a, nino_control_reply *out);
// Sends and waits for the answer at most `ms`; events that come meanwhile are thrown away. Returns
// the reply's code; NINO_ERR_IO: no answer. *reply may be NULL.
NINO_API nino_status nino_control_call(nino_attach *a, const nino_control *c, int ms,
                                       nino_control_reply *reply, nino_error *err);

// ---- the queue -------------------------------------------------------------------------------

typedef enum nino_queue_state {
    NINO_QUEUE_WAITING,
    NINO_QUEUE_RUNNING,
    NINO_QUEUE_DONE,
    NINO_QUEUE_FAILED,
    NINO_QUEUE_CANCELLED
} nino_queue_state;

typedef struct nino_queue_job {
    uint64_t id;
    nino_queue_state state;
    const char *name;
    // Of its NINO_EV_JOB in this process; 0: it did not run here yet.
    uint32_t scope;
    // Of the workflow.
    uint32_t n_nodes;
    // How often the worker died while it ran.
    int lost;
    // Unix time; 0: not yet.
    double queued_s, started_s, ended_s;
    // Files written so far.
    const char *const *outputs;
    size_t n_outputs;
    // Of monitor nodes.
    const nino_job_text *texts;
    size_t n_texts;
    // FAILED, CANCELLED.
    nino_error err;
    // Never NULL.
    const nino_job_options *options;
} nino_queue_job;

typedef struct nino_queue {
    // Higher than before when anything has changed.
    uint64_t version;
    // False: a `ninodes run`: the one job it runs.
    bool is_worker;
    bool is_paused;
    // SHUTDOWN was asked for.
    bool is_ending;
    // "" or one line: why it is paused though nobody asked.
    const char *notice;
    // Name of the device.
    const char *device;
    size_t n_jobs;
    // The running one, the waiting ones in order, then finished ones, newest first (the last 100).
    const nino_queue_job *jobs;
} nino_queue;

// The newest snapshot, NULL before the first (it comes right after connecting, before any event).
// Valid until the next call of this function or of nino_attach_close().
NINO_API const nino_queue *nino_control_queue(nino_attach *a);
// "waiting", "running", "done", "failed", "cancelled".
NINO_API const char *nino_queue_state_name(nino_queue_state s);

NINO_END
