// Trace files: what is written passes the checker, whatever was lost; the checker refuses what is
// unbalanced, overlapping or out of order; a file gives the same statistics as the run.
#include <ninodes/monitor.h>
#include "tests/test.h"
#include "tests/unit/monitor/trace_run.h"

#include <ninodes/history.h>

#include <math.h>

static char dir[64];
static nino_error err;

static const char *path_of(const char *name)
{
    static char p[128];
    snprintf(p, sizeof(p), "%s/%s", dir, name);
    return p;
}

static uint64_t write_and_check(const char *name, const nino_event *e, size_t n)
{
    unlink(path_of(name));
    nino_trace *t = nino_trace_create(path_of(name), &err);
    CHECK_OK(t ? NINO_OK : err.code, err);
    CHECK(access(path_of(name), F_OK) != 0); // appears when it is whole
    nino_trace_add(t, e, n, name_of, NULL);
    CHECK_OK(nino_trace_finish(&t, &err), err);
    CHECK(!t);
    uint64_t count = 0;
    CHECK_OK(nino_trace_check(path_of(name), &count, &err), err);
    return count;
}

// How often the text stands in a file.
static int count_text(const char *name, const char *text)
{
    static char all[1 << 16];
    int n = 0;
    FILE *f = fopen(path_of(name), "rb");
    CHECK(f);
    all[fread(all, 1, sizeof(all) - 1, f)] = 0;
    fclose(f);
    for (const char *p = all; (p = strstr(p, text)); p++)
        n++;
    return n;
}

static void test_written(void)
{
    nino_event e[64];
    const size_t n = a_run(e);
    const uint64_t all = write_and_check("a.json", e, n);
    CHECK(all > n);
    // an arrow to every kernel, from the scope that enqueued it
    CHECK(count_text("a.json", "\"ph\":\"s\"") == 4 && count_text("a.json", "\"ph\":\"f\"") == 4);
    CHECK(count_text("a.json", "\"ph\":\"s\",\"pid\":") == 4);
    CHECK(write_and_check("a.json.gz", e, n) == all);
    FILE *f = fopen(path_of("a.json.gz"), "rb");
    CHECK(f && fgetc(f) == 0x1f && fgetc(f) == 0x8b);
    fclose(f);

    // every single record lost, and every tail: still valid
    for (size_t skip = 0; skip < n; skip++) {
        nino_event part[64];
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (i != skip)
                part[k++] = e[i];
        write_and_check("b.json", part, k);
        write_and_check("b.json", e, skip);
        write_and_check("b.json", e + skip, n - skip);
    }
    nino_trace *t = nino_trace_create(path_of("gone.json"), &err);
    nino_trace_add(t, e, n, name_of, NULL);
    nino_trace_abort(&t);
    CHECK(!t && access(path_of("gone.json"), F_OK) != 0);
    CHECK(!nino_trace_create(path_of("a.json/t.json"), &err) && err.where[0] && err.msg[0]);
}

// Thousands of scopes and kernels of pseudo-random length, some records missing.
static void test_long(void)
{
    uint64_t seed = 1, t = 1000000;
    uint32_t next = 1, stack[8];
    int depth = 0;
    nino_trace *tr = nino_trace_create(path_of("long.json.gz"), &err);
    CHECK(tr);
    for (int i = 0; i < 30000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned r = (unsigned) (seed >> 40);
        nino_event e = kernel(t - r % 3000, r % 5000, depth ? stack[depth - 1] : 0);
        e.track = (uint16_t) (256 + r % 2);
        if (r % 4 == 1 && depth < 8) {
            e = scope(t, (nino_event_kind) (1 + r % 5), 3, next, depth ? stack[depth - 1] : 0);
            stack[depth++] = next++;
        } else if (r % 4 == 2 && depth) {
            e = scope(t, NINO_EV_END, 0, stack[--depth], 0);
        }
        t += r % 700;
        if (r % 97)
            nino_trace_add(tr, &e, 1, name_of, NULL);
    }
    CHECK_OK(nino_trace_finish(&tr, &err), err);
    uint64_t n;
    CHECK_OK(nino_trace_check(path_of("long.json.gz"), &n, &err), err);
    CHECK(n > 29000);
}

