// CLIP's vision transformers: ViT-L/14 (224 and 336 pixels), ViT-H/14, ViT-G/14, and SigLIP, with
// the names of Hugging Face or of OpenCLIP. Sizes come from tensor shapes. Sources: Radford et al.
// 2021, Dosovitskiy et al. 2021, Zhai et al. 2023 (SigLIP); huggingface/ transformers
// modeling_clip.py, openai/CLIP model.py (names), ComfyUI clip_vision.py and clip_model.py (which
// states are handed on, and the norms' epsilon).
#include "core/model/clip/clip_vision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/model/clip/clip_block.h"

typedef struct vision_net {
    nino_linear patches;    // in memory: [width,3*patch*patch]
    nino_norm pre, post;    // pre.gamma NULL: there is none
    nino_linear projection; // .w NULL: there is none
    nino_clip_block layer[];
} vision_net;

// ---- forward ---------------------------------------------------------------------------------

// A small table of the file as [1,rows,width]; zeros where nothing is to be read.
static nino_tensor *clip_vision_upload_table(nino_stream *s, const nino_clip_vision *v,
                                             const nino_tensor_info *t)
{
    nino_error err = { .code = NINO_OK };
    const nino_shape shape = nino_shape_make(t->rank, t->dim);
    nino_array *a = nino_stream_is_plan(s) ? nino_array_create(NINO_F32, shape)
                                           : nino_weights_read_f32(v->file, t, &err);
    if (!a)
        return nino_stream_fail(s, err.code ? err.code : NINO_ERR_NOMEM, t->name, "%s",
                                err.code ? err.msg : "out of memory");
    a->shape = NINO_SHAPE(1, nino_shape_count(&shape) / v->width, v->width);
    nino_tensor *x = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return x;
}

// Patches [N,P,3pp] -> [N,T,width]: the class token in front, positions added.
static nino_tensor *clip_vision_embed(nino_stream *s, const nino_clip_vision *v,
                                      const nino_array *pixels)
{
    const int64_t n = pixels->shape.dim[0];
    nino_tensor *x = nino_upload(s, pixels, nino_stream_act_type(s));
    x = nino_linear_op(s, x, &v->net->patches);
    if (v->class_token) {
        nino_tensor *one = clip_vision_upload_table(s, v, v->class_token), *all = nino_ref(one);
        for (int64_t i = 1; i < n; i++)
            all = nino_concat(s, all, nino_ref(one), 0);
        nino_unref(one);
        x = nino_concat(s, all, x, 1);
    }
    x = nino_add(s, x, clip_vision_upload_table(s, v, v->positions));
    return v->net->pre.gamma ? nino_layer_norm(s, x, &v->net->pre) : x;
}

// The normed state of the class token, projected; SigLIP: of all tokens.
static nino_tensor *clip_vision_project(nino_stream *s, const nino_clip_vision *v, nino_tensor *x)
{
    if (!v->is_siglip) {
        const int64_t n = nino_dim(x, 0);
        x = nino_slice(s, x, 1, 0, 1);
        x = nino_reshape(s, x, NINO_SHAPE(n, v->width));
        x = nino_layer_norm(s, x, &v->net->post);
    }
    return v->net->projection.w ? nino_linear_op(s, x, &v->net->projection) : x;
}

