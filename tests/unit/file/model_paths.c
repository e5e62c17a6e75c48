// Model folders: order of the search, extra_model_paths.yaml, lists of files.
#include "core/file/model_paths.h"
#include "tests/test.h"

static char dir[] = "/tmp/ninodes-paths-XXXXXX";

// "a:b:c" of a NULL-terminated list that is freed; the private folder is shown as "$".
static const char *joined(char **list)
{
    static char out[4096];
    out[0] = 0;
    CHECK(list);
    for (char **s = list; *s; s++) {
        const bool is_ours = !strncmp(*s, dir, strlen(dir));
        const size_t n = strlen(out);
        snprintf(out + n, sizeof(out) - n, "%s%s%s", n ? ":" : "", is_ours ? "$" : "",
                 *s + (is_ours ? strlen(dir) : 0));
    }
    free(list);
    return out;
}

static void save(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static nino_paths *open_paths(const nino_log *log)
{
    char root[300], other[300];
    const char *roots[] = { root, other, NULL };
    nino_error err = { 0 };
    snprintf(root, sizeof(root), "%s/models/", dir);
    snprintf(other, sizeof(other), "%s/more", dir);
    nino_paths *p = nino_paths_create(roots, log, &err);
    CHECK_OK(p ? NINO_OK : err.code, err);
    return p;
}

static void roots(void)
{
    nino_paths *p = open_paths(NULL);
    CHECK_STR(joined(nino_paths_dirs(p, "vae")), "$/models/vae:$/more/vae");
    CHECK_STR(joined(nino_paths_dirs(p, "diffusion_models")),
              "$/models/diffusion_models:$/models/unet:$/more/diffusion_models:$/more/unet");
    CHECK_STR(joined(nino_paths_dirs(p, "clip")),
              "$/models/clip:$/models/text_encoders:$/more/clip:$/more/text_encoders");
    nino_paths_destroy(&p);
    nino_paths_destroy(&p);
}

static void yaml(void)
{
    nino_paths *p;
    save("extra_model_paths.yaml", "# comment\n"
                                   "comfyui:\n"
                                   "    vae: models/vae/   # relative to base_path\n"
                                   "    clip: |\n"
                                   "         models/text_encoders/\n"
                                   "\n"
                                   "         /abs/clip\n"
                                   "    base_path: sub/comfy/\r\n"
                                   "\n"
                                   "first:\n"
                                   "  base_path: '/data/my models'\n"
                                   "  is_default: true\n"
                                   "  vae: \"v a e\"\n"
                                   "  unet: u\n"
                                   "none:\n"
                                   "  loras: l\n");
    p = open_paths(NULL); // beside both roots: read twice, found twice, harmless
    char *vae = strdup(joined(nino_paths_dirs(p, "vae")));
    CHECK(!strncmp(vae, "/data/my models/v a e:", 22)); // defaults before the roots
    CHECK(strstr(vae, ":$/models/vae:$/more/vae:"));
    CHECK(strstr(vae, "/sub/comfy/models/vae"));
    free(vae);
    CHECK(strstr(joined(nino_paths_dirs(p, "text_encoders")), ":/abs/clip"));
    CHECK(strstr(joined(nino_paths_dirs(p, "text_encoders")), "/sub/comfy/models/text_encoders"));
    CHECK(strstr(joined(nino_paths_dirs(p, "diffusion_models")), "/data/my models/u"));
    CHECK(strstr(joined(nino_paths_dirs(p, "loras")), "/l"));
    nino_paths_destroy(&p);
}

static char warning[512];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    CHECK(level == NINO_LOG_WARN);
    snprintf(warning, sizeof(warning), "%s", line);
}

static void bad_yaml(void)
{
    static const char *const bad[][2] = {
        { "a:\n\tvae: x\n", "line 2" },
        { "vae\n", "line 1" },
        { "a: b\n", "line 1" },
        { "a:\n  vae: x\n   loras: y\n", "line 3" },
        { "a:\n  vae: [x, y]\n", "line 2" },
        { "a:\n  vae: {x: y}\n", "line 2" },
        { "a:\n  vae: &x y\n", "line 2" },
        { "  vae: x\n", "line 1" },
        { "a:\n  vae: \"x\\n\"\n", "line 2" },
        { "a:\n  vae:\n", "line 2" },
        { "a:\n  - vae\n", "line 2" },
        { "a:\n  vae:x\n", "line 2" },
    };
    const nino_log log = { log_line, NULL, NINO_LOG_WARN };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256];
        warning[0] = 0;
        snprintf(text, sizeof(text), "ok:\n  loras: never\n%s", bad[i][0]);
        save("extra_model_paths.yaml", bad[i][0]);
        nino_paths *p = open_paths(&log);
        if (!strstr(warning, bad[i][1]) || !strstr(warning, "ignored")) {
            fprintf(stderr, "case %zu: '%s'\n", i, warning);
            exit(1);
        }
        nino_paths_destroy(&p);
        save("extra_model_paths.yaml", text); // what stood before the mistake does not count either
        warning[0] = 0;
        p = open_paths(&log);
        if (warning[0]) // "  vae: x" is right in a section
            CHECK_STR(joined(nino_paths_dirs(p, "loras")), "$/models/loras:$/more/loras");
        nino_paths_destroy(&p);
    }
}

static void lists(void)
{
    char cmd[600], a[300], b[300], nowhere[] = "/nonexistent";
    const char *const ext[] = { ".safetensors", ".pth", NULL };
    snprintf(cmd, sizeof(cmd),
             "cd %s && mkdir -p models/vae/sub/deep more/vae && touch models/vae/b.safetensors "
             "models/vae/A.SafeTensors models/vae/x.txt models/vae/.hidden.pth "
             "models/vae/sub/deep/c.pth more/vae/b.safetensors more/vae/z.pth && "
             "mkdir blobs && touch blobs/2cf2 blobs/in.pth && "
             "ln -s ../../blobs/2cf2 models/vae/hub.safetensors && " // as in a Hugging Face cache
             "ln -s ../../blobs models/vae/elsewhere && ln -s nowhere models/vae/gone.pth && "
             "ln -s . models/vae/loop && ln -s ../vae models/vae/sub/again",
             dir);
    CHECK(system(cmd) == 0);
    snprintf(a, sizeof(a), "%s/models/vae", dir);
    snprintf(b, sizeof(b), "%s/more/vae", dir);
    char *const dirs[] = { a, b, nowhere, NULL };
    CHECK_STR(joined(nino_paths_list(dirs, ext)),
              "A.SafeTensors:b.safetensors:elsewhere/in.pth:hub.safetensors:sub/deep/c.pth:z.pth");
    CHECK(strstr(joined(nino_paths_list(dirs, NULL)), "x.txt"));
    CHECK_STR(joined(nino_paths_list((char *const[]){ nowhere, NULL }, ext)), "");
}

int main(void)
{
    char cmd[64];
    CHECK(mkdtemp(dir));
    roots();
    yaml();
    bad_yaml();
    lists();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
