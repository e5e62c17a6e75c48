// Comparing two runs: sums over the calls of each, alignment, and what may be said of differences.
#include "core/base/error.h"

#include <math.h>
#include <ninodes/compare.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_MOST = 24 };        // a rank test of more takes long, and shows little more
static const double level = 0.01; // chance of any wrong claim
static const double least = 0.02; // share below which a difference is none

// Every stride-th value of a row whose length is not known before.
typedef struct sample {
    double v[SAMPLE_MOST], total;
    size_t n, stride;
    uint64_t seen;
} sample;

// Calls of one kernel and shape in one node.
typedef struct calls {
    int32_t node; // index of the run's nodes, -1: none
    uint32_t name, shape;
    sample t;
    bool is_matched;
} calls;

typedef struct node {
    char name[96]; // without " (cached)"
    double seconds;
    uint32_t runs;
    bool is_cached; // it did not run
    sample step;
    uint64_t step_ns; // when the last one ended
    int32_t other;    // its partner, -1: none
} node;

typedef struct side {
    const nino_history *h;
    uint64_t begin_ns, end_ns;
    bool has_job;
    const char *end; // how it ended; NULL: no job
    uint64_t files;
    double once_s; // in no time here: preparing kernels, reading weights
    node *node;
    size_t n_nodes, cap_nodes;
    calls *calls;
    size_t n_calls, cap_calls;
    uint32_t *slot; // open addressing over calls, 0: empty, else index + 1
    size_t n_slots; // a power of two
    bool failed;
} side;

static bool compare_runs_grow(void **p, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 64;
    void *q = realloc(*p, more * size);
    if (q) {
        *p = q;
        *cap = more;
    }
    return q != NULL;
}

static void sample_add(sample *s, double v)
{
    s->stride = s->stride ? s->stride : 1;
    s->total += v;
    if (s->seen++ % s->stride)
        return;
    if (s->n == SAMPLE_MOST) { // every other one stays; this one is the next of those
        s->stride *= 2;
        for (s->n = 0; s->n < SAMPLE_MOST / 2; s->n++)
            s->v[s->n] = s->v[2 * s->n];
    }
    s->v[s->n++] = v;
}

// ---- one run -----------------------------------------------------------------------------------

static const char *compare_runs_text(const side *s, uint32_t id)
{
    return nino_history_name((void *) s->h, id);
}

static int32_t compare_runs_find_node(const side *s, const char *name)
{
    for (size_t i = 0; i < s->n_nodes; i++)
        if (!strcmp(s->node[i].name, name))
            return (int32_t) i;
    return -1;
}

static void bare_name(char *out, size_t size, const char *name)
{
    static const char cached[] = " (cached)";
    snprintf(out, size, "%s", name);
    const size_t n = strlen(out), k = strlen(cached);
    if (n > k && !strcmp(out + n - k, cached))
        out[n - k] = 0;
}

// Nodes whose result was found, by the look-ups and by what spans are called.
static void mark_cached(side *s)
{
    size_t n;
    const nino_event *ev = nino_history_points(s->h, NINO_EV_CACHE, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n; i < n; i++) {
        const bool is_hit = ev[i].sub == NINO_CACHE_NODE && ev[i].u.scope.arg0;
        const int32_t at =
            is_hit ? compare_runs_find_node(s, compare_runs_text(s, ev[i].name)) : -1;
        if (at >= 0 && s->node) // at came from it
            s->node[at].is_cached = true;
    }
}

static const char *compare_runs_end(const nino_span *job)
{
    if (!job->end_ns || job->is_cut)
        return "cut off";
    return !job->status ? "done" : job->status == -NINO_ERR_CANCELLED ? "cancelled" : "failed";
}

