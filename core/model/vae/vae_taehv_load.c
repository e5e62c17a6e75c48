// Reading the tiny video autoencoders from a file. Like TAESD they are plain sequences whose tensor
// names carry the position, so any number and order of layers is read; frame rates, widths and
// folded pixels come from shapes. Files of different latent spaces look alike: there the file's
// name decides.
// Sources: as vae_taehv.c; ComfyUI comfy/sd.py (which files are read how); ModelTC/LightX2V (its
// "light" decoders take the video VAE's own latents, not the scaled ones).
#include "core/base/error.h"
#include "core/model/latent_format.h"
#include "core/model/vae/vae_taehv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_HUNYUAN 0.476986   // ComfyUI comfy/latent_formats.py HunyuanVideo
#define SCALE_HUNYUAN_15 1.03682 // HunyuanVideo15

typedef struct loader {
    nino_weights *file;
    char half[48]; // prefix and "decoder." or "encoder."
    bool is_decoder;
    nino_status st;
    nino_error *err;
} loader;

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

static bool has(const loader *l, int i, const char *leaf)
{
    char name[96];
    snprintf(name, sizeof(name), "%s%d.%s", l->half, i, leaf);
    return nino_weights_find(l->file, name) != NULL;
}

static int count_layers(const loader *l)
{
    const size_t n = strlen(l->half);
    int last = -1;
    for (int i = 0; i < nino_weights_count(l->file); i++) {
        const char *name = nino_weights_at(l->file, i)->name;
        int k;
        if (!strncmp(name, l->half, n) && sscanf(name + n, "%d.", &k) == 1 && k > last)
            last = k;
    }
    return last + 1;
}

// ---- layers: every step does nothing after the first failure ---------------------------------

static void get_conv(loader *l, int i, const char *leaf, int64_t cin, nino_weight_role role,
                     nino_act act, nino_conv *out)
{
    char name[32];
    snprintf(name, sizeof(name), "%d%s", i, leaf);
    if (!l->st)
        l->st = nino_conv_get(l->file, l->half, name, cin, out, l->err);
    if (!l->st && out->w->role != role)
        fail(l, "%s%s.weight is not a %s convolution", l->half, name,
             role == NINO_W_CONV3 ? "3x3" : "1x1");
    out->each_image = true; // frames of a clip that may come in any pieces
    out->act = act;
}

static void get_mem(loader *l, int i, int64_t *c, taehv_layer *out)
{
    out->kind = TAEHV_MEM;
    get_conv(l, i, ".conv.0", 2 * *c, NINO_W_CONV3, NINO_ACT_RELU, &out->mem0);
    get_conv(l, i, ".conv.2", l->st ? -1 : out->mem0.w->n, NINO_W_CONV3, NINO_ACT_RELU, &out->mem2);
    get_conv(l, i, ".conv.4", l->st ? -1 : out->mem2.w->n, NINO_W_CONV3, NINO_ACT_RELU, &out->mem4);
    if (has(l, i, "skip.weight"))
        get_conv(l, i, ".skip", *c, NINO_W_MATRIX, NINO_ACT_NONE, &out->skip);
    const int64_t n = l->st ? 0 : out->mem4.w->n;
    if (!l->st && n != (out->skip.w ? out->skip.w->n : *c))
        fail(l, "%s%d.conv.4 has %lld rows, which do not fit what is added", l->half, i,
             (long long) n);
    *c = n;
}

static void get_time(loader *l, int i, int64_t c, taehv_layer *out)
{
    out->kind = TAEHV_TIME;
    get_conv(l, i, ".conv", l->is_decoder ? c : -1, NINO_W_MATRIX, NINO_ACT_NONE, &out->conv);
    if (l->st)
        return;
    const int64_t many = l->is_decoder ? out->conv.w->n : out->conv.w->c;
    const int64_t one = l->is_decoder ? c : out->conv.w->n;
    out->stride = (int) (many / (c > 0 ? c : 1));
    if (c < 1 || one != c || many % c || out->stride < 1 || out->stride > 8)
        fail(l, "%s%d.conv.weight does not change the frame rate of %lld channels", l->half, i,
             (long long) c);
}

static bool is_gap(const loader *l, int i)
{
    return !has(l, i, "weight") && !has(l, i, "conv.weight") && !has(l, i, "conv.0.weight");
}

