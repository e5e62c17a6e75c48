// AutoencoderKL: the VAE of SD1, SD2, SDXL, SD3, Flux.1 and the x4 upscaler. Levels, blocks and
// widths come from tensor names and shapes; LDM and diffusers names are both read.
// Sources: CompVis/latent-diffusion ldm/modules/diffusionmodules/model.py (the network, LDM names),
// huggingface/diffusers autoencoder_kl.py and vae.py (the other names), ComfyUI sd.py (pixel range,
// posterior mean), latent_formats.py (scale and shift).
#include "core/base/error.h"
#include "core/model/detect.h"
#include "core/model/loader.h"
#include "core/model/vae/vae.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 8
#define MAX_BLOCKS 8
#define NORM_GROUPS 32
#define NORM_EPS 1e-6f

typedef struct resnet {
    nino_norm norm1, norm2;
    nino_conv conv1, conv2;
    nino_linear shortcut; // where the width changes
} resnet;

typedef struct attn {
    nino_norm norm;
    nino_linear q, k, v, proj;
} attn;

typedef struct level {
    resnet block[MAX_BLOCKS];
    int n_blocks;
    nino_conv resample; // after the blocks; no weight: none
} level;

typedef struct half { // encoder or decoder
    nino_conv conv_in, conv_out;
    level level[MAX_LEVELS]; // in the order of the names: 0 is the full resolution
    int n_levels;
    resnet mid1, mid2;
    attn mid_attn;
    nino_norm norm_out;
    nino_linear quant; // quant_conv or post_quant_conv; optional
} half;

typedef struct kl_net {
    half encoder, decoder;
} kl_net;

// ---- forward ---------------------------------------------------------------------------------
// The shortcut goes first, so that the norm may work in place and its input is gone early.
static nino_tensor *run_resnet(nino_stream *s, const resnet *w, nino_tensor *x)
{
    nino_tensor *skip = w->shortcut.w ? nino_linear_op(s, nino_ref(x), &w->shortcut) : nino_ref(x);
    x = nino_group_norm_silu(s, x, &w->norm1);
    x = nino_conv2d(s, x, &w->conv1);
    x = nino_group_norm_silu(s, x, &w->norm2);
    return nino_conv2d_add(s, x, &w->conv2, skip);
}

// One head over all positions, as wide as the features.
static nino_tensor *run_attn(nino_stream *s, const attn *w, nino_tensor *x)
{
    const int64_t n = nino_dim(x, 0), height = nino_dim(x, 1), width = nino_dim(x, 2),
                  c = nino_dim(x, 3);
    nino_tensor *t = nino_group_norm(s, nino_ref(x), &w->norm, NINO_ACT_NONE);
    t = nino_reshape(s, t, NINO_SHAPE(n, height * width, c));
    nino_tensor *q = nino_linear_op(s, nino_ref(t), &w->q);
    nino_tensor *k = nino_linear_op(s, nino_ref(t), &w->k);
    nino_tensor *v = nino_linear_op(s, t, &w->v);
    t = nino_attention(s, q, k, v, 1, 0);
    t = nino_reshape(s, t, NINO_SHAPE(n, height, width, c));
    return nino_linear_add(s, t, &w->proj, x);
}

static nino_tensor *run_mid(nino_stream *s, const half *h, const char *stage, nino_tensor *x)
{
    nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
    x = run_resnet(s, &h->mid1, x);
    x = run_attn(s, &h->mid_attn, x);
    x = run_resnet(s, &h->mid2, x);
    nino_scope_end(s);
    return x;
}

static nino_tensor *run_level(nino_stream *s, const level *l, const char *what, int i,
                              nino_tensor *x)
{
    char stage[32];
    snprintf(stage, sizeof(stage), "%s.%d", what, i);
    nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
    for (int b = 0; b < l->n_blocks; b++)
        x = run_resnet(s, &l->block[b], x);
    if (l->resample.w)
        x = nino_conv2d(s, x, &l->resample);
    nino_scope_end(s);
    return x;
}

