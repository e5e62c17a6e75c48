// Reading a UNet: how many stages of what kind, their widths, depths and heads come from the names
// and shapes of the tensors. Names: CompVis/latent-diffusion openaimodel.py (checkpoints, ComfyUI)
// and huggingface/diffusers unet_2d_condition.py.
#include "core/model/unet/unet.h"

#include <stdio.h>

typedef struct unet_loader {
    nino_loader l;
    bool is_diffusers;
    int64_t channels, emb, context; // widths; 0 until the first tensor tells
} unet_loader;

static const nino_name no_name;

// ---- names -----------------------------------------------------------------------------------
static const char *leaf(const unet_loader *u, const char *ldm, const char *diffusers)
{
    return u->is_diffusers ? diffusers : ldm;
}

// What a module is, by its tensors; a convolution's own name goes to *conv. False: there is none.
static bool unet_load_kind_of(const unet_loader *u, const char *base, unet_kind *kind,
                              nino_name *conv)
{
    const nino_loader *l = &u->l;
    *conv = no_name;
    if (nino_load_has(l, "%s.in_layers.2.weight", base) ||
        nino_load_has(l, "%s.in_layers.0.weight", base) ||
        nino_load_has(l, "%s.conv1.weight", base))
        *kind = UNET_RES;
    else if (nino_load_has(l, "%s.proj_in.weight", base) ||
             nino_load_has(l, "%s.norm.weight", base))
        *kind = UNET_TRANSFORMER;
    else if (nino_load_has(l, "%s.op.weight", base)) {
        *kind = UNET_DOWN;
        *conv = nino_name_of("%s.op", base);
    } else if (nino_load_has(l, "%s.conv.weight", base)) {
        *kind = UNET_UP;
        *conv = nino_name_of("%s.conv", base);
    } else if (nino_load_has(l, "%s.weight", base)) {
        *kind = UNET_CONV;
        *conv = nino_name_of("%s", base);
    } else {
        return false;
    }
    return true;
}

// ---- layers ----------------------------------------------------------------------------------
static void load_res(unet_loader *u, const char *base, int64_t *c, unet_res *out)
{
    nino_loader *l = &u->l;
    const nino_name norm1 = nino_name_of("%s.%s", base, leaf(u, "in_layers.0", "norm1"));
    const nino_name conv1 = nino_name_of("%s.%s", base, leaf(u, "in_layers.2", "conv1"));
    const nino_name emb = nino_name_of("%s.%s", base, leaf(u, "emb_layers.1", "time_emb_proj"));
    const nino_name norm2 = nino_name_of("%s.%s", base, leaf(u, "out_layers.0", "norm2"));
    const nino_name conv2 = nino_name_of("%s.%s", base, leaf(u, "out_layers.3", "conv2"));
    const nino_name skip = nino_name_of("%s.%s", base, leaf(u, "skip_connection", "conv_shortcut"));
    nino_load_norm(l, norm1.s, *c, NINO_UNET_GROUPS, 1e-5f, &out->norm1);
    nino_load_conv(l, conv1.s, *c, &out->conv1);
    const int64_t width = nino_load_rows(l, out->conv1.w);
    nino_load_linear(l, emb.s, u->emb, &out->emb);
    nino_load_expect(l, emb.s, &out->emb, width);
    nino_load_norm(l, norm2.s, width, NINO_UNET_GROUPS, 1e-5f, &out->norm2);
    nino_load_conv(l, conv2.s, width, &out->conv2);
    if (!l->st && out->conv2.w->n != width)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       l->prefix, conv2.s, (long long) out->conv2.w->n, (long long) width);
    if (!l->st && (nino_load_has(l, "%s.weight", skip.s) || *c != width)) {
        nino_load_linear(l, skip.s, *c, &out->skip);
        nino_load_expect(l, skip.s, &out->skip, width);
    }
    *c = width;
}

