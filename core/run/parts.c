// Files of the parts of a shared run: safetensors with a tensor for each array of a value, called
// SLOT.FIELD.NODE, and in the metadata which items of the whole they are.
#include "core/run/parts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/file/safetensors.h"
#include <ninodes/job.h>

#define MAX_SHARDS 4096
#define MAX_NAME 1200 // a node's id is NINO_GRAPH_MAX_NAME at most

typedef struct part_entry {
    char *node;
    nino_value *out[NINO_MAX_GIVEN];
    nino_share share;
} part_entry;

struct nino_parts {
    part_entry *e;
    int n;
};

nino_parts *nino_parts_create(void) { return calloc(1, sizeof(nino_parts)); }

void nino_parts_destroy(nino_parts **pp)
{
    nino_parts *p = pp ? *pp : NULL;
    if (!p)
        return;
    for (int i = 0; i < p->n; i++) {
        free(p->e[i].node);
        for (int k = 0; k < NINO_MAX_GIVEN; k++)
            nino_value_unref(&p->e[i].out[k]);
    }
    free(p->e);
    free(p);
    *pp = NULL;
}

nino_status nino_parts_add(nino_parts *p, const char *node, nino_value *const *out, int n_out,
                           const nino_share *share, nino_error *err)
{
    part_entry *e = realloc(p->e, (size_t) (p->n + 1) * sizeof(*e));
    if (e)
        p->e = e;
    char *id = e ? strdup(node) : NULL;
    if (!id)
        return nino_fail(err, NINO_ERR_NOMEM, node, "out of memory");
    e[p->n] = (part_entry){ .node = id, .share = *share };
    for (int k = 0; k < n_out && k < NINO_MAX_GIVEN; k++)
        e[p->n].out[k] = nino_value_ref(out[k]);
    p->n++;
    return NINO_OK;
}

// ---- the arrays of a value ---------------------------------------------------------------------

enum { FIELD_SAMPLES, FIELD_NOISE_MASK, FIELD_INDEX, FIELD_IMAGE, FIELD_MASK, FIELDS };
static const char *const field_names[FIELDS] = { "samples", "noise_mask", "index", "image",
                                                 "mask" };
static const nino_port_type field_types[FIELDS] = { NINO_PORT_LATENT, NINO_PORT_LATENT,
                                                    NINO_PORT_LATENT, NINO_PORT_IMAGE,
                                                    NINO_PORT_MASK };

// Whether a tensor of a file can be the field.
static bool is_field(int field, const nino_tensor_info *t)
{
    static const struct {
        int least, most;
    } rank[FIELDS] = { { 4, 5 }, { 3, 5 }, { 1, 1 }, { 4, 4 }, { 3, 3 } };
    bool ok = t->rank >= rank[field].least && t->rank <= rank[field].most && !t->is_strided &&
              t->dtype == (field == FIELD_INDEX ? NINO_I64 : NINO_F32);
    for (int i = 0; i < t->rank && ok; i++)
        ok = t->dim[i] > 0;
    return ok && (field != FIELD_IMAGE || t->dim[3] == 3 || t->dim[3] == 4);
}

// A new reference; NULL: it has none, or (*ok false) no memory.
static nino_array *field_of(const nino_value *v, int field, bool *ok)
{
    nino_array *a = NULL;
    if (!v || v->type != field_types[field])
        return NULL;
    switch (field) {
    case FIELD_SAMPLES: return nino_array_ref(v->u.latent.samples);
    case FIELD_NOISE_MASK: return nino_array_ref(v->u.latent.noise_mask);
    case FIELD_IMAGE: return nino_array_ref(v->u.image);
    case FIELD_MASK: return nino_array_ref(v->u.mask);
    default: break;
    }
    if (!v->u.latent.batch_index)
        return NULL;
    if ((a = nino_array_create(NINO_I64, NINO_SHAPE(v->u.latent.samples->shape.dim[0]))))
        memcpy(a->data, v->u.latent.batch_index, a->bytes);
    *ok = a != NULL;
    return a;
}

// Takes a.
static bool set_field(nino_value *v, int field, nino_array *a)
{
    switch (field) {
    case FIELD_SAMPLES: v->u.latent.samples = a; return true;
    case FIELD_NOISE_MASK: v->u.latent.noise_mask = a; return true;
    case FIELD_IMAGE: v->u.image = a; return true;
    case FIELD_MASK: v->u.mask = a; return true;
    default: break;
    }
    if ((v->u.latent.batch_index = malloc(a->bytes)))
        memcpy(v->u.latent.batch_index, a->data, a->bytes);
    nino_array_unref(&a);
    return v->u.latent.batch_index != NULL;
}

// ---- saving ------------------------------------------------------------------------------------

typedef struct part_writer {
    nino_st_entry *t;
    nino_meta *m;
    char **text; // what t and m point to
    nino_array **array;
    int n_t, n_m, n_text, n_array;
    bool failed;
} part_writer;

