// Comparing two recordings: alignment, and what may be said of differences.
#include "core/base/error.h"
#include "core/monitor/advice/compare_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double level = 0.01; // chance of any wrong claim
static const double least = 0.02; // share below which a difference is none

// ---- alignment ---------------------------------------------------------------------------------

static const char *compare_runs_class_of(const char *name)
{
    const char *c = strchr(name, ' ');
    return c ? c + 1 : name;
}

static void pair(compare_side *a, compare_side *b, size_t i, size_t k)
{
    a->node[i].other = (int32_t) k;
    b->node[k].other = (int32_t) i;
}

static void align(compare_side *a, compare_side *b)
{
    for (size_t i = 0; i < a->n_nodes; i++) {
        const int32_t k = compare_side_find_node(b, a->node[i].name);
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
    if (!compare_side_grow((void **) &t->row, &t->cap, t->n, sizeof(*t->row))) {
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

// What is in both recordings: a is the baseline.
typedef struct both {
    const compare_recording *a, *b;
} both;

// The value of a row in one run: seconds of one file, run of a node, step, call. at: its index.
typedef double (*row_value)(const compare_side *s, size_t at);

static double value_of_run(const compare_side *s, size_t has_files)
{
    const double all = (double) (s->end_ns - s->begin_ns) * 1e-9 - s->once_s;
    return all / (double) (has_files && s->files ? s->files : 1);
}

static double value_of_node(const compare_side *s, size_t at)
{
    return s->node[at].seconds / (double) (s->node[at].runs ? s->node[at].runs : 1);
}

static double median_of(const compare_sample *c)
{
    nino_spread s;
    nino_spread_of(c->v, c->n, &s);
    return s.median;
}

static double value_of_step(const compare_side *s, size_t at)
{
    return median_of(&s->node[at].step);
}

static double value_of_call(const compare_side *s, size_t at) { return median_of(&s->calls[at].t); }

static size_t row_values(const compare_recording *r, row_value value, int64_t at, double *out)
{
    for (size_t i = 0; i < r->n && at >= 0; i++)
        out[i] = value(&r->run[i], (size_t) at);
    return at < 0 ? 0 : r->n;
}

// Judged are runs: what a run's steps and calls have in common is no chance of theirs. at < 0: the
// recording has no such row.
static void set_values(nino_compare_row *r, const table *t, const both *of, row_value value,
                       int64_t at_a, int64_t at_b)
{
    double a[COMPARE_RUNS], b[COMPARE_RUNS];
    const size_t n_a = row_values(of->a, value, at_a, a), n_b = row_values(of->b, value, at_b, b);
    nino_spread_of(a, n_a, &r->a);
    nino_spread_of(b, n_b, &r->b);
    if (n_a && n_b && !r->cached_a && !r->cached_b)
        nino_effect_of_samples(a, n_a, b, n_b, t->alpha, least, &r->effect);
}

// The calls of the newest run; of one run they are also what there is to show of their spread.
static void set_calls(nino_compare_row *r, const both *of, const compare_sample *a,
                      const compare_sample *b)
{
    r->n_a = a ? a->seen : 0;
    r->n_b = b ? b->seen : 0;
    r->total_a = a ? a->total : 0;
    r->total_b = b ? b->total : 0;
    if (a && of->a->n < 2)
        nino_spread_of(a->v, a->n, &r->a);
    if (b && of->b->n < 2)
        nino_spread_of(b->v, b->n, &r->b);
}

static void run_row(table *t, const both *of)
{
    const compare_side *s[] = { &of->a->run[0], &of->b->run[0] };
    const bool has_files = s[0]->files && s[1]->files;
    nino_compare_row *r = compare_runs_add_row(t, NINO_COMPARE_RUN, "");
    for (int i = 0; r && i < 2; i++) {
        *(i ? &r->n_b : &r->n_a) = s[i]->has_job || s[i]->n_nodes;
        *(i ? &r->total_b : &r->total_a) = value_of_run(s[i], false);
    }
    if (r)
        set_values(r, t, of, value_of_run, r->n_a ? has_files : -1, r->n_b ? has_files : -1);
}

static void node_row(table *t, const both *of, int32_t i, int32_t k)
{
    const compare_node *a = i >= 0 ? &of->a->run[0].node[i] : NULL;
    const compare_node *b = k >= 0 ? &of->b->run[0].node[k] : NULL;
    nino_compare_row *r = compare_runs_add_row(t, NINO_COMPARE_NODE, a ? a->name : b->name);
    if (!r)
        return;
    r->n_a = a ? a->runs : 0;
    r->n_b = b ? b->runs : 0;
    r->total_a = a ? a->seconds : 0;
    r->total_b = b ? b->seconds : 0;
    r->cached_a = a && a->is_cached;
    r->cached_b = b && b->is_cached;
    set_values(r, t, of, value_of_node, i, k);
}

static void step_row(table *t, const both *of, int32_t i, int32_t k)
{
    const compare_sample *a = &of->a->run[0].node[i].step, *b = &of->b->run[0].node[k].step;
    nino_compare_row *r =
        a->n && b->n ? compare_runs_add_row(t, NINO_COMPARE_STEPS, of->a->run[0].node[i].name)
                     : NULL;
    if (!r)
        return;
    set_values(r, t, of, value_of_step, i, k);
    set_calls(r, of, a, b);
}

// x, y: the calls in the newest runs; NULL: there are none.
static void kernel_row(table *t, const both *of, const compare_calls *x, const compare_calls *y)
{
    const compare_side *a = &of->a->run[0], *b = &of->b->run[0], *s = x ? a : b;
    const compare_calls *c = x ? x : y;
    nino_compare_row *r =
        c ? compare_runs_add_row(t, NINO_COMPARE_KERNEL, c->node >= 0 ? s->node[c->node].name : "")
          : NULL;
    if (!r)
        return;
    snprintf(r->name, sizeof(r->name), "%s", compare_side_text(s, c->name));
    snprintf(r->shape, sizeof(r->shape), "%s", compare_side_text(s, c->shape));
    set_values(r, t, of, value_of_call, x ? x - a->calls : -1, y ? y - b->calls : -1);
    set_calls(r, of, x ? &x->t : NULL, y ? &y->t : NULL);
}

static compare_calls *partner(compare_side *a, const compare_calls *x, compare_side *b)
{
    const int32_t node_at = x->node >= 0 ? a->node[x->node].other : -1;
    if (x->node >= 0 && node_at < 0)
        return NULL;
    for (size_t i = 0; i < b->n_calls; i++) {
        compare_calls *y = &b->calls[i];
        if (!y->is_matched && y->node == node_at &&
            !strcmp(compare_side_text(a, x->name), compare_side_text(b, y->name)) &&
            !strcmp(compare_side_text(a, x->shape), compare_side_text(b, y->shape)))
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
static void kernel_rows(table *t, const both *of, compare_side *a, int32_t i, compare_side *b,
                        int32_t k)
{
    const size_t first = t->n;
    for (size_t c = 0; (i >= 0 || k < 0) && c < a->n_calls; c++)
        if (a->calls[c].node == i) {
            compare_calls *y = partner(a, &a->calls[c], b);
            if (y)
                y->is_matched = true;
            kernel_row(t, of, &a->calls[c], y);
        }
    for (size_t c = 0; (k >= 0 || i < 0) && c < b->n_calls; c++)
        if (b->calls[c].node == k && !b->calls[c].is_matched)
            kernel_row(t, of, NULL, &b->calls[c]);
    if (t->n > first && t->row)
        qsort(t->row + first, t->n - first, sizeof(*t->row), by_difference);
}

// The level is shared by all rows that there may be a verdict on.
static double compare_runs_alpha(const compare_side *a, const compare_side *b)
{
    size_t n = 1 + (a->n_calls < b->n_calls ? a->n_calls : b->n_calls);
    for (size_t i = 0; i < a->n_nodes; i++)
        n += (a->node[i].other >= 0) + (a->node[i].step.n > 0);
    return level / (double) n;
}

static void compare_runs_fill(table *t, compare_recording *ra, compare_recording *rb)
{
    compare_side *a = &ra->run[0], *b = &rb->run[0];
    const both of = { ra, rb };
    t->alpha = compare_runs_alpha(a, b);
    run_row(t, &of);
    for (size_t i = 0; i < a->n_nodes; i++) {
        const int32_t k = a->node[i].other;
        node_row(t, &of, (int32_t) i, k);
        if (k >= 0)
            step_row(t, &of, (int32_t) i, k);
        kernel_rows(t, &of, a, (int32_t) i, b, k);
    }
    for (size_t k = 0; k < b->n_nodes; k++)
        if (b->node[k].other < 0) {
            node_row(t, &of, -1, (int32_t) k);
            kernel_rows(t, &of, a, -1, b, (int32_t) k);
        }
    kernel_rows(t, &of, a, -1, b, -1); // of no node
}

static bool compare_runs_has_nodes(const nino_history *h)
{
    size_t n;
    const nino_span *span = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++)
        if (span[i].kind == NINO_EV_NODE)
            return true;
    return false;
}

nino_status nino_compare_runs(const nino_history *ha, const nino_history *hb, nino_compare *out,
                              nino_error *err)
{
    const nino_history *const h[] = { ha, hb };
    const bool is_flat = compare_runs_has_nodes(ha) != compare_runs_has_nodes(hb);
    compare_recording *r = calloc(2, sizeof(*r));
    table t = { .n = 0 };
    nino_energy_stat e;
    nino_mem_stat m;
    nino_compare c = { .n_rows = 0 };
    for (int i = 0; r && i < 2; i++) {
        compare_recording_read(h[i], is_flat, &r[i]);
        const compare_side *s = &r[i].run[0];
        nino_stats_energy(nino_history_stats(h[i]), &e);
        nino_stats_memory(nino_history_stats(h[i]), &m);
        *(i ? &c.joules_b : &c.joules_a) = e.last_joules;
        *(i ? &c.peak_b : &c.peak_a) = m.peak;
        *(i ? &c.files_b : &c.files_a) = s->files;
        *(i ? &c.end_b : &c.end_a) = s->end ? s->end : "";
    }
    bool failed = !r || r[0].failed || r[1].failed;
    if (!failed) {
        align(&r[0].run[0], &r[1].run[0]);
        compare_runs_fill(&t, &r[0], &r[1]);
        failed = t.failed;
    }
    for (int i = 0; r && i < 2; i++)
        compare_recording_release(&r[i]);
    free(r);
    if (failed) {
        free(t.row);
        return nino_fail(err, NINO_ERR_NOMEM, "compare", "out of memory");
    }
    c.rows = t.row;
    c.n_rows = t.n;
    *out = c;
    return NINO_OK;
}

size_t nino_compare_pairs(const nino_history *ha, const nino_history *hb, nino_compare_pair *out,
                          size_t max)
{
    const bool is_flat = compare_runs_has_nodes(ha) != compare_runs_has_nodes(hb);
    compare_recording *r = calloc(2, sizeof(*r));
    size_t n = 0;
    if (!r)
        return 0;
    compare_recording_read(ha, is_flat, &r[0]);
    compare_recording_read(hb, is_flat, &r[1]);
    compare_side *a = &r[0].run[0], *b = &r[1].run[0];
    if (!r[0].failed && !r[1].failed) {
        align(a, b);
        for (size_t i = 0; i < a->n_nodes; i++, n++)
            if (n < max)
                out[n] = (nino_compare_pair){ a->node[i].span, a->node[i].other >= 0
                                                                   ? b->node[a->node[i].other].span
                                                                   : -1 };
        for (size_t k = 0; k < b->n_nodes; k++)
            if (b->node[k].other < 0 && n++ < max)
                out[n - 1] = (nino_compare_pair){ -1, b->node[k].span };
    }
    compare_recording_release(&r[0]);
    compare_recording_release(&r[1]);
    free(r);
    return n;
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
