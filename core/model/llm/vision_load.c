// Qwen2.5-VL's vision network from files, with ComfyUI's names or those that llama.cpp's get here
// (core/file/gguf_names.c).
#include <string.h>

#include "core/model/llm/vision.h"

#define DEPTH 80 // of a head
#define EPS 1e-6f
#define PATCH INT64_C(196) // 14 * 14 values
#define FRAMES 2           // of a clip; a picture is the same twice
#define MAX_LAYERS 256

static void vision_norm(nino_loader *l, const char *name, int64_t width, nino_norm *out)
{
    out->eps = EPS;
    nino_load_vector(l, nino_name_of("visual.%s.weight", name).s, width, &out->gamma);
}

static void vision_linear(nino_loader *l, nino_weight_part part, int64_t n, int64_t c,
                          nino_linear *out)
{
    nino_load_part(l, part, c, out);
    if (n >= 0)
        nino_load_expect(l, part.name, out, n);
}

// Queries, keys and values are one matrix, in llama.cpp's files three.
static void vision_qkv(nino_loader *l, const char *stem, int64_t width, nino_vision_layer *out)
{
    nino_linear *const to[] = { &out->q, &out->k, &out->v };
    static const char *const names[] = { "q", "k", "v" };
    const nino_name whole = nino_name_of("%sattn.qkv", stem);
    const bool is_whole = nino_load_has(l, "%s.weight", whole.s);
    for (int i = 0; i < 3; i++) {
        const nino_name own = nino_name_of("%sattn.%s", stem, names[i]);
        nino_weight_part part = { .name = own.s };
        if (is_whole)
            part = (nino_weight_part){ .name = whole.s, .row0 = i * width, .rows = width };
        vision_linear(l, part, width, width, to[i]);
    }
}

static void vision_layer_load(nino_loader *l, int64_t width, int i, nino_vision_layer *out)
{
    const nino_name stem = nino_name_of("visual.blocks.%d.", i);
    const nino_name norm1 = nino_name_of("blocks.%d.norm1", i);
    const nino_name norm2 = nino_name_of("blocks.%d.norm2", i);
    const nino_name proj = nino_name_of("%sattn.proj", stem.s);
    const nino_name gate = nino_name_of("%smlp.gate_proj", stem.s);
    const nino_name up = nino_name_of("%smlp.up_proj", stem.s);
    const nino_name down = nino_name_of("%smlp.down_proj", stem.s);
    vision_norm(l, norm1.s, width, &out->norm1);
    vision_norm(l, norm2.s, width, &out->norm2);
    vision_qkv(l, stem.s, width, out);
    vision_linear(l, (nino_weight_part){ .name = proj.s }, width, width, &out->proj);
    vision_linear(l, (nino_weight_part){ .name = gate.s }, -1, width, &out->gate);
    const int64_t inner = nino_load_rows(l, out->gate.w);
    vision_linear(l, (nino_weight_part){ .name = up.s }, inner, width, &out->up);
    vision_linear(l, (nino_weight_part){ .name = down.s }, width, inner, &out->down);
    out->gate.act = NINO_ACT_SILU;
}

// Adds what a frame's kernel has for channel c of a row: `step` values apart in the tensor.
static void add_kernel(float *to, const float *from)
{
    for (int i = 0; i < PATCH; i++)
        to[i] += from[i];
}

// One tensor for both frames, or one for each.
static bool is_kernel(const nino_tensor_info *t, const nino_tensor_info *second)
{
    if (!t || t->rank != (second ? 4 : 5) || t->dim[0] < 1 || t->dim[0] > 1 << 16 ||
        t->dim[1] != 3 || (!second && t->dim[2] != FRAMES))
        return false;
    if (t->dim[t->rank - 1] != 14 || t->dim[t->rank - 2] != 14)
        return false;
    return !second || (second->rank == 4 && !memcmp(second->dim, t->dim, 4 * sizeof(t->dim[0])));
}

// [width,3,2,14,14], or in llama.cpp's files two of [width,3,14,14]: both frames see the same, so
// their kernels add up to a matrix [width,3*14*14].
static void vision_patch_load(nino_loader *l, int64_t *width, nino_linear *out)
{
    static const char *const names[] = { "visual.patch_embed.proj.weight",
                                         "visual.patch_embed.proj.weight.1" };
    const nino_tensor_info *t =
        nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, names[0]).s);
    const nino_tensor_info *second =
        nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, names[1]).s);
    if (!is_kernel(t, second)) {
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "%s%s is not the kernel of patches of 14x14 pixels in two frames", l->prefix,
                       names[0]);
        return;
    }
    const int frames = second ? 1 : FRAMES;
    *width = t->dim[0];
    nino_array *a = nino_load_values(l, t), *b = second ? nino_load_values(l, second) : NULL;
    nino_array *sum = l->st ? NULL : nino_array_create(NINO_F32, NINO_SHAPE(*width, 3 * PATCH));
    for (int64_t i = 0; sum && a && i < *width * 3; i++) {
        float *to = nino_array_f32(sum) + i * PATCH;
        add_kernel(to, nino_array_f32(a) + i * frames * PATCH);
        add_kernel(to, b ? nino_array_f32(b) + i * PATCH
                         : nino_array_f32(a) + (i * frames + 1) * PATCH);
    }
    nino_load_made(l, sum, NINO_W_MATRIX, &out->w);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&sum);
}

nino_vision *nino_vision_load(nino_loader *l, int width)
{
    nino_vision *v = nino_load_alloc(l, 1, sizeof(*v));
    int64_t w = 0;
    if (!v)
        return NULL;
    vision_patch_load(l, &w, &v->patch);
    v->width = (int) w;
    v->out_width = width;
    v->n_layers = nino_load_count(l, "visual.blocks.");
    v->heads = (int) w / DEPTH;
    if (!l->st && w % DEPTH)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "its vision network is %d wide, which are no heads of %d", v->width, DEPTH);
    if (v->n_layers < 1 || v->n_layers > MAX_LAYERS)
        nino_load_fail(l, NINO_ERR_FORMAT, "%d layers called %svisual.blocks.0 ...", v->n_layers,
                       l->prefix);
    v->layer = l->st ? NULL : nino_load_alloc(l, (size_t) v->n_layers, sizeof(v->layer[0]));
    for (int i = 0; i < v->n_layers && !l->st; i++)
        vision_layer_load(l, w, i, &v->layer[i]);
    vision_norm(l, "merger.ln_q", w, &v->merge_norm);
    vision_linear(l, (nino_weight_part){ .name = "visual.merger.mlp.0" }, -1, 4 * w, &v->merge[0]);
    vision_linear(l, (nino_weight_part){ .name = "visual.merger.mlp.2" }, width,
                  nino_load_rows(l, v->merge[0].w), &v->merge[1]);
    v->merge[0].act = NINO_ACT_GELU;
    return l->st ? NULL : v;
}
