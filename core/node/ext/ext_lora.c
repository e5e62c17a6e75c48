// Several LoRAs at once: as widgets, as objects of an editor's list, as stacks on a link.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/node/ext/ext.h"

#define NO_LORA NINO_WORDS("None")

static bool is_named(const char *name) { return name && *name && strcmp(name, "None") != 0; }

// ---- files -----------------------------------------------------------------------------------

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    const char *last = slash > back ? slash : back;
    return last ? last + 1 : path;
}

// The file of that name, or the one of that base name in another folder; malloc'd, NULL: none.
static char *find_lora(nino_ctx *ctx, const char *name)
{
    const nino_services *s = nino_services_of(ctx);
    if (!s->check_file(ctx, "loras", name, NULL))
        return strdup(name);
    char **all = s->list_models(ctx, "loras"), *found = NULL;
    for (int i = 0; all && all[i] && !found; i++)
        if (!strcmp(base_name(all[i]), base_name(name)))
            found = strdup(all[i]);
    free(all);
    return found;
}

// One that is not there is left out, as in the original.
static nino_status add_if_there(nino_run *r, const char *name, double model_by, double clip_by,
                                nino_value **model, nino_value **clip, nino_error *err)
{
    char *file = find_lora(r->ctx, name);
    nino_status st = NINO_OK;
    if (file)
        st = nino_node_add_lora(r, file, model_by, *clip ? clip_by : 0, model, clip, err);
    else if (!r->is_plan)
        nino_logf(r->log, NINO_LOG_WARN, "%s %s: there is no LoRA '%s', it is left out", r->node_id,
                  r->def->key, name);
    free(file);
    return st;
}

// ---- Power Lora Loader -----------------------------------------------------------------------

typedef struct entry {
    const char *name;
    double model_by, clip_by;
} entry;

// An input {on, lora, strength, strengthTwo}; false: it is none, or off.
static bool read_entry(const nino_json *v, entry *e)
{
    bool on = true;
    double by = 1, two = 1;
    if (v->type != NINO_JSON_OBJECT || !(e->name = nino_json_str(nino_json_get(v, "lora"))))
        return false;
    nino_json_bool(nino_json_get(v, "on"), &on);
    nino_json_double(nino_json_get(v, "strength"), &by);
    *e = (entry){ e->name, by, by };
    if (nino_json_double(nino_json_get(v, "strengthTwo"), &two))
        e->clip_by = two;
    return on && is_named(e->name) && (e->model_by != 0 || e->clip_by != 0);
}

static nino_status power_run(nino_run *r, nino_error *err)
{
    nino_value *model = nino_value_ref(r->in[0]), *clip = nino_value_ref(r->in[1]);
    nino_status st = NINO_OK;
    entry e;
    for (const nino_json *v = r->extra ? r->extra->child : NULL; v && !st; v = v->next)
        if (!strncmp(v->key, "lora_", 5) && read_entry(v, &e))
            st = add_if_there(r, e.name, e.model_by, e.clip_by, &model, &clip, err);
    r->out[0] = model;
    r->out[1] = clip;
    return st;
}

static nino_status power_identity(nino_ctx *ctx, const nino_json *inputs, struct nino_hasher *h,
                                  nino_error *err)
{
    nino_status st = NINO_OK;
    entry e;
    for (const nino_json *v = inputs->child; v && !st; v = v->next) {
        char *file = read_entry(v, &e) ? find_lora(ctx, e.name) : NULL;
        if (file)
            st = nino_services_of(ctx)->identity(ctx, "loras", file, h, err);
        free(file);
    }
    return st;
}

NINO_NODE(power_lora, "Power Lora Loader (rgthree)", "Power Lora Loader", "rgthree",
          "Changes a model and its text encoder by any number of LoRA files, in a row; they are "
          "inputs lora_1, lora_2 ... of the form {\"on\": true, \"lora\": FILE, \"strength\": 1}",
          NINO_INPUTS(NINO_PORT(model, MODEL, .optional = true),
                      NINO_PORT(clip, CLIP, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP)),
          NINO_RUN(power_run, .takes_extra = true, .identity_extra = power_identity,
                   .has_lora_objects = true));

// ---- Lora Loader Stack -----------------------------------------------------------------------

typedef struct stack4_params {
    const char *lora_01;
    double strength_01;
    const char *lora_02;
    double strength_02;
    const char *lora_03;
    double strength_03;
    const char *lora_04;
    double strength_04;
} stack4_params;

