// Traces as Chrome JSON (chrome://tracing, Perfetto, speedscope): an object for each event.
#include "core/monitor/trace/trace.h"
#include "core/monitor/trace/trace_out.h"

#include <stdlib.h>
#include <string.h>

typedef struct json {
    bool has_events, has_args;
    nino_trace_item it; // between begin and end
} json;

static bool trace_json_init(nino_trace_out *o)
{
    return (o->state = calloc(1, sizeof(json))) != NULL;
}

static void trace_json_release(nino_trace_out *o) { free(o->state); }

static void trace_json_add_ns(nino_trace_out *o, const char *key, uint64_t ns)
{
    nino_buf_addf(&o->buf, ",\"%s\":%llu.%03u", key, (unsigned long long) (ns / 1000),
                  (unsigned) (ns % 1000));
}

static void trace_json_add_string(nino_trace_out *o, const char *key, const char *text)
{
    nino_buf_addf(&o->buf, "\"%s\":", key);
    nino_buf_add_json_string(&o->buf, text, strlen(text));
}

// Begins an event object up to its time; the caller adds members and the brace.
static void open_event(nino_trace_out *o, char ph, uint32_t tid, uint64_t ns, const char *name)
{
    json *j = o->state;
    nino_buf_adds(&o->buf, j->has_events ? ",\n" : "\n");
    j->has_events = true;
    nino_buf_addf(&o->buf, "{\"ph\":\"%c\",\"pid\":%d,\"tid\":%u", ph, o->pid, tid);
    if (name) {
        nino_buf_addc(&o->buf, ',');
        trace_json_add_string(o, "name", name);
    }
    if (ph != 'M')
        trace_json_add_ns(o, "ts", ns);
}

static void trace_json_metadata(nino_trace_out *o, const char *what, uint32_t tid, const char *name)
{
    open_event(o, 'M', tid, 0, what);
    nino_buf_adds(&o->buf, ",\"args\":{");
    trace_json_add_string(o, "name", name);
    nino_buf_adds(&o->buf, "}}");
}

static void trace_json_start(nino_trace_out *o, uint64_t ns)
{
    (void) ns;
    nino_buf_adds(&o->buf, "{\"traceEvents\":[");
    trace_json_metadata(o, "process_name", 0, "ninodes");
}

static void trace_json_declare_track(nino_trace_out *o, uint32_t tid, const char *name)
{
    trace_json_metadata(o, "thread_name", tid, name);
    open_event(o, 'M', tid, 0, "thread_sort_index");
    nino_buf_addf(&o->buf, ",\"args\":{\"sort_index\":%u}}", tid);
}

static void trace_json_begin(nino_trace_out *o, const nino_trace_item *it)
{
    json *j = o->state;
    j->it = *it;
    open_event(o, it->ph, it->tid, it->ns, it->name);
    if (it->ph == 'X')
        trace_json_add_ns(o, "dur", it->dur_ns);
    if (it->ph == 'i')
        nino_buf_adds(&o->buf, ",\"s\":\"t\"");
    if (it->cat)
        nino_buf_addf(&o->buf, ",\"cat\":\"%s\"", it->cat);
    if (it->ph != 'E')
        nino_buf_adds(&o->buf, ",\"args\":{");
    j->has_args = false;
}

static void next_arg(nino_trace_out *o)
{
    json *j = o->state;
    if (j->has_args)
        nino_buf_addc(&o->buf, ',');
    else if (j->it.ph == 'E')
        nino_buf_adds(&o->buf, ",\"args\":{");
    j->has_args = true;
}

static void trace_json_number(nino_trace_out *o, const char *key, double v)
{
    next_arg(o);
    nino_buf_addf(&o->buf, "\"%s\":%.17g", key, v);
}

static void trace_json_text(nino_trace_out *o, const char *key, const char *s)
{
    next_arg(o);
    trace_json_add_string(o, key, s);
}

static void trace_json_end(nino_trace_out *o)
{
    const json *j = o->state;
    const nino_trace_item *it = &j->it;
    nino_buf_adds(&o->buf, it->ph != 'E' || j->has_args ? "}}" : "}");
    if (!it->flow)
        return;
    open_event(o, 's', it->from_tid, it->from_ns, "enqueue");
    nino_buf_addf(&o->buf, ",\"cat\":\"flow\",\"id\":%llu}", (unsigned long long) it->flow);
    open_event(o, 'f', it->tid, it->ns, "enqueue");
    nino_buf_addf(&o->buf, ",\"cat\":\"flow\",\"bp\":\"e\",\"id\":%llu}",
                  (unsigned long long) it->flow);
}

static void trace_json_finish(nino_trace_out *o, uint64_t lost)
{
    nino_buf_addf(&o->buf,
                  "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"ninodes %s\","
                  "\"clock\":\"CLOCK_MONOTONIC\",\"lost_records\":%llu}}\n",
                  nino_version(), (unsigned long long) lost);
}

const nino_trace_form nino_trace_json = { .init = trace_json_init,
                                          .release = trace_json_release,
                                          .start = trace_json_start,
                                          .track = trace_json_declare_track,
                                          .begin = trace_json_begin,
                                          .number = trace_json_number,
                                          .text = trace_json_text,
                                          .end = trace_json_end,
                                          .finish = trace_json_finish };
