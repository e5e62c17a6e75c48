// Generated workflows within generated budgets: what a plan says is what the run does, to 1 %: bytes
// at the peak, arithmetic, launches, weights read. With more memory the predicted time does not
// rise, and what comes out is what the plan says it loses against the same without a budget.
// NINODES_TEST_LONG: 30 workflows and whole curves, on the device of the machine as well.
#include "tests/flow.h"
#include "tests/figure.h"

#include "core/op/backend.h"
#include "core/run/context.h"
#include "core/run/planner.h"

#include <math.h>

#define DEMO "data/demo"

// ---- workflows ---------------------------------------------------------------------------------

static uint64_t seed = 1;

static unsigned draw(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned) (seed >> 33) % n;
}

#define NODE(id, class, ...) "'" id "': {'class_type': '" class "', 'inputs': {" __VA_ARGS__ "}},"
#define SAMPLE                                                                                     \
    NODE("5", "CLIPTextEncode", "'text': 'a red circle on blue', 'clip': ['%s', %d]")              \
    NODE("6", "CLIPTextEncode", "'text': '', 'clip': ['%s', %d]")                                  \
    NODE("7", "KSampler",                                                                          \
         "'seed': 7, 'steps': %d, 'cfg': %s, 'sampler_name': 'euler', 'scheduler': 'simple', "     \
         "'denoise': 1.0, 'model': ['%s', 0], 'positive': ['5', 0], 'negative': ['6', 0], "        \
         "'latent_image': ['4', 0]")                                                               \
    "%s"                                                                                           \
    "'9': {'class_type': 'SaveImage', 'inputs': {'filename_prefix': 'a', 'images': ['8', 0]}}}"

static void decode_node(char *out, size_t size, unsigned way, const char *vae, int slot)
{
    static const char *const classes[] = { "VAEDecode", "VAEDecodeTiled",
                                           "ROCMOptimizedVAEDecode" };
    static const char tiled[] =
        ", 'tile_size': 64, 'overlap': 16, 'temporal_size': 64, 'temporal_overlap': 8";
    static const char rocm[] =
        ", 'tile_size': 256, 'overlap': 32, 'use_rocm_optimizations': true, 'precision_mode': "
        "'fp32', 'batch_optimization': true";
    static const char *const more[] = { "", tiled, rocm };
    snprintf(out, size,
             "'8': {'class_type': '%s', 'inputs': {'samples': ['7', 0], 'vae': ['%s', %d]%s}},",
             classes[way], vae, slot, more[way]);
}

static bool is_long;

// ways: of decoding, of those above.
static nino_graph *make_picture(char *name, size_t size, unsigned ways)
{
    static const char *const models[] = {
        "", NODE("2", "UnetLoaderGGUF", "'unet_name': 'demo_flux_Q8_0.gguf'"),
        NODE("2", "UNETLoader",
             "'unet_name': 'demo_flux_fp8_scaled.safetensors', 'weight_dtype': 'default'")
    };
    char json[4000], lora[300] = "", decode[500];
    const unsigned sides = is_long ? 4 : 1; // to choose from
    const unsigned model = draw(3), way = draw(ways) * 2 % 3;
    const unsigned w = 64 + 32 * draw(sides), h = 64 + 32 * draw(sides);
    const unsigned batch = 1 + draw(3), cfg = draw(2), has_lora = draw(2);
    if (has_lora)
        snprintf(lora, sizeof(lora),
                 NODE("3", "LoraLoaderModelOnly",
                      "'lora_name': 'demo_outline.safetensors', 'strength_model': 0.8, 'model': "
                      "['%s', 0]"),
                 model ? "2" : "1");
    decode_node(decode, sizeof(decode), way, "1", 2);
    snprintf(
        json, sizeof(json),
        "{" NODE("1", "CheckpointLoaderSimple", "'ckpt_name': 'demo_flux.safetensors'") "%s%s" NODE(
            "4", "EmptySD3LatentImage", "'width': %u, 'height': %u, 'batch_size': %u") SAMPLE,
        models[model], lora, w, h, batch, "1", 1, "1", 1, 2, cfg ? "2.5" : "1.0",
        has_lora ? "3"
        : model  ? "2"
                 : "1",
        decode);
    snprintf(name, size, "model %u, lora %u, %u x %u, batch %u, cfg %u, decode %u", model, has_lora,
             w, h, batch, cfg, way);
    return flow_graph(json);
}

