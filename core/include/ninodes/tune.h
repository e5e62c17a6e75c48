// Choosing a device's schedule parameters by measuring. They leave every bit of the results as it is:
// how work is cut, never in what order numbers are added. The engines of linear layers are an exception
// (1: our kernels, 2: CLBlast, which adds in another order; nino_ctx_params.gemm "native" leaves them out), and so
// are, with matrix instructions, the parts of small products and the keys of a block of attention.
// What is found is kept for the device, its driver and this version of the library; later runs and plans
// use it.
//
// Threads: any thread.
#pragma once
#include <ninodes/ctx.h>

NINO_BEGIN

enum { NINO_MAX_TUNE_CHOICES = 8 };

typedef struct nino_tune_choice {
    char name[32];
    // What the library takes by itself, what was chosen.
    int standard, value;
    // Time saved, in percent of the standard's, measured anew after choosing: mean and its 95 %
    // interval over interleaved rounds. A choice whose interval contains 0 is not kept.
    double gain, gain_low, gain_high;
} nino_tune_choice;

typedef struct nino_tuning_info {
    // What it belongs to.
    char device[128], driver[96], platform[96], version[32];
    // Seconds since 1970.
    int64_t tuned_at;
    uint64_t n;
    nino_tune_choice choice[NINO_MAX_TUNE_CHOICES];
} nino_tuning_info;

#define NINO_TUNE_PARAMS_INIT .size = sizeof(nino_tune_params)
typedef struct nino_tune_params {
    // Set by NINO_TUNE_PARAMS_INIT.
    size_t size;
    // Selector as in nino_ctx_params.
    const char *device;
    // Where it is kept; NULL as in nino_ctx_params, "": nowhere.
    const char *cache_dir;
    // Smaller shapes and fewer rounds, for tests; and no engines, whose kernels take long to compile.
    bool quick;
    // Says what is tried next; may be NULL.
    void (*progress)(void *priv, const char *what);
    void *priv;
} nino_tune_params;
// Takes about a minute and needs the device for itself. NINO_ERR_UNSUPPORTED: nothing can be tuned
// there ("ref").
NINO_API nino_status nino_tune(const nino_tune_params *params, nino_tuning_info *out,
                               nino_error *err);
// What was found for this device, driver and version. NINO_ERR_MISSING: nothing yet.
NINO_API nino_status nino_tuning_load(const char *cache_dir, const nino_device_info *d,
                                      nino_tuning_info *out, nino_error *err);
// Forgets it; the standard holds again. Nothing to forget is no error.
NINO_API nino_status nino_tuning_reset(const char *cache_dir, const nino_device_info *d,
                                       nino_error *err);
// Keeps one value that a sweep found (nino_replay()) for device d, beside those of other names that were
// found before. Of choice count name, value and gains; gains that are not known are 0. NINO_ERR_UNKNOWN:
// nothing of that name is tuned; NINO_ERR_ARG: it cannot have that value.
NINO_API nino_status nino_tuning_keep(const char *cache_dir, const nino_device_info *d,
                                      const nino_tune_choice *choice, nino_tuning_info *out,
                                      nino_error *err);
// The same to and from a file of the user. Reading keeps it for device d; the file must be of a
// device of that name.
NINO_API nino_status nino_tuning_export(const char *path, const nino_tuning_info *t,
                                        nino_error *err);
NINO_API nino_status nino_tuning_import(const char *path, const char *cache_dir,
                                        const nino_device_info *d, nino_tuning_info *out,
                                        nino_error *err);

NINO_END
