// Internal: what jobs and plans need from a ctx beyond core/node/node.h.
#pragma once
#include "core/base/log.h"
#include "core/graph/cache.h"
#include "core/monitor/capture.h"
#include "core/monitor/monitor.h"
#include "core/node/node.h"
#include "core/op/backend.h"

// One job (or plan) runs at a time. False: cancelled while waiting. While it is in, a viewer's
// cancel request sets *cancel.
bool nino_ctx_enter(nino_ctx *ctx, volatile int *cancel);
void nino_ctx_leave(nino_ctx *ctx);
// Jobs that exist: nino_ctx_destroy() waits until each thread has ended.
void nino_ctx_add_job(nino_ctx *ctx, int delta);
// A job object may outlive the embedder's ctx: its monitor stays, the device (backend NULL) does
// not.
void nino_ctx_ref(nino_ctx *ctx);
void nino_ctx_unref(nino_ctx *ctx);

nino_precision_opt nino_ctx_precision(const nino_ctx *ctx);
const char *nino_precision_name(nino_precision p); // "auto", "fp32", "fp16", "bf16"
bool nino_ctx_has_profile(const nino_ctx *ctx);    // output files carry one
nino_results *nino_ctx_results(nino_ctx *ctx);
nino_capture *nino_ctx_capture(nino_ctx *ctx); // NULL: off
