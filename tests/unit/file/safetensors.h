// Tests of safetensors: a file made by hand.
#pragma once
#include "core/base/buf.h"

// A header behind its length, which may be more than it has, and `body` bytes behind it.
static inline nino_buf file_of(const char *header, size_t len, size_t body)
{
    nino_buf b = { 0 };
    for (int i = 0; i < 8; i++)
        nino_buf_addc(&b, (char) ((uint64_t) len >> (8 * i)));
    nino_buf_add(&b, header, len);
    for (size_t i = 0; i < body; i++)
        nino_buf_addc(&b, (char) i);
    return b;
}
