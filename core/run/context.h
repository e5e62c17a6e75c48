// Internal: what jobs and plans need from a ctx beyond core/node/node_impl.h.
#pragma once
#include "core/base/log.h"
#include "core/run/results.h"
#include "core/run/capture.h"
#include "core/run/job_settings.h"
#include "core/event/publish.h"
#include "core/node/node_impl.h"
#include "core/op/backend.h"
#include <ninodes/graph.h>

// One job (or plan) runs at a time. False: cancelled while waiting. While it is in, a viewer's
// cancel request sets *cancel.
// settings (NULL: the context's own) hold for this thread until it leaves.
bool nino_ctx_enter(nino_ctx *ctx, volatile int *cancel, const nino_settings *settings);
void nino_ctx_leave(nino_ctx *ctx);
// Tells viewers which job is in, and the scope of its events.
void nino_ctx_tell_job(nino_ctx *ctx, nino_graph *g, uint32_t scope);
// Jobs that exist: nino_ctx_destroy() waits until each thread has ended.
void nino_ctx_add_job(nino_ctx *ctx, int delta);
// A job object may outlive the embedder's ctx: its monitor stays, the device (backend NULL) does
// not.
void nino_ctx_ref(nino_ctx *ctx);
void nino_ctx_unref(nino_ctx *ctx);

// nino_ctx_create() with somebody else to answer viewers (a worker). ops NULL: ctx does so.
struct nino_server_ops;
nino_ctx *nino_ctx_create_with(const nino_ctx_params *params, const struct nino_server_ops *ops,
                               void *priv, nino_error *err);
// The context's settings with those of a job laid over them; NULL: out of memory.
nino_settings *nino_ctx_settings_with(const nino_ctx *ctx, const nino_job_options *o,
                                      nino_error *err);
// Those of the job that is in, for the thread that it runs on; for everybody else the context's
// own.
const nino_settings *nino_ctx_settings(const nino_ctx *ctx);
// nino_graph_check() of a job that has settings of its own.
size_t nino_ctx_check_graph(const nino_ctx *ctx, const nino_settings *s, nino_graph *g,
                            void (*report)(void *priv, const nino_issue *issue), void *priv);
// Forgets what is kept for later jobs; with `trim`, gives unused device memory back as well. False:
// a job is in; only free memory of the pool is given back then, at its next op.
bool nino_ctx_give_back(nino_ctx *ctx, bool trim, uint64_t *bytes);
void nino_ctx_cancel_running(nino_ctx *ctx); // any thread
void nino_ctx_changed(nino_ctx *ctx);        // viewers are told the state again
int nino_ctx_viewers(const nino_ctx *ctx);   // how many watch now; any thread

const char *nino_precision_name(nino_precision p); // "auto", "fp32", "fp16", "bf16", "mixed"
nino_results *nino_ctx_results(nino_ctx *ctx);
// For the time of a plan: returns those that were there.
nino_results *nino_ctx_swap_results(nino_ctx *ctx, nino_results *r);
nino_capture *nino_ctx_capture(nino_ctx *ctx);                       // NULL: off
nino_capture *nino_ctx_swap_capture(nino_ctx *ctx, nino_capture *c); // returns the one before
nino_gate *nino_ctx_gate(nino_ctx *ctx);
const nino_lend *nino_ctx_lend(const nino_ctx *ctx); // the other devices of its list

// ---- what nodes get as nino_services, described there
nino_status nino_ctx_open_model(nino_ctx *ctx, const char *kind, const char *name,
                                nino_weights **out, nino_error *err);
nino_status nino_ctx_open_input(nino_ctx *ctx, const char *name, int *fd, nino_error *err);
const char *nino_ctx_output_dir(const nino_ctx *ctx); // NULL: nothing is written
const char *nino_ctx_temp_dir(const nino_ctx *ctx);
const nino_preview_settings *nino_ctx_previews(const nino_ctx *ctx);
nino_resume_place nino_ctx_steps(const nino_ctx *ctx);
void nino_ctx_set_kept_steps(nino_ctx *ctx, int n);
nino_status nino_ctx_identity(nino_ctx *ctx, const char *kind, const char *name,
                              struct nino_hasher *h, nino_error *err);
nino_translate_fn nino_ctx_translator(const nino_ctx *ctx);
nino_status nino_ctx_check_file(const nino_ctx *ctx, const char *kind, const char *name,
                                nino_error *err);
nino_status nino_ctx_tokenizer(nino_ctx *ctx, nino_tokenizer_kind kind, nino_tokenizer **out,
                               nino_error *err);
nino_status nino_ctx_open_embedding(nino_ctx *ctx, const char *name, nino_weights **out,
                                    nino_error *err);
nino_value *nino_ctx_find_object(nino_ctx *ctx, nino_port_type type, nino_hash key);
void nino_ctx_keep_object(nino_ctx *ctx, nino_hash key, nino_value *v);
// Ceilings of the device, on the job's thread. Before the job: those that were measured since.
// After it: what its kernels have raised is told and kept.
void nino_ctx_renew_ceilings(nino_ctx *ctx);
void nino_ctx_keep_ceilings(nino_ctx *ctx);
// The same of the times that adaptive settings go by, where those act.
void nino_ctx_renew_paces(nino_ctx *ctx);
void nino_ctx_keep_paces(nino_ctx *ctx);
// The rate at which weights come in from a folder of models, into the device's profile: what the first
// job that brought NINO_LARGE_LOAD bytes in measured, kept beside the ceilings. folder NULL: none.
#define NINO_LARGE_LOAD ((uint64_t) 256 << 20)
void nino_ctx_renew_load_rate(nino_ctx *ctx, const char *folder);
// bytes came in, in so many nanoseconds.
void nino_ctx_keep_load_rate(nino_ctx *ctx, const char *folder, uint64_t bytes, uint64_t ns);
void nino_ctx_drop_object(nino_ctx *ctx, nino_port_type type, nino_hash key);
void nino_ctx_each_object(nino_ctx *ctx, void (*fn)(void *priv, const nino_value *v), void *priv);
char **nino_ctx_list_models(const nino_ctx *ctx, const char *kind);
nino_status nino_ctx_find_model(const nino_ctx *ctx, const char *const *kinds, nino_fits_fn *fits,
                                const char *what, const char **kind, char **name, nino_error *err);
nino_backend *nino_ctx_backend(nino_ctx *ctx);
nino_monitor *nino_ctx_monitor(nino_ctx *ctx);
const nino_log *nino_ctx_log(const nino_ctx *ctx);
uint64_t nino_ctx_trim(nino_ctx *ctx);
