// Internal: what can be tuned, with which values, measured on what.
#pragma once
#include "core/harness/kernel_check.h"
#include <ninodes/tune.h>

enum { NINO_MAX_TUNE_VALUES = 6, NINO_MAX_TUNE_CASES = 3 };

typedef struct nino_tune_row {
    const char *name;
    size_t offset;    // into nino_tuning
    unsigned tunes;   // NINO_TUNES_..., which schedules must go by; 0: an engine, for all of them
    bool is_winograd; // only where Winograd is used
    int standard;
    int value[NINO_MAX_TUNE_VALUES];                   // 0 ends them; the standard is among them
    const nino_check_case *cases[NINO_MAX_TUNE_CASES]; // NULL ends them
    const nino_check_case *small_case;                 // of quick runs
} nino_tune_row;

extern const nino_tune_row nino_tune_rows[]; // ends with a NULL name
int *nino_tune_field(nino_tuning *t, const nino_tune_row *row);
bool nino_tune_fits(const nino_profile *p, const nino_tune_row *row); // its schedule goes by it
bool nino_tune_allows(const nino_tune_row *row, int value);
nino_dtype nino_tune_type(const nino_profile *p, const nino_tune_row *row); // of the activations
// The same choices by the clock model of a profile in place of time on a device, without engines.
nino_status nino_tune_by_model(const nino_profile *p, nino_tuning_info *out, nino_error *err);
// By the model: the mean logarithm of a row's time with `value` over that with the standard.
nino_status nino_tune_ratio(const nino_profile *p, const nino_tune_row *row, int value, double *out,
                            nino_error *err);
// What is shipped for a profile: NINO_ERR_MISSING, nothing; NINO_ERR_FORMAT, a file that is none.
nino_status nino_tuning_shipped(const nino_profile *p, nino_tuning_info *out, nino_error *err);
// A tuning in a text; where: for the error.
nino_status nino_tuning_read(const char *text, size_t len, const char *where, nino_tuning_info *t,
                             nino_error *err);
// Keeps it for the device (core/harness/tune_file.c).
nino_status nino_tuning_save(const char *cache_dir, const nino_device_info *d,
                             const nino_tuning_info *t, nino_error *err);
