// The history of a run: names, points by kind, and what happens when there is too much of it.
#include "core/monitor/history/history_priv.h"

#include "core/base/error.h"

enum { DEFAULT_MAX = 2000000, FIRST_BUCKETS = 256 };

bool history_reserve(void **data, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 64;
    void *p = realloc(*data, more * size);
    if (!p)
        return false;
    *data = p;
    *cap = more;
    return true;
}

// ---- names -------------------------------------------------------------------------------------

static uint32_t history_hash_text(const char *s)
{
    uint32_t v = 2166136261u; // FNV-1a
    for (; *s; s++)
        v = (v ^ (unsigned char) *s) * 16777619u;
    return v;
}

uint32_t nino_history_find(const nino_history *h, const char *text)
{
    if (!h->n_bucket || !*text)
        return 0;
    uint32_t i = h->bucket[history_hash_text(text) & (h->n_bucket - 1)];
    while (i != UINT32_MAX && strcmp(h->name[i].text, text) != 0)
        i = h->name[i].next;
    return i == UINT32_MAX ? 0 : i;
}

static bool history_rehash(nino_history *h)
{
    const uint32_t n = h->n_bucket ? h->n_bucket * 2 : FIRST_BUCKETS;
    uint32_t *b = malloc(n * sizeof(*b));
    if (!b)
        return false;
    memset(b, 0xff, n * sizeof(*b));
    for (uint32_t i = 1; i < h->n_names; i++) {
        uint32_t *head = &b[history_hash_text(h->name[i].text) & (n - 1)];
        h->name[i].next = *head;
        *head = i;
    }
    free(h->bucket);
    h->bucket = b;
    h->n_bucket = n;
    return true;
}

// The id of a text; 0 for "" and when there is no memory.
static uint32_t history_intern(nino_history *h, const char *text)
{
    uint32_t i = nino_history_find(h, text);
    if (i || !*text)
        return i;
    size_t cap = h->cap_names;
    if (h->n_names >= h->n_bucket && !history_rehash(h))
        return 0;
    if (!history_reserve((void **) &h->name, &cap, h->n_names, sizeof(*h->name)))
        return 0;
    h->cap_names = (uint32_t) cap;
    char *copy = strdup(text);
    if (!copy)
        return 0;
    i = h->n_names++;
    uint32_t *head = &h->bucket[history_hash_text(text) & (h->n_bucket - 1)];
    h->name[i] = (history_name){ .text = copy, .next = *head, .family = -1 };
    *head = i;
    return i;
}

static uint32_t own_name(nino_history *h, uint32_t id, const char *(*name)(void *priv, uint32_t id),
                         void *priv)
{
    const char *text = name(priv, id);
    if (!text || !*text)
        return 0;
    if (id < h->n_own_of && h->own_of[id] && !strcmp(h->name[h->own_of[id]].text, text))
        return h->own_of[id];
    const uint32_t own = history_intern(h, text);
    if (id >= 1 << 20)
        return own;
    if (id >= h->n_own_of) {
        const uint32_t n = id * 2 + 64;
        uint32_t *p = realloc(h->own_of, n * sizeof(*p));
        if (!p)
            return own;
        memset(p + h->n_own_of, 0, (n - h->n_own_of) * sizeof(*p));
        h->own_of = p;
        h->n_own_of = n;
    }
    h->own_of[id] = own;
    return own;
}

const char *nino_history_name(void *history, uint32_t id)
{
    const nino_history *h = history;
    return id && id < h->n_names ? h->name[id].text : "";
}

// ---- points ------------------------------------------------------------------------------------

