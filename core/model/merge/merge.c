// Merging of models: views of the first one's file whose weights are mixed with those of the
// second. Behaviour: ComfyUI nodes_model_merging.py; what only the first has stays as it is.
#include "core/model/merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/merge/lora_patch.h"

// A tensor of the first file and its partner; no partner: it stays.
typedef struct pair {
    const nino_tensor_info *t;
    nino_weights *file; // t's, owned by mix
    nino_factors scale;
    float mine, other;
} pair;

typedef struct mix {
    nino_weights *base, *file[NINO_ENC_COUNT]; // owned references
    int n_files, n_common;
    pair *pair; // by tensor of base
    const nino_merge_part *parts;
    int n_parts;
    nino_hash identity;
} mix;

static pair *pair_of(mix *m, const nino_tensor_info *t)
{
    return &m->pair[t - nino_weights_at(m->base, 0)];
}

static bool merge_covers(void *priv, const char *name)
{
    mix *m = priv;
    const nino_tensor_info *t = nino_weights_find(m->base, name);
    return t && pair_of(m, t)->t;
}

static nino_status merge_apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                               float *values, nino_error *err)
{
    const pair *p = pair_of(priv, t);
    const int64_t n = nino_tensor_info_row(t) * rows;
    float *other = malloc((size_t) n * sizeof(*other) + 1);
    if (!other)
        return nino_fail(err, NINO_ERR_NOMEM, t->name, "out of memory");
    nino_status st = nino_weights_read_rows_f32(p->file, p->t, row0, rows, other, err);
    if (!st)
        st = nino_factors_apply(p->file, &p->scale, row0, rows, n / rows, other, err);
    for (int64_t i = 0; !st && i < n; i++)
        values[i] = p->mine * values[i] + p->other * other[i];
    free(other);
    return st;
}

static void merge_destroy(void *priv)
{
    mix *m = priv;
    for (int i = 0; i < m->n_files; i++)
        nino_weights_unref(&m->file[i]);
    nino_weights_unref(&m->base);
    free(m->pair);
    free(m);
}

static mix *merge_create(nino_weights *base, const nino_merge_part *parts, int n, nino_error *err)
{
    mix *m = calloc(1, sizeof(*m));
    if (m && !(m->pair = calloc((size_t) nino_weights_count(base) + 1, sizeof(*m->pair)))) {
        free(m);
        m = NULL;
    }
    if (!m) {
        nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(base), "out of memory");
        return NULL;
    }
    m->base = nino_weights_ref(base);
    m->parts = parts;
    m->n_parts = n;
    for (int i = 0; i < n; i++) {
        const struct {
            nino_hash before;
            double mine, other;
            uint64_t at;
        } id = { m->identity, parts[i].mine, parts[i].other,
                 nino_hash_bytes(parts[i].prefix, strlen(parts[i].prefix)).lo };
        m->identity = nino_hash_bytes(&id, sizeof(id));
    }
    return m;
}

static const nino_merge_part *part_of(const mix *m, const char *name)
{
    const nino_merge_part *best = NULL;
    size_t longest = 0;
    for (int i = 0; i < m->n_parts; i++) {
        const size_t n = strlen(m->parts[i].prefix);
        if (!strncmp(name, m->parts[i].prefix, n) && (!best || n > longest)) {
            best = &m->parts[i];
            longest = n;
        }
    }
    return best;
}

static bool is_merge_alike(const nino_tensor_info *a, const nino_tensor_info *b)
{
    bool yes = a->rank == b->rank && a->rank >= 1 && a->rank <= NINO_MAX_RANK;
    for (int i = 0; yes && i < a->rank; i++)
        yes = a->dim[i] == b->dim[i];
    return yes;
}

// A factor of scaled 8-bit floats belongs to its weight.
static bool is_scale(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".scale_weight") || !strcmp(dot, ".weight_scale"));
}

// Pairs up what is called `prefix` + name with what is called `prefix2` + name in another file.
static nino_status merge_match(mix *m, const char *prefix, nino_weights *file, const char *prefix2,
                               nino_error *err)
{
    const size_t skip = strlen(prefix);
    m->file[m->n_files++] = nino_weights_ref(file);
    const nino_hash both[] = { m->identity, nino_weights_identity(file) };
    m->identity = nino_hash_bytes(both, sizeof(both));
    for (int i = 0; i < nino_weights_count(m->base); i++) {
        const nino_tensor_info *t = nino_weights_at(m->base, i);
        if (strncmp(t->name, prefix, skip) != 0 || is_scale(t->name))
            continue;
        const nino_merge_part *part = part_of(m, t->name + skip);
        const nino_tensor_info *other =
            nino_weights_find(file, nino_name_of("%s%s", prefix2, t->name + skip).s);
        if (!part || !other || !is_merge_alike(t, other))
            continue;
        m->n_common++;
        if (part->mine == 1 && part->other == 0) // as it is
            continue;
        pair *p = &m->pair[i];
        *p = (pair){
            .t = other, .file = file, .mine = (float) part->mine, .other = (float) part->other
        };
        const nino_status st = nino_weights_scale(file, other, &p->scale, err);
        if (st)
            return st;
    }
    return NINO_OK;
}

