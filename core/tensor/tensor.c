// Shapes, reference-counted host arrays, and the one place where layouts change.
#include "core/tensor/tensor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/size.h"

// No machine this runs on holds more; also keeps sizes far from every wrap.
#define MAX_BYTES ((uint64_t) 1 << 40)

nino_shape nino_shape_make(int rank, const int64_t *dim)
{
    nino_shape s = { .rank = rank };
    assert(rank >= 0 && rank <= NINO_MAX_RANK);
    for (int i = 0; i < rank; i++)
        s.dim[i] = dim[i];
    return s;
}

int64_t nino_shape_count(const nino_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

bool nino_shape_equal(const nino_shape *a, const nino_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

// By hand: every record of a kernel has its shape, and snprintf() is most of what one costs.
void nino_shape_print(char *buf, size_t size, const nino_shape *s)
{
    char text[NINO_MAX_RANK * 21 + 1]; // written from its end
    size_t at = sizeof(text) - 1;
    text[at] = 0;
    for (int i = s->rank - 1; i >= 0; i--) {
        uint64_t v = s->dim[i] < 0 ? 0 - (uint64_t) s->dim[i] : (uint64_t) s->dim[i];
        do
            text[--at] = (char) ('0' + v % 10);
        while (v /= 10);
        if (s->dim[i] < 0)
            text[--at] = '-';
        if (i)
            text[--at] = 'x';
    }
    const char *from = s->rank ? text + at : "scalar";
    const size_t n = strnlen(from, size ? size - 1 : 0);
    memcpy(buf, from, n);
    if (size)
        buf[n] = 0;
}

// Bytes of a dense array; false if a dimension is negative, the total is beyond MAX_BYTES or not
// whole blocks.
static bool array_bytes(nino_dtype dtype, const nino_shape *s, uint64_t *out)
{
    uint64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->dim[i] < 0 || !nino_mul_u64(n, (uint64_t) s->dim[i], &n))
            return false;
    size_t values, bytes;
    if (nino_dtype_is_block(dtype)) {
        nino_dtype_block(dtype, &values, &bytes);
        *out = n / values * bytes;
        return n % values == 0 && n <= MAX_BYTES;
    }
    if (!nino_mul_u64(n, (uint64_t) nino_dtype_bits(dtype), &n) || n > MAX_BYTES * 8)
        return false;
    *out = (n + 7) / 8;
    return true;
}

// Of memory that is used for the first time every page costs a fault, which is more than copying into it.
static void ask_for_large_pages(void *data, size_t bytes)
{
    const uintptr_t large = (uintptr_t) 2 << 20, from = nino_round_up((uintptr_t) data, large);
    const uintptr_t to = ((uintptr_t) data + bytes) / large * large;
    if (bytes >= 4 * large && to > from)
        madvise((char *) data + (from - (uintptr_t) data), to - from, MADV_HUGEPAGE);
}

nino_array *nino_array_create(nino_dtype dtype, nino_shape shape)
{
    uint64_t bytes;
    if (!array_bytes(dtype, &shape, &bytes))
        return NULL;
    // In one piece: large ones come from the kernel as zeros, which cost nothing until they are used.
    if (bytes > SIZE_MAX - sizeof(nino_array) - 128)
        return NULL;
    const size_t room = nino_round_up(bytes ? (size_t) bytes : 1, 64);
    nino_array *a = calloc(1, sizeof(*a) + 63 + room);
    if (!a)
        return NULL;
    a->data = (void *) nino_round_up((uintptr_t) (a + 1), 64);
    ask_for_large_pages(a->data, room);
    a->dtype = dtype;
    a->shape = shape;
    a->bytes = (size_t) bytes;
    a->refs = 1;
    return a;
}

nino_array *nino_array_ref(nino_array *a)
{
    if (a)
        __atomic_add_fetch(&a->refs, 1, __ATOMIC_RELAXED);
    return a;
}

void nino_array_unref(nino_array **a)
{
    nino_array *p = *a;
    *a = NULL;
    if (p && __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(p);
}

// dst[c][r] = src[r][c] for elements of `size` bytes, in blocks that stay in the L1 cache.
static inline void transpose_of(char *restrict dst, const char *restrict src, size_t rows,
                                size_t cols, size_t size)
{
    const size_t step = 32;
    for (size_t r0 = 0; r0 < rows; r0 += step)
        for (size_t c0 = 0; c0 < cols; c0 += step) {
            const size_t r1 = r0 + step < rows ? r0 + step : rows;
            const size_t c1 = c0 + step < cols ? c0 + step : cols;
            for (size_t c = c0; c < c1; c++)
                for (size_t r = r0; r < r1; r++)
                    memcpy(dst + (c * rows + r) * size, src + (r * cols + c) * size, size);
        }
}

static void transpose(void *dst, const void *src, size_t rows, size_t cols, size_t size)
{
    switch (size) { // a constant size turns each memcpy into one move
    case 1: transpose_of(dst, src, rows, cols, 1); break;
    case 2: transpose_of(dst, src, rows, cols, 2); break;
    case 4: transpose_of(dst, src, rows, cols, 4); break;
    default: transpose_of(dst, src, rows, cols, size); break;
    }
}

// Swaps the channel axis with all of the spatial ones: [N, rows, cols] -> [N, cols, rows].
static nino_array *swap_channels(const nino_array *a, bool to_last)
{
    const int rank = a->shape.rank;
    nino_shape s = a->shape;
    if (rank >= 4) {
        const int from = to_last ? 1 : rank - 1, to = to_last ? rank - 1 : 1;
        memmove(&s.dim[to_last ? 1 : 2], &a->shape.dim[to_last ? 2 : 1],
                (size_t) (rank - 2) * sizeof(s.dim[0]));
        s.dim[to] = a->shape.dim[from];
    }
    const size_t size = nino_dtype_size(a->dtype);
    nino_array *out = size ? nino_array_create(a->dtype, s) : NULL;
    if (!out || !a->bytes)
        return out;
    if (rank < 4) {
        memcpy(out->data, a->data, a->bytes);
        return out;
    }
    const size_t channels = (size_t) a->shape.dim[to_last ? 1 : rank - 1];
    const size_t image = a->bytes / (size_t) a->shape.dim[0];
    const size_t pixels = image / channels / size;
    for (int64_t i = 0; i < a->shape.dim[0]; i++)
        transpose((char *) out->data + (size_t) i * image,
                  (const char *) a->data + (size_t) i * image, to_last ? channels : pixels,
                  to_last ? pixels : channels, size);
    return out;
}

nino_array *nino_array_to_channels_last(const nino_array *a) { return swap_channels(a, true); }
nino_array *nino_array_to_channels_first(const nino_array *a) { return swap_channels(a, false); }

nino_array *nino_array_convert(const nino_array *a, nino_dtype dtype)
{
    nino_array *out = nino_array_create(dtype, a->shape);
    const size_t n = (size_t) nino_shape_count(&a->shape);
    const size_t from = nino_dtype_size(a->dtype), to = nino_dtype_size(dtype);
    bool ok = out != NULL;
    if (ok && dtype == a->dtype) {
        memcpy(out->data, a->data, a->bytes);
    } else if (ok && dtype == NINO_F32) {
        ok = nino_to_f32(out->data, a->data, a->dtype, n);
    } else if (ok) {
        float block[1024];
        const size_t step = sizeof(block) / sizeof(block[0]);
        for (size_t i = 0; ok && i < n; i += step) {
            const size_t k = n - i < step ? n - i : step;
            ok = nino_to_f32(block, (const char *) a->data + i * from, a->dtype, k) &&
                 nino_from_f32((char *) out->data + i * to, dtype, block, k);
        }
    }
    if (!ok)
        nino_array_unref(&out);
    return out;
}
