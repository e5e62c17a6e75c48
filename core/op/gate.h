// Internal: what others ask of the thread that runs a job, between two of its ops: wait, and give
// unused memory back. Asking costs the job one relaxed load an op.
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { NINO_GATE_CLOSED = 1, NINO_GATE_TRIM = 2 };

typedef struct nino_gate {
    atomic_int asked; // bits of the above
    pthread_mutex_t lock;
    pthread_cond_t changed;
} nino_gate;

void nino_gate_init(nino_gate *g);
void nino_gate_release(nino_gate *g);
void nino_gate_set(nino_gate *g, bool is_closed); // any thread
bool nino_gate_is_closed(nino_gate *g);
void nino_gate_ask_trim(nino_gate *g);  // any thread
bool nino_gate_take_trim(nino_gate *g); // true once for any number of requests
// Waits while it is closed and *cancel (may be NULL) is 0. The flag is only looked at every 20 ms:
// it may be set from a signal handler.
void nino_gate_wait(nino_gate *g, const volatile int *cancel);
