// Numbers in files, byte by byte: the order is the format's, alignment and machine don't matter.
#pragma once
#include <stdint.h>

static inline uint32_t nino_be32(const void *from)
{
    const unsigned char *p = (const unsigned char *) from;
    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static inline uint32_t nino_le32(const void *from)
{
    const unsigned char *p = (const unsigned char *) from;
    return (uint32_t) p[3] << 24 | (uint32_t) p[2] << 16 | (uint32_t) p[1] << 8 | p[0];
}