static void collect_nodes(side *s)
{
    size_t n;
    const nino_span *span = nino_history_spans(s->h, &n);
    s->begin_ns = nino_history_begin(s->h);
    s->end_ns = nino_history_end(s->h);
    for (size_t i = 0; i < n; i++)
        if (span[i].kind == NINO_EV_JOB) {
            s->begin_ns = span[i].begin_ns;
            s->end_ns = span[i].end_ns ? span[i].end_ns : nino_history_end(s->h);
            s->has_job = true;
            s->end = compare_runs_end(&span[i]);
        }
    for (size_t i = 0; i < n; i++) {
        char name[96];
        if (span[i].kind != NINO_EV_NODE || span[i].begin_ns < s->begin_ns)
            continue;
        bare_name(name, sizeof(name), compare_runs_text(s, span[i].name));
        int32_t at = compare_runs_find_node(s, name);
        if (at < 0) {
            if (!compare_runs_grow((void **) &s->node, &s->cap_nodes, s->n_nodes,
                                   sizeof(*s->node)) ||
                !s->node) {
                s->failed = true;
                return;
            }
            at = (int32_t) s->n_nodes++;
            s->node[at] = (node){ .other = -1 };
            memcpy(s->node[at].name, name, sizeof(name));
        }
        if (!s->node) // at came from it
            continue;
        const uint64_t end = span[i].end_ns ? span[i].end_ns : s->end_ns;
        s->node[at].runs++;
        if (strcmp(name, compare_runs_text(s, span[i].name)) != 0) // it says so
            s->node[at].is_cached = true;
        s->node[at].seconds += (double) (end - span[i].begin_ns) * 1e-9;
    }
    mark_cached(s);
}

// The node a scope lies in, -1: none of this job.
static int32_t compare_runs_node_of(const side *s, uint32_t scope)
{
    size_t n;
    char name[96];
    const nino_span *span = nino_history_spans(s->h, &n);
    const int32_t at =
        nino_history_enclosing(s->h, nino_history_span_of(s->h, scope), NINO_EV_NODE);
    if (at < 0)
        return -1;
    bare_name(name, sizeof(name), compare_runs_text(s, span[at].name));
    return compare_runs_find_node(s, name);
}

static bool compare_runs_prepares(const side *s, const nino_span *span)
{
    return span->kind == NINO_EV_STAGE && span->end_ns && span->begin_ns >= s->begin_ns &&
           !strncmp(compare_runs_text(s, span->name), NINO_STAGE_COMPILE,
                    sizeof(NINO_STAGE_COMPILE) - 1);
}

// What the next run would not do again is no part of how fast this one is.
static void take_out(side *s, int32_t at, double seconds)
{
    s->once_s += seconds;
    if (at >= 0 && s->node) // at came from it
        s->node[at].seconds -= seconds;
}

static void take_out_once(side *s)
{
    size_t n;
    const nino_span *span = nino_history_spans(s->h, &n);
    for (size_t i = 0; i < n; i++)
        if (compare_runs_prepares(s, &span[i]))
            take_out(s, compare_runs_node_of(s, span[i].id),
                     (double) (span[i].end_ns - span[i].begin_ns) * 1e-9);
    const nino_event *ev = nino_history_points(s->h, NINO_EV_ONCE, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n; i < n; i++)
        take_out(s, compare_runs_node_of(s, ev[i].parent), (double) ev[i].u.once.load_ns * 1e-9);
    ev = nino_history_points(s->h, NINO_EV_OUTPUT, &n);
    s->files = ev ? n - nino_history_lower(ev, n, s->begin_ns) : 0;
}

static bool compare_runs_rehash(side *s)
{
    const size_t n = s->n_slots ? s->n_slots * 2 : 256;
    uint32_t *slot = calloc(n, sizeof(*slot));
    if (!slot)
        return false;
    free(s->slot);
    s->slot = slot;
    s->n_slots = n;
    for (size_t i = 0; i < s->n_calls; i++) {
        const calls *c = &s->calls[i];
        size_t h =
            ((size_t) c->name * 31 + (size_t) c->shape * 17 + (size_t) (c->node + 1)) & (n - 1);
        while (slot[h])
            h = (h + 1) & (n - 1);
        slot[h] = (uint32_t) i + 1;
    }
    return true;
}

