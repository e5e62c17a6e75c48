// Changes of a text in JSON that leave it JSON, so that they reach what stands behind the parser of JSON:
// a value takes the place of another, goes, or is there twice; a number is another one.
#pragma once
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Behind the value that begins at `at`; n: where there is no end.
static inline size_t reshape_end(const uint8_t *p, size_t n, size_t at)
{
    int depth = 0;
    for (size_t i = at; i < n; i++) {
        if (p[i] == '"') {
            for (i++; i < n && p[i] != '"'; i++)
                i += p[i] == '\\';
        } else if (p[i] == '[' || p[i] == '{') {
            depth++;
        } else if (p[i] == ']' || p[i] == '}') {
            depth--;
        } else if (depth || (p[i] != ',' && p[i] != ':' && !isspace(p[i]))) {
            if (depth || (i + 1 < n && !strchr(",:]} \t\r\n", p[i + 1])))
                continue;
        } else {
            return i;
        }
        if (depth <= 0)
            return depth < 0 ? i : i + 1 < n ? i + 1 : n;
    }
    return n;
}

// Where the first value (or key) from `at` on begins, which is behind what separates; n: none does.
static inline size_t reshape_begin(const uint8_t *p, size_t n, size_t at)
{
    for (size_t i = at ? at : 1; i < n; i++)
        if (strchr(",:[{ ", p[i - 1]) && !strchr(",:]} ", p[i]))
            return i;
    return n;
}

// Puts `with` in the place of [from, to) and returns the length; as it is where there is no room.
static inline size_t reshape_put(uint8_t *p, size_t n, size_t cap, size_t from, size_t to,
                                 const uint8_t *with, size_t len)
{
    uint8_t copy[1024]; // `with` may lie in the text
    if (len > sizeof(copy) || n - (to - from) + len > cap)
        return n;
    if (len)
        memcpy(copy, with, len);
    memmove(p + from + len, p + to, n - to);
    memcpy(p + from, copy, len);
    return n - (to - from) + len;
}

// One change of the text p of n bytes, which has room for cap; pick(k): a number below k.
static inline size_t reshape(uint8_t *p, size_t n, size_t cap, size_t (*pick)(size_t))
{
    static const char *const values[] = { "0",     "1",    "-1",         "2",    "1.5",
                                          "4",     "\"\"", "[]",         "null", "true",
                                          "false", "{}",   "[\"1\", 0]", "3" };
    const size_t from = reshape_begin(p, n, pick(n)), other = reshape_begin(p, n, pick(n));
    if (from >= n || other >= n)
        return n;
    const size_t to = reshape_end(p, n, from);
    const char *v = values[pick(sizeof(values) / sizeof(values[0]))];
    switch (pick(4)) {
    case 0: return reshape_put(p, n, cap, from, to, (const uint8_t *) v, strlen(v));
    case 1: return reshape_put(p, n, cap, from, to, p + other, reshape_end(p, n, other) - other);
    case 2: // it goes, and the comma behind it
        return reshape_put(p, n, cap, from, to + (to < n && p[to] == ','), NULL, 0);
    default: { // twice
        uint8_t twice[1024];
        const size_t len = to - from;
        if (2 * len + 1 > sizeof(twice))
            return n;
        memcpy(twice, p + from, len);
        twice[len] = ',';
        memcpy(twice + len + 1, p + from, len);
        return reshape_put(p, n, cap, from, to, twice, 2 * len + 1);
    }
    }
}
