// Reading Wan's VAEs from a file: widths, blocks and levels come from tensor names and shapes; the
// original and diffusers names are both read.
// Sources: as vae_wan.c; huggingface/diffusers autoencoder_kl_wan.py (the other names).
#include "core/model/loader.h"
#include "core/model/vae/vae_wan.h"

#include <stdio.h>

// The norm divides by the length of the channels' vector, at least 1e-12.
#define NORM_EPS 1e-24f

typedef struct wan_loader {
    nino_loader l;
    bool is_diffusers, is_22;
} wan_loader;

static bool vae_wan_load_has(const wan_loader *w, const char *base, const char *leaf)
{
    return nino_load_has(&w->l, "%s%s", base, leaf);
}

// ---- layers: every step does nothing after the first failure ---------------------------------

// role: what the weight must be.
static void vae_wan_load_get_conv(wan_loader *w, const char *base, const char *leaf, int64_t cin,
                                  nino_weight_role role, nino_conv *out)
{
    const nino_name n = nino_name_of("%s%s", base, leaf);
    nino_load_conv(&w->l, n.s, cin, out);
    if (!w->l.st && out->w->role != role)
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "%s%s.weight is not a convolution of the size that is needed", w->l.prefix,
                       n.s);
    out->each_image = true;
}

// Rows of a 1x1 convolution.
static void get_rows(wan_loader *w, const char *base, int64_t first, int64_t rows, int64_t cin,
                     nino_conv *out)
{
    nino_linear m = { 0 };
    nino_load_part(&w->l, (nino_weight_part){ .name = base, .row0 = first, .rows = rows }, cin, &m);
    *out = (nino_conv){ .w = m.w, .b = m.b, .each_image = true };
}

static void vae_wan_load_get_norm(wan_loader *w, const char *base, const char *leaf, int64_t c,
                                  nino_norm *out)
{
    out->eps = NORM_EPS;
    nino_load_vector(&w->l, nino_name_of("%s%s.gamma", base, leaf).s, c, &out->gamma);
}

static void get_res(wan_loader *w, const char *base, int64_t *c, wan_res *out)
{
    static const char *const leaves[2][5] = {
        { ".residual.0", ".residual.2", ".residual.3", ".residual.6", ".shortcut" },
        { ".norm1", ".conv1", ".norm2", ".conv2", ".conv_shortcut" },
    };
    const char *const *n = leaves[w->is_diffusers];
    vae_wan_load_get_norm(w, base, n[0], *c, &out->norm1);
    vae_wan_load_get_conv(w, base, n[1], *c, NINO_W_CONV3D, &out->conv1);
    const int64_t width = nino_load_rows(&w->l, out->conv1.w);
    vae_wan_load_get_norm(w, base, n[2], width, &out->norm2);
    vae_wan_load_get_conv(w, base, n[3], width, NINO_W_CONV3D, &out->conv2);
    if (vae_wan_load_has(w, base, nino_name_of("%s.weight", n[4]).s))
        vae_wan_load_get_conv(w, base, n[4], *c, NINO_W_MATRIX, &out->shortcut);
    if (!w->l.st &&
        (out->conv2.w->n != width || (out->shortcut.w ? out->shortcut.w->n : *c) != width))
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "%s%s: its convolutions and its shortcut differ in width", w->l.prefix,
                       base);
    *c = width;
}

static void vae_wan_load_get_attn(wan_loader *w, const char *base, int64_t c, wan_attn *out)
{
    const nino_name qkv = nino_name_of("%s.to_qkv", base);
    vae_wan_load_get_norm(w, base, ".norm", c, &out->norm);
    get_rows(w, qkv.s, 0, c, c, &out->q);
    get_rows(w, qkv.s, c, c, c, &out->k);
    get_rows(w, qkv.s, 2 * c, c, c, &out->v);
    vae_wan_load_get_conv(w, base, ".proj", c, NINO_W_MATRIX, &out->proj);
    if (!w->l.st && out->proj.w->n != c)
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "%s%s: attention of another width is not known",
                       w->l.prefix, base);
}

