// The form ("App") view of ComfyUI's editor: which values it shows, kept in "extra" of the file:
// linearData.inputs is a list of [node id, name of the value, settings], linearMode says whether
// the file opens in it.
#include <string.h>

#include "core/base/error.h"
#include "core/document/doc.h"

static const nino_json *doc_form_data_of(const nino_document *d)
{
    return nino_json_get(nino_json_get(d->state->json->root, "extra"), "linearData");
}

size_t nino_document_form_inputs(const nino_document *d, nino_doc_form_input *out, size_t max)
{
    const nino_json *list = nino_ui_array(doc_form_data_of(d), "inputs");
    size_t n = 0;
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *id = nino_ui_id(nino_json_at(v, 0));
        const char *name = nino_json_str(nino_json_at(v, 1));
        if (!id || !name)
            continue;
        if (n < max)
            out[n] = (nino_doc_form_input){ id, name };
        n++;
    }
    return n;
}

bool nino_document_opens_form(const nino_document *d)
{
    bool is_form = false;
    nino_json_bool(nino_json_get(nino_json_get(d->state->json->root, "extra"), "linearMode"),
                   &is_form);
    return is_form;
}

// What the file says about this value already, or nothing.
static const nino_json *doc_form_find(const nino_json *list, const nino_doc_form_input *in)
{
    for (const nino_json *v = list ? list->child : NULL; v; v = v->next) {
        const char *id = nino_ui_id(nino_json_at(v, 0));
        const char *name = nino_json_str(nino_json_at(v, 1));
        if (id && name && !strcmp(id, in->node) && !strcmp(name, in->widget))
            return v;
    }
    return NULL;
}

static void print_inputs(nino_buf *b, const nino_json_doc *doc, const nino_json *old,
                         const nino_doc_form_input *inputs, size_t n)
{
    nino_buf_addc(b, '[');
    for (size_t i = 0; i < n; i++) {
        const nino_json *same = doc_form_find(old, &inputs[i]);
        nino_buf_adds(b, i ? ", " : "");
        if (same) { // with its settings
            nino_json_write(b, doc, same);
            continue;
        }
        nino_buf_addc(b, '[');
        nino_doc_print_id(b, inputs[i].node);
        nino_buf_adds(b, ", ");
        nino_buf_add_json_string(b, inputs[i].widget, strlen(inputs[i].widget));
        nino_buf_addc(b, ']');
    }
    nino_buf_addc(b, ']');
}

nino_status nino_document_set_form_inputs(nino_document *d, const nino_doc_form_input *inputs,
                                          size_t n, bool opens_form, nino_error *err)
{
    nino_doc_edit e;
    nino_buf b = { 0 };
    nino_status st = nino_doc_edit_begin(&e, d, err);
    if (st)
        return st;
    nino_json *extra = nino_doc_need(&e, e.json->root, "extra", "{}", &st);
    nino_json *data = st ? NULL : nino_doc_need(&e, extra, "linearData", "{}", &st);
    print_inputs(&b, e.json, nino_ui_array(data, "inputs"), inputs, n);
    if (!st)
        st = b.failed ? nino_doc_nomem(d, err) : nino_json_set(e.json, data, "inputs", b.data, err);
    nino_buf_release(&b);
    if (!st && (opens_form || nino_json_get(extra, "linearMode")))
        st = nino_json_set(e.json, extra, "linearMode", opens_form ? "true" : "false", err);
    return nino_doc_edit_commit(&e, st, NULL, "Choose what the form shows");
}
