// Stable Diffusion 3 and Chroma of random weights: under all the names that files use, in batches,
// at odd sizes, rounded, in GGUF files, with blocks left out; what is refused, and what is said
// then; names in LoRA files.
#include "tests/random_dit.h"

#include "core/model/detect.h"
#include "core/model/flux/flux.h"
#include "core/model/sd3/sd3.h"
#include "tests/networks.h"
#include "tests/gguf_tokens.h"

static const net_sd3 tiny_sd3 = { 64, 2, 96, 24, 20, 0, 0, false };
static const net_sd3 tiny_35 = { 64, 3, 96, 24, 20, 8, 1, true };
static const net_chroma tiny_chroma = { { 64, 32, 2, 2, 16, 24, 0, false }, 48, 2 };

// ---- other names ------------------------------------------------------------------------------
static nino_weights *sd3_in_diffusers(const nino_weights *w, int blocks)
{
    static const renamed list[] = {
        { "joint_blocks", "transformer_blocks" },
        { "x_block.attn.proj", "attn.to_out.0" },
        { "x_block.attn2.proj", "attn2.to_out.0" },
        { "context_block.attn.proj", "attn.to_add_out" },
        { "x_block.attn.ln_", "attn.norm_" },
        { "x_block.attn2.ln_", "attn2.norm_" },
        { "context_block.attn.ln_", "attn.norm_added_" },
        { "x_block.mlp.fc1", "ff.net.0.proj" },
        { "x_block.mlp.fc2", "ff.net.2" },
        { "context_block.mlp.fc1", "ff_context.net.0.proj" },
        { "context_block.mlp.fc2", "ff_context.net.2" },
        { "x_block.adaLN_modulation.1", "norm1.linear" },
        { "context_block.adaLN_modulation.1", "norm1_context.linear" },
        { "pos_embed", "pos_embed.pos_embed" },
        { "x_embedder.proj", "pos_embed.proj" },
        { "t_embedder.mlp.0", "time_text_embed.timestep_embedder.linear_1" },
        { "t_embedder.mlp.2", "time_text_embed.timestep_embedder.linear_2" },
        { "y_embedder.mlp.0", "time_text_embed.text_embedder.linear_1" },
        { "y_embedder.mlp.2", "time_text_embed.text_embedder.linear_2" },
        { "final_layer.linear", "proj_out" },
        { "final_layer.adaLN_modulation.1", "norm_out.linear" },
    };
    static const struct {
        const char *fused, *parts[3];
    } thirds[] = {
        { "x_block.attn.qkv", { "attn.to_q", "attn.to_k", "attn.to_v" } },
        { "x_block.attn2.qkv", { "attn2.to_q", "attn2.to_k", "attn2.to_v" } },
        { "context_block.attn.qkv", { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj" } },
    };
    char last[64];
    snprintf(last, sizeof(last), "joint_blocks.%d.context_block.adaLN", blocks - 1);
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        if (!strncmp(name, "final_layer.adaLN", 17) || !strncmp(name, last, strlen(last)))
            swap_halves(a);
        rename_first(name, sizeof(name), list, 1);
        rename_first(name, sizeof(name), list + 1, sizeof(list) / sizeof(list[0]) - 1);
        for (int k = 0; a && k < 3; k++)
            if (strstr(name, thirds[k].fused)) {
                put_thirds(a, a->shape.dim[0] / 3, name, thirds[k].fused, thirds[k].parts, NULL);
                a = NULL;
            }
        if (a)
            put(a, name);
    }
    return save_copy("diffusers");
}

static nino_weights *chroma_in_diffusers(const nino_weights *w)
{
    static const renamed blocks[] = { { "double_blocks", "transformer_blocks" },
                                      { "single_blocks", "single_transformer_blocks" } };
    static const renamed list[] = {
        { "in_layer", "linear_1" },
        { "out_layer", "linear_2" },
        { "img_attn.proj", "attn.to_out.0" },
        { "txt_attn.proj", "attn.to_add_out" },
        { "img_attn.norm.query_norm.scale", "attn.norm_q.weight" },
        { "img_attn.norm.key_norm.scale", "attn.norm_k.weight" },
        { "txt_attn.norm.query_norm.scale", "attn.norm_added_q.weight" },
        { "txt_attn.norm.key_norm.scale", "attn.norm_added_k.weight" },
        { "norm.query_norm.scale", "attn.norm_q.weight" },
        { "norm.key_norm.scale", "attn.norm_k.weight" },
        { ".scale", ".weight" },
        { "img_mlp.0", "ff.net.0.proj" },
        { "img_mlp.2", "ff.net.2" },
        { "txt_mlp.0", "ff_context.net.0.proj" },
        { "txt_mlp.2", "ff_context.net.2" },
        { "linear2", "proj_out" },
        { "img_in", "x_embedder" },
        { "txt_in", "context_embedder" },
        { "final_layer.linear", "proj_out" },
    };
    static const char *const img[] = { "attn.to_q", "attn.to_k", "attn.to_v" };
    static const char *const txt[] = { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj" };
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        rename_first(name, sizeof(name), blocks, 2);
        if (strstr(name, "img_attn.qkv"))
            put_thirds(a, 64, name, "img_attn.qkv", img, NULL);
        else if (strstr(name, "txt_attn.qkv"))
            put_thirds(a, 64, name, "txt_attn.qkv", txt, NULL);
        else if (strstr(name, "linear1"))
            put_thirds(a, 64, name, "linear1", img, "proj_mlp");
        else {
            rename_first(name, sizeof(name), list, sizeof(list) / sizeof(list[0]));
            put(a, name);
        }
    }
    return save_copy("diffusers");
}

// The approximator one level deeper, as some files have it.
static nino_weights *chroma_deeper(const nino_weights *w)
{
    static const renamed one = { "distilled_guidance_layer.", "distilled_guidance_layer.0." };
    for (int i = 0; i < nino_weights_count(w); i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        rename_first(name, sizeof(name), &one, 1);
        put(tensor(w, nino_weights_at(w, i)), name);
    }
    return save_copy("deeper");
}

// n values in blocks of 32: a scale in f16, then signed bytes.
static void put_q8(nino_buf *b, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i += 32) {
        float most = 0;
        uint16_t half;
        for (int k = 0; k < 32; k++)
            most = fmaxf(most, fabsf(v[i + k]));
        most /= 127;
        CHECK(nino_from_f32(&half, NINO_F16, &most, 1));
        nino_buf_add(b, &half, sizeof(half));
        for (int k = 0; k < 32; k++) {
            const int8_t q = (int8_t) lrintf(most > 0 ? v[i + k] / most : 0);
            nino_buf_add(b, &q, 1);
        }
    }
}

