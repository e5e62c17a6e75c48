// The reference backend: host memory, obvious loops, one thread. It says what every op means.
#include "core/op/ref/ref.h"

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/base/vars.h"
#include "core/op/pack.h"

#include <stdlib.h>
#include <string.h>

static void *ref_at(const nino_block *b) { return (char *) b->base + b->offset; }

nino_status nino_ref_nomem(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "ref", "no host memory for a temporary");
}

nino_status nino_ref_cancelled(const nino_ref_args *a, nino_error *err)
{
    return nino_backend_is_cancelled(a->be) ? nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled")
                                            : NINO_OK;
}

// ---- memory ----------------------------------------------------------------------------------

static void *create_arena(void *priv, uint64_t bytes, nino_error *err)
{
    (void) priv;
    (void) err;
    return aligned_alloc(256,
                         ((size_t) bytes + 255) / 256 * 256); // arenas of one tensor are smaller
}
static void destroy_arena(void *priv, void *handle)
{
    (void) priv;
    free(handle);
}

static nino_status ref_upload(nino_backend *be, const nino_block *dst, const void *src,
                              size_t bytes, nino_error *err)
{
    (void) be;
    (void) err;
    memcpy(ref_at(dst), src, bytes);
    return NINO_OK;
}
static nino_status ref_download(nino_backend *be, const nino_block *src, void *dst, size_t bytes,
                                nino_error *err)
{
    (void) be;
    (void) err;
    memcpy(dst, ref_at(src), bytes);
    return NINO_OK;
}
static nino_status ref_fill_zero(nino_backend *be, const nino_block *dst, size_t bytes,
                                 nino_error *err)
{
    (void) be;
    (void) err;
    memset(ref_at(dst), 0, bytes);
    return NINO_OK;
}

static size_t ref_packed_bytes(nino_backend *be, const nino_weight *w, nino_dtype *dtype)
{
    return nino_sched_packed_bytes(&be->profile, w, dtype);
}
static nino_status ref_pack(nino_backend *be, const nino_weight *w, nino_packed *out,
                            nino_error *err)
{
    return nino_pack_weight(&be->profile, w, be->cancel, ref_at(&out->mem), err);
}

// ---- running ---------------------------------------------------------------------------------

// The values of source i as f32; *owned is to be freed.
static const float *ref_load(const nino_tensor *t, float **owned)
{
    const int64_t n = nino_shape_count(&t->shape);
    if (t->dtype == NINO_F32)
        return ref_at(&t->mem);
    *owned = malloc((size_t) n * sizeof(float) + 1);
    if (*owned)
        nino_to_f32(*owned, ref_at(&t->mem), t->dtype, (size_t) n);
    return *owned;
}

// Ops run in the caller's thread, but stand on the device's track as on every backend.
static void record(nino_backend *be, const nino_op_desc *d, uint64_t start)
{
    char shape[96];
    nino_event ev = { .t_ns = start, .kind = NINO_EV_KERNEL };
    ev.track = (uint16_t) (256 + be->queue);
    nino_shape_print(shape, sizeof(shape), &d->dst);
    ev.sub = (uint8_t) (d->op + 1);
    ev.id = (uint32_t) nino_dtype_bits(d->dst_type);
    ev.name = nino_monitor_name(be->monitor, nino_ops[d->op].name);
    ev.u.kernel.dur_ns = nino_now_ns() - start;
    ev.u.kernel.shape = nino_monitor_name(be->monitor, shape);
    ev.u.kernel.family = nino_monitor_name(be->monitor, nino_ops[d->op].family);
    ev.u.kernel.flops = nino_ops[d->op].flops(d);
    ev.u.kernel.bytes = nino_ops[d->op].bytes(d);
    nino_monitor_publish(be->monitor, &ev);
}

static nino_status ref_run(nino_backend *be, const nino_op_call *c, nino_error *err)
{
    static nino_status (*const table[NINO_OP_COUNT])(const nino_ref_args *, nino_error *) = {
#define X(ID, name, family) [NINO_OP_##ID] = nino_ref_##name,
        NINO_OPS(X)
#undef X
    };
    const uint64_t start = nino_monitor_is_on(be->monitor) ? nino_now_ns() : 0;
    const size_t n = (size_t) nino_shape_count(&c->d.dst);
    float *owned[NINO_OP_MAX_SRC] = { 0 }, *out = NULL;
    nino_ref_args a = { .d = &c->d, .be = be };
    nino_status st = NINO_OK;
    for (int i = 0; i < c->d.n_src; i++)
        if (!(a.x[i] = ref_load(c->src[i], &owned[i]))) {
            st = nino_ref_nomem(err);
            goto end;
        }
    if (c->d.dst_type != NINO_F32 && !(out = malloc(n * sizeof(float) + 1))) {
        st = nino_ref_nomem(err);
        goto end;
    }
    a.y = out ? out : ref_at(&c->dst->mem);
    a.w = c->weight ? ref_at(&c->weight->mem) : NULL;
    a.b = c->bias ? ref_at(&c->bias->mem) : NULL;
    a.count = ref_at(&c->dst->mem);
    st = table[c->d.op](&a, err);
    if (!st && out && c->d.op != NINO_OP_CHECK_FINITE)
        nino_from_f32(ref_at(&c->dst->mem), c->d.dst_type, out, n);
    if (start)
        record(be, &c->d, start);
end:
    for (int i = 0; i < c->d.n_src; i++)
        free(owned[i]);
    free(out);
    return st;
}

static nino_status ref_finish(nino_backend *be, nino_error *err)
{
    (void) be;
    (void) err;
    return NINO_OK;
}

static void close_ref(nino_backend *be) { free(be); }

static const nino_backend_impl impl = { .name = "ref",
                                        .close = close_ref,
                                        .upload = ref_upload,
                                        .download = ref_download,
                                        .fill_zero = ref_fill_zero,
                                        .packed_bytes = ref_packed_bytes,
                                        .pack = ref_pack,
                                        .run = ref_run,
                                        .finish = ref_finish };

nino_backend *nino_ref_open(uint64_t mem_limit, const nino_log *log, nino_error *err)
{
    const nino_pool_params params = { .ops = { create_arena, destroy_arena },
                                      .budget = mem_limit,
                                      .is_always_exact =
                                          !nino_is_true(nino_vars_get()->hip_memory) };
    nino_backend *be = calloc(1, sizeof(*be));
    if (!be || !(be->pool = nino_pool_create(&params))) {
        free(be);
        nino_fail(err, NINO_ERR_NOMEM, "ref", "no memory for a backend");
        return NULL;
    }
    be->impl = &impl;
    be->profile = nino_profile_ref;
    be->log = log;
    return be;
}
