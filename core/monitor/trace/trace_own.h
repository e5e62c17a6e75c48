// Internal to core/monitor/trace: trace files of ninodes' own form (.ninotrace): records as they
// are, in blocks that are appended while the run goes on. What has been written stays readable when
// the process is killed; a block that is torn at the end is left out.
//
//   head   nino_own_head
//   block  nino_own_block, then `stored` bytes: `bytes` of payload, deflated when stored < bytes
//   NAMES  any number of: u32 id, u32 length, text. EVENTS: any number of nino_event whose names
//   are
//          ids of the file, told before. END: no payload; the writer closed the file.
//
// Version 1 is the same but for kernels, whose id held no launch: zeros, which say just that. Up to
// version 2 samples had fixed fields (trace_old.c).
#pragma once
#include <ninodes/monitor.h>

enum {
    NINO_OWN_FILE_VERSION = 3,
    NINO_OWN_FILE_OLDEST = 1,
    NINO_OWN_FILE_FIXED_SAMPLES = 2,
    NINO_OWN_FILE_MAX_BLOCK = 1 << 22
};

typedef struct nino_own_head {
    char magic[8]; // "ninotrc\n"
    uint32_t version, event_bytes;
    int32_t pid;
    uint32_t reserved;
    uint64_t started_ns; // CLOCK_MONOTONIC
    char producer[32];
} nino_own_head;

typedef enum nino_own_kind {
    NINO_OWN_FILE_NAMES = 1,
    NINO_OWN_FILE_EVENTS = 2,
    NINO_OWN_FILE_END = 3
} nino_own_kind;

typedef struct nino_own_block {
    uint32_t magic; // NINO_OWN_FILE_MARK
    uint32_t kind;  // nino_own_kind; readers skip those they do not know
    uint32_t bytes, stored;
    uint64_t hash; // of the stored bytes, and of this head with hash 0: XXH3
} nino_own_block;

#define NINO_OWN_FILE_MARK 0x4b4c424eu

typedef struct nino_own_trace nino_own_trace;
// Replaces a regular file of that name: at once, so that it can be read while it grows, or, with is_whole, in the end.
nino_own_trace *nino_own_create(const char *path, bool is_whole, nino_error *err);
// Records become readable after half a second at the latest; n may be 0.
void nino_own_add(nino_own_trace *t, const nino_event *ev, size_t n,
                  const char *(*name)(void *priv, uint32_t id), void *priv);
nino_status nino_own_finish(nino_own_trace **t, nino_error *err);
void nino_own_abort(nino_own_trace **t); // removes the file; NULL-safe

// True when the file begins like one.
bool nino_own_is(const char *path);
// As nino_trace_read(); *is_whole (may be NULL): the writer has closed it. Damage before the end is
// NINO_ERR_FORMAT.
nino_status nino_own_read(const char *path,
                          void (*add)(void *priv, const nino_event *ev, size_t n,
                                      const char *(*name)(void *name_priv, uint32_t id),
                                      void *name_priv),
                          void *priv, bool *is_whole, nino_error *err);
