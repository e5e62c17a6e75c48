// A trace file of ninodes back into statistics, so that a file gives the same tables as the run.
#include "core/monitor/trace.h"

#include "core/base/error.h"

#include <math.h>
#include <ninodes/monitor.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 65536, MAX_OPEN = 1024 };

typedef struct loader {
    nino_stats *stats;
    const char **name; // point into the document; [0] is ""
    uint32_t n_names;
    struct {
        const char *tid;
        uint32_t id;
    } open[MAX_OPEN]; // B's that wait for their E
    int n_open;
    uint64_t use[NINO_OWN_COUNT];
} loader;

static const char *name_of(void *priv, uint32_t id)
{
    const loader *l = priv;
    return id < l->n_names ? l->name[id] : "";
}

static uint32_t intern(loader *l, const char *s)
{
    if (!s || !*s)
        return 0;
    for (uint32_t i = 1; i < l->n_names; i++)
        if (!strcmp(l->name[i], s))
            return i;
    if (l->n_names == MAX_NAMES)
        return 0;
    l->name[l->n_names] = s;
    return l->n_names++;
}

static double number(const nino_json *obj, const char *key)
{
    double v = 0;
    nino_json_double(nino_json_get(obj, key), &v);
    return isfinite(v) ? v : 0;
}

static uint64_t whole(const nino_json *obj, const char *key)
{
    const double v = number(obj, key);
    return v > 0 && v < 1.8e19 ? (uint64_t) v : 0;
}

static uint64_t time_of(const nino_json *e, const char *key)
{
    int64_t ns;
    return nino_trace_time(nino_json_get(e, key), &ns) && ns > 0 ? (uint64_t) ns : 0;
}

static void add(loader *l, nino_event ev) { nino_stats_add(l->stats, &ev, 1, name_of, l); }

static void scope(loader *l, const nino_json *e, const nino_json *args, const char *tid, char ph)
{
    static const char kinds[] = "12345"; // tracks of the job thread are numbered by kind
    if (ph == 'B') {
        const uint32_t id = (uint32_t) whole(args, "id");
        if (l->n_open == MAX_OPEN || !strchr(kinds, tid[0]) || tid[1])
            return;
        l->open[l->n_open].tid = tid;
        l->open[l->n_open++].id = id;
        add(l, (nino_event){ .t_ns = time_of(e, "ts"),
                             .kind = (uint8_t) (tid[0] - '0'),
                             .id = id,
                             .parent = (uint32_t) whole(args, "parent"),
                             .name = intern(l, nino_json_str(nino_json_get(e, "name"))) });
        return;
    }
    int i = l->n_open - 1;
    while (i >= 0 && strcmp(l->open[i].tid, tid))
        i--;
    if (i < 0)
        return;
    add(l, (nino_event){ .t_ns = time_of(e, "ts"), .kind = NINO_EV_END, .id = l->open[i].id });
    l->n_open--;
    memmove(&l->open[i], &l->open[i + 1], (size_t) (l->n_open - i) * sizeof(l->open[0]));
}

static void slice(loader *l, const nino_json *e, const nino_json *args)
{
    const char *cat = nino_json_str(nino_json_get(e, "cat"));
    const bool is_kernel = cat && !strcmp(cat, "kernel");
    if (!is_kernel && (!cat || strcmp(cat, "transfer") != 0))
        return;
    add(l, (nino_event){ .t_ns = time_of(e, "ts"),
                         .kind = is_kernel ? NINO_EV_KERNEL : NINO_EV_TRANSFER,
                         .sub = (uint8_t) whole(args, "sub"),
                         .id = (uint32_t) whole(args, "bits"),
                         .parent = (uint32_t) whole(args, "scope"),
                         .name = intern(l, nino_json_str(nino_json_get(e, "name"))),
                         .u.kernel = {
                             .dur_ns = time_of(e, "dur"),
                             .flops = number(args, "flops"),
                             .bytes = number(args, "bytes"),
                             .family = intern(l, nino_json_str(nino_json_get(args, "family"))),
                             .shape = intern(l, nino_json_str(nino_json_get(args, "shape"))),
                         } });
}

// The two memory counters of a moment become one event of each owner whose use has changed.
static void counter(loader *l, const nino_json *e, const nino_json *args)
{
    static const char *const owners[] = { "weights", "activation", "workspace", "staging" };
    const char *name = nino_json_str(nino_json_get(e, "name"));
    if (name && !strcmp(name, "pool bytes"))
        for (int i = 0; i < NINO_OWN_COUNT; i++)
            l->use[i] = whole(args, owners[i]);
    if (!name || strcmp(name, "pool") != 0)
        return;
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        add(l, (nino_event){ .t_ns = time_of(e, "ts"),
                             .kind = NINO_EV_MEM,
                             .sub = NINO_MEM_FREE, // says the state, counts no request
                             .u.mem = { .in_use = whole(args, "in_use"),
                                        .reserved = whole(args, "reserved"),
                                        .owner = (uint16_t) i,
                                        .owner_use = (uint32_t) (l->use[i] / 256) } });
}

nino_status nino_trace_load(const char *path, nino_stats *stats, nino_error *err)
{
    nino_json_doc *doc = NULL;
    const nino_json *events;
    loader *l = calloc(1, sizeof(*l));
    if (l)
        l->name = calloc(MAX_NAMES, sizeof(*l->name));
    nino_status st = NINO_OK;
    if (!l || !l->name)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    if (!st)
        st = nino_trace_parse(path, &doc, &events, err);
    if (st)
        goto end;
    l->stats = stats;
    l->name[0] = "";
    l->n_names = 1;
    for (const nino_json *e = events->child; e; e = e->next) {
        const char *ph = nino_json_str(nino_json_get(e, "ph"));
        const nino_json *args = nino_json_get(e, "args"), *tid = nino_json_get(e, "tid");
        if (!ph)
            continue;
        if ((*ph == 'B' || *ph == 'E') && tid && tid->text && tid->text[0])
            scope(l, e, args, tid->text, *ph);
        else if (*ph == 'X')
            slice(l, e, args);
        else if (*ph == 'C')
            counter(l, e, args);
        else if (*ph == 'i' && nino_json_get(args, "records"))
            add(l, (nino_event){ .kind = NINO_EV_LOST, .u.lost = whole(args, "records") });
    }
end:
    nino_json_doc_destroy(&doc);
    if (l)
        free(l->name);
    free(l);
    return st;
}
