// Code objects that are shipped: programs compiled before, a file for each kind of GPU (bench/code_objects.c says how
// they are made). A program is looked up by its source, its options and the GPU's ISA, and used only after the
// calls that the file names for it have given the reference's results on this device, once for each driver. Any
// doubt is a miss: then its source is compiled.
#include "cl/runtime.h"

#include "core/base/file.h"
#include "core/base/install.h"
#include "core/base/vars.h"
#include "core/harness/kernel_call.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, MAX_ENTRIES = 4096, MAX_OBJECT = 16 << 20, MAX_CALLS = 1 << 16 };
static const char file_magic[8] = "NINOCODE";
static const char key_version[] = "ninodes code 1", mark_version[] = "ninodes code checked 1";

// Little-endian, as the machines are that ninodes runs on.
typedef struct file_header {
    char magic[8];
    uint32_t version, n;
    uint64_t bytes; // of the whole file
    char target[32];
    uint8_t digest[32]; // of the entries
} file_header;

typedef struct file_entry {
    uint8_t key[32], digest[32]; // digest: of the object and the calls behind it
    uint64_t at, bytes, calls_bytes;
    char file[32], options[256];
} file_entry;

struct nino_cl_code {
    int fd;
    char path[4200], target[32];
    size_t n;
    file_entry *list;
    uint8_t *state; // of an entry: CODE_...
};
enum { CODE_UNKNOWN, CODE_RIGHT, CODE_WRONG };

// ---- files -------------------------------------------------------------------------------------

// "gfx1151" of AMD's own driver, which takes code objects as binaries; others call devices by it, too.
static bool target_of(const nino_cl_device *dev, char out[32])
{
    const char *name = dev->info.name;
    const size_t n = strcspn(name, ":");
    if (strcmp(dev->info.platform, "AMD Accelerated Parallel Processing") != 0 ||
        strncmp(name, "gfx", 3) != 0 || n >= 32 || strspn(name + 3, "0123456789abcdef") + 3 != n)
        return false;
    snprintf(out, 32, "%.*s", (int) n, name);
    return true;
}

static void digest_of(const void *data, size_t bytes, uint8_t out[32])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, 32, out);
}

// All of it lies within the file, and texts end.
static bool is_sound(const file_header *h, const file_entry *list, const char *target)
{
    const uint64_t first = sizeof(*h) + h->n * sizeof(*list);
    uint8_t digest[32];
    digest_of(list, h->n * sizeof(*list), digest);
    if (memcmp(digest, h->digest, sizeof(digest)) != 0)
        return false;
    for (uint32_t i = 0; i < h->n; i++) {
        const file_entry *e = &list[i];
        if (e->at < first || e->at > h->bytes || !e->bytes || e->bytes > MAX_OBJECT ||
            e->calls_bytes > MAX_CALLS || e->bytes + e->calls_bytes > h->bytes - e->at ||
            !memchr(e->file, 0, sizeof(e->file)) || !memchr(e->options, 0, sizeof(e->options)))
            return false;
    }
    return !strncmp(h->target, target, sizeof(h->target));
}

// The index; false: the file is damaged.
static bool code_read(struct nino_cl_code *c, uint64_t size)
{
    file_header h;
    if (size < sizeof(h) || nino_file_pread(c->fd, &h, sizeof(h), 0, c->path, NULL) ||
        memcmp(h.magic, file_magic, sizeof(h.magic)) != 0 || h.version != VERSION ||
        h.bytes != size || h.n > MAX_ENTRIES || h.n * sizeof(file_entry) > size - sizeof(h))
        return false;
    c->n = h.n;
    c->list = calloc(c->n + 1, sizeof(*c->list));
    c->state = calloc(c->n + 1, 1);
    return c->list && c->state &&
           !nino_file_pread(c->fd, c->list, c->n * sizeof(*c->list), sizeof(h), c->path, NULL) &&
           is_sound(&h, c->list, c->target);
}

void nino_cl_code_close(nino_cl_code **pc)
{
    nino_cl_code *c = *pc;
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    free(c->list);
    free(c->state);
    free(c);
    *pc = NULL;
}

