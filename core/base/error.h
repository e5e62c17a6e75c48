// Internal: report a failure and leave through the `end:` label.
#pragma once
#include <ninodes/base.h>

// Fills *err (if any) and returns `code`, so that: return nino_fail(err, NINO_ERR_IO, path, "...");
// err->kind becomes nino_status_name(code). The innermost cause wins: callers pass on, never
// rewrite.
__attribute__((format(printf, 4, 5))) nino_status
nino_fail(nino_error *err, nino_status code, const char *where, const char *fmt, ...);

// The same with an explicit kind, a static lower-case word such as "truncated" or "overflow"
// (the classes of malformed files: truncated magic version limit syntax schema range overflow dtype
// shape dup name graph value unknown path io bomb model).
__attribute__((format(printf, 5, 6))) nino_status nino_fail_kind(nino_error *err, nino_status code,
                                                                 const char *kind,
                                                                 const char *where, const char *fmt,
                                                                 ...);

// What is said in the language of who asked for it; t may be NULL. `make pot` finds the text, and those marked N_(), which are
// translated where they are shown.
__attribute__((format_arg(2))) static inline const char *nino_tr(nino_translate_fn t,
                                                                 const char *text)
{
    return t ? t(text) : text;
}
#ifndef N_
#define N_(text) text
#endif

#ifdef __clang_analyzer__ // cannot look into error.c; a failure is never NINO_OK
#define nino_fail(err, code, ...) (nino_fail(err, code, __VA_ARGS__), (code))
#define nino_fail_kind(err, code, ...) (nino_fail_kind(err, code, __VA_ARGS__), (code))
#endif
