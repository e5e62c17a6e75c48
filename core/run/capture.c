// Debug capture: inputs and outputs of nodes as safetensors + JSON under test_data/captured/,
// written by a thread of its own. Directory and file names are those of the original extension's
// capture.
#include "core/run/capture.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/num.h"
#include "core/base/vars.h"
#include "core/file/safetensors.h"

#define ROOT "test_data/captured"
#define MAX_QUEUED ((uint64_t) 2 << 30)
#define MAX_VALUES 16

typedef struct record {
    struct record *next;
    char folder[64], base[96];
    char *node_id, *class_type, *params;
    bool is_output;
    uint64_t ms, bytes; // since the epoch
    double duration_s;
    nino_value *value[MAX_VALUES];
    const char *key[MAX_VALUES]; // of the node table
    int n;
} record;

struct nino_capture {
    const nino_log *log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    record *first, **last;
    uint64_t queued_bytes, dropped, last_ms;
    bool stop, is_failing;
    char folder[64]; // of the inputs of the node that runs now
};

// ---- names -----------------------------------------------------------------------------------

// "ROCMOptimizedVAEDecode" -> vae_decode and so on; other classes in snake case.
static void function_name(const char *class_type, char *out, size_t size)
{
    static const char *const known[][2] = { { "CheckpointLoader", "checkpoint_loader" },
                                            { "KSampler", "ksampler" },
                                            { "VAEDecode", "vae_decode" } };
    size_t n = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(class_type, known[i][0])) {
            snprintf(out, size, "%s", known[i][1]);
            return;
        }
    for (const char *s = class_type; *s && n + 2 < size; s++) {
        const bool is_start = isupper((unsigned char) *s) && s > class_type &&
                              (islower((unsigned char) s[-1]) || islower((unsigned char) s[1]));
        if (is_start)
            out[n++] = '_';
        out[n++] = (char) (isalnum((unsigned char) *s) ? tolower((unsigned char) *s) : '_');
    }
    out[n] = 0;
}

// "flux_1024x1024", "wan_320x320_17frames": family and size in pixels of what the node works on.
static void folder_name(nino_value *const *values, const nino_port *ports, char *out, size_t size)
{
    const char *family = "image";
    int factor = 8;
    const nino_shape *latent = NULL, *image = NULL;
    for (int i = 0; ports && ports[i].key; i++) {
        const nino_value *v = values[i];
        if (v && v->type == NINO_PORT_VAE) {
            family = v->u.vae->family;
            factor = v->u.vae->factor;
        } else if (v && v->type == NINO_PORT_LATENT) {
            latent = &v->u.latent.samples->shape;
        } else if (v && v->type == NINO_PORT_IMAGE) {
            image = &v->u.image->shape;
        }
    }
    out[0] = 0;
    if (latent) {
        const int r = latent->rank;
        const bool is_video = r == 5;
        if (!strcmp(family, "image"))
            family = "latent";
        int n = snprintf(out, size, "%.24s_%" PRId64 "x%" PRId64, family,
                         latent->dim[r - 2] * factor, latent->dim[r - 3] * factor);
        if (is_video)
            snprintf(out + n, size - (size_t) n, "_%" PRId64 "frames", latent->dim[1]);
    } else if (image) {
        snprintf(out, size, "%.24s_%" PRId64 "x%" PRId64, family, image->dim[2], image->dim[1]);
    }
}

// ---- writing (the thread) --------------------------------------------------------------------

typedef struct tensors {
    nino_st_entry e[MAX_VALUES];
    nino_array *a[MAX_VALUES];
    char name[MAX_VALUES][64];
    int n;
} tensors;

static void add_tensor(tensors *t, const char *key, nino_array *a)
{
    if (!a)
        return;
    snprintf(t->name[t->n], sizeof(t->name[0]), "%.60s", key);
    t->a[t->n] = a;
    t->e[t->n] = (nino_st_entry){ t->name[t->n], a };
    t->n++;
}