static void load_attn(unet_loader *u, const char *base, const char *norm, int64_t c, int64_t from,
                      int heads, unet_attn *out)
{
    nino_loader *l = &u->l;
    const nino_name q = nino_name_of("%s.to_q", base), k = nino_name_of("%s.to_k", base);
    const nino_name v = nino_name_of("%s.to_v", base), o = nino_name_of("%s.to_out.0", base);
    nino_load_norm(l, norm, c, 1, 1e-5f, &out->norm);
    nino_load_linear(l, q.s, c, &out->q);
    nino_load_expect(l, q.s, &out->q, c);
    nino_load_linear(l, k.s, from, &out->k);
    nino_load_expect(l, k.s, &out->k, c);
    nino_load_linear(l, v.s, nino_load_rows(l, out->k.w) ? out->k.w->c : -1, &out->v);
    nino_load_expect(l, v.s, &out->v, c);
    nino_load_linear(l, o.s, c, &out->out);
    nino_load_expect(l, o.s, &out->out, c);
    out->heads = heads;
}

static void unet_load_load_block(unet_loader *u, const char *base, int64_t c, int heads,
                                 unet_block *out)
{
    nino_loader *l = &u->l;
    const nino_name self = nino_name_of("%s.attn1", base), cross = nino_name_of("%s.attn2", base);
    const nino_name norm3 = nino_name_of("%s.norm3", base);
    const nino_name gate = nino_name_of("%s.ff.net.0.proj", base);
    const nino_name ff = nino_name_of("%s.ff.net.2", base);
    load_attn(u, self.s, nino_name_of("%s.norm1", base).s, c, c, heads, &out->self);
    load_attn(u, cross.s, nino_name_of("%s.norm2", base).s, c, u->context ? u->context : -1, heads,
              &out->cross);
    if (!l->st)
        u->context = out->cross.k.w->c;
    nino_load_norm(l, norm3.s, c, 1, 1e-5f, &out->norm);
    nino_load_linear(l, gate.s, c, &out->gate);
    const int64_t hidden = nino_load_rows(l, out->gate.w) / 2;
    if (!l->st && out->gate.w->n != 2 * hidden)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has an odd number of rows", l->prefix,
                       gate.s);
    nino_load_linear(l, ff.s, hidden, &out->out);
    nino_load_expect(l, ff.s, &out->out, c);
}

// SD1 has convolutions around its transformers and 8 heads; its successors have linear layers and
// heads of 64 channels, whatever the width. The shapes do not tell more; reduced models of the same
// make, which are not as wide, have narrower heads.
static int unet_load_heads_of(const unet_loader *u, const char *proj_in, int64_t c)
{
    const nino_tensor_info *t =
        nino_weights_find(u->l.file, nino_name_of("%s%s.weight", u->l.prefix, proj_in).s);
    const int64_t depth = u->channels < 128 ? u->channels / 2 : 64;
    if (!t || t->rank != 2)
        return 8;
    return depth < 1 || c < depth ? 1 : (int) (c / depth);
}

static void load_transformer(unet_loader *u, const char *base, int64_t c, unet_transformer *out)
{
    nino_loader *l = &u->l;
    const nino_name in = nino_name_of("%s.proj_in", base), o = nino_name_of("%s.proj_out", base);
    nino_load_norm(l, nino_name_of("%s.norm", base).s, c, NINO_UNET_GROUPS, 1e-6f, &out->norm);
    nino_load_linear(l, in.s, c, &out->in);
    const int64_t width = nino_load_rows(l, out->in.w);
    const int heads = nino_load_heads(l, width, unet_load_heads_of(u, in.s, width));
    const int n = nino_load_count(l, nino_name_of("%s.transformer_blocks.", base).s);
    if (!n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s has no transformer blocks", l->prefix, base);
    out->block = nino_load_alloc(l, (size_t) n, sizeof(*out->block));
    out->n_blocks = n;
    for (int i = 0; i < n && !l->st; i++)
        unet_load_load_block(u, nino_name_of("%s.transformer_blocks.%d", base, i).s, width, heads,
                             &out->block[i]);
    nino_load_linear(l, o.s, width, &out->out);
    nino_load_expect(l, o.s, &out->out, c);
}

// Appends the module called base to st.
static void load_module(unet_loader *u, unet_kind kind, const char *base, int64_t *c,
                        unet_stage *st)
{
    nino_loader *l = &u->l;
    if (l->st)
        return;
    if (st->n == NINO_UNET_MODULES) {
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "%s%s: a stage of this many modules is not known",
                       l->prefix, base);
        return;
    }
    unet_module *m = &st->module[st->n++];
    m->kind = kind;
    if (kind == UNET_RES) {
        if ((m->res = nino_load_alloc(l, 1, sizeof(*m->res))))
            load_res(u, base, c, m->res);
    } else if (kind == UNET_TRANSFORMER) {
        if ((m->transformer = nino_load_alloc(l, 1, sizeof(*m->transformer))))
            load_transformer(u, base, *c, m->transformer);
    } else {
        nino_load_conv(l, base, *c, &m->conv);
        m->conv.stride = kind == UNET_DOWN ? 2 : 1;
        *c = nino_load_rows(l, m->conv.w);
    }
}

