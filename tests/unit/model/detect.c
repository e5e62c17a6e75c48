// What files contain: every family by its names, and nino_inspect_file() on models, latents and
// pictures.
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/media/png.h"
#include "core/model/detect.h"
#include "tests/vae.h"
#include <ninodes/inspect.h>

static test_dir dir;

// One tensor: "name" of the given shape. Real files have thousands; rules look at these.
typedef struct item {
    const char *name;
    int64_t dim[4]; // 0 ends
    nino_dtype dtype;
} item;

#define MAX_ITEMS 40

static const char *write_file(const char *file, const item *items, const nino_meta *meta,
                              int n_meta)
{
    static char path[96];
    nino_st_entry e[MAX_ITEMS];
    nino_array *a[MAX_ITEMS];
    nino_error err = { 0 };
    int n = 0;
    for (; n < MAX_ITEMS && items[n].name; n++) {
        int rank = 0;
        while (rank < 4 && items[n].dim[rank])
            rank++;
        a[n] = nino_array_create(items[n].dtype, nino_shape_make(rank, items[n].dim));
        CHECK(a[n] != NULL);
        e[n] = (nino_st_entry){ items[n].name, a[n] };
    }
    CHECK_OK(nino_st_save(dir.path, file, false, e, n, meta, n_meta, &err), err);
    while (n--)
        nino_array_unref(&a[n]);
    snprintf(path, sizeof(path), "%s/%s", dir.path, file);
    return path;
}

typedef struct want {
    const char *diffusion, *vae, *vae_prefix, *text, *quantisation;
    bool is_lora;
    const char *detail; // found in detail
} want;

