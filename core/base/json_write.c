// Writing a JSON tree, and editing one so that only the changed bytes differ.
#include "core/base/error.h"
#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

// ---- writing ----------------------------------------------------------------------------------

static void write_scalar(nino_buf *out, const nino_json *v)
{
    switch (v->type) {
    case NINO_JSON_NULL: nino_buf_adds(out, "null"); break;
    case NINO_JSON_BOOL: nino_buf_adds(out, v->boolean ? "true" : "false"); break;
    case NINO_JSON_NUMBER: nino_buf_add(out, v->text, v->len); break;
    case NINO_JSON_STRING: nino_buf_add_json_string(out, v->text, v->len); break;
    case NINO_JSON_ARRAY: nino_buf_adds(out, "[]"); break;
    case NINO_JSON_OBJECT: nino_buf_adds(out, "{}"); break;
    }
}

static void write_key(nino_buf *out, const nino_json *v)
{
    if (v->parent->type != NINO_JSON_OBJECT)
        return;
    nino_buf_add_json_string(out, v->key, v->key_len);
    nino_buf_adds(out, ": ");
}

void nino_json_write(nino_buf *out, const nino_json_doc *doc, const nino_json *v)
{
    const nino_json *n = v;
    if (doc && v == doc->root && v->src_end) {
        nino_buf_add(out, doc->src, doc->src_len);
        return;
    }
    for (;;) {
        if (doc && n->src_end) {
            nino_buf_add(out, doc->src + n->src_begin, n->src_end - n->src_begin);
        } else if (n->child) {
            nino_buf_addc(out, n->type == NINO_JSON_OBJECT ? '{' : '[');
            n = n->child;
            write_key(out, n);
            continue;
        } else {
            write_scalar(out, n);
        }
        for (; n != v && !n->next; n = n->parent)
            nino_buf_addc(out, n->parent->type == NINO_JSON_OBJECT ? '}' : ']');
        if (n == v)
            return;
        n = n->next;
        nino_buf_adds(out, ", ");
        write_key(out, n);
    }
}

// ---- editing ----------------------------------------------------------------------------------

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
static bool splice(nino_json_doc *doc, size_t begin, size_t end, const nino_buf *ins)
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

nino_status nino_json_set(nino_json_doc *doc, nino_json *obj, const char *key, const char *json,
                          nino_error *err)
{
    nino_status st;
    nino_buf ins = { 0 };
    nino_json *value = NULL;
    if (!obj || obj->type != NINO_JSON_OBJECT || !obj->src_end)
        return nino_fail(err, NINO_ERR_ARG, key, "not an object of this document");
    if ((st = nino_json_parse_into(doc->arena, json, strlen(json), key, NULL, &value, err)))
        return st;
    const size_t value_len = value->src_end - value->src_begin;
    nino_json *member = (nino_json *) nino_json_get(obj, key), **tail = &obj->child;
    size_t begin, end;
    if (member) {
        begin = member->src_begin;
        end = member->src_end;
    } else {
        for (begin = obj->src_begin + 1; *tail; tail = &(*tail)->next)
            begin = (*tail)->src_end;
        end = begin;
        add_member_lead(&ins, doc, obj, key);
        value->key_len = strlen(key);
        value->key = nino_arena_strndup(doc->arena, key, value->key_len);
    }
    const size_t at = begin + ins.len;
    nino_buf_add(&ins, json + value->src_begin, value_len);
    if (ins.failed || (!member && !value->key) || !splice(doc, begin, end, &ins)) {
        st = nino_fail(err, NINO_ERR_NOMEM, key, "out of memory");
        goto end;
    }
    const size_t move = at - value->src_begin; // may wrap, and back
    for (nino_json *v = value; v; v = next_value(v, value)) {
        v->src_begin += move;
        v->src_end += move;
    }
    if (member) {
        value->key = member->key;
        value->key_len = member->key_len;
        value->next = member->next;
        value->parent = obj;
        value->line = member->line;
        value->col = member->col;
        *member = *value;
        for (nino_json *v = member->child; v; v = v->next)
            v->parent = member;
    } else {
        value->parent = obj;
        value->line = obj->line;
        value->col = obj->col;
        *tail = value;
        obj->count++;
    }
end:
    nino_buf_release(&ins);
    return st;
}
