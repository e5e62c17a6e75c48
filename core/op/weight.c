// Weights: looking tensors up by name, checking their shapes, reading their values.
#include "core/op/backend.h"

#include "core/base/error.h"
#include "core/base/size.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 512
#define MAX_PARTS 8     // of one weight; more than any model needs
#define MAX_PRODUCTS 64 // beside one weight; with more LoRAs on it it is read with them

static nino_status fail_model(nino_weights *f, const char *name, nino_error *err, nino_status st,
                              const char *what)
{
    char where[sizeof(err->where)];
    const char *path = nino_weights_path(f), *slash = strrchr(path, '/');
    snprintf(where, sizeof(where), "%s: %s", slash ? slash + 1 : path, name);
    return nino_fail_kind(err, st, "model", where, "%s", what);
}

static bool is_readable(nino_dtype t)
{
    switch (t) {
    case NINO_F32:
    case NINO_F16:
    case NINO_BF16:
    case NINO_F64:
    case NINO_F8_E4M3:
    case NINO_F8_E5M2:
    case NINO_I8: return true;
    default: return nino_dtype_is_block(t);
    }
}

static const char *const role_names[] = { "[N,C] or [N,C,1,1]", "[N,C,3,3]", "[N,C,3,3,3]",
                                          "[N,C,3,1,1]",        "[N]",       "[N,C,..]" };

// Rows and columns if the dimensions fit the role.
static bool fits_role(nino_weight_role role, int rank, const int64_t *dim, int64_t *n, int64_t *c)
{
    *n = rank > 0 ? dim[0] : 0;
    *c = rank > 1 ? dim[1] : 1;
    if (*n < 1 || *c < 1 || (rank > 5 && role != NINO_W_PATCH))
        return false;
    int64_t taps = 1;
    for (int i = 2; i < rank; i++)
        taps *= dim[i];
    switch (role) {
    case NINO_W_PATCH: *c *= taps; return rank >= 2;
    case NINO_W_MATRIX: return rank >= 2 && taps == 1;
    case NINO_W_CONV3: return rank == 4 && dim[2] == 3 && dim[3] == 3;
    case NINO_W_CONV3D: return rank == 5 && dim[2] == 3 && dim[3] == 3 && dim[4] == 3;
    case NINO_W_CONV_T: return rank == 5 && dim[2] == 3 && dim[3] == 1 && dim[4] == 1;
    default: return rank == 1 || (rank > 1 && *c == 1 && taps == 1);
    }
}

static const char *print_dims(char *dst, size_t size, const nino_tensor_info *t)
{
    size_t len = 0;
    dst[0] = 0;
    for (int i = 0; i < t->rank && len < size; i++)
        len +=
            (size_t) snprintf(dst + len, size - len, "%s%lld", i ? "," : "", (long long) t->dim[i]);
    return dst;
}

static nino_status check_shape(nino_weights *file, const nino_tensor_info *t, nino_weight_role role,
                               int64_t *rows, int64_t *cols, nino_error *err)
{
    char text[160], dims[96];
    if (!is_readable(t->dtype)) {
        nino_factors f; // the format's own name, if the file tells it
        const nino_status st = nino_weights_scale(file, t, &f, err);
        if (st)
            return st;
        snprintf(text, sizeof(text), "element type %s cannot be used as a weight",
                 nino_dtype_name(t->dtype));
        return fail_model(file, t->name, err, NINO_ERR_UNSUPPORTED, text);
    }
    if (!fits_role(role, t->rank, t->dim, rows, cols)) {
        snprintf(text, sizeof(text), "shape [%s] is not %s", print_dims(dims, sizeof(dims), t),
                 role_names[role]);
        return fail_model(file, t->name, err, NINO_ERR_FORMAT, text);
    }
    return NINO_OK;
}

// n and c: what the model needs, or negative.
static nino_status check_size(nino_weights *file, const nino_weight *w, int64_t n, int64_t c,
                              nino_error *err)
{
    char text[160], dims[96], columns[32] = "";
    if ((n < 0 || w->n == n) && (c < 0 || w->c == c))
        return NINO_OK;
    if (w->n_ranges == 1)
        print_dims(dims, sizeof(dims), w->info);
    else
        snprintf(dims, sizeof(dims), "%lld,%lld", (long long) w->n, (long long) w->c);
    static const char *const tails[] = { "", ",3,3", ",3,3,3", ",3,1,1", "", "" };
    if (w->role != NINO_W_VECTOR)
        snprintf(columns, sizeof(columns), ",%lld", (long long) (c >= 0 ? c : w->c));
    snprintf(text, sizeof(text), "shape [%s] where [%lld%s%s] is needed", dims,
             (long long) (n >= 0 ? n : w->n), columns, tails[w->role]);
    return fail_model(file, w->info->name, err, NINO_ERR_FORMAT, text);
}

