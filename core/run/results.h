// Internal: results of nodes by content key. One thread at a time (the running job's).
#pragma once
#include "core/base/hash.h"
#include "core/node/value.h"

// What a node showed beside its values: files and texts.
typedef struct nino_shown {
    char **path;
    size_t n_paths;
    struct nino_shown_text {
        char *title, *text;
    } * text;
    size_t n_texts;
} nino_shown;

bool nino_shown_add_path(nino_shown *s, const char *path); // false: out of memory
bool nino_shown_add_text(nino_shown *s, const char *title, const char *text);
void nino_shown_release(nino_shown *s);

typedef struct nino_results nino_results;

// max_bytes: host memory that the values may keep alive, what is shown with them included; the
// longest unused go first.
nino_results *nino_results_create(uint64_t max_bytes);
// One for a plan: it keeps and drops as c, which is empty, would in a run, but of the values only
// networks, whose weights then stay on the device. NULL: out of memory.
nino_results *nino_results_create_plan(const nino_results *c);
void nino_results_destroy(nino_results **c);
// New references in out[0..n), and what the node showed (owned by the cache until the next put). A
// result whose files are gone is no result.
bool nino_results_get(nino_results *c, nino_hash key, nino_value **out, int n,
                      const nino_shown **shown);
// Whether nino_results_get() would; nothing changes by it.
bool nino_results_has(const nino_results *c, nino_hash key, int n);
// Takes references, and the content of *shown.
void nino_results_put(nino_results *c, nino_hash key, nino_value *const *out, int n,
                      nino_shown *shown);
void nino_results_drop_sharing(nino_results *c, const nino_value *v); // results with its network
uint64_t nino_results_clear(nino_results *c);                         // bytes freed
