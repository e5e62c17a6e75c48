// Checks Chrome JSON traces: on every track (pid, tid) time never goes back, slices nest, and each
// B has its E.
#include "core/monitor/trace/trace.h"

#include "core/base/error.h"
#include "core/monitor/trace/trace_out.h"
#include "core/monitor/trace/trace_own.h"

#include <errno.h>
#include <math.h>
#include <ninodes/monitor.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MAX_FILE = 1 << 30, MAX_NESTING = 4096 };

typedef struct span {
    int64_t begin, end; // end INT64_MAX: a B that waits for its E
    const char *name;
} span;

typedef struct track {
    const char *pid, *tid;
    bool is_counter; // tid is then the counter's name
    int64_t last;
    span *open;
    size_t depth, cap;
} track;

typedef struct checker {
    const char *path;
    track *track;
    size_t n, cap, hint;
} checker;

// The form of an array may end anywhere: a program that writes one as it goes never closes it.
// What follows the last whole event is cut off, and the array closed.
static void close_array(nino_buf *b)
{
    size_t first = 0;
    int depth = 0;
    bool is_text = false;
    while (first < b->len && strchr(" \t\r\n", b->data[first]))
        first++;
    if (first == b->len || b->data[first] != '[')
        return;
    size_t whole = first + 1; // all before it is
    for (size_t i = first; i < b->len; i++) {
        const char c = b->data[i];
        if (is_text) {
            is_text = c != '"';
            i += c == '\\';
        } else if (c == '"') {
            is_text = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            if (--depth == 0)
                return;
            whole = depth == 1 ? i + 1 : whole;
        }
    }
    b->len = whole;
    nino_buf_add(b, "]", 1);
}

