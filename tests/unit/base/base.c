// The leaf modules: buffer, arena, checked sizes, hash, log, debug words.
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/size.h"
#include "core/base/vars.h"
#include "tests/test.h"

static void test_buf(void)
{
    nino_buf b = { 0 };
    nino_buf_add(&b, "", 0);
    CHECK_STR(b.data, "");
    nino_buf_adds(&b, "ab");
    nino_buf_addc(&b, 'c');
    nino_buf_addf(&b, "-%d-%s", 42, "x");
    CHECK_STR(b.data, "abc-42-x");
    CHECK(b.len == 8 && !b.failed);
    nino_buf_clear(&b);
    CHECK(b.len == 0 && b.data && !b.data[0]);

    // longer than any capacity so far, twice
    char big[5000];
    memset(big, 'y', sizeof(big) - 1);
    big[sizeof(big) - 1] = 0;
    nino_buf_addf(&b, "%s%s", big, big);
    CHECK(b.len == 2 * (sizeof(big) - 1) && strlen(b.data) == b.len);
    nino_buf_add(&b, "a\0b", 3);
    CHECK(b.len == 2 * (sizeof(big) - 1) + 3 && b.data[b.len - 1] == 'b');

    // a length that cannot be: sticky, what was there stays
    nino_buf_clear(&b);
    nino_buf_adds(&b, "keep");
    nino_buf_add(&b, "x", SIZE_MAX - 2);
    CHECK(b.failed);
    nino_buf_adds(&b, "more");
    CHECK_STR(b.data, "keep");
    nino_buf_clear(&b);
    CHECK(!b.failed);
    nino_buf_release(&b);
    CHECK(!b.data && !b.len && !b.cap);
}

static void check_json(const char *s, size_t len, const char *expect)
{
    nino_buf b = { 0 };
    nino_buf_add_json_string(&b, s, len);
    CHECK_STR(b.data, expect);
    nino_buf_release(&b);
}

