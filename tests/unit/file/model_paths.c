// Model folders: order of the search, extra_model_paths.yaml, lists of files.
#include "core/base/buf.h"
#include "core/file/extra_paths.h"
#include "core/file/model_paths.h"
#include "tests/test.h"
#include <ninodes/document.h>

#include <pwd.h>
#include <stdlib.h>

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

static char warning[512];

static void log_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    CHECK(level == NINO_LOG_WARN);
    snprintf(warning, sizeof(warning), "%s", line);
}

// What a file makes of the folders for "vae", as "BEFORE|AFTER" the roots. Values were worked out
// with PyYAML 6 and ComfyUI's load_extra_path_config, which refuses empty files, tabs within a line
// and lists, and names a folder once.
static const struct {
    const char *text, *folders;
} forms[] = {
    { "", "|" },
    { "# only words\n", "|" },
    { "---\na:\n  vae: /x\n...\n", "|/x" },
    { "a:\n  vae: x/y/\n", "|$/x/y" },
    { "a:\n  vae: ./x/../y\n", "|$/y" },
    { "a:\n    base_path: sub/comfy/\r\n    vae: models/vae/   # words\r\n",
      "|$/sub/comfy/models/vae" },
    { "a:\n  vae: |\n    x\n\n    /y\n  base_path: b\n", "|$/b/x:/y" },
    { "a:\n  vae: |-\n    x\n    y", "|$/x:$/y" },
    { "a:\n  vae: >\n    x\n    y\n", "|$/x y" },
    { "a:\n  vae: \"v\\u00e4 e\"\n", "|$/v\xc3\xa4 e" },
    { "a:\n  vae: \"x\\ny\"\n", "|$/x:$/y" },
    { "a:\n  'vae': 'it''s'\n", "|$/it's" },
    { "a:\n  vae: models # x\n  loras: l\n", "|$/models" },
    { "a:\n  vae: a#b\n", "|$/a#b" },
    { "a:\n  vae:\tx\t# words\n", "|$/x" },
    { "a:\n  vae: a\tb\n", "|$/a\tb" },
    { "\xef\xbb\xbf"
      "a:\n  vae: /x\n",
      "|/x" },
    { "a: {vae: /x, base_path: /y}\n", "|/x" },
    { "{\"a\": {\"base_path\": \"/b\", \"vae\": \"x\"}}\n", "|/b/x" },
    { "? a\n: ? vae\n  : x\n", "|$/x" },
    { "a:\n  base_path: &b /data\n  vae: *b\n", "|/data" },
    { "a: &a\n  base_path: /a\n  vae: x\nb:\n  <<: *a\n  base_path: /b\n", "|/a/x:/b/x" },
    { "a: &a {vae: /a}\nb: &b {vae: /b}\nc: {<<: [*b, *a]}\n", "|/a:/b:/b" },
    { "a:\n  vae: x\n  vae: y\n", "|$/y" },
    { "a:\nb:\n  vae: !!str x\n", "|$/x" },
    { "a:\n  vae:\n    - x\n    - /y\n", "|$/x:/y" }, // a list: beyond ComfyUI
    { "a:\n  vae: [x, /y]\n", "|$/x:/y" },
    { "a:\n  base_path: ~/c\n  vae: x\n", "|/home/of/me/c/x" },
    { "a:\n  base_path: ~\n  loras: x\n", NULL }, // that is null
    { "a:\n  base_path: \"~\"\n  vae: x\n", "|/home/of/me/x" },
    { "a:\n  base_path: ~no-such-user/c\n  vae: x\n", "|$/~no-such-user/c/x" },
    { "a:\n  base_path: $DISK/c/${DISK}s\n  vae: x\n", "|/mnt/c/mnts/x" },
    { "a:\n  base_path: $NOT_SET\n  vae: $DISK\n", "|$/$NOT_SET/$DISK" },
    { "a:\n  is_default: true\n  vae: /x\n", "/x|" },
    { "a:\n  is_default: Yes\n  vae: /x\n", "/x|" },
    { "a:\n  is_default: off\n  vae: /x\n", "|/x" },
    { "a:\n  is_default: 'false'\n  vae: /x\n", "/x|" }, // a text that is not empty
    { "a:\n  is_default:\n  vae: /x\n", "|/x" },
    { "a:\n  is_default: ''\n  vae: /x\n", "|/x" },
    { "a:\n  is_default: []\n  vae: /x\n", "|/x" },
    { "a:\n  is_default: [no]\n  vae: /x\n", "/x|" },
    { "a:\n  is_default: {}\n  vae: /x\n", "|/x" },
    { "a:\n  is_default: {a: b}\n  vae: /x\n", "/x|" },
    { "a:\n  vae: x/../../y\n", "|/tmp/y" },
    { "a:\n  vae: /x/../../y/\n", "|/y" },
    { "a:\n  vae: /..\n", "|/" },
    { "a:\n  base_path: ../b\n  vae: ../c/..\n", "|/tmp" },
    { "a:\n  is_default: 1\n  vae: |\n    /x\n    /y\nb: {is_default: on, vae: /z}\n",
      "/z:/y:/x|" },
};

