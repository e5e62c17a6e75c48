// What a test has counted, for the table of bench/results/RELIABILITY.md (tests/reliability.py):
// a line into a file of the folder $NINODES_FIGURES, named like the program. Nothing without it.
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// target: what it should be; then what it is, as of printf.
__attribute__((format(printf, 4, 5))) static inline void
figure_add(const char *what, const char *target, bool is_reached, const char *fmt, ...)
{
    const char *dir = getenv("NINODES_FIGURES");
    char path[600], text[300];
    va_list more;
    va_start(more, fmt);
    vsnprintf(text, sizeof(text), fmt, more);
    va_end(more);
    printf("  %s: %s\n", what, text);
    if (!dir || !*dir)
        return;
    snprintf(path, sizeof(path), "%s/%s.tsv", dir, program_invocation_short_name);
    FILE *f = fopen(path, "a");
    if (!f)
        return;
    fprintf(f, "%s\t%s\t%s\t%s\n", what, target, text, is_reached ? "yes" : "no");
    fclose(f);
}
