// Internal: device profiles (data/devices/*.json): numbers and precision policy of a device, and
// the schedule decisions that follow from them. cl/ and plan ask the same functions, so a plan
// describes exactly what the device would do.
#pragma once
#include "core/op/op.h"
#include "core/op/sched.h"
#include <ninodes/ctx.h>

// Who multiplies the matrices of linear layers (core/op/engine.h). AUTO: as tuned; untuned: NATIVE.
typedef enum nino_gemm { NINO_GEMM_AUTO, NINO_GEMM_NATIVE, NINO_GEMM_CLBLAST } nino_gemm;

// By which costs the tile of a product is chosen: alike for all weights, or by what the main loop with that
// kind of weight takes by the clock model (core/op/clocks.h), which knows what decoding costs.
typedef enum nino_costs { NINO_COSTS_ALIKE = 1, NINO_COSTS_CLOCKS } nino_costs;

// How work is cut, where a device may differ from the standard; 0: the standard. None of it changes
// a bit of a result, but for the engines, parts and blocks of keys, which sum in another order. A schedule
// goes by some of them (nino_sched); core/harness/tune.c finds the values.
typedef struct nino_tuning {
    int gemm_pieces; // macro tiles to aim at for each compute unit
    int gemm_rows;   // most rows of a macro tile
    int gemm_tile;   // the largest tile that is tried: 1 to 3 (wmma: 4), from large to small
    int gemm_costs;  // a nino_costs
    int gemm_split;  // most parts that a product of few tiles is summed in; 1: none
    int gemm_band;   // tiles of rows that share columns while these are in the cache
    int flash_keys;  // most keys of a block of NINO_ATTN_FLASH: 32, 64
    int wino_tiles;  // tiles of a Winograd stripe
    int engine_few, engine_flat, engine_tall; // a nino_gemm for each nino_engine_class
} nino_tuning;

typedef struct nino_profile {
    char name[64];              // "pocl-cpu", "gfx1151", "generic-gpu"
    const nino_sched *schedule; // never NULL
    nino_dtype act_type;        // storage of activations when the node says auto
    // Storage of matrices that do not stay as they are (core/op/raw.h). F32: lossless, that is
    // 16-bit types as they are, 8-bit floats as f16, the rest as f32. F16, BF16: everything as
    // that.
    nino_dtype weight_type;
    bool has_dots;     // a processor's instruction multiplies pairs of bf16 and adds them to f32
    bool has_winograd; // F(4,3), in f32, for 3x3 stride-1 convolutions where it gains
    uint64_t winograd_stripe;  // most bytes of transform workspace
    uint64_t mem_bytes;        // memory the device may use; 0: ask the device
    double peak_f32, peak_f16; // FLOP/s; 0: not known
    double bandwidth;          // bytes/s; 0: not known
    double launch_s;           // fixed time per kernel
    double load_rate;          // bytes/s of weights from their file to the device; 0: not known
    bool is_load_measured;     // load_rate was, by a run here; else it is assumed
    double efficiency_gemm, efficiency_conv,
        efficiency_attn; // fraction of peak reached, for predicted times; _conv: by Winograd's
                         // products where the profile has it, _gemm then holds for direct ones
                         // With `units`: of what the clock model allows (core/op/clocks.h)
    unsigned units;      // work-group processors, where the clock model holds; 0: it does not
    nino_tuning tuning;
    nino_gemm gemm;    // the user's choice
    bool has_blas;     // CLBlast is there
    bool is_stand_in;  // the numbers are none of this device's own: it is measured at its first use
    bool is_measured;  // the numbers were measured on this device (core/op/ceilings.h)
    char file[256];    // that it was read from; built in: its name
    char date[16];     // of the file's numbers, as it says; "": it does not
    uint32_t switched; // policies that a run has other than NINO_POLICY_STANDARD
} nino_profile;

static inline bool nino_acts(const nino_profile *p, nino_policy policy)
{
    return ((NINO_POLICY_STANDARD ^ p->switched) >> policy) & 1;
}

// Whose peak the efficiencies are shares of, for operands of act_type.
static inline bool nino_profile_uses_f16_peak(const nino_profile *p, nino_dtype type)
{
    return p->schedule->has_matrix && type != NINO_F32 && p->peak_f16 > 0;
}

// Finds the profile for a device by its name: devices/NAME.json in $NINODES_DATA_DIR, in the
// install (core/base/install.h), or the built-in copies. `is_cpu` chooses the fallback. Fails if that file is
// wrong, as below.
nino_status nino_profile_find(const char *device_name, bool is_cpu, nino_profile *out,
                              nino_error *err);
// By profile name; NINO_ERR_UNKNOWN with the list of known names. Of a file that lacks something or
// names a schedule that does not exist, err->where is the path: NINO_ERR_FORMAT, NINO_ERR_UNKNOWN.
nino_status nino_profile_load(const char *name, nino_profile *out, nino_error *err);

