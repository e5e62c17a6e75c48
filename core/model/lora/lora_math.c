// Rows of the change that a layer of a LoRA file makes, in f32, without strength and alpha.
// Sources: Hu et al. 2021 (LoRA), Hyeon-Woo et al. 2021 (Hadamard products), Edalati et al. 2022
// (Kronecker products); forms: KohakuBlueleaf/LyCORIS, ComfyUI weight_adapter/.
#include "core/model/lora/lora_math.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

lora_kind lora_kind_of(const lora_layer *l)
{
    const nino_tensor_info *const *t = l->t;
    if (t[LORA_SET])
        return LORA_KIND_SET;
    if (t[LORA_DIFF])
        return LORA_KIND_DIFF;
    if (t[LORA_OFT_BLOCKS])
        return t[LORA_OFT_BLOCKS]->rank == 4 ? LORA_KIND_BOFT : LORA_KIND_OFT;
    if (t[LORA_GLORA_A1])
        return LORA_KIND_GLORA;
    if (t[LORA_KRON_W1] || t[LORA_KRON_W2] || t[LORA_KRON_W1A] || t[LORA_KRON_W2A])
        return LORA_KIND_KRON;
    if (t[LORA_HADA_W1A])
        return LORA_KIND_HADAMARD;
    return t[LORA_UP] && t[LORA_DOWN] ? LORA_KIND_LOW_RANK : LORA_KIND_NONE;
}

// ---- sizes -----------------------------------------------------------------------------------

// B A, or C(B, A) with a core [r,r,k...]: rows and columns.
static bool size_low_rank(const nino_tensor_info *up, const nino_tensor_info *down,
                          const nino_tensor_info *mid, int64_t *rows, int64_t *cols)
{
    if (!up || !down || up->rank < 2 || down->rank < 2)
        return false;
    *rows = up->dim[0];
    *cols = nino_tensor_info_row(down);
    if (!mid)
        return nino_tensor_info_row(up) == down->dim[0];
    *cols *= mid->rank > 2 ? nino_tensor_info_row(mid) / mid->dim[1] : 1;
    return mid->rank >= 2 && nino_tensor_info_row(up) == mid->dim[0] && mid->dim[1] == down->dim[0];
}

// With a core, LyCORIS has the first factor the other way round: [r,out].
static bool size_factors(const nino_tensor_info *a, const nino_tensor_info *b,
                         const nino_tensor_info *core, int64_t *rows, int64_t *cols)
{
    if (!a || !b || a->rank != 2 || b->rank != 2)
        return false;
    *rows = a->dim[core ? 1 : 0];
    *cols = b->dim[1];
    if (!core)
        return a->dim[1] == b->dim[0];
    *cols *= core->rank > 2 ? nino_tensor_info_row(core) / core->dim[1] : 1;
    return core->rank >= 2 && a->dim[0] == core->dim[0] && core->dim[1] == b->dim[0];
}

static bool size_kron(const lora_layer *l, int64_t *rows, int64_t *cols)
{
    const nino_tensor_info *w1 = l->t[LORA_KRON_W1], *w2 = l->t[LORA_KRON_W2];
    int64_t n1 = 0, c1 = 0, n2 = 0, c2 = 0;
    if (w1 ? w1->rank != 2
           : !size_factors(l->t[LORA_KRON_W1A], l->t[LORA_KRON_W1B], NULL, &n1, &c1))
        return false;
    if (w2 ? w2->rank < 2
           : !size_factors(l->t[LORA_KRON_W2A], l->t[LORA_KRON_W2B], l->t[LORA_KRON_T2], &n2, &c2))
        return false;
    *rows = (w1 ? w1->dim[0] : n1) * (w2 ? w2->dim[0] : n2);
    *cols = (w1 ? w1->dim[1] : c1) * (w2 ? nino_tensor_info_row(w2) : c2);
    return true;
}

