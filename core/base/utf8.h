// Internal: strict UTF-8 (no overlongs, no surrogates, <= U+10FFFF).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool nino_utf8_valid(const char *s, size_t len);
// Decodes one code point at s (len > 0 bytes left); returns its length, or 0 if it is malformed.
int nino_utf8_next(const char *s, size_t len, uint32_t *cp);
// Writes cp as UTF-8; returns 1..4.
int nino_utf8_put(char out[4], uint32_t cp);
// Copies s to out (size bytes, terminated) with control characters, bidi overrides and malformed
// bytes replaced by '?': safe to print on a terminal or in a log.
void nino_utf8_printable(char *out, size_t size, const char *s, size_t len);
