// Internal: loops over independent items on all processors, for work of the host that takes long
// enough (a millisecond an item) to pay for starting threads. There is no pool to keep: threads
// start with the loop and are joined before it returns.
#pragma once
#include <stdint.h>

// Calls fn(priv, i) once for every i in [0, n), several at a time and in any order; the calling
// thread takes part, and does all of it where no thread can be started.
void nino_parallel(int64_t n, void (*fn)(void *priv, int64_t i), void *priv);
