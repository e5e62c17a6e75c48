// Internal to core/monitor/trace: files of traces that other programs read, and what a form of them
// is.
#pragma once
#include "core/base/buf.h"
#include "core/base/file.h"
#include <zlib.h>

typedef struct nino_trace_out nino_trace_out;

// One thing on a track. Of an item with ph 'C' every argument is the value of a series.
typedef struct nino_trace_item {
    char ph;             // as in Chrome traces: B, E: a scope, X: a slice, i: a point, C: a counter
    bool is_bytes;       // C: of all its values
    uint32_t tid;        // but for C
    uint32_t from_tid;   // X, with a flow
    uint64_t ns, dur_ns; // dur_ns: X
    uint64_t flow;       // X: the number of an arrow from (from_tid, from_ns) to its begin; 0: none
    uint64_t from_ns;    // at most ns
    const char *name;    // but for E
    const char *cat;     // may be NULL
} nino_trace_item;

// The calls between begin and end are about the item of begin; its texts live until begin
// returns, but for C those of the item and of its arguments as long as the file. A track
// is declared before its first item. Numbers are finite.
typedef struct nino_trace_form {
    void (*start)(nino_trace_out *o, uint64_t ns); // of the first record
    void (*track)(nino_trace_out *o, uint32_t tid, const char *name);
    void (*begin)(nino_trace_out *o, const nino_trace_item *it);
    void (*number)(nino_trace_out *o, const char *key, double v);
    void (*text)(nino_trace_out *o, const char *key, const char *text);
    void (*end)(nino_trace_out *o);
    void (*finish)(nino_trace_out *o, uint64_t lost);
    bool (*init)(nino_trace_out *o);    // makes o->state; false: no memory
    void (*release)(nino_trace_out *o); // frees it; it may be NULL
    bool is_cut_anywhere;               // what is there of an unfinished file can be read
} nino_trace_form;

extern const nino_trace_form nino_trace_json, nino_trace_pftrace;

struct nino_trace_out {
    const nino_trace_form *form;
    void *state; // of the form
    nino_buf buf;
    nino_status st; // sticky
    nino_error err;
    int pid;
    // of trace_out.c
    nino_file_writer *w;
    bool is_gz, is_live; // live: readable while it is written
    uint64_t flushed_ns;
    z_stream z;
};

bool nino_trace_ends_in(const char *path, const char *suffix);
// The ending of the name decides on form and compression. is_whole: the file appears once it is finished, also where
// the form can be read while it grows.
nino_trace_out *nino_trace_out_create(const char *path, bool is_whole, nino_error *err);
// Writes what is in buf to the file, unless `now` is false and there is little of it.
void nino_trace_out_flush(nino_trace_out *o, bool now);
// To be called now and then: makes a file that can be read while it grows up to date.
void nino_trace_out_pulse(nino_trace_out *o);
nino_status nino_trace_out_finish(nino_trace_out **o, nino_error *err);
void nino_trace_out_abort(nino_trace_out **o); // removes the file; NULL-safe
