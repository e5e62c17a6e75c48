// Names in LoRA files, in every dialect: which tensor and rows of a network each means; what is
// said about those that mean nothing; networks with and without them.
#include "tests/random_net.h"

#include "tests/diffusion.h"
#include "tests/lora.h"

static nino_error err;
static test_dir dir;

static void check_endings(void)
{
    static const struct {
        const char *name, *layer;
        lora_role role;
    } list[] = {
        { "lora_unet_a_b.lora_up.weight", "lora_unet_a_b", LORA_UP },
        { "lora_unet_a_b.lora_mid.weight", "lora_unet_a_b", LORA_MID },
        { "lora_unet_a_b.alpha", "lora_unet_a_b", LORA_ALPHA },
        { "unet.a.processor.to_q_lora.down.weight", "unet.a.processor.to_q", LORA_DOWN },
        { "unet.a.to_q.lora.up.weight", "unet.a.to_q", LORA_UP },
        { "text.a.lora_linear_layer.up.weight", "text.a", LORA_UP },
        { "transformer.a.lora_A.weight", "transformer.a", LORA_DOWN },
        { "transformer.a.lora_B.default.weight", "transformer.a", LORA_UP },
        { "diffusion_model.a.lora_B", "diffusion_model.a", LORA_UP },
        { "img_in.lora_B.bias", "img_in", LORA_DIFF_B },
        { "a.norm.key_norm.scale", "a.norm.key_norm", LORA_SET },
        { "double_blocks.0.processor.qkv_lora1.down.weight", "double_blocks.0.processor.qkv_lora1",
          LORA_DOWN },
        { "single_blocks.0.processor.qkv_lora.up.weight", "single_blocks.0.processor.qkv",
          LORA_UP },
        { "a.dora_scale", "a", LORA_DORA },
        { "a.diff", "a", LORA_DIFF },
        { "a.diff_b", "a", LORA_DIFF_B },
        { "a.lokr_w2_a", "a", LORA_KRON_W2A },
        { "a.oft_blocks", "a", LORA_OFT_BLOCKS },
    };
    static const char *const unknown[] = { "text_encoder:0:up", "<s1>",  ".alpha",
                                           "a.weight",          "alpha", "a.scale" };
    size_t len;
    lora_role role;
    char key[LORA_KEY_MAX];
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        CHECK(lora_key_parse(list[i].name, &len, &role) && role == list[i].role);
        CHECK(len == strlen(list[i].layer) && !strncmp(list[i].name, list[i].layer, len));
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        CHECK(!lora_key_parse(unknown[i], &len, &role));
    CHECK(lora_key_canon("unet.a.processor.to_q", 21, key));
    CHECK_STR(key, "unet_a_to_q");
    char much[2 * LORA_KEY_MAX];
    memset(much, 'a', sizeof(much));
    CHECK(!lora_key_canon(much, sizeof(much), key) && !lora_key_canon("", 0, key));
}

// ---- which rows ------------------------------------------------------------------------------

typedef struct expected {
    const char *layer, *tensor; // NULL: unknown
    int64_t row0, rows, from;
} expected;

static void check_map(const lora_map *m, const expected *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const expected *e = &list[i];
        bool found = false;
        int n;
        const lora_place *p = lora_map_find(m, e->layer, strlen(e->layer), &n);
        for (int k = 0; k < n && e->tensor; k++)
            found |= !strcmp(p[k].tensor->name, e->tensor) && p[k].row0 == e->row0 &&
                     p[k].rows == e->rows && p[k].from == e->from;
        if (e->tensor ? !found : n != 0) {
            fprintf(stderr, "%s: %s, %d places\n", e->layer, e->tensor ? "wrong" : "known", n);
            exit(1);
        }
    }
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static nino_weights *made(net_list l)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/net", dir.path);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    return test_open("%s", path);
}

// As far as names go.
static nino_diffusion network(nino_weights *file, nino_diffusion_kind kind, const char *prefix)
{
    nino_diffusion d = { .kind = kind, .file = file, .name = "net" };
    snprintf(d.prefix, sizeof(d.prefix), "%s", prefix);
    return d;
}

static const net_flux tiny_flux = { 64, 32, 1, 1, 16, 20, 12, true };

