// Every class of node with inputs and values drawn by chance: what is legal and what is not, sizes that do not match, texts that
// are none. A run ends, well or with one line; what ran can be planned. NINODES_TEST_LONG: more of them; NINODES_TEST_SEED: others; and
// NINODES_TEST_DEVICE, NINODES_TEST_CLASS, NINODES_TEST_SHOW.
#include "core/node/node_impl.h"
#include "tests/flow.h"

#include <signal.h>
#include <unistd.h>

enum { MAX_MS = 4000, MAX_JSON = 16000 };

static nino_ctx *ctx;
static nino_error err;
static char json[MAX_JSON]; // of the case that runs now
static uint64_t state;

// Of each type one or several; the ids of "SOURCES" lie in front of ':'.
typedef struct source {
    nino_port_type type;
    const char *link;
} source;

static const char nodes[] =
    "'a1': {'class_type': 'EmptyImage', 'inputs': {'width': 8, 'height': 8, 'color': 8421504}},"
    "'a2': {'class_type': 'LoadImage', 'inputs': {'image': 'in.png'}},"
    "'a3': {'class_type': 'EmptyImage', 'inputs': {'width': 17, 'height': 5, 'batch_size': 3}},"
    "'a4': {'class_type': 'EmptyImage', 'inputs': {'width': 1, 'height': 1}},"
    "'b1': {'class_type': 'SolidMask', 'inputs': {'width': 8, 'height': 8, 'value': 0.5}},"
    "'b2': {'class_type': 'ImageToMask', 'inputs': {'image': ['a2', 0], 'channel': 'red'}},"
    "'b3': {'class_type': 'SolidMask', 'inputs': {'width': 1, 'height': 1, 'value': 0}},"
    "'b4': {'class_type': 'ImageToMask', 'inputs': {'image': ['a3', 0], 'channel': 'green'}},"
    "'c1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64}},"
    "'c2': {'class_type': 'EmptySD3LatentImage',"
    " 'inputs': {'width': 32, 'height': 48, 'batch_size': 2}},"
    "'c3': {'class_type': 'SetLatentNoiseMask',"
    " 'inputs': {'samples': ['c2', 0], 'mask': ['b2', 0]}},"
    "'d1': {'class_type': 'PrimitiveString', 'inputs': {'value': 'a red circle'}},"
    "'d2': {'class_type': 'PrimitiveString', 'inputs': {'value': '7'}},"
    "'d3': {'class_type': 'PrimitiveString', 'inputs': {'value': ''}},"
    "'e1': {'class_type': 'PrimitiveInt', 'inputs': {'value': 3}},"
    "'e2': {'class_type': 'PrimitiveInt', 'inputs': {'value': -2}},"
    "'e3': {'class_type': 'PrimitiveInt', 'inputs': {'value': 9223372036854775807}},"
    "'f1': {'class_type': 'PrimitiveFloat', 'inputs': {'value': 0.25}},"
    "'f2': {'class_type': 'PrimitiveFloat', 'inputs': {'value': -1e18}},"
    "'g1': {'class_type': 'PrimitiveBoolean', 'inputs': {'value': true}},"
    "'h1': {'class_type': 'CheckpointLoaderSimple',"
    " 'inputs': {'ckpt_name': 'demo_flux.safetensors'}},"
    "'h2': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a star', 'clip': ['h1', 1]}},"
    "'h3': {'class_type': 'ConditioningSetArea', 'inputs': {'conditioning': ['h2', 0],"
    " 'width': 16, 'height': 16, 'x': 8, 'y': 0, 'strength': 0.5}},"
    "'i1': {'class_type': 'EmptyAudio', 'inputs': {'duration': 0.05}},"
    "'j1': {'class_type': 'CreateVideo', 'inputs': {'images': ['a3', 0], 'fps': 8}},"
    "'k1': {'class_type': 'KarrasScheduler', 'inputs': {'steps': 2}},"
    "'k2': {'class_type': 'BasicScheduler', 'inputs': {'model': ['h1', 0], 'steps': 1}},"
    "'l1': {'class_type': 'KSamplerSelect', 'inputs': {'sampler_name': 'euler'}},"
    "'m1': {'class_type': 'RandomNoise', 'inputs': {'noise_seed': 1}},"
    "'n1': {'class_type': 'BasicGuider',"
    " 'inputs': {'model': ['h1', 0], 'conditioning': ['h2', 0]}},"
    "'o1': {'class_type': 'CheckpointLoaderSimple',"
    " 'inputs': {'ckpt_name': 'sd15_tiny.safetensors'}},"
    "'p1': {'class_type': 'UpscaleModelLoader',"
    " 'inputs': {'model_name': 'up_realesrgan_x2_tiny.safetensors'}},"
    "'p2': {'class_type': 'ModelPatchLoader',"
    " 'inputs': {'name': 'qwen_patch_own.safetensors'}},"
    "'q1': {'class_type': 'LatentOperationSharpen', 'inputs': {}},"
    "'q2': {'class_type': 'Context (rgthree)', 'inputs': {'model': ['h1', 0], 'seed': 3}},"
    "'q3': {'class_type': 'Bus Node', 'inputs': {'clip': ['h1', 1]}},"
    "'q4': {'class_type': 'ToBasicPipe', 'inputs': {'model': ['h1', 0], 'clip': ['h1', 1],"
    " 'vae': ['h1', 2], 'positive': ['h2', 0], 'negative': ['h3', 0]}},"
    "'q5': {'class_type': 'CR LoRA Stack', 'inputs': {'switch_1': 'On',"
    " 'lora_name_1': 'demo_outline.safetensors', 'model_weight_1': 0.5}},"
    "'q6': {'class_type': 'PrimitiveBoundingBox', 'inputs': {'width': 4, 'height': 3}},"
    "'r2': {'class_type': 'CM_ComposeVec2', 'inputs': {'x': 1, 'y': 0}},"
    "'r3': {'class_type': 'CM_ComposeVec3', 'inputs': {'x': 1, 'y': 0, 'z': -2}},"
    "'r4': {'class_type': 'CM_ComposeVec4', 'inputs': {'x': 1, 'y': 0, 'z': -2, 'w': 0.5}},"
    "'s1': {'class_type': 'VHS_VideoCombine', 'inputs': {'images': ['a3', 0],"
    " 'format': 'image/webp', 'filename_prefix': 'f'}}";

