// Internal: strict UTF-8 (no overlongs, no surrogates, <= U+10FFFF). nino_utf8_printable(), which
// every text from outside passes on its way to people, is in <ninodes/base.h>.
#pragma once
#include <ninodes/base.h>

bool nino_utf8_valid(const char *s, size_t len);
// Decodes one code point at s (len > 0 bytes left); returns its length, or 0 if it is malformed.
int nino_utf8_next(const char *s, size_t len, uint32_t *cp);
// Writes cp as UTF-8; returns 1..4.
int nino_utf8_put(char out[4], uint32_t cp);
