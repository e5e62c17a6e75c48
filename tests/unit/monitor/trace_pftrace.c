// Traces in Perfetto's form, read back by a protobuf reader of the test's own: every packet is well
// formed and refers to what was told before it, tracks are balanced and in order, counters and
// arrows are right, slices are those of the Chrome trace, and a cut file is whole up to the cut.
#include "tests/test.h"
#include "core/base/utf8.h"
#include "tests/unit/monitor/trace_run.h"

enum { MAX_IDS = 4096, MAX_TRACKS = 256, DICTS = 4 };

static char dir[64];
static nino_error err;

static const char *path_of(const char *name)
{
    static char p[128];
    snprintf(p, sizeof(p), "%s/%s", dir, name);
    return p;
}

static char *slurp(const char *name, size_t *n)
{
    FILE *f = fopen(path_of(name), "rb");
    CHECK(f && !fseek(f, 0, SEEK_END));
    *n = (size_t) ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    CHECK(p && fread(p, 1, *n, f) == *n);
    p[*n] = 0;
    fclose(f);
    return p;
}

// ---- protobuf ----------------------------------------------------------------------------------

typedef struct bytes {
    const unsigned char *p, *end;
} bytes;

typedef struct field {
    uint32_t number, wire;
    uint64_t v; // varint or 64 bits
    bytes in;   // of wire type 2
} field;

static bool varint(bytes *b, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (b->p == b->end)
            return false;
        *v |= (uint64_t) (*b->p & 0x7f) << shift;
        if (!(*b->p++ & 0x80))
            return true;
    }
    return false;
}

// 1: a field, 0: the end, -1: malformed
static int next(bytes *b, field *f)
{
    uint64_t v;
    if (b->p == b->end)
        return 0;
    if (!varint(b, &v))
        return -1;
    *f = (field){ .number = (uint32_t) (v >> 3), .wire = v & 7 };
    if (f->wire == 0)
        return varint(b, &f->v) ? 1 : -1;
    if (f->wire == 1) {
        if (b->end - b->p < 8)
            return -1;
        for (int i = 0; i < 8; i++)
            f->v |= (uint64_t) *b->p++ << (8 * i);
        return 1;
    }
    if (f->wire != 2 || !varint(b, &v) || v > (uint64_t) (b->end - b->p))
        return -1;
    f->in = (bytes){ b->p, b->p + v };
    b->p += v;
    return 1;
}

// next() of what has to be well formed
static bool each(bytes *b, field *f)
{
    const int is = next(b, f);
    CHECK(is >= 0);
    return is;
}

static double as_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static char *text_of(bytes b)
{
    CHECK(nino_utf8_valid((const char *) b.p, (size_t) (b.end - b.p)));
    return strndup((const char *) b.p, (size_t) (b.end - b.p));
}

// ---- traces ------------------------------------------------------------------------------------

typedef struct event {
    uint64_t ts, track, flow, flow_end;
    unsigned type; // 1 begin, 2 end, 3 point, 4 counter
    size_t at;     // in the file
    char *name;
    double v;
    int n_args;
} event;

typedef struct trace {
    char *dict[DICTS][MAX_IDS];
    struct {
        uint64_t uuid, last;
        char *name;
        bool is_counter, is_bytes;
        int depth;
        double v;
    } track[MAX_TRACKS];
    int n_tracks;
    uint64_t pid;
    event *e;
    size_t n, cap, packets;
    bool is_cleared, has_clock;
} trace;

static void trace_free(trace *t)
{
    for (int d = 0; d < DICTS; d++)
        for (int i = 0; i < MAX_IDS; i++)
            free(t->dict[d][i]);
    for (int i = 0; i < t->n_tracks; i++)
        free(t->track[i].name);
    for (size_t i = 0; i < t->n; i++)
        free(t->e[i].name);
    free(t->e);
    free(t);
}

static int find_track(const trace *t, uint64_t uuid)
{
    int i = t->n_tracks - 1;
    while (i >= 0 && t->track[i].uuid != uuid)
        i--;
    return i;
}

static const char *track_name(const trace *t, uint64_t uuid)
{
    return t->track[find_track(t, uuid)].name;
}

