// The inside of the OpenCL runtime: what cl_device.c, program.c, room.c, cache.c, queue.c, launch.c
// and cl_backend.c share. Op hosts include cl/cl.h only.
#pragma once
#include "cl/cl.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/event/sensor.h"
#include <ninodes/kernel.h>

// ---- cl_device.c -----------------------------------------------------------------------------
struct nino_cl_device {
    cl_platform_id platform;
    cl_device_id id;
    bool is_host; // the processors of this machine: their memory is ours too, and they cannot hang
    // The schedule that it answered for when it was asked (is_native); NULL: none.
    const nino_sched *native;
    nino_device_info info;
    bool is_unified;                          // its memory is the machine's
    char pci[16];                             // address, "0000:c5:00.0"; "": not told
    unsigned clock_mhz, lanes;                // of all compute units, and of one; 0: not known
    char version[128], platform_version[128]; // parts of the cache key
};

// The devices of this process, found on the first call under a lock (PoCL 3.1 breaks when two
// threads are first). The list lives as long as the process.
size_t nino_cl_devices(const nino_cl_device **list);
// Lines: the calls that failed while they were looked for; "": none.
const char *nino_cl_enumeration_problem(void);

// ---- budget.c --------------------------------------------------------------------------------
// Bytes that may be taken from the device now: the least of what it reports and what the system can
// give, less a reserve. The system gives processors its free memory; a card its free VRAM; an APU
// both the free part of what was carved out for it, and of GTT what the machine has free.
uint64_t nino_cl_budget(const nino_cl_device *dev, const nino_profile *profile);
uint64_t nino_cl_budget_of(const nino_cl_device *dev, const nino_profile *profile,
                           const nino_memory_now *m);
void nino_cl_find_card(nino_cl_device *d); // sets pci

// As nino_kernel_folder().
bool nino_cl_kernel_folder(int i, char *out, size_t size);

// ---- cl_explain.c ----------------------------------------------------------------------------
// As nino_device_provider.explain.
void nino_cl_explain(char *cause, size_t size, nino_buf *lines);
// Whether a file is there, but not for this user.
bool nino_cl_is_locked(const char *path);

// ---- cl_schedule.c ---------------------------------------------------------------------------
const nino_cl_schedule *nino_cl_schedule_of(const nino_profile *p);
// Asks a device that is no processor for which of the schedules that not all can do it is made.
const nino_sched *nino_cl_native(const nino_cl_device *dev);
// Whether a schedule's kernels run emulated there.
bool nino_cl_is_emulated(const nino_cl_device *dev, const nino_sched *s);
// The profile of a device, with the schedule that NINODES_SCHEDULE names if it does; else GPUs that have
// what a schedule needs get that in place of its base, those that have not its base.
nino_status nino_cl_profile_of(const nino_cl_device *dev, nino_profile *out, nino_error *err);
// The schedule whose kernels one takes that it has not itself; NULL: none.
const nino_sched *nino_cl_base(const nino_sched *s);
// The built-in FILE.cl of the profile's schedule, of its base, else the shared one; NULL: no such file.
const char *nino_cl_source(const nino_profile *p, const char *file);

// ---- cache.c ---------------------------------------------------------------------------------
// Compiled programs are code: entries are read only from a folder that is ours alone, and only when
// key and digest agree. Any doubt is a miss.
typedef struct nino_cl_cache nino_cl_cache;
typedef struct nino_cl_key {
    uint8_t sha[32];
} nino_cl_key;
// SHA-256 over the parts and their lengths.
nino_cl_key nino_cl_hash(const char *const *parts, size_t n);

// Opens (and makes) DIR/kernels and removes the entries used longest ago beyond max_bytes (0: 512
// MiB). NULL when the folder cannot be trusted or made; the reason goes to the log.
nino_cl_cache *nino_cl_cache_open(const char *dir, uint64_t max_bytes, const nino_log *log);
// Whether this process alone puts binaries there that nobody waits for, and the folder is still there. The lock
// goes with the process.
bool nino_cl_cache_keeps(const nino_cl_cache *c);
void nino_cl_cache_close(nino_cl_cache **c); // NULL-safe
// PoCL leaves an empty tempfile_* in DIR/pocl for every process; removes the old ones.
void nino_cl_cache_sweep_pocl(const nino_cl_cache *c);
// malloc'd bytes of an entry, NULL: miss.
void *nino_cl_cache_get(nino_cl_cache *c, const nino_cl_key *key, size_t *bytes);
void nino_cl_cache_put(nino_cl_cache *c, const nino_cl_key *key, const void *data, size_t bytes);