static void check(const item *items, want x)
{
    nino_detected d;
    nino_weights *w = test_open("%s", write_file("a", items, NULL, 0));
    nino_detect(w, &d);
    CHECK_STR(d.diffusion, x.diffusion ? x.diffusion : "");
    CHECK_STR(d.vae, x.vae ? x.vae : "");
    CHECK_STR(d.vae_prefix, x.vae_prefix ? x.vae_prefix : "");
    CHECK_STR(d.quantisation, x.quantisation ? x.quantisation : "none");
    char text[160] = "";
    for (int i = 0; i < 4 && d.text[i][0]; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", d.text[i]);
    CHECK_STR(text, x.text ? x.text : "");
    CHECK(d.is_lora == x.is_lora);
    if (x.detail && !strstr(d.detail, x.detail))
        fprintf(stderr, "detail: %s\n", d.detail);
    CHECK(!x.detail || strstr(d.detail, x.detail));
    nino_weights_unref(&w);
}

#define T(n, ...)                                                                                  \
    {                                                                                              \
        .name = n, .dim = { __VA_ARGS__ }                                                          \
    }
#define Q(n, type, ...)                                                                            \
    {                                                                                              \
        .name = n, .dim = { __VA_ARGS__ }, .dtype = type                                           \
    }
#define FILE_OF(...) ((const item[]){ __VA_ARGS__, { .name = NULL } })
#define WANT(...) ((want){ __VA_ARGS__ })

static void check_diffusion(void)
{
    check(
        FILE_OF(T("double_blocks.0.img_attn.norm.key_norm.scale", 8),
                T("double_blocks.1.img_attn.norm.key_norm.scale", 8),
                T("single_blocks.0.linear2.weight", 8, 8), T("img_in.weight", 32, 64),
                T("guidance_in.in_layer.weight", 8, 8)),
        WANT(.diffusion = "flux", .detail = "Flux.1 dev: 2 double and 1 single blocks, width 32"));
    check(FILE_OF(T("double_blocks.0.img_attn.norm.key_norm.scale", 8), T("img_in.weight", 32, 384),
                  T("guidance_in.in_layer.weight", 8, 8)),
          WANT(.diffusion = "flux", .detail = "Fill"));
    check(FILE_OF(T("double_blocks.0.img_attn.norm.key_norm.scale", 8), T("img_in.weight", 32, 64)),
          WANT(.diffusion = "flux", .detail = "schnell"));
    check(FILE_OF(T("head.modulation", 1, 2, 16), T("blocks.0.ffn.0.weight", 8, 16),
                  T("patch_embedding.weight", 16, 36, 1, 4)),
          WANT(.diffusion = "wan", .detail = "Wan image to video: 1 blocks, width 16, 36 input"));
    check(FILE_OF(T("head.modulation", 1, 2, 16), T("vace_patch_embedding.weight", 8, 8)),
          WANT(.diffusion = "wan", .detail = "VACE"));
    check(FILE_OF(T("joint_blocks.0.context_block.attn.qkv.weight", 8, 8)),
          WANT(.diffusion = "sd3"));
    check(FILE_OF(T("distilled_guidance_layer.norms.0.scale", 8), T("img_in.weight", 8, 64),
                  T("double_blocks.0.img_attn.norm.key_norm.scale", 8)),
          WANT(.diffusion = "chroma", .detail = "Chroma: 1 double and 0 single blocks, width 8"));
    check(FILE_OF(T("distilled_guidance_layer.norms.0.scale", 8), T("nerf_blocks.0.norm.scale", 8)),
          WANT(.diffusion = "chroma_radiance"));
    check(FILE_OF(T("transformer_blocks.0.img_mod.1.weight", 8, 8), T("img_in.weight", 8, 64),
                  T("transformer_blocks.1.img_mod.1.weight", 8, 8)),
          WANT(.diffusion = "qwen_image", .detail = "Qwen-Image: 2 blocks, width 8"));
    check(
        FILE_OF(T("transformer_blocks.0.img_mod.1.weight", 8, 8), T("__index_timestep_zero__", 1)),
        WANT(.diffusion = "qwen_image", .detail = "Qwen-Image-Edit"));
    check(FILE_OF(T("img_in.weight", 8, 8),
                  T("txt_in.individual_token_refiner.blocks.0.norm1.weight", 8),
                  T("double_blocks.0.img_attn.norm.key_norm.scale", 8)),
          WANT(.diffusion = "hunyuan_video"));
    check(FILE_OF(T("nothing.known", 8)), WANT(0));
}

// A UNet needs its prefix more than five times to be believed.
#define UNET(k, ctx)                                                                               \
    T("model.diffusion_model.input_blocks.0.0.weight", 8, 4, 3, 3),                                \
        T("model.diffusion_model.input_blocks.0.0.bias", 8),                                       \
        T("model.diffusion_model.out.0.weight", 8), T("model.diffusion_model.out.0.bias", 8),      \
        T("model.diffusion_model.out.2.bias", 4),                                                  \
        T("model.diffusion_model.input_blocks." k ".1.transformer_blocks.0.attn2.to_k.weight", 8,  \
          ctx)

static void check_checkpoints(void)
{
    check(FILE_OF(UNET("1", 768), T("first_stage_model.decoder.conv_in.weight", 8, 4, 3, 3),
                  T("first_stage_model.decoder.up.3.block.0.norm1.weight", 8),
                  T("cond_stage_model.transformer.text_model.final_layer_norm.weight", 8)),
          WANT(.diffusion = "sd15", .vae = "sd1", .vae_prefix = "first_stage_model.",
               .text = "clip_l", .detail = "UNet of SD 1, width 8, 4 input channels"));
    check(FILE_OF(UNET("1", 1024), T("cond_stage_model.model.ln_final.weight", 8)),
          WANT(.diffusion = "sd2", .text = "clip_h"));
    check(FILE_OF(UNET("1", 1024), T("model.diffusion_model.label_emb.0.0.weight", 8, 4)),
          WANT(.diffusion = "lotus", .detail = "UNet of Lotus, width 8, 4 input channels"));
    check(FILE_OF(UNET("4", 2048), T("model.diffusion_model.label_emb.0.0.weight", 8, 8),
                  T("first_stage_model.decoder.conv_in.weight", 8, 4, 3, 3),
                  T("first_stage_model.decoder.up.3.block.0.norm1.weight", 8)),
          WANT(.diffusion = "sdxl", .vae = "sdxl", .vae_prefix = "first_stage_model."));
    check(FILE_OF(UNET("4", 1280), T("model.diffusion_model.label_emb.0.0.weight", 8, 8),
                  T("conditioner.embedders.0.model.ln_final.weight", 8)),
          WANT(.diffusion = "sdxl_refiner", .text = "clip_g"));
    check(FILE_OF(T("joint_blocks.0.context_block.attn.qkv.weight", 8, 8),
                  T("vae.decoder.conv_in.weight", 8, 16, 3, 3),
                  T("vae.decoder.up.3.block.0.norm1.weight", 8),
                  T("text_encoders.clip_l.transformer.x", 8),
                  T("text_encoders.clip_g.transformer.x", 8),
                  T("text_encoders.t5xxl.transformer.x", 8)),
          WANT(.diffusion = "sd3", .vae = "sd3", .vae_prefix = "vae.", .text = "clip_l clip_g t5"));
}

static void check_parts(void)
{
    check(FILE_OF(T("text_model.encoder.layers.0.self_attn.q_proj.weight", 1280, 2)),
          WANT(.text = "clip_g"));
    check(FILE_OF(T("text_model.encoder.layers.0.self_attn.q_proj.weight", 768, 2)),
          WANT(.text = "clip_l"));
    check(FILE_OF(T("encoder.block.0.layer.0.SelfAttention.q.weight", 8, 8)), WANT(.text = "t5"));
    check(FILE_OF(T("encoder.block.0.layer.0.SelfAttention.q.weight", 8, 8),
                  T("encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight", 8, 8)),
          WANT(.text = "umt5"));
    check(FILE_OF(T("vision_model.embeddings.class_embedding", 8)), WANT(.text = "clip_vision"));
    check(FILE_OF(T("decoder.conv_in.weight", 8, 16, 3, 3),
                  T("decoder.up.3.block.0.norm1.weight", 8)),
          WANT(.vae = "flux"));
    check(FILE_OF(T("encoder.conv_in.weight", 8, 3, 3, 3), T("encoder.conv_out.weight", 8, 8, 3, 3),
                  T("encoder.down.2.downsample.conv.weight", 8, 8, 3, 3)),
          WANT(.vae = "sd1"));
    check(FILE_OF(T("decoder.middle.0.residual.0.gamma", 8)), WANT(.vae = "wan21"));
    check(FILE_OF(T("decoder.middle.0.residual.0.gamma", 8),
                  T("decoder.upsamples.0.upsamples.0.residual.2.weight", 8, 8)),
          WANT(.vae = "wan22"));
    check(FILE_OF(T("1.weight", 8, 16, 3, 3), T("3.conv.0.weight", 8, 8, 3, 3)),
          WANT(.vae = "taef1"));
    check(FILE_OF(T("0.weight", 8, 3, 3, 3), T("1.conv.0.weight", 8, 8, 3, 3),
                  T("2.weight", 4, 8, 3, 3)),
          WANT(.vae = "taesd"));
    check(FILE_OF(T("taesd_decoder.1.weight", 8, 32, 3, 3)),
          WANT(.vae = "taef2", .vae_prefix = "taesd_"));
    check(FILE_OF(T("lora_unet_a.lora_down.weight", 4, 8), T("lora_unet_a.lora_up.weight", 8, 4),
                  T("lora_unet_a.alpha", 1)),
          WANT(.is_lora = true, .detail = "kohya"));
    check(FILE_OF(T("transformer.x.lora_A.weight", 4, 8), T("transformer.x.lora_B.weight", 8, 4)),
          WANT(.is_lora = true, .detail = "PEFT"));
}

// Where sizes and counts decide: one less, exactly so many, one more.
static void check_limits(void)
{
    // a prefix is believed above five names
    static const item six[] = {
        T("net.head.modulation", 1, 2, 16),
        T("net.a", 1),
        T("net.b", 1),
        T("net.c", 1),
        T("net.d", 1),
        T("net.e", 1),
        { .name = NULL },
    };
    check(six, WANT(.diffusion = "wan", .detail = "text to video"));
    check(six + 1, WANT(0));
    item five[6];
    memcpy(five, six, 5 * sizeof(five[0]));
    five[5] = (item){ .name = NULL };
    check(five, WANT(0));
    // blocks of an OpenCLIP, and the width of the last norm
    static const struct {
        int blocks, width;
        const char *family;
    } clips[] = { { 22, 768, "clip_l" }, { 23, 768, "clip_h" }, { 30, 768, "clip_h" },
                  { 31, 768, "clip_g" }, { 1, 1023, "clip_l" }, { 1, 1024, "clip_h" },
                  { 1, 1025, "clip_l" }, { 1, 1279, "clip_l" }, { 1, 1280, "clip_g" },
                  { 1, 1281, "clip_l" } };
    for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
        item items[MAX_ITEMS] = { T("transformer.resblocks.0.attn.in_proj_weight", 8, 8),
                                  { "ln_final.weight", { clips[i].width }, NINO_F32 } };
        char names[MAX_ITEMS][48];
        for (int k = 1; k < clips[i].blocks; k++) {
            snprintf(names[k], sizeof(names[k]), "transformer.resblocks.%d.ln_1.weight", k);
            items[k + 1] = (item) T(names[k], 8);
        }
        check(items, WANT(.text = clips[i].family));
    }
}

