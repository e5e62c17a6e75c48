// The TAESD family: TAESD, TAESDXL, TAESD3, TAEF1, TAEF2. A plain sequence of convolutions and
// residual blocks whose tensor names carry the position in the sequence: positions without tensors
// are the activations and upsamplings between them, so any number and order of blocks is read.
// Source: madebyollin/taesd taesd.py; combined files: ComfyUI comfy/taesd/taesd.py.
#include "core/base/error.h"
#include "core/model/vae/vae.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LAYERS 256

typedef struct block {
    nino_conv conv0, conv2, conv4;
    nino_linear skip;         // only where the width changes
    nino_linear pool0, pool3; // TAEF2: global context, x + pool(x) first
    nino_norm pool1;
} block;

typedef struct layer {
    bool is_block, starts_level; // starts_level: the resolution changes here
    nino_conv conv;
    block block;
} layer;

typedef struct sequence {
    layer *layers;
    int n, factor;
} sequence;

typedef struct tiny_net {
    sequence encoder, decoder;
} tiny_net;

static const struct {
    const char *family;
    int channels;
    double scale, shift;
} families[] = {
    { "taesd", 4, 0.18215, 0 },       { "taesdxl", 4, 0.13025, 0 }, { "taef1", 16, 0.3611, 0.1159 },
    { "taesd3", 16, 1.5305, 0.0609 }, { "taef2", 32, 1, 0 },
};

// ---- forward ---------------------------------------------------------------------------------
static nino_tensor *run_block(nino_stream *s, const block *b, nino_tensor *x)
{
    if (b->pool0.w) {
        nino_tensor *p = nino_linear_op(s, nino_ref(x), &b->pool0);
        p = nino_group_norm(s, p, &b->pool1, NINO_ACT_RELU);
        x = nino_linear_add(s, p, &b->pool3, x);
    }
    nino_tensor *skip = b->skip.w ? nino_linear_op(s, nino_ref(x), &b->skip) : nino_ref(x);
    x = nino_conv2d(s, x, &b->conv0);
    x = nino_conv2d(s, x, &b->conv2);
    return nino_conv2d_add(s, x, &b->conv4, skip);
}

static nino_tensor *run(nino_stream *s, const sequence *q, const char *what, nino_tensor *x)
{
    char name[32];
    int level = 0;
    snprintf(name, sizeof(name), "%s.0", what);
    nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
    for (int i = 0; i < q->n; i++) {
        const layer *l = &q->layers[i];
        if (l->starts_level) {
            nino_scope_end(s);
            snprintf(name, sizeof(name), "%s.%d", what, ++level);
            nino_scope_begin(s, NINO_EV_STAGE, name, 0, 0);
        }
        x = l->is_block ? run_block(s, &l->block, x) : nino_conv2d(s, x, &l->conv);
    }
    nino_scope_end(s);
    return x;
}

static nino_tensor *decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const tiny_net *net = v->net;
    z = nino_scale(s, z, (float) v->scale, (float) (-v->shift * v->scale));
    z = nino_act_op(s, z, NINO_ACT_TANH3);
    return run(s, &net->decoder, "decoder", z);
}

static nino_tensor *encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    const tiny_net *net = v->net;
    nino_tensor *z = run(s, &net->encoder, "encoder", pixels);
    return nino_scale(s, z, (float) (1 / v->scale), (float) v->shift);
}

// ---- loading ---------------------------------------------------------------------------------
static bool has(const nino_weights *w, const char *prefix, int i, const char *leaf)
{
    char name[96];
    snprintf(name, sizeof(name), "%s%d.%s", prefix, i, leaf);
    return nino_weights_find(w, name) != NULL;
}

static int count_layers(const nino_weights *w, const char *prefix)
{
    const size_t n = strlen(prefix);
    int last = -1;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const char *name = nino_weights_at(w, i)->name;
        int k;
        if (!strncmp(name, prefix, n) && sscanf(name + n, "%d.", &k) == 1 && k > last &&
            k < MAX_LAYERS)
            last = k;
    }
    return last + 1;
}

static nino_status load_conv(nino_weights *w, const char *prefix, int i, const char *leaf,
                             int64_t cin, nino_act act, nino_conv *out, nino_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d%s", i, leaf);
    const nino_status st = nino_conv_get(w, prefix, name, cin, out, err);
    out->act = act;
    return st;
}

static nino_status load_linear(nino_weights *w, const char *prefix, int i, const char *leaf,
                               int64_t cin, nino_linear *out, nino_error *err)
{
    char name[32];
    snprintf(name, sizeof(name), "%d%s", i, leaf);
    return nino_linear_get(w, prefix, name, cin, out, err);
}

