// Node parameters through the node table: defaults, coercion, limits, printing.
#include "core/node/param.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "core/base/utf8.h"

#define SHOWN 80 // bytes of a bad value that a message repeats

static size_t value_size(nino_type t) { return t == NINO_BOOL ? sizeof(bool) : 8; }

void nino_params_init(const nino_node_def *def, void *params)
{
    memset(params, 0, def->params_size);
    for (const nino_param *p = def->params; p && p->key; p++)
        nino_param_store(p, params, &p->def);
}

const nino_param *nino_param_find(const nino_node_def *def, const char *key)
{
    for (const nino_param *p = def->params; p && p->key; p++)
        if (!strcmp(p->key, key))
            return p;
    return NULL;
}

const nino_port *nino_port_find(const nino_node_def *def, const char *key)
{
    for (const nino_port *p = def->inputs; p && p->key; p++)
        if (!strcmp(p->key, key))
            return p;
    return NULL;
}

// ---- inputs of choices ------------------------------------------------------------------------

const char *nino_port_types(const nino_port *p)
{
    return p->type == NINO_PORT_ANY && p->types ? p->types : nino_port_type_name(p->type);
}

static bool is_below(const char *key, const char *outer)
{
    const size_t n = strlen(outer);
    return !strncmp(key, outer, n) && key[n] == '.';
}

bool nino_param_brings(const nino_node_def *def, const char *key)
{
    for (const nino_param *p = def->params; p && p->key; p++)
        if (p->when && is_below(p->key, key))
            return true;
    for (const nino_port *p = def->inputs; p && p->key; p++)
        if (p->when && is_below(p->key, key))
            return true;
    return false;
}

const nino_port *nino_port_next(const nino_node_def *def, const char *key)
{
    const nino_port *p = nino_port_find(def, key);
    const char *dot = p && p->grows ? strrchr(key, '.') : NULL;
    const bool is_same =
        dot && p[1].key && p[1].grows && !strncmp(p[1].key, key, (size_t) (dot - key) + 1);
    return is_same ? p + 1 : NULL;
}

static bool when_says(const char *when, const char *choice)
{
    const size_t n = strlen(choice);
    for (;;) {
        const size_t len = strcspn(when, "|");
        if (len == n && !memcmp(when, choice, n))
            return true;
        if (!when[len])
            return false;
        when += len + 1;
    }
}

// Goes from choice to choice towards the outer one; the table decides how many there are.
nino_presence nino_input_presence(const nino_node_def *def, const char *key, const char *when,
                                  const nino_json *inputs)
{
    nino_presence is = NINO_PRESENT;
    char outer[96];
    const char *dot;
    snprintf(outer, sizeof(outer), "%s", key);
    while (when && (dot = strrchr(outer, '.'))) {
        outer[dot - outer] = 0;
        const nino_param *p = nino_param_find(def, outer);
        const nino_json *v = nino_json_get(inputs, outer);
        const char *choice = v ? nino_json_str(v) : p && p->names ? p->names[p->def.i] : NULL;
        if (!p)
            return NINO_ABSENT;
        if (!choice)
            is = NINO_UNDECIDED;
        else if (!when_says(when, choice))
            return NINO_ABSENT;
        when = p->when;
    }
    return is;
}

void nino_param_store(const nino_param *p, void *params, const nino_default *v)
{
    memcpy((char *) params + p->offset, v, value_size(p->type));
}

nino_default nino_param_load(const nino_param *p, const void *params)
{
    nino_default v = { 0 };
    memcpy(&v, (const char *) params + p->offset, value_size(p->type));
    return v;
}

const char *nino_param_type_name(const nino_param *p)
{
    switch (p->type) {
    case NINO_BOOL: return "BOOLEAN";
    case NINO_INT:
    case NINO_SEED: return "INT";
    case NINO_FLOAT: return "FLOAT";
    case NINO_ENUM:
    case NINO_FILE: return "COMBO";
    case NINO_STRING: return "STRING";
    }
    return "?";
}