// a1 [in,r], a2 [r,in], b1 [out,r], b2 [r,in]; the old order is a2, a1, b2, b1.
static bool size_glora(const nino_tensor_info *a, const nino_tensor_info *a_next,
                       const nino_tensor_info *b, const nino_tensor_info *b_next)
{
    return a && a_next && b && b_next && a->rank == 2 && a_next->rank == 2 && b->rank == 2 &&
           b_next->rank == 2 && a->dim[1] == a_next->dim[0] && b->dim[1] == b_next->dim[0] &&
           a->dim[0] == a_next->dim[1] && a->dim[0] == b_next->dim[1];
}

// Where both would do, the rank is the smaller side.
bool lora_glora_is_old(const lora_layer *l)
{
    const nino_tensor_info *const *t = l->t;
    const bool is_new =
        size_glora(t[LORA_GLORA_A1], t[LORA_GLORA_A2], t[LORA_GLORA_B1], t[LORA_GLORA_B2]);
    return size_glora(t[LORA_GLORA_A2], t[LORA_GLORA_A1], t[LORA_GLORA_B2], t[LORA_GLORA_B1]) &&
           (!is_new || t[LORA_GLORA_A2]->dim[1] <= t[LORA_GLORA_A2]->dim[0]);
}

static bool size_generalised(const lora_layer *l, int64_t *rows, int64_t *cols)
{
    const nino_tensor_info *const *t = l->t;
    const bool is_old = lora_glora_is_old(l);
    if (!is_old &&
        !size_glora(t[LORA_GLORA_A1], t[LORA_GLORA_A2], t[LORA_GLORA_B1], t[LORA_GLORA_B2]))
        return false;
    *rows = t[is_old ? LORA_GLORA_B2 : LORA_GLORA_B1]->dim[0];
    *cols = t[is_old ? LORA_GLORA_B1 : LORA_GLORA_B2]->dim[1];
    return true;
}

static bool size_turns(const nino_tensor_info *blocks, int64_t *rows)
{
    const int64_t *dim = blocks->dim + (blocks->rank == 4);
    if (blocks->rank != 3 && blocks->rank != 4)
        return false;
    *rows = dim[0] * dim[1];
    if (blocks->rank == 3)
        return dim[1] == dim[2];
    // every stage's pairs are twice as far apart
    return dim[1] == dim[2] && dim[1] % 2 == 0 && blocks->dim[0] < 32 &&
           *rows % (dim[1] << (blocks->dim[0] - 1)) == 0;
}

bool lora_size_of(const lora_layer *l, lora_kind kind, int64_t *rows, int64_t *cols)
{
    const nino_tensor_info *const *t = l->t;
    int64_t n, c;
    *rows = *cols = 0;
    for (int i = 0; i < LORA_ROLES; i++)
        if (t[i] && (t[i]->rank > NINO_MAX_RANK || !t[i]->bytes))
            return false;
    switch (kind) {
    case LORA_KIND_LOW_RANK:
        return size_low_rank(t[LORA_UP], t[LORA_DOWN], t[LORA_MID], rows, cols);
    case LORA_KIND_HADAMARD:
        return !t[LORA_HADA_T1] == !t[LORA_HADA_T2] &&
               size_factors(t[LORA_HADA_W1A], t[LORA_HADA_W1B], t[LORA_HADA_T1], rows, cols) &&
               size_factors(t[LORA_HADA_W2A], t[LORA_HADA_W2B], t[LORA_HADA_T2], &n, &c) &&
               n == *rows && c == *cols;
    case LORA_KIND_KRON: return size_kron(l, rows, cols);
    case LORA_KIND_DIFF:
    case LORA_KIND_SET: {
        const nino_tensor_info *d = t[kind == LORA_KIND_DIFF ? LORA_DIFF : LORA_SET];
        if (d->rank < 1)
            return false;
        *rows = d->dim[0];
        *cols = nino_tensor_info_row(d);
        return true;
    }
    case LORA_KIND_GLORA: return size_generalised(l, rows, cols);
    case LORA_KIND_OFT:
    case LORA_KIND_BOFT: return size_turns(t[LORA_OFT_BLOCKS], rows);
    default: return false;
    }
}

