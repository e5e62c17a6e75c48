// Editing a JSON tree so that only the changed bytes of its text differ.
#include "core/base/error.h"
#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

// Every value below `top` in the order of the text, without recursion.
static nino_json *next_value(nino_json *n, const nino_json *top)
{
    if (n->child)
        return n->child;
    while (n != top && !n->next)
        n = n->parent;
    return n == top ? NULL : n->next;
}

// The text to put before a new member that follows `last`, the key and the text up to its value.
// It repeats what stands around `last`, so that indentation stays as it is.
static void add_member_lead(nino_buf *ins, const nino_json_doc *doc, const nino_json *obj,
                            const char *key)
{
    const nino_json *prev = NULL, *last = obj->child;
    const char *s = doc->src;
    for (; last && last->next; last = last->next)
        prev = last;
    if (!last) {
        nino_buf_add_json_string(ins, key, strlen(key));
        nino_buf_adds(ins, ": ");
        return;
    }
    const size_t from = prev ? prev->src_end : obj->src_begin + 1;
    const size_t key_at = from + strspn(s + from, " \t\r\n,");
    size_t colon = key_at + 1; // behind the key
    while (s[colon] != '"')
        colon += s[colon] == '\\' ? 2 : 1;
    colon++;
    if (!prev)
        nino_buf_addc(ins, ',');
    if (!prev && key_at == from && last->src_begin - colon > 1)
        nino_buf_addc(ins, ' '); // {"a": 1} takes ", " and {"a":1} takes ","
    nino_buf_add(ins, s + from, key_at - from);
    nino_buf_add_json_string(ins, key, strlen(key));
    nino_buf_add(ins, s + colon, last->src_begin - colon);
}

// Replaces the bytes [begin, end) of the source, and moves the ranges of all values behind them.
static bool json_edit_splice(nino_json_doc *doc, size_t begin, size_t end, const nino_buf *ins)
{
    size_t len;
    if (__builtin_add_overflow(doc->src_len - (end - begin), ins->len, &len) || len == SIZE_MAX)
        return false;
    char *src = malloc(len + 1);
    if (!src)
        return false;
    memcpy(src, doc->src, begin);
    memcpy(src + begin, ins->data, ins->len);
    memcpy(src + begin + ins->len, doc->src + end, doc->src_len - end + 1);
    for (nino_json *v = doc->root; v; v = next_value(v, doc->root)) {
        if (v->src_begin >= end)
            v->src_begin += len - doc->src_len; // may wrap, and back
        if (v->src_end > end)
            v->src_end += len - doc->src_len;
    }
    free((char *) doc->src);
    doc->src = src;
    doc->src_len = len;
    return true;
}

// Makes `value`, whose ranges are those in `json`, part of the document: its bytes replace
// [begin, end) behind what `ins` already holds.
static nino_status graft(nino_json_doc *doc, size_t begin, size_t end, nino_buf *ins,
                         const char *json, nino_json *value, const char *where, nino_error *err)
{
    const size_t at = begin + ins->len;
    nino_buf_add(ins, json + value->src_begin, value->src_end - value->src_begin);
    if (ins->failed || !json_edit_splice(doc, begin, end, ins))
        return nino_fail(err, NINO_ERR_NOMEM, where, "out of memory");
    const size_t move = at - value->src_begin; // may wrap, and back
    for (nino_json *v = value; v; v = next_value(v, value)) {
        v->src_begin += move;
        v->src_end += move;
    }
    return NINO_OK;
}

static nino_status parse_value(nino_json_doc *doc, const char *json, const char *where,
                               nino_json **value, nino_error *err)
{
    return nino_json_parse_into(doc->arena, json, strlen(json), where, NULL, value, err);
}

nino_status nino_json_replace(nino_json_doc *doc, nino_json *old, const char *json, nino_error *err)
{
    const char *where = old->key ? old->key : "value";
    nino_json *value = NULL;
    nino_buf ins = { 0 };
    if (!old->src_end)
        return nino_fail(err, NINO_ERR_ARG, where, "not a value of this document");
    nino_status st = parse_value(doc, json, where, &value, err);
    if (st == NINO_OK)
        st = graft(doc, old->src_begin, old->src_end, &ins, json, value, where, err);
    nino_buf_release(&ins);
    if (st)
        return st;
    value->key = old->key;
    value->key_len = old->key_len;
    value->next = old->next;
    value->parent = old->parent;
    value->line = old->line;
    value->col = old->col;
    *old = *value;
    for (nino_json *v = old->child; v; v = v->next)
        v->parent = old;
    return NINO_OK;
}

