// Fun ControlNets of Z-Image: reading them, and what they add to an evaluation. Each is a second
// line of the transformer's blocks over the image's tokens alone, which starts from the image and a
// hint; what its layers answer is added behind every so many of the transformer's.
// Names and arithmetic: alibaba-pai/Z-Image-Turbo-Fun-Controlnet-Union and its versions 2.0, 2.1 and
// 2.1-lite; ComfyUI 0.33.0 ldm/lumina/controlnet.py, comfy_extras/nodes_model_patch.py.
#include "core/model/zimage/zimage.h"

#include <stdio.h>

#define CELLS 4       // of a token
#define ALL_LAYERS 30 // of Z-Image: over them the answers are spread

// ---- reading ---------------------------------------------------------------------------------
static void control_load_list(zimage_loader *z, const char *stem, bool answers, int n,
                              zimage_control_layer **out)
{
    zimage_control_layer *list = nino_load_alloc(&z->l, (size_t) n + 1, sizeof(*list));
    for (int i = 0; i < n && !z->l.st; i++) {
        const nino_name base = nino_name_of("%s%d.", stem, i);
        zimage_load_block(z, base.s, true, &list[i].block);
        if (answers && !i)
            zimage_linear(z, nino_name_of("%sbefore_proj", base.s), z->width, z->width,
                          &list[i].before);
        if (answers)
            zimage_linear(z, nino_name_of("%safter_proj", base.s), z->width, z->width,
                          &list[i].after);
    }
    *out = list;
}

// Reads on until the first number that is not 0.
static bool control_is_zero(nino_loader *l, const char *name)
{
    enum { ROWS = 16 };
    const nino_tensor_info *t = nino_weights_find(l->file, name);
    if (!t || l->st || t->rank != 2)
        return false;
    nino_array *some = nino_array_create(NINO_F32, NINO_SHAPE(ROWS, t->dim[1]));
    bool is_zero = some != NULL;
    if (!some)
        nino_load_fail(l, NINO_ERR_NOMEM, "out of memory");
    for (int64_t row = 0; row < t->dim[0] && is_zero && !l->st; row += ROWS) {
        const int64_t n = row + ROWS < t->dim[0] ? ROWS : t->dim[0] - row;
        l->st = nino_weights_read_rows_f32(l->file, t, row, n, nino_array_f32(some), l->err);
        for (int64_t i = 0; i < n * t->dim[1] && is_zero && !l->st; i++)
            is_zero = nino_array_f32(some)[i] == 0;
    }
    nino_array_unref(&some);
    return is_zero && !l->st;
}

// Version 1 has six layers and takes a hint alone; the later ones have fifteen, or as lite ones
// three, and take what is to be painted, too.
static void control_load_sizes(zimage_loader *z, nino_block_net *n, struct zimage_control *c)
{
    static const char embedder[] = "control_all_x_embedder.2-1";
    nino_loader *l = &z->l;
    c->n_layers = nino_load_count(l, "control_layers.");
    c->n_refiners = nino_load_count(l, "control_noise_refiner.");
    if (c->n_layers != 3 && c->n_layers != 6 && c->n_layers != 15)
        nino_load_fail(l, NINO_ERR_FORMAT, "it has %d control_layers; 3, 6 and 15 are known",
                       c->n_layers);
    else if (c->n_refiners < 1)
        nino_load_fail(l, NINO_ERR_FORMAT, "control_noise_refiner.0 is missing");
    c->refines = n->has_inpaint = c->n_layers != 6;
    const int64_t channels = n->format->channels;
    const int64_t takes = CELLS * (n->has_inpaint ? 2 * channels + 1 : channels);
    nino_load_linear(l, embedder, -1, &n->img_in);
    if (l->st)
        return;
    if (n->img_in.w->c != takes)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "%s.weight takes %lld features where %lld are needed with %d layers",
                       embedder, (long long) n->img_in.w->c, (long long) takes, c->n_layers);
    const nino_name norm =
        zimage_pick(z, "control_layers.0.", "attention.q_norm", "attention.norm_q");
    const nino_tensor_info *mod =
        nino_weights_find(l->file, "control_layers.0.adaLN_modulation.0.weight");
    if (!mod || mod->rank != 2)
        nino_load_fail(l, NINO_ERR_FORMAT, "control_layers.0.adaLN_modulation.0.weight is missing");
    else if (zimage_load_head(z, norm.s, nino_load_rows(l, n->img_in.w)))
        z->time = mod->dim[1];
}

