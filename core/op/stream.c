// Streams: living tensors, the sticky error, scopes, and running one op.
#include "core/op/mixed.h"
#include "core/op/stream_priv.h"

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/base/vars.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nino_precision resolve(const nino_backend *be, nino_precision p)
{
    if (p == NINO_PREC_MIXED && be->profile.act_type == NINO_BF16)
        return NINO_PREC_MIXED_BF16;
    if (p != NINO_PREC_AUTO)
        return p;
    switch (be->profile.act_type) {
    case NINO_F16: return NINO_PREC_F16;
    case NINO_BF16: return NINO_PREC_BF16;
    default: return NINO_PREC_F32;
    }
}

nino_stream *nino_stream_create(const nino_stream_params *p, nino_error *err)
{
    nino_stream *s = calloc(1, sizeof(*s));
    if (!s) {
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a stream");
        return NULL;
    }
    s->be = p->backend;
    s->monitor = p->monitor;
    s->cancel = p->cancel;
    s->gate = p->gate;
    s->lend = p->lend && p->lend->n ? p->lend : NULL;
    s->needs = p->needs;
    s->be->queue = (uint16_t) p->queue;
    nino_stream_set_precision(s, p->precision);
    nino_stream_keep_scores(s, p->keeps_scores);
    s->progress = p->progress;
    s->progress_priv = p->progress_priv;
    s->outer_monitor = s->be->monitor;
    s->be->monitor = s->monitor;
    s->outer_cancel = s->be->cancel;
    s->be->cancel = s->cancel;
    nino_pool_set_monitor(s->be->pool, s->monitor);
    return s;
}

void nino_stream_destroy(nino_stream **ps)
{
    nino_stream *s = *ps;
    if (!s)
        return;
    s->be->impl->finish(s->be, NULL);
    while (s->n_scopes)
        nino_scope_end(s);
    while (s->tensors) {
        nino_tensor *t = s->tensors;
        s->tensors = t->next;
        if (!t->is_view)
            nino_pool_free(s->be->pool, &t->mem);
        free(t);
    }
    s->be->monitor = s->outer_monitor;
    s->be->cancel = s->outer_cancel;
    s->be->queue = 0;
    nino_pool_set_monitor(s->be->pool, s->outer_monitor);
    free(s);
    *ps = NULL;
}

// ---- the sticky error ------------------------------------------------------------------------

nino_status nino_stream_status(const nino_stream *s, nino_error *err)
{
    if (s->err.code && err)
        *err = s->err;
    return s->err.code;
}

void *nino_stream_fail(nino_stream *s, nino_status st, const char *where, const char *fmt, ...)
{
    if (!s->err.code) {
        char msg[sizeof(s->err.msg)];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(msg, sizeof(msg), fmt, ap);
        va_end(ap);
        nino_fail(&s->err, st, where, "%s", msg);
    }
    return NULL;
}

void nino_stream_clear_error(nino_stream *s) { s->err = (nino_error){ 0 }; }

// Does what others have asked of this job. The commands in flight end by themselves.
static void heed(nino_stream *s)
{
    const bool is_own = !s->be->queue; // one device speaks for all of the job
    if (is_own && nino_gate_take_trim(s->gate))
        nino_pool_trim(s->be->pool);
    if (!nino_gate_is_closed(s->gate))
        return;
    if (is_own)
        nino_monitor_message(s->monitor, NINO_LOG_INFO, "paused");
    const uint32_t scope = nino_monitor_begin(s->monitor, NINO_EV_STAGE, "paused", 0, 0);
    const uint64_t start = nino_now_ns();
    nino_gate_wait(s->gate, s->cancel);
    s->be->load_ns += nino_now_ns() - start; // steps and estimates leave it out
    s->be->pause_ns += nino_now_ns() - start;
    nino_monitor_end(s->monitor, scope);
    if (is_own)
        nino_monitor_message(s->monitor, NINO_LOG_INFO, "resumed");
}

bool nino_stream_ok(nino_stream *s)
{
    if (s->gate && atomic_load_explicit(&s->gate->asked, memory_order_relaxed))
        heed(s);
    if (!s->err.code && s->cancel && __atomic_load_n(s->cancel, __ATOMIC_RELAXED))
        nino_stream_fail(s, NINO_ERR_CANCELLED, "", "cancelled");
    return !s->err.code;
}

nino_status nino_stream_check(nino_stream *s, nino_error *err)
{
    return nino_stream_ok(s) ? NINO_OK : nino_stream_status(s, err);
}

nino_status nino_stream_finish(nino_stream *s, nino_error *err)
{
    if (!s->err.code)
        s->be->impl->finish(s->be, &s->err);
    return nino_stream_status(s, err);
}