static nino_graph *make_clip(char *name, size_t size, unsigned ways)
{
    char json[4000], decode[500];
    const unsigned way = draw(ways) * 2 % 3, w = 32 + 16 * draw(is_long ? 3 : 1);
    const unsigned frames = 5 + 4 * draw(is_long ? 3 : 1), cfg = draw(2);
    decode_node(decode, sizeof(decode), way, "2", 0);
    snprintf(json, sizeof(json),
             "{" NODE("1", "CLIPLoader", "'clip_name': 'demo_umt5.safetensors', 'type': 'wan'")
                 NODE("2", "VAELoader", "'vae_name': 'demo_wan_vae.safetensors'")
                     NODE("3", "UNETLoader",
                          "'unet_name': 'demo_wan_fp8_scaled.safetensors', 'weight_dtype': "
                          "'default'")
                         NODE("4", "EmptyHunyuanLatentVideo",
                              "'width': %u, 'height': 64, 'length': %u, 'batch_size': 1") SAMPLE,
             w, frames, "1", 0, "1", 0, 2, cfg ? "2.5" : "1.0", "3", decode);
    snprintf(name, size, "clip %u x 64, %u frames, cfg %u, decode %u", w, frames, cfg, way);
    return flow_graph(json);
}

// ---- plan and run ------------------------------------------------------------------------------

static nino_ctx *open_limited(const char *device, uint64_t limit)
{
    return flow_open_limited(device, DEMO "/models", limit);
}

static nino_scheme_info info_of(const nino_scheme *s)
{
    nino_scheme_info i = { NINO_SCHEME_INFO_INIT };
    nino_error err = { 0 };
    CHECK_OK(nino_scheme_get(s, &i, &err), err);
    return i;
}

