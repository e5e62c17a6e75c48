// Grids: a workflow run over the values of one or two inputs, and the picture that shows all
// results beside each other.
//
// Threads: an axis and a sheet are plain data; one thread at a time.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

#define NINO_AXIS_MAX 256 // values of an axis

typedef struct nino_axis {
    // "NODE.INPUT", as nino_graph_set() takes it.
    char *input;
    // Owned, as are its texts.
    char **value;
    // 1 to NINO_AXIS_MAX.
    size_t n;
} nino_axis;

// Reads "NODE.INPUT=VALUE,VALUE,...". A value may be a range of numbers, 1..5 or 1..9:2 or
// 0.5..1.5:0.25, its end included where the step meets it, and may go down; or stand in double
// quotes, between which commas are part of it and "" is a quote. Whether a node has the input and
// takes the values is not looked at. Errors: NINO_ERR_ARG, NINO_ERR_NOMEM.
NINO_API nino_status nino_axis_parse(const char *text, nino_axis *out, nino_error *err);
// NULL-safe, a is empty afterwards.
NINO_API void nino_axis_release(nino_axis *a);
// "NODE.INPUT=VALUE" of value i, for nino_graph_set(); malloc'd; NULL: out of memory.
NINO_API char *nino_axis_assignment(const nino_axis *a, size_t i);

typedef struct nino_sheet {
    const nino_axis *columns;
    // NULL: the columns go on in further lines.
    const nino_axis *rows;
    // [rows->n][columns->n] paths; NULL: nothing to show there.
    const char *const *picture;
} nino_sheet;

// Writes DIR/grid_00001_.png, or the next free number: the pictures (of what moves the first frame)
// in rows and columns with the values beside them. All are shown at one scale, smaller than they
// are only where the sheet would get larger than 2^26 pixels or 16384 a side. Letters beyond
// Latin-1 are drawn as boxes. *path (malloc'd) is where it is. Errors: NINO_ERR_MISSING (there is
// no picture that can be read), NINO_ERR_IO, NINO_ERR_NOMEM.
NINO_API nino_status nino_sheet_save(const nino_sheet *s, const char *dir, char **path,
                                     nino_error *err);
// The first of a run's files that a sheet can show, or NULL.
NINO_API const char *nino_sheet_choose(const char *const *paths, size_t n);

NINO_END
