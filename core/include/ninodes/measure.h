// Ceilings of a device: how fast it reads, writes, computes, starts kernels and copies, measured by
// probe kernels and kept per device and driver. "% of peak", the roofline and the times of a plan
// come from them. A device that no profile describes is measured, in about 0.3 s, when a context
// opens it for the first time. Kernels of later runs that are faster than the ceilings, three of a
// kind, raise them.
//
// Threads: any thread.
#pragma once
#include <ninodes/ctx.h>

NINO_BEGIN

enum { NINO_MAX_CEILING_POINTS = 24 };

// Bandwidth of a working set; small ones stay in caches. Bytes moved per second: a copy counts
// what it reads and what it writes. 0: not measured.
typedef struct nino_ceiling_point {
    // Of the working set.
    uint64_t bytes;
    double read, write, copy;
} nino_ceiling_point;

typedef struct nino_ceilings {
    // What they belong to.
    char device[128], driver[96], platform[96];
    // Seconds since 1970; 0: of the data sheet that a profile holds, nobody measured.
    int64_t measured_at;
    // FLOP/s of dependent-free fused multiply-adds; 0: not known.
    double flops_f32;
    // The same in 16-bit floats; 0: the device has none.
    double flops_f16;
    // Bytes/s of a copy far larger than the caches.
    double bandwidth;
    // Seconds an empty kernel takes, one after another.
    double launch_s;
    // Bytes/s between host and device memory.
    double upload, download;
    // Share of flops_f32 that a large matrix product, 3x3 convolution and attention reach here; of
    // a convolution by Winograd its own arithmetic counts. 0: not measured.
    double efficiency_gemm, efficiency_conv, efficiency_attn;
    size_t n_points;
    // By size.
    nino_ceiling_point point[NINO_MAX_CEILING_POINTS];
} nino_ceilings;

#define NINO_MEASURE_PARAMS_INIT .size = sizeof(nino_measure_params)
typedef struct nino_measure_params {
    // Set by NINO_MEASURE_PARAMS_INIT.
    size_t size;
    // Selector as in nino_ctx_params.
    const char *device;
    // Where they are kept; NULL as in nino_ctx_params, "": nowhere.
    const char *cache_dir;
    // Fewer sizes and repeats, for tests.
    bool quick;
    // Says what is measured next; may be NULL.
    void (*progress)(void *priv, const char *what);
    void *priv;
} nino_measure_params;
// Takes a few seconds and needs the device for itself; every figure is the median of repeats.
// Keeps the result in a file of the cache folder, where later runs and plans find it.
// NINO_ERR_UNSUPPORTED: the device ("ref") has no probes.
NINO_API nino_status nino_measure(const nino_measure_params *params, nino_ceilings *out,
                                  nino_error *err);
// What was measured on this device with this driver. NINO_ERR_MISSING: nothing yet.
NINO_API nino_status nino_ceilings_load(const char *cache_dir, const nino_device_info *d,
                                        nino_ceilings *out, nino_error *err);
// The figures of a profile ("gfx1151"), for an overlay or a device that nobody measured.
// NINO_ERR_MISSING: those of that profile are no device's own ("pocl-cpu").
NINO_API nino_status nino_ceilings_of_profile(const char *profile, nino_ceilings *out,
                                              nino_error *err);
// Bandwidth of a working set of that size, between the points, in the fastest way: reading, writing
// or copying; 0: not measured.
NINO_API double nino_ceilings_bandwidth(const nino_ceilings *c, uint64_t bytes);
// Share of what the device can do that a piece of work of `flops` and `bytes` reached in so many
// seconds: of arithmetic or of the bandwidth of its working set, whichever is larger. 0 to 1; NaN:
// not known. bits: of its stored elements, 0: not known; 16 and less have the higher peak. What was
// faster than ceilings that have no points had its data in caches: of memory it has no share.
NINO_API double nino_ceilings_share(const nino_ceilings *c, double flops, double bytes,
                                    double seconds, unsigned bits);

NINO_END