// ---- stages ----------------------------------------------------------------------------------
// input_blocks.N.M and the like.
static void load_ldm_stage(unet_loader *u, const char *base, int64_t *c, unet_stage *st)
{
    const int n = nino_load_count(&u->l, nino_name_of("%s.", base).s);
    for (int m = 0; m < n || !st->n; m++) {
        const nino_name name = nino_name_of("%s.%d", base, m);
        unet_kind kind = UNET_RES;
        nino_name conv;
        if (!unet_load_kind_of(u, name.s, &kind, &conv))
            nino_load_fail(&u->l, NINO_ERR_FORMAT, "%s%s is missing or of an unknown kind",
                           u->l.prefix, name.s);
        if (u->l.st)
            return;
        load_module(u, kind, conv.s[0] ? conv.s : name.s, c, st);
    }
}

static unet_stage *next_stage(unet_loader *u, unet_stage *list, int *n)
{
    if (*n == NINO_UNET_STAGES)
        nino_load_fail(&u->l, NINO_ERR_UNSUPPORTED, "more than %d stages are not known",
                       NINO_UNET_STAGES);
    return u->l.st ? NULL : &list[(*n)++];
}

static void load_down_ldm(unet_loader *u, unet *net, int64_t *c, int64_t *widths)
{
    const int n = nino_load_count(&u->l, "input_blocks.");
    for (int i = 0; i < n; i++) {
        const nino_name base = nino_name_of("input_blocks.%d", i);
        unet_stage *st = next_stage(u, net->down, &net->n_down);
        if (!st)
            return;
        load_ldm_stage(u, base.s, c, st);
        widths[i] = *c;
    }
}

// A resnet of a diffusers block with the attention beside it.
static bool load_pair(unet_loader *u, const char *block, int i, int64_t *c, unet_stage *st)
{
    const nino_name attn = nino_name_of("%s.attentions.%d", block, i);
    unet_kind kind;
    nino_name conv;
    load_module(u, UNET_RES, nino_name_of("%s.resnets.%d", block, i).s, c, st);
    if (!unet_load_kind_of(u, attn.s, &kind, &conv))
        return false;
    load_module(u, UNET_TRANSFORMER, attn.s, c, st);
    return true;
}

static void load_down_diffusers(unet_loader *u, unet *net, int64_t *c, int64_t *widths)
{
    nino_loader *l = &u->l;
    const int blocks = nino_load_count(l, "down_blocks.");
    unet_stage *st = next_stage(u, net->down, &net->n_down);
    load_module(u, UNET_CONV, "conv_in", c, st);
    widths[0] = *c;
    for (int b = 0; b < blocks && !l->st; b++) {
        const nino_name block = nino_name_of("down_blocks.%d", b);
        const nino_name down = nino_name_of("%s.downsamplers.0.conv", block.s);
        const int n = nino_load_count(l, nino_name_of("%s.resnets.", block.s).s);
        for (int i = 0; i < n && (st = next_stage(u, net->down, &net->n_down)); i++) {
            load_pair(u, block.s, i, c, st);
            widths[net->n_down - 1] = *c;
        }
        if (nino_load_has(l, "%s.weight", down.s) &&
            (st = next_stage(u, net->down, &net->n_down))) {
            load_module(u, UNET_DOWN, down.s, c, st);
            widths[net->n_down - 1] = *c;
        }
    }
}

// The width that stage i of the way up gets: what comes from below and the skip.
static int64_t joined(unet_loader *u, const unet *net, int i, int64_t c, const int64_t *widths)
{
    const int k = net->n_down - 1 - i;
    if (k < 0)
        nino_load_fail(&u->l, NINO_ERR_FORMAT, "there are more stages up than the %d down",
                       net->n_down);
    return k < 0 ? 0 : c + widths[k];
}