static const source sources[] = {
    { NINO_PORT_IMAGE, "a1" },        { NINO_PORT_IMAGE, "a2" },
    { NINO_PORT_IMAGE, "a3" },        { NINO_PORT_IMAGE, "a4" },
    { NINO_PORT_MASK, "b1" },         { NINO_PORT_MASK, "b2" },
    { NINO_PORT_MASK, "b3" },         { NINO_PORT_MASK, "b4" },
    { NINO_PORT_LATENT, "c1" },       { NINO_PORT_LATENT, "c2" },
    { NINO_PORT_LATENT, "c3" },       { NINO_PORT_STRING, "d1" },
    { NINO_PORT_STRING, "d2" },       { NINO_PORT_STRING, "d3" },
    { NINO_PORT_INT, "e1" },          { NINO_PORT_INT, "e2" },
    { NINO_PORT_INT, "e3" },          { NINO_PORT_FLOAT, "f1" },
    { NINO_PORT_FLOAT, "f2" },        { NINO_PORT_BOOLEAN, "g1" },
    { NINO_PORT_MODEL, "h1" },        { NINO_PORT_CONDITIONING, "h2" },
    { NINO_PORT_CONDITIONING, "h3" }, { NINO_PORT_AUDIO, "i1" },
    { NINO_PORT_VIDEO, "j1" },        { NINO_PORT_SIGMAS, "k1" },
    { NINO_PORT_SIGMAS, "k2" },       { NINO_PORT_SAMPLER, "l1" },
    { NINO_PORT_NOISE, "m1" },        { NINO_PORT_GUIDER, "n1" },
    { NINO_PORT_MODEL, "o1" },        { NINO_PORT_UPSCALE_MODEL, "p1" },
    { NINO_PORT_MODEL_PATCH, "p2" },  { NINO_PORT_LATENT_OPERATION, "q1" },
    { NINO_PORT_CONTEXT, "q2" },      { NINO_PORT_BUS, "q3" },
    { NINO_PORT_BASIC_PIPE, "q4" },   { NINO_PORT_LORA_STACK, "q5" },
    { NINO_PORT_BOUNDING_BOX, "q6" }, { NINO_PORT_VEC2, "r2" },
    { NINO_PORT_VEC3, "r3" },         { NINO_PORT_VEC4, "r4" },
    { NINO_PORT_FILENAMES, "s1" },
};

