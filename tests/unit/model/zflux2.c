// Z-Image and FLUX.2 of random weights: under all the names that files use, in batches, at odd
// sizes, with references; what is refused, and what is said then; names in LoRA files; latents;
// where Flux takes its tokens to be.
#include <math.h>

#include "core/model/flux/flux.h"
#include "tests/random_dit.h"

#include "tests/networks.h"

static const net_flux2 tiny_klein = { 64, 32, 1, 2, 128, 24, 48, false };
static const net_flux2 tiny_dev = { 64, 64, 2, 1, 128, 24, 32, true };
static const net_zimage tiny_z = { 64, 32, 2, 1, 48, 24, 32, 40 };

// ---- other names ------------------------------------------------------------------------------
static nino_weights *flux2_in_diffusers(const nino_weights *w)
{
    static const renamed blocks[] = { { "double_blocks", "transformer_blocks" },
                                      { "single_blocks", "single_transformer_blocks" } };
    static const renamed list[] = {
        { "img_attn.proj", "attn.to_out.0" },
        { "txt_attn.proj", "attn.to_add_out" },
        { "img_attn.norm.query_norm.scale", "attn.norm_q.weight" },
        { "img_attn.norm.key_norm.scale", "attn.norm_k.weight" },
        { "txt_attn.norm.query_norm.scale", "attn.norm_added_q.weight" },
        { "txt_attn.norm.key_norm.scale", "attn.norm_added_k.weight" },
        { "norm.query_norm.scale", "attn.norm_q.weight" },
        { "norm.key_norm.scale", "attn.norm_k.weight" },
        { "img_mlp.0", "ff.linear_in" },
        { "img_mlp.2", "ff.linear_out" },
        { "txt_mlp.0", "ff_context.linear_in" },
        { "txt_mlp.2", "ff_context.linear_out" },
        { "linear1", "attn.to_qkv_mlp_proj" },
        { "linear2", "attn.to_out" },
        { "img_in", "x_embedder" },
        { "txt_in", "context_embedder" },
        { "time_in.in_layer", "time_guidance_embed.timestep_embedder.linear_1" },
        { "time_in.out_layer", "time_guidance_embed.timestep_embedder.linear_2" },
        { "guidance_in.in_layer", "time_guidance_embed.guidance_embedder.linear_1" },
        { "guidance_in.out_layer", "time_guidance_embed.guidance_embedder.linear_2" },
        { "modulation_img.lin", "modulation_img.linear" },
        { "modulation_txt.lin", "modulation_txt.linear" },
        { "stream_modulation.lin", "stream_modulation.linear" },
        { "final_layer.linear", "proj_out" },
        { "final_layer.adaLN_modulation.1", "norm_out.linear" },
    };
    static const char *const img[] = { "attn.to_q", "attn.to_k", "attn.to_v" };
    static const char *const txt[] = { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj" };
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        rename_first(name, sizeof(name), blocks, 2);
        if (strstr(name, "img_attn.qkv"))
            put_thirds(a, a->shape.dim[0] / 3, name, "img_attn.qkv", img, NULL);
        else if (strstr(name, "txt_attn.qkv"))
            put_thirds(a, a->shape.dim[0] / 3, name, "txt_attn.qkv", txt, NULL);
        else {
            if (strstr(name, "adaLN"))
                swap_halves(a);
            rename_first(name, sizeof(name), list, sizeof(list) / sizeof(list[0]));
            put(a, name);
        }
    }
    return save_copy("diffusers");
}

static nino_weights *zimage_in_diffusers(const nino_weights *w)
{
    static const renamed list[] = { { "attention.out", "attention.to_out.0" },
                                    { "attention.q_norm", "attention.norm_q" },
                                    { "attention.k_norm", "attention.norm_k" },
                                    { "x_embedder", "all_x_embedder.2-1" },
                                    { "final_layer", "all_final_layer.2-1" } };
    static const char *const thirds[] = { "attention.to_q", "attention.to_k", "attention.to_v" };
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        if (strstr(name, "attention.qkv")) {
            put_thirds(a, a->shape.dim[0] / 3, name, "attention.qkv", thirds, NULL);
        } else {
            rename_first(name, sizeof(name), list, sizeof(list) / sizeof(list[0]));
            put(a, name);
        }
    }
    return save_copy("diffusers");
}

