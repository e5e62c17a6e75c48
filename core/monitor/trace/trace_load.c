// A trace file of ninodes back into records, so that a file gives the same tables and pictures as
// the run. Traces of other programs: trace_foreign.c.
#include "core/monitor/trace/trace.h"

#include "core/base/error.h"
#include "core/event/publish.h"
#include "core/monitor/trace/trace_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPEN = 1024 };

typedef struct made made; // a name that does not stand in the document
struct made {
    made *next;
    char text[];
};

typedef struct loader {
    nino_trace_batch batch;
    const char **name; // point into the document; [0] is ""
    uint32_t n_names, cap_names;
    made *made;
    uint32_t *slot; // open addressing: name ids, 0: empty; a power of two, twice cap_names
    struct {
        const char *tid;
        uint32_t id;
    } open[MAX_OPEN]; // B's that wait for their E
    int n_open;
    uint64_t use[NINO_OWN_COUNT];
    bool has_memory; // memory records as such: the counters say nothing new
} loader;

static const char *trace_load_name_of(void *priv, uint32_t id)
{
    const loader *l = priv;
    return id < l->n_names ? l->name[id] : "";
}

void nino_trace_batch_sample(nino_trace_batch *b, const nino_sample *s, uint16_t track)
{
    nino_event ev[NINO_SAMPLE_RECORDS];
    const size_t n = nino_sample_write(s, ev);
    for (size_t i = 0; i < n; i++) {
        ev[i].track = track;
        nino_trace_batch_add(b, ev[i]);
    }
}

// ---- names -------------------------------------------------------------------------------------

static uint32_t *trace_load_slot_of(const loader *l, const char *s)
{
    uint32_t v = 2166136261u; // FNV-1a
    for (const char *c = s; *c; c++)
        v = (v ^ (unsigned char) *c) * 16777619u;
    const uint32_t mask = l->cap_names * 2 - 1;
    uint32_t i = v & mask;
    while (l->slot[i] && strcmp(l->name[l->slot[i]], s) != 0)
        i = (i + 1) & mask;
    return &l->slot[i];
}

static bool grow_names(loader *l)
{
    const uint32_t cap = l->cap_names ? l->cap_names * 2 : 1024;
    const char **name = realloc(l->name, cap * sizeof(*name));
    if (!name)
        return false;
    l->name = name;
    uint32_t *slot = calloc((size_t) cap * 2, sizeof(*slot));
    if (!slot)
        return false;
    free(l->slot);
    l->slot = slot;
    l->cap_names = cap;
    for (uint32_t i = 1; i < l->n_names; i++)
        *trace_load_slot_of(l, l->name[i]) = i;
    return true;
}

static uint32_t trace_load_intern(loader *l, const char *s)
{
    if (!s || !*s)
        return 0;
    const uint32_t known = *trace_load_slot_of(l, s);
    if (known)
        return known;
    if (l->n_names == l->cap_names && !grow_names(l))
        return 0;
    *trace_load_slot_of(l, s) = l->n_names;
    l->name[l->n_names] = s;
    return l->n_names++;
}

// ---- members -----------------------------------------------------------------------------------

static double trace_load_number(const nino_json *obj, const char *key)
{
    double v = 0;
    nino_json_double(nino_json_get(obj, key), &v);
    return isfinite(v) ? v : 0;
}

static uint64_t trace_load_whole(const nino_json *obj, const char *key)
{
    const double v = trace_load_number(obj, key);
    return v > 0 && v < 1.8e19 ? (uint64_t) v : 0;
}

static uint64_t trace_load_time_of(const nino_json *e, const char *key)
{
    int64_t ns;
    return nino_trace_time(nino_json_get(e, key), &ns) && ns > 0 ? (uint64_t) ns : 0;
}

// ---- events ------------------------------------------------------------------------------------

static void scope(loader *l, const nino_json *e, const nino_json *args, const char *tid, char ph)
{
    if (ph == 'B') {
        char *rest;
        const unsigned long n = strtoul(tid, &rest, 10); // 8 tracks a thread, scopes by kind
        if (l->n_open == MAX_OPEN || *rest || n >= 256ul * 8 || n % 8 < NINO_EV_JOB ||
            n % 8 > NINO_EV_TILE)
            return;
        const uint32_t id = (uint32_t) trace_load_whole(args, "id");
        l->open[l->n_open].tid = tid;
        l->open[l->n_open++].id = id;
        nino_trace_batch_add(
            &l->batch,
            (nino_event){ .t_ns = trace_load_time_of(e, "ts"),
                          .kind = (uint8_t) (n % 8),
                          .track = (uint16_t) (n / 8),
                          .id = id,
                          .parent = (uint32_t) trace_load_whole(args, "parent"),
                          .name = trace_load_intern(l, nino_json_str(nino_json_get(e, "name"))),
                          .u.scope = { (uint32_t) trace_load_whole(args, "index"),
                                       (uint32_t) trace_load_whole(args, "of") } });
        return;
    }
    int i = l->n_open - 1;
    while (i >= 0 && strcmp(l->open[i].tid, tid) != 0)
        i--;
    if (i < 0)
        return;
    nino_trace_batch_add(
        &l->batch, (nino_event){ .t_ns = trace_load_time_of(e, "ts"),
                                 .kind = NINO_EV_END,
                                 .id = l->open[i].id,
                                 .u.scope.arg0 = (uint32_t) trace_load_whole(args, "status") });
    l->n_open--;
    memmove(&l->open[i], &l->open[i + 1], (size_t) (l->n_open - i) * sizeof(l->open[0]));
}