nino_precision nino_stream_precision(const nino_stream *s) { return s->precision; }
nino_precision nino_stream_asked_precision(const nino_stream *s) { return s->asked; }
void nino_stream_set_part(nino_stream *s, int64_t items, int64_t whole)
{
    s->part = items;
    s->whole = whole;
}

bool nino_stream_keep_scores(nino_stream *s, bool is_kept)
{
    const bool before = s->keeps_scores;
    s->keeps_scores = is_kept || !nino_is_true(nino_vars_get()->attention);
    return before;
}

bool nino_stream_keeps_scores(const nino_stream *s) { return s->keeps_scores; }

void nino_stream_set_precision(nino_stream *s, nino_precision p)
{
    s->asked = p;
    s->precision = resolve(s->be, p);
}
nino_dtype nino_stream_act_type(const nino_stream *s)
{
    return s->precision == NINO_PREC_F16    ? NINO_F16
           : s->precision == NINO_PREC_BF16 ? NINO_BF16
                                            : NINO_F32;
}
nino_backend *nino_stream_backend(nino_stream *s) { return s->be; }
nino_monitor *nino_stream_monitor(nino_stream *s) { return s->is_quiet ? NULL : s->monitor; }
const nino_lend *nino_stream_lend(const nino_stream *s) { return s->lend; }
struct nino_needs *nino_stream_needs(const nino_stream *s) { return s->needs; }

nino_stream *nino_stream_beside(const nino_stream *s, nino_backend *be, int number,
                                const volatile int *cancel, nino_error *err)
{
    nino_backend_set_switched(be, s->be->profile.switched);
    nino_stream *b = nino_stream_create(&(nino_stream_params){ .backend = be,
                                                               .monitor = s->monitor,
                                                               .cancel = cancel,
                                                               .precision = s->precision,
                                                               .keeps_scores = s->keeps_scores,
                                                               .gate = s->gate,
                                                               .queue = number },
                                        err);
    if (!b)
        return NULL;
    b->is_quiet = s->is_quiet;
    b->choice = s->choice;
    be->evict = s->choice.evict;
    be->node_turn = be->turn;
    b->device = nino_monitor_name(s->monitor, s->lend->name(s->lend->priv, number - 1));
    nino_pool_set_monitor(be->pool,
                          NULL); // what viewers see of a pool is that of the job's own device
    return b;
}

uint32_t nino_stream_device(nino_stream *s)
{
    if (!s->device)
        s->device = nino_monitor_name(s->monitor, s->be->info.selector);
    return s->device;
}
const char *nino_stream_storage(const nino_stream *s)
{
    const bool is_mixed = s->precision == NINO_PREC_MIXED || s->precision == NINO_PREC_MIXED_BF16;
    return is_mixed ? "mixed" : nino_dtype_name(nino_stream_act_type(s));
}
void nino_stream_set_quiet(nino_stream *s, bool is_quiet) { s->is_quiet = is_quiet; }

void nino_stream_set_choice(nino_stream *s, const nino_choice *c)
{
    s->choice = c ? *c : (nino_choice){ .tile = 0 };
    s->taken = (nino_taken){ .tile = 0 };
    s->be->evict = s->choice.evict;
    s->be->node_turn = s->be->turn;
}

const nino_choice *nino_stream_choice(const nino_stream *s) { return &s->choice; }
nino_taken *nino_stream_taken(nino_stream *s) { return &s->taken; }

const volatile int *nino_stream_cancel_flag(const nino_stream *s) { return s->cancel; }
bool nino_stream_is_plan(const nino_stream *s) { return !strcmp(s->be->impl->name, "plan"); }

// ---- scopes ----------------------------------------------------------------------------------

void nino_scope_begin(nino_stream *s, nino_event_kind kind, const char *name, uint32_t arg0,
                      uint32_t arg1)
{
    const int i = s->n_scopes++;
    if (i >= NINO_MAX_SCOPES)
        return;
    nino_monitor *m = nino_stream_monitor(s);
    s->scopes[i] = m ? nino_monitor_begin(m, kind, name, arg0, arg1) : 0;
    if (s->be->impl->scope_begin)
        s->be->impl->scope_begin(s->be, kind, name, arg0, arg1);
}

void nino_scope_end(nino_stream *s) { nino_scope_end_with(s, NINO_OK); }

void nino_scope_end_with(nino_stream *s, nino_status st)
{
    const int i = --s->n_scopes;
    if (i >= NINO_MAX_SCOPES)
        return;
    if (s->scopes[i])
        nino_monitor_end_with(s->monitor, s->scopes[i], st);
    if (s->be->impl->scope_end)
        s->be->impl->scope_end(s->be);
    if (s->progress)
        s->progress(s->progress_priv, s->be->flops);
}

