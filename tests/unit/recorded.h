// Outcomes as lines of text, compared with a file of tests/data/recorded/, where nothing independent could be computed. Such a file
// records what the code does; NINODES_TEST_RENEW=1 writes it anew, and a person looks at the difference.
// A word that begins with ~ is a number that may differ by 1e-4 of itself, as compilers and processors round differently;
// everything else has to be the same.
#pragma once
#include "core/base/buf.h"
#include "core/base/file.h"
#include "tests/test.h"

#include <math.h>
#include <stdarg.h>

static nino_buf recorded;

// Adds text to what is compared; a line ends with \n.
__attribute__((format(printf, 1, 2))) static inline void record(const char *fmt, ...)
{
    static char text[8192];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    CHECK(n >= 0 && n < (int) sizeof(text));
    nino_buf_addf(&recorded, "%s", text);
}

// A whole line.
#define record_row(...) (record(__VA_ARGS__), record("\n"))

// Whether both lines say the same.
static inline bool recorded_is_same(const char *is, const char *was)
{
    while (*is && *is != '\n' && *was && *was != '\n') {
        const size_t n = strcspn(is, " \n"), m = strcspn(was, " \n");
        const bool is_number = *is == '~' && *was == '~';
        const double x = is_number ? strtod(is + 1, NULL) : 0,
                     y = is_number ? strtod(was + 1, NULL) : 0;
        if (is_number ? !(x == y || fabs(x - y) <= 1e-4 * fabs(y) || (isnan(x) && isnan(y)))
                      : n != m || memcmp(is, was, n) != 0)
            return false;
        is += n + (is[n] == ' ');
        was += m + (was[m] == ' ');
    }
    return (!*is || *is == '\n') && (!*was || *was == '\n');
}

// Compares everything that was added with the file, line by line, and forgets it.
static inline void recorded_check(const char *file)
{
    const char *renew = getenv("NINODES_TEST_RENEW");
    char path[128];
    char *text;
    size_t len;
    nino_error err = { 0 };
    nino_buf_addc(&recorded, 0);
    CHECK(!recorded.failed);
    if (renew && *renew == '1')
        CHECK_OK(nino_file_save("tests/data/recorded", file, false, recorded.data, recorded.len - 1,
                                &err),
                 err);
    snprintf(path, sizeof(path), "tests/data/recorded/%s", file);
    CHECK_OK(nino_file_read(path, 1 << 24, false, &text, &len, &err), err);
    const char *is = recorded.data, *was = text;
    for (int line = 1; *is || *was; line++) {
        const size_t n = strcspn(is, "\n"), m = strcspn(was, "\n");
        if (!recorded_is_same(is, was)) {
            fprintf(stderr, "%s, line %d is\n    %.*s\nexpected\n    %.*s\n", path, line, (int) n,
                    is, (int) m, was);
            exit(1);
        }
        is += n + (is[n] == '\n');
        was += m + (was[m] == '\n');
    }
    free(text);
    nino_buf_release(&recorded);
}
