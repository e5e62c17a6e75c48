// Reading Wan's VAEs from a file: widths, blocks and levels come from tensor names and shapes; the
// original and diffusers names are both read.
// Sources: as vae_wan.c; huggingface/diffusers autoencoder_kl_wan.py (the other names).
#include "core/base/error.h"
#include "core/model/loader.h"
#include "core/model/vae/vae_wan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The norm divides by the length of the channels' vector, at least 1e-12.
#define NORM_EPS 1e-24f

typedef struct loader {
    nino_weights *file;
    const char *prefix;
    bool is_diffusers, is_22;
    nino_status st;
    nino_error *err;
} loader;

static bool has(const loader *l, const char *base, const char *leaf)
{
    return nino_weights_find(l->file, nino_name_of("%s%s%s", l->prefix, base, leaf).s) != NULL;
}

__attribute__((format(printf, 2, 3))) static void fail(loader *l, const char *fmt, ...)
{
    char msg[200];
    va_list ap;
    if (l->st)
        return;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    l->st = nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file), "%s", msg);
}

// ---- layers: every step does nothing after the first failure ---------------------------------

// role: what the weight must be.
static void get_conv(loader *l, const char *base, const char *leaf, int64_t cin,
                     nino_weight_role role, nino_conv *out)
{
    const nino_name n = nino_name_of("%s%s", base, leaf);
    if (!l->st)
        l->st = nino_conv_get(l->file, l->prefix, n.s, cin, out, l->err);
    if (!l->st && out->w->role != role)
        fail(l, "%s%s.weight is not a convolution of the size that is needed", l->prefix, n.s);
    out->each_image = true;
}

// Rows of a 1x1 convolution.
static void get_rows(loader *l, const char *base, int64_t first, int64_t rows, int64_t cin,
                     nino_conv *out)
{
    const nino_weight_part part = { .name = base, .row0 = first, .rows = rows };
    nino_linear m = { 0 };
    if (!l->st)
        l->st = nino_linear_get_parts(l->file, l->prefix, &part, 1, cin, &m, l->err);
    *out = (nino_conv){ .w = m.w, .b = m.b, .each_image = true };
}

static void get_norm(loader *l, const char *base, const char *leaf, int64_t c, nino_norm *out)
{
    const nino_name n = nino_name_of("%s%s.gamma", base, leaf);
    out->eps = NORM_EPS;
    if (!l->st)
        l->st = nino_weight_get(l->file, l->prefix, n.s, NINO_W_VECTOR, c, -1, true, &out->gamma,
                                l->err);
}

static int64_t rows_of(const loader *l, const nino_weight *w) { return l->st ? 0 : w->n; }

static void get_res(loader *l, const char *base, int64_t *c, wan_res *out)
{
    static const char *const leaves[2][5] = {
        { ".residual.0", ".residual.2", ".residual.3", ".residual.6", ".shortcut" },
        { ".norm1", ".conv1", ".norm2", ".conv2", ".conv_shortcut" },
    };
    const char *const *n = leaves[l->is_diffusers];
    get_norm(l, base, n[0], *c, &out->norm1);
    get_conv(l, base, n[1], *c, NINO_W_CONV3D, &out->conv1);
    const int64_t width = rows_of(l, out->conv1.w);
    get_norm(l, base, n[2], width, &out->norm2);
    get_conv(l, base, n[3], width, NINO_W_CONV3D, &out->conv2);
    if (has(l, base, nino_name_of("%s.weight", n[4]).s))
        get_conv(l, base, n[4], *c, NINO_W_MATRIX, &out->shortcut);
    if (!l->st &&
        (out->conv2.w->n != width || (out->shortcut.w ? out->shortcut.w->n : *c) != width))
        fail(l, "%s%s: its convolutions and its shortcut differ in width", l->prefix, base);
    *c = width;
}

static void get_attn(loader *l, const char *base, int64_t c, wan_attn *out)
{
    const nino_name qkv = nino_name_of("%s.to_qkv", base);
    get_norm(l, base, ".norm", c, &out->norm);
    get_rows(l, qkv.s, 0, c, c, &out->q);
    get_rows(l, qkv.s, c, c, c, &out->k);
    get_rows(l, qkv.s, 2 * c, c, c, &out->v);
    get_conv(l, base, ".proj", c, NINO_W_MATRIX, &out->proj);
    if (!l->st && out->proj.w->n != c)
        fail(l, "%s%s: attention of another width is not known", l->prefix, base);
}

