// Internal: the noise of a seed: torch's CPU generator and torch.randn(float32), bit for bit.
// Thread-safety: one generator, one thread.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// torch's wide kernel is compiled twice; its last bits depend on the machine torch ran on.
typedef enum nino_rng_kernel {
    NINO_RNG_AVX2,         // 8-wide polynomials with fused multiply-add: most PCs; the default
    NINO_RNG_AVX2_UNFUSED, // the same bits, computed as on a CPU without a fused unit (for tests)
    NINO_RNG_SCALAR        // the C library's logf, cosf, sinf (torch's DEFAULT capability)
} nino_rng_kernel;

typedef struct nino_rng {
    uint32_t state[624]; // mt19937
    int next;            // of state
    bool has_normal;     // `normal` is the second value of a pair that was drawn for fewer than 16
    double normal;
    nino_rng_kernel kernel;
} nino_rng;

// As torch.Generator("cpu").manual_seed(seed): only the low 32 bits of a seed count.
void nino_rng_seed(nino_rng *r, uint64_t seed);
uint32_t nino_rng_u32(nino_rng *r);
// dst = the next torch.randn(n). Not the same as two calls for the halves of n.
void nino_rng_randn(nino_rng *r, float *dst, int64_t n);

// Items of a larger batch: `total` of them there, from `first` on. total 0: it is no part.
typedef struct nino_batch_part {
    int64_t first, total;
    bool has_values; // the whole batch is not all zeros
} nino_batch_part;

// The noise of one latent [batch, item values]: one draw for all; with batch_index (`batch` values
// >= 0) item i is the batch_index[i]-th of one draw per item, as LatentFromBatch asks for.
void nino_noise_fill(uint64_t seed, float *dst, int64_t batch, int64_t item,
                     const int64_t *batch_index);
// The same of a part: what its items have in the noise of the whole. False: no memory for that.
bool nino_noise_fill_part(uint64_t seed, float *dst, int64_t batch, int64_t item,
                          const int64_t *batch_index, const nino_batch_part *part);
