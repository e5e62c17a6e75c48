// Who multiplies the matrices of linear layers: decisions that cl and plan must agree on.
#include "core/op/engine.h"

#include "core/base/error.h"
#include "core/base/size.h"
#include "core/op/pack.h"
#include "core/op/raw.h"

#include <string.h>

// Tiles of CLBlast's kernels are no larger, whatever its database says of a device.
#define BLAS_TILE 128
// Fewer rows are a flat product: as much is read as computed.
#define FLAT_ROWS 256

static uint64_t engine_align(uint64_t n) { return (n + 255) / 256 * 256; }

nino_status nino_engine_set(nino_profile *p, const char *word, const char *where, nino_error *err)
{
    static const char *const words[] = { "auto", "native", "clblast" };
    for (int i = 0; i < 3; i++)
        if (!strcmp(*word ? word : "auto", words[i])) {
            if (i == NINO_GEMM_CLBLAST && !p->has_blas)
                return nino_fail(err, NINO_ERR_UNSUPPORTED, where,
                                 "CLBlast (libclblast.so.1) is not installed, or was left out of "
                                 "this build");
            p->gemm = (nino_gemm) i;
            return NINO_OK;
        }
    return nino_fail(err, NINO_ERR_UNKNOWN, where,
                     "there is no engine \"%s\"; there are auto, native, clblast", word);
}

const char *nino_engine_text(const nino_profile *p)
{
    const nino_tuning *t = &p->tuning;
    const int all[] = { t->engine_few, t->engine_flat, t->engine_tall };
    bool is_tuned = false;
    for (int i = 0; i < 3; i++)
        is_tuned = is_tuned || all[i] == NINO_GEMM_CLBLAST;
    if (!p->has_blas || p->gemm == NINO_GEMM_NATIVE || (p->gemm == NINO_GEMM_AUTO && !is_tuned))
        return "ninodes' kernels";
    return p->gemm == NINO_GEMM_CLBLAST ? "CLBlast" : "CLBlast where it was measured to be faster";
}

nino_engine_class nino_engine_class_of(int64_t rows)
{
    return rows <= NINO_FEW_ROWS ? NINO_ENGINE_FEW
           : rows < FLAT_ROWS    ? NINO_ENGINE_FLAT
                                 : NINO_ENGINE_TALL;
}

static int64_t engine_rows(const nino_op_desc *d)
{
    return nino_shape_count(&d->dst) / d->weight->n;
}

static bool can_blas(const nino_profile *p, const nino_op_desc *d)
{
    nino_raw_layout raw;
    const int64_t most = INT32_MAX - 256;
    if (!p->has_blas || p->schedule->is_plain || d->op != NINO_OP_LINEAR)
        return false;
    const nino_dtype type = d->weight->dtype;
    return (type == NINO_F32 || type == NINO_F16 || type == NINO_BF16) &&
           !nino_raw_layout_of(d->weight, &raw) && engine_rows(d) < most && d->weight->n < most &&
           d->weight->c < most;
}

bool nino_engine_is_blas(const nino_profile *p, const nino_op_desc *d)
{
    const int chosen[] = { p->tuning.engine_few, p->tuning.engine_flat, p->tuning.engine_tall };
    if (p->gemm == NINO_GEMM_NATIVE || !can_blas(p, d))
        return false;
    return p->gemm == NINO_GEMM_CLBLAST ||
           (d->src_type[0] == NINO_F32 &&
            chosen[nino_engine_class_of(nino_op_rows_of_whole(d, engine_rows(d)))] ==
                NINO_GEMM_CLBLAST);
}

nino_blas_layout nino_engine_blas(const nino_profile *p, const nino_op_desc *d)
{
    const int64_t rows = engine_rows(d), n = d->weight->n, c = d->weight->c;
    const int64_t padded = nino_pack_panels_of(n) * 64;
    nino_blas_layout l = { .is_rows = p->schedule->keeps_rows };
    nino_dtype type;
    nino_sched_packed_bytes(p, d->weight, &type);
    // A panel alone has its columns side by side already.
    l.has_w = type != NINO_F32 || (!l.is_rows && padded > 64);
    l.has_x = d->src_type[0] != NINO_F32;
    l.has_sums = d->dst_type != NINO_F32 || d->has_residual || d->attr.act || d->bias;
    l.ld = l.is_rows ? nino_pack_cp(c) : padded;
    l.w = l.has_x ? engine_align((uint64_t) (rows * c) * 4) : 0;
    l.sums =
        l.w + (l.has_w ? engine_align((uint64_t) (l.is_rows ? n : c) * (uint64_t) l.ld * 4) : 0);
    l.temp = l.sums + (l.has_sums ? engine_align((uint64_t) (rows * n) * 4) : 0);
    const uint64_t tm = (uint64_t) (nino_ceil_div(rows, BLAS_TILE) * BLAS_TILE),
                   tn = (uint64_t) (nino_ceil_div(n, BLAS_TILE) * BLAS_TILE),
                   tc = (uint64_t) (nino_ceil_div(c, BLAS_TILE) * BLAS_TILE);
    l.temp_bytes = (tm * tc + tc * tn + tm * tn) * 4;
    l.bytes = l.temp + l.temp_bytes;
    return l;
}
