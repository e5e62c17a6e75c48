// Requests, answers and job options as JSON.
#include "core/monitor/link/request.h"

#include "core/base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *const commands[NINO_CONTROL_COUNT] = {
    "ping", "queue", "move",     "remove", "pause", "resume",   "cancel",
    "set",  "retry", "workflow", "reload", "trim",  "shutdown", "ahead",
};

// ---- writing -----------------------------------------------------------------------------------

static void request_add_key(nino_buf *b, const char *key)
{
    if (b->len && b->data && !strchr("{[", b->data[b->len - 1]))
        nino_buf_addc(b, ',');
    nino_buf_add_json_string(b, key, strlen(key));
    nino_buf_addc(b, ':');
}

void nino_json_add_text(nino_buf *b, const char *key, const char *text)
{
    request_add_key(b, key);
    nino_buf_add_json_string(b, text, strlen(text));
}

void nino_json_add_u64(nino_buf *b, const char *key, uint64_t v)
{
    request_add_key(b, key);
    nino_buf_addf(b, "%llu", (unsigned long long) v);
}

static void add_set(nino_buf *b, const char *key, const char *text)
{
    if (text && *text)
        nino_json_add_text(b, key, text);
}

static uint64_t to_percent(double share)
{
    return share < 1 ? (uint64_t) (share * 100 + 0.5) : 100;
}

void nino_options_write(nino_buf *b, const nino_job_options *o)
{
    nino_buf_addc(b, '{');
    if (o->models && o->models[0]) {
        request_add_key(b, "models");
        for (const char *const *m = o->models; *m; m++) {
            nino_buf_addc(b, m == o->models ? '[' : ',');
            nino_buf_add_json_string(b, *m, strlen(*m));
        }
        nino_buf_addc(b, ']');
    }
    add_set(b, "input", o->input_dir);
    add_set(b, "output", o->output_dir);
    add_set(b, "trace", o->trace_path);
    if (o->preview)
        nino_json_add_text(b, "preview", nino_preview_opt_name(o->preview));
    if (o->precision)
        nino_json_add_text(b, "precision", nino_precision_opt_name(o->precision));
    if (o->preview_every > 0)
        nino_json_add_u64(b, "preview_every", (uint64_t) o->preview_every);
    if (o->preview_share > 0)
        nino_json_add_u64(b, "preview_percent", to_percent(o->preview_share));
    if (o->no_profile)
        nino_json_add_u64(b, "no_profile", 1);
    if (o->no_metadata)
        nino_json_add_u64(b, "no_metadata", 1);
    if (o->is_anew)
        nino_json_add_u64(b, "is_anew", 1);
    if (o->policies_on)
        nino_json_add_u64(b, "policies_on", o->policies_on);
    if (o->policies_off)
        nino_json_add_u64(b, "policies_off", o->policies_off);
    nino_buf_addc(b, '}');
}

void nino_request_write(nino_buf *b, uint32_t id, const nino_control *c)
{
    nino_buf_addc(b, '{');
    nino_json_add_u64(b, "id", id);
    nino_json_add_text(b, "do", c->cmd < NINO_CONTROL_COUNT ? commands[c->cmd] : "");
    if (c->job)
        nino_json_add_u64(b, "job", c->job);
    if (c->position > 0)
        nino_json_add_u64(b, "position", (uint64_t) c->position);
    if (c->workflow) {
        request_add_key(b, "workflow");
        nino_buf_add_json_string(b, c->workflow, c->workflow_bytes);
    }
    add_set(b, "name", c->name);
    add_set(b, "assignment", c->assignment);
    if (c->after_job)
        nino_json_add_u64(b, "after_job", 1);
    if (c->cmd == NINO_CONTROL_QUEUE || c->cmd == NINO_CONTROL_AHEAD) {
        static const nino_job_options none = { NINO_JOB_OPTIONS_INIT };
        request_add_key(b, "options");
        nino_options_write(b, c->options ? c->options : &none);
    }
    nino_buf_addc(b, '}');
}

void nino_reply_write(nino_buf *b, uint32_t id, const nino_reply *r)
{
    nino_buf_addc(b, '{');
    nino_json_add_u64(b, "id", id);
    nino_json_add_text(b, "status", nino_status_name(r->err.code));
    if (r->err.code) {
        nino_json_add_text(b, "where", r->err.where);
        nino_json_add_text(b, "message", r->err.msg);
    }
    if (r->job)
        nino_json_add_u64(b, "job", r->job);
    if (r->bytes)
        nino_json_add_u64(b, "bytes", r->bytes);
    if (r->text.len) {
        request_add_key(b, "text");
        nino_buf_add_json_string(b, r->text.data, r->text.len);
    }
    nino_buf_addc(b, '}');
}

bool nino_status_parse(const char *name, nino_status *out)
{
    for (int st = NINO_OK; name && st >= NINO_ERR_UNSUPPORTED; st--)
        if (!strcmp(name, nino_status_name((nino_status) st))) {
            *out = (nino_status) st;
            return true;
        }
    return false;
}

// ---- reading -----------------------------------------------------------------------------------

static nino_status request_bad(nino_error *err, const char *key, const char *what)
{
    return nino_fail(err, NINO_ERR_FORMAT, key, "%s", what);
}

// Absent is fine; *out stays.
static nino_status get_text(const nino_json *obj, const char *key, const char **out,
                            nino_error *err)
{
    const nino_json *v = nino_json_get(obj, key);
    const char *s = nino_json_str(v);
    if (v && !s)
        return request_bad(err, key, "is not a text");
    if (s)
        *out = s;
    return NINO_OK;
}

