// What the editor saved becomes what ComfyUI itself made of it: 37 pairs of files, and two pictures
// that hold both forms. The project's own workflows become what their generator wrote beside them.
#include "core/media/png.h"
#include "core/workflow/workflow.h"
#include "tests/prompt.h"
#include <dirent.h>

// Where ComfyUI's own prompt has an entry that no class takes: the buttons and previews of old
// editors were widgets too, and were sent along.
static bool is_known(const char *line)
{
    static const char *const buttons[] = {
        "LoadImage.upload: want \"image\" got nothing",
        "LoadImage.choose file to upload: want \"image\" got nothing",
        "SaveWEBM.video-preview: want \"\" got nothing",
    };
    const char *rest = strchr(line, ' ');
    for (size_t i = 0; rest && i < sizeof(buttons) / sizeof(buttons[0]); i++)
        if (!strncmp(rest + 1, buttons[i], strlen(buttons[i])) &&
            rest[1 + strlen(buttons[i])] == '\n')
            return true;
    return false;
}

static int n_same, n_known, n_bad;

static void compare(const char *name, const nino_json *want, nino_graph *g)
{
    size_t len = 0;
    nino_error err = { 0 };
    nino_json_doc *got = NULL;
    nino_buf diff = { 0 };
    bool ok = true;
    const char *text = nino_graph_api_json(g, &len);
    CHECK_OK(nino_json_parse(text, len, name, NULL, &got, &err), err);
    prompt_diff(want, got->root, &diff);
    for (char *line = diff.data; line && *line; line = strchr(line, '\n') + 1)
        if (!is_known(line)) {
            fprintf(stderr, "%s: %.*s\n", name, (int) strcspn(line, "\n"), line);
            ok = false;
        }
    n_same += !diff.len;
    n_known += ok && diff.len;
    n_bad += !ok;
    nino_buf_release(&diff);
    nino_json_doc_destroy(&got);
}

static nino_graph *load(const char *path)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK(g);
    return g;
}

// Where the two forms of a workflow lie: folders, and how the names of their files end.
typedef struct place {
    const char *api, *ui, *api_end, *ui_end;
} place;

static void check_pair(const char *data, const place *p, const char *file)
{
    char path[1024];
    const size_t n = strlen(file), end = strlen(p->api_end);
    if (n <= end || strcmp(file + n - end, p->api_end))
        return;
    snprintf(path, sizeof(path), "%s/%s/%s", data, p->api, file);
    nino_graph *api = load(path);
    snprintf(path, sizeof(path), "%s/%s/%.*s%s", data, p->ui, (int) (n - end), file, p->ui_end);
    nino_graph *ui = load(path);
    compare(file, api->prompt, ui);
    nino_graph_destroy(&api);
    nino_graph_destroy(&ui);
}

static void check_folder(const char *data, const place *p)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", data, p->api);
    DIR *dir = opendir(path);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));)
        check_pair(data, p, e->d_name);
    closedir(dir);
}

// A picture: its prompt is what was read, its workflow is converted here.
static void check_picture(const char *assets, const char *file)
{
    char path[1024];
    nino_error err = { 0 };
    size_t len = 0;
    snprintf(path, sizeof(path), "%s/images_comfy_meta/%s", assets, file);
    nino_graph *both = load(path);
    const char *text = nino_graph_ui_json(both, &len);
    CHECK(text);
    nino_graph *ui = nino_graph_load(text, len, file, &err);
    CHECK_OK(ui ? NINO_OK : err.code, err);
    compare(file, both->prompt, ui);
    nino_graph_destroy(&ui);
    nino_graph_destroy(&both);
}

int main(void)
{
    static const place own = { "workflows", "workflows", ".api.json", ".json" };
    static const place comfy = { "workflows_api", "workflows_ui", ".prompt.json",
                                 ".workflow.json" };
    const char *assets = test_assets();
    check_folder("data", &own);
    CHECK(n_bad == 0 && n_known == 0 && n_same == 10);
    if (!assets) {
        test_skip_part("ComfyUI's own pairs");
        return 0;
    }
    n_same = 0;
    check_folder(assets, &comfy);
    check_picture(assets, "lora_lora.png");
    check_picture(assets, "wan_text_to_video_wan.webp");
    printf("  %d pairs identical, %d but for buttons and previews\n", n_same, n_known);
    CHECK(n_bad == 0 && n_same >= 24 && n_same + n_known == 39);
    return 0;
}
