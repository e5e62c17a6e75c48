// One captured node, run again: a workflow of that node, of what makes its models and conditioning, and
// of its captured pictures, latents and masks.
#include "core/run/capture_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/file/weights.h"
#include "core/run/context.h"
#include "core/workflow/workflow.h"
#include <ninodes/job.h>

enum { MAX_INPUTS = 16, MAX_WORKFLOW = 64 << 20 };

// What stands in for the source of an input.
typedef struct stand_in {
    const char *port, *class_type, *literal;
    char id[48];
    nino_value *value;
} stand_in;

typedef struct replay {
    const capture_file *f; // the input
    nino_json_doc *workflow;
    const nino_json *prompt;
    stand_in in[MAX_INPUTS];
    int n;
    const nino_json **kept; // the nodes before it that run again
    size_t n_kept;
} replay;

// ---- values ----------------------------------------------------------------------------------

static nino_array *read_tensor(nino_weights *w, const char *key, const char *part)
{
    char name[96];
    snprintf(name, sizeof(name), "%.60s%s", key, part);
    const nino_tensor_info *t = w ? nino_weights_find(w, name) : NULL;
    return t ? nino_weights_read_f32(w, t, NULL) : NULL;
}

static nino_value *latent_of(nino_weights *w, const nino_json *data, const char *key)
{
    nino_array *files = read_tensor(w, key, "");
    nino_value *v = files ? nino_value_create(NINO_PORT_LATENT) : NULL;
    int64_t factor = 0;
    if (v) {
        nino_json_i64(nino_json_get(data, "factor"), &factor);
        v->u.latent.samples = nino_array_to_channels_last(files);
        v->u.latent.noise_mask = read_tensor(w, key, ".noise_mask");
        v->u.latent.factor = (int) factor;
    }
    const nino_json *index = nino_json_get(data, "batch_index");
    if (v && index && (v->u.latent.batch_index = calloc(index->count + 1, sizeof(int64_t)))) {
        int64_t *to = v->u.latent.batch_index;
        for (const nino_json *e = index->child; e; e = e->next)
            nino_json_i64(e, to++);
    }
    nino_array_unref(&files);
    if (v && !v->u.latent.samples)
        nino_value_unref(&v);
    return v;
}

static void add_stand_in(replay *r, nino_weights *w, const nino_json *data)
{
    static const struct {
        const char *type, *class_type, *literal;
        nino_port_type port;
    } kinds[] = { { "LATENT", "LoadLatent", "{\"latent\": \"capture\"}", NINO_PORT_LATENT },
                  { "IMAGE", "LoadImage", "{\"image\": \"capture\"}", NINO_PORT_IMAGE },
                  { "MASK", "LoadImageMask", "{\"image\": \"capture\", \"channel\": \"red\"}",
                    NINO_PORT_MASK } };
    const char *type = nino_json_str(nino_json_get(data, "type"));
    stand_in *s = &r->in[r->n];
    for (size_t i = 0; type && i < 3 && r->n < MAX_INPUTS; i++) {
        if (strcmp(type, kinds[i].type) != 0)
            continue;
        *s = (stand_in){ data->key, kinds[i].class_type, kinds[i].literal, "", NULL };
        snprintf(s->id, sizeof(s->id), "capture-%d", r->n);
        nino_array *a = kinds[i].port == NINO_PORT_LATENT ? NULL : read_tensor(w, data->key, "");
        if (kinds[i].port == NINO_PORT_LATENT)
            s->value = latent_of(w, data, data->key);
        else if (a && (s->value = nino_value_create(kinds[i].port)))
            *(kinds[i].port == NINO_PORT_IMAGE ? &s->value->u.image : &s->value->u.mask) = a;
        else
            nino_array_unref(&a);
        r->n += s->value != NULL;
        return;
    }
}

static nino_status read_inputs(replay *r, nino_error *err)
{
    char path[4096];
    nino_error e = { .code = NINO_OK };
    const bool has = nino_capture_tensors(r->f, path, sizeof(path)) && !access(path, R_OK);
    nino_weights *w = has ? nino_weights_open(path, &e) : NULL;
    const nino_json *data = nino_json_get(r->f->doc->root, "data");
    for (const nino_json *v = data ? data->child : NULL; v && !e.code; v = v->next)
        add_stand_in(r, w, v);
    nino_weights_unref(&w);
    if (e.code && err)
        *err = e;
    return e.code;
}

// ---- the workflow ----------------------------------------------------------------------------

