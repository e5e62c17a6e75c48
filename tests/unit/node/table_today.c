// The node table against the schema of today's ComfyUI (object_info_2026.json): rows that grow,
// choices with inputs, matching types, widgets and sockets, outputs.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/node/node_impl.h"
#include "core/node/param.h"
#include "tests/test.h"

static const char *current = "";
static const nino_node_def *def;

#define ROW(cond)                                                                                  \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s: ", current);                                                      \
            CHECK(cond);                                                                           \
        }                                                                                          \
    } while (0)

// Inputs that are another thing here, with the reason.
static const char *const others[][3] = {
    { "SaveVideo", "format", "codec stands beside it, as in older files" },
    { "SaveVideo", "codec", "" },
    { "CustomCombo", "choice", "any text: the list is the workflow's" },
    { "ImageCompare", "compare_view", "the editor's own" },
    { "CreateVideo", "bit_depth", "frames are 8 bits deep" },
};

static bool is_other(const char *key)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(others[i][0], def->key) && !strcmp(others[i][1], key))
            return true;
    return false;
}

static bool is_choice_of(const char *when, const char *key)
{
    for (; when && *when; when += strcspn(when, "|"), when += *when == '|')
        if (strlen(key) == strcspn(when, "|") && !strncmp(when, key, strlen(key)))
            return true;
    return false;
}

// The row of this key that the choice brings; NULL choice: any.
static const nino_param *param_of(const char *key, const char *choice)
{
    for (const nino_param *p = def->params; p && p->key; p++)
        if (!strcmp(p->key, key) && (!choice || is_choice_of(p->when, choice)))
            return p;
    return NULL;
}

static const nino_port *port_of(const char *key, const char *choice)
{
    const nino_port *p = nino_port_find(def, key);
    return p && (!choice || is_choice_of(p->when, choice)) ? p : NULL;
}

static bool is_widget(const char *type, const nino_json *info)
{
    static const char *const types[] = { "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", "COLOR" };
    bool forced = false;
    nino_json_bool(nino_json_get(info, "forceInput"), &forced);
    for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(types[i], type))
            return !forced;
    return !type;
}

static void check_default(const nino_param *p, const nino_json *info)
{
    const nino_json *v = nino_json_get(info, "default");
    double d = 0;
    bool b = false;
    if (!v || p->is_inert)
        return;
    switch (p->type) {
    case NINO_INT: ROW(!nino_json_double(v, &d) || d == (double) p->def.i); break;
    case NINO_FLOAT: ROW(!nino_json_double(v, &d) || d == p->def.f); break;
    case NINO_BOOL: ROW(!nino_json_bool(v, &b) || b == p->def.b); break;
    case NINO_STRING: ROW(!nino_json_str(v) || !strcmp(nino_json_str(v), p->def.s)); break;
    case NINO_ENUM: ROW(!nino_json_str(v) || !strcmp(nino_json_str(v), p->names[p->def.i])); break;
    default: break;
    }
    // what was legal before stays so
    if ((p->type == NINO_INT || p->type == NINO_FLOAT) &&
        nino_json_double(nino_json_get(info, "max"), &d) && d < 9e15)
        ROW(d <= (p->type == NINO_INT ? (double) p->max.i : p->max.f));
    if ((p->type == NINO_INT || p->type == NINO_FLOAT) &&
        nino_json_double(nino_json_get(info, "min"), &d) && d > -9e15)
        ROW(d >= (p->type == NINO_INT ? (double) p->min.i : p->min.f));
}

static void check_group(const nino_json *inputs, const char *prefix, const char *choice);

static void check_choices(const char *key, const nino_json *info)
{
    const nino_param *p = param_of(key, NULL);
    int n = 0;
    ROW(p && p->type == NINO_ENUM);
    for (const nino_json *o = nino_json_get(info, "options")->child; o; o = o->next, n++) {
        const char *name = nino_json_str(nino_json_get(o, "key"));
        ROW(p->names[n] && !strcmp(p->names[n], name));
        check_group(nino_json_get(o, "inputs"), key, name);
    }
    ROW(!p->names[n]);
}