void nino_stream_spare(nino_stream *s, double flops)
{
    s->be->spared += flops;
    if (s->progress)
        s->progress(s->progress_priv, s->be->flops);
}

// ---- tensors ---------------------------------------------------------------------------------

static nino_tensor *link_tensor(nino_stream *s, nino_shape shape, nino_dtype type)
{
    nino_tensor *t = calloc(1, sizeof(*t));
    if (!t)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "", "no memory for a tensor");
    *t = (nino_tensor){ .refs = 1, .dtype = type, .shape = shape, .stream = s, .next = s->tensors };
    if (s->tensors)
        s->tensors->prev = t;
    s->tensors = t;
    return t;
}

nino_tensor *nino_tensor_new(nino_stream *s, nino_shape shape, nino_dtype type)
{
    nino_tensor *t = nino_stream_ok(s) ? link_tensor(s, shape, type) : NULL;
    if (!t)
        return NULL;
    const uint64_t bytes = (uint64_t) nino_shape_count(&shape) * nino_dtype_size(type);
    nino_error err;
    if (nino_backend_alloc(s->be, bytes, NINO_OWN_ACTIVATION, &t->mem, &err)) {
        if (!s->err.code)
            s->err = err;
        nino_unref(t);
        return NULL;
    }
    return t;
}

nino_tensor *nino_ref(nino_tensor *t)
{
    if (t)
        t->refs++;
    return t;
}

void nino_unref(nino_tensor *t)
{
    if (!t || --t->refs)
        return;
    nino_stream *s = t->stream;
    if (t->prev)
        t->prev->next = t->next;
    else
        s->tensors = t->next;
    if (t->next)
        t->next->prev = t->prev;
    if (t->is_view)
        nino_unref(t->base);
    else
        nino_pool_free(s->be->pool, &t->mem);
    free(t);
}

const nino_shape *nino_shape_of(const nino_tensor *t)
{
    static const nino_shape none;
    return t ? &t->shape : &none;
}

int64_t nino_dim(const nino_tensor *t, int i)
{
    if (!t)
        return 0;
    if (i < 0)
        i += t->shape.rank;
    return i >= 0 && i < t->shape.rank ? t->shape.dim[i] : 0;
}

nino_dtype nino_dtype_of(const nino_tensor *t) { return t ? t->dtype : NINO_F32; }

nino_tensor *nino_tensor_view(nino_stream *s, nino_tensor *t, nino_shape shape, uint64_t offset)
{
    nino_tensor *v = link_tensor(s, shape, t->dtype);
    if (!v) {
        nino_unref(t);
        return NULL;
    }
    v->is_view = true;
    v->base = t->is_view ? nino_ref(t->base) : t;
    v->mem = t->mem;
    v->mem.offset += offset;
    if (t->is_view)
        nino_unref(t);
    return v;
}

nino_tensor *nino_reshape(nino_stream *s, nino_tensor *t, nino_shape shape)
{
    if (!nino_stream_ok(s) || !t) {
        nino_unref(t);
        return NULL;
    }
    if (nino_shape_count(&shape) != nino_shape_count(&t->shape)) {
        char a[64], b[64];
        nino_shape_print(a, sizeof(a), &t->shape);
        nino_shape_print(b, sizeof(b), &shape);
        nino_unref(t);
        return nino_stream_fail(s, NINO_ERR_ARG, "reshape", "%s does not become %s", a, b);
    }
    if (t->refs == 1) { // nobody else sees it change
        t->shape = shape;
        return t;
    }
    return nino_tensor_view(s, t, shape, 0);
}

// ---- running an op ---------------------------------------------------------------------------

// Is the op the last that will see this memory?
static bool is_last_user(const nino_tensor *t)
{
    return t->refs == 1 && (!t->is_view || t->base->refs == 1);
}

// The source whose memory the result may take, or -1.
static int reusable_source(const nino_op_call *c)
{
    const unsigned mask = nino_op_in_place(&c->d);
    for (int i = 0; i < c->d.n_src; i++)
        if (mask >> i & 1 && is_last_user(c->src[i]) && c->src[i]->dtype == c->d.dst_type &&
            nino_shape_equal(&c->src[i]->shape, &c->d.dst))
            return i;
    return -1;
}

void nino_stream_set_whole(const nino_stream *s, nino_op_desc *d)
{
    if (s->whole && d->dst.rank && d->dst.dim[0] == s->part) {
        d->part = s->part;
        d->whole = s->whole;
    }
}

