// What a weights file contains. Rules are tables of tensor names; sizes only break ties, so that
// small test models are recognised like the real ones. Names: ComfyUI model_detection.py, sd.py and
// lora.py, black-forest-labs/flux, Wan-Video, madebyollin/taesd, huggingface/diffusers.
#include "core/model/detect.h"

#include <stdio.h>
#include <string.h>

static const nino_tensor_info *detect_find(const nino_weights *w, const char *prefix,
                                           const char *name)
{
    char full[256];
    const int n = snprintf(full, sizeof(full), "%s%s", prefix, name);
    return n > 0 && (size_t) n < sizeof(full) ? nino_weights_find(w, full) : NULL;
}

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

static int count_prefix(const nino_weights *w, const char *prefix)
{
    const size_t n = strlen(prefix);
    int count = 0;
    for (int i = 0; i < nino_weights_count(w); i++)
        count += !strncmp(nino_weights_at(w, i)->name, prefix, n);
    return count;
}

static int64_t dim(const nino_tensor_info *t, int i) { return t && i < t->rank ? t->dim[i] : 0; }

// Blocks called prefix + stem + N + "." for N = 0, 1, ...
static int count_blocks(const nino_weights *w, const char *prefix, const char *stem)
{
    int n = 0;
    char full[160];
    for (; n < 1000; n++) {
        snprintf(full, sizeof(full), "%s%s%d.", prefix, stem, n);
        if (!count_prefix(w, full))
            break;
    }
    return n;
}

static void detect_set(char *dst, size_t size, const char *s) { snprintf(dst, size, "%s", s); }

// ---- diffusion models ------------------------------------------------------------------------
// First row whose tensor exists wins; "unet" is refined below.
static const struct {
    const char *name, *family;
} diffusion_rules[] = {
    { "joint_blocks.0.context_block.attn.qkv.weight", "sd3" },
    { "txt_in.individual_token_refiner.blocks.0.norm1.weight", "hunyuan_video" },
    { "double_stream_modulation_img.lin.weight", "flux2" },
    { "double_stream_modulation_img.linear.weight", "flux2" }, // diffusers names
    { "nerf_blocks.0.norm.scale", "chroma_radiance" },         // Chroma on pixels
    { "distilled_guidance_layer.norms.0.scale", "chroma" },
    { "distilled_guidance_layer.0.norms.0.scale", "chroma" },
    { "distilled_guidance_layer.norms.0.weight", "chroma" }, // diffusers names
    { "double_blocks.0.img_attn.norm.key_norm.scale", "flux" },
    { "transformer_blocks.0.img_mod.1.weight", "qwen_image" },
    { "single_transformer_blocks.0.norm.linear.weight", "flux" }, // diffusers names
    { "transformer_blocks.0.attn.add_q_proj.weight", "sd3" },     // diffusers names
    { "head.modulation", "wan" },
    { "condition_embedder.time_proj.weight", "wan" }, // diffusers names
    { "input_blocks.0.0.weight", "unet" },
    { "down_blocks.0.resnets.0.time_emb_proj.weight", "unet" }, // diffusers names
    { "double_layers.0.attn.w1q.weight", "aura" },
    { "mlp_t5.0.weight", "hunyuan_dit" },
    { "t5_yproj.weight", "mochi" },
    { "adaln_single.emb.timestep_embedder.linear_1.bias", "ltxv" },
    { "blocks.0.block.0.block.attn.to_q.0.weight", "cosmos" },
    { "blocks.0.mlp.layer1.weight", "cosmos_predict2" },
    { "layers.0.adaLN_modulation.0.weight", "z_image" },
    { "cap_embedder.1.weight", "lumina2" },
    { "caption_projection.0.linear.weight", "hidream" },
    { "clf.1.weight", "cascade" },
    { "t_block.1.weight", "pixart" },
};

