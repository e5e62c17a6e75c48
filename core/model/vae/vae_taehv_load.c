// Reading the tiny video autoencoders from a file. Like TAESD they are plain sequences whose tensor
// names carry the position, so any number and order of layers is read; frame rates, widths and
// folded pixels come from shapes. Files of different latent spaces look alike: there the file's
// name decides.
// Sources: as vae_taehv.c; ComfyUI comfy/sd.py (which files are read how); ModelTC/LightX2V (its
// "light" decoders take the video VAE's own latents, not the scaled ones).
#include "core/model/latent_format.h"
#include "core/model/loader.h"
#include "core/model/vae/vae_taehv.h"

#include <stdio.h>
#include <string.h>

#define SCALE_HUNYUAN 0.476986   // ComfyUI comfy/latent_formats.py HunyuanVideo
#define SCALE_HUNYUAN_15 1.03682 // HunyuanVideo15

typedef struct taehv_loader {
    nino_loader l;
    char half[48]; // l.prefix: the file's and "decoder." or "encoder."
    bool is_decoder;
} taehv_loader;

static bool vae_taehv_load_has(const taehv_loader *t, int i, const char *leaf)
{
    return nino_load_has(&t->l, "%d.%s", i, leaf);
}

// ---- layers: every step does nothing after the first failure ---------------------------------

static void vae_taehv_load_get_conv(taehv_loader *t, int i, const char *leaf, int64_t cin,
                                    nino_weight_role role, nino_act act, nino_conv *out)
{
    char name[32];
    snprintf(name, sizeof(name), "%d%s", i, leaf);
    nino_load_conv(&t->l, name, cin, out);
    if (!t->l.st && out->w->role != role)
        nino_load_fail(&t->l, NINO_ERR_FORMAT, "%s%s.weight is not a %s convolution", t->half, name,
                       role == NINO_W_CONV3 ? "3x3" : "1x1");
    out->each_image = true; // frames of a clip that may come in any pieces
    out->act = act;
}

static void get_mem(taehv_loader *t, int i, int64_t *c, taehv_layer *out)
{
    out->kind = TAEHV_MEM;
    vae_taehv_load_get_conv(t, i, ".conv.0", 2 * *c, NINO_W_CONV3, NINO_ACT_RELU, &out->mem0);
    vae_taehv_load_get_conv(t, i, ".conv.2", nino_load_rows(&t->l, out->mem0.w), NINO_W_CONV3,
                            NINO_ACT_RELU, &out->mem2);
    vae_taehv_load_get_conv(t, i, ".conv.4", nino_load_rows(&t->l, out->mem2.w), NINO_W_CONV3,
                            NINO_ACT_RELU, &out->mem4);
    if (vae_taehv_load_has(t, i, "skip.weight"))
        vae_taehv_load_get_conv(t, i, ".skip", *c, NINO_W_MATRIX, NINO_ACT_NONE, &out->skip);
    const int64_t n = nino_load_rows(&t->l, out->mem4.w);
    if (!t->l.st && n != (out->skip.w ? out->skip.w->n : *c))
        nino_load_fail(&t->l, NINO_ERR_FORMAT,
                       "%s%d.conv.4 has %lld rows, which do not fit what is added", t->half, i,
                       (long long) n);
    *c = n;
}

static void get_time(taehv_loader *t, int i, int64_t c, taehv_layer *out)
{
    out->kind = TAEHV_TIME;
    vae_taehv_load_get_conv(t, i, ".conv", t->is_decoder ? c : -1, NINO_W_MATRIX, NINO_ACT_NONE,
                            &out->conv);
    if (t->l.st)
        return;
    const int64_t many = t->is_decoder ? out->conv.w->n : out->conv.w->c;
    const int64_t one = t->is_decoder ? c : out->conv.w->n;
    out->stride = (int) (many / (c > 0 ? c : 1));
    if (c < 1 || one != c || many % c || out->stride < 1 || out->stride > 8)
        nino_load_fail(&t->l, NINO_ERR_FORMAT,
                       "%s%d.conv.weight does not change the frame rate of %lld channels", t->half,
                       i, (long long) c);
}

static bool is_gap(const taehv_loader *t, int i)
{
    return !vae_taehv_load_has(t, i, "weight") && !vae_taehv_load_has(t, i, "conv.weight") &&
           !vae_taehv_load_has(t, i, "conv.0.weight");
}

