// Private to core/model/merge: what of LoRA files changes which rows of which tensor of a network.
#pragma once
#include "core/model/lora/lora_file.h"
#include "core/model/merge/lora_apply.h"
#include "core/model/merge/lora_map.h"

#include <pthread.h>

// The change of some rows of a tensor by one layer of one LoRA.
typedef struct lora_patch {
    const nino_tensor_info *target;
    const nino_weights *from;
    const lora_layer *layer;
    lora_kind kind;
    float strength, scale;
    int64_t row0, rows, cols; // of the target
    int64_t first;            // the change's row for row0
    int order;                // in which they are applied
    float *norms;             // of columns: made when first needed
} lora_patch;

// Everything that changes in one file; the view's private data.
typedef struct lora_patches {
    nino_weights *base;
    nino_lora_stack *stack; // what the patches point into
    lora_patch *p;          // by target and order
    int n, room;
    pthread_mutex_t lock; // of norms
} lora_patches;

// What the weights of a view are for.
typedef enum lora_use {
    LORA_TO_STORE, // values in the types of the file
    // A network whose layers multiply with quantised weights as they are and add what is of low
    // rank beside them (nino_weights_low_rank()), and have those which change otherwise made at each
    // use. Weights of 16 bits are merged, and rounded to that.
    LORA_TO_MULTIPLY,
    LORA_TO_MULTIPLY_EXACTLY // the same with weights of 16 bits, of which none is rounded
} lora_use;

// A view of file with all of a stack; *out is a reference to file itself where nothing changes.
nino_status lora_view(nino_weights *file, const lora_map *map, nino_lora_stack *s, lora_use use,
                      nino_weights **out, nino_error *err);
// One patch, on rows row0 ... row0 + rows of its target, which are in values.
nino_status lora_patch_apply(lora_patches *c, lora_patch *p, int64_t row0, int64_t rows,
                             float *values, nino_error *err);
// The first patch of t, or the one that comes after.
lora_patch *lora_first(const lora_patches *c, const nino_tensor_info *t);
// The columns that t has with its patches.
int64_t lora_width(const lora_patches *c, const nino_tensor_info *t);
// The patches of t before `until` (NULL: all) on the rows, of `width` columns, in values.
nino_status lora_patches_apply(lora_patches *c, const nino_tensor_info *t, const lora_patch *until,
                               int64_t row0, int64_t rows, int64_t width, float *values,
                               nino_error *err);
// lora_weight.c: OFT and BOFT, whole; the change of GLoRA from rows of the weight.
nino_status lora_turn(lora_patches *c, const lora_patch *p, int64_t row0, int64_t rows,
                      float *values, nino_error *err);
nino_status lora_generalised(const lora_patch *p, int64_t row0, int64_t rows, const float *values,
                             float *delta, nino_error *err);
// Rows as they are before `until` changes them.
nino_status lora_patches_read(lora_patches *c, const lora_patch *until, int64_t row0, int64_t rows,
                              float *values, nino_error *err);
