// AutoencoderKL: the VAE of SD1, SD2, SDXL, SD3, FLUX.1, FLUX.2 and the x4 upscaler. Levels, blocks
// and widths come from tensor names and shapes; LDM and diffusers names are both read. FLUX.2's
// latents are squares of 2 x 2 cells, normalised by a batch norm's statistics.
// Sources: CompVis/latent-diffusion ldm/modules/diffusionmodules/model.py (the network, LDM names),
// huggingface/diffusers autoencoder_kl.py and vae.py (the other names), ComfyUI sd.py (pixel range,
// posterior mean), latent_formats.py (scale and shift), ComfyUI 0.29.0 ldm/models/autoencoder.py
// (FLUX.2's squares and statistics).
#include "core/model/detect.h"
#include "core/model/loader.h"
#include "core/model/vae/vae_kl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LEVELS NINO_KL_LEVELS
#define MAX_BLOCKS NINO_KL_BLOCKS
#define NORM_GROUPS 32
#define NORM_EPS 1e-6f
#define BATCH_EPS 1e-4

typedef nino_kl_resnet resnet;
typedef nino_kl_attn attn;
typedef nino_kl_level level;
typedef nino_kl_half half;

typedef struct kl_affine { // x + x gain + add, of every channel its own: f32 [1,C]; NULL: x
    nino_array *gain, *add;
} kl_affine;

typedef struct kl_net {
    half encoder, decoder;
    int z;                    // channels between the halves; the latent has z fold^2
    kl_affine inside, across; // from the latent to those channels, and back
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
static nino_tensor *vae_kl_run_attn(nino_stream *s, const attn *w, nino_tensor *x)
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

static nino_tensor *vae_kl_run_mid(nino_stream *s, const half *h, const char *stage, nino_tensor *x)
{
    nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
    x = run_resnet(s, &h->mid1, x);
    x = vae_kl_run_attn(s, &h->mid_attn, x);
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

static nino_tensor *vae_kl_affine(nino_stream *s, const kl_affine *a, nino_tensor *x)
{
    const nino_dtype type = nino_stream_act_type(s);
    if (!a->gain)
        return x;
    x = nino_gate_add(s, nino_ref(x), x, nino_upload(s, a->gain, type));
    return nino_add(s, x, nino_upload(s, a->add, type));
}

const half *nino_vae_kl_decoder(const nino_vae *v) { return &((const kl_net *) v->net)->decoder; }

nino_tensor *nino_vae_kl_decode_mid(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const kl_net *net = v->net;
    const half *d = &net->decoder;
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.in", 0, 0);
    z = vae_kl_affine(s, &net->inside, z);
    if (v->fold > 1)
        z = nino_shuffle(s, z, true, 1, v->fold, 0, net->z, NULL);
    if (d->quant.w)
        z = nino_linear_op(s, z, &d->quant);
    nino_tensor *x = nino_conv2d(s, z, &d->conv_in);
    nino_scope_end(s);
    return vae_kl_run_mid(s, d, "decoder.mid", x);
}

static nino_tensor *vae_kl_decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const half *d = nino_vae_kl_decoder(v);
    nino_tensor *x = nino_vae_kl_decode_mid(s, v, z);
    for (int i = d->n_levels - 1; i >= 0; i--)
        x = run_level(s, &d->level[i], "decoder.up", i, x);
    nino_scope_begin(s, NINO_EV_STAGE, "decoder.out", 0, 0);
    x = nino_group_norm_silu(s, x, &d->norm_out);
    x = nino_conv2d(s, x, &d->conv_out);
    x = nino_scale(s, x, 0.5f, 0.5f); // -1..1 to 0..1
    nino_scope_end(s);
    return x;
}

static nino_tensor *vae_kl_encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    const kl_net *net = v->net;
    const half *e = &net->encoder;
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.in", 0, 0);
    nino_tensor *x = nino_scale(s, pixels, 2, -1);
    x = nino_conv2d(s, x, &e->conv_in);
    nino_scope_end(s);
    for (int i = 0; i < e->n_levels; i++)
        x = run_level(s, &e->level[i], "encoder.down", i, x);
    x = vae_kl_run_mid(s, e, "encoder.mid", x);
    nino_scope_begin(s, NINO_EV_STAGE, "encoder.out", 0, 0);
    x = nino_group_norm_silu(s, x, &e->norm_out);
    x = nino_conv2d(s, x, &e->conv_out);
    if (e->quant.w)
        x = nino_linear_op(s, x, &e->quant);
    x = nino_slice(s, x, 3, 0, net->z); // the mean; the rest is the logarithm of the variance
    if (v->fold > 1)
        x = nino_shuffle(s, x, false, 1, v->fold, 0, v->channels, NULL);
    x = vae_kl_affine(s, &net->across, x);
    nino_scope_end(s);
    return x;
}