// Name and strength of each of the four: the struct has them in this order.
static nino_status stack4_run(nino_run *r, nino_error *err)
{
    const stack4_params *p = r->params;
    const struct {
        const char *name;
        double by;
    } all[] = { { p->lora_01, p->strength_01 },
                { p->lora_02, p->strength_02 },
                { p->lora_03, p->strength_03 },
                { p->lora_04, p->strength_04 } };
    nino_value *model = nino_value_ref(r->in[0]), *clip = nino_value_ref(r->in[1]);
    nino_status st = NINO_OK;
    for (int i = 0; i < 4 && !st; i++)
        if (is_named(all[i].name))
            st = nino_node_add_lora(r, all[i].name, all[i].by, all[i].by, &model, &clip, err);
    r->out[0] = model;
    r->out[1] = clip;
    return st;
}

static nino_status add_identity(nino_ctx *ctx, const char *name, struct nino_hasher *h,
                                nino_error *err)
{
    return is_named(name) ? nino_services_of(ctx)->identity(ctx, "loras", name, h, err) : NINO_OK;
}

static nino_status stack4_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    const stack4_params *p = params;
    const char *const all[] = { p->lora_01, p->lora_02, p->lora_03, p->lora_04 };
    nino_status st = NINO_OK;
    for (int i = 0; i < 4 && !st; i++)
        st = add_identity(ctx, all[i], h, err);
    return st;
}

NINO_NODE(lora_stack4, "Lora Loader Stack (rgthree)", "Lora Loader Stack (rgthree)", "rgthree",
          "Changes a model and its text encoder by up to four LoRA files",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP)),
          NINO_PARAMS(stack4_params,
                      NINO_P_FILE(stack4_params, lora_01, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA 1", .help = "A file of models/loras, or None"),
                      NINO_P_FLOAT(stack4_params, strength_01, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength 1",
                                   .help = "How much of the change both get, 0 leaves them alone"),
                      NINO_P_FILE(stack4_params, lora_02, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA 2", .help = "A file of models/loras, or None"),
                      NINO_P_FLOAT(stack4_params, strength_02, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength 2",
                                   .help = "How much of the change both get, 0 leaves them alone"),
                      NINO_P_FILE(stack4_params, lora_03, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA 3", .help = "A file of models/loras, or None"),
                      NINO_P_FLOAT(stack4_params, strength_03, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength 3",
                                   .help = "How much of the change both get, 0 leaves them alone"),
                      NINO_P_FILE(stack4_params, lora_04, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA 4", .help = "A file of models/loras, or None"),
                      NINO_P_FLOAT(stack4_params, strength_04, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength 4",
                                   .help = "How much of the change both get, 0 leaves them alone")),
          NINO_RUN(stack4_run, .identity = stack4_identity));

// ---- one at a time, with a switch or the name as text ----------------------------------------

typedef struct one_params {
    const char *lora_name;
    double strength_model;
    double strength_clip;
} one_params;

typedef struct cr_one_params {
    int64_t switch_;
    const char *lora_name;
    double strength_model;
    double strength_clip;
} cr_one_params;

static nino_status one_lora(nino_run *r, const char *name, double model_by, double clip_by,
                            const char *text, nino_error *err)
{
    nino_value *model = nino_value_ref(r->in[0]), *clip = nino_value_ref(r->in[1]);
    nino_status st = NINO_OK;
    if (is_named(name))
        st = nino_node_add_lora(r, name, model_by, clip_by, &model, &clip, err);
    r->out[0] = model;
    r->out[1] = clip;
    return st ? st : nino_ext_out_copy(r, 2, text, err);
}

static nino_status was_lora_run(nino_run *r, nino_error *err)
{
    const one_params *p = r->params;
    return one_lora(r, p->lora_name, p->strength_model, p->strength_clip, p->lora_name, err);
}

static nino_status example_run(nino_run *r, nino_error *err)
{
    const one_params *p = r->params;
    return one_lora(r, p->lora_name, p->strength_model, p->strength_clip, "", err);
}

static nino_status one_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                nino_error *err)
{
    return add_identity(ctx, ((const one_params *) params)->lora_name, h, err);
}

static nino_status cr_lora_run(nino_run *r, nino_error *err)
{
    const cr_one_params *p = r->params;
    return one_lora(r, p->switch_ == 0 ? p->lora_name : NULL, p->strength_model, p->strength_clip,
                    "", err);
}

static nino_status cr_one_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    return add_identity(ctx, ((const cr_one_params *) params)->lora_name, h, err);
}

NINO_NODE(was_lora, "Load Lora", "Load Lora", "WAS Suite/Loaders",
          "Changes a model and its text encoder by a LoRA file",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(NAME_STRING, STRING)),
          NINO_PARAMS(one_params,
                      NINO_P_FILE(one_params, lora_name, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA", .help = "A file of models/loras"),
                      NINO_P_FLOAT(one_params, strength_model, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength",
                                   .help = "How much of the change the diffusion model gets"),
                      NINO_P_FLOAT(one_params, strength_clip, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Text strength",
                                   .help = "How much of the change the text encoder gets")),
          NINO_RUN(was_lora_run, .identity = one_identity));

NINO_NODE(was_lora_loader, "Lora Loader", "Lora Loader", "WAS Suite/Loaders",
          "Changes a model and its text encoder by a LoRA file",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(NAME_STRING, STRING)),
          NINO_PARAMS(one_params,
                      NINO_P_FILE(one_params, lora_name, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA", .help = "A file of models/loras"),
                      NINO_P_FLOAT(one_params, strength_model, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength",
                                   .help = "How much of the change the diffusion model gets"),
                      NINO_P_FLOAT(one_params, strength_clip, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Text strength",
                                   .help = "How much of the change the text encoder gets")),
          NINO_RUN(was_lora_run, .identity = one_identity));

NINO_NODE(script_lora, "LoraLoader|pysssss", "Lora Loader", "model/loaders",
          "Changes a model and its text encoder by a LoRA file",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP), NINO_PORT(example, STRING)),
          NINO_PARAMS(one_params,
                      NINO_P_FILE(one_params, lora_name, "loras", .label = "LoRA",
                                  .help = "A file of models/loras"),
                      NINO_P_FLOAT(one_params, strength_model, 1.0, -100.0, 100.0, 0.01,
                                   .label = "Strength",
                                   .help = "How much of the change the diffusion model gets"),
                      NINO_P_FLOAT(one_params, strength_clip, 1.0, -100.0, 100.0, 0.01,
                                   .label = "Text strength",
                                   .help = "How much of the change the text encoder gets")),
          NINO_RUN(example_run, .identity = one_identity));