static calls *calls_of(side *s, int32_t node_at, uint32_t name, uint32_t shape)
{
    if (s->n_calls * 2 >= s->n_slots && !compare_runs_rehash(s))
        return NULL;
    size_t h =
        ((size_t) name * 31 + (size_t) shape * 17 + (size_t) (node_at + 1)) & (s->n_slots - 1);
    for (; s->slot[h]; h = (h + 1) & (s->n_slots - 1)) {
        calls *c = &s->calls[s->slot[h] - 1];
        if (c->node == node_at && c->name == name && c->shape == shape)
            return c;
    }
    if (!compare_runs_grow((void **) &s->calls, &s->cap_calls, s->n_calls, sizeof(*s->calls)))
        return NULL;
    s->calls[s->n_calls] = (calls){ .node = node_at, .name = name, .shape = shape };
    s->slot[h] = (uint32_t) ++s->n_calls;
    return &s->calls[s->n_calls - 1];
}

// is_flat: whatever node and shape they have.
static void collect_kernels(side *s, bool is_flat)
{
    nino_track_info track[64];
    const size_t n = nino_history_tracks(s->h, track, 64);
    uint32_t scope = 0;
    int32_t at = -1;
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(s->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(s->h, track[i].number, s->begin_ns); k < m; k++) {
            if (ev[k].kind != NINO_EV_KERNEL)
                continue;
            if (!is_flat && (!scope || ev[k].parent != scope))
                at = compare_runs_node_of(s, scope = ev[k].parent);
            calls *c = calls_of(s, at, ev[k].name, is_flat ? 0 : ev[k].u.kernel.shape);
            if (!c) {
                s->failed = true;
                return;
            }
            sample_add(&c->t, (double) ev[k].u.kernel.dur_ns * 1e-9);
        }
    }
}

// Seconds of preparing kernels in the steps of a node between two moments.
static double prepared_in_steps(const side *s, int32_t at, uint64_t from, uint64_t to)
{
    size_t n;
    double sum = 0;
    const nino_span *span = nino_history_spans(s->h, &n);
    for (size_t i = 0; i < n; i++)
        if (span[i].begin_ns >= from && span[i].begin_ns < to &&
            compare_runs_prepares(s, &span[i]) &&
            nino_history_enclosing(s->h, (int32_t) i, NINO_EV_STEP) >= 0 &&
            compare_runs_node_of(s, span[i].id) == at)
            sum += (double) (span[i].end_ns - span[i].begin_ns) * 1e-9;
    return sum;
}

static void collect_steps(side *s)
{
    size_t n;
    const nino_event *ev = nino_history_points(s->h, NINO_EV_STEP_INFO, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n; i < n; i++) {
        const int32_t at = compare_runs_node_of(s, ev[i].parent);
        node *o = at >= 0 ? &s->node[at] : NULL;
        if (!o)
            continue;
        sample_add(&o->step, fmax(0, ev[i].u.step.seconds -
                                         prepared_in_steps(s, at, o->step_ns, ev[i].t_ns)));
        o->step_ns = ev[i].t_ns;
    }
}

static void compare_runs_release(side *s)
{
    free(s->node);
    free(s->calls);
    free(s->slot);
}

// ---- alignment ---------------------------------------------------------------------------------

static const char *compare_runs_class_of(const char *name)
{
    const char *c = strchr(name, ' ');
    return c ? c + 1 : name;
}

static void pair(side *a, side *b, size_t i, size_t k)
{
    a->node[i].other = (int32_t) k;
    b->node[k].other = (int32_t) i;
}

static void align(side *a, side *b)
{
    for (size_t i = 0; i < a->n_nodes; i++) {
        const int32_t k = compare_runs_find_node(b, a->node[i].name);
        if (k >= 0)
            pair(a, b, i, (size_t) k);
    }
    for (size_t i = 0; i < a->n_nodes; i++)
        for (size_t k = 0; k < b->n_nodes && a->node[i].other < 0; k++)
            if (b->node[k].other < 0 && !strcmp(compare_runs_class_of(a->node[i].name),
                                                compare_runs_class_of(b->node[k].name)))
                pair(a, b, i, k);
}

// ---- rows --------------------------------------------------------------------------------------

typedef struct table {
    nino_compare_row *row;
    size_t n, cap;
    double alpha; // of one row
    bool failed;
} table;

