// Everything. General rules of the API:
//
// 1. Opaque types: create/destroy for heap objects, release for what the caller owns. Destroy takes
// `T **`, accepts NULL
//    inside, sets NULL.
// 2. Strings in are copied. Strings out are owned by the object named in the comment.
// 3. Every fallible function returns nino_status or NULL and takes `nino_error *err` last, which
// may be NULL. Outputs are
//    untouched on failure unless the comment says otherwise.
// 4. Bytes are uint64_t/size_t named *_bytes, counts n_*, times *_ns; shapes are outermost
// dimension first.
// 5. The library never prints, exits, aborts, changes locale, signal handlers or the working
// directory, and forks nothing.
// 6. New fields only at the end of *_params; zero means "as before".
#pragma once
#include <ninodes/advice.h>
#include <ninodes/base.h>
#include <ninodes/bench.h>
#include <ninodes/compare.h>
#include <ninodes/control.h>
#include <ninodes/ctx.h>
#include <ninodes/document.h>
#include <ninodes/graph.h>
#include <ninodes/grid.h>
#include <ninodes/history.h>
#include <ninodes/job.h>
#include <ninodes/measure.h>
#include <ninodes/monitor.h>
#include <ninodes/node.h>
#include <ninodes/picture.h>
#include <ninodes/run_profile.h>
#include <ninodes/throttle.h>
#include <ninodes/tune.h>
#include <ninodes/worker.h>
