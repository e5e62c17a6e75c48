// Host side of the elementwise operations: cl/kernels/elt.cl.
#include "cl/cl.h"
#include "core/base/error.h"

#include <stdio.h>

nino_status nino_cl_elt(nino_cl *cl, const nino_op_call *c, nino_error *err)
{
    const nino_op_desc *d = &c->d;
    const uint64_t n = (uint64_t) nino_shape_count(&d->src[0]);
    const size_t elem = nino_dtype_size(d->src_type[0]), global = nino_cl_flat(cl, n);
    const nino_cl_what what = { .d = d, .is_main = true };
    const nino_block *x = &c->src[0]->mem, *y = &c->dst->mem;
    char defs[64];
    snprintf(defs, sizeof(defs), "%s", nino_cl_type_defs(d->src_type[0]));
    switch (d->op) {
    case NINO_OP_ACT: {
        const nino_cl_arg args[] = { A_BUF(x, elem), A_BUF(y, elem), A_U64(n) };
        snprintf(defs, sizeof(defs), "%s -DACT=%d", nino_cl_type_defs(d->src_type[0]),
                 (int) d->attr.act);
        return nino_cl_launch(cl, "elt", "act_op", defs, &what, 1, &global, NULL, args,
                              NINO_CL_COUNT(args), err);
    }
    case NINO_OP_ADD: {
        const nino_cl_arg args[] = { A_BUF(x, elem), A_BUF(&c->src[1]->mem, elem), A_BUF(y, elem),
                                     A_U64(n) };
        return nino_cl_launch(cl, "elt", "add", defs, &what, 1, &global, NULL, args,
                              NINO_CL_COUNT(args), err);
    }
    case NINO_OP_SCALE: {
        const nino_cl_arg args[] = { A_BUF(x, elem), A_BUF(y, elem), A_U64(n), A_F32(d->attr.scale),
                                     A_F32(d->attr.shift) };
        return nino_cl_launch(cl, "elt", "scale", defs, &what, 1, &global, NULL, args,
                              NINO_CL_COUNT(args), err);
    }
    default: { // CHECK_FINITE
        const nino_cl_arg args[] = { A_BUF(x, elem), A_BUF(y, 4), A_U64(n) };
        return nino_cl_launch(cl, "elt", "check_finite", defs, &what, 1, &global, NULL, args,
                              NINO_CL_COUNT(args), err);
    }
    }
}
