// Which host function runs which op.
#include "cl/runtime.h"

static nino_status (*const table[NINO_OP_COUNT])(nino_cl *, const nino_op_call *, nino_error *) = {
    [NINO_OP_LINEAR] = nino_cl_gemm,      [NINO_OP_CONV2D] = nino_cl_gemm,
    [NINO_OP_CONV3D] = nino_cl_gemm,      [NINO_OP_SHUFFLE] = nino_cl_move,
    [NINO_OP_SOFTMAX] = nino_cl_attn,     [NINO_OP_ATTENTION] = nino_cl_attn,
    [NINO_OP_GROUP_NORM] = nino_cl_norm,  [NINO_OP_ACT] = nino_cl_elt,
    [NINO_OP_ADD] = nino_cl_elt,          [NINO_OP_SCALE] = nino_cl_elt,
    [NINO_OP_CHECK_FINITE] = nino_cl_elt, [NINO_OP_CONCAT] = nino_cl_move,
    [NINO_OP_SLICE] = nino_cl_move,       [NINO_OP_PERMUTE] = nino_cl_move,
    [NINO_OP_CAST] = nino_cl_move,        [NINO_OP_RESAMPLE] = nino_cl_image,
    [NINO_OP_BLEND] = nino_cl_image,      [NINO_OP_BLEND_DIV] = nino_cl_image,
    [NINO_OP_TO_RGB8] = nino_cl_image,    [NINO_OP_LAYER_NORM] = nino_cl_norm,
    [NINO_OP_RMS_NORM] = nino_cl_norm,    [NINO_OP_MUL] = nino_cl_elt,
    [NINO_OP_GLU] = nino_cl_elt,          [NINO_OP_GATE_ADD] = nino_cl_elt,
    [NINO_OP_ROPE] = nino_cl_elt,         [NINO_OP_GROUP_STAT] = nino_cl_norm,
};

nino_status nino_cl_run(nino_backend *be, const nino_op_call *call, nino_error *err)
{
    const nino_op_id op = call->d.op;
    if (op < 0 || op >= NINO_OP_COUNT || !table[op])
        return nino_fail(err, NINO_ERR_UNSUPPORTED, op < NINO_OP_COUNT ? nino_ops[op].name : "",
                         "no OpenCL implementation of this operation");
    return table[op]((nino_cl *) be, call, err);
}