static nino_status get_u64(const nino_json *obj, const char *key, uint64_t max, uint64_t *out,
                           nino_error *err)
{
    const nino_json *v = nino_json_get(obj, key);
    uint64_t n = *out;
    if (v && (!nino_json_u64(v, &n) || n > max))
        return request_bad(err, key, "is not a whole number in its range");
    *out = n;
    return NINO_OK;
}

static nino_status get_models(const nino_json *v, const char ***out, nino_error *err)
{
    size_t n = 0;
    if (!v)
        return NINO_OK;
    if (v->type != NINO_JSON_ARRAY)
        return request_bad(err, "options.models", "is not a list of folders");
    const char **list = calloc((size_t) v->count + 1, sizeof(*list));
    if (!list)
        return nino_fail(err, NINO_ERR_NOMEM, "options.models", "out of memory");
    for (const nino_json *m = v->child; m; m = m->next)
        if (!(list[n++] = nino_json_str(m))) {
            free(list);
            return request_bad(err, "options.models", "is not a list of folders");
        }
    *out = list;
    return NINO_OK;
}

nino_status nino_options_parse(const nino_json *v, nino_job_options *o, const char ***models,
                               nino_error *err)
{
    const char *precision = NULL, *preview = NULL;
    uint64_t every = 0, percent = 0, no_profile = 0, no_metadata = 0, is_anew = 0;
    uint64_t on = 0, off = 0;
    nino_status st = NINO_OK;
    *o = (nino_job_options){ NINO_JOB_OPTIONS_INIT };
    *models = NULL;
    if (!v)
        return NINO_OK;
    if (v->type != NINO_JSON_OBJECT)
        return request_bad(err, "options", "is not an object");
    if ((st = get_text(v, "input", &o->input_dir, err)) ||
        (st = get_text(v, "output", &o->output_dir, err)) ||
        (st = get_text(v, "trace", &o->trace_path, err)) ||
        (st = get_text(v, "preview", &preview, err)) ||
        (st = get_text(v, "precision", &precision, err)) ||
        (st = get_u64(v, "preview_every", 10000, &every, err)) ||
        (st = get_u64(v, "preview_percent", 100, &percent, err)) ||
        (st = get_u64(v, "no_profile", 1, &no_profile, err)) ||
        (st = get_u64(v, "no_metadata", 1, &no_metadata, err)) ||
        (st = get_u64(v, "is_anew", 1, &is_anew, err)) ||
        (st = get_u64(v, "policies_on", NINO_POLICY_ALL, &on, err)) ||
        (st = get_u64(v, "policies_off", NINO_POLICY_ALL, &off, err)) ||
        (st = get_models(nino_json_get(v, "models"), models, err)))
        return st;
    o->models = *models;
    o->preview_every = (int) every;
    o->preview_share = (double) percent * 0.01;
    o->no_profile = no_profile != 0;
    o->no_metadata = no_metadata != 0;
    o->is_anew = is_anew != 0;
    o->policies_on = (uint32_t) on;
    o->policies_off = (uint32_t) off;
    if (precision && !nino_precision_opt_find(precision, &o->precision))
        return request_bad(err, "options.precision", "is not one of auto, fp32, fp16, bf16");
    if (preview && *preview && !nino_preview_opt_find(preview, &o->preview))
        return request_bad(err, "options.preview", "is not one of none, latent2rgb, taesd, auto");
    return NINO_OK;
}

static nino_status find_command(const char *word, nino_control_cmd *out, nino_error *err)
{
    for (int i = 0; i < NINO_CONTROL_COUNT; i++)
        if (!strcmp(word, commands[i])) {
            *out = (nino_control_cmd) i;
            return NINO_OK;
        }
    return nino_fail(err, NINO_ERR_UNKNOWN, "do", "'%.40s' is no request", word);
}

nino_status nino_request_parse(const char *json, size_t len, nino_request *out, nino_error *err)
{
    const nino_json_limits limits = { .max_depth = 8,
                                      .max_bytes = NINO_REQUEST_MAX,
                                      .max_nodes = 4096,
                                      .max_string = NINO_REQUEST_MAX,
                                      .strict_numbers = true };
    uint64_t id = 0, position = 0, after = 0;
    const char *word = "";
    *out = (nino_request){ .c = { NINO_CONTROL_INIT } };
    nino_control *c = &out->c;
    c->options = &out->options;
    nino_status st = nino_json_parse(json, len, "request", &limits, &out->doc, err);
    if (st)
        return st;
    const nino_json *r = out->doc->root;
    if (r->type != NINO_JSON_OBJECT)
        return request_bad(err, "request", "is not an object");
    if ((st = get_u64(r, "id", UINT32_MAX, &id, err)))
        return st;
    out->id = (uint32_t) id;
    if ((st = get_text(r, "do", &word, err)) || (st = find_command(word, &c->cmd, err)) ||
        (st = get_u64(r, "job", UINT64_MAX, &c->job, err)) ||
        (st = get_u64(r, "position", 1000000, &position, err)) ||
        (st = get_u64(r, "after_job", 1, &after, err)) ||
        (st = get_text(r, "workflow", &c->workflow, err)) ||
        (st = get_text(r, "name", &c->name, err)) ||
        (st = get_text(r, "assignment", &c->assignment, err)) ||
        (st = nino_options_parse(nino_json_get(r, "options"), &out->options, &out->models, err)))
        return st;
    c->workflow_bytes = c->workflow ? nino_json_get(r, "workflow")->len : 0;
    c->position = (int) position;
    c->after_job = after != 0;
    return NINO_OK;
}

void nino_request_release(nino_request *r)
{
    nino_json_doc_destroy(&r->doc);
    free(r->models);
    *r = (nino_request){ 0 };
}
