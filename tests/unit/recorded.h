// Outcomes as lines of text, compared with a file of tests/data/recorded/. Such a file records what
// the code did when a person had looked at it; NINODES_TEST_RENEW=1 writes it anew.
#pragma once
#include "core/base/buf.h"
#include "core/base/file.h"
#include "tests/test.h"

#include <stdarg.h>

static nino_buf recorded;

// Adds text to what is compared; a line ends with \n.
__attribute__((format(printf, 1, 2))) static inline void record(const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    CHECK(n >= 0 && n < (int) sizeof(text));
    nino_buf_addf(&recorded, "%s", text);
}

// Shows the first line that is another one, and the line that was expected.
static inline void recorded_differ(const char *is, const char *was)
{
    int line = 1;
    size_t from = 0;
    for (size_t i = 0; is[i] && is[i] == was[i]; i++)
        if (is[i] == '\n') {
            line++;
            from = i + 1;
        }
    fprintf(stderr, "line %d is\n    %.*s\nexpected\n    %.*s\n", line,
            (int) strcspn(is + from, "\n"), is + from, (int) strcspn(was + from, "\n"), was + from);
}

// Compares everything that was added with the file, and forgets it.
static inline void recorded_check(const char *file)
{
    const char *renew = getenv("NINODES_TEST_RENEW");
    char path[128];
    char *was;
    size_t len;
    nino_error err = { 0 };
    nino_buf_addc(&recorded, 0);
    CHECK(!recorded.failed);
    const size_t size = recorded.len - 1;
    if (renew && *renew == '1')
        CHECK_OK(nino_file_save("tests/data/recorded", file, false, recorded.data, size, &err),
                 err);
    snprintf(path, sizeof(path), "tests/data/recorded/%s", file);
    CHECK_OK(nino_file_read(path, 1 << 24, false, &was, &len, &err), err);
    if (len != size || memcmp(was, recorded.data, size) != 0) {
        fprintf(stderr, "%s: ", path);
        recorded_differ(recorded.data, was);
        exit(1);
    }
    free(was);
    nino_buf_release(&recorded);
}
