// The whole test framework: stop at the first failure and say where. Exit 0 ok, 1 failed, 77
// skipped.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define CHECK_STR(a, b)                                                                            \
    do {                                                                                           \
        const char *a_ = (a), *b_ = (b);                                                           \
        if (!a_ || strcmp(a_, b_)) {                                                               \
            fprintf(stderr, "%s:%d: failed: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__,  \
                    #a, a_ ? a_ : "(null)", b_);                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
// st is a nino_status, err a filled nino_error
#define CHECK_OK(st, err)                                                                          \
    do {                                                                                           \
        if ((st) != 0) {                                                                           \
            fprintf(stderr, "%s:%d: failed: %s: %s: %s\n", __FILE__, __LINE__, #st, (err).where,   \
                    (err).msg);                                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline int test_skip(const char *why)
{
    printf("  skip: %s\n", why);
    return 77;
}

// A test that passes says so of each part that it left out; tests/run.py counts them.
static inline void test_skip_part(const char *what) { printf("  part skipped: %s\n", what); }

// JSON with ' for ", which reads better in a C string; malloc'd.
static inline char *test_quoted(const char *quoted)
{
    char *json = strdup(quoted);
    for (char *c = json; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    return json;
}

// Folder of the third-party test data, or NULL when it is not on this machine.
static inline const char *test_assets(void)
{
    const char *a = getenv("NINODES_ASSETS");
    if (!a || !*a)
        a = "../shared/assets";
    return access(a, R_OK) == 0 ? a : NULL;
}

// Folders of reference data, one after the other: the project's own, which scripts beside it make
// of random weights, then the larger third-party one where this machine has it. NULL starts and
// ends.
static inline const char *test_data_next(const char *folder)
{
    static const char own[] = "tests/data";
    return !folder ? own : !strcmp(folder, own) ? test_assets() : NULL;
}

// Where tests find small models to run: the larger reference, else the project's own.
static inline const char *test_models(void)
{
    const char *a = test_assets();
    return a ? a : test_data_next(NULL);
}

static inline int test_data_is_own(const char *folder) { return !strcmp(folder, "tests/data"); }
