// Status names and the two functions that fill a nino_error.
#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef nino_fail // as the analyzer sees them
#undef nino_fail_kind

static const char *const names[] = {
    "ok",      "nomem",  "arg",       "io",      "format",      "range",
    "unknown", "device", "cancelled", "missing", "unsupported",
};

const char *nino_status_name(nino_status st)
{
    const int i = -(int) st;
    return i >= 0 && i < (int) (sizeof(names) / sizeof(names[0])) ? names[i] : "?";
}

__attribute__((format(printf, 5, 0))) static void fill(nino_error *err, nino_status code,
                                                       const char *kind, const char *where,
                                                       const char *fmt, va_list ap)
{
    err->code = code;
    err->kind = kind;
    snprintf(err->where, sizeof(err->where), "%s", where ? where : "");
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    // one line, and nothing a terminal would obey
    nino_utf8_printable(err->msg, sizeof(err->msg), err->msg, strlen(err->msg));
    nino_utf8_printable(err->where, sizeof(err->where), err->where, strlen(err->where));
}

nino_status nino_fail(nino_error *err, nino_status code, const char *where, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, code, nino_status_name(code), where, fmt, ap);
        va_end(ap);
    }
    return code;
}

nino_status nino_fail_kind(nino_error *err, nino_status code, const char *kind, const char *where,
                           const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, code, kind, where, fmt, ap);
        va_end(ap);
    }
    return code;
}

#ifndef NINO_VERSION
#define NINO_VERSION "0.1.0"
#endif
const char *nino_version(void) { return NINO_VERSION; }
