// Writing and reading .ninotrace files: see core/monitor/trace/trace_own.h.
#include "core/monitor/trace/trace_own.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/time.h"
#include "core/event/ring.h"
#include "core/monitor/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BATCH = 1024, FLUSH_MS = 500, NAMES_AT = 256 * 1024, MAX_NAMES = 1 << 20 };

static const char magic[8] = "ninotrc\n";

// ---- writing -----------------------------------------------------------------------------------

struct nino_own_trace {
    nino_file_writer *w;
    char *path;
    nino_status st; // sticky
    nino_error err;
    nino_names *names;   // of the file
    uint32_t names_told; // ids below this are in the file
    nino_event batch[BATCH];
    size_t n;
    uint64_t flushed_ns;
};

static void write_all(nino_own_trace *t, const void *p, size_t n)
{
    if (!t->st)
        t->st = nino_file_writer_write(t->w, p, n, &t->err);
}

static uint64_t hash_of(nino_own_block b, const void *p)
{
    b.hash = 0;
    const nino_hash head = nino_hash_bytes(&b, sizeof(b)), body = nino_hash_bytes(p, b.stored);
    return head.lo ^ (body.lo * 3);
}

// One write() a block, so that a killed process leaves whole ones.
static void trace_own_write_block(nino_own_trace *t, nino_own_kind kind, const void *p, size_t n)
{
    uLongf packed = compressBound(n);
    char *buf = malloc(sizeof(nino_own_block) + packed + n);
    if (!buf) {
        t->st = nino_fail(&t->err, NINO_ERR_NOMEM, t->path, "out of memory");
        return;
    }
    nino_own_block b = { .magic = NINO_OWN_FILE_MARK, .kind = kind, .bytes = (uint32_t) n };
    char *body = buf + sizeof(b);
    if (n && compress2((Bytef *) body, &packed, p, n, 1) == Z_OK && packed < n) {
        b.stored = (uint32_t) packed;
    } else {
        b.stored = (uint32_t) n;
        if (n)
            memcpy(body, p, n);
    }
    b.hash = hash_of(b, body);
    memcpy(buf, &b, sizeof(b));
    write_all(t, buf, sizeof(b) + b.stored);
    free(buf);
}

static void write_names(nino_own_trace *t)
{
    const uint32_t count = nino_names_count(t->names);
    while (t->names_told < count && !t->st) {
        nino_buf b = { 0 };
        for (; t->names_told < count && b.len < NAMES_AT; t->names_told++) {
            const char *text = nino_names_text(t->names, t->names_told);
            const uint32_t item[2] = { t->names_told, (uint32_t) strlen(text) };
            nino_buf_add(&b, item, sizeof(item));
            nino_buf_add(&b, text, item[1]);
        }
        if (b.failed)
            t->st = nino_fail(&t->err, NINO_ERR_NOMEM, t->path, "out of memory");
        else
            trace_own_write_block(t, NINO_OWN_FILE_NAMES, b.data, b.len);
        nino_buf_release(&b);
    }
}

static void trace_own_flush(nino_own_trace *t)
{
    t->flushed_ns = nino_now_ns();
    if (!t->n || t->st)
        return;
    write_names(t); // before the records that mention them
    if (!t->st)
        trace_own_write_block(t, NINO_OWN_FILE_EVENTS, t->batch, t->n * sizeof(t->batch[0]));
    t->n = 0;
}

static void close_trace(nino_own_trace **trace)
{
    nino_own_trace *t = *trace;
    nino_file_writer_abort(&t->w);
    nino_names_destroy(&t->names);
    free(t->path);
    free(t);
    *trace = NULL;
}

nino_own_trace *nino_own_create(const char *path, bool is_whole, nino_error *err)
{
    nino_own_trace *t = calloc(1, sizeof(*t));
    if (!t || !(t->path = strdup(path)) || !(t->names = nino_names_create())) {
        if (t)
            free(t->path);
        free(t);
        nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        return NULL;
    }
    if (nino_file_writer_open(NULL, path, false, &t->w, err)) {
        close_trace(&t);
        return NULL;
    }
    nino_own_head h = { .version = NINO_OWN_FILE_VERSION,
                        .event_bytes = sizeof(nino_event),
                        .pid = getpid(),
                        .started_ns = nino_now_ns() };
    memcpy(h.magic, magic, sizeof(h.magic));
    snprintf(h.producer, sizeof(h.producer), "ninodes %.20s", nino_version());
    t->flushed_ns = h.started_ns;
    t->names_told = 1; // 0 is ""
    write_all(t, &h, sizeof(h));
    if (t->st && err) // the name only for what can be read
        *err = t->err;
    if (t->st || (!is_whole && nino_file_writer_place(t->w, err)))
        close_trace(&t);
    return t;
}

