// Driving a worker over the socket that viewers watch: queue, reorder, pause, cancel, set values.
//
// One connection does it all: nino_attach_open() connects, nino_attach_read() takes in events,
// replies and snapshots of the queue; the functions here send requests and hand out what came.
// Nothing here blocks but nino_control_call(). A `ninodes run` answers PING, PAUSE, RESUME, CANCEL,
// WORKFLOW and TRIM; a worker answers all. Only processes of the same user get an answer at all.
//
// Threads: as a nino_attach, one thread at a time.
#pragma once
#include <ninodes/job.h>
#include <ninodes/monitor.h>

NINO_BEGIN

// What can be asked for. Each says which members of nino_control it takes, and what its reply
// holds.
typedef enum nino_control_cmd {
    // Does nothing: whoever answers is there.
    NINO_CONTROL_PING = 0,
    // Queues a workflow: workflow, name, options, position. The reply has the job.
    NINO_CONTROL_QUEUE,
    // Moves a waiting job to a position.
    NINO_CONTROL_MOVE,
    // Takes a job that waits or has ended off the list; job 0: all that have ended.
    NINO_CONTROL_REMOVE,
    // The running job stops between two kernels, and no other one starts.
    NINO_CONTROL_PAUSE,
    // It goes on, and others may start.
    NINO_CONTROL_RESUME,
    // Cancels a job that runs or waits; job 0: the running one.
    NINO_CONTROL_CANCEL,
    // Sets a value of a waiting job: job, assignment.
    NINO_CONTROL_SET,
    // Queues the workflow of a job that has ended again. The reply has the new job.
    NINO_CONTROL_RETRY,
    // The reply has the workflow of a job, as JSON.
    NINO_CONTROL_WORKFLOW,
    // Forgets models, results and lists of files: they are read anew when they are next needed.
    NINO_CONTROL_RELOAD,
    // The same, and gives the device's memory back; the reply has the bytes. The running job keeps
    // what it uses: both happen when it has ended.
    NINO_CONTROL_TRIM,
    // Ends the worker. What runs and waits is there again at the next start.
    NINO_CONTROL_SHUTDOWN,
    // What of a workflow would run if it ran now: workflow, options. The reply's text has a line for
    // each node: "run ID", "kept ID" (its result is there, or what uses it has one), "late ID" (only
    // the run can tell). Kind "busy": a job is running.
    NINO_CONTROL_AHEAD,
    NINO_CONTROL_COUNT
} nino_control_cmd;

// A request. What it points to need only live until nino_control_send() returns.
#define NINO_CONTROL_INIT .size = sizeof(nino_control)
typedef struct nino_control {
    // Set by NINO_CONTROL_INIT.
    size_t size;
    nino_control_cmd cmd;
    uint64_t job;
    // 0: at the end of the queue; 1: next to run; 2: after that one; and so on.
    int position;
    // The file, as nino_graph_load() takes it; it need not be terminated.
    const char *workflow;
    size_t workflow_bytes;
    // What the workflow is called, for people.
    const char *name;
    // Where the job differs from the worker's own settings; NULL: nowhere. Relative paths are the
    // worker's, so absolute ones should be sent. preview_share is sent as whole per cent.
    const nino_job_options *options;
    // "NODE.INPUT=VALUE".
    const char *assignment;
    // SHUTDOWN: when the running job has ended, not now.
    bool after_job;
} nino_control;

// The answer to a request.
typedef struct nino_control_reply {
    // The number that nino_control_send() returned.
    uint32_t request;
    // Its code is NINO_OK when the request was done, NINO_ERR_UNSUPPORTED when this process does
    // not do such a thing.
    nino_error err;
    uint64_t job, bytes;
    // Never NULL; owned by the nino_attach until its next reply is taken.
    const char *text;
} nino_control_reply;

// Sends a request, or keeps what the socket does not take now for later: nino_attach_read() goes
// on sending. Returns the request's number, or 0 and fills *err: NINO_ERR_IO (the run has ended),
// NINO_ERR_NOMEM, NINO_ERR_ARG (it is larger than 16 MiB).
NINO_API uint32_t nino_control_send(nino_attach *a, const nino_control *c, nino_error *err);
// True while part of a request waits for the socket. Then poll() for writing too, and read.
NINO_API bool nino_control_pending(const nino_attach *a);
// Takes the next reply, in the order of the requests. False: none yet.
NINO_API bool nino_control_next(nino_attach *a, nino_control_reply *out);
// Sends a request and waits at most `ms` milliseconds for its answer; events that come meanwhile
// are thrown away. Returns the reply's code; NINO_ERR_IO: there was no answer. reply may be NULL.
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

// A job of the queue.
typedef struct nino_queue_job {
    uint64_t id;
    nino_queue_state state;
    const char *name;
    // The scope of its NINO_EV_JOB in this process; 0: it has not run here yet.
    uint32_t scope;
    // Nodes of the workflow.
    uint32_t n_nodes;
    // How often the worker died while it ran.
    int lost;
    // Seconds since 1970; 0: not yet.
    double queued_s, started_s, ended_s;
    // Files that it has written so far.
    const char *const *outputs;
    size_t n_outputs;
    // What its monitor nodes say.
    const nino_job_text *texts;
    size_t n_texts;
    // Why, when it has FAILED or was CANCELLED.
    nino_error err;
    // Never NULL.
    const nino_job_options *options;
} nino_queue_job;

// The queue at one moment.
typedef struct nino_queue {
    // Higher than before when anything has changed.
    uint64_t version;
    // False: this is a `ninodes run`, and the queue is the one job that it runs.
    bool is_worker;
    bool is_paused;
    // SHUTDOWN was asked for.
    bool is_ending;
    // One line that says why it is paused though nobody asked, or "".
    const char *notice;
    // Name of the device.
    const char *device;
    size_t n_jobs;
    // The one that runs, those that wait in their order, then the last 100 that have ended, newest
    // first.
    const nino_queue_job *jobs;
} nino_queue;

// The newest snapshot of the queue. The first one comes right after connecting, before any event;
// until then it is NULL. Owned by a until the next call of this function.
NINO_API const nino_queue *nino_control_queue(nino_attach *a);
// "waiting", "running", "done", "failed", "cancelled".
NINO_API const char *nino_queue_state_name(nino_queue_state s);

NINO_END
