// Choosing one of several values, and asking about values. What is not chosen is not looked at.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

// ---- the first that is there -----------------------------------------------------------------

// A context that has nothing counts as missing.
static bool is_empty(const nino_value *v)
{
    if (!v)
        return true;
    for (int i = 0; v->type == NINO_PORT_CONTEXT && i < v->n_items; i++)
        if (v->item[i])
            return false;
    return v->type == NINO_PORT_CONTEXT;
}

static nino_status any_switch_run(nino_run *r, nino_error *err)
{
    (void) err;
    for (int i = 0; r->def->inputs[i].key && !r->out[0]; i++)
        if (!is_empty(r->in[i]))
            nino_ext_give(r, 0, r->in[i]);
    return NINO_OK;
}

NINO_NODE(any_switch, "Any Switch (rgthree)", "Any Switch", "rgthree",
          "The first of its inputs that is connected and has a value",
          NINO_INPUTS(NINO_MORE_1_9("any_0", ANY), NINO_MORE_0_9("any_1", ANY),
                      NINO_MORE_0_9("any_2", ANY)),
          NINO_OUTPUTS({ .key = "*", .type = NINO_PORT_ANY }), NINO_RUN(any_switch_run));

// ---- by number -------------------------------------------------------------------------------

typedef struct index_params {
    int64_t index;
} index_params;

static nino_status give_chosen(nino_run *r, int64_t at, nino_error *err)
{
    if (!r->in[at])
        return nino_fail_kind(err, NINO_ERR_ARG, "missing_input", r->def->inputs[at].key,
                              "it is chosen but not connected");
    nino_ext_give(r, 0, r->in[at]);
    return NINO_OK;
}

// From 0 and from 1.
static bool takes_index(const void *params, int port)
{
    return port == ((const index_params *) params)->index;
}

static nino_status index_run(nino_run *r, nino_error *err)
{
    return give_chosen(r, ((const index_params *) r->params)->index, err);
}

static bool takes_number(const void *params, int port)
{
    return port == ((const index_params *) params)->index - 1;
}

static nino_status number_run(nino_run *r, nino_error *err)
{
    const nino_status st = give_chosen(r, ((const index_params *) r->params)->index - 1, err);
    return st || !r->def->outputs[1].key ? st : nino_ext_out_copy(r, 1, "", err);
}

#define BY_INDEX NINO_RUN(index_run, .takes = takes_index)
#define BY_NUMBER NINO_RUN(number_run, .takes = takes_number)
#define CHOICE(key_, d, lo, hi)                                                                    \
    NINO_PARAMS(index_params, NINO_K_INT(key_, index_params, index, d, lo, hi, 1,                  \
                                         .label = "Number", .help = "Which input is handed on"))

NINO_NODE(easy_index_switch, "easy anythingIndexSwitch", "Any Index Switch",
          "EasyUse/Logic/Index Switch", "One of several values, by number",
          NINO_INPUTS(NINO_MORE_0_9("value", ANY)), NINO_OUTPUTS(NINO_PORT(value, ANY)),
          CHOICE("index", 0, 0, 9), BY_INDEX);
#define CR_SWITCH(var, cls, T, n, ...)                                                             \
    NINO_NODE(var, cls, cls, "Comfyroll Studio/Utils/Logic", "One of several values, by number",   \
              NINO_INPUTS(__VA_ARGS__),                                                            \
              NINO_OUTPUTS(NINO_PORT(T, T), NINO_PORT(show_help, STRING)),                         \
              CHOICE("Input", 1, 1, n), BY_NUMBER)
#define OF(k, T) NINO_PORT(k, T, .optional = true)
CR_SWITCH(cr_image_switch, "CR Image Input Switch", IMAGE, 2, OF(image1, IMAGE), OF(image2, IMAGE));
CR_SWITCH(cr_image_switch4, "CR Image Input Switch (4 way)", IMAGE, 4, OF(image1, IMAGE),
          OF(image2, IMAGE), OF(image3, IMAGE), OF(image4, IMAGE));
CR_SWITCH(cr_model_switch, "CR Model Input Switch", MODEL, 2, OF(model1, MODEL), OF(model2, MODEL));
CR_SWITCH(cr_latent_switch, "CR Latent Input Switch", LATENT, 2, OF(latent1, LATENT),
          OF(latent2, LATENT));
