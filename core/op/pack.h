// Internal: packing of weights into the layouts of core/op/profile.h, on the host, for any backend.
#pragma once
#include "core/op/profile.h"
#include "core/op/weight.h"

// rows: f32 [n][taps][c] -> panels [ceil(n/64)][taps][cp][64], storage `dtype` (f32, f16, bf16),
// zero-filled. dst: nino_sched_packed_bytes() bytes.
void nino_pack_panels(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst);
// The same for one tap and rows that have the wanted type already, of `size` bytes (2 or 4): values
// move, none is converted.
void nino_pack_stored(const void *rows, int64_t n, int64_t c, size_t size, void *dst);
// rows: f32 [n][taps][c] -> [n][taps][cp], storage `dtype`, zero-filled, for schedules that keep rows.
void nino_pack_padded(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst);
// Packs w for a profile's schedule, whatever its role: reads, converts, lays out, on all
// processors. dst: nino_sched_packed_bytes() bytes of host memory. cancel (may be NULL): once it is
// not zero the call ends with NINO_ERR_CANCELLED within a piece of 131072 values, or 64 rows.
// Beside dst each processor needs the memory of one piece, whatever the size of the weight.
nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w,
                             const volatile int *cancel, void *dst, nino_error *err);
// A part of the same, for devices that get their weights in pieces: rows first (a multiple of 64)
// ... first + rows - 1, which are whole panels. nino_pack_row_bytes() for each row, the last panel
// filled up; that is 0 for weights which are not packed by rows: vectors, and what stays as it is.
size_t nino_pack_row_bytes(const nino_profile *p, const nino_weight *w);
nino_status nino_pack_rows(const nino_profile *p, const nino_weight *w, int64_t first, int64_t rows,
                           const volatile int *cancel, void *dst, nino_error *err);
static inline int64_t nino_pack_cp(int64_t c) { return (c + 15) / 16 * 16; }
static inline int64_t nino_pack_panels_of(int64_t n) { return (n + 63) / 64; }
