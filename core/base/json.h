// Internal: lossless JSON. Number text, key order, bare NaN/Infinity/-Infinity and source positions
// are kept; an untouched document writes back byte for byte. No recursion anywhere (parse, free,
// write).
#pragma once
#include "core/base/arena.h"
#include "core/base/buf.h"
#include <ninodes/base.h>

typedef enum nino_json_type {
    NINO_JSON_NULL,
    NINO_JSON_BOOL,
    NINO_JSON_NUMBER, // text holds the number as written, including NaN, Infinity, -Infinity
    NINO_JSON_STRING, // text holds the decoded UTF-8
    NINO_JSON_ARRAY,
    NINO_JSON_OBJECT
} nino_json_type;

typedef struct nino_json nino_json;
struct nino_json {
    nino_json_type type;
    bool boolean;
    uint32_t line, col; // 1-based, in bytes, of the value's first byte in the text as parsed
    const char *key;    // decoded, NUL-terminated; NULL outside objects
    size_t key_len;     // keys may contain U+0000
    const char *text;   // numbers and strings, NUL-terminated
    size_t len;
    nino_json *child, *next;   // first element of an array/object; next sibling
    nino_json *parent;         // NULL at the top; always right, also in trees made by hand
    uint32_t count;            // elements
    size_t src_begin, src_end; // byte range in the source; src_end == 0: made by the program
};

// Zero fields mean the defaults in brackets.
typedef struct nino_json_limits {
    uint32_t max_depth;  // [256]
    size_t max_bytes;    // [64 MiB]
    size_t max_nodes;    // [4 Mi] values in all
    size_t max_string;   // [16 MiB] decoded bytes of one string or key
    bool strict_numbers; // refuse NaN and Infinity (safetensors headers)
    bool allow_dup_keys; // otherwise a repeated key of one object is an error, kind "dup"
    bool allow_bom;      // skip a leading UTF-8 byte order mark
} nino_json_limits;

typedef struct nino_json_doc {
    nino_arena *arena;
    nino_json *root;
    const char *src; // private copy of the source
    size_t src_len;
} nino_json_doc;

// Parses a whole document (trailing white space allowed, nothing else). `name` goes to err->where;
// err->msg ends in "at line:column". Kinds: syntax, limit, dup; a number longer than 4096 bytes is
// "limit". All are NINO_ERR_FORMAT.
nino_status nino_json_parse(const char *src, size_t len, const char *name,
                            const nino_json_limits *limits, nino_json_doc **out, nino_error *err);
void nino_json_doc_destroy(nino_json_doc **doc);

// Member of an object by key, NULL if absent or if `obj` is NULL or not an object. O(1) on large
// objects is not promised: iterate child/next when visiting all. The first of repeated keys.
const nino_json *nino_json_get(const nino_json *obj, const char *key);
// Element i of an array, NULL if there is none.
const nino_json *nino_json_at(const nino_json *arr, uint32_t i);
// Typed reads: false (out untouched) when v is NULL or not exactly that. i64/u64 accept integral
// text only
// ("3", not "3.0"); double accepts every number text.
bool nino_json_i64(const nino_json *v, int64_t *out);
bool nino_json_u64(const nino_json *v, uint64_t *out);
bool nino_json_double(const nino_json *v, double *out);
bool nino_json_bool(const nino_json *v, bool *out);
// NULL unless v is a string without embedded NUL.
const char *nino_json_str(const nino_json *v);

// Appends v as JSON: source bytes where it came from a document, else generated. Untouched trees
// round-trip, the white space around the root included. doc may be NULL: all of it is generated.
void nino_json_write(nino_buf *out, const nino_json_doc *doc, const nino_json *v);

// Editing. Replaces the value of an existing or new member `key` of `obj` by the JSON text `json`
// (parsed into the document's arena); only the changed bytes differ when written back. A new member
// goes to the end, laid out like the one before it. Pointers to the member see the new value. On
// failure nothing has changed.
nino_status nino_json_set(nino_json_doc *doc, nino_json *obj, const char *key, const char *json,
                          nino_error *err);

// Puts the JSON text in the place of `value`, which becomes the new value.
nino_status nino_json_replace(nino_json_doc *doc, nino_json *value, const char *json,
                              nino_error *err);
// A new last element of an array; and an element or a member taken out, which must not be used
// again.
nino_status nino_json_append(nino_json_doc *doc, nino_json *arr, const char *json, nino_error *err);
nino_status nino_json_remove(nino_json_doc *doc, nino_json *value, nino_error *err);

// The parser below nino_json_parse(): one value with its white space, into `arena`. src[len] must
// be 0; byte ranges are those in src.
nino_status nino_json_parse_into(nino_arena *arena, const char *src, size_t len, const char *name,
                                 const nino_json_limits *limits, nino_json **root, nino_error *err);