// Takes m.
static nino_status merge_make_view(mix *m, nino_weights **out, nino_error *err)
{
    const nino_weights_change c = { .priv = m,
                                    .identity = m->identity,
                                    .covers = merge_covers,
                                    .apply = merge_apply,
                                    .destroy = merge_destroy };
    m->parts = NULL; // the caller's
    *out = nino_weights_changed(m->base, &c, err);
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status fail_alien(const char *a, const char *b, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "model", b, "it has no weights in common with %s",
                          a);
}

// ---- diffusion models ------------------------------------------------------------------------

nino_status nino_model_file(const nino_model *m, nino_weights **out, nino_error *err)
{
    lora_map map = { 0 };
    nino_status st = NINO_OK;
    if (!m->net->loras) {
        *out = nino_weights_ref(m->net->file);
        return NINO_OK;
    }
    if (!(st = lora_map_diffusion(&map, m->net, err)))
        st = lora_view(m->net->file, &map, m->net->loras, LORA_TO_STORE, out, err);
    lora_map_release(&map);
    return st;
}

nino_status nino_model_merge(nino_model *a, const nino_model *b, const nino_merge_part *parts,
                             int n, nino_model **out, nino_error *err)
{
    nino_weights *mine = NULL, *other = NULL, *view = NULL;
    nino_diffusion *d = NULL;
    *out = NULL;
    nino_status st = nino_model_file(a, &mine, err);
    mix *m = NULL;
    if (st || (st = nino_model_file(b, &other, err)))
        goto end;
    if (!(m = merge_create(mine, parts, n, err))) {
        st = NINO_ERR_NOMEM;
        goto end;
    }
    st = merge_match(m, a->net->prefix, other, b->net->prefix, err);
    if (!st && !m->n_common)
        st = fail_alien(a->net->name, b->net->name, err);
    if (st) {
        merge_destroy(m);
        goto end;
    }
    if ((st = merge_make_view(m, &view, err)) ||
        (st = nino_diffusion_load_as(view, a->net->name, a->net->weight_type, &d, err)))
        goto end;
    if ((*out = nino_model_copy(a))) {
        nino_diffusion_unref(&(*out)->net);
        (*out)->net = d;
    } else {
        nino_diffusion_unref(&d);
        st = nino_fail(err, NINO_ERR_NOMEM, a->net->name, "out of memory");
    }
end:
    nino_weights_unref(&mine);
    nino_weights_unref(&other);
    nino_weights_unref(&view);
    return st;
}

// ---- text encoders ---------------------------------------------------------------------------

// A view of the file that a's encoder `first` is in, with all encoders of it.
static nino_status mix_file(const nino_clip *a, const nino_clip *b, int first,
                            const nino_merge_part *parts, int n, int *n_common, nino_weights **out,
                            nino_error *err)
{
    mix *m = merge_create(a->enc[first]->file, parts, n, err);
    nino_status st = m ? NINO_OK : NINO_ERR_NOMEM;
    for (int i = first; i < NINO_ENC_COUNT && !st; i++)
        if (a->enc[i] && b->enc[i] && a->enc[i]->file == a->enc[first]->file)
            st = merge_match(m, a->enc[i]->prefix, b->enc[i]->file, b->enc[i]->prefix, err);
    if (!st) {
        *n_common += m->n_common;
        return merge_make_view(m, out, err);
    }
    if (m)
        merge_destroy(m);
    return st;
}

nino_status nino_clip_merge(nino_clip *a, const nino_clip *b, const nino_merge_part *parts, int n,
                            nino_clip **out, nino_error *err)
{
    nino_weights *view[NINO_ENC_COUNT + 1] = { NULL }, *eyes = nino_clip_eyes(a);
    int n_views = 0, n_common = 0;
    nino_status st = NINO_OK;
    *out = NULL;
    for (int i = 0; i < NINO_ENC_COUNT && !st; i++) {
        bool is_new = a->enc[i] != NULL;
        for (int k = 0; k < i && is_new; k++)
            is_new = !a->enc[k] || a->enc[k]->file != a->enc[i]->file;
        if (is_new)
            st = mix_file(a, b, i, parts, n, &n_common, &view[n_views++], err);
    }
    if (!st && !n_common)
        st = fail_alien(a->name, b->name, err);
    if (eyes)
        view[n_views++] = nino_weights_ref(eyes);
    if (!st)
        st = nino_clip_load(view, n_views, a->type, &a->services, a->name, out, err);
    for (int i = 0; i < n_views; i++)
        nino_weights_unref(&view[i]);
    if (st)
        return st;
    (*out)->layer = a->layer;
    (*out)->has_padding = a->has_padding;
    (*out)->pads_min = a->pads_min;
    (*out)->tokens_min = a->tokens_min;
    return NINO_OK;
}
