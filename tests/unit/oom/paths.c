// Folders of models with every allocation failing, once and from there on: found through the environment
// and extra_model_paths.yaml, listed, asked for by name.
#include "core/base/file.h"
#include "core/file/model_paths.h"
#include "tests/unit/oom/arena.h"
#include <ninodes/document.h>

static char dir[] = "/tmp/ninodes-oom-paths-XXXXXX";

static void create(int may_fail)
{
    nino_error err = { 0 };
    nino_paths *p = nino_paths_create(NULL, NULL, &err);
    if (!oom_passed(p ? NINO_OK : err.code, &err, may_fail))
        return;
    char **dirs = nino_paths_dirs(p, "vae");
    CHECK(dirs || (may_fail && oom.fired));
    if (!oom.fired) { // both roots of the environment, and what the file beside them adds once
        CHECK(dirs[0] && dirs[1] && dirs[2] && !dirs[3]);
        CHECK(strstr(dirs[0], "/models/vae") && strstr(dirs[1], "/other/vae"));
        CHECK(strstr(dirs[2], "more/vae"));
    }
    free(dirs);
    nino_paths_destroy(&p);
}

static void list(int may_fail)
{
    char path[100];
    char *const dirs[] = { path, NULL };
    snprintf(path, sizeof(path), "%s/models", dir);
    char **names = nino_paths_list(dirs, NULL);
    CHECK(names || (may_fail && oom.fired));
    if (!oom.fired)
        CHECK(!strcmp(names[0], "vae/0.pth") && !strcmp(names[99], "vae/99.pth") && !names[100]);
    free(names);
}

static void by_name(int may_fail)
{
    char root[100];
    const char *const models[] = { root, NULL };
    nino_error err = { 0 };
    snprintf(root, sizeof(root), "%s/models", dir);
    char *path = nino_find_model(models, "vae", "7.pth", &err);
    oom_passed(path ? NINO_OK : err.code, &err, may_fail);
    free(path);
    char **names = nino_list_files(models, NULL, "vae", &err);
    CHECK(names || (may_fail && oom.fired && err.code == NINO_ERR_NOMEM));
    free(names);
}

int main(void)
{
    static const char yaml[] = "a:\n    base_path: .\n    vae: more/vae\n";
    char command[400], env[200];
    nino_error err = { 0 };
    CHECK(mkdtemp(dir));
    snprintf(env, sizeof(env), "%s/models::%s/other:", dir, dir);
    CHECK(!setenv("NINODES_MODELS", env, 1));
    CHECK_OK(nino_file_save(dir, "extra_model_paths.yaml", true, yaml, sizeof(yaml) - 1, &err),
             err);
    snprintf(command, sizeof(command),
             "cd %s && mkdir -p models/vae other && cd models/vae && for i in $(seq 0 99); do : > "
             "$i.pth; done",
             dir);
    CHECK(!system(command));
    create(0); // what is read of the environment is kept
    printf("  found: %ld allocations\n", oom_each(create));
    printf("  listed: %ld\n", oom_each(list));
    printf("  by name: %ld\n", oom_each(by_name));
    snprintf(command, sizeof(command), "rm -r %s", dir);
    CHECK(!system(command));
    return 0;
}
