// Internal: threads of the library. They take no signals, which are for the threads of the
// application; faults of our own (SIGSEGV ...) still show where they happen.
#pragma once
#include <pthread.h>

// Starts a thread of that name (at most 15 bytes, for debuggers and top); 0, or the error of
// pthread_create(). Any thread.
int nino_thread_start(pthread_t *thread, const char *name, void *(*run)(void *priv), void *priv);