size_t history_lower(const void *list, size_t n, size_t stride, size_t time_at, uint64_t t)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        uint64_t then;
        memcpy(&then, (const char *) list + mid * stride + time_at, sizeof(then));
        if (then < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t nino_history_lower(const nino_event *list, size_t n, uint64_t t)
{
    return history_lower(list, n, sizeof(*list), offsetof(nino_event, t_ns), t);
}

size_t history_list_add(history_list *l, const nino_event *ev)
{
    if (!history_reserve((void **) &l->ev, &l->cap, l->n, sizeof(*l->ev)))
        return SIZE_MAX;
    size_t at = l->n; // nearly always in order: several threads report, each in batches
    while (at > 0 && l->ev[at - 1].t_ns > ev->t_ns)
        at--;
    memmove(&l->ev[at + 1], &l->ev[at], (l->n - at) * sizeof(*l->ev));
    l->ev[at] = *ev;
    l->n++;
    return at;
}

const nino_event *nino_history_points(const nino_history *h, nino_event_kind kind, size_t *n)
{
    const bool is_point = (unsigned) kind < HISTORY_KINDS && h->list[kind].n;
    *n = is_point ? h->list[kind].n : 0;
    return is_point ? h->list[kind].ev : NULL;
}

// ---- adding ------------------------------------------------------------------------------------

static bool history_keep(nino_history *h, const nino_event *ev)
{
    switch (ev->kind) {
    case NINO_EV_JOB:
    case NINO_EV_NODE:
    case NINO_EV_STAGE:
    case NINO_EV_STEP:
    case NINO_EV_TILE: return history_span_begin(h, ev);
    case NINO_EV_END: history_span_end(h, ev); return true;
    case NINO_EV_KERNEL:
    case NINO_EV_TRANSFER: return history_slice_add(h, ev);
    case NINO_EV_MEM: return history_memory_add(h, ev);
    case NINO_EV_LOST: h->lost += ev->u.lost; return true;
    case NINO_EV_SUM: return true; // for the statistics alone
    case NINO_EV_DEVICE:
    case NINO_EV_HOST:
        if (!history_counter_add(h, ev))
            return false;
        // fallthrough
    default:
        if (ev->kind == NINO_EV_NONE || ev->kind >= HISTORY_KINDS)
            return true; // of a newer version
        if (history_list_add(&h->list[ev->kind], ev) == SIZE_MAX)
            return false;
        h->kept++;
        return true;
    }
}

// Everything that was over before the middle of the longest list goes, everywhere.
static void drop_older_half(nino_history *h)
{
    const history_list *longest = &h->list[NINO_EV_MEM];
    for (size_t i = 0; i < HISTORY_KINDS; i++)
        if (h->list[i].n > longest->n)
            longest = &h->list[i];
    for (size_t i = 0; i < h->n_tracks; i++)
        if (h->track[i]->slices.n > longest->n)
            longest = &h->track[i]->slices;
    uint64_t before = h->begin_ns + (h->end_ns - h->begin_ns) / 2;
    if (longest->n > h->n_spans)
        before = longest->ev[longest->n / 2].t_ns;
    else if (h->n_spans)
        before = h->span[h->n_spans / 2].begin_ns;
    const size_t had = h->kept;
    history_drop_memory(h, before);
    for (size_t i = 0; i < HISTORY_KINDS; i++) {
        history_list *l = &h->list[i];
        const size_t n = i == NINO_EV_MEM ? 0 : nino_history_lower(l->ev, l->n, before);
        if (n) {
            memmove(l->ev, l->ev + n, (l->n - n) * sizeof(*l->ev));
            l->n -= n;
            h->kept -= n;
        }
    }
    for (size_t i = 0; i < h->n_tracks; i++)
        history_drop_slices(h, h->track[i], before);
    history_drop_counters(h, before);
    history_drop_spans(h, before);
    h->dropped += had - h->kept;
    h->begin_ns = before;
}

static bool has_name(const nino_event *ev)
{
    return ev->kind != NINO_EV_MEM && ev->kind != NINO_EV_DEVICE && ev->kind != NINO_EV_PROGRESS &&
           ev->kind != NINO_EV_END;
}

static bool is_open(const nino_history *h)
{
    for (size_t i = 0; i < h->n_tracks; i++)
        if (h->track[i]->depth)
            return true;
    return false;
}

// The time that plots show. Samples of an idle device come before and after the work, for as long
// as somebody watches; they count while there is nothing else.
static void history_extend(nino_history *h, const nino_event *ev, uint64_t last)
{
    const bool is_sample = ev->kind == NINO_EV_DEVICE || ev->kind == NINO_EV_HOST;
    if (!ev->t_ns || ev->kind == NINO_EV_LOST || (is_sample && h->has_work && !is_open(h)))
        return;
    if (!is_sample && !h->has_work) {
        h->has_work = true;
        h->begin_ns = h->end_ns = 0;
    }
    h->begin_ns = !h->begin_ns || ev->t_ns < h->begin_ns ? ev->t_ns : h->begin_ns;
    h->end_ns = last > h->end_ns ? last : h->end_ns;
}

void nino_history_add(nino_history *h, const nino_event *ev, size_t n,
                      const char *(*name)(void *priv, uint32_t id), void *priv)
{
    for (size_t i = 0; i < n; i++) {
        nino_event e = ev[i];
        e.name = has_name(&e) ? own_name(h, e.name, name, priv) : 0;
        const bool is_slice = e.kind == NINO_EV_KERNEL || e.kind == NINO_EV_TRANSFER;
        uint64_t last = e.t_ns;
        if (is_slice) {
            last += e.u.kernel.dur_ns;
            e.u.kernel.shape = own_name(h, e.u.kernel.shape, name, priv);
            e.u.kernel.family = own_name(h, e.u.kernel.family, name, priv);
            if (!e.u.kernel.family && e.kind == NINO_EV_TRANSFER)
                e.u.kernel.family = history_intern(h, "transfer");
        }
        if (e.kind == NINO_EV_KERNEL)
            e.id = nino_kernel_id(nino_kernel_bits(&e),
                                  own_name(h, nino_kernel_launch(&e), name, priv));
        if (e.kind == NINO_EV_TILE_INFO || e.kind == NINO_EV_CHUNK)
            e.id = own_name(h, e.id, name, priv);
        h->count += e.kind != NINO_EV_SUM;
        history_extend(h, &e, last);
        nino_stats_add(h->stats, &e, 1, nino_history_name, h);
        if (!history_keep(h, &e))
            h->dropped++;
        if (h->kept > h->max)
            drop_older_half(h);
    }
}

static void add_batch(void *history, const nino_event *ev, size_t n,
                      const char *(*name)(void *priv, uint32_t id), void *priv)
{
    nino_history_add(history, ev, n, name, priv);
}

nino_status nino_history_load(nino_history *h, const char *path, nino_error *err)
{
    return nino_trace_read(path, add_batch, h, err);
}

uint64_t nino_history_begin(const nino_history *h) { return h->begin_ns; }
uint64_t nino_history_end(const nino_history *h) { return h->end_ns; }
uint64_t nino_history_count(const nino_history *h) { return h->count; }
uint64_t nino_history_dropped(const nino_history *h) { return h->dropped; }
uint64_t nino_history_lost(const nino_history *h) { return h->lost; }
const nino_stats *nino_history_stats(const nino_history *h) { return h->stats; }

// ---- life --------------------------------------------------------------------------------------

static void history_release(nino_history *h)
{
    for (uint32_t i = 1; i < h->n_names; i++)
        free(h->name[i].text);
    free(h->name);
    free(h->bucket);
    free(h->own_of);
    free(h->span);
    free(h->by_id);
    for (size_t i = 0; i < h->n_tracks; i++) {
        for (int k = 0; k < HISTORY_DEPTH; k++)
            free(h->track[i]->row[k].span);
        free(h->track[i]->slices.ev);
        free(h->track[i]->busy);
        free(h->track[i]);
    }
    for (size_t i = 0; i < HISTORY_KINDS; i++)
        free(h->list[i].ev);
    for (size_t i = 0; i < NINO_COUNTER_MAX; i++)
        free(h->counter[i].at);
    free(h->use);
    for (size_t i = 0; i < HISTORY_LEVELS; i++)
        free(h->peak[i]);
    free(h->pool.block);
    free(h->pool.arena);
    free(h->pool_base.block);
    free(h->pool_base.arena);
    nino_stats_destroy(&h->stats);
}

// An empty history; false: out of memory.
static bool history_setup(nino_history *h, size_t max, nino_stats *stats)
{
    size_t cap = 0;
    *h = (nino_history){ .max = max ? max : DEFAULT_MAX, .stats = stats };
    if (!history_reserve((void **) &h->name, &cap, 0, sizeof(*h->name)))
        return false;
    h->cap_names = (uint32_t) cap;
    h->name[0] = (history_name){ .family = -1 };
    h->n_names = 1;
    return true;
}

nino_history *nino_history_create(size_t max_records)
{
    nino_history *h = malloc(sizeof(*h));
    nino_stats *stats = nino_stats_create();
    if (h && stats && history_setup(h, max_records, stats))
        return h;
    nino_stats_destroy(&stats);
    free(h);
    return NULL;
}

void nino_history_destroy(nino_history **history)
{
    nino_history *h = *history;
    if (!h)
        return;
    history_release(h);
    free(h);
    *history = NULL;
}

// The ceilings that were told last, and their points.
static void history_tell_ceilings(nino_history *to, const nino_history *from, uint64_t t)
{
    const history_list *c = &from->list[NINO_EV_CEILINGS], *p = &from->list[NINO_EV_CEILING_POINT];
    if (!c->n)
        return;
    nino_event e = c->ev[c->n - 1];
    const size_t first = nino_history_lower(p->ev, p->n, e.t_ns);
    e.t_ns = t;
    nino_history_add(to, &e, 1, nino_history_name, (void *) from);
    for (size_t i = first; i < p->n; i++) {
        e = p->ev[i];
        e.t_ns = t;
        nino_history_add(to, &e, 1, nino_history_name, (void *) from);
    }
}

// `t` 0: of what was before nothing is told.
static void begin_anew(nino_history *h, uint64_t t)
{
    nino_stats *stats = nino_stats_create();
    nino_history fresh;
    if (!stats || !history_setup(&fresh, h->max, stats)) { // nothing is lost but memory
        nino_stats_destroy(&stats);
        return;
    }
    if (t) {
        history_tell_ceilings(&fresh, h, t);
        history_tell_pool(&fresh, h, t);
    }
    history_release(h);
    *h = fresh;
}

void nino_history_clear(nino_history *h) { begin_anew(h, 0); }

void nino_history_restart(nino_history *h, uint64_t t) { begin_anew(h, t); }
