// How the language models' tokenizers cut text into words. Source: the patterns of Qwen2's
// tokenizer and of transformers' MistralConverter,
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|
//   \s*[\r\n]+|\s+(?!\S)|\s+
// (Qwen's has \p{N}), whose alternatives are tried in this order.
#include <string.h>
#include <strings.h>

#include "core/text/bpe_priv.h"
#include "core/text/unicode.h"

typedef enum word_class { SPACE, NEWLINE, LETTER, NUMBER, OTHER } word_class;

// The class of the character at s and its length; len > 0.
static word_class class_at(const char *s, size_t len, size_t *n)
{
    uint32_t cp;
    *n = (size_t) nino_text_next(s, len, &cp);
    if (cp == '\r' || cp == '\n')
        return NEWLINE;
    if (nino_text_is_letter(cp))
        return LETTER;
    if (nino_text_is_number(cp))
        return NUMBER;
    // Python's separators of files and records are no white space to a pattern
    return nino_text_is_space(cp) && (cp < 0x1c || cp > 0x1f) ? SPACE : OTHER;
}

// Bytes of the characters of class c that s begins with, at most `most` of them.
static size_t run_of(word_class c, const char *s, size_t len, int most)
{
    size_t i = 0, n;
    for (; i < len && most-- > 0 && class_at(s + i, len - i, &n) == c;)
        i += n;
    return i;
}

static size_t contraction(const char *s, size_t len)
{
    static const char *const all[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'\xc5\xbf" };
    for (size_t i = 0; *s == '\'' && i < sizeof(all) / sizeof(all[0]); i++) {
        const size_t n = strlen(all[i]);
        if (n <= len && !strncasecmp(s, all[i], n))
            return n;
    }
    return 0;
}

// White space: through its last line end; else all of it at the end of the text, and all but its
// last character before something else, unless that is all there is.
static size_t white(const char *s, size_t len)
{
    size_t i = 0, n, last = 0, newline = 0;
    for (; i < len; i += n) {
        const word_class c = class_at(s + i, len - i, &n);
        if (c != SPACE && c != NEWLINE)
            break;
        last = i;
        newline = c == NEWLINE ? i + n : newline;
    }
    return newline ? newline : i < len && last ? last : i;
}

size_t nino_bpe_word(nino_bpe_pattern pattern, const char *s, size_t len)
{
    size_t first, n = contraction(s, len);
    if (n)
        return n;
    const word_class c = class_at(s, len, &first);
    if (c == LETTER)
        return run_of(LETTER, s, len, INT32_MAX);
    if (c == SPACE || c == OTHER) {
        n = run_of(LETTER, s + first, len - first, INT32_MAX);
        if (n)
            return first + n;
    }
    if (c == NUMBER)
        return run_of(NUMBER, s, len, pattern == NINO_BPE_MISTRAL ? 3 : 1);
    const size_t gap = *s == ' ';
    n = run_of(OTHER, s + gap, len - gap, INT32_MAX);
    if (n)
        return gap + n + run_of(NEWLINE, s + gap + n, len - gap - n, INT32_MAX);
    return white(s, len);
}
