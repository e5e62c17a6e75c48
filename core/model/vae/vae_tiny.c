// The TAESD family: TAESD, TAESDXL, TAESD3, TAEF1, TAEF2. A plain sequence of convolutions and
// residual blocks whose tensor names carry the position in the sequence: positions without tensors
// are the activations and upsamplings between them, so any number and order of blocks is read.
// Source: madebyollin/taesd taesd.py; combined files: ComfyUI comfy/taesd/taesd.py.
#include "core/base/error.h"
#include "core/model/loader.h"
#include "core/model/vae/vae.h"

#include <stdio.h>
#include <string.h>

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
static nino_tensor *vae_tiny_run_block(nino_stream *s, const block *b, nino_tensor *x)
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

static nino_tensor *vae_tiny_run(nino_stream *s, const sequence *q, const char *what,
                                 nino_tensor *x)
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
        x = l->is_block ? vae_tiny_run_block(s, &l->block, x) : nino_conv2d(s, x, &l->conv);
    }
    nino_scope_end(s);
    return x;
}

static nino_tensor *vae_tiny_decode(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const tiny_net *net = v->net;
    if (v->fold > 1)
        z = nino_shuffle(s, z, true, 1, v->fold, 0, v->channels / v->fold / v->fold, NULL);
    z = nino_scale(s, z, (float) v->scale, (float) (-v->shift * v->scale));
    z = nino_act_op(s, z, NINO_ACT_TANH3);
    return vae_tiny_run(s, &net->decoder, "decoder", z);
}

static nino_tensor *vae_tiny_encode(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    const tiny_net *net = v->net;
    nino_tensor *z = vae_tiny_run(s, &net->encoder, "encoder", pixels);
    z = nino_scale(s, z, (float) (1 / v->scale), (float) v->shift);
    return v->fold > 1 ? nino_shuffle(s, z, false, 1, v->fold, 0, v->channels, NULL) : z;
}

// ---- loading ---------------------------------------------------------------------------------
static void load_conv(nino_loader *l, int i, const char *leaf, int64_t cin, nino_act act,
                      nino_conv *out)
{
    nino_load_conv(l, nino_name_of("%d%s", i, leaf).s, cin, out);
    out->act = act;
}

static void load_linear(nino_loader *l, int i, const char *leaf, int64_t cin, nino_linear *out)
{
    nino_load_linear(l, nino_name_of("%d%s", i, leaf).s, cin, out);
}

static void vae_tiny_load_block(nino_loader *l, int i, int64_t *c, block *b)
{
    load_conv(l, i, ".conv.0", *c, NINO_ACT_RELU, &b->conv0);
    load_conv(l, i, ".conv.2", nino_load_rows(l, b->conv0.w), NINO_ACT_RELU, &b->conv2);
    // the ReLU comes after the residual was added
    load_conv(l, i, ".conv.4", nino_load_rows(l, b->conv2.w), NINO_ACT_RELU, &b->conv4);
    if (nino_load_has(l, "%d.skip.weight", i))
        load_linear(l, i, ".skip", *c, &b->skip);
    if (nino_load_has(l, "%d.pool.0.weight", i)) {
        load_linear(l, i, ".pool.0", *c, &b->pool0);
        const int64_t width = nino_load_rows(l, b->pool0.w);
        nino_load_norm(l, nino_name_of("%d.pool.1", i).s, width, 4, 1e-5f, &b->pool1);
        load_linear(l, i, ".pool.3", width, &b->pool3);
    }
    const int64_t n = nino_load_rows(l, b->conv4.w);
    const int64_t sum = b->skip.w ? nino_load_rows(l, b->skip.w) : *c;
    if (n != sum)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%d.conv.4 has %lld rows, the sum needs %lld",
                       l->prefix, i, (long long) n, (long long) sum);
    *c = n;
}

