// Internal: what to do about too little device memory, and what a loader tells: lines for people,
// made of measured numbers only.
#pragma once
#include "core/node/node_impl.h"

typedef void (*nino_tell_line)(void *priv, const char *text);

// After node r failed for lack of device memory: what would help, at most seven lines, and only
// what applies: smaller tiles (from a plan of the node's VAE), narrower weights, a smaller batch,
// fewer frames, a higher limit, other programs, memory in pieces. Uses no device memory.
void nino_shortage_tell(const nino_run *r, nino_tell_line line, void *priv);
// After a loader: the file, its bytes, the device and its runtime, seconds, memory used and free.
void nino_loader_tell(const nino_run *r, double seconds, nino_tell_line line, void *priv);
