// Traces in Perfetto's own form: a sequence of protobuf messages (TracePacket), of which a file
// that was cut loses only the last. Names and texts are told once (interned) and numbered after
// that.
//
// Every track is a named child of the process: the kinds of scopes of a thread are tracks of their
// own, which are no threads of the system. Times are CLOCK_MONOTONIC, which the trace declares as
// its clock. An arrow begins at a point "enqueue" inside the scope, since arrows bind to events.
#include "core/base/utf8.h"
#include "core/event/ring.h"
#include "core/monitor/trace/trace.h"
#include "core/monitor/trace/trace_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, MAX_COUNTERS = NINO_COUNTER_MAX + 16 };

// Field numbers of Perfetto's messages (protos/perfetto/trace), as far as they are written here.
enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_IS_FIRST = 87,

    FLAG_CLEARED = 1, // nothing that was interned before is valid
    FLAG_NEEDS_STATE = 2,

    SNAPSHOT_CLOCK = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_NS = 2,
    CLOCK_OF_TRACE = 3, // MONOTONIC

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_ORDER = 11,
    TRACK_RANK = 12,
    ORDER_BY_RANK = 3,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    PROCESS_LABEL = 8,
    COUNTER_UNIT = 3,
    UNIT_BYTES = 3,

    EVENT_CATEGORY_IID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNT = 30,
    EVENT_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,

    ANNOTATION_NAME_IID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
    ANNOTATION_TEXT_IID = 17,

    ENTRY_IID = 1,
    ENTRY_TEXT = 2,

    SEQUENCE = 1 // the one that all packets belong to
};

// Numbers of tracks: those of Chrome JSON (at most 21 bits) go after the process, then counters.
enum { UUID_PROCESS = 1, UUID_TRACKS = 2, UUID_COUNTERS = 1 << 22 };

// What can be interned, each with numbers of its own, and its field in InternedData.
typedef enum dict { DICT_CATEGORY, DICT_NAME, DICT_KEY, DICT_TEXT } dict;
static const uint8_t dict_field[] = { 1, 2, 3, 29 };

typedef struct pftrace {
    nino_names *names;
    uint8_t *told; // by name: a bit for each dict
    uint32_t cap;
    nino_trace_item it;             // between begin and end
    nino_buf event, interned, part; // of the packet that is being made
    struct {
        const char *name, *key; // of trace.c, which has them as long as it lives
        double last;
    } counter[MAX_COUNTERS];
    uint32_t n_counters;
} pftrace;

static void trace_pftrace_release(nino_trace_out *o)
{
    pftrace *p = o->state;
    if (!p)
        return;
    nino_names_destroy(&p->names);
    nino_buf_release(&p->event);
    nino_buf_release(&p->interned);
    nino_buf_release(&p->part);
    free(p->told);
    free(p);
    o->state = NULL;
}

static bool trace_pftrace_init(nino_trace_out *o)
{
    pftrace *p = o->state = calloc(1, sizeof(*p));
    return p && (p->names = nino_names_create());
}

// ---- protobuf ----------------------------------------------------------------------------------