// What stands for each kind of Wan beside its input channels; the first that is there counts.
static void check_wans(void)
{
    static const struct {
        int64_t in;
        const char *mark, *kind;
    } wans[] = {
        { 16, "x", "Wan text to video: 0 blocks, width 8, 16" },
        { 35, "x", "Wan text to video" },
        { 36, "x", "Wan image to video: 0 blocks, width 8, 36" },
        { 37, "x", "Wan text to video" },
        { 47, "x", "Wan text to video" },
        { 48, "x", "Wan text and image to video" },
        { 49, "x", "Wan text to video" },
        { 36, "vace_patch_embedding.weight", "Wan VACE" },
        { 36, "control_adapter.conv.weight", "Wan camera" },
        { 36, "ref_conv.weight", "Wan reference" },
        { 36, "face_adapter.a", "Wan animate" },
        { 36, "casual_audio_encoder.a", "Wan speech" },
        { 36, "audio_proj.a", "Wan audio" },
        { 16, "img_emb.proj.0.bias", "Wan image to video" },
    };
    for (size_t i = 0; i < sizeof(wans) / sizeof(wans[0]); i++)
        check(FILE_OF(T("head.modulation", 1, 2, 8),
                      T("patch_embedding.weight", 8, wans[i].in, 1, 2), T(wans[i].mark, 1)),
              WANT(.diffusion = "wan", .detail = wans[i].kind));
}

