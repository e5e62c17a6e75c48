// The benchmark suite: whole workflows under the phases of optimisation (ninodes/options.h), measured in turn and
// judged against the first of them; and the files and the report of what was found.
//
// What is measured. A case is a workflow of fixed sizes. One run of it is a job with a new seed, so that what depends
// on the seed is computed anew and what does not may come from the cache where that acts. After a run of each setting
// that warms up, every round measures all settings, in the order of ninodes/experiment.h. Loading weights and
// compiling kernels are taken out of the time, but for cases whose subject is loading. The pictures of the runs that
// warm up have one seed: by them the settings' outputs are compared.
//
// Threads: plain functions; a suite runs on the calling thread.
#pragma once
#include <ninodes/bench.h>
#include <ninodes/experiment.h>

NINO_BEGIN

// Most settings of a case: the yardstick is measured beside them.
enum { NINO_SUITE_SETTINGS = NINO_MAX_SETTINGS - 1 };

// A case under one setting.
typedef struct nino_suite_run {
    // "baseline", "phase1", "phase2", "phase3"; "phase3 no-pool": the last phase without that policy.
    char setting[40];
    uint64_t n;
    // Seconds of a run; sigma: standard deviation.
    double average_s, median_s, min_s, max_s, sigma_s, mad_s;
    // Against the baseline, of the same rounds.
    nino_effect effect;
    // Pictures, or frames of clips, in a second of the median.
    double per_second;
    // Of the last round: most bytes of the pool in use; kernels launched; blocks asked for and those that the pool had;
    // results from the cache; share of kernel time in 16 bits; bytes of weights read, of those fetched ahead in time,
    // fetched late, and waited for without having been fetched.
    uint64_t peak_bytes, kernels, blocks, reused, cached, tiles, chunks;
    double share_16;
    uint64_t load_bytes, ahead_bytes, late_bytes, cold_bytes;
    // Seconds in which weights were brought in, and of those what reading them waited for the disk.
    double load_s, stall_s;
    // Pictures against the baseline's of the same seed: mean square error by mean square; PSNR in dB, infinite where
    // they are equal; largest difference in 1/255. NaN: there is nothing to compare.
    double nmse, psnr, most;
    // With its ratio to the yardstick, for nino_bench_save() and nino_bench_compare().
    nino_bench_case bench;
    // Seconds of every round; n of them.
    double seconds[NINO_MAX_ROUNDS];
} nino_suite_run;

typedef struct nino_suite_case {
    // "image 512x512", and what networks it runs: "demo", "SD 1.5".
    char name[64], networks[64];
    int width, height, batch, frames, steps;
    // "" : measured. Else why it was left out.
    char left_out[200];
    size_t n_runs;
    nino_suite_run *runs;
} nino_suite_case;

typedef struct nino_suite_result {
    // Describes device, library, load and yardstick; has every run as a case.
    nino_bench_result bench;
    // "phases", "vae", ...
    char suite[16];
    bool is_quick;
    double seconds;
    size_t n_cases;
    // Owned; nino_suite_release().
    nino_suite_case *cases;
} nino_suite_result;

// What is measured next, for who shows how far it is.
typedef struct nino_suite_step {
    // As in nino_suite_case and nino_suite_run; "yardstick": none of the settings.
    const char *name, *setting;
    // Of the cases that are run, from 0 on; measurements of this one that are done, and all that it takes.
    size_t at, n_cases;
    uint64_t done, all;
    bool is_warmup;
} nino_suite_step;

#define NINO_SUITE_PARAMS_INIT .size = sizeof(nino_suite_params)
typedef struct nino_suite_params {
    // Set by NINO_SUITE_PARAMS_INIT.
    size_t size;
    // As in nino_ctx_params.
    const char *device, *cache_dir, *helper;
    // One of nino_suite_names(); NULL: "phases".
    const char *suite;
    // The demo's models, which the cases of the quick form run; the full form's are made in the cache folder.
    const char *demo_models;
    bool quick;
    // The phases up to this one; the baseline is always measured. VIDEO is the default of nino_suite_phase().
    nino_phase last;
    // Bits of policies that are measured alone: the last phase without each. NINO_POLICY_ALL: all that it has.
    uint32_t without;
    // 0: 10, the least; and 2.
    int rounds, warmup;
    // No case is begun that would not be done after so long; 0: 300 in the quick form, 2400 in the full one.
    double max_seconds;
    // Bytes that made models may take; 0: 8 GiB.
    uint64_t max_model_bytes;
    // Says what is done next; may be NULL.
    void (*progress)(void *priv, const char *text);
    void *priv;
    // Cases that are measured, by the names of nino_suite_case_names(), NULL-terminated; NULL: all of the suite.
    const char *const *cases;
    // The same as progress, in figures; may be NULL.
    void (*step)(void *priv, const nino_suite_step *step);
} nino_suite_params;

// NULL-terminated: "phases", "vae", "sd", "flux", "wan", "load".
NINO_API const char *const *nino_suite_names(void);
// Fills up to max, in the order in which they are measured; returns how many there are. 0: no such suite, or it has no
// such form.
NINO_API size_t nino_suite_case_names(const char *suite, bool quick, const char **out, size_t max);
// NINO_ERR_UNKNOWN: no such suite, case, or device; NINO_ERR_MISSING: no demo models.
NINO_API nino_status nino_suite_run_all(const nino_suite_params *params, nino_suite_result *out,
                                        nino_error *err);
NINO_API void nino_suite_release(nino_suite_result *r);
// Files below dir, which is made: test_data/benchmarks/PHASE/benchmark_results_TIME.json for each phase,
// test_data/benchmarks/wan_workflow_benchmarks_TIME.json where there are clips, and
// test_data/optimization/performance_comparison_TIME.json with everything. Calls path (may be NULL) for each.
NINO_API nino_status nino_suite_save(const char *dir, const nino_suite_result *r,
                                     void (*path)(void *priv, const char *path), void *priv,
                                     nino_error *err);
// What nino_suite_save() wrote as performance_comparison_TIME.json; out->bench has no cases then. *err:
// NINO_ERR_MISSING, NINO_ERR_FORMAT, NINO_ERR_NOMEM.
NINO_API nino_status nino_suite_load(const char *path, nino_suite_result *out, nino_error *err);
// The report as Markdown; an owned text, free() it. NULL: out of memory.
NINO_API char *nino_suite_report(const nino_suite_result *r);

NINO_END
