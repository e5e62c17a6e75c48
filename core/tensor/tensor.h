// Internal: shapes, and host arrays. (Tensors on a device belong to a stream: core/op/stream.h.)
#pragma once
#include "core/tensor/dtype.h"

#define NINO_MAX_RANK 5
#define NINO_FILE_MAX_RANK 8 // files may hold more; such tensors can be listed, not used

// Outermost dimension first. Rank 0 is a scalar with one element.
typedef struct nino_shape {
    int rank;
    int64_t dim[NINO_MAX_RANK];
} nino_shape;

nino_shape nino_shape_make(int rank, const int64_t *dim);
#define NINO_SHAPE(...)                                                                            \
    nino_shape_make((int) (sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),                  \
                    (int64_t[]){ __VA_ARGS__ })
int64_t nino_shape_count(const nino_shape *s); // elements
bool nino_shape_equal(const nino_shape *a, const nino_shape *b);
void nino_shape_print(char *buf, size_t size, const nino_shape *s); // "1x64x64x4"

// A dense array in host memory, C order. Reference-counted; the count is atomic, the data is not to
// be written once it is shared.
typedef struct nino_array {
    nino_dtype dtype;
    nino_shape shape;
    void *data; // 64-byte aligned
    size_t bytes;
    int refs;
} nino_array;

// NULL: out of memory, or a size that overflows. Data is zeroed.
nino_array *nino_array_create(nino_dtype dtype, nino_shape shape);
nino_array *nino_array_ref(nino_array *a); // NULL-safe
void nino_array_unref(nino_array **a);     // NULL-safe, *a becomes NULL
static inline float *nino_array_f32(const nino_array *a) { return (float *) a->data; }

// The one border between external and internal layouts. [N,C,H,W] <-> [N,H,W,C] and [N,C,T,H,W] <->
// [N,T,H,W,C]; rank 3 ([C,H,W], [N,T,C]) and below are copied. Returns a new array, NULL: out of
// memory.
nino_array *nino_array_to_channels_last(const nino_array *a);
nino_array *nino_array_to_channels_first(const nino_array *a);
// New array of another type; NULL: out of memory, or a pair that nino_to_f32 and nino_from_f32 do
// not have.
nino_array *nino_array_convert(const nino_array *a, nino_dtype dtype);
