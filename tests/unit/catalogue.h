// A catalogue of data/po as tests read it, without gettext: the texts of some sources, and a
// translation of them with long values.
#pragma once
#include "tests/test.h"

#include <stdbool.h>

typedef struct catalogue_text {
    char english[640], other[640];
    char wide[800]; // other, with values that are as long as they get
    bool is_used;
} catalogue_text;

typedef struct catalogue {
    catalogue_text text[512];
    int n;
} catalogue;

// Appends what stands between the quotes of a line.
static inline void catalogue_append(char *out, size_t size, const char *line)
{
    size_t n = strlen(out);
    const char *p = strchr(line, '"');
    for (p = p ? p + 1 : ""; *p && *p != '"' && n + 1 < size; p++) {
        p += *p == '\\';
        out[n++] = *p == 'n' && p[-1] == '\\' ? '\n' : *p;
    }
    out[n] = 0;
}

// %s becomes %10s, %.1f %8.1f, %1$zu %1$6zu.
static inline void catalogue_widen(const char *fmt, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = fmt; *p && n + 8 < size; p++) {
        out[n++] = *p;
        if (*p != '%')
            continue;
        const size_t position = strspn(p + 1, "0123456789");
        if (p[1 + position] == '$')
            for (const char *end = p + 1 + position; p < end;)
                out[n++] = *++p;
        const char *kind = p + 1 + strspn(p + 1, ".0123456789lz");
        if (*kind == '%')
            out[n++] = *++p;
        else
            n += (size_t) snprintf(out + n, size - n, "%d",
                                   *kind == 's'                         ? 10
                                   : *kind == 'f'                       ? 8
                                   : kind[-1] == 'l' || kind[-1] == 'z' ? 6
                                                                        : 5);
    }
    out[n] = 0;
    CHECK(n + 8 < size);
}

// The texts of sources whose path has that beginning. False: no such file.
static inline bool catalogue_read(catalogue *c, const char *path, const char *sources)
{
    FILE *f = fopen(path, "r");
    char line[1024], from[128], *part = NULL;
    bool is_ours = false;
    snprintf(from, sizeof(from), " %s", sources);
    for (c->n = 0; f && fgets(line, sizeof(line), f);) {
        catalogue_text *t = &c->text[c->n];
        if (!strncmp(line, "#:", 2)) {
            is_ours |= strstr(line, from) != NULL;
        } else if (!strncmp(line, "msgid ", 6)) {
            CHECK(c->n < 511);
            *t = (catalogue_text){ .is_used = false };
            catalogue_append(part = t->english, sizeof(t->english), line);
        } else if (!strncmp(line, "msgstr ", 7)) {
            catalogue_append(part = t->other, sizeof(t->other), line);
        } else if (*line == '"' && part) {
            catalogue_append(part, sizeof(t->other), line);
        } else if (*line == '\n') {
            c->n += is_ours && *t->other;
            is_ours = false;
        }
    }
    c->n += is_ours && *c->text[c->n].other; // the last one has no empty line behind it
    for (int i = 0; i < c->n; i++) {
        CHECK(strlen(c->text[i].english) + 1 < sizeof(c->text[i].english) &&
              strlen(c->text[i].other) + 1 < sizeof(c->text[i].other));
        catalogue_widen(c->text[i].other, c->text[i].wide, sizeof(c->text[i].wide));
    }
    return f && !fclose(f);
}
