// The advice engine: what a run was, alternatives from plan, and the order of the result.
#include "core/base/params.h"
#include "core/monitor/advice/advice_rules.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/num.h"
#include "core/base/utf8.h"

#include <stdarg.h>

// ---- what the rules share ----------------------------------------------------------------------

// Takes off the character at the end of a text of n bytes that is not whole.
static void cut_whole(char *text, size_t n)
{
    size_t at = n;
    while (at && ((unsigned char) text[at - 1] & 0xc0) == 0x80)
        at--;
    uint32_t cp;
    if (at && nino_utf8_next(text + at - 1, n - at + 1, &cp) <= 0)
        text[at - 1] = 0;
}

// is_local: figures with the decimal mark of the thread's locale.
__attribute__((format(printf, 4, 0))) static void
advice_print(bool is_local, char *out, size_t size, const char *fmt, va_list ap)
{
    const int n = is_local ? vsnprintf(out, size, fmt, ap) : nino_vsnprintf(out, size, fmt, ap);
    if (size && n >= (int) size)
        cut_whole(out, size - 1);
}

void nino_advice_text(char *out, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    advice_print(false, out, size, fmt, ap);
    va_end(ap);
}

void nino_advice_say(const advisor *a, char *out, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    advice_print(a->in->translate, out, size, nino_tr(a->in->translate, fmt), ap);
    va_end(ap);
}

void nino_advice_join(char *out, size_t size)
{
    const size_t at = strlen(out);
    nino_advice_text(out + at, size - at, "; ");
}

nino_advice *nino_advice_new(advisor *a, const char *rule, const char *node)
{
    if (a->n == NINO_MAX_ADVICE)
        return NULL;
    nino_advice *n = &a->out[a->n++];
    *n = (nino_advice){ .gain_s = NAN, .gain_bytes = NAN, .of_s = a->wall_s };
    PUT(n->rule, "%s", rule);
    PUT(n->node, "%s", node);
    return n;
}

const char *nino_advice_bytes(const advisor *a, char *buf, size_t size, double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    int i = 0;
    for (; fabs(bytes) >= 1000 && i < 4; i++)
        bytes /= 1024;
    nino_advice_say(a, buf, size, "%.*f %s", i ? 1 : 0, bytes, units[i]);
    return buf;
}

const char *nino_advice_time(const advisor *a, char *buf, size_t size, double seconds)
{
    static const char *const units[] = { "s", "ms", "µs", "ns" };
    int i = 0;
    for (; fabs(seconds) < 1 && seconds != 0 && i < 3; i++)
        seconds *= 1000;
    const double all = fabs(seconds);
    nino_advice_say(a, buf, size, "%.*f %s",
                    all >= 100 || all == 0 ? 0
                    : all >= 10            ? 1
                                           : 2,
                    seconds, units[i]);
    return buf;
}

void nino_advice_node_of(const advisor *a, uint32_t scope, char *id, size_t size)
{
    size_t n;
    const nino_span *spans = nino_history_spans(a->h, &n);
    const int32_t at =
        nino_history_enclosing(a->h, nino_history_span_of(a->h, scope), NINO_EV_NODE);
    const char *name = at >= 0 ? nino_history_name((void *) a->h, spans[at].name) : "";
    snprintf(id, size, "%.*s", (int) strcspn(name, " "), name);
}

double nino_advice_compiling(const advisor *a, uint64_t t0, uint64_t t1, size_t *n_stages,
                             double *saved_s)
{
    size_t n, found = 0;
    double sum = 0, saved = 0;
    const nino_span *s = nino_history_spans(a->h, &n);
    for (size_t i = 0; i < n; i++)
        if (s[i].kind == NINO_EV_STAGE && s[i].begin_ns >= t0 && s[i].begin_ns < t1 &&
            s[i].end_ns &&
            !strncmp(nino_history_name((void *) a->h, s[i].name), NINO_STAGE_COMPILE,
                     sizeof(NINO_STAGE_COMPILE) - 1)) {
            const double d = (double) (s[i].end_ns - s[i].begin_ns) * 1e-9;
            sum += d;
            saved += !NINO_COMPILE_FLAG(s[i].arg0) && NINO_COMPILE_FLAG(s[i].arg1) ? d : 0;
            found += strncmp(nino_history_name((void *) a->h, s[i].name), NINO_STAGE_LAUNCH,
                             sizeof(NINO_STAGE_LAUNCH) - 1) != 0;
        }
    if (saved_s)
        *saved_s = saved;
    if (n_stages)
        *n_stages = found;
    return sum;
}

// ---- the graph ---------------------------------------------------------------------------------

static nino_json_doc *api_of(const advisor *a)
{
    size_t len;
    nino_json_doc *doc = NULL;
    const char *json = a->in->graph ? nino_graph_api_json(a->in->graph, &len) : NULL;
    if (json)
        nino_json_parse(json, len, "workflow", NULL, &doc, NULL);
    return doc;
}

