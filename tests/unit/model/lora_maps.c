// Names in LoRA files: the whole table of names of a small network of every family, in each dialect of
// its file, and of text encoders in every company. tests/data/recorded/lora_maps.txt records the tables
// (tests/unit/recorded.h: how to renew it).
#include "tests/random_dit.h"

#include "core/model/merge/lora_map.h"
#include "tests/diffusion.h"
#include "tests/unit/recorded.h"

static nino_error err;
static test_dir dir;

// Of a file in diffusers' names; rows in hidden widths. What is taken whole has two, more than in
// networks, so that half of it would be seen.
typedef struct layer {
    const char *name;
    int rows;
} layer;

static const layer flux_block[] = {
    { "attn.to_q", 1 },
    { "attn.to_k", 1 },
    { "attn.to_v", 1 },
    { "attn.to_out.0", 2 },
    { "attn.add_q_proj", 1 },
    { "attn.add_k_proj", 1 },
    { "attn.add_v_proj", 1 },
    { "attn.to_add_out", 2 },
    { "norm1.linear", 6 },
    { "norm1_context.linear", 6 },
    { "ff.net.0.proj", 4 },
    { "ff.net.2", 2 },
    { "ff_context.net.0.proj", 4 },
    { "ff_context.net.2", 2 },
    { "attn.norm_q", 2 },
    { "attn.norm_k", 2 },
    { "attn.norm_added_q", 2 },
    { "attn.norm_added_k", 2 },
    { NULL, 0 },
};
static const layer flux_single[] = {
    { "attn.to_q", 1 },   { "attn.to_k", 1 },   { "attn.to_v", 1 },
    { "proj_mlp", 4 },    { "proj_out", 2 },    { "norm.linear", 3 },
    { "attn.norm_q", 2 }, { "attn.norm_k", 2 }, { NULL, 0 },
};
static const layer flux_ends[] = {
    { "x_embedder", 1 },
    { "context_embedder", 2 },
    { "time_text_embed.timestep_embedder.linear_1", 2 },
    { "time_text_embed.timestep_embedder.linear_2", 2 },
    { "time_text_embed.text_embedder.linear_1", 2 },
    { "time_text_embed.text_embedder.linear_2", 2 },
    { "time_text_embed.guidance_embedder.linear_1", 2 },
    { "time_text_embed.guidance_embedder.linear_2", 2 },
    { "proj_out", 2 },
    { "norm_out.linear", 2 },
    { NULL, 0 },
};
static const layer flux2_block[] = {
    { "ff.linear_in", 6 },
    { "ff.linear_out", 2 },
    { "ff_context.linear_in", 6 },
    { "ff_context.linear_out", 2 },
    { NULL, 0 },
};
static const layer flux2_single[] = {
    { "attn.to_qkv_mlp_proj", 9 },
    { "attn.to_out", 2 },
    { NULL, 0 },
};
static const layer flux2_ends[] = { { "x_embedder", 1 }, { NULL, 0 } };
static const layer sd3_block[] = {
    { "attn.to_q", 1 },
    { "attn.to_k", 1 },
    { "attn.to_v", 1 },
    { "attn.to_out.0", 2 },
    { "attn.add_q_proj", 1 },
    { "attn.add_k_proj", 1 },
    { "attn.add_v_proj", 1 },
    { "attn.to_add_out", 2 },
    { "attn2.to_q", 1 },
    { "attn2.to_k", 1 },
    { "attn2.to_v", 1 },
    { "attn2.to_out.0", 2 },
    { "attn.norm_q", 2 },
    { "attn.norm_k", 2 },
    { "attn.norm_added_q", 2 },
    { "attn.norm_added_k", 2 },
    { "attn2.norm_q", 2 },
    { "attn2.norm_k", 2 },
    { "ff.net.0.proj", 4 },
    { "ff.net.2", 2 },
    { "ff_context.net.0.proj", 4 },
    { "ff_context.net.2", 2 },
    { "norm1.linear", 9 },
    { "norm1_context.linear", 6 },
    { NULL, 0 },
};
static const layer sd3_ends[] = {
    { "pos_embed.proj", 1 },
    { "time_text_embed.timestep_embedder.linear_1", 2 },
    { "time_text_embed.timestep_embedder.linear_2", 2 },
    { "time_text_embed.text_embedder.linear_1", 2 },
    { "time_text_embed.text_embedder.linear_2", 2 },
    { "proj_out", 2 },
    { "norm_out.linear", 2 },
    { NULL, 0 },
};
static const layer zimage_block[] = {
    { "attention.to_q", 1 },
    { "attention.to_k", 1 },
    { "attention.to_v", 1 },
    { "attention.to_out.0", 2 },
    { "attention.norm_q", 2 },
    { "attention.norm_k", 2 },
    { NULL, 0 },
};
static const layer zimage_ends[] = {
    { "cap_embedder.1", 1 },
    { "all_x_embedder.2-1", 2 },
    { "all_final_layer.2-1.linear", 2 },
    { "all_final_layer.2-1.adaLN_modulation.1", 2 },
    { NULL, 0 },
};
static const layer wan_block[] = {
    { "attn1.to_q", 1 },
    { "attn1.to_k", 1 },
    { "attn1.to_v", 1 },
    { "attn1.to_out.0", 1 },
    { "attn1.norm_q", 1 },
    { "attn1.norm_k", 1 },
    { "attn2.to_q", 1 },
    { "attn2.to_k", 1 },
    { "attn2.to_v", 1 },
    { "attn2.to_out.0", 2 },
    { "attn2.norm_q", 2 },
    { "attn2.norm_k", 2 },
    { "attn2.add_k_proj", 1 },
    { "attn2.add_v_proj", 1 },
    { "attn2.norm_added_k", 1 },
    { "norm2", 1 },
    { "ffn.net.0.proj", 4 },
    { "ffn.net.2", 1 },
    { NULL, 0 },
};
static const layer wan_ends[] = {
    { "condition_embedder.time_embedder.linear_1", 1 },
    { "condition_embedder.time_embedder.linear_2", 1 },
    { "condition_embedder.text_embedder.linear_1", 1 },
    { "condition_embedder.text_embedder.linear_2", 1 },
    { "condition_embedder.time_proj", 6 },
    { "condition_embedder.image_embedder.norm1", 1 },
    { "condition_embedder.image_embedder.ff.net.0.proj", 1 },
    { "condition_embedder.image_embedder.ff.net.2", 1 },
    { "condition_embedder.image_embedder.norm2", 1 },
    { "proj_out", 2 },
    { NULL, 0 },
};