static void load_up_ldm(unet_loader *u, unet *net, int64_t *c, const int64_t *widths)
{
    const int n = nino_load_count(&u->l, "output_blocks.");
    for (int i = 0; i < n && !u->l.st; i++) {
        const nino_name base = nino_name_of("output_blocks.%d", i);
        unet_stage *st = next_stage(u, net->up, &net->n_up);
        *c = joined(u, net, i, *c, widths);
        if (st)
            load_ldm_stage(u, base.s, c, st);
    }
}

static void load_up_diffusers(unet_loader *u, unet *net, int64_t *c, const int64_t *widths)
{
    nino_loader *l = &u->l;
    const int blocks = nino_load_count(l, "up_blocks.");
    for (int b = 0; b < blocks && !l->st; b++) {
        const nino_name block = nino_name_of("up_blocks.%d", b);
        const nino_name up = nino_name_of("%s.upsamplers.0.conv", block.s);
        const int n = nino_load_count(l, nino_name_of("%s.resnets.", block.s).s);
        unet_stage *st = NULL;
        for (int i = 0; i < n && (st = next_stage(u, net->up, &net->n_up)); i++) {
            *c = joined(u, net, net->n_up - 1, *c, widths);
            load_pair(u, block.s, i, c, st);
        }
        if (st && nino_load_has(l, "%s.weight", up.s))
            load_module(u, UNET_UP, up.s, c, st);
    }
    if (net->n_up != net->n_down)
        nino_load_fail(l, NINO_ERR_FORMAT, "%d stages down, but %d up", net->n_down, net->n_up);
}

static void load_mid(unet_loader *u, unet *net, int64_t *c)
{
    // some distilled models have a shorter one, or none
    if (!nino_load_count(&u->l, leaf(u, "middle_block.", "mid_block.resnets.")))
        return;
    if (!u->is_diffusers)
        load_ldm_stage(u, "middle_block", c, &net->mid);
    else if (load_pair(u, "mid_block", 0, c, &net->mid))
        load_module(u, UNET_RES, "mid_block.resnets.1", c, &net->mid);
}

// ---- the whole -------------------------------------------------------------------------------
// UNets that are built from the same parts but need more than this file knows.
static void unet_load_refuse_others(unet_loader *u)
{
    static const struct {
        const char *tensor, *what;
    } others[] = {
        { "input_blocks.1.0.time_stack.in_layers.0.weight", "Stable Video Diffusion" },
        { "label_emb.weight", "the x4 upscaler" },
        { "class_embedding.weight", "the x4 upscaler" },
        { "down_blocks.0.motion_modules.0.proj_in.weight", "AnimateDiff" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (nino_load_has(&u->l, "%s", others[i].tensor))
            nino_load_fail(&u->l, NINO_ERR_UNSUPPORTED,
                           "its diffusion model is %s, which this version cannot run",
                           others[i].what);
}

static void load_embeddings(unet_loader *u, unet *net, unet_sizes *out)
{
    nino_loader *l = &u->l;
    const char *time1 = leaf(u, "time_embed.0", "time_embedding.linear_1");
    const char *time2 = leaf(u, "time_embed.2", "time_embedding.linear_2");
    const bool is_class = nino_load_has(l, "class_embedding.linear_1.weight"); // unCLIP, Lotus
    const char *label1 =
        leaf(u, "label_emb.0.0", is_class ? "class_embedding.linear_1" : "add_embedding.linear_1");
    const char *label2 =
        leaf(u, "label_emb.0.2", is_class ? "class_embedding.linear_2" : "add_embedding.linear_2");
    const bool has_label =
        nino_load_has(l, "%s.weight", label1) || nino_load_has(l, "%s.weight", label2);
    nino_load_linear(l, time1, -1, &net->time1);
    nino_load_linear(l, time2, nino_load_rows(l, net->time1.w), &net->time2);
    u->emb = nino_load_rows(l, net->time2.w);
    u->channels = l->st ? 0 : net->time1.w->c;
    net->channels = (int) u->channels;
    net->time1.act = NINO_ACT_SILU;
    net->time2.act = has_label ? NINO_ACT_NONE : NINO_ACT_SILU;
    if (!has_label)
        return;
    nino_load_linear(l, label1, -1, &net->label1);
    nino_load_linear(l, label2, nino_load_rows(l, net->label1.w), &net->label2);
    nino_load_expect(l, label2, &net->label2, u->emb);
    net->label1.act = net->label2.act = NINO_ACT_SILU;
    out->y_dim = l->st ? 0 : net->label1.w->c;
}

static void unet_load_encoder(unet_loader *u, unet *net, unet_sizes *out)
{
    nino_loader *l = &u->l;
    int64_t c = -1;
    u->is_diffusers =
        nino_load_has(l, "conv_in.weight") || nino_load_has(l, "time_embedding.linear_1.weight");
    out->is_diffusers = u->is_diffusers;
    unet_load_refuse_others(u);
    load_embeddings(u, net, out);
    if (u->is_diffusers)
        load_down_diffusers(u, net, &c, out->width);
    else
        load_down_ldm(u, net, &c, out->width);
    if (!l->st && (!net->n_down || net->down[0].module[0].kind != UNET_CONV))
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight is missing", l->prefix,
                       leaf(u, "input_blocks.0.0", "conv_in"));
    out->in_channels = l->st ? 0 : net->down[0].module[0].conv.w->c;
    load_mid(u, net, &c);
    out->middle = c;
    if (!u->context)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "a UNet without a text input is not known");
    out->context = u->context;
}