NINO_NODE(cr_lora, "CR Load LoRA", "CR Load LoRA", "Comfyroll Studio/Essential/LoRA",
          "Changes a model and its text encoder by a LoRA file, if switched on",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(show_help, STRING)),
          NINO_PARAMS(cr_one_params,
                      NINO_K_ENUM("switch", cr_one_params, switch_, NINO_WORDS("On", "Off"), 0,
                                  .label = "Switch", .help = "Off leaves both alone"),
                      NINO_P_FILE(cr_one_params, lora_name, "loras", .extra = NINO_WORDS("None"),
                                  .label = "LoRA", .help = "A file of models/loras"),
                      NINO_P_FLOAT(cr_one_params, strength_model, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Strength",
                                   .help = "How much of the change the diffusion model gets"),
                      NINO_P_FLOAT(cr_one_params, strength_clip, 1.0, -10.0, 10.0, 0.01,
                                   .label = "Text strength",
                                   .help = "How much of the change the text encoder gets")),
          NINO_RUN(cr_lora_run, .identity = cr_one_identity));

// ---- stacks on a link: (name, strength, text strength), one after the other ------------------

static bool put(nino_value *v, int i, nino_port_type type, const char *name, double by)
{
    nino_value *x = nino_value_create(type);
    v->item[i] = x;
    if (x && type == NINO_PORT_STRING)
        return (x->u.string = strdup(name));
    if (x)
        x->u.f = by;
    return x;
}

static nino_status give_stack(nino_run *r, const nino_value *before, const entry *e, int n,
                              nino_error *err)
{
    const int had = before ? before->n_items : 0;
    nino_value *out = nino_ext_out_bundle(r, 0, NINO_PORT_LORA_STACK, had + 3 * n, err);
    bool ok = out;
    for (int i = 0; ok && i < had; i++)
        out->item[i] = nino_value_ref(before->item[i]);
    for (int i = 0; ok && i < n; i++)
        ok = put(out, had + 3 * i, NINO_PORT_STRING, e[i].name, 0) &&
             put(out, had + 3 * i + 1, NINO_PORT_FLOAT, NULL, e[i].model_by) &&
             put(out, had + 3 * i + 2, NINO_PORT_FLOAT, NULL, e[i].clip_by);
    return ok ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

typedef struct cr_stack_params {
    int64_t switch_1;
    const char *lora_name_1;
    double model_weight_1;
    double clip_weight_1;
    int64_t switch_2;
    const char *lora_name_2;
    double model_weight_2;
    double clip_weight_2;
    int64_t switch_3;
    const char *lora_name_3;
    double model_weight_3;
    double clip_weight_3;
} cr_stack_params;

static nino_status cr_stack_run(nino_run *r, nino_error *err)
{
    const cr_stack_params *p = r->params;
    const struct {
        int64_t on;
        entry e;
    } all[] = { { p->switch_1, { p->lora_name_1, p->model_weight_1, p->clip_weight_1 } },
                { p->switch_2, { p->lora_name_2, p->model_weight_2, p->clip_weight_2 } },
                { p->switch_3, { p->lora_name_3, p->model_weight_3, p->clip_weight_3 } } };
    entry e[3];
    int n = 0;
    for (int i = 0; i < 3; i++)
        if (all[i].on == 1 && is_named(all[i].e.name))
            e[n++] = all[i].e;
    const nino_status st = give_stack(r, r->in[0], e, n, err);
    return st ? st : nino_ext_out_copy(r, 1, "", err);
}

static nino_status cr_stack_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                     nino_error *err)
{
    const cr_stack_params *p = params;
    const char *const all[] = { p->lora_name_1, p->lora_name_2, p->lora_name_3 };
    nino_status st = NINO_OK;
    for (int i = 0; i < 3 && !st; i++)
        st = add_identity(ctx, all[i], h, err);
    return st;
}