// The f32 tensors of w as a GGUF file, matrices in blocks of 8 bits where is_q8.
static nino_weights *in_gguf(const nino_weights *w, const char *arch, bool is_q8)
{
    char path[200];
    nino_buf head = { 0 }, data = { 0 };
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) nino_weights_count(w));
    gguf_u64(&head, 1);
    gguf_text(&head, "general.architecture", arch);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        const bool has_blocks = is_q8 && t->rank == 2 && t->dim[1] % 32 == 0;
        nino_array *a = tensor(w, t);
        gguf_string(&head, t->name);
        gguf_u32(&head, (uint32_t) t->rank);
        for (int k = t->rank - 1; k >= 0; k--)
            gguf_u64(&head, (uint64_t) t->dim[k]);
        gguf_u32(&head, has_blocks ? 8 : 0);
        gguf_pad(&data);
        gguf_u64(&head, data.len);
        if (has_blocks)
            put_q8(&data, nino_array_f32(a), (size_t) nino_shape_count(&a->shape));
        else
            nino_buf_add(&data, a->data, a->bytes);
        nino_array_unref(&a);
    }
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    gguf_save(&head, &data, path);
    return test_open("%s", path);
}

// In blocks the answer is near.
static void check_near(nino_weights *a, nino_weights *b, const char *family)
{
    nino_diffusion *d = test_diffusion(a, family), *e = test_diffusion(b, family);
    nino_array *p = run(d, 1, 7, 5), *q = run(e, 1, 7, 5);
    const double far = test_nmse(p, q);
    CHECK(far > 0 && far < 2e-3);
    nino_array_unref(&p);
    nino_array_unref(&q);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&b);
}

static void test_gguf(void)
{
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    check_same_answer(w, in_gguf(w, "sd3", false), "sd3");
    check_near(w, in_gguf(w, "sd3", true), "sd3");
    nino_weights_unref(&w);
    w = made(net_list_chroma(&tiny_chroma, NULL), "chroma");
    check_same_answer(w, in_gguf(w, "flux", false), "chroma");
    check_near(w, in_gguf(w, "flux", true), "chroma");
    nino_weights_unref(&w);
}

static void check_detail(const nino_weights *w, const char *family, const char *detail)
{
    nino_detected d;
    nino_detect(w, &d);
    CHECK_STR(d.diffusion, family);
    CHECK_STR(d.detail, detail);
}