static void take_interned(trace *t, bytes b)
{
    static const uint32_t fields[DICTS] = { 1, 2, 3, 29 };
    field f, g;
    while (each(&b, &f)) {
        int d = 0;
        while (d < DICTS && fields[d] != f.number)
            d++;
        CHECK(d < DICTS && f.wire == 2);
        uint64_t id = 0;
        char *text = NULL;
        while (each(&f.in, &g))
            if (g.number == 1)
                id = g.v;
            else if (g.number == 2)
                text = text_of(g.in);
        CHECK(id && id < MAX_IDS && text && *text && !t->dict[d][id]); // once
        t->dict[d][id] = text;
    }
}

static void take_track(trace *t, bytes b)
{
    field f, g;
    uint64_t uuid = 0, parent = 0;
    CHECK(t->n_tracks < MAX_TRACKS);
    const int k = t->n_tracks;
    while (each(&b, &f))
        switch (f.number) {
        case 1: uuid = f.v; break;
        case 2: t->track[k].name = text_of(f.in); break;
        case 3:
            while (each(&f.in, &g)) {
                if (g.number == 1)
                    t->pid = g.v;
                if (g.number == 6)
                    t->track[k].name = text_of(g.in);
            }
            break;
        case 5: parent = f.v; break;
        case 8:
            t->track[k].is_counter = true;
            while (each(&f.in, &g))
                t->track[k].is_bytes = g.number == 3 && g.v == 3;
            break;
        case 11: CHECK(k == 0 && f.v == 3); break;
        case 12: break;
        default: CHECK(!"a field of a track that is not known");
        }
    CHECK(uuid && find_track(t, uuid) < 0 && t->track[k].name && *t->track[k].name);
    CHECK(k ? parent == t->track[0].uuid : !parent && t->pid == (uint64_t) getpid());
    t->track[k].uuid = uuid;
    t->n_tracks++;
}

static char *told(const trace *t, int d, uint64_t id)
{
    CHECK(id && id < MAX_IDS && t->dict[d][id]);
    return t->dict[d][id];
}

static void take_annotation(const trace *t, bytes b)
{
    field f;
    int keys = 0, values = 0;
    while (each(&b, &f))
        switch (f.number) {
        case 1:
            told(t, 2, f.v);
            keys++;
            break;
        case 3:
        case 4:
            CHECK(f.wire == 0);
            values++;
            break;
        case 5:
            CHECK(f.wire == 1 && isfinite(as_double(f.v)));
            values++;
            break;
        case 6:
            CHECK(f.wire == 2 && f.in.p == f.in.end);
            values++;
            break; // only "" is not interned
        case 17:
            told(t, 3, f.v);
            values++;
            break;
        default: CHECK(!"a field of an annotation that is not known");
        }
    CHECK(keys == 1 && values == 1);
}

static void take_event(trace *t, bytes b, uint64_t ts)
{
    if (t->n == t->cap) {
        t->cap = t->cap * 2 + 256;
        CHECK((t->e = realloc(t->e, t->cap * sizeof(*t->e))));
    }
    event *e = &t->e[t->n];
    *e = (event){ .ts = ts, .at = t->n, .v = (double) NAN };
    t->n++;
    field f;
    while (each(&b, &f))
        switch (f.number) {
        case 3: told(t, 0, f.v); break;
        case 4:
            take_annotation(t, f.in);
            e->n_args++;
            break;
        case 9: e->type = (unsigned) f.v; break;
        case 10: e->name = strdup(told(t, 1, f.v)); break;
        case 11: e->track = f.v; break;
        case 23: e->name = text_of(f.in); break;
        case 30: e->v = (double) (int64_t) f.v; break;
        case 44: e->v = as_double(f.v); break;
        case 47:
            CHECK(f.wire == 1);
            e->flow = f.v;
            break;
        case 48:
            CHECK(f.wire == 1);
            e->flow_end = f.v;
            break;
        default: CHECK(!"a field of an event that is not known");
        }
    const int k = find_track(t, e->track);
    CHECK(k > 0 && ts && e->type >= 1 && e->type <= 4);
    CHECK(t->track[k].is_counter == (e->type == 4) && isfinite(e->v) == (e->type == 4));
    CHECK(!e->name == (e->type == 2 || e->type == 4));
    if (e->flow) // its time is that of the launch, told when the kernel has ended
        return;
    CHECK(ts >= t->track[k].last);
    t->track[k].last = ts;
    t->track[k].depth += e->type == 1 ? 1 : e->type == 2 ? -1 : 0;
    CHECK(t->track[k].depth >= 0);
    CHECK(t->track[k].depth <= 1 || strncmp(t->track[k].name, "queue", 5)); // no overlap
    CHECK(e->type != 4 || e->v != t->track[k].v || !e->v);                  // only what changed
    t->track[k].v = e->type == 4 ? e->v : 0;
}