static void check_flux(const char *prefix)
{
    static const expected list[] = {
        { "lora_unet_double_blocks_0_img_attn_qkv", "double_blocks.0.img_attn.qkv.weight", 0, 192,
          0 },
        { "diffusion_model.double_blocks.0.txt_mlp.2", "double_blocks.0.txt_mlp.2.weight", 0, 64,
          0 },
        { "double_blocks.0.img_attn.norm.key_norm", "double_blocks.0.img_attn.norm.key_norm.scale",
          0, 32, 0 },
        { "transformer.transformer_blocks.0.attn.to_k", "double_blocks.0.img_attn.qkv.weight", 64,
          64, 0 },
        { "transformer.transformer_blocks.0.attn.add_v_proj", "double_blocks.0.txt_attn.qkv.weight",
          128, 64, 0 },
        { "lycoris_transformer_blocks_0_attn_to_out_0", "double_blocks.0.img_attn.proj.weight", 0,
          64, 0 },
        { "lora_transformer_transformer_blocks_0_ff_context_net_0_proj",
          "double_blocks.0.txt_mlp.0.weight", 0, 256, 0 },
        { "base_model.model.transformer_blocks.0.norm1_context.linear",
          "double_blocks.0.txt_mod.lin.weight", 0, 384, 0 },
        { "transformer.single_transformer_blocks.0.attn.to_v", "single_blocks.0.linear1.weight",
          128, 64, 0 },
        { "transformer.single_transformer_blocks.0.proj_mlp", "single_blocks.0.linear1.weight", 192,
          256, 0 },
        { "transformer.single_transformer_blocks.0.proj_out", "single_blocks.0.linear2.weight", 0,
          64, 0 },
        { "transformer.proj_out", "final_layer.linear.weight", 0, 64, 0 },
        { "transformer.x_embedder", "img_in.weight", 0, 64, 0 },
        { "transformer.norm_out.linear", "final_layer.adaLN_modulation.1.weight", 0, 64, 64 },
        { "transformer.norm_out.linear", "final_layer.adaLN_modulation.1.weight", 64, 64, 0 },
        { "double_blocks.0.processor.qkv_lora2", "double_blocks.0.txt_attn.qkv.weight", 0, 192, 0 },
        { "single_blocks.0.processor.qkv", "single_blocks.0.linear1.weight", 0, 192, 0 },
        { "lora_unet_single_blocks_0_linear1_qkv", "single_blocks.0.linear1.weight", 0, 192, 0 },
        { "transformer.transformer_blocks.1.attn.to_k", NULL, 0, 0, 0 },
        { "lora_te1_text_model_encoder_layers_0_mlp_fc1", NULL, 0, 0, 0 },
        { "lora_unet_", NULL, 0, 0, 0 },
        { "", NULL, 0, 0, 0 },
    };
    expected full[COUNT(list)];
    nino_name names[COUNT(list)];
    nino_weights *file = made(net_list_flux(&tiny_flux, prefix));
    const nino_diffusion d = network(file, NINO_DIFFUSION_FLUX, prefix);
    lora_map m = { 0 };
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    for (size_t i = 0; i < COUNT(list); i++) {
        full[i] = list[i];
        names[i] = nino_name_of("%s%s", prefix, list[i].tensor ? list[i].tensor : "");
        full[i].tensor = list[i].tensor ? names[i].s : NULL;
    }
    check_map(&m, full, COUNT(full));
    lora_map_release(&m);
    nino_weights_unref(&file);
}

// A file in diffusers' names takes LoRAs of the fused layers.
static void check_flux_diffusers(void)
{
    static const expected list[] = {
        { "lora_unet_double_blocks_0_img_attn_qkv", "transformer_blocks.0.attn.to_q.weight", 0, 64,
          0 },
        { "lora_unet_double_blocks_0_img_attn_qkv", "transformer_blocks.0.attn.to_v.weight", 0, 64,
          128 },
        { "diffusion_model.single_blocks.0.linear1", "single_transformer_blocks.0.attn.to_k.weight",
          0, 64, 64 },
        { "diffusion_model.single_blocks.0.linear1", "single_transformer_blocks.0.proj_mlp.weight",
          0, 256, 192 },
        { "double_blocks.0.processor.qkv_lora1", "transformer_blocks.0.attn.to_k.weight", 0, 64,
          64 },
        { "single_blocks.0.linear1_qkv", "single_transformer_blocks.0.attn.to_v.weight", 0, 64,
          128 },
        { "transformer.transformer_blocks.0.attn.to_q", "transformer_blocks.0.attn.to_q.weight", 0,
          64, 0 },
    };
    net_list l = { 0 };
    net_linear(&l, 64, 64, true, "x_embedder");
    for (int i = 0; i < 3; i++) {
        net_linear(&l, 64, 64, true, "transformer_blocks.0.attn.to_%c", "qkv"[i]);
        net_linear(&l, 64, 64, true, "single_transformer_blocks.0.attn.to_%c", "qkv"[i]);
    }
    net_linear(&l, 256, 64, true, "single_transformer_blocks.0.proj_mlp");
    nino_weights *file = made(l);
    const nino_diffusion d = network(file, NINO_DIFFUSION_FLUX, "");
    lora_map m = { 0 };
    int n;
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    check_map(&m, list, COUNT(list));
    const lora_place *p = lora_map_find(&m, "single_blocks.0.linear1_qkv", 27, &n);
    CHECK(p && n == 3); // not the rest
    lora_map_release(&m);
    nino_weights_unref(&file);
}

