// Internal: what can be tuned, with which values, measured on what.
#pragma once
#include "core/harness/kernel_check.h"
#include <ninodes/tune.h>

enum { NINO_MAX_TUNE_VALUES = 6 };

typedef struct nino_tune_row {
    const char *name;
    size_t offset;    // into nino_tuning
    unsigned tunes;   // NINO_TUNES_..., which schedules must go by; 0: an engine, for all of them
    bool is_winograd; // only where Winograd is used
    int standard;
    int value[NINO_MAX_TUNE_VALUES]; // 0 ends them; the standard is among them
    const nino_check_case *cases[3];
    const nino_check_case *small_case; // of quick runs
} nino_tune_row;

extern const nino_tune_row nino_tune_rows[]; // ends with a NULL name
int *nino_tune_field(nino_tuning *t, const nino_tune_row *row);
bool nino_tune_fits(const nino_profile *p, const nino_tune_row *row); // its schedule goes by it
bool nino_tune_allows(const nino_tune_row *row, int value);
// Keeps it for the device (core/harness/tune_file.c).
nino_status nino_tuning_save(const char *cache_dir, const nino_device_info *d,
                             const nino_tuning_info *t, nino_error *err);