static void take_packet(trace *t, bytes b)
{
    field f, g, h;
    uint64_t ts = 0, sequence = 0, flags = 0;
    bytes of_event = { 0 }, of_track = { 0 };
    while (each(&b, &f))
        switch (f.number) {
        case 6:
            while (each(&f.in, &g)) {
                if (g.number == 2)
                    t->has_clock = g.v == 3;
                else
                    while (each(&g.in, &h))
                        CHECK(h.number != 1 || h.v == 3);
            }
            break;
        case 8: ts = f.v; break;
        case 10: sequence = f.v; break;
        case 11: of_event = f.in; break;
        case 12: take_interned(t, f.in); break;
        case 13: flags = f.v; break;
        case 59:
            while (each(&f.in, &g))
                CHECK(g.number == 58 && g.v == 3 && !t->is_cleared);
            break;
        case 60: of_track = f.in; break;
        case 87: CHECK(f.v == 1 && !t->is_cleared); break;
        default: CHECK(!"a field of a packet that is not known");
        }
    CHECK(sequence == 1 && !(of_event.p && of_track.p));
    CHECK(t->has_clock && (t->packets == 0 || flags == (t->packets == 1 ? 1 : 2)));
    t->is_cleared |= flags & 1;
    if (of_track.p)
        take_track(t, of_track);
    if (of_event.p)
        take_event(t, of_event, ts);
    t->packets++;
}

// A whole file, or one that was cut in or after its last packet.
static trace *read_bytes(const char *p, size_t n, bool is_cut)
{
    trace *t = calloc(1, sizeof(*t));
    CHECK(t);
    bytes b = { (const unsigned char *) p, (const unsigned char *) p + n };
    field f;
    int is;
    while ((is = next(&b, &f)) > 0) {
        CHECK(f.number == 1 && f.wire == 2);
        take_packet(t, f.in);
    }
    CHECK(!is || is_cut);
    for (int i = 0; i < t->n_tracks; i++)
        CHECK(is_cut || !t->track[i].depth);
    return t;
}

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;
    return x->ts != y->ts ? (x->ts > y->ts) - (x->ts < y->ts) : (x->at > y->at) - (x->at < y->at);
}

// As a reader sees it, who sorts by time: arrows begin inside a scope and end at a slice, once.
static size_t check_flows(trace *t)
{
    size_t starts = 0, ends = 0;
    unsigned char *seen = calloc(t->n + 2, 1);
    if (t->n)
        qsort(t->e, t->n, sizeof(*t->e), by_time);
    for (int k = 0; k < t->n_tracks; k++)
        t->track[k].depth = 0;
    for (size_t i = 0; i < t->n; i++) {
        const event *e = &t->e[i];
        const int k = find_track(t, e->track);
        t->track[k].depth += e->type == 1 ? 1 : e->type == 2 ? -1 : 0;
        CHECK(t->track[k].depth >= 0 && e->flow <= t->n && e->flow_end <= t->n);
        if (e->flow) {
            CHECK(e->type == 3 && t->track[k].depth >= 1 && !seen[e->flow]++);
            CHECK_STR(e->name, "enqueue");
            starts++;
        }
        if (e->flow_end) {
            CHECK(e->type == 1 && seen[e->flow_end]++ == 1);
            CHECK(!strncmp(t->track[k].name, "queue", 5));
            ends++;
        }
    }
    CHECK(starts == ends);
    free(seen);
    return starts;
}

static void write_as(const char *name, const nino_event *e, size_t n)
{
    nino_trace *t = nino_trace_create(path_of(name), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    nino_trace_add(t, e, n, name_of, NULL);
    CHECK_OK(nino_trace_finish(&t, &err), err);
}

static size_t count_text(const char *all, const char *text)
{
    size_t n = 0;
    for (const char *p = all; (p = strstr(p, text)); p++)
        n++;
    return n;
}

static size_t count_type(const trace *t, unsigned type)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->e[i].type == type;
    return n;
}