nino_status nino_clip_vision_encode(nino_stream *s, const nino_clip_vision *v,
                                    const nino_array *image, bool crop, nino_vision_output *out,
                                    nino_error *err)
{
    nino_array *pixels = NULL;
    nino_tensor *before = NULL;
    *out = (nino_vision_output){ NULL };
    nino_status st = nino_clip_vision_pixels(v, image, crop, &pixels, err);
    if (st)
        return st;
    nino_tensor *x = clip_vision_embed(s, v, pixels);
    nino_array_unref(&pixels);
    for (int i = 0; i < v->n_layers; i++) {
        char stage[32];
        snprintf(stage, sizeof(stage), "clip_vision.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (i == v->n_layers - 1)
            before = nino_ref(x);
        x = nino_clip_block_run(s, &v->net->layer[i], v->heads, x, false);
        nino_scope_end(s);
    }
    if (v->is_siglip)
        x = nino_layer_norm(s, x, &v->net->post);
    nino_tensor *embeds = clip_vision_project(s, v, nino_ref(x));
    out->last = nino_download(s, x, NINO_F32);
    out->penultimate = nino_download(s, before, NINO_F32);
    out->embeds = nino_download(s, embeds, NINO_F32);
    st = nino_stream_status(s, err);
    if (st)
        nino_vision_out_release(out);
    return st;
}

void nino_vision_out_release(nino_vision_output *o)
{
    nino_array_unref(&o->last);
    nino_array_unref(&o->penultimate);
    nino_array_unref(&o->embeds);
}

// ---- loading ---------------------------------------------------------------------------------
typedef struct names { // behind the file's prefix
    const char *class_token, *positions, *patches, *pre, *post, *blocks, *projection;
    bool is_turned; // the projection is [width,E]
    const nino_clip_names *in_block;
} names;

static const names dialects[] = {
    { "vision_model.embeddings.class_embedding",
      "vision_model.embeddings.position_embedding.weight",
      "vision_model.embeddings.patch_embedding", "vision_model.pre_layrnorm", // as it is spelt
      "vision_model.post_layernorm", "vision_model.encoder.layers.", "visual_projection.weight",
      false, &nino_clip_names_hf },
    { "visual.class_embedding", "visual.positional_embedding", "visual.conv1", "visual.ln_pre",
      "visual.ln_post", "visual.transformer.resblocks.", "visual.proj", true,
      &nino_clip_names_open },
};

static const names *clip_vision_find_names(nino_loader *l)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (nino_load_has(l, "%s", dialects[i].positions))
            return &dialects[i];
    if (nino_load_has(l, "encoder.layer.0.layer_scale1.lambda1"))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "DINOv2 networks are not supported yet");
    return &dialects[0];
}

static const nino_tensor_info *clip_vision_find(nino_loader *l, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, name).s);
    if (!t)
        nino_load_fail(l, NINO_ERR_FORMAT, "the file has no tensor %s%s", l->prefix, name);
    return t;
}

// The convolution whose stride is its size, as a matrix.
static void load_patches(nino_loader *l, nino_clip_vision *v, const char *name, nino_linear *out)
{
    const nino_tensor_info *t = clip_vision_find(l, nino_name_of("%s.weight", name).s);
    if (l->st)
        return;
    if (t->rank != 4 || t->dim[1] != 3 || t->dim[2] != t->dim[3] || t->dim[2] < 1 ||
        t->dim[2] > 64 || t->dim[0] < 1 || t->dim[0] > 1 << 16) {
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is not [width,3,patch,patch]", t->name);
        return;
    }
    v->width = (int) t->dim[0];
    v->patch = (int) t->dim[2];
    nino_array *a = nino_load_values(l, t);
    if (a)
        a->shape = NINO_SHAPE(v->width, t->dim[1] * t->dim[2] * t->dim[3]);
    nino_load_made(l, a, NINO_W_MATRIX, &out->w);
    nino_array_unref(&a);
    nino_load_weight(l, (nino_weight_part){ .name = nino_name_of("%s.bias", name).s },
                     NINO_W_VECTOR, v->width, -1, false, &out->b);
}

static void load_tables(nino_loader *l, nino_clip_vision *v, const names *n)
{
    if (!l->st && nino_load_has(l, "%s", n->class_token)) {
        v->class_token = clip_vision_find(l, n->class_token);
        if (v->class_token->rank > NINO_MAX_RANK ||
            nino_tensor_info_count(v->class_token) != v->width)
            nino_load_fail(l, NINO_ERR_FORMAT, "%s has not %d values", v->class_token->name,
                           v->width);
    }
    v->is_siglip = !v->class_token;
    v->positions = l->st ? NULL : clip_vision_find(l, n->positions);
    if (l->st)
        return;
    const nino_tensor_info *t = v->positions;
    const int64_t rows = t->rank == 2 ? t->dim[0] - !v->is_siglip : 0;
    v->side = rows > 0 && rows < 1 << 20 ? (int) lround(sqrt((double) rows)) : 0;
    if (t->rank != 2 || t->dim[1] != v->width || !v->side || (int64_t) v->side * v->side != rows)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s does not hold the places of a square picture",
                       t->name);
}

