// Advice: every rule speaks when its figures are there, says nothing when they are not, and its
// gain is what the figures give.
#include "core/base/utf8.h"
#include "tests/unit/catalogue.h"
#include "tests/history.h"

#include <ninodes/advice.h>

static nino_advice list[32];
static size_t n_list;

// ---- in German ---------------------------------------------------------------------------------

static catalogue german;

static const char *to_german(const char *text)
{
    for (int i = 0; i < german.n; i++)
        if (!strcmp(german.text[i].english, text)) {
            german.text[i].is_used = true;
            return german.text[i].wide;
        }
    return text;
}

// It was written whole, in another language than English.
static void check_text(const char *english, const char *text, size_t size)
{
    if (strlen(text) + 4 >= size)
        fprintf(stderr, "%zu bytes are too few: %s\n", size, text);
    CHECK(strcmp(english, text) && strlen(text) + 4 < size && nino_utf8_valid(text, strlen(text)));
}

// The same advice, with other words.
static void check_german(const nino_advice_input *in)
{
    static nino_advice other[32];
    nino_advice_input input = *in;
    input.translate = to_german;
    CHECK(nino_advise(&input, other, 32) == n_list);
    for (size_t i = 0; german.n && i < n_list; i++) {
        const nino_advice *a = &list[i], *b = &other[i];
        CHECK_STR(b->rule, a->rule);
        CHECK_STR(b->setting, a->setting);
        CHECK_STR(b->undo, a->undo);
        check_text(a->title, b->title, sizeof(b->title));
        check_text(a->evidence, b->evidence, sizeof(b->evidence));
        check_text(a->how, b->how, sizeof(b->how));
    }
}

// ---- rules -------------------------------------------------------------------------------------

static const nino_advice *advise(fake_run *r, const char *rule, const nino_advice_input *more)
{
    nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .history = r->h };
    if (more) {
        in = *more;
        in.history = r->h;
    }
    n_list = nino_advise(&in, list, 32);
    check_german(&in);
    for (size_t i = 0; i < n_list; i++)
        if (!strcmp(list[i].rule, rule)) {
            CHECK(*list[i].title && *list[i].evidence && *list[i].how);
            CHECK(strpbrk(list[i].evidence, "0123456789")); // never text alone
            CHECK((list[i].action == NINO_ADVICE_NONE) == !*list[i].setting);
            return &list[i];
        }
    return NULL;
}

static void finish(fake_run *r)
{
    fake_end(r, 1);
    for (size_t i = 1; i < n_list; i++)
        CHECK(isnan(list[i].gain_s) || list[i].gain_s <= list[i - 1].gain_s);
    nino_history_destroy(&r->h);
}

static void memory(fake_run *r, nino_mem_op op, nino_mem_owner owner, uint64_t bytes, uint64_t use)
{
    fake_add(r, (nino_event){ .kind = NINO_EV_MEM,
                              .sub = (uint8_t) op,
                              .u.mem = { .bytes = bytes,
                                         .in_use = use,
                                         .reserved = 1 << 30,
                                         .owner = (uint8_t) owner,
                                         .owner_use = (uint32_t) (use / 256) } });
}

// The stage of a kernel that is compiled, or loaded from a cache of the driver's; will the next run
// have it?
static uint32_t compile(fake_run *r, uint32_t node, bool is_known, bool is_kept)
{
    const uint32_t stage = ++r->scope;
    fake_add(r, (nino_event){ .kind = NINO_EV_STAGE,
                              .id = stage,
                              .parent = node,
                              .name = fake_id(r, "compile gemm"),
                              .u.scope = { is_known, is_kept } });
    return stage;
}

static void test_nothing(void)
{
    fake_run r = fake_begin();
    CHECK(!advise(&r, "", NULL) && n_list == 0);
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (uint32_t i = 0; i < 10; i++) {
        fake_kernel(&r, node, "gemm", 50000, 1e9, 1e6);
        fake_step(&r, node, i, 10, 0.001);
    }
    fake_end(&r, node);
    CHECK(!advise(&r, "", NULL) && n_list == 0); // a good run
    CHECK(nino_advise(&(nino_advice_input){ NINO_ADVICE_INPUT_INIT }, list, 32) == 0);
    finish(&r);
}

