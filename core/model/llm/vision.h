// Internal: Qwen2.5-VL's eyes: from a picture to rows that stand in a prompt like words. Patches of
// 14x14 pixels, four of which make a cell (a row of the result); layers look at windows of 4x4
// cells, some at the whole picture.
// Thread-safety: immutable after loading; used by one stream at a time.
#pragma once
#include "core/model/loader.h"
#include "core/op/stream.h"

typedef struct nino_vision_layer {
    nino_norm norm1, norm2;
    nino_linear q, k, v, proj;
    nino_linear gate, up, down;
} nino_vision_layer;

typedef struct nino_vision {
    int width, n_layers, heads;
    int out_width;     // of the language model
    nino_linear patch; // of a patch's 3*14*14 values
    nino_norm merge_norm;
    nino_linear merge[2];
    nino_vision_layer *layer;
} nino_vision;

// The network called l->prefix + "visual." + its names, for a language model `width` wide. NULL
// after a failure, which names the tensor.
nino_vision *nino_vision_load(nino_loader *l, int width);

#define NINO_VISION_GROUPS 4

// How a picture is cut up. Cells of a window lie together, and windows of the same size: inside,
// at the right, at the bottom, in the corner.
typedef struct nino_vision_grid {
    int rows, cols; // of cells
    int32_t *cell;  // [rows*cols]: cell in the picture, row by row, of each place; malloc'd
    int n_groups;
    struct {
        int64_t windows, cells; // cells of one
    } group[NINO_VISION_GROUPS];
} nino_vision_grid;

// Of a picture of so many pixels, which is scaled to whole cells of 28x28; at least 3136 pixels.
// False: no memory.
bool nino_vision_grid_make(nino_vision_grid *g, int64_t height, int64_t width);
void nino_vision_grid_release(nino_vision_grid *g);
// A picture f32 [1,H,W,3 or more] 0..1 as patches [1,P,3*14*14] in the grid's order, four of a cell
// together; NULL: no memory.
nino_array *nino_vision_patches(const nino_vision_grid *g, const nino_array *picture);
// f32 [1,P,width] behind the first n layers.
nino_tensor *nino_vision_states(nino_stream *s, const nino_vision *v, const nino_vision_grid *g,
                                const nino_array *patches, int n);
// All of it: f32 [rows*cols,out_width], cells row by row. On a plan stream zeros.
nino_status nino_vision_see(nino_stream *s, const nino_vision *v, const nino_vision_grid *g,
                            const nino_array *picture, nino_array **out, nino_error *err);
