// Malformed and hostile workflows in API form, case by case: each is refused for the reason it
// should be, in one pass, without harm; the good ones are not.
#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/workflow/workflow.h"
#include "tests/flow.h"
#include "tests/random_vae.h"

// What a workflow came to: the kind of the load error, or the code of the check's first error, or
// "ok".
static const char *outcome(nino_ctx *ctx, const void *data, size_t len)
{
    static char text[64];
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(data, len, "case", &err);
    if (!g) {
        CHECK(err.code && err.kind && err.msg[0] && !strchr(err.msg, '\n'));
        snprintf(text, sizeof(text), "%s", err.kind);
        return text;
    }
    nino_job *job = nino_job_start(ctx, g, NULL, &err); // a refusal comes before anything runs
    nino_graph_destroy(&g);
    if (!job) {
        for (const char *c = err.msg; *c; c++) // nothing a terminal would obey
            CHECK((unsigned char) *c >= 0x20 && *c != 0x7f);
        snprintf(text, sizeof(text), "%s", err.kind);
        return text;
    }
    const flow_result r = flow_finish(job);
    snprintf(text, sizeof(text), "%s", r.st ? r.err.kind : "ok");
    return text;
}

static int n_cases;

static void expect(nino_ctx *ctx, const char *name, const void *data, size_t len, const char *want)
{
    const char *got = outcome(ctx, data, len);
    n_cases++;
    if (strcmp(got, want)) {
        fprintf(stderr, "%s: %s, expected %s\n", name, got, want);
        exit(1);
    }
}

// The flow that cases change: %s is the whole of one node, or of all.
#define VAE "\"1\": {\"class_type\": \"VAELoader\", \"inputs\": {\"vae_name\": \"ae.safetensors\"}}"
#define LATENT                                                                                     \
    "\"2\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": 64, \"height\": 64, "   \
    "\"batch_size\": 1}}"
#define DECODE(samples, vae)                                                                       \
    "\"3\": {\"class_type\": \"VAEDecode\", \"inputs\": {\"samples\": " samples ", \"vae\": " vae  \
    "}}"
#define SAVE(extra)                                                                                \
    "\"4\": {\"class_type\": \"SaveImage\", \"inputs\": {\"images\": [\"3\", 0], "                 \
    "\"filename_prefix\": \"out\"}" extra "}"
#define FLOW(a, b, c, d) "{" a ", " b ", " c ", " d "}"
#define GOOD FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "[\"1\", 0]"), SAVE(""))
#define SAMPLES(s) FLOW(VAE, LATENT, DECODE(s, "[\"1\", 0]"), SAVE(""))
#define SIZE(w, h, n)                                                                              \
    FLOW(VAE,                                                                                      \
         "\"2\": {\"class_type\": \"EmptyLatentImage\", \"inputs\": {\"width\": " w                \
         ", \"height\": " h ", \"batch_size\": " n "}}",                                           \
         DECODE("[\"2\", 0]", "[\"1\", 0]"), SAVE(""))
#define TILED(t, o)                                                                                \
    FLOW(VAE, LATENT,                                                                              \
         "\"3\": {\"class_type\": \"VAEDecodeTiled\", \"inputs\": {\"samples\": [\"2\", 0], "      \
         "\"vae\": [\"1\", 0], \"tile_size\": " t ", \"overlap\": " o "}}",                        \
         SAVE(""))
#define SAMPLED(class, input, slot)                                                                \
    FLOW(VAE,                                                                                      \
         "\"8\": {\"class_type\": \"" class "\", \"inputs\": {" input "}}, "                       \
                                            "\"9\": {\"class_type\": \"SamplerCustomAdvanced\", "  \
                                            "\"inputs\": {\"" slot "\": [\"8\", 0]}}",             \
         DECODE("[\"9\", 0]", "[\"1\", 0]"), SAVE(""))

