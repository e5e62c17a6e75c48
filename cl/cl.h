// The OpenCL backend's own header: device, launch and program interface shared by cl/*.c. Nothing
// outside cl/ includes it except cl/provider.c through core/op/device/device.h.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include "cl/api.h"
#include "core/op/backend.h"
#include "core/op/device/device.h"

typedef struct nino_cl nino_cl;
typedef struct nino_cl_program nino_cl_program;
typedef struct nino_cl_device nino_cl_device;     // cl/runtime.h
typedef struct nino_cl_schedule nino_cl_schedule; // cl/cl_schedule.h

// A kernel file: its name without ".cl". A list of them ends with a NULL name.
typedef struct nino_cl_text {
    const char *name, *text;
} nino_cl_text;

// One kernel argument; built with the macros below so that a table of them reads like the kernel's
// signature.
typedef struct nino_cl_arg {
    enum { NINO_ARG_MEM, NINO_ARG_I32, NINO_ARG_F32, NINO_ARG_U64 } type;
    const nino_block
        *mem; // MEM: the arena's cl_mem; its offset is passed as a separate argument (see below)
    int32_t i;
    float f;
    uint64_t u;
} nino_cl_arg;

// A buffer takes two kernel parameters: `global T *p, const ulong p_off` (element offset into the
// arena). elem: element size.
#define A_BUF(block, elem)                                                                         \
    {                                                                                              \
        .type = NINO_ARG_MEM, .mem = (block), .u = (elem)                                          \
    }
#define A_INT(v)                                                                                   \
    {                                                                                              \
        .type = NINO_ARG_I32, .i = (int32_t) (v)                                                   \
    }
#define A_F32(v)                                                                                   \
    {                                                                                              \
        .type = NINO_ARG_F32, .f = (float) (v)                                                     \
    }
#define A_U64(v)                                                                                   \
    {                                                                                              \
        .type = NINO_ARG_U64, .u = (uint64_t) (v)                                                  \
    }

// What a launch was for, for events: op, shape and counts. NULL fields are fine.
typedef struct nino_cl_what {
    const nino_op_desc *d; // flops and bytes come from the op table when `is_main`
    bool is_main;          // helper kernels (packing, statistics) pass false and report zero FLOPs
    double share;          // part of the op that a main launch does; 0: all of it
    double requested;      // bytes, as in nino_launch (cl/traffic.c); 0: not known
} nino_cl_what;

// Sets arguments, enqueues, keeps the event for the monitor. local NULL: work-group size from
// reqd_work_group_size. file: "conv", kernel: function name, defs: "-D..." options
// (specialisation). Programs are built once and cached. A global size with a 0 launches nothing.
nino_status nino_cl_launch(nino_cl *cl, const char *file, const char *kernel, const char *defs,
                           const nino_cl_what *what, int dims, const size_t *global,
                           const size_t *local, const nino_cl_arg *args, int n_args,
                           nino_error *err);

const nino_profile *nino_cl_profile(const nino_cl *cl);
const nino_cl_schedule *nino_cl_schedule_now(const nino_cl *cl); // the profile's
unsigned nino_cl_compute_units(const nino_cl *cl);               // at least 1
uint64_t nino_cl_local_bytes(const nino_cl *cl);                 // of a compute unit
// Common -D options for a storage type: F16, BF16.
const char *nino_cl_type_defs(nino_dtype t);
// Options of kernels whose work-items do parts of rows: NARROW, when rows are no quads; WIDE, when indices
// up to n do not fit 32 bits.
const char *nino_cl_row_defs(const nino_cl *cl, bool is_narrow, uint64_t n);
// Global size for n work-items, and for n work-groups, of the schedule's size of a work-group.
size_t nino_cl_items(const nino_cl *cl, uint64_t n);
size_t nino_cl_groups(const nino_cl *cl, uint64_t n);
// Global size of a FLAT_KERNEL (cl/kernels/common.cl) over n elements.
size_t nino_cl_flat(const nino_cl *cl, uint64_t n);
// How many launches a part of an op should be split into, at the speed of the last commands
// (nino_sched_pieces); groups: its work-groups in one launch.
int64_t nino_cl_pieces(const nino_cl *cl, const nino_op_desc *d, double flops, int64_t groups);
// Whether the device can run its work-groups; true where it cannot be built, which its launch will say.
bool nino_cl_kernel_fits(nino_cl *cl, const char *file, const char *kernel, const char *defs);
// Products take the next smaller tile from now on; false: there is none.
bool nino_cl_smaller_tiles(nino_cl *cl);
// Number of entries of an argument table.
#define NINO_CL_COUNT(a) ((int) (sizeof(a) / sizeof((a)[0])))

// ---- traffic.c -------------------------------------------------------------------------------
// What a launch's work-groups load and store, for nino_cl_what.requested.
typedef struct nino_cl_tiles {
    int64_t rows, columns; // of the result that the launch makes
    int64_t along, across; // work-groups along rows, along columns
} nino_cl_tiles;
// `weight`: as the kernel reads it.
double nino_cl_product_bytes(const nino_op_desc *d, nino_dtype weight, const nino_cl_tiles *t);
double nino_cl_wino_bytes(const nino_wino_layout *l, const nino_cl_tiles *t);
// Of all blocks of queries, which are read `passes` times; key_bytes: of a value of K as the kernel
// reads it.
double nino_cl_attention_bytes(const nino_op_desc *d, int64_t blocks, int passes, size_t key_bytes);
// Kernels over rows or single elements, in one launch.
double nino_cl_rows_bytes(const nino_op_desc *d);

// Per-family hosts: pick the variant, set sizes, launch. One function an op; cl/cl_ops.c holds
// the table.
nino_status nino_cl_gemm(nino_cl *cl, const nino_op_call *c,
                         nino_error *err); // LINEAR, CONV2D: cl/op_gemm.c
nino_status nino_cl_attn(nino_cl *cl, const nino_op_call *c,
                         nino_error *err); // ATTENTION, SOFTMAX: cl/op_attn.c
nino_status
nino_cl_norm(nino_cl *cl, const nino_op_call *c,
             nino_error *err); // GROUP_NORM GROUP_STAT LAYER_NORM RMS_NORM: cl/op_norm.c
nino_status
nino_cl_elt(nino_cl *cl, const nino_op_call *c,
            nino_error *err); // ACT ADD SCALE MUL GLU GATE_ADD ROPE CHECK_FINITE: cl/op_elt.c
nino_status nino_cl_move(nino_cl *cl, const nino_op_call *c,
                         nino_error *err); // CONCAT SLICE PERMUTE CAST: cl/op_move.c
nino_status nino_cl_image(nino_cl *cl, const nino_op_call *c,
                          nino_error *err); // RESAMPLE BLEND* TO_RGB8: cl/op_image.c
