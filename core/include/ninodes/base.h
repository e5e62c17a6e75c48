// What every other public header needs: status codes, errors, messages, versions.
//
// Threads: everything here may be called from any thread.
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
    // An allocation of the host or the device failed, or the memory budget is too small.
    NINO_ERR_NOMEM = -1,
    // The caller broke a documented rule of the function.
    NINO_ERR_ARG = -2,
    // A file cannot be read or written, or is too short.
    NINO_ERR_IO = -3,
    // A file or a piece of JSON is malformed.
    NINO_ERR_FORMAT = -4,
    // A value lies outside its declared range.
    NINO_ERR_RANGE = -5,
    // There is no node, parameter or device of that name.
    NINO_ERR_UNKNOWN = -6,
    // A call of OpenCL or the build of a kernel failed.
    NINO_ERR_DEVICE = -7,
    // Somebody cancelled the job.
    NINO_ERR_CANCELLED = -8,
    // A file or model is in none of the folders that were searched.
    NINO_ERR_MISSING = -9,
    // Well-formed, but not something that this version can do.
    NINO_ERR_UNSUPPORTED = -10
} nino_status;

// Filled by the function that failed. There is nothing to free, so it works out of memory. Every
// parameter of type nino_error * may be NULL.
typedef struct nino_error {
    nino_status code;
    // A static word that is finer than the code: "truncated", "overflow", "busy". Never NULL once
    // filled.
    const char *kind;
    // The user's own thing that is concerned: "ksampler.steps", "vae.safetensors: conv_in.weight",
    // or "".
    char where[192];
    // One line without newline or full stop.
    char msg[320];
} nino_error;

// Short stable name of a status: "range". Never NULL.
NINO_API const char *nino_status_name(nino_status st);

typedef enum nino_log_level {
    NINO_LOG_ERROR,
    NINO_LOG_WARN,
    NINO_LOG_INFO,
    NINO_LOG_DEBUG
} nino_log_level;

// Receives the library's messages, on any thread. line has no newline and lives until it returns.
typedef void (*nino_log_fn)(void *priv, nino_log_level level, const char *line);

// A text of the library in the reader's language, as gettext() gives it: with the same conversions,
// living as long as the text. On the thread of the call that it is said in.
typedef const char *(*nino_translate_fn)(const char *text) __attribute__((format_arg(1)));

// An environment variable that the library reads, once per process.
typedef struct nino_variable {
    const char *name, *def, *help;
    // ninodes.conf may set it too, by its name without NINODES_, in small letters.
    bool is_setting;
} nino_variable;
// All of them, for help pages; the last one has no name.
NINO_API const nino_variable *nino_variables(void);
// The first line of a settings file that could not be used, with its place; NULL: there is none.
NINO_API const char *nino_settings_problem(void);

// Copies len bytes of text to out (size bytes, terminated; may be s) for people to see: characters
// that steer a terminal (below U+0020, U+007F to U+009F), that reorder or hide what stands around
// them (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069, U+FEFF, U+FFF9 to U+FFFB,
// U+E0000 to U+E007F), and bytes that are no UTF-8 become '?'. Text that does not fit is cut between
// two characters.
NINO_API void nino_utf8_printable(char *out, size_t size, const char *s, size_t len);

// Whether the library could write a file of that name now, whose folders it makes: tries it in the
// nearest folder that is there, and leaves nothing. NINO_ERR_IO with what is in the way: no
// permission, a file in the place of a folder, a folder in the place of the file, a read-only or a
// full file system.
NINO_API nino_status nino_place_check(const char *path, nino_error *err);
// Writes a file whole or not at all: until all of it is on the disk under another name in the same
// folder, which is made where it is missing, an existing file stays what it was. NINO_ERR_IO: as
// above, also where the disk is full; NINO_ERR_NOMEM; nothing is left behind.
NINO_API nino_status nino_place_save(const char *path, const void *data, size_t bytes,
                                     nino_error *err);

// Version of the library that runs: "0.1.0".
NINO_API const char *nino_version(void);

NINO_END