CR_SWITCH(cr_clip_switch, "CR Clip Input Switch", CLIP, 2, OF(clip1, CLIP), OF(clip2, CLIP));
CR_SWITCH(cr_cond_switch, "CR Conditioning Input Switch", CONDITIONING, 2,
          OF(conditioning1, CONDITIONING), OF(conditioning2, CONDITIONING));

// ---- by a switch -----------------------------------------------------------------------------

typedef struct either_params {
    bool is_on;
} either_params;

// Inputs in this order: off and on, or on and off.
static bool takes_off_on(const void *params, int port)
{
    return port == ((const either_params *) params)->is_on;
}

static nino_status off_on_run(nino_run *r, nino_error *err)
{
    return give_chosen(r, ((const either_params *) r->params)->is_on, err);
}

static bool takes_on_off(const void *params, int port)
{
    return port == !((const either_params *) params)->is_on;
}

static nino_status on_off_run(nino_run *r, nino_error *err)
{
    return give_chosen(r, !((const either_params *) r->params)->is_on, err);
}

#define EITHER(key_)                                                                               \
    NINO_PARAMS(either_params, NINO_K_BOOL(key_, either_params, is_on, false, .label = "Switch",   \
                                           .help = "On or off"))

NINO_NODE(kj_switch, "LazySwitchKJ", "Lazy Switch KJ", "KJNodes/misc",
          "Hands one of two values on; what makes the other does not run for it",
          NINO_INPUTS(NINO_PORT(on_false, ANY, .help = "Taken where the switch is off"),
                      NINO_PORT(on_true, ANY, .help = "Taken where it is on")),
          NINO_OUTPUTS(NINO_PORT(output, ANY)), EITHER("switch"),
          NINO_RUN(off_on_run, .takes = takes_off_on));
NINO_NODE(easy_if, "easy ifElse", "If else", "EasyUse/Logic",
          "Hands one of two values on; what makes the other does not run for it",
          NINO_INPUTS(NINO_PORT(on_true, ANY, .help = "Taken where the switch is on"),
                      NINO_PORT(on_false, ANY, .help = "Taken where it is off")),
          NINO_OUTPUTS(NINO_PORT(output, ANY)), EITHER("boolean"),
          NINO_RUN(on_off_run, .takes = takes_on_off));

// Truth as in Python.
static bool is_true(const nino_value *v)
{
    double d = 0;
    if (v && v->type == NINO_PORT_STRING)
        return v->u.string[0];
    return nino_ext_number(v, &d) ? d != 0 : v && (!v->is_list || v->n_items);
}

static nino_status condition_run(nino_run *r, nino_error *err)
{
    const int at = is_true(r->in[0]) ? 1 : 2;
    if (at == 2 && !r->in[2])
        return NINO_OK; // no value
    return give_chosen(r, at, err);
}

