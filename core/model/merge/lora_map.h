// Private to core/model/lora*.c: which layer of a network each name in a LoRA file means.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "core/model/clip/text_encoder.h"
#include "core/model/lora/lora_key.h"

// A name, and the rows of a tensor that it stands for. Names that mean more than one tensor (fused
// layers that the file has apart) have several, one for each part of the change.
typedef struct lora_place {
    const char *key;          // canonical
    const nino_weights *file; // borrowed
    const nino_tensor_info *tensor;
    int64_t row0, rows; // of the tensor
    int64_t from;       // the row of the change that goes to row0
    int order;          // as added
} lora_place;

typedef struct lora_map {
    struct nino_arena *arena;
    lora_place *place;
    int n, room;
    bool is_failed; // out of memory
} lora_map;

nino_status lora_map_diffusion(lora_map *m, const nino_diffusion *d, nino_error *err);
// The file that an encoder of c was loaded from, without the LoRAs it may have.
nino_weights *lora_file_of(const nino_clip *c, const nino_encoder *e);
nino_status lora_map_clip(lora_map *m, const nino_clip *c, nino_error *err);
// The places of a layer's name, *n of them; NULL: unknown.
const lora_place *lora_map_find(const lora_map *m, const char *name, size_t len, int *n);
void lora_map_release(lora_map *m);

// ---- for those that fill it -----------------------------------------------------------------
// prefix + stem in any notation; rows < 1: to the tensor's last. Where there is no such tensor,
// nothing is added.
void lora_map_add(lora_map *m, const nino_weights *file, const char *tensor, const char *prefix,
                  const char *stem, int64_t row0, int64_t rows, int64_t from);
// Another name for what `from` stands for so far, or for the first rows of it (rows > 0).
void lora_map_alias(lora_map *m, const char *from, const char *to, int64_t rows);
// A layer, or rows of one, in the notation of its authors and in that of diffusers.
typedef struct lora_pair {
    const char *own;
    int own_row; // in hidden widths
    const char *diffusers;
    int diffusers_row;
    int rows; // in hidden widths, 0: to the end
} lora_pair;
typedef struct lora_dialects { // what a file has
    const nino_weights *file;
    const char *prefix;
    bool is_diffusers;
    int64_t hidden;
} lora_dialects;
// The names of n layers in the dialect that the file does not have.
void lora_map_pairs(lora_map *m, const lora_dialects *d, const char *own_base,
                    const char *diffusers_base, const lora_pair *list, size_t n);
// Length of a tensor's name without ".weight" or ".scale"; 0: it has no such ending.
size_t lora_map_stem(const char *name);
void lora_map_unet(lora_map *m, const nino_weights *file, const char *prefix); // lora_unet.c
// After the last: sorts. Errors: NINO_ERR_NOMEM, also of what was added before.
nino_status lora_map_finish(lora_map *m, const char *where, nino_error *err);
void lora_map_flux(lora_map *m, const nino_weights *file, const char *prefix); // lora_flux.c
void lora_map_wan(lora_map *m, const nino_weights *file, const char *prefix);  // lora_wan.c
void lora_map_sd3(lora_map *m, const nino_weights *file, const char *prefix);  // lora_sd3.c
void lora_map_zimage(lora_map *m, const nino_weights *file, const char *prefix);
