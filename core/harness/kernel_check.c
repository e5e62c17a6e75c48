// The kernel harness: names and operands of a case, and one call by hand, with sentinels around
// every buffer.
//
// Guards of 4 KiB around results and workspaces hold 0xA5 and must survive. Everything a kernel has
// no business reading is NaN: the guards around sources and the results and workspaces before the
// call.
#include "core/harness/kernel_check_priv.h"

#include "core/base/error.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAN_BYTE 0xFF // all ones is a NaN in every activation type

// ---- names -----------------------------------------------------------------------------------

static int rank_of(const int64_t *dim)
{
    int n = 0;
    while (n < NINO_MAX_RANK && dim[n])
        n++;
    return n;
}

static nino_shape kernel_check_shape_of(const int64_t *dim)
{
    return nino_shape_make(rank_of(dim), dim);
}

static void kernel_check_append(char *buf, size_t size, const char *text)
{
    const size_t n = strlen(buf);
    snprintf(buf + n, size - n, "_%s", text);
}

static void name_gemm(const nino_check_case *c, char *buf, size_t size)
{
    static const char *const pads[] = { "", "end", "none" };
    char text[64];
    snprintf(text, sizeof(text), "n%lld", (long long) c->n);
    kernel_check_append(buf, size, text);
    if (c->op == NINO_OP_CONV3D) {
        snprintf(text, sizeof(text), "k%d_pad%d_s%d", c->attr.kernel, c->attr.pad_t,
                 c->attr.stride_t);
        kernel_check_append(buf, size, text);
    }
    if (c->op == NINO_OP_CONV2D) {
        snprintf(text, sizeof(text), "k%d_s%d", c->attr.kernel, c->attr.stride);
        kernel_check_append(buf, size, text);
        if (c->attr.pad)
            kernel_check_append(buf, size, pads[c->attr.pad]);
        if (c->attr.upsample2x)
            kernel_check_append(buf, size, "up2");
    }
    if (c->bias)
        kernel_check_append(buf, size, "bias");
    if (c->residual)
        kernel_check_append(buf, size, "res");
    if (c->weight) {
        snprintf(text, sizeof(text), "w%s", nino_dtype_name(c->weight));
        kernel_check_append(buf, size, text);
    }
}

void nino_check_name(const nino_check_case *c, nino_dtype type, int in_place, char *buf,
                     size_t size)
{
    static const char *const filters[] = { "nearest", "bilinear", "bicubic", "area", "lanczos" };
    char text[64];
    snprintf(buf, size, "%s_%s", nino_ops[c->op].name, nino_dtype_name(type));
    for (int i = 0; i < NINO_OP_MAX_SRC && c->src[i][0]; i++) {
        const nino_shape s = kernel_check_shape_of(c->src[i]);
        nino_shape_print(text, sizeof(text), &s);
        kernel_check_append(buf, size, text);
    }
    if (c->n)
        name_gemm(c, buf, size);
    if (c->gamma)
        kernel_check_append(buf, size, c->bias ? "affine" : "gamma");
    if (c->attr.groups || c->attr.heads) {
        snprintf(text, sizeof(text), "%s%d", c->attr.groups ? "g" : "h",
                 c->attr.groups + c->attr.heads);
        kernel_check_append(buf, size, text);
    }
    if (c->attr.is_causal)
        kernel_check_append(buf, size, "causal");
    if (c->op == NINO_OP_RESAMPLE)
        kernel_check_append(buf, size, filters[c->attr.filter]);
    if (c->out[0]) {
        snprintf(text, sizeof(text), "to%lldx%lld", (long long) c->out[0], (long long) c->out[1]);
        kernel_check_append(buf, size, text);
    }
    if (c->op == NINO_OP_SHUFFLE) {
        snprintf(text, sizeof(text), "%s_t%d_s%d_start%d%s", c->attr.is_up ? "up" : "down",
                 c->attr.fold_t, c->attr.fold_s, (int) c->attr.start, c->residual ? "_res" : "");
        kernel_check_append(buf, size, text);
    }
    if (c->op == NINO_OP_CAST)
        kernel_check_append(buf, size, nino_dtype_name(c->cast_to));
    if (c->attr.act)
        kernel_check_append(buf, size, nino_act_name(c->attr.act));
    if (c->spread != 0) {
        snprintf(text, sizeof(text), "x%g", (double) c->spread);
        kernel_check_append(buf, size, text);
    }
    if (in_place >= 0) {
        snprintf(text, sizeof(text), "inplace%d", in_place);
        kernel_check_append(buf, size, text);
    }
}