static void get_mid(loader *l, const char *half, int64_t *c, wan_half *h)
{
    static const char *const leaves[2][3] = {
        { ".middle.0", ".middle.1", ".middle.2" },
        { ".mid_block.resnets.0", ".mid_block.attentions.0", ".mid_block.resnets.1" },
    };
    const char *const *n = leaves[l->is_diffusers];
    get_res(l, nino_name_of("%s%s", half, n[0]).s, c, &h->mid1);
    get_attn(l, nino_name_of("%s%s", half, n[1]).s, *c, &h->attn);
    get_res(l, nino_name_of("%s%s", half, n[2]).s, c, &h->mid2);
}

static void get_sample(loader *l, const char *base, bool is_decoder, int64_t *c, wan_sample *out)
{
    get_conv(l, base, ".resample.1", *c, NINO_W_CONV3, &out->conv);
    out->conv.upsample2x = is_decoder;
    out->conv.stride = is_decoder ? 1 : 2;
    out->conv.pad = is_decoder ? NINO_PAD_SAME : NINO_PAD_END;
    const int64_t width = rows_of(l, out->conv.w), in = is_decoder ? *c : width;
    if (has(l, base, ".time_conv.weight"))
        get_conv(l, base, ".time_conv", in, NINO_W_CONV_T, &out->time);
    if (!l->st && out->time.w && out->time.w->n != (is_decoder ? 2 * in : in))
        fail(l, "%s%s.time_conv.weight has another number of rows than its frames need", l->prefix,
             base);
    *c = width;
}

// ---- groups ----------------------------------------------------------------------------------

static bool is_res(const loader *l, const char *base)
{
    return has(l, base, l->is_diffusers ? ".conv1.weight" : ".residual.2.weight");
}

static bool is_sample(const loader *l, const char *base)
{
    return has(l, base, ".resample.1.weight");
}

// Adds what is called `base` to the group; false: there is nothing of that name.
static bool add_step(loader *l, const char *base, bool is_decoder, int64_t *c, wan_group *g)
{
    if (is_res(l, base)) {
        if (g->n_res == WAN_MAX_STEPS)
            fail(l, "%s%s: too many blocks", l->prefix, base);
        else
            get_res(l, base, c, &g->res[g->n_res++]);
    } else if (is_sample(l, base)) {
        get_sample(l, base, is_decoder, c, &g->sample);
    } else {
        return false;
    }
    g->width = *c;
    return true;
}

static wan_group *next_group(loader *l, wan_half *h)
{
    if (h->n_groups == WAN_MAX_GROUPS) {
        fail(l, "the VAE has more than %d levels", WAN_MAX_GROUPS);
        return NULL;
    }
    return &h->group[h->n_groups++];
}

// One list of blocks and changes of the resolution, which end a group.
static void get_flat(loader *l, const char *base, bool is_decoder, int64_t *c, wan_half *h)
{
    wan_group *g = next_group(l, h);
    if (!g)
        return;
    for (int i = 0; !l->st; i++) {
        const nino_name n = nino_name_of("%s.%d", base, i);
        if (!is_res(l, n.s) && !is_sample(l, n.s))
            break;
        if (g->sample.conv.w)
            g = next_group(l, h);
        if (!g)
            break;
        add_step(l, n.s, is_decoder, c, g);
    }
}

// Lists of their own: decoder.upsamples.G.upsamples.I, decoder.up_blocks.G.resnets.I and so on.
static void get_grouped(loader *l, const char *base, bool is_decoder, int64_t *c, wan_half *h)
{
    static const char *const samplers[] = { "upsamplers.0", "upsampler", "downsamplers.0",
                                            "downsampler" };
    const char *list = l->is_diffusers ? "resnets" : is_decoder ? "upsamples" : "downsamples";
    for (int i = 0; !l->st; i++) {
        if (!is_res(l, nino_name_of("%s.%d.%s.0", base, i, list).s))
            break;
        wan_group *g = next_group(l, h);
        for (int k = 0; g && !l->st; k++)
            if (!add_step(l, nino_name_of("%s.%d.%s.%d", base, i, list, k).s, is_decoder, c, g))
                break;
        for (int k = 0; g && l->is_diffusers && k < 4; k++)
            add_step(l, nino_name_of("%s.%d.%s", base, i, samplers[k]).s, is_decoder, c, g);
        if (g)
            g->has_shortcut = l->is_22 && (!is_decoder || g->sample.conv.w);
    }
}