NINO_NODE(
    cr_stack, "CR LoRA Stack", "CR LoRA Stack", "Comfyroll Studio/Essential/LoRA",
    "A list of up to three LoRA files for CR Apply LoRA Stack",
    NINO_INPUTS(NINO_PORT(lora_stack, LORA_STACK, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(LORA_STACK, LORA_STACK), NINO_PORT(show_help, STRING)),
    NINO_PARAMS(
        cr_stack_params,
        NINO_P_ENUM(cr_stack_params, switch_1, NINO_WORDS("Off", "On"), 0, .label = "Switch 1",
                    .help = "Off leaves it out"),
        NINO_P_FILE(cr_stack_params, lora_name_1, "loras", .extra = NINO_WORDS("None"),
                    .label = "LoRA 1", .help = "A file of models/loras, or None"),
        NINO_P_FLOAT(cr_stack_params, model_weight_1, 1.0, -10.0, 10.0, 0.01, .label = "Strength 1",
                     .help = "How much of the change the diffusion model gets"),
        NINO_P_FLOAT(cr_stack_params, clip_weight_1, 1.0, -10.0, 10.0, 0.01,
                     .label = "Text strength 1",
                     .help = "How much of the change the text encoder gets"),
        NINO_P_ENUM(cr_stack_params, switch_2, NINO_WORDS("Off", "On"), 0, .label = "Switch 2",
                    .help = "Off leaves it out"),
        NINO_P_FILE(cr_stack_params, lora_name_2, "loras", .extra = NINO_WORDS("None"),
                    .label = "LoRA 2", .help = "A file of models/loras, or None"),
        NINO_P_FLOAT(cr_stack_params, model_weight_2, 1.0, -10.0, 10.0, 0.01, .label = "Strength 2",
                     .help = "How much of the change the diffusion model gets"),
        NINO_P_FLOAT(cr_stack_params, clip_weight_2, 1.0, -10.0, 10.0, 0.01,
                     .label = "Text strength 2",
                     .help = "How much of the change the text encoder gets"),
        NINO_P_ENUM(cr_stack_params, switch_3, NINO_WORDS("Off", "On"), 0, .label = "Switch 3",
                    .help = "Off leaves it out"),
        NINO_P_FILE(cr_stack_params, lora_name_3, "loras", .extra = NINO_WORDS("None"),
                    .label = "LoRA 3", .help = "A file of models/loras, or None"),
        NINO_P_FLOAT(cr_stack_params, model_weight_3, 1.0, -10.0, 10.0, 0.01, .label = "Strength 3",
                     .help = "How much of the change the diffusion model gets"),
        NINO_P_FLOAT(cr_stack_params, clip_weight_3, 1.0, -10.0, 10.0, 0.01,
                     .label = "Text strength 3",
                     .help = "How much of the change the text encoder gets")),
    NINO_RUN(cr_stack_run, .identity = cr_stack_identity));

typedef struct easy_one {
    const char *name;
    double both, model, clip;
} easy_one;
typedef struct easy_stack_params {
    bool toggle;
    int64_t mode, num_loras;
    easy_one lora[10];
} easy_stack_params;

static nino_status easy_stack_run(nino_run *r, nino_error *err)
{
    const easy_stack_params *p = r->params;
    entry e[10];
    int n = 0;
    for (int i = 0; p->toggle && i < p->num_loras; i++) {
        const easy_one *o = &p->lora[i];
        if (is_named(o->name))
            e[n++] = (entry){ o->name, p->mode ? o->model : o->both, p->mode ? o->clip : o->both };
    }
    return give_stack(r, r->in[0], e, n, err);
}

static nino_status easy_stack_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                       nino_error *err)
{
    const easy_stack_params *p = params;
    nino_status st = NINO_OK;
    for (int i = 0; i < 10 && !st; i++)
        st = add_identity(ctx, p->lora[i].name, h, err);
    return st;
}

