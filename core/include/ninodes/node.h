// The node table: everything the CLI, the GUI, the JSON reader and the docs know about a node comes
// from here.
//
// Thread-safety: read-only tables, usable from any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef enum nino_type {
    NINO_BOOL,   // C: bool
    NINO_INT,    // C: int64_t
    NINO_FLOAT,  // C: double
    NINO_SEED,   // C: uint64_t, the whole range is valid
    NINO_ENUM,   // C: int64_t, index into `names`
    NINO_STRING, // C: const char *, owned by the graph
    NINO_FILE, // C: const char *: a name inside the model folders or the input folder, see `folder`
} nino_type;

typedef union nino_default {
    bool b;
    int64_t i;
    uint64_t u;
    double f;
    const char *s;
} nino_default;

// One widget of one node. `key` is the input name in workflow files and the C field name.
typedef struct nino_param {
    const char *key, *label, *unit, *help;
    nino_type type;
    bool optional;                    // may be missing in a workflow; the default is taken
    bool multiline;                   // STRING: show a text area
    bool is_inert;                    // accepted for compatibility, has no effect (help says why)
    nino_default def, min, max, step; // hard limits, enforced everywhere
    nino_default ui_min, ui_max;      // slider range if narrower; both 0: use min/max
    const char *const *names;         // NINO_ENUM: NULL-terminated
    const char *folder;               // NINO_FILE: "vae", "checkpoints", "input", ...
    const char *const
        *extra;        // NINO_FILE: further accepted words ("taesd"), NULL-terminated, or NULL
    bool upload_slot;  // widgets_values has one extra entry after it (LoadImage)
    bool control_slot; // the same, with the choice what happens to the value after a run; seeds
                       // have it without saying so
    uint16_t offset;   // internal: into the node's params struct
} nino_param;
// ComfyUI's name of the parameter's type: INT, FLOAT, BOOLEAN, STRING, COMBO.
NINO_API const char *nino_param_type_name(const nino_param *p);

typedef enum nino_port_type {
    NINO_PORT_NONE,
    NINO_PORT_MODEL,
    NINO_PORT_CLIP,
    NINO_PORT_VAE,
    NINO_PORT_CONDITIONING,
    NINO_PORT_LATENT,
    NINO_PORT_IMAGE,
    NINO_PORT_MASK,
    NINO_PORT_STRING,
    NINO_PORT_INT,
    NINO_PORT_FLOAT,
    NINO_PORT_BOOLEAN,
    NINO_PORT_NOISE,
    NINO_PORT_SAMPLER,
    NINO_PORT_SIGMAS,
    NINO_PORT_GUIDER,
    NINO_PORT_CLIP_VISION,
    NINO_PORT_CLIP_VISION_OUTPUT,
    NINO_PORT_STYLE_MODEL,
    NINO_PORT_VIDEO,
    NINO_PORT_ANY,  // "*"
    NINO_PORT_OTHER // a ComfyUI type this version has no value for
} nino_port_type;
NINO_API const char *nino_port_type_name(nino_port_type t); // "LATENT" ...

typedef struct nino_port {
    const char *key;
    nino_port_type type;
    bool optional;
    const char *help;
} nino_port;

// A former name of the class, or a name used by shipped files.
typedef struct nino_alias {
    const char *name;
    const char *const
        *ignored;     // inputs of that form that are accepted and ignored, NULL-terminated, or NULL
    const char *note; // shown once as a warning, or NULL
    const char *const
        *values; // triples "key", "former value", "value now"; NULL-terminated, or NULL
} nino_alias;

// A former order of widgets_values, matched by length, then by the types of the values.
typedef struct nino_widget_order {
    // NULL-terminated list of keys. "-" skips a value of any type, "-i" one that looks like an INT;
    // f FLOAT, b BOOLEAN, s STRING, e a choice. A seed's control_after_generate has an entry here.
    const char *const *keys;
    const char *version; // "1.0.9"
} nino_widget_order;

typedef struct nino_node_def {
    const char *key; // class_type in workflow files
    const char *title, *category, *help;
    const nino_port *inputs, *outputs; // {0}-terminated
    const nino_param *params;          // {0}-terminated, in the order of widgets_values
    size_t params_size;
    bool is_output;                  // runs even if nothing uses it
    bool is_virtual;                 // Note: never runs
    const nino_alias *aliases;       // {0}-terminated or NULL
    const nino_widget_order *orders; // {0}-terminated or NULL
    const struct nino_node_ops *ops; // internal: run, identity, plan
} nino_node_def;

NINO_API extern const nino_node_def *const nino_node_defs[]; // NULL-terminated

// By class name or alias; *alias (may be NULL) is set when it was an alias. NULL: no such node.
NINO_API const nino_node_def *nino_node_find(const char *class_type, const nino_alias **alias);
// A class of ComfyUI (or of the original extension) that this version knows by name but cannot run.
NINO_API bool nino_node_is_known_unsupported(const char *class_type);
// The known class name nearest to a misspelt one, or NULL.
NINO_API const char *nino_node_nearest(const char *class_type);

NINO_END
