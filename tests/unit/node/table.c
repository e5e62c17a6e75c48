// The node table: every row is complete and consistent, and the stock nodes have exactly the
// inputs, order, defaults and limits that ComfyUI's object_info lists.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/node/table/known.h"
#include "core/node/node_impl.h"
#include "core/node/param.h"
#include "core/run/context.h"
#include "tests/test.h"

static const char *current = ""; // shown when a check fails

#define ROW(cond)                                                                                  \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s: ", current);                                                      \
            CHECK(cond);                                                                           \
        }                                                                                          \
    } while (0)

static void check_text(const char *s)
{
    ROW(s && *s);
    ROW(s[strlen(s) - 1] != '.' && s[strlen(s) - 1] != ' ');
}

static int count_names(const nino_param *p)
{
    int n = 0;
    while (p->names[n])
        n++;
    return n;
}

// What brings an input stands before it, and has those choices.
static void check_when(const nino_node_def *d, const char *key, const char *when)
{
    char outer[96];
    for (bool found; when;
         when += strcspn(when, "|"), when += *when == '|', when = *when ? when : NULL) {
        snprintf(outer, sizeof(outer), "%s", key);
        ROW(strrchr(outer, '.'));
        *strrchr(outer, '.') = 0;
        const nino_param *p = nino_param_find(d, outer);
        ROW(p && p->names);
        found = false;
        for (int i = 0; p->names[i]; i++)
            found |= strlen(p->names[i]) == strcspn(when, "|") &&
                     !strncmp(p->names[i], when, strcspn(when, "|"));
        ROW(found);
    }
}

static void check_param(const nino_node_def *d, const nino_param *p)
{
    check_text(p->label);
    check_text(p->help);
    ROW(p->offset + (p->type == NINO_BOOL ? sizeof(bool) : 8) <= d->params_size);
    for (const nino_param *q = d->params; q != p; q++) // rows of one key share a field
        ROW(strcmp(q->key, p->key) ? q->offset != p->offset : q->when && p->when);
    check_when(d, p->key, p->when);
    ROW(!nino_port_find(d, p->key));
    switch (p->type) {
    case NINO_INT:
        ROW(p->min.i < p->max.i && p->step.i > 0);
        ROW(p->def.i >= p->min.i && p->def.i <= p->max.i);
        ROW(!p->ui_max.i || (p->ui_max.i <= p->max.i && p->ui_max.i > p->ui_min.i));
        break;
    case NINO_FLOAT:
        ROW(p->min.f < p->max.f && p->step.f > 0);
        ROW(p->def.f >= p->min.f && p->def.f <= p->max.f);
        break;
    case NINO_ENUM: ROW(p->names && p->def.i >= 0 && p->def.i < count_names(p)); break;
    case NINO_STRING: ROW(p->def.s); break;
    case NINO_FILE: ROW(p->folder && *p->folder); break;
    case NINO_BOOL:
    case NINO_SEED: break;
    }
    // print -> parse gives the same value
    nino_buf b = { 0 };
    nino_arena *a = nino_arena_create();
    nino_json_doc *doc = NULL;
    nino_error err = { 0 };
    nino_default def = p->def, back = { 0 };
    if (p->type == NINO_FILE)
        def.s = "name";
    nino_param_print(&b, p, &def);
    CHECK_OK(nino_json_parse(b.data, b.len, "printed", NULL, &doc, &err), err);
    CHECK_OK(nino_param_from_json(p, doc->root, NULL, a, &back, NULL, &err), err);
    if (p->type == NINO_STRING || p->type == NINO_FILE)
        CHECK_STR(back.s, def.s);
    else
        ROW(!memcmp(&back, &def, p->type == NINO_BOOL ? sizeof(bool) : sizeof(back)));
    nino_json_doc_destroy(&doc);
    nino_arena_destroy(&a);
    nino_buf_release(&b);
}

static void check_ports(const nino_node_def *d, const nino_port *p)
{
    for (int n = 0; p && p[n].key; n++) {
        ROW(n < 63); // the executor's room
        ROW(!p[n].types || p[n].type == NINO_PORT_ANY);
        check_when(d, p[n].key, p[n].when);
        ROW(p[n].type != NINO_PORT_NONE);
        for (int k = 0; k < n; k++)
            ROW(strcmp(p[k].key, p[n].key));
    }
}

