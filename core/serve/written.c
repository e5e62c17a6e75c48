// The prompt as it is queued: without notes that the page does not know, and of some outputs only what
// those need.
#include "core/serve/serve_priv.h"

#include "core/node/node_impl.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ASKED 4e6 // questions to is_wrong() about one prompt

typedef struct part_node {
    const nino_json *json;
    size_t at; // in the prompt
    bool is_wanted;
} part_node;

static int by_name(const void *a, const void *b)
{
    const part_node *x = a, *y = b;
    return strcmp(x->json->key, y->json->key);
}

static part_node *find_node(part_node *list, size_t n, const char *id)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const int d = strcmp(id, list[mid].json->key);
        if (!d)
            return &list[mid];
        if (d < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

// Wants a node, once; *n_next grows.
static void want(part_node *list, size_t n, const char *id, part_node **next, size_t *n_next)
{
    part_node *node = id ? find_node(list, n, id) : NULL;
    if (!node || node->is_wanted)
        return;
    node->is_wanted = true;
    next[(*n_next)++] = node;
}

// The node that an input is linked with. Texts and numbers both name one.
static const char *linked_node(const nino_json *v)
{
    const bool is_link = v->type == NINO_JSON_ARRAY && v->count == 2 && v->child->next &&
                         v->child->next->type == NINO_JSON_NUMBER;
    return !is_link                             ? NULL
           : v->child->type == NINO_JSON_NUMBER ? v->child->text
                                                : nino_json_str(v->child);
}

static int by_place(const void *a, const void *b)
{
    const part_node *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

// And what they need.
static void want_needed(part_node *list, size_t n, part_node **next, size_t n_next)
{
    while (n_next) {
        const nino_json *inputs = nino_json_get(next[--n_next]->json, "inputs");
        for (const nino_json *v = inputs ? inputs->child : NULL; v; v = v->next)
            want(list, n, linked_node(v), next, &n_next);
    }
}

static void want_all(part_node *list, size_t n, const nino_json *targets, part_node **next)
{
    size_t n_next = 0;
    for (const nino_json *t = targets->child; t; t = t->next)
        want(list, n, t->type == NINO_JSON_NUMBER ? t->text : nino_json_str(t), next, &n_next);
    want_needed(list, n, next, n_next);
}

// A page that does not know a class sends the node without it. With inputs that is an error; a node
// that has none, as newer notes, is in nobody's way.
static bool is_note(const nino_json *node)
{
    const nino_json *inputs = nino_json_get(node, "inputs");
    return node->type == NINO_JSON_OBJECT && !nino_json_get(node, "class_type") &&
           (!inputs || !inputs->child);
}

bool serve_write_prompt(nino_buf *b, const nino_json_doc *doc, const nino_json *prompt,
                        const nino_json *targets)
{
    const size_t max = prompt->count ? prompt->count : 1;
    part_node *list = calloc(max, sizeof(*list));
    part_node **next = malloc(max * sizeof(*next));
    size_t n = 0, n_left = 0;
    for (const nino_json *v = prompt->child; list && v && n < max; v = v->next) {
        list[n] = (part_node){ .json = v, .at = n, .is_wanted = !targets && !is_note(v) };
        n_left += !list[n++].is_wanted;
    }
    const bool ok = list && next;
    if (ok && targets) {
        qsort(list, n, sizeof(*list), by_name);
        want_all(list, n, targets, next);
        qsort(list, n, sizeof(*list), by_place);
    }
    if (ok && !n_left) {
        nino_json_write(b, doc, prompt);
    } else if (ok) {
        nino_buf_addc(b, '{');
        for (size_t i = 0; i < n; i++)
            if (list[i].is_wanted) {
                serve_key(b, list[i].json->key);
                nino_json_write(b, doc, list[i].json);
            }
        nino_buf_addc(b, '}');
    }
    free(list);
    free(next);
    return ok;
}

static bool makes_output(const nino_json *node)
{
    const char *type = nino_json_str(nino_json_get(node, "class_type"));
    const nino_node_def *def = type ? nino_node_find(type, NULL) : NULL;
    return def && def->is_output;
}

bool serve_sound_outputs(nino_buf *b, const nino_json *prompt, size_t n_wrong,
                         bool (*is_wrong)(void *priv, const char *output, const char *id),
                         void *priv)
{
    const size_t max = prompt->count ? prompt->count : 1;
    part_node *list = calloc(max, sizeof(*list));
    part_node **next = malloc(max * sizeof(*next));
    size_t n = 0, n_outputs = 0;
    bool is_any = false;
    for (const nino_json *v = prompt->child; list && v && n < max; v = v->next) {
        list[n++] = (part_node){ .json = v };
        n_outputs += makes_output(v);
    }
    const bool ok = list && next && (double) n_outputs * (double) n * (double) n_wrong < MAX_ASKED;
    if (ok)
        qsort(list, n, sizeof(*list), by_name);
    for (const nino_json *o = ok ? prompt->child : NULL; o; o = o->next) {
        size_t n_next = 0;
        bool is_sound = makes_output(o);
        if (!is_sound)
            continue;
        for (size_t i = 0; i < n; i++)
            list[i].is_wanted = false;
        want(list, n, o->key, next, &n_next);
        want_needed(list, n, next, n_next);
        for (size_t i = 0; i < n; i++)
            if (list[i].is_wanted && is_wrong(priv, o->key, list[i].json->key))
                is_sound = false;
        if (is_sound)
            serve_text(b, NULL, o->key);
        is_any |= is_sound;
    }
    free(list);
    free(next);
    return is_any;
}
