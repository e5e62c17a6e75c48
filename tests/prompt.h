// Comparing workflows in API form: the order of keys, the spelling of numbers and titles do not
// count.
#pragma once
#include "core/base/buf.h"
#include "core/base/json.h"
#include "tests/test.h"
#include <ninodes/graph.h>

static inline bool prompt_same_value(const nino_json *a, const nino_json *b)
{
    double x, y;
    if (nino_json_double(a, &x) && nino_json_double(b, &y))
        return x == y && (x < 9e15 || !strcmp(a->text, b->text)); // seeds exactly
    if (a->type != b->type || a->count != b->count || a->len != b->len || a->boolean != b->boolean)
        return false;
    if (a->type == NINO_JSON_STRING)
        return !memcmp(a->text, b->text, a->len);
    for (const nino_json *p = a->child, *q = b->child; p; p = p->next, q = q->next)
        if ((p->key && (p->key_len != q->key_len || memcmp(p->key, q->key, p->key_len))) ||
            !prompt_same_value(p, q))
            return false;
    return true;
}

// The member of obj with the key of v.
static inline const nino_json *prompt_get(const nino_json *obj, const nino_json *v)
{
    for (const nino_json *w = obj ? obj->child : NULL; w; w = w->next)
        if (w->key_len == v->key_len && !memcmp(w->key, v->key, v->key_len))
            return w;
    return NULL;
}

// Adds one line for each difference: "3 KSampler.seed: want 1 got 2".
static inline void prompt_diff(const nino_json *want, const nino_json *got, nino_buf *out)
{
    for (const nino_json *n = got->child; n; n = n->next)
        if (!prompt_get(want, n))
            nino_buf_addf(out, "%s: not wanted\n", n->key);
    for (const nino_json *n = want->child; n; n = n->next) {
        const nino_json *m = prompt_get(got, n);
        const char *class_type = nino_json_str(nino_json_get(n, "class_type"));
        if (!class_type && *n->key == '_')
            continue; // no node: what another program noted
        const nino_json *a = nino_json_get(n, "inputs"), *b = nino_json_get(m, "inputs");
        if (!m || strcmp(class_type, nino_json_str(nino_json_get(m, "class_type")))) {
            nino_buf_addf(out, "%s %s: missing\n", n->key, class_type);
            continue;
        }
        for (const nino_json *v = b ? b->child : NULL; v; v = v->next)
            if (!prompt_get(a, v))
                nino_buf_addf(out, "%s %s.%s: not wanted\n", n->key, class_type, v->key);
        for (const nino_json *v = a ? a->child : NULL; v; v = v->next) {
            const nino_json *w = prompt_get(b, v);
            if (w && prompt_same_value(v, w))
                continue;
            nino_buf_addf(out, "%s %s.%s: want ", n->key, class_type, v->key);
            nino_json_write(out, NULL, v);
            nino_buf_adds(out, w ? " got " : " got nothing");
            if (w)
                nino_json_write(out, NULL, w);
            nino_buf_addc(out, '\n');
        }
    }
}

static inline nino_json_doc *prompt_read(const char *json)
{
    nino_error err = { 0 };
    nino_json_doc *doc = NULL;
    CHECK_OK(nino_json_parse(json, strlen(json), "wanted", NULL, &doc, &err), err);
    return doc;
}

// Ends the test unless the API form of g says the same as `want`.
static inline void prompt_expect(nino_graph *g, const char *want)
{
    nino_buf diff = { 0 };
    nino_json_doc *a = prompt_read(want), *b = prompt_read(nino_graph_api_json(g, NULL));
    prompt_diff(a->root, b->root, &diff);
    if (diff.len) {
        fprintf(stderr, "%sin %s\n", diff.data, nino_graph_json(g, NULL));
        exit(1);
    }
    nino_json_doc_destroy(&a);
    nino_json_doc_destroy(&b);
    nino_buf_release(&diff);
}