// ---- names -----------------------------------------------------------------------------------
typedef struct kl_loader {
    nino_loader l;
    bool is_diffusers;
    int n_levels; // of the half being read: diffusers counts decoder levels from the other end
} kl_loader;

static nino_name level_name(const kl_loader *k, bool is_decoder, int i)
{
    if (k->is_diffusers)
        return is_decoder ? nino_name_of("decoder.up_blocks.%d", k->n_levels - 1 - i)
                          : nino_name_of("encoder.down_blocks.%d", i);
    return is_decoder ? nino_name_of("decoder.up.%d", i) : nino_name_of("encoder.down.%d", i);
}

static nino_name block_name(const kl_loader *k, bool is_decoder, int i, int b)
{
    return nino_name_of(k->is_diffusers ? "%s.resnets.%d" : "%s.block.%d",
                        level_name(k, is_decoder, i).s, b);
}

static nino_name resample_name(const kl_loader *k, bool is_decoder, int i)
{
    const char *leaf = is_decoder ? (k->is_diffusers ? "upsamplers.0.conv" : "upsample.conv")
                                  : (k->is_diffusers ? "downsamplers.0.conv" : "downsample.conv");
    return nino_name_of("%s.%s", level_name(k, is_decoder, i).s, leaf);
}

static bool vae_kl_has(const kl_loader *k, const char *base, const char *leaf)
{
    return nino_load_has(&k->l, "%s%s", base, leaf);
}

// ---- loading: every step does nothing after the first failure --------------------------------
static void vae_kl_get_conv(kl_loader *k, const char *base, const char *leaf, int64_t cin,
                            nino_conv *out)
{
    nino_load_conv(&k->l, nino_name_of("%s%s", base, leaf).s, cin, out);
}

static void get_linear(kl_loader *k, const char *base, const char *leaf, int64_t cin,
                       nino_linear *out)
{
    nino_load_linear(&k->l, nino_name_of("%s%s", base, leaf).s, cin, out);
}

static void vae_kl_get_norm(kl_loader *k, const char *base, const char *leaf, int64_t c,
                            nino_norm *out)
{
    nino_load_norm(&k->l, nino_name_of("%s%s", base, leaf).s, c, NORM_GROUPS, NORM_EPS, out);
}

static void get_resnet(kl_loader *k, const char *base, int64_t *c, resnet *out)
{
    const char *shortcut = k->is_diffusers ? ".conv_shortcut" : ".nin_shortcut";
    vae_kl_get_norm(k, base, ".norm1", *c, &out->norm1);
    vae_kl_get_conv(k, base, ".conv1", *c, &out->conv1);
    const int64_t width = nino_load_rows(&k->l, out->conv1.w);
    vae_kl_get_norm(k, base, ".norm2", width, &out->norm2);
    vae_kl_get_conv(k, base, ".conv2", width, &out->conv2);
    if (vae_kl_has(k, base, nino_name_of("%s.weight", shortcut).s))
        get_linear(k, base, shortcut, *c, &out->shortcut);
    if (!k->l.st &&
        (out->conv2.w->n != width || (out->shortcut.w ? out->shortcut.w->n : *c) != width))
        nino_load_fail(&k->l, NINO_ERR_FORMAT,
                       "%s%s: its convolutions and its shortcut differ in width", k->l.prefix,
                       base);
    *c = width;
}