static nino_tensor *decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const half *d = &((const kl_net *) v->net)->decoder;
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.in", 0, 0);
    if (d->quant.w)
        z = nino_linear_op(s, z, &d->quant);
    nino_tensor *x = nino_conv2d(s, z, &d->conv_in);
    nino_scope_end(s);
    x = run_mid(s, d, "decoder.mid", x);
    for (int i = d->n_levels - 1; i >= 0; i--)
        x = run_level(s, &d->level[i], "decoder.up", i, x);
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.out", 0, 0);
    x = nino_group_norm_silu(s, x, &d->norm_out);
    x = nino_conv2d(s, x, &d->conv_out);
    x = nino_scale(s, x, 0.5f, 0.5f); // -1..1 to 0..1
    nino_scope_end(s);
    return x;
}

static nino_tensor *encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    const half *e = &((const kl_net *) v->net)->encoder;
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.in", 0, 0);
    nino_tensor *x = nino_scale(s, pixels, 2, -1);
    x = nino_conv2d(s, x, &e->conv_in);
    nino_scope_end(s);
    for (int i = 0; i < e->n_levels; i++)
        x = run_level(s, &e->level[i], "encoder.down", i, x);
    x = run_mid(s, e, "encoder.mid", x);
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.out", 0, 0);
    x = nino_group_norm_silu(s, x, &e->norm_out);
    x = nino_conv2d(s, x, &e->conv_out);
    if (e->quant.w)
        x = nino_linear_op(s, x, &e->quant);
    x = nino_slice(s, x, 3, 0, v->channels); // the mean; the rest is the logarithm of the variance
    nino_scope_end(s);
    return x;
}

// ---- names -----------------------------------------------------------------------------------
typedef struct loader {
    nino_weights *file;
    const char *prefix;
    bool is_diffusers;
    int n_levels; // of the half being read: diffusers counts decoder levels from the other end
    nino_status st;
    nino_error *err;
} loader;

static nino_name level_name(const loader *l, bool is_decoder, int i)
{
    if (l->is_diffusers)
        return is_decoder ? nino_name_of("decoder.up_blocks.%d", l->n_levels - 1 - i)
                          : nino_name_of("encoder.down_blocks.%d", i);
    return is_decoder ? nino_name_of("decoder.up.%d", i) : nino_name_of("encoder.down.%d", i);
}

static nino_name block_name(const loader *l, bool is_decoder, int i, int b)
{
    return nino_name_of(l->is_diffusers ? "%s.resnets.%d" : "%s.block.%d",
                        level_name(l, is_decoder, i).s, b);
}

static nino_name resample_name(const loader *l, bool is_decoder, int i)
{
    const char *leaf = is_decoder ? (l->is_diffusers ? "upsamplers.0.conv" : "upsample.conv")
                                  : (l->is_diffusers ? "downsamplers.0.conv" : "downsample.conv");
    return nino_name_of("%s.%s", level_name(l, is_decoder, i).s, leaf);
}

static bool has(const loader *l, const char *base, const char *leaf)
{
    return nino_weights_find(l->file, nino_name_of("%s%s%s", l->prefix, base, leaf).s) != NULL;
}

// ---- loading: every step does nothing after the first failure --------------------------------
static void get_conv(loader *l, const char *base, const char *leaf, int64_t cin, nino_conv *out)
{
    if (!l->st)
        l->st =
            nino_conv_get(l->file, l->prefix, nino_name_of("%s%s", base, leaf).s, cin, out, l->err);
}

static void get_linear(loader *l, const char *base, const char *leaf, int64_t cin, nino_linear *out)
{
    if (!l->st)
        l->st = nino_linear_get(l->file, l->prefix, nino_name_of("%s%s", base, leaf).s, cin, out,
                                l->err);
}

static void get_norm(loader *l, const char *base, const char *leaf, int64_t c, nino_norm *out)
{
    const nino_name n = nino_name_of("%s%s", base, leaf);
    if (!l->st)
        l->st = nino_norm_get(l->file, l->prefix, n.s, NORM_GROUPS, NORM_EPS, out, l->err);
    if (!l->st && (out->gamma->n != c || c % NORM_GROUPS))
        l->st =
            nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file),
                           "%s%s has %lld channels where %lld, a multiple of %d, are needed",
                           l->prefix, n.s, (long long) out->gamma->n, (long long) c, NORM_GROUPS);
}