static void test_json_string(void)
{
    check_json("", 0, "\"\"");
    check_json("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    check_json("\b\f\n\r\t\x01\x1f\x7f", 8, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    check_json("a\0b", 3, "\"a\\u0000b\"");
    check_json("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    check_json("x\xffy\xc3", 4, "\"x\\ufffdy\\ufffd\"");
    check_json("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""); // a surrogate is not UTF-8
}

static void test_arena(void)
{
    nino_arena *a = nino_arena_create();
    CHECK(a);
    for (size_t i = 0; i < 20000; i++) {
        const size_t n = i * 37 % 900;
        unsigned char *p = nino_arena_alloc(a, n);
        CHECK(p && (uintptr_t) p % 16 == 0);
        for (size_t k = 0; k < n; k++)
            CHECK(p[k] == 0);
        memset(p, 0xff, n);
    }
    unsigned char *big = nino_arena_alloc(a, 5 << 20);
    CHECK(big && big[0] == 0 && big[(5 << 20) - 1] == 0);
    CHECK_STR(nino_arena_strdup(a, "hello"), "hello");
    char *s = nino_arena_strndup(a, "hello", 2);
    CHECK_STR(s, "he");
    CHECK_STR(nino_arena_strndup(a, NULL, 0), "");
    CHECK(!nino_arena_alloc(a, SIZE_MAX) && !nino_arena_alloc(a, SIZE_MAX - 40));
    CHECK(!nino_arena_strndup(a, "x", SIZE_MAX));
    // 9 MB of small objects and one of 5 MiB, without much waste
    CHECK(nino_arena_bytes(a) > (13u << 20) && nino_arena_bytes(a) < (18u << 20));
    nino_arena_destroy(&a);
    CHECK(!a);
    nino_arena_destroy(&a);
    nino_arena_destroy(NULL);
}

static void test_size(void)
{
    uint64_t v = 7;
    CHECK(nino_add_u64(1, 2, &v) && v == 3);
    CHECK(!nino_add_u64(UINT64_MAX, 1, &v) && v == 3);
    CHECK(nino_mul_u64(1u << 31, 1u << 31, &v) && v == (uint64_t) 1 << 62);
    CHECK(!nino_mul_u64((uint64_t) 1 << 32, (uint64_t) 1 << 32, &v) && v == (uint64_t) 1 << 62);
    CHECK(nino_round_up(0, 16) == 0 && nino_round_up(1, 16) == 16 && nino_round_up(16, 16) == 16);
    CHECK(nino_ceil_div(7, 2) == 4 && nino_ceil_div(8, 2) == 4);
}

static void test_hash(void)
{
    // XXH3 of the empty input is a published constant
    const nino_hash e = nino_hash_bytes("", 0);
    CHECK(e.hi == 0x99aa06d3014798d8u && e.lo == 0x6001c324468d497fu);
    char data[3000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char) (i * 31);
    const nino_hash whole = nino_hash_bytes(data, sizeof(data));
    nino_hasher *h = nino_hasher_create();
    CHECK(h);
    nino_hasher_add(h, data, 1);
    nino_hasher_add(h, NULL, 0);
    nino_hasher_add(h, data + 1, 2000);
    nino_hasher_add(h, data + 2001, sizeof(data) - 2001);
    const nino_hash parts = nino_hasher_finish(&h);
    CHECK(!h && parts.lo == whole.lo && parts.hi == whole.hi);
    data[2999] ^= 1;
    CHECK(nino_hash_bytes(data, sizeof(data)).lo != whole.lo);
}

static nino_buf logged;
static int log_lines;
static void collect(void *priv, nino_log_level level, const char *line)
{
    CHECK(priv == &log_lines && level == NINO_LOG_WARN);
    log_lines++;
    nino_buf_adds(&logged, line);
    nino_buf_addc(&logged, '|');
}

static void test_log(void)
{
    const nino_log log = { collect, &log_lines, NINO_LOG_INFO };
    nino_logf(NULL, NINO_LOG_WARN, "nobody listens");
    nino_logf(&log, NINO_LOG_DEBUG, "too detailed");
    CHECK(log_lines == 0);
    nino_logf(&log, NINO_LOG_WARN, "a %d\n\tb\n\nc\x1b[31m\n", 7);
    CHECK_STR(logged.data, "a 7| b||c?[31m|");
    char big[4000];
    memset(big, 'z', sizeof(big));
    big[sizeof(big) - 1] = 0;
    big[1500] = '\n';
    nino_buf_clear(&logged);
    nino_logf(&log, NINO_LOG_WARN, "%s", big);
    CHECK(logged.len == sizeof(big) && logged.data[1500] == '|');
    nino_buf_release(&logged);
}

static void test_error(void)
{
    nino_error err;
    CHECK(nino_fail(&err, NINO_ERR_RANGE, "a\nb", "c\x1b %d", 3) == NINO_ERR_RANGE);
    CHECK_STR(err.where, "a?b");
    CHECK_STR(err.msg, "c? 3");
    CHECK_STR(err.kind, "range");
    CHECK(nino_fail_kind(&err, NINO_ERR_IO, "path", NULL, "x") == NINO_ERR_IO);
    CHECK_STR(err.kind, "path");
    CHECK_STR(err.where, "");
    CHECK(nino_fail(NULL, NINO_ERR_IO, "a", "b") == NINO_ERR_IO);
    CHECK_STR(nino_status_name(NINO_OK), "ok");
    CHECK_STR(nino_status_name(NINO_ERR_UNSUPPORTED), "unsupported");
    CHECK_STR(nino_status_name(-11), "?");
    CHECK_STR(nino_status_name(1), "?");
}

static void test_vars(void)
{
    setenv("NINODES_DEBUG", "cl,cachex,mem", 1);
    setenv("NINODES_DEVICE", "", 1);
    setenv("ROCM_NINODES_DEBUG", "1", 1);
    CHECK(nino_debug_has("cl") && nino_debug_has("mem") && nino_debug_has("capture"));
    CHECK(!nino_debug_has("cache") && !nino_debug_has("c") && !nino_debug_has("graph"));
    CHECK_STR(nino_vars_get()->device, "");
    setenv("NINODES_DEVICE", "ref", 1);
    CHECK_STR(nino_vars_get()->device, ""); // read once
}

int main(void)
{
    test_buf();
    test_json_string();
    test_arena();
    test_size();
    test_hash();
    test_log();
    test_error();
    test_vars();
    return 0;
}
