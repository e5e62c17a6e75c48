// Internal: the parentheses of a prompt.
#pragma once
#include <ninodes/base.h>

#define NINO_PROMPT_MAX_DEPTH 256

typedef struct nino_segment {
    const char *text; // in the text that was parsed, with escapes
    size_t len;
    double weight;
} nino_segment;

// Replaces `\(` and `\)` in place by two bytes that are no parentheses; nino_prompt_unescape()
// turns a part of it into plain text, also in place, and returns the new length.
void nino_prompt_escape(char *text, size_t len);
size_t nino_prompt_unescape(char *text, size_t len);

// Segments of one weight each, in order, malloc'd; `text` is escaped. NINO_ERR_RANGE: nested too
// deep.
nino_status nino_prompt_segments(const char *text, size_t len, nino_segment **out, size_t *n,
                                 nino_error *err);

// Python's float(): white space around, underscores between digits, digits of any script, inf, nan.
bool nino_prompt_number(const char *s, size_t len, double *out);
