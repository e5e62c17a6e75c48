// Internal: what tokenizers ask of Unicode, with Python's answers (str.isspace, str.lower,
// unicodedata.normalize), over utf8proc's tables. Malformed bytes count as U+FFFD, one each.
#pragma once
#include "core/base/buf.h"

// Decodes one code point at s (len > 0 bytes left); returns its length, 1 for a malformed byte.
int nino_text_next(const char *s, size_t len, uint32_t *cp);
void nino_text_put(nino_buf *out, uint32_t cp);

bool nino_text_is_space(uint32_t cp);  // str.isspace()
bool nino_text_is_letter(uint32_t cp); // \p{L}
bool nino_text_is_number(uint32_t cp); // \p{N}
// 0..9 for a decimal digit of any script, else -1.
int nino_text_digit(uint32_t cp);

// Append to `out` (see out->failed).
void nino_text_lower(nino_buf *out, const char *s, size_t len); // str.lower(), Σ and İ included
// str.upper() and the two that follow it, letter by letter: of the letters whose upper case is more
// than one letter only the German sharp s is known.
void nino_text_upper(nino_buf *out, const char *s, size_t len);
void nino_text_capitalize(nino_buf *out, const char *s, size_t len);
void nino_text_title(nino_buf *out, const char *s, size_t len);
void nino_text_nfc(nino_buf *out, const char *s, size_t len);
// transformers' BasicTokenizer with lower-casing and without accent stripping: control characters
// dropped, CJK ideographs set apart, NFC, white space collapsed.
void nino_text_clean_bert(nino_buf *out, const char *s, size_t len);
// White space collapsed and trimmed, lower case.
void nino_text_clean_plain(nino_buf *out, const char *s, size_t len);