static void test_load(void)
{
    nino_event e[64];
    const size_t n = a_run(e);
    write_and_check("c.json", e, n);
    nino_stats *live = nino_stats_create(), *file = nino_stats_create();
    nino_stats_add(live, e, n, name_of, NULL);
    CHECK_OK(nino_trace_load(path_of("c.json"), file, &err), err);
    nino_op_stat a[8], b[8];
    CHECK(nino_stats_ops(live, a, 8) == 2 && nino_stats_ops(file, b, 8) == 2);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(b[i].name, a[i].name);
        CHECK_STR(b[i].family, a[i].family);
        CHECK(b[i].calls == a[i].calls && b[i].flops == a[i].flops);
    }
    CHECK(count_text("c.json",
                     "\"global\":\"4096x3x1\",\"local\":\"64x1x1\",\"requested_bytes\":5000") == 2);
    CHECK(count_text("c.json", "\"global\":\"128x1x1\",\"local\":\"driver's choice\"") == 2);
    CHECK(count_text("c.json", "requested_bytes") == 2 &&
          count_text("c.json", "\"bits\":16,") == 4);
    nino_node_stat x, y;
    CHECK(nino_stats_nodes(live, &x, 1) == 1 && nino_stats_nodes(file, &y, 1) == 1);
    CHECK_STR(y.name, x.name);
    CHECK(y.ns == x.ns && y.mem_peak == x.mem_peak && y.mem_delta == x.mem_delta);
    nino_mem_stat m;
    nino_stats_memory(file, &m);
    CHECK(m.peak == 1024 && m.peak_by_owner[NINO_OWN_ACTIVATION] == 1024);
    nino_stats_destroy(&live);
    nino_stats_destroy(&file);
    CHECK(nino_trace_load(path_of("absent"), NULL, &err) == NINO_ERR_MISSING);
}

static nino_history *history_of(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
    nino_history *h = nino_history_create(0);
    CHECK_OK(nino_history_load(h, path_of(name), &err), err);
    return h;
}

static const nino_op_stat *op_named(const nino_op_stat *o, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(o[i].name, name))
            return &o[i];
    return NULL;
}