// What stands at a position without tensors: in front of a decoder's change of the frame rate an
// upsampling, at its beginning the clamp (in taehv_decode_next()), else a ReLU. Sides change with
// the frame rate, in the convolution that follows.
static void get_layer(loader *l, int i, int64_t *c, bool *is_doubled, taehv_layer *out)
{
    out->position = i;
    if (has(l, i, "conv.0.weight")) {
        get_mem(l, i, c, out);
    } else if (has(l, i, "conv.weight")) {
        get_time(l, i, *c, out);
        *is_doubled = !l->is_decoder || (i > 0 && is_gap(l, i - 1));
    } else {
        const bool is_relu = is_gap(l, i + 1) && !(l->is_decoder && has(l, i + 2, "conv.weight"));
        out->kind = TAEHV_CONV;
        get_conv(l, i, "", *c, NINO_W_CONV3, is_relu ? NINO_ACT_RELU : NINO_ACT_NONE, &out->conv);
        out->conv.upsample2x = l->is_decoder && *is_doubled;
        out->conv.stride = !l->is_decoder && *is_doubled ? 2 : 1;
        out->is_level = *is_doubled;
        *is_doubled = false;
        *c = l->st ? *c : out->conv.w->n;
    }
}

static void get_half(loader *l, taehv_half *h)
{
    const int n = count_layers(l);
    int64_t c = -1;
    bool is_doubled = false;
    for (int i = 0; i < n && !l->st; i++) {
        if (is_gap(l, i))
            continue;
        if (h->n == TAEHV_MAX_LAYERS)
            fail(l, "%s has more than %d layers", l->half, TAEHV_MAX_LAYERS);
        else
            get_layer(l, i, &c, &is_doubled, &h->layer[h->n++]);
    }
    if (l->st)
        return;
    const taehv_layer *last = h->n ? &h->layer[h->n - 1] : NULL;
    if (!last || last->kind != TAEHV_CONV || h->layer[0].kind != TAEHV_CONV)
        fail(l, "the layers of %s do not begin and end with a convolution", l->half);
    else
        h->layer[h->n - 1].conv.act = NINO_ACT_NONE; // nothing follows
}

// ---- halves ----------------------------------------------------------------------------------

static int time_of(const taehv_half *h)
{
    int t = 1;
    for (int i = 0; i < h->n && t <= 64; i++)
        t *= h->layer[i].kind == TAEHV_TIME ? h->layer[i].stride : 1;
    return t;
}

static int factor_of(const taehv_half *h, int patch)
{
    for (int i = 0; i < h->n && patch <= 1 << 12; i++)
        patch *= h->layer[i].is_level ? 2 : 1;
    return patch;
}

// A decoder may have rows for more frames than it is used with: those of the last ones count.
static void drop_frames(loader *l, int time, taehv_half *h)
{
    for (int i = 0; i < h->n && time_of(h) > time && !l->st; i++) {
        taehv_layer *t = &h->layer[i];
        const int64_t c = t->conv.w ? t->conv.w->c : 0;
        char name[32];
        if (t->kind != TAEHV_TIME || t->stride == 1)
            continue;
        const nino_weight_part part = { .name = name, .row0 = (t->stride - 1) * c, .rows = c };
        nino_linear m = { 0 };
        snprintf(name, sizeof(name), "%d.conv", t->position);
        l->st = nino_linear_get_parts(l->file, l->half, &part, 1, c, &m, l->err);
        if (l->st)
            return;
        nino_conv_release(&t->conv);
        t->conv.w = m.w;
        t->conv.b = m.b;
        t->stride = 1;
    }
    if (!l->st && time_of(h) != time)
        fail(l, "%s makes %d frames of one, %d are wanted", l->half, time_of(h), time);
}

static int patch_of(loader *l, int64_t n)
{
    int p = 1;
    while (p < 16 && (int64_t) 3 * p * p < n)
        p++;
    if ((int64_t) 3 * p * p != n)
        fail(l, "%s: pictures of %lld channels are not known", l->half, (long long) n);
    return p;
}

static void get_net(loader *l, const char *prefix, nino_vae *v, taehv_net *net)
{
    taehv_half *const halves[2] = { &net->encoder, &net->decoder };
    int patch[2] = { 0, 0 }, channels[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        taehv_half *h = halves[i];
        l->is_decoder = i == 1;
        snprintf(l->half, sizeof(l->half), "%s%s.", prefix, i ? "decoder" : "encoder");
        if (!count_layers(l) || l->st)
            continue;
        get_half(l, h);
        if (l->st)
            return;
        const nino_weight *first = h->layer[0].conv.w, *last = h->layer[h->n - 1].conv.w;
        if (!first || !last) // get_half() saw to it
            return;
        patch[i] = patch_of(l, i ? last->n : first->c);
        channels[i] = (int) (i ? first->c : last->n);
        v->factor = factor_of(h, patch[i]);
        v->channels = channels[i];
        net->patch = patch[i];
        *(i ? &v->has_decoder : &v->has_encoder) = true;
    }
    if (!l->st && !v->has_encoder && !v->has_decoder)
        fail(l, "neither an encoder nor a decoder is in it");
    if (l->st)
        return;
    // Without an encoder that tells: LTX folds eight frames, the others four.
    const int usual = v->channels == 128 ? 8 : 4, most = time_of(&net->decoder);
    v->time_factor = v->has_encoder ? time_of(&net->encoder) : most < usual ? most : usual;
    if (v->has_encoder && v->has_decoder &&
        (patch[0] != patch[1] || channels[0] != channels[1] ||
         factor_of(&net->encoder, patch[0]) != v->factor))
        fail(l, "its encoder and its decoder do not fit together");
    if (v->has_decoder)
        drop_frames(l, v->time_factor, &net->decoder);
    if (!l->st && v->time_factor < 2)
        fail(l, "the network does not change the frame rate: it is not a video autoencoder");
}