// ---- code.c ----------------------------------------------------------------------------------
// Code objects that are shipped for a kind of GPU, in CODE/TARGET.bin of NINODES_DATA_DIR or the install.
typedef struct nino_cl_code nino_cl_code;
// NULL: none for this device; of a damaged file the log says so.
nino_cl_code *nino_cl_code_open(const nino_cl_device *dev, const nino_log *log);
void nino_cl_code_close(nino_cl_code **c); // NULL-safe
nino_cl_key nino_cl_code_key(const char *target, const char *define, const char *defs,
                             const char *const source[3]);
// Number of the object of a program, -1: there is none.
int nino_cl_code_find(const nino_cl_code *c, const char *define, const char *defs,
                      const char *const source[3]);
// malloc'd object, and calls that use it, a line each (may be NULL); NULL: it is damaged.
void *nino_cl_code_load(const nino_cl_code *c, int i, size_t *bytes, char **calls);
// Whether its calls give what the reference gives: computed once, kept in the cache of programs.
bool nino_cl_code_is_right(nino_cl *cl, int i);
bool nino_cl_code_may_be_right(const nino_cl_code *c, int i); // nothing is computed
// How many there are for a device, and those of programs that are as in this library.
size_t nino_cl_code_count(const nino_cl_device *dev, size_t *n_fit);

// ---- room.c ----------------------------------------------------------------------------------
// Before a driver compiles: NINO_ERR_IO with what is missing of what it would end the process for.
nino_status nino_cl_room_check(const nino_cl *cl, nino_error *err);
// After its compiler has failed: NINO_ERR_IO with what it may have lacked; NINO_OK: nothing of that.
nino_status nino_cl_room_explain(const nino_cl *cl, nino_error *err);

// ---- source.c --------------------------------------------------------------------------------
// malloc'd text of FILE.cl with what it includes.
nino_status nino_cl_program_source(const nino_profile *p, const char *file, char **out,
                                   nino_error *err);

// ---- program.c -------------------------------------------------------------------------------
// A kernel object with what launching it needs to know. Owned by its program.
typedef struct nino_cl_kernel {
    struct nino_cl_kernel *next;
    struct nino_cl_program *program;
    cl_kernel handle;
    char name[48];
    cl_uint n_args;
    size_t local[3]; // reqd_work_group_size; all 0: the driver chooses
    size_t most;     // work-items of a work-group that the device can run of it
    bool was_launched;
    // Values of its first n_kept arguments as it has them; n_gone: of nino_cl, as they were set.
    uint64_t *kept;
    cl_uint n_kept;
    unsigned n_gone;
} nino_cl_kernel;

// Schedule, file and options of its program, as nino_kernel_told has them. Returns buf.
const char *nino_cl_kernel_program(const nino_cl *cl, const nino_cl_kernel *k,
                                   char buf[NINO_KERNEL_PROGRAM]);
// As nino_device_provider.source and nino_backend_impl.ask.
nino_status nino_cl_program_text(const char *schedule, const char *file, const char *defs,
                                 char **out, char **options, nino_error *err);
nino_status nino_cl_kernel_ask(nino_backend *be, const char *file, const char *defs,
                               const char *name, nino_kernel_facts *out, nino_error *err);
// Finds or builds. `defs` as given to nino_cl_launch(). The compiler runs on a thread of its own,
// so that a cancel need not wait for it: the call ends with NINO_ERR_CANCELLED, the build goes on,
// and its program is there for the next one who asks.
nino_cl_kernel *nino_cl_kernel_get(nino_cl *cl, const char *file, const char *name,
                                   const char *defs, nino_error *err);
// As nino_backend_impl.expect.
void nino_cl_programs_expect(nino_backend *be, const nino_programs *programs);
// As nino_cl_kernel_get(), for a listing.
nino_status nino_cl_program_list(nino_cl *cl, const char *file, const char *defs, nino_error *err);
// As nino_backend_impl.compile.
nino_status nino_cl_program_compile(nino_backend *be, const nino_plan_program *program,
                                    nino_error *err);
