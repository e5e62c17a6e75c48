// Traces of whatever records there are, in every form, are read again; a trace of our own form whose blocks
// are whole but make no sense is refused at its byte; a full disk is an error at any byte.
#include <signal.h>
#include <sys/resource.h>

#include "core/base/hash.h"
#include "core/monitor/trace/trace_own.h"
#include "tests/test.h"
#include <ninodes/history.h>

static char dir[] = "/tmp/ninodes-trace-XXXXXX";
static nino_error err;
static const char *const forms[] = { "a.ninotrace", "a.json", "a.json.gz", "a.pftrace" };
enum { PERFETTO = 3, FORMS = 4 };

static const char *path_of(const char *name)
{
    static char p[128];
    snprintf(p, sizeof(p), "%s/%s", dir, name);
    return p;
}

static uint64_t state;
static uint64_t random_bits(void) // splitmix64
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const char *name_of(void *priv, uint32_t id)
{
    static const char *const names[] = { "",           "a name",  "1x2x3/64x1x1/0",
                                         "\"\\\n\x01", "cl:gemm", "host" };
    (void) priv;
    return names[id % 6];
}

// Any kind on any track: mostly few, now and then more tracks and threads than a file can have.
static nino_event any_record(uint64_t i)
{
    nino_event e = { 0 };
    uint64_t *word = (uint64_t *) (void *) &e;
    for (size_t k = 0; k < sizeof(e) / 8; k++)
        word[k] = random_bits() % 3 ? random_bits() % 100 : random_bits();
    e.kind = (uint8_t) (random_bits() % 40);
    e.sub = (uint8_t) (random_bits() % 20);
    e.track = (uint16_t) (random_bits() % 4 ? random_bits() % 8 + 256 * (random_bits() % 2)
                                            : random_bits());
    e.name = (uint32_t) (random_bits() % 12);
    e.id = (uint32_t) (random_bits() % 50);
    e.parent = (uint32_t) (random_bits() % 50);
    e.t_ns = 1000000 + i * 1000 + random_bits() % 3000;
    return e;
}

static nino_status write_some(const char *path, uint64_t seed, int n)
{
    nino_trace *t = nino_trace_create(path, &err);
    if (!t)
        return err.code;
    state = seed;
    for (int i = 0; i < n; i++) {
        const nino_event e = any_record((uint64_t) i);
        nino_trace_add(t, &e, 1, name_of, NULL);
    }
    return nino_trace_finish(&t, &err);
}

static void anything(void)
{
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int f = 0; f < FORMS; f++) {
            nino_stats *stats = nino_stats_create();
            CHECK(stats);
            CHECK_OK(write_some(path_of(forms[f]), seed, 3000), err);
            const nino_status st = nino_trace_load(path_of(forms[f]), stats, &err);
            if (f == PERFETTO) // is written only
                CHECK(st == NINO_ERR_UNSUPPORTED && strstr(err.msg, "keep a .ninotrace"));
            else
                CHECK_OK(st, err);
            nino_stats_destroy(&stats);
        }
}

// ---- a disk that is full -------------------------------------------------------------------------

static void full_disk(void)
{
    struct rlimit had, few;
    CHECK(!getrlimit(RLIMIT_FSIZE, &had) && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (int f = 0; f < FORMS; f++) {
        rlim_t at = 0;
        int refused = 0;
        for (nino_status st = NINO_ERR_IO; st; at = at * 3 / 2 + 20) {
            const char *path = path_of(forms[f]);
            few = had;
            few.rlim_cur = at;
            err = (nino_error){ 0 };
            CHECK(!setrlimit(RLIMIT_FSIZE, &few));
            st = write_some(path, 1, 2000);
            CHECK(!setrlimit(RLIMIT_FSIZE, &had));
            CHECK(!st || (err.code == NINO_ERR_IO && err.msg[0] && !strchr(err.msg, '\n')));
            refused += st != NINO_OK;
        }
        CHECK(refused > 1);
    }
    CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
}

// ---- blocks that make no sense -------------------------------------------------------------------

static void ignore(void *priv, const nino_event *ev, size_t n,
                   const char *(*name)(void *name_priv, uint32_t id), void *name_priv)
{
    for (size_t i = 0; i < n; i++)
        CHECK(name(name_priv, ev[i].name));
    *(size_t *) priv += n;
}

static nino_status with_block(uint32_t kind, const void *p, uint32_t n, uint32_t more)
{
    const nino_own_head h = { .magic = { 'n', 'i', 'n', 'o', 't', 'r', 'c', '\n' },
                              .version = NINO_OWN_FILE_VERSION,
                              .event_bytes = sizeof(nino_event) };
    nino_own_block b = {
        .magic = NINO_OWN_FILE_MARK, .kind = kind, .bytes = n + more, .stored = n
    };
    const nino_hash head = nino_hash_bytes(&b, sizeof(b)), body = nino_hash_bytes(p, n);
    size_t seen = 0;
    bool is_whole = false;
    b.hash = head.lo ^ (body.lo * 3);
    FILE *f = fopen(path_of("b.ninotrace"), "wb");
    CHECK(f && fwrite(&h, sizeof(h), 1, f) == 1 && fwrite(&b, sizeof(b), 1, f) == 1);
    CHECK((!n || fwrite(p, n, 1, f) == 1) && !fclose(f));
    err = (nino_error){ 0 };
    return nino_own_read(path_of("b.ninotrace"), ignore, &seen, &is_whole, &err);
}

static void senseless(void)
{
    static const struct {
        uint32_t kind, id, len, n, more;
        nino_status st;
    } t[] = {
        { NINO_OWN_FILE_NAMES, 1, 4, 12, 0, NINO_OK },
        { NINO_OWN_FILE_NAMES, 1, 4, 12, 5, NINO_ERR_FORMAT }, // packed, but is not
        { NINO_OWN_FILE_NAMES, 1, 4, 7, 0, NINO_ERR_FORMAT },  // half a head
        { NINO_OWN_FILE_NAMES, 1, 5, 12, 0, NINO_ERR_FORMAT }, // longer than the block
        { NINO_OWN_FILE_NAMES, 0xffffffff, 4, 12, 0, NINO_ERR_FORMAT },
        { NINO_OWN_FILE_NAMES, 100000, 4, 12, 0, NINO_OK },
        { NINO_OWN_FILE_EVENTS, 0, 0, 12, 0, NINO_ERR_FORMAT }, // no whole record
        { NINO_OWN_FILE_EVENTS, 0, 0, sizeof(nino_event), 0, NINO_OK },
        { 99, 0, 0, 12, 0, NINO_OK }, // of later versions
        { NINO_OWN_FILE_END, 0, 0, 0, 0, NINO_OK },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint32_t words[64] = { t[i].id, t[i].len, 0x64636261 };
        const nino_status st = with_block(t[i].kind, words, t[i].n, t[i].more);
        if (st != t[i].st)
            fprintf(stderr, "row %zu: %s\n", i, err.msg);
        CHECK(st == t[i].st && (!st || strstr(err.msg, "is damaged at byte")));
    }
}

int main(void)
{
    char cmd[100];
    CHECK(mkdtemp(dir));
    anything();
    full_disk();
    senseless();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(!system(cmd));
    return 0;
}
