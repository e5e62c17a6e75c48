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
    NINO_TUNES_WINO_TILES = 8
};

typedef struct nino_sched {
    const char *name;   // of its folder in cl/, in profiles and in NINODES_SCHEDULE
    const char *define; // -D of the kernels that schedules share: the form of them it takes
    bool is_plain;      // obvious loops: weights are f32 [taps][C][N], there is no workspace
    bool has_winograd;  // it has the kernels of F(4,3)
    bool has_matrix; // 16-bit operands are multiplied at the device's peak for them, not at f32's
    bool packs_keys; // attention wants K in the workspace, transposed
    int64_t decode_rows; // most rows for which a weight is decoded as it is multiplied; 0: any
    unsigned tunes;      // NINO_TUNES_...
} nino_sched;

// Those of core/op/sched_list.h, in its order; ends with a NULL name.
extern const nino_sched nino_scheds[];
// The reference backend's, which is none of them.
extern const nino_sched nino_sched_ref;
// The one of that name; NINO_ERR_UNKNOWN with `where` and the list of names.
nino_status nino_sched_find(const char *name, const char *where, const nino_sched **out,
                            nino_error *err);