static uint64_t draw(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

static void on_crash(int signal)
{
    (void) !write(2, json, strlen(json));
    (void) !write(2, "\n", 1);
    _exit(128 + signal);
}

static void make_picture(void)
{
    static uint8_t pixels[40][48][4];
    const nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_U8, .n = 1,        .height = 40,
                            .width = 48,      .channels = 4,          .data = pixels };
    for (int i = 0; i < (int) sizeof(pixels); i++)
        (&pixels[0][0][0])[i] = (uint8_t) (i / 7 * 13);
    flow_picture(ctx, &r, "in.png");
}

// What gives that type; NULL: nothing here does.
static const char *source_of(nino_port_type t, int *slot)
{
    const source *fits[64];
    size_t n = 0;
    *slot = t == NINO_PORT_CLIP ? 1 : t == NINO_PORT_VAE ? 2 : 0;
    if (*slot)
        return draw(2) ? "h1" : "o1";
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
        if (sources[i].type == t || t == NINO_PORT_ANY)
            fits[n++] = &sources[i];
    return n ? fits[draw(n)]->link : NULL;
}

static int64_t any_int(const nino_param *p, bool *is_large)
{
    const int64_t some[] = { p->min.i, p->min.i + 1, p->def.i, 0, 1, 2, 3, 7, 8, 16, 33, 64 };
    int64_t v = some[draw(sizeof(some) / sizeof(some[0]))];
    if (!*is_large && draw(8) == 0) {
        *is_large = true;
        v = p->max.i < 2000 ? p->max.i : (int64_t) draw(2000);
    }
    v = v > 64 && !*is_large ? 64 : v; // pictures and steps without end take time, and are no news
    v = v < p->min.i ? p->min.i : v > p->max.i ? p->max.i : v;
    return draw(40) ? v : -v - 1;
}

static double any_float(const nino_param *p)
{
    const double some[] = { p->min.f, p->max.f < 1e4 ? p->max.f : 3.0, p->def.f, 0, 0.5, 1, 2.25 };
    const double v = some[draw(sizeof(some) / sizeof(some[0]))];
    return draw(40) ? v < p->min.f ? p->min.f : v > p->max.f ? p->max.f : v : -1e30;
}

// In JSON, with ' for ".
static const char *any_text(void)
{
    static const char *const some[] = { "",
                                        "a cat",
                                        "1",
                                        "-1.5",
                                        "[1, 2, 3]",
                                        "[[0, 1], [2, 0.5]]",
                                        "{\\'a\\': [1, {\\'b\\': null}]}",
                                        "a, b\\nc;d | e",
                                        "%date:yyyy%/%width%",
                                        "((a:1.5) [b|c",
                                        "\\\\",
                                        "\\u00e4\\u6f22\\ud83d\\ude00",
                                        "a + b * 2",
                                        "1 / 0",
                                        "#12345",
                                        "0:(1.0), 5:(0.2)",
                                        "(.*)(",
                                        "../../x",
                                        "512x512" };
    return some[draw(sizeof(some) / sizeof(some[0]))];
}

static void add_param(char *to, size_t size, const nino_param *p, bool *is_large)
{
    static const char *const files[] = { "in.png", "demo_flux.safetensors", "none" };
    const size_t n = strlen(to);
    int names = 0;
    to += n;
    size -= n;
    switch (p->type) {
    case NINO_BOOL: snprintf(to, size, ", '%s': %s", p->key, draw(2) ? "true" : "false"); break;
    case NINO_ENUM:
        while (p->names[names])
            names++;
        snprintf(to, size, ", '%s': '%s'", p->key, names ? p->names[draw((uint64_t) names)] : "");
        break;
    case NINO_INT:
        snprintf(to, size, ", '%s': %lld", p->key, (long long) any_int(p, is_large));
        break;
    case NINO_SEED: snprintf(to, size, ", '%s': %llu", p->key, (unsigned long long) draw(9)); break;
    case NINO_FLOAT: snprintf(to, size, ", '%s': %g", p->key, any_float(p)); break;
    case NINO_FILE: snprintf(to, size, ", '%s': '%s'", p->key, files[draw(3)]); break;
    default: snprintf(to, size, ", '%s': '%s'", p->key, any_text());
    }
}