nino_status nino_zimage_control_load(nino_weights *file, const char *name, nino_block_net **out,
                                     nino_error *err)
{
    *out = NULL;
    nino_block_net *n = nino_block_net_create(file, name, "flux", err);
    if (!n)
        return NINO_ERR_NOMEM;
    zimage_loader z = {
        .l = { .file = file, .prefix = "", .layers = &n->layers, .where = name, .err = err }
    };
    struct zimage_control *c = nino_load_alloc(&z.l, 1, sizeof(*c));
    z.is_diffusers = nino_load_has(&z.l, "control_layers.0.attention.to_q.weight");
    if (c)
        control_load_sizes(&z, n, c);
    if (c && !z.l.st) {
        control_load_list(&z, "control_layers.", true, c->n_layers, &c->layer);
        control_load_list(&z, "control_noise_refiner.", c->refines, c->n_refiners, &c->refiner);
        c->is_broken =
            c->n_layers == 15 && control_is_zero(&z.l, "control_noise_refiner.0.after_proj.weight");
        c->depth = z.depth;
        c->time = z.time;
        n->hidden = (int) z.width;
        n->n_blocks = c->n_layers;
        n->zimage = c;
        snprintf(n->detail, sizeof(n->detail), "Fun ControlNet of Z-Image, %d layers%s",
                 c->n_layers,
                 !n->has_inpaint ? ""
                 : c->is_broken  ? ", version 2.0, takes a mask and a picture to paint in"
                                 : ", takes a mask and a picture to paint in");
    }
    if (z.l.st)
        nino_block_net_unref(&n);
    *out = n;
    return z.l.st;
}

// ---- one evaluation --------------------------------------------------------------------------
static bool control_fits(nino_stream *s, const zimage *net, const nino_block_net *n,
                         const nino_array *hint)
{
    const struct zimage_control *c = n->zimage;
    if (!c || n->hidden != net->width || c->depth != net->depth || c->time != net->time_out.w->n)
        nino_stream_fail(s, NINO_ERR_ARG, n->name,
                         "it is for another model: of width %d, this one has %d", n->hidden,
                         net->width);
    else if (c->refines && c->n_refiners < net->noise_refiner.n)
        nino_stream_fail(s, NINO_ERR_ARG, n->name, "it is for %d refiners, the model has %d",
                         c->n_refiners, net->noise_refiner.n);
    else if (!hint)
        nino_stream_fail(s, NINO_ERR_ARG, n->name, "nothing encodes its picture");
    else
        return true;
    return false;
}

static nino_tensor *control_repeat(nino_stream *s, nino_tensor *x, int64_t n)
{
    nino_tensor *all = nino_ref(x);
    for (int64_t i = 1; i < n; i++)
        all = nino_concat(s, all, nino_ref(x), 0);
    nino_unref(x);
    return all;
}

static bool control_is_one_time(const nino_forward *f, int64_t rows)
{
    for (int64_t i = 1; i < rows; i++)
        if (f->timestep[i] != f->timestep[0])
            return false;
    return true;
}

// The hint as tokens, which version 1 refines by themselves: once for all rows of one time.
static nino_tensor *control_state(nino_stream *s, const zimage_control_run *c,
                                  const nino_block_net *n, const nino_array *hint)
{
    const struct zimage_control *z = n->zimage;
    nino_tensor *x = zimage_to_tokens(s, nino_upload(s, hint, nino_stream_act_type(s)));
    x = nino_linear_op(s, x, &n->img_in);
    if (z->refines)
        return x;
    zimage_run see = c->see;
    const bool is_one = control_is_one_time(c->f, c->rows);
    x = is_one ? x : control_repeat(s, x, c->rows);
    see.time = nino_slice(s, nino_ref(see.time), 0, 0, is_one ? 1 : c->rows);
    for (int i = 0; i < z->n_refiners; i++)
        x = zimage_run_block(s, &see, &z->refiner[i].block, x);
    nino_unref(see.time);
    return x;
}