nino_cl_code *nino_cl_code_open(const nino_cl_device *dev, const nino_log *log)
{
    const char *dirs[] = { nino_vars_get()->profile_dir, nino_data_dir() };
    nino_cl_code *c = calloc(1, sizeof(*c));
    struct stat st;
    if (!c || !target_of(dev, c->target)) {
        free(c);
        return NULL;
    }
    c->fd = -1;
    for (int i = 0; i < 2 && c->fd < 0; i++) {
        snprintf(c->path, sizeof(c->path), "%.4000s/code/%s.bin", dirs[i], c->target);
        if (*dirs[i])
            c->fd = open(c->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    const bool is_there = c->fd >= 0;
    if (is_there && !fstat(c->fd, &st) && S_ISREG(st.st_mode) &&
        code_read(c, (uint64_t) st.st_size))
        return c;
    if (is_there)
        nino_logf(log, NINO_LOG_WARN, "%s is damaged: kernels are compiled from their sources",
                  c->path);
    nino_cl_code_close(&c);
    return NULL;
}

nino_cl_key nino_cl_code_key(const char *target, const char *define, const char *defs,
                             const char *const source[3])
{
    const char *const parts[] = {
        key_version, target, define, defs, source[0], source[1], source[2]
    };
    return nino_cl_hash(parts, sizeof(parts) / sizeof(parts[0]));
}

int nino_cl_code_find(const nino_cl_code *c, const char *define, const char *defs,
                      const char *const source[3])
{
    const nino_cl_key key = nino_cl_code_key(c->target, define, defs, source);
    for (size_t i = 0; i < c->n; i++)
        if (!memcmp(c->list[i].key, key.sha, sizeof(key.sha)))
            return (int) i;
    return -1;
}

void *nino_cl_code_load(const nino_cl_code *c, int i, size_t *bytes, char **calls)
{
    const file_entry *e = &c->list[i];
    const size_t all = e->bytes + e->calls_bytes;
    uint8_t digest[32], *data = malloc(all + 1);
    if (!data || nino_file_pread(c->fd, data, all, e->at, c->path, NULL)) {
        free(data);
        return NULL;
    }
    digest_of(data, all, digest);
    data[all] = 0;
    if (memcmp(digest, e->digest, sizeof(digest)) != 0 ||
        (calls && !(*calls = strdup((char *) data + e->bytes)))) {
        free(data);
        return NULL;
    }
    *bytes = e->bytes;
    return data;
}

// ---- checked before use ------------------------------------------------------------------------

static nino_cl_key mark_of(const nino_cl *cl, int i)
{
    const nino_cl_device *d = cl->dev;
    char digest[65];
    for (size_t k = 0; k < 32; k++)
        snprintf(digest + 2 * k, 3, "%02x", cl->code->list[i].digest[k]);
    const char *const parts[] = { mark_version, digest,         d->info.name,
                                  d->version,   d->info.driver, d->platform_version };
    return nino_cl_hash(parts, sizeof(parts) / sizeof(parts[0]));
}

// One call by the object, compared with the reference.
static bool is_call_right(nino_backend *trial, nino_backend *ref, const char *call, char note[160])
{
    nino_check_case c;
    nino_check_result r;
    nino_dtype type;
    nino_error err;
    if (nino_call_read(call, &c, &type, &err)) {
        snprintf(note, 160, "its file asks for a call that this version does not know");
        return false;
    }
    c.only_bench = false; // it is compared
    nino_check_run(trial, ref, &c, type, -1, 1, false, &r);
    if (!r.ok)
        snprintf(note, 160, "%.60s: %.90s", r.name, *r.note ? r.note : "wrong result");
    return r.ok;
}

// All that the file names, on a backend of its own that has nothing but shipped objects.
static bool are_calls_right(const nino_cl *cl, int i, char *calls, char note[160])
{
    const file_entry *e = &cl->code->list[i];
    const nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .cache_dir = "" };
    nino_error err = { .code = NINO_OK };
    nino_backend *trial = nino_cl_open(cl->dev, &params, NULL, &err);
    nino_backend *ref = trial ? nino_ref_open(0, NULL, &err) : NULL;
    bool ok = ref && *calls;
    snprintf(note, 160, "%.150s", ref ? "nothing says how to check it" : err.msg);
    if (ref) {
        nino_cl *t = (nino_cl *) trial;
        t->is_trial = true;
        t->be.profile = cl->be.profile;
        for (char *at = calls, *call; ok && (call = strsep(&at, "\n"));)
            if (*call)
                ok = is_call_right(trial, ref, call, note);
        if (ok && !nino_cl_program_is_shipped(t, e->file, e->options)) {
            snprintf(note, 160, "its calls take other programs on this device");
            ok = false;
        }
    }
    nino_backend_close(&ref);
    nino_backend_close(&trial);
    return ok;
}

static bool code_check(nino_cl *cl, int i)
{
    const file_entry *e = &cl->code->list[i];
    const nino_cl_key mark = mark_of(cl, i);
    char *calls = NULL, note[160] = "it cannot be read";
    size_t bytes = 0;
    void *known = cl->cache ? nino_cl_cache_get(cl->cache, &mark, &bytes) : NULL;
    const uint8_t was = known && bytes == 1 ? *(uint8_t *) known : CODE_UNKNOWN;
    free(known);
    if (was == CODE_RIGHT || was == CODE_WRONG)
        return was == CODE_RIGHT;
    void *data = nino_cl_code_load(cl->code, i, &bytes, &calls);
    const bool ok = data && are_calls_right(cl, i, calls, note);
    const uint8_t is = ok ? CODE_RIGHT : CODE_WRONG;
    free(data);
    free(calls);
    if (cl->cache)
        nino_cl_cache_put(cl->cache, &mark, &is, 1);
    if (ok)
        nino_logf(&cl->log, NINO_LOG_DEBUG, "code object of %s %s: right", e->file, e->options);
    else
        nino_logf(&cl->log, NINO_LOG_WARN,
                  "the code object of %s %s is not used, its source is compiled: %s", e->file,
                  e->options, note);
    return ok;
}

bool nino_cl_code_is_right(nino_cl *cl, int i)
{
    if (cl->is_trial)
        return true;
    if (cl->code->state[i] == CODE_UNKNOWN)
        cl->code->state[i] = code_check(cl, i) ? CODE_RIGHT : CODE_WRONG;
    return cl->code->state[i] == CODE_RIGHT;
}

bool nino_cl_code_may_be_right(const nino_cl_code *c, int i) { return c->state[i] != CODE_WRONG; }

// ---- counted -----------------------------------------------------------------------------------

size_t nino_cl_code_count(const nino_cl_device *dev, size_t *n_fit)
{
    nino_profile p;
    nino_cl_code *c = nino_cl_code_open(dev, NULL);
    const size_t n = c ? c->n : 0;
    *n_fit = 0;
    for (size_t i = 0; i < n && !nino_cl_profile_of(dev, &p, NULL); i++)
        *n_fit += nino_cl_program_code(c, &p, c->list[i].file, c->list[i].options) >= 0;
    nino_cl_code_close(&c);
    return n;
}