static const event *find_event(const trace *t, unsigned type, const char *track, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->e[i].type == type && !strcmp(track_name(t, t->e[i].track), track) &&
            (!name || !strcmp(t->e[i].name, name)))
            return &t->e[i];
    return NULL;
}

// The time of a member in nanoseconds.
static uint64_t time_of(const char *line, const char *key)
{
    const char *p = strstr(line, key);
    CHECK(p);
    return (uint64_t) llround(strtod(p + strlen(key), NULL) * 1000);
}

// Slices begin and end when those of the Chrome trace do, in the same order.
static void compare_slices(const trace *t, const char *json)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *track = track_name(t, t->e[i].track);
        if (t->e[i].type != 1 || (strncmp(track, "queue", 5) && !strstr(track, "transfers")))
            continue;
        CHECK((json = strstr(json, "\"ph\":\"X\"")) && i + 1 < t->n);
        CHECK(t->e[i].ts == time_of(json, "\"ts\":") && t->e[i + 1].track == t->e[i].track);
        CHECK(t->e[i + 1].type == 2 && t->e[i + 1].ts - t->e[i].ts == time_of(json, "\"dur\":"));
        json++;
    }
    CHECK(!strstr(json, "\"ph\":\"X\""));
}

// Writes the records in both forms, reads the one and compares it with the text of the other.
static trace *both_forms(const nino_event *e, size_t n)
{
    size_t len;
    write_as("b.pftrace", e, n);
    write_as("b.json", e, n);
    char *file = slurp("b.pftrace", &len);
    trace *t = read_bytes(file, len, false);
    free(file);
    file = slurp("b.json", &len);
    compare_slices(t, file);
    const size_t flows = check_flows(t);
    CHECK(flows == count_text(file, "\"ph\":\"s\""));
    CHECK(count_type(t, 1) == count_type(t, 2));
    CHECK(count_type(t, 1) == count_text(file, "\"ph\":\"X\"") + count_text(file, "\"ph\":\"B\""));
    CHECK(count_type(t, 3) == count_text(file, "\"ph\":\"i\"") + flows);
    size_t tracks = 1;
    for (int i = 1; i < t->n_tracks; i++) {
        char name[100];
        snprintf(name, sizeof(name), "\"thread_name\",\"args\":{\"name\":\"%s\"", t->track[i].name);
        tracks += t->track[i].is_counter || count_text(file, name) == 1;
    }
    CHECK((size_t) t->n_tracks == tracks);
    free(file);
    return t;
}

// ---- tests -------------------------------------------------------------------------------------

static void test_run(void)
{
    nino_event e[64];
    const size_t n = a_run(e);
    trace *t = both_forms(e, n);
    const event *node = find_event(t, 1, "node", "1 \"A\\B\" \n");
    const event *conv = find_event(t, 1, "queue 0", "conv2d");
    CHECK(node && node->ts == 1100 && conv && conv->ts == 1350 && conv->flow_end);
    CHECK(conv->n_args == 13 && node->n_args == 2);
    CHECK(find_event(t, 3, "messages", "out/x.png")->ts == 2300);
    CHECK(find_event(t, 1, "thread 2 transfers", "pread")->ts == 2100);
    CHECK(check_flows(t) == 4);
    // what changed, in the unit of the counter; NaN is no value
    size_t in_use = 0;
    double last = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->e[i].type == 4 && !strcmp(track_name(t, t->e[i].track), "pool: in_use")) {
            in_use++;
            last = t->e[i].v;
        }
    CHECK(in_use == 3 && last == 256);
    CHECK(find_event(t, 4, "pool bytes: activation", NULL)->v == 512);
    CHECK(find_event(t, 4, "GPU clock MHz", NULL)->v == 2900 &&
          !find_event(t, 4, "GPU busy %", NULL));
    for (int i = 0; i < t->n_tracks; i++)
        if (t->track[i].is_counter)
            CHECK(t->track[i].is_bytes == !!strncmp(t->track[i].name, "GPU", 3));
    trace_free(t);

    for (size_t skip = 0; skip < n; skip++) { // every record lost, and every tail
        nino_event part[64];
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (i != skip)
                part[k++] = e[i];
        trace_free(both_forms(part, k));
        trace_free(both_forms(e, skip));
        trace_free(both_forms(e + skip, n - skip));
    }
    // a time that nobody knows does not stretch the trace, fractions stay, and text is UTF-8
    const nino_event odd[] = { { .t_ns = 5000, .kind = NINO_EV_NOTE, .name = 12 },
                               { .kind = NINO_EV_LOST, .u.lost = 7 },
                               { .t_ns = 6000,
                                 .kind = NINO_EV_DEVICE,
                                 .u.sample = { { NINO_COUNTER_GPU_BUSY, NINO_COUNTER_GPU_CLOCK },
                                               { 12.5, NAN } } } };
    t = both_forms(odd, 3);
    CHECK(find_event(t, 3, "messages", "bad \xef\xbf\xbd byte"));
    CHECK(find_event(t, 3, "messages", "lost records")->ts == 5000);
    CHECK(find_event(t, 4, "GPU busy %", NULL)->v == 12.5);
    trace_free(t);
}

