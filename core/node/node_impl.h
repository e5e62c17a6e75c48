// Internal: how a node runs, and the macros that declare it beside its run function. To add a node:
// write it in a file of its family's folder in core/node, add one line to table/node_table.c. CLI,
// JSON, GUI and docs have it then.
#pragma once
#include "core/base/vars.h"
#include "core/node/value.h"
#include "core/op/stream.h"
#include "core/sample/guide/resume.h"
#include "core/text/tokenizer.h"
#include "core/tile/tile.h"
#include <ninodes/ctx.h>

// What the executor gives a running node.
typedef struct nino_run {
    nino_ctx *ctx;
    nino_stream *stream; // precision already set for this node; plan backend when planning
    const char *node_id;
    const nino_node_def *def;
    const void *params;            // the node's params struct
    nino_value *const *in;         // one entry an input port; NULL: optional and not connected
    nino_value **out;              // to be filled, one entry an output port (references)
    const struct nino_json *extra; // with takes_extra: "inputs" as in the workflow; else NULL
    const char *prompt_json;       // for metadata: API form of this run, NULL: none
    const char *workflow_json;     // UI form if the file had one, else NULL
    const char *profile_json;      // of outputs: the run so far (ninodes/run_profile.h), NULL: none
    const nino_log *log;
    const volatile int *cancel;
    const nino_hash *key; // of the results; NULL: they must not be used again
    unsigned n_sampled;   // samplings that the node has begun
    bool no_metadata;     // output files carry neither workflow nor profile
    bool is_plan; // outputs get the right shapes, files are neither read beyond headers nor written
} nino_run;

// Whether a node may be given a part of a batch (core/run/share.c).
typedef enum nino_items_opt {
    NINO_ITEMS_TOGETHER, // it looks at several items at once, or changes how many there are
    NINO_ITEMS_APART, // item k of its outputs is made of item k of its inputs, whatever the others
    NINO_ITEMS_SHARED // the same, and it takes long: with it a batch begins to be shared out
} nino_items_opt;

typedef struct nino_node_ops {
    nino_status (*run)(nino_run *r, nino_error *err);
    // Adds to the content key what inputs do not show (files: identity). NULL: inputs are enough.
    nino_status (*identity)(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                            nino_error *err);
    // Results that must not be used again, nor what is made from them: monitors, a forced reload.
    bool is_volatile;
    bool (*is_volatile_with)(const void *params); // the same, where it depends; NULL: it does not
    // What the node asks the stream to be set to. NULL, or AUTO: the run's precision.
    nino_precision (*precision)(const void *params);
    // Which policies it has other than the standard (nino_profile.switched), where the run has
    // `run`. NULL: the run's.
    uint32_t (*switched)(const void *params, uint32_t run);
    // The planner chooses nothing for it: its ops do as they do by themselves. NULL: it may.
    bool (*is_fixed)(const void *params);
    // ComfyUI's INPUT_IS_LIST: inputs come as they are, lists or not (nino_value_count(),
    // nino_value_at()). Other nodes run once for every item of the longest list; shorter ones go on
    // with their last item.
    bool takes_lists;
    // Lazy inputs: whether input `port` of the list is looked at; what gives it does not run for a
    // node that does not. Asked before the run where all parameters stand in the workflow or come
    // from constants, else when the parameters have been made. NULL: all are looked at.
    bool (*takes)(const void *params, int port);
    bool takes_extra; // inputs beyond those of the class are legal, and in nino_run.extra
    // What `identity` does, for files that such inputs name. NULL: there are none.
    nino_status (*identity_extra)(nino_ctx *ctx, const struct nino_json *inputs,
                                  struct nino_hasher *h, nino_error *err);
    // Objects among the values of the editor's form that have a member `lora` are the inputs
    // "lora_1", "lora_2" ... of the API form (rgthree).
    bool has_lora_objects;
    bool is_constant; // the output is the only parameter
    // What the node does elsewhere, where it does nothing here but hand its inputs on; said when a
    // workflow is checked. NULL: it does something.
    const char *no_effect;
    // Of IMAGE, MASK and LATENT inputs and outputs, which are all outputs that such a node has.
    nino_items_opt items;
    // Whether that holds for these inputs and parameters. NULL: for all.
    bool (*items_apart_with)(nino_value *const *in, const void *params);
    // What can be said about the parameters before the run; ctx may be NULL (then no file is looked
    // for). err->kind is the nino_issue code: "path", "missing_file", "value". NULL: nothing more.
    nino_status (*check)(const nino_ctx *ctx, const void *params, nino_error *err);
} nino_node_ops;

typedef struct nino_preview_settings {
    nino_preview_opt kind;
    int every;
    double share;
    char *path; // where previews go; its folder is temp_dir(), which may not exist yet
} nino_preview_settings;

