// The whole API of libninodes, which runs ComfyUI workflows on OpenCL devices.
//
// LIFE OF A RUN. A workflow becomes a nino_graph (graph.h), a device a nino_ctx (ctx.h). A nino_job
// (job.h) runs a copy of the graph on a thread of its own, while events about it can be polled and
// its results appear; nino_graph_plan() tells beforehand what it would take. Contexts and graphs
// are used again: what has not changed since an earlier job is not computed again. Editors work on
// a nino_document (document.h) and make a graph from its JSON. tests/examples has three programs of
// one page each.
//
// THREADS. Every header says which thread may use its types. Where it says "one thread at a time"
// the caller sees to that; no function needs a certain thread. Callbacks come on the library's own
// threads unless their comment says otherwise. They may call nothing that waits for a job.
//
// EVENT LOOP. A program with a loop of its own waits for nino_job_fd(), and for nino_attach_fd() of
// another process (monitor.h), by poll() or whatever its toolkit has. Only functions that say that
// they wait do so.
//
// ENVIRONMENT. The library never prints, exits, aborts or forks, and leaves locale, signal
// handlers, signal masks of the caller's threads and working directory alone. Its threads block all
// signals. It reads the variables that nino_variables() lists and the settings file ninodes.conf
// (config.h), once per process. Numbers in files and JSON do not depend on the locale.
//
// OWNERSHIP. What has a create, start or open is ended by the function of its own that takes a T
// **, accepts NULL and a pointer to NULL, and leaves NULL behind. What a function fills into a
// caller's struct is emptied by its release. Strings that go in are copied, unless a comment says
// otherwise; strings that come out belong to the object that the comment names, for as long as it
// says.
//
// ERRORS. A function that can fail returns nino_status, or NULL, and takes a nino_error * last,
// which may be NULL. Its outputs stay untouched on failure. The innermost cause is told, with the
// user's own name for what is concerned.
//
// UNITS. Bytes are named *_bytes, counts n_*, nanoseconds *_ns, seconds *_s; shapes begin with the
// outermost dimension. Zero in a params struct means the default.
//
// ABI. A struct that begins with `size_t size` may grow at its end while the library keeps its
// soname. Callers begin it with its macro, { NINO_CTX_PARAMS_INIT, .device = "ref" }, and the
// library takes the part that both know: what an older caller does not have is zero. A size of zero
// is NINO_ERR_ARG. All other structs, and all functions and constants, stay as they are until the
// soname changes; `make lint` compares them with data/abi. Symbols carry the version NINODES_1.
#pragma once
#include <ninodes/advice.h>
#include <ninodes/base.h>
#include <ninodes/bench.h>
#include <ninodes/capture.h>
#include <ninodes/compare.h>
#include <ninodes/config.h>
#include <ninodes/control.h>
#include <ninodes/ctx.h>
#include <ninodes/document.h>
#include <ninodes/experiment.h>
#include <ninodes/graph.h>
#include <ninodes/grid.h>
#include <ninodes/history.h>
#include <ninodes/inspect.h>
#include <ninodes/job.h>
#include <ninodes/kernel.h>
#include <ninodes/measure.h>
#include <ninodes/monitor.h>
#include <ninodes/node.h>
#include <ninodes/options.h>
#include <ninodes/picture.h>
#include <ninodes/raster.h>
#include <ninodes/run_profile.h>
#include <ninodes/selftest.h>
#include <ninodes/serve.h>
#include <ninodes/statistics.h>
#include <ninodes/suite.h>
#include <ninodes/throttle.h>
#include <ninodes/tune.h>
#include <ninodes/worker.h>