static void check_row(const char *key, const nino_json *info)
{
    const nino_json *t = nino_json_get(info, "template"), *in = nino_json_get(t, "input");
    const nino_json *one = nino_json_get(in, "required"), *names = nino_json_get(t, "names");
    const char *prefix = nino_json_str(nino_json_get(t, "prefix"));
    int64_t most = names ? names->count : 0, least = 0;
    one = one && one->child ? one->child : nino_json_get(in, "optional")->child;
    nino_json_i64(nino_json_get(t, "max"), &most);
    nino_json_i64(nino_json_get(t, "min"), &least);
    const char *type = nino_json_str(nino_json_at(one, 0));
    for (int64_t i = 0; i <= most; i++) {
        char name[256];
        const char *own = names ? nino_json_str(nino_json_at(names, (uint32_t) i)) : NULL;
        if (names && !own)
            break;
        if (own)
            snprintf(name, sizeof(name), "%s.%s", key, own);
        else
            snprintf(name, sizeof(name), "%s.%s%lld", key, prefix, (long long) i);
        const nino_port *p = port_of(name, NULL);
        ROW((p != NULL) == (i < most));
        if (!p)
            break;
        ROW(p->grows && p->optional == (i >= least));
        ROW(strncmp(type, "COMFY_MATCH", 11) ? !strcmp(nino_port_types(p), type)
                                             : p->match != NULL);
    }
}

static void check_input(const nino_json *in, const char *prefix, const char *choice)
{
    char key[128];
    const nino_json *info = nino_json_at(in, 1);
    const char *type = nino_json_str(nino_json_at(in, 0));
    const char *as = nino_json_str(nino_json_get(info, "widgetType"));
    snprintf(key, sizeof(key), "%s%s%s", prefix, *prefix ? "." : "", in->key);
    if (is_other(key))
        return;
    if (type && !strcmp(type, "COMFY_DYNAMICCOMBO_V3")) {
        check_choices(key, info);
        return;
    }
    if (type && !strcmp(type, "COMFY_AUTOGROW_V3")) {
        check_row(key, info);
        return;
    }
    if (is_widget(as ? as : type, info)) {
        const nino_param *p = param_of(key, choice);
        if (!p)
            fprintf(stderr, "no parameter %s\n", key);
        ROW(p);
        check_default(p, info);
        return;
    }
    const nino_port *p = port_of(key, choice);
    if (!p)
        fprintf(stderr, "no input %s\n", key);
    ROW(p);
    if (type && !strncmp(type, "COMFY_MATCH", 11)) {
        const char *allowed =
            nino_json_str(nino_json_get(nino_json_get(info, "template"), "allowed_types"));
        ROW(p->match && !strcmp(nino_port_types(p), allowed));
    } else if (p->type != NINO_PORT_OTHER) {
        ROW(!strcmp(nino_port_types(p), type));
    }
}

static void check_group(const nino_json *inputs, const char *prefix, const char *choice)
{
    static const char *const groups[] = { "required", "optional" };
    for (int i = 0; i < 2; i++) {
        const nino_json *g = nino_json_get(inputs, groups[i]);
        for (const nino_json *in = g ? g->child : NULL; in; in = in->next)
            check_input(in, prefix, choice);
    }
}

static void check_outputs(const nino_json *theirs)
{
    const nino_json *types = nino_json_get(theirs, "output");
    uint32_t n = 0;
    for (; def->outputs[n].key; n++) {
        const char *type = nino_json_str(nino_json_at(types, n));
        const nino_port_type own = def->outputs[n].type;
        if (own == NINO_PORT_OTHER)
            continue;
        ROW(type);
        if (!strcmp(type, "COMBO") && own == NINO_PORT_STRING)
            continue; // a word, on a link as any other
        ROW(strncmp(type, "COMFY_MATCH", 11) ? !strcmp(nino_port_types(&def->outputs[n]), type)
                                             : def->outputs[n].match != NULL);
    }
    ROW(n == types->count);
}

int main(void)
{
    char path[512];
    char *text = NULL;
    size_t len = 0;
    int n = 0;
    nino_error err = { 0 };
    nino_json_doc *doc = NULL;
    const char *assets = test_assets();
    snprintf(path, sizeof(path), "%s/../spec/models/object_info_2026.json", assets ? assets : "");
    if (!assets || nino_file_read(path, 16 << 20, false, &text, &len, &err)) {
        test_skip_part("no object_info_2026.json to compare with");
        return 0;
    }
    CHECK_OK(nino_json_parse(text, len, path, NULL, &doc, &err), err);
    for (const nino_json *c = doc->root->child; c; c = c->next) {
        def = nino_node_find(c->key, NULL);
        if (!def || strcmp(def->key, c->key) != 0)
            continue;
        current = c->key;
        check_group(nino_json_get(c, "input"), "", NULL);
        check_outputs(c);
        n++;
    }
    printf("  %d classes as today's schema has them\n", n);
    CHECK(n >= 220);
    nino_json_doc_destroy(&doc);
    free(text);
    return 0;
}
