// Writing a JSON tree.
#include "core/base/json.h"

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
