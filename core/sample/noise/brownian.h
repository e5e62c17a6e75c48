// Internal: Brownian motion that can be asked for any interval in any order and always answers the
// same: torchsde's BrownianTree as k-diffusion's noise samplers use it. Every piece's noise has a
// seed of its own, mixed by numpy's SeedSequence. Thread-safety: one tree, one thread.
#pragma once
#include <ninodes/base.h>

// out[0..n) = numpy.random.SeedSequence(entropy, spawn_key=key, pool_size=pool).generate_state(n).
// n_key 0: no spawn key. pool: 4..32.
void nino_seed_sequence(uint64_t entropy, const uint64_t *key, int n_key, int pool, uint32_t *out,
                        int n);

typedef struct nino_brownian nino_brownian;

// W over [t0, t1] (in either order), of `count` independent values.
nino_status nino_brownian_create(double t0, double t1, int64_t count, uint64_t seed,
                                 nino_brownian **out, nino_error *err);
void nino_brownian_destroy(nino_brownian **b); // NULL-safe
// dst[count] = (W(b) - W(a)) / sqrt|b - a|, with the sign of k-diffusion's BatchedBrownianTree.
// Times outside [t0, t1] are clamped to it.
nino_status nino_brownian_noise(nino_brownian *b, double from, double to, float *dst,
                                nino_error *err);