// What a message repeats of a bad value, for as long as the statement lasts.
static const char *shown_of(char shown[SHOWN], const char *text, size_t len)
{
    nino_utf8_printable(shown, SHOWN, text, len);
    return shown;
}
#define BAD_VALUE(fmt, ...)                                                                        \
    nino_fail_kind(err, NINO_ERR_FORMAT, "value", p->key, nino_tr(tr, fmt),                        \
                   shown_of((char[SHOWN]){ 0 }, text, len), ##__VA_ARGS__)

// ---- limits ----------------------------------------------------------------------------------

static nino_status check_int(const nino_param *p, const char *text, nino_translate_fn tr,
                             nino_error *err)
{
    char lo[24], hi[24];
    snprintf(lo, sizeof(lo), "%" PRId64, p->min.i);
    snprintf(hi, sizeof(hi), "%" PRId64, p->max.i);
    return nino_fail_kind(err, NINO_ERR_RANGE, "range", p->key,
                          nino_tr(tr, "%.40s is outside %s..%s"), text, lo, hi);
}

// INT: int() of Python, so 20.7 becomes 20; numbers beyond 64 bits are out of range, not an error
// of form.
static nino_status int_from(const nino_param *p, const char *text, size_t len, nino_default *out,
                            nino_translate_fn tr, nino_error *err)
{
    int64_t i;
    if (!nino_parse_i64(text, &i)) {
        double d;
        if (!nino_parse_double(text, &d) || isnan(d))
            return BAD_VALUE("'%s' is not an integer");
        if (!(d > -9.2e18 && d < 9.2e18))
            return check_int(p, text, tr, err);
        i = (int64_t) d;
    }
    if (i < p->min.i || i > p->max.i)
        return check_int(p, text, tr, err);
    out->i = i;
    return NINO_OK;
}

bool nino_param_is_random(const nino_param *p, const char *text)
{
    double d;
    return p->type == NINO_SEED && text[0] == '-' && nino_parse_double(text, &d) && d == -1;
}

static nino_status seed_from(const nino_param *p, const char *text, size_t len, nino_default *out,
                             nino_translate_fn tr, nino_error *err)
{
    if (nino_parse_u64(text, &out->u))
        return NINO_OK;
    double d;
    if (!nino_parse_double(text, &d) || isnan(d))
        return BAD_VALUE("'%s' is not a seed");
    if (nino_param_is_random(p, text)) { // until it is drawn
        out->u = UINT64_MAX;
        return NINO_OK;
    }
    // An exact float such as 20.0 is a seed; above 2^53 a float no longer says which one.
    if (!(d >= 0 && d <= 9007199254740992.0))
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", p->key,
                              nino_tr(tr, "%.40s is outside %s..%s"), text, "0",
                              "18446744073709551615");
    out->u = (uint64_t) d;
    return NINO_OK;
}

static nino_status float_from(const nino_param *p, const char *text, size_t len, nino_default *out,
                              nino_translate_fn tr, nino_error *err)
{
    double d;
    if (!nino_parse_double(text, &d) || !isfinite(d))
        return BAD_VALUE("'%s' is not a finite number");
    if (d < p->min.f || d > p->max.f) {
        char lo[32], hi[32];
        nino_print_double(lo, sizeof(lo), p->min.f);
        nino_print_double(hi, sizeof(hi), p->max.f);
        return nino_fail_kind(err, NINO_ERR_RANGE, "range", p->key,
                              nino_tr(tr, "%.40s is outside %s..%s"), text, lo, hi);
    }
    out->f = d;
    return NINO_OK;
}

static nino_status bool_from(const nino_param *p, const char *text, size_t len, nino_default *out,
                             nino_translate_fn tr, nino_error *err)
{
    if (!strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "1"))
        out->b = true;
    else if (!strcmp(text, "false") || !strcmp(text, "False") || !strcmp(text, "0"))
        out->b = false;
    else
        return BAD_VALUE("'%s' is not true or false");
    return NINO_OK;
}

static bool enum_index(const nino_param *p, const char *text, int64_t *out)
{
    for (int64_t i = 0; p->names[i]; i++)
        if (!strcmp(p->names[i], text)) {
            *out = i;
            return true;
        }
    return false;
}

static nino_status enum_from(const nino_param *p, const char *text, size_t len,
                             const nino_alias *alias, nino_default *out, nino_translate_fn tr,
                             nino_error *err)
{
    if (enum_index(p, text, &out->i))
        return NINO_OK;
    // triples: key, former value, value now
    for (const char *const *m = alias ? alias->values : NULL; m && m[0]; m += 3)
        if (!strcmp(m[0], p->key) && !strcmp(m[1], text) && enum_index(p, m[2], &out->i))
            return NINO_OK;
    char list[200] = "";
    size_t n = 0;
    for (int i = 0; p->names[i] && n < sizeof(list) - 40; i++)
        n += (size_t) snprintf(list + n, sizeof(list) - n, "%s%.30s", i ? ", " : "", p->names[i]);
    return BAD_VALUE("'%s' is not one of %s", list);
}

// A switch that became a list of words: older files hold true and false.
static bool enum_from_bool(const nino_param *p, bool b, nino_default *out)
{
    return enum_index(p, b ? "enable" : "disable", &out->i) ||
           enum_index(p, b ? "on" : "off", &out->i) ||
           enum_index(p, b ? "true" : "false", &out->i) ||
           enum_index(p, b ? "resize" : "stretch", &out->i);
}

static nino_status file_from(const nino_param *p, const char *text, size_t len, nino_arena *a,
                             nino_default *out, nino_translate_fn tr, nino_error *err)
{
    if (!len)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "value", p->key, "%s",
                              nino_tr(tr, "no file is chosen"));
    // LoadImage's picker appends where the file is; the input folder is where it is looked for.
    static const char suffix[] = " [input]";
    const size_t ns = sizeof(suffix) - 1;
    if (!strcmp(p->folder, "input") && len > ns && !strcmp(text + len - ns, suffix))
        len -= ns;
    char *s = nino_arena_strndup(a, text, len);
    if (!s)
        return nino_fail(err, NINO_ERR_NOMEM, p->key, "out of memory");
    for (char *c = s; *c; c++) // files that were written on Windows name folders so
        *c = *c == '\\' ? '/' : *c;
    for (const char *const *w = p->extra; w && *w; w++)
        if (!strcmp(*w, s)) {
            out->s = s;
            return NINO_OK;
        }
    const nino_status st = nino_file_check_name(s, err);
    if (st == NINO_OK)
        out->s = s;
    return st;
}