enum { WIDTH = 32 };

static void add_layers(net_list *l, const char *base, const layer *list)
{
    for (; list->name; list++)
        net_linear(l, list->rows * WIDTH, WIDTH, false, "%s%s", base, list->name);
}

// A file of two blocks of the first kind, one of the second.
static net_list named(const char *blocks, const layer *in, const char *others,
                      const layer *in_other, const layer *ends)
{
    net_list l = { 0 };
    for (int i = 0; i < 2; i++)
        add_layers(&l, nino_name_of("%s.%d.", blocks, i).s, in);
    for (int i = 0; in_other && i < 1; i++)
        add_layers(&l, nino_name_of("%s.%d.", others, i).s, in_other);
    add_layers(&l, "", ends);
    return l;
}

// Resnets and attentions of a UNet in diffusers' names: the first level has attentions, the second
// none and more resnets.
static net_list unet_diffusers(void)
{
    static const char *const leaves[] = { "norm1", "conv1", "time_emb_proj",
                                          "norm2", "conv2", "conv_shortcut" };
    static const char *const ends[] = { "conv_in",
                                        "time_embedding.linear_1",
                                        "time_embedding.linear_2",
                                        "add_embedding.linear_1",
                                        "add_embedding.linear_2",
                                        "conv_norm_out",
                                        "conv_out",
                                        "mid_block.attentions.0.proj_in",
                                        "down_blocks.0.downsamplers.0.conv",
                                        "up_blocks.0.upsamplers.0.conv",
                                        "up_blocks.1.upsamplers.0.conv" };
    net_list l = { 0 };
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 2; i++) {
            for (int level = 0; level < 2; level++) {
                net_linear(&l, 32, 32, false, "down_blocks.%d.resnets.%d.%s", level, i, leaves[k]);
                net_linear(&l, 32, 32, false, "up_blocks.%d.resnets.%d.%s", level, i, leaves[k]);
            }
            net_linear(&l, 32, 32, false, "mid_block.resnets.%d.%s", i, leaves[k]);
        }
    for (int i = 0; i < 2; i++) {
        net_linear(&l, 32, 32, false, "down_blocks.0.attentions.%d.proj_in", i);
        net_linear(&l, 32, 32, false, "up_blocks.1.attentions.%d.proj_in", i);
        net_linear(&l, 32, 32, false, "up_blocks.1.attentions.%d.transformer_blocks.0.norm1", i);
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        net_linear(&l, 32, 32, false, "%s", ends[i]);
    return l;
}