// Where it is: in this process or our cache; where the driver keeps it; nowhere.
typedef enum nino_cl_nearness { NINO_CL_HERE, NINO_CL_DRIVERS, NINO_CL_NOWHERE } nino_cl_nearness;
nino_cl_nearness nino_cl_program_near(nino_cl *cl, const char *file, const char *options);
// Number of the code object of a program of that profile, -1: there is none.
int nino_cl_program_code(const nino_cl_code *c, const nino_profile *p, const char *file,
                         const char *options);
// Whether the program that this backend has is a code object.
bool nino_cl_program_is_shipped(const nino_cl *cl, const char *file, const char *options);
// Whether the driver compiles a kernel when it is first launched (PoCL).
bool nino_cl_builds_at_launch(const nino_cl *cl);
uint32_t nino_cl_stage_launch(nino_cl *cl, const nino_cl_kernel *k); // begins NINO_STAGE_LAUNCH
// Waits for a build that a cancel has left; a later cancel ends the wait too.
nino_status nino_cl_build_settle(nino_cl *cl, nino_error *err);
// Work on the compiler's thread that is no program of ours, in a stage of that name; its result becomes
// is_blas_ready.
nino_status nino_cl_build_other(nino_cl *cl, const char *name, cl_int (*work)(nino_cl *),
                                nino_error *err);
void nino_cl_programs_release(nino_cl *cl);         // waits for it in any case
extern const nino_cl_text nino_cl_shared_kernels[]; // cl/kernels.c

// ---- ahead.c ---------------------------------------------------------------------------------
// Helpers begin with those of the list that are nowhere, then keep binaries of those and of the driver's;
// helpers of an earlier list that somebody waits for end.
void nino_cl_ahead_start(nino_cl *cl, const nino_programs *programs);
bool nino_cl_ahead_has(const nino_cl *cl, const char *file, const char *options);
// Of one that they have: until it is done, no helper is left (also NINO_OK), or a cancel.
nino_status nino_cl_ahead_wait(nino_cl *cl, const char *file, const char *options, nino_error *err);
void nino_cl_ahead_stop(nino_cl *cl);

// ---- record.c --------------------------------------------------------------------------------
// What was told of a launch: those alike have the same names, which are not printed again.
typedef struct nino_cl_told {
    nino_launch launch;
    const nino_cl_kernel *kernel;
    uint64_t call;                    // a hash of what the op was called with
    uint32_t launch_name, shape_name; // 0: an empty entry
} nino_cl_told;

enum { NINO_CL_TOLD = 256 }; // a power of two
typedef struct nino_cl_tellings {
    uint64_t monitor; // number of the one that has the names
    nino_cl_told at[NINO_CL_TOLD];
} nino_cl_tellings;

struct nino_cl_command;
// The record of a command, but for its times.
void nino_cl_record(nino_cl *cl, struct nino_cl_command *c);

// ---- queue.c ---------------------------------------------------------------------------------
enum { NINO_CL_PENDING = 64 };
// A GPU is taken for lost when none of our commands has moved for so many seconds, or for 20 times
// what was predicted: other programs may have it for a while. Drivers compile a kernel anew when it
// is first launched, in place of the command: that may take longer, until the command is said to
// run.
enum { NINO_CL_SILENCE_S = 120, NINO_CL_FIRST_S = 600 };

// A command that has been enqueued with an event.
typedef struct nino_cl_pending {
    cl_event event;
    cl_event begun; // of a marker before it, for times; NULL: it is one kernel or copy
    void *host;     // freed when the command is done
    size_t host_bytes;
    nino_monitor *monitor;        // NULL: not recorded
    nino_event ev;                // filled but for times
    uint64_t before_ns, after_ns; // around the enqueue call
    uint64_t begin_ns;            // when the first of the commands before it was enqueued
    double seconds;               // predicted, with the commands before it that have no event
    int n_commands;
    bool is_first; // one of them launches a kernel that has not been launched before
} nino_cl_pending;