static void load_projection(nino_loader *l, nino_clip_vision *v, const names *n, nino_linear *out)
{
    v->embed_width = v->width;
    if (l->st || !nino_load_has(l, "%s", n->projection))
        return;
    const nino_tensor_info *t = clip_vision_find(l, n->projection);
    if (!n->is_turned)
        nino_load_weight(l, (nino_weight_part){ .name = n->projection }, NINO_W_MATRIX, -1,
                         v->width, true, &out->w);
    else if (t->rank != 2 || t->dim[0] != v->width || t->dim[1] < 1)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s is not a matrix of %d rows", t->name, v->width);
    else
        nino_clip_load_turned(l, t, &out->w);
    if (!l->st)
        v->embed_width = (int) out->w->n;
}

// The released networks have 16 heads from ViT-L on, of 64 (L), 72 (SigLIP), 80 (H) or 104 (G);
// smaller ones have heads of 64, as the text networks.
static int clip_vision_heads_of(int width) { return width >= 1024 ? 16 : nino_clip_heads(width); }

// L is OpenAI's own, with the approximation; the larger ones are OpenCLIP's.
static nino_act act_of(const nino_clip_vision *v)
{
    return v->is_siglip        ? NINO_ACT_GELU_TANH
           : v->n_layers >= 32 ? NINO_ACT_GELU
                               : NINO_ACT_QUICK_GELU;
}

static void load_net(nino_loader *l, nino_clip_vision *v, const names *n)
{
    v->n_layers = nino_load_count(l, n->blocks);
    v->net =
        nino_load_alloc(l, 1, sizeof(*v->net) + (size_t) v->n_layers * sizeof(v->net->layer[0]));
    if (!v->net)
        return;
    load_patches(l, v, n->patches, &v->net->patches);
    load_tables(l, v, n);
    v->heads = nino_load_heads(l, v->width, clip_vision_heads_of(v->width));
    if (v->n_layers < 2)
        nino_load_fail(l, NINO_ERR_FORMAT, "%d layers of width %d are not a CLIP vision network",
                       v->n_layers, v->width);
    if (!v->is_siglip)
        nino_load_norm(l, n->pre, v->width, 1, NINO_CLIP_EPS, &v->net->pre);
    for (int i = 0; i < v->n_layers && !l->st; i++)
        nino_clip_block_load(l, n->in_block, nino_name_of("%s%d.", n->blocks, i).s, v->width,
                             act_of(v), &v->net->layer[i]);
    nino_load_norm(l, n->post, v->width, 1, NINO_CLIP_EPS, &v->net->post);
    load_projection(l, v, n, &v->net->projection);
}

nino_status nino_clip_vision_load(nino_weights *file, const char *prefix, const char *name,
                                  nino_clip_vision **out, nino_error *err)
{
    static const float clip_mean[3] = { 0.48145466f, 0.4578275f, 0.40821073f };
    static const float clip_dev[3] = { 0.26862954f, 0.26130258f, 0.27577711f };
    nino_clip_vision *v = calloc(1, sizeof(*v));
    *out = NULL;
    if (!v)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    nino_loader l = { .file = file, .prefix = prefix, .layers = &v->layers, .err = err };
    v->refs = 1;
    v->file = nino_weights_ref(file);
    snprintf(v->name, sizeof(v->name), "%s", name);
    const names *n = clip_vision_find_names(&l);
    if (!l.st)
        load_net(&l, v, n);
    if (l.st) {
        nino_clip_vision_unref(&v);
        return l.st;
    }
    for (int c = 0; c < 3; c++) {
        v->mean[c] = v->is_siglip ? 0.5f : clip_mean[c];
        v->dev[c] = v->is_siglip ? 0.5f : clip_dev[c];
    }
    v->weight_bytes = nino_weights_bytes(file, prefix);
    snprintf(v->detail, sizeof(v->detail), "%s, %d px in patches of %d, %d layers, width %d",
             v->is_siglip ? "SigLIP" : "CLIP vision", v->side * v->patch, v->patch, v->n_layers,
             v->width);
    *out = v;
    return NINO_OK;
}

nino_clip_vision *nino_clip_vision_ref(nino_clip_vision *v)
{
    if (v)
        __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void nino_clip_vision_unref(nino_clip_vision **pv)
{
    nino_clip_vision *v = *pv;
    *pv = NULL;
    if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
        return;
    nino_layers_release(&v->layers);
    nino_weights_unref(&v->file);
    free(v);
}
