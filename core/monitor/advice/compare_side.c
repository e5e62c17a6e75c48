// The runs of a recording, each summed up by nodes, sampler steps and kernels.
#include "core/monitor/advice/compare_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool compare_side_grow(void **p, size_t *cap, size_t n, size_t size)
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

static void sample_add(compare_sample *s, double v)
{
    s->stride = s->stride ? s->stride : 1;
    s->total += v;
    if (s->seen++ % s->stride)
        return;
    if (s->n == COMPARE_SAMPLES) { // every other one stays; this one is the next of those
        s->stride *= 2;
        for (s->n = 0; s->n < COMPARE_SAMPLES / 2; s->n++)
            s->v[s->n] = s->v[2 * s->n];
    }
    s->v[s->n++] = v;
}

// Of this run, not of one before or after it.
static bool is_inside(const compare_side *s, uint64_t t)
{
    return t >= s->begin_ns && t < s->until_ns;
}

// ---- one run -----------------------------------------------------------------------------------

const char *compare_side_text(const compare_side *s, uint32_t id)
{
    return nino_history_name((void *) s->h, id);
}

int32_t compare_side_find_node(const compare_side *s, const char *name)
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
static void mark_cached(compare_side *s)
{
    size_t n;
    const nino_event *ev = nino_history_points(s->h, NINO_EV_CACHE, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n;
         i < n && is_inside(s, ev[i].t_ns); i++) {
        const bool is_hit = ev[i].sub == NINO_CACHE_NODE && ev[i].u.scope.arg0;
        const int32_t at =
            is_hit ? compare_side_find_node(s, compare_side_text(s, ev[i].name)) : -1;
        if (at >= 0 && s->node) // at came from it
            s->node[at].is_cached = true;
    }
}

static const char *compare_side_end(const nino_span *job)
{
    if (!job->end_ns || job->is_cut)
        return "cut off";
    return !job->status ? "done" : job->status == -NINO_ERR_CANCELLED ? "cancelled" : "failed";
}

static void collect_nodes(compare_side *s)
{
    size_t n;
    const nino_span *span = nino_history_spans(s->h, &n);
    for (size_t i = 0; i < n; i++) {
        char name[96];
        if (span[i].kind != NINO_EV_NODE || !is_inside(s, span[i].begin_ns))
            continue;
        bare_name(name, sizeof(name), compare_side_text(s, span[i].name));
        int32_t at = compare_side_find_node(s, name);
        if (at < 0) {
            if (!compare_side_grow((void **) &s->node, &s->cap_nodes, s->n_nodes,
                                   sizeof(*s->node)) ||
                !s->node) {
                s->failed = true;
                return;
            }
            at = (int32_t) s->n_nodes++;
            s->node[at] = (compare_node){ .span = (int32_t) i, .other = -1 };
            memcpy(s->node[at].name, name, sizeof(name));
        }
        if (!s->node) // at came from it
            continue;
        const uint64_t end = span[i].end_ns ? span[i].end_ns : s->end_ns;
        s->node[at].runs++;
        if (strcmp(name, compare_side_text(s, span[i].name)) != 0) // it says so
            s->node[at].is_cached = true;
        s->node[at].seconds += (double) (end - span[i].begin_ns) * 1e-9;
    }
    mark_cached(s);
}

// The node a scope lies in, -1: none of this job.
static int32_t compare_side_node_of(const compare_side *s, uint32_t scope)
{
    size_t n;
    char name[96];
    const nino_span *span = nino_history_spans(s->h, &n);
    const int32_t at =
        nino_history_enclosing(s->h, nino_history_span_of(s->h, scope), NINO_EV_NODE);
    if (at < 0)
        return -1;
    bare_name(name, sizeof(name), compare_side_text(s, span[at].name));
    return compare_side_find_node(s, name);
}

static bool compare_side_prepares(const compare_side *s, const nino_span *span)
{
    return span->kind == NINO_EV_STAGE && span->end_ns && is_inside(s, span->begin_ns) &&
           !strncmp(compare_side_text(s, span->name), NINO_STAGE_COMPILE,
                    sizeof(NINO_STAGE_COMPILE) - 1);
}

