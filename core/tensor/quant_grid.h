// Internal: codebooks of the IQ block formats. Entry i of an iq1/iq2 grid holds 8 indices of 2 bits
// into {-1,0,1} or {8,25,43}, of an iq3 grid 4 indices of 3 bits; the first value in the low bits.
#pragma once
#include <stdint.h>

extern const uint16_t nino_grid_iq2xxs[256], nino_grid_iq2xs[512], nino_grid_iq2s[1024];
extern const uint16_t nino_grid_iq1s[2048];
extern const uint16_t nino_grid_iq3xxs[256], nino_grid_iq3s[512];