// What the tensor itself is called, with its ending and without.
static bool is_own_name(const lora_place *p, size_t skip)
{
    const char *name = p->tensor->name + skip;
    const size_t stem = lora_map_stem(name);
    char key[LORA_KEY_MAX], short_key[LORA_KEY_MAX] = "";
    CHECK(lora_key_canon(name, strlen(name), key));
    CHECK(!stem || lora_key_canon(name, stem, short_key));
    return p->row0 == 0 && p->from == 0 && p->rows == p->tensor->dim[0] &&
           (!strcmp(p->key, key) || !strcmp(p->key, short_key));
}

// Of the transformers in a UNet one layer stands for all: their names are the same in both dialects.
static bool is_told(const lora_place *p, size_t skip)
{
    const char *inside = strstr(p->tensor->name, "transformer_blocks.0.");
    return !is_own_name(p, skip) &&
           (!inside || strstr(inside, "attn1.to_out") || !strstr(p->key, "_attentions_"));
}

static void put_place(const lora_place *p, size_t skip)
{
    const char *name = p->tensor->name + skip;
    const size_t stem = lora_map_stem(name);
    record("%s: %.*s", p->key, (int) (stem ? stem : strlen(name)), name);
    if (p->row0 || p->from || p->rows != p->tensor->dim[0])
        record(" %lld + %lld from %lld", (long long) p->row0, (long long) p->rows,
               (long long) p->from);
    record("\n");
}

static void dump(const char *title, net_list l, nino_diffusion_kind kind, const char *prefix)
{
    nino_weights *file = test_net_file(&dir, l, "net");
    nino_diffusion d = { .kind = kind, .file = file, .name = "net" };
    const size_t skip = strlen(prefix);
    lora_map m = { 0 };
    int own = 0;
    snprintf(d.prefix, sizeof(d.prefix), "%s", prefix);
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    record("\n%s\n", title);
    for (int i = 0; i < m.n; i++) {
        own += is_own_name(&m.place[i], skip);
        if (is_told(&m.place[i], skip))
            put_place(&m.place[i], skip);
    }
    record("%d own names of %d tensors\n", own, nino_weights_count(file));
    lora_map_release(&m);
    nino_weights_unref(&file);
}

static void dump_unets(void)
{
    static const net_unet sd = { 32, 3, { 1, 2, 2 }, { 1, 1, 0 }, 1, 24, 12, 4, 4, false };
    static const net_unet bare = { 32, 2, { 1, 1 }, { 0, 0 }, 0, 24, 0, 4, 4, false };
    dump("unet", net_list_unet(&sd, "model.diffusion_model."), NINO_DIFFUSION_UNET,
         "model.diffusion_model.");
    dump("unet without attention", net_list_unet(&bare, NULL), NINO_DIFFUSION_UNET, "");
    dump("unet, diffusers", unet_diffusers(), NINO_DIFFUSION_UNET, "");
}

static void dump_transformers(void)
{
    static const net_flux flux = { WIDTH, 16, 2, 1, 16, 20, 12, true };
    static const net_flux2 flux2 = { WIDTH, 16, 1, 2, 128, 20, 48, true };
    static const net_sd3 sd3 = { 64, 2, 96, 20, 12, 3, 1, true };
    static const net_zimage zimage = { WIDTH, 16, 2, 1, 24, 20, 12, 16 };
    static const net_wan wan = { WIDTH, 48, 2, 16, 16, 20, 24, 6, 0 };
    dump("flux", net_list_flux(&flux, "net."), NINO_DIFFUSION_FLUX, "net.");
    dump("flux, diffusers",
         named("transformer_blocks", flux_block, "single_transformer_blocks", flux_single,
               flux_ends),
         NINO_DIFFUSION_FLUX, "");
    dump("flux2", net_list_flux2(&flux2, NULL), NINO_DIFFUSION_FLUX, "");
    dump("flux2, diffusers",
         named("transformer_blocks", flux2_block, "single_transformer_blocks", flux2_single,
               flux2_ends),
         NINO_DIFFUSION_FLUX, "");
    dump("sd3", net_list_sd3(&sd3, "net."), NINO_DIFFUSION_SD3, "net.");
    dump("sd3, diffusers", named("transformer_blocks", sd3_block, "", NULL, sd3_ends),
         NINO_DIFFUSION_SD3, "");
    dump("z_image", net_list_zimage(&zimage, NULL), NINO_DIFFUSION_ZIMAGE, "");
    dump("z_image, diffusers",
         named("layers", zimage_block, "noise_refiner", zimage_block, zimage_ends),
         NINO_DIFFUSION_ZIMAGE, "");
    dump("z_image, a context refiner",
         named("context_refiner", zimage_block, "", NULL, zimage_ends), NINO_DIFFUSION_ZIMAGE, "");
    dump("wan", net_list_wan(&wan, "net."), NINO_DIFFUSION_WAN, "net.");
    dump("wan, diffusers", named("blocks", wan_block, "", NULL, wan_ends), NINO_DIFFUSION_WAN, "");
}