// The folder of the captured file's folder, where workflow/ lies.
static nino_status open_workflow(replay *r, nino_error *err)
{
    char path[4096], *text = NULL;
    size_t len;
    const char *slash = strrchr(r->f->path, '/');
    const size_t n = slash ? (size_t) (slash - r->f->path) : 0;
    if (!*r->f->workflow)
        return nino_fail(err, NINO_ERR_MISSING, r->f->path, "it was captured without a workflow");
    if (snprintf(path, sizeof(path), "%.*s%s../%s", (int) n, r->f->path, n ? "/" : "",
                 r->f->workflow) >= (int) sizeof(path))
        return nino_fail(err, NINO_ERR_RANGE, r->f->path, "the path is too long");
    nino_status st = nino_file_read(path, MAX_WORKFLOW, false, &text, &len, err);
    if (!st)
        st = nino_json_parse(text, len, path, NULL, &r->workflow, err);
    free(text);
    if (st)
        return st;
    const nino_json *inner = nino_json_get(r->workflow->root, "prompt");
    r->prompt = inner ? inner : r->workflow->root;
    if (!nino_json_get(r->prompt, r->f->node_id))
        return nino_fail(err, NINO_ERR_MISSING, path, "it has no node %s", r->f->node_id);
    return NINO_OK;
}

static const stand_in *stand_in_of(const replay *r, const char *port)
{
    for (int i = 0; i < r->n; i++)
        if (!strcmp(r->in[i].port, port))
            return &r->in[i];
    return NULL;
}

// Node and slot of a link; NULL: no link.
static const char *link_of(const nino_json *v, char id[32])
{
    const char *out = NULL;
    int32_t slot;
    return nino_input_read(v, id, &out, &slot) == NINO_INPUT_LINK ? out : NULL;
}

// The nodes that the links of kept node i lead to are kept, too.
static void keep_sources(replay *r, size_t i)
{
    const bool is_first = i == 0;
    const nino_json *inputs = nino_json_get(r->kept[i], "inputs");
    for (const nino_json *v = inputs ? inputs->child : NULL; v; v = v->next) {
        char buf[32];
        const char *id = is_first && stand_in_of(r, v->key) ? NULL : link_of(v, buf);
        const nino_json *node = id ? nino_json_get(r->prompt, id) : NULL;
        bool is_new = node != NULL;
        for (size_t k = 0; k < r->n_kept && is_new; k++)
            is_new = r->kept[k] != node;
        if (is_new)
            r->kept[r->n_kept++] = node;
    }
}

static void print_node(nino_buf *b, const replay *r, const nino_json *node, bool is_first)
{
    const nino_json *inputs = nino_json_get(node, "inputs");
    const char *class_type = nino_json_str(nino_json_get(node, "class_type"));
    bool more = false;
    nino_buf_add_json_string(b, node->key, node->key_len);
    nino_buf_adds(b, ": {\"class_type\": ");
    nino_buf_add_json_string(b, class_type ? class_type : "", class_type ? strlen(class_type) : 0);
    nino_buf_adds(b, ", \"inputs\": {");
    for (const nino_json *v = inputs ? inputs->child : NULL; v; v = v->next) {
        const stand_in *s = is_first ? stand_in_of(r, v->key) : NULL;
        nino_buf_adds(b, more ? ", " : "");
        nino_buf_add_json_string(b, v->key, v->key_len);
        nino_buf_adds(b, ": ");
        if (s)
            nino_buf_addf(b, "[\"%s\", 0]", s->id);
        else
            nino_json_write(b, r->workflow, v);
        more = true;
    }
    nino_buf_adds(b, "}},\n");
}

static nino_graph *make_graph(replay *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_graph *g = NULL;
    if (!(r->kept = calloc(r->prompt->count + 1, sizeof(*r->kept)))) {
        nino_fail(err, NINO_ERR_NOMEM, r->f->path, "out of memory");
        return NULL;
    }
    r->kept[r->n_kept++] = nino_json_get(r->prompt, r->f->node_id);
    for (size_t i = 0; i < r->n_kept; i++)
        keep_sources(r, i);
    nino_buf_adds(&b, "{");
    for (size_t i = 0; i < r->n_kept; i++)
        print_node(&b, r, r->kept[i], i == 0);
    for (int i = 0; i < r->n; i++)
        nino_buf_addf(&b, "\"%s\": {\"class_type\": \"%s\", \"inputs\": %s},\n", r->in[i].id,
                      r->in[i].class_type, r->in[i].literal);
    nino_buf_adds(&b,
                  "\"capture-end\": {\"class_type\": \"PreviewAny\", \"inputs\": {\"source\": [");
    nino_buf_add_json_string(&b, r->f->node_id, strlen(r->f->node_id));
    nino_buf_adds(&b, ", 0]}}}");
    if (b.failed)
        nino_fail(err, NINO_ERR_NOMEM, r->f->path, "out of memory");
    else
        g = nino_graph_load(b.data, b.len, r->f->path, err);
    nino_buf_release(&b);
    for (int i = 0; g && i < r->n; i++) {
        nino_gnode *n = &g->nodes[nino_graph_find(g, r->in[i].id)];
        n->given[0] = nino_value_ref(r->in[i].value);
        n->given_key = nino_hash_bytes(r->f->path, strlen(r->f->path));
    }
    return g;
}