__attribute__((format(printf, 2, 3))) static const char *part_text(part_writer *w, const char *fmt,
                                                                   ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    w->failed |= !s;
    if (s)
        w->text[w->n_text++] = s;
    return s ? s : "";
}

static void part_meta(part_writer *w, const char *key, const char *value)
{
    w->m[w->n_m++] = (nino_meta){ key, value, strlen(value) };
}

static void write_entry(part_writer *w, const part_entry *e)
{
    part_meta(w, part_text(w, "share.%s", e->node),
              part_text(w, "%" PRId64 " %" PRId64 " %" PRId64 " %d", e->share.first, e->share.count,
                        e->share.total, e->share.is_one));
    for (int k = 0; k < NINO_MAX_GIVEN; k++)
        for (int f = 0; f < FIELDS; f++) {
            bool ok = true;
            nino_array *a = field_of(e->out[k], f, &ok);
            w->failed |= !ok;
            if (!a)
                continue;
            w->array[w->n_array++] = a;
            w->t[w->n_t++] =
                (nino_st_entry){ part_text(w, "%d.%s.%s", k, field_names[f], e->node), a };
        }
}

static void workflow_text(const char *prompt, char out[40])
{
    const nino_hash h = nino_hash_bytes(prompt, strlen(prompt));
    snprintf(out, 40, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
}

nino_status nino_parts_save(const nino_parts *p, const nino_job_options *o, const char *prompt,
                            const nino_ctx *ctx, char **path, nino_error *err)
{
    const size_t n = (size_t) p->n * FIELDS * NINO_MAX_GIVEN + 8;
    part_writer w = { .t = calloc(n, sizeof(*w.t)),
                      .m = calloc(n, sizeof(*w.m)),
                      .text = calloc(3 * n, sizeof(*w.text)),
                      .array = calloc(n, sizeof(nino_array *)) };
    nino_device_info device;
    char workflow[40], file[64], what[600];
    nino_status st = NINO_ERR_NOMEM;
    w.failed = !w.t || !w.m || !w.text || !w.array;
    nino_ctx_device(ctx, &device);
    workflow_text(prompt, workflow);
    snprintf(file, sizeof(file), "part-%d-of-%d.safetensors", o->shard, o->n_shards);
    snprintf(what, sizeof(what), "%s, %s, ninodes %s", device.name, device.driver, NINO_VERSION);
    if (!w.failed) {
        part_meta(&w, "workflow", workflow);
        part_meta(&w, "device", what);
        for (int i = 0; i < p->n; i++)
            write_entry(&w, &p->e[i]);
    }
    if (w.failed || asprintf(path, "%s/%s", o->parts_dir, file) < 0) {
        *path = NULL;
        nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    } else if (!(st = nino_file_mkdirs(o->parts_dir, false, err))) {
        st = nino_st_save(o->parts_dir, file, true, w.t, w.n_t, w.m, w.n_m, err);
    }
    for (int i = 0; i < w.n_text; i++)
        free(w.text[i]);
    for (int i = 0; i < w.n_array; i++)
        nino_array_unref(&w.array[i]);
    free(w.t);
    free(w.m);
    free(w.text);
    free(w.array);
    return st;
}

// ---- joining -----------------------------------------------------------------------------------

typedef struct part_files {
    nino_weights *w[MAX_SHARDS];
    int n;
} part_files;

// How many parts there are, from the name of any; 0: there is none.
static int count_parts(const char *dir)
{
    DIR *d = opendir(dir);
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        int i = 0, n = 0, end = 0;
        if (sscanf(e->d_name, "part-%d-of-%d.safetensors%n", &i, &n, &end) == 2 && end &&
            !e->d_name[end] && i > 0 && i <= n && n <= MAX_SHARDS)
            found = n;
    }
    if (d)
        closedir(d);
    return found;
}

static nino_status open_parts(const char *dir, const char *prompt, part_files *p,
                              const nino_log *log, nino_error *err)
{
    char path[4200], workflow[40];
    workflow_text(prompt, workflow);
    if (!(p->n = count_parts(dir)))
        return nino_fail(err, NINO_ERR_MISSING, dir, "there is no part of a run");
    for (int i = 0; i < p->n; i++) {
        snprintf(path, sizeof(path), "%.4000s/part-%d-of-%d.safetensors", dir, i + 1, p->n);
        if (!(p->w[i] = nino_weights_open(path, err)))
            return err && err->code ? err->code : NINO_ERR_MISSING;
        const char *of = nino_weights_meta(p->w[i], "workflow");
        const char *on = nino_weights_meta(p->w[i], "device");
        const char *first = nino_weights_meta(p->w[0], "device");
        if (!of || strcmp(of, workflow))
            return nino_fail(err, NINO_ERR_FORMAT, path,
                             "it is part of another workflow, or of other settings of this one");
        if (on && first && strcmp(on, first))
            nino_logf(log, NINO_LOG_WARN,
                      "%s was computed on %.200s, the first part on %.200s: the result may differ "
                      "in the last bits from that of a single run",
                      path, on, first);
    }
    return NINO_OK;
}