// A peak for a profile that has none, from what a driver tells of its device: fused multiply-adds of
// all lanes at the highest clock. It serves to cut and queue work; what is shown to people is
// measured. 0 where the driver does not tell: 1 GHz, 64 lanes.
void nino_profile_estimate(nino_profile *p, unsigned compute_units, unsigned clock_mhz,
                           unsigned lanes);

// The built-in files: name and JSON text; NULL ends the list.
typedef struct nino_profile_text {
    const char *name, *json, *end;
} nino_profile_text;
extern const nino_profile_text nino_profile_builtin[];
// The reference backend's own.
extern const nino_profile nino_profile_ref;

// What 0 stands for in nino_tuning.
enum {
    NINO_STANDARD_GEMM_PIECES = 4,
    NINO_STANDARD_GEMM_ROWS = 96,
    NINO_STANDARD_GEMM_TILE = 1,
    NINO_STANDARD_GEMM_COSTS = NINO_COSTS_ALIKE,
    NINO_STANDARD_GEMM_SPLIT = 8,
    NINO_STANDARD_GEMM_BAND = 8,
    NINO_STANDARD_FLASH_KEYS = 64,
    NINO_STANDARD_ENGINE = NINO_GEMM_NATIVE,
    NINO_STANDARD_WINO_TILES = 112
};
// Puts what was tuned on this device, if it was, into the profile; true when it did. cache_dir as
// in nino_ctx_params.
bool nino_tuning_apply(const char *cache_dir, const nino_device_info *d, nino_profile *p);
// Puts what is shipped for devices of this profile into it, if something is and kernels may be tuned: made from
// the clock model, not measured (make tuned). Of a file that is no tuning NINO_ERR_FORMAT, err->where is its path.
nino_status nino_tuning_ship(nino_profile *p, nino_error *err);

// ---- decisions -------------------------------------------------------------------------------
typedef enum nino_conv_algo { NINO_CONV_DIRECT, NINO_CONV_WINOGRAD } nino_conv_algo;
nino_conv_algo nino_sched_conv(const nino_profile *p, const nino_op_desc *d);
// Arithmetic that the schedule does for a call. The op table counts direct convolutions; Winograd's
// F(4,3) has 36 products for 16 results of 9 taps, a quarter.
double nino_sched_flops(const nino_profile *p, const nino_op_desc *d);

// Workspaces. Offsets are bytes from the workspace's start, multiples of 256; all parts are f32.
//
// Winograd F(4,3): tiles of 4x4 outputs, tw a row, th rows in all (rows of every batch item), done
// in stripes of `rows` tile rows, about 112 tiles; tp = rows * tw up to 12, cp = C up to 16 for
// each of the `frames` that a result frame sees (CONV2D: 1), np = N up to 64. The products of a tile
// are 6 x 6; of maps read as if enlarged 2x one of the six is always zero: n = 36 or 25. u [n][np][cp]
// is made from the packed panels by every call: it costs 4 weights' worth of f32 while one convolution
// runs instead of for the life of the model. v [n][tp][cp + 16], m [n][tp][np].
typedef struct nino_wino_layout {
    int64_t tw, th, rows, tp, frames, cp, np, n;
    uint64_t u, v, m, bytes;
} nino_wino_layout;
nino_wino_layout nino_sched_wino(const nino_profile *p, const nino_op_desc *d);

// GROUP_NORM: each batch item's positions in strips of `strip`; part [N][n_strips][2][C] holds
// means and sums of squared deviations, coef [N][2][C] the scale and shift of a channel. With given
// statistics there is one row of part, for the means; GROUP_STAT has no coef.
typedef struct nino_norm_layout {
    int64_t positions, strip, n_strips, n_parts;
    uint64_t part, coef, bytes;
} nino_norm_layout;
nino_norm_layout nino_sched_norm(const nino_profile *p, const nino_op_desc *d);

// ATTENTION. The form is the schedule's own, or with matrix instructions one of two, where heads have a
// multiple of 8 channels of 16 bits: FLASH keeps the scores in registers, up to 160 channels; STRIPES
// keeps those of `rows` queries of one head in the workspace: V^T [D][keys], keys = Tk up to 16, then
// f32 [rows][keys] at `scores`, and f32 [rows] at `factors`. OWN of a schedule that packs keys: K^T
// [N][heads][ceil(Tk/64)][D][64], f32 or pairs of bf16. FLASH with blocks of queries too few for the device, of which the profile
// knows `units`: the keys of each are divided over several parts, whose records, f32 [N][Tq][heads][parts][D + 4],
// are made results by a second launch.
typedef enum nino_attn_form { NINO_ATTN_OWN, NINO_ATTN_FLASH, NINO_ATTN_STRIPES } nino_attn_form;
typedef struct nino_attn_layout {
    nino_attn_form form;
    int parts;         // above 1: of the keys
    int64_t part_keys; // of each but the last
    int64_t rows, keys;
    uint64_t scores, factors, bytes;
} nino_attn_layout;
nino_attn_layout nino_sched_attention(const nino_profile *p, const nino_op_desc *d);