// ---- data ------------------------------------------------------------------------------------

// splitmix64: small, good enough, the same everywhere.
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double) ((z ^ z >> 31) >> 11) / 9007199254740992.0 * 2 - 1;
}

// Random values after one rounding to `type`, kept as f32. Not centred on 0: that would hide sums
// that go wrong.
static nino_array *kernel_check_values(nino_shape shape, nino_dtype type, double spread,
                                       uint64_t *rng)
{
    nino_array *a = nino_array_create(NINO_F32, shape), *r = NULL, *f = NULL;
    for (int64_t i = 0, n = a ? nino_shape_count(&shape) : 0; i < n; i++)
        nino_array_f32(a)[i] =
            (float) (spread * (0.25 + uniform(rng) + uniform(rng) / 2 + uniform(rng) / 4));
    if (a && (r = nino_array_convert(a, type)))
        f = nino_array_convert(r, NINO_F32);
    nino_array_unref(&a);
    nino_array_unref(&r);
    return f;
}

static void plant_special(const nino_check_case *c, nino_array *a)
{
    const int64_t n = nino_shape_count(&a->shape);
    float *v = nino_array_f32(a);
    if (c->op == NINO_OP_CHECK_FINITE && n > 1) {
        v[0] = INFINITY;
        v[n / 2] = NAN;
        v[n - 1] = -INFINITY;
    }
    if (c->op == NINO_OP_TO_RGB8 && n > 8) {
        v[3] = NAN;
        v[4] = INFINITY;
        v[5] = 1;
    }
    if (c->op == NINO_OP_BLEND_DIV) // weights are positive, some are 0
        for (int64_t p = 0, k = a->shape.dim[2]; p < n / k; p++)
            v[p * k + k - 1] = p % 5 == 3 ? 0 : fabsf(v[p * k + k - 1]) + 0.5f;
}

// Attention's bias hides some keys, and all of them from the first and perhaps more queries. Of many
// keys it hides the first or the second 128 from all, which a kernel may leave out.
static void plant_mask(nino_array *a)
{
    const int64_t keys = a->shape.dim[3], n = nino_shape_count(&a->shape);
    const int64_t hidden = keys < 200 ? -1 : keys < 300;
    float *v = nino_array_f32(a);
    for (int64_t i = 0; i < n; i++)
        if (i % 7 == 3 || i % keys / 128 == hidden || (n > keys && i / keys % 5 == 0))
            v[i] = i % 2 ? -INFINITY : -FLT_MAX;
}

// Given statistics: what is lost of a mean is small, variances are positive.
static void plant_statistics(nino_array *a)
{
    float *v = nino_array_f32(a);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i += 3) {
        v[i + 1] *= 1e-7f;
        v[i + 2] = fabsf(v[i + 2]) + 0.125f;
    }
}

// Values that are multiplied in a narrower type than they are stored in have no more bits than that
// has.
static bool round_to_operand(nino_array **a, const nino_profile *p, nino_dtype act)
{
    nino_array *r = nino_array_convert(*a, nino_sched_operand(p, act));
    nino_array_unref(a);
    *a = r;
    return r != NULL;
}

static nino_weight *make_weight(const nino_check_case *c, const nino_profile *p,
                                nino_weight_role role, nino_dtype act, nino_shape shape,
                                double spread, uint64_t *rng)
{
    nino_weight probe = { .role = role, .n = shape.dim[0], .c = 1, .dtype = c->weight };
    nino_dtype stored;
    nino_sched_packed_bytes(p, &probe, &stored);
    if (role == NINO_W_VECTOR)
        probe.dtype = NINO_F32;
    if (role != NINO_W_VECTOR && (nino_dtype_is_block(c->weight) || c->weight == NINO_I8)) {
        nino_array *blocks = nino_check_blocks(shape, c->weight, rng);
        nino_weight *raw = blocks ? nino_weight_from_array(blocks, role) : NULL;
        nino_array_unref(&blocks);
        return raw;
    }
    // Rounded to what the device will keep, so that both sides compute with the same numbers.
    nino_array *a = kernel_check_values(shape, stored, spread, rng), *t = NULL;
    nino_weight *w = NULL;
    if (a && (role == NINO_W_VECTOR || round_to_operand(&a, p, act)) &&
        (t = nino_array_convert(a, probe.dtype)))
        w = nino_weight_from_array(t, role);
    nino_array_unref(&a);
    nino_array_unref(&t);
    return w;
}

