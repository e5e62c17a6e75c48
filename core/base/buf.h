// Internal: growable byte buffer with a sticky out-of-memory flag: append freely, check `failed`
// once.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nino_buf {
    char *data; // always NUL-terminated when not NULL
    size_t len, cap;
    bool failed;
} nino_buf;

void nino_buf_release(nino_buf *b); // frees, leaves an empty valid buffer
void nino_buf_clear(nino_buf *b);   // len = 0, keeps the memory
void nino_buf_add(nino_buf *b, const void *p, size_t n);
void nino_buf_adds(nino_buf *b, const char *s);
void nino_buf_addc(nino_buf *b, char c);
__attribute__((format(printf, 2, 3))) void nino_buf_addf(nino_buf *b, const char *fmt, ...);
// JSON string literal with quotes; len bytes of UTF-8 (invalid bytes become \ufffd).
void nino_buf_add_json_string(nino_buf *b, const char *s, size_t len);
