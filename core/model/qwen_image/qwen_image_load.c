// Reading a Qwen-Image transformer: sizes from the shapes of the tensors. ComfyUI, GGUF and
// huggingface/diffusers transformer_qwenimage.py have the same names.
#include "core/model/loader.h"
#include "core/model/qwen_image/qwen_image.h"

#define NORM_EPS 1e-6f
#define MODS 6 // vectors that modulate a side of a block

typedef struct qwen_loader {
    nino_loader l;
    qwen_image *net;
} qwen_loader;

static void qwen_load_layer(qwen_loader *q, const char *base, const char *name, int64_t cin,
                            int64_t rows, nino_linear *out)
{
    const nino_name full = nino_name_of("%s%s", base, name);
    nino_load_linear(&q->l, full.s, cin, out);
    if (rows >= 0)
        nino_load_expect(&q->l, full.s, out, rows);
}

static void qwen_load_norm(qwen_loader *q, const char *base, const char *name, nino_norm *out)
{
    nino_load_vector(&q->l, nino_name_of("%s%s.weight", base, name).s, q->net->depth, &out->gamma);
    out->groups = q->net->heads;
    out->eps = NORM_EPS;
}

static void qwen_load_half(qwen_loader *q, const char *base, bool is_txt, qwen_half *out)
{
    static const char *const img[] = { "attn.to_q",   "attn.to_k",   "attn.to_v",
                                       "attn.norm_q", "attn.norm_k", "attn.to_out.0" };
    static const char *const txt[] = {
        "attn.add_q_proj",   "attn.add_k_proj",   "attn.add_v_proj",
        "attn.norm_added_q", "attn.norm_added_k", "attn.to_add_out"
    };
    const char *const *name = is_txt ? txt : img;
    const int64_t h = q->net->hidden;
    qwen_load_layer(q, base, is_txt ? "txt_mod.1" : "img_mod.1", h, MODS * h, &out->mod);
    qwen_load_layer(q, base, name[0], h, h, &out->q);
    qwen_load_layer(q, base, name[1], h, h, &out->k);
    qwen_load_layer(q, base, name[2], h, h, &out->v);
    qwen_load_norm(q, base, name[3], &out->norm_q);
    qwen_load_norm(q, base, name[4], &out->norm_k);
    qwen_load_layer(q, base, name[5], h, h, &out->proj);
    qwen_load_layer(q, base, is_txt ? "txt_mlp.net.0.proj" : "img_mlp.net.0.proj", h, -1,
                    &out->mlp.in);
    qwen_load_layer(q, base, is_txt ? "txt_mlp.net.2" : "img_mlp.net.2",
                    nino_load_rows(&q->l, out->mlp.in.w), h, &out->mlp.out);
    out->mlp.in.act = NINO_ACT_GELU_TANH;
}

static void qwen_load_blocks(qwen_loader *q)
{
    qwen_image *net = q->net;
    const int n = nino_load_count(&q->l, "transformer_blocks.");
    net->blocks = nino_load_alloc(&q->l, (size_t) n, sizeof(*net->blocks));
    net->n_blocks = n;
    for (int i = 0; i < n && !q->l.st; i++) {
        const nino_name base = nino_name_of("transformer_blocks.%d.", i);
        qwen_load_half(q, base.s, false, &net->blocks[i].img);
        qwen_load_half(q, base.s, true, &net->blocks[i].txt);
    }
}

// Width, and how it divides into heads.
static void qwen_load_sizes(qwen_loader *q)
{
    static const char norm[] = "transformer_blocks.0.attn.norm_q.weight";
    nino_loader *l = &q->l;
    qwen_image *net = q->net;
    qwen_load_layer(q, "", "img_in", -1, -1, &net->img_in);
    const int64_t h = net->img_in.w ? net->img_in.w->n : 0, depth = nino_load_head(l, norm, h);
    if (l->st)
        return;
    net->hidden = (int) h;
    net->depth = (int) depth;
    net->axes = (nino_rope_axes){ .theta = 10000, .n = 3 }; // 16, 56 and 56 of 128
    net->axes.channels[0] = depth / 8;
    net->axes.channels[1] = net->axes.channels[2] = (depth - depth / 8) / 2;
    net->heads = (int) (h / depth);
    net->norm = (nino_norm){ .eps = NORM_EPS };
}

