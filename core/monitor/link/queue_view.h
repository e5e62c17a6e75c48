// Internal: the queue as JSON (what a worker tells and what it keeps on disk) and as structs.
#pragma once
#include "core/base/arena.h"
#include "core/base/json.h"
#include <ninodes/control.h>

typedef struct nino_queue_view {
    nino_queue q;
    nino_arena *arena; // everything q points to, but texts, which are the document's
    nino_json_doc *doc;
} nino_queue_view;

// NULL: out of memory, or not a queue.
nino_queue_view *nino_queue_view_parse(const char *json, size_t len, nino_error *err);
void nino_queue_view_destroy(nino_queue_view **v); // NULL-safe
// The other direction.
void nino_queue_write(nino_buf *b, const nino_queue *q);
