// Internal: base64 (RFC 4648), as text formats carry bytes.
#pragma once
#include "core/base/buf.h"

// Appends the bytes that text stands for (see out->failed); padding may be missing. False: another
// character.
bool nino_base64_decode(const char *text, size_t len, nino_buf *out);