static nino_status load_block(nino_weights *w, const char *prefix, int i, int64_t cin, block *b,
                              nino_error *err)
{
    char name[32];
    nino_status st = load_conv(w, prefix, i, ".conv.0", cin, NINO_ACT_RELU, &b->conv0, err);
    if (!st)
        st = load_conv(w, prefix, i, ".conv.2", b->conv0.w->n, NINO_ACT_RELU, &b->conv2, err);
    if (!st) // the ReLU comes after the residual was added
        st = load_conv(w, prefix, i, ".conv.4", b->conv2.w->n, NINO_ACT_RELU, &b->conv4, err);
    if (!st && has(w, prefix, i, "skip.weight"))
        st = load_linear(w, prefix, i, ".skip", cin, &b->skip, err);
    if (!st && has(w, prefix, i, "pool.0.weight")) {
        snprintf(name, sizeof(name), "%d.pool.1", i);
        st = load_linear(w, prefix, i, ".pool.0", cin, &b->pool0, err);
        if (!st)
            st = nino_norm_get(w, prefix, name, 4, 1e-5f, &b->pool1, err);
        if (!st)
            st = load_linear(w, prefix, i, ".pool.3", b->pool0.w->n, &b->pool3, err);
    }
    if (!st && b->conv4.w->n != (b->skip.w ? b->skip.w->n : cin)) {
        snprintf(name, sizeof(name), "%s%d.conv.4", prefix, i);
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(w),
                            "%s has %lld rows, the sum needs %lld", name, (long long) b->conv4.w->n,
                            (long long) (b->skip.w ? b->skip.w->n : cin));
    }
    return st;
}

// What the positions without tensors mean. Decoder: an upsampling, but right after the first
// convolution a ReLU (position 0, the clamp, is part of decode()). Encoder: a ReLU. Encoder
// convolutions halve the resolution, except the last and a first one that a block follows.
static nino_status load_sequence(nino_weights *w, const char *prefix, bool is_decoder, sequence *q,
                                 nino_error *err)
{
    const int n = count_layers(w, prefix);
    int64_t c = is_decoder ? -1 : 3;
    bool has_block = false, upsample = false;
    nino_status st = NINO_OK;
    q->factor = 1;
    q->layers = calloc((size_t) n + 1, sizeof(layer));
    if (!q->layers)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(w), "no memory for its layers");
    for (int i = 0; i < n && !st; i++) {
        layer *l = &q->layers[q->n];
        const bool is_gap_next = i + 1 < n && !has(w, prefix, i + 1, "weight") &&
                                 !has(w, prefix, i + 1, "conv.0.weight");
        if (has(w, prefix, i, "conv.0.weight")) {
            l->is_block = has_block = true;
            q->n++;
            st = load_block(w, prefix, i, c, &l->block, err);
            c = st ? c : l->block.conv4.w->n;
        } else if (has(w, prefix, i, "weight")) {
            q->n++;
            const bool is_stem = is_gap_next && !has_block;
            st = load_conv(w, prefix, i, "", c, is_stem ? NINO_ACT_RELU : NINO_ACT_NONE, &l->conv,
                           err);
            l->conv.upsample2x = upsample;
            if (!is_decoder && i + 1 < n && (i > 0 || is_stem))
                l->conv.stride = 2;
            l->starts_level = upsample || l->conv.stride == 2;
            q->factor *= l->starts_level ? 2 : 1;
            upsample = false;
            i += is_stem;
            c = st ? c : l->conv.w->n;
        } else if (is_decoder && i > 0) {
            upsample = true;
        }
        if (!st && upsample && l->is_block)
            st = nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(w),
                                "%s%d: an upsampling without a convolution after it", prefix, i);
    }
    if (!st && (!q->n || q->layers[q->n - 1].is_block || (is_decoder && c != 3)))
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(w),
                            "the layers of %s do not end in a convolution to the right channels",
                            is_decoder ? "the decoder" : "the encoder");
    return st;
}

static void release_sequence(sequence *q)
{
    for (int i = 0; i < q->n; i++) {
        block *b = &q->layers[i].block;
        nino_conv_release(&q->layers[i].conv);
        nino_conv_release(&b->conv0);
        nino_conv_release(&b->conv2);
        nino_conv_release(&b->conv4);
        nino_linear_release(&b->skip);
        nino_linear_release(&b->pool0);
        nino_linear_release(&b->pool3);
        nino_norm_release(&b->pool1);
    }
    free(q->layers);
}

static void destroy(nino_vae *v)
{
    tiny_net *net = v->net;
    if (net) {
        release_sequence(&net->encoder);
        release_sequence(&net->decoder);
    }
    free(net);
}

// Prefix of the part in this file; NULL: the file does not hold it.
static const char *part_prefix(const nino_weights *w, bool is_decoder)
{
    if (nino_weights_find(w, is_decoder ? "taesd_decoder.1.weight" : "taesd_encoder.0.weight"))
        return is_decoder ? "taesd_decoder." : "taesd_encoder.";
    const bool is_plain_decoder = !nino_weights_find(w, "0.weight");
    return nino_weights_find(w, is_decoder ? "1.weight" : "0.weight") &&
                   is_plain_decoder == is_decoder
               ? ""
               : NULL;
}

