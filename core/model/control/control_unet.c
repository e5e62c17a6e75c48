// ControlNets of SD1, SD2 and SDXL: the way down of a UNet with the hint added at its start, and
// what its stages give, each through a layer of its own.
// Sources: Zhang et al., Adding Conditional Control to Text-to-Image Diffusion Models (2023),
// lllyasviel/ControlNet cldm.py; union networks: xinsir6/ControlNetPlus controlnet_union.py; both as
// ComfyUI 0.3.64 cldm/cldm.py runs them.
#include "core/model/control/control.h"
#include "core/model/unet/unet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HINT_LAYERS 8
#define TYPE_DIM 256 // numbers that a type's 0 or 1 becomes
#define UNION_HEADS 8

typedef struct control_unet {
    unet net;
    nino_conv hint[HINT_LAYERS];
    nino_linear zero[NINO_UNET_STAGES], zero_middle;
    // union: the types as one vector, and what a type makes of the hint
    bool is_union;
    nino_linear type1, type2;
    nino_array *task; // f32 [types,C]
    nino_norm norm1, norm2;
    nino_linear v, out, fc, proj, spatial;
} control_unet;

// ---- once a sampling -------------------------------------------------------------------------
static nino_tensor *read_hint(nino_stream *s, const control_unet *w, nino_tensor *hint)
{
    for (int i = 0; i < HINT_LAYERS; i++)
        hint = nino_conv2d(s, hint, &w->hint[i]);
    return hint;
}

// What a type makes of the whole hint is added to every position. Attention over a single token
// gives its v.
static nino_tensor *with_type(nino_stream *s, const nino_control_net *c, nino_tensor *map, int type)
{
    const control_unet *w = c->net;
    const int64_t batch = nino_dim(map, 0), width = nino_dim(map, 3);
    nino_array *row = nino_array_create(NINO_F32, NINO_SHAPE(1, width));
    if (!row || !map) {
        nino_array_unref(&row);
        nino_unref(map);
        return nino_stream_fail(s, NINO_ERR_NOMEM, c->name, "no memory for its type");
    }
    memcpy(nino_array_f32(row), nino_array_f32(w->task) + type * width,
           (size_t) width * sizeof(float));
    nino_tensor *x = nino_resample(s, nino_ref(map), 1, 1, NINO_FILTER_AREA); // the mean
    x = nino_reshape(s, x, NINO_SHAPE(batch, width));
    x = nino_add(s, x, nino_upload(s, row, nino_stream_act_type(s)));
    nino_array_unref(&row);
    nino_tensor *h = nino_layer_norm(s, nino_ref(x), &w->norm1);
    x = nino_linear_add(s, nino_linear_op(s, h, &w->v), &w->out, x);
    h = nino_layer_norm(s, nino_ref(x), &w->norm2);
    x = nino_linear_add(s, nino_linear_op(s, h, &w->fc), &w->proj, x);
    return nino_add(s, map, nino_linear_op(s, x, &w->spatial));
}

// [B,4 channels]: 1 for the type that is asked for, 0 for the others, as waves.
static nino_tensor *embed_types(nino_stream *s, const nino_control_net *c, int64_t batch, int type)
{
    const control_unet *w = c->net;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(batch, (int64_t) c->n_types * TYPE_DIM));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, c->name, "no memory for its type");
    float *to = nino_array_f32(a);
    for (int64_t b = 0; b < batch; b++)
        for (int t = 0; t < c->n_types; t++)
            for (int k = 0; k < TYPE_DIM; k++) {
                const int half = TYPE_DIM / 2;
                const float f = expf(-logf(10000) * (float) (k % half) / (float) half);
                const float v = t == type ? f : 0;
                *to++ = k < half ? cosf(v) : sinf(v);
            }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return nino_linear_op(s, nino_linear_op(s, t, &w->type1), &w->type2);
}

static void control_unet_prepare(nino_stream *s, const nino_control_net *c, nino_tensor *hint,
                                 int type, nino_control_hint *out)
{
    const control_unet *w = c->net;
    const int64_t batch = nino_dim(hint, 0);
    nino_scope_begin(s, NINO_EV_STAGE, "control.hint", 0, 0);
    out->t[0] = read_hint(s, w, hint);
    if (w->is_union && type >= 0)
        out->t[0] = with_type(s, c, out->t[0], type);
    if (w->is_union)
        out->t[1] = embed_types(s, c, batch, type);
    nino_scope_end(s);
}