nino_status nino_trace_parse(const char *path, nino_json_doc **doc, const nino_json **events,
                             nino_error *err)
{
    gzFile f = gzopen(path, "rb"); // reads plain files as they are
    if (!f)
        return nino_fail(err, errno == ENOENT ? NINO_ERR_MISSING : NINO_ERR_IO, path, "%s",
                         strerror(errno));
    if (nino_trace_ends_in(path, ".pftrace") || nino_trace_ends_in(path, ".pftrace.gz")) {
        gzclose(f);
        return nino_fail(err, NINO_ERR_UNSUPPORTED, path,
                         "is a trace for Perfetto, which is written only; keep a .ninotrace");
    }
    nino_buf b = { 0 };
    nino_status st = NINO_OK;
    char chunk[65536];
    int n;
    while (!st && (n = gzread(f, chunk, sizeof(chunk))) > 0) {
        nino_buf_add(&b, chunk, (size_t) n);
        if (b.failed)
            st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        else if (b.len > MAX_FILE)
            st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", path, "is larger than 1 GiB");
    }
    int z;
    if (!st && n < 0)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", path, "%s", gzerror(f, &z));
    gzclose(f);
    const nino_json_limits limits = {
        .max_depth = 64, .max_bytes = MAX_FILE, .max_nodes = 64u << 20, .allow_dup_keys = true
    };
    nino_json_doc *d = NULL;
    if (!st)
        close_array(&b);
    if (!st && b.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    if (!st)
        st = nino_json_parse(b.data ? b.data : "", b.len, path, &limits, &d, err);
    nino_buf_release(&b);
    if (st)
        return st;
    const nino_json *e =
        d->root->type == NINO_JSON_ARRAY ? d->root : nino_json_get(d->root, "traceEvents");
    if (!e || e->type != NINO_JSON_ARRAY) {
        nino_json_doc_destroy(&d);
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", path, "has no array traceEvents");
    }
    *doc = d;
    *events = e;
    return NINO_OK;
}

bool nino_trace_time(const nino_json *us, int64_t *ns)
{
    double v;
    if (!nino_json_double(us, &v) || !(fabs(v) < 4e12)) // 46 days, exact to the nanosecond
        return false;
    *ns = llround(v * 1000);
    return true;
}

static track *find_track(checker *c, const char *pid, const char *tid, bool is_counter)
{
    for (size_t k = 0; k < c->n; k++) {
        track *t = &c->track[(c->hint + k) % c->n];
        if (t->is_counter == is_counter && !strcmp(t->tid, tid) && !strcmp(t->pid, pid)) {
            c->hint = (size_t) (t - c->track);
            return t;
        }
    }
    if (c->n == c->cap) {
        const size_t cap = c->cap ? c->cap * 2 : 64;
        track *p = realloc(c->track, cap * sizeof(*p));
        if (!p)
            return NULL;
        c->track = p;
        c->cap = cap;
    }
    c->hint = c->n;
    c->track[c->n] = (track){ .pid = pid, .tid = tid, .is_counter = is_counter, .last = INT64_MIN };
    return &c->track[c->n++];
}

__attribute__((format(printf, 5, 6))) static nino_status
fault(const checker *c, const track *t, const char *kind, nino_error *err, const char *fmt, ...)
{
    char what[200], where[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    snprintf(where, sizeof(where), "%s: track %s/%s", c->path, t->pid, t->tid);
    return nino_fail_kind(err, NINO_ERR_FORMAT, kind, where, "%s", what);
}

static nino_status trace_check_push(track *t, span s, nino_error *err)
{
    if (t->depth == t->cap) {
        const size_t cap = t->cap ? t->cap * 2 : 16;
        if (cap > MAX_NESTING)
            return nino_fail_kind(err, NINO_ERR_FORMAT, "limit", t->tid,
                                  "slices are nested more than %d deep", MAX_NESTING);
        span *p = realloc(t->open, cap * sizeof(*p));
        if (!p)
            return nino_fail(err, NINO_ERR_NOMEM, t->tid, "out of memory");
        t->open = p;
        t->cap = cap;
    }
    t->open[t->depth++] = s;
    return NINO_OK;
}

// One event of a track at time ts; dur only for X.
static nino_status check_slice(const checker *c, track *t, char ph, const char *name, int64_t ts,
                               int64_t dur, nino_error *err)
{
    if (ts < t->last)
        return fault(c, t, "order", err, "\"%s\" begins %lld ns before the event above it", name,
                     (long long) (t->last - ts));
    t->last = ts;
    while (t->depth && t->open[t->depth - 1].end <= ts)
        t->depth--;
    const span *top = t->depth ? &t->open[t->depth - 1] : NULL;
    switch (ph) {
    case 'X':
        if (top && ts + dur > top->end)
            return fault(c, t, "overlap", err, "\"%s\" overlaps \"%s\"", name, top->name);
        return dur ? trace_check_push(t, (span){ ts, ts + dur, name }, err) : NINO_OK;
    case 'B': return trace_check_push(t, (span){ ts, INT64_MAX, name }, err);
    case 'E':
        if (!top)
            return fault(c, t, "unbalanced", err, "an E without a B");
        if (top->end != INT64_MAX)
            return fault(c, t, "overlap", err, "an E inside \"%s\"", top->name);
        if (*name && strcmp(name, top->name))
            return fault(c, t, "unbalanced", err, "the E of \"%s\" ends \"%s\"", name, top->name);
        t->depth--;
        return NINO_OK;
    default: return NINO_OK;
    }
}

static nino_status check_event(checker *c, const nino_json *e, nino_error *err)
{
    const char *ph = nino_json_str(nino_json_get(e, "ph"));
    const nino_json *pid = nino_json_get(e, "pid"), *tid = nino_json_get(e, "tid");
    const char *name = nino_json_str(nino_json_get(e, "name"));
    char where[300];
    snprintf(where, sizeof(where), "%s: line %u", c->path, e->line);
    if (!ph || !ph[0] || ph[1] || !strchr("BEXCMiIbenstfPNOD", ph[0]))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "no known phase \"ph\"");
    if (strchr("MbenstfPNOD", ph[0]))
        return NINO_OK; // not slices of a track
    if (!pid || !tid || !pid->text || !tid->text)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "no \"pid\" or \"tid\"");
    if (!name && ph[0] != 'E')
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "no \"name\"");
    int64_t ts, dur = 0;
    if (!nino_trace_time(nino_json_get(e, "ts"), &ts))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "no valid \"ts\"");
    if (ph[0] == 'X' && (!nino_trace_time(nino_json_get(e, "dur"), &dur) || dur < 0))
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "no valid \"dur\"");
    track *t = find_track(c, pid->text, ph[0] == 'C' ? name : tid->text, ph[0] == 'C');
    if (!t)
        return nino_fail(err, NINO_ERR_NOMEM, c->path, "out of memory");
    return check_slice(c, t, ph[0], name ? name : "", ts, dur, err);
}

static void count_records(void *priv, const nino_event *ev, size_t n,
                          const char *(*name)(void *name_priv, uint32_t id), void *name_priv)
{
    (void) ev, (void) name, (void) name_priv;
    *(uint64_t *) priv += n;
}

// Of the own form every block is checked; it has no tracks.
static nino_status trace_check_check_own(const char *path, uint64_t *n_events, nino_error *err)
{
    uint64_t n = 0;
    const nino_status st = nino_own_read(path, count_records, &n, NULL, err);
    if (!st && n_events)
        *n_events = n;
    return st;
}

nino_status nino_trace_check(const char *path, uint64_t *n_events, nino_error *err)
{
    if (nino_own_is(path))
        return trace_check_check_own(path, n_events, err);
    nino_json_doc *doc = NULL;
    const nino_json *events;
    nino_status st = nino_trace_parse(path, &doc, &events, err);
    if (st)
        return st;
    checker c = { .path = path };
    uint64_t n = 0;
    for (const nino_json *e = events->child; e && !st; e = e->next, n++)
        st = check_event(&c, e, err);
    for (size_t i = 0; i < c.n; i++) {
        const track *t = &c.track[i];
        for (size_t k = 0; k < t->depth && !st; k++)
            if (t->open[k].end == INT64_MAX)
                st = fault(&c, t, "unbalanced", err, "\"%s\" never ends", t->open[k].name);
        free(t->open);
    }
    free(c.track);
    nino_json_doc_destroy(&doc);
    if (!st && n_events)
        *n_events = n;
    return st;
}
