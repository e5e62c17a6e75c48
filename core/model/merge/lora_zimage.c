// Names of a Z-Image transformer's layers in the other dialect than its file's: q, k and v are one
// layer or three. Table: ComfyUI utils.py (z_image_to_diffusers).
#include "core/model/merge/lora_map.h"

#include "core/model/loader.h"

typedef struct zimage_pair {
    const char *own;
    int row; // in widths, of the fused layer
    const char *diffusers;
    int rows; // in widths; 0: all
} zimage_pair;

static const zimage_pair zimage_in_block[] = {
    { "attention.qkv", 0, "attention.to_q", 1 },
    { "attention.qkv", 1, "attention.to_k", 1 },
    { "attention.qkv", 2, "attention.to_v", 1 },
    { "attention.out", 0, "attention.to_out.0", 0 },
    { "attention.q_norm", 0, "attention.norm_q", 0 },
    { "attention.k_norm", 0, "attention.norm_k", 0 },
};

static const zimage_pair zimage_ends[] = {
    { "x_embedder", 0, "all_x_embedder.2-1", 0 },
    { "final_layer.linear", 0, "all_final_layer.2-1.linear", 0 },
    { "final_layer.adaLN_modulation.1", 0, "all_final_layer.2-1.adaLN_modulation.1", 0 },
};

typedef struct zimage_map {
    lora_map *m;
    const nino_weights *file;
    const char *prefix;
    bool is_diffusers;
    int64_t width;
} zimage_map;

static void zimage_add_pairs(const zimage_map *z, const char *base, const zimage_pair *list,
                             size_t n)
{
    for (const zimage_pair *p = list; p < list + n; p++) {
        const char *own = z->is_diffusers ? p->diffusers : p->own;
        const char *other = z->is_diffusers ? p->own : p->diffusers;
        const int64_t row = p->row * z->width;
        lora_map_add(z->m, z->file, nino_name_of("%s%s%s.weight", z->prefix, base, own).s, "",
                     nino_name_of("%s%s", base, other).s, z->is_diffusers ? 0 : row,
                     p->rows * z->width, z->is_diffusers ? row : 0);
    }
}

void lora_map_zimage(lora_map *m, const nino_weights *file, const char *prefix)
{
    static const char *const stems[] = { "layers.", "noise_refiner.", "context_refiner." };
    const nino_loader l = { .file = (nino_weights *) file, .prefix = prefix };
    zimage_map z = { .m = m, .file = file, .prefix = prefix };
    z.is_diffusers = nino_load_has(&l, "all_x_embedder.2-1.weight");
    const nino_tensor_info *t =
        nino_weights_find(file, nino_name_of("%scap_embedder.1.weight", prefix).s);
    z.width = t && t->rank ? t->dim[0] : 0;
    for (size_t k = 0; k < sizeof(stems) / sizeof(stems[0]); k++)
        for (int i = 0, n = nino_load_count(&l, stems[k]); i < n; i++)
            zimage_add_pairs(&z, nino_name_of("%s%d.", stems[k], i).s, zimage_in_block,
                             sizeof(zimage_in_block) / sizeof(zimage_in_block[0]));
    zimage_add_pairs(&z, "", zimage_ends, sizeof(zimage_ends) / sizeof(zimage_ends[0]));
}
