// Trace files: our own form, Chrome's as we write it and as others do. What is read can be looked at
// and is written again as a trace that the checker passes; what is refused says why.
#include "core/base/hash.h"
#include "core/monitor/trace/trace_own.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/looked_at.h"
#include "tests/unit/monitor/trace_run.h"

const size_t fuzz_max_len = 8192;

const char *const fuzz_words[] = { "\"traceEvents\":[",
                                   "\"ph\":\"X\"",
                                   "\"ph\":\"B\"",
                                   "\"ph\":\"E\"",
                                   "\"ph\":\"C\"",
                                   "\"ph\":\"M\"",
                                   "\"ph\":\"i\"",
                                   "\"ph\":\"s\"",
                                   "\"pid\":",
                                   "\"tid\":",
                                   "\"ts\":",
                                   "\"dur\":",
                                   "\"args\":{",
                                   "\"cat\":\"kernel\"",
                                   "\"name\":\"conv (Execution)\"",
                                   "\"name\":\"process_name\"",
                                   "1e308",
                                   "-1",
                                   "18446744073709551615",
                                   "ninotrc\n",
                                   "\x4e\x42\x4c\x4b",
                                   "\x1f\x8b\x08",
                                   "NaN",
                                   "]}",
                                   NULL };

static size_t seed_written(const char *name, uint8_t *buf, size_t cap)
{
    nino_event e[64];
    nino_error err = { 0 };
    char path[160];
    const size_t n = a_run(e);
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    nino_trace *t = nino_trace_create(path, &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    nino_trace_add(t, e, n, name_of, NULL);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t len = fread(buf, 1, cap, f);
    fclose(f);
    return len;
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const texts[] = {
        "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":0,\"args\":{\"name\":\"app\"}"
        "},\n{\"ph\":\"X\",\"pid\":7,\"tid\":31,\"name\":\"clFinish\",\"ts\":1000.5,\"dur\":500.0},"
        "\n{\"ph\":\"X\",\"pid\":7,\"tid\":31,\"name\":\"inner\",\"ts\":1010.25,\"dur\":10},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"name\":\"conv\",\"ts\":1010.0,\"dur\":100.125,"
        "\"args\":{\"id\":1}},\n{\"ph\":\"X\",\"pid\":7,\"tid\":1.0,\"name\":\"gemm (Queued)\","
        "\"ts\":1320,\"dur\":5},\n{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"na",
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,"
        "\"ts\":1,\"dur\":2,\"args\":{\"stream\":7,\"correlation\":3}},{\"ph\":\"X\",\"cat\":"
        "\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":0.5,\"dur\":9}]}",
    };
    static const char *const names_of_forms[] = { "a.ninotrace", "a.json", "a.json.gz" };
    return i < 3 ? seed_written(names_of_forms[i], buf, cap)
                 : fuzz_text(texts, sizeof(texts) / sizeof(texts[0]), i - 3, buf, cap);
}

// Gives the blocks of our own form the sums that no mutation would ever get right.
static void fix_blocks(uint8_t *p, size_t n)
{
    nino_own_block b;
    for (size_t at = sizeof(nino_own_head); n >= at + sizeof(b); at += sizeof(b) + b.stored) {
        memcpy(&b, p + at, sizeof(b));
        b.hash = 0;
        if (b.stored > n - at - sizeof(b))
            return;
        const nino_hash head = nino_hash_bytes(&b, sizeof(b));
        b.hash = head.lo ^ (nino_hash_bytes(p + at + sizeof(b), b.stored).lo * 3);
        memcpy(p + at, &b, sizeof(b));
    }
}

static void check_file(const char *name, const void *data, size_t size)
{
    char path[160], again[160];
    nino_error err = { 0 };
    uint64_t n = 0;
    snprintf(path, sizeof(path), "%s", fuzz_file(name, data, size));
    snprintf(again, sizeof(again), "%s/again.json", fuzz_folder());
    const nino_status st = nino_trace_check(path, &n, &err);
    CHECK(!st || (err.code == st && err.msg[0] && !strchr(err.msg, '\n')));
    nino_history *h = nino_history_create(4096);
    CHECK(h);
    err = (nino_error){ 0 };
    if (nino_history_load(h, path, &err)) {
        CHECK(err.code && err.msg[0] && !strchr(err.msg, '\n'));
    } else {
        look_at(h);
        CHECK_OK(nino_history_save(h, again, &err), err);
        CHECK_OK(nino_trace_check(again, &n, &err), err);
    }
    nino_history_destroy(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    CHECK(copy);
    memcpy(copy, data, size);
    check_file("t.json", copy, size);
    if (size > 8 && !memcmp(copy, "ninotrc\n", 8)) {
        fix_blocks(copy, size);
        check_file("t.ninotrace", copy, size);
    }
    free(copy);
    return 0;
}