static void yaml_forms(void)
{
    const nino_log log = { log_line, NULL, NINO_LOG_WARN };
    char root[300];
    const char *const roots[] = { root, NULL };
    snprintf(root, sizeof(root), "%s/models", dir);
    CHECK(!setenv("HOME", "/home/of/me", 1) && !setenv("DISK", "/mnt", 1));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char want[512];
        warning[0] = 0;
        save("extra_model_paths.yaml", forms[i].text);
        nino_paths *p = nino_paths_create(roots, &log, NULL);
        CHECK(p);
        const char *folders = joined(nino_paths_dirs(p, "vae"));
        snprintf(want, sizeof(want), "%s", forms[i].folders ? forms[i].folders : "|");
        char *bar = strchr(want, '|');
        char line[1100];
        *bar = 0;
        snprintf(line, sizeof(line), "%s%s$/models/vae%s%s", want, *want ? ":" : "",
                 bar[1] ? ":" : "", bar + 1);
        if (strcmp(folders, line) != 0 || !warning[0] != !!forms[i].folders) {
            fprintf(stderr, "form %zu: '%s' is not '%s'; %s\n%s", i, folders, line, warning,
                    forms[i].text);
            exit(1);
        }
        nino_paths_destroy(&p);
    }
}

// More keys than a section may have; a home that only the system knows.
static void extremes(void)
{
    const nino_log log = { log_line, NULL, NINO_LOG_WARN };
    nino_buf text = { 0 };
    for (int n = 1024; n <= 1025; n++) {
        nino_buf_clear(&text);
        nino_buf_adds(&text, "a:\n  vae: /x\n");
        for (int i = 1; i < n; i++)
            nino_buf_addf(&text, "  kind%d: /y\n", i);
        save("extra_model_paths.yaml", text.data);
        warning[0] = 0;
        nino_paths *p = open_paths(&log);
        CHECK_STR(joined(nino_paths_dirs(p, "vae")),
                  n == 1024 ? "$/models/vae:$/more/vae:/x" : "$/models/vae:$/more/vae");
        CHECK(n == 1024 ? !warning[0] : strstr(warning, "too many keys") != NULL);
        nino_paths_destroy(&p);
    }
    nino_buf_release(&text);
    const struct passwd *me = getpwuid(getuid());
    if (!me || !me->pw_dir || me->pw_dir[0] != '/') {
        test_skip_part("a home that the system knows");
        return;
    }
    char want[800], home[300], yaml[400];
    snprintf(home, sizeof(home), "%s", strcmp(me->pw_dir, "/") ? me->pw_dir : "");
    snprintf(yaml, sizeof(yaml),
             "a:\n  base_path: ~/b\n  vae: x\nb:\n  base_path: ~%s/c\n  vae: y\n", me->pw_name);
    save("extra_model_paths.yaml", yaml);
    CHECK(!unsetenv("HOME"));
    nino_paths *p = open_paths(&log);
    snprintf(want, sizeof(want), "$/models/vae:$/more/vae:%s/b/x:%s/c/y", home, home);
    CHECK_STR(joined(nino_paths_dirs(p, "vae")), want);
    nino_paths_destroy(&p);
    CHECK(!setenv("HOME", "/home/of/me", 1));
}

