// Internal: how far one array is from another.
#pragma once
#include "core/tensor/tensor.h"

// y against x, of one shape, both f32.
typedef struct nino_difference {
    bool is_equal;     // bit for bit
    double most, nmse; // largest |y - x|; squared difference by squared x
    double psnr;       // dB of x's range, largest less least; infinite where they are equal
} nino_difference;
nino_difference nino_array_difference(const nino_array *x, const nino_array *y);
