// Networks with LoRAs: matching a file's layers with a network's tensors, and loading the network
// again from a view in which those have changed.
#include "core/model/merge/lora_apply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/merge/lora_patch.h"

#define MAX_SIDE (1 << 20) // of a weight that is made larger

// ---- the view --------------------------------------------------------------------------------

static bool lora_apply_covers(void *priv, const char *name)
{
    const lora_patches *c = priv;
    const nino_tensor_info *t = nino_weights_find(c->base, name);
    const lora_patch *p = lora_first(c, t);
    return t && p < c->p + c->n && p->target == t;
}

static nino_status lora_apply_apply(void *priv, const nino_tensor_info *t, int64_t row0,
                                    int64_t rows, float *values, nino_error *err)
{
    return lora_patches_apply(priv, t, NULL, row0, rows, lora_width(priv, t), values, err);
}

static void lora_apply_enlarge(void *priv, const char *name, int64_t dim[2])
{
    const lora_patches *c = priv;
    const nino_tensor_info *t = nino_weights_find(c->base, name);
    dim[1] = lora_width(c, t);
    for (const lora_patch *p = lora_first(c, t); p < c->p + c->n && p->target == t; p++)
        dim[0] = p->row0 + p->rows > dim[0] ? p->row0 + p->rows : dim[0];
}

// B A without a core between them and without magnitudes, on all columns.
static bool is_product(const lora_patches *c, const lora_patch *p)
{
    const lora_layer *l = p->layer;
    return p->kind == LORA_KIND_LOW_RANK && !l->t[LORA_MID] && !l->t[LORA_DORA] &&
           p->cols == lora_width(c, p->target);
}

static int lora_apply_low_rank(void *priv, const char *name, nino_low_rank *out, int max)
{
    const lora_patches *c = priv;
    const nino_tensor_info *t = nino_weights_find(c->base, name);
    int n = 0;
    for (const lora_patch *p = lora_first(c, t); p < c->p + c->n && p->target == t; p++) {
        if (n == max || !is_product(c, p))
            return 0;
        out[n++] = (nino_low_rank){ .file = (nino_weights *) p->from,
                                    .up = p->layer->t[LORA_UP],
                                    .down = p->layer->t[LORA_DOWN],
                                    .scale = p->strength * p->scale,
                                    .row0 = p->row0,
                                    .rows = p->rows,
                                    .first = p->first };
    }
    return n;
}

