// Internal: one weight tensor of a model. It names a tensor of a file; a backend reads, converts
// and packs it the first time an op needs it there ("packed at load"), so a model can be described
// without touching its data (plan, inspect).
#pragma once
#include "core/file/weights.h"
#include "core/op/op.h"

// What the weight is used as; decides how a backend packs it.
typedef enum nino_weight_role {
    NINO_W_MATRIX, // [N,C], [N,C,1,1] or [N,C,1,1,1] (linear, 1x1)
    NINO_W_CONV3,  // [N,C,3,3]
    NINO_W_CONV3D, // [N,C,3,3,3]: time, height, width
    NINO_W_CONV_T, // [N,C,3,1,1]
    NINO_W_VECTOR, // [N] or [N,1,1..]: bias, gamma, beta; always f32 on the device
    // To ask for only, such a weight becomes a MATRIX: a convolution as far apart as it is wide, of
    // any rank, [N,C,..] read as [N,C*..].
    NINO_W_PATCH
} nino_weight_role;

// Rows and columns of one file tensor. Lives as long as the file.
typedef struct nino_weight_range {
    nino_weights *file; // that has the tensor; borrowed
    const nino_tensor_info *info;
    int64_t row0, rows, col0, cols;
    nino_factors scale; // of scaled 8-bit numbers
} nino_weight_range;

// Rows of a tensor somewhere in a weight that is zero elsewhere.
typedef struct nino_weight_place {
    nino_weights *file; // borrowed
    const nino_tensor_info *info;
    int64_t row0, rows, col0, cols; // of the weight
    int64_t first;                  // the tensor's row for row0
} nino_weight_place;

struct nino_weight {
    nino_weights *file;           // owned reference; NULL when data is set
    const nino_tensor_info *info; // of the first range; lives as long as file
    nino_array *data;             // in-memory alternative (tests, merged weights); f32 or f16
    nino_weight_role role;
    int64_t n, c;     // rows, columns per tap (vectors: c = 1)
    nino_dtype dtype; // as stored; f32 where ranges differ or are scaled
    bool is_rounded;  // values are rounded to dtype, which is narrower than stored
    bool is_made;     // its values are made for each op that uses it, and given up after it
    nino_dtype
        kept; // what a backend is about to keep its values as (nino_sched_kept()); F32: as ever
    struct nino_resident *resident; // where backends keep it; guarded by a global lock
    // What a LoRA adds to a weight that stays quantised: layers add up(down(x)) to their sum. down
    // has the role of the weight and as many rows as up has columns; owned, NULL: nothing.
    nino_weight *up, *down;
    nino_weight_place *place; // n_places of them, instead of ranges
    int n_places;
    int n_ranges;              // 0 with data or places
    nino_weight_range range[]; // their rows, one below the other, are the weight
};

static inline int nino_weight_role_taps(nino_weight_role role)
{
    return role == NINO_W_CONV3 ? 9 : role == NINO_W_CONV3D ? 27 : role == NINO_W_CONV_T ? 3 : 1;
}
static inline int nino_weight_taps(const nino_weight *w) { return nino_weight_role_taps(w->role); }

// Looks up prefix+name, checks its shape against the role (n or c < 0: any) and fills *out.
// required false: *out stays NULL when it is absent. Errors name the file and tensor, kind "model".
nino_status nino_weight_get(nino_weights *file, const char *prefix, const char *name,
                            nino_weight_role role, int64_t n, int64_t c, bool required,
                            nino_weight **out, nino_error *err);
// A piece of a weight that is stored another way than the model uses it: fused q, k and v that are
// wanted one by one, separate ones that are wanted fused, halves in the other order.
typedef struct nino_weight_part {
    const char *name;   // after the prefix
    int64_t row0, rows; // rows < 1: to the last one
    int64_t col0, cols; // cols < 1: to the last one; columns of a tap
} nino_weight_part;

// Of a view of a quantised file that a LoRA made, w->up and w->down are set where that is all.
// The same as nino_weight_get() with the rows of n_parts pieces, one below the other; they need
// equal columns. required false: *out stays NULL when the first tensor is absent.
nino_status nino_weight_get_parts(nino_weights *file, const char *prefix,
                                  const nino_weight_part *parts, int n_parts, nino_weight_role role,
                                  int64_t n, int64_t c, bool required, nino_weight **out,
                                  nino_error *err);
// Takes a reference to a. NULL: no memory, or the shape or type does not fit the role.
nino_weight *nino_weight_from_array(nino_array *a, nino_weight_role role);
void nino_weight_destroy(nino_weight **w); // also drops it from every backend; NULL-safe

// From now on it has the values it would have if the file had stored this type (f16, bf16, 8-bit
// float), which is what a narrower weight_dtype asks for. Before its first use only.
void nino_weight_round_to(nino_weight *w, nino_dtype type);
// Values in the order [n][tap][c] as f32 (taps row-major kt,ky,kx), for packing. dst: n * taps * c
// floats.
nino_status nino_weight_read_rows(const nino_weight *w, float *dst, nino_error *err);
// The same for rows first ... first + rows - 1 alone.
nino_status nino_weight_read_part(const nino_weight *w, int64_t first, int64_t rows, float *dst,
                                  nino_error *err);

// Whether all its rows can be read as they are stored: one tap, whole rows of contiguous tensors of
// one type, neither scaled nor rounded nor changed by a view.
bool nino_weight_is_stored(const nino_weight *w);
// Rows of such a weight in its own type, [n][c].
nino_status nino_weight_read_stored(const nino_weight *w, int64_t first, int64_t rows, void *dst,
                                    nino_error *err);

// ---- the small structs that models are made of ----------------------------------------------
typedef struct nino_linear {
    nino_weight *w, *b; // b may be NULL
    nino_act act;
} nino_linear;

typedef struct nino_conv {
    nino_weight *w, *b; // b may be NULL; kernel size comes from w->role
    int stride;         // 0 means 1
    nino_pad pad;
    bool upsample2x, each_image; // see nino_op_attr
    nino_act act;
} nino_conv;

typedef struct nino_norm {
    nino_weight *gamma, *beta;
    int groups;
    float eps;
} nino_norm;

// Loaders for the structs: prefix + name + ".weight" / ".bias"; bias is optional in the file. Sizes
// are inferred; pass cin >= 0 to insist on it.
nino_status nino_linear_get(nino_weights *f, const char *prefix, const char *name, int64_t cin,
                            nino_linear *out, nino_error *err);
// The parts' names come without ".weight" and ".bias"; all or none of them have a bias, which is
// taken whole where a part only restricts columns.
nino_status nino_linear_get_parts(nino_weights *f, const char *prefix,
                                  const nino_weight_part *parts, int n_parts, int64_t cin,
                                  nino_linear *out, nino_error *err);
nino_status nino_conv_get(nino_weights *f, const char *prefix, const char *name, int64_t cin,
                          nino_conv *out, nino_error *err);
nino_status nino_norm_get(nino_weights *f, const char *prefix, const char *name, int groups,
                          float eps, nino_norm *out, nino_error *err);
void nino_linear_release(nino_linear *l);
void nino_conv_release(nino_conv *c);
void nino_norm_release(nino_norm *n);