typedef struct nino_cl_queue {
    // Drivers pay for times: the queue in use keeps them only while somebody listens, `other` is the one for
    // the other case, NULL until it is needed.
    cl_command_queue handle, other;
    bool is_timed, is_ending; // is_ending: what comes is the mark behind the last command
    nino_cl_pending ring[NINO_CL_PENDING];
    unsigned head, tail; // ring[head % size] is the oldest, tail - head entries
    const struct nino_cl_command
        *starting; // enqueued, and waited for before it is in the ring; NULL
    // Commands since the last one with an event.
    int n_bare, n_unflushed;
    bool is_bare_first;
    double bare_seconds;
    // In flight, in all.
    int n_flight;
    double flight_seconds; // predicted
    // Real time / predicted time of the last commands: the machine may be busy with other things,
    // and predictions may be wrong. Bounds what is in flight, and how long a piece is.
    double slowdown;
    // end_clock: when the last one ended, on the device's clock; end_ns: on ours, where there are no times
    uint64_t bare_begin_ns, end_clock, end_ns;
    size_t flight_bytes; // of host memory that copies read from
    // Device clock -> CLOCK_MONOTONIC.
    bool has_offset;
    int64_t offset_ns;
    uint64_t offset_width_ns, last_end_ns;
    uint64_t cancel_ns; // when a wait first saw the present cancel; 0: none
    double silence_s, first_s;
} nino_cl_queue;

// What is about to be enqueued.
typedef struct nino_cl_command {
    const char *name; // for the monitor
    nino_event_kind kind;
    const nino_cl_what *what; // may be NULL
    double bytes;             // transfers
    const nino_cl_kernel *kernel;
    nino_launch launch; // kernels: how
    void *host;         // to free when it is done (taken in any case, also on failure)
    cl_event *event;    // out of begin(): pass this to the enqueue call; NULL: no event
    bool must_track;    // in: an event even if nobody listens
    bool is_first;      // in: the first launch of its kernel
    double seconds;
    nino_cl_pending rec;
    cl_event handle;
} nino_cl_command;

// begin(): waits until little enough is in flight. Then enqueue, then end() with the result of the
// call, which it turns into a status.
nino_status nino_cl_command_begin(nino_cl *cl, nino_cl_command *c, nino_error *err);
nino_status nino_cl_command_end(nino_cl *cl, nino_cl_command *c, cl_int e, nino_error *err);
// Waits for everything; after a cancel not for long: then NINO_ERR_CANCELLED, and what the device
// has not finished goes on.
nino_status nino_cl_queue_finish(nino_cl *cl, nino_error *err);
// Waits until c, which is enqueued and has an event, runs.
nino_status nino_cl_queue_started(nino_cl *cl, const nino_cl_command *c, nino_error *err);
void nino_cl_queue_release(nino_cl *cl);

// ---- cl_backend.c ----------------------------------------------------------------------------
struct nino_cl {
    nino_backend be; // first
    const nino_cl_device *dev;
    cl_context context;
    nino_cl_queue queue;
    nino_cl_tellings told;
    nino_cl_cache *cache; // may be NULL
    nino_cl_code *code;   // may be NULL
    bool is_trial;        // it checks code objects and compiles nothing
    struct nino_cl_program *programs;
    struct nino_cl_build *build;        // that goes on in the background, NULL: none
    struct nino_cl_ahead *ahead;        // programs that helpers build; NULL: none
    char helper[1024], cache_dir[1024]; // of nino_ctx_params; "": none
    unsigned
        n_expected;  // programs that a plan has announced and that were not there yet; 0: not known
    unsigned n_come; // of these, and others, those that have been prepared since
    nino_programs
        *listing; // launches only add their program to it, and there is no device; NULL: none
    nino_log log;
    uint64_t local_bytes; // of a compute unit
    unsigned n_gone;      // arenas that were released
    bool is_blas_ready;   // it has compiled its kernels
    bool is_lost;         // the driver failed in a way that nothing recovers from; no further calls
};

// As nino_device_provider.list_programs.
nino_backend *nino_cl_list_programs(const nino_profile *p, const nino_device_info *like,
                                    nino_programs *out);
nino_backend *nino_cl_open(const nino_cl_device *dev, const nino_ctx_params *params,
                           const nino_log *log, nino_error *err);
// Fills *err with the class of an OpenCL error: too big -> NOMEM, gone -> DEVICE kind "lost", our
// mistake -> DEVICE. `what` is the call or kernel.
nino_status nino_cl_fail(nino_cl *cl, cl_int e, const char *what, nino_error *err);
// cl_probe.c
nino_status nino_cl_probe(nino_backend *be, nino_ceiling_kind kind, uint64_t bytes, int repeats,
                          double seconds, double *rate, nino_error *err);
// cl_ops.c
nino_status nino_cl_run(nino_backend *be, const nino_op_call *call, nino_error *err);