static void vae_kl_get_attn(kl_loader *k, const char *base, int64_t c, attn *out)
{
    // diffusers: the first four of today's names, then those of its first releases
    static const char *const leaves[3][5] = {
        { ".norm", ".q", ".k", ".v", ".proj_out" },
        { ".group_norm", ".to_q", ".to_k", ".to_v", ".to_out.0" },
        { ".group_norm", ".query", ".key", ".value", ".proj_attn" },
    };
    const char *const *n = leaves[!k->is_diffusers                      ? 0
                                  : vae_kl_has(k, base, ".to_q.weight") ? 1
                                                                        : 2];
    vae_kl_get_norm(k, base, n[0], c, &out->norm);
    get_linear(k, base, n[1], c, &out->q);
    get_linear(k, base, n[2], c, &out->k);
    get_linear(k, base, n[3], c, &out->v);
    get_linear(k, base, n[4], nino_load_rows(&k->l, out->v.w), &out->proj);
    if (!k->l.st &&
        (out->q.w->n != c || out->k.w->n != c || out->v.w->n != c || out->proj.w->n != c))
        nino_load_fail(&k->l, NINO_ERR_FORMAT,
                       "%s%s: attention of several heads or widths is not known", k->l.prefix,
                       base);
}

static void vae_kl_get_mid(kl_loader *k, const char *half_name, int64_t *c, half *h)
{
    const char *mid = k->is_diffusers ? ".mid_block" : ".mid";
    const char *r1 = k->is_diffusers ? ".resnets.0" : ".block_1";
    const char *at = k->is_diffusers ? ".attentions.0" : ".attn_1";
    const char *r2 = k->is_diffusers ? ".resnets.1" : ".block_2";
    get_resnet(k, nino_name_of("%s%s%s", half_name, mid, r1).s, c, &h->mid1);
    vae_kl_get_attn(k, nino_name_of("%s%s%s", half_name, mid, at).s, *c, &h->mid_attn);
    get_resnet(k, nino_name_of("%s%s%s", half_name, mid, r2).s, c, &h->mid2);
}

static void count_levels(kl_loader *k, bool is_decoder, half *h)
{
    k->n_levels = 0;
    for (int i = 0; i < MAX_LEVELS; i++) {
        // counted by the file's own numbers, which the names below are made from
        const nino_name first =
            k->is_diffusers
                ? nino_name_of("%s.%d.resnets.0.norm1.weight",
                               is_decoder ? "decoder.up_blocks" : "encoder.down_blocks", i)
                : nino_name_of("%s.%d.block.0.norm1.weight",
                               is_decoder ? "decoder.up" : "encoder.down", i);
        if (!vae_kl_has(k, first.s, ""))
            break;
        k->n_levels++;
    }
    h->n_levels = k->n_levels;
    if (!k->n_levels)
        nino_load_fail(&k->l, NINO_ERR_FORMAT, "%s%s: no levels found", k->l.prefix,
                       is_decoder ? "decoder" : "encoder");
}

static void get_level(kl_loader *k, bool is_decoder, int i, int64_t *c, level *out)
{
    for (int b = 0; b < MAX_BLOCKS && !k->l.st; b++) {
        const nino_name base = block_name(k, is_decoder, i, b);
        if (!vae_kl_has(k, base.s, ".norm1.weight"))
            break;
        get_resnet(k, base.s, c, &out->block[out->n_blocks++]);
    }
    const nino_name resample = resample_name(k, is_decoder, i);
    if (vae_kl_has(k, resample.s, ".weight"))
        vae_kl_get_conv(k, resample.s, "", *c, &out->resample);
    if (is_decoder) {
        out->resample.upsample2x = true;
    } else {
        out->resample.stride = 2;
        out->resample.pad = NINO_PAD_END;
    }
    *c = out->resample.w && !k->l.st ? out->resample.w->n : *c;
    const nino_name extra = nino_name_of("%s.%s.0.", level_name(k, is_decoder, i).s,
                                         k->is_diffusers ? "attentions" : "attn");
    if (!k->l.st &&
        (vae_kl_has(k, extra.s, "norm.weight") || vae_kl_has(k, extra.s, "group_norm.weight")))
        nino_load_fail(&k->l, NINO_ERR_UNSUPPORTED,
                       "%s%s: attention outside the middle is not known", k->l.prefix, extra.s);
}