// What stands at a position without tensors: in front of a decoder's change of the frame rate an
// upsampling, at its beginning the clamp (in taehv_decode_next()), else a ReLU. Sides change with
// the frame rate, in the convolution that follows.
static void get_layer(taehv_loader *t, int i, int64_t *c, bool *is_doubled, taehv_layer *out)
{
    out->position = i;
    if (vae_taehv_load_has(t, i, "conv.0.weight")) {
        get_mem(t, i, c, out);
    } else if (vae_taehv_load_has(t, i, "conv.weight")) {
        get_time(t, i, *c, out);
        *is_doubled = !t->is_decoder || (i > 0 && is_gap(t, i - 1));
    } else {
        const bool is_relu =
            is_gap(t, i + 1) && !(t->is_decoder && vae_taehv_load_has(t, i + 2, "conv.weight"));
        out->kind = TAEHV_CONV;
        vae_taehv_load_get_conv(t, i, "", *c, NINO_W_CONV3, is_relu ? NINO_ACT_RELU : NINO_ACT_NONE,
                                &out->conv);
        out->conv.upsample2x = t->is_decoder && *is_doubled;
        out->conv.stride = !t->is_decoder && *is_doubled ? 2 : 1;
        out->is_level = *is_doubled;
        *is_doubled = false;
        *c = t->l.st ? *c : out->conv.w->n;
    }
}

static void get_half(taehv_loader *t, taehv_half *h)
{
    const int n = nino_load_count(&t->l, "");
    int64_t c = -1;
    bool is_doubled = false;
    for (int i = 0; i < n && !t->l.st; i++) {
        if (is_gap(t, i))
            continue;
        if (h->n == TAEHV_MAX_LAYERS)
            nino_load_fail(&t->l, NINO_ERR_FORMAT, "%s has more than %d layers", t->half,
                           TAEHV_MAX_LAYERS);
        else
            get_layer(t, i, &c, &is_doubled, &h->layer[h->n++]);
    }
    if (t->l.st)
        return;
    const taehv_layer *last = h->n ? &h->layer[h->n - 1] : NULL;
    if (!last || last->kind != TAEHV_CONV || h->layer[0].kind != TAEHV_CONV)
        nino_load_fail(&t->l, NINO_ERR_FORMAT,
                       "the layers of %s do not begin and end with a convolution", t->half);
    else
        h->layer[h->n - 1].conv.act = NINO_ACT_NONE; // nothing follows
}

// ---- halves ----------------------------------------------------------------------------------

static int vae_taehv_load_time_of(const taehv_half *h)
{
    int t = 1;
    for (int i = 0; i < h->n && t <= 64; i++)
        t *= h->layer[i].kind == TAEHV_TIME ? h->layer[i].stride : 1;
    return t;
}

static int vae_taehv_load_factor_of(const taehv_half *h, int patch)
{
    for (int i = 0; i < h->n && patch <= 1 << 12; i++)
        patch *= h->layer[i].is_level ? 2 : 1;
    return patch;
}

// A decoder may have rows for more frames than it is used with: those of the last ones count.
static void drop_frames(taehv_loader *t, int time, taehv_half *h)
{
    for (int i = 0; i < h->n && vae_taehv_load_time_of(h) > time && !t->l.st; i++) {
        taehv_layer *layer = &h->layer[i];
        const int64_t c = layer->conv.w ? layer->conv.w->c : 0;
        if (layer->kind != TAEHV_TIME || layer->stride == 1)
            continue;
        const nino_name name = nino_name_of("%d.conv", layer->position);
        const nino_weight_part last = { .name = name.s,
                                        .row0 = (layer->stride - 1) * c,
                                        .rows = c };
        nino_linear m = { 0 };
        nino_load_part(&t->l, last, c, &m);
        layer->conv.w = m.w;
        layer->conv.b = m.b;
        layer->stride = 1;
    }
    if (!t->l.st && vae_taehv_load_time_of(h) != time)
        nino_load_fail(&t->l, NINO_ERR_FORMAT, "%s makes %d frames of one, %d are wanted", t->half,
                       vae_taehv_load_time_of(h), time);
}

static int patch_of(taehv_loader *t, int64_t n)
{
    int p = 1;
    while (p < 16 && (int64_t) 3 * p * p < n)
        p++;
    if ((int64_t) 3 * p * p != n)
        nino_load_fail(&t->l, NINO_ERR_FORMAT, "%s: pictures of %lld channels are not known",
                       t->half, (long long) n);
    return p;
}

static void vae_taehv_load_get_net(taehv_loader *t, const char *prefix, nino_vae *v, taehv_net *net)
{
    taehv_half *const halves[2] = { &net->encoder, &net->decoder };
    int patch[2] = { 0, 0 }, channels[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        taehv_half *h = halves[i];
        t->is_decoder = i == 1;
        snprintf(t->half, sizeof(t->half), "%s%s.", prefix, i ? "decoder" : "encoder");
        if (!nino_load_count(&t->l, "") || t->l.st)
            continue;
        get_half(t, h);
        if (t->l.st)
            return;
        const nino_weight *first = h->layer[0].conv.w, *last = h->layer[h->n - 1].conv.w;
        if (!first || !last) // get_half() saw to it
            return;
        patch[i] = patch_of(t, i ? last->n : first->c);
        channels[i] = (int) (i ? first->c : last->n);
        v->factor = vae_taehv_load_factor_of(h, patch[i]);
        v->channels = channels[i];
        net->patch = patch[i];
        *(i ? &v->has_decoder : &v->has_encoder) = true;
    }
    if (!t->l.st && !v->has_encoder && !v->has_decoder)
        nino_load_fail(&t->l, NINO_ERR_FORMAT, "neither an encoder nor a decoder is in it");
    if (t->l.st)
        return;
    // Without an encoder that tells: LTX folds eight frames, the others four.
    const int usual = v->channels == 128 ? 8 : 4, most = vae_taehv_load_time_of(&net->decoder);
    v->time_factor = v->has_encoder ? vae_taehv_load_time_of(&net->encoder)
                     : most < usual ? most
                                    : usual;
    if (v->has_encoder && v->has_decoder &&
        (patch[0] != patch[1] || channels[0] != channels[1] ||
         vae_taehv_load_factor_of(&net->encoder, patch[0]) != v->factor))
        nino_load_fail(&t->l, NINO_ERR_FORMAT, "its encoder and its decoder do not fit together");
    if (v->has_decoder)
        drop_frames(t, v->time_factor, &net->decoder);
    if (!t->l.st && v->time_factor < 2)
        nino_load_fail(&t->l, NINO_ERR_FORMAT,
                       "the network does not change the frame rate: it is not a video autoencoder");
}

