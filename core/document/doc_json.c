// Small edits of a workflow's JSON: members, pairs of numbers, lists of ids, counters.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/document/doc.h"

nino_json *nino_doc_get(const nino_json *obj, const char *key)
{
    return (nino_json *) nino_json_get(obj, key);
}

nino_json *nino_doc_need(nino_doc_edit *e, nino_json *obj, const char *key, const char *json,
                         nino_status *st)
{
    nino_json *v = nino_doc_get(obj, key);
    if (*st || (v && v->type != NINO_JSON_NULL))
        return v;
    *st = nino_json_set(e->json, obj, key, json, e->err);
    return nino_doc_get(obj, key);
}

nino_json *nino_doc_find_id(const nino_json *list, const char *id)
{
    for (nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next) {
        const char *s = nino_ui_id(nino_json_get(v, "id"));
        if (s && !strcmp(s, id))
            return v;
    }
    return NULL;
}

nino_json *nino_doc_node_json(nino_doc_edit *e, const char *id, nino_status *st)
{
    nino_json *n = nino_doc_find_id(nino_ui_array(e->scope, "nodes"), id);
    if (!n && !*st)
        *st = nino_fail(e->err, NINO_ERR_UNKNOWN, id, "no such node");
    return n;
}

// Positions as the editor writes them: no more digits than a screen has pixels.
void nino_doc_print_number(nino_buf *out, double v)
{
    char text[32];
    v = isfinite(v) ? rint(fmax(-1e9, fmin(1e9, v)) * 1e4) / 1e4 : 0;
    nino_print_double(text, sizeof(text), v + 0.0);
    nino_buf_adds(out, text);
}

static nino_status set_buf(nino_doc_edit *e, nino_json *obj, const char *key, nino_buf *b)
{
    const nino_status st = b->failed ? nino_doc_nomem(e->d, e->err)
                                     : nino_json_set(e->json, obj, key, b->data, e->err);
    nino_buf_release(b);
    return st;
}

nino_status nino_doc_set_number(nino_doc_edit *e, nino_json *obj, const char *key, double v)
{
    nino_buf b = { 0 };
    nino_doc_print_number(&b, v);
    return set_buf(e, obj, key, &b);
}

nino_status nino_doc_set_string(nino_doc_edit *e, nino_json *obj, const char *key, const char *s)
{
    nino_buf b = { 0 };
    nino_buf_add_json_string(&b, s, strlen(s));
    return set_buf(e, obj, key, &b);
}

static const nino_json *doc_json_part(const nino_json *v, uint32_t i)
{
    return v && v->type == NINO_JSON_OBJECT ? nino_json_get(v, i ? "1" : "0") : nino_json_at(v, i);
}

bool nino_doc_pair(const nino_json *v, double *x, double *y)
{
    double a = 0, b = 0;
    if (!v || !nino_json_double(doc_json_part(v, 0), &a) ||
        !nino_json_double(doc_json_part(v, 1), &b) || !isfinite(a) || !isfinite(b) ||
        fabs(a) > 1e9 || fabs(b) > 1e9)
        return false;
    *x = a;
    *y = b;
    return true;
}

nino_status nino_doc_set_pair(nino_doc_edit *e, nino_json *obj, const char *key, double x, double y)
{
    nino_buf b = { 0 };
    nino_json *old = nino_doc_get(obj, key);
    nino_json *at[2] = { (nino_json *) doc_json_part(old, 0), (nino_json *) doc_json_part(old, 1) };
    nino_status st = NINO_OK;
    double was[2], now[2] = { x, y };
    if (!nino_doc_pair(old, &was[0], &was[1])) {
        nino_buf_addc(&b, '[');
        nino_doc_print_number(&b, x);
        nino_buf_adds(&b, ", ");
        nino_doc_print_number(&b, y);
        nino_buf_addc(&b, ']');
        return set_buf(e, obj, key, &b);
    }
    for (int i = 0; i < 2 && !st; i++) {
        if (was[i] == now[i])
            continue; // its text stays
        nino_buf_clear(&b);
        nino_doc_print_number(&b, now[i]);
        st = b.failed ? nino_doc_nomem(e->d, e->err)
                      : nino_json_replace(e->json, at[i], b.data, e->err);
    }
    nino_buf_release(&b);
    return st;
}

nino_status nino_doc_drop_id(nino_doc_edit *e, nino_json *list, const char *id)
{
    for (nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next) {
        const char *s = nino_ui_id(v);
        if (s && !strcmp(s, id))
            return nino_json_remove(e->json, v, e->err);
    }
    return NINO_OK;
}

// ---- counters --------------------------------------------------------------------------------

static void raise(int64_t *most, const nino_json *id)
{
    int64_t v = 0;
    const char *s = nino_ui_id(id);
    if (s && nino_parse_i64(s, &v) && v > *most && v < INT64_MAX / 2)
        *most = v;
}

static void raise_list(int64_t *most, const nino_json *list)
{
    for (const nino_json *v = list && list->type == NINO_JSON_ARRAY ? list->child : NULL; v;
         v = v->next)
        raise(most, v->type == NINO_JSON_ARRAY ? nino_json_at(v, 0) : nino_json_get(v, "id"));
}

nino_status nino_doc_next_id(nino_doc_edit *e, const char *counter, int64_t *id)
{
    const bool is_node = !strcmp(counter, "Node"), is_link = !strcmp(counter, "Link");
    char camel[32], text[32];
    const char *snake = is_node ? "last_node_id" : is_link ? "last_link_id" : NULL;
    snprintf(camel, sizeof(camel), "last%sId", counter);
    nino_json *state = nino_doc_get(e->scope, "state");
    const bool has_state = state && state->type == NINO_JSON_OBJECT;
    int64_t most = 0;
    raise_list(&most, is_node   ? nino_json_get(e->scope, "nodes")
                      : is_link ? nino_json_get(e->scope, "links")
                                : nino_doc_reroute_list(e->scope));
    if (is_link)
        raise_list(&most, nino_json_get(e->scope, "floatingLinks"));
    raise(&most, snake ? nino_json_get(e->scope, snake) : NULL);
    raise(&most, has_state ? nino_json_get(state, camel) : NULL);
    *id = most + 1;
    snprintf(text, sizeof(text), "%" PRId64, *id);
    nino_status st = NINO_OK;
    if (snake && nino_json_get(e->scope, snake))
        st = nino_json_set(e->json, e->scope, snake, text, e->err);
    if (!st && has_state)
        st = nino_json_set(e->json, state, camel, text, e->err);
    return st;
}