static void link_last(nino_json *parent, nino_json **tail, nino_json *value)
{
    value->parent = parent;
    value->line = parent->line;
    value->col = parent->col;
    *tail = value;
    parent->count++;
}

static nino_status add_member(nino_json_doc *doc, nino_json *obj, const char *key, const char *json,
                              nino_error *err)
{
    nino_buf ins = { 0 };
    nino_json *value = NULL, **tail = &obj->child;
    size_t at = obj->src_begin + 1;
    nino_status st = parse_value(doc, json, key, &value, err);
    if (st)
        return st;
    for (; *tail; tail = &(*tail)->next)
        at = (*tail)->src_end;
    add_member_lead(&ins, doc, obj, key);
    value->key_len = strlen(key);
    value->key = nino_arena_strndup(doc->arena, key, value->key_len);
    st = value->key ? graft(doc, at, at, &ins, json, value, key, err)
                    : nino_fail(err, NINO_ERR_NOMEM, key, "out of memory");
    if (st == NINO_OK)
        link_last(obj, tail, value);
    nino_buf_release(&ins);
    return st;
}

nino_status nino_json_set(nino_json_doc *doc, nino_json *obj, const char *key, const char *json,
                          nino_error *err)
{
    if (!obj || obj->type != NINO_JSON_OBJECT || !obj->src_end)
        return nino_fail(err, NINO_ERR_ARG, key, "not an object of this document");
    nino_json *member = (nino_json *) nino_json_get(obj, key);
    return member ? nino_json_replace(doc, member, json, err)
                  : add_member(doc, obj, key, json, err);
}

nino_status nino_json_append(nino_json_doc *doc, nino_json *arr, const char *json, nino_error *err)
{
    nino_buf ins = { 0 };
    nino_json *value = NULL, *last = NULL, **tail = &arr->child;
    if (arr->type != NINO_JSON_ARRAY || !arr->src_end)
        return nino_fail(err, NINO_ERR_ARG, "", "not an array of this document");
    nino_status st = parse_value(doc, json, "value", &value, err);
    if (st)
        return st;
    size_t from = arr->src_begin + 1, at = from; // what stands before the last element
    for (; *tail; tail = &(*tail)->next) {
        from = at;
        last = *tail;
        at = last->src_end;
    }
    // Laid out like the one before it.
    if (last && arr->count == 1)
        nino_buf_adds(&ins, last->src_begin > from ? "," : ", ");
    if (last)
        nino_buf_add(&ins, doc->src + from, last->src_begin - from);
    st = graft(doc, at, at, &ins, json, value, "value", err);
    if (st == NINO_OK)
        link_last(arr, tail, value);
    nino_buf_release(&ins);
    return st;
}

// Where the key of a member begins; `from`: behind the member before it, or behind the brace.
static size_t key_begin(const nino_json_doc *doc, size_t from)
{
    return from + strspn(doc->src + from, " \t\r\n,");
}

nino_status nino_json_remove(nino_json_doc *doc, nino_json *value, nino_error *err)
{
    char empty[1] = "";
    const nino_buf none = { .data = empty };
    nino_json *parent = value->parent, *prev = NULL;
    if (!parent || !value->src_end)
        return nino_fail(err, NINO_ERR_ARG, "", "not an element or member of this document");
    while ((prev ? prev->next : parent->child) != value)
        prev = prev ? prev->next : parent->child;
    const bool is_member = parent->type == NINO_JSON_OBJECT;
    size_t begin = prev ? prev->src_end : value->src_begin, end = value->src_end;
    if (!prev && is_member)
        begin = key_begin(doc, parent->src_begin + 1);
    if (!prev && value->next)
        end = is_member ? key_begin(doc, end) : value->next->src_begin;
    if (!json_edit_splice(doc, begin, end, &none))
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    *(prev ? &prev->next : &parent->child) = value->next;
    parent->count--;
    return NINO_OK;
}