static void test_steps(void)
{
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (uint32_t i = 0; i < 20; i++) {
        const bool is_slow = i == 7 || i == 8;
        for (int k = 0; k < 4; k++) {
            fake_device(&r, is_slow ? 1400 : 2900, 80);
            r.t += is_slow ? 70000000 : 25000000;
        }
        r.t -= is_slow ? 280000000 : 100000000; // the samples lie in the step
        fake_step(&r, node, i, 20, is_slow ? 0.3 : 0.1);
        if (i % 2)
            fake_add(&r, (nino_event){ .kind = NINO_EV_PREVIEW,
                                       .u.step = { .step = i, .seconds = 0.03 } });
    }
    fake_end(&r, node);
    const nino_advice *a = advise(&r, "slow-steps", NULL);
    CHECK(a && fabs(a->gain_s - 0.4) < 1e-9 && strstr(a->title, "throttles"));
    CHECK(strstr(a->evidence, "2 of 20 steps") && strstr(a->evidence, "1400 MHz"));
    a = advise(&r, "previews-costly", NULL); // 0.3 s of 2.7 s; every 2 steps
    CHECK(a && a->action == NINO_ADVICE_OPTION && strstr(a->evidence, "10 previews"));
    CHECK_STR(a->setting, "--preview-every 23");
    CHECK(fabs(a->gain_s - 0.3 * (1 - 2.0 / 23)) < 1e-6);
    finish(&r);
}

// Each cause of slow steps has its own words.
static void test_slow_steps(void)
{
    static const char *const title[] = { "the next run has them", "waited for their kernels",
                                         "waited for weights", "made or lost memory",
                                         "slower than their like" };
    for (int cause = 0; cause < 5; cause++) {
        fake_run r = fake_begin();
        const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
        for (uint32_t i = 0; i < 20; i++) {
            const uint64_t t = r.t;
            r.t += 1000000; // into the step
            if (i == 7 && cause < 2) {
                const uint32_t stage = compile(&r, node, false, cause == 0);
                r.t += 150000000;
                fake_end(&r, stage);
            } else if (i == 7 && cause == 2) {
                fake_kernel(&r, node, "upload", 150000, 0, 1e8);
            } else if (i == 7 && cause == 3) {
                memory(&r, NINO_MEM_TRIM, NINO_OWN_ACTIVATION, 100 << 20, 0);
            }
            r.t = t;
            fake_step(&r, node, i, 20, i == 7 ? 0.3 : 0.1);
        }
        fake_end(&r, node);
        const nino_advice *a = advise(&r, "slow-steps", NULL);
        CHECK(a && strstr(a->title, title[cause]) && strstr(a->evidence, "1 of 20 steps"));
        finish(&r);
    }
}

// What was copied is told in the directions in which anything was.
static void test_transfers(void)
{
    static const char *const told[] = { "95.4 MiB up in 60.0 ms, 95.4 MiB down in 60.0 ms: 1.67",
                                        "95.4 MiB down in 60.0 ms: 1.67" };
    for (int i = 0; i < 2; i++) {
        fake_run r = fake_begin();
        const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
        if (!i)
            fake_kernel(&r, node, "upload", 60000, 0, 1e8);
        fake_kernel(&r, node, "download", 60000, 0, 1e8);
        fake_end(&r, node);
        const nino_ceilings c = { .measured_at = 1700000000, .upload = 1e10 };
        const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .ceilings = &c };
        const nino_advice *a = advise(&r, "transfer-bound", &in);
        CHECK(a && !strncmp(a->evidence, told[i], strlen(told[i])) && strstr(a->how, "10.00 GB/s"));
        finish(&r);
    }
}

