// A run after another that differs in one value or link has the result of a run from nothing: what is taken from earlier runs is what
// would be computed now. A third of the classes of nodes, with inputs and values drawn by chance. NINODES_TEST_LONG: all, and
// more of them; NINODES_TEST_SEED: others; and NINODES_TEST_DEVICE, NINODES_TEST_CLASS, NINODES_TEST_SHOW.
#include "core/base/hash.h"
#include "tests/unit/any_case.h"

enum { MAX_MS = 4000 };

// What makes a result of node 'x' one that can be compared; %d: its output.
typedef struct look {
    nino_port_type type;
    const char *nodes;
} look;

#define SAMPLED(model, positive, negative)                                                         \
    ", 'v': {'class_type': 'KSampler', 'inputs': {'model': [" model "], 'positive': [" positive    \
    "], 'negative': [" negative "], 'latent_image': ['c2', 0], 'seed': 3, 'steps': 1, 'cfg': 2}}"  \
    ", 'y': {'class_type': 'SaveLatent', 'inputs': {'samples': ['v', 0]}}"
#define CUSTOM(noise, guider, sampler, sigmas)                                                     \
    ", 'v': {'class_type': 'SamplerCustomAdvanced', 'inputs': {'noise': [" noise                   \
    "], 'guider': [" guider "], 'sampler': [" sampler "], 'sigmas': [" sigmas                      \
    "], 'latent_image': ['c2', 0]}}"                                                               \
    ", 'y': {'class_type': 'SaveLatent', 'inputs': {'samples': ['v', 0]}}"
#define ENCODED(vae, pixels)                                                                       \
    ", 'w': {'class_type': 'VAEEncode', 'inputs': {'pixels': [" pixels "], 'vae': [" vae "]}}"

static const look looks[] = {
    { NINO_PORT_IMAGE, ", 'y': {'class_type': 'SaveImage', 'inputs': {'images': ['x', %d]}}" },
    { NINO_PORT_MASK, ", 'v': {'class_type': 'MaskToImage', 'inputs': {'mask': ['x', %d]}}"
                      ", 'y': {'class_type': 'SaveImage', 'inputs': {'images': ['v', 0]}}" },
    { NINO_PORT_LATENT, ", 'y': {'class_type': 'SaveLatent', 'inputs': {'samples': ['x', %d]}}" },
    { NINO_PORT_CONDITIONING, SAMPLED("'h1', 0", "'x', %d", "'h2', 0") },
    { NINO_PORT_MODEL, SAMPLED("'x', %d", "'h2', 0", "'h3', 0") },
    { NINO_PORT_CLIP,
      ", 'w': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a cross', 'clip': ['x', %d]}}" //
      SAMPLED("'h1', 0", "'w', 0", "'h2', 0") },
    { NINO_PORT_VAE, ENCODED("'x', %d", "'a2', 0") //
      ", 'y': {'class_type': 'SaveLatent', 'inputs': {'samples': ['w', 0]}}" },
    { NINO_PORT_SIGMAS, CUSTOM("'m1', 0", "'n1', 0", "'l1', 0", "'x', %d") },
    { NINO_PORT_SAMPLER, CUSTOM("'m1', 0", "'n1', 0", "'x', %d", "'k2', 0") },
    { NINO_PORT_GUIDER, CUSTOM("'m1', 0", "'x', %d", "'l1', 0", "'k2', 0") },
    { NINO_PORT_NOISE, CUSTOM("'x', %d", "'n1', 0", "'l1', 0", "'k2', 0") },
    { NINO_PORT_VIDEO, ", 'v': {'class_type': 'GetVideoComponents', 'inputs': {'video': ['x', %d]}}"
                       ", 'y': {'class_type': 'SaveImage', 'inputs': {'images': ['v', 0]}}" },
    { NINO_PORT_UPSCALE_MODEL,
      ", 'v': {'class_type': 'ImageUpscaleWithModel',"
      " 'inputs': {'upscale_model': ['x', %d], 'image': ['a2', 0]}}"
      ", 'y': {'class_type': 'SaveImage', 'inputs': {'images': ['v', 0]}}" },
    { NINO_PORT_LATENT_OPERATION, ENCODED("'h1', 2", "'a2', 0") //
      ", 'v': {'class_type': 'LatentApplyOperation',"
      " 'inputs': {'samples': ['w', 0], 'operation': ['x', %d]}}"
      ", 'y': {'class_type': 'SaveLatent', 'inputs': {'samples': ['v', 0]}}" },
};

static nino_ctx *ctx;
static char json[ANY_JSON];

// What looks at an output of it. False: it has none.
static bool look_at(const nino_node_def *d, char *more, size_t size)
{
    const char *nodes = ", 'y': {'class_type': 'PreviewAny', 'inputs': {'source': ['x', %d]}}";
    int n = 0;
    while (d->outputs && d->outputs[n].key)
        n++;
    if (!n)
        return false;
    const int out = (int) any_draw((uint64_t) n);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
        if (looks[i].type == d->outputs[out].type)
            nodes = looks[i].nodes;
    const char *at = strstr(nodes, "%d");
    CHECK(at && !strstr(at + 2, "%d"));
    snprintf(more, size, "%.*s%d%s", (int) (at - nodes), nodes, out, at + 2);
    return true;
}