nino_status nino_weight_get(nino_weights *file, const char *prefix, const char *name,
                            nino_weight_role role, int64_t n, int64_t c, bool required,
                            nino_weight **out, nino_error *err)
{
    const nino_weight_part whole = { .name = name };
    return nino_weight_get_parts(file, prefix, &whole, 1, role, n, c, required, out, err);
}

// Finds one part's tensor and the rows and columns wanted of it. *info NULL: there is none.
static nino_status find_range(nino_weights *file, const char *prefix, const nino_weight_part *p,
                              nino_weight_role role, nino_weight_range *r, nino_error *err)
{
    char full[MAX_NAME], text[160];
    int64_t n = 0, c = 0;
    const int len = snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", p->name);
    *r = (nino_weight_range){ .file = file };
    r->info = len < (int) sizeof(full) ? nino_weights_find(file, full) : NULL;
    if (!r->info)
        return fail_model(file, full, err, NINO_ERR_FORMAT, "the file has no such tensor");
    nino_status st = check_shape(file, r->info, role, &n, &c, err);
    if (st)
        return st;
    r->row0 = p->row0;
    r->col0 = p->col0;
    r->rows = p->rows < 1 ? n - p->row0 : p->rows;
    r->cols = p->cols < 1 ? c - p->col0 : p->cols;
    if (r->row0 < 0 || r->rows < 1 || r->row0 > n - r->rows || r->col0 < 0 || r->cols < 1 ||
        r->col0 > c - r->cols) {
        snprintf(
            text, sizeof(text), "rows %lld to %lld, columns %lld to %lld are needed of [%lld,%lld]",
            (long long) r->row0, (long long) r->row0 + (long long) r->rows, (long long) r->col0,
            (long long) r->col0 + (long long) r->cols, (long long) n, (long long) c);
        return fail_model(file, full, err, NINO_ERR_FORMAT, text);
    }
    return NINO_OK;
}

// Products beside a weight, as they are found range by range.
typedef struct products {
    nino_low_rank p[MAX_PRODUCTS];
    int64_t row0[MAX_PRODUCTS]; // of the weight
    int64_t col0[MAX_PRODUCTS]; // of down
    int n;
} products;

// A range of a view that only adds products becomes one of the file, and the products are kept.
static void find_products(nino_weight *w, nino_weight_range *r, products *out)
{
    nino_low_rank found[MAX_PRODUCTS];
    if (w->role != NINO_W_MATRIX && w->role != NINO_W_CONV3)
        return;
    const int n =
        nino_weights_low_rank(r->file, r->info, &r->file, &r->info, found, MAX_PRODUCTS - out->n);
    for (int i = 0; i < n; i++) {
        nino_low_rank p = found[i];
        const int64_t lo = p.row0 > r->row0 ? p.row0 : r->row0;
        const int64_t end = r->row0 + r->rows, p_end = p.row0 + p.rows;
        const int64_t hi = end < p_end ? end : p_end;
        if (lo >= hi)
            continue;
        p.first += lo - p.row0;
        p.rows = hi - lo;
        out->row0[out->n] = w->n + lo - r->row0;
        out->col0[out->n] = r->col0;
        out->p[out->n++] = p;
    }
}

// Adds a part's rows to w.
static nino_status weight_add_range(nino_weights *file, const char *prefix,
                                    const nino_weight_part *p, nino_weight *w, products *beside,
                                    nino_error *err)
{
    nino_weight_range *r = &w->range[w->n_ranges];
    nino_status st = find_range(file, prefix, p, w->role, r, err);
    if (st || !r->info)
        return st;
    find_products(w, r, beside);
    w->is_made |= w->role != NINO_W_VECTOR && nino_weights_is_made_at_use(r->file, r->info);
    if ((st = nino_weights_scale(r->file, r->info, &r->scale, err)))
        return st;
    if (!w->n_ranges++) {
        w->info = r->info;
        w->c = r->cols;
        w->dtype = r->info->dtype;
    }
    w->n += r->rows;
    if (r->info->dtype != w->dtype || nino_factors_any(&r->scale)) // then 16 bits might round
        w->dtype = NINO_F32;
    return r->cols == w->c ? NINO_OK
                           : fail_model(file, r->info->name, err, NINO_ERR_FORMAT,
                                        "its columns differ from those of the tensors beside it");
}

