// Upscale models by tensor names. The order is that of chaiNNer-org/spandrel, with which ComfyUI
// opens them: ESRGAN comes late.
#include "core/model/detect.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *family, *name[4]; // which it all has
} upscale_rules[] = {
    { NINO_UPSCALE_COMPACT, { "body.0.weight", "body.1.weight" } },
    { "Swift-SRGAN", { "initial.cnn.depthwise.weight", "final_conv.pointwise.weight" } },
    { "HAT", { "relative_position_index_SA", "layers.0.residual_group.overlap_attn.qkv.weight" } },
    { "Swin2SR",
      { "layers.0.residual_group.blocks.0.norm1.weight", "patch_embed.proj.weight",
        "layers.0.residual_group.blocks.0.attn.logit_scale" } },
    { "SwinIR",
      { "layers.0.residual_group.blocks.0.norm1.weight",
        "layers.0.residual_group.blocks.0.mlp.fc1.bias",
        "layers.0.residual_group.blocks.0.attn.relative_position_index" } },
    { "DAT", { "before_RG.1.weight", "layers.0.blocks.0.ffn.sg.conv.weight" } },
    { "SPAN", { "conv_1.sk.weight", "block_1.c1_r.eval_conv.weight", "upsampler.0.weight" } },
    { "RealCUGAN", { "unet1.conv1.conv.0.weight", "unet2.conv_bottom.weight" } },
    { NINO_UPSCALE_ESRGAN, { "model.0.weight", "model.1.sub.0.RDB1.conv1.0.weight" } },
    { NINO_UPSCALE_ESRGAN, { "model.0.weight", "model.1.sub.0.RDB1.conv1x1.weight" } },
    { NINO_UPSCALE_ESRGAN,
      { "conv_first.weight", "body.0.rdb1.conv1.weight", "conv_body.weight", "conv_last.weight" } },
    { NINO_UPSCALE_ESRGAN,
      { "conv_first.weight", "RRDB_trunk.0.RDB1.conv1.weight", "trunk_conv.weight",
        "conv_last.weight" } },
};

static bool all_begin(const nino_weights *w, const char *prefix)
{
    const int n = nino_weights_count(w);
    for (int i = 0; i < n; i++)
        if (strncmp(nino_weights_at(w, i)->name, prefix, strlen(prefix)) != 0)
            return false;
    return n > 0;
}

void nino_detect_upscale(const nino_weights *w, nino_detected *out)
{
    static const char *const words[] = { "module.", "netG." }; // training programs put before all
    char *prefix = out->upscale_prefix;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char longer[sizeof(out->upscale_prefix)];
        snprintf(longer, sizeof(longer), "%s%s", prefix, words[i]);
        if (all_begin(w, longer))
            memcpy(prefix, longer, sizeof(longer));
    }
    for (size_t i = 0; i < sizeof(upscale_rules) / sizeof(upscale_rules[0]); i++) {
        bool has = true;
        for (int k = 0; k < 4 && upscale_rules[i].name[k] && has; k++) {
            char full[128];
            snprintf(full, sizeof(full), "%s%s", prefix, upscale_rules[i].name[k]);
            has = nino_weights_find(w, full) != NULL;
        }
        if (has) {
            snprintf(out->upscale, sizeof(out->upscale), "%s", upscale_rules[i].family);
            return;
        }
    }
    prefix[0] = 0;
}