// Norms called a weight, as some files have them.
static nino_weights *with_norm_weights(const nino_weights *w)
{
    static const renamed scale = { "_norm.scale", "_norm.weight" };
    for (int i = 0; i < nino_weights_count(w); i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s", nino_weights_at(w, i)->name);
        rename_first(name, sizeof(name), &scale, 1);
        put(tensor(w, nino_weights_at(w, i)), name);
    }
    return save_copy("weights");
}

static void test_names(void)
{
    nino_weights *w = made(net_list_flux2(&tiny_klein, NULL), "bfl");
    check_same_answer(w, flux2_in_diffusers(w), "flux2_klein");
    check_same_answer(w, with_norm_weights(w), "flux2_klein");
    check_same_answer(w, made(net_list_flux2(&tiny_klein, "model.diffusion_model."), "prefixed"),
                      "flux2_klein");
    nino_weights_unref(&w);
    w = made(net_list_flux2(&tiny_dev, NULL), "bfl");
    check_same_answer(w, flux2_in_diffusers(w), "flux2");
    nino_weights_unref(&w);
    w = made(net_list_zimage(&tiny_z, NULL), "zimage");
    check_same_answer(w, zimage_in_diffusers(w), "z_image");
    check_same_answer(w, made(net_list_zimage(&tiny_z, "model.diffusion_model."), "prefixed"),
                      "z_image");
    nino_weights_unref(&w);
}

// ---- evaluations ------------------------------------------------------------------------------
// A batch is its items, each with its own time step, also with references told to be clean.
static void check_batch(const nino_diffusion *d, int n_refs, nino_ref_method method)
{
    inputs p;
    fill(&p, d, 2, 6, 5, 3);
    p.in.n_refs = n_refs;
    p.in.ref_method = method;
    if (n_refs)
        p.in.ref[0] = p.owned[4] = test_values(NINO_SHAPE(2, 3, 2, 128), 9);
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        nino_array *x = test_item(p.in.x, i), *context = test_item(p.in.context, i);
        nino_array *want = test_item(both, i), *ref = test_item(p.in.ref[0], i);
        const test_inputs one = { .x = x,
                                  .context = context,
                                  .timestep = p.t + i,
                                  .ref = { ref },
                                  .n_refs = n_refs,
                                  .ref_method = method,
                                  .guidance = 3.5f };
        nino_array *got = test_forward(dev.s, d, &one);
        CHECK(test_nmse(got, want) < 1e-10);
        nino_array *all[] = { x, context, want, got, ref };
        for (int k = 0; k < 5; k++)
            nino_array_unref(&all[k]);
    }
    nino_array_unref(&both);
    drop(&p);
}

// Every way to place a reference, none and guidance give something of their own.
static void check_references(const nino_diffusion *d)
{
    static const nino_ref_method methods[] = { NINO_REFS_INDEX, NINO_REFS_OFFSET, NINO_REFS_UXO,
                                               NINO_REFS_INDEX_TIMESTEP_ZERO };
    nino_array *out[5];
    inputs p;
    fill(&p, d, 1, 4, 5, 4);
    out[4] = test_forward(dev.s, d, &p.in);
    p.in.ref[0] = p.owned[4] = test_values(NINO_SHAPE(1, 3, 2, 128), 9);
    p.in.n_refs = 1;
    for (int i = 0; i < 4; i++) {
        p.in.ref_method = methods[i];
        out[i] = test_forward(dev.s, d, &p.in);
        for (int k = 0; k < i; k++)
            CHECK(test_nmse(out[i], out[k]) > 1e-9);
        CHECK(nino_shape_equal(&out[i]->shape, &out[4]->shape) && test_nmse(out[i], out[4]) > 1e-9);
    }
    p.in.ref_method = NINO_REFS_DEFAULT; // by index
    nino_array *usual = test_forward(dev.s, d, &p.in);
    CHECK(!memcmp(usual->data, out[0]->data, usual->bytes));
    nino_array_unref(&usual);
    for (int i = 0; i < 5; i++)
        nino_array_unref(&out[i]);
    drop(&p);
}