// ---- products beside a weight ------------------------------------------------------------------

static bool is_wide_float(nino_dtype t) { return t == NINO_F32 || t == NINO_F16 || t == NINO_BF16; }

// All down matrices, one below the other, with their scales.
static nino_weight *make_down(const nino_weight *w, const products *p)
{
    nino_weight *d = calloc(1, sizeof(*d) + (size_t) p->n * sizeof(d->range[0]));
    if (!d)
        return NULL;
    *d = (nino_weight){ .file = nino_weights_ref(w->file),
                        .info = p->p[0].down,
                        .role = w->role,
                        .c = w->c,
                        .dtype = p->p[0].down->dtype,
                        .n_ranges = p->n };
    for (int i = 0; i < p->n; i++) {
        const nino_low_rank *l = &p->p[i];
        d->range[i] = (nino_weight_range){ .file = l->file,
                                           .info = l->down,
                                           .rows = l->down->dim[0],
                                           .col0 = p->col0[i],
                                           .cols = w->c,
                                           .scale = { .all = l->scale } };
        d->n += l->down->dim[0];
        if (l->scale != 1 || l->down->dtype != d->dtype || !is_wide_float(d->dtype))
            d->dtype = NINO_F32;
    }
    return d;
}

// All up matrices, each at the rows that it changes and the columns that belong to its down.
static nino_weight *make_up(const nino_weight *w, const products *p)
{
    nino_weight *u = calloc(1, sizeof(*u));
    nino_weight_place *place = calloc((size_t) p->n, sizeof(*place));
    if (!u || !place) {
        free(u);
        free(place);
        return NULL;
    }
    *u = (nino_weight){ .file = nino_weights_ref(w->file),
                        .info = p->p[0].up,
                        .role = NINO_W_MATRIX,
                        .n = w->n,
                        .dtype = p->p[0].up->dtype,
                        .place = place,
                        .n_places = p->n };
    for (int i = 0; i < p->n; i++) {
        const nino_low_rank *l = &p->p[i];
        place[i] = (nino_weight_place){ .file = l->file,
                                        .info = l->up,
                                        .row0 = p->row0[i],
                                        .rows = l->rows,
                                        .col0 = u->c,
                                        .cols = l->down->dim[0],
                                        .first = l->first };
        u->c += l->down->dim[0];
        if (l->up->dtype != u->dtype || !is_wide_float(u->dtype))
            u->dtype = NINO_F32;
    }
    return u;
}

static nino_status read_places(const nino_weight *w, int64_t first, int64_t rows, float *dst,
                               nino_error *err)
{
    nino_status st = NINO_OK;
    memset(dst, 0, (size_t) (rows * w->c) * sizeof(*dst));
    for (int i = 0; i < w->n_places && !st; i++) {
        const nino_weight_place *p = &w->place[i];
        const int64_t lo = first > p->row0 ? first : p->row0;
        const int64_t end = first + rows, p_end = p->row0 + p->rows;
        const int64_t hi = end < p_end ? end : p_end;
        if (lo >= hi)
            continue;
        float *values = malloc((size_t) ((hi - lo) * p->cols) * sizeof(*values));
        if (!values)
            return nino_fail(err, NINO_ERR_NOMEM, p->info->name, "no memory to read it");
        st = nino_weights_read_rows_f32(p->file, p->info, p->first + lo - p->row0, hi - lo, values,
                                        err);
        for (int64_t k = 0; k < hi - lo && !st; k++)
            memcpy(dst + (lo - first + k) * w->c + p->col0, values + k * p->cols,
                   (size_t) p->cols * sizeof(*dst));
        free(values);
    }
    return st;
}

static bool has_tensor(nino_weights *file, const char *prefix, const char *name)
{
    char full[MAX_NAME];
    const int len = snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", name);
    return len < (int) sizeof(full) && nino_weights_find(file, full);
}