static int64_t rows_of(const loader *l, const nino_weight *w) { return l->st ? 0 : w->n; }

static void get_resnet(loader *l, const char *base, int64_t *c, resnet *out)
{
    const char *shortcut = l->is_diffusers ? ".conv_shortcut" : ".nin_shortcut";
    get_norm(l, base, ".norm1", *c, &out->norm1);
    get_conv(l, base, ".conv1", *c, &out->conv1);
    const int64_t width = rows_of(l, out->conv1.w);
    get_norm(l, base, ".norm2", width, &out->norm2);
    get_conv(l, base, ".conv2", width, &out->conv2);
    if (has(l, base, nino_name_of("%s.weight", shortcut).s))
        get_linear(l, base, shortcut, *c, &out->shortcut);
    if (!l->st &&
        (out->conv2.w->n != width || (out->shortcut.w ? out->shortcut.w->n : *c) != width))
        l->st = nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file),
                               "%s%s: its convolutions and its shortcut differ in width", l->prefix,
                               base);
    *c = width;
}

static void get_attn(loader *l, const char *base, int64_t c, attn *out)
{
    // diffusers: the first four of today's names, then those of its first releases
    static const char *const leaves[3][5] = {
        { ".norm", ".q", ".k", ".v", ".proj_out" },
        { ".group_norm", ".to_q", ".to_k", ".to_v", ".to_out.0" },
        { ".group_norm", ".query", ".key", ".value", ".proj_attn" },
    };
    const char *const *n = leaves[!l->is_diffusers ? 0 : has(l, base, ".to_q.weight") ? 1 : 2];
    get_norm(l, base, n[0], c, &out->norm);
    get_linear(l, base, n[1], c, &out->q);
    get_linear(l, base, n[2], c, &out->k);
    get_linear(l, base, n[3], c, &out->v);
    get_linear(l, base, n[4], rows_of(l, out->v.w), &out->proj);
    if (!l->st && (out->q.w->n != c || out->k.w->n != c || out->v.w->n != c || out->proj.w->n != c))
        l->st = nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file),
                               "%s%s: attention of several heads or widths is not known", l->prefix,
                               base);
}

static void get_mid(loader *l, const char *half_name, int64_t *c, half *h)
{
    const char *mid = l->is_diffusers ? ".mid_block" : ".mid";
    const char *r1 = l->is_diffusers ? ".resnets.0" : ".block_1";
    const char *at = l->is_diffusers ? ".attentions.0" : ".attn_1";
    const char *r2 = l->is_diffusers ? ".resnets.1" : ".block_2";
    get_resnet(l, nino_name_of("%s%s%s", half_name, mid, r1).s, c, &h->mid1);
    get_attn(l, nino_name_of("%s%s%s", half_name, mid, at).s, *c, &h->mid_attn);
    get_resnet(l, nino_name_of("%s%s%s", half_name, mid, r2).s, c, &h->mid2);
}

static void count_levels(loader *l, bool is_decoder, half *h)
{
    l->n_levels = 0;
    for (int i = 0; i < MAX_LEVELS; i++) {
        // counted by the file's own numbers, which the names below are made from
        const nino_name first =
            l->is_diffusers
                ? nino_name_of("%s.%d.resnets.0.norm1.weight",
                               is_decoder ? "decoder.up_blocks" : "encoder.down_blocks", i)
                : nino_name_of("%s.%d.block.0.norm1.weight",
                               is_decoder ? "decoder.up" : "encoder.down", i);
        if (!has(l, first.s, ""))
            break;
        l->n_levels++;
    }
    h->n_levels = l->n_levels;
    if (!l->n_levels)
        l->st =
            nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file),
                           "%s%s: no levels found", l->prefix, is_decoder ? "decoder" : "encoder");
}