// ---- latent spaces ---------------------------------------------------------------------------

// y[c] = x[c] * a[c] + b[c], as a convolution; it keeps a network's layers what they are.
static nino_status affine(int n, const float *a, const float *b, nino_conv *out)
{
    nino_array *w = nino_array_create(NINO_F32, NINO_SHAPE(n, n));
    nino_array *shift = nino_array_create(NINO_F32, NINO_SHAPE(n));
    for (int i = 0; w && shift && i < n * n; i++)
        nino_array_f32(w)[i] = i % (n + 1) ? 0 : a[i / n];
    for (int i = 0; w && shift && i < n; i++)
        nino_array_f32(shift)[i] = b[i];
    if (w && shift) {
        out->w = nino_weight_from_array(w, NINO_W_MATRIX);
        out->b = nino_weight_from_array(shift, NINO_W_VECTOR);
        out->each_image = true;
    }
    nino_array_unref(&w);
    nino_array_unref(&shift);
    return out->w && out->b ? NINO_OK : NINO_ERR_NOMEM;
}

// The network works on a diffusion model's latents of this kind.
static void set_format(loader *l, nino_vae *v, taehv_net *net, const nino_latent_format *f)
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
    if (affine(f->channels, in[0], in[1], &net->to_space) ||
        affine(f->channels, out[0], out[1], &net->from_space))
        l->st = nino_fail(l->err, NINO_ERR_NOMEM, nino_weights_path(l->file),
                          "no memory for its layers");
}

static void set_space(loader *l, nino_vae *v, taehv_net *net)
{
    const char *path = nino_weights_path(l->file), *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    const bool is_light = strstr(file, "light") != NULL;
    const nino_tensor_info *in = net->decoder.n ? net->decoder.layer[0].conv.w->info : NULL;
    v->scale = 1;
    if (is_light && v->channels == 32)
        l->st = l->st ? l->st
                      : nino_fail_kind(l->err, NINO_ERR_UNSUPPORTED, "model", path,
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

static void release_half(taehv_half *h)
{
    for (int i = 0; i < h->n; i++) {
        taehv_layer *t = &h->layer[i];
        nino_conv_release(&t->conv);
        nino_conv_release(&t->mem0);
        nino_conv_release(&t->mem2);
        nino_conv_release(&t->mem4);
        nino_conv_release(&t->skip);
    }
}

static void destroy(nino_vae *v)
{
    taehv_net *net = v->net;
    if (net) {
        release_half(&net->encoder);
        release_half(&net->decoder);
        nino_conv_release(&net->to_space);
        nino_conv_release(&net->from_space);
    }
    free(net);
}

nino_status nino_vae_taehv_load(nino_weights *file, const char *prefix, nino_vae **out,
                                nino_error *err)
{
    loader l = { .file = file, .err = err };
    nino_vae *v = calloc(1, sizeof(*v));
    *out = NULL;
    if (!v || !(v->net = calloc(1, sizeof(taehv_net)))) {
        free(v);
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "no memory for its layers");
    }
    *v = (nino_vae){ .kind = NINO_VAE_TAEHV,
                     .refs = 1,
                     .net = v->net,
                     .pads_end = true,
                     .decode = nino_vae_decode_each,
                     .encode = nino_vae_encode_each,
                     .decode_next = taehv_decode_next,
                     .encode_next = taehv_encode_next,
                     .destroy = destroy };
    get_net(&l, prefix, v, v->net);
    if (!l.st)
        set_space(&l, v, v->net);
    if (l.st) {
        nino_vae_unref(&v);
        return l.st;
    }
    v->weight_bytes = nino_weights_bytes(file, prefix);
    v->identity = nino_weights_identity(file);
    snprintf(v->family, sizeof(v->family), "taehv");
    snprintf(v->name, sizeof(v->name), "%s", nino_weights_path(file));
    snprintf(v->detail, sizeof(v->detail), "tiny video autoencoder, %d channels, %dx, %d frames%s",
             v->channels, v->factor, v->time_factor,
             !v->has_encoder   ? ", decoder only"
             : !v->has_decoder ? ", encoder only"
                               : "");
    *out = v;
    return NINO_OK;
}