// By the latent's channels; by the last layer of an encoder, twice as many.
static void check_vaes(void)
{
    static const struct {
        int64_t channels;
        const char *family;
    } kl[] = { { 3, "kl" },
               { 4, "sd1" },
               { 5, "kl" },
               { 15, "kl" },
               { 16, "flux" },
               { 17, "kl" },
               { 32, "hunyuan_image_refiner" },
               { 33, "kl" },
               { 64, "hunyuan_image" },
               { 65, "kl" } };
    for (size_t i = 0; i < sizeof(kl) / sizeof(kl[0]); i++) {
        check(FILE_OF(T("decoder.conv_in.weight", 8, kl[i].channels, 3, 3),
                      T("decoder.up_blocks.3.resnets.0.norm1.weight", 8)),
              WANT(.vae = kl[i].family));
        check(FILE_OF(T("encoder.conv_in.weight", 8, 3, 3, 3),
                      T("encoder.conv_out.weight", 2 * kl[i].channels, 8, 3, 3),
                      T("encoder.down.2.downsample.conv.weight", 8)),
              WANT(.vae = kl[i].family));
    }
    check(FILE_OF(T("decoder.conv_in.weight", 8, 4, 3, 3)), WANT(.vae = "sd_x4"));
    check(FILE_OF(T("decoder.conv_in.weight", 8, 32, 3, 3), T("bn.running_mean", 128)),
          WANT(.vae = "flux2"));
    check(FILE_OF(T("decoder.mid_block.resnets.0.norm1.gamma", 8)), WANT(.vae = "wan21"));
    check(FILE_OF(T("decoder.mid_block.resnets.0.norm1.gamma", 8),
                  T("decoder.up_blocks.0.upsampler.resample.1.weight", 8)),
          WANT(.vae = "wan22"));
    static const char *const taehv[] = { "decoder.22.bias", "decoder.3.conv.0.weight",
                                         "encoder.4.conv.0.weight" };
    for (int i = 0; i < 3; i++)
        check(FILE_OF(T(taehv[i], 8)), WANT(.vae = "taehv"));
    static const int64_t tiny[] = { 4, 15, 16, 17, 31, 32, 33 };
    for (int i = 0; i < 7; i++) {
        const char *family = tiny[i] == 16 ? "taef1" : tiny[i] == 32 ? "taef2" : "taesd";
        check(FILE_OF(T("1.weight", 64, tiny[i], 3, 3), T("3.conv.0.weight", 64, 64, 3, 3)),
              WANT(.vae = family));
        check(FILE_OF(T("taesd_encoder.0.weight", 64, 3, 3, 3),
                      T("taesd_encoder.8.weight", 64, 64, 3, 3),
                      T("taesd_encoder.9.weight", tiny[i], 64, 3, 3)),
              WANT(.vae = family, .vae_prefix = "taesd_"));
        check(FILE_OF(T("0.weight", 64, 3, 3, 3), T("1.conv.0.weight", 64, 64, 3, 3),
                      T("9.weight", tiny[i], 64, 3, 3)),
              WANT(.vae = family));
    }
    check(FILE_OF(T("0.weight", 64, 4, 3, 3), T("1.conv.0.weight", 64, 64, 3, 3)), WANT(0));
}

