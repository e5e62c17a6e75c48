// A BLAS library as the second engine of linear layers: what cl/op_blas.c asks of it. There is one, CLBlast
// (cl/clblast.c; a build with CLBLAST=0 has none, cl/clblast_none.c). Tests put another in its place.
#pragma once
#include "cl/cl.h"

// y [rows][n] = a [rows][c] times b, in f32; b is [c][b_ld], or with is_b_rows [n][b_ld].
typedef struct nino_cl_sgemm {
    size_t rows, n, c, b_ld;
    bool is_b_rows;
    cl_mem a, b, y;
    size_t a_at, b_at, y_at; // in elements
    cl_mem temp;             // at least temp_bytes(); NULL: the library allocates it
} nino_cl_sgemm;

// The calls return OpenCL's codes, or below -1000 the library's.
typedef struct nino_cl_blas {
    const char *name; // for messages
    bool (*load)(void);
    cl_int (*temp_bytes)(cl_command_queue queue, const nino_cl_sgemm *g, size_t *bytes);
    // Compiles its kernels when it is first called on a context, which can take many seconds.
    cl_int (*sgemm)(cl_command_queue queue, const nino_cl_sgemm *g, cl_event *event);
    void (*forget)(void); // programs that it keeps, which hold contexts
} nino_cl_blas;
extern nino_cl_blas nino_blas;

// LINEAR, where nino_engine_is_blas().
nino_status nino_cl_blas_linear(nino_cl *cl, const nino_op_call *c, nino_error *err);
// Fills *err with the class of a code that is not 0.
nino_status nino_cl_blas_fail(nino_cl *cl, cl_int e, nino_error *err);