// ---- running it ------------------------------------------------------------------------------

static nino_status wait_for(nino_job *job, nino_error *err)
{
    nino_event ev[64];
    nino_status st = NINO_OK;
    while (!nino_job_done(job, &st, err)) {
        while (nino_job_poll(job, ev, 64)) {
        }
        nino_job_wait(job, 200);
    }
    nino_job_destroy(&job);
    return st;
}

static nino_status run_held(nino_ctx *ctx, nino_graph *g, const replay *r, nino_capture *own,
                            const nino_job_options *options, nino_error *err)
{
    nino_job_options o = { NINO_JOB_OPTIONS_INIT };
    if (options && !NINO_TAKE(&o, options, NINO_JOB_OPTIONS_INIT, err))
        return NINO_ERR_ARG;
    if (!o.precision)
        nino_precision_opt_find(r->f->precision, &o.precision);
    o.no_files = o.is_anew = true;
    nino_capture *outer = nino_ctx_swap_capture(ctx, own);
    nino_error e = { .code = NINO_OK };
    nino_job *job = nino_job_start(ctx, g, &o, &e);
    const nino_status st = job ? wait_for(job, &e) : e.code;
    nino_ctx_swap_capture(ctx, outer);
    if (st && err)
        *err = e;
    return st;
}

static nino_status replay_run(nino_ctx *ctx, replay *r, const capture_file *before,
                              const nino_job_options *options, nino_capture_row_fn row, void *priv,
                              nino_error *err)
{
    nino_status st = open_workflow(r, err);
    if (!st)
        st = read_inputs(r, err);
    nino_graph *g = st ? NULL : make_graph(r, err);
    nino_capture *own = g ? nino_capture_hold(r->f->node_id) : NULL;
    capture_tensors *now = NULL;
    if (!st && !g)
        st = err ? err->code : NINO_ERR_FORMAT;
    if (!st)
        st = own ? run_held(ctx, g, r, own, options, err)
                 : nino_fail(err, NINO_ERR_NOMEM, r->f->path, "out of memory");
    const capture_record *held = st ? NULL : nino_capture_held(own);
    if (held && !(now = nino_capture_collect(held)))
        st = nino_fail(err, NINO_ERR_NOMEM, r->f->path, "out of memory");
    else if (!st && !held)
        st = nino_fail(err, NINO_ERR_UNSUPPORTED, r->f->path, "it gives nothing to compare");
    if (!st)
        st = nino_capture_compare(before, NULL, now, row, priv, err);
    nino_capture_tensors_destroy(&now);
    nino_capture_stop(&own);
    nino_graph_destroy(&g);
    return st;
}

// The output that was captured after the input, in this or another folder beside: loaders have a size
// only once they have loaded.
static nino_status find_output(const capture_file *in, capture_list *beside,
                               const capture_file **out, nino_error *err)
{
    char dir[4096];
    const char *slash = strrchr(in->path, '/');
    if (snprintf(dir, sizeof(dir), "%.*s..", slash ? (int) (slash + 1 - in->path) : 0, in->path) >=
        (int) sizeof(dir))
        return nino_fail(err, NINO_ERR_RANGE, in->path, "the path is too long");
    const nino_status st = nino_capture_read(dir, beside, err);
    for (size_t i = 0; !st && i < beside->n && !*out; i++)
        if (beside->file[i].ms == in->ms && !beside->file[i].is_output)
            *out = nino_capture_partner(beside, i);
    if (!st && !*out)
        return nino_fail(err, NINO_ERR_MISSING, in->path, "no output was captured with it");
    return st;
}

nino_status nino_capture_replay(nino_ctx *ctx, const char *input_json,
                                const nino_job_options *options, nino_capture_row_fn row,
                                void *priv, nino_error *err)
{
    capture_list list, beside = { 0 };
    nino_error e = { .code = NINO_OK }; // make_graph() tells by it alone
    const capture_file *before = NULL;
    nino_status st = nino_capture_read(input_json, &list, &e);
    if (!st && (list.n != 1 || list.file[0].is_output))
        st = nino_fail(&e, NINO_ERR_ARG, input_json, "this is not the captured input of one node");
    if (!st)
        st = find_output(&list.file[0], &beside, &before, &e);
    if (!st) {
        replay r = { .f = &list.file[0] };
        st = replay_run(ctx, &r, before, options, row, priv, &e);
        for (int i = 0; i < r.n; i++)
            nino_value_unref(&r.in[i].value);
        free(r.kept);
        nino_json_doc_destroy(&r.workflow);
    }
    nino_capture_list_release(&list);
    nino_capture_list_release(&beside);
    if (st && err)
        *err = e;
    return st;
}
