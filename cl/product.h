// LINEAR, CONV2D and CONV3D as products: what a schedule is asked to cut, and what its own kernels
// of products (Winograd) are given.
#pragma once
#include "cl/cl.h"
#include "core/op/raw.h"

// The implicit GEMM that an op amounts to.
typedef struct nino_cl_product {
    int64_t rows, n, ld, c, h, w, oh, ow; // n: columns of a launch, ld: of all
    int64_t whole;                        // rows of the whole of which this is a part, else as rows
    int taps, ks, stride, pad, up;
    // CONV3D
    bool is_video;
    int pad_t, stride_t, history, first_tap; // history: index of the source before x; see op.h
    int64_t earlier;
} nino_cl_product;
nino_cl_product nino_cl_product_of(const nino_op_desc *d);

// Columns first .. first + n of the weight: panels, or a part as the file stores it.
typedef struct nino_cl_columns {
    nino_block mem;
    nino_dtype type;
    int64_t first, n;
    const nino_raw_part *raw; // rows of some type, as the file stores them or padded; NULL: panels
} nino_cl_columns;

// How one launch is cut: the kernel and its options, the global size, and what of a tile the kernel
// takes as arguments.
typedef struct nino_cl_cut {
    const char *file, *kernel;
    char defs[192];
    int64_t tile_rows, tile_panels; // 0: it takes none
    int64_t x_row,
        w_row;    // values from a row to the next, for kernels that want them in place of h, w; 0
    size_t group; // work-items of a work-group: the schedule's, where that says no other
    size_t global[3];
    int parts;        // above 1: of the channels (nino_split), global[2] is that
    bool takes_heads; // the kernel can do what follows a product of heads
} nino_cl_cut;
// Adds options.
__attribute__((format(printf, 2, 3))) void nino_cl_cut_define(nino_cl_cut *k, const char *fmt, ...);
// How the operands are stored: options of all kernels of products.
void nino_cl_product_defs(const nino_op_call *c, const nino_cl_columns *w, nino_cl_cut *k);
// What follows the sum, their argument `has`: see cl/kernels/product.cl.
int nino_cl_product_has(const nino_op_call *c);
