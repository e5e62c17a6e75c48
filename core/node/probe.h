// Internal: short measurements that nodes make and report: experiments, random inputs, texts.
#pragma once
#include "core/base/buf.h"
#include "core/node/node_impl.h"
#include <ninodes/experiment.h>

// Measures `settings` of something in turn (ninodes/experiment.h: 10 to 20 rounds, verdicts at 5 %;
// beyond 10 only within max_seconds) and leaves the result to the caller, who destroys it. What runs
// meanwhile is no part of the run's stages, tiles and seams. NULL: *err, cancelled too.
nino_experiment *nino_probe_settings(nino_run *r, int settings, double max_seconds,
                                     nino_measure_once measure, void *priv, nino_error *err);
// The same with the rounds as they are wanted; p->size is set.
nino_experiment *nino_probe_rounds(nino_run *r, const nino_experiment_params *p,
                                   nino_measure_once measure, void *priv, nino_error *err);
// "0.0123 s (median of 10, MAD 0.0002)", the times multiplied by `unit`.
void nino_probe_time(nino_buf *b, const nino_spread *s, double unit, const char *name, int digits);
// "WHAT: 12.3 UNIT (median of 10, MAD 0.2)" of amount a run, in 1e9 a second.
void nino_probe_rate(nino_buf *b, const char *what, const nino_spread *s, double amount,
                     const char *unit);
// f32, evenly spread over -1..1, always the same.
nino_array *nino_probe_noise(nino_shape shape, nino_error *err);
// Takes the buffers as the node's STRING outputs, of which it has as many, and shows them.
nino_status nino_probe_texts(nino_run *r, nino_buf *text, nino_error *err);
// "2025-11-21 13:05 UTC"
void nino_probe_date(nino_buf *b);
