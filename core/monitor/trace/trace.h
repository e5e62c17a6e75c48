// Internal: what the writer and the readers of Chrome trace files share.
#pragma once
#include "core/base/json.h"
#include <ninodes/monitor.h>

// Track numbers (tid): 8 for a thread (the kinds of scopes, 1 to 5, then these), 16 for a queue.
enum {
    TID_SAMPLES = 0,
    TID_TRANSFER = 6,
    TID_MESSAGE = 7,
    TID_LANES = 16, // of one queue: kernels that ran side by side
    TID_QUEUES = 1 << 16
};

// What stands for a local size that was left to the driver.
#define TRACE_DRIVERS_CHOICE "driver's choice"

// Reads a trace (plain or .gz) and finds its array of events. *doc is the caller's.
nino_status nino_trace_parse(const char *path, nino_json_doc **doc, const nino_json **events,
                             nino_error *err);
typedef void (*nino_trace_sink)(void *priv, const nino_event *ev, size_t n,
                                const char *(*name)(void *name_priv, uint32_t id), void *name_priv);
// Records on their way to a sink, some hundred at a time.
typedef struct nino_trace_batch {
    nino_trace_sink sink;
    void *priv;
    const char *(*name)(void *name_priv, uint32_t id);
    void *name_priv;
    nino_event ev[256];
    size_t n;
} nino_trace_batch;
static inline void nino_trace_batch_flush(nino_trace_batch *b)
{
    if (b->n)
        b->sink(b->priv, b->ev, b->n, b->name, b->name_priv);
    b->n = 0;
}
static inline void nino_trace_batch_add(nino_trace_batch *b, nino_event ev)
{
    b->ev[b->n++] = ev;
    if (b->n == sizeof(b->ev) / sizeof(b->ev[0]))
        nino_trace_batch_flush(b);
}
void nino_trace_batch_sample(nino_trace_batch *b, const nino_sample *s, uint16_t track);
// What zero meant in files older than the table of counters: not known.
void nino_trace_zeros(nino_sample *s);
// A record of such a file of the own form; a sample becomes the records of today.
void nino_trace_add_old(nino_trace_batch *b, const nino_event *ev);
// Whether the file was written by another program.
bool nino_trace_is_foreign(const nino_json_doc *doc, const nino_json *events);
// Gives the records that such a file's events amount to. Errors: NINO_ERR_FORMAT, kind "schema":
// nothing of use in it; NINO_ERR_NOMEM.
nino_status nino_trace_foreign(const nino_json *events, const char *path, nino_trace_sink sink,
                               void *priv, nino_error *err);
// A time in microseconds as nanoseconds; false: not a number, or out of range.
bool nino_trace_time(const nino_json *us, int64_t *ns);

// A field of a point record that is no sample, which is kept in the arguments of an instant event
// of category nino_trace_kind_name(kind).
typedef enum nino_trace_type {
    NINO_TRACE_U8,
    NINO_TRACE_U16,
    NINO_TRACE_U32,
    NINO_TRACE_U64,
    NINO_TRACE_F32,
    NINO_TRACE_F64
} nino_trace_type;

typedef struct nino_trace_field {
    uint8_t kind, type, offset;
    bool is_nan; // not written: NaN, else 0
    const char *key;
} nino_trace_field;

extern const nino_trace_field nino_trace_fields[]; // ends with a NULL key
const char *nino_trace_kind_name(uint8_t kind);    // "" for kinds that are no points
double nino_trace_get(const nino_event *ev, const nino_trace_field *f);
void nino_trace_set(nino_event *ev, const nino_trace_field *f, double v);