// The 1x1 convolution between the halves, which FLUX.2's file counts as a part of either.
static void get_quant(kl_loader *k, const char *of_half, const char *name, int64_t cin,
                      nino_linear *out)
{
    if (vae_kl_has(k, name, ".weight"))
        get_linear(k, name, "", cin, out);
    else if (vae_kl_has(k, of_half, nino_name_of("%s.weight", name).s))
        get_linear(k, of_half, name, cin, out);
}

static void vae_kl_get_decoder(kl_loader *k, half *h)
{
    get_quant(k, "decoder.", "post_quant_conv", -1, &h->quant);
    vae_kl_get_conv(k, "decoder.conv_in", "", h->quant.w ? nino_load_rows(&k->l, h->quant.w) : -1,
                    &h->conv_in);
    int64_t c = nino_load_rows(&k->l, h->conv_in.w);
    vae_kl_get_mid(k, "decoder", &c, h);
    if (!k->l.st)
        count_levels(k, true, h);
    for (int i = h->n_levels - 1; i >= 0 && !k->l.st; i--)
        get_level(k, true, i, &c, &h->level[i]);
    vae_kl_get_norm(k, "decoder.", k->is_diffusers ? "conv_norm_out" : "norm_out", c, &h->norm_out);
    vae_kl_get_conv(k, "decoder.conv_out", "", c, &h->conv_out);
}

static void vae_kl_get_encoder(kl_loader *k, half *h)
{
    vae_kl_get_conv(k, "encoder.conv_in", "", 3, &h->conv_in);
    int64_t c = nino_load_rows(&k->l, h->conv_in.w);
    if (!k->l.st)
        count_levels(k, false, h);
    for (int i = 0; i < h->n_levels && !k->l.st; i++)
        get_level(k, false, i, &c, &h->level[i]);
    vae_kl_get_mid(k, "encoder", &c, h);
    vae_kl_get_norm(k, "encoder.", k->is_diffusers ? "conv_norm_out" : "norm_out", c, &h->norm_out);
    vae_kl_get_conv(k, "encoder.conv_out", "", c, &h->conv_out);
    get_quant(k, "encoder.", "quant_conv", nino_load_rows(&k->l, h->conv_out.w), &h->quant);
}

// The statistics of a batch norm, one number for each of n channels; released by the caller.
static nino_array *get_statistic(kl_loader *k, const char *name, int64_t n)
{
    nino_loader *l = &k->l;
    const nino_tensor_info *t = nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, name).s);
    if (!t || t->rank != 1 || t->dim[0] != n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s has %lld values where %lld are needed", l->prefix,
                       name, t && t->rank == 1 ? (long long) t->dim[0] : 0LL, (long long) n);
    return nino_load_values(l, t);
}

static void set_affine(kl_loader *k, const nino_array *mean, const nino_array *var, bool is_across,
                       kl_affine *out)
{
    const int64_t n = mean->shape.dim[0];
    nino_array **const to[] = { &out->gain, &out->add };
    for (int i = 0; i < 2; i++) {
        *to[i] = nino_array_create(NINO_F32, NINO_SHAPE(1, n));
        for (int64_t c = 0; c < n && *to[i]; c++) {
            const double m = (double) nino_array_f32(mean)[c];
            const double std = sqrt((double) nino_array_f32(var)[c] + BATCH_EPS);
            const double gain = is_across ? 1 / std : std, add = is_across ? -m / std : m;
            nino_array_f32(*to[i])[c] = (float) (i ? add : gain - 1);
        }
        if (!*to[i] || !nino_layers_keep_array(k->l.layers, to[i]))
            nino_load_fail(&k->l, NINO_ERR_NOMEM, "no memory for its layers");
    }
}