// What the next run would not do again is no part of how fast this one is.
static void take_out(compare_side *s, int32_t at, double seconds)
{
    s->once_s += seconds;
    if (at >= 0 && s->node) // at came from it
        s->node[at].seconds -= seconds;
}

static void take_out_once(compare_side *s)
{
    size_t n;
    const nino_span *span = nino_history_spans(s->h, &n);
    for (size_t i = 0; i < n; i++)
        if (compare_side_prepares(s, &span[i]))
            take_out(s, compare_side_node_of(s, span[i].id),
                     (double) (span[i].end_ns - span[i].begin_ns) * 1e-9);
    const nino_event *ev = nino_history_points(s->h, NINO_EV_ONCE, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n;
         i < n && is_inside(s, ev[i].t_ns); i++)
        take_out(s, compare_side_node_of(s, ev[i].parent), (double) ev[i].u.once.load_ns * 1e-9);
    ev = nino_history_points(s->h, NINO_EV_OUTPUT, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n;
         i < n && is_inside(s, ev[i].t_ns); i++)
        s->files++;
}

static bool compare_side_rehash(compare_side *s)
{
    const size_t n = s->n_slots ? s->n_slots * 2 : 256;
    uint32_t *slot = calloc(n, sizeof(*slot));
    if (!slot)
        return false;
    free(s->slot);
    s->slot = slot;
    s->n_slots = n;
    for (size_t i = 0; i < s->n_calls; i++) {
        const compare_calls *c = &s->calls[i];
        size_t h =
            ((size_t) c->name * 31 + (size_t) c->shape * 17 + (size_t) (c->node + 1)) & (n - 1);
        while (slot[h])
            h = (h + 1) & (n - 1);
        slot[h] = (uint32_t) i + 1;
    }
    return true;
}

static compare_calls *calls_of(compare_side *s, int32_t node_at, uint32_t name, uint32_t shape)
{
    if (s->n_calls * 2 >= s->n_slots && !compare_side_rehash(s))
        return NULL;
    size_t h =
        ((size_t) name * 31 + (size_t) shape * 17 + (size_t) (node_at + 1)) & (s->n_slots - 1);
    for (; s->slot[h]; h = (h + 1) & (s->n_slots - 1)) {
        compare_calls *c = &s->calls[s->slot[h] - 1];
        if (c->node == node_at && c->name == name && c->shape == shape)
            return c;
    }
    if (!compare_side_grow((void **) &s->calls, &s->cap_calls, s->n_calls, sizeof(*s->calls)))
        return NULL;
    s->calls[s->n_calls] = (compare_calls){ .node = node_at, .name = name, .shape = shape };
    s->slot[h] = (uint32_t) ++s->n_calls;
    return &s->calls[s->n_calls - 1];
}

// is_flat: whatever node and shape they have.
static void collect_kernels(compare_side *s, bool is_flat)
{
    nino_track_info track[64];
    const size_t n = nino_history_tracks(s->h, track, 64);
    uint32_t scope = 0;
    int32_t at = -1;
    for (size_t i = 0; i < n && i < 64; i++) {
        size_t m;
        const nino_event *ev = nino_history_slices(s->h, track[i].number, &m);
        for (size_t k = nino_history_slice_at(s->h, track[i].number, s->begin_ns); k < m; k++) {
            if (!is_inside(s, ev[k].t_ns))
                break;
            if (ev[k].kind != NINO_EV_KERNEL)
                continue;
            if (!is_flat && (!scope || ev[k].parent != scope))
                at = compare_side_node_of(s, scope = ev[k].parent);
            compare_calls *c = calls_of(s, at, ev[k].name, is_flat ? 0 : ev[k].u.kernel.shape);
            if (!c) {
                s->failed = true;
                return;
            }
            sample_add(&c->t, (double) ev[k].u.kernel.dur_ns * 1e-9);
        }
    }
}