static void add_varint(nino_buf *b, uint64_t v)
{
    char out[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (char) (v | 0x80);
    out[n++] = (char) v;
    nino_buf_add(b, out, n);
}

static void add_tag(nino_buf *b, uint32_t field, unsigned wire)
{
    add_varint(b, field << 3 | wire);
}

static void add_uint(nino_buf *b, uint32_t field, uint64_t v)
{
    add_tag(b, field, WIRE_VARINT);
    add_varint(b, v);
}

static void add_fixed(nino_buf *b, uint32_t field, uint64_t v)
{
    char out[8];
    for (int i = 0; i < 8; i++)
        out[i] = (char) (v >> (8 * i));
    add_tag(b, field, WIRE_64);
    nino_buf_add(b, out, sizeof(out));
}

static void add_double(nino_buf *b, uint32_t field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    add_fixed(b, field, bits);
}

static void trace_pftrace_add_bytes(nino_buf *b, uint32_t field, const void *p, size_t n)
{
    add_tag(b, field, WIRE_BYTES);
    add_varint(b, n);
    if (n)
        nino_buf_add(b, p, n);
}

// A message that was made in `part`, which is empty again.
static void trace_pftrace_add_part(nino_buf *b, uint32_t field, nino_buf *part)
{
    trace_pftrace_add_bytes(b, field, part->data, part->len);
    b->failed |= part->failed;
    nino_buf_clear(part);
}

// What is no UTF-8 in it becomes U+FFFD, as in JSON.
static void trace_pftrace_add_text(nino_buf *b, uint32_t field, const char *s)
{
    const size_t len = strlen(s);
    nino_buf clean = { 0 };
    uint32_t cp;
    if (nino_utf8_valid(s, len)) {
        trace_pftrace_add_bytes(b, field, s, len);
        return;
    }
    for (size_t i = 0; i < len;) {
        const int n = nino_utf8_next(s + i, len - i, &cp);
        nino_buf_add(&clean, n ? s + i : "\xef\xbf\xbd", n ? (size_t) n : 3);
        i += n ? (size_t) n : 1;
    }
    trace_pftrace_add_part(b, field, &clean);
    nino_buf_release(&clean);
}

// A whole number as such where it is one: shorter, and what readers show.
static bool is_whole(double v) { return fabs(v) < 9007199254740992.0 && v == floor(v); }

// ---- packets -----------------------------------------------------------------------------------

// The number that `text` has in the dictionary, which the packet being made tells if need be; 0:
// none, the text itself has to be written.
static uint32_t trace_pftrace_intern(pftrace *p, dict d, const char *text)
{
    const uint32_t id = nino_names_add(p->names, text);
    if (!id)
        return 0;
    if (id >= p->cap) {
        const uint32_t cap = id * 2 + 256;
        uint8_t *told = realloc(p->told, cap);
        if (!told)
            return 0;
        memset(told + p->cap, 0, cap - p->cap);
        p->told = told;
        p->cap = cap;
    }
    if (!(p->told[id] & 1u << d)) {
        nino_buf entry = { 0 };
        add_uint(&entry, ENTRY_IID, id);
        trace_pftrace_add_text(&entry, ENTRY_TEXT, nino_names_text(p->names, id));
        trace_pftrace_add_part(&p->interned, dict_field[d], &entry);
        nino_buf_release(&entry);
        p->told[id] |= (uint8_t) (1u << d);
    }
    return id;
}

static void add_interned(pftrace *p, nino_buf *b, dict d, uint32_t field_iid, uint32_t field_text,
                         const char *text)
{
    const uint32_t id = trace_pftrace_intern(p, d, text);
    if (id)
        add_uint(b, field_iid, id);
    else
        trace_pftrace_add_text(b, field_text, text);
}

// Ends a packet whose other fields are in `part`: it goes to the file as a whole.
static void end_packet(nino_trace_out *o, uint32_t flags)
{
    pftrace *p = o->state;
    add_uint(&p->part, PACKET_SEQUENCE, SEQUENCE);
    if (flags)
        add_uint(&p->part, PACKET_FLAGS, flags);
    if (p->interned.len)
        trace_pftrace_add_part(&p->part, PACKET_INTERNED, &p->interned);
    trace_pftrace_add_part(&o->buf, TRACE_PACKET, &p->part);
}

static void end_event(nino_trace_out *o, uint64_t ns)
{
    pftrace *p = o->state;
    add_uint(&p->part, PACKET_TIMESTAMP, ns);
    trace_pftrace_add_part(&p->part, PACKET_EVENT, &p->event);
    end_packet(o, FLAG_NEEDS_STATE);
}

static void begin_event(pftrace *p, unsigned type, uint64_t track)
{
    add_uint(&p->event, EVENT_TYPE, type);
    add_uint(&p->event, EVENT_TRACK, track);
}

static void name_event(pftrace *p, const char *cat, const char *name)
{
    if (cat)
        add_interned(p, &p->event, DICT_CATEGORY, EVENT_CATEGORY_IID, EVENT_CATEGORY, cat);
    add_interned(p, &p->event, DICT_NAME, EVENT_NAME_IID, EVENT_NAME, name);
}

// ---- the form ----------------------------------------------------------------------------------

static void trace_pftrace_start(nino_trace_out *o, uint64_t ns)
{
    pftrace *p = o->state;
    nino_buf clock = { 0 }, snapshot = { 0 }, process = { 0 }, track = { 0 };
    char label[64];
    // one clock and no other beside it: a trace that is converted may be of another machine
    add_uint(&clock, CLOCK_ID, CLOCK_OF_TRACE);
    add_uint(&clock, CLOCK_NS, ns);
    trace_pftrace_add_part(&snapshot, SNAPSHOT_CLOCK, &clock);
    add_uint(&snapshot, SNAPSHOT_PRIMARY, CLOCK_OF_TRACE);
    trace_pftrace_add_part(&p->part, PACKET_CLOCK_SNAPSHOT, &snapshot);
    end_packet(o, 0);

    snprintf(label, sizeof(label), "ninodes %.40s", nino_version());
    add_uint(&process, PROCESS_PID, (uint64_t) o->pid);
    trace_pftrace_add_text(&process, PROCESS_NAME, "ninodes");
    trace_pftrace_add_text(&process, PROCESS_LABEL, label);
    add_uint(&track, TRACK_UUID, UUID_PROCESS);
    trace_pftrace_add_part(&track, TRACK_PROCESS, &process);
    add_uint(&track, TRACK_ORDER, ORDER_BY_RANK);
    trace_pftrace_add_part(&p->part, PACKET_TRACK, &track);
    add_uint(&clock, PACKET_CLOCK, CLOCK_OF_TRACE);
    trace_pftrace_add_part(&p->part, PACKET_DEFAULTS, &clock);
    add_uint(&p->part, PACKET_IS_FIRST, 1);
    end_packet(o, FLAG_CLEARED);
    nino_buf_release(&clock);
    nino_buf_release(&snapshot);
    nino_buf_release(&process);
    nino_buf_release(&track);
}

static void put_track(nino_trace_out *o, uint64_t uuid, const char *name, const bool *is_bytes)
{
    pftrace *p = o->state;
    nino_buf track = { 0 }, counter = { 0 };
    add_uint(&track, TRACK_UUID, uuid);
    add_uint(&track, TRACK_PARENT, UUID_PROCESS);
    trace_pftrace_add_text(&track, TRACK_NAME, name);
    add_uint(&track, TRACK_RANK, uuid);
    if (is_bytes) {
        if (*is_bytes)
            add_uint(&counter, COUNTER_UNIT, UNIT_BYTES);
        trace_pftrace_add_part(&track, TRACK_COUNTER, &counter);
    }
    trace_pftrace_add_part(&p->part, PACKET_TRACK, &track);
    end_packet(o, FLAG_NEEDS_STATE);
    nino_buf_release(&track);
    nino_buf_release(&counter);
}

static void trace_pftrace_declare_track(nino_trace_out *o, uint32_t tid, const char *name)
{
    put_track(o, UUID_TRACKS + tid, name, NULL);
}

// The place of a series of the counter, whose track is made when it is new; MAX_COUNTERS: too many.
static uint32_t find_counter(nino_trace_out *o, const char *key)
{
    pftrace *p = o->state;
    const char *name = p->it.name;
    for (uint32_t i = 0; i < p->n_counters; i++)
        if (!strcmp(p->counter[i].name, name) && !strcmp(p->counter[i].key, key))
            return i;
    if (p->n_counters == MAX_COUNTERS)
        return MAX_COUNTERS;
    char full[128];
    if (strcmp(key, "value") != 0)
        snprintf(full, sizeof(full), "%s: %s", name, key);
    else
        snprintf(full, sizeof(full), "%s", name);
    p->counter[p->n_counters].name = name;
    p->counter[p->n_counters].key = key;
    p->counter[p->n_counters].last = (double) NAN;
    put_track(o, UUID_COUNTERS + p->n_counters, full, &p->it.is_bytes);
    return p->n_counters++;
}

static void trace_pftrace_begin(nino_trace_out *o, const nino_trace_item *it)
{
    pftrace *p = o->state;
    p->it = *it;
    if (it->ph == 'C')
        return;
    if (it->flow) { // before its end, also in the file: readers keep the order of one time
        begin_event(p, TYPE_INSTANT, UUID_TRACKS + it->from_tid);
        name_event(p, "flow", "enqueue");
        add_fixed(&p->event, EVENT_FLOW, it->flow);
        end_event(o, it->from_ns);
    }
    begin_event(p,
                it->ph == 'E'   ? TYPE_END
                : it->ph == 'i' ? TYPE_INSTANT
                                : TYPE_BEGIN,
                UUID_TRACKS + it->tid);
    if (it->ph != 'E')
        name_event(p, it->cat, it->name);
    if (it->flow)
        add_fixed(&p->event, EVENT_FLOW_END, it->flow);
}

static void trace_pftrace_count(nino_trace_out *o, const char *key, double v)
{
    pftrace *p = o->state;
    const uint32_t at = find_counter(o, key);
    if (at == MAX_COUNTERS || p->counter[at].last == v) // a counter stays until it is told anew
        return;
    p->counter[at].last = v;
    begin_event(p, TYPE_COUNTER, UUID_COUNTERS + at);
    if (is_whole(v))
        add_uint(&p->event, EVENT_COUNT, (uint64_t) (int64_t) v);
    else
        add_double(&p->event, EVENT_VALUE, v);
    end_event(o, p->it.ns);
}

static void trace_pftrace_number(nino_trace_out *o, const char *key, double v)
{
    pftrace *p = o->state;
    if (p->it.ph == 'C') {
        trace_pftrace_count(o, key, v);
        return;
    }
    add_interned(p, &p->part, DICT_KEY, ANNOTATION_NAME_IID, ANNOTATION_NAME, key);
    if (!is_whole(v))
        add_double(&p->part, ANNOTATION_DOUBLE, v);
    else
        add_uint(&p->part, v < 0 ? ANNOTATION_INT : ANNOTATION_UINT, (uint64_t) (int64_t) v);
    trace_pftrace_add_part(&p->event, EVENT_ANNOTATION, &p->part);
}

static void trace_pftrace_text(nino_trace_out *o, const char *key, const char *s)
{
    pftrace *p = o->state;
    add_interned(p, &p->part, DICT_KEY, ANNOTATION_NAME_IID, ANNOTATION_NAME, key);
    add_interned(p, &p->part, DICT_TEXT, ANNOTATION_TEXT_IID, ANNOTATION_TEXT, s);
    trace_pftrace_add_part(&p->event, EVENT_ANNOTATION, &p->part);
}

static void trace_pftrace_end(nino_trace_out *o)
{
    pftrace *p = o->state;
    if (p->it.ph == 'C')
        return;
    end_event(o, p->it.ns);
    if (p->it.ph == 'X') { // nothing else on its track lies inside
        begin_event(p, TYPE_END, UUID_TRACKS + p->it.tid);
        end_event(o, p->it.ns + p->it.dur_ns);
    }
}

// A file has no end of its own; the records that were lost are points of their own.
static void trace_pftrace_finish(nino_trace_out *o, uint64_t lost) { (void) o, (void) lost; }

const nino_trace_form nino_trace_pftrace = { .init = trace_pftrace_init,
                                             .release = trace_pftrace_release,
                                             .start = trace_pftrace_start,
                                             .track = trace_pftrace_declare_track,
                                             .begin = trace_pftrace_begin,
                                             .number = trace_pftrace_number,
                                             .text = trace_pftrace_text,
                                             .end = trace_pftrace_end,
                                             .finish = trace_pftrace_finish,
                                             .is_cut_anywhere = true };