static void check_unet(void)
{
    static const net_unet sd = { 32, 3, { 1, 2, 2 }, { 1, 1, 0 }, 1, 24, 12, 4, 4, false };
    static const struct {
        const char *layer, *tensor; // without ".weight"
    } names[] = {
        { "lora_unet_down_blocks_0_attentions_1_transformer_blocks_0_attn2_to_k",
          "input_blocks.2.1.transformer_blocks.0.attn2.to_k" },
        { "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.processor.to_out",
          "input_blocks.4.1.transformer_blocks.0.attn1.to_out.0" },
        { "lora_unet_down_blocks_1_resnets_0_conv_shortcut", "input_blocks.4.0.skip_connection" },
        { "lora_unet_down_blocks_2_resnets_1_time_emb_proj", "input_blocks.8.0.emb_layers.1" },
        { "lora_unet_down_blocks_1_downsamplers_0_conv", "input_blocks.6.0.op" },
        { "lora_unet_mid_block_attentions_0_proj_in", "middle_block.1.proj_in" },
        { "lora_unet_mid_block_resnets_1_conv2", "middle_block.2.out_layers.3" },
        { "lora_unet_up_blocks_0_upsamplers_0_conv", "output_blocks.2.1.conv" },
        { "lora_unet_up_blocks_1_upsamplers_0_conv", "output_blocks.5.2.conv" },
        { "lora_unet_up_blocks_2_attentions_2_transformer_blocks_0_ff_net_2",
          "output_blocks.8.1.transformer_blocks.0.ff.net.2" },
        { "lora_unet_output_blocks_8_1_transformer_blocks_0_ff_net_2",
          "output_blocks.8.1.transformer_blocks.0.ff.net.2" },
        { "diffusion_model.input_blocks.0.0", "input_blocks.0.0" },
        { "lora_unet_conv_in", "input_blocks.0.0" },
        { "lora_unet_time_embedding_linear_2", "time_embed.2" },
        { "lora_unet_add_embedding_linear_1", "label_emb.0.0" },
        { "lora_unet_conv_out", "out.2" },
    };
    nino_weights *file = made(net_list_unet(&sd, "model.diffusion_model."));
    const nino_diffusion d = network(file, NINO_DIFFUSION_UNET, "model.diffusion_model.");
    lora_map m = { 0 };
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    for (size_t i = 0; i < COUNT(names); i++) {
        const nino_name full = nino_name_of("model.diffusion_model.%s.weight", names[i].tensor);
        const nino_tensor_info *t = nino_weights_find(file, full.s);
        CHECK(t);
        check_map(&m, &(expected){ names[i].layer, full.s, 0, t->dim[0], 0 }, 1);
    }
    static const expected none[] = { { "lora_unet_up_blocks_0_attentions_2_conv", NULL, 0, 0, 0 },
                                     { "lora_unet_down_blocks_2_downsamplers_0", NULL, 0, 0, 0 } };
    check_map(&m, none, COUNT(none));
    lora_map_release(&m);
    nino_weights_unref(&file);
}

// A file in diffusers' names takes LoRAs in the names of the other.
static void check_unet_diffusers(void)
{
    net_list l = { 0 };
    net_conv(&l, 32, 4, 3, "conv_in");
    for (int i = 0; i < 2; i++) {
        net_conv(&l, 32, 32, 3, "down_blocks.0.resnets.%d.conv1", i);
        net_linear(&l, 32, 32, true, "down_blocks.0.attentions.%d.proj_in", i);
        net_conv(&l, 32, 32, 3, "up_blocks.0.resnets.%d.conv2", i);
    }
    net_conv(&l, 32, 32, 3, "down_blocks.0.downsamplers.0.conv");
    net_conv(&l, 32, 32, 3, "up_blocks.0.upsamplers.0.conv");
    static const expected other[] = {
        { "lora_unet_input_blocks_2_1_proj_in", "down_blocks.0.attentions.1.proj_in.weight", 0, 32,
          0 },
        { "lora_unet_input_blocks_2_0_in_layers_2", "down_blocks.0.resnets.1.conv1.weight", 0, 32,
          0 },
        { "lora_unet_input_blocks_3_0_op", "down_blocks.0.downsamplers.0.conv.weight", 0, 32, 0 },
        { "lora_unet_output_blocks_1_0_out_layers_3", "up_blocks.0.resnets.1.conv2.weight", 0, 32,
          0 },
        { "lora_unet_output_blocks_1_1_conv", "up_blocks.0.upsamplers.0.conv.weight", 0, 32, 0 },
    };
    nino_weights *file = made(l);
    const nino_diffusion d = network(file, NINO_DIFFUSION_UNET, "");
    lora_map m = { 0 };
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    check_map(&m, other, COUNT(other));
    lora_map_release(&m);
    nino_weights_unref(&file);
}