typedef bool nino_fits_fn(const nino_weights *w);

// What nodes ask of those who run them. Every nino_ctx begins with a pointer to such a table, so
// node/ knows nothing of run/, which fills it in (core/run/services.c).
typedef struct nino_services {
    // ---- a running node speaks
    void (*output)(nino_run *r, const char *path);                  // a file was written
    void (*text)(nino_run *r, const char *title, const char *text); // text for people
    void (*step)(nino_run *r, uint32_t step, uint32_t total);       // for the job's progress events
    // ---- files
    // Opens a model file: folder kind ("vae", "checkpoints", "vae_approx") and the workflow's name.
    // Shared, so two nodes naming one file share it. NINO_ERR_MISSING lists the folders searched.
    nino_status (*open_model)(nino_ctx *ctx, const char *kind, const char *name, nino_weights **out,
                              nino_error *err);
    nino_status (*open_input)(nino_ctx *ctx, const char *name, int *fd, nino_error *err);
    // The file of a textual inversion in the "embeddings" folders; NINO_ERR_MISSING: none.
    nino_status (*open_embedding)(nino_ctx *ctx, const char *name, nino_weights **out,
                                  nino_error *err);
    // Adds device, inode, size and mtime of a file to a content key. kind: a model folder or
    // "input".
    nino_status (*identity)(nino_ctx *ctx, const char *kind, const char *name,
                            struct nino_hasher *h, nino_error *err);
    // Is there such a file? Otherwise kind "missing_file" with the folders searched, or "path".
    nino_status (*check_file)(const nino_ctx *ctx, const char *kind, const char *name,
                              nino_error *err);
    // How who opened the context wants its messages; NULL: in English.
    nino_translate_fn (*translator)(const nino_ctx *ctx);
    // Names available in a folder kind, sorted, "sub/name" for sub-folders; malloc'd
    // NULL-terminated array, one free().
    char **(*list_models)(const nino_ctx *ctx, const char *kind);
    // The first file of these folder kinds (NULL-terminated), by name, whose header fits: *kind is
    // one of them, *name malloc'd. NINO_ERR_MISSING, kind "missing_file": `what` is not there.
    nino_status (*find_model)(const nino_ctx *ctx, const char *const *kinds, nino_fits_fn *fits,
                              const char *what, const char **kind, char **name, nino_error *err);
    // The tokenizer of a kind from the model folders ("tokenizers/clip", "tokenizers/t5") or a
    // ComfyUI checkout beside one; loaded once. NINO_ERR_MISSING lists every place looked at. Unref
    // it.
    nino_status (*tokenizer)(nino_ctx *ctx, nino_tokenizer_kind kind, nino_tokenizer **out,
                             nino_error *err);
    const char *(*output_dir)(const nino_ctx *ctx); // NULL: nothing is written
    const char *(*temp_dir)(const nino_ctx *ctx);   // previews; private to this user
    // ---- what is kept from node to node
    // MODEL, CLIP and VAE values made from files, shared by every node that names the same ones:
    // device memory holds each network once. key: what the value was made from (files' identities,
    // options); types have separate keys. find returns a new reference or NULL; keep takes one.
    // drop also forgets cached results that hold the network, so that a reload does not need the
    // memory twice.
    nino_value *(*find_object)(nino_ctx *ctx, nino_port_type type, nino_hash key);
    void (*keep_object)(nino_ctx *ctx, nino_hash key, nino_value *v);
    void (*drop_object)(nino_ctx *ctx, nino_port_type type, nino_hash key);
    // Calls fn for each that is kept.
    void (*each_object)(nino_ctx *ctx, void (*fn)(void *priv, const nino_value *v), void *priv);
    uint64_t (*trim)(nino_ctx *ctx); // drops results and what is kept; host bytes freed
    // ---- sampling
    const nino_preview_settings *(*previews)(const nino_ctx *ctx);
    // Where samplings keep their steps, with the key of what decides their results that is not in
    // run->key. dir NULL: nowhere.
    nino_resume_place (*steps)(const nino_ctx *ctx);
    void (*set_kept_steps)(nino_ctx *ctx, int n); // for who asks with nino_ctx_kept_steps()
    nino_monitor *(*monitor)(nino_ctx *ctx);
    const nino_log *(*log)(const nino_ctx *ctx);
} nino_services;

static inline const nino_services *nino_services_of(const nino_ctx *ctx)
{
    return *(const nino_services *const *) (const void *) ctx;
}

// Those of a running node.
void nino_run_output(nino_run *r, const char *path);
void nino_run_text(nino_run *r, const char *title, const char *text);
void nino_run_step(nino_run *r, uint32_t step, uint32_t total);

