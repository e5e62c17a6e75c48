// Names of a UNet's layers in the other dialect than its file's: latent-diffusion's
// (input_blocks.4.1) and diffusers' (down_blocks.1.attentions.0). Which module is which follows
// from what the file has. Tables: huggingface/diffusers convert_original_stable_diffusion.
#include "core/model/merge/lora_map.h"

#include <stdio.h>
#include <string.h>

#include "core/model/loader.h"

#define MAX_MODULES 128 // SDXL has 50

typedef struct module { // both names of one
    nino_name ldm, diffusers;
    bool is_res;
} module;

typedef struct unet_map {
    nino_loader l;
    lora_map *m;
    bool is_diffusers;
    module module[MAX_MODULES];
    int n;
} unet_map;

// Of resnets, below the module.
static const struct {
    const char *ldm, *diffusers;
} res_leaves[] = {
    { "in_layers.0", "norm1" },          { "in_layers.2", "conv1" },
    { "emb_layers.1", "time_emb_proj" }, { "out_layers.0", "norm2" },
    { "out_layers.3", "conv2" },         { "skip_connection", "conv_shortcut" },
};

static const struct {
    const char *ldm, *diffusers;
} ends[] = {
    { "input_blocks.0.0", "conv_in" },
    { "time_embed.0", "time_embedding.linear_1" },
    { "time_embed.2", "time_embedding.linear_2" },
    { "label_emb.0.0", "add_embedding.linear_1" },
    { "label_emb.0.2", "add_embedding.linear_2" },
    { "out.0", "conv_norm_out" },
    { "out.2", "conv_out" },
};

static void add_module(unet_map *u, nino_name ldm, nino_name diffusers, bool is_res)
{
    if (u->n < MAX_MODULES)
        u->module[u->n++] = (module){ ldm, diffusers, is_res };
}

static bool lora_unet_has(const unet_map *u, const char *base, const char *leaf)
{
    return nino_load_has(&u->l, "%s.%s.weight", base, leaf);
}

static void add_block(unet_map *u, const char *ldm, const char *diffusers, int i)
{
    add_module(u, nino_name_of("%s.0", ldm), nino_name_of("%s.resnets.%d", diffusers, i), true);
    add_module(u, nino_name_of("%s.1", ldm), nino_name_of("%s.attentions.%d", diffusers, i), false);
}

// ---- a file with latent-diffusion's names ----------------------------------------------------

static void pair_down_ldm(unet_map *u)
{
    const int n = nino_load_count(&u->l, "input_blocks.");
    for (int i = 1, level = 0, k = 0; i < n; i++) {
        const nino_name ldm = nino_name_of("input_blocks.%d", i);
        const nino_name block = nino_name_of("down_blocks.%d", level);
        if (!lora_unet_has(u, ldm.s, "0.op")) {
            add_block(u, ldm.s, block.s, k++);
            continue;
        }
        add_module(u, nino_name_of("%s.0.op", ldm.s),
                   nino_name_of("%s.downsamplers.0.conv", block.s), false);
        level++;
        k = 0;
    }
}

static void pair_up_ldm(unet_map *u)
{
    const int n = nino_load_count(&u->l, "output_blocks.");
    for (int i = 0, level = 0, k = 0; i < n; i++) {
        const nino_name ldm = nino_name_of("output_blocks.%d", i);
        const nino_name block = nino_name_of("up_blocks.%d", level);
        add_block(u, ldm.s, block.s, k++);
        for (int up = 1; up < 3; up++)
            if (lora_unet_has(u, ldm.s, nino_name_of("%d.conv", up).s)) {
                add_module(u, nino_name_of("%s.%d.conv", ldm.s, up),
                           nino_name_of("%s.upsamplers.0.conv", block.s), false);
                level++;
                k = 0;
            }
    }
}

// ---- a file with diffusers' names ------------------------------------------------------------

static int count_resnets(const unet_map *u, const char *block)
{
    return nino_load_count(&u->l, nino_name_of("%s.resnets.", block).s);
}

