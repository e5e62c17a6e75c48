// What nodes of extensions share.
#include "core/node/ext/ext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/num.h"

void nino_ext_give(nino_run *r, int i, nino_value *v) { r->out[i] = nino_value_ref(v); }

nino_status nino_ext_pass(nino_run *r, nino_error *err)
{
    (void) err;
    for (int i = 0; r->def->outputs[i].key && r->def->inputs[i].key; i++)
        nino_ext_give(r, i, r->in[i]);
    return NINO_OK;
}

nino_status nino_ext_out_buf(nino_run *r, int i, nino_buf *b, nino_error *err)
{
    if (!b->data)
        nino_buf_adds(b, "");
    char *s = b->failed ? NULL : b->data;
    if (b->failed)
        nino_buf_release(b);
    *b = (nino_buf){ 0 };
    return nino_node_out_text(r, i, s, err);
}

nino_status nino_ext_out_copy(nino_run *r, int i, const char *text, nino_error *err)
{
    return nino_node_out_text(r, i, strdup(text), err);
}

nino_status nino_ext_out_seed(nino_run *r, int i, uint64_t seed, const char *key, nino_error *err)
{
    if (seed > INT64_MAX)
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", key,
                              "%" PRIu64 " does not fit an INT on a link", seed);
    return nino_out_int(r, i, (int64_t) seed, err);
}

nino_value *nino_ext_out_bundle(nino_run *r, int i, nino_port_type type, int n, nino_error *err)
{
    r->out[i] = nino_value_create_bundle(type, n);
    if (!r->out[i])
        nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    return r->out[i];
}

bool nino_ext_number(const nino_value *v, double *out)
{
    if (!v || v->is_list)
        return false;
    switch (v->type) {
    case NINO_PORT_INT: *out = (double) v->u.i; return true;
    case NINO_PORT_FLOAT: *out = v->u.f; return true;
    case NINO_PORT_BOOLEAN: *out = v->u.b; return true;
    default: return false;
    }
}

void nino_ext_text(nino_buf *b, const nino_value *v)
{
    char text[96];
    const nino_array *a = v ? nino_ext_array(v) : NULL;
    if (!v) {
        nino_buf_adds(b, "None");
        return;
    }
    switch (v->is_list ? NINO_PORT_NONE : v->type) {
    case NINO_PORT_STRING: nino_buf_adds(b, v->u.string); return;
    case NINO_PORT_INT: nino_buf_addf(b, "%" PRId64, v->u.i); return;
    case NINO_PORT_BOOLEAN: nino_buf_adds(b, v->u.b ? "True" : "False"); return;
    case NINO_PORT_FLOAT:
        nino_print_double(text, sizeof(text), v->u.f);
        nino_buf_addf(b, "%s%s", text, text[strspn(text, "-0123456789")] ? "" : ".0");
        return;
    default: break;
    }
    if (v->is_list || nino_value_is_bundle(v->type)) {
        nino_buf_addc(b, '[');
        for (int i = 0; i < v->n_items; i++) {
            nino_buf_adds(b, i ? ", " : "");
            const bool is_text = v->item[i] && v->item[i]->type == NINO_PORT_STRING;
            nino_buf_adds(b, is_text ? "'" : "");
            nino_ext_text(b, v->item[i]);
            nino_buf_adds(b, is_text ? "'" : "");
        }
        nino_buf_addc(b, ']');
        return;
    }
    nino_buf_adds(b, nino_port_type_name(v->type));
    if (a) {
        nino_shape_print(text, sizeof(text), &a->shape);
        nino_buf_addf(b, " %s", text);
    }
}

// ---- batches ---------------------------------------------------------------------------------

nino_array *nino_ext_array(const nino_value *v)
{
    switch (v && !v->is_list ? v->type : NINO_PORT_NONE) {
    case NINO_PORT_IMAGE: return v->u.image;
    case NINO_PORT_MASK: return v->u.mask;
    case NINO_PORT_LATENT: return v->u.latent.samples;
    default: return NULL;
    }
}

nino_status nino_ext_out_like(nino_run *r, int i, const nino_value *like, nino_array *a,
                              nino_error *err)
{
    if (like->type == NINO_PORT_LATENT)
        return nino_out_latent_like(r, i, &like->u.latent, a, err);
    return like->type == NINO_PORT_MASK ? nino_out_mask(r, i, a, err)
                                        : nino_out_image(r, i, a, err);
}

static nino_array *picked(const nino_array *a, const int64_t *at, int64_t n, const char *what,
                          nino_error *err)
{
    nino_shape s = a->shape;
    const size_t one = (size_t) (nino_shape_count(&s) / (s.dim[0] ? s.dim[0] : 1));
    const int64_t has = s.dim[0];
    s.dim[0] = n;
    nino_array *out = nino_node_array(NINO_F32, s, what, err);
    for (int64_t k = 0; out && k < n; k++)
        memcpy(nino_array_f32(out) + (size_t) k * one,
               nino_array_f32(a) + (size_t) (at[k] < has ? at[k] : has - 1) * one,
               one * sizeof(float));
    return out;
}