// FLUX.2: the latent is folded and normalised.
static void get_batch_norm(kl_loader *k, nino_vae *v, kl_net *net)
{
    if (k->l.st || !vae_kl_has(k, "bn.running_mean", ""))
        return;
    v->fold = 2;
    v->channels = net->z * v->fold * v->fold;
    v->factor *= v->fold;
    nino_array *mean = get_statistic(k, "bn.running_mean", v->channels);
    nino_array *var = get_statistic(k, "bn.running_var", v->channels);
    for (int64_t c = 0; var && c < v->channels; c++)
        if (!(nino_array_f32(var)[c] >= 0))
            nino_load_fail(&k->l, NINO_ERR_FORMAT, "%sbn.running_var has a variance of %g",
                           k->l.prefix, (double) nino_array_f32(var)[c]);
    if (mean && var && !k->l.st) {
        set_affine(k, mean, var, false, &net->inside);
        set_affine(k, mean, var, true, &net->across);
    }
    nino_array_unref(&mean);
    nino_array_unref(&var);
}

// ---- the whole -------------------------------------------------------------------------------
static int vae_kl_factor_of(const half *h)
{
    int f = 1;
    for (int i = 0; i < h->n_levels; i++)
        f *= h->level[i].resample.w ? 2 : 1;
    return f;
}

// Sizes of the whole: latent channels and factor, which both halves must agree on.
static void set_sizes(nino_vae *v, nino_loader *l)
{
    kl_net *net = v->net;
    const half *e = &net->encoder, *d = &net->decoder;
    const nino_weight *in = d->quant.w ? d->quant.w : d->conv_in.w;
    const nino_weight *out = e->quant.w ? e->quant.w : e->conv_out.w;
    const int dec_z = v->has_decoder ? (int) in->c : 0;
    const int enc_z = v->has_encoder ? (int) (out->n / 2) : 0;
    net->z = v->channels = dec_z ? dec_z : enc_z;
    v->factor = vae_kl_factor_of(v->has_decoder ? d : e);
    if (v->has_encoder && v->has_decoder && (enc_z != dec_z || vae_kl_factor_of(e) != v->factor))
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "encoder (%d channels, %dx) and decoder (%d, %dx) do not belong together",
                       enc_z, vae_kl_factor_of(e), dec_z, vae_kl_factor_of(d));
    if (v->has_decoder && d->conv_out.w->n != 3)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "decoder.conv_out makes %lld channels instead of 3",
                       (long long) d->conv_out.w->n);
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
    const char *path = nino_weights_path(file);
    nino_vae *v = nino_vae_create(NINO_VAE_KL, sizeof(kl_net), path, err);
    *out = NULL;
    if (!v)
        return NINO_ERR_NOMEM;
    kl_loader k = { .l = { file, prefix, &v->layers, .where = path, .err = err } };
    kl_net *net = v->net;
    v->decode = vae_kl_decode;
    v->decode_bands = nino_vae_kl_decode_bands;
    v->encode = vae_kl_encode;
    k.is_diffusers = vae_kl_has(&k, "decoder.up_blocks.0.resnets.0.norm1.weight", "") ||
                     vae_kl_has(&k, "encoder.down_blocks.0.resnets.0.norm1.weight", "");
    v->has_decoder = vae_kl_has(&k, "decoder.conv_in.weight", "");
    v->has_encoder = vae_kl_has(&k, "encoder.conv_in.weight", "");
    if (!v->has_decoder && !v->has_encoder)
        nino_load_fail(&k.l, NINO_ERR_FORMAT, "%sdecoder.conv_in.weight is missing", prefix);
    if (v->has_decoder)
        vae_kl_get_decoder(&k, &net->decoder);
    if (v->has_encoder)
        vae_kl_get_encoder(&k, &net->encoder);
    if (!k.l.st)
        set_sizes(v, &k.l);
    get_batch_norm(&k, v, net);
    if (k.l.st) {
        nino_vae_unref(&v);
        return k.l.st;
    }
    set_family(v, file);
    nino_vae_set_file(v, file, prefix);
    snprintf(v->detail, sizeof(v->detail), "AutoencoderKL, %d channels, %dx%s", v->channels,
             v->factor, nino_vae_halves(v));
    *out = v;
    return NINO_OK;
}