static const nino_json *prompt_of(const nino_json_doc *doc)
{
    const nino_json *p = doc ? nino_json_get(doc->root, "prompt") : NULL;
    return p ? p : doc ? doc->root : NULL;
}

bool nino_advice_value(const advisor *a, const char *node, const char *input, char *buf,
                       size_t size)
{
    nino_json_doc *doc = api_of(a);
    const nino_json *v =
        nino_json_get(nino_json_get(nino_json_get(prompt_of(doc), node), "inputs"), input);
    const bool is_plain = v && (v->type == NINO_JSON_NUMBER || v->type == NINO_JSON_STRING) &&
                          v->text && strlen(v->text) < size;
    if (is_plain)
        snprintf(buf, size, "%s", v->text);
    nino_json_doc_destroy(&doc);
    return is_plain;
}

bool nino_advice_find(const advisor *a, const char *class_part, const char *input, char *node,
                      size_t size)
{
    nino_json_doc *doc = api_of(a);
    const nino_json *prompt = prompt_of(doc);
    bool found = false;
    for (const nino_json *n = prompt ? prompt->child : NULL; n && !found; n = n->next) {
        const char *class = nino_json_str(nino_json_get(n, "class_type"));
        const nino_json *v = nino_json_get(nino_json_get(n, "inputs"), input);
        found = class && strstr(class, class_part) && v && v->type != NINO_JSON_ARRAY && n->key &&
                strlen(n->key) < size;
        if (found)
            snprintf(node, size, "%s", n->key);
    }
    nino_json_doc_destroy(&doc);
    return found;
}

// ---- plans -------------------------------------------------------------------------------------

static bool plan_graph(const advisor *a, nino_graph *g, double *seconds, uint64_t *peak,
                       uint64_t *budget)
{
    nino_plan p = { .n_scopes = 0 };
    if (nino_graph_plan(a->in->ctx, g, a->in->profile, NULL, &p, NULL))
        return false;
    *seconds = p.seconds;
    *peak = p.peak_bytes;
    if (budget)
        *budget = p.budget;
    const bool fits = p.fits;
    nino_plan_release(&p);
    return fits;
}

bool nino_advice_plan(const advisor *a, const char *setting, double *seconds, uint64_t *peak)
{
    size_t len;
    const char *json = a->plan_s > 0 ? nino_graph_json(a->in->graph, &len) : NULL;
    nino_graph *g = json ? nino_graph_load(json, len, "workflow", NULL) : NULL;
    const bool ok = g && nino_graph_set(g, setting, NULL) == NINO_OK &&
                    plan_graph(a, g, seconds, peak, NULL) && *seconds > 0;
    nino_graph_destroy(&g);
    return ok;
}

// ---- the run -----------------------------------------------------------------------------------

bool nino_history_ceilings(const nino_history *h, nino_ceilings *out)
{
    size_t n, m;
    const nino_event *ev = nino_history_points(h, NINO_EV_CEILINGS, &n);
    const nino_event *p = nino_history_points(h, NINO_EV_CEILING_POINT, &m);
    if (!ev || !n)
        return false;
    const nino_event *last = &ev[n - 1]; // the newest counts, with the points behind it
    *out = (nino_ceilings){ .measured_at = (int64_t) last->u.ceilings.measured_at,
                            .flops_f32 = last->u.ceilings.flops_f32,
                            .flops_f16 = last->u.ceilings.flops_f16,
                            .bandwidth = last->u.ceilings.bandwidth,
                            .launch_s = last->u.ceilings.launch_s };
    snprintf(out->device, sizeof(out->device), "%s", nino_history_name((void *) h, last->name));
    for (size_t i = p ? nino_history_lower(p, m, last->t_ns) : m;
         i < m && out->n_points < NINO_MAX_CEILING_POINTS; i++)
        out->point[out->n_points++] =
            (nino_ceiling_point){ p[i].u.ceiling_point.bytes, p[i].u.ceiling_point.read,
                                  p[i].u.ceiling_point.write, p[i].u.ceiling_point.copy };
    return true;
}

// The last job; all that is known when none was seen.
static void find_run(advisor *a)
{
    size_t n;
    const nino_span *spans = nino_history_spans(a->h, &n);
    a->begin_ns = nino_history_begin(a->h);
    a->end_ns = nino_history_end(a->h);
    for (size_t i = 0; i < n; i++)
        if (spans[i].kind == NINO_EV_JOB) {
            a->begin_ns = spans[i].begin_ns;
            a->end_ns = spans[i].end_ns ? spans[i].end_ns : nino_history_end(a->h);
        }
    a->wall_s = (double) (a->end_ns - a->begin_ns) * 1e-9;
}

