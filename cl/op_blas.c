// LINEAR by a BLAS library: operands as it takes them, its product, and what follows the sums. Who does a
// layer is core/op/engine.h's decision.
#include "cl/blas.h"
#include "cl/product.h"
#include "cl/runtime.h"
#include "core/base/error.h"
#include "core/base/size.h"
#include "core/base/time.h"
#include "core/op/engine.h"
#include "core/op/pack.h"
#include "core/op/weight.h"

#include <stdio.h>

enum { ROW_UNIT = 768, GROUP = 256, STAGE_GROUP = 64, OWN_CODES = -1000 };

nino_status nino_cl_blas_fail(nino_cl *cl, cl_int e, nino_error *err)
{
    if (e > OWN_CODES)
        return nino_cl_fail(cl, e, nino_blas.name, err);
    return nino_fail(err, NINO_ERR_DEVICE, nino_blas.name,
                     "it fails on %s with its error %d; NINODES_GEMM=native does without it",
                     cl->dev->info.name, e);
}

static nino_block part_of(const nino_block *workspace, uint64_t at)
{
    nino_block b = *workspace;
    b.offset += at;
    return b;
}

// ---- operands ----------------------------------------------------------------------------------

static nino_status as_f32(nino_cl *cl, const nino_op_call *c, nino_dtype type,
                          const nino_block *src, const nino_block *dst, int64_t n, nino_error *err)
{
    const nino_cl_what what = { .d = &c->d };
    const nino_cl_arg args[] = { A_BUF(src, nino_dtype_size(type)), A_BUF(dst, 4), A_U64(n) };
    const size_t global = nino_cl_flat(cl, (uint64_t) n);
    return nino_cl_launch(cl, "basic", "cast_f32", nino_cl_type_defs(type), &what, 1, &global, NULL,
                          args, NINO_CL_COUNT(args), err);
}

static const char *blas_defs(const nino_op_call *c, char defs[64])
{
    snprintf(defs, 64, "%s -DWT=%s", nino_cl_type_defs(c->d.src_type[0]),
             nino_dtype_name(c->weight->dtype));
    return defs;
}

static nino_status stage_weight(nino_cl *cl, const nino_op_call *c, const nino_blas_layout *l,
                                nino_error *err)
{
    const nino_weight *w = c->d.weight;
    const nino_block to = part_of(&c->workspace, l->w);
    const nino_cl_what what = { .d = &c->d };
    char defs[64];
    if (l->is_rows)
        return as_f32(cl, c, c->weight->dtype, &c->weight->mem, &to, w->n * l->ld, err);
    const nino_cl_arg args[] = { A_BUF(&c->weight->mem, nino_dtype_size(c->weight->dtype)),
                                 A_BUF(&to, 4), A_INT(w->c), A_INT(l->ld / 64) };
    const size_t global[] = { (size_t) nino_ceil_div(w->c * 16, STAGE_GROUP) * STAGE_GROUP,
                              (size_t) (l->ld / 64) };
    return nino_cl_launch(cl, "blas", "stage_panels", blas_defs(c, defs), &what, 2, global, NULL,
                          args, NINO_CL_COUNT(args), err);
}

// Bias, residual and activation, in the result's type.
static nino_status blas_finish(nino_cl *cl, const nino_op_call *c, const nino_blas_layout *l,
                               nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const size_t elem = nino_dtype_size(d->dst_type);
    const int64_t n = d->weight->n, rows = nino_shape_count(&d->dst) / n;
    const nino_block sums = part_of(&c->workspace, l->sums);
    const nino_cl_what what = { .d = d };
    const nino_cl_arg args[] = { A_BUF(&sums, 4),
                                 A_INT(1),
                                 A_INT(rows),
                                 A_INT(n),
                                 A_BUF(c->bias ? &c->bias->mem : NULL, 4),
                                 A_BUF(d->has_residual ? &c->src[1]->mem : NULL, elem),
                                 A_BUF(&c->dst->mem, elem),
                                 A_INT(d->attr.act),
                                 A_INT(nino_cl_product_has(c)) };
    const size_t global = (size_t) nino_ceil_div(rows * nino_ceil_div(n, 4), GROUP) * GROUP;
    char defs[64];
    return nino_cl_launch(cl, "blas", "sum_parts", blas_defs(c, defs), &what, 1, &global, NULL,
                          args, NINO_CL_COUNT(args), err);
}

// ---- the product -------------------------------------------------------------------------------

// On the compiler's thread: one of a single number, by which the library compiles its kernels.
static cl_int blas_warm_up(nino_cl *cl)
{
    cl_int e;
    const cl_mem mem = OCL_NEW(e, clCreateBuffer, cl->context, CL_MEM_READ_WRITE, 64, NULL);
    const nino_cl_sgemm g = {
        .rows = 1, .n = 1, .c = 1, .b_ld = 1, .a = mem, .b = mem, .y = mem, .b_at = 4, .y_at = 8
    };
    if (!mem)
        return e;
    e = nino_ocl_fault() ?: nino_blas.sgemm(cl->queue.handle, &g, NULL);
    nino_ocl.clReleaseMemObject(mem);
    return e;
}

