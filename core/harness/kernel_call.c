// Calls of ops as texts, and back. Attributes are words NAME=NUMBER, those that are 0 left out, by one table.
#include "core/harness/kernel_call.h"

#include "core/base/error.h"
#include "core/base/num.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- attributes --------------------------------------------------------------------------------

enum { IS_INT, IS_BOOL, IS_FLOAT, IS_I64, IS_ACT, IS_PAD, IS_FILTER };

static const struct attribute {
    const char *name;
    int kind;
    size_t offset;
} attributes[] = {
#define A(field, kind)                                                                             \
    {                                                                                              \
#field, kind, offsetof(nino_op_attr, field)                                                \
    }
    A(act, IS_ACT),        A(kernel, IS_INT),      A(stride, IS_INT),
    A(pad, IS_PAD),        A(upsample2x, IS_BOOL), A(each_image, IS_BOOL),
    A(pad_t, IS_INT),      A(stride_t, IS_INT),    A(fold_t, IS_INT),
    A(fold_s, IS_INT),     A(is_up, IS_BOOL),      A(groups, IS_INT),
    A(eps, IS_FLOAT),      A(heads, IS_INT),       A(keeps_scores, IS_BOOL),
    A(is_causal, IS_BOOL), A(scale, IS_FLOAT),     A(shift, IS_FLOAT),
    A(axis, IS_INT),       A(start, IS_I64),       A(filter, IS_FILTER),
    A(x0, IS_INT),         A(y0, IS_INT),          A(feather_x, IS_INT),
    A(feather_y, IS_INT),  A(sides, IS_INT),
#undef A
};
enum { ATTRIBUTES = sizeof(attributes) / sizeof(attributes[0]) };

// Enums go through their own types: how wide one is is the compiler's choice.
static double attribute_of(const nino_op_attr *a, const struct attribute *k)
{
    const void *p = (const char *) a + k->offset;
    switch (k->kind) {
    case IS_BOOL: return *(const bool *) p;
    case IS_FLOAT: return (double) *(const float *) p;
    case IS_I64: return (double) *(const int64_t *) p;
    case IS_ACT: return *(const nino_act *) p;
    case IS_PAD: return *(const nino_pad *) p;
    case IS_FILTER: return *(const nino_filter *) p;
    default: return *(const int *) p;
    }
}

