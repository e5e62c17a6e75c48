// Internal: the log is a callback the embedder gave; without one nothing is printed.
#pragma once
#include <ninodes/base.h>

typedef struct nino_log {
    nino_log_fn fn; // NULL: silent
    void *priv;
    nino_log_level max; // more detailed levels are dropped
} nino_log;

__attribute__((format(printf, 3, 4))) void nino_logf(const nino_log *log, nino_log_level level,
                                                     const char *fmt, ...); // log may be NULL