// Every ending of a LoRA's names, and how many layers that makes.
static void check_loras(void)
{
    static const char *const endings[][2] = {
        { ".lora_down.weight", "LoRA, kohya names, 2 layers" },
        { ".lora_A.weight", "LoRA, PEFT names, 2 layers" },
        { ".lora_A.default.weight", "LoRA, PEFT names, 2 layers" },
        { "_lora.down.weight", "LoRA, diffusers names, 2 layers" },
        { ".lora.down.weight", "LoRA, diffusers names, 2 layers" },
        { ".lora_linear_layer.down.weight", "LoRA, diffusers names, 2 layers" },
        { ".lora_A", "LoRA, PEFT names, 2 layers" },
        { ".hada_w1_a", "LoRA, LoHa names, 2 layers" },
        { ".lokr_w1", "LoRA, LoKr names, 2 layers" },
        { ".lokr_w1_a", "LoRA, LoKr names, 2 layers" },
        { ".oft_blocks", "LoRA, OFT names, 2 layers" },
        { ":down", "LoRA, index names, 2 layers" },
    };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char a[64], b[64];
        snprintf(a, sizeof(a), "a%s", endings[i][0]);
        snprintf(b, sizeof(b), "b.c%s", endings[i][0]);
        check(FILE_OF(T(a, 4, 8), T(b, 4, 8), T("a.alpha", 1)),
              WANT(.is_lora = true, .detail = endings[i][1]));
    }
}

// Language models: those that are read, and others.
static void check_llms(void)
{
#define LLM                                                                                        \
    T("model.layers.0.self_attn.q_proj.weight", 8, 8),                                             \
        T("model.layers.0.mlp.gate_proj.weight", 8, 8)
    static const char qk[] = "model.layers.0.self_attn.q_norm.weight";
    static const char table[] = "model.embed_tokens.weight";
    check(FILE_OF(LLM), WANT(.text = "llm"));
    check(FILE_OF(LLM, T(qk, 8)), WANT(.text = "qwen3"));
    check(FILE_OF(LLM, T(qk, 8), T("model.visual.a", 8)), WANT(.text = "llm"));
    check(FILE_OF(LLM, T(qk, 8), T("visual.a", 8)), WANT(.text = "llm"));
    check(FILE_OF(LLM, T("model.layers.0.self_attn.k_proj.bias", 8)), WANT(.text = "qwen25_vl"));
    check(FILE_OF(LLM, T("tekken_model", 8)), WANT(.text = "mistral3"));
    check(FILE_OF(LLM, T(table, 1, 5119)), WANT(.text = "llm"));
    check(FILE_OF(LLM, T(table, 1, 5120)), WANT(.text = "mistral3"));
    check(FILE_OF(LLM, T(table, 1, 5121)), WANT(.text = "llm"));
    check(FILE_OF(LLM, T(qk, 8), T("model.layers.0.pre_feedforward_layernorm.weight", 8)),
          WANT(.text = "llm"));
    check(FILE_OF(LLM, T(qk, 8), T("model.layers.0.linear_attn.in_proj_qkvz.weight", 8)),
          WANT(.text = "llm"));
    check(FILE_OF(T("model.layers.0.self_attn.q_proj.weight", 8, 8), T(qk, 8)),
          WANT(.text = "llm"));
    check(FILE_OF(T("visual.patch_embed.proj.weight", 8)), WANT(.text = "qwen25_vision"));
    check(FILE_OF(T("visual.patch_embed.proj.weight", 8), T(table, 1, 8)), WANT(0));
}