static bool read_share(const nino_weights *w, const char *node, nino_share *out)
{
    char key[MAX_NAME];
    int is_one = 0;
    snprintf(key, sizeof(key), "share.%s", node);
    const char *text = nino_weights_meta(w, key);
    *out = (nino_share){ 0 };
    if (!text || sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %d", &out->first, &out->count,
                        &out->total, &is_one) != 4)
        return false;
    return out->is_one = is_one, out->is_split = true;
}

static nino_status damaged(const nino_weights *w, const char *node, nino_error *err)
{
    return nino_fail(err, NINO_ERR_FORMAT, nino_weights_path(w),
                     "the parts of node %.100s do not go together", node);
}

// One array, from all parts that have a piece of it; NULL in *out: it has none.
static nino_status join_field(const part_files *p, const char *node, int slot, int field,
                              nino_array **out, nino_error *err)
{
    char name[MAX_NAME];
    nino_share s;
    int64_t at = 0, total = 0;
    nino_array *a = NULL;
    nino_status st = NINO_OK;
    snprintf(name, sizeof(name), "%d.%s.%s", slot, field_names[field], node);
    for (int i = 0; i < p->n && !st; i++) {
        const nino_tensor_info *t = nino_weights_find(p->w[i], name);
        if (!read_share(p->w[i], node, &s) || (!t && !a))
            continue;
        if (!t || !is_field(field, t) || (!s.is_one && (t->dim[0] != s.count || s.first != at)) ||
            (s.is_one && a)) {
            st = damaged(p->w[i], node, err);
            break;
        }
        if (!a) {
            nino_shape shape = { .rank = t->rank };
            memcpy(shape.dim, t->dim, (size_t) t->rank * sizeof(t->dim[0]));
            shape.dim[0] = total = s.is_one ? t->dim[0] : s.total;
            if (shape.dim[0] < t->dim[0])
                st = damaged(p->w[i], node, err);
            else if (!(a = nino_array_create(t->dtype, shape)))
                st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        }
        const size_t item = a && total ? a->bytes / (size_t) total : 0;
        if (!st && (at + t->dim[0] > total || t->bytes != item * (size_t) t->dim[0]))
            st = damaged(p->w[i], node, err);
        if (!st)
            st = nino_weights_read(p->w[i], t, (char *) a->data + (size_t) at * item, err);
        at += t->dim[0];
    }
    if (!st && a && at != total)
        st = damaged(p->w[0], node, err);
    if (st)
        nino_array_unref(&a);
    *out = a;
    return st;
}

static nino_status join_slot(const part_files *p, nino_gnode *n, int slot, nino_error *err)
{
    for (int f = 0; f < FIELDS; f++) {
        nino_array *a = NULL;
        const nino_status st = join_field(p, n->id, slot, f, &a, err);
        if (st)
            return st;
        if (!a)
            continue;
        if (!n->given[slot])
            n->given[slot] = nino_value_create(field_types[f]);
        nino_value *v = n->given[slot];
        if (!v || v->type != field_types[f] ||
            (v->type == NINO_PORT_LATENT && f != FIELD_SAMPLES &&
             (!v->u.latent.samples || v->u.latent.samples->shape.dim[0] != a->shape.dim[0]))) {
            nino_array_unref(&a);
            return damaged(p->w[0], n->id, err);
        }
        if (!set_field(v, f, a))
            return nino_fail(err, NINO_ERR_NOMEM, n->id, "out of memory");
    }
    return NINO_OK;
}

static nino_status join_node(const part_files *p, nino_gnode *n, nino_error *err)
{
    nino_share s;
    bool is_there = false;
    for (int i = 0; i < p->n && !is_there; i++)
        is_there = read_share(p->w[i], n->id, &s);
    if (!is_there)
        return NINO_OK;
    nino_status st = NINO_OK;
    for (int k = 0; k < NINO_MAX_GIVEN && !st; k++)
        st = join_slot(p, n, k, err);
    return st || n->given[0] ? st : damaged(p->w[0], n->id, err);
}

nino_status nino_parts_give(const char *dir, nino_graph *g, const char *prompt, const nino_log *log,
                            nino_error *err)
{
    part_files *p = calloc(1, sizeof(*p));
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, dir, "out of memory");
    nino_status st = open_parts(dir, prompt, p, log, err);
    for (int i = 0; i < g->n_nodes && !st; i++)
        if (g->nodes[i].def)
            st = join_node(p, &g->nodes[i], err);
    for (int i = 0; i < p->n; i++)
        nino_weights_unref(&p->w[i]);
    free(p);
    return st;
}