// Seconds of preparing kernels in the steps of a node between two moments.
static double prepared_in_steps(const compare_side *s, int32_t at, uint64_t from, uint64_t to)
{
    size_t n;
    double sum = 0;
    const nino_span *span = nino_history_spans(s->h, &n);
    for (size_t i = 0; i < n; i++)
        if (span[i].begin_ns >= from && span[i].begin_ns < to &&
            compare_side_prepares(s, &span[i]) &&
            nino_history_enclosing(s->h, (int32_t) i, NINO_EV_STEP) >= 0 &&
            compare_side_node_of(s, span[i].id) == at)
            sum += (double) (span[i].end_ns - span[i].begin_ns) * 1e-9;
    return sum;
}

static void collect_steps(compare_side *s)
{
    size_t n;
    const nino_event *ev = nino_history_points(s->h, NINO_EV_STEP_INFO, &n);
    for (size_t i = ev ? nino_history_lower(ev, n, s->begin_ns) : n;
         i < n && is_inside(s, ev[i].t_ns); i++) {
        const int32_t at = compare_side_node_of(s, ev[i].parent);
        compare_node *o = at >= 0 ? &s->node[at] : NULL;
        if (!o)
            continue;
        sample_add(&o->step, fmax(0, ev[i].u.step.seconds -
                                         prepared_in_steps(s, at, o->step_ns, ev[i].t_ns)));
        o->step_ns = ev[i].t_ns;
    }
}

static void compare_side_release(compare_side *s)
{
    free(s->node);
    free(s->calls);
    free(s->slot);
}

// job NULL: all of the history.
static void compare_side_read(compare_side *s, const nino_history *h, const nino_span *job,
                              uint64_t until_ns, bool is_flat)
{
    *s = (compare_side){ .h = h,
                         .begin_ns = job ? job->begin_ns : nino_history_begin(h),
                         .end_ns = job && job->end_ns ? job->end_ns : nino_history_end(h),
                         .until_ns = until_ns,
                         .has_job = job,
                         .end = job ? compare_side_end(job) : NULL };
    collect_nodes(s);
    take_out_once(s);
    collect_kernels(s, is_flat);
    collect_steps(s);
}

// ---- the runs of a recording -------------------------------------------------------------------

static bool is_same_work(const compare_side *a, const compare_side *b)
{
    bool is_same = a->n_nodes == b->n_nodes && a->n_calls == b->n_calls;
    for (size_t i = 0; i < a->n_nodes && is_same; i++)
        is_same = !strcmp(a->node[i].name, b->node[i].name) &&
                  a->node[i].is_cached == b->node[i].is_cached &&
                  a->node[i].runs == b->node[i].runs &&
                  a->node[i].step.seen == b->node[i].step.seen;
    for (size_t i = 0; i < a->n_calls && is_same; i++)
        is_same = a->calls[i].node == b->calls[i].node && a->calls[i].name == b->calls[i].name &&
                  a->calls[i].shape == b->calls[i].shape &&
                  a->calls[i].t.seen == b->calls[i].t.seen;
    return is_same;
}

void compare_recording_read(const nino_history *h, bool is_flat, compare_recording *out)
{
    size_t n, last;
    const nino_span *span = nino_history_spans(h, &n);
    uint64_t until = UINT64_MAX;
    out->n = 0;
    out->failed = false;
    for (last = n; last > 0 && out->n < COMPARE_RUNS && !out->failed; last--) {
        const nino_span *job = &span[last - 1];
        if (job->kind != NINO_EV_JOB)
            continue;
        compare_side *s = &out->run[out->n];
        compare_side_read(s, h, job, until, is_flat);
        out->failed = s->failed;
        if (out->n++ && (strcmp(s->end, out->run[0].end) != 0 || job->status || job->is_cut ||
                         !is_same_work(s, &out->run[0]))) {
            compare_side_release(&out->run[--out->n]);
            break;
        }
        until = job->begin_ns;
    }
    if (!out->n) {
        compare_side_read(&out->run[0], h, NULL, until, is_flat);
        out->failed = out->run[0].failed;
        out->n = 1;
    }
}

void compare_recording_release(compare_recording *r)
{
    while (r->n)
        compare_side_release(&r->run[--r->n]);
}
