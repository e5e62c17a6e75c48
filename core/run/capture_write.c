// Captured records on disk: tensors as safetensors, all else as JSON.
#include "core/run/capture_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "core/file/safetensors.h"

enum { MAX_ENTRIES = 8 };

// Takes a reference that the caller has.
__attribute__((format(printf, 3, 4))) static void add_tensor(capture_tensors *t, nino_array *a,
                                                             const char *fmt, ...)
{
    va_list ap;
    if (!a || t->n == CAPTURE_TENSORS) {
        nino_array_unref(&a);
        return;
    }
    va_start(ap, fmt);
    nino_vsnprintf(t->name[t->n], sizeof(t->name[0]), fmt, ap);
    va_end(ap);
    t->a[t->n] = a;
    t->e[t->n] = (nino_st_entry){ t->name[t->n], a };
    t->n++;
}

static void add_cond(capture_tensors *t, const char *key, const nino_cond *c)
{
    for (int i = 0; i < c->n && i < MAX_ENTRIES; i++) {
        const nino_cond_entry *e = &c->entry[i];
        const struct {
            const char *name;
            nino_array *a;
        } parts[] = { { "context", e->context },
                      { "context_mask", e->context_mask },
                      { "pooled", e->pooled },
                      { "mask", e->mask },
                      { "concat_latent", e->concat_latent },
                      { "concat_mask", e->concat_mask },
                      { "vision", e->vision } };
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            add_tensor(t, nino_array_ref(parts[k].a), "%.30s.%d.%s", key, i, parts[k].name);
    }
}

static void add_sigmas(capture_tensors *t, const char *key, const nino_sigmas *s)
{
    nino_array *a = s->n > 0 ? nino_array_create(NINO_F32, NINO_SHAPE(s->n)) : NULL;
    for (int i = 0; a && i < s->n; i++)
        nino_array_f32(a)[i] = (float) s->v[i];
    add_tensor(t, a, "%.60s", key);
}

// Latents as files hold them (channels first), all else as it is.
static void collect(const capture_record *r, capture_tensors *t)
{
    for (int i = 0; i < r->n; i++) {
        const nino_value *v = r->value[i];
        const char *key = r->key[i];
        switch (v && !v->is_list ? v->type : NINO_PORT_NONE) {
        case NINO_PORT_LATENT:
            add_tensor(t, nino_array_to_channels_first(v->u.latent.samples), "%.60s", key);
            add_tensor(t, nino_array_ref(v->u.latent.noise_mask), "%.50s.noise_mask", key);
            break;
        case NINO_PORT_IMAGE: add_tensor(t, nino_array_ref(v->u.image), "%.60s", key); break;
        case NINO_PORT_MASK: add_tensor(t, nino_array_ref(v->u.mask), "%.60s", key); break;
        case NINO_PORT_CONDITIONING:
            if (v->u.cond)
                add_cond(t, key, v->u.cond);
            break;
        case NINO_PORT_SIGMAS: add_sigmas(t, key, &v->u.sigmas); break;
        default: break;
        }
    }
}

capture_tensors *nino_capture_collect(const capture_record *r)
{
    capture_tensors *t = calloc(1, sizeof(*t));
    if (t)
        collect(r, t);
    return t;
}

void nino_capture_tensors_destroy(capture_tensors **pt)
{
    capture_tensors *t = *pt;
    for (int i = 0; t && i < t->n; i++)
        nino_array_unref(&t->a[i]);
    free(t);
    *pt = NULL;
}

void nino_capture_shapes(const capture_record *r, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < r->n && n < size; i++) {
        const nino_value *v = r->value[i];
        const nino_array *a = !v || v->is_list              ? NULL
                              : v->type == NINO_PORT_LATENT ? v->u.latent.samples
                              : v->type == NINO_PORT_IMAGE  ? v->u.image
                              : v->type == NINO_PORT_MASK   ? v->u.mask
                                                            : NULL;
        char shape[64];
        if (!a)
            continue;
        nino_shape_print(shape, sizeof(shape), &a->shape);
        n += (size_t) snprintf(out + n, size - n, "%s%s %s", n ? ", " : "", r->key[i], shape);
    }
}

// ---- JSON ------------------------------------------------------------------------------------

static void json_text(nino_buf *b, const char *key, const char *text)
{
    nino_buf_addf(b, ", \"%s\": ", key);
    nino_buf_add_json_string(b, text, strlen(text));
}

