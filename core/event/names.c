// Interned names: text -> small id. Found names cost a hash and a compare, without a lock.
#include "core/event/ring.h"

#include "core/event/passing.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1024,       // names a chunk of the id -> text table
    MAX_CHUNKS = 1024,  // a million names
    MAX_TEXT = 1000,    // longer ones are cut
    BLOCK = 64 * 1024,  // text is kept in blocks of this size
    MAX_BLOCKS = 1024,  // 64 MiB of text
    FIRST_SLOTS = 1024, // hash slots to begin with
    MAX_TABLES = 24     // each twice as large as the one before
};

// Slots hold (hash << 32 | id); 0 is free. Readers may still search a table that has been replaced:
// all of them live until the end (together less than twice the last one).
typedef struct table {
    uint32_t mask;
    _Atomic uint64_t slot[];
} table;

struct nino_names {
    _Atomic(table *) now;
    _Atomic(const char **) chunk[MAX_CHUNKS];
    atomic_uint count;
    atomic_uint passed; // texts that pass, so far
    nino_passing *passing;
    pthread_mutex_t lock; // adding, and everything below
    table *tables[MAX_TABLES];
    int n_tables;
    char *blocks[MAX_BLOCKS];
    int n_blocks;
    size_t used; // of the last block
};

static table *table_create(uint32_t slots)
{
    table *t = calloc(1, sizeof(*t) + slots * sizeof(t->slot[0]));
    if (t)
        t->mask = slots - 1;
    return t;
}

static void table_put(table *t, uint32_t hash, uint32_t id)
{
    uint32_t i = hash & t->mask;
    while (atomic_load_explicit(&t->slot[i], memory_order_relaxed))
        i = (i + 1) & t->mask;
    atomic_store_explicit(&t->slot[i], (uint64_t) hash << 32 | id, memory_order_release);
}

// FNV-1a: names are short.
static uint32_t names_hash_text(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char) s[i]) * 0x100000001b3u;
    return (uint32_t) (h ^ h >> 32);
}

nino_names *nino_names_create(void)
{
    nino_names *n = calloc(1, sizeof(*n));
    if (!n)
        return NULL;
    n->tables[0] = table_create(FIRST_SLOTS);
    const char **first = calloc(CHUNK, sizeof(*first));
    n->passing = nino_passing_create();
    if (!n->tables[0] || !first || !n->passing) {
        nino_passing_destroy(&n->passing);
        free(n->tables[0]);
        free(first);
        free(n);
        return NULL;
    }
    pthread_mutex_init(&n->lock, NULL);
    n->n_tables = 1;
    first[0] = "";
    atomic_store(&n->chunk[0], first);
    atomic_store(&n->now, n->tables[0]);
    atomic_store(&n->count, 1);
    return n;
}

void nino_names_destroy(nino_names **names)
{
    nino_names *n = *names;
    if (!n)
        return;
    for (int i = 0; i < n->n_tables; i++)
        free(n->tables[i]);
    for (int i = 0; i < n->n_blocks; i++)
        free(n->blocks[i]);
    for (int i = 0; i < MAX_CHUNKS; i++)
        free(atomic_load(&n->chunk[i]));
    nino_passing_destroy(&n->passing);
    pthread_mutex_destroy(&n->lock);
    free(n);
    *names = NULL;
}

uint32_t nino_names_count(const nino_names *n)
{
    return atomic_load_explicit(&n->count, memory_order_acquire);
}

uint32_t nino_names_passed(const nino_names *n)
{
    return atomic_load_explicit(&n->passed, memory_order_acquire);
}

const char *nino_names_text(const nino_names *n, uint32_t id)
{
    if (id & NINO_PASSING_BIT) // none that a slot is about to take in place of
        return ((nino_names_passed(n) - 1 - id) & ~NINO_PASSING_BIT) < NINO_PASSING_KEPT
                   ? nino_passing_text(n->passing, id)
                   : "";
    if (id >= nino_names_count(n))
        return "";
    return atomic_load_explicit(&n->chunk[id / CHUNK], memory_order_acquire)[id % CHUNK];
}