static void test_evaluations(void)
{
    nino_weights *w = made(net_list_flux2(&tiny_dev, NULL), "bfl");
    nino_diffusion *d = test_diffusion(w, "flux2");
    CHECK(!strcmp(d->format->name, "flux2") && d->context_rows == 512 && !d->y_dim);
    CHECK(d->sampling->schedule == NINO_SCHEDULE_FLUX && d->sampling->shift == 2.02);
    CHECK(d->sampling->prediction == NINO_PRED_FLOW && d->wants_bf16);
    check_batch(d, 0, NINO_REFS_DEFAULT);
    check_batch(d, 1, NINO_REFS_DEFAULT);
    check_batch(d, 1, NINO_REFS_INDEX_TIMESTEP_ZERO);
    check_references(d);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    w = made(net_list_zimage(&tiny_z, NULL), "zimage");
    d = test_diffusion(w, "z_image");
    CHECK(!strcmp(d->format->name, "flux") && !d->context_rows && !d->has_guidance);
    CHECK(d->sampling->schedule == NINO_SCHEDULE_FLOW && d->sampling->shift == 3);
    CHECK(d->sampling->multiplier == 1 && d->wants_bf16);
    check_batch(d, 0, NINO_REFS_DEFAULT);
    for (int h = 1; h <= 5; h += 2) { // tokens to be completed, sides to be made even
        nino_array *out = run(d, 1, h, 9 - h);
        nino_array_unref(&out);
    }
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// ---- what is refused --------------------------------------------------------------------------
static void test_refused(void)
{
    static const damage flux2[] = {
        { "double_stream_modulation_txt.lin.weight", 0, NINO_ERR_FORMAT, "modulation_txt" },
        { "double_stream_modulation_img.lin.weight", 320, NINO_ERR_FORMAT, "modulation_img" },
        { "single_stream_modulation.lin.weight", 128, NINO_ERR_FORMAT, "single_stream_modulation" },
        { "double_blocks.0.img_attn.qkv.weight", 160, NINO_ERR_FORMAT, "img_attn.qkv" },
        { "double_blocks.0.img_attn.norm.query_norm.scale", 48, NINO_ERR_UNSUPPORTED,
          "heads of 48" },
        { "double_blocks.0.txt_attn.norm.key_norm.scale", 16, NINO_ERR_FORMAT, "key_norm" },
        { "double_blocks.0.txt_mlp.0.weight", 95, NINO_ERR_FORMAT, "txt_mlp.0" },
        { "double_blocks.0.img_mlp.0.weight", 64, NINO_ERR_FORMAT, "img_mlp.2" },
        { "single_blocks.1.linear1.weight", 193, NINO_ERR_FORMAT, "single_blocks.1.linear1" },
        { "single_blocks.0.linear1.weight", 192 + 64, NINO_ERR_FORMAT, "single_blocks.0.linear2" },
        { "time_in.out_layer.weight", 32, NINO_ERR_FORMAT, "time_in.out_layer" },
        { "final_layer.linear.weight", 64, NINO_ERR_FORMAT, "final_layer.linear" },
    };
    static const damage zimage[] = {
        { "layers.0.attention.qkv.weight", 128, NINO_ERR_FORMAT, "layers.0.attention.qkv" },
        { "layers.0.attention.q_norm.weight", 24, NINO_ERR_UNSUPPORTED, "heads of 24" },
        { "layers.1.attention.k_norm.weight", 16, NINO_ERR_FORMAT, "layers.1.attention.k_norm" },
        { "noise_refiner.0.adaLN_modulation.0.weight", 192, NINO_ERR_FORMAT, "adaLN_modulation.0" },
        { "context_refiner.0.feed_forward.w3.weight", 32, NINO_ERR_FORMAT, "feed_forward.w3" },
        { "layers.0.ffn_norm2.weight", 0, NINO_ERR_FORMAT, "layers.0.ffn_norm2" },
        { "cap_pad_token", 2, NINO_ERR_FORMAT, "cap_pad_token" },
        { "final_layer.linear.weight", 32, NINO_ERR_FORMAT, "final_layer.linear" },
        { "x_embedder.weight", 96, NINO_ERR_FORMAT, "x_embedder" },
    };
    for (size_t i = 0; i < sizeof(flux2) / sizeof(flux2[0]); i++)
        test_refused_net(made(test_net_damaged(net_list_flux2(&tiny_klein, NULL), flux2[i].tensor,
                                               flux2[i].rows),
                              "bfl"),
                         flux2[i].st, flux2[i].words);
    for (size_t i = 0; i < sizeof(zimage) / sizeof(zimage[0]); i++)
        test_refused_net(
            made(test_net_damaged(net_list_zimage(&tiny_z, NULL), zimage[i].tensor, zimage[i].rows),
                 "zimage"),
            zimage[i].st, zimage[i].words);
    net_flux2 wide = tiny_klein; // a latent of another kind
    wide.in = 64;
    test_refused_net(made(net_list_flux2(&wide, NULL), "bfl"), NINO_ERR_FORMAT, "img_in");
    // kin that would load and paint something else
    net_list l = net_list_zimage(&tiny_z, NULL);
    net_linear(&l, 64, 64, true, "siglip_embedder.0");
    test_refused_net(made(l, "zimage"), NINO_ERR_UNSUPPORTED, "Omni");
    l = net_list_zimage(&tiny_z, NULL);
    net_linear(&l, 64, 64, true, "dec_net.cond_embed");
    test_refused_net(made(l, "zimage"), NINO_ERR_UNSUPPORTED, "pixel");
    l = net_list_zimage(&tiny_z, NULL);
    for (int i = 0; i < l.n; i++) { // Lumina 2 has the modulation's layer behind a SiLU
        char *at = strstr(l.t[i].name, "adaLN_modulation.0");
        if (at && !strncmp(l.t[i].name, "layers", 6))
            at[strlen("adaLN_modulation.")] = '1';
    }
    test_refused_net(made(l, "zimage"), NINO_ERR_UNSUPPORTED, "lumina2");
}

// ---- names in LoRA files ----------------------------------------------------------------------
static void test_loras(void)
{
    static const lora_name flux2[] = {
        { "transformer.transformer_blocks.0.attn.to_k", "double_blocks.0.img_attn.qkv.weight", 64,
          64, 0 },
        { "lycoris_transformer_blocks_0_ff_linear_in", "double_blocks.0.img_mlp.0.weight", 0, 96,
          0 },
        { "transformer_blocks.0.ff_context.linear_out", "double_blocks.0.txt_mlp.2.weight", 0, 64,
          0 },
        { "transformer.single_transformer_blocks.1.attn.to_qkv_mlp_proj",
          "single_blocks.1.linear1.weight", 0, 288, 0 },
        { "transformer.single_transformer_blocks.1.attn.to_out", "single_blocks.1.linear2.weight",
          0, 64, 0 },
        { "lora_unet_single_blocks_0_linear1_qkv", "single_blocks.0.linear1.weight", 0, 192, 0 },
        { "lora_unet_single_stream_modulation_lin", "single_stream_modulation.lin.weight", 0, 192,
          0 },
        { "diffusion_model.double_blocks.0.img_attn.proj", "double_blocks.0.img_attn.proj.weight",
          0, 64, 0 },
        { "transformer.norm_out.linear", "final_layer.adaLN_modulation.1.weight", 64, 64, 0 },
        { "transformer.time_guidance_embed.timestep_embedder.linear_1", NULL, 0, 0, 0 },
    };
    static const lora_name flux2_diffusers[] = {
        { "lora_unet_double_blocks_0_img_attn_qkv", "transformer_blocks.0.attn.to_v.weight", 0, 64,
          128 },
        { "diffusion_model.single_blocks.0.linear2",
          "single_transformer_blocks.0.attn.to_out.weight", 0, 64, 0 },
    };
    static const lora_name zimage[] = {
        { "diffusion_model.layers.1.attention.to_v", "layers.1.attention.qkv.weight", 128, 64, 0 },
        { "lora_unet_layers_0_attention_qkv", "layers.0.attention.qkv.weight", 0, 192, 0 },
        { "transformer.noise_refiner.0.attention.to_out.0", "noise_refiner.0.attention.out.weight",
          0, 64, 0 },
        { "lycoris_context_refiner_0_attention_to_q", "context_refiner.0.attention.qkv.weight", 0,
          64, 0 },
        { "layers.0.adaLN_modulation.0", "layers.0.adaLN_modulation.0.weight", 0, 256, 0 },
        { "transformer.all_x_embedder.2-1", "x_embedder.weight", 0, 64, 0 },
        { "layers.2.attention.to_q", NULL, 0, 0, 0 },
    };
    static const lora_name zimage_diffusers[] = {
        { "lora_unet_layers_0_attention_qkv", "layers.0.attention.to_k.weight", 0, 64, 64 },
        { "diffusion_model.layers.0.attention.out", "layers.0.attention.to_out.0.weight", 0, 64,
          0 },
    };
    nino_weights *w = made(net_list_flux2(&tiny_klein, NULL), "bfl");
    nino_weights *other = flux2_in_diffusers(w);
    CHECK_LORA(w, "flux2_klein", flux2);
    CHECK_LORA(other, "flux2_klein", flux2_diffusers);
    w = made(net_list_zimage(&tiny_z, NULL), "zimage");
    other = zimage_in_diffusers(w);
    CHECK_LORA(w, "z_image", zimage);
    CHECK_LORA(other, "z_image", zimage_diffusers);
}

// ---- what a latent is -------------------------------------------------------------------------
static void test_fold(void)
{
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 4, 2));
    CHECK(z);
    for (int i = 0; i < 16; i++) // row, column, channel as three digits
        nino_array_f32(z)[i] = (float) (i / 8 * 100 + i / 2 % 4 * 10 + i % 2);
    nino_array *a = nino_latent_fold(z, 2);
    static const float want[16] = { 0,  10, 100, 110, 1,  11, 101, 111,
                                    20, 30, 120, 130, 21, 31, 121, 131 };
    const nino_shape folded = NINO_SHAPE(1, 1, 2, 8);
    CHECK(a && nino_shape_equal(&a->shape, &folded));
    for (int i = 0; i < 16; i++)
        CHECK(nino_array_f32(a)[i] == want[i]);
    nino_array_unref(&a);
    nino_array_unref(&z);
}