static void check_quantisation(void)
{
    check(FILE_OF(Q("x.weight", NINO_F8_E4M3, 8, 8)), WANT(.quantisation = "fp8 e4m3fn"));
    check(FILE_OF(Q("x.weight", NINO_F8_E5M2, 8, 8)), WANT(.quantisation = "fp8 e5m2"));
    check(FILE_OF(Q("x.weight", NINO_F8_E4M3, 8, 8), T("x.scale_weight", 1)),
          WANT(.quantisation = "fp8 e4m3fn scaled"));
    check(FILE_OF(Q("x.weight", NINO_I8, 8, 8)), WANT(.quantisation = "int8"));
    check(FILE_OF(Q("x.weight", NINO_I8, 8, 8), Q("x.weight_scale", NINO_F32, 8, 1)),
          WANT(.quantisation = "int8 scaled"));
    check(FILE_OF(Q("x.weight", NINO_U8, 8, 8), Q("x.weight_scale", NINO_F8_E4M3, 128, 4),
                  Q("x.weight_scale_2", NINO_F32, 1)),
          WANT(.quantisation = "nvfp4"));
    check(FILE_OF(Q("x.weight", NINO_BF16, 8, 8), Q("ids", NINO_I8, 8)), WANT(0));
}

// ---- inspect ---------------------------------------------------------------------------------
static void check_inspect_model(void)
{
    static const nino_meta meta[] = { { "origin", "a test", 6 } };
    nino_inspect i;
    nino_error err = { 0 };
    const char *path = write_file("flux-fp8_e4m3fn.safetensors",
                                  FILE_OF(T("double_blocks.0.img_attn.norm.key_norm.scale", 8),
                                          Q("img_in.weight", NINO_BF16, 32, 64)),
                                  meta, 1);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.format, "safetensors");
    CHECK(i.n_tensors == 2 && i.n_meta == 1 && i.n_parts == 1 && i.n_dtypes == 2);
    CHECK(i.tensor_bytes == 32 * 64 * 2 + 32 && i.file_bytes > i.tensor_bytes);
    CHECK_STR(i.meta[0].value, "a test");
    CHECK_STR(i.dtypes[0].name, "bf16");
    CHECK(i.dtypes[0].tensors == 1 && i.dtypes[0].bytes == 32 * 64 * 2);
    CHECK_STR(i.parts[0].role, "diffusion");
    CHECK_STR(i.parts[0].family, "flux");
    CHECK_STR(i.quantisation, "none");
    CHECK_STR(i.name_hint, "fp8 e4m3fn"); // the name promises what is not inside
    nino_inspect_release(&i);
    CHECK(i.n_tensors == 0);

    path = write_file("flux-fp8_e4m3fn.safetensors",
                      FILE_OF(Q("img_in.weight", NINO_F8_E4M3, 32, 64)), NULL, 0);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.quantisation, "fp8 e4m3fn");
    CHECK_STR(i.name_hint, "");
    nino_inspect_release(&i);

    path = write_file("flux-fp8_scaled.safetensors",
                      FILE_OF(Q("img_in.weight", NINO_F8_E4M3, 32, 64)), NULL, 0);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.name_hint, "fp8 scaled");
    nino_inspect_release(&i);

    path = write_file("flux-Q4_K_M.gguf", FILE_OF(Q("img_in.weight", NINO_F16, 32, 64)), NULL, 0);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.name_hint, "q4_K");
    CHECK_STR(i.arch_hint, "");
    nino_inspect_release(&i);

    static const nino_meta says[][1] = { { { "general.architecture", "wan", 3 } },
                                         { { "general.architecture", "flux", 4 } },
                                         { { "general.architecture", "cow", 3 } },
                                         { { "general.architecture", "qwen_image", 10 } },
                                         { { "general.architecture", "mistral3", 8 } } };
    static const char *const hints[] = { "wan", "", "", "qwen_image", "mistral3" };
    for (int k = 0; k < 5; k++) {
        path = write_file("a", FILE_OF(T("double_blocks.0.img_attn.norm.key_norm.scale", 8)),
                          says[k], 1);
        CHECK_OK(nino_inspect_file(path, &i, &err), err);
        CHECK_STR(i.arch_hint, hints[k]); // "cow": of a program that has no name for it
        nino_inspect_release(&i);
    }
    const nino_meta lumina2 = { "general.architecture", "lumina2", 7 };
    path = write_file("a", FILE_OF(T("layers.0.adaLN_modulation.0.weight", 8)), &lumina2, 1);
    CHECK_OK(nino_inspect_file(path, &i, &err), err); // Z-Image's name among GGUF files
    CHECK_STR(i.parts[0].family, "z_image");
    CHECK_STR(i.arch_hint, "");
    nino_inspect_release(&i);
    path = write_file("a", FILE_OF(T("transformer_blocks.0.img_mod.1.weight", 8)), says[3], 1);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.parts[0].family, "qwen_image");
    CHECK_STR(i.arch_hint, "");
    nino_inspect_release(&i);

    CHECK_OK(nino_inspect_file("data/tiny/models/vae/vae_tiny.safetensors", &i, &err), err);
    CHECK_STR(i.parts[0].role, "vae");
    CHECK_STR(i.parts[0].family, "taesd");
    CHECK_STR(i.parts[0].detail, "tiny autoencoder, 4 channels, 8x");
    nino_inspect_release(&i);
    CHECK_OK(nino_inspect_file("data/tiny/input/demo.latent", &i, &err), err);
    CHECK(i.n_parts == 1);
    CHECK_STR(i.parts[0].role, "latent");
    CHECK_STR(i.parts[0].detail, "f32 1x4x64x64");
    nino_inspect_release(&i);
}