// ---- text encoders ---------------------------------------------------------------------------

static void check_text(void)
{
    net_list l = { 0 };
    net_linear(&l, 32, 32, true, "l.text_model.encoder.layers.0.self_attn.q_proj");
    net_add(&l, "g.transformer.resblocks.0.attn.in_proj_weight", 2, (const int64_t[]){ 96, 32 });
    net_add(&l, "g.transformer.resblocks.0.attn.in_proj_bias", 1, (const int64_t[]){ 96 });
    net_linear(&l, 128, 32, true, "g.transformer.resblocks.0.mlp.c_fc");
    net_linear(&l, 64, 32, false, "t.encoder.block.0.layer.1.DenseReluDense.wi_0");
    nino_weights *file = made(l);
    nino_encoder clip_l = { .id = NINO_ENC_CLIP_L, .file = file, .prefix = "l." };
    nino_encoder clip_g = { .id = NINO_ENC_CLIP_G, .file = file, .prefix = "g." };
    nino_encoder t5 = { .id = NINO_ENC_T5, .file = file, .prefix = "t." };
    nino_clip c = { .name = "clip" };
    lora_map m = { 0 };
    static const char q[] = "l.text_model.encoder.layers.0.self_attn.q_proj.weight";
    static const char in[] = "g.transformer.resblocks.0.attn.in_proj_weight";
    static const char fc[] = "g.transformer.resblocks.0.mlp.c_fc.weight";
#define UNDER "encoder_block_0_layer_1_DenseReluDense_wi_0"
#define DOTS "encoder.block.0.layer.1.DenseReluDense.wi_0"
    static const char wi[] = "t.encoder.block.0.layer.1.DenseReluDense.wi_0.weight";

    const expected xl[] = {
        { "lora_te1_text_model_encoder_layers_0_self_attn_q_proj", q, 0, 32, 0 },
        { "lora_te_text_model_encoder_layers_0_self_attn_q_proj", q, 0, 32, 0 },
        { "text_encoder.text_model.encoder.layers.0.self_attn.q_proj", q, 0, 32, 0 },
        { "lora_te2_text_model_encoder_layers_0_self_attn_v_proj", in, 64, 32, 0 },
        { "text_encoder_2.text_model.encoder.layers.0.mlp.fc1", fc, 0, 128, 0 },
        { "text_encoders.clip_g.transformer.text_model.encoder.layers.0.mlp.fc1", fc, 0, 128, 0 },
        { "lora_te1_text_model_encoder_layers_0_mlp_fc1", NULL, 0, 0, 0 },
        { "lora_unet_conv_in", NULL, 0, 0, 0 },
    };
    c.enc[NINO_ENC_CLIP_L] = &clip_l;
    c.enc[NINO_ENC_CLIP_G] = &clip_g;
    CHECK_OK(lora_map_clip(&m, &c, &err), err);
    check_map(&m, xl, COUNT(xl));
    lora_map_release(&m);

    const expected flux[] = {
        { "lora_te1_text_model_encoder_layers_0_self_attn_q_proj", q, 0, 32, 0 },
        { "lora_te2_" UNDER, wi, 0, 64, 0 },
        { "lora_te3_" UNDER, wi, 0, 64, 0 },
        { "text_encoder_2." DOTS, wi, 0, 64, 0 },
        { "text_encoder_3." DOTS, wi, 0, 64, 0 },
        { "text_encoders.t5xxl.transformer.encoder.block.0.layer.1.DenseReluDense.wi_0", wi, 0, 64,
          0 },
        { "lora_te2_text_model_encoder_layers_0_self_attn_v_proj", NULL, 0, 0, 0 },
    };
    c.enc[NINO_ENC_CLIP_G] = NULL;
    c.enc[NINO_ENC_T5] = &t5;
    CHECK_OK(lora_map_clip(&m, &c, &err), err);
    check_map(&m, flux, COUNT(flux));
    lora_map_release(&m);

    const expected sd3[] = { { "lora_te3_" UNDER, wi, 0, 64, 0 },
                             { "text_encoder_3." DOTS, wi, 0, 64, 0 },
                             { "lora_te2_" UNDER, NULL, 0, 0, 0 },
                             { "text_encoder_2." DOTS, NULL, 0, 0, 0 } };
    c.enc[NINO_ENC_CLIP_G] = &clip_g;
    CHECK_OK(lora_map_clip(&m, &c, &err), err);
    check_map(&m, sd3, COUNT(sd3));
    lora_map_release(&m);

    const expected alone[] = { { "lora_te1_" UNDER, wi, 0, 64, 0 },
                               { "text_encoder." DOTS, wi, 0, 64, 0 },
                               { "lora_te2_" UNDER, NULL, 0, 0, 0 },
                               { "text_encoder_3." DOTS, NULL, 0, 0, 0 } };
    c.enc[NINO_ENC_CLIP_L] = c.enc[NINO_ENC_CLIP_G] = NULL;
    CHECK_OK(lora_map_clip(&m, &c, &err), err);
    check_map(&m, alone, COUNT(alone));
    lora_map_release(&m);
    nino_weights_unref(&file);
}