NINO_NODE(essentials_condition, "SimpleCondition+", "Simple Condition", "essentials/utilities",
          "One of two values, as a third says",
          NINO_INPUTS(NINO_PORT(evaluate, ANY), NINO_PORT(on_true, ANY),
                      NINO_PORT(on_false, ANY, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(result, ANY)), NINO_RUN(condition_run));

// ---- comparing -------------------------------------------------------------------------------

enum { IS_EQUAL, IS_NOT, IS_LESS, IS_MORE, IS_AT_MOST, IS_AT_LEAST };

static nino_status compare(const nino_run *r, int64_t how, bool *out, nino_error *err)
{
    const nino_value *a = r->in[0], *b = r->in[1];
    double x = 0, y = 0;
    int order = 0;
    const bool texts = a && b && a->type == NINO_PORT_STRING && b->type == NINO_PORT_STRING;
    if (texts) {
        order = strcmp(a->u.string, b->u.string);
    } else if (nino_ext_number(a, &x) && nino_ext_number(b, &y)) {
        order = (x > y) - (x < y);
        if (a && b && a->type == NINO_PORT_INT && b->type == NINO_PORT_INT)
            order = (a->u.i > b->u.i) - (a->u.i < b->u.i);
    } else if (how > IS_NOT) {
        return nino_fail_kind(err, NINO_ERR_ARG, "value", r->def->inputs[0].key,
                              "these two cannot be put into an order");
    } else {
        order = a != b;
    }
    switch (how) {
    case IS_EQUAL: *out = order == 0; break;
    case IS_NOT: *out = order != 0; break;
    case IS_LESS: *out = order < 0; break;
    case IS_MORE: *out = order > 0; break;
    case IS_AT_MOST: *out = order <= 0; break;
    default: *out = order >= 0; break;
    }
    return NINO_OK;
}

static nino_status comparison_run(nino_run *r, nino_error *err)
{
    static const int8_t of[] = { IS_EQUAL, IS_NOT, IS_LESS, IS_AT_MOST, IS_MORE, IS_AT_LEAST };
    bool yes = false;
    const nino_status st = compare(r, of[((const index_params *) r->params)->index], &yes, err);
    return st ? st : nino_out_bool(r, 0, yes, err);
}

NINO_NODE(essentials_comparison, "SimpleComparison+", "Simple Comparison", "essentials/utilities",
          "Compares two values", NINO_INPUTS(NINO_PORT(a, ANY), NINO_PORT(b, ANY)),
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(index_params, NINO_K_ENUM("comparison", index_params, index,
                                                NINO_WORDS("==", "!=", "<", "<=", ">", ">="), 0,
                                                .label = "Comparison", .help = "What is asked")),
          NINO_RUN(comparison_run));

// The last four look at one value only.
static nino_status easy_compare_run(nino_run *r, nino_error *err)
{
    static const int8_t of[] = { IS_EQUAL, IS_NOT, IS_LESS, IS_MORE, IS_AT_MOST, IS_AT_LEAST };
    const int64_t how = ((const index_params *) r->params)->index;
    bool yes = false;
    double v = 0;
    if (how < 6) {
        const nino_status st = compare(r, of[how], &yes, err);
        return st ? st : nino_out_bool(r, 0, yes, err);
    }
    const int port = how >= 8;
    if (!nino_ext_number(r->in[port], &v))
        return nino_fail_kind(err, NINO_ERR_ARG, "value", r->def->inputs[port].key,
                              "this value is no number");
    return nino_out_bool(r, 0, how % 2 ? v <= 0 : v > 0, err);
}

NINO_NODE(easy_compare, "easy compare", "Compare", "EasyUse/Logic/Math", "Compares two values",
          NINO_INPUTS(NINO_PORT(a, ANY, .optional = true), NINO_PORT(b, ANY, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(boolean, BOOLEAN)),
          NINO_PARAMS(index_params,
                      NINO_K_ENUM("comparison", index_params, index,
                                  NINO_WORDS("a == b", "a != b", "a < b", "a > b", "a <= b",
                                             "a >= b", "a > 0", "a <= 0", "b > 0", "b <= 0"),
                                  0, .optional = true, .label = "Comparison",
                                  .help = "What is asked")),
          NINO_RUN(easy_compare_run));

// ---- switches of two switches ----------------------------------------------------------------

typedef struct logic_params {
    bool boolean_a, boolean_b;
} logic_params;

static nino_status and_run(nino_run *r, nino_error *err)
{
    const logic_params *p = r->params;
    return nino_out_bool(r, 0, p->boolean_a && p->boolean_b, err);
}

static nino_status or_run(nino_run *r, nino_error *err)
{
    const logic_params *p = r->params;
    return nino_out_bool(r, 0, p->boolean_a || p->boolean_b, err);
}

static nino_status xor_run(nino_run *r, nino_error *err)
{
    const logic_params *p = r->params;
    return nino_out_bool(r, 0, p->boolean_a != p->boolean_b, err);
}

#define LOGIC(var, cls, what, fn)                                                                  \
    NINO_NODE(                                                                                     \
        var, cls, cls, "WAS Suite/Logic", what, NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),         \
        NINO_PARAMS(                                                                               \
            logic_params,                                                                          \
            NINO_P_BOOL(logic_params, boolean_a, false, .label = "a", .help = "The first"),        \
            NINO_P_BOOL(logic_params, boolean_b, false, .label = "b", .help = "The second")),      \
        NINO_RUN(fn))
LOGIC(was_and, "Logic Comparison AND", "Whether both are on", and_run);
LOGIC(was_or, "Logic Comparison OR", "Whether one is on", or_run);
LOGIC(was_xor, "Logic Comparison XOR", "Whether one alone is on", xor_run);
