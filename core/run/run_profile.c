// The profile in output files: collecting, writing and reading it.
#include "core/run/run_profile.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FORMAT = 1, MAX_BYTES = 4 << 20, MAX_NODES = 65536 };

// ---- collecting --------------------------------------------------------------------------------

void nino_profile_log_init(nino_profile_log *l, nino_backend *be, const char *precision)
{
    *l = (nino_profile_log){ .be = be, .begin_ns = nino_now_ns() };
    snprintf(l->p.version, sizeof(l->p.version), "%s", nino_version());
    snprintf(l->p.device, sizeof(l->p.device), "%s", be->info.name);
    snprintf(l->p.driver, sizeof(l->p.driver), "%s", be->info.driver);
    snprintf(l->p.precision, sizeof(l->p.precision), "%s", precision);
    l->p.started = (int64_t) time(NULL);
}

void nino_profile_log_release(nino_profile_log *l) { nino_run_profile_release(&l->p); }

static uint64_t in_use(const nino_profile_log *l, uint64_t *peak)
{
    nino_mem_stat m;
    nino_pool_stat(l->be->pool, &m);
    if (peak)
        *peak = m.peak;
    return m.in_use;
}

void nino_profile_log_begin(nino_profile_log *l, const char *node, const char *class_type,
                            bool is_cached)
{
    if (l->is_off || l->has_failed)
        return;
    if (l->p.n_nodes == l->cap) {
        const size_t cap = l->cap ? l->cap * 2 : 16;
        nino_run_profile_node *list = realloc(l->p.nodes, cap * sizeof(*list));
        l->has_failed = !list;
        if (!list)
            return;
        l->p.nodes = list;
        l->cap = cap;
    }
    nino_run_profile_node *n = &l->p.nodes[l->p.n_nodes++];
    *n = (nino_run_profile_node){ .is_cached = is_cached };
    snprintf(n->node, sizeof(n->node), "%s", node);
    snprintf(n->class_type, sizeof(n->class_type), "%s", class_type);
    l->node_ns = nino_now_ns();
    l->node_ops = l->be->n_ops;
    l->node_flops = l->be->flops;
    l->node_use = in_use(l, NULL);
    l->node_load_ns = l->be->load_ns;
    l->node_load_bytes = l->be->load_bytes;
}

// The numbers of the node that runs, until now.
static nino_run_profile_node measured(const nino_profile_log *l, nino_run_profile_node n)
{
    n.seconds = (double) (nino_now_ns() - l->node_ns) * 1e-9;
    n.kernels = l->be->n_ops - l->node_ops;
    n.flops = l->be->flops - l->node_flops;
    n.load_seconds = (double) (l->be->load_ns - l->node_load_ns) * 1e-9;
    n.load_bytes = l->be->load_bytes - l->node_load_bytes;
    n.memory_delta = (int64_t) in_use(l, NULL) - (int64_t) l->node_use;
    return n;
}

void nino_profile_log_end(nino_profile_log *l)
{
    if (l->is_off || l->has_failed || !l->p.n_nodes)
        return;
    nino_run_profile_node *n = &l->p.nodes[l->p.n_nodes - 1];
    *n = measured(l, *n);
    l->p.kernels += n->kernels;
    l->p.flops += n->flops;
}

static void run_profile_add_text(nino_buf *b, const char *key, const char *v)
{
    nino_buf_addf(b, "\"%s\": \"", key);
    for (; *v; v++) // ASCII only, as ComfyUI's own chunks
        if (*v == '"' || *v == '\\' || (unsigned char) *v < 0x20 || (unsigned char) *v >= 0x7f)
            nino_buf_addf(b, "\\u%04x", (unsigned char) *v < 0x7f ? (unsigned) *v : 0xfffdu);
        else
            nino_buf_addc(b, *v);
    nino_buf_adds(b, "\", ");
}

static void run_profile_add_node(nino_buf *b, const nino_run_profile_node *n, bool is_first)
{
    nino_buf_adds(b, is_first ? "{" : ", {");
    run_profile_add_text(b, "node", n->node);
    run_profile_add_text(b, "class_type", n->class_type);
    if (n->is_cached)
        nino_buf_adds(b, "\"cached\": true, ");
    if (n->load_bytes)
        nino_buf_addf(b, "\"load_ms\": %.3f, \"load_bytes\": %llu, ", n->load_seconds * 1e3,
                      (unsigned long long) n->load_bytes);
    nino_buf_addf(b, "\"ms\": %.3f, \"kernels\": %llu, \"flops\": %.6g, \"memory_delta\": %lld}",
                  n->seconds * 1e3, (unsigned long long) n->kernels, n->flops,
                  (long long) n->memory_delta);
}