// ---- latent spaces ---------------------------------------------------------------------------

// y[c] = x[c] * a[c] + b[c], as a convolution; it keeps a network's layers what they are.
static void affine(nino_loader *l, int n, const float *a, const float *b, nino_conv *out)
{
    nino_array *w = nino_array_create(NINO_F32, NINO_SHAPE(n, n));
    nino_array *shift = nino_array_create(NINO_F32, NINO_SHAPE(n));
    for (int i = 0; w && i < n * n; i++)
        nino_array_f32(w)[i] = i % (n + 1) ? 0 : a[i / n];
    for (int i = 0; shift && i < n; i++)
        nino_array_f32(shift)[i] = b[i];
    nino_load_made(l, w, NINO_W_MATRIX, &out->w);
    nino_load_made(l, shift, NINO_W_VECTOR, &out->b);
    out->each_image = true;
    nino_array_unref(&w);
    nino_array_unref(&shift);
}

// The network works on a diffusion model's latents of this kind.
static void set_format(nino_loader *l, nino_vae *v, taehv_net *net, const nino_latent_format *f)
{
    float in[2][64] = { { 0 } }, out[2][64] = { { 0 } };
    if (l->st || f->channels != v->channels || f->channels > 64)
        return;
    for (int c = 0; c < f->channels; c++) {
        in[0][c] = 1 / f->std[c];
        in[1][c] = -f->mean[c] / f->std[c];
        out[0][c] = f->std[c];
        out[1][c] = f->mean[c];
    }
    affine(l, f->channels, in[0], in[1], &net->to_space);
    affine(l, f->channels, out[0], out[1], &net->from_space);
}

static void set_space(nino_loader *l, nino_vae *v, taehv_net *net)
{
    const char *path = nino_weights_path(l->file), *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const bool is_light = strstr(file, "light") != NULL;
    const nino_tensor_info *in = net->decoder.n ? net->decoder.layer[0].conv.w->info : NULL;
    if (is_light && v->channels == 32)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                       "LightX2V's decoders for HunyuanVideo 1.5 cannot be run: "
                       "their activations are others than TAEHV's");
    else if (is_light)
        return; // as they are
    else if (strstr(file, "taew2_1"))
        set_format(l, v, net, nino_latent_format_find("wan21"));
    else if (strstr(file, "taew2_2"))
        set_format(l, v, net, nino_latent_format_find("wan22"));
    else if (strstr(file, "taehv1_5") || (strstr(file, "taehv") && v->channels == 32))
        v->scale = SCALE_HUNYUAN_15;
    else if (strstr(file, "taehv") || (v->channels == 16 && in && in->dtype == NINO_F16))
        v->scale = SCALE_HUNYUAN;
}

// ----------------------------------------------------------------------------------------------
nino_status nino_vae_taehv_load(nino_weights *file, const char *prefix, nino_vae **out,
                                nino_error *err)
{
    const char *path = nino_weights_path(file);
    nino_vae *v = nino_vae_create(NINO_VAE_TAEHV, sizeof(taehv_net), path, err);
    *out = NULL;
    if (!v)
        return NINO_ERR_NOMEM;
    taehv_loader t = { .l = { file, t.half, &v->layers, .where = path, .err = err } };
    v->pads_end = true;
    v->decode = nino_vae_decode_each;
    v->encode = nino_vae_encode_each;
    v->decode_next = taehv_decode_next;
    v->encode_next = taehv_encode_next;
    vae_taehv_load_get_net(&t, prefix, v, v->net);
    if (!t.l.st)
        set_space(&t.l, v, v->net);
    if (t.l.st) {
        nino_vae_unref(&v);
        return t.l.st;
    }
    nino_vae_set_file(v, file, prefix);
    snprintf(v->family, sizeof(v->family), "taehv");
    snprintf(v->detail, sizeof(v->detail), "tiny video autoencoder, %d channels, %dx, %d frames%s",
             v->channels, v->factor, v->time_factor, nino_vae_halves(v));
    *out = v;
    return NINO_OK;
}
