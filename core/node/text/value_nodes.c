// Values by hand, and showing any value. Behaviour of ComfyUI's nodes_primitive.py and
// nodes_preview_any.py.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/node/pytext.h"
#include "core/node/util.h"

// ---- Primitive* ------------------------------------------------------------------------------

#define LARGEST INT64_MAX // ComfyUI's sys.maxsize

typedef struct int_params {
    int64_t value;
} int_params;

static nino_status int_run(nino_run *r, nino_error *err)
{
    return nino_out_int(r, 0, ((const int_params *) r->params)->value, err);
}

NINO_NODE(int, "PrimitiveInt", "Int", "utils/primitive", "A whole number",
          NINO_OUTPUTS(NINO_PORT(INT, INT)),
          NINO_PARAMS(int_params,
                      NINO_P_INT(int_params, value, 0, -LARGEST, LARGEST, 1, .label = "Value",
                                 .help = "The number", .control_slot = true)),
          NINO_RUN(int_run, .is_constant = true));

typedef struct float_params {
    double value;
} float_params;

static nino_status float_run(nino_run *r, nino_error *err)
{
    return nino_out_float(r, 0, ((const float_params *) r->params)->value, err);
}

NINO_NODE(float, "PrimitiveFloat", "Float", "utils/primitive", "A number",
          NINO_OUTPUTS(NINO_PORT(FLOAT, FLOAT)),
          NINO_PARAMS(float_params,
                      NINO_P_FLOAT(float_params, value, 0.0, -(double) LARGEST, (double) LARGEST,
                                   0.01, .label = "Value", .help = "The number")),
          NINO_RUN(float_run, .is_constant = true));

typedef struct bool_params {
    bool value;
} bool_params;

static nino_status bool_run(nino_run *r, nino_error *err)
{
    return nino_out_bool(r, 0, ((const bool_params *) r->params)->value, err);
}

NINO_NODE(bool, "PrimitiveBoolean", "Boolean", "utils/primitive", "A switch",
          NINO_OUTPUTS(NINO_PORT(BOOLEAN, BOOLEAN)),
          NINO_PARAMS(bool_params, NINO_P_BOOL(bool_params, value, false, .label = "Value",
                                               .help = "On or off")),
          NINO_RUN(bool_run, .is_constant = true));

typedef struct text_params {
    const char *value;
} text_params;

static nino_status value_nodes_text_run(nino_run *r, nino_error *err)
{
    return nino_node_out_text(r, 0, strdup(((const text_params *) r->params)->value), err);
}

NINO_NODE(line, "PrimitiveString", "String", "utils/primitive", "A text of one line",
          NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(text_params,
                      NINO_P_STRING(text_params, value, "", .label = "Value", .help = "The text")),
          NINO_RUN(value_nodes_text_run, .is_constant = true));
NINO_NODE(text, "PrimitiveStringMultiline", "String (Multiline)", "utils/primitive",
          "A text of several lines", NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          NINO_PARAMS(text_params, NINO_P_STRING(text_params, value, "", .label = "Value",
                                                 .help = "The text", .multiline = true)),
          NINO_RUN(value_nodes_text_run, .is_constant = true));

// ---- PreviewAny ------------------------------------------------------------------------------

// Shape, type, and what the numbers are like.
static void describe_array(nino_buf *b, const char *name, const nino_array *a)
{
    char dims[96];
    if (!a)
        return;
    const int64_t n = nino_shape_count(&a->shape);
    double lo = INFINITY, hi = -INFINITY, sum = 0;
    nino_shape_print(dims, sizeof(dims), &a->shape);
    for (int64_t i = 0; i < n && a->dtype == NINO_F32; i++) {
        const double v = (double) nino_array_f32(a)[i];
        lo = fmin(lo, v);
        hi = fmax(hi, v);
        sum += v;
    }
    nino_buf_addf(b, "%s%s %s", b->len ? "\n" : "", name, dims);
    if (n && a->dtype == NINO_F32)
        nino_buf_addf(b, ", %g to %g, mean %g", lo, hi, sum / (double) n);
}