// The context width decides for real models; label_emb exists in the XL UNets, in unCLIP's, and in
// Lotus's for the two waves of a task.
static const char *unet_family(const nino_weights *w, const char *p)
{
    static const char *const keys[] = {
        "input_blocks.1.1.transformer_blocks.0.attn2.to_k.weight",
        "input_blocks.4.1.transformer_blocks.0.attn2.to_k.weight",
        "down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.weight",
        "down_blocks.1.attentions.0.transformer_blocks.0.attn2.to_k.weight",
    };
    static const char *const labels[] = { "label_emb.0.0.weight", "add_embedding.linear_1.weight",
                                          "class_embedding.linear_1.weight" };
    const nino_tensor_info *label = NULL;
    for (int i = 0; i < 3 && !label; i++)
        label = detect_find(w, p, labels[i]);
    if (label && dim(label, 1) == NINO_LOTUS_Y)
        return NINO_LOTUS;
    int64_t context = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !context; i++)
        context = dim(detect_find(w, p, keys[i]), 1);
    if (context == 1024)
        return "sd2";
    return !label ? "sd15" : context == 1280 ? "sdxl_refiner" : "sdxl";
}

static void unet_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const nino_tensor_info *in = detect_find(w, p, "input_blocks.0.0.weight");
    if (!in)
        in = detect_find(w, p, "conv_in.weight");
    snprintf(d->detail, sizeof(d->detail), "UNet of %s, width %lld, %lld input channels",
             !strcmp(d->diffusion, "sd15")       ? "SD 1"
             : !strcmp(d->diffusion, "sd2")      ? "SD 2"
             : !strcmp(d->diffusion, "sdxl")     ? "SDXL"
             : !strcmp(d->diffusion, NINO_LOTUS) ? "Lotus"
                                                 : "the SDXL refiner",
             (long long) dim(in, 0), (long long) dim(in, 1));
}

static void flux_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const nino_tensor_info *in = detect_find(w, p, "img_in.weight");
    const bool guided = detect_find(w, p, "guidance_in.in_layer.weight") != NULL;
    const int64_t c = dim(in, 1) / 4;
    const char *kind = c == 96 ? "Fill" : c == 32 ? "control" : guided ? "dev" : "schnell";
    if (in)
        snprintf(d->detail, sizeof(d->detail),
                 "Flux.1 %s: %d double and %d single blocks, width %lld", kind,
                 count_blocks(w, p, "double_blocks."), count_blocks(w, p, "single_blocks."),
                 (long long) dim(in, 0));
    else
        detect_set(d->detail, sizeof(d->detail), "Flux.1 with diffusers names");
}

static void flux2_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const nino_tensor_info *in = detect_find(w, p, "img_in.weight");
    const bool guided = detect_find(w, p, "guidance_in.in_layer.weight") != NULL;
    if (in)
        snprintf(d->detail, sizeof(d->detail),
                 "FLUX.2 %s: %d double and %d single blocks, width %lld", guided ? "dev" : "klein",
                 count_blocks(w, p, "double_blocks."), count_blocks(w, p, "single_blocks."),
                 (long long) dim(in, 0));
    else
        detect_set(d->detail, sizeof(d->detail), "FLUX.2 with diffusers names");
}

static void z_image_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    snprintf(d->detail, sizeof(d->detail), "Z-Image: %d layers, width %lld",
             count_blocks(w, p, "layers."),
             (long long) dim(detect_find(w, p, "cap_embedder.1.weight"), 0));
}

static void wan_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    static const struct {
        const char *name, *kind;
    } kinds[] = {
        { "vace_patch_embedding.weight", "VACE" },   { "control_adapter.conv.weight", "camera" },
        { "ref_conv.weight", "reference" },          { "face_adapter.", "animate" },
        { "casual_audio_encoder.", "speech" },       { "audio_proj.", "audio" },
        { "img_emb.proj.0.bias", "image to video" },
    };
    const int64_t in = dim(detect_find(w, p, "patch_embedding.weight"), 1);
    const char *kind = in == 48   ? "text and image to video"
                       : in == 36 ? "image to video"
                                  : "text to video";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char full[96];
        snprintf(full, sizeof(full), "%s%s", p, kinds[i].name);
        if (count_prefix(w, full)) {
            kind = kinds[i].kind;
            break;
        }
    }
    snprintf(d->detail, sizeof(d->detail), "Wan %s: %d blocks, width %lld, %lld input channels",
             kind, count_blocks(w, p, "blocks."),
             (long long) dim(detect_find(w, p, "patch_embedding.weight"), 0), (long long) in);
}

static void qwen_image_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const char *kind = detect_find(w, p, "time_text_embed.addition_t_embedding.weight") ? "-Layered"
                       : detect_find(w, p, "__index_timestep_zero__")                   ? "-Edit"
                                                                                        : "";
    snprintf(d->detail, sizeof(d->detail), "Qwen-Image%s: %d blocks, width %lld", kind,
             count_blocks(w, p, "transformer_blocks."),
             (long long) dim(detect_find(w, p, "img_in.weight"), 0));
}