void nino_own_add(nino_own_trace *t, const nino_event *ev, size_t n,
                  const char *(*name)(void *priv, uint32_t id), void *priv)
{
    for (size_t i = 0; i < n && !t->st; i++) {
        nino_event e = ev[i];
        e.name = nino_names_add(t->names, name(priv, e.name));
        if (e.kind == NINO_EV_KERNEL || e.kind == NINO_EV_TRANSFER) {
            e.u.kernel.shape = nino_names_add(t->names, name(priv, e.u.kernel.shape));
            e.u.kernel.family = nino_names_add(t->names, name(priv, e.u.kernel.family));
        }
        if (e.kind == NINO_EV_KERNEL)
            e.id = nino_kernel_id(nino_kernel_bits(&e),
                                  nino_names_add(t->names, name(priv, nino_kernel_launch(&e))));
        if (e.kind == NINO_EV_TILE_INFO || e.kind == NINO_EV_CHUNK)
            e.id = nino_names_add(t->names, name(priv, e.id));
        t->batch[t->n++] = e;
        if (t->n == BATCH)
            trace_own_flush(t);
    }
    if (nino_now_ns() - t->flushed_ns > FLUSH_MS * 1000000ull)
        trace_own_flush(t);
}

nino_status nino_own_finish(nino_own_trace **trace, nino_error *err)
{
    nino_own_trace *t = *trace;
    trace_own_flush(t);
    if (!t->st)
        trace_own_write_block(t, NINO_OWN_FILE_END, NULL, 0);
    nino_error e;
    const nino_status closed = nino_file_writer_commit(&t->w, false, &e),
                      st = t->st ? t->st : closed;
    if (!t->st && closed)
        t->err = e;
    if (st && err)
        *err = t->err;
    close_trace(trace);
    return st;
}

void nino_own_abort(nino_own_trace **trace)
{
    if (*trace)
        close_trace(trace);
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct reader {
    FILE *f;
    const char *path;
    char **name; // by id of the file
    uint32_t n_names, cap_names;
    uint32_t version; // of the file
    nino_trace_batch batch;
    bool is_whole, no_memory;
} reader;

static const char *trace_own_name_of(void *priv, uint32_t id)
{
    const reader *r = priv;
    return id < r->n_names && r->name[id] ? r->name[id] : "";
}

bool nino_own_is(const char *path)
{
    char head[8] = { 0 };
    FILE *f = fopen(path, "rbe");
    const bool yes = f && fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, magic, 8);
    if (f)
        fclose(f);
    return yes;
}

static bool keep_name(reader *r, uint32_t id, const char *text, size_t len)
{
    if (id >= MAX_NAMES)
        return false;
    if (id >= r->cap_names) {
        const uint32_t cap = id * 2 + 256;
        char **list = realloc(r->name, cap * sizeof(*list));
        if (!list) {
            r->no_memory = true;
            return false;
        }
        memset(list + r->cap_names, 0, (cap - r->cap_names) * sizeof(*list));
        r->name = list;
        r->cap_names = cap;
    }
    if (!r->name[id] && !(r->name[id] = strndup(text, len))) {
        r->no_memory = true;
        return false;
    }
    r->n_names = id >= r->n_names ? id + 1 : r->n_names;
    return true;
}

static bool trace_own_take_names(reader *r, const char *p, size_t n)
{
    while (n) {
        uint32_t item[2];
        if (n < sizeof(item))
            return false;
        memcpy(item, p, sizeof(item));
        if (item[1] > n - sizeof(item) || !keep_name(r, item[0], p + sizeof(item), item[1]))
            return false;
        p += sizeof(item) + item[1];
        n -= sizeof(item) + item[1];
    }
    return true;
}

