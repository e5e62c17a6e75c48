// Nodes as ComfyUI's editor makes them. Sizes: Comfy-Org/ComfyUI_frontend
// src/lib/litegraph/src/LGraphNode.ts (computeSize: slots of 20, widgets of 24),
// src/services/litegraphService.ts (half as wide again).
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/document/doc.h"
#include "core/node/param.h"

enum { SLOT = 20, ROW = 24, MIN_WIDTH = 140 };

bool nino_doc_has_control(const nino_param *p)
{
    return p->type == NINO_SEED || p->control_slot ||
           (p->type == NINO_INT && (!strcmp(p->key, "seed") || !strcmp(p->key, "noise_seed")));
}

bool nino_doc_begins(const nino_node_def *def, const nino_port *p)
{
    if (nino_input_presence(def, p->key, p->when, NULL) == NINO_ABSENT)
        return false;
    return !p->grows || p == def->inputs || nino_port_next(def, p[-1].key) != p;
}

static bool is_note(const char *type)
{
    return !strcmp(type, "Note") || !strcmp(type, "MarkdownNote");
}

// ---- sizes -----------------------------------------------------------------------------------

double nino_doc_size(int n_in, int n_out, int n_rows, int n_text, double text_width, double *width)
{
    const int slots = n_in > n_out ? n_in : n_out;
    *width = 1.5 * (n_rows && text_width < 1.5 * MIN_WIDTH ? 1.5 * MIN_WIDTH
                    : text_width < MIN_WIDTH               ? MIN_WIDTH
                                                           : text_width);
    double height = SLOT * (slots ? slots : 1) + 6;
    if (n_rows)
        height += ROW * n_rows + 8;
    if (n_text) {
        *width = fmax(*width, 400);
        height = fmax(height + 60.0 * n_text, 200);
    }
    return height;
}

static double port_width(const nino_port *p)
{
    size_t most = 0;
    for (; p && p->key; p++)
        most = strlen(p->key) > most ? strlen(p->key) : most;
    return 14 * 0.6 * (double) most;
}

void nino_document_default_size(const nino_node_def *def, double *width, double *height)
{
    int n_in = 0, n_out = 0, n_rows = 0, n_text = 0;
    if (is_note(def->key) || !strcmp(def->key, "Reroute")) {
        *width = is_note(def->key) ? 210 : 75;
        *height = is_note(def->key) ? 88 : 26;
        return;
    }
    for (const nino_port *p = def->inputs; p && p->key; p++)
        n_in += nino_doc_begins(def, p);
    for (const nino_port *p = def->outputs; p && p->key; p++)
        n_out++;
    for (const nino_param *p = def->params; p && p->key; p++) {
        if (nino_input_presence(def, p->key, p->when, NULL) == NINO_ABSENT)
            continue;
        n_rows += 1 + nino_doc_has_control(p) + p->upload_slot;
        n_text += p->type == NINO_STRING && p->multiline;
    }
    const double title = 14 * 0.6 * (double) strlen(def->title) + 40;
    const double ports = port_width(def->inputs) + port_width(def->outputs) + 10;
    *height = nino_doc_size(n_in, n_out, n_rows, n_text, fmax(ports, title * 2 / 3), width);
}

// ---- one node --------------------------------------------------------------------------------

static void doc_make_add_string(nino_buf *out, const char *s)
{
    nino_buf_add_json_string(out, s, strlen(s));
}

// Ids are numbers where they can be.
void nino_doc_print_id(nino_buf *out, const char *id)
{
    if (id[strspn(id, "0123456789")] || !*id || strlen(id) > 15 || (id[0] == '0' && id[1]))
        doc_make_add_string(out, id);
    else
        nino_buf_adds(out, id);
}

void nino_doc_print_head(nino_buf *out, const char *class_type, const char *id, const double box[4],
                         int64_t order)
{
    nino_buf_adds(out, "{\"id\": ");
    nino_doc_print_id(out, id);
    nino_buf_adds(out, ", \"type\": ");
    doc_make_add_string(out, class_type);
    for (int i = 0; i < 4; i++) {
        nino_buf_adds(out, i == 0 ? ", \"pos\": [" : i == 2 ? "], \"size\": [" : ", ");
        nino_doc_print_number(out, box[i]);
    }
    nino_buf_addf(out, "], \"flags\": {}, \"order\": %" PRId64 ", \"mode\": 0", order);
}