static void check_orders(const nino_node_def *d)
{
    for (const nino_widget_order *o = d->orders; o && o->keys; o++) {
        ROW(o->version && *o->version);
        for (const char *const *k = o->keys; *k; k++)
            ROW((*k)[0] == '-' ? strlen(*k) <= 2 : nino_param_find(d, *k) != NULL);
    }
}

// A node that offers a precision tells the executor the one that was chosen, unless it is told to
// behave as the stock one.
static void check_precision(const nino_node_def *d)
{
    const nino_param *p = nino_param_find(d, "precision_mode");
    const nino_param *stock = nino_param_find(d, "compatibility_mode");
    _Alignas(16) char params[512];
    ROW(d->is_virtual || !d->ops->precision == !p);
    if (!p)
        return;
    if (!stock) { // a phase's own: tests/unit/run/phase_nodes.c
        ROW(d->ops->switched);
        return;
    }
    ROW(stock && d->params_size <= sizeof(params));
    nino_params_init(d, params);
    for (int64_t i = 0; p->names[i]; i++)
        for (int as_stock = 0; as_stock < 2; as_stock++) {
            nino_param_store(p, params, &(nino_default){ .i = i });
            nino_param_store(stock, params, &(nino_default){ .b = as_stock });
            CHECK_STR(nino_precision_name(d->ops->precision(params)),
                      as_stock ? "auto" : p->names[i]);
        }
}

static void check_row(const nino_node_def *d)
{
    const nino_alias *alias = NULL;
    current = d->key;
    check_text(d->title);
    check_text(d->category);
    check_text(d->help);
    ROW(d->outputs);
    ROW(d->is_virtual || (d->ops && d->ops->run));
    ROW(!d->is_virtual || !d->is_output);
    check_ports(d, d->inputs);
    check_ports(d, d->outputs);
    for (const nino_param *p = d->params; p && p->key; p++)
        check_param(d, p);
    check_orders(d);
    check_precision(d);
    ROW(nino_node_find(d->key, &alias) == d && !alias);
    for (const nino_alias *a = d->aliases; a && a->name; a++) {
        ROW(nino_node_find(a->name, &alias) == d && alias == a);
        for (const char *const *v = a->values; v && v[0]; v += 3)
            ROW(nino_param_find(d, v[0]) && v[1] && v[2]);
        ROW(!nino_node_is_known_unsupported(a->name));
    }
    ROW(!nino_node_is_known_unsupported(d->key));
}

static void check_known(void)
{
    size_t n;
    const nino_known_class *all = nino_known_classes(&n);
    for (size_t i = 1; i < n; i++) {
        current = all[i].name;
        ROW(strcmp(all[i - 1].name, current) < 0);
        ROW(nino_known_class_find(current) == &all[i]);
    }
    CHECK(nino_node_is_known_unsupported("GLIGENLoader"));
    CHECK(nino_node_is_known_unsupported("TextGenerateLTX2Prompt"));
    CHECK(!nino_node_is_known_unsupported("VAEDecode"));
    CHECK(!nino_node_is_known_unsupported("Nonsense"));
    CHECK(!nino_node_find("GLIGENLoader", NULL) && !nino_node_find("", NULL));
}

