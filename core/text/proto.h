// Internal: reads protocol buffer messages field by field; nothing is allocated. Wire format:
// protobuf.dev/programming-guides/encoding.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nino_proto {
    const unsigned char *p, *end;
    bool is_bad; // truncated, an overlong number or an unknown wire type
} nino_proto;

typedef struct nino_proto_field {
    uint32_t number, wire;     // wire: 0 varint, 1 64 bit, 2 bytes, 5 32 bit
    uint64_t value;            // of all but bytes
    const unsigned char *data; // of bytes
    size_t len;
} nino_proto_field;

static inline nino_proto nino_proto_of(const void *p, size_t n)
{
    const unsigned char *s = p;
    return (nino_proto){ s, n ? s + n : s, false };
}
// The next field; false: the end, or is_bad.
bool nino_proto_next(nino_proto *r, nino_proto_field *f);
// A float field; out untouched (false) when it is not 32 bits wide.
bool nino_proto_float(const nino_proto_field *f, float *out);
