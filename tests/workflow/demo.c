// The demo's workflows: the editor's form and the API form mean the same, pictures and clips are
// those that torch makes of the weights in the files, and the LoRA and another seed change them.
#include <dirent.h>
#include <ninodes/picture.h>

#include "core/workflow/workflow.h"
#include "tests/flow.h"
#include "tests/prompt.h"

#define FOLDER "data/workflows/"

static nino_error err;

static nino_graph *load(const char *name, const char *end)
{
    char path[256];
    snprintf(path, sizeof(path), FOLDER "%s%s", name, end);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    return g;
}

// ---- two forms -------------------------------------------------------------------------------

static nino_json_doc *api_of(nino_graph *g)
{
    size_t len;
    nino_json_doc *doc = NULL;
    const char *text = nino_graph_api_json(g, &len);
    CHECK_OK(nino_json_parse(text, len, "demo", NULL, &doc, &err), err);
    return doc;
}

static void check_forms(const char *name)
{
    nino_buf diff = { 0 };
    nino_graph *ui = load(name, ".json"), *api = load(name, ".api.json");
    nino_json_doc *a = api_of(api), *b = api_of(ui);
    prompt_diff(a->root, b->root, &diff);
    if (diff.len)
        fprintf(stderr, "%s: %s", name, diff.data);
    CHECK(!diff.len);
    nino_buf_release(&diff);
    nino_json_doc_destroy(&a);
    nino_json_doc_destroy(&b);
    nino_graph_destroy(&ui);
    nino_graph_destroy(&api);
}

static int each_form(void)
{
    int n = 0;
    DIR *dir = opendir(FOLDER);
    CHECK(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const size_t len = strlen(e->d_name);
        if (len < 9 || strcmp(e->d_name + len - 9, ".api.json"))
            continue;
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int) (len - 9), e->d_name);
        check_forms(name);
        n++;
    }
    closedir(dir);
    return n;
}

// ---- against torch ---------------------------------------------------------------------------

static nino_picture picture(const char *path)
{
    nino_picture p;
    CHECK_OK(nino_picture_load(path, &p, &err), err);
    return p;
}

// Largest difference in 1/255 from a picture; a clip is compared by its first, middle and last
// frame, which stand side by side in the other.
static int difference(const nino_picture *p, const nino_picture *want)
{
    const int frames[] = { 0, p->frames / 2, p->frames - 1 }, n = p->frames > 1 ? 3 : 1;
    int most = 0;
    CHECK(want->height == p->height && want->width == p->width * n);
    for (int f = 0; f < n; f++)
        for (int y = 0; y < p->height; y++)
            for (int i = 0; i < 4 * p->width; i++) {
                const size_t row = (size_t) frames[f] * (size_t) p->height + (size_t) y;
                const int a = p->rgba[row * 4 * (size_t) p->width + (size_t) i];
                const int b = want->rgba[4 * ((size_t) y * (size_t) want->width +
                                              (size_t) f * (size_t) p->width) +
                                         (size_t) i];
                most = abs(a - b) > most ? abs(a - b) : most;
            }
    return most;
}

static nino_picture run(nino_ctx *ctx, const char *name, const char *assignment)
{
    nino_graph *g = load(name, ".json");
    if (assignment)
        CHECK_OK(nino_graph_set(g, assignment, &err), err);
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_graph_destroy(&g);
    return picture(r.path[0]);
}

static void check_torch(nino_ctx *ctx, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "data/demo/expected/%s.png", name);
    nino_picture got = run(ctx, name, NULL), want = picture(path);
    const int most = difference(&got, &want);
    printf("  %s: largest difference %d of 255\n", name, most);
    CHECK(most <= 2);
    nino_picture_release(&got);
    nino_picture_release(&want);
}

static void check_differ(nino_ctx *ctx)
{
    nino_picture a = run(ctx, "text_to_image", NULL), b = run(ctx, "lora", NULL);
    nino_picture c = run(ctx, "text_to_image", "KSampler.seed=2");
    nino_picture d = run(ctx, "text_to_image", "Prompt.text=a white star on a black background");
    CHECK(difference(&a, &b) > 60 && difference(&a, &c) > 10 && difference(&a, &d) > 60);
    nino_picture_release(&a);
    nino_picture_release(&b);
    nino_picture_release(&c);
    nino_picture_release(&d);
}

int main(void)
{
    CHECK(each_form() == 10);
    nino_ctx *ctx = flow_open("cl", "data/demo");
    if (!ctx)
        ctx = flow_open("ref", "data/demo");
    CHECK(ctx);
    check_torch(ctx, "text_to_image");
    check_torch(ctx, "lora");
    check_torch(ctx, "text_to_video");
    check_differ(ctx);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
