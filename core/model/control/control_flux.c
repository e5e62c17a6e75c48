// ControlNets of FLUX.1: blocks as the model's own, whose picture tokens go to the model through a
// layer each. The hint is a latent that is added to the tokens, or goes through a net of its own.
// Sources: InstantX and Shakker Labs, FLUX.1-dev-Controlnet-Union (2024), huggingface/diffusers
// controlnet_flux.py; XLabs-AI/x-flux controlnet.py; both as ComfyUI 0.3.64 ldm/flux/controlnet.py
// runs them.
#include "core/model/control/control.h"
#include "core/model/flux/flux.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define MAIN_DOUBLES 19 // blocks of FLUX.1, whatever the model's own number
#define MAIN_SINGLES 38
#define HINT_LAYERS 8

typedef struct control_flux {
    flux net;
    nino_diffusion about;        // its sizes, as the functions of the model want them
    nino_linear hint_in;         // of the hint's tokens
    nino_conv hint[HINT_LAYERS]; // XLabs: from pixels to 16 channels; else no weights
    bool is_xlabs;
    nino_linear *doubles, *singles; // of what each block gives
    nino_array *modes;              // f32 [types,hidden]: a token before the text; or NULL
} control_flux;

// ---- once a sampling -------------------------------------------------------------------------
static nino_tensor *mode_token(nino_stream *s, const nino_control_net *c, int64_t batch, int type)
{
    const control_flux *w = c->net;
    const int64_t hidden = w->net.hidden;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(batch, 1, hidden));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, c->name, "no memory for its type");
    for (int64_t b = 0; b < batch; b++)
        memcpy(nino_array_f32(a) + b * hidden, nino_array_f32(w->modes) + type * hidden,
               (size_t) hidden * sizeof(float));
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

static void control_flux_prepare(nino_stream *s, const nino_control_net *c, nino_tensor *hint,
                                 int type, nino_control_hint *out)
{
    const control_flux *w = c->net;
    const int64_t batch = nino_dim(hint, 0);
    nino_scope_begin(s, NINO_EV_STAGE, "control.hint", 0, 0);
    if (w->is_xlabs)
        hint = nino_scale(s, hint, 2, -1);
    for (int i = 0; i < HINT_LAYERS && w->is_xlabs; i++)
        hint = nino_conv2d(s, hint, &w->hint[i]);
    hint = nino_dit_tokens(s, hint, w->net.place.patch);
    out->t[0] = nino_linear_op(s, hint, &w->hint_in);
    if (w->modes && type >= 0)
        out->t[1] = mode_token(s, c, batch, type);
    nino_scope_end(s);
}

// ---- every step ------------------------------------------------------------------------------
// What block i of n gives goes to some of the model's: several in a row, XLabs' in turn.
static void control_flux_give(nino_stream *s, const control_flux *w, nino_tensor *t, int i, int n,
                              int main, float strength, nino_tensor **slots)
{
    const int each = (main + n - 1) / n;
    for (int k = 0; k < main; k++)
        if (w->is_xlabs ? k % n == i : k / each == i)
            nino_residual_put(s, &slots[k], nino_ref(t), strength);
    nino_unref(t);
}

static void run_blocks(nino_stream *s, const control_flux *w, const flux_run *r, nino_tensor *img,
                       nino_tensor *txt, float strength, nino_residuals *out)
{
    const int n = w->net.n_doubles, m = w->net.n_singles;
    for (int i = 0; i < n; i++) {
        flux_run_double(s, r, &w->net.doubles[i], &img, &txt);
        control_flux_give(s, w, nino_linear_op(s, nino_ref(img), &w->doubles[i]), i, n,
                          MAIN_DOUBLES, strength, out->after);
    }
    if (!m) {
        nino_unref(img);
        nino_unref(txt);
        return;
    }
    nino_tensor *x = nino_concat(s, txt, img, 1);
    for (int i = 0; i < m; i++) {
        x = flux_run_single(s, r, &w->net.singles[i], x);
        nino_tensor *t = nino_slice(s, nino_ref(x), 1, r->text, r->image);
        control_flux_give(s, w, nino_linear_op(s, t, &w->singles[i]), i, m, MAIN_SINGLES, strength,
                          out->late);
    }
    nino_unref(x);
}

static void control_flux_forward(nino_stream *s, const nino_control_net *c, const nino_forward *f,
                                 const nino_control_hint *hint, float strength, nino_residuals *out)
{
    control_flux *w = c->net;
    const int64_t h = nino_dim(f->x, 1), width = nino_dim(f->x, 2);
    flux_rope key = { .place = w->net.place,
                      .text = nino_dim(f->context, 1) + (hint->t[1] != NULL),
                      .n = 1,
                      .method = w->net.place.method,
                      .h = { h },
                      .w = { width } };
    flux_run r = { .net = &w->net, .text = key.text };
    r.image = flux_tokens(&w->net.place, h) * flux_tokens(&w->net.place, width);
    nino_scope_begin(s, NINO_EV_STAGE, "control.flux", 0, 0);
    nino_forward own = *f; // a wider y is cut
    own.y = nino_ref(f->y);
    if (nino_dim(own.y, 1) > w->about.y_dim)
        own.y = nino_slice(s, own.y, 1, 0, w->about.y_dim);
    r.vec = flux_condition(s, &w->about, &own, f->timestep, nino_dim(own.x, 0), 1);
    nino_unref(own.y);
    nino_tensor *img = nino_dit_tokens(s, nino_ref(f->x), w->net.place.patch);
    img = nino_linear_add(s, img, &w->net.img_in, nino_ref(hint->t[0]));
    nino_tensor *txt = nino_linear_op(s, nino_ref(f->context), &w->net.txt_in);
    if (hint->t[1])
        txt = nino_concat(s, nino_ref(hint->t[1]), txt, 1);
    r.table = nino_rope_upload(s, &w->net.rope, &key, sizeof(key), flux_rope_make);
    run_blocks(s, w, &r, img, txt, strength, out);
    flux_end_run(&r);
    nino_scope_end(s);
}