static const struct {
    const char *name, *json, *want;
} cases[] = {
    { "ok-api", GOOD, "ok" },
    { "bom", "\xef\xbb\xbf" GOOD, "ok" },
    { "link-id-number", SAMPLES("[2, 0]"), "ok" },
    { "width-not-multiple", SIZE("1001", "64", "1"), "ok" },
    { "width-string", SIZE("\"64\"", "64", "1"), "ok" }, // int("64"), as ComfyUI
    { "html-in-title",
      FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "[\"1\", 0]"),
           SAVE(", \"_meta\": {\"title\": \"<b>&<a href='x'>\\u202e\"}")),
      "ok" },
    { "ansi-in-title",
      FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "[\"1\", 0]"),
           SAVE(", \"_meta\": {\"title\": \"\\u001b]0;x\\u0007\"}")),
      "ok" },
    { "ansi-in-id", "{\"\\u001b[2J\": {\"class_type\": \"\\u001b]0;x\\u0007\", \"inputs\": {}}}",
      "unknown_class" },

    { "empty", "", "syntax" },
    { "only-space", " \n", "syntax" },
    { "trailing-garbage", GOOD " x", "syntax" },
    { "comments", "// hi\n" GOOD, "syntax" },
    { "top-array", "[]", "schema" },
    { "top-null", "null", "schema" },
    { "node-is-string", "{\"1\": \"VAELoader\"}", "schema" },
    { "no-class", "{\"1\": {\"inputs\": {}}}", "schema" },
    { "class-number", "{\"1\": {\"class_type\": 5, \"inputs\": {}}}", "schema" },
    { "inputs-array", "{\"1\": {\"class_type\": \"VAELoader\", \"inputs\": []}}", "schema" },
    { "dup-node-id",
      "{\"1\": {\"class_type\": \"VAELoader\", \"inputs\": {}}, \"1\": "
      "{\"class_type\": \"SaveImage\", \"inputs\": {}}}",
      "dup" },
    { "ui", "{\"nodes\": [], \"links\": [], \"version\": 0.4}", "no_output" },

    { "unknown-class",
      FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "[\"1\", 0]"),
           SAVE("") ", \"9\": {\"class_type\": \"EvilCustomNode\", \"inputs\": {}}"),
      "unknown_class" },
    { "class-is-path",
      FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "[\"1\", 0]"),
           SAVE("") ", \"9\": {\"class_type\": \"../../x.so\", \"inputs\": {}}"),
      "unknown_class" },

    { "link-to-missing", SAMPLES("[\"77\", 0]"), "bad_link" },
    { "link-to-self", SAMPLES("[\"3\", 0]"), "cycle" },
    { "cycle-two",
      FLOW(VAE, DECODE("[\"5\", 0]", "[\"1\", 0]"), SAVE(""),
           "\"5\": {\"class_type\": \"VAEEncode\", \"inputs\": {\"pixels\": [\"3\", "
           "0], \"vae\": [\"1\", 0]}}"),
      "cycle" },
    { "slot-negative", SAMPLES("[\"2\", -1]"), "bad_link" },
    { "slot-9", SAMPLES("[\"2\", 9]"), "bad_link" },
    { "slot-2pow40", SAMPLES("[\"2\", 1099511627776]"), "bad_link" },
    { "slot-float", SAMPLES("[\"2\", 0.5]"), "bad_link" },
    { "slot-string", SAMPLES("[\"2\", \"0\"]"), "bad_link" },
    { "link-three", SAMPLES("[\"2\", 0, 0]"), "bad_link" },
    { "type-mismatch", SAMPLES("[\"1\", 0]"), "type_mismatch" },
    { "value-where-link", FLOW(VAE, LATENT, DECODE("[\"2\", 0]", "\"ae.safetensors\""), SAVE("")),
      "bad_link" },
    { "required-missing", "{\"3\": {\"class_type\": \"VAEDecode\", \"inputs\": {}}, " SAVE("") "}",
      "missing_input" },
    { "no-inputs-at-all", "{\"4\": {\"class_type\": \"SaveImage\"}}", "missing_input" },
    { "nothing-to-run", "{}", "no_output" },

    { "width-0", SIZE("0", "64", "1"), "range" },
    { "width-negative", SIZE("-8", "64", "1"), "range" },
    { "width-2pow31", SIZE("2147483648", "64", "1"), "range" },
    { "width-2pow64", SIZE("18446744073709551616", "64", "1"), "range" },
    { "area-huge", SIZE("65536", "65536", "1"), "range" },
    { "wh-product-wrap", SIZE("4294967296", "4294967296", "1"), "range" },
    { "batch-1m", SIZE("64", "64", "1000000"), "range" },
    { "batch-0", SIZE("64", "64", "0"), "range" },
    { "width-1e999", SIZE("1e999", "64", "1"), "value" },
    { "width-nan", SIZE("NaN", "64", "1"), "value" },
    { "within-limits-but-1-TiB", SIZE("16384", "16384", "4096"), "limit" },
    { "tile-0", TILED("0", "64"), "range" },
    { "tile-text", TILED("\"big\"", "64"), "value" },
    { "overlap-ge-tile", TILED("64", "64"), "ok" }, // cut to a quarter, as ComfyUI

    { "steps-0", SAMPLED("KarrasScheduler", "\"steps\": 0", "sigmas"), "range" },
    { "seed-2pow64", SAMPLED("RandomNoise", "\"noise_seed\": 18446744073709551616", "noise"),
      "range" },
    { "number-1e999", SAMPLED("KarrasScheduler", "\"rho\": 1e999", "sigmas"), "value" },
    { "nan", SAMPLED("KarrasScheduler", "\"rho\": NaN", "sigmas"), "value" },
    // classes that do not run here yet are refused as such, whatever their values
    { "unsupported", SAMPLED("SamplerLCMUpscale", "\"scale_ratio\": -1", "sampler"),
      "unsupported_class" },
};

