// Internal: classes that other programs define, by name, with the order of their widgets.
//
// Notation of widgets, in the order of widgets_values: words such as "i+seed f:cfg e:scheduler".
// First a letter: i INT, f FLOAT, b BOOLEAN, s STRING, d a STRING with {this|or that}, e a choice,
// c a choice that brings further widgets, x a value of the editor's own. Then a mark for entries
// that follow and are no input: '+' a choice of control_after_generate, '^' that of an upload
// button, '#' four numbers, else ':'. Then the name, a blank in it written '~'. After c, in braces:
// for each option '|', its key, and the words it brings: "c:size{|keep|scale f:size.by}".
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct nino_known_class {
    const char *name;
    unsigned flags; // NINO_KNOWN_...
    const char *widgets;
} nino_known_class;

enum {
    NINO_KNOWN_OUTPUT = 1, // runs there even if nothing uses it
    NINO_KNOWN_PAID = 2,   // calls a paid service
};

// Those of data/known_classes.txt, sorted by name; includes those that run here.
const nino_known_class *nino_known_classes(size_t *n);
// Also of those that nino_object_info_add() has read, which count first. NULL: nobody knows it.
const nino_known_class *nino_known_class_find(const char *name);

typedef struct nino_known_widget {
    char kind, mark;
    const char *name; // in the notation: not terminated, '~' for a blank
    size_t len;
    const char *options; // the first '|', or NULL
} nino_known_widget;
// The word at s, which becomes the next one's place. False: there is none before the end of the
// list, of the option or of the braces.
bool nino_known_next(const char **s, nino_known_widget *out);
// The words that an option brings; NULL: there is no such option.
const char *nino_known_option(const char *options, const char *key);
// The name as files write it, cut to `size`.
void nino_known_name(const nino_known_widget *w, char *out, size_t size);
size_t nino_known_count(const char *widgets); // words at most, whatever is chosen

// The notation of a class of object_info ("input": {...}); malloc'd, NULL: out of memory.
struct nino_json;
char *nino_known_widgets_of(const struct nino_json *input);