static nino_compare_row *compare_runs_add_row(table *t, nino_compare_kind kind,
                                              const char *node_name)
{
    if (!compare_runs_grow((void **) &t->row, &t->cap, t->n, sizeof(*t->row))) {
        t->failed = true;
        return NULL;
    }
    nino_compare_row *r = &t->row[t->n++];
    *r = (nino_compare_row){ .kind = kind };
    nino_spread_of(NULL, 0, &r->a);
    nino_spread_of(NULL, 0, &r->b);
    nino_effect_of_samples(NULL, 0, NULL, 0, t->alpha, least, &r->effect);
    snprintf(r->node, sizeof(r->node), "%s", node_name);
    return r;
}

static void set_samples(nino_compare_row *r, const table *t, const sample *a, const sample *b)
{
    if (a) {
        r->n_a = a->seen;
        r->total_a = a->total;
        nino_spread_of(a->v, a->n, &r->a);
    }
    if (b) {
        r->n_b = b->seen;
        r->total_b = b->total;
        nino_spread_of(b->v, b->n, &r->b);
    }
    if (a && b)
        nino_effect_of_samples(a->v, a->n, b->v, b->n, t->alpha, least, &r->effect);
}

// One time each: shown, and not judged. Of so many files, or runs of the node.
static void sum_row(table *t, nino_compare_kind kind, const node *a, uint64_t n_a, const node *b,
                    uint64_t n_b)
{
    nino_compare_row *r = compare_runs_add_row(t, kind, a ? a->name : b ? b->name : "");
    for (int i = 0; r && i < 2; i++) {
        const node *o = i ? b : a;
        const uint64_t n = i ? n_b : n_a;
        if (!o)
            continue;
        const double one = o->seconds / (double) (n ? n : 1);
        *(i ? &r->n_b : &r->n_a) = o->runs;
        *(i ? &r->total_b : &r->total_a) = o->seconds;
        *(i ? &r->cached_b : &r->cached_a) = o->is_cached;
        nino_spread_of(&one, o->runs ? 1 : 0, i ? &r->b : &r->a);
    }
}

static void node_row(table *t, const node *a, const node *b)
{
    sum_row(t, NINO_COMPARE_NODE, a, a ? a->runs : 0, b, b ? b->runs : 0);
}

static void step_row(table *t, const node *a, const node *b)
{
    nino_compare_row *r =
        a->step.n && b->step.n ? compare_runs_add_row(t, NINO_COMPARE_STEPS, a->name) : NULL;
    if (r)
        set_samples(r, t, &a->step, &b->step);
}

static void kernel_row(table *t, const side *a, const calls *x, const side *b, const calls *y)
{
    const side *s = x ? a : b;
    const calls *c = x ? x : y;
    nino_compare_row *r =
        c ? compare_runs_add_row(t, NINO_COMPARE_KERNEL, c->node >= 0 ? s->node[c->node].name : "")
          : NULL;
    if (!r)
        return;
    snprintf(r->name, sizeof(r->name), "%s", compare_runs_text(s, c->name));
    snprintf(r->shape, sizeof(r->shape), "%s", compare_runs_text(s, c->shape));
    set_samples(r, t, x ? &x->t : NULL, y ? &y->t : NULL);
}

static calls *partner(side *a, const calls *x, side *b)
{
    const int32_t node_at = x->node >= 0 ? a->node[x->node].other : -1;
    if (x->node >= 0 && node_at < 0)
        return NULL;
    for (size_t i = 0; i < b->n_calls; i++) {
        calls *y = &b->calls[i];
        if (!y->is_matched && y->node == node_at &&
            !strcmp(compare_runs_text(a, x->name), compare_runs_text(b, y->name)) &&
            !strcmp(compare_runs_text(a, x->shape), compare_runs_text(b, y->shape)))
            return y;
    }
    return NULL;
}

static int by_difference(const void *x, const void *y)
{
    const nino_compare_row *a = x, *b = y;
    const double p = fabs(a->total_b - a->total_a), q = fabs(b->total_b - b->total_a);
    return p < q ? 1 : p > q ? -1 : strcmp(a->name, b->name);
}