// What the positions without tensors mean. Decoder: an upsampling, but right after the first
// convolution a ReLU (position 0, the clamp, is part of vae_tiny_decode()). Encoder: a ReLU. Encoder
// convolutions halve the resolution, except the last and a first one that a block follows.
static void load_sequence(nino_loader *l, bool is_decoder, sequence *q)
{
    const int n = nino_load_count(l, "");
    int64_t c = is_decoder ? -1 : 3;
    bool has_block = false, upsample = false;
    q->factor = 1;
    q->layers = nino_load_alloc(l, (size_t) n, sizeof(layer));
    for (int i = 0; i < n && !l->st; i++) {
        layer *at = &q->layers[q->n];
        const bool is_gap_next = i + 1 < n && !nino_load_has(l, "%d.weight", i + 1) &&
                                 !nino_load_has(l, "%d.conv.0.weight", i + 1);
        if (nino_load_has(l, "%d.conv.0.weight", i)) {
            at->is_block = has_block = true;
            q->n++;
            vae_tiny_load_block(l, i, &c, &at->block);
        } else if (nino_load_has(l, "%d.weight", i)) {
            q->n++;
            const bool is_stem = is_gap_next && !has_block;
            load_conv(l, i, "", c, is_stem ? NINO_ACT_RELU : NINO_ACT_NONE, &at->conv);
            at->conv.upsample2x = upsample;
            if (!is_decoder && i + 1 < n && (i > 0 || is_stem))
                at->conv.stride = 2;
            at->starts_level = upsample || at->conv.stride == 2;
            q->factor *= at->starts_level ? 2 : 1;
            upsample = false;
            i += is_stem;
            c = nino_load_rows(l, at->conv.w);
        } else if (is_decoder && i > 0) {
            upsample = true;
        }
        if (upsample && at->is_block)
            nino_load_fail(l, NINO_ERR_UNSUPPORTED,
                           "%s%d: an upsampling without a convolution after it", l->prefix, i);
    }
    if (!l->st && (!q->n || q->layers[q->n - 1].is_block || (is_decoder && c != 3)))
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "the layers of %s do not end in a convolution to the right channels",
                       is_decoder ? "the decoder" : "the encoder");
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
    nino_loader l = { w, prefix, &v->layers, .where = nino_weights_path(w), .err = err };
    load_sequence(&l, is_decoder, q);
    if (l.st)
        return l.st;
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

// FLUX.2's latents are squares of 2 x 2 of this network's cells.
static void set_fold(nino_vae *v)
{
    if (strcmp(v->family, "taef2") != 0)
        return;
    v->fold = 2;
    v->takes_unfolded = true;
    v->channels *= v->fold * v->fold;
    v->factor *= v->fold;
}

static nino_status vae_tiny_read_number(nino_weights *w, const char *name, double *out,
                                        nino_error *err)
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
    snprintf(v->family, sizeof(v->family), "%s", family ? family : "taesd");
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (family ? strcmp(family, families[i].family) : families[i].channels != v->channels)
            continue;
        snprintf(v->family, sizeof(v->family), "%s", families[i].family);
        v->scale = families[i].scale;
        v->shift = families[i].shift;
        break;
    }
    nino_status st = vae_tiny_read_number(w, "vae_scale", &v->scale, err);
    st = st ? st : vae_tiny_read_number(w, "vae_shift", &v->shift, err);
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
    const char *path = file ? nino_weights_path(file) : "";
    nino_status st = NINO_OK;
    nino_vae *v = nino_vae_create(NINO_VAE_TINY, sizeof(tiny_net), path, err);
    *out = NULL;
    if (!v)
        return NINO_ERR_NOMEM;
    v->decode = vae_tiny_decode;
    v->encode = vae_tiny_encode;
    if (decoder)
        st = load_part(v, decoder, true, is_one_file, err);
    if (!st && encoder)
        st = load_part(v, encoder, false, is_one_file, err);
    if (!st && !v->has_encoder && !v->has_decoder)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "model", path,
                            "neither a TAESD encoder nor a decoder");
    if (!st)
        st = set_scale(v, file, family, err);
    if (!st)
        set_fold(v);
    if (st) {
        nino_vae_unref(&v);
        return st;
    }
    const nino_hash ids[2] = { encoder ? nino_weights_identity(encoder) : (nino_hash){ 0, 0 },
                               decoder ? nino_weights_identity(decoder) : (nino_hash){ 0, 0 } };
    v->identity = nino_hash_bytes(ids, sizeof(ids));
    snprintf(v->name, sizeof(v->name), "%s", path);
    snprintf(v->detail, sizeof(v->detail), "tiny autoencoder, %d channels, %dx%s", v->channels,
             v->factor, nino_vae_halves(v));
    *out = v;
    return NINO_OK;
}