// One slice a trace: what it is taken for, by its category, its name and its thread's name.
static void check_lanes(void)
{
    static const struct {
        const char *slice;  // with ' for "; it takes 4 us
        const char *family; // of a device's work; NULL: a stage of the program
        double bytes;
    } rows[] = {
        { "'tid':3,'name':'a'", NULL, 0 },
        { "'tid':-3,'name':'a'", "kernel", 0 },
        { "'tid':1.5,'name':'a'", "kernel", 0 },
        { "'tid':'a','name':'a'", "kernel", 0 },
        { "'tid':'ab','name':'a'", NULL, 0 },
        { "'tid':'b','name':'a'", NULL, 0 },
        { "'name':'a'", NULL, 0 },
        { "'tid':3,'name':'a','cat':'gpu_kernel'", "kernel", 0 },
        { "'tid':3,'name':'a','cat':'gpu_memcpy','args':{'bytes':64}", "transfer", 64 },
        { "'tid':3,'name':'a','cat':'gpu_memset','args':{'bytes':-1}", "transfer", 0 },
        { "'tid':3,'name':'a','cat':'gpu_memset','args':{'bytes':'x'}", "transfer", 0 },
        { "'tid':-1,'name':'Memcpy HtoD'", "transfer", 0 },
        { "'tid':-1,'name':'Memset'", "transfer", 0 },
        { "'tid':-1,'name':'clEnqueueFillBuffer'", "transfer", 0 },
        { "'tid':-1,'name':'clEnqueueNDRangeKernel'", "kernel", 0 },
        { "'tid':-1,'name':'zeCommandListAppendMemoryCopy'", "transfer", 0 },
        { "'tid':-1,'name':'ReadBack'", "kernel", 0 },
        { "'tid':9,'name':'a'", "kernel", 0 },  // queue 0
        { "'tid':10,'name':'a'", "kernel", 0 }, // stream 7
        { "'tid':11,'name':'a'", "kernel", 0 }, // gpu
        { "'tid':12,'name':'a'", NULL, 0 },     // main
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1200];
        snprintf(text, sizeof(text),
                 "[{'ph':'M','name':'thread_name','pid':1,'tid':9,'args':{'name':'queue 0'}},"
                 "{'ph':'M','name':'thread_name','pid':1,'tid':10,'args':{'name':'stream 7'}},"
                 "{'ph':'M','name':'thread_name','pid':1,'tid':11,'args':{'name':'gpu'}},"
                 "{'ph':'M','name':'thread_name','pid':1,'tid':12,'args':{'name':'main'}},"
                 "{'ph':'M','name':'thread_sort_index','pid':1,'tid':12},"
                 "{'ph':'X','pid':1,'ts':1,'dur':1e13,'name':'too long'},"
                 "{'ph':'X','pid':1,'ts':1,'dur':-1,'name':'ends early'},"
                 "{'ph':'X','pid':1,'ts':1e19,'dur':1,'name':'too late'},"
                 "{'ph':'X','pid':1,'ts':'x','dur':1,'name':'no time'},"
                 "{'ph':'X','pid':1,'ts':1,'name':'no end'},{'ph':'X','pid':1,'ts':1,'dur':1},"
                 "{'ph':'X','pid':1,'ts':5,'dur':4,%s}]",
                 rows[i].slice);
        char *json = test_quoted(text);
        nino_history *h = history_of("lane.json", json);
        nino_op_stat o[4];
        const size_t n = nino_stats_ops(nino_history_stats(h), o, 4);
        if (n != (rows[i].family != NULL))
            fprintf(stderr, "%s: %zu\n", rows[i].slice, n);
        CHECK(n == (rows[i].family != NULL));
        if (n) {
            CHECK_STR(o[0].family, rows[i].family);
            CHECK(o[0].total_ns == 4000 && o[0].bytes == rows[i].bytes);
        }
        size_t spans = 0;
        nino_history_spans(h, &spans);
        CHECK(spans == 4 + !n); // the job, those of no length, the stage
        nino_history_destroy(&h);
        free(json);
    }
    // slices that begin together: the longer one holds the other
    nino_history *h = history_of("lane.json", "[{\"ph\":\"X\",\"tid\":1,\"ts\":1,\"dur\":2,"
                                              "\"name\":\"inner\"},{\"ph\":\"X\",\"tid\":1,"
                                              "\"ts\":1,\"dur\":4,\"name\":\"outer\"}]");
    size_t k;
    const nino_span *s = nino_history_spans(h, &k);
    CHECK(k == 3 && s[2].parent == 1);
    CHECK_STR(nino_history_name(h, s[2].name), "inner");
    nino_history_destroy(&h);
}