static void check_inspect_png(void)
{
    static const nino_meta texts[] = { { "prompt", "{\"1\":{},\"2\":{}}", 15 },
                                       { "workflow", "{\"nodes\":[1,2,3]}", 17 } };
    static const uint8_t pixels[4 * 2 * 3];
    char path[96];
    nino_buf b = { 0 };
    nino_inspect i;
    nino_error err = { 0 };
    CHECK_OK(nino_png_encode(&b, pixels, 4, 2, 3, 8, texts, 2, &err), err);
    CHECK_OK(nino_file_save(dir.path, "p.png", false, b.data, b.len, &err), err);
    nino_buf_release(&b);
    snprintf(path, sizeof(path), "%s/p.png", dir.path);
    CHECK_OK(nino_inspect_file(path, &i, &err), err);
    CHECK_STR(i.format, "png");
    CHECK(i.n_parts == 3 && i.n_meta == 2 && i.n_tensors == 0);
    CHECK_STR(i.parts[0].detail, "4x2");
    CHECK_STR(i.parts[1].family, "prompt");
    CHECK_STR(i.parts[1].detail, "2 nodes, 15 bytes");
    CHECK_STR(i.parts[2].detail, "3 nodes, 17 bytes");
    nino_inspect_release(&i);
}

static void check_inspect_bad(void)
{
    nino_inspect i;
    nino_error err = { 0 };
    char path[96];
    CHECK(nino_inspect_file("/nonexistent/x.safetensors", &i, &err) == NINO_ERR_MISSING);
    CHECK_OK(nino_file_save(dir.path, "a", false, "\x89PNG\r\n\x1a\nrubbish", 15, &err), err);
    snprintf(path, sizeof(path), "%s/a", dir.path);
    CHECK(nino_inspect_file(path, &i, &err) == NINO_ERR_FORMAT && !i.priv);
    CHECK_OK(nino_file_save(dir.path, "a", false, "not a model at all", 18, &err), err);
    CHECK(nino_inspect_file(path, &i, NULL) == NINO_ERR_FORMAT && !i.priv);
}