nino_status nino_weight_get_parts(nino_weights *file, const char *prefix,
                                  const nino_weight_part *parts, int n_parts, nino_weight_role role,
                                  int64_t n, int64_t c, bool required, nino_weight **out,
                                  nino_error *err)
{
    nino_status st = NINO_OK;
    *out = NULL;
    if (!required && !has_tensor(file, prefix, parts[0].name))
        return NINO_OK;
    nino_weight *w = calloc(1, sizeof(*w) + (size_t) n_parts * sizeof(w->range[0]));
    if (!w)
        return nino_fail(err, NINO_ERR_NOMEM, parts[0].name, "no memory");
    products beside = { .n = 0 };
    w->role = role;
    for (int i = 0; !st && i < n_parts; i++)
        st = weight_add_range(file, prefix, &parts[i], w, &beside, err);
    if (!st)
        st = check_size(file, w, n, role == NINO_W_VECTOR ? -1 : c, err);
    w->file = nino_weights_ref(file);
    if (!st && beside.n && (!(w->down = make_down(w, &beside)) || !(w->up = make_up(w, &beside))))
        st = nino_fail(err, NINO_ERR_NOMEM, parts[0].name, "no memory");
    if (st) {
        nino_weight_destroy(&w);
        return st;
    }
    for (int i = 0; i < w->n_ranges; i++)
        nino_weights_expect(w->range[i].file, w->range[i].info);
    if (role == NINO_W_PATCH)
        w->role = NINO_W_MATRIX;
    *out = w;
    return NINO_OK;
}

nino_weight *nino_weight_from_array(nino_array *a, nino_weight_role role)
{
    int64_t n, c;
    nino_weight *w = NULL;
    size_t values, bytes;
    nino_dtype_block(a->dtype, &values, &bytes);
    if (is_readable(a->dtype) && fits_role(role, a->shape.rank, a->shape.dim, &n, &c) &&
        c * nino_weight_role_taps(role) % (int64_t) values == 0 && (w = calloc(1, sizeof(*w))))
        *w = (nino_weight){
            .data = nino_array_ref(a), .role = role, .n = n, .c = c, .dtype = a->dtype
        };
    return w;
}

void nino_weight_destroy(nino_weight **pw)
{
    nino_weight *w = *pw;
    if (!w)
        return;
    nino_weight_evict(w);
    nino_weight_destroy(&w->up);
    nino_weight_destroy(&w->down);
    free(w->place);
    nino_weights_unref(&w->file);
    nino_array_unref(&w->data);
    free(w);
    *pw = NULL;
}

// One row in the file's order [c][tap] to columns [col0, col0+cols) of it as [tap][c].
static void order_row(float *dst, const float *flat, int64_t taps, int64_t col0, int64_t cols)
{
    if (taps == 1) {
        memcpy(dst, flat + col0, (size_t) cols * sizeof(float));
        return;
    }
    for (int64_t c = 0; c < cols; c++)
        for (int64_t t = 0; t < taps; t++)
            dst[t * cols + c] = flat[(col0 + c) * taps + t];
}

// Rows first ... of a range; those that are wanted in another order a few at a time, to need little
// memory beside dst.
static nino_status weight_read_range(const nino_weight_range *r, int64_t first, int64_t rows,
                                     int64_t taps, float *dst, nino_error *err)
{
    enum { ROOM = 1 << 20 }; // values at a time
    nino_weights *file = r->file;
    const nino_tensor_info *t = r->info;
    const int64_t row = nino_tensor_info_row(t), fit = row < ROOM ? ROOM / row : 1;
    const int64_t step = fit < rows ? fit : rows;
    const bool is_whole = taps == 1 && r->cols == row;
    float *flat = is_whole ? NULL : malloc((size_t) (step * row) * sizeof(float));
    nino_status st = NINO_OK;
    if (!flat && !is_whole)
        return nino_fail(err, NINO_ERR_NOMEM, t->name, "no memory to read it");
    for (int64_t n = 0; !st && n < rows; n += step) {
        const int64_t k = rows - n < step ? rows - n : step;
        float *to = is_whole ? dst : flat;
        st = nino_weights_read_rows_f32(file, t, r->row0 + first + n, k, to, err);
        if (!st)
            st = nino_factors_apply(file, &r->scale, r->row0 + first + n, k, row, to, err);
        for (int64_t i = 0; !st && i < k; i++, dst += r->cols * taps)
            if (!is_whole)
                order_row(dst, flat + i * row, taps, r->col0, r->cols);
    }
    free(flat);
    return st;
}