static void get_level(loader *l, bool is_decoder, int i, int64_t *c, level *out)
{
    for (int b = 0; b < MAX_BLOCKS && !l->st; b++) {
        const nino_name base = block_name(l, is_decoder, i, b);
        if (!has(l, base.s, ".norm1.weight"))
            break;
        get_resnet(l, base.s, c, &out->block[out->n_blocks++]);
    }
    const nino_name resample = resample_name(l, is_decoder, i);
    if (has(l, resample.s, ".weight"))
        get_conv(l, resample.s, "", *c, &out->resample);
    if (is_decoder) {
        out->resample.upsample2x = true;
    } else {
        out->resample.stride = 2;
        out->resample.pad = NINO_PAD_END;
    }
    *c = out->resample.w && !l->st ? out->resample.w->n : *c;
    const nino_name extra = nino_name_of("%s.%s.0.", level_name(l, is_decoder, i).s,
                                         l->is_diffusers ? "attentions" : "attn");
    if (!l->st && (has(l, extra.s, "norm.weight") || has(l, extra.s, "group_norm.weight")))
        l->st =
            nino_fail_kind(l->err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(l->file),
                           "%s%s: attention outside the middle is not known", l->prefix, extra.s);
}

static void get_decoder(loader *l, half *h)
{
    if (has(l, "post_quant_conv.weight", ""))
        get_linear(l, "post_quant_conv", "", -1, &h->quant);
    get_conv(l, "decoder.conv_in", "", h->quant.w ? rows_of(l, h->quant.w) : -1, &h->conv_in);
    int64_t c = rows_of(l, h->conv_in.w);
    get_mid(l, "decoder", &c, h);
    if (!l->st)
        count_levels(l, true, h);
    for (int i = h->n_levels - 1; i >= 0 && !l->st; i--)
        get_level(l, true, i, &c, &h->level[i]);
    get_norm(l, "decoder.", l->is_diffusers ? "conv_norm_out" : "norm_out", c, &h->norm_out);
    get_conv(l, "decoder.conv_out", "", c, &h->conv_out);
}

static void get_encoder(loader *l, half *h)
{
    get_conv(l, "encoder.conv_in", "", 3, &h->conv_in);
    int64_t c = rows_of(l, h->conv_in.w);
    if (!l->st)
        count_levels(l, false, h);
    for (int i = 0; i < h->n_levels && !l->st; i++)
        get_level(l, false, i, &c, &h->level[i]);
    get_mid(l, "encoder", &c, h);
    get_norm(l, "encoder.", l->is_diffusers ? "conv_norm_out" : "norm_out", c, &h->norm_out);
    get_conv(l, "encoder.conv_out", "", c, &h->conv_out);
    if (has(l, "quant_conv.weight", ""))
        get_linear(l, "quant_conv", "", rows_of(l, h->conv_out.w), &h->quant);
}

// ---- life ------------------------------------------------------------------------------------
static void release_resnet(resnet *w)
{
    nino_norm_release(&w->norm1);
    nino_norm_release(&w->norm2);
    nino_conv_release(&w->conv1);
    nino_conv_release(&w->conv2);
    nino_linear_release(&w->shortcut);
}

static void release_half(half *h)
{
    for (int i = 0; i < h->n_levels; i++) {
        for (int b = 0; b < h->level[i].n_blocks; b++)
            release_resnet(&h->level[i].block[b]);
        nino_conv_release(&h->level[i].resample);
    }
    release_resnet(&h->mid1);
    release_resnet(&h->mid2);
    nino_norm_release(&h->mid_attn.norm);
    nino_linear_release(&h->mid_attn.q);
    nino_linear_release(&h->mid_attn.k);
    nino_linear_release(&h->mid_attn.v);
    nino_linear_release(&h->mid_attn.proj);
    nino_norm_release(&h->norm_out);
    nino_conv_release(&h->conv_in);
    nino_conv_release(&h->conv_out);
    nino_linear_release(&h->quant);
}

static void destroy(nino_vae *v)
{
    kl_net *net = v->net;
    if (net) {
        release_half(&net->encoder);
        release_half(&net->decoder);
    }
    free(net);
}