static bool set_attribute(nino_op_attr *a, const struct attribute *k, double v)
{
    void *p = (char *) a + k->offset;
    const double most = k->kind == IS_ACT      ? NINO_ACT_COUNT - 1
                        : k->kind == IS_PAD    ? NINO_PAD_NONE
                        : k->kind == IS_FILTER ? NINO_FILTER_COUNT - 1
                        : k->kind == IS_BOOL   ? 1
                                               : 1e9;
    if (k->kind != IS_FLOAT && (v < (k->kind == IS_INT || k->kind == IS_I64 ? -1e9 : 0) ||
                                v > most || v != (double) (int64_t) v))
        return false;
    switch (k->kind) {
    case IS_BOOL: *(bool *) p = v > 0; break;
    case IS_FLOAT: *(float *) p = (float) v; break;
    case IS_I64: *(int64_t *) p = (int64_t) v; break;
    case IS_ACT: *(nino_act *) p = (nino_act) v; break;
    case IS_PAD: *(nino_pad *) p = (nino_pad) v; break;
    case IS_FILTER: *(nino_filter *) p = (nino_filter) v; break;
    default: *(int *) p = (int) v; break;
    }
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct writer {
    char *buf;
    size_t n;
} writer;

__attribute__((format(printf, 2, 3))) static void call_put(writer *w, const char *fmt, ...)
{
    va_list ap;
    if (w->n >= NINO_CALL_TEXT)
        return;
    va_start(ap, fmt);
    const int n = nino_vsnprintf(w->buf + w->n, NINO_CALL_TEXT - w->n, fmt, ap);
    va_end(ap);
    w->n = n < 0 ? NINO_CALL_TEXT : w->n + (size_t) n;
}

static void put_sources(writer *w, const nino_op_desc *d)
{
    char shape[96];
    for (int i = 0; i < d->n_src; i++) {
        if (i == 1 && d->has_residual) // as large as the result
            continue;
        nino_shape_print(shape, sizeof(shape), &d->src[i]);
        call_put(w, " %s:%s", nino_dtype_name(d->src_type[i]), shape);
    }
}

// What the sources do not tell of the result.
static void put_result(writer *w, const nino_op_desc *d)
{
    const int64_t *dim = d->dst.dim;
    if (d->op == NINO_OP_SLICE)
        call_put(w, " out=%lld", (long long) dim[d->attr.axis]);
    if (d->op == NINO_OP_RESAMPLE)
        call_put(w, " out=%lldx%lld", (long long) dim[1], (long long) dim[2]);
    if (d->op == NINO_OP_SHUFFLE)
        call_put(w, " out=%lld", (long long) dim[3]);
    if (d->op == NINO_OP_CAST)
        call_put(w, " to=%s", nino_dtype_name(d->dst_type));
}

static void put_permutation(writer *w, const nino_op_desc *d)
{
    for (int i = 0; i < d->dst.rank && d->op == NINO_OP_PERMUTE; i++)
        call_put(w, "%s%d", i ? "x" : " perm=", d->attr.perm[i]);
}

// In as few digits as give the same float.
static void put_float(writer *w, const char *name, double v)
{
    char text[32];
    nino_snprintf(text, sizeof(text), "%.6g", v);
    if ((float) nino_strtod(text, NULL) != (float) v) // NOLINT: exactly so
        nino_snprintf(text, sizeof(text), "%.9g", v);
    call_put(w, " %s=%s", name, text);
}

const char *nino_call_write(char buf[NINO_CALL_TEXT], const nino_op_desc *d)
{
    writer w = { .buf = buf };
    nino_op_desc product = *d;
    if (d->op == NINO_OP_LINEAR && d->attr.heads) { // told without what follows the product
        product.n_src = 1;
        product.attr = (nino_op_attr){ .act = NINO_ACT_NONE };
        d = &product;
    }
    call_put(&w, "%s", nino_ops[d->op].name);
    put_sources(&w, d);
    if (d->weight && d->weight->role == NINO_W_VECTOR)
        call_put(&w, " gamma");
    else if (d->weight)
        call_put(&w, " weight=%s:%lld", nino_dtype_name(d->weight->dtype),
                 (long long) d->weight->n);
    if (d->bias)
        call_put(&w, " bias");
    if (d->has_residual)
        call_put(&w, " residual");
    put_result(&w, d);
    put_permutation(&w, d);
    for (int i = 0; i < ATTRIBUTES; i++) {
        const double v = attribute_of(&d->attr, &attributes[i]);
        if (v == 0) // NOLINT: what was never set
            continue;
        if (attributes[i].kind == IS_ACT)
            call_put(&w, " act=%s", nino_act_name(d->attr.act));
        else if (attributes[i].kind == IS_FLOAT)
            put_float(&w, attributes[i].name, v);
        else
            call_put(&w, " %s=%.0f", attributes[i].name, v);
    }
    if (w.n >= NINO_CALL_TEXT)
        *buf = 0;
    return buf;
}

// ---- reading -----------------------------------------------------------------------------------

static nino_status bad_word(nino_error *err, const char *word)
{
    return nino_fail(err, NINO_ERR_FORMAT, word, "this is no part of a call");
}

static bool read_dtype(const char *name, size_t len, nino_dtype *out)
{
    for (int t = 0; t < NINO_DTYPE_COUNT; t++)
        if (strlen(nino_dtype_name((nino_dtype) t)) == len &&
            !strncmp(nino_dtype_name((nino_dtype) t), name, len)) {
            *out = (nino_dtype) t;
            return true;
        }
    return false;
}

// "1x64x64x4": how many numbers there are, 0: it is none.
static int read_numbers(const char *p, int64_t *out, int max)
{
    for (int n = 0; n < max; n++) {
        char *end;
        if (!isdigit((unsigned char) *p))
            return 0;
        out[n] = strtoll(p, &end, 10);
        if (out[n] < 0 || out[n] > INT32_MAX || (*end && *end != 'x'))
            return 0;
        if (!*end)
            return n + 1;
        p = end + 1;
    }
    return 0;
}

static nino_status read_source(const char *word, const char *colon, nino_check_case *c, int n,
                               nino_dtype *type, nino_error *err)
{
    if (n >= NINO_OP_MAX_SRC || !read_dtype(word, (size_t) (colon - word), type) ||
        !read_numbers(colon + 1, c->src[n], NINO_MAX_RANK))
        return bad_word(err, word);
    for (int i = 0; i < NINO_MAX_RANK; i++)
        if (colon[1] == '0' || (i && c->src[n][i] && !c->src[n][i - 1])) // 0 ends them in a case
            return bad_word(err, word);
    return NINO_OK;
}

static bool read_weight(const char *value, nino_check_case *c)
{
    const char *colon = strchr(value, ':');
    return colon && read_dtype(value, (size_t) (colon - value), &c->weight) &&
           read_numbers(colon + 1, &c->n, 1) == 1 && c->n > 0;
}

static bool read_act(const char *value, nino_act *out)
{
    for (int a = 1; a < NINO_ACT_COUNT; a++)
        if (!strcmp(value, nino_act_name((nino_act) a))) {
            *out = (nino_act) a;
            return true;
        }
    return false;
}

static bool read_permutation(const char *value, nino_op_attr *a)
{
    int64_t v[NINO_MAX_RANK];
    const int n = read_numbers(value, v, NINO_MAX_RANK);
    unsigned seen = 0;
    for (int i = 0; i < n; i++) {
        if (v[i] >= n || (seen & 1u << v[i]))
            return false;
        seen |= 1u << v[i];
        a->perm[i] = (int) v[i];
    }
    return n > 0;
}

static bool read_named(const char *name, size_t len, const char *value, nino_check_case *c)
{
#define IS(word) (len == sizeof(word) - 1 && !strncmp(name, word, len))
    if (IS("weight"))
        return read_weight(value, c);
    if (IS("act"))
        return read_act(value, &c->attr.act);
    if (IS("out"))
        return read_numbers(value, c->out, 2) > 0 && c->out[0] > 0;
    if (IS("to"))
        return read_dtype(value, strlen(value), &c->cast_to);
    if (IS("perm"))
        return read_permutation(value, &c->attr);
#undef IS
    for (int i = 0; i < ATTRIBUTES; i++) {
        double v;
        if (strlen(attributes[i].name) == len && !strncmp(attributes[i].name, name, len))
            return nino_parse_double(value, &v) && set_attribute(&c->attr, &attributes[i], v);
    }
    return false;
}

static nino_status read_word(const char *word, nino_check_case *c, nino_error *err)
{
    const char *equals = strchr(word, '=');
    if (!strcmp(word, "bias"))
        c->bias = true;
    else if (!strcmp(word, "residual"))
        c->residual = true;
    else if (!strcmp(word, "gamma"))
        c->gamma = true;
    else if (!equals || !read_named(word, (size_t) (equals - word), equals + 1, c))
        return bad_word(err, word);
    return NINO_OK;
}

static bool is_type_of_second(nino_op_id op)
{
    return op == NINO_OP_BLEND; // its first source is always f32
}

// What the harness takes for granted of its own cases.
static const char *wrong_of(const nino_check_case *c, nino_dtype type, int n)
{
    const bool is_product =
        c->op == NINO_OP_LINEAR || c->op == NINO_OP_CONV2D || c->op == NINO_OP_CONV3D;
    const bool has_heads = c->op == NINO_OP_ATTENTION || c->op == NINO_OP_ROPE;
    const bool has_groups = c->op == NINO_OP_GROUP_NORM || c->op == NINO_OP_GROUP_STAT;
    int rank = 0;
    for (; rank < NINO_MAX_RANK && c->src[0][rank]; rank++)
        continue;
    for (int i = 0; i < n; i++) {
        double values = 1;
        for (int k = 0; k < NINO_MAX_RANK && c->src[i][k]; k++)
            values *= (double) c->src[i][k];
        if (values > 0x1p33)
            return "a source is too large";
    }
    if (type != NINO_F32 && type != NINO_F16 && type != NINO_BF16)
        return "sources are f32, f16 or bf16";
    if (is_product != (c->n > 0))
        return is_product ? "a product needs weight=TYPE:ROWS" : "no such op has a weight";
    if (c->n && !nino_dtype_is_block(c->weight) && c->weight > NINO_I8)
        return "weights are not of that type";
    if (c->op != NINO_OP_LINEAR && is_product && c->attr.kernel != 1 && c->attr.kernel != 3)
        return "the kernel of a convolution is 1 or 3";
    if ((has_heads && c->attr.heads < 1) || (has_groups && c->attr.groups < 1))
        return has_heads ? "heads is missing" : "groups is missing";
    if (c->attr.axis < 0 || c->attr.axis >= rank)
        return "there is no such axis";
    if ((c->op == NINO_OP_SLICE || c->op == NINO_OP_RESAMPLE || c->op == NINO_OP_SHUFFLE) &&
        (!c->out[0] || (c->op == NINO_OP_RESAMPLE && !c->out[1])))
        return "out is missing";
    return NULL;
}

nino_status nino_call_read(const char *text, nino_check_case *c, nino_dtype *type, nino_error *err)
{
    char copy[NINO_CALL_TEXT], *rest = copy, *word;
    int op = 0, n = 0;
    *c = (nino_check_case){ .only_bench = true };
    *type = NINO_F32;
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int) sizeof(copy))
        return nino_fail(err, NINO_ERR_FORMAT, "call", "it is longer than %d letters",
                         NINO_CALL_TEXT);
    word = strsep(&rest, " ");
    while (op < NINO_OP_COUNT && strcmp(nino_ops[op].name, word) != 0)
        op++;
    if (op == NINO_OP_COUNT)
        return nino_fail(err, NINO_ERR_FORMAT, word, "there is no such op");
    c->op = (nino_op_id) op;
    while ((word = strsep(&rest, " "))) {
        nino_dtype t;
        const char *colon = strchr(word, ':');
        const bool is_source = colon && !strchr(word, '=');
        const nino_status st =
            is_source ? read_source(word, colon, c, n, &t, err) : read_word(word, c, err);
        if (st)
            return st;
        if (is_source && n++ == is_type_of_second(c->op))
            *type = t;
    }
    if (!n)
        return nino_fail(err, NINO_ERR_FORMAT, text, "a call names the shapes of its sources");
    const char *wrong = wrong_of(c, *type, n);
    if (wrong)
        return nino_fail(err, NINO_ERR_FORMAT, text, "%s", wrong);
    if (c->op == NINO_OP_GROUP_NORM && !c->gamma)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, text, "a group norm without weights");
    if (c->op == NINO_OP_GROUP_NORM)
        c->gamma = c->bias = false; // it always has both
    return NINO_OK;
}