static void vae_wan_load_get_mid(wan_loader *w, const char *half, int64_t *c, wan_half *h)
{
    static const char *const leaves[2][3] = {
        { ".middle.0", ".middle.1", ".middle.2" },
        { ".mid_block.resnets.0", ".mid_block.attentions.0", ".mid_block.resnets.1" },
    };
    const char *const *n = leaves[w->is_diffusers];
    get_res(w, nino_name_of("%s%s", half, n[0]).s, c, &h->mid1);
    vae_wan_load_get_attn(w, nino_name_of("%s%s", half, n[1]).s, *c, &h->attn);
    get_res(w, nino_name_of("%s%s", half, n[2]).s, c, &h->mid2);
}

static void get_sample(wan_loader *w, const char *base, bool is_decoder, int64_t *c,
                       wan_sample *out)
{
    vae_wan_load_get_conv(w, base, ".resample.1", *c, NINO_W_CONV3, &out->conv);
    out->conv.upsample2x = is_decoder;
    out->conv.stride = is_decoder ? 1 : 2;
    out->conv.pad = is_decoder ? NINO_PAD_SAME : NINO_PAD_END;
    const int64_t width = nino_load_rows(&w->l, out->conv.w), in = is_decoder ? *c : width;
    if (vae_wan_load_has(w, base, ".time_conv.weight"))
        vae_wan_load_get_conv(w, base, ".time_conv", in, NINO_W_CONV_T, &out->time);
    if (!w->l.st && out->time.w && out->time.w->n != (is_decoder ? 2 * in : in))
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "%s%s.time_conv.weight has another number of rows than its frames need",
                       w->l.prefix, base);
    *c = width;
}

// ---- groups ----------------------------------------------------------------------------------

static bool is_res(const wan_loader *w, const char *base)
{
    return vae_wan_load_has(w, base, w->is_diffusers ? ".conv1.weight" : ".residual.2.weight");
}

static bool is_sample(const wan_loader *w, const char *base)
{
    return vae_wan_load_has(w, base, ".resample.1.weight");
}

// Adds what is called `base` to the group; false: there is nothing of that name.
static bool vae_wan_load_add_step(wan_loader *w, const char *base, bool is_decoder, int64_t *c,
                                  wan_group *g)
{
    if (is_res(w, base)) {
        if (g->n_res == WAN_MAX_STEPS)
            nino_load_fail(&w->l, NINO_ERR_FORMAT, "%s%s: too many blocks", w->l.prefix, base);
        else
            get_res(w, base, c, &g->res[g->n_res++]);
    } else if (is_sample(w, base)) {
        get_sample(w, base, is_decoder, c, &g->sample);
    } else {
        return false;
    }
    g->width = *c;
    return true;
}

static wan_group *next_group(wan_loader *w, wan_half *h)
{
    if (h->n_groups == WAN_MAX_GROUPS) {
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "the VAE has more than %d levels", WAN_MAX_GROUPS);
        return NULL;
    }
    return &h->group[h->n_groups++];
}

// One list of blocks and changes of the resolution, which end a group.
static void get_flat(wan_loader *w, const char *base, bool is_decoder, int64_t *c, wan_half *h)
{
    wan_group *g = next_group(w, h);
    if (!g)
        return;
    for (int i = 0; !w->l.st; i++) {
        const nino_name n = nino_name_of("%s.%d", base, i);
        if (!is_res(w, n.s) && !is_sample(w, n.s))
            break;
        if (g->sample.conv.w)
            g = next_group(w, h);
        if (!g)
            break;
        vae_wan_load_add_step(w, n.s, is_decoder, c, g);
    }
}