static nino_status read_array(const nino_weight *w, int64_t first, int64_t rows, int64_t taps,
                              float *dst, nino_error *err)
{
    size_t values, bytes;
    nino_dtype_block(w->data->dtype, &values, &bytes);
    const size_t row = (size_t) (w->c * taps), row_bytes = row / values * bytes;
    float *flat = malloc(row * sizeof(float));
    if (!flat)
        return nino_fail(err, NINO_ERR_NOMEM, "weight", "no memory to read it");
    for (int64_t n = first; n < first + rows; n++, dst += row) {
        nino_to_f32(flat, (const char *) w->data->data + (size_t) n * row_bytes, w->data->dtype,
                    row);
        order_row(dst, flat, taps, 0, w->c);
    }
    free(flat);
    return NINO_OK;
}

void nino_weight_round_to(nino_weight *w, nino_dtype type)
{
    if (w->dtype == type)
        return;
    w->dtype = type;
    w->is_rounded = true;
    if (nino_dtype_bits(type) <= 8 && nino_weight_taps(w) == 1)
        w->is_made = false; // it stays as narrow as that
}

static void round_to(float *v, int64_t n, nino_dtype type)
{
    float line[512]; // room for any of the types
    for (int64_t i = 0; i < n; i += 512) {
        const size_t k = n - i < 512 ? (size_t) (n - i) : 512;
        nino_from_f32(line, type, v + i, k);
        nino_to_f32(v + i, line, type, k);
    }
}

nino_status nino_weight_read_part(const nino_weight *w, int64_t first, int64_t rows, float *dst,
                                  nino_error *err)
{
    const int64_t taps = nino_weight_taps(w), row = w->c * taps;
    nino_status st = NINO_OK;
    if (w->data)
        return read_array(w, first, rows, taps, dst, err);
    if (w->place)
        return read_places(w, first, rows, dst, err);
    int64_t begin = 0; // of the range, in rows of the weight
    for (int i = 0; !st && i < w->n_ranges; begin += w->range[i++].rows) {
        const int64_t end = begin + w->range[i].rows;
        const int64_t from = first > begin ? first : begin;
        const int64_t to = first + rows < end ? first + rows : end;
        if (from < to)
            st = weight_read_range(&w->range[i], from - begin, to - from, taps,
                                   dst + (from - first) * row, err);
    }
    if (!st && w->is_rounded)
        round_to(dst, rows * row, w->dtype);
    return st;
}

nino_status nino_weight_read_rows(const nino_weight *w, float *dst, nino_error *err)
{
    return nino_weight_read_part(w, 0, w->n, dst, err);
}

bool nino_weight_is_stored(const nino_weight *w)
{
    if (w->data || w->place || w->is_rounded || nino_weight_taps(w) != 1 ||
        !nino_dtype_size(w->dtype))
        return false;
    for (int i = 0; i < w->n_ranges; i++) {
        const nino_weight_range *r = &w->range[i];
        const uint64_t row = r->info->bytes / (uint64_t) r->info->dim[0];
        if (r->info->dtype != w->dtype || nino_factors_any(&r->scale) ||
            !nino_weights_is_stored(r->file, r->info) ||
            (uint64_t) r->cols * nino_dtype_size(w->dtype) != row)
            return false;
    }
    return true;
}

nino_status nino_weight_read_stored(const nino_weight *w, int64_t first, int64_t rows, void *dst,
                                    nino_error *err)
{
    const uint64_t row = (uint64_t) w->c * nino_dtype_size(w->dtype);
    nino_status st = NINO_OK;
    int64_t begin = 0; // of the range, in rows of the weight
    for (int i = 0; !st && i < w->n_ranges; begin += w->range[i++].rows) {
        const nino_weight_range *r = &w->range[i];
        const int64_t from = first > begin ? first : begin;
        const int64_t to = first + rows < begin + r->rows ? first + rows : begin + r->rows;
        if (from < to)
            st = nino_weights_read_bytes(
                r->file, r->info, (uint64_t) (r->row0 + from - begin) * row,
                (uint64_t) (to - from) * row, (char *) dst + (uint64_t) (from - first) * row, err);
    }
    return st;
}

// ---- the small structs -----------------------------------------------------------------------

static nino_status get_bias(nino_weights *f, const char *prefix, const char *name, int64_t n,
                            nino_weight **out, nino_error *err)
{
    char full[MAX_NAME];
    snprintf(full, sizeof(full), "%s.bias", name);
    return nino_weight_get(f, prefix, full, NINO_W_VECTOR, n, -1, false, out, err);
}