void zimage_control_begin(nino_stream *s, const zimage_run *r, nino_tensor *image, int64_t tokens,
                          nino_tensor *table)
{
    zimage_control_run *c = r->control;
    const nino_pass *p = c && image ? c->f->pass : NULL;
    const nino_patch *at = NULL;
    while ((at = nino_pass_next(p, NINO_PATCH_BLOCK_CONTROL, at))) {
        const nino_block_net *net = at->control->net;
        const nino_array *hint = p->hint ? p->hint[at - p->patch] : NULL;
        if (!control_fits(s, r->net, net, hint))
            return;
        if (c->n == NINO_BLOCK_USES) {
            nino_stream_fail(s, NINO_ERR_UNSUPPORTED, net->name,
                             "more than %d such patches on one model", NINO_BLOCK_USES);
            return;
        }
        if (!c->n) {
            const int64_t rows = nino_dim(image, 0);
            c->rows = p->is_same_x && p->images > 0 && p->images < rows ? p->images : rows;
            c->see.net = r->net;
            c->see.time = nino_slice(s, nino_ref(r->time), 0, 0, c->rows);
            c->see.table = nino_slice(s, nino_ref(table), 0, 0, tokens);
        }
        c->on[c->n].use = at->control;
        c->on[c->n++].state = control_state(s, c, net, hint);
    }
    zimage_control_refined(s, r, image);
}

void zimage_control_end(const zimage_run *r)
{
    zimage_control_run *c = r->control;
    for (int i = 0; c && i < c->n; i++)
        nino_unref(c->on[i].state);
    if (!c || !c->n)
        return;
    nino_unref(c->image);
    nino_unref(c->see.time);
    nino_unref(c->see.table);
    c->n = 0;
}

void zimage_control_refined(nino_stream *s, const zimage_run *r, nino_tensor *x)
{
    zimage_control_run *c = r->control;
    if (!c || !c->n)
        return;
    nino_unref(c->image);
    x = nino_slice(s, nino_ref(x), 0, 0, c->rows);
    c->image = nino_slice(s, x, 1, 0, nino_dim(c->see.table, 0));
}

// Use k goes on by one layer.
static void control_step(nino_stream *s, zimage_control_run *c, int k,
                         const zimage_control_layer *l)
{
    nino_tensor *x = c->on[k].state;
    if (l->before.w)
        x = nino_add(s, nino_ref(c->image), nino_linear_op(s, x, &l->before));
    c->on[k].state = zimage_run_block(s, &c->see, &l->block, x);
}

// x with what use k has come to: at the image's tokens, the same in all rows that see the same.
static nino_tensor *control_answer(nino_stream *s, const zimage_control_run *c, int k,
                                   const zimage_control_layer *l, nino_tensor *x, int64_t after)
{
    const float strength = (float) c->on[k].use->strength;
    const int64_t rows = nino_dim(x, 0), tokens = nino_dim(c->see.table, 0), w = nino_dim(x, 2);
    const int64_t behind = nino_dim(x, 1) - after - tokens;
    nino_tensor *a = nino_linear_op(s, nino_ref(c->on[k].state), &l->after);
    a = strength == 1 ? a : nino_scale(s, a, strength, 0);
    if (after > 0)
        a = nino_concat(s, nino_zeros(s, NINO_SHAPE(c->rows, after, w), nino_stream_act_type(s)), a,
                        1);
    if (behind > 0)
        a = nino_concat(s, a,
                        nino_zeros(s, NINO_SHAPE(c->rows, behind, w), nino_stream_act_type(s)), 1);
    return nino_add(s, x, control_repeat(s, a, rows / c->rows));
}

nino_tensor *zimage_control_refine(nino_stream *s, const zimage_run *r, int i, nino_tensor *x)
{
    zimage_control_run *c = r->control;
    for (int k = 0; c && k < c->n; k++) {
        const struct zimage_control *z = c->on[k].use->net->zimage;
        const zimage_control_layer *list = z->is_broken ? z->layer : z->refiner;
        if (!z->refines)
            continue;
        const int first = z->is_broken && i ? 1 : i;
        const int end = z->is_broken && i ? z->n_layers : i + 1;
        for (int n = first; n < end; n++) {
            control_step(s, c, k, &list[n]);
            if (n == first)
                x = control_answer(s, c, k, &list[n], x, 0);
        }
    }
    return x;
}

nino_tensor *zimage_control_add(nino_stream *s, const zimage_run *r, int i, nino_tensor *x,
                                int64_t after)
{
    zimage_control_run *c = r->control;
    for (int k = 0; c && k < c->n; k++) {
        const struct zimage_control *z = c->on[k].use->net->zimage;
        const int every = ALL_LAYERS / z->n_layers;
        if (i % every || i / every >= z->n_layers)
            continue;
        const zimage_control_layer *l = &z->layer[i / every];
        control_step(s, c, k, l);
        x = control_answer(s, c, k, l, x, after);
    }
    return x;
}