static void pair_down_diffusers(unet_map *u)
{
    const int n = nino_load_count(&u->l, "down_blocks.");
    for (int level = 0, i = 1; level < n; level++) {
        const nino_name block = nino_name_of("down_blocks.%d", level);
        const int count = count_resnets(u, block.s);
        for (int k = 0; k < count; k++)
            add_block(u, nino_name_of("input_blocks.%d", i++).s, block.s, k);
        if (lora_unet_has(u, block.s, "downsamplers.0.conv"))
            add_module(u, nino_name_of("input_blocks.%d.0.op", i++),
                       nino_name_of("%s.downsamplers.0.conv", block.s), false);
    }
}

static void pair_up_diffusers(unet_map *u)
{
    const int n = nino_load_count(&u->l, "up_blocks.");
    for (int level = 0, i = 0; level < n; level++) {
        const nino_name block = nino_name_of("up_blocks.%d", level);
        const int count = count_resnets(u, block.s);
        for (int k = 0; k < count; k++)
            add_block(u, nino_name_of("output_blocks.%d", i++).s, block.s, k);
        const bool has_attn = lora_unet_has(u, block.s, "attentions.0.proj_in");
        if (lora_unet_has(u, block.s, "upsamplers.0.conv"))
            add_module(u, nino_name_of("output_blocks.%d.%d.conv", i - 1, has_attn ? 2 : 1),
                       nino_name_of("%s.upsamplers.0.conv", block.s), false);
    }
}

// ---- names -----------------------------------------------------------------------------------

// What comes after a module's name, in the other dialect.
static const char *other_leaf(const unet_map *u, const module *m, const char *leaf)
{
    for (size_t i = 0; m->is_res && i < sizeof(res_leaves) / sizeof(res_leaves[0]); i++) {
        const char *own = u->is_diffusers ? res_leaves[i].diffusers : res_leaves[i].ldm;
        if (!strcmp(own, leaf))
            return u->is_diffusers ? res_leaves[i].ldm : res_leaves[i].diffusers;
    }
    return leaf;
}

// The module that a stem belongs to: the one with the longest name. NULL: none.
static const module *find_module(const unet_map *u, const char *stem, size_t *len)
{
    const module *best = NULL;
    *len = 0;
    for (int i = 0; i < u->n; i++) {
        const char *own = u->is_diffusers ? u->module[i].diffusers.s : u->module[i].ldm.s;
        const size_t n = strlen(own);
        if (n > *len && !strncmp(stem, own, n) && (!stem[n] || stem[n] == '.')) {
            best = &u->module[i];
            *len = n;
        }
    }
    return best;
}

// The other name of a tensor whose name without ".weight" is stem.
static void add_other(unet_map *u, const char *tensor, const char *stem)
{
    size_t len;
    const module *m = find_module(u, stem, &len);
    if (!m)
        return;
    const char *leaf = stem[len] ? other_leaf(u, m, stem + len + 1) : "";
    lora_map_add(u->m, u->l.file, tensor, u->is_diffusers ? m->ldm.s : m->diffusers.s,
                 nino_name_of("%s%s", *leaf ? "." : "", leaf).s, 0, 0, 0);
}

void lora_map_unet(lora_map *m, const nino_weights *file, const char *prefix)
{
    unet_map u = { .l = { .file = (nino_weights *) file, .prefix = prefix }, .m = m };
    const size_t skip = strlen(prefix);
    u.is_diffusers = nino_load_has(&u.l, "conv_in.weight");
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        add_module(&u, nino_name_of("%s", ends[i].ldm), nino_name_of("%s", ends[i].diffusers),
                   false);
    add_module(&u, nino_name_of("middle_block.0"), nino_name_of("mid_block.resnets.0"), true);
    add_module(&u, nino_name_of("middle_block.1"), nino_name_of("mid_block.attentions.0"), false);
    add_module(&u, nino_name_of("middle_block.2"), nino_name_of("mid_block.resnets.1"), true);
    if (u.is_diffusers) {
        pair_down_diffusers(&u);
        pair_up_diffusers(&u);
    } else {
        pair_down_ldm(&u);
        pair_up_ldm(&u);
    }
    for (int i = 0; i < nino_weights_count(file); i++) {
        const char *name = nino_weights_at(file, i)->name;
        char stem[LORA_KEY_MAX];
        const size_t len = strncmp(name, prefix, skip) ? 0 : lora_map_stem(name + skip);
        if (len && len < sizeof(stem)) {
            snprintf(stem, sizeof(stem), "%.*s", (int) len, name + skip);
            add_other(&u, name, stem);
        }
    }
}
