// data/workflows/seeds: equivalents of the seven files that came with the original extension. They
// load, mean what those meant, and an editor finds nothing to repair in them.
#include "core/base/file.h"
#include "core/workflow/workflow.h"
#include "tests/flow.h"
#include "tests/prompt.h"

#define FOLDER "data/workflows/seeds/"

static nino_error err;

typedef struct seed {
    const char *file;
    uint32_t n_nodes, n_links; // as in the file
    size_t n_run;              // what is left of them
    const char *values;        // some inputs of the API form: "NODE.INPUT=JSON;"
} seed;

static const seed seeds[] = {
    { "basic_image.json", 7, 0, 7,
      "5.seed=12345;5.sampler_name=\"euler\";5.scheduler=\"normal\";"
      "7.filename_prefix=\"rocm_optimized_test\";" },
    { "batch_processing.json", 7, 0, 7,
      "4.batch_size=4;6.precision_mode=\"mixed\";7.filename_prefix=\"rocm_batch_test\";" },
    { "video_processing.json", 7, 0, 7, "4.frame_count=16;7.filename_prefix=\"rocm_video_test\";" },
    { "performance_comparison.json", 13, 0, 13,
      "7.filename_prefix=\"baseline_comparison\";9.filename_prefix=\"phase1_comparison\";"
      "11.filename_prefix=\"phase2_comparison\";13.filename_prefix=\"phase3_comparison\";" },
    { "example_workflow.json", 8, 10, 8,
      "1.ckpt_name=\"flux1-dev-fp8.safetensors\";4.width=1024;5.steps=20;5.cfg=1;5.denoise=1;"
      "6.tile_size=768;6.overlap=96;6.batch_optimization=true;8.filename_prefix=\"rocm_"
      "optimized\";" },
    // every value is one of 1.0.9, and would mean something else today
    { "flux_dev_optimized.json", 11, 10, 9,
      "30.ckpt_name=\"\";30.use_cache=;30.force_reload=;33.guidance=3.5;35.seed=987654321;"
      "35.optimize_for_video=;35.precision_mode=\"auto\";35.compatibility_mode=;"
      "36.batch_optimization=true;36.compatibility_mode=;36.enable_temporal_tiling=;" },
    { "example_workflow_wan_video.json", 37, 42, 17,
      "111.add_noise=\"enable\";111.noise_seed=138073435077572;111.steps=4;111.start_at_step=0;"
      "111.end_at_step=2;111.return_with_leftover_noise=\"enable\";112.add_noise=\"disable\";"
      "112.start_at_step=2;112.end_at_step=4;112.latent_image=[\"111\", 0];110.width=432;"
      "110.length=29;110.start_image=[\"105\", 0];108.shift=5;108.model=[\"116\", 0];"
      "113.tile_size=;114.fps=16;115.filename_prefix=\"video/ComfyUI\";115.format=\"auto\";" },
};

static const nino_json *input_of(const nino_graph *g, const char *id, const char *key)
{
    return nino_json_get(nino_json_get(nino_json_get(g->prompt, id), "inputs"), key);
}

// "NODE.INPUT=JSON;" one after the other; no JSON: there is no such input.
static void check_values(const nino_graph *g, const seed *s)
{
    for (const char *p = s->values; *p;) {
        char id[16], key[64], want[96];
        nino_buf got = { 0 };
        CHECK(sscanf(p, "%15[^.].%63[^=]=", id, key) == 2);
        p = strchr(p, '=') + 1;
        snprintf(want, sizeof(want), "%.*s", (int) strcspn(p, ";"), p);
        p += strcspn(p, ";") + 1;
        const nino_json *v = input_of(g, id, key);
        if (v)
            nino_json_write(&got, g->doc, v);
        if (strcmp(got.data ? got.data : "", want)) {
            fprintf(stderr, "%s: %s.%s is %s\n", s->file, id, key, got.data);
            exit(1);
        }
        nino_buf_release(&got);
    }
}

// ---- what the editor relies on ---------------------------------------------------------------

static const nino_json *find(const nino_json *list, const nino_json *id)
{
    for (const nino_json *v = list->child; v; v = v->next) {
        const nino_json *own = v->type == NINO_JSON_ARRAY ? v->child : nino_json_get(v, "id");
        if (!strcmp(own->text, id->text))
            return v;
    }
    return NULL;
}