static void test_device(void)
{
    fake_run r = fake_begin();
    fake_ceilings(&r, 1e12, 4e12, 1e11, 10e-6, 0);
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (int i = 0; i < 1000; i++) {
        fake_kernel(&r, node, "gemm", 20, 10e6, 1e5); // half the f32 ceiling
        r.t += 30000;                                 // the host thinks
    }
    fake_kernel(&r, node, "upload", 60000, 0, 1e8);
    fake_end(&r, node);
    const nino_advice *a = advise(&r, "launch-bound", NULL);
    CHECK(a && fabs(a->gain_s - 1000 * 10e-6 / 2) < 1e-9 && strstr(a->evidence, "1000 of 1000"));
    a = advise(&r, "device-idle", NULL);
    CHECK(a && fabs(a->gain_s - 0.030) < 1e-4);
    a = advise(&r, "transfer-bound", NULL);
    CHECK(a && fabs(a->gain_s - 0.06) < 1e-9);
    CHECK_STR(a->evidence, "95.4 MiB up in 60.0 ms: 1.67 GB/s"); // nothing went down
    a = advise(&r, "precision", NULL); // 10 MFLOP: 10 us in f32, 2.5 in f16
    CHECK(a && fabs(a->gain_s - 1000 * 20e-6 * 0.75) < 1e-6 && a->changes_result);
    CHECK_STR(a->setting, "--precision fp16");
    a = advise(&r, "not-measured", NULL);
    CHECK(a && isnan(a->gain_s) && a->action == NINO_ADVICE_COMMAND && strstr(a->evidence, "50 %"));
    nino_ceilings c;
    CHECK(nino_history_ceilings(r.h, &c) && c.n_points == 3 && c.point[2].bytes == 32768u << 16);
    CHECK_STR(c.device, "a device");
    c.measured_at = 1700000000; // measured, and no faster in f16
    c.flops_f16 = 0;
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .ceilings = &c };
    CHECK(!advise(&r, "not-measured", &in) && !advise(&r, "precision", &in));
    finish(&r);
}

static void test_memory(void)
{
    fake_run r = fake_begin();
    memory(&r, NINO_MEM_BUDGET, NINO_OWN_ACTIVATION, 1 << 30, 0);
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    for (int i = 0; i < 4; i++) { // the same weights come four times
        memory(&r, NINO_MEM_ALLOC, NINO_OWN_WEIGHTS, 500 << 20, 500 << 20);
        fake_kernel(&r, node, "upload", 10000, 0, 500 << 20);
        memory(&r, NINO_MEM_FREE, NINO_OWN_WEIGHTS, 500 << 20, 0);
        memory(&r, NINO_MEM_TRIM, NINO_OWN_ACTIVATION, 100 << 20, 0);
        memory(&r, NINO_MEM_FAIL, NINO_OWN_ACTIVATION, 600 << 20, 0);
    }
    const uint32_t stage = compile(&r, node, false, true);
    fake_add(&r, (nino_event){ .kind = NINO_EV_CACHE, .sub = NINO_CACHE_PROGRAM });
    r.t += 50000000;
    fake_end(&r, stage);
    fake_end(&r, node);
    const nino_advice *a = advise(&r, "weights-evicted", NULL);
    CHECK(a && fabs(a->gain_s - 0.03) < 1e-9 && a->action == NINO_ADVICE_OPTION); // three of four
    CHECK(!strncmp(a->setting, "--mem-limit ", 12) && strstr(a->evidence, "at most 500.0 MiB"));
    a = advise(&r, "memory-short", NULL);
    CHECK(a && isnan(a->gain_s) &&
          strstr(a->evidence, "400.0 MiB went back to the driver (times: 4)"));
    a = advise(&r, "compiled", NULL);
    CHECK(a && fabs(a->gain_s - 0.05) < 1e-9 &&
          strstr(a->evidence, "into building programs (1);") &&
          strstr(a->evidence, "in our cache 1 were missed and 0 found"));
    CHECK(!advise(&r, "device-idle", NULL));
    finish(&r);
}