static void chroma_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const bool own = detect_find(w, p, "img_in.weight") != NULL;
    snprintf(d->detail, sizeof(d->detail), "Chroma: %d double and %d single blocks, width %lld",
             count_blocks(w, p, own ? "double_blocks." : "transformer_blocks."),
             count_blocks(w, p, own ? "single_blocks." : "single_transformer_blocks."),
             (long long) dim(detect_find(w, p, own ? "img_in.weight" : "x_embedder.weight"), 0));
}

// Only SD3.5 has norms of q and k, only its medium size an attention of the image to itself.
static void sd3_detail(const nino_weights *w, const char *p, nino_detected *d)
{
    const bool own = detect_find(w, p, "x_embedder.proj.weight") != NULL;
    const int64_t width =
        dim(detect_find(w, p, own ? "x_embedder.proj.weight" : "pos_embed.proj.weight"), 0);
    const bool is_35 = detect_find(w, p,
                                   own ? "joint_blocks.0.context_block.attn.ln_q.weight"
                                       : "transformer_blocks.0.attn.norm_added_q.weight") != NULL;
    const bool has_self = detect_find(w, p,
                                      own ? "joint_blocks.0.x_block.attn2.qkv.weight"
                                          : "transformer_blocks.0.attn2.to_q.weight") != NULL;
    snprintf(d->detail, sizeof(d->detail), "Stable Diffusion 3%s: %d blocks, width %lld",
             !is_35     ? " medium"
             : has_self ? ".5 medium"
                        : ".5 large",
             count_blocks(w, p, own ? "joint_blocks." : "transformer_blocks."), (long long) width);
}

static void detect_diffusion(const nino_weights *w, nino_detected *d)
{
    static const char *const prefixes[] = { "model.diffusion_model.", "model.model.", "net." };
    const char *p = "";
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (count_prefix(w, prefixes[i]) > 5) {
            p = prefixes[i];
            break;
        }
    }
    for (size_t i = 0; i < sizeof(diffusion_rules) / sizeof(diffusion_rules[0]); i++) {
        if (!detect_find(w, p, diffusion_rules[i].name))
            continue;
        const char *family = diffusion_rules[i].family;
        const bool is_unet = !strcmp(family, "unet");
        if (!strcmp(family, "flux"))
            flux_detail(w, p, d);
        else if (!strcmp(family, "flux2"))
            flux2_detail(w, p, d);
        else if (!strcmp(family, "z_image"))
            z_image_detail(w, p, d);
        else if (!strcmp(family, "wan"))
            wan_detail(w, p, d);
        else if (!strcmp(family, "qwen_image"))
            qwen_image_detail(w, p, d);
        else if (!strcmp(family, "chroma"))
            chroma_detail(w, p, d);
        else if (!strcmp(family, "sd3"))
            sd3_detail(w, p, d);
        detect_set(d->diffusion, sizeof(d->diffusion), is_unet ? unet_family(w, p) : family);
        detect_set(d->diffusion_prefix, sizeof(d->diffusion_prefix), p);
        if (is_unet)
            unet_detail(w, p, d);
        return;
    }
}

// ---- text encoders ---------------------------------------------------------------------------
static void detect_add_text(nino_detected *d, const char *family, const char *prefix)
{
    for (int i = 0; i < 4; i++) {
        if (!strcmp(d->text[i], family))
            return;
        if (!d->text[i][0]) {
            detect_set(d->text[i], sizeof(d->text[i]), family);
            detect_set(d->text_prefix[i], sizeof(d->text_prefix[i]), prefix);
            return;
        }
    }
}

// Where below `prefix` the names of a network begin: files of several encoders put one or two words
// more before them. NULL: nothing of a text encoder is there.
static const char *find_encoder(const nino_weights *w, const char *prefix, char full[64])
{
    static const char *const words[] = { "", "transformer.", "model." };
    static const char *const embeddings[] = {
        "text_model.embeddings.token_embedding.weight",
        "embeddings.token_embedding.weight",
        "token_embedding.weight",
        "shared.weight",
        "encoder.embed_tokens.weight",
        "model.embed_tokens.weight",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        snprintf(full, 64, "%s%s", prefix, words[i]);
        for (size_t k = 0; k < sizeof(embeddings) / sizeof(embeddings[0]); k++)
            if (detect_find(w, full, embeddings[k]))
                return full;
    }
    return NULL;
}