static void test_long(void)
{
    enum { N = 30000 };
    nino_event *all = calloc(N, sizeof(*all));
    uint64_t seed = 1, now = 1000000;
    uint32_t id = 1, stack[8];
    int depth = 0;
    size_t n = 0;
    CHECK(all);
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned r = (unsigned) (seed >> 40);
        nino_event e = kernel(now - r % 3000, r % 5000, depth ? stack[depth - 1] : 0);
        e.track = (uint16_t) (256 + r % 2);
        e.u.kernel.queued_us = (uint16_t) (r % 5);
        if (r % 4 == 1 && depth < 8) {
            e = scope(now, (nino_event_kind) (1 + r % 5), 3, id, depth ? stack[depth - 1] : 0);
            stack[depth++] = id++;
        } else if (r % 4 == 2 && depth) {
            e = scope(now, NINO_EV_END, 0, stack[--depth], 0);
        } else if (r % 4 == 3) {
            e = memory(now, r % 100 * 256);
        }
        now += r % 700;
        if (r % 97)
            all[n++] = e;
    }
    trace *t = both_forms(all, n);
    CHECK(count_type(t, 1) > 9000 && check_flows(t) > 1000);
    trace_free(t);
    free(all);
}

// Whatever was written before a cut is there; a file grows while it is written.
static void test_cut(void)
{
    nino_event e[64];
    const size_t n = a_run(e);
    size_t len, packets = 0;
    write_as("a.pftrace", e, n);
    char *file = slurp("a.pftrace", &len);
    for (size_t cut = 0; cut <= len; cut++) {
        trace *t = read_bytes(file, cut, true);
        CHECK(t->packets == packets || t->packets == packets + 1);
        packets = t->packets;
        trace_free(t);
    }
    CHECK(packets > n);
    char cmd[300];
    write_as("a.pftrace.gz", e, n);
    snprintf(cmd, sizeof(cmd), "gzip -dc '%s/a.pftrace.gz' | cmp - '%s/a.pftrace'", dir, dir);
    CHECK(system(cmd) == 0);
    free(file);

    nino_trace *t = nino_trace_create(path_of("live.pftrace"), &err);
    CHECK(t && access(path_of("live.pftrace"), F_OK) == 0);
    for (uint32_t i = 0; i < 2000; i++) {
        nino_event k = kernel(10000 + i * 1000, 500, 0);
        nino_trace_add(t, &k, 1, name_of, NULL);
    }
    file = slurp("live.pftrace", &len);
    trace *part = read_bytes(file, len, false); // packets are written whole
    CHECK(count_type(part, 1) > 500);
    trace_free(part);
    free(file);
    nino_trace_abort(&t);
    CHECK(access(path_of("live.pftrace"), F_OK) != 0);

    // written only: those who try to read one are told
    CHECK(nino_trace_check(path_of("a.pftrace"), NULL, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(nino_trace_load(path_of("a.pftrace.gz"), NULL, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(nino_trace_load(path_of("none.pftrace"), NULL, &err) == NINO_ERR_MISSING);
    CHECK(!nino_trace_create(path_of("a.pftrace/t.pftrace"), &err) &&
          strstr(err.where, "a.pftrace/t.pftrace"));
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/nino-pftrace-XXXXXX");
    CHECK(mkdtemp(dir));
    test_run();
    test_long();
    test_cut();
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
    return system(cmd) != 0;
}
