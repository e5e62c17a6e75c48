// Internal: reading Chrome trace files back.
#pragma once
#include "core/base/json.h"

// Reads a trace (plain or .gz) and finds its array of events. *doc is the caller's.
nino_status nino_trace_parse(const char *path, nino_json_doc **doc, const nino_json **events,
                             nino_error *err);
// A time in microseconds as nanoseconds; false: not a number, or out of range.
bool nino_trace_time(const nino_json *us, int64_t *ns);
