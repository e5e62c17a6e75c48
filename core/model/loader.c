// Reading the layers of a network by name.
#include "core/model/loader.h"

#include "core/base/error.h"
#include "core/base/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_COUNT 1000 // blocks of one kind

nino_name nino_name_of(const char *fmt, ...)
{
    nino_name n;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(n.s, sizeof(n.s), fmt, ap);
    va_end(ap);
    return n;
}

bool nino_load_has(const nino_loader *l, const char *fmt, ...)
{
    nino_name n;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(n.s, sizeof(n.s), fmt, ap);
    va_end(ap);
    return nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, n.s).s) != NULL;
}

static const char *load_where(const nino_loader *l)
{
    const char *path = nino_weights_path(l->file), *slash = strrchr(path, '/');
    return l->where ? l->where : slash ? slash + 1 : path;
}

void nino_load_fail(nino_loader *l, nino_status st, const char *fmt, ...)
{
    char msg[256];
    va_list ap;
    if (l->st)
        return;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    l->st = nino_fail_kind(l->err, st, "model", load_where(l), "%s", msg);
}

static void fail_memory(nino_loader *l)
{
    if (!l->st)
        l->st = nino_fail(l->err, NINO_ERR_NOMEM, load_where(l), "no memory for its layers");
}

// ---- what is read belongs to the network -----------------------------------------------------
void *nino_load_alloc(nino_loader *l, size_t n, size_t size)
{
    void *p = l->st ? NULL : nino_layers_alloc(l->layers, n, size);
    if (!p)
        fail_memory(l);
    return p;
}

static void loader_keep(nino_loader *l, nino_weight **w)
{
    if (!nino_layers_keep(l->layers, w))
        fail_memory(l);
}

static void keep_rounded(nino_loader *l, nino_weight **w)
{
    loader_keep(l, w);
    if (!l->st && *w && l->type != NINO_F32)
        nino_weight_round_to(*w, l->type);
}

void nino_load_part(nino_loader *l, nino_weight_part part, int64_t cin, nino_linear *out)
{
    if (l->st)
        return;
    l->st = nino_linear_get_parts(l->file, l->prefix, &part, 1, cin, out, l->err);
    keep_rounded(l, &out->w);
    keep_rounded(l, &out->b);
}

void nino_load_linear(nino_loader *l, const char *name, int64_t cin, nino_linear *out)
{
    nino_load_part(l, (nino_weight_part){ .name = name }, cin, out);
}

void nino_load_patch(nino_loader *l, const char *name, nino_linear *out)
{
    if (l->st)
        return;
    l->st = nino_weight_get(l->file, l->prefix, nino_name_of("%s.weight", name).s, NINO_W_PATCH, -1,
                            -1, true, &out->w, l->err);
    if (!l->st)
        l->st = nino_weight_get(l->file, l->prefix, nino_name_of("%s.bias", name).s, NINO_W_VECTOR,
                                out->w->n, -1, false, &out->b, l->err);
    loader_keep(l, &out->w);
    loader_keep(l, &out->b);
}

void nino_load_conv(nino_loader *l, const char *name, int64_t cin, nino_conv *out)
{
    if (l->st)
        return;
    l->st = nino_conv_get(l->file, l->prefix, name, cin, out, l->err);
    keep_rounded(l, &out->w);
    keep_rounded(l, &out->b);
}

void nino_load_norm(nino_loader *l, const char *name, int64_t c, int groups, float eps,
                    nino_norm *out)
{
    if (l->st)
        return;
    l->st = nino_norm_get(l->file, l->prefix, name, groups, eps, out, l->err);
    keep_rounded(l, &out->gamma);
    keep_rounded(l, &out->beta);
    if (!l->st && out->gamma->n != c)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s has %lld channels where %lld are needed",
                       l->prefix, name, (long long) out->gamma->n, (long long) c);
}

void nino_load_vector(nino_loader *l, const char *name, int64_t n, nino_weight **out)
{
    nino_load_weight(l, (nino_weight_part){ .name = name }, NINO_W_VECTOR, n, -1, true, out);
}

void nino_load_weight(nino_loader *l, nino_weight_part part, nino_weight_role role, int64_t n,
                      int64_t c, bool required, nino_weight **out)
{
    if (l->st)
        return;
    l->st = nino_weight_get_parts(l->file, l->prefix, &part, 1, role, n, c, required, out, l->err);
    keep_rounded(l, out);
}

void nino_load_made(nino_loader *l, nino_array *a, nino_weight_role role, nino_weight **out)
{
    if (l->st)
        return;
    if (!a || !(*out = nino_weight_from_array(a, role)))
        fail_memory(l);
    loader_keep(l, out);
}

nino_array *nino_load_values(nino_loader *l, const nino_tensor_info *t)
{
    nino_array *a = l->st ? NULL : nino_weights_read_f32(l->file, t, l->err);
    if (!a && !l->st)
        l->st = l->err && l->err->code ? l->err->code : NINO_ERR_IO;
    return a;
}

void nino_load_table(nino_loader *l, const nino_tensor_info *t, nino_array **out)
{
    *out = nino_load_values(l, t);
    if (!nino_layers_keep_array(l->layers, out))
        fail_memory(l);
}

int64_t nino_load_rows(const nino_loader *l, const nino_weight *w) { return l->st ? 0 : w->n; }

void nino_load_expect(nino_loader *l, const char *name, const nino_linear *w, int64_t n)
{
    if (!l->st && w->w->n != n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       l->prefix, name, (long long) w->w->n, (long long) n);
}

int nino_load_heads(nino_loader *l, int64_t width, int usual)
{
    const char *text = nino_weights_meta(l->file, NINO_META_HEAD_CHANNELS);
    int64_t channels = 0;
    if (text && (!nino_parse_i64(text, &channels) || channels < 1 || width % channels))
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "head_channels in its metadata, %.32s, does not divide a width of %lld",
                       text, (long long) width);
    else if (!text && (usual < 1 || width % usual))
        nino_load_fail(l, NINO_ERR_FORMAT, "a width of %lld does not divide into %d heads",
                       (long long) width, usual);
    return l->st ? 1 : text ? (int) (width / channels) : usual;
}

int nino_load_count(const nino_loader *l, const char *stem)
{
    const nino_name full = nino_name_of("%s%s", l->prefix, stem);
    const size_t n = strlen(full.s);
    int count = 0;
    for (int i = 0; i < nino_weights_count(l->file); i++) {
        const char *p = nino_weights_at(l->file, i)->name;
        int number = 0;
        if (strncmp(p, full.s, n) || p[n] < '0' || p[n] > '9')
            continue;
        for (p += n; *p >= '0' && *p <= '9' && number < MAX_COUNT; p++)
            number = 10 * number + *p - '0';
        if (*p == '.' && number >= count)
            count = number < MAX_COUNT ? number + 1 : MAX_COUNT;
    }
    return count;
}

int64_t nino_load_head(nino_loader *l, const char *norm, int64_t width)
{
    const nino_tensor_info *t = nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, norm).s);
    const int64_t depth = t && t->rank == 1 ? t->dim[0] : 0;
    if (!t || t->rank != 1)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s is missing", l->prefix, norm);
    else if (depth < 1 || depth % 32 || width % depth || width > INT32_MAX)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "heads of %lld channels in %lld are not known; a head has a multiple of 32",
                       (long long) depth, (long long) width);
    return depth;
}