// What of a file counts for which kind: a kind's own, and those that go with it.
static void kinds(void)
{
    static const char *const cases[][2] = {
        { "diffusion_models", "/d:/u" },
        { "unet", "/d:/u" },
        { "text_encoders", "/t:/c" },
        { "clip", "/t:/c" },
        { "controlnet", "/n:/a" },
        { "t2i_adapter", "/n:/a" },
        { "vae", "/v" },
        { "clip_vision", "" },
    };
    save("extra_model_paths.yaml",
         "a:\n  diffusion_models: /d\n  unet: /u\n  text_encoders: /t\n  clip: /c\n"
         "  controlnet: /n\n  t2i_adapter: /a\n  vae: /v\n");
    nino_paths *p = open_paths(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *list = joined(nino_paths_dirs(p, cases[i][0]));
        const size_t n = strlen(cases[i][1]), all = strlen(list);
        const char *after = strrchr(list, '$');
        CHECK(after &&
              (n ? all > n && !strcmp(list + all - n, cases[i][1]) && list[all - n - 1] == ':'
                 : !strchr(after, ':')));
    }
    nino_paths_destroy(&p);
    const char *const none[] = { NULL };
    p = nino_paths_create(none, NULL, NULL); // as if nothing had been said: ./models
    CHECK(p && strstr(joined(nino_paths_dirs(p, "vae")), "models/vae"));
    nino_paths_destroy(&p);
}

static bool take_one(void *priv, const char *kind, const char *path, bool is_default)
{
    CHECK(!strcmp(kind, "vae") && !is_default);
    snprintf(priv, 300, "%s", path);
    return true;
}

// Below a folder without a beginning: ".." that nothing is left for stays.
static void relative(void)
{
    static const char *const cases[][3] = {
        { "m/a", "x", "m/a/x" },
        { "m/a", "../x", "m/x" },
        { "m/a", "../..", "." },
        { "m/a", "../../../x", "../x" },
        { "m", "../../..", "../.." },
        { "..", "../x/..", "../.." },
        { ".", ".", "." },
        { "", "/..", "/" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char yaml[64], got[300] = "";
        nino_error err = { 0 };
        snprintf(yaml, sizeof(yaml), "a:\n  vae: %s\n", cases[i][1]);
        CHECK_OK(nino_extra_paths_read(cases[i][0], yaml, strlen(yaml), "y", take_one, got, &err),
                 err);
        CHECK_STR(got, cases[i][2]);
    }
}

static void bad_yaml(void)
{
    static const char *const bad[][2] = {
        { "a:\n\tvae: x\n", "line 2, column 1" },
        { "vae\n", "line 1, column 1" },
        { "a: b\n", "line 1, column 4" },
        { "a:\n  vae: x\n   loras: y\n", "line 3, column 9" },
        { "a:\n  vae: {x: y}\n", "line 2, column 8" },
        { "a:\n  vae: [x, [y]]\n", "line 2, column 12" },
        { "a:\n  vae: *x\n", "line 2, column 8" },
        { "a:\n  vae: \"x\\q\"\n", "line 2, column 10" },
        { "a:\n  vae: \"x\\0y\"\n", "line 2, column 8" },
        { "a:\n  vae: 'x\n", "line 3, column 1" },
        { "a:\n  vae:\n", "line 2, column 7" },
        { "a:\n  - vae\n", "line 2, column 3" },
        { "a:\n  vae:x\n", "line 2, column 3" },
        { "a:\n  ? [vae]\n  : x\n", "line 2, column 5" },
        { "a:\n  base_path: [x]\n", "line 2, column 14" },
        { "a: &a\n  <<: *a\n", "line 2, column 3" }, // of itself
        { "a:\n  vae: x\n---\nb:\n  vae: y\n", "line 3, column 1" },
        { "a:\n  vae: \xff\n", "byte 10" },
    };
    const nino_log log = { log_line, NULL, NINO_LOG_WARN };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256];
        warning[0] = 0;
        save("extra_model_paths.yaml", bad[i][0]);
        nino_paths *p = open_paths(&log);
        if (!strstr(warning, bad[i][1]) || !strstr(warning, "ignored") ||
            !strstr(warning, "/extra_model_paths.yaml: ")) {
            fprintf(stderr, "case %zu: '%s'\n", i, warning);
            exit(1);
        }
        nino_paths_destroy(&p);
        // What stood before the mistake does not count either.
        snprintf(text, sizeof(text), "ok:\n  loras: never\n%s", bad[i][0]);
        save("extra_model_paths.yaml", text);
        p = open_paths(&log);
        CHECK_STR(joined(nino_paths_dirs(p, "loras")), "$/models/loras:$/more/loras");
        nino_paths_destroy(&p);
    }
}

