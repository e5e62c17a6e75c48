// Reads protocol buffer messages field by field.
#include "core/text/proto.h"

#include <string.h>

static bool proto_fail(nino_proto *r)
{
    r->is_bad = true;
    return false;
}

static bool varint(nino_proto *r, uint64_t *out)
{
    uint64_t v = 0;
    if (r->p < r->end && *r->p < 0x80) { // most are short
        *out = *r->p++;
        return true;
    }
    for (unsigned shift = 0;; shift += 7) { // ten bytes at most
        if (r->p == r->end)
            return proto_fail(r);
        const unsigned char c = *r->p++;
        if (shift == 63 && c > 1)
            return proto_fail(r);
        v |= (uint64_t) (c & 0x7f) << shift;
        if (!(c & 0x80)) {
            *out = v;
            return true;
        }
    }
}

static bool fixed(nino_proto *r, size_t width, uint64_t *out)
{
    if ((size_t) (r->end - r->p) < width)
        return proto_fail(r);
    *out = 0;
    for (size_t i = 0; i < width; i++)
        *out |= (uint64_t) r->p[i] << 8 * i;
    r->p += width;
    return true;
}

bool nino_proto_next(nino_proto *r, nino_proto_field *f)
{
    uint64_t key, len;
    if (r->is_bad || r->p == r->end || !varint(r, &key))
        return false;
    if (key >> 3 == 0 || key >> 3 >= UINT32_C(1) << 29)
        return proto_fail(r);
    *f = (nino_proto_field){ .number = (uint32_t) (key >> 3), .wire = (uint32_t) key & 7 };
    switch (f->wire) {
    case 0: return varint(r, &f->value);
    case 1: return fixed(r, 8, &f->value);
    case 5: return fixed(r, 4, &f->value);
    case 2:
        if (!varint(r, &len))
            return false;
        if (len > (uint64_t) (r->end - r->p))
            return proto_fail(r);
        f->data = r->p;
        f->len = (size_t) len;
        r->p += len;
        return true;
    default: return proto_fail(r); // groups: not in use since 2008
    }
}

bool nino_proto_float(const nino_proto_field *f, float *out)
{
    if (f->wire != 5)
        return false;
    const uint32_t bits = (uint32_t) f->value;
    memcpy(out, &bits, sizeof(*out));
    return true;
}
