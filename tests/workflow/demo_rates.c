// The demo models do what they are told: prompts that training never saw, made by the workflows of
// data/workflows and judged by tests/drawn.h. A few here, all in the long form, which prints rates.
//   demo_rates PICTURE PROMPT     what is in one picture, and whether it is as the prompt says
#include <ninodes/picture.h>

#include "core/base/file.h"
#include "tests/drawn.h"
#include "tests/flow.h"

static nino_error err;

// ---- one picture or clip ---------------------------------------------------------------------

static drawn_look see(const nino_picture *p, int frame)
{
    const size_t n = (size_t) p->width * (size_t) p->height;
    float *rgb = malloc(3 * n * sizeof(*rgb));
    CHECK(rgb);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = (float) p->rgba[((size_t) frame * n + i) * 4 + c] / 255;
    const drawn_look look = drawn_see(rgb, p->width, p->height);
    free(rgb);
    return look;
}

// What is not as the prompt says, NULL: nothing.
static const char *judge(const char *path, const char *prompt, bool tell)
{
    drawn_wish wish;
    nino_picture p;
    CHECK(drawn_read(prompt, &wish));
    CHECK_OK(nino_picture_load(path, &p, &err), err);
    const drawn_look look = see(&p, p.frames / 2);
    const char *wrong = drawn_wrong(&wish, &look);
    if (!wrong && wish.motion >= 0) {
        const drawn_look first = see(&p, 0), last = see(&p, p.frames - 1);
        wrong = drawn_motion(&first, &last) == wish.motion ? NULL : "motion";
    }
    if (tell && look.shape >= 0)
        printf("%s: %s %s on %s at %.2f, %.2f, radius %.2f, overlap %.2f\n", path,
               drawn_colours[look.colour].word, drawn_shapes[look.shape],
               drawn_colours[look.back].word, (double) look.x, (double) look.y, (double) look.r,
               (double) look.fit);
    nino_picture_release(&p);
    return wrong;
}

// ---- many ------------------------------------------------------------------------------------

typedef struct rate {
    const char *workflow, *text_node, *seed_node; // titles or classes of the nodes that are set
    bool is_clip;
    int least; // of 100
} rate;

static const rate rates[] = {
    { "text_to_image", "Prompt", "KSampler", false, 90 },
    { "gguf", "Prompt", "KSampler", false, 85 },
    { "fp8", "Prompt", "KSampler", false, 85 },
    { "text_to_video", "Prompt", "KSampler", true, 80 },
};

static void set(nino_graph *g, const char *node, const char *input, const char *value)
{
    char assignment[256];
    snprintf(assignment, sizeof(assignment), "%s.%s=%s", node, input, value);
    CHECK_OK(nino_graph_set(g, assignment, &err), err);
}

// Prompts of the file: a hundred for pictures, then a hundred for clips.
static char *prompt_at(char **lines, bool is_clip, int i) { return lines[(is_clip ? 100 : 0) + i]; }

static int run_all(nino_ctx *ctx, char **lines, const rate *r, int n)
{
    char path[128];
    int right = 0;
    snprintf(path, sizeof(path), "data/workflows/%s.json", r->workflow);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    for (int i = 0; i < n; i++) {
        char seed[16];
        snprintf(seed, sizeof(seed), "%d", 1000 + i);
        set(g, r->text_node, "text", prompt_at(lines, r->is_clip, i));
        set(g, r->seed_node, "seed", seed);
        const flow_result f = flow_run(ctx, g, NULL);
        CHECK_OK(f.st, f.err);
        CHECK(f.n_paths == 1);
        const char *wrong = judge(f.path[0], prompt_at(lines, r->is_clip, i), false);
        if (wrong)
            printf("  %s: \"%s\": %s\n", r->workflow, prompt_at(lines, r->is_clip, i), wrong);
        right += !wrong;
        CHECK(unlink(f.path[0]) == 0);
    }
    printf("  %s: %d of %d prompts\n", r->workflow, right, n);
    nino_graph_destroy(&g);
    return right;
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        const char *wrong = judge(argv[1], argv[2], true);
        printf("%s\n", wrong ? wrong : "right");
        return wrong != NULL;
    }
    char *text = NULL, *lines[200];
    size_t len;
    CHECK_OK(nino_file_read("data/demo/prompts.txt", 1 << 20, false, &text, &len, &err), err);
    char *at = text;
    for (int i = 0; i < 200; i++) {
        lines[i] = at;
        CHECK((at = strchr(at, '\n')));
        *at++ = 0;
    }
    nino_ctx *ctx = flow_open("cl", "data/demo");
    if (!ctx)
        return test_skip("no OpenCL device");
    const char *is_long = getenv("NINODES_TEST_LONG");
    const int n = is_long && *is_long == '1' ? 100 : 4;
    int bad = 0;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const int right = run_all(ctx, lines, &rates[i], n);
        // four prompts are a check that the path works, not a rate: one may fail
        bad += n == 100 ? right < rates[i].least : right < n - 1;
    }
    nino_ctx_destroy(&ctx);
    flow_clean();
    free(text);
    CHECK(!bad);
    return 0;
}
