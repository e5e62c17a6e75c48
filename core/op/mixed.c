// The policy of mixed precision, a row an op, in three steps by size. Small tensors (what time and
// prompts become, the lowest levels of a network, whole networks at small pictures) cost little and
// stay fp32. Of larger ones the factors of products are 16 bits, and what runs along the layers and is
// added to, whose rounding every later layer sees, is fp32. The largest, which memory bounds, are 16
// bits all of them.
#include "core/op/mixed.h"

#include "core/base/num.h"
#include "core/base/vars.h"

#define ALL 15u

const nino_mixed_row nino_mixed_rows[NINO_OP_COUNT] = {
    [NINO_OP_LINEAR] = { NINO_MIXED_BY_SIZE, ALL },
    [NINO_OP_CONV2D] = { NINO_MIXED_BY_SIZE, ALL },
    [NINO_OP_CONV3D] = { NINO_MIXED_BY_SIZE, ALL },
    [NINO_OP_GROUP_NORM] = { NINO_MIXED_SUM, 1 }, // given statistics are f32
    [NINO_OP_LAYER_NORM] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_RMS_NORM] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_SOFTMAX] = { NINO_MIXED_WIDE, 1 },
    [NINO_OP_ATTENTION] = { NINO_MIXED_BY_SIZE, 7 }, // the mask is f32
    [NINO_OP_ACT] = { NINO_MIXED_BY_SIZE, 1 },
    [NINO_OP_ADD] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_SCALE] = { NINO_MIXED_SUM, 1 },
    [NINO_OP_MUL] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_GLU] = { NINO_MIXED_BY_SIZE, 1 },
    [NINO_OP_GATE_ADD] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_ROPE] = { NINO_MIXED_BY_SIZE, 1 }, // the table is f32
    [NINO_OP_CONCAT] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_SLICE] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_PERMUTE] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_CAST] = { NINO_MIXED_ASIS, 0 }, // the model means it
    [NINO_OP_SHUFFLE] = { NINO_MIXED_SUM, ALL },
    [NINO_OP_RESAMPLE] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_BLEND] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_BLEND_DIV] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_TO_RGB8] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_CHECK_FINITE] = { NINO_MIXED_ASIS, 0 },
    [NINO_OP_GROUP_STAT] = { NINO_MIXED_ASIS, 0 },
};

static int64_t setting_of(const char *text)
{
    int64_t n = 0;
    nino_parse_i64(text, &n);
    return n;
}

static int64_t mixed_from(void) { return setting_of(nino_vars_get()->mixed_from); }
static int64_t half_from(void) { return setting_of(nino_vars_get()->half_from); }

static int64_t mixed_item_of(const nino_shape *s)
{
    const int64_t n = nino_shape_count(s);
    return s->rank > 2 && s->dim[0] > 0 ? n / s->dim[0] : n;
}

int64_t nino_mixed_item(const nino_op_desc *d)
{
    const int64_t dst = mixed_item_of(&d->dst), src = mixed_item_of(&d->src[0]);
    return dst > src ? dst : src;
}

nino_dtype nino_mixed_type(const nino_op_desc *d, int64_t item, nino_dtype half)
{
    const bool is_sum = nino_mixed_rows[d->op].rule == NINO_MIXED_SUM;
    switch (nino_mixed_rows[d->op].rule) {
    case NINO_MIXED_WIDE: return NINO_F32;
    case NINO_MIXED_BY_SIZE:
    case NINO_MIXED_SUM:
        return item >= mixed_from() && (!is_sum || item >= half_from()) ? half : NINO_F32;
    case NINO_MIXED_ASIS: break;
    }
    return d->src_type[0];
}

bool nino_mixed_adds_apart(int64_t item) { return item >= mixed_from() && item < half_from(); }

nino_precision nino_mixed_whole(nino_precision p, int64_t values)
{
    if (p != NINO_PREC_MIXED && p != NINO_PREC_MIXED_BF16)
        return p;
    if (values < mixed_from())
        return NINO_PREC_F32;
    return p == NINO_PREC_MIXED ? NINO_PREC_F16 : NINO_PREC_BF16;
}
