// What a node of any class gives, as something that can be compared: a picture, a latent or a text behind it.
#pragma once
#include "tests/unit/any_case.h"

// What makes a result of node 'x' one that can be compared; %d: its output.
typedef struct any_look {
    nino_port_type type;
    const char *nodes;
} any_look;

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

static const any_look any_looks[] = {
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

// The nodes of a model of another kind for those of the first.
static inline void any_other_kind(char *nodes)
{
    static const char *const pairs[][2] = { { "'h2'", "'o2'" },
                                            { "'h3'", "'o3'" },
                                            { "'c2'", "'c1'" } };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (char *at; (at = strstr(nodes, pairs[i][0]));)
            memcpy(at, pairs[i][1], 4);
}

// What looks at an output of it. False: it has none.
static inline bool any_look_at(const any_case *c, char *more, size_t size)
{
    const char *nodes = ", 'y': {'class_type': 'PreviewAny', 'inputs': {'source': ['x', %d]}}";
    const nino_node_def *d = c->def;
    bool is_other = false;
    int n = 0;
    while (d->outputs && d->outputs[n].key)
        n++;
    if (!n)
        return false;
    const int out = (int) any_draw((uint64_t) n);
    for (size_t i = 0; i < sizeof(any_looks) / sizeof(any_looks[0]); i++)
        if (any_looks[i].type == d->outputs[out].type)
            nodes = any_looks[i].nodes;
    for (int k = 0; k < c->n_inputs; k++)
        is_other |= d->outputs[out].type == NINO_PORT_MODEL && strstr(c->part[k], "['o1', 0]");
    const char *at = strstr(nodes, "%d");
    CHECK(at && !strstr(at + 2, "%d"));
    snprintf(more, size, "%.*s%d%s", (int) (at - nodes), nodes, out, at + 2);
    if (is_other)
        any_other_kind(more);
    return true;
}

// What it says is of this run, or files of which each has a number.
static inline bool any_is_of_the_run(const any_case *c)
{
    bool yes = c->def->ops->is_volatile || c->def->ops->is_volatile_with;
    for (int k = 0; k < c->n_inputs; k++)
        yes |= strstr(c->part[k], "['s1', 0]") != NULL;
    return yes;
}

// A run that has ended, with what it kept.
typedef struct any_run {
    nino_status st; // NINO_ERR_CANCELLED: it took too long
    nino_error err;
    nino_graph *graph;
    nino_job *job; // NULL: there was none
} any_run;

// is_anew: nothing is taken from earlier runs.
static inline any_run any_run_begin(nino_ctx *ctx, const char *json, bool is_anew, int max_ms)
{
    static const char *const demo[] = { "data/demo/models", "tests/data/models", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .keep_results = true,
                                 .is_silent = true, .is_anew = is_anew };
    any_run r = { .graph = flow_graph(json) };
    r.job = nino_job_start(ctx, r.graph, &o, &r.err);
    for (int ms = 0; r.job && !nino_job_done(r.job, &r.st, &r.err); ms += 20) {
        nino_job_wait(r.job, 20);
        if (ms >= max_ms)
            nino_job_cancel(r.job);
    }
    r.st = r.job ? r.st : r.err.code;
    return r;
}

static inline void any_run_end(any_run *r)
{
    nino_job_destroy(&r->job);
    nino_graph_destroy(&r->graph);
}
