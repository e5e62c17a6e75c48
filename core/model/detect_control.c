// Control networks by tensor names. The order is that of ComfyUI controlnet.py.
#include "core/model/detect.h"

#include <stdio.h>
#include <string.h>

// What a ControlNet checkpoint of its first kind has before all names, beside a whole SD model.
#define FIRST_PREFIX "control_model."

static const struct {
    const char *family, *prefix, *name[3]; // which it all has
} control_rules[] = {
    { "controlnet_hunyuan_dit", "", { "after_proj_list.18.bias" } },
    { NINO_CONTROL_BLOCKS, "", { "controlnet_blocks.0.y_rms.weight" } },
    { "model_patch_uso", "", { "feature_embedder.mid_layer_norm.bias" } },
    { NINO_CONTROL_ZIMAGE, "", { "control_all_x_embedder.2-1.weight" } },
    { "model_patch_multitalk",
      "",
      { "audio_proj.proj1.weight", "blocks.0.audio_cross_attn.proj.weight" } },
    { NINO_CONTROL_LORA, "", { "lora_controlnet" } },
    { NINO_CONTROL_UNION, "", { "controlnet_cond_embedding.conv_in.weight", "task_embedding" } },
    { NINO_CONTROL_UNET, "", { "controlnet_cond_embedding.conv_in.weight" } },
    { NINO_CONTROL_XLABS,
      "",
      { "controlnet_blocks.0.weight", "double_blocks.0.img_attn.norm.key_norm.scale" } },
    { "controlnet_sd35",
      "",
      { "controlnet_blocks.0.weight", "pos_embed_input.proj.weight",
        "transformer_blocks.0.adaLN_modulation.1.bias" } },
    { NINO_CONTROL_SD3, "", { "controlnet_blocks.0.weight", "pos_embed_input.proj.weight" } },
    { NINO_CONTROL_FLUX,
      "",
      { "controlnet_blocks.0.weight", "controlnet_x_embedder.weight",
        "time_text_embed.text_embedder.linear_1.weight" } },
    { NINO_CONTROL_QWEN, "", { "controlnet_blocks.0.weight", "controlnet_x_embedder.weight" } },
    { "controlnet_flux_mistoline", "", { "controlnet_blocks.0.linear.weight" } },
    { NINO_CONTROL_UNET, FIRST_PREFIX, { FIRST_PREFIX "zero_convs.0.0.weight" } },
    { NINO_CONTROL_UNET, "", { "zero_convs.0.0.weight" } },
    { NINO_CONTROL_T2I, "adapter.", { "adapter.body.0.resnets.0.block1.weight" } },
    { NINO_CONTROL_T2I, "", { "body.0.in_conv.weight", "body.0.body.0.block1.weight" } },
    { NINO_CONTROL_T2I, "", { "conv_in.weight", "body.0.block1.weight" } },
    { NINO_CONTROL_T2I, "adapter.", { "adapter.conv_in.weight", "adapter.body.0.block1.weight" } },
};

void nino_detect_control(const nino_weights *w, nino_detected *out)
{
    for (size_t i = 0; i < sizeof(control_rules) / sizeof(control_rules[0]); i++) {
        bool has = true;
        for (int k = 0; k < 3 && control_rules[i].name[k] && has; k++)
            has = nino_weights_find(w, control_rules[i].name[k]) != NULL;
        if (has) {
            snprintf(out->control, sizeof(out->control), "%s", control_rules[i].family);
            snprintf(out->control_prefix, sizeof(out->control_prefix), "%s",
                     control_rules[i].prefix);
            return;
        }
    }
}