static void check_layout(const nino_json *root, const seed *s)
{
    const nino_json *nodes = nino_json_get(root, "nodes"), *links = nino_json_get(root, "links");
    int64_t last_node = 0, last_link = 0, id = 0;
    CHECK(nodes->count == s->n_nodes && links->count == s->n_links);
    CHECK(nino_json_i64(nino_json_get(root, "last_node_id"), &last_node));
    CHECK(nino_json_i64(nino_json_get(root, "last_link_id"), &last_link));
    for (const nino_json *n = nodes->child; n; n = n->next) {
        CHECK(nino_json_i64(nino_json_get(n, "id"), &id) && id <= last_node);
        CHECK(nino_json_get(n, "pos")->count == 2 && nino_json_get(n, "size")->count == 2);
        CHECK(find(nodes, nino_json_get(n, "id")) == n);
    }
    // both ends of a link know it
    for (const nino_json *l = links->child; l; l = l->next) {
        int64_t slot = 0, at = 0;
        CHECK(l->count == 6 && nino_json_i64(l->child, &id) && id <= last_link);
        const nino_json *from = find(nodes, nino_json_at(l, 1)),
                        *to = find(nodes, nino_json_at(l, 3));
        CHECK(from && to && nino_json_i64(nino_json_at(l, 2), &slot) &&
              nino_json_i64(nino_json_at(l, 4), &at));
        const nino_json *out = nino_json_at(nino_json_get(from, "outputs"), (uint32_t) slot);
        const nino_json *in = nino_json_at(nino_json_get(to, "inputs"), (uint32_t) at);
        CHECK(out && in && !strcmp(nino_json_get(in, "link")->text, l->child->text));
        CHECK(!strcmp(nino_json_get(in, "type")->text, nino_json_get(out, "type")->text));
        bool found = false;
        for (const nino_json *v = nino_json_get(out, "links")->child; v; v = v->next)
            found = found || !strcmp(v->text, l->child->text);
        CHECK(found);
    }
}

// ---- the check -------------------------------------------------------------------------------

typedef struct found {
    const char *file;
    int n_missing, n_unsupported;
} found;

// Nothing but files that are not here, and classes that are not done, stands in the way.
static void note(void *priv, const nino_issue *i)
{
    found *f = priv;
    f->n_missing += !strcmp(i->code, "missing_file");
    f->n_unsupported += !strcmp(i->code, "unsupported_class");
    const bool is_choice = !strcmp(i->code, "value") && strstr(i->message, "no file is chosen");
    if (i->severity == NINO_ISSUE_ERROR && strcmp(i->code, "missing_file") &&
        strcmp(i->code, "unsupported_class") && !is_choice) {
        fprintf(stderr, "%s: %s.%s: %s (%s)\n", f->file, i->node, i->input, i->message, i->code);
        exit(1);
    }
}

static void check_seed(nino_ctx *ctx, const seed *s)
{
    char path[256], *text = NULL;
    size_t len = 0, graph_len = 0;
    found f = { .file = s->file };
    snprintf(path, sizeof(path), FOLDER "%s", s->file);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_file_read(path, 1 << 20, false, &text, &len, &err), err);
    const char *back = nino_graph_json(g, &graph_len);
    CHECK(graph_len == len && !memcmp(back, text, len));
    CHECK(nino_graph_nodes(g, NULL, 0) == s->n_run);
    if (g->ui)
        check_layout(g->ui_doc->root, s);
    else
        CHECK(g->prompt->count == s->n_nodes);
    check_values(g, s);
    nino_graph_check(g, ctx, note, &f);
    CHECK(f.n_missing + f.n_unsupported > 0 || !strcmp(s->file, "flux_dev_optimized.json"));
    printf("  %s: %zu nodes run; %d files missing, %d classes not supported yet\n", s->file,
           s->n_run, f.n_missing, f.n_unsupported);
    free(text);
    nino_graph_destroy(&g);
}

int main(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    CHECK(ctx);
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
        check_seed(ctx, &seeds[i]);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