// Latents as files hold them (channels first), images as they are.
static void capture_collect(const record *r, tensors *t)
{
    for (int i = 0; i < r->n; i++) {
        const nino_value *v = r->value[i];
        switch (v ? v->type : NINO_PORT_NONE) {
        case NINO_PORT_LATENT:
            add_tensor(t, r->key[i], nino_array_to_channels_first(v->u.latent.samples));
            break;
        case NINO_PORT_IMAGE: add_tensor(t, r->key[i], nino_array_ref(v->u.image)); break;
        case NINO_PORT_MASK: add_tensor(t, r->key[i], nino_array_ref(v->u.mask)); break;
        default: break;
        }
    }
}

static void print_value(nino_buf *b, const nino_value *v)
{
    nino_buf_adds(b, "{\"type\": ");
    const char *type = v ? nino_port_type_name(v->type) : "none";
    nino_buf_add_json_string(b, type, strlen(type));
    if (v && v->type == NINO_PORT_VAE) {
        nino_buf_adds(b, ", \"family\": ");
        nino_buf_add_json_string(b, v->u.vae->family, strlen(v->u.vae->family));
        nino_buf_adds(b, ", \"name\": ");
        nino_buf_add_json_string(b, v->u.vae->name, strlen(v->u.vae->name));
    } else if (v && v->type == NINO_PORT_STRING) {
        nino_buf_adds(b, ", \"text\": ");
        nino_buf_add_json_string(b, v->u.string, strlen(v->u.string));
    }
    nino_buf_addc(b, '}');
}

static void print_info(nino_buf *b, const tensors *t)
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

static void print_record(nino_buf *b, const record *r, const tensors *t)
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
    nino_buf_adds(b, ", \"node_id\": ");
    nino_buf_add_json_string(b, r->node_id, strlen(r->node_id));
    nino_buf_addf(b, ", \"params\": %s", r->params);
    if (r->is_output)
        nino_buf_addf(b, ", \"execution_time\": %.6f", r->duration_s);
    nino_buf_adds(b, "},\n  \"tensor_info\": ");
    print_info(b, t);
    nino_buf_adds(b, "\n}\n");
}

static void capture_print_timing(nino_buf *b, const record *r, const char *function)
{
    const double end = (double) r->ms / 1000;
    nino_buf_addf(b,
                  "{\n  \"data\": {\"function\": \"%s\", \"start_time\": %.3f, "
                  "\"end_time\": %.3f, \"duration\": %.6f, \"metadata\": {\"node_type\": ",
                  function, end - r->duration_s, end, r->duration_s);
    nino_buf_add_json_string(b, r->class_type, strlen(r->class_type));
    nino_buf_addf(b, "}},\n  \"timestamp\": %" PRIu64 ",\n  \"metadata\": {}\n}\n", r->ms);
}

static nino_status save_text(const char *folder, const char *base, uint64_t ms, nino_buf *text,
                             nino_error *err)
{
    char name[192];
    snprintf(name, sizeof(name), "%s/%s_%" PRIu64 ".json", folder, base, ms);
    return text->failed ? nino_fail(err, NINO_ERR_NOMEM, name, "out of memory")
                        : nino_file_save(ROOT, name, true, text->data, text->len, err);
}

static nino_status write_record(const record *r, nino_error *err)
{
    tensors t = { 0 };
    nino_buf text = { 0 };
    char name[192], function[64];
    nino_status st = nino_file_mkdirs(ROOT, false, err);
    capture_collect(r, &t);
    if (st == NINO_OK && t.n) {
        snprintf(name, sizeof(name), "%s/%s_%" PRIu64 ".safetensors", r->folder, r->base, r->ms);
        st = nino_st_save(ROOT, name, true, t.e, t.n, NULL, 0, err);
    }
    if (st == NINO_OK) {
        print_record(&text, r, &t);
        st = save_text(r->folder, r->base, r->ms, &text, err);
    }
    if (st == NINO_OK && r->is_output) {
        function_name(r->class_type, function, sizeof(function));
        snprintf(name, sizeof(name), "timing_%.60s", function);
        nino_buf_clear(&text);
        capture_print_timing(&text, r, function);
        st = save_text("timing", name, r->ms, &text, err);
    }
    for (int i = 0; i < t.n; i++)
        nino_array_unref(&t.a[i]);
    nino_buf_release(&text);
    return st;
}

