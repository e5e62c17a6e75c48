// Weights: looking tensors up by name, checking their shapes, reading their values.
#include "core/op/backend.h"

#include "core/base/error.h"
#include "core/base/size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 512

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
    case NINO_F8_E5M2: return true;
    default: return false;
    }
}

static const char *const role_names[] = { "[N,C] or [N,C,1,1]", "[N,C,3,3]", "[N]" };

// Rows and columns if the dimensions fit the role.
static bool fits_role(nino_weight_role role, int rank, const int64_t *dim, int64_t *n, int64_t *c)
{
    *n = rank > 0 ? dim[0] : 0;
    *c = rank > 1 ? dim[1] : 1;
    const int64_t kh = rank > 2 ? dim[2] : 1, kw = rank > 3 ? dim[3] : 1;
    if (*n < 1 || *c < 1 || rank > 4)
        return false;
    switch (role) {
    case NINO_W_MATRIX: return rank >= 2 && kh == 1 && kw == 1;
    case NINO_W_CONV3: return rank == 4 && kh == 3 && kw == 3;
    default: return rank == 1;
    }
}

static nino_status check_shape(nino_weights *file, const nino_tensor_info *t, nino_weight_role role,
                               int64_t n, int64_t c, int64_t *rows, int64_t *cols, nino_error *err)
{
    char text[160], dims[96] = "";
    for (int i = 0; i < t->rank; i++) {
        const size_t len = strlen(dims);
        snprintf(dims + len, sizeof(dims) - len, "%s%lld", i ? "," : "", (long long) t->dim[i]);
    }
    if (!is_readable(t->dtype)) {
        snprintf(text, sizeof(text), "element type %s cannot be used as a weight",
                 nino_dtype_name(t->dtype));
        return fail_model(file, t->name, err, NINO_ERR_UNSUPPORTED, text);
    }
    if (!fits_role(role, t->rank, t->dim, rows, cols)) {
        snprintf(text, sizeof(text), "shape [%s] is not %s", dims, role_names[role]);
        return fail_model(file, t->name, err, NINO_ERR_FORMAT, text);
    }
    if ((n >= 0 && *rows != n) || (c >= 0 && *cols != c)) {
        snprintf(text, sizeof(text), "shape [%s] where [%lld%s%lld%s] is needed", dims,
                 (long long) (n >= 0 ? n : *rows), role == NINO_W_VECTOR ? "" : ",",
                 (long long) (c >= 0 ? c : *cols), role == NINO_W_CONV3 ? ",3,3" : "");
        return fail_model(file, t->name, err, NINO_ERR_FORMAT, text);
    }
    return NINO_OK;
}

nino_status nino_weight_get(nino_weights *file, const char *prefix, const char *name,
                            nino_weight_role role, int64_t n, int64_t c, bool required,
                            nino_weight **out, nino_error *err)
{
    char full[MAX_NAME];
    int64_t rows, cols;
    const int len = snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", name);
    const nino_tensor_info *t = len < (int) sizeof(full) ? nino_weights_find(file, full) : NULL;
    *out = NULL;
    if (!t)
        return required
                   ? fail_model(file, full, err, NINO_ERR_FORMAT, "the file has no such tensor")
                   : NINO_OK;
    nino_status st =
        check_shape(file, t, role, n, role == NINO_W_VECTOR ? -1 : c, &rows, &cols, err);
    if (st)
        return st;
    nino_weight *w = calloc(1, sizeof(*w));
    if (!w)
        return nino_fail(err, NINO_ERR_NOMEM, full, "no memory");
    *w = (nino_weight){ .file = nino_weights_ref(file),
                        .info = t,
                        .role = role,
                        .n = rows,
                        .c = cols,
                        .dtype = t->dtype };
    *out = w;
    return NINO_OK;
}

nino_weight *nino_weight_from_array(nino_array *a, nino_weight_role role)
{
    int64_t n, c;
    nino_weight *w = NULL;
    if (is_readable(a->dtype) && fits_role(role, a->shape.rank, a->shape.dim, &n, &c) &&
        (w = calloc(1, sizeof(*w))))
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
    nino_weights_unref(&w->file);
    nino_array_unref(&w->data);
    free(w);
    *pw = NULL;
}

nino_status nino_weight_read_rows(const nino_weight *w, float *dst, nino_error *err)
{
    const int64_t taps = w->role == NINO_W_CONV3 ? 9 : 1;
    const size_t count = (size_t) (w->n * w->c * taps);
    const char *name = w->info ? w->info->name : "weight";
    void *raw = NULL;
    float *flat = taps > 1 ? malloc((size_t) (w->c * taps) * sizeof(float)) : NULL;
    nino_status st = NINO_OK;
    if (taps > 1 && !flat) {
        st = nino_fail(err, NINO_ERR_NOMEM, name, "no memory to read it");
        goto end;
    }
    if (w->info) {
        raw = malloc((size_t) w->info->bytes);
        if (!raw) {
            st = nino_fail(err, NINO_ERR_NOMEM, name, "no memory to read it");
            goto end;
        }
        st = nino_weights_read(w->file, w->info, raw, err);
        if (st)
            goto end;
    }
    const char *src = raw ? raw : w->data->data;
    if (taps == 1) {
        nino_to_f32(dst, src, w->dtype, count);
        goto end;
    }
    const size_t row = (size_t) (w->c * taps), row_bytes = row * nino_dtype_size(w->dtype);
    for (int64_t n = 0; n < w->n; n++, dst += row) { // [c][tap] -> [tap][c]
        nino_to_f32(flat, src + (size_t) n * row_bytes, w->dtype, row);
        for (int64_t c = 0; c < w->c; c++)
            for (int64_t t = 0; t < taps; t++)
                dst[t * w->c + c] = flat[c * taps + t];
    }
end:
    free(raw);
    free(flat);
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
    char full[MAX_NAME];
    nino_linear l = { 0 };
    snprintf(full, sizeof(full), "%s.weight", name);
    nino_status st = nino_weight_get(f, prefix, full, NINO_W_MATRIX, -1, cin, true, &l.w, err);
    if (!st)
        st = get_bias(f, prefix, name, l.w->n, &l.b, err);
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
    const bool is_3x3 = t && t->rank == 4 && t->dim[2] == 3;
    nino_status st = nino_weight_get(f, prefix, full, is_3x3 ? NINO_W_CONV3 : NINO_W_MATRIX, -1,
                                     cin, true, &c.w, err);
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
