// Names of a Wan transformer's layers in the other dialect than its file's; both have the same
// layers. Table: huggingface/diffusers convert_wan_to_diffusers.py.
#include "core/model/merge/lora_map.h"

#include "core/model/loader.h"

#include <stdio.h>
#include <string.h>

typedef struct pair {
    const char *wan, *diffusers;
} pair;

static const pair in_block[] = {
    { "self_attn.q", "attn1.to_q" },
    { "self_attn.k", "attn1.to_k" },
    { "self_attn.v", "attn1.to_v" },
    { "self_attn.o", "attn1.to_out.0" },
    { "self_attn.norm_q", "attn1.norm_q" },
    { "self_attn.norm_k", "attn1.norm_k" },
    { "cross_attn.q", "attn2.to_q" },
    { "cross_attn.k", "attn2.to_k" },
    { "cross_attn.v", "attn2.to_v" },
    { "cross_attn.o", "attn2.to_out.0" },
    { "cross_attn.norm_q", "attn2.norm_q" },
    { "cross_attn.norm_k", "attn2.norm_k" },
    { "cross_attn.k_img", "attn2.add_k_proj" },
    { "cross_attn.v_img", "attn2.add_v_proj" },
    { "cross_attn.norm_k_img", "attn2.norm_added_k" },
    { "norm3", "norm2" },
    { "ffn.0", "ffn.net.0.proj" },
    { "ffn.2", "ffn.net.2" },
};

static const pair ends[] = {
    { "time_embedding.0", "condition_embedder.time_embedder.linear_1" },
    { "time_embedding.2", "condition_embedder.time_embedder.linear_2" },
    { "text_embedding.0", "condition_embedder.text_embedder.linear_1" },
    { "text_embedding.2", "condition_embedder.text_embedder.linear_2" },
    { "time_projection.1", "condition_embedder.time_proj" },
    { "img_emb.proj.0", "condition_embedder.image_embedder.norm1" },
    { "img_emb.proj.1", "condition_embedder.image_embedder.ff.net.0.proj" },
    { "img_emb.proj.3", "condition_embedder.image_embedder.ff.net.2" },
    { "img_emb.proj.4", "condition_embedder.image_embedder.norm2" },
    { "head.head", "proj_out" },
};

typedef struct wan_map {
    lora_map *m;
    const nino_weights *file;
    const char *prefix;
    bool is_diffusers;
} wan_map;

static void lora_wan_add_pairs(const wan_map *w, const char *base, const pair *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *own = w->is_diffusers ? list[i].diffusers : list[i].wan;
        const char *other = w->is_diffusers ? list[i].wan : list[i].diffusers;
        lora_map_add(w->m, w->file, nino_name_of("%s%s%s.weight", w->prefix, base, own).s, "",
                     nino_name_of("%s%s", base, other).s, 0, 0, 0);
    }
}

void lora_map_wan(lora_map *m, const nino_weights *file, const char *prefix)
{
    const nino_loader l = { .file = (nino_weights *) file, .prefix = prefix };
    const wan_map w = { m, file, prefix, nino_load_has(&l, "condition_embedder.time_proj.weight") };
    const int n = nino_load_count(&l, "blocks.");
    for (int i = 0; i < n; i++)
        lora_wan_add_pairs(&w, nino_name_of("blocks.%d.", i).s, in_block,
                           sizeof(in_block) / sizeof(in_block[0]));
    lora_wan_add_pairs(&w, "", ends, sizeof(ends) / sizeof(ends[0]));
}