// The real ones differ in depth and width. A small test model counts as CLIP-L.
static const char *clip_family(const nino_weights *w, const char *p)
{
    const nino_tensor_info *q =
        detect_find(w, p, "text_model.encoder.layers.0.self_attn.q_proj.weight");
    const int n = count_blocks(w, p, q ? "text_model.encoder.layers." : "transformer.resblocks.");
    const int64_t width = dim(q ? q : detect_find(w, p, "ln_final.weight"), 0);
    if (n > 30 || width == 1280)
        return "clip_g";
    return n > 22 || width == 1024 ? "clip_h" : "clip_l";
}

// Of the language models, those that are read; "llm" is another.
static const char *llm_family(const nino_weights *w, const char *p)
{
    static const char *const foreign[] = {
        "model.layers.0.pre_feedforward_layernorm.weight", // Gemma
        "model.layers.0.linear_attn.in_proj_qkvz.weight",  // Qwen3-Next
    };
    const char *pre = nino_weights_meta(w, "tokenizer.ggml.pre");
    const int64_t width = dim(detect_find(w, p, "model.embed_tokens.weight"), 1);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (detect_find(w, p, foreign[i]))
            return "llm";
    if (!detect_find(w, p, "model.layers.0.mlp.gate_proj.weight")) // a mixture of experts
        return "llm";
    if (detect_find(w, p, "model.layers.0.self_attn.k_proj.bias"))
        return "qwen25_vl";
    if (detect_find(w, p, "model.layers.0.self_attn.q_norm.weight"))
        return count_prefix(w, "model.visual.") || count_prefix(w, "visual.") ? "llm" : "qwen3";
    if (width == 5120 || detect_find(w, p, "tekken_model") || (pre && !strcmp(pre, "tekken")))
        return "mistral3";
    return "llm";
}

// A file of one encoder.
static void detect_bare_text(const nino_weights *w, nino_detected *d)
{
    if (detect_find(w, "", "text_model.encoder.layers.0.self_attn.q_proj.weight") ||
        detect_find(w, "", "transformer.resblocks.0.attn.in_proj_weight"))
        detect_add_text(d, clip_family(w, ""), "");
    if (detect_find(w, "", "encoder.block.0.layer.0.SelfAttention.q.weight")) {
        // T5 has one position table for all layers, UMT5 one in each
        const bool each = detect_find(
            w, "", "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight");
        detect_add_text(d, each ? "umt5" : "t5", "");
    }
    if (detect_find(w, "", "visual.patch_embed.proj.weight") &&
        !detect_find(w, "", "model.embed_tokens.weight"))
        detect_add_text(d, "qwen25_vision", "");
    if (!d->text[0][0] && detect_find(w, "", "model.layers.0.self_attn.q_proj.weight"))
        detect_add_text(d, llm_family(w, ""), "");
}

static void detect_text(const nino_weights *w, nino_detected *d)
{
    static const struct {
        const char *prefix, *family; // NULL: by size
    } parts[] = {
        { "cond_stage_model.transformer.", NULL },
        { "cond_stage_model.model.", "clip_h" }, // OpenCLIP, SD2
        { "conditioner.embedders.0.transformer.", "clip_l" },
        { "conditioner.embedders.0.model.", "clip_g" }, // SDXL refiner
        { "conditioner.embedders.1.model.", "clip_g" },
        { "text_encoders.clip_l.", "clip_l" },
        { "text_encoders.clip_g.", "clip_g" },
        { "text_encoders.t5xxl.", "t5" },
        { "text_encoders.umt5xxl.", "umt5" },
        { "text_encoders.qwen3_4b.", "qwen3" },
        { "text_encoders.qwen3_8b.", "qwen3" },
        { "text_encoders.mistral3_24b.", "mistral3" },
        { "text_encoders.qwen25_7b.", "qwen25_vl" },
        { "vision_model.", "clip_vision" },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char full[64];
        if (!count_prefix(w, parts[i].prefix))
            continue;
        const char *p = find_encoder(w, parts[i].prefix, full);
        p = p ? p : parts[i].prefix;
        detect_add_text(d, parts[i].family ? parts[i].family : clip_family(w, p), p);
    }
    detect_bare_text(w, d);
}

