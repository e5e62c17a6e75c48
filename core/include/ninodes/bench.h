// How fast kernels run on a device: samples of every case, in turn with a yardstick (one fixed matrix
// product; the order alternates, see ninodes/experiment.h), so that the ratio of the two holds on a
// machine whose clock or load changes. Results are kept in files and compared.
//
// Threads: any thread.
#pragma once
#include <ninodes/ctx.h>

NINO_BEGIN

// Statistics of n samples; ranges are 95 % confidence intervals of the mean (Student's t). NaN
// where there are too few samples, or nothing to compare with.
typedef struct nino_bench_case {
    // Everything that identifies it.
    char name[160];
    // Of one run, from the op table; 0: not counted (a workflow).
    double flops, bytes;
    uint64_t n;
    double mean_s, sigma_s, low_s, high_s, median_s, min_s;
    // Time / time of the yardstick beside it: geometric mean, sigma of the logarithm, interval.
    double ratio, ratio_sigma, ratio_low, ratio_high;
    // Of the median.
    double gflops, gbps;
    // Percent of what the device was measured to do, of the limit that is nearer: arithmetic or
    // memory (nino_ceilings_share()). Of a convolution by Winograd its own arithmetic counts,
    // while `gflops` is that of a direct one.
    double peak_percent;
} nino_bench_case;

typedef struct nino_bench_result {
    // Version: of this library.
    char device[128], driver[96], platform[96], version[32];
    uint32_t compute_units;
    // Seconds since 1970.
    int64_t measured_at;
    // A product of so many rows, columns and terms.
    uint32_t yardstick_edge;
    // The machine's load average when it began; NaN: not known.
    double load;
    // Median.
    double yardstick_s;
    uint64_t n_cases;
    // Owned; nino_bench_release().
    nino_bench_case *cases;
} nino_bench_result;

#define NINO_BENCH_PARAMS_INIT .size = sizeof(nino_bench_params)
typedef struct nino_bench_params {
    // Set by NINO_BENCH_PARAMS_INIT.
    size_t size;
    // As in nino_ctx_params.
    const char *device, *cache_dir;
    // Only cases whose name contains this; NULL: all.
    const char *filter;
    // Of every case, up to NINO_MAX_ROUNDS; 0: 10 and 2.
    int samples, warmup;
    // A few small cases.
    bool quick;
    // Says which case is next; may be NULL.
    void (*progress)(void *priv, const char *name);
    void *priv;
} nino_bench_params;

// NINO_ERR_UNKNOWN: no case has the filter in its name, or no such device.
NINO_API nino_status nino_bench(const nino_bench_params *params, nino_bench_result *out,
                                nino_error *err);
NINO_API void nino_bench_release(nino_bench_result *r);
// For samples that were taken elsewhere (whole workflows): describes the device of *out, and takes
// one sample of the yardstick. out->cases stays as it is.
NINO_API nino_status nino_bench_yardstick(const char *device, nino_bench_result *out,
                                          double *seconds, nino_error *err);
// Fills the statistics of c from n times and as many ratios.
NINO_API void nino_bench_fill(nino_bench_case *c, const double *seconds, const double *ratios,
                              size_t n);

NINO_API nino_status nino_bench_save(const char *path, const nino_bench_result *r, nino_error *err);
NINO_API nino_status nino_bench_load(const char *path, nino_bench_result *out, nino_error *err);
// Change of the case's ratio to the yardstick from a to b, in percent (above 0: slower), with the
// chance p of so large a difference among equal runs (Welch's t).
NINO_API void nino_bench_compare(const nino_bench_case *a, const nino_bench_case *b,
                                 double *percent, double *p);
// Percent by which the two ratios may differ as their samples scatter: two standard errors of each. 0 where
// there are too few samples.
NINO_API double nino_bench_noise(const nino_bench_case *a, const nino_bench_case *b);

NINO_END