// ---- file names ------------------------------------------------------------------------------

static const char *const prefixes[][3] = {
    { "dotdot", "../../etc/x", "path" },
    { "absolute", "/etc/cron.d/x", "path" },
    { "dotdot-mid", "a/../../x", "path" },
    { "backslash", "..\\\\..\\\\x", "path" },
    { "nul", "a\\u0000b", "value" },
    { "percent-date", "%date:/../../x%", "path" },
    { "tilde", "~/x", "path" },
    { "newline", "a\\nb", "path" },
    { "dev", "/dev/sda", "path" },
    { "empty", "", "path" },
    { "dot", ".", "path" },
    { "trailing-slash", "a/", "path" },
    { "symlink-dir", "link_to_etc/x", "path" },
    { "token-in-folder", "%width%/x", "ok" },
};

static const char *const models[][3] = {
    { "dotdot", "../../../etc/passwd", "path" },
    { "absolute", "/etc/passwd", "path" },
    { "proc", "/proc/self/environ", "path" },
    { "url", "http://x/y.safetensors", "path" },
    { "ext-exe", "x.sh", "missing_file" },
    { "missing", "nope.safetensors", "missing_file" },
    { "fifo", "fifo.safetensors", "path" }, // must not hang
    { "directory", "dir.safetensors", "path" },
    { "link", "link.safetensors", "limit" }, // followed: what it leads to is no model
    { "not-a-model", "text.safetensors", "limit" },
    { "pixel-space", "pixel_space", "value" },
    { "tiny-missing", "taesd", "missing_file" },
};

static void check_names(nino_ctx *ctx)
{
    char longest[301];
    nino_buf b = { 0 };
    memset(longest, 'a', 300);
    longest[300] = 0;
    for (size_t i = 0; i <= sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const bool is_long = i == sizeof(prefixes) / sizeof(prefixes[0]);
        nino_buf_clear(&b);
        nino_buf_addf(&b,
                      "{" VAE ", " LATENT ", " DECODE(
                          "[\"2\", 0]", "[\"1\", 0]") ", "
                                                      "\"4\": {\"class_type\": \"SaveImage\", "
                                                      "\"inputs\": {\"images\": [\"3\", "
                                                      "0], \"filename_prefix\": \"%s\"}}}",
                      is_long ? longest : prefixes[i][1]);
        expect(ctx, is_long ? "prefix-long" : prefixes[i][0], b.data, b.len,
               is_long ? "path" : prefixes[i][2]);
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        nino_buf_clear(&b);
        nino_buf_addf(&b,
                      "{\"1\": {\"class_type\": \"VAELoader\", \"inputs\": {\"vae_name\": "
                      "\"%s\"}}, " LATENT ", " DECODE("[\"2\", 0]", "[\"1\", 0]") ", " SAVE("") "}",
                      models[i][1]);
        expect(ctx, models[i][0], b.data, b.len, models[i][2]);
    }
    nino_buf_release(&b);
}

// ---- large ones ------------------------------------------------------------------------------