// Lists of their own: decoder.upsamples.G.upsamples.I, decoder.up_blocks.G.resnets.I and so on.
static void get_grouped(wan_loader *w, const char *base, bool is_decoder, int64_t *c, wan_half *h)
{
    static const char *const samplers[] = { "upsamplers.0", "upsampler", "downsamplers.0",
                                            "downsampler" };
    const char *list = w->is_diffusers ? "resnets" : is_decoder ? "upsamples" : "downsamples";
    for (int i = 0; !w->l.st; i++) {
        if (!is_res(w, nino_name_of("%s.%d.%s.0", base, i, list).s))
            break;
        wan_group *g = next_group(w, h);
        for (int k = 0; g && !w->l.st; k++)
            if (!vae_wan_load_add_step(w, nino_name_of("%s.%d.%s.%d", base, i, list, k).s,
                                       is_decoder, c, g))
                break;
        for (int k = 0; g && w->is_diffusers && k < 4; k++)
            vae_wan_load_add_step(w, nino_name_of("%s.%d.%s", base, i, samplers[k]).s, is_decoder,
                                  c, g);
        if (g)
            g->has_shortcut = w->is_22 && (!is_decoder || g->sample.conv.w);
    }
}

static void get_groups(wan_loader *w, bool is_decoder, int64_t *c, wan_half *h)
{
    static const char *const bases[2][2] = { { "encoder.downsamples", "decoder.upsamples" },
                                             { "encoder.down_blocks", "decoder.up_blocks" } };
    const char *base = bases[w->is_diffusers][is_decoder];
    if (w->is_22 || (w->is_diffusers && is_decoder))
        get_grouped(w, base, is_decoder, c, h);
    else
        get_flat(w, base, is_decoder, c, h);
    if (!w->l.st && (h->n_groups < 1 || !h->group[0].n_res))
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "%s%s: no blocks", w->l.prefix, base);
}

// ---- halves ----------------------------------------------------------------------------------

static void vae_wan_load_get_decoder(wan_loader *w, nino_vae *v, wan_half *h)
{
    const bool df = w->is_diffusers;
    vae_wan_load_get_conv(w, df ? "post_quant_conv" : "conv2", "", -1, NINO_W_MATRIX, &h->quant);
    v->channels = (int) nino_load_rows(&w->l, h->quant.w);
    vae_wan_load_get_conv(w, df ? "decoder.conv_in" : "decoder.conv1", "", v->channels,
                          NINO_W_CONV3D, &h->conv_in);
    int64_t c = nino_load_rows(&w->l, h->conv_in.w);
    vae_wan_load_get_mid(w, "decoder", &c, h);
    get_groups(w, true, &c, h);
    vae_wan_load_get_norm(w, df ? "decoder.norm_out" : "decoder.head.0", "", c, &h->norm_out);
    vae_wan_load_get_conv(w, df ? "decoder.conv_out" : "decoder.head.2", "", c, NINO_W_CONV3D,
                          &h->conv_out);
}

static void vae_wan_load_get_encoder(wan_loader *w, nino_vae *v, wan_half *h)
{
    const bool df = w->is_diffusers;
    const char *quant = df ? "quant_conv" : "conv1";
    vae_wan_load_get_conv(w, df ? "encoder.conv_in" : "encoder.conv1", "", -1, NINO_W_CONV3D,
                          &h->conv_in);
    int64_t c = nino_load_rows(&w->l, h->conv_in.w);
    get_groups(w, false, &c, h);
    vae_wan_load_get_mid(w, "encoder", &c, h);
    vae_wan_load_get_norm(w, df ? "encoder.norm_out" : "encoder.head.0", "", c, &h->norm_out);
    vae_wan_load_get_conv(w, df ? "encoder.conv_out" : "encoder.head.2", "", c, NINO_W_CONV3D,
                          &h->conv_out);
    const int64_t both = nino_load_rows(&w->l, h->conv_out.w); // mean and logarithm of the variance
    if (!w->l.st && both % 2)
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "%s%s has an odd number of rows", w->l.prefix,
                       quant);
    get_rows(w, quant, 0, both / 2, both, &h->quant);
    if (!w->l.st && !v->has_decoder)
        v->channels = (int) (both / 2);
    if (!w->l.st && v->channels != both / 2)
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "the encoder makes %lld channels, the decoder takes %d",
                       (long long) both / 2, v->channels);
}

