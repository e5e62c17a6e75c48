// Captures read back: which there are, and how the tensors of two differ.
#include "core/run/capture_read.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "core/file/weights.h"
#include "core/tensor/difference.h"

enum { MAX_JSON = 64 << 20, MAX_DEPTH = 3 };

static void file_release(capture_file *f)
{
    nino_json_doc_destroy(&f->doc);
    free(f->path);
}

void nino_capture_list_release(capture_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        file_release(&l->file[i]);
    free(l->file);
    *l = (capture_list){ 0 };
}

// "vae_decode_input_1700000000000.json": what it is and when. False: another file.
static bool read_name(capture_file *f)
{
    const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
    const char *end = strrchr(name, '.'), *ms = end;
    char digits[24];
    if (!end || strcmp(end, ".json") != 0)
        return false;
    while (ms > name && isdigit((unsigned char) ms[-1]))
        ms--;
    if (ms == end || ms == name || ms[-1] != '_' || (size_t) (end - ms) >= sizeof(digits))
        return false;
    snprintf(digits, sizeof(digits), "%.*s", (int) (end - ms), ms);
    f->base = name;
    f->base_len = (size_t) (ms - 1 - name);
    f->is_output = f->base_len > 7 && !memcmp(ms - 8, "_output", 7);
    return nino_parse_u64(digits, &f->ms) &&
           (f->is_output || (f->base_len > 6 && !memcmp(ms - 7, "_input", 6)));
}

static const char *text_of(const nino_json *meta, const char *key)
{
    const char *s = nino_json_str(nino_json_get(meta, key));
    return s ? s : "";
}

static nino_status add_file(capture_list *l, const char *path, nino_error *err)
{
    capture_file f = { .path = strdup(path) };
    char *text = NULL;
    size_t len;
    nino_status st = NINO_OK;
    if (!f.path || !read_name(&f))
        goto end;
    if ((st = nino_file_read(path, MAX_JSON, false, &text, &len, err)) ||
        (st = nino_json_parse(text, len, path, NULL, &f.doc, err)))
        goto end;
    const nino_json *meta = nino_json_get(f.doc->root, "metadata");
    f.node_id = text_of(meta, "node_id");
    f.class_type = text_of(meta, "node_type");
    f.device = text_of(meta, "device");
    f.precision = text_of(meta, "precision");
    f.workflow = text_of(meta, "workflow");
    capture_file *more = *f.class_type ? realloc(l->file, (l->n + 1) * sizeof(f)) : NULL;
    if (more) {
        l->file = more;
        l->file[l->n++] = f;
        f = (capture_file){ 0 };
    }
end:
    free(text);
    file_release(&f);
    return st;
}

static nino_status add_folder(capture_list *l, const char *path, int depth, nino_error *err)
{
    nino_status st = NINO_OK;
    DIR *d = opendir(path);
    char sub[4096];
    if (!d)
        return nino_fail(err, NINO_ERR_IO, path, "the folder cannot be read");
    for (struct dirent *e; !st && (e = readdir(d));) {
        struct stat s;
        const int n = snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || n >= (int) sizeof(sub) || stat(sub, &s))
            continue;
        if (S_ISDIR(s.st_mode) && depth < MAX_DEPTH)
            st = add_folder(l, sub, depth + 1, err);
        else if (S_ISREG(s.st_mode))
            st = add_file(l, sub, err);
    }
    closedir(d);
    return st;
}