// RESAMPLE: both tables (core/op/resample.h), then the image after the horizontal pass
// [N,H,w,C].
typedef struct nino_resample_layout {
    int taps_x, taps_y;
    uint64_t start_x, weight_x, start_y, weight_y, image, bytes;
} nino_resample_layout;
nino_resample_layout nino_sched_resample(const nino_op_desc *d);

// LINEAR, CONV2D, CONV3D whose weight stays as the file stores it (core/op/raw.h). Schedules
// decode it as they multiply, where they can and gain by it: panels is 0. Else `panels`
// of its panels are expanded to f32 at a time, or as many rows of the type that matrix instructions
// take, at `at` of the workspace, few enough to be
// multiplied before they leave the last-level cache. Winograd's transform of the weights needs all
// of them, before V and M are written.
typedef struct nino_expand_layout {
    int64_t panels;
    bool is_rows;       // [64 panels][taps][Cp] instead of panels
    nino_dtype type;    // of what is expanded
    uint64_t at, bytes; // bytes: of the whole workspace
} nino_expand_layout;
nino_expand_layout nino_sched_expand(const nino_profile *p, const nino_op_desc *d);

// Scratch bytes of a call on that device: one of the above, or 0.
size_t nino_sched_workspace(const nino_profile *p, const nino_op_desc *d);

// Most rows of a linear layer that a kernel of its own does, in f32 arithmetic.
enum { NINO_FEW_ROWS = 16 };
// A linear layer of so few rows: another kernel, with sums of another order.
bool nino_sched_is_skinny(const struct nino_op_desc *d);

// Storage type and bytes of a packed weight on that device. Matrices are packed in panels of 64
// columns [ceil(N/64)][taps][Cp][64] with Cp = C rounded up to 16 and zero-filled,
// unless they stay as the file stores them (core/op/raw.h) or the schedule keeps rows: then they are
// [N rounded up to 64][taps][Cp]. Vectors are f32, N rounded up to 64, zero-filled.
size_t nino_sched_packed_bytes(const nino_profile *p, const nino_weight *w, nino_dtype *dtype);

// The type in which matrices are multiplied with activations of type `act`: with matrix instructions, or
// those for pairs of bf16, theirs, to which weights are rounded, else f32. Linear layers of few rows and
// Winograd's products are in f32.
nino_dtype nino_sched_operand(const nino_profile *p, nino_dtype act);
// Whether a product, of a matrix or of an attention, is made of pairs of bf16 (nino_profile.has_dots).
bool nino_sched_has_dots(const nino_profile *p, const nino_op_desc *d);
// The type that a call's matrix is converted to as it is loaded, because its kernel multiplies nothing else: f16
// in place of bf16. F32: it stays what it is.
nino_dtype nino_sched_kept(const nino_profile *p, const nino_op_desc *d);

// Tiles of a product by matrix instructions, and waves of a work-group along its rows and columns.
typedef struct nino_tile {
    int rows, columns, waves_along, waves_across;
} nino_tile;
// The one by which `units` work-group processors should be done first with a product of call d: an attention's
// is of its activations alone. Of heads a tile, or a column of its waves, is as wide; rows is 0 where there is none.
nino_tile nino_sched_tile(const nino_profile *p, const struct nino_op_desc *d, int64_t rows,
                          int64_t columns, unsigned units);
// Keys of a block of NINO_ATTN_FLASH, for heads of so many channels.
int nino_sched_keys(const nino_profile *p, int64_t depth);
// Channels of a head of a LINEAR with heads; 0: it has none.
int64_t nino_sched_head(const nino_op_desc *d);
// Whether a LINEAR with heads is done in one launch; else they are for other ops.
bool nino_sched_has_heads(const nino_profile *p, const nino_op_desc *d);

// Of a product whose tiles are too few for the device: each of several parts sums some of the channels and
// taps, f32 [parts][rows][N] in the workspace, which are added then. By clock model, for devices of which the
// profile knows `units`.
typedef struct nino_split {
    nino_tile tile; // where there are parts
    int parts;      // 1: it is not split
    size_t bytes;   // of the workspace
} nino_split;
nino_split nino_sched_split(const nino_profile *p, const nino_op_desc *d);

// Predicted seconds of a call (roofline with the profile's efficiencies); 0 when the profile has no
// numbers. Where the bandwidth is not known, of the arithmetic alone.
double nino_sched_seconds(const nino_profile *p, const nino_op_desc *d, double flops, double bytes);

// How many launches a work of so many seconds and work-groups should be split into, so that each
// ends within about a twentieth of a second and a cancel is answered soon. No launch has fewer than
// four work-groups for each compute unit, which would leave the device idle; a work that has no
// more of them is one launch.
int64_t nino_sched_pieces(double seconds, int64_t groups, unsigned compute_units);
