// Real workflows in both forms: each parses, comes back byte for byte, and the check names exactly
// the classes that cannot run here and the files that are not there. What is expected is worked out
// from the API form alone; that of the UI files is compared with ComfyUI's in ui_pairs.c.
#include <dirent.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/test.h"
#include <ninodes/ninodes.h>

#define MAX_ISSUES 256

typedef struct found {
    char unsupported[MAX_ISSUES][64], missing[MAX_ISSUES][128]; // node, node.input
    int n_unsupported, n_missing, n_other;
    char other[256];
} found;

static void note(void *priv, const nino_issue *i)
{
    found *f = priv;
    CHECK(f->n_unsupported < MAX_ISSUES && f->n_missing < MAX_ISSUES);
    if (!strcmp(i->code, "unsupported_model"))
        return; // by the name of a file, which is missing as well
    if (!strcmp(i->code, "unsupported_class"))
        snprintf(f->unsupported[f->n_unsupported++], 64, "%s", i->node);
    else if (!strcmp(i->code, "missing_file"))
        snprintf(f->missing[f->n_missing++], 128, "%s.%s", i->node, i->input);
    else if (!strcmp(i->code, "value") && strstr(i->message, "'flux2'"))
        return; // one file is of a newer ComfyUI, where CLIPLoader has another type
    else if (i->severity == NINO_ISSUE_ERROR && !f->n_other++)
        snprintf(f->other, sizeof(f->other), "%s %s.%s: %s", i->code, i->node, i->input,
                 i->message);
}

// Where the models and pictures of some workflows are.
typedef struct place {
    const char *models, *input;
} place;

// Is `name` of this folder kind on the disk?
static bool exists(const place *p, const char *folder, const char *name)
{
    static const char *const tiny[] = { "taesd", "taesdxl", "taesd3", "taef1", "taef2" };
    char path[512];
    for (size_t i = 0; i < 5; i++)
        if (!strcmp(folder, "vae") && !strcmp(name, tiny[i])) {
            snprintf(path, sizeof(path), "%s/vae_approx/%s_decoder.safetensors", p->models, name);
            return !access(path, R_OK);
        }
    if (strcmp(folder, "input"))
        snprintf(path, sizeof(path), "%s/%s/%s", p->models, folder, name);
    else
        snprintf(path, sizeof(path), "%s/%s", p->input, name);
    return !access(path, R_OK);
}

static int in(const char list[][64], int n, const char *what)
{
    int hits = 0;
    for (int i = 0; i < n; i++)
        hits += !strcmp(list[i], what);
    return hits;
}

static void compare(const place *at, const char *file, const nino_json *prompt, const found *f)
{
    int n_unsupported = 0, n_missing = 0;
    for (const nino_json *n = prompt->child; n; n = n->next) {
        const char *class_type = nino_json_str(nino_json_get(n, "class_type"));
        const nino_node_def *def = nino_node_find(class_type, NULL);
        if (!def) {
            n_unsupported++;
            if (in(f->unsupported, f->n_unsupported, n->key) != 1) {
                fprintf(stderr, "%s: node %s %s is not reported once\n", file, n->key, class_type);
                exit(1);
            }
            continue;
        }
        for (const nino_param *p = def->params; p && p->key; p++) {
            const char *name = nino_json_str(nino_json_get(nino_json_get(n, "inputs"), p->key));
            if (p->type != NINO_FILE || !name || exists(at, p->folder, name))
                continue;
            char want[128];
            int hits = 0;
            n_missing++;
            snprintf(want, sizeof(want), "%s.%s", n->key, p->key);
            for (int i = 0; i < f->n_missing; i++)
                hits += !strcmp(f->missing[i], want);
            if (hits != 1) {
                fprintf(stderr, "%s: missing file %s is not reported once\n", file, want);
                exit(1);
            }
        }
    }
    if (n_unsupported != f->n_unsupported || n_missing != f->n_missing || f->n_other) {
        fprintf(stderr, "%s: %d/%d unsupported, %d/%d missing, other: %s\n", file, f->n_unsupported,
                n_unsupported, f->n_missing, n_missing, f->other);
        exit(1);
    }
}

static int check_folder(nino_ctx *ctx, const place *at, const char *dir, int *n_runnable)
{
    char path[768];
    int n = 0;
    DIR *d = opendir(dir);
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));) {
        nino_error err = { 0 };
        nino_json_doc *doc = NULL;
        char *text = NULL;
        size_t len = 0, graph_len = 0;
        found f = { 0 };
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".json"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        CHECK_OK(nino_file_read(path, 64 << 20, false, &text, &len, &err), err);
        nino_graph *g = nino_graph_load_file(path, &err);
        CHECK_OK(err.code, err);
        CHECK(g);
        const char *back = nino_graph_json(g, &graph_len); // untouched: the same bytes
        CHECK(graph_len == len && !memcmp(back, text, len));
        back = nino_graph_api_json(g, &graph_len);
        CHECK_OK(nino_json_parse(back, graph_len, path, NULL, &doc, &err), err);
        CHECK(nino_graph_nodes(g, NULL, 0) == doc->root->count);
        *n_runnable += nino_graph_check(g, ctx, note, &f) == 0;
        compare(at, path, doc->root, &f);
        nino_graph_destroy(&g);
        nino_json_doc_destroy(&doc);
        free(text);
        n++;
    }
    closedir(d);
    return n;
}

static nino_ctx *open_at(const place *p)
{
    nino_error err = { 0 };
    const char *const roots[] = { p->models, NULL };
    const nino_ctx_params params = {
        NINO_CTX_PARAMS_INIT, .device = "ref",
        .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots, .input_dir = p->input }
    };
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    CHECK_OK(err.code, err);
    return ctx;
}

static void check_own(void)
{
    static const place demo = { "data/demo/models", "data/demo/input" };
    static const place tiny = { "tests/data/models", "data/demo/input" };
    int n_runnable = 0;
    nino_ctx *ctx = open_at(&demo);
    CHECK(check_folder(ctx, &demo, "data/workflows", &n_runnable) == 20 && n_runnable == 20);
    n_runnable = 0; // their models are not here
    CHECK(check_folder(ctx, &demo, "tests/data/e2e/workflows", &n_runnable) == 9 && !n_runnable);
    nino_ctx_destroy(&ctx);
    ctx = open_at(&tiny);
    CHECK(check_folder(ctx, &tiny, "tests/data/e2e/workflows", &n_runnable) == 9);
    CHECK(n_runnable == 8); // the ninth's ControlNets are made by tests/e2e/control_own
    nino_ctx_destroy(&ctx);
}

static void check_reference(const char *assets)
{
    static const struct {
        const char *folder;
        int n, n_runnable;                   // -1: some
    } sets[] = { { "workflows_api", 37, 0 }, // their models are not here
                 { "workflows_ui", 55, 0 },
                 { "e2e/workflows", 14, -1 },
                 { "taesd_ref/workflows", 6, 6 } };
    char models[400], input[400], dir[400];
    snprintf(models, sizeof(models), "%s/models", assets);
    snprintf(input, sizeof(input), "%s/taesd_ref", assets);
    const place at = { models, input };
    nino_ctx *ctx = open_at(&at);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        int n = 0;
        snprintf(dir, sizeof(dir), "%s/%s", assets, sets[i].folder);
        CHECK(check_folder(ctx, &at, dir, &n) == sets[i].n);
        CHECK(sets[i].n_runnable < 0 || n == sets[i].n_runnable);
    }
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    check_own();
    if (test_assets())
        check_reference(test_assets());
    else
        test_skip_part("ComfyUI's own workflows");
    return 0;
}