static int factor_of(const half *h)
{
    int f = 1;
    for (int i = 0; i < h->n_levels; i++)
        f *= h->level[i].resample.w ? 2 : 1;
    return f;
}

// Sizes of the whole: latent channels and factor, which both halves must agree on.
static nino_status set_sizes(nino_vae *v, loader *l)
{
    const kl_net *net = v->net;
    const half *e = &net->encoder, *d = &net->decoder;
    const nino_weight *in = d->quant.w ? d->quant.w : d->conv_in.w;
    const nino_weight *out = e->quant.w ? e->quant.w : e->conv_out.w;
    const int dec_z = v->has_decoder ? (int) in->c : 0;
    const int enc_z = v->has_encoder ? (int) (out->n / 2) : 0;
    v->channels = dec_z ? dec_z : enc_z;
    v->factor = factor_of(v->has_decoder ? d : e);
    if (v->has_encoder && v->has_decoder && (enc_z != dec_z || factor_of(e) != v->factor))
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "model", nino_weights_path(l->file),
                              "encoder (%d channels, %dx) and decoder (%d, %dx) do not belong "
                              "together",
                              enc_z, factor_of(e), dec_z, factor_of(d));
    if (v->has_decoder && d->conv_out.w->n != 3)
        return nino_fail_kind(l->err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(l->file),
                              "decoder.conv_out makes %lld channels instead of 3",
                              (long long) d->conv_out.w->n);
    return NINO_OK;
}

static void set_family(nino_vae *v, nino_weights *file)
{
    static const struct {
        const char *family;
        double scale, shift;
    } families[] = {
        { "sd1", 0.18215, 0 },      { "sdxl", 0.13025, 0 },  { "sd3", 1.5305, 0.0609 },
        { "flux", 0.3611, 0.1159 }, { "sd_x4", 0.08333, 0 },
    };
    nino_detected d;
    nino_detect(file, &d);
    snprintf(v->family, sizeof(v->family), "%s", d.vae[0] ? d.vae : "kl");
    v->scale = 1;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strcmp(v->family, families[i].family))
            continue;
        v->scale = families[i].scale;
        v->shift = families[i].shift;
    }
}

nino_status nino_vae_kl_load(nino_weights *file, const char *prefix, nino_vae **out,
                             nino_error *err)
{
    loader l = { .file = file, .prefix = prefix, .err = err };
    nino_vae *v = calloc(1, sizeof(*v));
    kl_net *net = calloc(1, sizeof(*net));
    *out = NULL;
    if (!v || !net) {
        free(v);
        free(net);
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "no memory for its layers");
    }
    v->kind = NINO_VAE_KL;
    v->refs = 1;
    v->time_factor = 1;
    v->net = net;
    v->decode = decode;
    v->encode = encode;
    v->destroy = destroy;
    l.is_diffusers = has(&l, "decoder.up_blocks.0.resnets.0.norm1.weight", "") ||
                     has(&l, "encoder.down_blocks.0.resnets.0.norm1.weight", "");
    v->has_decoder = has(&l, "decoder.conv_in.weight", "");
    v->has_encoder = has(&l, "encoder.conv_in.weight", "");
    if (!v->has_decoder && !v->has_encoder)
        l.st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(file),
                              "%sdecoder.conv_in.weight is missing", prefix);
    if (v->has_decoder)
        get_decoder(&l, &net->decoder);
    if (v->has_encoder)
        get_encoder(&l, &net->encoder);
    if (!l.st)
        l.st = set_sizes(v, &l);
    if (!l.st) {
        set_family(v, file);
        const nino_hash id = nino_weights_identity(file);
        v->identity = id;
        v->weight_bytes = nino_weights_bytes(file, prefix);
        snprintf(v->name, sizeof(v->name), "%s", nino_weights_path(file));
        snprintf(v->detail, sizeof(v->detail), "AutoencoderKL, %d channels, %dx%s", v->channels,
                 v->factor,
                 !v->has_encoder   ? ", decoder only"
                 : !v->has_decoder ? ", encoder only"
                                   : "");
        *out = v;
    } else {
        nino_vae_unref(&v);
    }
    return l.st;
}
