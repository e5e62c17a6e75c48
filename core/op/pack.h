// Internal: packing of weights into the layouts of core/op/profile.h, on the host, for any backend.
#pragma once
#include "core/op/profile.h"
#include "core/op/weight.h"

// rows: f32 [n][taps][c] -> panels [ceil(n/64)][taps][cp][64], storage `dtype` (f32, f16, bf16),
// zero-filled. dst: nino_sched_packed_bytes() bytes.
void nino_pack_panels(const float *rows, int64_t n, int taps, int64_t c, nino_dtype dtype,
                      void *dst);
// Packs w for a profile's schedule, whatever its role: reads, converts, lays out, on all
// processors. dst: nino_sched_packed_bytes() bytes of host memory. cancel (may be NULL): once it is
// not zero the call ends with NINO_ERR_CANCELLED within a piece of about a million values.
nino_status nino_pack_weight(const nino_profile *p, const nino_weight *w,
                             const volatile int *cancel, void *dst, nino_error *err);
static inline int64_t nino_pack_cp(int64_t c) { return (c + 15) / 16 * 16; }
static inline int64_t nino_pack_panels_of(int64_t n) { return (n + 63) / 64; }