#define EASY_STRENGTH(n, fld, tail, lbl)                                                           \
    {                                                                                              \
        .key = "lora_" #n "_" tail, .type = NINO_FLOAT, .label = lbl " " #n, .optional = true,     \
        .offset = offsetof(easy_stack_params, lora[n - 1].fld), .def.f = 1, .min.f = -10,          \
        .max.f = 10, .step.f = 0.01, .help = "How much of the change is applied"                   \
    }
#define EASY_LORA(n)                                                                               \
    { .key = "lora_" #n "_name",                                                                   \
      .type = NINO_FILE,                                                                           \
      .label = "LoRA " #n,                                                                         \
      .optional = true,                                                                            \
      .folder = "loras",                                                                           \
      .extra = NO_LORA,                                                                            \
      .offset = offsetof(easy_stack_params, lora[n - 1].name),                                     \
      .help = "A file of models/loras, or None" },                                                 \
        EASY_STRENGTH(n, both, "strength", "Strength"),                                            \
        EASY_STRENGTH(n, model, "model_strength", "Model strength"),                               \
        EASY_STRENGTH(n, clip, "clip_strength", "Text strength")

NINO_NODE(easy_stack, "easy loraStack", "EasyLoraStack", "EasyUse/Loaders",
          "A list of up to ten LoRA files for easy loraStackApply",
          NINO_INPUTS(NINO_PORT(optional_lora_stack, LORA_STACK, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(lora_stack, LORA_STACK)),
          NINO_PARAMS(easy_stack_params,
                      NINO_P_BOOL(easy_stack_params, toggle, false, .label = "Switch",
                                  .help = "Off leaves all out"),
                      NINO_P_ENUM(easy_stack_params, mode, NINO_WORDS("simple", "advanced"), 0,
                                  .label = "Mode", .help = "One strength for both, or one each"),
                      NINO_P_INT(easy_stack_params, num_loras, 1, 1, 10, 1, .label = "Count",
                                 .help = "How many of them are looked at"),
                      EASY_LORA(1), EASY_LORA(2), EASY_LORA(3), EASY_LORA(4), EASY_LORA(5),
                      EASY_LORA(6), EASY_LORA(7), EASY_LORA(8), EASY_LORA(9), EASY_LORA(10)),
          NINO_RUN(easy_stack_run, .identity = easy_stack_identity));

static nino_status apply_stack(nino_run *r, const nino_value *stack, nino_value *model_in,
                               nino_value *clip_in, nino_error *err)
{
    nino_value *model = nino_value_ref(model_in), *clip = nino_value_ref(clip_in);
    nino_status st = NINO_OK;
    for (int i = 0; i + 2 < stack->n_items && !st; i += 3)
        st = nino_node_add_lora(r, stack->item[i]->u.string, stack->item[i + 1]->u.f,
                                clip ? stack->item[i + 2]->u.f : 0, &model, &clip, err);
    r->out[0] = model;
    r->out[1] = clip;
    return st;
}

static nino_status easy_apply_run(nino_run *r, nino_error *err)
{
    return apply_stack(r, r->in[0], r->in[1], r->in[2], err);
}

static nino_status cr_apply_run(nino_run *r, nino_error *err)
{
    const nino_status st = apply_stack(r, r->in[2], r->in[0], r->in[1], err);
    return st ? st : nino_ext_out_copy(r, 2, "", err);
}

NINO_NODE(easy_apply, "easy loraStackApply", "Easy Apply LoraStack", "EasyUse/Adapter",
          "Changes a model and its text encoder by a list of LoRA files",
          NINO_INPUTS(NINO_PORT(lora_stack, LORA_STACK), NINO_PORT(model, MODEL),
                      NINO_PORT(optional_clip, CLIP, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP)), NINO_RUN(easy_apply_run));

NINO_NODE(cr_apply, "CR Apply LoRA Stack", "CR Apply LoRA Stack", "Comfyroll Studio/Essential/LoRA",
          "Changes a model and its text encoder by a list of LoRA files",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(clip, CLIP),
                      NINO_PORT(lora_stack, LORA_STACK)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL), NINO_PORT(CLIP, CLIP),
                       NINO_PORT(show_help, STRING)),
          NINO_RUN(cr_apply_run));
