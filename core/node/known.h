// Internal: names of classes that other programs define.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct nino_known_class {
    const char *name;
    bool is_output; // runs there even if nothing uses it
} nino_known_class;

extern const nino_known_class nino_known_classes[]; // sorted by name; includes those that run here
extern const size_t nino_n_known_classes;
const nino_known_class *nino_known_class_find(const char *name); // NULL: nobody knows it
