// Internal: how long the ways of doing the same took on a device. What is adaptive goes by it: each way is
// tried a few times, then the one with the least median is taken. Sums of several processes meet in a file.
// Thread-safety: the job's thread.
#pragma once
#include "core/base/hash.h"
#include <ninodes/ctx.h>

enum { NINO_PACE_WAYS = 2, NINO_PACE_SAMPLES = 5, NINO_PACE_KEYS = 64 };

typedef struct nino_pace {
    nino_hash key; // of what is done: network, sizes, type of numbers
    uint64_t used;
    int n[NINO_PACE_WAYS];
    double seconds[NINO_PACE_WAYS][NINO_PACE_SAMPLES]; // the last ones, going round
} nino_pace;

typedef struct nino_paces {
    nino_pace list[NINO_PACE_KEYS];
    int n;
    uint64_t clock;
    bool is_changed; // since it was read
} nino_paces;

// The way to take now: one that has not NINO_PACE_SAMPLES yet, the least tried first, else the fastest.
int nino_pace_choose(nino_paces *p, nino_hash key);
// It took so long. Of too many keys the longest unused goes.
void nino_pace_note(nino_paces *p, nino_hash key, int way, double seconds);
// Seconds of a way, the median; NaN: it was not tried.
double nino_pace_of(const nino_paces *p, nino_hash key, int way);
// A text file of a device, its driver and this version, a line a time; cache_dir as in
// nino_ctx_params. A file that is missing, or not one of these, is as none.
void nino_paces_load(nino_paces *p, const char *cache_dir, const nino_device_info *d);
nino_status nino_paces_save(nino_paces *p, const char *cache_dir, const nino_device_info *d,
                            nino_error *err); // where something is new