static uint32_t names_find(const nino_names *n, uint32_t hash, const char *text, size_t len)
{
    const table *t = atomic_load_explicit(&n->now, memory_order_acquire);
    for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        const uint64_t v = atomic_load_explicit(&t->slot[i], memory_order_acquire);
        if (!v)
            return 0;
        if (v >> 32 != hash)
            continue;
        const char *s = nino_names_text(n, (uint32_t) v);
        if (!strncmp(s, text, len) && !s[len])
            return (uint32_t) v;
    }
}

static const char *names_keep_text(nino_names *n, const char *text, size_t len)
{
    if (!n->n_blocks || n->used + len + 1 > BLOCK) {
        if (n->n_blocks == MAX_BLOCKS || !(n->blocks[n->n_blocks] = malloc(BLOCK)))
            return NULL;
        n->n_blocks++;
        n->used = 0;
    }
    char *s = n->blocks[n->n_blocks - 1] + n->used;
    memcpy(s, text, len);
    s[len] = 0;
    n->used += len + 1;
    return s;
}

// Doubles the hash table when it is half full.
static bool names_grow(nino_names *n, uint32_t count)
{
    const table *old = n->tables[n->n_tables - 1];
    if (count < old->mask / 2)
        return true;
    table *t = n->n_tables < MAX_TABLES ? table_create((old->mask + 1) * 2) : NULL;
    if (!t)
        return false;
    for (uint32_t i = 0; i <= old->mask; i++) {
        const uint64_t v = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
        if (v)
            table_put(t, (uint32_t) (v >> 32), (uint32_t) v);
    }
    n->tables[n->n_tables++] = t;
    atomic_store_explicit(&n->now, t, memory_order_release);
    return true;
}

static uint32_t add_locked(nino_names *n, uint32_t hash, const char *text, size_t len)
{
    const uint32_t id = nino_names_count(n);
    if (id >= CHUNK * MAX_CHUNKS || !names_grow(n, id))
        return 0;
    const char **chunk = atomic_load(&n->chunk[id / CHUNK]);
    if (!chunk) {
        if (!(chunk = calloc(CHUNK, sizeof(*chunk))))
            return 0;
        atomic_store(&n->chunk[id / CHUNK], chunk);
    }
    if (!(chunk[id % CHUNK] = names_keep_text(n, text, len)))
        return 0;
    atomic_store_explicit(&n->count, id + 1, memory_order_release); // before anyone can find the id
    table_put(n->tables[n->n_tables - 1], hash, id);
    return id;
}

// Length of the text as it is kept.
static size_t names_length(const char *text)
{
    size_t len = strlen(text);
    if (len > MAX_TEXT)
        for (len = MAX_TEXT; len && ((unsigned char) text[len] & 0xc0) == 0x80;)
            len--; // not inside a character
    return len;
}

uint32_t nino_names_pass(nino_names *n, const char *text)
{
    if (!text || !*text)
        return 0;
    pthread_mutex_lock(&n->lock);
    const uint32_t count = nino_names_passed(n);
    uint32_t id = NINO_PASSING_BIT | count;
    if (nino_passing_put(n->passing, id, text, names_length(text)))
        atomic_store_explicit(&n->passed, count + 1, memory_order_release);
    else
        id = 0;
    pthread_mutex_unlock(&n->lock);
    return id;
}

uint32_t nino_names_add(nino_names *n, const char *text)
{
    if (!text || !*text)
        return 0;
    const size_t len = names_length(text);
    const uint32_t hash = names_hash_text(text, len);
    uint32_t id = names_find(n, hash, text, len);
    if (id)
        return id;
    pthread_mutex_lock(&n->lock);
    id = names_find(n, hash, text, len);
    if (!id)
        id = add_locked(n, hash, text, len);
    pthread_mutex_unlock(&n->lock);
    return id;
}