void nino_doc_print_input(nino_buf *out, int i, const char *name, const char *type,
                          bool is_optional, bool is_widget, const char *link)
{
    nino_buf_adds(out, i ? ", {\"name\": " : "{\"name\": ");
    doc_make_add_string(out, name);
    nino_buf_adds(out, ", \"type\": ");
    doc_make_add_string(out, type);
    if (is_widget) {
        nino_buf_adds(out, ", \"widget\": {\"name\": ");
        doc_make_add_string(out, name);
        nino_buf_addc(out, '}');
    } else if (is_optional) {
        nino_buf_adds(out, ", \"shape\": 7");
    }
    nino_buf_addf(out, ", \"link\": %s}", link);
}

static void doc_make_print_outputs(nino_buf *out, const nino_node_def *def)
{
    int i = 0;
    nino_buf_adds(out, ", \"outputs\": [");
    if (!strcmp(def->key, "PrimitiveNode"))
        nino_buf_adds(out, "{\"name\": \"connect to widget input\", \"type\": \"*\", \"links\": "
                           "null}");
    for (const nino_port *p = def->outputs; p && p->key; p++, i++) {
        nino_buf_adds(out, i ? ", {\"name\": " : "{\"name\": ");
        doc_make_add_string(out, p->key);
        nino_buf_adds(out, ", \"type\": ");
        doc_make_add_string(out, nino_port_types(p));
        nino_buf_adds(out, ", \"links\": null}");
    }
    nino_buf_addc(out, ']');
}

void nino_doc_print_default(nino_buf *out, const nino_param *p, int i)
{
    nino_buf_adds(out, i ? ", " : "");
    nino_param_print(out, p, &p->def);
    if (nino_doc_has_control(p))
        nino_buf_adds(out, ", \"randomize\"");
    else if (p->upload_slot)
        nino_buf_adds(out, ", \"image\"");
}

void nino_doc_print_tail(nino_buf *out, const char *class_type, bool is_virtual)
{
    if (is_virtual) {
        nino_buf_adds(out, ", \"properties\": {}");
        return;
    }
    nino_buf_adds(out, ", \"properties\": {\"Node name for S&R\": ");
    doc_make_add_string(out, class_type);
    nino_buf_addc(out, '}');
}

void nino_doc_print_node(nino_buf *out, const nino_node_def *def, const char *class_type,
                         const char *id, double x, double y, int64_t order)
{
    double box[4] = { x, y, 0, 0 };
    int i = 0;
    nino_document_default_size(def, &box[2], &box[3]);
    nino_doc_print_head(out, class_type, id, box, order);
    nino_buf_adds(out, ", \"inputs\": [");
    if (!strcmp(def->key, "Reroute"))
        nino_doc_print_input(out, i++, "", "*", false, false, "null");
    for (const nino_port *p = def->inputs; p && p->key; p++)
        if (nino_doc_begins(def, p))
            nino_doc_print_input(out, i++, p->key, nino_port_types(p), p->optional, false, "null");
    for (const nino_param *p = def->params; p && p->key; p++)
        if (!p->when) // what a choice brings needs none until it is connected
            nino_doc_print_input(out, i++, p->key, nino_param_type_name(p), false, true, "null");
    nino_buf_addc(out, ']');
    doc_make_print_outputs(out, def);
    nino_doc_print_tail(out, class_type, def->is_virtual);
    if (is_note(def->key))
        nino_buf_adds(out, ", \"widgets_values\": [\"\"], \"color\": \"#432\", \"bgcolor\": "
                           "\"#653\"");
    i = 0;
    for (const nino_param *p = def->params; p && p->key; p++) {
        if (nino_input_presence(def, p->key, p->when, NULL) == NINO_ABSENT)
            continue;
        nino_buf_adds(out, i ? "" : ", \"widgets_values\": [");
        nino_doc_print_default(out, p, i++);
    }
    nino_buf_adds(out, i ? "]}" : "}");
}