static const nino_tensor_info *rank_tensor(const lora_layer *l, lora_kind kind)
{
    switch (kind) {
    case LORA_KIND_LOW_RANK: return l->t[LORA_DOWN];
    case LORA_KIND_HADAMARD: return l->t[LORA_HADA_W1B];
    case LORA_KIND_KRON: return l->t[LORA_KRON_W2] ? l->t[LORA_KRON_W1B] : l->t[LORA_KRON_W2B];
    case LORA_KIND_GLORA: return lora_glora_is_old(l) ? l->t[LORA_GLORA_A1] : l->t[LORA_GLORA_A2];
    default: return NULL;
    }
}

nino_status lora_scale_of(const nino_weights *file, const lora_layer *l, lora_kind kind,
                          float *scale, nino_error *err)
{
    const nino_tensor_info *rank = rank_tensor(l, kind), *alpha = l->t[LORA_ALPHA];
    *scale = 1;
    if (!rank || !alpha || nino_tensor_info_count(alpha) != 1)
        return NINO_OK;
    nino_array *a = nino_weights_read_f32(file, alpha, err);
    if (!a)
        return err && err->code ? err->code : NINO_ERR_IO;
    *scale = nino_array_f32(a)[0] / (float) rank->dim[0];
    nino_array_unref(&a);
    return NINO_OK;
}

// ---- products --------------------------------------------------------------------------------

enum { WIDE = 16, DEEP = 64 }; // columns summed in registers, rows of b at a time

typedef float four
    __attribute__((vector_size(16), aligned(4), may_alias)); // any compiler's, any processor's

// Two rows of WIDE columns.
static void multiply_two(const float *a, int64_t stride, const float *panel, int64_t deep,
                         int64_t m, float *out)
{
    four *p = (four *) (void *) out, *q = (four *) (void *) (out + m);
    four p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3], q0 = q[0], q1 = q[1], q2 = q[2], q3 = q[3];
    for (int64_t k = 0; k < deep; k++, panel += WIDE) {
        const four *b = (const four *) (const void *) panel;
        const float x = a[k], y = a[stride + k];
        p0 += x * b[0];
        p1 += x * b[1];
        p2 += x * b[2];
        p3 += x * b[3];
        q0 += y * b[0];
        q1 += y * b[1];
        q2 += y * b[2];
        q3 += y * b[3];
    }
    p[0] = p0, p[1] = p1, p[2] = p2, p[3] = p3;
    q[0] = q0, q[1] = q1, q[2] = q2, q[3] = q3;
}

static void multiply_plain(const float *a, const float *b, int64_t n, int64_t r, int64_t m,
                           int64_t from, int64_t to, float *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = from; j < to; j++) {
            float sum = 0;
            for (int64_t k = 0; k < r; k++)
                sum += a[i * r + k] * b[k * m + j];
            out[i * m + j] += sum;
        }
}

void lora_multiply(const float *a, const float *b, int64_t n, int64_t r, int64_t m, float *out)
{
    const int64_t even = n / 2 * 2, whole = m / WIDE * WIDE;
    float panel[DEEP * WIDE]; // a piece of b in the order it is used
    for (int64_t j = 0; j < whole; j += WIDE)
        for (int64_t k = 0; k < r; k += DEEP) {
            const int64_t deep = r - k < DEEP ? r - k : DEEP;
            for (int64_t i = 0; i < deep; i++)
                memcpy(panel + i * WIDE, b + (k + i) * m + j, WIDE * sizeof(*b));
            for (int64_t i = 0; i < even; i += 2)
                multiply_two(a + i * r + k, r, panel, deep, m, out + i * m + j);
        }
    multiply_plain(a, b, even, r, m, whole, m, out);
    multiply_plain(a + even * r, b, n - even, r, m, 0, m, out + even * m);
}

