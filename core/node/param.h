// Internal: parameters of nodes through the node table: defaults, coercion from JSON and text,
// limits, printing. Coercions are those of ComfyUI's prompt validation, plus the obvious text
// forms.
#pragma once
#include "core/base/arena.h"
#include "core/base/json.h"
#include <ninodes/node.h>

// Writes the defaults of every parameter.
void nino_params_init(const nino_node_def *def, void *params);
const nino_param *nino_param_find(const nino_node_def *def, const char *key);
// NULL: the class has no input port of that name.
const nino_port *nino_port_find(const nino_node_def *def, const char *key);

const char *nino_port_types(const nino_port *p); // what it may be: "IMAGE,MASK"
// Does a choice of this name bring inputs?
bool nino_param_brings(const nino_node_def *def, const char *key);
// The next one of the row that grows after the input `key`; NULL: it is in none, or the last.
const nino_port *nino_port_next(const nino_node_def *def, const char *key);
// Is an input with such a `when` there, beside these other values ("inputs" of the API form; NULL:
// the defaults)?
typedef enum nino_presence {
    NINO_ABSENT,
    NINO_PRESENT,
    NINO_UNDECIDED // the choice comes through a link
} nino_presence;
nino_presence nino_input_presence(const nino_node_def *def, const char *key, const char *when,
                                  const nino_json *inputs);

// Reads a literal of a workflow. Strings are copied to `a`. alias (may be NULL) renames values of
// former classes. Errors: kind "range" (outside min..max), "value" (not of the type, not in the
// list), "path" (a file name that may not be opened). tr: of their messages, or NULL.
nino_status nino_param_from_json(const nino_param *p, const nino_json *v, const nino_alias *alias,
                                 nino_arena *a, nino_default *out, nino_translate_fn tr,
                                 nino_error *err);
// The same from text that a person typed ("512", "true", "lanczos"); errors are in English.
nino_status nino_param_from_text(const nino_param *p, const char *text, nino_arena *a,
                                 nino_default *out, nino_error *err);
// Is it a seed of -1: one that is drawn anew for each run (nino_graph_draw_seeds())? Read as a value
// it is the largest seed there is.
bool nino_param_is_random(const nino_param *p, const char *text);
// Stores a value in the node's params struct and loads it back.
void nino_param_store(const nino_param *p, void *params, const nino_default *v);
nino_default nino_param_load(const nino_param *p, const void *params);
// The value as JSON ("512", "true", "\"auto\""); appended to `out`.
void nino_param_print(nino_buf *out, const nino_param *p, const nino_default *v);