static void describe_cond(nino_buf *b, const nino_cond *c)
{
    nino_buf_addf(b, "CONDITIONING, %d entries", c->n);
    for (int i = 0; i < c->n; i++) {
        describe_array(b, "context", c->entry[i].context);
        describe_array(b, "pooled", c->entry[i].pooled);
        describe_array(b, "mask", c->entry[i].mask);
    }
}

static void describe_sigmas(nino_buf *b, const nino_sigmas *s)
{
    for (int i = 0; i < s->n; i++)
        nino_buf_addf(b, "%s%g", i ? ", " : "", (double) s->v[i]);
}

static void describe_json(nino_buf *b, const char *text)
{
    nino_json_doc *doc = NULL;
    if (!nino_json_parse(text, strlen(text), "value", NULL, &doc, NULL))
        nino_py_dumps(b, doc->root, 4, true);
    nino_json_doc_destroy(&doc);
}

static void value_nodes_describe(nino_buf *b, const nino_value *v)
{
    switch (v->type) {
    case NINO_PORT_BOUNDING_BOX:
    case NINO_PORT_DICT:
    case NINO_PORT_ARRAY: describe_json(b, v->u.string); break;
    case NINO_PORT_STRING:
    case NINO_PORT_INT:
    case NINO_PORT_BOOLEAN:
    case NINO_PORT_FLOAT: nino_py_str(b, v); break;
    case NINO_PORT_IMAGE: describe_array(b, "IMAGE", v->u.image); break;
    case NINO_PORT_MASK: describe_array(b, "MASK", v->u.mask); break;
    case NINO_PORT_LATENT:
        describe_array(b, "LATENT", v->u.latent.samples);
        describe_array(b, "noise mask", v->u.latent.noise_mask);
        break;
    case NINO_PORT_CONDITIONING: describe_cond(b, v->u.cond); break;
    case NINO_PORT_SIGMAS: describe_sigmas(b, &v->u.sigmas); break;
    case NINO_PORT_VAE: nino_buf_addf(b, "VAE %s: %s", v->u.vae->name, v->u.vae->detail); break;
    case NINO_PORT_UPSCALE_MODEL:
        nino_buf_addf(b, "UPSCALE_MODEL %s: %s", v->u.upscale->name, v->u.upscale->detail);
        break;
    case NINO_PORT_CONTROL_NET:
        nino_buf_addf(b, "CONTROL_NET %s: %s", v->u.control.net->name, v->u.control.net->detail);
        break;
    case NINO_PORT_MODEL:
        if (v->u.model)
            nino_buf_addf(b, "MODEL %s: %s", v->u.model->net->name, v->u.model->net->detail);
        break;
    case NINO_PORT_CLIP:
        if (v->u.clip)
            nino_buf_addf(b, "CLIP %s", v->u.clip->name);
        break;
    default: break;
    }
    if (!b->len && v->type != NINO_PORT_STRING)
        nino_buf_adds(b, nino_port_type_name(v->type));
}

static nino_status value_nodes_preview_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "");
    if (!r->is_plan || r->in[0]->type == NINO_PORT_STRING) // arrays have no content yet
        value_nodes_describe(&b, r->in[0]);
    if (!b.failed && !r->is_plan)
        nino_run_text(r, "source", b.data);
    if (!b.failed)
        return nino_node_out_text(r, 0, b.data, err);
    nino_buf_release(&b);
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

NINO_NODE(preview_any, "PreviewAny", "Preview Any", "utils",
          "Shows a value as text; of images and latents their size and range",
          NINO_INPUTS(NINO_PORT(source, ANY)), NINO_OUTPUTS(NINO_PORT(STRING, STRING)),
          .is_output = true, NINO_RUN(value_nodes_preview_run));
