// Private to this room: the layers that make tokens of a picture.
#pragma once
#include "core/model/ip_adapter/ip_adapter.h"

typedef struct ip_block { // of a resampler: queries look at the picture's states and themselves
    nino_norm norm_states, norm_tokens, norm_ff;
    nino_linear q, k, v, o, up, down;
    int heads;
} ip_block;

typedef struct ip_projection {
    nino_linear in, out; // PLAIN: in alone
    nino_norm norm;      // of the tokens
    nino_array *queries; // [1,T,C] of PLUS
    ip_block *block;
    int n_blocks;
} ip_projection;