static void lora_apply_destroy(void *priv)
{
    lora_patches *c = priv;
    for (int i = 0; i < c->n; i++)
        free(c->p[i].norms);
    free(c->p);
    nino_weights_unref(&c->base);
    nino_lora_stack_unref(&c->stack);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static lora_patches *make_patches(nino_weights *base, nino_lora_stack *s)
{
    lora_patches *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->base = nino_weights_ref(base);
    c->stack = nino_lora_stack_ref(s);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static lora_patch *add_patch(lora_patches *c)
{
    if (c->n == c->room) {
        const int room = c->room ? 2 * c->room : 64;
        lora_patch *p = realloc(c->p, (size_t) room * sizeof(*p));
        if (!p)
            return NULL;
        c->p = p;
        c->room = room;
    }
    return &c->p[c->n++];
}

static nino_hash stack_identity(const nino_lora_stack *s)
{
    nino_hash id = { .lo = (uint64_t) s->n };
    for (int i = 0; i < s->n; i++) {
        struct {
            nino_hash before, file;
            double strength, rest;
        } both = { id, nino_weights_identity(s->e[i].lora->file), s->e[i].strength, 0 };
        id = nino_hash_bytes(&both, sizeof(both));
    }
    return id;
}

static int by_target(const void *a, const void *b)
{
    const lora_patch *x = a, *y = b;
    return x->target != y->target ? (x->target > y->target) - (x->target < y->target)
                                  : (x->order > y->order) - (x->order < y->order);
}

// A view of c's file; takes c. NULL: failed.
static nino_weights *lora_apply_make_view(lora_patches *c, lora_use to, nino_error *err)
{
    nino_hash identity = stack_identity(c->stack);
    if (to == LORA_TO_MULTIPLY_EXACTLY)
        identity = nino_hash_bytes(&identity, sizeof(identity));
    const nino_weights_change change = { .priv = c,
                                         .identity = identity,
                                         .covers = lora_apply_covers,
                                         .apply = lora_apply_apply,
                                         .destroy = lora_apply_destroy,
                                         .enlarge = lora_apply_enlarge,
                                         .low_rank = to ? lora_apply_low_rank : NULL,
                                         .is_made_at_use = to != LORA_TO_STORE,
                                         .is_exact = to == LORA_TO_MULTIPLY_EXACTLY };
    for (int i = 0; i < c->n; i++)
        c->p[i].order = i;
    if (c->n)
        qsort(c->p, (size_t) c->n, sizeof(c->p[0]), by_target);
    return nino_weights_changed(c->base, &change, err);
}

// ---- matching --------------------------------------------------------------------------------

typedef struct matcher {
    const lora_map *map;
    const nino_weights *file; // whose tensors are wanted; NULL: all, to count them
    const nino_lora *lora;
    double strength;
    lora_patches *to; // NULL: only counted
    nino_lora_report *report;
    int n; // layers that fit
    nino_error *err;
} matcher;

static void use(const matcher *m, const nino_tensor_info *t)
{
    if (m->report && m->report->used && t)
        m->report->used[t - nino_weights_at(m->lora->file, 0)] = true;
}

static void use_layer(const matcher *m, const lora_layer *l, bool is_bias)
{
    for (int r = 0; r < LORA_ROLES; r++)
        if ((r == LORA_DIFF_B) == is_bias)
            use(m, l->t[r]);
}

static void lora_apply_misfit(const matcher *m, const lora_layer *l, const lora_place *p,
                              int64_t rows, int64_t cols)
{
    nino_lora_report *r = m->report;
    if (!r || r->n_misfits++ >= 2)
        return;
    snprintf(r->misfit[r->n_misfits - 1], sizeof(r->misfit[0]),
             "%.*s is a change of [%lld,%lld], %.60s has [%lld,%lld]",
             l->name_len < 80 ? (int) l->name_len : 80, l->name, (long long) rows, (long long) cols,
             p->tensor->name, (long long) p->tensor->dim[0],
             (long long) (p->tensor->rank > 1 ? p->tensor->dim[1] : 1));
}

// Control LoRAs give a weight more inputs first. Those of black-forest-labs do not say so: it is
// the layer that takes the picture.
static bool is_larger(const lora_layer *l, lora_kind kind, const lora_place *p, int64_t rows,
                      int64_t cols)
{
    static const char image[] = "img_in";
    const bool is_image = l->name_len == strlen(image) && !strncmp(l->name, image, l->name_len);
    const int64_t *dim = p->tensor->dim;
    return kind == LORA_KIND_LOW_RANK && !l->t[LORA_DORA] && (is_image || l->t[LORA_RESHAPE]) &&
           p->tensor->rank == 2 && p->rows == dim[0] && !p->from && rows >= dim[0] &&
           cols >= dim[1] && rows <= MAX_SIDE && cols <= MAX_SIDE;
}

// A change that fits: counted, and kept where that is what is wanted.
static nino_status put_patch(matcher *m, const lora_layer *l, lora_patch p)
{
    const bool is_bias = p.kind == LORA_KIND_BIAS;
    use_layer(m, l, is_bias);
    m->n++;
    if (!m->to)
        return NINO_OK;
    lora_patch *to = add_patch(m->to);
    if (!to)
        return nino_fail(m->err, NINO_ERR_NOMEM, m->lora->name, "out of memory");
    *to = p;
    to->from = m->lora->file;
    to->layer = l;
    to->strength = (float) m->strength;
    to->scale = 1;
    return is_bias ? NINO_OK : lora_scale_of(to->from, l, p.kind, &to->scale, m->err);
}

static nino_status lora_apply_add_weight(matcher *m, const lora_layer *l, const lora_place *p)
{
    const lora_kind kind = lora_kind_of(l);
    int64_t cols = nino_tensor_info_row(p->tensor), rows, width;
    if (kind == LORA_KIND_NONE)
        return NINO_OK;
    const bool has_size = lora_size_of(l, kind, &rows, &width);
    const bool enlarges = has_size && is_larger(l, kind, p, rows, width);
    if (enlarges)
        cols = width;
    if (!has_size || p->from + p->rows > rows || (width ? width != cols : p->rows != rows)) {
        lora_apply_misfit(m, l, p, rows, width);
        return NINO_OK;
    }
    return put_patch(m, l,
                     (lora_patch){ .target = p->tensor,
                                   .kind = kind,
                                   .row0 = p->row0,
                                   .rows = enlarges ? rows : p->rows,
                                   .cols = cols,
                                   .first = p->from });
}

// The bias beside a weight: the same rows of the tensor that is called "bias" where it ends in
// "weight".
static nino_status lora_apply_add_bias(matcher *m, const lora_layer *l, const lora_place *p)
{
    static const char weight[] = "weight";
    const nino_tensor_info *d = l->t[LORA_DIFF_B];
    const size_t n = strlen(p->tensor->name), k = sizeof(weight) - 1;
    char name[512];
    if (!d || n < k || n >= sizeof(name) || strcmp(p->tensor->name + n - k, weight) != 0)
        return NINO_OK;
    snprintf(name, sizeof(name), "%.*sbias", (int) (n - k), p->tensor->name);
    const nino_tensor_info *t = nino_weights_find(p->file, name);
    if (!t || t->rank != 1 || d->rank < 1 || nino_tensor_info_row(d) != 1 ||
        p->from + p->rows > d->dim[0] || p->row0 + p->rows > t->dim[0])
        return NINO_OK;
    return put_patch(m, l,
                     (lora_patch){ .target = t,
                                   .kind = LORA_KIND_BIAS,
                                   .row0 = p->row0,
                                   .rows = p->rows,
                                   .cols = 1,
                                   .first = p->from });
}

static nino_status lora_apply_match(matcher *m)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < m->lora->n_layers && !st; i++) {
        const lora_layer *l = &m->lora->layer[i];
        int n;
        const lora_place *p = lora_map_find(m->map, l->name, l->name_len, &n);
        for (int k = 0; k < n && !st; k++) {
            if (m->file && p[k].file != m->file)
                continue;
            st = lora_apply_add_weight(m, l, &p[k]);
            if (!st)
                st = lora_apply_add_bias(m, l, &p[k]);
        }
    }
    return st;
}

