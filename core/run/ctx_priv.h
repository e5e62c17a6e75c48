// Internal to core/run: what a context is made of.
#pragma once
#include "core/base/hash.h"
#include "core/run/context.h"
#include "core/run/planner.h"
#include "core/file/model_paths.h"
#include "core/event/sensor.h"
#include "core/monitor/link/serve.h"
#include "core/op/gate.h"

#include <pthread.h>

#define MAX_FILES 16   // open model files that nobody uses right now
#define MAX_OBJECTS 16 // models, text encoders and VAEs kept for the next node that names them

typedef struct open_file {
    nino_hash id;
    nino_weights *w;
    uint64_t used;
} open_file;

typedef struct kept_object {
    nino_hash key;
    nino_value *v;
    uint64_t used;
} kept_object;

typedef struct nino_found nino_found; // find_model.c: which files fit

typedef struct nino_crew nino_crew; // crew.c: the contexts of several devices

struct nino_ctx {
    const nino_services *services; // first: nodes find it there
    nino_log log;
    nino_translate_fn translate;
    nino_monitor *monitor;
    nino_server *server;
    nino_device_sampler *sampler;
    nino_ceiling_watch watch; // what viewers are told, raised by what the jobs reach
    char *cache_dir;          // as in nino_ctx_params
    nino_capture *capture;
    nino_backend *backend;
    nino_planned planned; // the last run's, and what it was planned for
    nino_hash planned_for;
    nino_results *results;
    char *temp_dir, *preview_path;
    nino_found *found;
    nino_settings *own; // of checks, and of jobs that say nothing else
    nino_steps_opt steps;
    char *steps_dir; // NULL: there is no place for them
    int kept_steps;
    nino_crew *crew; // NULL: it is of one device
    nino_lend lend;  // its others; n 0: none
    // Only touched by who has entered.
    open_file files[MAX_FILES];
    kept_object objects[MAX_OBJECTS];
    nino_tokenizer *tokenizers[NINO_TOKENIZER_KINDS];
    uint64_t clock;
    // Whose turn it is.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int n_jobs; // with a running thread
    int refs;   // the embedder's, and one a job: its events can be read after the ctx is gone
    bool is_taken;
    pthread_t runner;         // who is in
    const nino_settings *now; // of who is in; NULL: own
    volatile int *cancel;     // of the one that is in
    nino_gate gate;
    // Who answers viewers; the members below are what ctx itself tells them.
    nino_server_ops control;
    void *control_priv;
    char running[160]; // name of the job that is in; guarded by lock, as all below
    uint32_t scope, n_nodes;
    char *workflow; // of that job; NULL: there was no memory for it
    size_t workflow_bytes;
};

extern const nino_services nino_ctx_services;
// ctx.c: one device, p->device.
nino_ctx *nino_ctx_open(const nino_ctx_params *p, const struct nino_server_ops *ops, void *priv,
                        nino_error *err);
// Closes the others of the context that was made for a list. False: work still runs in a driver.
bool nino_crew_close(nino_ctx *ctx, bool is_quit);
// The answers of a ctx that nobody else answers for: that of a run.
extern const nino_server_ops nino_ctx_control;
// Starts the sampler, which tells viewers the ceilings (ctx_ceilings.c).
void nino_ctx_start_sampler(nino_ctx *ctx);
// Gives up every kept model, file and tokenizer.
void nino_ctx_drop_kept(nino_ctx *ctx);
nino_found *nino_found_create(void); // NULL: no memory
void nino_found_destroy(nino_found **f);
// services.c: kind/name below the folders of that kind, the first that has it; what an open file is
// told from others by.
nino_status nino_ctx_open_kind(const nino_ctx *ctx, const char *kind, const char *name, int *fd,
                               nino_error *err);
nino_status nino_ctx_file_id(int fd, const char *name, nino_hash *out, nino_error *err);