// How much smaller a half makes frames, how many of them it folds into one, and pixels into
// channels.
static void vae_wan_load_measure(const wan_half *h, int64_t colours, int *factor, int *time,
                                 int *patch)
{
    *patch = colours == 12 ? 2 : 1;
    *factor = *patch;
    *time = 1;
    for (int i = 0; i < h->n_groups; i++) {
        *factor *= h->group[i].sample.conv.w ? 2 : 1;
        *time *= h->group[i].sample.time.w ? 2 : 1;
    }
}

static void vae_wan_load_get_net(wan_loader *w, nino_vae *v, wan_net *net)
{
    int f[2] = { 0, 0 }, t[2] = { 0, 0 }, p[2] = { 0, 0 };
    int64_t colours = 0;
    v->has_decoder =
        vae_wan_load_has(w, w->is_diffusers ? "decoder.conv_in" : "decoder.conv1", ".weight");
    v->has_encoder =
        vae_wan_load_has(w, w->is_diffusers ? "encoder.conv_in" : "encoder.conv1", ".weight");
    if (v->has_decoder) {
        vae_wan_load_get_decoder(w, v, &net->decoder);
        colours = nino_load_rows(&w->l, net->decoder.conv_out.w);
        vae_wan_load_measure(&net->decoder, colours, &f[0], &t[0], &p[0]);
    }
    if (v->has_encoder) {
        vae_wan_load_get_encoder(w, v, &net->encoder);
        colours = w->l.st ? 0 : net->encoder.conv_in.w->c;
        vae_wan_load_measure(&net->encoder, colours, &f[1], &t[1], &p[1]);
    }
    if (!v->has_decoder && !v->has_encoder)
        nino_load_fail(&w->l, NINO_ERR_FORMAT,
                       "neither the first layer of an encoder nor that of a decoder is in it");
    const int i = !v->has_decoder;
    if (!w->l.st && v->has_decoder && v->has_encoder &&
        (f[0] != f[1] || t[0] != t[1] || p[0] != p[1]))
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "its encoder and its decoder do not fit together");
    if (!w->l.st && colours != (int64_t) p[i] * p[i] * 3)
        nino_load_fail(&w->l, NINO_ERR_FORMAT, "pictures of %lld channels are not known",
                       (long long) colours);
    v->factor = f[i];
    v->time_factor = t[i];
    net->patch = p[i];
}

nino_status nino_vae_wan_load(nino_weights *file, const char *prefix, nino_vae **out,
                              nino_error *err)
{
    const char *path = nino_weights_path(file);
    nino_vae *v = nino_vae_create(NINO_VAE_WAN, sizeof(wan_net), path, err);
    *out = NULL;
    if (!v)
        return NINO_ERR_NOMEM;
    wan_loader w = { .l = { file, prefix, &v->layers, .where = path, .err = err } };
    v->decode = nino_vae_decode_each;
    v->encode = nino_vae_encode_each;
    v->decode_next = wan_decode_next;
    v->encode_next = wan_encode_next;
    w.is_diffusers = vae_wan_load_has(&w, "decoder.mid_block.resnets.0.norm1.gamma", "");
    w.is_22 = vae_wan_load_has(&w, "decoder.upsamples.0.upsamples.0.residual.2.weight", "") ||
              vae_wan_load_has(&w, "decoder.up_blocks.0.upsampler.resample.1.weight", "");
    vae_wan_load_get_net(&w, v, v->net);
    if (w.l.st) {
        nino_vae_unref(&v);
        return w.l.st;
    }
    nino_vae_set_file(v, file, prefix);
    snprintf(v->family, sizeof(v->family), "%s", w.is_22 ? "wan22" : "wan21");
    snprintf(v->detail, sizeof(v->detail), "Wan %s video autoencoder, %d channels, %dx, %d frames",
             w.is_22 ? "2.2" : "2.1", v->channels, v->factor, v->time_factor);
    *out = v;
    return NINO_OK;
}