// ---- stacks ----------------------------------------------------------------------------------

nino_lora_stack *lora_stack_push(const nino_lora_stack *s, nino_lora *l, double strength)
{
    const int n = s ? s->n : 0;
    nino_lora_stack *out = calloc(1, sizeof(*out) + (size_t) (n + 1) * sizeof(out->e[0]));
    if (!out)
        return NULL;
    out->refs = 1;
    out->n = n + 1;
    for (int i = 0; i < n; i++) {
        out->e[i].lora = nino_lora_ref(s->e[i].lora);
        out->e[i].strength = s->e[i].strength;
    }
    out->e[n].lora = nino_lora_ref(l);
    out->e[n].strength = strength;
    return out;
}

nino_status lora_view(nino_weights *file, const lora_map *map, nino_lora_stack *s, lora_use to,
                      nino_weights **out, nino_error *err)
{
    lora_patches *c = make_patches(file, s);
    nino_status st =
        c ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "out of memory");
    for (int i = 0; i < s->n && !st; i++) {
        matcher m = { .map = map,
                      .file = file,
                      .lora = s->e[i].lora,
                      .strength = s->e[i].strength,
                      .to = c,
                      .err = err };
        st = lora_apply_match(&m);
    }
    *out = NULL;
    if (!st && c->n) {
        *out = lora_apply_make_view(c, to, err);
        return *out ? NINO_OK : NINO_ERR_NOMEM;
    }
    if (!st)
        *out = nino_weights_ref(file);
    if (c)
        lora_apply_destroy(c);
    return st;
}

// ---- networks --------------------------------------------------------------------------------

static lora_use use_of(bool is_exact)
{
    return is_exact ? LORA_TO_MULTIPLY_EXACTLY : LORA_TO_MULTIPLY;
}