// ---- every step ------------------------------------------------------------------------------
// What goes to the diffusion network of one stage's map, which is kept.
static void give(nino_stream *s, const nino_control_net *c, nino_tensor *map,
                 const nino_linear *zero, float strength, nino_tensor **slot)
{
    nino_tensor *t = nino_linear_op(s, nino_ref(map), zero);
    if (c->is_average)
        t = nino_resample(s, t, 1, 1, NINO_FILTER_AREA);
    nino_residual_put(s, slot, t, strength);
}

static void control_unet_forward(nino_stream *s, const nino_control_net *c, const nino_forward *f,
                                 const nino_control_hint *hint, float strength, nino_residuals *out)
{
    const control_unet *w = c->net;
    nino_scope_begin(s, NINO_EV_STAGE, "control.in", 0, 0);
    unet_walk walk = { .pass = NULL }; // patches are of the model, not of those who guide it
    nino_tensor *emb = unet_embed(s, &w->net, f, nino_ref(hint->t[1]));
    nino_tensor *x = nino_ref(f->x);
    nino_scope_end(s);
    for (int i = 0; i < w->net.n_down; i++) {
        x = unet_run_stage(s, &walk, &w->net.down[i], "control.down", i, x, f, emb, NULL);
        if (!i)
            x = nino_add(s, x, nino_ref(hint->t[0]));
        give(s, c, x, &w->zero[i], strength, &out->late[i]);
    }
    x = unet_run_stage(s, &walk, &w->net.mid, "control.mid", -1, x, f, emb, NULL);
    give(s, c, x, &w->zero_middle, strength, &out->middle);
    nino_unref(x);
    nino_unref(emb);
}

// ---- loading ---------------------------------------------------------------------------------
static void load_hint(nino_loader *l, bool is_diffusers, control_unet *w)
{
    static const int strides[HINT_LAYERS] = { 1, 1, 2, 1, 2, 1, 2, 1 };
    int64_t c = 3;
    for (int i = 0; i < HINT_LAYERS; i++) {
        nino_name name = nino_name_of("input_hint_block.%d", 2 * i);
        if (is_diffusers)
            name = i == 0 ? nino_name_of("controlnet_cond_embedding.conv_in")
                   : i == HINT_LAYERS - 1
                       ? nino_name_of("controlnet_cond_embedding.conv_out")
                       : nino_name_of("controlnet_cond_embedding.blocks.%d", i - 1);
        nino_load_conv(l, name.s, c, &w->hint[i]);
        w->hint[i].stride = strides[i];
        w->hint[i].act = i < HINT_LAYERS - 1 ? NINO_ACT_SILU : NINO_ACT_NONE;
        c = nino_load_rows(l, w->hint[i].w);
    }
    if (!l->st && c != w->net.down[0].module[0].conv.w->n)
        nino_load_fail(l, NINO_ERR_FORMAT,
                       "the hint becomes %lld channels, the first stage gives %lld", (long long) c,
                       (long long) w->net.down[0].module[0].conv.w->n);
}

static void load_zeros(nino_loader *l, const unet_sizes *sizes, bool is_diffusers, control_unet *w)
{
    const char *middle = is_diffusers ? "controlnet_mid_block" : "middle_block_out.0";
    const char *stem = is_diffusers ? "controlnet_down_blocks." : "zero_convs.";
    const int n = nino_load_count(l, stem);
    if (n != w->net.n_down)
        nino_load_fail(l, NINO_ERR_FORMAT, "%d stages down, but %d of %s%s*", w->net.n_down, n,
                       l->prefix, stem);
    for (int i = 0; i < w->net.n_down; i++) {
        const nino_name name = is_diffusers ? nino_name_of("controlnet_down_blocks.%d", i)
                                            : nino_name_of("zero_convs.%d.0", i);
        nino_load_linear(l, name.s, sizes->width[i], &w->zero[i]);
        nino_load_expect(l, name.s, &w->zero[i], sizes->width[i]);
    }
    nino_load_linear(l, middle, sizes->middle, &w->zero_middle);
    nino_load_expect(l, middle, &w->zero_middle, sizes->middle);
}

// The last of three equal parts: q, k and v.
static void load_third(nino_loader *l, const char *name, nino_weight_role role, int64_t n,
                       nino_weight **out)
{
    const nino_tensor_info *t = nino_weights_find(l->file, nino_name_of("%s%s", l->prefix, name).s);
    const long long all = 3 * n;
    if (t && t->rank && t->dim[0] != all)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s has %lld rows where %lld are needed", l->prefix,
                       name, (long long) t->dim[0], all);
    const nino_weight_part part = { .name = name, .row0 = 2 * n, .rows = n };
    nino_load_weight(l, part, role, n, role == NINO_W_MATRIX ? n : -1, true, out);
}