// A workflow with that node, what it may be given, and one who looks. False: nothing here gives what it needs.
static bool make_json(const nino_node_def *d)
{
    char inputs[8000] = "'-': 0";
    bool is_large = false;
    int n_out = 0, slot;
    for (int i = 0; d->inputs && d->inputs[i].key; i++) {
        const char *from = source_of(d->inputs[i].type, &slot);
        const size_t n = strlen(inputs);
        if (!from && !d->inputs[i].optional)
            return false;
        if (from && (!d->inputs[i].optional || draw(2)))
            snprintf(inputs + n, sizeof(inputs) - n, ", '%s': ['%s', %d]", d->inputs[i].key, from,
                     slot);
    }
    for (int i = 0; d->params && d->params[i].key; i++)
        if (draw(4))
            add_param(inputs, sizeof(inputs), &d->params[i], &is_large);
    while (d->outputs && d->outputs[n_out].key)
        n_out++;
    if (d->is_virtual || (!n_out && !d->is_output))
        return false;
    const int len = snprintf(json, sizeof(json), "{%s, 'x': {'class_type': '%s', 'inputs': {%s}}",
                             nodes, d->key, inputs);
    CHECK(len > 0 && (size_t) len < sizeof(json) - 200);
    if (n_out)
        snprintf(json + len, sizeof(json) - (size_t) len,
                 ", 'y': {'class_type': 'PreviewAny', 'inputs': {'source': ['x', %d]}}}",
                 (int) draw((uint64_t) n_out));
    else
        snprintf(json + len, sizeof(json) - (size_t) len, "}");
    return true;
}

// The status of the run; one that takes long is cancelled.
static nino_status run(nino_graph *g, const nino_job_options *o)
{
    nino_status st = NINO_OK;
    nino_job *job = nino_job_start(ctx, g, o, &err);
    if (!job)
        return err.code;
    for (int ms = 0; !nino_job_done(job, &st, &err); ms += 20) {
        nino_job_wait(job, 20);
        if (ms >= MAX_MS)
            nino_job_cancel(job);
    }
    nino_job_destroy(&job);
    return st;
}

static bool check_case(const nino_node_def *d, int *n_ok)
{
    static const char *const demo[] = { "data/demo/models", "tests/data/models", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = demo, .no_files = draw(2),
                                 .is_silent = true };
    nino_plan plan;
    bool ok = true;
    if (getenv("NINODES_TEST_SHOW"))
        fprintf(stderr, "%s\n", strstr(json, "'x': {"));
    nino_graph *g = flow_graph(json);
    const nino_status st = run(g, &o);
    if (st && st != NINO_ERR_CANCELLED && !*err.msg)
        fprintf(stderr, "%s: no word of what went wrong\n", d->key), ok = false;
    *n_ok += !st;
    if (!st && !(o.no_files && d->is_output) && // which then does nothing
        nino_graph_plan(ctx, g, NULL, &o, &plan, &err)) {
        fprintf(stderr, "%s\n  runs, but its plan says %s: %s\n", strstr(json, "'x': {"), err.where,
                err.msg);
        ok = false;
    } else if (!st && !(o.no_files && d->is_output)) {
        nino_plan_release(&plan);
    }
    nino_graph_destroy(&g);
    return ok;
}

int main(void)
{
    const char *seed = getenv("NINODES_TEST_SEED"), *only = getenv("NINODES_TEST_CLASS"),
               *device = getenv("NINODES_TEST_DEVICE");
    const int times = getenv("NINODES_TEST_LONG") ? 100 : 2;
    int n_classes = 0, n = 0, n_ok = 0, wrong = 0;
    signal(SIGSEGV, on_crash);
    signal(SIGABRT, on_crash);
    signal(SIGFPE, on_crash);
    ctx = flow_open_with(device ? device : "ref", NULL, NULL);
    CHECK(ctx);
    make_picture();
    for (int i = 0; nino_node_defs[i]; i++) {
        if (only && strcmp(only, nino_node_defs[i]->key) != 0)
            continue;
        state = 88172645463325252u + (seed ? strtoull(seed, NULL, 10) : 0) * 1000003 +
                (uint64_t) i * 7919;
        int before = n;
        for (int k = 0; k < times; k++)
            if (make_json(nino_node_defs[i])) {
                n++;
                wrong += !check_case(nino_node_defs[i], &n_ok);
            }
        n_classes += n > before;
    }
    printf("  %d runs of %d classes, %d of them without an error\n", n, n_classes, n_ok);
    CHECK(only || (n_classes > 300 && n_ok > n / 4));
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