void unet_load_down(nino_loader *l, unet *net, unet_sizes *out)
{
    unet_loader u = { .l = *l };
    *out = (unet_sizes){ .in_channels = 0 };
    unet_load_encoder(&u, net, out);
    *l = u.l;
}

static void unet_load_all(unet_loader *u, unet *net, nino_diffusion *d)
{
    nino_loader *l = &u->l;
    unet_sizes sizes = { .in_channels = 0 };
    unet_load_encoder(u, net, &sizes);
    int64_t c = sizes.middle;
    d->in_channels = (int) sizes.in_channels;
    d->context_dim = (int) sizes.context;
    d->y_dim = (int) sizes.y_dim;
    if (u->is_diffusers)
        load_up_diffusers(u, net, &c, sizes.width);
    else
        load_up_ldm(u, net, &c, sizes.width);
    nino_load_norm(l, leaf(u, "out.0", "conv_norm_out"), c, NINO_UNET_GROUPS, 1e-5f,
                   &net->norm_out);
    nino_load_conv(l, leaf(u, "out.2", "conv_out"), c, &net->conv_out);
}

static int unet_load_cross_of(const unet_stage *st, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < st[i].n; k++)
            sum += st[i].module[k].transformer ? st[i].module[k].transformer->n_blocks : 0;
    return sum;
}

nino_status nino_unet_load(nino_weights *file, const char *prefix, nino_diffusion *d,
                           nino_error *err)
{
    unet_loader u = { .l = { .file = file,
                             .prefix = prefix,
                             .layers = &d->layers,
                             .type = d->weight_type,
                             .err = err } };
    unet *net = nino_load_alloc(&u.l, 1, sizeof(*net));
    if (!net)
        return u.l.st;
    d->kind = NINO_DIFFUSION_UNET;
    d->net = net;
    d->forward = unet_forward;
    d->destroy = unet_destroy;
    pthread_mutex_init(&net->bases.lock, NULL);
    d->has_residuals = true;
    unet_load_all(&u, net, d);
    net->n_cross_mid = unet_load_cross_of(&net->mid, 1);
    net->n_cross = unet_load_cross_of(net->down, net->n_down) + net->n_cross_mid +
                   unet_load_cross_of(net->up, net->n_up);
    if (!u.l.st && net->conv_out.w->n != d->format->channels)
        nino_load_fail(&u.l, NINO_ERR_UNSUPPORTED,
                       "it makes %lld channels where the %s latent has %d",
                       (long long) net->conv_out.w->n, d->format->name, d->format->channels);
    if (!u.l.st && d->in_channels < d->format->channels)
        nino_load_fail(&u.l, NINO_ERR_FORMAT, "it takes %d channels where the %s latent has %d",
                       d->in_channels, d->format->name, d->format->channels);
    return u.l.st;
}