// ---- declaring nodes -------------------------------------------------------------------------
// A node in one piece: its class, what people see of it, and then its parts:
//
//     NINO_NODE(threshold_mask, "ThresholdMask", "ThresholdMask", "mask", "A mask of 0 and 1 only",
//               NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
//               NINO_PARAMS(threshold_params, NINO_P_FLOAT(threshold_params, value, ...)),
//               NINO_RUN(threshold_run));
//
// defines nino_node_threshold_mask. Any other field of nino_node_def may stand among the parts.
#define NINO_NODE(var, class_name, shown, group, text, ...)                                        \
    const nino_node_def nino_node_##var = {                                                        \
        .key = class_name, .title = shown, .category = group, .help = text, __VA_ARGS__            \
    }
// clang-format off
#define NINO_INPUTS(...) .inputs = (const nino_port[]) { __VA_ARGS__, { 0 } }
#define NINO_OUTPUTS(...) .outputs = (const nino_port[]) { __VA_ARGS__, { 0 } }
#define NINO_NO_OUTPUTS .outputs = (const nino_port[]) { { 0 } }
// Its name in workflow files, its type without NINO_PORT_, further fields of nino_port.
#define NINO_PORT(name, T, ...) { .key = #name, .type = NINO_PORT_##T, __VA_ARGS__ }
// Rows of inputs that grow, "images.image0" and so on: the first has to be there, of the others as
// many as there are.
#define NINO_FIRST(name, T, ...) { .key = name, .type = NINO_PORT_##T, .grows = true, __VA_ARGS__ }
#define NINO_MORE(name, T, ...)                                                                    \
    { .key = name, .type = NINO_PORT_##T, .grows = true, .optional = true, __VA_ARGS__ }
#define NINO_MORE_1_9(prefix, T, ...)                                                              \
    NINO_MORE(prefix "1", T, __VA_ARGS__), NINO_MORE(prefix "2", T, __VA_ARGS__),                  \
        NINO_MORE(prefix "3", T, __VA_ARGS__), NINO_MORE(prefix "4", T, __VA_ARGS__),              \
        NINO_MORE(prefix "5", T, __VA_ARGS__), NINO_MORE(prefix "6", T, __VA_ARGS__),              \
        NINO_MORE(prefix "7", T, __VA_ARGS__), NINO_MORE(prefix "8", T, __VA_ARGS__),              \
        NINO_MORE(prefix "9", T, __VA_ARGS__)
#define NINO_MORE_0_9(prefix, T, ...)                                                              \
    NINO_MORE(prefix "0", T, __VA_ARGS__), NINO_MORE_1_9(prefix, T, __VA_ARGS__)
#define NINO_MORE_1_49(prefix, T, ...)                                                             \
    NINO_MORE_1_9(prefix, T, __VA_ARGS__), NINO_MORE_0_9(prefix "1", T, __VA_ARGS__),              \
        NINO_MORE_0_9(prefix "2", T, __VA_ARGS__), NINO_MORE_0_9(prefix "3", T, __VA_ARGS__),      \
        NINO_MORE_0_9(prefix "4", T, __VA_ARGS__)
#define NINO_MORE_B_Z(prefix, T, ...)                                                              \
    NINO_MORE(prefix "b", T, __VA_ARGS__), NINO_MORE(prefix "c", T, __VA_ARGS__),                  \
        NINO_MORE(prefix "d", T, __VA_ARGS__), NINO_MORE(prefix "e", T, __VA_ARGS__),              \
        NINO_MORE(prefix "f", T, __VA_ARGS__), NINO_MORE(prefix "g", T, __VA_ARGS__),              \
        NINO_MORE(prefix "h", T, __VA_ARGS__), NINO_MORE(prefix "i", T, __VA_ARGS__),              \
        NINO_MORE(prefix "j", T, __VA_ARGS__), NINO_MORE(prefix "k", T, __VA_ARGS__),              \
        NINO_MORE(prefix "l", T, __VA_ARGS__), NINO_MORE(prefix "m", T, __VA_ARGS__),              \
        NINO_MORE(prefix "n", T, __VA_ARGS__), NINO_MORE(prefix "o", T, __VA_ARGS__),              \
        NINO_MORE(prefix "p", T, __VA_ARGS__), NINO_MORE(prefix "q", T, __VA_ARGS__),              \
        NINO_MORE(prefix "r", T, __VA_ARGS__), NINO_MORE(prefix "s", T, __VA_ARGS__),              \
        NINO_MORE(prefix "t", T, __VA_ARGS__), NINO_MORE(prefix "u", T, __VA_ARGS__),              \
        NINO_MORE(prefix "v", T, __VA_ARGS__), NINO_MORE(prefix "w", T, __VA_ARGS__),              \
        NINO_MORE(prefix "x", T, __VA_ARGS__), NINO_MORE(prefix "y", T, __VA_ARGS__),              \
        NINO_MORE(prefix "z", T, __VA_ARGS__)
// Rows of parameters, whose values are fields of the struct S.
#define NINO_PARAMS(S, ...)                                                                        \
    .params_size = sizeof(S), .params = (const nino_param[]) { __VA_ARGS__, { 0 } }
// Lists of words: choices of an ENUM, inputs that an alias ignores, the order of widgets.
#define NINO_WORDS(...) (const char *const[]) { __VA_ARGS__, NULL }
#define NINO_ALIASES(...) .aliases = (const nino_alias[]) { __VA_ARGS__, { 0 } }
#define NINO_ORDERS(...) .orders = (const nino_widget_order[]) { __VA_ARGS__, { 0 } }
// The run function, further fields of nino_node_ops.
#define NINO_RUN(...) .ops = &(const nino_node_ops) { .run = __VA_ARGS__ }
// clang-format on

// ---- declaring parameters --------------------------------------------------------------------
// offsetof() that only compiles if the field really has the C type `ctype`.
#define NINO_FIELD(S, fld, ctype) _Generic(((S *) 0)->fld, ctype : offsetof(S, fld))

// Rows as below of a parameter whose name is no word of C: "resize_type.width".
#define NINO_K_BOOL(name, S, fld, d, ...)                                                          \
    {                                                                                              \
        .key = name, .type = NINO_BOOL, .offset = NINO_FIELD(S, fld, bool), .def.b = d,            \
        __VA_ARGS__                                                                                \
    }
#define NINO_K_INT(name, S, fld, d, lo, hi, st, ...)                                               \
    {                                                                                              \
        .key = name, .type = NINO_INT, .offset = NINO_FIELD(S, fld, int64_t), .def.i = d,          \
        .min.i = lo, .max.i = hi, .step.i = st, __VA_ARGS__                                        \
    }
#define NINO_K_FLOAT(name, S, fld, d, lo, hi, st, ...)                                             \
    {                                                                                              \
        .key = name, .type = NINO_FLOAT, .offset = NINO_FIELD(S, fld, double), .def.f = d,         \
        .min.f = lo, .max.f = hi, .step.f = st, __VA_ARGS__                                        \
    }
#define NINO_K_SEED(name, S, fld, ...)                                                             \
    {                                                                                              \
        .key = name, .type = NINO_SEED, .offset = NINO_FIELD(S, fld, uint64_t), __VA_ARGS__        \
    }
#define NINO_K_ENUM(name, S, fld, nm, d, ...)                                                      \
    {                                                                                              \
        .key = name, .type = NINO_ENUM, .offset = NINO_FIELD(S, fld, int64_t), .names = nm,        \
        .def.i = d, __VA_ARGS__                                                                    \
    }
#define NINO_K_STRING(name, S, fld, d, ...)                                                        \
    {                                                                                              \
        .key = name, .type = NINO_STRING, .offset = NINO_FIELD(S, fld, const char *), .def.s = d,  \
        __VA_ARGS__                                                                                \
    }
#define NINO_K_FILE(name, S, fld, dir, ...)                                                        \
    {                                                                                              \
        .key = name, .type = NINO_FILE, .offset = NINO_FIELD(S, fld, const char *), .folder = dir, \
        __VA_ARGS__                                                                                \
    }
// The name is that of the field.
#define NINO_P_BOOL(S, fld, d, ...) NINO_K_BOOL(#fld, S, fld, d, __VA_ARGS__)
#define NINO_P_INT(S, fld, d, lo, hi, st, ...) NINO_K_INT(#fld, S, fld, d, lo, hi, st, __VA_ARGS__)
#define NINO_P_FLOAT(S, fld, d, lo, hi, st, ...)                                                   \
    NINO_K_FLOAT(#fld, S, fld, d, lo, hi, st, __VA_ARGS__)
#define NINO_P_SEED(S, fld, ...) NINO_K_SEED(#fld, S, fld, __VA_ARGS__)
#define NINO_P_ENUM(S, fld, nm, d, ...) /* nm may be a list, which no macro hands on */            \
    {                                                                                              \
        .key = #fld, .type = NINO_ENUM, .offset = NINO_FIELD(S, fld, int64_t), .names = nm,        \
        .def.i = d, __VA_ARGS__                                                                    \
    }
#define NINO_P_STRING(S, fld, d, ...) NINO_K_STRING(#fld, S, fld, d, __VA_ARGS__)
#define NINO_P_FILE(S, fld, dir, ...) NINO_K_FILE(#fld, S, fld, dir, __VA_ARGS__)