// ---- whole networks --------------------------------------------------------------------------

static nino_model *with(nino_model *m, nino_lora *l, double strength, nino_lora_report *r)
{
    nino_model *out = NULL;
    CHECK_OK(nino_model_with_lora(m, l, strength, true, r, &out, &err), err);
    return out;
}

static void check_model(void)
{
    lora_made made_of = { .seed = 5 };
    nino_weights *net = made(net_list_flux(&tiny_flux, NULL));
    lora_tensor(&made_of, "lora_unet_single_blocks_0_linear2.lora_up.weight", NINO_SHAPE(64, 2));
    lora_tensor(&made_of, "lora_unet_single_blocks_0_linear2.lora_down.weight", NINO_SHAPE(2, 320));
    lora_tensor(&made_of, "lora_unet_img_in.diff", NINO_SHAPE(3, 3)); // another size
    lora_tensor(&made_of, "<s1>", NINO_SHAPE(4));
    nino_weights *file = lora_save(&made_of, &dir, "lora");
    nino_diffusion *d = NULL;
    nino_lora *l;
    char text[512];
    bool used[4] = { 0 };
    nino_lora_report r = { .used = used };
    CHECK_OK(nino_diffusion_load(net, "net", &d, &err), err);
    CHECK_OK(nino_lora_open(file, "lora", &l, &err), err);
    CHECK(nino_lora_count(l) == 4);
    nino_model *m = nino_model_create(d);

    nino_model *same = with(m, l, 0, &r);
    CHECK(same == m);
    nino_model_unref(&same);
    nino_model *one = with(m, l, 1, &r), *two = with(one, l, -0.5, NULL);
    CHECK(one != m && one->net != m->net && one->sampling == m->sampling);
    CHECK(one->net->file == d->file && two->net->file == d->file);
    CHECK(one->net->identity.lo != d->identity.lo &&
          one->net->identity.lo != two->net->identity.lo);
    CHECK(r.n_misfits >= 1 && strstr(r.misfit[0], "img_in") && strstr(r.misfit[0], "[3,3]"));
    int n = 0;
    for (int i = 0; i < 4; i++)
        n += used[i];
    CHECK(n == 2);
    nino_lora_unused(l, &r, text, sizeof(text));
    CHECK(strstr(text, "2 of its 4 tensors") && strstr(text, "<s1>") &&
          strstr(text, "img_in.diff"));
    CHECK(nino_lora_unused(l, &r, text, 8) == text && strlen(text) < 8);

    nino_model_unref(&two);
    nino_model_unref(&m); // the one with the LoRA keeps what it needs
    nino_diffusion_unref(&d);
    nino_weights_unref(&net);
    nino_weights_unref(&file);
    nino_lora_unref(&l);
    nino_diffusion *again = NULL;
    CHECK_OK(nino_diffusion_load(one->net->file, "net", &again, &err), err);
    nino_diffusion_unref(&again);
    nino_model_unref(&one);
    lora_forget(&made_of);
}

int main(void)
{
    dir = test_dir_create();
    check_endings();
    check_flux("");
    check_flux("model.diffusion_model.");
    check_flux_diffusers();
    check_unet();
    check_unet_diffusers();
    check_text();
    check_model();
    test_dir_remove(&dir, (const char *const[]){ "net", "lora", NULL });
    return 0;
}
