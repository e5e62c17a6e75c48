// Internal: what core must know of a schedule, so that a plan describes what a device would do.
#pragma once
#include <ninodes/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Which members of nino_tuning it goes by.
enum {
    NINO_TUNES_GEMM_PIECES = 1,
    NINO_TUNES_GEMM_ROWS = 2,
    NINO_TUNES_GEMM_TILE = 4,
    NINO_TUNES_WINO_TILES = 8,
    NINO_TUNES_MATRIX = 16 // gemm_costs, gemm_split, gemm_band, flash_keys
};

typedef struct nino_sched {
    const char *name;   // in profiles and NINODES_SCHEDULE; the folder of cl/
    const char *define; // -D of the kernels that schedules share: the form of them it takes
    const char
        *base;     // the schedule whose folder has the kernels that it has not itself; NULL: none
    bool is_plain; // obvious loops: weights are f32 [taps][C][N], there is no workspace
    bool has_winograd; // it has kernels of F(4,3)
    bool has_matrix;   // it multiplies 16-bit operands at the device's peak for them, not at f32's
    bool packs_keys;   // its attention wants K in the workspace, transposed
    bool keeps_rows;   // matrices are rows [N][taps][Cp], not panels: as most files have them
    int64_t decode_rows; // most rows for which it decodes a weight as it multiplies; 0: any number
    unsigned tunes;      // NINO_TUNES_...
} nino_sched;

// Those of core/op/sched_list.h, in its order; ends with a NULL name.
extern const nino_sched nino_scheds[];
// The reference backend's, which is none of them.
extern const nino_sched nino_sched_ref;
// The one of that name; NINO_ERR_UNKNOWN with `where` and the list of names.
nino_status nino_sched_find(const char *name, const char *where, const nino_sched **out,
                            nino_error *err);