static bool make_weights(const nino_check_case *c, const nino_profile *p, nino_dtype act,
                         nino_op_desc *d, nino_weight **w, nino_weight **b, uint64_t *rng)
{
    const int64_t channels = d->src[0].dim[d->src[0].rank - 1];
    if (c->op == NINO_OP_GROUP_NORM) {
        *w = make_weight(c, p, NINO_W_VECTOR, act, NINO_SHAPE(channels), 1, rng);
        *b = make_weight(c, p, NINO_W_VECTOR, act, NINO_SHAPE(channels), 1, rng);
        d->weight = *w;
        d->bias = *b;
        return *w && *b;
    }
    if (c->gamma) {
        const int64_t n = channels / (c->attr.groups ? c->attr.groups : 1);
        *w = make_weight(c, p, NINO_W_VECTOR, act, NINO_SHAPE(n), 1, rng);
        *b = c->bias ? make_weight(c, p, NINO_W_VECTOR, act, NINO_SHAPE(n), 1, rng) : NULL;
        d->weight = *w;
        d->bias = *b;
        return *w && (*b || !c->bias);
    }
    if (!c->n)
        return true;
    const bool is_3x3 = c->attr.kernel == 3, is_video = c->op == NINO_OP_CONV3D;
    const nino_weight_role role = is_video ? (is_3x3 ? NINO_W_CONV3D : NINO_W_CONV_T)
                                  : is_3x3 ? NINO_W_CONV3
                                           : NINO_W_MATRIX;
    const int64_t k = is_3x3 ? 3 : 1;
    const int64_t dim[] = { c->n, channels, is_video ? 3 : k, k, k };
    const nino_shape shape = nino_shape_make(is_video ? 5 : is_3x3 ? 4 : 2, dim);
    const double spread = 1 / sqrt((double) channels * nino_weight_role_taps(role));
    *w = make_weight(c, p, role, act, shape, spread, rng);
    if (c->bias)
        *b = make_weight(c, p, NINO_W_VECTOR, act, NINO_SHAPE(c->n), 1, rng);
    d->weight = *w;
    d->bias = *b;
    return *w && (*b || !c->bias);
}

// ---- one side --------------------------------------------------------------------------------

static nino_block kernel_check_inside(const nino_block *m)
{
    nino_block b = *m;
    b.offset += CHECK_GUARD;
    return b;
}

// A block with `bytes` usable ones between guards; guard and interior are filled.
static nino_status kernel_check_guarded(nino_backend *be, size_t bytes, int guard, const void *data,
                                        nino_block *out, nino_error *err)
{
    nino_status st = nino_pool_alloc(be->pool, bytes + 2 * CHECK_GUARD, NINO_OWN_STAGING, out, err);
    if (st)
        return st;
    char *host = malloc(bytes + 2 * CHECK_GUARD);
    if (!host)
        return nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory");
    memset(host, guard, bytes + 2 * CHECK_GUARD);
    if (data)
        memcpy(host + CHECK_GUARD, data, bytes);
    else
        memset(host + CHECK_GUARD, NAN_BYTE, bytes);
    st = be->impl->upload(be, out, host, bytes + 2 * CHECK_GUARD, err);
    free(host);
    return st;
}

nino_status check_side_prepare(check_side *s, const check_job *j, nino_error *err)
{
    const nino_op_desc *d = &j->d;
    nino_backend *be = s->be;
    nino_status st = NINO_OK;
    s->call.d = *d;
    for (int i = 0; i < d->n_src && !st; i++) {
        nino_array *t = nino_array_convert(j->x[i], d->src_type[i]);
        if (!t)
            return nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory");
        const bool is_dst = s->in_place == i;
        st = kernel_check_guarded(be, t->bytes, is_dst ? CHECK_GUARD_BYTE : NAN_BYTE, t->data,
                                  &s->src_mem[i], err);
        nino_array_unref(&t);
        s->src[i] = (nino_tensor){ .refs = 1,
                                   .dtype = d->src_type[i],
                                   .shape = d->src[i],
                                   .mem = kernel_check_inside(&s->src_mem[i]) };
        s->call.src[i] = &s->src[i];
    }
    const size_t bytes = (size_t) nino_shape_count(&d->dst) * nino_dtype_size(d->dst_type);
    const uint32_t zero = 0;
    if (!st && s->in_place < 0)
        st = kernel_check_guarded(be, bytes, CHECK_GUARD_BYTE,
                                  d->op == NINO_OP_CHECK_FINITE ? &zero : NULL, &s->dst_mem, err);
    if (st)
        return st;
    s->dst = (nino_tensor){
        .refs = 1, .dtype = d->dst_type, .shape = d->dst, .mem = kernel_check_inside(&s->dst_mem)
    };
    s->call.dst = s->in_place >= 0 ? &s->src[s->in_place] : &s->dst;
    const size_t work = be->impl->workspace ? be->impl->workspace(be, d) : 0;
    if (work) {
        st = kernel_check_guarded(be, work, CHECK_GUARD_BYTE, NULL, &s->work_mem, err);
        s->call.workspace = kernel_check_inside(&s->work_mem);
    }
    if (!st && d->weight &&
        !(s->call.weight =
              nino_backend_weight(be, d->weight, nino_sched_kept(&be->profile, d), err)))
        st = err->code;
    if (!st && d->bias && !(s->call.bias = nino_backend_weight(be, d->bias, NINO_F32, err)))
        st = err->code;
    return st;
}

