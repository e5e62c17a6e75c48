// The profile that an output file carries beside its workflow: what ran on which device, and where
// time and memory went. In PNG files it is the text chunk "ninodes_profile", JSON in ASCII.
//
// Threads: plain functions and data.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

#define NINO_RUN_PROFILE_KEY "ninodes_profile"

typedef struct nino_run_profile_node {
    char node[64], class_type[96];
    bool is_cached;
    double seconds, flops;
    uint64_t kernels;
    // Of these, bringing weights to the device.
    double load_seconds;
    // Of those weights, as the device holds them.
    uint64_t load_bytes;
    // Pool bytes in use afterwards minus before.
    int64_t memory_delta;
} nino_run_profile_node;

// Up to the moment the file was written: what came later is not in it.
typedef struct nino_run_profile {
    char version[32], device[128], driver[96], precision[8];
    // Seconds since 1970.
    int64_t started;
    double seconds, flops;
    // Of the device's pool.
    uint64_t kernels, peak_bytes;
    size_t n_nodes;
    // In run order; owned, nino_run_profile_release().
    nino_run_profile_node *nodes;
} nino_run_profile;

// Errors: NINO_ERR_FORMAT (no such JSON), NINO_ERR_NOMEM.
NINO_API nino_status nino_run_profile_read(const char *json, size_t len, nino_run_profile *out,
                                           nino_error *err);
NINO_API void nino_run_profile_release(nino_run_profile *p);

NINO_END
