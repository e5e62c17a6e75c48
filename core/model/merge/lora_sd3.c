// Names of a Stable Diffusion 3 transformer's layers in the other dialect than its file's: q, k and
// v are one layer or three, and the order of two vectors differs. Table: ComfyUI utils.py
// (mmdit_to_diffusers).
#include "core/model/merge/lora_map.h"

#include "core/model/loader.h"

// In joint_blocks.N or transformer_blocks.N.
static const lora_pair sd3_in_block[] = {
    { "x_block.attn.qkv", 0, "attn.to_q", 0, 1 },
    { "x_block.attn.qkv", 1, "attn.to_k", 0, 1 },
    { "x_block.attn.qkv", 2, "attn.to_v", 0, 1 },
    { "context_block.attn.qkv", 0, "attn.add_q_proj", 0, 1 },
    { "context_block.attn.qkv", 1, "attn.add_k_proj", 0, 1 },
    { "context_block.attn.qkv", 2, "attn.add_v_proj", 0, 1 },
    { "x_block.attn2.qkv", 0, "attn2.to_q", 0, 1 },
    { "x_block.attn2.qkv", 1, "attn2.to_k", 0, 1 },
    { "x_block.attn2.qkv", 2, "attn2.to_v", 0, 1 },
    { "x_block.attn.proj", 0, "attn.to_out.0", 0, 0 },
    { "x_block.attn2.proj", 0, "attn2.to_out.0", 0, 0 },
    { "context_block.attn.proj", 0, "attn.to_add_out", 0, 0 },
    { "x_block.attn.ln_q", 0, "attn.norm_q", 0, 0 },
    { "x_block.attn.ln_k", 0, "attn.norm_k", 0, 0 },
    { "x_block.attn2.ln_q", 0, "attn2.norm_q", 0, 0 },
    { "x_block.attn2.ln_k", 0, "attn2.norm_k", 0, 0 },
    { "context_block.attn.ln_q", 0, "attn.norm_added_q", 0, 0 },
    { "context_block.attn.ln_k", 0, "attn.norm_added_k", 0, 0 },
    { "x_block.mlp.fc1", 0, "ff.net.0.proj", 0, 0 },
    { "x_block.mlp.fc2", 0, "ff.net.2", 0, 0 },
    { "context_block.mlp.fc1", 0, "ff_context.net.0.proj", 0, 0 },
    { "context_block.mlp.fc2", 0, "ff_context.net.2", 0, 0 },
    { "x_block.adaLN_modulation.1", 0, "norm1.linear", 0, 0 },
};

static const lora_pair sd3_context_mod[] = {
    { "context_block.adaLN_modulation.1", 0, "norm1_context.linear", 0, 0 },
};

static const lora_pair sd3_last_context_mod[] = {
    // the halves change places
    { "context_block.adaLN_modulation.1", 0, "norm1_context.linear", 1, 1 },
    { "context_block.adaLN_modulation.1", 1, "norm1_context.linear", 0, 1 },
};

static const lora_pair sd3_ends[] = {
    { "x_embedder.proj", 0, "pos_embed.proj", 0, 0 },
    { "t_embedder.mlp.0", 0, "time_text_embed.timestep_embedder.linear_1", 0, 0 },
    { "t_embedder.mlp.2", 0, "time_text_embed.timestep_embedder.linear_2", 0, 0 },
    { "y_embedder.mlp.0", 0, "time_text_embed.text_embedder.linear_1", 0, 0 },
    { "y_embedder.mlp.2", 0, "time_text_embed.text_embedder.linear_2", 0, 0 },
    { "final_layer.linear", 0, "proj_out", 0, 0 },
    { "final_layer.adaLN_modulation.1", 0, "norm_out.linear", 1, 1 },
    { "final_layer.adaLN_modulation.1", 1, "norm_out.linear", 0, 1 },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void lora_map_sd3(lora_map *m, const nino_weights *file, const char *prefix)
{
    const nino_loader l = { .file = (nino_weights *) file, .prefix = prefix };
    lora_dialects d = { .file = file, .prefix = prefix };
    d.is_diffusers = !nino_load_has(&l, "x_embedder.proj.weight");
    const char *in = d.is_diffusers ? "pos_embed.proj.weight" : "x_embedder.proj.weight";
    const nino_tensor_info *t = nino_weights_find(file, nino_name_of("%s%s", prefix, in).s);
    d.hidden = t && t->rank ? t->dim[0] : 0;
    const int n = nino_load_count(&l, d.is_diffusers ? "transformer_blocks." : "joint_blocks.");
    for (int i = 0; i < n; i++) {
        const nino_name own = nino_name_of("joint_blocks.%d.", i);
        const nino_name diffusers = nino_name_of("transformer_blocks.%d.", i);
        lora_map_pairs(m, &d, own.s, diffusers.s, sd3_in_block, COUNT(sd3_in_block));
        if (i + 1 < n)
            lora_map_pairs(m, &d, own.s, diffusers.s, sd3_context_mod, COUNT(sd3_context_mod));
        else
            lora_map_pairs(m, &d, own.s, diffusers.s, sd3_last_context_mod,
                           COUNT(sd3_last_context_mod));
    }
    lora_map_pairs(m, &d, "", "", sd3_ends, COUNT(sd3_ends));
}