char *nino_profile_log_json(const nino_profile_log *l)
{
    nino_buf b = { 0 };
    uint64_t peak, kernels = l->p.kernels;
    double flops = l->p.flops;
    if (l->is_off || l->has_failed || !l->p.n_nodes)
        return NULL;
    in_use(l, &peak);
    const size_t last = l->p.n_nodes - 1;
    const nino_run_profile_node now = measured(l, l->p.nodes[last]);
    kernels += now.kernels;
    flops += now.flops;
    nino_buf_addf(&b, "{\"format\": %d, ", FORMAT);
    run_profile_add_text(&b, "version", l->p.version);
    run_profile_add_text(&b, "device", l->p.device);
    run_profile_add_text(&b, "driver", l->p.driver);
    run_profile_add_text(&b, "precision", l->p.precision);
    nino_buf_addf(&b,
                  "\"started\": %lld, \"ms\": %.3f, \"kernels\": %llu, \"flops\": %.6g, "
                  "\"peak_bytes\": %llu, \"nodes\": [",
                  (long long) l->p.started, (double) (nino_now_ns() - l->begin_ns) * 1e-6,
                  (unsigned long long) kernels, flops, (unsigned long long) peak);
    for (size_t i = 0; i < l->p.n_nodes; i++)
        run_profile_add_node(&b, i == last ? &now : &l->p.nodes[i], i == 0);
    nino_buf_adds(&b, "]}");
    if (b.failed)
        nino_buf_release(&b);
    return b.data;
}

// ---- reading -----------------------------------------------------------------------------------

static void run_profile_text(const nino_json *obj, const char *key, char *out, size_t size)
{
    const char *s = nino_json_str(nino_json_get(obj, key));
    snprintf(out, size, "%s", s ? s : "");
}

static double run_profile_number(const nino_json *obj, const char *key)
{
    double v;
    return nino_json_double(nino_json_get(obj, key), &v) && isfinite(v) && fabs(v) < 1e18 ? v : 0;
}

static uint64_t run_profile_count(const nino_json *obj, const char *key)
{
    const double v = run_profile_number(obj, key);
    return v > 0 ? (uint64_t) v : 0;
}

nino_status nino_run_profile_read(const char *json, size_t len, nino_run_profile *out,
                                  nino_error *err)
{
    const nino_json_limits limits = { .max_bytes = MAX_BYTES };
    nino_run_profile p = { .n_nodes = 0 };
    nino_json_doc *doc = NULL;
    nino_status st = nino_json_parse(json, len, NINO_RUN_PROFILE_KEY, &limits, &doc, err);
    if (st)
        return st;
    const nino_json *root = doc->root, *nodes = nino_json_get(root, "nodes");
    if (run_profile_number(root, "format") != FORMAT || !nodes || nodes->type != NINO_JSON_ARRAY ||
        nodes->count > MAX_NODES) {
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "schema", NINO_RUN_PROFILE_KEY,
                            "not a profile of this version");
        goto end;
    }
    run_profile_text(root, "version", p.version, sizeof(p.version));
    run_profile_text(root, "device", p.device, sizeof(p.device));
    run_profile_text(root, "driver", p.driver, sizeof(p.driver));
    run_profile_text(root, "precision", p.precision, sizeof(p.precision));
    p.started = (int64_t) run_profile_number(root, "started");
    p.seconds = run_profile_number(root, "ms") * 1e-3;
    p.flops = run_profile_number(root, "flops");
    p.kernels = run_profile_count(root, "kernels");
    p.peak_bytes = run_profile_count(root, "peak_bytes");
    if (!(p.nodes = calloc((size_t) nodes->count + 1, sizeof(*p.nodes)))) {
        st = nino_fail(err, NINO_ERR_NOMEM, NINO_RUN_PROFILE_KEY, "out of memory");
        goto end;
    }
    for (const nino_json *e = nodes->child; e; e = e->next) {
        nino_run_profile_node *n = &p.nodes[p.n_nodes++];
        bool is_cached = false;
        run_profile_text(e, "node", n->node, sizeof(n->node));
        run_profile_text(e, "class_type", n->class_type, sizeof(n->class_type));
        n->is_cached = nino_json_bool(nino_json_get(e, "cached"), &is_cached) && is_cached;
        n->seconds = run_profile_number(e, "ms") * 1e-3;
        n->flops = run_profile_number(e, "flops");
        n->kernels = run_profile_count(e, "kernels");
        n->load_seconds = run_profile_number(e, "load_ms") * 1e-3;
        n->load_bytes = run_profile_count(e, "load_bytes");
        n->memory_delta = (int64_t) run_profile_number(e, "memory_delta");
    }
    *out = p;
end:
    nino_json_doc_destroy(&doc);
    return st;
}

void nino_run_profile_release(nino_run_profile *p)
{
    if (!p)
        return;
    free(p->nodes);
    *p = (nino_run_profile){ .n_nodes = 0 };
}
