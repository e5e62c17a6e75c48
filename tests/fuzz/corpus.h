// The corpus of a fuzz target: inputs that an engine found, each of which takes a branch that none
// before it takes, and behind them inputs that other tests give to the same parser. One file, tests/data/corpus/NAME: the length of each in 4 bytes, little-endian, and
// its bytes.
#pragma once
#include "tests/test.h"

#include <dirent.h>
#include <stdint.h>
#include <sys/stat.h>

// The whole file, or NULL where there is none; *len is its length.
static inline uint8_t *corpus_read(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    struct stat sb;
    if (!f)
        return NULL;
    CHECK(!fstat(fileno(f), &sb));
    *len = (size_t) sb.st_size;
    uint8_t *all = malloc(*len + 1);
    CHECK(all && fread(all, 1, *len, f) == *len);
    fclose(f);
    return all;
}

// The next input of what is left, NULL behind the last one.
static inline const uint8_t *corpus_next(const uint8_t **at, size_t *left, size_t *len)
{
    uint32_t n;
    if (*left < sizeof(n))
        return NULL;
    memcpy(&n, *at, sizeof(n));
    CHECK(n <= *left - sizeof(n));
    const uint8_t *input = *at + sizeof(n);
    *len = n;
    *at = input + n;
    *left -= sizeof(n) + n;
    return input;
}

static inline int corpus_is_input(const struct dirent *e) { return e->d_name[0] != '.'; }

// Makes the file of all inputs in a folder.
static inline void corpus_write(const char *path, const char *dir)
{
    struct dirent **list;
    const int n = scandir(dir, &list, corpus_is_input, alphasort);
    FILE *f = fopen(path, "wb");
    CHECK(n >= 0 && f);
    for (int i = 0; i < n; i++) {
        char name[512];
        size_t len = 0;
        snprintf(name, sizeof(name), "%s/%.255s", dir, list[i]->d_name);
        uint8_t *data = corpus_read(name, &len);
        const uint32_t bytes = (uint32_t) len;
        CHECK(data && fwrite(&bytes, 1, sizeof(bytes), f) == sizeof(bytes));
        CHECK(fwrite(data, 1, len, f) == len);
        free(data);
        free(list[i]);
    }
    free(list);
    CHECK(!fclose(f));
}