static void sum_device(advisor *a)
{
    nino_track_info track[64];
    size_t n = nino_history_tracks(a->h, track, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(a->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(a->h, track[i].number, a->begin_ns); k < m; k++) {
            const double s = (double) ev[k].u.kernel.dur_ns * 1e-9;
            a->kernel_s += ev[k].kind == NINO_EV_KERNEL ? s : 0;
            a->transfer_s += ev[k].kind == NINO_EV_TRANSFER ? s : 0;
        }
    }
}

// Largest gain first; without one: in the order of the rules.
static int by_gain(const void *x, const void *y)
{
    const double a = ((const nino_advice *) x)->gain_s, b = ((const nino_advice *) y)->gain_s;
    const double p = isnan(a) ? -1 : a, q = isnan(b) ? -1 : b;
    return p < q   ? 1
           : p > q ? -1
                   : strcmp(((const nino_advice *) x)->rule, ((const nino_advice *) y)->rule);
}

// Figures of a data sheet, which no kernel reaches: what this device does is not known.
static void advise_measure(advisor *a)
{
    size_t n;
    nino_op_stat op[64];
    double best = 0;
    char name[64] = "";
    if (!a->has_ceilings || a->c.measured_at)
        return;
    n = nino_stats_ops(nino_history_stats(a->h), op, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        const double calls = (double) op[i].calls;
        const unsigned bits = nino_history_bits(a->h, nino_history_find(a->h, op[i].name));
        const double share = nino_ceilings_share(&a->c, op[i].flops / calls, op[i].bytes / calls,
                                                 (double) op[i].total_ns * 1e-9 / calls, bits);
        if (share > best) {
            best = share;
            snprintf(name, sizeof(name), "%.60s", op[i].name);
        }
    }
    nino_advice *v = best > 0 ? nino_advice_new(a, "not-measured", "") : NULL;
    if (!v)
        return;
    SAY(a, v->title, "Measure this device: its ceilings are those of its data sheet");
    SAY(a, v->evidence,
        "%s reached %.0f %% of the data sheet (%.1f GFLOP/s in f32, %.1f GB/s); %s was never "
        "measured",
        name, best * 100, a->c.flops_f32 * 1e-9, a->c.bandwidth * 1e-9, a->c.device);
    SAY(a, v->how,
        "no gain of its own: shares of peak and predicted times become those of this device");
    v->action = NINO_ADVICE_COMMAND;
    PUT(v->setting, "ninodes devices --measure");
}

static void fill_undo(const advisor *a, nino_advice *v)
{
    char node[64], input[64], value[32];
    const char *dot = strrchr(v->setting, '.'), *equal = dot ? strchr(dot, '=') : NULL;
    if (v->action != NINO_ADVICE_SET || !equal)
        return;
    PUT(node, "%.*s", (int) (dot - v->setting), v->setting);
    PUT(input, "%.*s", (int) (equal - dot - 1), dot + 1);
    if (nino_advice_value(a, node, input, value, sizeof(value)))
        PUT(v->undo, "%.*s=%s", (int) (equal - v->setting), v->setting, value);
}

size_t nino_advise(const nino_advice_input *input, nino_advice *out, size_t max)
{
    nino_advice_input own, *in = &own;
    advisor *a =
        NINO_TAKE(&own, input, NINO_ADVICE_INPUT_INIT, NULL) ? calloc(1, sizeof(*a)) : NULL;
    if (!a || !in->history) {
        free(a);
        return 0;
    }
    a->in = in;
    a->h = in->history;
    a->has_ceilings = in->ceilings != NULL;
    if (in->ceilings)
        a->c = *in->ceilings;
    else
        a->has_ceilings = nino_history_ceilings(a->h, &a->c);
    find_run(a);
    if (a->wall_s > 0) {
        sum_device(a);
        nino_stats_memory(nino_history_stats(a->h), &a->mem);
        a->budget = a->mem.budget;
        if (in->graph && in->ctx &&
            !plan_graph(a, in->graph, &a->plan_s, &a->plan_peak, &a->budget))
            a->plan_s = 0;
        nino_advise_tiles(a);
        nino_advise_sampler(a);
        nino_advise_device(a);
        nino_advise_memory(a);
        advise_measure(a);
    }
    qsort(a->out, a->n, sizeof(a->out[0]), by_gain);
    for (size_t i = 0; i < a->n; i++)
        fill_undo(a, &a->out[i]);
    const size_t n = a->n;
    if (max)
        memcpy(out, a->out, (n < max ? n : max) * sizeof(*out));
    free(a);
    return n;
}

const char *nino_advice_action_name(nino_advice_action action)
{
    static const char *const names[] = { "none", "set", "option", "command" };
    return (unsigned) action < 4 ? names[action] : "none";
}