typedef struct reader { // does nothing after the first failure
    const nino_weights *file;
    nino_status st;
    nino_error *err;
} reader;

static nino_array *lora_math_read_all(reader *r, const nino_tensor_info *t)
{
    if (r->st)
        return NULL;
    nino_array *a = nino_weights_read_f32(r->file, t, r->err);
    if (!a)
        r->st = r->err && r->err->code ? r->err->code : NINO_ERR_IO;
    return a;
}

static nino_array *lora_math_make(reader *r, int64_t n, int64_t m)
{
    if (r->st)
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, m));
    if (!a)
        r->st = nino_fail(r->err, NINO_ERR_NOMEM, nino_weights_path(r->file), "out of memory");
    return a;
}

static nino_array *read_some(reader *r, const nino_tensor_info *t, int64_t first, int64_t n)
{
    nino_array *a = lora_math_make(r, n, nino_tensor_info_row(t));
    if (a)
        r->st = nino_weights_read_rows_f32(r->file, t, first, n, nino_array_f32(a), r->err);
    return a;
}

// [i,j,k] with j summed over b[j,c] -> [i,c,k]
static nino_array *contract(reader *r, const nino_array *core, const nino_array *b)
{
    if (r->st)
        return NULL;
    const int64_t ni = core->shape.dim[0], nj = core->shape.dim[1], nc = b->shape.dim[1];
    const int64_t nk = nino_shape_count(&core->shape) / (ni * nj);
    nino_array *out = lora_math_make(r, ni, nc * nk);
    for (int64_t i = 0; out && i < ni; i++)
        for (int64_t j = 0; j < nj; j++)
            for (int64_t c = 0; c < nc; c++) {
                const float *from = nino_array_f32(core) + (i * nj + j) * nk;
                const float f = nino_array_f32(b)[j * nc + c];
                float *to = nino_array_f32(out) + (i * nc + c) * nk;
                for (int64_t k = 0; k < nk; k++)
                    to[k] += f * from[k];
            }
    return out;
}

// A as a matrix [r,cols], through the core where there is one.
static nino_array *read_down(reader *r, const nino_tensor_info *down, const nino_tensor_info *core)
{
    nino_array *a = lora_math_read_all(r, down);
    if (r->st || !core)
        return a;
    nino_array *c = lora_math_read_all(r, core), *flat = NULL;
    if (!r->st) // [n,in,1,1] is a matrix as it lies
        a->shape = NINO_SHAPE(down->dim[0], nino_tensor_info_row(down));
    flat = contract(r, c, a);
    nino_array_unref(&a);
    nino_array_unref(&c);
    return flat;
}

// Rows first ... of B, which is [r,out] where a core is in the middle (is_turned).
static nino_array *read_up(reader *r, const nino_tensor_info *up, bool is_turned, int64_t first,
                           int64_t n)
{
    if (!is_turned)
        return read_some(r, up, first, n);
    nino_array *all = lora_math_read_all(r, up), *out = lora_math_make(r, n, up->dim[0]);
    for (int64_t i = 0; !r->st && i < n; i++)
        for (int64_t k = 0; k < up->dim[0]; k++)
            nino_array_f32(out)[i * up->dim[0] + k] =
                nino_array_f32(all)[k * up->dim[1] + first + i];
    nino_array_unref(&all);
    return out;
}

