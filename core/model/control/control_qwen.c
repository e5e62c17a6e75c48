// ControlNets of Qwen-Image: blocks as the model's own, started with the hint, a latent, added to the
// picture's tokens; what each gives goes to several of the model's blocks.
// Sources: InstantX, Qwen-Image-ControlNet-Union and -Inpainting (2025), huggingface/diffusers
// controlnet_qwenimage.py, as ComfyUI 0.33.0 ldm/qwen_image/controlnet.py runs it.
#include "core/model/control/control.h"
#include "core/model/qwen_image/qwen_image.h"

#include <stdio.h>

#define MAIN_BLOCKS 60 // of Qwen-Image, whatever the model's own number
#define CELLS 4        // of a token

typedef struct control_qwen {
    qwen_image net;
    nino_diffusion about; // its sizes, as the functions of the model want them
    nino_linear hint_in;  // of the hint's tokens
    nino_linear *blocks;  // of what each block gives
} control_qwen;

static void control_qwen_prepare(nino_stream *s, const nino_control_net *c, nino_tensor *hint,
                                 int type, nino_control_hint *out)
{
    const control_qwen *w = c->net;
    (void) type;
    nino_scope_begin(s, NINO_EV_STAGE, "control.hint", 0, 0);
    out->t[0] = nino_linear_op(s, nino_dit_tokens(s, hint, 2), &w->hint_in);
    nino_scope_end(s);
}

// x as a picture: the model's is a clip of one frame.
static nino_tensor *picture_of(nino_stream *s, const nino_forward *f)
{
    const nino_shape x = f->x ? *nino_shape_of(f->x) : (nino_shape){ .rank = 4 };
    nino_tensor *t = nino_ref(f->x);
    return x.rank == 4
               ? t
               : nino_reshape(s, t, NINO_SHAPE(x.dim[0] * x.dim[1], x.dim[2], x.dim[3], x.dim[4]));
}

// It sees all of the text, also what the model's mask hides, and no reference latents.
static void control_qwen_forward(nino_stream *s, const nino_control_net *c, const nino_forward *f,
                                 const nino_control_hint *hint, float strength, nino_residuals *out)
{
    control_qwen *w = c->net;
    const int n = w->net.n_blocks, each = (MAIN_BLOCKS + n - 1) / n;
    nino_tensor *x = picture_of(s, f);
    qwen_rope o = { .axes = w->net.axes,
                    .text = nino_dim(f->context, 1),
                    .n = 1,
                    .method = NINO_REFS_INDEX,
                    .h = { nino_dim(x, 1) },
                    .w = { nino_dim(x, 2) } };
    qwen_run r = { .net = &w->net, .at = -1, .n_txt = o.text };
    r.n_img = nino_dit_side(o.h[0], 2) * nino_dit_side(o.w[0], 2);
    nino_scope_begin(s, NINO_EV_STAGE, "control.qwen_image", 0, 0);
    r.time = qwen_time(s, f, &r);
    r.table = nino_rope_upload(s, &w->net.rope, &o, sizeof(o), qwen_rope_make);
    nino_tensor *img = nino_dit_tokens(s, x, 2);
    img = nino_linear_add(s, img, &w->net.img_in, nino_ref(hint->t[0]));
    nino_tensor *txt = nino_rms_norm(s, nino_ref(f->context), &w->net.txt_norm);
    txt = nino_linear_op(s, txt, &w->net.txt_in);
    for (int i = 0; i < n; i++) {
        qwen_run_block(s, &r, i, &img, &txt, i + 1 == n);
        nino_tensor *t = nino_linear_op(s, nino_ref(img), &w->blocks[i]);
        for (int k = i * each; k < (i + 1) * each && k < MAIN_BLOCKS; k++)
            nino_residual_put(s, &out->after[k], nino_ref(t), strength);
        nino_unref(t);
    }
    nino_scope_end(s);
    nino_tensor *used[] = { img, txt, r.time, r.table };
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        nino_unref(used[i]);
}

// ---- loading ---------------------------------------------------------------------------------
static void qwen_load_hint(nino_loader *l, nino_control_net *c, control_qwen *w)
{
    static const char name[] = "controlnet_x_embedder";
    const int64_t plain = CELLS * (int64_t) w->about.format->channels;
    nino_load_linear(l, name, -1, &w->hint_in);
    nino_load_expect(l, name, &w->hint_in, w->net.hidden);
    const int64_t wide = l->st ? plain : w->hint_in.w->c;
    c->has_mask = wide == plain + CELLS;
    if (wide != plain && !c->has_mask)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight takes %lld features where %lld are needed",
                       l->prefix, name, (long long) wide, (long long) plain);
}

static void qwen_load_outputs(nino_loader *l, control_qwen *w)
{
    const int n = w->net.n_blocks;
    if (!l->st && (n < 1 || n > MAIN_BLOCKS))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "%d blocks for a model of %d are not known", n,
                       MAIN_BLOCKS);
    w->blocks = nino_load_alloc(l, (size_t) n + 1, sizeof(*w->blocks));
    for (int i = 0; i < n && !l->st; i++) {
        const nino_name name = nino_name_of("controlnet_blocks.%d", i);
        nino_load_linear(l, name.s, w->net.hidden, &w->blocks[i]);
        nino_load_expect(l, name.s, &w->blocks[i], w->net.hidden);
    }
}

static void control_qwen_destroy(nino_control_net *c)
{
    nino_rope_cache_release(&((control_qwen *) c->net)->net.rope);
}

nino_status nino_control_qwen_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &c->layers, .err = err };
    control_qwen *w = nino_load_alloc(&l, 1, sizeof(*w));
    if (!w)
        return l.st;
    c->net = w;
    c->serves = NINO_DIFFUSION_QWEN;
    c->prepare = control_qwen_prepare;
    c->forward = control_qwen_forward;
    c->destroy = control_qwen_destroy;
    c->format = w->about.format = nino_latent_format_find("wan21");
    c->wants_vae = true;
    c->factor = 0;
    qwen_load_body(&l, &w->net, &w->about);
    qwen_load_hint(&l, c, w);
    qwen_load_outputs(&l, w);
    c->in_channels = w->about.in_channels;
    c->context_dim = w->about.context_dim;
    snprintf(c->detail, sizeof(c->detail), "ControlNet of Qwen-Image%s, %d blocks",
             c->has_mask ? ", inpainting" : "", w->net.n_blocks);
    return l.st;
}