// ---- VAEs ------------------------------------------------------------------------------------
static const char *tiny_family(int64_t channels)
{
    return channels == 16 ? "taef1" : channels == 32 ? "taef2" : "taesd";
}

static const char *kl_family(const nino_weights *w, const char *p, const nino_detected *d,
                             int64_t z)
{
    const bool has_four_levels = detect_find(w, p, "decoder.up.3.block.0.norm1.weight") ||
                                 detect_find(w, p, "encoder.down.2.downsample.conv.weight") ||
                                 detect_find(w, p, "decoder.up_blocks.3.resnets.0.norm1.weight");
    if (z == 4 && !has_four_levels)
        return "sd_x4";
    if (z == 4) // SD1 and SDXL have the same shapes: the rest of the checkpoint decides
        return !strcmp(d->diffusion, "sdxl") || !strcmp(d->diffusion, "sdxl_refiner") ||
                       count_prefix(w, "conditioner.embedders.1.")
                   ? "sdxl"
                   : "sd1";
    if (z == 16)
        return !strcmp(d->diffusion, "sd3") ? "sd3" : "flux";
    if (z == 32)
        return detect_find(w, p, "bn.running_mean") ? "flux2" : "hunyuan_image_refiner";
    return z == 64 ? "hunyuan_image" : "kl";
}

static bool detect_vae_at(const nino_weights *w, const char *p, nino_detected *d)
{
    const char *family = NULL;
    const nino_tensor_info *in = detect_find(w, p, "decoder.conv_in.weight");
    if (!in)
        in = detect_find(w, p, "encoder.conv_in.weight");
    if (detect_find(w, p, "decoder.middle.0.residual.0.gamma"))
        family = detect_find(w, p, "decoder.upsamples.0.upsamples.0.residual.2.weight") ? "wan22"
                                                                                        : "wan21";
    else if (detect_find(w, p, "decoder.mid_block.resnets.0.norm1.gamma"))
        family = detect_find(w, p, "decoder.up_blocks.0.upsampler.resample.1.weight") ? "wan22"
                                                                                      : "wan21";
    else if (detect_find(w, p, "decoder.up_blocks.0.res_blocks.0.conv1.conv.weight"))
        family = "ltxv";
    else if (detect_find(w, p, "decoder.22.bias") || detect_find(w, p, "decoder.3.conv.0.weight") ||
             detect_find(w, p, "encoder.4.conv.0.weight"))
        family = "taehv";
    else if (in && in->rank == 5)
        family = "hunyuan_video";
    else if (in && in->rank == 4) {
        const nino_tensor_info *dec = detect_find(w, p, "decoder.conv_in.weight");
        const nino_tensor_info *out = detect_find(w, p, "encoder.conv_out.weight");
        family = kl_family(w, p, d, dec ? dim(dec, 1) : dim(out, 0) / 2);
    }
    if (!family)
        return false;
    detect_set(d->vae, sizeof(d->vae), family);
    detect_set(d->vae_prefix, sizeof(d->vae_prefix), p);
    return true;
}

static bool detect_vae_tiny(const nino_weights *w, nino_detected *d)
{
    const nino_tensor_info *dec = detect_find(w, "", "taesd_decoder.1.weight");
    const nino_tensor_info *enc = detect_find(w, "", "taesd_encoder.0.weight");
    int64_t channels = dec ? dim(dec, 1) : 0;
    if (dec || enc) {
        detect_set(d->vae_prefix, sizeof(d->vae_prefix), "taesd_");
    } else if (detect_find(w, "", "3.conv.0.weight") && !detect_find(w, "", "0.weight")) {
        channels = dim(detect_find(w, "", "1.weight"), 1); // a bare decoder starts with the clamp
    } else if (!(detect_find(w, "", "1.conv.0.weight") &&
                 dim(detect_find(w, "", "0.weight"), 1) == 3)) {
        return false;
    }
    for (int i = 0; !channels && i < nino_weights_count(w); i++) { // encoder alone: its last layer
        const nino_tensor_info *t = nino_weights_at(w, i);
        int layer;
        const char *name = t->name + (enc ? strlen("taesd_encoder.") : 0);
        if (t->rank == 4 && sscanf(name, "%d.weight", &layer) == 1 && t->dim[0] < t->dim[1])
            channels = t->dim[0];
    }
    detect_set(d->vae, sizeof(d->vae), tiny_family(channels));
    return true;
}