// ---- where tokens are ---------------------------------------------------------------------------
#define DEPTH 32 // channels of a head: 4 for the picture, 14 each for row and column

typedef struct place {
    int picture, row, column;
} place;

// The angle of pair k of an axis with n channels that begins at pair `first`.
static double angle_of(const float *t, int first, int k)
{
    return atan2((double) t[2 * (first + k) + 1], (double) t[2 * (first + k)]);
}

static int position(const float *t, int first, int channels)
{
    const int k = channels / 2 - 1; // the slowest: no more than a turn
    return (int) rint(angle_of(t, first, k) * pow(10000, 2.0 * k / channels));
}

static void check_places(const flux_rope *r, const place *want, int n)
{
    nino_array *a = flux_rope_make(r);
    CHECK(a && a->shape.dim[0] == n && a->shape.dim[1] == DEPTH);
    for (int i = 0; i < n; i++) {
        const float *t = nino_array_f32(a) + (int64_t) i * DEPTH;
        const place got = { position(t, 0, 4), position(t, 2, 14), position(t, 9, 14) };
        if (memcmp(&got, &want[i], sizeof(got)) != 0)
            fprintf(stderr, "token %d: picture %d, row %d, column %d\n", i, got.picture, got.row,
                    got.column);
        CHECK(!memcmp(&got, &want[i], sizeof(got)));
    }
    nino_array_unref(&a);
}