// The name of a launch, made of the members that tell it; 0: none do.
static uint32_t trace_load_launch(loader *l, const nino_json *args)
{
    const char *global = nino_json_str(nino_json_get(args, "global"));
    const char *local = nino_json_str(nino_json_get(args, "local"));
    const char *program = nino_json_str(nino_json_get(args, "program"));
    const char *call = nino_json_str(nino_json_get(args, "call"));
    char text[NINO_LAUNCH_TEXT], again[NINO_LAUNCH_TOLD_TEXT];
    nino_launch at;
    if (!global)
        return 0;
    snprintf(text, sizeof(text), "%s/%s/", global,
             local && strcmp(local, TRACE_DRIVERS_CHOICE) != 0 ? local : "");
    if (!nino_launch_read(&at, text))
        return 0;
    at.requested = trace_load_number(args, "requested_bytes");
    nino_launch_write_told(again, &at, program ? program : "", call ? call : "");
    const uint32_t known = *trace_load_slot_of(l, again);
    if (known)
        return known;
    const size_t n = strlen(again) + 1;
    made *m = malloc(sizeof(*m) + n);
    if (!m)
        return 0;
    memcpy(m->text, again, n);
    m->next = l->made;
    l->made = m;
    return trace_load_intern(l, m->text);
}

static void trace_load_slice(loader *l, const nino_json *e, const nino_json *args, uint64_t tid)
{
    const char *cat = nino_json_str(nino_json_get(e, "cat"));
    const bool is_kernel = cat && !strcmp(cat, "kernel");
    if (!is_kernel && (!cat || strcmp(cat, "transfer") != 0))
        return;
    const uint64_t track = tid >= TID_QUEUES ? 256 + (tid - TID_QUEUES) / TID_LANES : tid / 8;
    nino_trace_batch_add(
        &l->batch,
        (nino_event){
            .t_ns = trace_load_time_of(e, "ts"),
            .kind = is_kernel ? NINO_EV_KERNEL : NINO_EV_TRANSFER,
            .sub = (uint8_t) trace_load_whole(args, "sub"),
            .track = (uint16_t) (track <= UINT16_MAX ? track : UINT16_MAX),
            .id = is_kernel ? nino_kernel_id((unsigned) trace_load_whole(args, "bits"),
                                             trace_load_launch(l, args))
                            : 0,
            .parent = (uint32_t) trace_load_whole(args, "scope"),
            .name = trace_load_intern(l, nino_json_str(nino_json_get(e, "name"))),
            .u.kernel = {
                .dur_ns = trace_load_time_of(e, "dur"),
                .queued_us = (uint32_t) trace_load_whole(args, "queued_us"),
                .submitted_us = (uint32_t) trace_load_whole(args, "submitted_us"),
                .flops = trace_load_number(args, "flops"),
                .bytes = trace_load_number(args, "bytes"),
                .family = trace_load_intern(l, nino_json_str(nino_json_get(args, "family"))),
                .shape = trace_load_intern(l, nino_json_str(nino_json_get(args, "shape"))),
            } });
}

// The two memory counters of a moment become one event of each owner whose use has changed; for
// traces without memory records.
static void trace_load_counter(loader *l, const nino_json *e, const nino_json *args)
{
    static const char *const owners[] = { "weights", "activation", "workspace", "staging" };
    const char *name = nino_json_str(nino_json_get(e, "name"));
    if (l->has_memory)
        return;
    if (name && !strcmp(name, "pool bytes"))
        for (int i = 0; i < NINO_OWN_COUNT; i++)
            l->use[i] = trace_load_whole(args, owners[i]);
    if (!name || strcmp(name, "pool") != 0)
        return;
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        nino_trace_batch_add(
            &l->batch, (nino_event){ .t_ns = trace_load_time_of(e, "ts"),
                                     .kind = NINO_EV_MEM,
                                     .sub = NINO_MEM_FREE, // says the state, counts no request
                                     .u.mem = { .in_use = trace_load_whole(args, "in_use"),
                                                .reserved = trace_load_whole(args, "reserved"),
                                                .owner = (uint8_t) i,
                                                .owner_use = (uint32_t) (l->use[i] / 256) } });
}