static int by_time(const void *a, const void *b)
{
    const capture_file *x = a, *y = b;
    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

nino_status nino_capture_read(const char *path, capture_list *out, nino_error *err)
{
    struct stat s;
    *out = (capture_list){ 0 };
    if (stat(path, &s))
        return nino_fail(err, NINO_ERR_MISSING, path, "there is no such file or folder");
    nino_status st = S_ISDIR(s.st_mode) ? add_folder(out, path, 0, err) : add_file(out, path, err);
    if (!st && !out->n)
        st = nino_fail(err, NINO_ERR_MISSING, path,
                       "no node is captured here; ROCM_NINODES_DEBUG=1 ninodes run ... captures");
    if (st)
        nino_capture_list_release(out);
    else
        qsort(out->file, out->n, sizeof(*out->file), by_time);
    return st;
}

const capture_file *nino_capture_partner(const capture_list *l, size_t i)
{
    for (size_t k = i + 1; k < l->n; k++)
        if (!strcmp(l->file[k].node_id, l->file[i].node_id))
            return l->file[k].is_output ? &l->file[k] : NULL; // an input: the run before failed
    return NULL;
}

bool nino_capture_tensors(const capture_file *f, char *out, size_t size)
{
    const int n =
        snprintf(out, size, "%.*s.safetensors", (int) (strlen(f->path) - strlen(".json")), f->path);
    return n > 0 && (size_t) n < size;
}

// ---- tensors ---------------------------------------------------------------------------------

// NULL: it has none, which is no error.
static nino_weights *open_tensors(const capture_file *f, nino_error *err)
{
    char path[4096];
    if (!nino_capture_tensors(f, path, sizeof(path)) || access(path, R_OK))
        return NULL;
    return nino_weights_open(path, err);
}

static void print_shape(char *out, size_t size, const nino_array *a)
{
    nino_shape_print(out, size, &a->shape);
}

// Tensors of a file or of memory.
typedef struct tensor_set {
    nino_weights *file; // may be NULL
    const capture_tensors *held;
} tensor_set;

static int set_count(const tensor_set *s)
{
    return s->held ? s->held->n : s->file ? nino_weights_count(s->file) : 0;
}

static const char *set_name(const tensor_set *s, int i)
{
    return s->held ? s->held->name[i] : nino_weights_at(s->file, i)->name;
}

// As f32, a reference for the caller. NULL: there is none, or *err says why it cannot be read.
static nino_array *set_get(const tensor_set *s, const char *name, nino_error *err)
{
    for (int i = 0; s->held && i < s->held->n; i++)
        if (!strcmp(s->held->name[i], name))
            return s->held->a[i]->dtype == NINO_F32 ? nino_array_ref(s->held->a[i])
                                                    : nino_array_convert(s->held->a[i], NINO_F32);
    const nino_tensor_info *t = s->file ? nino_weights_find(s->file, name) : NULL;
    return t ? nino_weights_read_f32(s->file, t, err) : NULL;
}

static void compare_one(const nino_array *a, const nino_array *b, nino_capture_row *r)
{
    r->nmse = r->most = 0;
    r->psnr = INFINITY;
    r->shape_a[0] = r->shape_b[0] = 0;
    r->verdict = a ? NINO_CAPTURE_ONLY_A : NINO_CAPTURE_ONLY_B;
    if (a)
        print_shape(r->shape_a, sizeof(r->shape_a), a);
    if (b)
        print_shape(r->shape_b, sizeof(r->shape_b), b);
    if (!a || !b)
        return;
    r->verdict = NINO_CAPTURE_SHAPE;
    if (!nino_shape_equal(&a->shape, &b->shape))
        return;
    const nino_difference d = nino_array_difference(a, b);
    r->verdict = d.is_equal ? NINO_CAPTURE_SAME : NINO_CAPTURE_DIFFERS;
    r->nmse = d.nmse;
    r->psnr = d.psnr;
    r->most = d.most;
}

nino_status nino_capture_compare(const capture_file *a, const capture_file *b,
                                 const capture_tensors *held, nino_capture_row_fn row, void *priv,
                                 nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    tensor_set sa = { .file = open_tensors(a, &e) }, sb = { .held = held };
    sb.file = e.code || held ? NULL : open_tensors(b, &e);
    nino_capture_row r = { .node_id = a->node_id,
                           .class_type = a->class_type,
                           .is_output = a->is_output };
    const int n = set_count(&sa), more = set_count(&sb);
    for (int i = 0; i < n + more && !e.code; i++) {
        r.tensor = i < n ? set_name(&sa, i) : set_name(&sb, i - n);
        nino_array *x = set_get(&sa, r.tensor, &e);
        nino_array *y = i >= n && x ? NULL : set_get(&sb, r.tensor, &e);
        if (!e.code && (i < n || !x)) { // those of both were told already
            compare_one(x, y, &r);
            row(priv, &r);
        }
        nino_array_unref(&x);
        nino_array_unref(&y);
    }
    nino_weights_unref(&sa.file);
    nino_weights_unref(&sb.file);
    if (e.code && err)
        *err = e;
    return e.code;
}

// ---- whole captures --------------------------------------------------------------------------

static bool is_same_kind(const capture_file *a, const capture_file *b)
{
    return a->is_output == b->is_output && !strcmp(a->node_id, b->node_id) &&
           a->base_len == b->base_len && !memcmp(a->base, b->base, a->base_len);
}

// The record of b that stands where file i of a does: as many of its kind are before it.
static size_t find_like(const capture_list *a, size_t i, const capture_list *b)
{
    size_t before = 0;
    for (size_t k = 0; k < i; k++)
        before += is_same_kind(&a->file[k], &a->file[i]);
    for (size_t k = 0; k < b->n; k++)
        if (is_same_kind(&b->file[k], &a->file[i]) && !before--)
            return k;
    return b->n;
}

static void tell_missing(const capture_file *f, nino_capture_verdict v, nino_capture_row_fn row,
                         void *priv)
{
    const nino_capture_row r = { .node_id = f->node_id,
                                 .class_type = f->class_type,
                                 .is_output = f->is_output,
                                 .tensor = "",
                                 .verdict = v };
    row(priv, &r);
}

nino_status nino_capture_diff(const char *a, const char *b, nino_capture_row_fn row, void *priv,
                              nino_error *err)
{
    capture_list la = { 0 }, lb = { 0 };
    nino_status st = nino_capture_read(a, &la, err);
    if (!st)
        st = nino_capture_read(b, &lb, err);
    bool *seen = st ? NULL : calloc(lb.n + 1, sizeof(*seen));
    if (!st && !seen)
        st = nino_fail(err, NINO_ERR_NOMEM, b, "out of memory");
    for (size_t i = 0; !st && i < la.n; i++) {
        const size_t k = find_like(&la, i, &lb);
        if (k == lb.n) {
            tell_missing(&la.file[i], NINO_CAPTURE_ONLY_A, row, priv);
            continue;
        }
        seen[k] = true;
        st = nino_capture_compare(&la.file[i], &lb.file[k], NULL, row, priv, err);
    }
    for (size_t k = 0; !st && k < lb.n; k++)
        if (!seen[k])
            tell_missing(&lb.file[k], NINO_CAPTURE_ONLY_B, row, priv);
    free(seen);
    nino_capture_list_release(&la);
    nino_capture_list_release(&lb);
    return st;
}

nino_status nino_capture_list(const char *path,
                              void (*each)(void *priv, const nino_capture_info *info), void *priv,
                              nino_error *err)
{
    capture_list l;
    const nino_status st = nino_capture_read(path, &l, err);
    for (size_t i = 0; !st && i < l.n; i++) {
        const capture_file *f = &l.file[i];
        const nino_capture_info info = { f->path,   f->node_id,   f->class_type,
                                         f->device, f->precision, f->ms };
        if (!f->is_output)
            each(priv, &info);
    }
    nino_capture_list_release(&l);
    return st;
}
