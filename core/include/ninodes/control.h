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
    NINO_CONTROL_QUEUE,    // workflow, name, options, position -> job
    NINO_CONTROL_MOVE,     // job (queued) to position
    NINO_CONTROL_REMOVE,   // job: queued or finished; 0: all finished ones
    NINO_CONTROL_PAUSE,    // the running job stops between two kernels, no other one starts
    NINO_CONTROL_RESUME,   //
    NINO_CONTROL_CANCEL,   // job: running or queued; 0: the running one
    NINO_CONTROL_SET,      // job (queued), assignment
    NINO_CONTROL_RETRY,    // job (finished): its workflow is queued again -> job
    NINO_CONTROL_WORKFLOW, // job -> text: the workflow as JSON
    NINO_CONTROL_RELOAD,   // forget models, results and lists of files: read anew when next needed
    NINO_CONTROL_TRIM,     // the same, and give the device's memory back -> bytes; the running job
                           // keeps what it uses: both happen when it has ended
    NINO_CONTROL_SHUTDOWN, // end the worker; what runs and waits is there again at the next start
    NINO_CONTROL_COUNT
} nino_control_cmd;

// Where a job of the queue differs from the worker's own settings; zero means "as the worker".
// Relative paths are the worker's: send absolute ones.
typedef struct nino_job_options {
    const char *const *models; // NULL-terminated model folders, or NULL
    const char *input_dir, *output_dir, *trace_path;
    nino_precision_opt precision;
    const char *preview; // "none", "latent2rgb", "taesd", "auto"; NULL: as the worker
    int preview_every;   // steps from one preview to the next; 0: as the worker
    int preview_percent; // of the sampling time, at most; 0: as the worker
    int no_profile;      // 1: pictures carry no profile of their run
    int no_metadata;     // 1: they carry no workflow either
} nino_job_options;

typedef struct nino_control {
    nino_control_cmd cmd;
    uint64_t job;
    int position;         // 0: at the end of the queue; 1: next to run; 2: after that one; ...
    const char *workflow; // as nino_graph_load() takes it; need not be terminated
    size_t workflow_bytes;
    const char *name; // of the workflow, for people
    nino_job_options options;
    const char *assignment; // "NODE.INPUT=VALUE"
    int after_job;          // SHUTDOWN: 1: when the running job has ended; 0: now
} nino_control;

typedef struct nino_control_reply {
    uint32_t request; // what nino_control_send() returned
    nino_error err;   // code NINO_OK: done. NINO_ERR_UNSUPPORTED: this process does not do that
    uint64_t job, bytes;
    const char *text; // "" or as said above; owned by the attach until its next reply is taken
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
    uint32_t scope;   // of its NINO_EV_JOB in this process; 0: it did not run here yet
    uint32_t n_nodes; // of the workflow
    int lost;         // how often the worker died while it ran
    double queued_s, started_s, ended_s; // Unix time; 0: not yet
    const char *const *outputs;          // files written so far
    size_t n_outputs;
    const nino_job_text *texts; // of monitor nodes
    size_t n_texts;
    nino_error err; // FAILED, CANCELLED
    nino_job_options options;
} nino_queue_job;

typedef struct nino_queue {
    uint64_t version; // higher than before when anything has changed
    int is_worker;    // 0: a `ninodes run`: the one job it runs
    int is_paused;
    int is_ending;      // SHUTDOWN was asked for
    const char *notice; // "" or one line: why it is paused though nobody asked
    const char *device; // name of the device
    size_t n_jobs;
    const nino_queue_job *jobs; // the running one, the waiting ones in order, then finished ones,
                                // newest first (the last 100)
} nino_queue;

// The newest snapshot, NULL before the first (it comes right after connecting, before any event).
// Valid until the next call of this function or of nino_attach_close().
NINO_API const nino_queue *nino_control_queue(nino_attach *a);
// "waiting", "running", "done", "failed", "cancelled".
NINO_API const char *nino_queue_state_name(nino_queue_state s);

NINO_END