// ---- real files ------------------------------------------------------------------------------
static void check_data(const char *data)
{
    static const struct {
        const char *file, *role, *family;
    } files[] = {
        { "models/vae/ae_tiny.safetensors", "vae", "flux" },
        { "models/vae/wan_2.1_vae_tiny.safetensors", "vae", "wan21" },
        { "models/checkpoints/sd15_tiny.safetensors", "diffusion", "sd15" },
        { "models/diffusion_models/flux_tiny.safetensors", "diffusion", "flux" },
        { "models/diffusion_models/flux_tiny_q4_K.gguf", "diffusion", "flux" },
        { "models/diffusion_models/flux_tiny_q8_0.gguf", "diffusion", "flux" },
        { "models/diffusion_models/wan_t2v_tiny.safetensors", "diffusion", "wan" },
        { "models/diffusion_models/z_image_tiny_fp8_e4m3fn_scaled.safetensors", "diffusion",
          "z_image" },
        { "models/diffusion_models/z_image_tiny_Q8_0.gguf", "diffusion", "z_image" },
        { "models/diffusion_models/flux2_dev_tiny_bf16.safetensors", "diffusion", "flux2" },
        { "models/diffusion_models/flux2_klein_tiny_fp8.safetensors", "diffusion", "flux2" },
        { "models/vae/flux2_vae_tiny.safetensors", "vae", "flux2" },
        { "models/text_encoders/clip_l_tiny.safetensors", "text encoder", "clip_l" },
        { "models/text_encoders/t5xxl_tiny.safetensors", "text encoder", "t5" },
        { "models/text_encoders/umt5_tiny.safetensors", "text encoder", "umt5" },
        { "models/loras/flux_tiny_kohya.safetensors", "lora", "lora" },
        { "models/loras/lora_disney_inpainting.safetensors", "lora", "lora" },
        { "models/vae_approx/taef2_decoder.pth", "vae", "taef2" },
        { "models/vae_approx/taesd_encoder.safetensors", "vae", "taesd" },
        { "synth/sdxl_unet_ch32.safetensors", "diffusion", "sdxl" },
        { "synth/wan22_vae_dim16.safetensors", "vae", "wan22" },
        { "taesd_ref/taesd_shiba.latent", "latent", "image" },
    };
    const size_t all = sizeof(files) / sizeof(files[0]);
    size_t n = 0;
    for (size_t k = 0; k < all; k++) {
        char path[512];
        nino_inspect i;
        nino_error err = { 0 };
        snprintf(path, sizeof(path), "%s/%s", data, files[k].file);
        if (test_data_is_own(data) && access(path, R_OK))
            continue;
        n++;
        CHECK_OK(nino_inspect_file(path, &i, &err), err);
        printf("  %s: %s %s %s\n", files[k].file, i.parts[0].role, i.parts[0].family,
               i.parts[0].detail);
        CHECK_STR(i.parts[0].role, files[k].role);
        CHECK_STR(i.parts[0].family, files[k].family);
        CHECK_STR(i.name_hint, "");
        CHECK_STR(i.arch_hint, "");
        nino_inspect_release(&i);
    }
    CHECK(n == (test_data_is_own(data) ? 12 : all));
}

int main(void)
{
    static const char *const files[] = { "a",
                                         "p.png",
                                         "flux-fp8_e4m3fn.safetensors",
                                         "flux-fp8_scaled.safetensors",
                                         "flux-Q4_K_M.gguf",
                                         NULL };
    dir = test_dir_create();
    check_diffusion();
    check_checkpoints();
    check_parts();
    check_limits();
    check_wans();
    check_vaes();
    check_loras();
    check_llms();
    check_quantisation();
    check_inspect_model();
    check_inspect_png();
    check_inspect_bad();
    for (const char *data = NULL; (data = test_data_next(data));)
        check_data(data);
    if (!test_assets())
        test_skip_part("seven of the files");
    test_dir_remove(&dir, files);
    return 0;
}