// Kernels of the node that is `i` in a and `k` in b (-1: not there).
static void kernel_rows(table *t, side *a, int32_t i, side *b, int32_t k)
{
    const size_t first = t->n;
    for (size_t c = 0; (i >= 0 || k < 0) && c < a->n_calls; c++)
        if (a->calls[c].node == i) {
            calls *y = partner(a, &a->calls[c], b);
            if (y)
                y->is_matched = true;
            kernel_row(t, a, &a->calls[c], b, y);
        }
    for (size_t c = 0; (k >= 0 || i < 0) && c < b->n_calls; c++)
        if (b->calls[c].node == k && !b->calls[c].is_matched)
            kernel_row(t, a, NULL, b, &b->calls[c]);
    if (t->n > first && t->row)
        qsort(t->row + first, t->n - first, sizeof(*t->row), by_difference);
}

// The whole run as one node.
static node compare_runs_whole(const side *s)
{
    return (node){ .runs = s->has_job || s->n_nodes,
                   .seconds = (double) (s->end_ns - s->begin_ns) * 1e-9 - s->once_s };
}

// The level is shared by all rows that there may be a verdict on.
static double compare_runs_alpha(const side *a, const side *b)
{
    const size_t most = a->n_calls < b->n_calls ? a->n_calls : b->n_calls;
    size_t n = most ? most : 1;
    for (size_t i = 0; i < a->n_nodes; i++)
        n += a->node[i].step.n > 0;
    return level / (double) n;
}

static void compare_runs_fill(table *t, side *a, side *b)
{
    const node x = compare_runs_whole(a), y = compare_runs_whole(b);
    t->alpha = compare_runs_alpha(a, b);
    const bool has_files = a->files && b->files;
    sum_row(t, NINO_COMPARE_RUN, &x, has_files ? a->files : 1, &y, has_files ? b->files : 1);
    for (size_t i = 0; i < a->n_nodes; i++) {
        const int32_t k = a->node[i].other;
        const node *o = k >= 0 ? &b->node[k] : NULL;
        node_row(t, &a->node[i], o);
        if (o)
            step_row(t, &a->node[i], o);
        kernel_rows(t, a, (int32_t) i, b, k);
    }
    for (size_t k = 0; k < b->n_nodes; k++)
        if (b->node[k].other < 0) {
            node_row(t, NULL, &b->node[k]);
            kernel_rows(t, a, -1, b, (int32_t) k);
        }
    kernel_rows(t, a, -1, b, -1); // of no node
}

nino_status nino_compare_runs(const nino_history *ha, const nino_history *hb, nino_compare *out,
                              nino_error *err)
{
    side a = { .h = ha }, b = { .h = hb };
    table t = { .n = 0 };
    nino_energy_stat e;
    nino_mem_stat m;
    nino_compare c = { .n_rows = 0 };
    side *const both[] = { &a, &b };
    collect_nodes(&a);
    collect_nodes(&b);
    const bool is_flat = !a.n_nodes != !b.n_nodes;
    for (int i = 0; i < 2; i++) {
        take_out_once(both[i]);
        collect_kernels(both[i], is_flat);
        collect_steps(both[i]);
        nino_stats_energy(nino_history_stats(both[i]->h), &e);
        nino_stats_memory(nino_history_stats(both[i]->h), &m);
        *(i ? &c.joules_b : &c.joules_a) = e.last_joules;
        *(i ? &c.peak_b : &c.peak_a) = m.peak;
        *(i ? &c.files_b : &c.files_a) = both[i]->files;
        *(i ? &c.end_b : &c.end_a) = both[i]->end ? both[i]->end : "";
    }
    align(&a, &b);
    compare_runs_fill(&t, &a, &b);
    const bool failed = a.failed || b.failed || t.failed;
    compare_runs_release(&a);
    compare_runs_release(&b);
    if (failed) {
        free(t.row);
        return nino_fail(err, NINO_ERR_NOMEM, "compare", "out of memory");
    }
    c.rows = t.row;
    c.n_rows = t.n;
    *out = c;
    return NINO_OK;
}

void nino_compare_release(nino_compare *c)
{
    if (!c)
        return;
    free(c->rows);
    *c = (nino_compare){ .n_rows = 0 };
}

const char *nino_compare_kind_name(nino_compare_kind k)
{
    static const char *const names[] = { "run", "node", "steps", "kernel" };
    return (unsigned) k < 4 ? names[k] : "run";
}