static void trace_load_sample(loader *l, const nino_event *at, const nino_json *args)
{
    nino_sample s;
    const nino_counter *c;
    nino_sample_clear(&s, (nino_event_kind) at->kind);
    s.t_ns = at->t_ns;
    for (unsigned id = 1; (c = nino_counter_row(id)); id++)
        if (c->sample == at->kind &&
            nino_json_double(nino_json_get(args, nino_counter_word(c, c->arg)), &s.value[id]) &&
            c->arg_scale > 0)
            s.value[id] *= c->arg_scale;
    nino_trace_zeros(&s);
    nino_trace_batch_sample(&l->batch, &s, at->track);
}

static void point(loader *l, const nino_json *e, const nino_json *args, uint64_t tid)
{
    const char *cat = nino_json_str(nino_json_get(e, "cat"));
    nino_event ev = { .t_ns = trace_load_time_of(e, "ts"),
                      .track = (uint16_t) (tid < 256ul * 8 ? tid / 8 : 0),
                      .parent = (uint32_t) trace_load_whole(args, "scope") };
    if (!cat) {
        if (nino_json_get(args, "records")) // of a trace without categories
            nino_trace_batch_add(
                &l->batch,
                (nino_event){ .kind = NINO_EV_LOST, .u.lost = trace_load_whole(args, "records") });
        return;
    }
    for (uint8_t kind = 1; kind < 32 && !ev.kind; kind++)
        if (*nino_trace_kind_name(kind) && !strcmp(nino_trace_kind_name(kind), cat))
            ev.kind = kind;
    if (!ev.kind)
        return;
    if (ev.kind == NINO_EV_DEVICE || ev.kind == NINO_EV_HOST) {
        trace_load_sample(l, &ev, args);
        return;
    }
    for (const nino_trace_field *f = nino_trace_fields; f->key; f++) {
        double v = f->is_nan ? (double) NAN : 0;
        if (f->kind != ev.kind)
            continue;
        nino_json_double(nino_json_get(args, f->key), &v);
        nino_trace_set(&ev, f, v);
    }
    if (ev.kind == NINO_EV_MESSAGE || ev.kind == NINO_EV_OUTPUT || ev.kind == NINO_EV_CEILINGS ||
        ev.kind == NINO_EV_CACHE || ev.kind == NINO_EV_NOTE || ev.kind == NINO_EV_CHOICE)
        ev.name = trace_load_intern(l, nino_json_str(nino_json_get(e, "name")));
    l->has_memory = l->has_memory || ev.kind == NINO_EV_MEM;
    nino_trace_batch_add(&l->batch, ev);
}

static void event(loader *l, const nino_json *e)
{
    const char *ph = nino_json_str(nino_json_get(e, "ph"));
    const nino_json *args = nino_json_get(e, "args"), *tid = nino_json_get(e, "tid");
    if (!ph)
        return;
    if ((*ph == 'B' || *ph == 'E') && tid && tid->text && tid->text[0])
        scope(l, e, args, tid->text, *ph);
    else if (*ph == 'X')
        trace_load_slice(l, e, args, trace_load_whole(e, "tid"));
    else if (*ph == 'C')
        trace_load_counter(l, e, args);
    else if (*ph == 'i')
        point(l, e, args, trace_load_whole(e, "tid"));
}

nino_status nino_trace_read(const char *path, nino_trace_sink sink_fn, void *priv, nino_error *err)
{
    if (nino_own_is(path))
        return nino_own_read(path, sink_fn, priv, NULL, err);
    nino_json_doc *doc = NULL;
    const nino_json *events = NULL;
    loader *l = calloc(1, sizeof(*l));
    nino_status st = NINO_OK;
    if (!l || !grow_names(l))
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    if (!st)
        st = nino_trace_parse(path, &doc, &events, err);
    if (!st && nino_trace_is_foreign(doc, events)) {
        st = nino_trace_foreign(events, path, sink_fn, priv, err);
    } else if (!st && l) {
        l->batch = (nino_trace_batch){
            .sink = sink_fn, .priv = priv, .name = trace_load_name_of, .name_priv = l
        };
        l->name[0] = "";
        l->n_names = 1;
        for (const nino_json *e = events->child; e; e = e->next)
            event(l, e);
        nino_trace_batch_flush(&l->batch);
    }
    nino_json_doc_destroy(&doc);
    if (l) {
        while (l->made) {
            made *m = l->made;
            l->made = m->next;
            free(m);
        }
        free(l->name);
        free(l->slot);
    }
    free(l);
    return st;
}

static void to_stats(void *stats, const nino_event *ev, size_t n,
                     const char *(*name)(void *priv, uint32_t id), void *priv)
{
    nino_stats_add(stats, ev, n, name, priv);
}

nino_status nino_trace_load(const char *path, nino_stats *stats, nino_error *err)
{
    return nino_trace_read(path, to_stats, stats, err);
}