static void test_names(void)
{
    static const char prefix[] = "model.diffusion_model.";
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    nino_weights *other = sd3_in_diffusers(w, tiny_35.blocks);
    check_detail(w, "sd3", "Stable Diffusion 3.5 medium: 3 blocks, width 64");
    check_detail(other, "sd3", "Stable Diffusion 3.5 medium: 3 blocks, width 64");
    check_same_answer(w, other, "sd3");
    check_same_answer(w, made(net_list_sd3(&tiny_35, prefix), "prefixed"), "sd3");
    nino_weights_unref(&w);
    w = made(net_list_sd3(&tiny_sd3, NULL), "sd3");
    other = sd3_in_diffusers(w, tiny_sd3.blocks);
    check_detail(w, "sd3", "Stable Diffusion 3 medium: 2 blocks, width 64");
    check_same_answer(w, other, "sd3");
    nino_weights_unref(&w);
    net_sd3 large = tiny_35;
    large.selves = 0;
    w = made(net_list_sd3(&large, NULL), "sd3");
    check_detail(w, "sd3", "Stable Diffusion 3.5 large: 3 blocks, width 64");
    nino_weights_unref(&w);
    w = made(net_list_chroma(&tiny_chroma, NULL), "chroma");
    other = chroma_in_diffusers(w);
    check_detail(w, "chroma", "Chroma: 2 double and 2 single blocks, width 64");
    check_detail(other, "chroma", "Chroma: 2 double and 2 single blocks, width 64");
    check_same_answer(w, other, "chroma");
    check_same_answer(w, chroma_deeper(w), "chroma");
    check_same_answer(w, made(net_list_chroma(&tiny_chroma, prefix), "prefixed"), "chroma");
    nino_weights_unref(&w);
}

// ---- evaluations ------------------------------------------------------------------------------
// A batch is its items, each with its own time step.
static void check_batch(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 2, 6, 5, 3);
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        nino_array *x = test_item(p.in.x, i), *context = test_item(p.in.context, i);
        nino_array *y = test_item(p.in.y, i), *want = test_item(both, i);
        const test_inputs one = {
            .x = x, .context = context, .y = y, .timestep = p.t + i, .guidance = 3.5f
        };
        nino_array *got = test_forward(dev.s, d, &one);
        CHECK(test_nmse(got, want) < 1e-10);
        nino_array *all[] = { x, context, y, want, got };
        for (int k = 0; k < 5; k++)
            nino_array_unref(&all[k]);
    }
    nino_array_unref(&both);
    drop(&p);
}

static nino_array *skipped(const nino_diffusion *d, nino_skip skip)
{
    inputs p;
    fill(&p, d, 1, 5, 4, 3);
    p.in.skip = skip;
    nino_array *out = test_forward(dev.s, d, &p.in);
    drop(&p);
    return out;
}

// Takes both.
static void check_equal(nino_array *a, nino_array *b, bool is_equal)
{
    CHECK(!memcmp(a->data, b->data, a->bytes) == is_equal);
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// Blocks that are left out are as if the file did not have them.
static void test_skips(void)
{
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    nino_diffusion *d = test_diffusion(w, "sd3");
    sd3 *net = d->net;
    const nino_skip none = { 0 }, first = { .doubles = 1 },
                    no_such = { .doubles = 8, .singles = 7 };
    check_equal(skipped(d, first), skipped(d, none), false);
    check_equal(skipped(d, no_such), skipped(d, none), true);
    nino_array *without = skipped(d, first);
    net->blocks++;
    net->n_blocks--;
    check_equal(without, skipped(d, none), true);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);

    w = made(net_list_chroma(&tiny_chroma, NULL), "chroma");
    d = test_diffusion(w, "chroma");
    flux *fx = d->net;
    without = skipped(d, (nino_skip){ .doubles = 1, .singles = 1 });
    fx->doubles++;
    fx->singles++;
    fx->n_doubles = fx->n_singles = 1;
    check_equal(without, skipped(d, none), true);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// weight_dtype: every tensor is rounded, positions as well.
static void test_rounded(void)
{
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    nino_diffusion *d = NULL;
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        const size_t n = (size_t) nino_shape_count(&a->shape);
        uint8_t *codes = malloc(n);
        CHECK(codes);
        nino_from_f32(codes, NINO_F8_E4M3, nino_array_f32(a), n);
        nino_to_f32(nino_array_f32(a), codes, NINO_F8_E4M3, n);
        free(codes);
        put(a, nino_weights_at(w, i)->name);
    }
    nino_weights *other = save_copy("rounded");
    CHECK_OK(nino_diffusion_load_as(w, "test", NINO_F8_E4M3, &d, &err), err);
    nino_diffusion *e = test_diffusion(other, "sd3");
    nino_array *a = run(d, 1, 4, 5), *b = run(e, 1, 4, 5);
    CHECK(test_nmse(a, b) < 1e-12);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&w);
    nino_weights_unref(&other);
}