static nino_status load_model(const nino_model *m, const lora_map *map, nino_lora_stack *s,
                              bool is_exact, nino_model **out, nino_error *err)
{
    nino_diffusion *d = NULL;
    nino_weights *view;
    nino_status st = lora_view(m->net->file, map, s, use_of(is_exact), &view, err);
    if (!st)
        st = nino_diffusion_load_as(view, m->net->name, m->net->weight_type, &d, err);
    nino_weights_unref(&view);
    if (st)
        return st;
    nino_weights_unref(&d->file); // the next LoRA starts from there, too
    d->file = nino_weights_ref(m->net->file);
    d->loras = nino_lora_stack_ref(s);
    if ((*out = nino_model_copy(m))) {
        nino_diffusion_unref(&(*out)->net);
        (*out)->net = d;
        return NINO_OK;
    }
    nino_diffusion_unref(&d);
    return nino_fail(err, NINO_ERR_NOMEM, m->net->name, "out of memory");
}

nino_status nino_model_with_lora(nino_model *m, nino_lora *l, double strength, bool is_exact,
                                 nino_lora_report *r, nino_model **out, nino_error *err)
{
    lora_map map = { 0 };
    nino_lora_stack *s = NULL;
    *out = NULL;
    nino_status st = lora_map_diffusion(&map, m->net, err);
    matcher count = { .map = &map, .lora = l, .report = r, .err = err };
    if (!st)
        st = lora_apply_match(&count);
    if (!st && (strength == 0 || !count.n))
        *out = nino_model_ref(m);
    if (st || *out)
        goto end;
    st = (s = lora_stack_push(m->net->loras, l, strength))
             ? load_model(m, &map, s, is_exact, out, err)
             : nino_fail(err, NINO_ERR_NOMEM, l->name, "out of memory");
end:
    nino_lora_stack_unref(&s);
    lora_map_release(&map);
    return st;
}

// ---- text encoders ---------------------------------------------------------------------------

static nino_status load_clip(const nino_clip *c, const lora_map *map, nino_lora_stack *s,
                             bool is_exact, nino_clip **out, nino_error *err)
{
    nino_weights *file[NINO_ENC_COUNT] = { NULL }, *view[NINO_ENC_COUNT + 1] = { NULL };
    nino_weights *eyes = nino_clip_eyes(c);
    int n = 0;
    nino_status st = NINO_OK;
    for (int i = 0; i < NINO_ENC_COUNT; i++) {
        bool is_new = c->enc[i] != NULL;
        for (int k = 0; k < n && is_new; k++)
            is_new = file[k] != lora_file_of(c, c->enc[i]);
        if (is_new)
            file[n++] = lora_file_of(c, c->enc[i]);
    }
    for (int i = 0; i < n && !st; i++)
        st = lora_view(file[i], map, s, use_of(is_exact), &view[i], err);
    if (eyes)
        view[n++] = nino_weights_ref(eyes);
    if (!st)
        st = nino_clip_load(view, n, c->type, &c->services, c->name, out, err);
    for (int i = 0; i < n; i++)
        nino_weights_unref(&view[i]);
    if (st)
        return st;
    (*out)->layer = c->layer;
    (*out)->tokens_min = c->tokens_min;
    (*out)->loras = nino_lora_stack_ref(s);
    return NINO_OK;
}

nino_status nino_clip_with_lora(nino_clip *c, nino_lora *l, double strength, bool is_exact,
                                nino_lora_report *r, nino_clip **out, nino_error *err)
{
    lora_map map = { 0 };
    nino_lora_stack *s = NULL;
    *out = NULL;
    nino_status st = lora_map_clip(&map, c, err);
    matcher count = { .map = &map, .lora = l, .report = r, .err = err };
    if (!st)
        st = lora_apply_match(&count);
    if (!st && (strength == 0 || !count.n))
        *out = nino_clip_ref(c);
    if (st || *out)
        goto end;
    st = (s = lora_stack_push(c->loras, l, strength))
             ? load_clip(c, &map, s, is_exact, out, err)
             : nino_fail(err, NINO_ERR_NOMEM, l->name, "out of memory");
end:
    nino_lora_stack_unref(&s);
    lora_map_release(&map);
    return st;
}