static void check_large(nino_ctx *ctx)
{
    nino_buf b = { 0 };
    for (int i = 0; i < 1000000; i++)
        nino_buf_addc(&b, '[');
    expect(ctx, "depth-1m", b.data, b.len, "limit");
    nino_buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        nino_buf_adds(&b, "{\"a\":");
    nino_buf_addc(&b, '1');
    for (int i = 0; i < 100000; i++)
        nino_buf_addc(&b, '}');
    expect(ctx, "depth-objects", b.data, b.len, "limit");
    char *big = malloc(66u << 20);
    CHECK(big);
    memset(big, 'a', 66u << 20);
    memcpy(big, "{\"1\":\"", 6);
    memcpy(big + (66u << 20) - 2, "\"}", 2);
    expect(ctx, "size-65mb", big, 66u << 20, "limit");
    memcpy(big + (20u << 20), "\"}", 2);
    expect(ctx, "string-20mb", big, (20u << 20) + 2, "limit");
    free(big);
    nino_buf_clear(&b);
    for (int i = 0; i < 100001; i++)
        nino_buf_addf(&b, "%c\"%d\":{\"class_type\":\"VAELoader\",\"inputs\":{}}", i ? ',' : '{',
                      i);
    nino_buf_addc(&b, '}');
    expect(ctx, "nodes-100001", b.data, b.len, "limit");
    nino_buf_clear(&b);
    nino_buf_adds(&b, "{" LATENT ", \"5\": {\"class_type\": \"LatentUpscaleBy\", \"inputs\": "
                      "{\"samples\": [\"2\", 0], \"scale_by\": ");
    for (int i = 0; i < 1000000; i++)
        nino_buf_addc(&b, '9');
    nino_buf_adds(&b, "}}, \"6\": {\"class_type\": \"SaveLatent\", \"inputs\": {\"samples\": "
                      "[\"5\", 0]}}}");
    expect(ctx, "number-million-digits", b.data, b.len, "limit");
    nino_buf_clear(&b);
    for (int i = 0; i < 10000; i++)
        nino_buf_addf(&b,
                      "%c\"%d\":{\"class_type\":\"LatentUpscale\",\"inputs\":{\"samples\":"
                      "[\"%d\",0]}}",
                      i ? ',' : '{', i, (i + 1) % 10000);
    nino_buf_addc(&b, '}');
    expect(ctx, "cycle-10000", b.data, b.len, "no_output");
    nino_buf_clear(&b);
    nino_buf_adds(&b, "{\"0\":{\"class_type\":\"EmptyLatentImage\",\"inputs\":{\"width\":64,"
                      "\"height\":64,\"batch_size\":1}}");
    for (int i = 1; i < 50000; i++)
        nino_buf_addf(&b,
                      ",\"%d\":{\"class_type\":\"LatentUpscale\",\"inputs\":{\"samples\":"
                      "[\"%d\",0],\"upscale_method\":\"nearest-exact\",\"width\":64,\"height\":"
                      "64,\"crop\":\"disabled\"}}",
                      i, i - 1);
    nino_buf_addc(&b, '}');
    expect(ctx, "chain-50000", b.data, b.len, "no_output");
    // and every way of cutting a good one short
    for (size_t n = 0; n < strlen(GOOD); n++)
        expect(ctx, "truncated", GOOD, n, "syntax");
    expect(ctx, "not-utf8", "\xff\xfe{\0}\0", 6, "syntax");
    nino_buf_release(&b);
}

static void make_files(void)
{
    char dir[512], cmd[2400];
    nino_error err = { 0 };
    snprintf(dir, sizeof(dir), "%s/models/vae", flow_temp());
    snprintf(cmd, sizeof(cmd),
             "mkdir -p %s/dir.safetensors %s/input %s/output && mkfifo %s/fifo.safetensors && "
             "ln -s /etc/passwd %s/link.safetensors && ln -s /etc %s/output/link_to_etc && "
             "echo '<html>not found</html>' >%s/text.safetensors",
             dir, flow_temp(), flow_temp(), dir, dir, flow_temp(), dir);
    CHECK(system(cmd) == 0);
    const random_vae small = {
        .ch = 32, .mult = { 1, 1 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    CHECK_OK(random_vae_save(small, dir, "ae.safetensors", &err), err);
}

int main(void)
{
    make_files();
    nino_ctx *ctx = flow_open("ref", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(ctx, cases[i].name, cases[i].json, strlen(cases[i].json), cases[i].want);
    check_names(ctx);
    check_large(ctx);
    printf("  %d workflows\n", n_cases);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
