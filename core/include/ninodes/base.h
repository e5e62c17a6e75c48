// Status codes, errors, log levels, export macros. Included by every other public header.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NINO_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define NINO_BEGIN extern "C" {
#define NINO_END }
#else
#define NINO_BEGIN
#define NINO_END
#endif

NINO_BEGIN

typedef enum nino_status {
    NINO_OK = 0,
    NINO_ERR_NOMEM = -1,       // host or device allocation failed, or the budget is too small
    NINO_ERR_ARG = -2,         // caller broke a documented precondition
    NINO_ERR_IO = -3,          // file unreadable, unwritable or short
    NINO_ERR_FORMAT = -4,      // file or JSON is malformed
    NINO_ERR_RANGE = -5,       // parameter outside its declared range
    NINO_ERR_UNKNOWN = -6,     // no node, parameter or device of that name
    NINO_ERR_DEVICE = -7,      // OpenCL call or kernel build failed
    NINO_ERR_CANCELLED = -8,   // nino_job_cancel() was called
    NINO_ERR_MISSING = -9,     // file or model does not exist in any searched folder
    NINO_ERR_UNSUPPORTED = -10 // well-formed, but not something this version can do
} nino_status;

// Filled by the function that failed. Never allocated: nothing to free, works out of memory.
// Every `nino_error *` parameter may be NULL.
typedef struct nino_error {
    nino_status code;
    const char *kind; // static string, finer than code: "truncated", "overflow", ... ; never NULL
                      // once filled
    char where[192];  // the user's thing: "ksampler.steps", "vae.safetensors: conv_in.weight" or ""
    char msg[320];    // one line, no trailing newline or full stop
} nino_error;

// Short stable name of a status, e.g. "range". Never NULL.
NINO_API const char *nino_status_name(nino_status st);

typedef enum nino_log_level {
    NINO_LOG_ERROR,
    NINO_LOG_WARN,
    NINO_LOG_INFO,
    NINO_LOG_DEBUG
} nino_log_level;

// Called from any thread; `line` has no newline and lives until the call returns.
typedef void (*nino_log_fn)(void *priv, nino_log_level level, const char *line);

// The environment variables the library reads, once per process; ends with a NULL name. For help
// pages.
typedef struct nino_variable {
    const char *name, *def, *help;
    bool is_setting; // ninodes.conf may set it: its name without NINODES_, in small letters
} nino_variable;
NINO_API const nino_variable *nino_variables(void);
// The first line of a settings file that could not be used, with its place; NULL: none.
NINO_API const char *nino_settings_problem(void);

// Version of the library, e.g. "0.1.0".
NINO_API const char *nino_version(void);

NINO_END