static void hash_raster(nino_hasher *h, const nino_raster *p)
{
    const int size[4] = { p->n, p->height, p->width, p->channels };
    nino_hasher_add(h, size, sizeof(size));
    nino_hasher_add(h, p->data,
                    sizeof(float) * (size_t) p->n * (size_t) p->height * (size_t) p->width *
                        (size_t) p->channels);
}

// How a run of what stands in json ends, and with what. False: it took too long.
static bool run(bool is_anew, nino_hash *out, nino_error *err)
{
    static const char *const demo[] = { "data/demo/models", "tests/data/models", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .keep_results = true,
                                 .is_silent = true, .is_anew = is_anew };
    nino_job_text texts[8];
    nino_raster p = { NINO_RASTER_INIT };
    nino_status st = NINO_OK;
    *err = (nino_error){ 0 };
    nino_graph *g = flow_graph(json);
    nino_job *job = nino_job_start(ctx, g, &o, err);
    for (int ms = 0; job && !nino_job_done(job, &st, err); ms += 20) {
        nino_job_wait(job, 20);
        if (ms >= MAX_MS)
            nino_job_cancel(job);
    }
    st = job ? st : err->code;
    nino_hasher *h = nino_hasher_create();
    nino_hasher_add(h, &st, sizeof(st));
    if (st)
        nino_hasher_add(h, err->msg, strlen(err->msg));
    for (size_t i = 0; job && !st && !nino_job_image(job, "y", i, &p, NULL); i++)
        hash_raster(h, &p);
    for (size_t i = 0; job && !st && !nino_job_latent(job, "y", i, &p, NULL); i++)
        hash_raster(h, &p);
    const size_t n = job && !st ? nino_job_texts(job, texts, 8) : 0;
    for (size_t i = 0; i < n && i < 8; i++)
        if (!strcmp(texts[i].node, "y")) // the others say how long it took, too
            nino_hasher_add(h, texts[i].text, strlen(texts[i].text) + 1);
    *out = nino_hasher_finish(&h);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    return st != NINO_ERR_CANCELLED;
}

// What it says is of this run, or files of which each has a number.
static bool is_of_the_run(const any_case *c)
{
    bool yes = c->def->ops->is_volatile || c->def->ops->is_volatile_with;
    for (int k = 0; k < c->n_inputs; k++)
        yes |= strstr(c->part[k], "['s1', 0]") != NULL;
    return yes;
}

// *n_ok: which ran.
static bool check_case(const nino_node_def *d, int *n, int *n_ok)
{
    any_case c;
    char more[900];
    nino_hash before, warm, cold, again;
    nino_error err[3] = { 0 };
    if (!any_make(&c, d) || !c.n || !look_at(d, more, sizeof(more)))
        return true;
    any_json(&c, more, json, sizeof(json));
    if (!run(false, &before, &err[0]))
        return true;
    const int k = (int) any_draw((uint64_t) c.n);
    char *was = strdup(c.part[k]);
    if (any_part(&c, k)) {
        any_json(&c, more, json, sizeof(json));
        if (getenv("NINODES_TEST_SHOW") && *getenv("NINODES_TEST_SHOW"))
            fprintf(stderr, "%s\n    was: %s\n", strstr(json, "'x': {"), was);
    }
    bool ok = true;
    if (run(false, &warm, &err[0]) && run(true, &cold, &err[1]) && !is_of_the_run(&c) &&
        memcmp(&warm, &cold, sizeof(warm)) != 0) {
        const bool is_same = run(true, &again, &err[2]) && !memcmp(&again, &cold, sizeof(cold));
        fprintf(stderr, "%s\n  %s\n  was: %s\n  warm: %s\n  cold: %s\n", strstr(json, "'x': {"),
                is_same ? "another result than from nothing" : "another result each time", was,
                err[0].msg, err[1].msg);
        ok = false;
    }
    free(was);
    ++*n;
    *n_ok += ok && !err[1].code;
    return ok;
}

int main(void)
{
    const bool is_one = getenv("NINODES_TEST_CLASS"), is_long = getenv("NINODES_TEST_LONG");
    const int times = is_long ? 5 : 1;
    int n = 0, n_ok = 0, wrong = 0;
    ctx = any_open();
    for (int i = 0; nino_node_defs[i]; i++) {
        if (!any_begin(i) || (!is_long && !is_one && any_draw(3)))
            continue;
        for (int k = 0; k < times; k++)
            wrong += !check_case(nino_node_defs[i], &n, &n_ok);
        flow_forget_outputs();
    }
    printf("  %d changes, after %d of them the run did well\n", n, n_ok);
    CHECK(is_one || (n > 100 && n_ok > n / 3));
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
