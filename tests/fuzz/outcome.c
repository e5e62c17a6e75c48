// What an input came to, as a checksum and as text, and the file of what was recorded
// (tests/fuzz/outcome.h). Nothing is allocated while a target runs: it may be short of memory.
#include "tests/fuzz/outcome.h"
#include "tests/fuzz/fuzz.h"
#include "tests/test.h"

#include <stdarg.h>

enum { SAID = 1500 };

static bool is_listening;
static uint64_t sum;
static char said[SAID + 8];
static size_t n_said;

void outcome_begin(void)
{
    sum = 0xcbf29ce484222325u;
    n_said = 0;
    said[0] = 0;
    is_listening = true;
}

uint64_t outcome_end(void)
{
    is_listening = false;
    return sum;
}

const char *outcome_said(void) { return said; }

static void say(unsigned char c)
{
    if (n_said >= SAID)
        return;
    if (c == '\n' || (c >= 0x20 && c < 0x7f))
        said[n_said++] = (char) c;
    else
        n_said += (size_t) snprintf(said + n_said, 5, "\\x%02x", c);
    said[n_said] = 0;
}

void outcome_bytes(const void *p, size_t n)
{
    const unsigned char *c = p;
    for (size_t i = 0; i < n && is_listening; i++) { // FNV-1a
        sum = (sum ^ c[i]) * 0x100000001b3u;
        say(c[i]);
    }
    sum = (sum ^ 0x100) * 0x100000001b3u; // where one piece ends and the next begins
}

void outcome_text(const char *format, ...)
{
    static char text[1 << 16];
    va_list args;
    if (!is_listening)
        return;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    CHECK(n >= 0 && (size_t) n < sizeof(text));
    outcome_bytes(text, (size_t) n);
}

void outcome_read(const char *path, outcome_file *out)
{
    char line[256];
    FILE *f = fopen(path, "r");
    *out = (outcome_file){ 0 };
    while (f && fgets(line, sizeof(line), f)) {
        unsigned n;
        unsigned long long plain, changed;
        if (line[0] == '#')
            continue;
        CHECK(sscanf(line, "%u %llx %llx", &n, &plain, &changed) == 3 && n == out->n);
        out->lines = realloc(out->lines, (out->n + 1) * sizeof(*out->lines));
        CHECK(out->lines);
        out->lines[out->n++] = (outcome_line){ plain, changed };
    }
    if (f)
        fclose(f);
}

void outcome_write(const char *path, const outcome_file *f)
{
    FILE *out = fopen(path, "w");
    CHECK(out);
    fprintf(
        out,
        "# What the inputs of the corpus come to, and their changed forms: tests/fuzz/outcome.h\n");
    for (unsigned i = 0; i < f->n; i++)
        fprintf(out, "%u %016llx %016llx\n", i, (unsigned long long) f->lines[i].plain,
                (unsigned long long) f->lines[i].changed);
    CHECK(!fclose(out));
}

void outcome_release(outcome_file *f)
{
    free(f->lines);
    *f = (outcome_file){ 0 };
}
