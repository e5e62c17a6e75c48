// Internal: how long the rest takes, from the speed of the last while (not from the start: the
// first steps load weights and compile kernels).
#pragma once
#include <math.h>

#define NINO_ETA_POINTS 16

typedef struct nino_eta {
    double spacing; // seconds between points at least; 0: every call is one
    int n, at;      // points held; where the next one goes
    double t[NINO_ETA_POINTS], done[NINO_ETA_POINTS];
} nino_eta;

// Seconds until `done` reaches `total`, at time t; NaN: not known yet. Time and work must not go
// back.
static inline double nino_eta_left(nino_eta *e, double t, double done, double total)
{
    const int last = (e->at + NINO_ETA_POINTS - 1) % NINO_ETA_POINTS;
    const int oldest = e->n == NINO_ETA_POINTS ? e->at : 0;
    double left = (double) NAN;
    if (e->n && done > e->done[oldest])
        left = (t - e->t[oldest]) * (total - done) / (done - e->done[oldest]);
    if (!e->n || t - e->t[last] >= e->spacing) {
        e->t[e->at] = t;
        e->done[e->at] = done;
        e->at = (e->at + 1) % NINO_ETA_POINTS;
        e->n += e->n < NINO_ETA_POINTS;
    }
    return left < 0 ? 0 : left;
}