static void product(reader *r, const nino_tensor_info *up, bool is_turned,
                    const nino_tensor_info *down, const nino_tensor_info *core, int64_t first,
                    int64_t n, int64_t cols, float *out)
{
    nino_array *a = read_down(r, down, core), *b = read_up(r, up, is_turned, first, n);
    if (!r->st) {
        memset(out, 0, (size_t) (n * cols) * sizeof(float));
        lora_multiply(nino_array_f32(b), nino_array_f32(a), n, b->shape.dim[1], cols, out);
    }
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// ---- the kinds -------------------------------------------------------------------------------

static void hadamard(reader *r, const lora_layer *l, int64_t first, int64_t n, int64_t cols,
                     float *out)
{
    const nino_tensor_info *const *t = l->t;
    nino_array *other = lora_math_make(r, n, cols);
    if (!r->st)
        product(r, t[LORA_HADA_W1A], t[LORA_HADA_T1], t[LORA_HADA_W1B], t[LORA_HADA_T1], first, n,
                cols, out);
    if (!r->st)
        product(r, t[LORA_HADA_W2A], t[LORA_HADA_T2], t[LORA_HADA_W2B], t[LORA_HADA_T2], first, n,
                cols, nino_array_f32(other));
    for (int64_t i = 0; !r->st && i < n * cols; i++)
        out[i] *= nino_array_f32(other)[i];
    nino_array_unref(&other);
}

// A factor of a Kronecker product, whole, as a matrix.
static nino_array *kron_factor(reader *r, const nino_tensor_info *whole, const nino_tensor_info *a,
                               const nino_tensor_info *b, const nino_tensor_info *core)
{
    int64_t rows = 0, cols = 0;
    if (whole) {
        nino_array *w = lora_math_read_all(r, whole);
        if (w)
            w->shape = NINO_SHAPE(whole->dim[0], nino_tensor_info_row(whole));
        return w;
    }
    size_factors(a, b, core, &rows, &cols);
    nino_array *w = lora_math_make(r, rows, cols);
    if (!r->st)
        product(r, a, core, b, core, 0, rows, cols, nino_array_f32(w));
    return w;
}

// Row i n2 + k of kron(w1, w2): w1[i][j] times row k of w2, for every j.
static void kron(reader *r, const lora_layer *l, int64_t first, int64_t n, float *out)
{
    const nino_tensor_info *const *t = l->t;
    nino_array *w1 = kron_factor(r, t[LORA_KRON_W1], t[LORA_KRON_W1A], t[LORA_KRON_W1B], NULL);
    nino_array *w2 =
        kron_factor(r, t[LORA_KRON_W2], t[LORA_KRON_W2A], t[LORA_KRON_W2B], t[LORA_KRON_T2]);
    for (int64_t row = first; !r->st && row < first + n; row++) {
        const int64_t c1 = w1->shape.dim[1], n2 = w2->shape.dim[0], c2 = w2->shape.dim[1];
        const float *a = nino_array_f32(w1) + row / n2 * c1;
        const float *b = nino_array_f32(w2) + row % n2 * c2;
        for (int64_t j = 0; j < c1; j++)
            for (int64_t k = 0; k < c2; k++)
                *out++ = a[j] * b[k];
    }
    nino_array_unref(&w1);
    nino_array_unref(&w2);
}

nino_status lora_rows(const nino_weights *file, const lora_layer *l, lora_kind kind, int64_t first,
                      int64_t n, int64_t cols, float *out, nino_error *err)
{
    reader r = { .file = file, .err = err };
    switch (kind) {
    case LORA_KIND_LOW_RANK:
        product(&r, l->t[LORA_UP], false, l->t[LORA_DOWN], l->t[LORA_MID], first, n, cols, out);
        break;
    case LORA_KIND_HADAMARD: hadamard(&r, l, first, n, cols, out); break;
    case LORA_KIND_KRON: kron(&r, l, first, n, out); break;
    default:
        r.st = nino_weights_read_rows_f32(file,
                                          l->t[kind == LORA_KIND_SET    ? LORA_SET
                                               : kind == LORA_KIND_BIAS ? LORA_DIFF_B
                                                                        : LORA_DIFF],
                                          first, n, out, err);
    }
    return r.st;
}