// Text at the origin, the picture's grid, and reference latents by each of the three methods. A
// token's row and column are read back from its slowest angles.
static void test_places(void)
{
    // one word, a picture of 2 x 4 cells, references of 3 x 2 and 2 x 2
    flux_rope r = { .place = { .axes = { 10000, 3, { 4, 14, 14 } }, .patch = 2, .step = 1 },
                    .text = 1,
                    .n = 3,
                    .h = { 2, 3, 2 },
                    .w = { 4, 2, 2 } };
    const place text = { 0, 0, 0 };
    r.method = NINO_REFS_OFFSET; // the second one: the whole is 3 high, so it goes beside
    check_places(
        &r,
        (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 } },
        6);
    r.method = NINO_REFS_INDEX;
    check_places(
        &r,
        (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 1, 1, 0 }, { 2, 0, 0 } },
        6);
    r.method = NINO_REFS_UXO; // from row 1, column 2; then 3 and 2 cells on
    check_places(
        &r,
        (const place[]){ text, { 0, 0, 0 }, { 0, 0, 1 }, { 0, 1, 2 }, { 0, 2, 2 }, { 0, 3, 3 } },
        6);
}

int main(void)
{
    static const char *const files[] = {
        "bfl", "zimage", "diffusers", "weights", "prefixed", NULL
    };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_names();
    test_evaluations();
    test_refused();
    test_loras();
    test_fold();
    test_places();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
