// A schedule as a value: how kernels are cut into work-groups, and which kernels are its alone.
// Each is a folder of cl/ and a row of core/op/sched_list.h:
//
//   host.c  defines NINO_CL_OWN(schedule) and embeds the kernels of the folder (cl/embed.h)
//   *.cl    the kernels that are written for it alone: gemm, attn and skinny at least, unless its row
//           names another schedule whose kernels it takes then
//
// Kernels that differ little are shared, in cl/kernels; the row says in which form a schedule takes
// them. A copy of a folder and a row for it are a new schedule.
#pragma once
#include "cl/product.h"

// Global names in a schedule's folder carry the folder's, which the Makefile passes as SCHEDULE.
#define NINO_CL_PASTE2(a, b) nino_cl_##a##_##b
#define NINO_CL_PASTE(a, b) NINO_CL_PASTE2(a, b)
#define NINO_CL_OWN(name) NINO_CL_PASTE(SCHEDULE, name)

// Global size of a launch, in work-items.
typedef struct nino_cl_grid {
    int dims;
    size_t size[3];
} nino_cl_grid;

// How the shared kernels are cut.
typedef struct nino_cl_grids {
    // elt.cl, norm.cl: a work-item does `each` rows, or `items` work-items share all of them.
    nino_cl_grid (*rows)(int64_t rows, int64_t each, int64_t items);
    // norm.cl: statistics of strips of positions; their application to `items` runs of elements.
    nino_cl_grid (*norm_stat)(const nino_norm_layout *l, int64_t batch, int64_t channels);
    nino_cl_grid (*norm_apply)(const nino_norm_layout *l, int64_t batch, int64_t items);
    // move.cl; *together: rows that a work-item of copy_rows does.
    nino_cl_grid (*copy_rows)(uint64_t rows, uint64_t len, int *together);
    nino_cl_grid (*permute)(const uint64_t dim[5]);
    nino_cl_grid (*shuffle)(int64_t rows, int64_t columns, int64_t channels);
    // quant.cl: panels of `len` elements a column.
    nino_cl_grid (*expand)(int64_t panels, int64_t len);
    bool has_rows; // work-items do whole rows, of any length: nino_cl_row_defs()
    int flat;      // elements that a work-item of a FLAT_KERNEL does
    int pixels;    // pixels of a row that one of image.cl does
} nino_cl_grids;

// How probe.cl is cut.
typedef struct nino_cl_probing {
    // Floats that a work-item moves at once.
    int vector;
    // Values of a vector of multiply-adds; fma_narrow 0: there are no shorter ones to try.
    int fma_f32, fma_narrow, fma_f16;
    // Vectors that `items` work-items move in a round over a set of n.
    double (*round)(uint64_t n, size_t items);
    // Work-items for a set of that many bytes.
    size_t (*items)(nino_ceiling_kind kind, unsigned compute_units, uint64_t bytes);
} nino_cl_probing;

// How an attention is cut. What stands there before it is asked: the file and kernel "attn" and
// "attention", the schedule's work-group.
typedef struct nino_cl_attention {
    const char *file, *kernel;
    const char *options; // of the compiler, beside those that all have; NULL: none
    size_t group;        // work-items of a work-group
    int most;            // queries that a work-group has room for; 0: no kernel does it
    int64_t rows;        // queries of a block
    bool takes_rows;     // the kernel takes `rows` as its last argument
    bool is_narrow;    // narrow register tiles, where wide ones would be padding for the most part
    int keys;          // of a block, other than the kernel takes by itself; 0: as that
    int passes;        // how often a block's queries are read
    int parts;         // of the keys, 0: the kernel makes none
    int64_t part_keys; // of a part; the kernel takes this and the workspace as its last arguments
} nino_cl_attention;

struct nino_cl_schedule {
    size_t group;         // work-items of a work-group
    uint64_t local_bytes; // that its kernels need at least
    const nino_cl_text *kernels;
    // Whether its kernels are at home on a device, which takes a while to find out; NULL: on all. They
    // run on others, too, but emulated. options: NULL; of the compiler, for tests.
    bool (*is_native)(const nino_cl_device *dev, const char *options);
    // Whether a processor has what nino_profile.has_dots means; NULL: none has.
    bool (*has_dots)(const nino_cl_device *dev);
    const nino_cl_grids *grids;
    const nino_cl_probing *probing;
    // LINEAR, CONV2D, CONV3D: how a launch of that many rows of c is cut. *out names the kernel gemm.
    void (*cut_product)(const nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                        const nino_cl_product *g, int64_t rows, nino_cl_cut *out);
    // LINEAR of few rows: *out names the file skinny and has how operands are stored.
    void (*cut_skinny)(const nino_cl_columns *w, const nino_cl_product *g, nino_cl_cut *out);
    // NULL without the row's has_winograd.
    nino_status (*winograd)(nino_cl *cl, const nino_op_call *c, const nino_cl_columns *w,
                            nino_error *err);
    void (*cut_attention)(const nino_cl *cl, const nino_op_desc *d, nino_cl_attention *out);
    // ATTENTION by NINO_ATTN_STRIPES; NULL without the row's has_matrix.
    nino_status (*stripes)(nino_cl *cl, const nino_op_call *c, nino_error *err);
    // K as the kernel wants it, into the workspace; NULL without the row's packs_keys.
    nino_status (*pack_keys)(nino_cl *cl, const nino_op_call *c, const char *defs, nino_error *err);
};