static void json_number(nino_buf *b, const char *key, double v)
{
    char text[40];
    nino_print_double(text, sizeof(text), v);
    nino_buf_addf(b, ", \"%s\": %s", key, isfinite(v) ? text : "null");
}

static void print_cond(nino_buf *b, const nino_cond *c)
{
    nino_buf_adds(b, ", \"entries\": [");
    for (int i = 0; i < c->n; i++) {
        const nino_cond_entry *e = &c->entry[i];
        nino_buf_addf(b, "%s{\"index\": %d", i ? ", " : "", i);
        json_number(b, "strength", e->strength);
        json_number(b, "start", e->start);
        json_number(b, "end", e->end);
        if (e->has_guidance)
            json_number(b, "guidance", e->guidance);
        if (e->has_size)
            nino_buf_addf(b, ", \"size\": [%d, %d]", e->width, e->height);
        nino_buf_addf(b, ", \"has_control\": %s}", e->control_net ? "true" : "false");
    }
    nino_buf_addc(b, ']');
}

static void print_latent(nino_buf *b, const nino_latent *z)
{
    const int64_t n = z->batch_index ? z->samples->shape.dim[0] : 0;
    nino_buf_addf(b, ", \"factor\": %d", z->factor);
    for (int64_t i = 0; i < n; i++)
        nino_buf_addf(b, "%s%" PRId64, i ? ", " : ", \"batch_index\": [", z->batch_index[i]);
    nino_buf_adds(b, n ? "]" : "");
}

static void print_value(nino_buf *b, const nino_value *v)
{
    nino_buf_adds(b, "{\"type\": ");
    const char *type = v ? nino_port_type_name(v->type) : "none";
    nino_buf_add_json_string(b, type, strlen(type));
    switch (v && !v->is_list ? v->type : NINO_PORT_NONE) {
    case NINO_PORT_VAE:
        json_text(b, "family", v->u.vae->family);
        json_text(b, "name", v->u.vae->name);
        break;
    case NINO_PORT_MODEL:
        if (v->u.model)
            json_text(b, "family", v->u.model->net->family);
        break;
    case NINO_PORT_CONDITIONING:
        if (v->u.cond)
            print_cond(b, v->u.cond);
        break;
    case NINO_PORT_LATENT: print_latent(b, &v->u.latent); break;
    case NINO_PORT_STRING: json_text(b, "text", v->u.string); break;
    case NINO_PORT_INT: nino_buf_addf(b, ", \"value\": %" PRId64, v->u.i); break;
    case NINO_PORT_FLOAT: json_number(b, "value", v->u.f); break;
    case NINO_PORT_BOOLEAN: nino_buf_addf(b, ", \"value\": %s", v->u.b ? "true" : "false"); break;
    default: break;
    }
    if (v && v->is_list)
        nino_buf_addf(b, ", \"items\": %d", v->n_items);
    nino_buf_addc(b, '}');
}

static void print_info(nino_buf *b, const capture_tensors *t)
{
    nino_buf_addc(b, '{');
    for (int i = 0; i < t->n; i++) {
        nino_buf_addf(b, "%s\n    ", i ? "," : "");
        nino_buf_add_json_string(b, t->name[i], strlen(t->name[i]));
        nino_buf_adds(b, ": {\"shape\": [");
        for (int k = 0; k < t->a[i]->shape.rank; k++)
            nino_buf_addf(b, "%s%" PRId64, k ? ", " : "", t->a[i]->shape.dim[k]);
        nino_buf_addf(b, "], \"dtype\": \"%s\", \"device\": \"cpu\", \"requires_grad\": false}",
                      nino_dtype_name(t->a[i]->dtype));
    }
    nino_buf_addc(b, '}');
}

static void print_record(nino_buf *b, const capture_record *r, const capture_tensors *t)
{
    nino_buf_adds(b, "{\n  \"data\": {");
    for (int i = 0; i < r->n; i++) {
        nino_buf_addf(b, "%s\n    ", i ? "," : "");
        nino_buf_add_json_string(b, r->key[i], strlen(r->key[i]));
        nino_buf_adds(b, ": ");
        print_value(b, r->value[i]);
    }
    nino_buf_addf(b, "},\n  \"timestamp\": %" PRIu64 ",\n  \"metadata\": {\"node_type\": ", r->ms);
    nino_buf_add_json_string(b, r->class_type, strlen(r->class_type));
    json_text(b, "node_id", r->node_id);
    nino_buf_addf(b, ", \"params\": %s", r->params);
    json_text(b, "device", r->device);
    json_text(b, "precision", r->precision);
    if (*r->workflow_file)
        json_text(b, "workflow", r->workflow_file);
    if (r->is_output)
        nino_buf_addf(b, ", \"execution_time\": %.6f", r->duration_s);
    nino_buf_adds(b, "},\n  \"tensor_info\": ");
    print_info(b, t);
    nino_buf_adds(b, "\n}\n");
}