static nino_status load_part(nino_vae *v, nino_weights *w, bool is_decoder, bool is_optional,
                             nino_error *err)
{
    tiny_net *net = v->net;
    sequence *q = is_decoder ? &net->decoder : &net->encoder;
    const char *prefix = part_prefix(w, is_decoder);
    if (!prefix && is_optional)
        return NINO_OK;
    if (!prefix)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(w),
                              "this is not a TAESD %s", is_decoder ? "decoder" : "encoder");
    const nino_status st = load_sequence(w, prefix, is_decoder, q, err);
    if (st)
        return st;
    const nino_conv *z = &q->layers[is_decoder ? 0 : q->n - 1].conv;
    const int channels = (int) (is_decoder ? z->w->c : z->w->n);
    if (v->channels && (v->channels != channels || v->factor != q->factor))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", nino_weights_path(w),
                              "encoder (%d channels, %dx) and decoder (%d, %dx) do not belong "
                              "together",
                              channels, q->factor, v->channels, v->factor);
    v->channels = channels;
    v->factor = q->factor;
    v->weight_bytes += nino_weights_bytes(w, prefix);
    *(is_decoder ? &v->has_decoder : &v->has_encoder) = true;
    return NINO_OK;
}

static nino_status read_number(nino_weights *w, const char *name, double *out, nino_error *err)
{
    const nino_tensor_info *t = nino_weights_find(w, name);
    if (!t || t->bytes != nino_dtype_size(t->dtype)) // one number, or not what we know
        return NINO_OK;
    nino_array *a = nino_weights_read_f32(w, t, err);
    if (!a)
        return err ? err->code : NINO_ERR_IO;
    *out = nino_array_f32(a)[0];
    nino_array_unref(&a);
    return NINO_OK;
}

// A combined file may say its own scale and shift (ComfyUI writes both); else the family's.
static nino_status set_scale(nino_vae *v, nino_weights *w, const char *family, nino_error *err)
{
    v->scale = 1;
    snprintf(v->family, sizeof(v->family), "%s", family ? family : "taesd");
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (family ? strcmp(family, families[i].family) : families[i].channels != v->channels)
            continue;
        snprintf(v->family, sizeof(v->family), "%s", families[i].family);
        v->scale = families[i].scale;
        v->shift = families[i].shift;
        break;
    }
    nino_status st = read_number(w, "vae_scale", &v->scale, err);
    st = st ? st : read_number(w, "vae_shift", &v->shift, err);
    if (st)
        return st;
    if (!(v->scale > 0) || !(v->shift > -1e6 && v->shift < 1e6))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "value", nino_weights_path(w),
                              "vae_scale %g and vae_shift %g make no sense", v->scale, v->shift);
    return NINO_OK;
}

nino_status nino_vae_tiny_load(nino_weights *encoder, nino_weights *decoder, const char *family,
                               nino_vae **out, nino_error *err)
{
    nino_weights *file = decoder ? decoder : encoder;
    const bool is_one_file = encoder == decoder;
    nino_status st = NINO_OK;
    nino_vae *v = calloc(1, sizeof(*v));
    *out = NULL;
    if (!v || !(v->net = calloc(1, sizeof(tiny_net)))) {
        free(v);
        return nino_fail(err, NINO_ERR_NOMEM, file ? nino_weights_path(file) : "",
                         "no memory for its layers");
    }
    v->kind = NINO_VAE_TINY;
    v->refs = 1;
    v->time_factor = 1;
    v->decode = decode;
    v->encode = encode;
    v->destroy = destroy;
    if (decoder)
        st = load_part(v, decoder, true, is_one_file, err);
    if (!st && encoder)
        st = load_part(v, encoder, false, is_one_file, err);
    if (!st && !v->has_encoder && !v->has_decoder)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", file ? nino_weights_path(file) : "",
                            "neither a TAESD encoder nor a decoder");
    if (!st)
        st = set_scale(v, file, family, err);
    if (!st) {
        const nino_hash ids[2] = { encoder ? nino_weights_identity(encoder) : (nino_hash){ 0, 0 },
                                   decoder ? nino_weights_identity(decoder) : (nino_hash){ 0, 0 } };
        v->identity = nino_hash_bytes(ids, sizeof(ids));
        snprintf(v->name, sizeof(v->name), "%s", nino_weights_path(file));
        snprintf(v->detail, sizeof(v->detail), "tiny autoencoder, %d channels, %dx%s", v->channels,
                 v->factor,
                 !v->has_encoder   ? ", decoder only"
                 : !v->has_decoder ? ", encoder only"
                                   : "");
        *out = v;
    } else {
        nino_vae_unref(&v);
    }
    return st;
}