// What the driver keeps is not called missed.
static void test_driver_cache(void)
{
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    const uint32_t stage = compile(&r, node, false, true);
    fake_add(&r,
             (nino_event){ .kind = NINO_EV_CACHE, .sub = NINO_CACHE_PROGRAM, .u.scope.arg1 = 1 });
    r.t += 50000000;
    fake_end(&r, stage);
    fake_end(&r, node);
    const nino_advice *a = advise(&r, "compiled", NULL);
    CHECK(a && strstr(a->evidence, "into building programs (1);") &&
          strstr(a->evidence, "kept by the driver, not by us: 1") &&
          !strstr(a->evidence, "missed"));
    finish(&r);
}

// Another run is advised only where it would be faster: not when the driver had the kernels, nor
// when nobody keeps them.
static void test_run_again(void)
{
    for (int i = 0; i < 4; i++) {
        const bool is_known = i & 1, is_kept = i & 2;
        fake_run r = fake_begin();
        const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
        const uint32_t stage = compile(&r, node, is_known, is_kept);
        r.t += 50000000;
        fake_end(&r, stage);
        fake_end(&r, node);
        CHECK(!advise(&r, "compiled", NULL) == (is_known || !is_kept));
        finish(&r);
    }
}

static void tile(fake_run *r, uint32_t parent, int x, int y, int order, int passes)
{
    r->t += 100000000;
    fake_add(r, (nino_event){ .kind = NINO_EV_TILE_INFO,
                              .parent = parent,
                              .u.tile = { (uint16_t) x, (uint16_t) y, 256, 256, (uint16_t) x,
                                          (uint16_t) y, 192, 192, (uint16_t) order, 9, 0,
                                          (uint16_t) passes, 100000000, 1 << 24 } });
}

static nino_graph *tiled_graph(void)
{
    static const char workflow[] =
        "{\"8\": {\"class_type\": \"VAEDecodeTiled\", \"inputs\": {\"tile_size\": 256, "
        "\"overlap\": 64, \"temporal_size\": 64, \"temporal_overlap\": 8}}}";
    nino_error err;
    nino_graph *g = nino_graph_load(workflow, strlen(workflow), "w", &err);
    CHECK_OK(!g, err);
    return g;
}

static void test_tiles(void)
{
    nino_error err;
    nino_graph *g = tiled_graph();
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "8 VAEDecodeTiled", 1);
    for (int i = 0; i < 9; i++)
        tile(&r, node, i % 3 * 192, i / 3 * 192, i, 1);
    fake_add(&r, (nino_event){ .kind = NINO_EV_SEAM, .u.seam = { 0.2f, 3, 0.01f, 12, 1, 1 } });
    fake_end(&r, node);
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .graph = g };
    const nino_advice *a = advise(&r, "tiled-but-fits", &in);
    CHECK(a && a->action == NINO_ADVICE_SET && a->changes_result);
    CHECK_STR(a->setting, "8.tile_size=640");
    CHECK_STR(a->undo, "8.tile_size=256");
    CHECK(strstr(a->evidence, "9 tiles of up to 256x256") && strstr(a->evidence, "0.20/255"));
    const double area = 9.0 * 256 * 256, image = 640.0 * 640;
    CHECK(fabs(a->gain_s - 0.9 * (1 - image / area)) < 1e-6 && a->gain_bytes < 0);
    CHECK(nino_graph_set(g, a->setting, &err) == NINO_OK); // it can be applied as it is
    CHECK(!advise(&r, "tiled-but-fits", NULL)); // without the workflow there is nothing to set
    memory(&r, NINO_MEM_BUDGET, NINO_OWN_ACTIVATION, 90 << 20, 0); // 100 MiB do not fit
    nino_graph_set(g, "8.tile_size=256", NULL);
    CHECK(!advise(&r, "tiled-but-fits", &in));
    a = advise(&r, "tiles-too-small", &in);
    CHECK(a && !strcmp(a->setting, "8.tile_size=512"));
    nino_graph_destroy(&g);
    finish(&r);
}

