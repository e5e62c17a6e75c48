// Parameters from JSON and text: coercions, limits, names of files, former values; output names.
#include "core/node/param.h"
#include "core/node/util.h"
#include "tests/test.h"

#include <math.h>
#include <time.h>

static nino_arena *arena;

// The value of JSON text `json` for parameter `key` of a class, or the error's kind.
static const char *read_json(const char *class_type, const char *key, const char *json,
                             nino_default *out)
{
    const nino_alias *alias = NULL;
    const nino_node_def *d = nino_node_find(class_type, &alias);
    const nino_param *p = d ? nino_param_find(d, key) : NULL;
    nino_json_doc *doc = NULL;
    nino_error err = { 0 };
    CHECK(p);
    CHECK_OK(nino_json_parse(json, strlen(json), "value", NULL, &doc, &err), err);
    *out = p->def;
    const nino_status st = nino_param_from_json(p, doc->root, alias, arena, out, NULL, &err);
    nino_json_doc_destroy(&doc);
    CHECK(!st == !err.kind);
    return st ? err.kind : "ok";
}

static int64_t int_of(const char *json)
{
    nino_default v;
    CHECK_STR(read_json("EmptyLatentImage", "width", json, &v), "ok");
    return v.i;
}

static const char *int_error(const char *json)
{
    nino_default v;
    return read_json("EmptyLatentImage", "width", json, &v);
}

static void ints(void)
{
    CHECK(int_of("1024") == 1024);
    CHECK(int_of("1024.0") == 1024);
    CHECK(int_of("1000.9") == 1000); // int() cuts
    CHECK(int_of("\"1024\"") == 1024);
    CHECK(int_of("\"20.0\"") == 20);
    CHECK(int_of("5.12e2") == 512);
    CHECK(int_of("{\"__value__\": 64}") == 64);
    CHECK_STR(int_error("0"), "range");
    CHECK_STR(int_error("-8"), "range");
    CHECK_STR(int_error("16385"), "range");
    CHECK_STR(int_error("2147483648"), "range");
    CHECK_STR(int_error("18446744073709551616"), "range");
    CHECK_STR(int_error("1e400"), "value");
    CHECK_STR(int_error("NaN"), "value");
    CHECK_STR(int_error("\"\""), "value");
    CHECK_STR(int_error("\"12px\""), "value");
    CHECK_STR(int_error("null"), "value");
    CHECK_STR(int_error("[1, 2, 3]"), "value");
    CHECK_STR(int_error("{}"), "value");
    CHECK_STR(int_error("true"), "range"); // int(True) is 1, below 16
}

static void floats(void)
{
    nino_default v;
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "2", &v), "ok");
    CHECK(v.f == 2.0);
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "\"1.25\"", &v), "ok");
    CHECK(v.f == 1.25);
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "8.01", &v), "range");
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "0", &v), "range");
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "NaN", &v), "value");
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "Infinity", &v), "value");
    CHECK_STR(read_json("ImageScaleBy", "scale_by", "1e999", &v), "value");
}

static void words(void)
{
    nino_default v;
    CHECK_STR(read_json("ImageScale", "upscale_method", "\"lanczos\"", &v), "ok");
    CHECK(v.i == 4);
    CHECK_STR(read_json("ImageScale", "upscale_method", "\"bislerp\"", &v), "value");
    CHECK_STR(read_json("LatentUpscale", "upscale_method", "\"bislerp\"", &v), "ok");
    CHECK_STR(read_json("ImageScale", "upscale_method", "\"Lanczos\"", &v), "value");
    // a former class had a word more; a switch became a list
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "precision_mode", "\"mixed\"", &v), "ok");
    CHECK_STR(read_json("ROCMOptimizedVAEDecodeV2", "precision_mode", "\"mixed\"", &v), "ok");
    CHECK(v.i == 3);
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "enable_temporal_tiling", "false", &v), "ok");
    CHECK(v.i == 2);
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "enable_temporal_tiling", "true", &v), "ok");
    CHECK(v.i == 1);
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "use_rocm_optimizations", "0", &v), "ok");
    CHECK(!v.b);
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "use_rocm_optimizations", "\"true\"", &v), "ok");
    CHECK(v.b);
    CHECK_STR(read_json("ROCMOptimizedVAEDecode", "use_rocm_optimizations", "\"maybe\"", &v),
              "value");
}

