// The node table: what people wire together. Everything that the readers of workflows, the command
// line, the app and the documents know about a node comes from here.
//
// Threads: read-only tables, for any thread. Their texts live as long as the program.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

// What a parameter is, and how C holds its value.
typedef enum nino_type {
    // bool.
    NINO_BOOL,
    // int64_t.
    NINO_INT,
    // double.
    NINO_FLOAT,
    // uint64_t, of which the whole range is valid.
    NINO_SEED,
    // int64_t, an index into `names`.
    NINO_ENUM,
    // const char *, owned by the graph.
    NINO_STRING,
    // const char *, the name of a file in the folder that `folder` names.
    NINO_FILE,
} nino_type;

// A value of a parameter: the member that belongs to its type.
typedef union nino_default {
    bool b;
    int64_t i;
    uint64_t u;
    double f;
    const char *s;
} nino_default;

// A parameter of a node, which an editor shows as a widget.
typedef struct nino_param {
    // The input's name in workflow files, the text that stands before the value, its unit, and what
    // it does. unit and help may be NULL.
    const char *key, *label, *unit, *help;
    nino_type type;
    // A workflow may leave it out; then it has its default.
    bool optional;
    // NINO_STRING: shown as an area of text.
    bool multiline;
    // It is accepted for compatibility and has no effect; help says why.
    bool is_inert;
    // The default, the range that is enforced everywhere, and the step of editors.
    nino_default def, min, max, step;
    // The range of a slider where it is narrower; both 0: min to max.
    nino_default ui_min, ui_max;
    // NINO_ENUM: the choices, NULL-terminated.
    const char *const *names;
    // NINO_FILE: "vae", "checkpoints", "input", ...
    const char *folder;
    // NINO_FILE: words that are accepted beside the files ("taesd"), NULL-terminated; or NULL.
    const char *const *extra;
    // widgets_values of the editor's files has one more entry behind it (LoadImage).
    bool upload_slot;
    // The same, and the entry chooses what becomes of the value after a run. Seeds have it without
    // saying so.
    bool control_slot;
    // The library's own.
    uint16_t offset;
    // It acts in some cases only: in which ("TAEHV models"); help says why. NULL: in all, or, with
    // is_inert, in none.
    const char *acts_for;
    // An input of a choice that brings inputs, "resize_type.width": it is there only where the
    // choice, "resize_type", is one of these, separated by '|'. Rows of one key with others may
    // follow. NULL: always.
    const char *when;
} nino_param;
// ComfyUI's name of the parameter's type: INT, FLOAT, BOOLEAN, STRING, COMBO.
NINO_API const char *nino_param_type_name(const nino_param *p);

// What goes over a link.
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
    // "*": any of them.
    NINO_PORT_ANY,
    // A type of ComfyUI that this version has no value for.
    NINO_PORT_OTHER,
    NINO_PORT_UPSCALE_MODEL,
    NINO_PORT_CONTROL_NET,
    NINO_PORT_IPADAPTER,
    NINO_PORT_AUDIO,
    // What is done to a latent.
    NINO_PORT_LATENT_OPERATION,
    // Values that are JSON: {"x": 0, "y": 0, "width": 512, "height": 512}; an object; a list.
    NINO_PORT_BOUNDING_BOX,
    NINO_PORT_DICT,
    NINO_PORT_ARRAY,
    // Bundles of extensions: several values under one name.
    NINO_PORT_CONTEXT,
    NINO_PORT_BASIC_PIPE,
    NINO_PORT_BUS,
    NINO_PORT_LORA_STACK,
    NINO_PORT_FILENAMES,
    NINO_PORT_VIDEO_INFO,
    NINO_PORT_VEC2,
    NINO_PORT_VEC3,
    NINO_PORT_VEC4,
    NINO_PORT_MODEL_PATCH
} nino_port_type;
// ComfyUI's name of the type: "LATENT". Never NULL.
NINO_API const char *nino_port_type_name(nino_port_type t);

// An input or an output of a node.
typedef struct nino_port {
    // Its name in workflow files.
    const char *key;
    nino_port_type type;
    // Of an input: the node runs without it as well.
    bool optional;
    const char *help;
    // NINO_PORT_ANY: what it may be, "IMAGE,MASK"; NULL: anything.
    const char *types;
    // All inputs and outputs of a class with the same word have the same type. NULL: its own.
    const char *match;
    // One of a row of inputs of which an editor shows those that are linked, and one more.
    bool grows;
    // As in nino_param.
    const char *when;
} nino_port;

// A former name of a class, or one that shipped files use.
typedef struct nino_alias {
    const char *name;
    // Inputs of that form that are accepted and ignored, NULL-terminated; or NULL.
    const char *const *ignored;
    // What a warning says once about it; NULL: nothing.
    const char *note;
    // Values that have changed, as triples of key, former value and value now, NULL-terminated; or
    // NULL.
    const char *const *values;
} nino_alias;

// A former order of widgets_values. A file's list is matched by its length, then by the types of
// its values.
typedef struct nino_widget_order {
    // Keys, NULL-terminated. "-" skips a value of any type, "-i" one that looks like an INT; f
    // FLOAT, b BOOLEAN, s STRING, e a choice. A seed's control_after_generate has an entry here.
    const char *const *keys;
    // The version that wrote it: "1.0.9".
    const char *version;
} nino_widget_order;

// A class of nodes.
typedef struct nino_node_def {
    // class_type of workflow files.
    const char *key;
    const char *title, *category, *help;
    // Both end with {0}.
    const nino_port *inputs, *outputs;
    // In the order of widgets_values; ends with {0}.
    const nino_param *params;
    size_t params_size;
    // It runs even if nothing uses it.
    bool is_output;
    // It never runs, as a note.
    bool is_virtual;
    // Both end with {0}, or are NULL.
    const nino_alias *aliases;
    const nino_widget_order *orders;
    // The library's own.
    const struct nino_node_ops *ops;
} nino_node_def;

// All classes, NULL-terminated.
NINO_API extern const nino_node_def *const nino_node_defs[];

// Finds a class by its name or by an alias. *alias becomes the alias, or NULL when it was none;
// alias may be NULL. NULL: there is no such class.
NINO_API const nino_node_def *nino_node_find(const char *class_type, const nino_alias **alias);
// True for a class of ComfyUI or of the ROCm extension that this version knows by name but cannot
// run.
NINO_API bool nino_node_is_known_unsupported(const char *class_type);
// Adds the classes of a ComfyUI server, with its own packs of nodes, to those known by name: path is
// a file with its answer to GET /object_info, "-" standard input. They cannot run here, but
// workflows that are loaded afterwards have their values under the right names. A class that is in
// the file takes the place of the known one of that name, not of one that runs here. Errors:
// NINO_ERR_IO, NINO_ERR_FORMAT, NINO_ERR_NOMEM; classes read before stay. Threads: while no other
// function of the library runs. It holds for the whole process.
NINO_API nino_status nino_node_add_info(const char *path, nino_error *err);
// The known class name nearest to a misspelt one, or NULL.
NINO_API const char *nino_node_nearest(const char *class_type);

NINO_END