// Its memory out of the workspace, if what the plan has reserved is enough; NULL: it takes its own.
static cl_mem temp_of(const nino_cl *cl, const nino_op_call *c, const nino_blas_layout *l,
                      const nino_cl_sgemm *g)
{
    cl_int e;
    cl_buffer_region region = { .origin = c->workspace.offset + l->temp };
    if (nino_blas.temp_bytes(cl->queue.handle, g, &region.size) || !region.size ||
        region.size > l->temp_bytes)
        return NULL;
    return OCL_NEW(e, clCreateSubBuffer, c->workspace.base, CL_MEM_READ_WRITE,
                   CL_BUFFER_CREATE_TYPE_REGION, &region);
}

// The library enqueues several kernels and tells of the last: a marker says when the first could begin.
static cl_int blas_enqueue(nino_cl *cl, const nino_cl_sgemm *g, nino_cl_command *command)
{
    cl_int e = CL_SUCCESS;
    if (command->event)
        e = OCL(clEnqueueMarkerWithWaitList, cl->queue.handle, 0, NULL, &command->rec.begun);
    if (!e && !(e = nino_ocl_fault()))
        e = nino_blas.sgemm(cl->queue.handle, g, command->event);
    if (e && command->rec.begun) {
        nino_ocl.clReleaseEvent(command->rec.begun);
        command->rec.begun = NULL;
    }
    return e;
}

static nino_status multiply(nino_cl *cl, const nino_op_call *c, const nino_blas_layout *l,
                            nino_cl_sgemm *g, double share, nino_error *err)
{
    const nino_cl_what what = { .d = &c->d, .is_main = true, .share = share };
    nino_cl_command command = { .name = "sgemm_clblast",
                                .kind = NINO_EV_KERNEL,
                                .what = &what,
                                .is_first = true, // drivers may compile for each of its shapes
                                .launch = { .global = { 1, 1, 1 } } };
    if (nino_backend_is_cancelled(&cl->be))
        return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
    nino_status st = nino_cl_command_begin(cl, &command, err);
    if (st)
        return st;
    g->temp = temp_of(cl, c, l, g);
    const cl_int e = blas_enqueue(cl, g, &command);
    if (g->temp)
        nino_ocl.clReleaseMemObject(g->temp);
    if (!e)
        return nino_cl_command_end(cl, &command, e, err);
    nino_cl_command_end(cl, &command, e > OWN_CODES ? e : CL_INVALID_OPERATION, NULL);
    return nino_cl_blas_fail(cl, e, err);
}

// In pieces, as other products, so that a cancel need not wait for all of it.
static nino_status multiply_all(nino_cl *cl, const nino_op_call *c, const nino_blas_layout *l,
                                nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const int64_t n = d->weight->n, rows = nino_shape_count(&d->dst) / n;
    const nino_block x = l->has_x ? part_of(&c->workspace, l->x) : c->src[0]->mem;
    const nino_block w = l->has_w ? part_of(&c->workspace, l->w) : c->weight->mem;
    const nino_block y = l->has_sums ? part_of(&c->workspace, l->sums) : c->dst->mem;
    nino_cl_sgemm g = { .n = (size_t) n,
                        .c = (size_t) d->weight->c,
                        .b_ld = (size_t) l->ld,
                        .is_b_rows = l->is_rows,
                        .a = x.base,
                        .b = w.base,
                        .y = y.base,
                        .b_at = w.offset / 4 };
    int64_t pieces = nino_cl_pieces(cl, d, nino_ops[d->op].flops(d), rows * n / 4096);
    pieces = pieces < rows / ROW_UNIT ? pieces : rows / ROW_UNIT;
    pieces = pieces < 1 ? 1 : pieces;
    nino_status st = NINO_OK;
    for (int64_t i = 1, from = 0; i <= pieces && !st; i++) {
        const int64_t to = i < pieces ? rows * i / pieces / ROW_UNIT * ROW_UNIT : rows;
        g.rows = (size_t) (to - from);
        g.a_at = x.offset / 4 + (size_t) from * g.c;
        g.y_at = y.offset / 4 + (size_t) (from * n);
        st = multiply(cl, c, l, &g, (double) (to - from) / (double) rows, err);
        from = to;
    }
    return st;
}

nino_status nino_cl_blas_linear(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const nino_blas_layout l = nino_engine_blas(&cl->be.profile, d);
    const nino_block x = part_of(&c->workspace, l.x);
    nino_status st = NINO_OK;
    if (l.has_x)
        st = as_f32(cl, c, d->src_type[0], &c->src[0]->mem, &x, nino_shape_count(&d->src[0]), err);
    if (!st && l.has_w)
        st = stage_weight(cl, c, &l, err);
    if (!st && !cl->listing && !cl->is_blas_ready)
        st = nino_cl_build_other(cl, nino_blas.name, blas_warm_up, err);
    if (!st && !cl->listing)
        st = multiply_all(cl, c, &l, err);
    return !st && l.has_sums ? blas_finish(cl, c, &l, err) : st;
}
