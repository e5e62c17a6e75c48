// Internal: short measurements that nodes make and report: repeated timings, random inputs, texts.
#pragma once
#include "core/base/buf.h"
#include "core/node/node_impl.h"

typedef struct nino_probe {
    double median, min, max; // seconds
    int n;
} nino_probe;

nino_probe nino_probe_of(double *seconds, int n); // sorts them
// "WHAT: 12.3 UNIT (median of 5; 11.9 to 12.5)" of amount a run, in 1e9 a second.
void nino_probe_rate(nino_buf *b, const char *what, const nino_probe *p, double amount,
                     const char *unit);
// f32, evenly spread over -1..1, always the same.
nino_array *nino_probe_noise(nino_shape shape, nino_error *err);
// Takes the buffers as the node's STRING outputs, of which it has as many, and shows them.
nino_status nino_probe_texts(nino_run *r, nino_buf *text, nino_error *err);
// "2025-11-21 13:05 UTC"
void nino_probe_date(nino_buf *b);