static void load_union(nino_loader *l, nino_control_net *c, control_unet *w)
{
    static const char stem[] = "transformer_layes.0.";
    const nino_tensor_info *task =
        nino_weights_find(l->file, nino_name_of("%stask_embedding", l->prefix).s);
    const int64_t width = l->st ? 0 : w->net.down[0].module[0].conv.w->n;
    const int64_t emb = l->st ? 0 : w->net.time2.w->n;
    if (!task || l->st)
        return;
    if (task->rank != 2 || task->dim[0] < 1 || task->dim[0] > 64 || task->dim[1] != width ||
        width % UNION_HEADS) {
        nino_load_fail(l, NINO_ERR_FORMAT, "task_embedding does not go with a width of %lld",
                       (long long) width);
        return;
    }
    w->is_union = true;
    c->n_types = (int) task->dim[0];
    nino_load_table(l, task, &w->task);
    nino_load_linear(l, "control_add_embedding.linear_1", (int64_t) c->n_types * TYPE_DIM,
                     &w->type1);
    nino_load_linear(l, "control_add_embedding.linear_2", nino_load_rows(l, w->type1.w), &w->type2);
    nino_load_expect(l, "control_add_embedding.linear_2", &w->type2, emb);
    w->type1.act = NINO_ACT_SILU;
    w->net.time2.act = NINO_ACT_NONE;
    nino_load_norm(l, nino_name_of("%sln_1", stem).s, width, 1, 1e-5f, &w->norm1);
    nino_load_norm(l, nino_name_of("%sln_2", stem).s, width, 1, 1e-5f, &w->norm2);
    load_third(l, nino_name_of("%sattn.in_proj_weight", stem).s, NINO_W_MATRIX, width, &w->v.w);
    load_third(l, nino_name_of("%sattn.in_proj_bias", stem).s, NINO_W_VECTOR, width, &w->v.b);
    nino_load_linear(l, nino_name_of("%sattn.out_proj", stem).s, width, &w->out);
    nino_load_expect(l, "attn.out_proj", &w->out, width);
    nino_load_linear(l, nino_name_of("%smlp.c_fc", stem).s, width, &w->fc);
    w->fc.act = NINO_ACT_QUICK_GELU;
    nino_load_linear(l, nino_name_of("%smlp.c_proj", stem).s, nino_load_rows(l, w->fc.w), &w->proj);
    nino_load_expect(l, "mlp.c_proj", &w->proj, width);
    nino_load_linear(l, "spatial_ch_projs", width, &w->spatial);
    nino_load_expect(l, "spatial_ch_projs", &w->spatial, width);
}

void nino_control_unet_layers(nino_loader *down, nino_loader *own, nino_control_net *c)
{
    control_unet *w = nino_load_alloc(down, 1, sizeof(*w));
    unet_sizes sizes;
    if (!w) {
        own->st = down->st;
        return;
    }
    c->net = w;
    c->serves = NINO_DIFFUSION_UNET;
    c->prepare = control_unet_prepare;
    c->forward = control_unet_forward;
    unet_load_down(down, &w->net, &sizes);
    own->st = down->st;
    if (own->st)
        return;
    // a control-LoRA's own layers are called as those of the first ControlNets
    const bool is_diffusers = nino_load_has(own, "controlnet_cond_embedding.conv_in.weight");
    load_hint(own, is_diffusers, w);
    load_zeros(own, &sizes, is_diffusers, w);
    load_union(own, c, w);
    c->in_channels = (int) sizes.in_channels;
    c->context_dim = (int) sizes.context;
    c->y_dim = (int) sizes.y_dim;
}

nino_status nino_control_unet_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                   nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &c->layers, .err = err };
    nino_loader own = l;
    nino_control_unet_layers(&l, &own, c);
    if (own.st)
        return own.st;
    if (c->n_types)
        snprintf(c->family, sizeof(c->family), "controlnet_union");
    const control_unet *w = c->net;
    snprintf(c->detail, sizeof(c->detail), "ControlNet of %s, %d stages",
             c->y_dim                 ? "SDXL"
             : c->context_dim == 1024 ? "SD2"
                                      : "SD1.5",
             w->net.n_down);
    if (c->n_types)
        snprintf(c->detail, sizeof(c->detail), "union ControlNet of %s, %d types",
                 c->y_dim ? "SDXL" : "SD", c->n_types);
    return NINO_OK;
}