void check_side_release(check_side *s)
{
    for (int i = 0; i < NINO_OP_MAX_SRC; i++)
        nino_pool_free(s->be->pool, &s->src_mem[i]);
    nino_pool_free(s->be->pool, &s->dst_mem);
    nino_pool_free(s->be->pool, &s->work_mem);
}

// ---- one case --------------------------------------------------------------------------------

nino_status nino_check_describe(const nino_check_case *c, nino_dtype type, nino_op_desc *d,
                                nino_error *err)
{
    while (d->n_src < NINO_OP_MAX_SRC && c->src[d->n_src][0]) {
        d->src[d->n_src] = kernel_check_shape_of(c->src[d->n_src]);
        d->src_type[d->n_src++] = type;
    }
    if (c->op == NINO_OP_BLEND || c->op == NINO_OP_BLEND_DIV)
        d->src_type[0] = NINO_F32;
    if (c->op == NINO_OP_ROPE || c->op == NINO_OP_GROUP_NORM)
        d->src_type[1] = NINO_F32;
    if (c->op == NINO_OP_ATTENTION)
        d->src_type[3] = NINO_F32;
    if (c->op == NINO_OP_SLICE)
        d->dst.dim[c->attr.axis] = c->out[0];
    if (c->op == NINO_OP_RESAMPLE) {
        d->dst.dim[1] = c->out[0];
        d->dst.dim[2] = c->out[1];
    }
    if (c->op == NINO_OP_SHUFFLE)
        d->dst.dim[3] = c->out[0];
    d->dst_type = c->cast_to;
    if (c->op == NINO_OP_ATTENTION && !(c->attr.scale > 0))
        d->attr.scale = (float) (1 / sqrt((double) d->src[0].dim[2] / c->attr.heads));
    nino_op_desc plain = *d; // the residual has the result's shape, so that one first
    nino_status st = nino_ops[c->op].shape(&plain, err);
    if (st || !c->residual)
        return st ? st : (*d = plain, NINO_OK);
    for (int i = d->n_src++; i > 1; i--) { // CONV3D's earlier frames stay the last
        d->src[i] = d->src[i - 1];
        d->src_type[i] = d->src_type[i - 1];
    }
    d->src[1] = plain.dst;
    d->src_type[1] = type;
    d->has_residual = true;
    return nino_ops[c->op].shape(d, err);
}

nino_status check_job_init(check_job *j, const nino_check_case *c, nino_dtype type,
                           const nino_profile *p, uint64_t seed, nino_error *err)
{
    const double spread = c->spread != 0 ? (double) c->spread : 1;
    *j = (check_job){ .d = { .op = c->op, .attr = c->attr } };
    if (c->src[0][0])
        j->d.src[0] = kernel_check_shape_of(c->src[0]);
    if (!make_weights(c, p, type, &j->d, &j->w, &j->bias, &seed))
        return nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory for weights");
    const nino_status st = nino_check_describe(c, type, &j->d, err);
    for (int i = 0; i < j->d.n_src && !st; i++) {
        if (!(j->x[i] = kernel_check_values(j->d.src[i], j->d.src_type[i], spread, &seed)))
            return nino_fail(err, NINO_ERR_NOMEM, "check", "no host memory for values");
        plant_special(c, j->x[i]);
        if (c->op == NINO_OP_ATTENTION && i == 3)
            plant_mask(j->x[i]);
        if (c->op == NINO_OP_GROUP_NORM && i == 1)
            plant_statistics(j->x[i]);
    }
    return st;
}

void check_job_release(check_job *j)
{
    for (int i = 0; i < NINO_OP_MAX_SRC; i++)
        nino_array_unref(&j->x[i]);
    nino_weight_destroy(&j->w);
    nino_weight_destroy(&j->bias);
}