// Layers of one CLIP in each notation.
static net_list clip_layers(void)
{
    static const char *const hf[] = { "self_attn.q_proj", "mlp.fc1", "layer_norm1" };
    static const char *const open[] = { "attn.out_proj", "mlp.c_fc", "mlp.c_proj", "ln_1", "ln_2" };
    net_list l = { 0 };
    for (int i = 0; i < 3; i++) {
        net_linear(&l, 32, 32, false, "l.text_model.encoder.layers.1.%s", hf[i]);
        net_linear(&l, 32, 32, false, "s.encoder.layers.1.%s", hf[i]);
    }
    net_linear(&l, 40, 32, false, "s.embeddings.token_embedding");
    net_add(&l, "g.transformer.resblocks.1.attn.in_proj_weight", 2, (const int64_t[]){ 96, 32 });
    for (int i = 0; i < 5; i++)
        net_linear(&l, 64, 32, false, "g.transformer.resblocks.1.%s", open[i]);
    net_linear(&l, 64, 32, false, "t.encoder.block.0.layer.1.DenseReluDense.wi_0");
    return l;
}

// Every encoder alone, and the companies that change what "te2" means.
static void dump_texts(void)
{
    static const struct {
        nino_encoder_id id[3];
        const char *prefix[3];
    } sets[] = {
        { { NINO_ENC_CLIP_L }, { "l." } },
        { { NINO_ENC_CLIP_L }, { "s." } },
        { { NINO_ENC_CLIP_G }, { "g." } },
        { { NINO_ENC_CLIP_H }, { "g." } },
        { { NINO_ENC_T5 }, { "t." } },
        { { NINO_ENC_UMT5 }, { "t." } },
        { { NINO_ENC_QWEN3 }, { "t." } },
        { { NINO_ENC_MISTRAL3 }, { "t." } },
        { { NINO_ENC_QWEN25_VL }, { "t." } },
        { { NINO_ENC_CLIP_L, NINO_ENC_CLIP_G }, { "l.", "g." } },
        { { NINO_ENC_CLIP_L, NINO_ENC_T5 }, { "l.", "t." } },
        { { NINO_ENC_CLIP_L, NINO_ENC_CLIP_G, NINO_ENC_T5 }, { "l.", "g.", "t." } },
    };
    nino_weights *file = test_net_file(&dir, clip_layers(), "net");
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        nino_encoder e[3];
        nino_clip c = { .name = "clip" };
        lora_map m = { 0 };
        record("\nencoders");
        for (int k = 0; k < 3 && sets[i].prefix[k]; k++) {
            e[k] = (nino_encoder){ .id = sets[i].id[k], .file = file, .prefix = "" };
            snprintf(e[k].prefix, sizeof(e[k].prefix), "%s", sets[i].prefix[k]);
            c.enc[e[k].id] = &e[k];
            record(" %s", sets[i].prefix[k]);
        }
        record("\n");
        CHECK_OK(lora_map_clip(&m, &c, &err), err);
        for (int k = 0; k < m.n; k++)
            if (!strstr(m.place[k].key, "_resblocks_"))
                put_place(&m.place[k], 0);
        lora_map_release(&m);
    }
    nino_weights_unref(&file);
}

int main(void)
{
    dir = test_dir_create();
    dump_unets();
    dump_transformers();
    dump_texts();
    recorded_check("lora_maps.txt");
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
    return 0;
}
