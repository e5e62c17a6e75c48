// ControlNets of Stable Diffusion 3: blocks as the model's own, started with the hint, a latent,
// added to the picture's tokens; what each gives goes to several of the model's blocks.
// Source: InstantX, SD3-Controlnet (2024), huggingface/diffusers controlnet_sd3.py, as ComfyUI 0.3.64
// cldm/mmdit.py runs it.
#include "core/model/control/control.h"
#include "core/model/sd3/sd3.h"

#include <stdio.h>

#define HEAD 64 // the model has as many blocks as heads of this many channels
#define CELLS 4 // of a token

typedef struct control_sd3 {
    sd3 net;
    nino_diffusion about;    // its sizes, as the functions of the model want them
    nino_latent_format hint; // that of SD3 without its shift
    nino_linear hint_in;     // of the hint's tokens
    nino_linear *blocks;     // of what each block gives
} control_sd3;

static void control_sd3_prepare(nino_stream *s, const nino_control_net *c, nino_tensor *hint,
                                int type, nino_control_hint *out)
{
    const control_sd3 *w = c->net;
    (void) type;
    nino_scope_begin(s, NINO_EV_STAGE, "control.hint", 0, 0);
    out->t[0] = nino_linear_op(s, nino_dit_tokens(s, hint, 2), &w->hint_in);
    nino_scope_end(s);
}

// The texts' pooled vector is zeros to it, whatever the model gets.
static void control_sd3_forward(nino_stream *s, const nino_control_net *c, const nino_forward *f,
                                const nino_control_hint *hint, float strength, nino_residuals *out)
{
    const control_sd3 *w = c->net;
    const int n = w->net.n_blocks, depth = w->net.hidden / HEAD, each = depth / n;
    const int64_t rows = nino_dit_side(nino_dim(f->x, 1), 2);
    const int64_t columns = nino_dit_side(nino_dim(f->x, 2), 2);
    nino_forward own = *f;
    own.y = NULL;
    nino_scope_begin(s, NINO_EV_STAGE, "control.sd3", 0, 0);
    const sd3_run r = { .net = &w->net, .cond = sd3_condition(s, &w->about, &own) };
    nino_tensor *x = nino_dit_tokens(s, nino_ref(f->x), 2);
    x = nino_linear_add(s, x, &w->net.x_in, nino_ref(hint->t[0]));
    x = nino_add(s, x, sd3_positions(s, &w->about, rows, columns));
    nino_tensor *context = nino_linear_op(s, nino_ref(f->context), &w->net.context_in);
    for (int i = 0; i < n; i++) {
        sd3_run_block(s, &r, &w->net.blocks[i], &x, &context);
        nino_tensor *t = nino_linear_op(s, nino_ref(x), &w->blocks[i]);
        const int last = (i + 1) * each - (i + 1 == n); // the model's last block gets nothing
        for (int k = i * each; k < last && k < NINO_RESIDUALS; k++)
            nino_residual_put(s, &out->after[k], nino_ref(t), strength);
        nino_unref(t);
    }
    nino_scope_end(s);
    nino_unref(x);
    nino_unref(context);
    nino_unref(r.cond);
}

// ---- loading ---------------------------------------------------------------------------------
static void sd3_load_hint(nino_loader *l, nino_control_net *c, control_sd3 *w)
{
    static const char name[] = "pos_embed_input.proj";
    const int64_t plain = CELLS * (int64_t) w->about.format->channels;
    nino_load_patch(l, name, &w->hint_in);
    nino_load_expect(l, name, &w->hint_in, w->net.hidden);
    const int64_t wide = l->st ? plain : w->hint_in.w->c;
    c->has_mask = wide == plain + CELLS;
    if (wide != plain && !c->has_mask)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features where %lld are needed",
                       l->prefix, name, (long long) wide, (long long) plain);
}

static void sd3_load_outputs(nino_loader *l, control_sd3 *w)
{
    const int n = w->net.n_blocks, depth = w->net.hidden / HEAD;
    if (!l->st && (n < 1 || n > depth))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "%d blocks for a model of %d are not known", n,
                       depth);
    w->blocks = nino_load_alloc(l, (size_t) n + 1, sizeof(*w->blocks));
    for (int i = 0; i < n && !l->st; i++) {
        const nino_name name = nino_name_of("controlnet_blocks.%d", i);
        nino_load_linear(l, name.s, w->net.hidden, &w->blocks[i]);
        nino_load_expect(l, name.s, &w->blocks[i], w->net.hidden);
    }
}

static void control_sd3_destroy(nino_control_net *c)
{
    control_sd3 *w = c->net;
    nino_rope_cache_release(&w->net.windows);
    nino_weights_unref(&w->net.file);
}

nino_status nino_control_sd3_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                  nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &c->layers, .err = err };
    control_sd3 *w = nino_load_alloc(&l, 1, sizeof(*w));
    if (!w)
        return l.st;
    nino_rope_cache_init(&w->net.windows);
    w->net.file = nino_weights_ref(file);
    w->hint = *nino_latent_format_find("sd3");
    w->hint.shift = 0;
    w->about.format = nino_latent_format_find("sd3");
    w->about.net = &w->net;
    snprintf(w->about.name, sizeof(w->about.name), "%s", c->name);
    c->net = w;
    c->serves = NINO_DIFFUSION_SD3;
    c->prepare = control_sd3_prepare;
    c->forward = control_sd3_forward;
    c->destroy = control_sd3_destroy;
    c->format = &w->hint;
    c->wants_vae = true;
    c->factor = 0;
    sd3_load_body(&l, &w->net, &w->about);
    sd3_load_hint(&l, c, w);
    sd3_load_outputs(&l, w);
    c->in_channels = w->about.in_channels;
    c->context_dim = w->about.context_dim;
    snprintf(c->detail, sizeof(c->detail), "ControlNet of SD3%s, %d blocks",
             c->has_mask ? ", inpainting" : "", w->net.n_blocks);
    return l.st;
}
