// Internal to the schedule files: making lists.
#pragma once
#include "core/sample/schedule/schedule.h"

// n values, zeroed. NULL v only for n == 0.
nino_status nino_sigmas_create(int n, nino_sigmas *out, nino_error *err);
nino_status nino_sigmas_slice(const nino_sigmas *s, int from, int to, nino_sigmas *out,
                              nino_error *err); // s[from..to), clamped to s
// The last `n` of s (all if it has fewer), in place.
void nino_sigmas_keep_last(nino_sigmas *s, int n);
nino_status nino_schedule_check_steps(int steps, nino_error *err); // 1 .. 10 million

// A table of n descending levels -> steps + 1 log-linearly interpolated ones, of which denoise
// takes the end; the last becomes 0.
nino_status nino_schedule_from_levels(const double *level, int n, int steps, double denoise,
                                      nino_sigmas *out, nino_error *err);
// I_x(a, b)'s inverse in x: the quantile function of the beta distribution. a, b > 0.
double nino_beta_quantile(double p, double a, double b);