static nino_scheme *scheme(nino_ctx *ctx, nino_graph *g, uint64_t budget)
{
    nino_error err = { 0 };
    nino_scheme *s = nino_scheme_create(ctx, g, NULL, NULL, budget, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

static void check_close(const char *what, double plan, double run)
{
    if (fabs(plan - run) > 0.01 * run)
        fprintf(stderr, "  %s: plan %.0f, run %.0f\n", what, plan, run);
    CHECK(fabs(plan - run) <= 0.01 * run);
}

static long n_within;
static double most_within; // of a budget that a run has taken

static void check_budget(double peak, double budget)
{
    if (!(budget > 0))
        return;
    CHECK(peak <= 1.01 * budget);
    most_within = fmax(most_within, peak / budget);
    n_within++;
}

// What comes out, as floats; the caller's.
static float *picture_of(nino_job *job, size_t *n)
{
    nino_raster r = { NINO_RASTER_INIT };
    nino_error err = { 0 };
    CHECK_OK(nino_job_image(job, "9", 0, &r, &err), err);
    *n = (size_t) r.n * r.height * r.width * r.channels;
    float *out = malloc(*n * sizeof(*out));
    CHECK(out);
    memcpy(out, r.data, *n * sizeof(*out));
    return out;
}

// Runs the graph within the budget and compares it with its plan. Returns the pixels.
static float *compare(const char *device, nino_graph *g, uint64_t budget, nino_scheme_info *i,
                      size_t *n)
{
    nino_ctx *ctx = open_limited(device, budget);
    nino_backend *be = nino_ctx_backend(ctx);
    nino_scheme *s = scheme(ctx, g, 0);
    const nino_plan *p = nino_scheme_plan(s);
    nino_error err = { 0 };
    nino_status st;
    nino_mem_stat m;
    nino_event ev[64];
    *i = info_of(s);
    CHECK(i->fits && i->budget == budget);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    size_t n_told = 0, n_planned = 0;
    while (!nino_job_done(job, &st, &err)) {
        const size_t k = nino_job_poll(job, ev, 64);
        for (size_t j = 0; j < k; j++) {
            n_told += ev[j].kind == NINO_EV_CHOICE && ev[j].u.choice.seconds == i->seconds;
            if (ev[j].kind == NINO_EV_MEM && ev[j].sub == NINO_MEM_PLANNED) {
                CHECK(ev[j].u.mem.bytes == p->peak_bytes); // what viewers draw is the plan's
                n_planned++;
            }
        }
        if (!k)
            nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    CHECK(n_told == nino_scheme_choices(s)); // what was chosen is told
    CHECK(n_planned == 1);
    nino_job_memory(job, &m);
    check_budget((double) m.peak, (double) budget);
    check_close("peak", (double) p->peak_bytes, (double) m.peak);
    check_close("weights", (double) p->weight_bytes, (double) m.peak_by_owner[NINO_OWN_WEIGHTS]);
    check_close("flops", p->flops, be->flops);
    check_close("bytes", p->bytes, be->bytes);
    check_close("launches", (double) p->kernels, (double) be->n_ops);
    check_close("weights read", (double) i->load_bytes, (double) be->load_bytes);
    float *out = picture_of(job, n);
    nino_job_destroy(&job);
    nino_scheme_destroy(&s);
    nino_ctx_destroy(&ctx);
    return out;
}

static double psnr(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double) a[i] - (double) b[i]) * ((double) a[i] - (double) b[i]);
    return sum > 0 ? 10 * log10((double) n / sum) : INFINITY;
}

// What data/doc says of the words: equal to the bit, rounding at 40 dB at least, and tiles, whose
// seams depend on the picture.
static void check_loss(const char *loss, double db)
{
    const double least = !strcmp(loss, "nothing") ? INFINITY : !strcmp(loss, "rounding") ? 40 : 15;
    if (!(db >= least))
        fprintf(stderr, "  it is to lose %s, and has a PSNR of %.1f dB\n", loss, db);
    CHECK(db >= least);
}

// The budget, or where it is too small for anything, which a run says as well, the least that the plan names.
static uint64_t enough(const char *device, nino_graph *g, uint64_t budget)
{
    nino_ctx *ctx = open_limited(device, budget);
    nino_scheme *s = scheme(ctx, g, 0);
    const nino_scheme_info i = info_of(s);
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    if (!i.fits) {
        CHECK(i.least_bytes > budget);
        nino_job *job = nino_job_start(ctx, g, NULL, &err);
        CHECK_OK(job ? NINO_OK : err.code, err);
        while (!nino_job_done(job, &st, &err))
            nino_job_wait(job, 20);
        CHECK(st == NINO_ERR_NOMEM);
        nino_job_destroy(&job);
    }
    nino_scheme_destroy(&s);
    nino_ctx_destroy(&ctx);
    return i.fits ? budget : i.least_bytes;
}

static void check_workflow(const char *device, nino_graph *g, const char *name, const double *share,
                           size_t n_shares)
{
    nino_scheme_info all, i;
    size_t n, m;
    float *whole = compare(device, g, (uint64_t) 1 << 30, &all, &n);
    CHECK(!all.is_pressed && !strcmp(all.loss, "nothing"));
    for (size_t k = 0; k < n_shares; k++) {
        const uint64_t budget = enough(device, g, (uint64_t) (share[k] * (double) all.peak_bytes));
        float *pixels = compare(device, g, budget, &i, &m);
        const double db = n == m ? psnr(whole, pixels, n) : 0;
        printf("  %s, %.0f %%: %.4f s of %.4f, %s (%.1f dB), %d ways\n", name,
               100 * (double) budget / (double) all.peak_bytes, i.seconds, all.seconds, i.loss, db,
               i.ways);
        check_loss(i.loss, db);
        free(pixels);
    }
    free(whole);
}

// Runs the graph with this set, and shows each of its events.
static void follow(nino_ctx *ctx, nino_graph *g, const char *set,
                   void (*see)(void *priv, nino_job *job, const nino_event *ev), void *priv)
{
    nino_error err = { 0 };
    nino_status st;
    nino_event ev[64];
    CHECK_OK(nino_graph_set(g, set, &err), err);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    for (bool is_over = false; !is_over;) {
        is_over = nino_job_done(job, &st, &err);
        for (size_t k; (k = nino_job_poll(job, ev, 64)) > 0;)
            for (size_t j = 0; j < k; j++)
                see(priv, job, &ev[j]);
        if (!is_over)
            nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    nino_job_destroy(&job);
}

typedef struct chosen {
    int ways;
    double seconds;
} chosen;

static void see_choice(void *priv, nino_job *job, const nino_event *ev)
{
    (void) job;
    if (ev->kind == NINO_EV_CHOICE)
        *(chosen *) priv = (chosen){ (int) ev->u.choice.walks, ev->u.choice.seconds };
}

// Ways that were walked for a run with this set; -1: nothing was chosen.
static int ways_of(nino_ctx *ctx, nino_graph *g, const char *set, double *seconds)
{
    chosen c = { -1, *seconds };
    follow(ctx, g, set, see_choice, &c);
    *seconds = c.seconds;
    return c.ways;
}

// Another seed is not planned anew; another length is, and so is what a plan could not know alike.
static void check_again(void)
{
    char name[128];
    double first = 0, second = 1;
    seed = 7;
    nino_graph *g = make_picture(name, sizeof(name), 2);
    nino_ctx *ctx = open_limited("ref", (uint64_t) 8 << 20);
    nino_error err = { 0 };
    static const char *const small[] = { "7.steps=1", "4.batch_size=1", "4.width=32",
                                         "4.height=32" };
    for (int i = 0; i < 4; i++)
        CHECK_OK(nino_graph_set(g, small[i], &err), err);
    CHECK(ways_of(ctx, g, "7.seed=1", &first) > 0); // with the prompts to encode
    CHECK(ways_of(ctx, g, "7.seed=2", &first) > 0); // which are there now
    CHECK(ways_of(ctx, g, "7.seed=3", &second) == 0 && second == first);
    CHECK(ways_of(ctx, g, "7.cfg=3", &first) > 0);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

typedef struct told {
    const char *words;
    int n;
} told;

static void see_words(void *priv, nino_job *job, const nino_event *ev)
{
    told *t = priv;
    t->n += ev->kind == NINO_EV_MESSAGE && strstr(nino_job_name(job, ev->name), t->words) != NULL;
}

static int count_told(nino_ctx *ctx, nino_graph *g, const char *set, const char *words)
{
    told t = { words, 0 };
    nino_backend_drop_weights(nino_ctx_backend(ctx));
    follow(ctx, g, set, see_words, &t);
    return t.n;
}

// What a run leaves in the pool does not cut the next one's memory to pieces: it fits as planned, at the first try.
static void check_next_run(const char *device)
{
    char name[128];
    seed = 7;
    nino_graph *g = make_picture(name, sizeof(name), 2);
    for (int k = 0; k < 2; k++) {
        nino_ctx *ctx = open_limited(device, (uint64_t) (11 - k) << 19); // 5.5 and 5 MiB
        CHECK(!count_told(ctx, g, "7.seed=1", "ran out") &&
              !count_told(ctx, g, "7.seed=2", "ran out"));
        CHECK(!count_told(ctx, g, "7.seed=3", "once more"));
        nino_ctx_destroy(&ctx);
    }
    nino_graph_destroy(&g);
}

// What a plan changes: 0: nothing that is seen, 1: some is in 16 bits, 2: tiles have seams.
static int loss_of(const nino_scheme *s)
{
    nino_error err = { 0 };
    bool is_narrow = false;
    for (size_t k = 0; k < nino_scheme_choices(s); k++) {
        nino_scheme_choice c = { NINO_SCHEME_CHOICE_INIT };
        CHECK_OK(nino_scheme_choice_get(s, k, &c, &err), err);
        is_narrow |= c.is_narrow;
    }
    return !strcmp(info_of(s).loss, "tiles are blended") ? 2 : is_narrow;
}

// With budgets from 100 % down to the least the time rises from the unlimited one, and never falls: not at all among
// plans that lose alike, and where more is lost, for want of memory, by less than what a loss would have to save
// (NINO_PLAN_..._GAIN) if there were the memory. Where all fits nothing is lost, whatever it would save. The least
// is what the one that is too small names.
static void check_curve(const char *device, nino_graph *g, const char *name, int steps)
{
    nino_ctx *ctx = open_limited(device, (uint64_t) 1 << 30);
    nino_scheme *s = scheme(ctx, g, 0);
    const uint64_t peak = info_of(s).peak_bytes;
    const double least_time = info_of(s).seconds;
    static const double gain[] = { 0, NINO_PLAN_NARROW_GAIN, NINO_PLAN_SEAM_GAIN };
    double before[3] = { 0 };  // where not all fits, of those that lose so much, the longest
    double whole = least_time; // where it does
    nino_scheme_destroy(&s);
    s = scheme(ctx, g, 64 << 10); // of nothing to speak of
    const nino_scheme_info none = info_of(s);
    CHECK(!none.fits && none.least_bytes > 64 << 10 && none.least_bytes < peak);
    CHECK(none.least_node[0] && strspn(none.least_node, "0123456789") == 1);
    printf("  %s: peak %.2f MiB, needs at least %.1f MiB: node %s\n", name, (double) peak / 0x1p20,
           (double) none.least_bytes / 0x1p20, none.least_node);
    nino_scheme_destroy(&s);
    // the planner's own steps: between two of them it keeps to the lower one
    int step = (int) floor(log2((double) peak * 1.1) * 16);
    const int last = (int) ceil(log2((double) none.least_bytes) * 16);
    for (const int skip = 1 + (step - last) / steps; step >= last; step -= skip) {
        const uint64_t budget = (uint64_t) ceil(exp2(step / 16.0));
        s = scheme(ctx, g, budget);
        const nino_scheme_info i = info_of(s);
        const int loss = loss_of(s);
        CHECK(budget < peak || !loss);
        CHECK(loss || i.seconds >= whole * (1 - 2e-3));
        for (int j = 0; j < 3; j++) {
            const double saved = j >= loss ? 0 : 1 - (1 - gain[loss]) / (1 - gain[j]);
            if (i.fits && i.seconds >= before[j] * (1 - saved) * (1 - 2e-3))
                continue;
            fprintf(stderr, "  with %.2f MiB %.5f s (%s), with more %.5f s\n",
                    (double) budget / 0x1p20, i.seconds, i.loss, before[j]);
            CHECK(false);
        }
        CHECK(nino_scheme_plan(s)->peak_bytes <= budget);
        if (budget < peak)
            before[loss] = fmax(before[loss], i.seconds);
        else
            whole = fmax(whole, i.seconds);
        nino_scheme_destroy(&s);
    }
    nino_ctx_destroy(&ctx);
}

static void check_generated(const char *device, int count)
{
    static const double shares[] = { 0.8, 0.55, 0.4, 0.3 };
    char name[128];
    seed = 20261123;
    for (int k = 0; k < count; k++) {
        nino_graph *g = (k % 3 == 2 ? make_clip : make_picture)(name, sizeof(name), 3);
        const double share = shares[draw(4)];
        check_workflow(device, g, name, &share, 1);
        nino_graph_destroy(&g);
    }
}

static void check_curves(const char *device, int count, int steps)
{
    char name[128];
    seed = 7;
    for (int k = 0; k < count; k++) {
        nino_graph *g = (k % 3 == 2 ? make_clip : make_picture)(name, sizeof(name), 2);
        check_curve(device, g, name, steps);
        nino_graph_destroy(&g);
    }
}

int main(void)
{
    is_long = getenv("NINODES_TEST_LONG") != NULL;
    check_again();
    check_next_run("ref");
    if (is_long)
        check_next_run("cl");
    check_generated("ref", is_long ? 6 : 3);
    check_curves("ref", is_long ? 6 : 1, is_long ? 16 : 3);
    nino_ctx *cl = is_long ? flow_open("cl", NULL) : NULL;
    if (cl) {
        check_generated("cl", 30);
        check_curves("cl", 6, 12);
    }
    nino_ctx_destroy(&cl);
    figure_add("memory of runs within budgets", "never more than 1 % above", most_within <= 1.01,
               "%ld runs, at most %.1f %% of the budget", n_within, 100 * most_within);
    flow_clean();
    return 0;
}