// What kernels took to be prepared while tiles were computed is no time of tiles.
static void test_tiles_compile(void)
{
    nino_graph *g = tiled_graph();
    fake_run r = fake_begin();
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "8 VAEDecodeTiled", 1);
    for (int i = 0; i < 9; i++) {
        if (i == 4) { // before the record of tile 4, which is 0.1 s long
            r.t += 10000000;
            const uint32_t stage = compile(&r, node, false, true);
            r.t += 60000000;
            fake_end(&r, stage);
            r.t -= 70000000;
        }
        tile(&r, node, i % 3 * 192, i / 3 * 192, i, 1);
    }
    fake_end(&r, node);
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .graph = g };
    const nino_advice *a = advise(&r, "tiled-but-fits", &in);
    const double area = 9.0 * 256 * 256, image = 640.0 * 640;
    CHECK(a && fabs(a->gain_s - (0.9 - 0.06) * (1 - image / area)) < 1e-6);
    CHECK(strstr(a->evidence, "took 840 ms") && strstr(a->evidence, "; 60.0 ms of compiling"));
    nino_graph_destroy(&g);
    finish(&r);
}

// Tiles of three passes that agree: their overlap is too large.
static void test_overlap(void)
{
    nino_graph *g = tiled_graph();
    fake_run r = fake_begin();
    memory(&r, NINO_MEM_BUDGET, NINO_OWN_ACTIVATION, 20 << 20, 0); // no larger tile fits
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "8 VAEDecodeTiled", 1);
    for (int i = 0; i < 27; i++)
        tile(&r, node, i % 3 * 192, i / 3 % 3 * 192, i, 3);
    fake_add(&r, (nino_event){ .kind = NINO_EV_SEAM, .u.seam = { 0.2f, 3, 0.01f, 12, 1, 1 } });
    fake_end(&r, node);
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .graph = g };
    const nino_advice *a = advise(&r, "overlap-too-large", &in);
    CHECK(a && !strcmp(a->setting, "8.overlap=32") && strstr(a->evidence, "in 3 passes;"));
    nino_graph_destroy(&g);
    finish(&r);
}

static const char *too_long(const char *text)
{
    static char long_text[400];
    for (size_t i = 0; i + 2 < sizeof(long_text); i += 2)
        memcpy(long_text + i, "ü", 2);
    return strchr(text, '%') ? text : long_text;
}

// What is too long for its field is cut off between characters.
static void test_cut(void)
{
    fake_run r = fake_begin();
    fake_ceilings(&r, 1e12, 4e12, 1e11, 10e-6, 0);
    const uint32_t node = fake_scope(&r, NINO_EV_NODE, "3 KSampler", 1);
    fake_kernel(&r, node, "gemm", 20000, 10e9, 1e8);
    fake_end(&r, node);
    const nino_advice_input in = { NINO_ADVICE_INPUT_INIT, .history = r.h, .translate = too_long };
    n_list = nino_advise(&in, list, 32);
    CHECK(n_list && !strcmp(list[n_list - 1].rule, "not-measured"));
    CHECK(strlen(list[n_list - 1].title) == 94 && strlen(list[n_list - 1].how) == 198);
    CHECK(nino_utf8_valid(list[n_list - 1].title, 94) &&
          nino_utf8_valid(list[n_list - 1].how, 198));
    finish(&r);
}

// Every text was seen in German, but for those of plans of a workflow with its models.
static void test_all(void)
{
    for (int i = 0; i < german.n; i++) {
        const catalogue_text *t = &german.text[i];
        if (!t->is_used && strncmp(t->english, "plan: ", 6))
            fprintf(stderr, "nobody was told: %s\n", t->english);
        CHECK(t->is_used || strlen(t->wide) + 3 * 10 < sizeof(list->how));
    }
}

int main(void)
{
    if (!catalogue_read(&german, "data/po/de.po", "core/monitor/advice/"))
        test_skip_part("German, there is no data/po");
    test_nothing();
    test_steps();
    test_slow_steps();
    test_transfers();
    test_overlap();
    test_cut();
    test_device();
    test_memory();
    test_driver_cache();
    test_run_again();
    test_tiles();
    test_tiles_compile();
    test_all();
    return 0;
}