// ---- loading ---------------------------------------------------------------------------------
static void load_outputs(nino_loader *l, const char *stem, int64_t hidden, int n, nino_linear **out)
{
    *out = nino_load_alloc(l, (size_t) n + 1, sizeof(**out));
    for (int i = 0; i < n && !l->st; i++) {
        const nino_name name = nino_name_of("%s.%d", stem, i);
        nino_load_linear(l, name.s, hidden, &(*out)[i]);
        nino_load_expect(l, name.s, &(*out)[i], hidden);
    }
}

static void load_modes(nino_loader *l, nino_control_net *c, control_flux *w)
{
    const nino_name name = nino_name_of("%scontrolnet_mode_embedder.weight", l->prefix);
    const nino_tensor_info *t = nino_weights_find(l->file, name.s);
    if (!t || l->st)
        return;
    if (t->rank != 2 || t->dim[0] < 1 || t->dim[0] > 64 || t->dim[1] != w->net.hidden) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s does not go with a width of %d", name.s,
                       w->net.hidden);
        return;
    }
    c->n_types = (int) t->dim[0];
    nino_load_table(l, t, &w->modes);
}

// XLabs: 3 channels to 16, three times halved.
static void load_pixels(nino_loader *l, control_flux *w)
{
    static const int strides[HINT_LAYERS] = { 1, 1, 2, 1, 2, 1, 2, 1 };
    int64_t c = 3;
    for (int i = 0; i < HINT_LAYERS; i++) {
        const nino_name name = nino_name_of("input_hint_block.%d", 2 * i);
        nino_load_conv(l, name.s, c, &w->hint[i]);
        w->hint[i].stride = strides[i];
        w->hint[i].act = i < HINT_LAYERS - 1 ? NINO_ACT_SILU : NINO_ACT_NONE;
        c = nino_load_rows(l, w->hint[i].w);
    }
}

// What the tokens of the hint must be: of 2 x 2 cells, with a mask's channel or without.
static void load_hint_in(nino_loader *l, nino_control_net *c, control_flux *w)
{
    const char *name = w->is_xlabs ? "pos_embed_input" : "controlnet_x_embedder";
    const int64_t cells = w->net.place.patch * w->net.place.patch;
    const int64_t plain = cells * w->about.format->channels;
    nino_load_linear(l, name, -1, &w->hint_in);
    nino_load_expect(l, name, &w->hint_in, w->net.hidden);
    const int64_t wide = l->st ? 0 : w->hint_in.w->c;
    const int64_t made = w->is_xlabs && !l->st ? cells * w->hint[HINT_LAYERS - 1].w->n : plain;
    c->has_mask = !w->is_xlabs && wide == plain + cells;
    if (!l->st && wide != made && !c->has_mask)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features where %lld are needed",
                       l->prefix, name, (long long) wide, (long long) made);
}

static void control_flux_destroy(nino_control_net *c)
{
    control_flux *w = c->net;
    nino_rope_cache_release(&w->net.rope);
}

nino_status nino_control_flux_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &c->layers, .err = err };
    control_flux *w = nino_load_alloc(&l, 1, sizeof(*w));
    if (!w)
        return l.st;
    nino_rope_cache_init(&w->net.rope);
    c->net = w;
    c->serves = NINO_DIFFUSION_FLUX;
    c->prepare = control_flux_prepare;
    c->forward = control_flux_forward;
    c->destroy = control_flux_destroy;
    c->format = w->about.format = nino_latent_format_find("flux");
    w->about.net = &w->net;
    w->is_xlabs = !nino_load_has(&l, "controlnet_x_embedder.weight");
    flux_load_body(&l, &w->net, &w->about);
    if (!l.st && (w->net.has_shared || !w->net.n_doubles))
        nino_load_fail(&l, NINO_ERR_UNSUPPORTED,
                       "a ControlNet of FLUX.2, or one without double "
                       "blocks, is not known");
    load_outputs(&l, "controlnet_blocks", w->net.hidden, w->net.n_doubles, &w->doubles);
    load_outputs(&l, "controlnet_single_blocks", w->net.hidden, w->net.n_singles, &w->singles);
    if (w->is_xlabs)
        load_pixels(&l, w);
    else
        load_modes(&l, c, w);
    load_hint_in(&l, c, w);
    c->wants_vae = !w->is_xlabs;
    c->factor = w->is_xlabs ? 8 : 0;
    c->in_channels = w->about.in_channels;
    c->context_dim = w->about.context_dim;
    c->y_dim = w->about.y_dim;
    snprintf(c->detail, sizeof(c->detail), "ControlNet of FLUX.1%s, %d + %d blocks",
             c->n_types    ? ", union"
             : c->has_mask ? ", inpainting"
             : w->is_xlabs ? " (XLabs)"
                           : "",
             w->net.n_doubles, w->net.n_singles);
    return l.st;
}