static void get_groups(loader *l, bool is_decoder, int64_t *c, wan_half *h)
{
    static const char *const bases[2][2] = { { "encoder.downsamples", "decoder.upsamples" },
                                             { "encoder.down_blocks", "decoder.up_blocks" } };
    const char *base = bases[l->is_diffusers][is_decoder];
    if (l->is_22 || (l->is_diffusers && is_decoder))
        get_grouped(l, base, is_decoder, c, h);
    else
        get_flat(l, base, is_decoder, c, h);
    if (!l->st && (h->n_groups < 1 || !h->group[0].n_res))
        fail(l, "%s%s: no blocks", l->prefix, base);
}

// ---- halves ----------------------------------------------------------------------------------

static void get_decoder(loader *l, nino_vae *v, wan_half *h)
{
    const bool df = l->is_diffusers;
    get_conv(l, df ? "post_quant_conv" : "conv2", "", -1, NINO_W_MATRIX, &h->quant);
    v->channels = (int) rows_of(l, h->quant.w);
    get_conv(l, df ? "decoder.conv_in" : "decoder.conv1", "", v->channels, NINO_W_CONV3D,
             &h->conv_in);
    int64_t c = rows_of(l, h->conv_in.w);
    get_mid(l, "decoder", &c, h);
    get_groups(l, true, &c, h);
    get_norm(l, df ? "decoder.norm_out" : "decoder.head.0", "", c, &h->norm_out);
    get_conv(l, df ? "decoder.conv_out" : "decoder.head.2", "", c, NINO_W_CONV3D, &h->conv_out);
}

static void get_encoder(loader *l, nino_vae *v, wan_half *h)
{
    const bool df = l->is_diffusers;
    const char *quant = df ? "quant_conv" : "conv1";
    get_conv(l, df ? "encoder.conv_in" : "encoder.conv1", "", -1, NINO_W_CONV3D, &h->conv_in);
    int64_t c = rows_of(l, h->conv_in.w);
    get_groups(l, false, &c, h);
    get_mid(l, "encoder", &c, h);
    get_norm(l, df ? "encoder.norm_out" : "encoder.head.0", "", c, &h->norm_out);
    get_conv(l, df ? "encoder.conv_out" : "encoder.head.2", "", c, NINO_W_CONV3D, &h->conv_out);
    const int64_t both = rows_of(l, h->conv_out.w); // mean and logarithm of the variance
    if (!l->st && both % 2)
        fail(l, "%s%s has an odd number of rows", l->prefix, quant);
    get_rows(l, quant, 0, both / 2, both, &h->quant);
    if (!l->st && !v->has_decoder)
        v->channels = (int) (both / 2);
    if (!l->st && v->channels != both / 2)
        fail(l, "the encoder makes %lld channels, the decoder takes %d", (long long) both / 2,
             v->channels);
}

// How much smaller a half makes frames, how many of them it folds into one, and pixels into
// channels.
static void measure(const wan_half *h, int64_t colours, int *factor, int *time, int *patch)
{
    *patch = colours == 12 ? 2 : 1;
    *factor = *patch;
    *time = 1;
    for (int i = 0; i < h->n_groups; i++) {
        *factor *= h->group[i].sample.conv.w ? 2 : 1;
        *time *= h->group[i].sample.time.w ? 2 : 1;
    }
}