// {"data": {...}, "timestamp": ms, "metadata": {}} as the original has it around both.
static void print_timing(nino_buf *b, const capture_record *r)
{
    const double end = (double) r->ms / 1000;
    char shapes[160];
    nino_capture_shapes(r, shapes, sizeof(shapes));
    nino_buf_addf(b,
                  "{\n  \"data\": {\"function\": \"%s\", \"start_time\": %.3f, "
                  "\"end_time\": %.3f, \"duration\": %.6f, \"metadata\": {\"node_type\": ",
                  r->function, end - r->duration_s, end, r->duration_s);
    nino_buf_add_json_string(b, r->class_type, strlen(r->class_type));
    json_text(b, "node_id", r->node_id);
    json_text(b, "input_shape", r->input_shape);
    json_text(b, "output_shape", shapes);
    nino_buf_addf(b, ", \"is_video\": %s, \"params\": %s",
                  strstr(r->folder, "frames") ? "true" : "false", r->params);
    json_text(b, "device", r->device);
    json_text(b, "precision", r->precision);
    nino_buf_addf(b, "}},\n  \"timestamp\": %" PRIu64 ",\n  \"metadata\": {}\n}\n", r->ms);
}

static void print_memory(nino_buf *b, const capture_record *r)
{
    nino_buf_addf(b,
                  "{\n  \"data\": {\"function\": \"%s\", \"timestamp\": %" PRIu64
                  ", \"gpu_memory_allocated\": %" PRIu64 ", \"gpu_memory_reserved\": %" PRIu64
                  ", \"metadata\": {\"node_type\": ",
                  r->function, r->ms, r->in_use, r->reserved);
    nino_buf_add_json_string(b, r->class_type, strlen(r->class_type));
    json_text(b, "node_id", r->node_id);
    json_text(b, "when", r->is_output ? "output" : "input");
    nino_buf_addf(b,
                  ", \"gpu_memory_peak\": %" PRIu64 "}},\n  \"timestamp\": %" PRIu64
                  ",\n  \"metadata\": {}\n}\n",
                  r->peak, r->ms);
}

// ---- files -----------------------------------------------------------------------------------

static nino_status save_text(const char *root, const char *folder, const char *base, uint64_t ms,
                             nino_buf *text, nino_error *err)
{
    char name[192];
    snprintf(name, sizeof(name), "%s/%s_%" PRIu64 ".json", folder, base, ms);
    return text->failed ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                        : nino_file_save(root, name, true, text->data, text->len, err);
}

static nino_status save_beside(const char *root, const capture_record *r, const char *kind,
                               void (*print)(nino_buf *b, const capture_record *r), nino_error *err)
{
    char name[96];
    nino_buf text = { 0 };
    snprintf(name, sizeof(name), "%s_%.60s", kind, r->function);
    print(&text, r);
    const nino_status st = save_text(root, kind, name, r->ms, &text, err);
    nino_buf_release(&text);
    return st;
}

nino_status nino_capture_write(const char *root, const capture_record *r, nino_error *err)
{
    capture_tensors *t = nino_capture_collect(r);
    nino_buf text = { 0 };
    char name[192];
    nino_status st = t ? nino_file_mkdirs(root, false, err)
                       : nino_fail(err, NINO_ERR_NOMEM, root, "out of memory");
    if (st == NINO_OK && r->workflow)
        st = nino_file_save(root, r->workflow_file, true, r->workflow, strlen(r->workflow), err);
    if (st == NINO_OK && t->n) {
        snprintf(name, sizeof(name), "%s/%s_%" PRIu64 ".safetensors", r->folder, r->base, r->ms);
        st = nino_st_save(root, name, true, t->e, t->n, NULL, 0, err);
    }
    if (st == NINO_OK) {
        print_record(&text, r, t);
        st = save_text(root, r->folder, r->base, r->ms, &text, err);
    }
    if (st == NINO_OK && r->is_output)
        st = save_beside(root, r, "timing", print_timing, err);
    if (st == NINO_OK)
        st = save_beside(root, r, "memory", print_memory, err);
    nino_capture_tensors_destroy(&t);
    nino_buf_release(&text);
    return st;
}