static void qwen_load_ends(qwen_loader *q, nino_diffusion *d)
{
    static const char time[] = "time_text_embed.timestep_embedder.linear_";
    nino_loader *l = &q->l;
    qwen_image *net = q->net;
    const int64_t h = net->hidden, cells = 4 * (int64_t) d->format->channels;
    qwen_load_layer(q, time, "1", -1, h, &net->time.in);
    qwen_load_layer(q, time, "2", h, h, &net->time.out);
    net->time.in.act = NINO_ACT_SILU;
    qwen_load_layer(q, "", "txt_in", -1, h, &net->txt_in);
    if (l->st)
        return;
    nino_load_vector(l, "txt_norm.weight", net->txt_in.w->c, &net->txt_norm.gamma);
    net->txt_norm.groups = 1;
    net->txt_norm.eps = NORM_EPS;
    d->in_channels = d->format->channels;
    d->context_dim = (int) net->txt_in.w->c;
    if (net->img_in.w->c != cells)
        nino_load_fail(l, NINO_ERR_FORMAT, "%simg_in.weight takes %lld features, %lld are needed",
                       l->prefix, (long long) net->img_in.w->c, (long long) cells);
}

// Networks of the same names that compute something else.
static void qwen_load_refuse_others(qwen_loader *q)
{
    nino_loader *l = &q->l;
    if (nino_load_has(l, "time_text_embed.addition_t_embedding.weight"))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "a Qwen-Image-Layered model, which this version cannot run");
    const nino_tensor_info *t =
        nino_weights_find(l->file, nino_name_of("%sproj_out.weight", l->prefix).s);
    if (t && t->rank == 2 && t->dim[0] == 128)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "a Mage-Flow model, which this version cannot run");
}

void qwen_load_body(nino_loader *l, qwen_image *net, nino_diffusion *d)
{
    qwen_loader q = { .l = *l, .net = net };
    nino_rope_cache_init(&net->rope);
    if (!q.l.st)
        qwen_load_sizes(&q);
    if (!q.l.st)
        qwen_load_ends(&q, d);
    if (!q.l.st)
        qwen_load_blocks(&q);
    *l = q.l;
}

nino_status nino_qwen_image_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                                 nino_error *err)
{
    qwen_loader q = { .l = { .file = file,
                             .prefix = prefix,
                             .layers = &d->layers,
                             .type = d->weight_type,
                             .err = err } };
    qwen_image *net = q.net = nino_load_alloc(&q.l, 1, sizeof(*q.net));
    if (!net)
        return q.l.st;
    d->kind = NINO_DIFFUSION_QWEN;
    d->wants_bf16 = true;
    d->has_refs = d->has_context_mask = d->has_residuals = true;
    d->format = nino_latent_format_find("wan21");
    d->net = net;
    d->forward = qwen_forward;
    d->destroy = qwen_destroy;
    net->ref_method = nino_load_has(&q.l, "__index_timestep_zero__") ? NINO_REFS_INDEX_TIMESTEP_ZERO
                                                                     : NINO_REFS_INDEX;
    qwen_load_refuse_others(&q);
    qwen_load_body(&q.l, net, d);
    const int64_t h = net->hidden, cells = 4 * (int64_t) d->format->channels;
    qwen_load_layer(&q, "", "norm_out.linear", h, 2 * h, &net->final_mod);
    qwen_load_layer(&q, "", "proj_out", h, cells, &net->final);
    return q.l.st;
}