// Beside two roots, and in a root that is given twice: its folders count once.
static void common_parent(void)
{
    char root[300], again[300];
    const char *const twice[] = { root, again, NULL };
    save("extra_model_paths.yaml", "a:\n  loras: beside\n");
    nino_paths *p = open_paths(NULL);
    CHECK_STR(joined(nino_paths_dirs(p, "loras")), "$/models/loras:$/more/loras:$/beside");
    nino_paths_destroy(&p);
    snprintf(root, sizeof(root), "%s", dir);
    snprintf(again, sizeof(again), "%s/models/..", dir);
    p = nino_paths_create(twice, NULL, NULL);
    CHECK_STR(joined(nino_paths_dirs(p, "loras")), "$/loras:$/models/../loras:$/beside");
    nino_paths_destroy(&p);
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
    CHECK_STR(joined(nino_paths_list(NULL, ext)), "");
    CHECK_STR(joined(nino_paths_list((char *const[]){ b, b, NULL }, ext)), "b.safetensors:z.pth");
    snprintf(cmd, sizeof(cmd), // nine folders in each other, a file in the last ones
             "cd %s && mkdir -p deep/1/2/3/4/5/6/7/8/9 && touch deep/1/2/3/4/5/6/7/8/in.pth "
             "deep/1/2/3/4/5/6/7/8/9/out.pth",
             dir);
    CHECK(system(cmd) == 0);
    snprintf(a, sizeof(a), "%s/deep", dir);
    CHECK_STR(joined(nino_paths_list((char *const[]){ a, NULL }, ext)), "1/2/3/4/5/6/7/8/in.pth");
}

// What people and programs ask for by folder and name.
static void by_name(void)
{
    char root[300], input[300];
    const char *const models[] = { root, NULL };
    nino_error err = { 0 };
    snprintf(root, sizeof(root), "%s/models//", dir);
    snprintf(input, sizeof(input), "%s/blobs", dir);
    char *path = nino_find_model(models, "vae", "b.safetensors", &err);
    CHECK(path && !strcmp(path + strlen(dir), "/models/vae/b.safetensors"));
    free(path);
    static const char *const none[] = { "none.pth", "sub",
                                        "gone.pth" }; // not there, a folder, a link to nothing
    for (int i = 0; i < 3; i++) {
        CHECK(!nino_find_model(models, "vae", none[i], &err) && err.code == NINO_ERR_MISSING);
        CHECK_STR(err.kind, "missing_file");
        CHECK_STR(err.where, none[i]);
        CHECK_STR(err.msg, "is in no folder of vae");
    }
    CHECK(!nino_find_model(models, "vae", "../vae/b.safetensors", &err) && err.msg[0]);
    CHECK_STR(joined(nino_list_files(models, NULL, "output", &err)), "");
    CHECK_STR(joined(nino_list_files(models, input, "input", &err)), "2cf2:in.pth");
    CHECK(strstr(joined(nino_list_files(models, NULL, "vae", &err)), "hub.safetensors"));
    char *here = getcwd(NULL, 0);
    CHECK(here && !chdir(dir));
    CHECK_STR(joined(nino_list_files(NULL, NULL, "input", &err)), ""); // there is no ./input
    CHECK(strstr(joined(nino_list_files(NULL, NULL, "vae", &err)), "b.safetensors")); // ./models
    static const char *const odd[] = { ".", "models/.", "models/..", "models", "/", NULL };
    nino_paths *p =
        nino_paths_create(odd, NULL, &err); // roots whose parents are found by other ways
    CHECK(p);
    CHECK_STR(joined(nino_paths_dirs(p, "x")), "./x:models/./x:models/../x:models/x://x");
    nino_paths_destroy(&p);
    CHECK(!chdir(here));
    free(here);
}

int main(void)
{
    char cmd[64];
    CHECK(mkdtemp(dir));
    roots();
    yaml_forms();
    extremes();
    kinds();
    relative();
    bad_yaml();
    lists();
    common_parent();
    by_name();
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    CHECK(system(cmd) == 0);
    return 0;
}