// Names that shipped workflows of the original extension use, and what they are here.
static void check_aliases(void)
{
    static const char *const table[][2] = {
        { "ROCmVAEDecode", "ROCMOptimizedVAEDecode" },
        { "ROCMOptimizedVAEDecodeV3", "ROCMOptimizedVAEDecodeV2Phase3" },
        { "ROCMOptimizedVAEDecodeV2Instrumented", "ROCMOptimizedVAEDecodeV2" },
        { "ROCMOptimizedVAEDecodeV2Phase2Instrumented", "ROCMOptimizedVAEDecodeV2Phase2" },
        { "ROCMOptimizedVAEDecodeV2Phase3Instrumented", "ROCMOptimizedVAEDecodeV2Phase3" },
        { "ROCMOptimizedVAEDecodeInstrumented", "ROCMOptimizedVAEDecode" },
        { "ROCmVAEDecodeTiled", "ROCMOptimizedVAEDecodeTiled" },
        { "ROCmCheckpointLoader", "ROCMOptimizedCheckpointLoader" },
        { "ROCmKSampler", "ROCMOptimizedKSampler" },
        { "ROCmKSamplerAdvanced", "ROCMOptimizedKSamplerAdvanced" },
        { "ROCMMemorySafeKSampler", "KSampler" },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const nino_node_def *d = nino_node_find(table[i][0], NULL);
        current = table[i][0];
        ROW(d);
        CHECK_STR(d->key, table[i][1]);
    }
}

// ---- against object_info.json ----------------------------------------------------------------

// What was legal stays so: limits may be wider.
static bool number_is_in(const nino_json *info, const char *key, double want, double absent,
                         bool is_max)
{
    double v = absent;
    nino_json_double(nino_json_get(info, key), &v);
    return is_max ? v <= want : v >= want;
}

static bool number_is(const nino_json *info, const char *key, double want, double absent)
{
    double v = absent;
    nino_json_double(nino_json_get(info, key), &v);
    return v == want;
}

static void compare_choice(const nino_param *p, const nino_json *names, const char *def)
{
    if (p->type == NINO_FILE)
        return; // lists of installed files
    ROW(p->type == NINO_ENUM && (uint32_t) count_names(p) >= names->count); // newer ones: more
    for (uint32_t i = 0; i < names->count; i++)
        CHECK_STR(p->names[i], nino_json_str(nino_json_at(names, i)));
    ROW(def ? !strcmp(p->names[p->def.i], def) : p->def.i == 0);
}

// A type that this version has no value for goes by any name.
static void check_type(nino_port_type ours, const char *theirs)
{
    if (ours != NINO_PORT_OTHER)
        CHECK_STR(nino_port_type_name(ours), theirs);
}

// Without limits there is no check in ComfyUI: everything that the type holds. Without a step the
// editor chooses one.
static void compare_number(const nino_param *p, const nino_json *info)
{
    if (!strcmp(current, "EmptyAudio") && !strcmp(p->key, "sample_rate"))
        return; // has limits since later
    if (p->type == NINO_INT) {
        ROW(number_is(info, "default", (double) p->def.i, 0));
        ROW(number_is_in(info, "min", (double) p->min.i, -(double) INT64_MAX, false));
        ROW(number_is_in(info, "max", (double) p->max.i, (double) INT64_MAX, true));
        ROW(number_is(info, "step", (double) p->step.i, 1));
    } else {
        ROW(number_is(info, "default", p->def.f, 0));
        ROW(number_is(info, "min", p->min.f, -(double) INT64_MAX));
        ROW(number_is(info, "max", p->max.f, (double) INT64_MAX));
        ROW(number_is(info, "step", p->step.f, p->step.f));
    }
}

static void compare_param(const nino_param *p, const nino_json *input)
{
    const nino_json *type = nino_json_at(input, 0), *info = nino_json_at(input, 1);
    const char *def = nino_json_str(nino_json_get(info, "default"));
    const char *name = nino_json_str(type);
    bool b = false;
    if (!name || !strcmp(name, "COMBO")) { // older and newer nodes
        compare_choice(p, name ? nino_json_get(info, "options") : type, def);
        return;
    }
    CHECK_STR(nino_param_type_name(p), name);
    if (p->type == NINO_INT || p->type == NINO_FLOAT)
        compare_number(p, info);
    else if (p->type == NINO_STRING)
        CHECK_STR(p->def.s, def ? def : "");
    if (p->type == NINO_BOOL) {
        nino_json_bool(nino_json_get(info, "default"), &b);
        ROW(p->def.b == b);
    }
    b = false;
    if (p->type == NINO_STRING) {
        nino_json_bool(nino_json_get(info, "multiline"), &b);
        ROW(p->multiline == b);
    } else if (p->type != NINO_SEED) {
        nino_json_bool(nino_json_get(info, "control_after_generate"), &b);
        ROW(p->control_slot == b);
    }
}