// What other programs write.
static void test_foreign(void)
{
    // CLIntercept: an array that never ends; queues below zero, or commands in three stages
    nino_history *h = history_of(
        "cli.json",
        "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":0,\"args\":{\"name\":\"app\"}"
        "},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":31,\"name\":\"clFinish\",\"ts\":1000.5,\"dur\":500.0},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":31,\"name\":\"clEnqueueNDRangeKernel( conv "
        ")\",\"ts\":900.000,"
        "\"dur\":50.25,\"args\":{\"id\":1}},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":31,\"name\":\"inner\",\"ts\":910.000,\"dur\":10},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"name\":\"conv\",\"ts\":1010.0,\"dur\":100.125,"
        "\"args\":{\"id\":1}},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"name\":\"conv\",\"ts\":1200.0,\"dur\":99.875,"
        "\"args\":{\"id\":2}},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"name\":\"clEnqueueReadBuffer\",\"ts\":1300.0,\"dur\":"
        "20,\"args\":{}},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1.0,\"name\":\"gemm (Queued)\",\"ts\":1320,\"dur\":5},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1.0,\"name\":\"gemm "
        "(Submitted)\",\"ts\":1325,\"dur\":7},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":1.0,\"name\":\"gemm "
        "(Execution)\",\"ts\":1332,\"dur\":30},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":\"norm\",\"name\":\"norm\",\"ts\":1400,\"dur\":11},\n"
        "{\"ph\":\"X\",\"pid\":7,\"tid\":-1,\"na");
    nino_op_stat o[8];
    const size_t n = nino_stats_ops(nino_history_stats(h), o, 8);
    CHECK(n == 4);
    const nino_op_stat *conv = op_named(o, n, "conv"), *gemm = op_named(o, n, "gemm");
    CHECK(conv && conv->calls == 2 && conv->total_ns == 200000);
    CHECK(gemm && gemm->calls == 1 && gemm->total_ns == 30000 && op_named(o, n, "norm"));
    CHECK_STR(op_named(o, n, "clEnqueueReadBuffer")->family, "transfer");
    size_t k;
    const nino_span *s = nino_history_spans(h, &k);
    CHECK(k == 4 && s[0].kind == NINO_EV_JOB && s[0].begin_ns == 1000);
    CHECK(s[0].end_ns - s[0].begin_ns == 600500); // from 900 to 1500.5 µs
    CHECK_STR(nino_history_name(h, s[2].name), "inner");
    CHECK(s[2].parent == 1 && s[1].track == s[3].track && s[3].parent < 0);
    const nino_event *e = nino_history_slices(h, 257, &k);
    CHECK(k == 1 && e[0].u.kernel.queued_us == 12 && e[0].u.kernel.submitted_us == 7);
    nino_history_destroy(&h);

    // PyTorch: categories say what an event is; times count from 1970
    h = history_of(
        "torch.json",
        "{\"schemaVersion\":1,\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":"
        "1700000000000000,"
        "\"dur\":90},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"sgemm\",\"pid\":0,\"tid\":7,\"ts\":"
        "1700000000000020,"
        "\"dur\":40,\"args\":{\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":7,"
        "\"ts\":1700000000000060,\"dur\":8,\"args\":{\"bytes\":4096}}]}");
    CHECK(nino_stats_ops(nino_history_stats(h), o, 8) == 2 && o[0].total_ns == 40000);
    CHECK(o[1].bytes == 4096 && !strcmp(o[1].family, "transfer"));
    nino_history_destroy(&h);

    check_lanes();
    // nothing in it: said, not shown as an empty run
    FILE *f = fopen(path_of("none.json"), "w");
    CHECK(f && fputs("[{\"ph\":\"C\",\"name\":\"x\",\"ts\":1}]", f) >= 0 && !fclose(f));
    h = nino_history_create(0);
    CHECK(nino_history_load(h, path_of("none.json"), &err) == NINO_ERR_FORMAT);
    CHECK(strstr(err.msg, "another program"));
    nino_history_destroy(&h);
}

static void refuses(const char *kind, const char *events)
{
    FILE *f = fopen(path_of("bad.json"), "w");
    CHECK(f);
    fprintf(f, "{\"traceEvents\":[%s]}", events);
    fclose(f);
    const nino_status st = nino_trace_check(path_of("bad.json"), NULL, &err);
    if (!st || strcmp(err.kind, kind) != 0)
        fprintf(stderr, "%s: expected %s: %s\n", events, kind, st ? err.msg : "accepted");
    CHECK(st == NINO_ERR_FORMAT && !strcmp(err.kind, kind));
}

