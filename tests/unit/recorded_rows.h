// Tables of what the code does today, where nothing independent could be computed: rows of text in
// tests/data, compared one after the other. A word that begins with ~ is a number that may differ by
// 1e-4 of itself, as compilers and processors round differently; everything else has to be the same.
// A change that is meant is written anew and looked at by a person, as a difference of that file:
// NINODES_TEST_RENEW=1 build/tests/unit/ROOM/NAME prints the rows instead of comparing them.
#pragma once
#include "tests/test.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>

typedef struct recorded {
    FILE *f; // NULL: rows are printed
    const char *path;
    int line;
} recorded;

static inline recorded recorded_open(const char *path, const char *what)
{
    recorded r = { .path = path };
    if (getenv("NINODES_TEST_RENEW")) {
        printf("# %s See tests/unit/recorded_rows.h.\n", what);
        return r;
    }
    r.f = fopen(path, "r");
    if (!r.f) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    return r;
}

// The next row of the file that is no comment; false: there is none.
static inline bool recorded_next(recorded *r, char *text, size_t size)
{
    do {
        r->line++;
        if (!fgets(text, (int) size, r->f))
            return false;
    } while (*text == '#');
    text[strcspn(text, "\n")] = 0;
    return true;
}

static inline bool recorded_same_word(const char *a, size_t na, const char *b, size_t nb)
{
    if (*a == '~' && *b == '~') {
        const double x = strtod(a + 1, NULL), y = strtod(b + 1, NULL);
        return isnan(x) ? isnan(y) : x == y || fabs(x - y) <= 1e-4 * fabs(y);
    }
    return na == nb && !memcmp(a, b, na);
}

static inline bool recorded_same(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t na = strcspn(a, " "), nb = strcspn(b, " ");
        if (!recorded_same_word(a, na, b, nb))
            return false;
        a += na + (a[na] == ' ');
        b += nb + (b[nb] == ' ');
    }
    return !*a && !*b;
}

__attribute__((format(printf, 2, 3))) static inline void recorded_row(recorded *r, const char *fmt,
                                                                      ...)
{
    static char now[8192], want[8192];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(now, sizeof(now), fmt, ap);
    va_end(ap);
    CHECK(n >= 0 && n < (int) sizeof(now) && !strchr(now, '\n'));
    if (!r->f) {
        puts(now);
        return;
    }
    if (recorded_next(r, want, sizeof(want)) && recorded_same(now, want))
        return;
    fprintf(stderr, "%s:%d: recorded\n  %s\nnow\n  %s\n", r->path, r->line, want, now);
    exit(1);
}

static inline void recorded_close(recorded *r)
{
    char rest[64];
    if (r->f) {
        CHECK(!recorded_next(r, rest, sizeof(rest)));
        fclose(r->f);
    }
}
