// Factors of scaled weights: 8-bit floats and integers. Names: ComfyUI's older checkpoints
// (scale_weight) and comfy/quant_ops.py of newer ones (weight_scale, comfy_quant, and utils.py,
// convert_old_quants(): _quantization_metadata).
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/file/weights_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_QUANT = 4096 }; // bytes of a comfy_quant tensor
static const char quants_key[] = "_quantization_metadata";

typedef struct place {
    const nino_weights *w;
    const nino_tensor_info *t;
    char name[1100]; // of a tensor beside t
} place;

static nino_status fail_here(const place *p, nino_status st, const char *what, nino_error *err)
{
    char where[192];
    return nino_fail_kind(
        err, st, "model",
        nino_tensor_where(where, nino_weights_path(p->w), p->name, strlen(p->name)), "%s", what);
}

// X.what beside X.weight, NULL: there is none.
static const nino_tensor_info *beside(place *p, const char *what)
{
    const size_t len = strlen(p->t->name);
    if (len < 7 || len > 1024 || strcmp(p->t->name + len - 7, ".weight") != 0)
        return NULL;
    snprintf(p->name, sizeof(p->name), "%.*s%s", (int) len - 6, p->t->name, what);
    return nino_weights_find(p->w, p->name);
}

static bool is_weights_scale_text(const nino_json *v, const char *text)
{
    return v->type == NINO_JSON_STRING && !strcmp(v->text, text);
}

static nino_status check_format(const place *p, const nino_json *root, nino_error *err)
{
    const nino_json *format = nino_json_get(root, "format");
    const nino_json *turned = nino_json_get(root, "convrot");
    const bool is_known = !format || is_weights_scale_text(format, "int8_tensorwise") ||
                          is_weights_scale_text(format, "float8_e4m3fn") ||
                          is_weights_scale_text(format, "float8_e5m2");
    char text[128];
    snprintf(text, sizeof(text), "the weight is stored as %.60s, which cannot be read",
             format && format->type == NINO_JSON_STRING ? format->text : "something unnamed");
    if (!is_known)
        return fail_here(p, NINO_ERR_UNSUPPORTED, text, err);
    if (turned && turned->boolean)
        return fail_here(p, NINO_ERR_UNSUPPORTED,
                         "the weight is stored rotated (convrot), which cannot be read", err);
    return NINO_OK;
}

nino_status nino_weights_read_quants(nino_weights *w, nino_error *err)
{
    char where[192];
    const char *text = nino_weights_meta(w, quants_key);
    if (!text)
        return NINO_OK;
    nino_tensor_where(where, w->path, quants_key, sizeof(quants_key) - 1);
    return nino_json_parse(text, strlen(text), where, NULL, &w->quants, err);
}

// What the file's metadata say about X.weight: {"layers": {"X": ...}}.
static nino_status check_metadata(place *p, nino_error *err)
{
    const nino_json_doc *doc = nino_weights_base((nino_weights *) p->w)->quants;
    const nino_json *layers = doc ? nino_json_get(doc->root, "layers") : NULL;
    const size_t len = strlen(p->t->name);
    if (!layers || len < 7 || len > 1024 || strcmp(p->t->name + len - 7, ".weight") != 0)
        return NINO_OK;
    snprintf(p->name, sizeof(p->name), "%.*s", (int) len - 7, p->t->name);
    const nino_json *layer = nino_json_get(layers, p->name);
    return layer ? check_format(p, layer, err) : NINO_OK;
}

// What X.comfy_quant, the bytes of a JSON object, says about X.weight.
static nino_status check_quant(place *p, nino_error *err)
{
    const nino_tensor_info *q = beside(p, "comfy_quant");
    nino_json_doc *doc = NULL;
    char *text;
    if (!q)
        return check_metadata(p, err);
    if (q->dtype != NINO_U8 || q->bytes > MOST_QUANT)
        return fail_here(p, NINO_ERR_FORMAT, "it is not a short text", err);
    if (!(text = malloc((size_t) q->bytes + 1)))
        return nino_fail(err, NINO_ERR_NOMEM, p->name, "out of memory");
    nino_status st = nino_weights_read(p->w, q, text, err);
    if (!st)
        st = nino_json_parse(text, (size_t) q->bytes, p->name, NULL, &doc, err);
    if (!st)
        st = check_format(p, doc->root, err);
    nino_json_doc_destroy(&doc);
    free(text);
    return st;
}

// One positive number, or as many numbers as the weight has rows.
static nino_status read_factors(const place *p, const nino_tensor_info *f, nino_factors *out,
                                nino_error *err)
{
    const int64_t n = nino_tensor_info_count(f);
    if (n > 1 && p->t->rank > 1 && n == p->t->dim[0] && f->dim[0] == n) {
        out->rows = f;
        return NINO_OK;
    }
    nino_array *a = n == 1 ? nino_weights_read_f32(p->w, f, err) : NULL;
    if (n == 1 && !a)
        return err ? err->code : NINO_ERR_IO;
    out->all = a ? nino_array_f32(a)[0] : 0;
    nino_array_unref(&a);
    if (isfinite(out->all) && out->all > 0)
        return NINO_OK;
    return fail_here(p, NINO_ERR_FORMAT,
                     p->t->rank > 1 ? "the scale is not one positive number, nor one a row"
                                    : "the scale is not one positive number",
                     err);
}

nino_status nino_weights_scale(const nino_weights *w, const nino_tensor_info *t, nino_factors *out,
                               nino_error *err)
{
    static const char *const names[] = { "scale_weight", "weight_scale" };
    const bool is_float = t->dtype == NINO_F8_E4M3 || t->dtype == NINO_F8_E5M2;
    place p = { .w = w, .t = t };
    *out = (nino_factors){ .all = 1 };
    if (!is_float && t->dtype != NINO_I8 && t->dtype != NINO_U8)
        return NINO_OK;
    const nino_status st = check_quant(&p, err);
    if (st || t->dtype == NINO_U8) // which holds 4-bit numbers: no format that is known
        return st;
    for (int i = 0; i < 2; i++) {
        const nino_tensor_info *f = beside(&p, names[i]);
        if (f)
            return read_factors(&p, f, out, err);
    }
    if (is_float)
        return NINO_OK;
    snprintf(p.name, sizeof(p.name), "%.1024s", t->name);
    return fail_here(&p, NINO_ERR_UNSUPPORTED, "8-bit integers without a weight_scale beside them",
                     err);
}

nino_status nino_factors_apply(const nino_weights *w, const nino_factors *f, int64_t first,
                               int64_t n, int64_t width, float *values, nino_error *err)
{
    enum { STEP = 256 };
    float factor[STEP];
    nino_status st = NINO_OK;
    if (!nino_factors_any(f))
        return NINO_OK;
    for (int64_t i = 0; i < n && !st; i += STEP) {
        const int64_t k = n - i < STEP ? n - i : STEP;
        if (f->rows)
            st = nino_weights_read_rows_f32(w, f->rows, first + i, k, factor, err);
        for (int64_t r = 0; r < k && !st; r++) {
            const float by = f->rows ? factor[r] : f->all;
            for (int64_t c = 0; c < width; c++)
                *values++ *= by;
        }
    }
    return st;
}