static void strings_and_files(void)
{
    nino_default v;
    CHECK_STR(read_json("SaveImage", "filename_prefix", "\"caf\\u00e9\"", &v), "ok");
    CHECK_STR(v.s, "caf\xc3\xa9");
    CHECK_STR(read_json("SaveImage", "filename_prefix", "12.50", &v), "ok");
    CHECK_STR(v.s, "12.50");
    CHECK_STR(read_json("SaveImage", "filename_prefix", "\"a\\u0000b\"", &v), "value");
    CHECK_STR(read_json("SaveImage", "filename_prefix", "null", &v), "value");
    CHECK_STR(read_json("VAELoader", "vae_name", "\"sub/x.safetensors\"", &v), "ok");
    CHECK_STR(v.s, "sub/x.safetensors");
    CHECK_STR(read_json("VAELoader", "vae_name", "\"taef1\"", &v), "ok");
    CHECK_STR(read_json("LoadImage", "image", "\"x.png [input]\"", &v), "ok");
    CHECK_STR(v.s, "x.png");
    // folders as Windows writes them; a text keeps what it says
    CHECK_STR(read_json("VAELoader", "vae_name", "\"sub\\\\dir\\\\x.safetensors\"", &v), "ok");
    CHECK_STR(v.s, "sub/dir/x.safetensors");
    CHECK_STR(read_json("CLIPTextEncode", "text", "\"\\\\(a\\\\)\"", &v), "ok");
    CHECK_STR(v.s, "\\(a\\)");
    static const char *const bad[] = {
        "\"../x\"",          "\"/etc/passwd\"",     "\"a/../../x\"",
        "\"..\\\\..\\\\x\"", "\"\\\\server\\\\x\"", "\"/proc/self/environ\"",
        "\"a\\nb\"",         "\"a\\u0000b\""
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_STR(read_json("VAELoader", "vae_name", bad[i], &v), "path");
    CHECK_STR(read_json("VAELoader", "vae_name", "\"\"", &v), "value");
    CHECK_STR(read_json("VAELoader", "vae_name", "7", &v), "value");
}

static void seeds(void)
{
    typedef struct seed_params {
        uint64_t seed;
    } seed_params;
    static const nino_param p = NINO_P_SEED(seed_params, seed, .label = "Seed", .help = "x");
    nino_default v = { 0 };
    nino_error err = { 0 };
    CHECK_OK(nino_param_from_text(&p, "18446744073709551615", arena, &v, &err), err);
    CHECK(v.u == UINT64_MAX);
    CHECK_OK(nino_param_from_text(&p, "20.0", arena, &v, &err), err);
    CHECK(v.u == 20);
    CHECK(nino_param_from_text(&p, "18446744073709551616", arena, &v, &err) == NINO_ERR_RANGE);
    CHECK_OK(nino_param_from_text(&p, "-1", arena, &v, &err), err); // drawn for each run
    CHECK(nino_param_is_random(&p, "-1") && nino_param_is_random(&p, "-1.0"));
    CHECK(!nino_param_is_random(&p, "1") && !nino_param_is_random(&p, "-2"));
    CHECK(nino_param_from_text(&p, "-2", arena, &v, &err) == NINO_ERR_RANGE);
    CHECK(nino_param_from_text(&p, "x", arena, &v, &err) == NINO_ERR_FORMAT);
}

// ---- output names ----------------------------------------------------------------------------

static const char prompt[] = "{\"3\": {\"class_type\": \"KSampler\", \"inputs\": {\"seed\": "
                             "18446744073709551615, \"name\": \"a/b:c\", \"link\": [\"1\", 0]}, "
                             "\"_meta\": {\"title\": \"My Sampler\"}}}";

static const char *expand(const char *prefix)
{
    static char out[512];
    const struct tm t = {
        .tm_year = 124, .tm_mon = 2, .tm_mday = 7, .tm_hour = 9, .tm_min = 5, .tm_sec = 30
    };
    const nino_prefix_vars vars = { 640, 480, &t, prompt };
    nino_error err = { 0 };
    char *name = NULL;
    if (nino_prefix_expand(prefix, &vars, &name, &err)) {
        CHECK(!name);
        return err.kind;
    }
    snprintf(out, sizeof(out), "%s", name);
    free(name);
    return out;
}

static void prefixes(void)
{
    CHECK_STR(expand("ComfyUI"), "ComfyUI");
    CHECK_STR(expand("a//b/./c"), "a/b/c");
    CHECK_STR(expand("video\\sub\\x"), "video/sub/x");
    CHECK_STR(expand("x_%width%x%height%"), "x_640x480");
    CHECK_STR(expand("%year%-%month%-%day%_%hour%%minute%%second%"), "2024-03-07_090530");
    CHECK_STR(expand("%date:yyyy-MM-dd%/x"), "2024-03-07/x");
    CHECK_STR(expand("%date:yy.M.d hh_mm_ss%"), "24.3.7 09_05_30");
    CHECK_STR(expand("%KSampler.seed%"), "18446744073709551615");
    CHECK_STR(expand("%My Sampler.name%"), "a_b_c");
    CHECK_STR(expand("%3.seed%_x"), "18446744073709551615_x");
    CHECK_STR(expand("%KSampler.link%"), "%KSampler.link%");
    CHECK_STR(expand("%nothing.here%"), "%nothing.here%");
    CHECK_STR(expand("100%"), "100%");
    CHECK_STR(expand("a%%b"), "a%%b");
    CHECK_STR(expand("%batch_num%"), "%batch_num%");
    char longest[301];
    memset(longest, 'a', 300);
    longest[300] = 0;
    const char *bad[] = {
        "../../etc/x",     "/etc/cron.d/x", "a/../../x", "..\\..\\x", "~/x", "a\nb",
        "/dev/sda",        longest,         "",          ".",         "./",  "a/",
        "%date:/../../x%", "a/.."
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_STR(expand(bad[i]), "path");
}

static void counters(void)
{
    char dir[] = "/tmp/ninodes-test-XXXXXX", link[96], cmd[128];
    nino_error err = { 0 };
    char *path = NULL;
    CHECK(mkdtemp(dir));
    CHECK(nino_prefix_counter(dir, "out") == 1);
    CHECK(nino_prefix_counter(dir, "nowhere/out") == 1);
    int64_t n = 1;
    CHECK_OK(nino_prefix_save(dir, "sub/out", ".png", &n, "x", 1, &path, &err), err);
    CHECK(strstr(path, "/sub/out_00001_.png") && access(path, R_OK) == 0 && n == 2);
    free(path);
    n = 1; // taken meanwhile: the next free one
    CHECK_OK(nino_prefix_save(dir, "sub/out", ".png", &n, "x", 1, &path, &err), err);
    CHECK(strstr(path, "/sub/out_00002_.png") && n == 3);
    free(path);
    n = 41;
    CHECK_OK(nino_prefix_save(dir, "sub/out", ".png", &n, "x", 1, &path, &err), err);
    free(path);
    CHECK(nino_prefix_counter(dir, "sub/out") == 42);
    CHECK(nino_prefix_counter(dir, "sub/ou") == 1);
    CHECK(nino_prefix_counter(dir, "sub/out_00041") == 1);
    // a sub-folder that is a link is refused before and during the run
    snprintf(link, sizeof(link), "%s/link", dir);
    CHECK(symlink("/tmp", link) == 0);
    CHECK(nino_prefix_check(dir, "link/x", &err));
    CHECK_STR(err.kind, "path");
    CHECK_OK(nino_prefix_check(dir, "sub/x", &err), err);
    CHECK_OK(nino_prefix_check(dir, "new/x", &err), err);
    n = 1;
    CHECK(nino_prefix_save(dir, "link/x", ".png", &n, "x", 1, &path, &err));
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
}

int main(void)
{
    arena = nino_arena_create();
    ints();
    floats();
    words();
    strings_and_files();
    seeds();
    prefixes();
    counters();
    nino_arena_destroy(&arena);
    return 0;
}
