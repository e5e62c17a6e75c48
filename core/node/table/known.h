// Internal: classes that other programs define, by name, with the order of their widgets.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct nino_known_class {
    const char *name;
    bool is_output;      // runs there even if nothing uses it
    const char *widgets; // in the order of widgets_values: "i+seed i:steps f:cfg", see the table
} nino_known_class;

extern const nino_known_class nino_known_classes[]; // sorted by name; includes those that run here
extern const size_t nino_n_known_classes;
const nino_known_class *nino_known_class_find(const char *name); // NULL: nobody knows it