static void accepts(const char *events)
{
    FILE *f = fopen(path_of("good.json"), "w");
    CHECK(f);
    fprintf(f, "[%s]", events); // the bare array is a trace, too
    fclose(f);
    CHECK_OK(nino_trace_check(path_of("good.json"), NULL, &err), err);
}

#define EV(ph, tid, ts, more)                                                                      \
    "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"name\":\"n\"" more "}"

static void test_checker(void)
{
    accepts("");
    accepts(EV("B", 1, 1, "") "," EV("X", 1, 1.5, ",\"dur\":0.5") "," EV("E", 1, 2, ""));
    accepts(EV("X", 1, 1, ",\"dur\":10") "," EV("X", 1, 2, ",\"dur\":9") "," EV("X", 1, 11,
                                                                                ",\"dur\":1"));
    accepts(EV("B", 1, 5, "") "," EV("B", 2, 4, "") "," EV("E", 1, 6, "") "," EV("E", 2, 5, ""));
    accepts(EV("C", 1, 5, "") "," EV("X", 1, 4, ",\"dur\":1")); // a counter is a track of its own
    accepts(EV("M", 1, 0, "") "," EV("s", 1, 0, ",\"id\":1"));

    refuses("unbalanced", EV("B", 1, 1, ""));
    refuses("unbalanced", EV("E", 1, 1, ""));
    refuses("unbalanced", EV("B", 1, 1, "") "," EV("E", 2, 2, ""));
    refuses("unbalanced",
            EV("B", 1, 1, "") ",{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"other\"}");
    CHECK(strstr(err.where, "track 1/1"));
    refuses("overlap", EV("X", 7, 1, ",\"dur\":2") "," EV("X", 7, 2, ",\"dur\":2"));
    CHECK(strstr(err.where, "track 1/7"));
    refuses("overlap", EV("X", 1, 1, ",\"dur\":0.003") "," EV("X", 1, 1.002, ",\"dur\":0.002"));
    refuses("overlap", EV("B", 1, 1, "") "," EV("X", 1, 2, ",\"dur\":5") "," EV("E", 1, 3, ""));
    refuses("order", EV("X", 1, 5, ",\"dur\":1") "," EV("X", 1, 4, ",\"dur\":1"));
    refuses("order", EV("C", 1, 5, "") "," EV("C", 2, 4, ""));
    refuses("schema", EV("X", 1, 5, ""));
    refuses("schema", EV("X", 1, 5, ",\"dur\":-1"));
    refuses("schema", EV("X", 1, "5", ",\"dur\":1"));
    refuses("schema", EV("Z", 1, 5, ""));
    refuses("schema", "{\"ph\":\"B\",\"ts\":1,\"name\":\"n\"}");
    refuses("schema", "7");
    refuses("schema", "{\"ph\":\"\"}");
    refuses("schema", EV("BE", 1, 5, ""));
    refuses("schema", "{\"ph\":\"B\",\"pid\":1,\"ts\":1,\"name\":\"n\"}");
    refuses("schema", "{\"ph\":\"B\",\"pid\":{},\"tid\":1,\"ts\":1,\"name\":\"n\"}");
    refuses("schema", "{\"ph\":\"B\",\"pid\":1,\"tid\":[],\"ts\":1,\"name\":\"n\"}");
    refuses("schema", "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":1}");
    refuses("schema", EV("X", 1, 5e12, ",\"dur\":1"));
    refuses("syntax", "{");
    FILE *f = fopen(path_of("object.json"), "w");
    fputs("{\"a\":1}", f);
    fclose(f);
    CHECK(nino_trace_check(path_of("object.json"), NULL, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "schema");
    f = fopen(path_of("object.json"), "w");
    fputs("{\"traceEvents\":{}}", f);
    fclose(f);
    CHECK(nino_trace_check(path_of("object.json"), NULL, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "schema");
    CHECK(nino_trace_check(path_of("absent.json"), NULL, &err) == NINO_ERR_MISSING);
    CHECK(nino_trace_check(path_of("object.json/t.json"), NULL, &err) == NINO_ERR_IO);
    CHECK(nino_trace_check(path_of("object.json/t.ninotrace"), NULL, &err) == NINO_ERR_IO);
    f = fopen(path_of("cut.json.gz"), "wb"); // a header of gzip and nothing else
    fwrite("\x1f\x8b\x08\0\0\0\0\0\0\3", 1, 10, f);
    fclose(f);
    CHECK(nino_trace_check(path_of("cut.json.gz"), NULL, &err) == NINO_ERR_FORMAT);
}

// Arrays that are cut anywhere, and what is left of them.
static void test_cut(void)
{
    static const struct {
        const char *text;
        int n; // events, -1: refused
    } t[] = {
        { "", -1 },
        { " \r\n\t", -1 },
        { "[", 0 },
        { " [ ", 0 },
        { "[]", 0 },
        { "[{\"ph\":\"M\"}", 1 },
        { "[{\"ph\":\"M\"},\n", 1 },
        { "[{\"ph\":\"M\"},\n{\"ph\":\"M\"}\r\n{\"ph", 2 },
        { "[{\"ph\":\"M\"},\n{\"ph\":\"M\"},{\"ph\":\"M\",\"args\":{\"a\":1}", 2 },
        { "[{\"ph\"", 0 },
        { "[{\"ph\":\"M\"},{\"ph\":\"M\",\"args\":{},\"b\":[{}],", 1 },
        { "[{\"ph\":\"M\"},{\"ph\":\"M\",\"name\":\"}],\\\"\"},{\"name\":\"}", 2 },
        { "[}", -1 },
        { "{\"traceEvents\":[", -1 },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        uint64_t n = 99;
        FILE *f = fopen(path_of("cut.json"), "w");
        CHECK(f && fputs(t[i].text, f) >= 0 && !fclose(f));
        const nino_status st = nino_trace_check(path_of("cut.json"), &n, &err);
        if (st ? t[i].n >= 0 : n != (uint64_t) t[i].n)
            fprintf(stderr, "%s: %s, %d events\n", t[i].text, st ? err.msg : "ok", (int) n);
        CHECK(st ? t[i].n < 0 && st == NINO_ERR_FORMAT : n == (uint64_t) t[i].n);
    }
}

// Many tracks, slices inside slices, and more of them than anybody nests.
static void test_many(void)
{
    for (int deep = 20; deep <= 5000; deep += 4980) {
        FILE *f = fopen(path_of("deep.json"), "w");
        CHECK(f && fputs("[", f) >= 0);
        for (int i = 0; i < deep; i++)
            fprintf(f, "%s" EV("X", 1, % d, ",\"dur\":%d"), i ? "," : "", i, 2 * (deep - i));
        for (int i = 0; i < 100; i++)
            fprintf(f, "," EV("B", % d, 1, "") "," EV("E", % d, 2, ""), i + 2, i + 2);
        CHECK(fputs("]", f) >= 0 && !fclose(f));
        uint64_t n = 0;
        const nino_status st = nino_trace_check(path_of("deep.json"), &n, &err);
        if (deep == 20)
            CHECK(!st && n == 220);
        else
            CHECK(st == NINO_ERR_FORMAT && strstr(err.msg, "more than 4096 deep"));
    }
}

int main(void)
{
    snprintf(dir, sizeof(dir), "/tmp/nino-trace-XXXXXX");
    CHECK(mkdtemp(dir));
    test_written();
    test_long();
    test_load();
    test_foreign();
    test_checker();
    test_cut();
    test_many();
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
    return system(cmd) != 0;
}