nino_status nino_ext_out_picked(nino_run *r, int i, const nino_value *v, const int64_t *at,
                                int64_t n, nino_error *err)
{
    const char *what = r->def->key;
    const nino_latent *l = v->type == NINO_PORT_LATENT ? &v->u.latent : NULL;
    nino_array *a = picked(nino_ext_array(v), at, n, what, err);
    if (!l || !a)
        return nino_ext_out_like(r, i, v, a, err);
    nino_latent out = { .samples = a, .factor = l->factor };
    if (l->noise_mask && !(out.noise_mask = l->noise_mask->shape.dim[0] == 1
                                                ? nino_array_ref(l->noise_mask)
                                                : picked(l->noise_mask, at, n, what, err))) {
        nino_array_unref(&out.samples);
        return NINO_ERR_NOMEM;
    }
    if (l->batch_index && (out.batch_index = calloc((size_t) n + 1, sizeof(int64_t))))
        for (int64_t k = 0; k < n; k++)
            out.batch_index[k] = l->batch_index[at[k]];
    return nino_out_latent(r, i, out, err);
}

nino_array *nino_ext_join(nino_run *r, const nino_array *a, const nino_array *b,
                          nino_scale_method method, nino_error *err)
{
    const nino_picture p = nino_picture_of(a), q = nino_picture_of(b);
    const bool is_image = a->shape.rank == 4;
    nino_array *one = nino_array_ref((nino_array *) a), *two = NULL, *out = NULL;
    if (p.h == q.h && p.w == q.w)
        two = nino_array_ref((nino_array *) b);
    else if (is_image ? nino_rescale(r, b, p.w, p.h, method, true, &two, err)
                      : nino_mask_fit(r, b, p.h, p.w, &two, err))
        goto end;
    if (is_image && p.c != q.c) {
        nino_array **const less = p.c < q.c ? &one : &two;
        nino_array *more = nino_picture_channels(*less, p.c > q.c ? p.c : q.c, r->def->key, err);
        nino_array_unref(less);
        *less = more;
    }
    if (one && two)
        out = nino_picture_join(one, two, 0, r->def->key, err);
end:
    nino_array_unref(&one);
    nino_array_unref(&two);
    return out;
}

// ---- colours ---------------------------------------------------------------------------------

static const struct {
    const char *name;
    uint32_t rgb;
} colors[] = {
    { "black", 0x000000 },  { "white", 0xffffff },  { "red", 0xff0000 },  { "green", 0x00ff00 },
    { "blue", 0x0000ff },   { "yellow", 0xffff00 }, { "cyan", 0x00ffff }, { "magenta", 0xff00ff },
    { "orange", 0xffa500 }, { "purple", 0x800080 }, { "gray", 0x808080 }, { "grey", 0x808080 },
};

static void from_u24(uint32_t v, float rgb[3])
{
    for (int i = 0; i < 3; i++)
        rgb[i] = (float) ((double) (v >> (16 - 8 * i) & 255) / 255);
}

nino_status nino_ext_color(const char *text, const char *key, float rgb[3], nino_error *err)
{
    char *end = NULL;
    const char *s = text + strspn(text, " \t");
    if (*s == '#' && strspn(s + 1, "0123456789abcdefABCDEF") == 6) {
        from_u24((uint32_t) strtoul(s + 1, NULL, 16), rgb);
        return NINO_OK;
    }
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
        if (!strcasecmp(s, colors[i].name)) {
            from_u24(colors[i].rgb, rgb);
            return NINO_OK;
        }
    int n = 0;
    for (; n < 3; n++) {
        const double v = nino_strtod(s, &end);
        if (end == s || !(v >= 0 && v <= 255))
            break;
        rgb[n] = (float) (v / 255);
        s = end + strspn(end, " \t,");
    }
    if (n == 1) // one number: grey
        rgb[1] = rgb[2] = rgb[0];
    if ((n == 1 || n == 3) && !*s)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_FORMAT, "value", key,
                          "'%.40s' is no colour: three numbers from 0 to 255, or #rrggbb", text);
}

nino_array *nino_ext_framed(const nino_array *a, int64_t y, int64_t x, int64_t h, int64_t w,
                            const float rgb[3], const char *what, nino_error *err)
{
    const nino_picture p = nino_picture_of(a);
    nino_array *out = nino_node_array(NINO_F32, nino_picture_shape(a, p.n, h, w), what, err);
    if (!out)
        return NULL;
    for (int64_t i = 0; i < p.n * h * w; i++)
        for (int64_t k = 0; k < p.c; k++)
            nino_array_f32(out)[i * p.c + k] = k < 3 ? rgb[k] : 1.0f;
    nino_picture_paste(out, a, NULL, y, x);
    return out;
}