static nino_status string_from(const nino_param *p, const char *text, size_t len, nino_arena *a,
                               nino_default *out, nino_error *err)
{
    char *s = nino_arena_strndup(a, text, len);
    if (!s)
        return nino_fail(err, NINO_ERR_NOMEM, p->key, "out of memory");
    out->s = s;
    return NINO_OK;
}

static nino_status from_text(const nino_param *p, const char *text, size_t len,
                             const nino_alias *alias, nino_arena *a, nino_default *out,
                             nino_translate_fn tr, nino_error *err)
{
    switch (p->type) {
    case NINO_BOOL: return bool_from(p, text, len, out, tr, err);
    case NINO_INT: return int_from(p, text, len, out, tr, err);
    case NINO_SEED: return seed_from(p, text, len, out, tr, err);
    case NINO_FLOAT: return float_from(p, text, len, out, tr, err);
    case NINO_ENUM: return enum_from(p, text, len, alias, out, tr, err);
    case NINO_FILE: return file_from(p, text, len, a, out, tr, err);
    case NINO_STRING: return string_from(p, text, len, a, out, err);
    }
    return nino_fail(err, NINO_ERR_ARG, p->key, "bad parameter type");
}

nino_status nino_param_from_text(const nino_param *p, const char *text, nino_arena *a,
                                 nino_default *out, nino_error *err)
{
    return from_text(p, text, strlen(text), NULL, a, out, NULL, err);
}

nino_status nino_param_from_json(const nino_param *p, const nino_json *v, const nino_alias *alias,
                                 nino_arena *a, nino_default *out, nino_translate_fn tr,
                                 nino_error *err)
{
    const nino_json *wrapped = nino_json_get(v, "__value__");
    if (wrapped)
        v = wrapped;
    switch (v->type) {
    case NINO_JSON_BOOL:
        if (p->type == NINO_BOOL) {
            out->b = v->boolean;
            return NINO_OK;
        }
        if (p->type == NINO_ENUM && enum_from_bool(p, v->boolean, out))
            return NINO_OK;
        if (p->type == NINO_ENUM)
            return enum_from(p, v->boolean ? "true" : "false", v->boolean ? 4 : 5, alias, out, tr,
                             err);
        if (p->type == NINO_STRING || p->type == NINO_FILE)
            break;
        return from_text(p, v->boolean ? "1" : "0", 1, alias, a, out, tr, err);
    case NINO_JSON_NUMBER:
        if (p->type == NINO_BOOL) { // any number but zero is true
            double d = 0;
            nino_json_double(v, &d);
            out->b = d != 0;
            return NINO_OK;
        }
        if (p->type == NINO_FILE)
            break;
        return from_text(p, v->text, v->len, alias, a, out, tr, err);
    case NINO_JSON_STRING:
        if (strlen(v->text) != v->len) {
            return nino_fail_kind(err, NINO_ERR_FORMAT, p->type == NINO_FILE ? "path" : "value",
                                  p->key, "%s", nino_tr(tr, "the text contains a NUL character"));
        }
        return from_text(p, v->text, v->len, alias, a, out, tr, err);
    case NINO_JSON_NULL:
    case NINO_JSON_ARRAY:
    case NINO_JSON_OBJECT: break;
    }
    static const char *const what[] = { N_("null"),   N_("true or false"), N_("a number"),
                                        N_("a text"), N_("an array"),      N_("an object") };
    return nino_fail_kind(err, NINO_ERR_FORMAT, "value", p->key,
                          nino_tr(tr, "%s where %s is needed"), nino_tr(tr, what[v->type]),
                          nino_param_type_name(p));
}

void nino_param_print(nino_buf *out, const nino_param *p, const nino_default *v)
{
    char num[48];
    switch (p->type) {
    case NINO_BOOL: nino_buf_adds(out, v->b ? "true" : "false"); return;
    case NINO_INT: nino_buf_addf(out, "%" PRId64, v->i); return;
    case NINO_SEED: nino_buf_addf(out, "%" PRIu64, v->u); return;
    case NINO_FLOAT:
        nino_print_double(num, sizeof(num), v->f);
        nino_buf_adds(out, num);
        return;
    case NINO_ENUM: nino_buf_add_json_string(out, p->names[v->i], strlen(p->names[v->i])); return;
    case NINO_STRING:
    case NINO_FILE:
        nino_buf_add_json_string(out, v->s ? v->s : "", v->s ? strlen(v->s) : 0);
        return;
    }
}