static void detect_vae(const nino_weights *w, nino_detected *d)
{
    if (detect_vae_tiny(w, d) || detect_vae_at(w, "first_stage_model.", d) ||
        detect_vae_at(w, "vae.", d))
        return;
    if (!d->diffusion[0] && !d->text[0][0])
        detect_vae_at(w, "", d);
}

// ---- LoRA and quantisation -------------------------------------------------------------------
static bool detect_lora(const nino_weights *w, nino_detected *d)
{
    static const struct {
        const char *part, *dialect;
    } dialects[] = {
        { ".lora_down.weight", "kohya" },
        { ".lora_A.weight", "PEFT" },
        { ".lora_A.default.weight", "PEFT" },
        { "_lora.down.weight", "diffusers" },
        { ".lora.down.weight", "diffusers" },
        { ".lora_linear_layer.down.weight", "diffusers" },
        { ".lora_A", "PEFT" },
        { ".hada_w1_a", "LoHa" },
        { ".lokr_w1", "LoKr" },
        { ".lokr_w1_a", "LoKr" },
        { ".oft_blocks", "OFT" },
        { ":down", "index" },
    };
    int found = 0;
    const char *dialect = NULL;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const char *name = nino_weights_at(w, i)->name;
        for (size_t k = 0; k < sizeof(dialects) / sizeof(dialects[0]); k++) {
            if (!ends_with(name, dialects[k].part))
                continue;
            found++;
            dialect = dialect ? dialect : dialects[k].dialect;
            break;
        }
    }
    if (found)
        snprintf(d->detail, sizeof(d->detail), "LoRA, %s names, %d layers", dialect, found);
    return found > 0;
}

static void detect_quantisation(const nino_weights *w, nino_detected *d)
{
    uint64_t bytes[NINO_DTYPE_COUNT] = { 0 };
    bool is_scaled = false, is_nf4 = false, is_nvfp4 = false;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        if (t->rank >= 2)
            bytes[t->dtype] += t->bytes;
        is_nf4 |= strstr(t->name, ".quant_state.bitsandbytes__") != NULL;
        is_nvfp4 |= t->dtype == NINO_F32 && ends_with(t->name, ".weight_scale_2");
        is_scaled |= ends_with(t->name, "scaled_fp8") || ends_with(t->name, ".scale_weight") ||
                     ends_with(t->name, ".weight_scale") || ends_with(t->name, ".comfy_quant");
    }
    const char *kind = "none";
    nino_dtype most = NINO_F32; // of the block types
    for (int t = 0; t < NINO_DTYPE_COUNT; t++)
        if (nino_dtype_is_block((nino_dtype) t) &&
            bytes[t] > bytes[most] * nino_dtype_is_block(most))
            most = (nino_dtype) t;
    if (nino_dtype_is_block(most))
        kind = nino_dtype_name(most);
    else if (is_nf4)
        kind = "4 bit, bitsandbytes";
    else if (is_nvfp4 && bytes[NINO_U8]) // two in a byte; their scales are 8-bit floats
        kind = "nvfp4";
    else if (bytes[NINO_F4])
        kind = "fp4";
    else if (bytes[NINO_F8_E4M3] || bytes[NINO_F8_E4M3FNUZ])
        kind = is_scaled ? "fp8 e4m3fn scaled" : "fp8 e4m3fn";
    else if (bytes[NINO_F8_E5M2] || bytes[NINO_F8_E5M2FNUZ])
        kind = is_scaled ? "fp8 e5m2 scaled" : "fp8 e5m2";
    else if (bytes[NINO_I8])
        kind = is_scaled ? "int8 scaled" : "int8";
    detect_set(d->quantisation, sizeof(d->quantisation), kind);
}

void nino_detect(const nino_weights *w, nino_detected *out)
{
    memset(out, 0, sizeof(*out));
    detect_quantisation(w, out);
    out->is_lora = detect_lora(w, out);
    if (out->is_lora)
        return;
    nino_detect_control(w, out);
    // the way down of a control network looks like a diffusion model's; one may lie beside it
    if (out->control[0] && !nino_weights_bytes(w, "model.diffusion_model."))
        return;
    detect_diffusion(w, out);
    detect_text(w, out);
    detect_vae(w, out);
    if (!out->diffusion[0] && !out->text[0][0] && !out->vae[0])
        nino_detect_upscale(w, out);
}