static void get_net(loader *l, nino_vae *v, wan_net *net)
{
    int f[2] = { 0, 0 }, t[2] = { 0, 0 }, p[2] = { 0, 0 };
    int64_t colours = 0;
    v->has_decoder = has(l, l->is_diffusers ? "decoder.conv_in" : "decoder.conv1", ".weight");
    v->has_encoder = has(l, l->is_diffusers ? "encoder.conv_in" : "encoder.conv1", ".weight");
    if (v->has_decoder) {
        get_decoder(l, v, &net->decoder);
        colours = rows_of(l, net->decoder.conv_out.w);
        measure(&net->decoder, colours, &f[0], &t[0], &p[0]);
    }
    if (v->has_encoder) {
        get_encoder(l, v, &net->encoder);
        colours = l->st ? 0 : net->encoder.conv_in.w->c;
        measure(&net->encoder, colours, &f[1], &t[1], &p[1]);
    }
    if (!v->has_decoder && !v->has_encoder)
        fail(l, "neither the first layer of an encoder nor that of a decoder is in it");
    const int i = !v->has_decoder;
    if (!l->st && v->has_decoder && v->has_encoder &&
        (f[0] != f[1] || t[0] != t[1] || p[0] != p[1]))
        fail(l, "its encoder and its decoder do not fit together");
    if (!l->st && colours != (int64_t) p[i] * p[i] * 3)
        fail(l, "pictures of %lld channels are not known", (long long) colours);
    v->factor = f[i];
    v->time_factor = t[i];
    net->patch = p[i];
}

static void release_res(wan_res *r)
{
    nino_norm_release(&r->norm1);
    nino_norm_release(&r->norm2);
    nino_conv_release(&r->conv1);
    nino_conv_release(&r->conv2);
    nino_conv_release(&r->shortcut);
}

static void release_half(wan_half *h)
{
    nino_conv *const convs[] = { &h->conv_in, &h->conv_out, &h->quant,    &h->attn.q,
                                 &h->attn.k,  &h->attn.v,   &h->attn.proj };
    for (size_t i = 0; i < sizeof(convs) / sizeof(convs[0]); i++)
        nino_conv_release(convs[i]);
    nino_norm_release(&h->attn.norm);
    nino_norm_release(&h->norm_out);
    release_res(&h->mid1);
    release_res(&h->mid2);
    for (int g = 0; g < h->n_groups; g++) {
        for (int i = 0; i < h->group[g].n_res; i++)
            release_res(&h->group[g].res[i]);
        nino_conv_release(&h->group[g].sample.conv);
        nino_conv_release(&h->group[g].sample.time);
    }
}

static void destroy(nino_vae *v)
{
    wan_net *net = v->net;
    if (net) {
        release_half(&net->encoder);
        release_half(&net->decoder);
    }
    free(net);
}

nino_status nino_vae_wan_load(nino_weights *file, const char *prefix, nino_vae **out,
                              nino_error *err)
{
    loader l = { .file = file, .prefix = prefix, .err = err };
    nino_vae *v = calloc(1, sizeof(*v));
    *out = NULL;
    if (!v || !(v->net = calloc(1, sizeof(wan_net)))) {
        free(v);
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "no memory for its layers");
    }
    *v = (nino_vae){ .kind = NINO_VAE_WAN,
                     .refs = 1,
                     .net = v->net,
                     .scale = 1,
                     .decode = nino_vae_decode_each,
                     .encode = nino_vae_encode_each,
                     .decode_next = wan_decode_next,
                     .encode_next = wan_encode_next,
                     .destroy = destroy };
    l.is_diffusers = has(&l, "decoder.mid_block.resnets.0.norm1.gamma", "");
    l.is_22 = has(&l, "decoder.upsamples.0.upsamples.0.residual.2.weight", "") ||
              has(&l, "decoder.up_blocks.0.upsampler.resample.1.weight", "");
    get_net(&l, v, v->net);
    if (l.st) {
        nino_vae_unref(&v);
        return l.st;
    }
    v->weight_bytes = nino_weights_bytes(file, prefix);
    v->identity = nino_weights_identity(file);
    snprintf(v->family, sizeof(v->family), "%s", l.is_22 ? "wan22" : "wan21");
    snprintf(v->name, sizeof(v->name), "%s", nino_weights_path(file));
    snprintf(v->detail, sizeof(v->detail), "Wan %s video autoencoder, %d channels, %dx, %d frames",
             l.is_22 ? "2.2" : "2.1", v->channels, v->factor, v->time_factor);
    *out = v;
    return NINO_OK;
}