static void capture_release(record *r)
{
    for (int i = 0; i < r->n; i++)
        nino_value_unref(&r->value[i]);
    free(r->node_id);
    free(r->class_type);
    free(r->params);
    free(r);
}

static void *capture_thread(void *priv)
{
    nino_capture *c = priv;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->first && !c->stop)
            pthread_cond_wait(&c->changed, &c->lock);
        record *r = c->first;
        if (!r)
            break;
        if (!(c->first = r->next))
            c->last = &c->first;
        pthread_mutex_unlock(&c->lock);
        nino_error e = { 0 };
        if (write_record(r, &e) && !c->is_failing) { // errors never reach the job; said once
            c->is_failing = true;
            nino_logf(c->log, NINO_LOG_WARN, "capture: %s: %s", e.where, e.msg);
        }
        const uint64_t bytes = r->bytes;
        capture_release(r);
        pthread_mutex_lock(&c->lock);
        c->queued_bytes -= bytes;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

// ---- the job's side --------------------------------------------------------------------------

nino_capture *nino_capture_start(const nino_log *log)
{
    if (!nino_debug_has("capture"))
        return NULL;
    nino_capture *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->log = log;
    c->last = &c->first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, capture_thread, c)) {
        nino_logf(log, NINO_LOG_WARN, "capture: cannot start its thread");
        pthread_cond_destroy(&c->changed);
        pthread_mutex_destroy(&c->lock);
        free(c);
        return NULL;
    }
    nino_logf(log, NINO_LOG_INFO, "capture: nodes are written to " ROOT);
    return c;
}

void nino_capture_stop(nino_capture **pc)
{
    nino_capture *c = *pc;
    if (!c)
        return;
    *pc = NULL;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    if (c->dropped)
        nino_logf(c->log, NINO_LOG_WARN,
                  "capture: %" PRIu64 " records were dropped, the disk is "
                  "slower than the run",
                  c->dropped);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static record *make_record(const char *class_type, const char *node_id, bool is_output,
                           nino_value *const *values, const nino_port *ports,
                           const char *params_json, double duration_s)
{
    char function[64];
    struct timespec t;
    record *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &t);
    r->ms = (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
    r->node_id = strdup(node_id);
    r->class_type = strdup(class_type);
    r->params = strdup(params_json);
    r->is_output = is_output;
    r->duration_s = duration_s;
    function_name(class_type, function, sizeof(function));
    snprintf(r->base, sizeof(r->base), "%s_%s", function, is_output ? "output" : "input");
    for (; ports && ports[r->n].key && r->n < MAX_VALUES; r->n++) {
        r->key[r->n] = ports[r->n].key;
        r->value[r->n] = nino_value_ref(values[r->n]);
        r->bytes += nino_value_bytes(values[r->n]);
    }
    if (r->node_id && r->class_type && r->params)
        return r;
    capture_release(r);
    return NULL;
}

void nino_capture_node(nino_capture *c, const char *class_type, const char *node_id,
                       const char *when, nino_value *const *values, const nino_port *ports,
                       const char *params_json, double duration_s)
{
    const bool is_output = !strcmp(when, "output");
    record *r = make_record(class_type, node_id, is_output, values, ports, params_json, duration_s);
    if (!r)
        return;
    // Outputs go beside the inputs they were made from.
    folder_name(values, ports, r->folder, sizeof(r->folder));
    if (!is_output)
        memcpy(c->folder, r->folder, sizeof(c->folder));
    else if (c->folder[0])
        memcpy(r->folder, c->folder, sizeof(r->folder));
    if (!r->folder[0])
        snprintf(r->folder, sizeof(r->folder), "other");
    pthread_mutex_lock(&c->lock);
    if (c->queued_bytes + r->bytes > MAX_QUEUED) {
        c->dropped++;
        pthread_mutex_unlock(&c->lock);
        capture_release(r);
        return;
    }
    if (r->ms <= c->last_ms) // names are milliseconds: one each
        r->ms = c->last_ms + 1;
    c->last_ms = r->ms;
    c->queued_bytes += r->bytes;
    *c->last = r;
    c->last = &r->next;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}
