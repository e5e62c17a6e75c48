// Internal: numbers as text, the same in every locale. gtk_init() calls
// setlocale(), after which plain strtod("7.5") may stop at the point.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Like strtod() and snprintf() in the C locale.
double nino_strtod(const char *s, char **end);
__attribute__((format(printf, 3, 4))) int nino_snprintf(char *buf, size_t size, const char *fmt,
                                                        ...);
__attribute__((format(printf, 3, 0))) int nino_vsnprintf(char *buf, size_t size, const char *fmt,
                                                         va_list ap);
// The fewest digits that nino_strtod() reads back as the same double ("8", "0.1", "1e22", "NaN",
// "-Infinity"); always valid in nino_json_parse(). Returns the length; 32 bytes are enough.
int nino_print_double(char *buf, size_t size, double v);
// Whole-string parsers: true only if all of s (no spaces, no '+' in front) is one decimal number
// that fits. double also takes NaN, Infinity and -Infinity by these names, but not 1e999.
bool nino_parse_i64(const char *s, int64_t *out);
bool nino_parse_u64(const char *s, uint64_t *out);
bool nino_parse_double(const char *s, double *out);