// What later versions than the one compared with have at the end of a class's parameters.
static bool is_newer(const char *key, const char *param)
{
    static const char *const list[][2] = {
        { "CFGNorm", "pre_cfg" },
        { "ImageScaleToTotalPixels", "resolution_steps" },
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (!strcmp(list[i][0], key) && !strcmp(list[i][1], param))
            return true;
    return false;
}

static int compare_class(const nino_json *theirs)
{
    const nino_node_def *d = nino_node_find(theirs->key, NULL);
    if (!d)
        return 0;
    current = d->key;
    const nino_port *port = d->inputs;
    const nino_param *param = d->params;
    static const char *const groups[2] = { "required", "optional" };
    for (int i = 0; i < 2; i++) {
        const nino_json *group = nino_json_get(nino_json_get(theirs, "input"), groups[i]);
        for (const nino_json *in = group ? group->child : NULL; in; in = in->next) {
            const char *type = nino_json_str(nino_json_at(in, 0));
            const bool is_widget = !type || !strcmp(type, "INT") || !strcmp(type, "FLOAT") ||
                                   !strcmp(type, "STRING") || !strcmp(type, "BOOLEAN") ||
                                   !strcmp(type, "COMBO");
            ROW(is_widget ? param && param->key : port && port->key);
            CHECK_STR(is_widget ? param->key : port->key, in->key);
            ROW((is_widget ? param->optional : port->optional) == (i == 1));
            if (is_widget)
                compare_param(param++, in);
            else
                check_type((port++)->type, type);
        }
    }
    while (param && param->key && is_newer(d->key, param->key))
        param++;
    ROW(!param || !param->key);
    ROW(!port || !port->key);
    uint32_t n = 0;
    for (; d->outputs[n].key; n++)
        if (n < nino_json_get(theirs, "output")->count)
            check_type(d->outputs[n].type,
                       nino_json_str(nino_json_at(nino_json_get(theirs, "output"), n)));
    // classes that show or save hand on what they were given, since later; videos tell more
    ROW(nino_json_get(theirs, "output")->count == n || (d->is_output && n == 1) ||
        (!strcmp(d->key, "GetVideoComponents") && n == 5));
    bool is_output = false;
    nino_json_bool(nino_json_get(theirs, "output_node"), &is_output);
    ROW(d->is_output == is_output);
    CHECK_STR(d->category, nino_json_str(nino_json_get(theirs, "category")));
    return 1;
}

static void compare_object_info(void)
{
    const char *path = getenv("NINODES_OBJECT_INFO");
    char beside[512] = "";
    if (!path && test_assets()) {
        snprintf(beside, sizeof(beside), "%s/../spec/models/object_info.json", test_assets());
        path = beside;
    }
    char *text = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    nino_json_doc *doc = NULL;
    if (!path || nino_file_read(path, 16 << 20, false, &text, &len, &err)) {
        test_skip_part("no object_info.json to compare with");
        return;
    }
    CHECK_OK(nino_json_parse(text, len, path, NULL, &doc, &err), err);
    int n = 0;
    for (const nino_json *c = doc->root->child; c; c = c->next) {
        bool is_output = false;
        nino_json_bool(nino_json_get(c, "output_node"), &is_output);
        const nino_known_class *k = nino_known_class_find(c->key);
        current = c->key;
        ROW(k && !!(k->flags & NINO_KNOWN_OUTPUT) == is_output);
        ROW(nino_node_find(c->key, NULL) || nino_node_is_known_unsupported(c->key));
        n += compare_class(c);
    }
    CHECK(n >= 90);
    printf("  %d classes compared with object_info.json\n", n);
    nino_json_doc_destroy(&doc);
    free(text);
}

int main(void)
{
    for (int i = 0; nino_node_defs[i]; i++) {
        check_row(nino_node_defs[i]);
        for (int k = 0; k < i; k++)
            CHECK(strcmp(nino_node_defs[k]->key, nino_node_defs[i]->key));
    }
    check_known();
    check_aliases();
    compare_object_info();
    return 0;
}