static nino_status stream_describe(const nino_stream *s, nino_op_call *c, nino_error *err)
{
    nino_op_desc *d = &c->d;
    for (int i = 0; i < d->n_src; i++) {
        if (!c->src[i])
            return nino_fail(err, NINO_ERR_ARG, nino_ops[d->op].name, "an input is missing");
        d->src[i] = c->src[i]->shape;
        d->src_type[i] = c->src[i]->dtype;
    }
    const nino_status st = nino_ops[d->op].shape(d, err);
    if (!st)
        nino_stream_set_whole(s, d);
    return st;
}

// Workspace is held only around the launch: the queue is in order, so the next op may have it.
static nino_status stream_launch(nino_stream *s, nino_op_call *c, nino_error *err)
{
    nino_backend *be = s->be;
    const size_t bytes = be->impl->workspace ? be->impl->workspace(be, &c->d) : 0;
    nino_status st = NINO_OK;
    if (bytes)
        st = nino_backend_alloc(be, bytes, NINO_OWN_WORKSPACE, &c->workspace, err);
    if (!st && c->d.op == NINO_OP_CHECK_FINITE)
        st = be->impl->fill_zero(be, &c->dst->mem, sizeof(uint32_t), err);
    if (!st)
        st = be->impl->run(be, c, err);
    if (!st && nino_is_true(nino_vars_get()->synchronization))
        st = be->impl->finish(be, err);
    nino_pool_free(be->pool, &c->workspace);
    be->flops += nino_ops[c->d.op].flops(&c->d);
    be->bytes += nino_ops[c->d.op].bytes(&c->d);
    be->n_ops++;
    be->ops |= UINT64_C(1) << c->d.op;
    return st;
}

// In mixed precision: the op's sources become of the type that it is stored in.
static nino_status stream_mix(nino_stream *s, nino_op_call *c, nino_error *err)
{
    const nino_mixed_row *row = &nino_mixed_rows[c->d.op];
    nino_op_desc d = c->d; // with every source of one type, to see the result's size
    const bool is_bf16 = s->precision == NINO_PREC_MIXED_BF16;
    if ((s->precision != NINO_PREC_MIXED && !is_bf16) || row->rule == NINO_MIXED_ASIS)
        return NINO_OK;
    for (int i = 0; i < d.n_src; i++) {
        if (!c->src[i])
            return nino_fail(err, NINO_ERR_ARG, nino_ops[d.op].name, "an input is missing");
        d.src[i] = c->src[i]->shape;
        d.src_type[i] = row->sources >> i & 1 ? NINO_F32 : c->src[i]->dtype;
    }
    const nino_status st = nino_ops[d.op].shape(&d, err);
    if (st)
        return st;
    const nino_dtype type =
        nino_mixed_type(&d, nino_mixed_item(&d), is_bf16 ? NINO_BF16 : NINO_F16);
    for (int i = 0; i < d.n_src; i++)
        if (row->sources >> i & 1 && c->src[i]->dtype != type &&
            !(c->src[i] = nino_cast(s, c->src[i], type)))
            return nino_stream_status(s, err);
    return NINO_OK;
}

static nino_status stream_prepare(nino_stream *s, nino_op_call *c, nino_error *err)
{
    nino_status st = stream_describe(s, c, err);
    if (!st && c->d.weight &&
        !(c->weight = nino_backend_weight(s->be, c->d.weight,
                                          nino_sched_kept(&s->be->profile, &c->d), err)))
        st = err->code;
    if (!st && c->d.bias && !(c->bias = nino_backend_weight(s->be, c->d.bias, NINO_F32, err)))
        st = err->code;
    if (!st && c->d.norm && !(c->norm = nino_backend_weight(s->be, c->d.norm, NINO_F32, err)))
        st = err->code;
    return st;
}

nino_tensor *nino_stream_run(nino_stream *s, nino_op_call *c)
{
    int keep = -1; // source that becomes the result
    nino_error err = { 0 };
    if (!nino_stream_ok(s) || stream_mix(s, c, &err) || stream_prepare(s, c, &err))
        goto end;
    keep = c->d.op == NINO_OP_BLEND ? 0 : reusable_source(c);
    c->dst = keep >= 0 ? c->src[keep] : nino_tensor_new(s, c->d.dst, c->d.dst_type);
    if (!c->dst)
        goto end;
    if (stream_launch(s, c, &err)) {
        if (keep < 0)
            nino_unref(c->dst);
        c->dst = NULL;
        keep = -1;
    }
end:
    if (err.code && !s->err.code)
        s->err = err;
    for (int i = 0; i < c->d.n_src; i++)
        if (i != keep)
            nino_unref(c->src[i]);
    nino_backend_drop_made(s->be, c->d.weight);
    s->be->turn++;
    return c->dst;
}