static bool take_events(reader *r, const char *p, size_t n)
{
    if (n % sizeof(nino_event))
        return false;
    for (size_t i = 0; i < n; i += sizeof(nino_event)) {
        nino_event ev;
        memcpy(&ev, p + i, sizeof(ev));
        if (r->version <= NINO_OWN_FILE_FIXED_SAMPLES)
            nino_trace_add_old(&r->batch, &ev);
        else
            nino_trace_batch_add(&r->batch, ev);
    }
    nino_trace_batch_flush(&r->batch);
    return true;
}

typedef enum found { FOUND_BLOCK, FOUND_END, FOUND_TORN, FOUND_DAMAGE } found;

// Reads the next block into buf (b.bytes of it).
static found next_block(reader *r, nino_own_block *b, char *stored, char *out)
{
    const size_t got = fread(b, 1, sizeof(*b), r->f);
    if (got < sizeof(*b))
        return got ? FOUND_TORN : FOUND_END;
    if (b->magic != NINO_OWN_FILE_MARK || b->bytes > NINO_OWN_FILE_MAX_BLOCK ||
        b->stored > b->bytes)
        return FOUND_DAMAGE;
    if (fread(stored, 1, b->stored, r->f) < b->stored)
        return FOUND_TORN;
    if (hash_of(*b, stored) != b->hash) { // the last one may have reached the disk in part
        const int c = getc(r->f);
        return c == EOF ? FOUND_TORN : FOUND_DAMAGE;
    }
    uLongf n = b->bytes;
    if (b->stored == b->bytes)
        memcpy(out, stored, b->bytes);
    else if (uncompress((Bytef *) out, &n, (const Bytef *) stored, b->stored) != Z_OK ||
             n != b->bytes)
        return FOUND_DAMAGE;
    return FOUND_BLOCK;
}

static nino_status trace_own_read_blocks(reader *r, char *stored, char *out, nino_error *err)
{
    nino_own_block b;
    for (;;) {
        const long at = ftell(r->f);
        const found f = next_block(r, &b, stored, out);
        if (f == FOUND_END || f == FOUND_TORN)
            return NINO_OK;
        bool ok = f == FOUND_BLOCK;
        if (ok && b.kind == NINO_OWN_FILE_NAMES)
            ok = trace_own_take_names(r, out, b.bytes);
        else if (ok && b.kind == NINO_OWN_FILE_EVENTS)
            ok = take_events(r, out, b.bytes);
        if (!ok && r->no_memory)
            return nino_fail(err, NINO_ERR_NOMEM, r->path, "out of memory");
        if (!ok)
            return nino_fail_kind(err, NINO_ERR_FORMAT, "damaged", r->path,
                                  "is damaged at byte %ld", at);
        r->is_whole = b.kind == NINO_OWN_FILE_END;
    }
}

nino_status nino_own_read(const char *path,
                          void (*add)(void *priv, const nino_event *ev, size_t n,
                                      const char *(*name)(void *name_priv, uint32_t id),
                                      void *name_priv),
                          void *priv, bool *is_whole, nino_error *err)
{
    reader r = { .path = path, .batch = { .sink = add, .priv = priv, .name = trace_own_name_of } };
    r.batch.name_priv = &r;
    nino_own_head h;
    nino_status st = NINO_OK;
    char *buf = malloc((size_t) 2 * NINO_OWN_FILE_MAX_BLOCK);
    if (!buf)
        return nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    r.f = fopen(path, "rbe");
    if (!r.f)
        st = nino_fail(err, errno == ENOENT ? NINO_ERR_MISSING : NINO_ERR_IO, path, "%s",
                       strerror(errno));
    else if (fread(&h, sizeof(h), 1, r.f) != 1 || memcmp(h.magic, magic, sizeof(h.magic)) != 0)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", path, "is no trace of ninodes");
    else if (h.version < NINO_OWN_FILE_OLDEST || h.version > NINO_OWN_FILE_VERSION ||
             h.event_bytes != sizeof(nino_event))
        st = nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "version", path,
                            "is version %u of the format, this is %d", h.version,
                            NINO_OWN_FILE_VERSION);
    else {
        r.version = h.version;
        st = trace_own_read_blocks(&r, buf, buf + NINO_OWN_FILE_MAX_BLOCK, err);
    }
    if (r.f)
        fclose(r.f);
    for (uint32_t i = 0; i < r.n_names; i++)
        free(r.name[i]);
    free(r.name);
    free(buf);
    if (!st && is_whole)
        *is_whole = r.is_whole;
    return st;
}
