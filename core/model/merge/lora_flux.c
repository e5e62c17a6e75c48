// Names of a FLUX.1 or FLUX.2 transformer's layers in the other dialect than its file's. The two fuse them
// differently. Tables: huggingface/diffusers convert_flux_to_diffusers.py, XLabs-AI/x-flux. FLUX.2's
// names are those that ComfyUI 0.29.0 knows (utils.py, flux_to_diffusers).
#include "core/model/merge/lora_map.h"

#include "core/model/loader.h"

// In double_blocks.N or transformer_blocks.N.
static const lora_pair doubles[] = {
    { "img_attn.qkv", 0, "attn.to_q", 0, 1 },
    { "img_attn.qkv", 1, "attn.to_k", 0, 1 },
    { "img_attn.qkv", 2, "attn.to_v", 0, 1 },
    { "txt_attn.qkv", 0, "attn.add_q_proj", 0, 1 },
    { "txt_attn.qkv", 1, "attn.add_k_proj", 0, 1 },
    { "txt_attn.qkv", 2, "attn.add_v_proj", 0, 1 },
    { "img_attn.proj", 0, "attn.to_out.0", 0, 0 },
    { "txt_attn.proj", 0, "attn.to_add_out", 0, 0 },
    { "img_mod.lin", 0, "norm1.linear", 0, 0 },
    { "txt_mod.lin", 0, "norm1_context.linear", 0, 0 },
    { "img_mlp.0", 0, "ff.net.0.proj", 0, 0 },
    { "img_mlp.2", 0, "ff.net.2", 0, 0 },
    { "txt_mlp.0", 0, "ff_context.net.0.proj", 0, 0 },
    { "txt_mlp.2", 0, "ff_context.net.2", 0, 0 },
    { "img_mlp.0", 0, "ff.linear_in", 0, 0 }, // FLUX.2
    { "img_mlp.2", 0, "ff.linear_out", 0, 0 },
    { "txt_mlp.0", 0, "ff_context.linear_in", 0, 0 },
    { "txt_mlp.2", 0, "ff_context.linear_out", 0, 0 },
    { "img_attn.norm.query_norm", 0, "attn.norm_q", 0, 0 },
    { "img_attn.norm.key_norm", 0, "attn.norm_k", 0, 0 },
    { "txt_attn.norm.query_norm", 0, "attn.norm_added_q", 0, 0 },
    { "txt_attn.norm.key_norm", 0, "attn.norm_added_k", 0, 0 },
};

// In single_blocks.N or single_transformer_blocks.N.
static const lora_pair singles[] = {
    { "linear1", 0, "attn.to_q", 0, 1 },
    { "linear1", 1, "attn.to_k", 0, 1 },
    { "linear1", 2, "attn.to_v", 0, 1 },
    { "linear1", 3, "proj_mlp", 0, 0 },
    { "linear2", 0, "proj_out", 0, 0 },
    { "linear1", 0, "attn.to_qkv_mlp_proj", 0, 0 }, // FLUX.2
    { "linear2", 0, "attn.to_out", 0, 0 },
    { "modulation.lin", 0, "norm.linear", 0, 0 },
    { "norm.query_norm", 0, "attn.norm_q", 0, 0 },
    { "norm.key_norm", 0, "attn.norm_k", 0, 0 },
};

static const lora_pair ends[] = {
    { "img_in", 0, "x_embedder", 0, 0 },
    { "txt_in", 0, "context_embedder", 0, 0 },
    { "time_in.in_layer", 0, "time_text_embed.timestep_embedder.linear_1", 0, 0 },
    { "time_in.out_layer", 0, "time_text_embed.timestep_embedder.linear_2", 0, 0 },
    { "vector_in.in_layer", 0, "time_text_embed.text_embedder.linear_1", 0, 0 },
    { "vector_in.out_layer", 0, "time_text_embed.text_embedder.linear_2", 0, 0 },
    { "guidance_in.in_layer", 0, "time_text_embed.guidance_embedder.linear_1", 0, 0 },
    { "guidance_in.out_layer", 0, "time_text_embed.guidance_embedder.linear_2", 0, 0 },
    { "final_layer.linear", 0, "proj_out", 0, 0 },
    { "final_layer.adaLN_modulation.1", 0, "norm_out.linear", 1, 1 }, // the halves change places
    { "final_layer.adaLN_modulation.1", 1, "norm_out.linear", 0, 1 },
};

// Names of neither: trained parts of attention processors (XLabs), and q, k and v of linear1 as
// they are called when they are trained alone.
static const struct {
    const char *blocks, *name, *bfl;
    int rows; // in hidden widths, 0: all
} aliases[] = {
    { "double_blocks.", "qkv_lora1", "img_attn.qkv", 0 },
    { "double_blocks.", "qkv_lora2", "txt_attn.qkv", 0 },
    { "double_blocks.", "proj_lora1", "img_attn.proj", 0 },
    { "double_blocks.", "proj_lora2", "txt_attn.proj", 0 },
    { "single_blocks.", "qkv", "linear1", 3 },
    { "single_blocks.", "linear1_qkv", "linear1", 3 },
    { "single_blocks.", "proj", "linear2", 0 },
};

static void add_aliases(lora_map *m, int64_t hidden, int blocks)
{
    for (size_t k = 0; k < sizeof(aliases) / sizeof(aliases[0]); k++)
        for (int i = 0; i < blocks; i++) {
            const nino_name from = nino_name_of("%s%d.%s", aliases[k].blocks, i, aliases[k].bfl);
            const nino_name to = nino_name_of("%s%d.%s", aliases[k].blocks, i, aliases[k].name);
            lora_map_alias(m, from.s, to.s, aliases[k].rows * hidden);
        }
}

void lora_map_flux(lora_map *m, const nino_weights *file, const char *prefix)
{
    const nino_loader l = { .file = (nino_weights *) file, .prefix = prefix };
    lora_dialects f = { .file = file, .prefix = prefix };
    f.is_diffusers = nino_load_has(&l, "x_embedder.weight");
    const char *in = f.is_diffusers ? "x_embedder.weight" : "img_in.weight";
    const nino_tensor_info *t = nino_weights_find(file, nino_name_of("%s%s", prefix, in).s);
    f.hidden = t && t->rank ? t->dim[0] : 0;
    const char *stem[2] = { f.is_diffusers ? "transformer_blocks." : "double_blocks.",
                            f.is_diffusers ? "single_transformer_blocks." : "single_blocks." };
    const int n_doubles = nino_load_count(&l, stem[0]), n_singles = nino_load_count(&l, stem[1]);
    for (int i = 0; i < n_doubles; i++)
        lora_map_pairs(m, &f, nino_name_of("double_blocks.%d.", i).s,
                       nino_name_of("transformer_blocks.%d.", i).s, doubles,
                       sizeof(doubles) / sizeof(doubles[0]));
    for (int i = 0; i < n_singles; i++)
        lora_map_pairs(m, &f, nino_name_of("single_blocks.%d.", i).s,
                       nino_name_of("single_transformer_blocks.%d.", i).s, singles,
                       sizeof(singles) / sizeof(singles[0]));
    lora_map_pairs(m, &f, "", "", ends, sizeof(ends) / sizeof(ends[0]));
    add_aliases(m, f.hidden, n_doubles > n_singles ? n_doubles : n_singles);
}
