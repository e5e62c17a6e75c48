// What inputs of a fuzz target come to, compared with what was recorded: a parser that crashes on
// nothing may still read something else than it did. For each input of the corpus a line of
// tests/data/outcomes/NAME: the checksum of what the target tells (TELL) about the input itself, and
// one of all its changed forms, which are made as the driver makes them.
//
// The file records what the parsers do; `NAME -r FILE` writes it anew after a change of behaviour that
// is meant, or where corpus or words have changed. The difference says which inputs, and what each of
// them comes to is printed when it is another than recorded.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Listens from here on; the checksum of what was told since, and its first part as text.
void outcome_begin(void);
uint64_t outcome_end(void);
const char *outcome_said(void);

// The recorded lines: false where the file has none for input n.
typedef struct outcome_line {
    uint64_t plain, changed;
} outcome_line;
typedef struct outcome_file {
    outcome_line *lines;
    unsigned n;
} outcome_file;

void outcome_read(const char *path, outcome_file *out); // of none, none
void outcome_write(const char *path, const outcome_file *f);
void outcome_release(outcome_file *f);