static void test_evaluations(void)
{
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    nino_diffusion *d = test_diffusion(w, "sd3");
    check_batch(d);
    for (int h = 1; h <= 16; h += 5) { // sides to be made even, up to all positions
        nino_array *out = run(d, 1, h, 17 - h);
        nino_array_unref(&out);
    }
    inputs p;
    fill(&p, d, 1, 17, 4, 3);
    test_refused_inputs(dev.s, d, &p.in, "up to 128 x 128 pixels");
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    w = made(net_list_sd3(&tiny_sd3, NULL), "sd3");
    d = test_diffusion(w, "sd3");
    check_batch(d);
    nino_array *out = run(d, 1, 40, 1); // positions are computed: any size
    nino_array_unref(&out);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    w = made(net_list_chroma(&tiny_chroma, NULL), "chroma");
    d = test_diffusion(w, "chroma");
    check_batch(d);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// ---- what is refused --------------------------------------------------------------------------
static void test_refused(void)
{
    static const damage list[] = {
        { "pos_embed", 2, NINO_ERR_FORMAT, "pos_embed is no square" },
        { "x_embedder.proj.weight", 96, NINO_ERR_FORMAT, "where [96] is needed" },
        { "t_embedder.mlp.0.weight", 32, NINO_ERR_FORMAT, "t_embedder.mlp.0" },
        { "y_embedder.mlp.2.weight", 0, NINO_ERR_FORMAT, "y_embedder.mlp.2" },
        { "context_embedder.weight", 63, NINO_ERR_FORMAT, "context_embedder" },
        { "joint_blocks.0.x_block.attn.qkv.weight", 193, NINO_ERR_FORMAT, "x_block.attn.qkv" },
        { "joint_blocks.0.x_block.attn2.proj.weight", 0, NINO_ERR_FORMAT, "attn2.proj" },
        { "joint_blocks.0.x_block.adaLN_modulation.1.weight", 384, NINO_ERR_FORMAT, "adaLN" },
        { "joint_blocks.1.context_block.attn.proj.weight", 0, NINO_ERR_FORMAT, "attn.proj" },
        { "joint_blocks.1.context_block.attn.ln_q.weight", 32, NINO_ERR_FORMAT, "ln_q" },
        { "joint_blocks.1.context_block.mlp.fc1.weight", 95, NINO_ERR_FORMAT, "mlp.fc1.bias" },
        { "joint_blocks.2.context_block.adaLN_modulation.1.weight", 384, NINO_ERR_FORMAT, "adaLN" },
        { "final_layer.linear.weight", 32, NINO_ERR_FORMAT, "final_layer.linear" },
    };
    static const damage chroma[] = {
        { "distilled_guidance_layer.in_proj.weight", 40, NINO_ERR_FORMAT, "in_proj.bias" },
        { "distilled_guidance_layer.norms.1.scale", 0, NINO_ERR_FORMAT, "norms.1" },
        { "distilled_guidance_layer.layers.1.out_layer.weight", 40, NINO_ERR_FORMAT, "out_layer" },
        { "distilled_guidance_layer.out_proj.weight", 48, NINO_ERR_FORMAT, "out_proj" },
        { "final_layer.linear.weight", 32, NINO_ERR_FORMAT, "final_layer.linear" },
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        net_list l = net_list_sd3(&tiny_35, NULL);
        if (!strcmp(list[i].tensor, "pos_embed")) {
            l.t[0].dim[1] = 63;
            test_refused_net(made(l, "sd3"), list[i].st, list[i].words);
        } else {
            test_refused_net(made(test_net_damaged(l, list[i].tensor, list[i].rows), "sd3"),
                             list[i].st, list[i].words);
        }
    }
    for (size_t i = 0; i < sizeof(chroma) / sizeof(chroma[0]); i++)
        test_refused_net(made(test_net_damaged(net_list_chroma(&tiny_chroma, NULL),
                                               chroma[i].tensor, chroma[i].rows),
                              "chroma"),
                         chroma[i].st, chroma[i].words);
    net_list l = net_list_sd3(&tiny_35, NULL); // kin that would load and paint something else
    net_linear(&l, 64, 64, true, "context_processor.layers.0.attn.qkv");
    test_refused_net(made(l, "sd3"), NINO_ERR_UNSUPPORTED, "context processor");
    l = net_list_chroma(&tiny_chroma, NULL);
    net_add(&l, "nerf_blocks.0.norm.scale", 1, (const int64_t[]){ 64 });
    test_refused_net(made(l, "chroma"), NINO_ERR_UNSUPPORTED, "chroma_radiance");
    net_sd3 odd = tiny_35;
    odd.hidden = 96;
    test_refused_net(made(net_list_sd3(&odd, NULL), "sd3"), NINO_ERR_UNSUPPORTED, "width of 96");
    net_chroma deep = tiny_chroma; // more blocks than the approximator has vectors for
    deep.flux.doubles = 29;
    test_refused_net(made(net_list_chroma(&deep, NULL), "chroma"), NINO_ERR_FORMAT, "344 vectors");
}

// ---- names in LoRA files ----------------------------------------------------------------------
static void test_loras(void)
{
    static const lora_name own[] = {
        { "transformer.transformer_blocks.0.attn.to_k", "joint_blocks.0.x_block.attn.qkv.weight",
          64, 64, 0 },
        { "lycoris_transformer_blocks_0_attn2_to_v", "joint_blocks.0.x_block.attn2.qkv.weight", 128,
          64, 0 },
        { "base_model.model.transformer_blocks.1.attn.add_q_proj",
          "joint_blocks.1.context_block.attn.qkv.weight", 0, 64, 0 },
        { "lora_transformer_transformer_blocks_0_ff_net_0_proj",
          "joint_blocks.0.x_block.mlp.fc1.weight", 0, 96, 0 },
        { "transformer.transformer_blocks.1.norm1_context.linear",
          "joint_blocks.1.context_block.adaLN_modulation.1.weight", 0, 384, 0 },
        { "transformer.transformer_blocks.2.norm1_context.linear",
          "joint_blocks.2.context_block.adaLN_modulation.1.weight", 64, 64, 0 },
        { "transformer.norm_out.linear", "final_layer.adaLN_modulation.1.weight", 0, 64, 64 },
        { "diffusion_model.joint_blocks.0.x_block.attn.qkv",
          "joint_blocks.0.x_block.attn.qkv.weight", 0, 192, 0 },
        { "lora_unet_joint_blocks_1_context_block_mlp_fc2",
          "joint_blocks.1.context_block.mlp.fc2.weight", 0, 64, 0 },
        { "transformer.pos_embed.proj", "x_embedder.proj.weight", 0, 64, 0 },
        { "transformer.transformer_blocks.1.attn2.to_q", NULL, 0, 0, 0 },
    };
    static const lora_name diffusers[] = {
        { "lora_unet_joint_blocks_0_x_block_attn_qkv", "transformer_blocks.0.attn.to_v.weight", 0,
          64, 128 },
        { "diffusion_model.joint_blocks.2.context_block.adaLN_modulation.1",
          "transformer_blocks.2.norm1_context.linear.weight", 64, 64, 0 },
    };
    static const lora_name chroma[] = {
        { "lora_unet_distilled_guidance_layer_layers_1_in_layer",
          "distilled_guidance_layer.layers.1.in_layer.weight", 0, 48, 0 },
        { "transformer.single_transformer_blocks.0.proj_mlp", "single_blocks.0.linear1.weight", 192,
          256, 0 },
        { "transformer.transformer_blocks.0.attn.to_v", "double_blocks.0.img_attn.qkv.weight", 128,
          64, 0 },
        { "lora_unet_double_blocks_0_img_mod_lin", NULL, 0, 0, 0 },
    };
    nino_weights *w = made(net_list_sd3(&tiny_35, NULL), "sd3");
    nino_weights *other = sd3_in_diffusers(w, tiny_35.blocks);
    CHECK_LORA(w, "sd3", own);
    CHECK_LORA(other, "sd3", diffusers);
    CHECK_LORA(made(net_list_chroma(&tiny_chroma, NULL), "chroma"), "chroma", chroma);
}

int main(void)
{
    dir = test_dir_create();
    CHECK(test_device_open(&dev, "ref", 0));
    test_names();
    test_gguf();
    test_evaluations();
    test_skips();
    test_rounded();
    test_refused();
    test_loras();
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "sd3", "chroma", "prefixed", "diffusers", "deeper",
                                                 "rounded", "gguf", NULL });
    return 0;
}