nino_status nino_linear_get(nino_weights *f, const char *prefix, const char *name, int64_t cin,
                            nino_linear *out, nino_error *err)
{
    const nino_weight_part whole = { .name = name };
    return nino_linear_get_parts(f, prefix, &whole, 1, cin, out, err);
}

// The parts of a weight with `suffix` after their names, and without the columns for a bias.
static nino_status get_named(nino_weights *f, const char *prefix, const nino_weight_part *parts,
                             int n_parts, const char *suffix, nino_weight_role role, int64_t n,
                             int64_t c, nino_weight **out, nino_error *err)
{
    char name[MAX_PARTS][MAX_NAME];
    nino_weight_part p[MAX_PARTS];
    bool is_required = role != NINO_W_VECTOR; // a bias is optional, but for all parts or none
    assert(n_parts >= 1 && n_parts <= MAX_PARTS);
    for (int i = 0; i < n_parts; i++) {
        snprintf(name[i], sizeof(name[i]), "%s%s", parts[i].name, suffix);
        p[i] = parts[i];
        p[i].name = name[i];
        if (role == NINO_W_VECTOR) {
            p[i].col0 = p[i].cols = 0;
            is_required |= has_tensor(f, prefix, name[i]);
        }
    }
    return nino_weight_get_parts(f, prefix, p, n_parts, role, n, c, is_required, out, err);
}

nino_status nino_linear_get_parts(nino_weights *f, const char *prefix,
                                  const nino_weight_part *parts, int n_parts, int64_t cin,
                                  nino_linear *out, nino_error *err)
{
    nino_linear l = { 0 };
    nino_status st =
        get_named(f, prefix, parts, n_parts, ".weight", NINO_W_MATRIX, -1, cin, &l.w, err);
    if (!st)
        st = get_named(f, prefix, parts, n_parts, ".bias", NINO_W_VECTOR, l.w->n, -1, &l.b, err);
    if (st)
        nino_linear_release(&l);
    else
        *out = l;
    return st;
}

nino_status nino_conv_get(nino_weights *f, const char *prefix, const char *name, int64_t cin,
                          nino_conv *out, nino_error *err)
{
    char full[MAX_NAME], path[MAX_NAME];
    nino_conv c = { 0 };
    snprintf(full, sizeof(full), "%s.weight", name);
    snprintf(path, sizeof(path), "%s%s", prefix ? prefix : "", full);
    const nino_tensor_info *t = nino_weights_find(f, path);
    nino_weight_role role = NINO_W_MATRIX;
    if (t && t->rank == 4 && t->dim[2] == 3)
        role = NINO_W_CONV3;
    else if (t && t->rank == 5 && t->dim[2] == 3)
        role = t->dim[3] == 3 ? NINO_W_CONV3D : NINO_W_CONV_T;
    nino_status st = nino_weight_get(f, prefix, full, role, -1, cin, true, &c.w, err);
    if (!st)
        st = get_bias(f, prefix, name, c.w->n, &c.b, err);
    if (st)
        nino_conv_release(&c);
    else
        *out = c;
    return st;
}

nino_status nino_norm_get(nino_weights *f, const char *prefix, const char *name, int groups,
                          float eps, nino_norm *out, nino_error *err)
{
    char full[MAX_NAME];
    nino_norm n = { .groups = groups, .eps = eps };
    snprintf(full, sizeof(full), "%s.weight", name);
    nino_status st = nino_weight_get(f, prefix, full, NINO_W_VECTOR, -1, -1, true, &n.gamma, err);
    snprintf(full, sizeof(full), "%s.bias", name);
    if (!st)
        st = nino_weight_get(f, prefix, full, NINO_W_VECTOR, n.gamma->n, -1, true, &n.beta, err);
    if (!st && (groups < 1 || n.gamma->n % groups))
        st = fail_model(f, n.gamma->info->name, err, NINO_ERR_FORMAT,
                        "its channels do not divide into the groups");
    if (st)
        nino_norm_release(&n);
    else
        *out = n;
    return st;
}

void nino_linear_release(nino_linear *l)
{
    nino_weight_destroy(&l->w);
    nino_weight_destroy(&l->b);
}
void nino_conv_release(nino_conv *c)
{
    nino_weight_destroy(&c->w);
    nino_weight_destroy(&c->b);
}
void nino_norm_release(nino_norm *n)
{
    nino_weight_destroy(&n->gamma);
    nino_weight_destroy(&n->beta);
}
