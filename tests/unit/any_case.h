// Nodes of any class with inputs and values drawn by chance, legal ones and others.
#pragma once
#include "core/node/node_impl.h"
#include "tests/flow.h"

enum { ANY_PARTS = 96, ANY_JSON = 20000 };

typedef struct any_case {
    const nino_node_def *def;
    int n_inputs, n;           // parts: those of the inputs, then those of the values
    char part[ANY_PARTS][420]; // "'width': 3"; "" where nothing is given
    bool is_large;
} any_case;

// Of each type one or several; the ids of "SOURCES" lie in front of ':'.
typedef struct any_source {
    nino_port_type type;
    const char *link;
} any_source;

static const char any_nodes[] =
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
    "'c4': {'class_type': 'VAEEncode', 'inputs': {'pixels': ['a2', 0], 'vae': ['o1', 2]}},"
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
    " 'width': 64, 'height': 64, 'x': 8, 'y': 0, 'strength': 0.5}},"
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
    "'o2': {'class_type': 'CLIPTextEncode', 'inputs': {'text': 'a star', 'clip': ['o1', 1]}},"
    "'o3': {'class_type': 'ConditioningSetArea', 'inputs': {'conditioning': ['o2', 0],"
    " 'width': 64, 'height': 64, 'x': 8, 'y': 0, 'strength': 0.5}},"
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
    " 'lora_name_1': 'demo_outline.safetensors', 'model_weight_1': 0.5,"
    " 'lora_name_2': 'None', 'lora_name_3': 'None'}},"
    "'q6': {'class_type': 'PrimitiveBoundingBox', 'inputs': {'width': 4, 'height': 3}},"
    "'r2': {'class_type': 'CM_ComposeVec2', 'inputs': {'x': 1, 'y': 0}},"
    "'r3': {'class_type': 'CM_ComposeVec3', 'inputs': {'x': 1, 'y': 0, 'z': -2}},"
    "'r4': {'class_type': 'CM_ComposeVec4', 'inputs': {'x': 1, 'y': 0, 'z': -2, 'w': 0.5}},"
    "'s1': {'class_type': 'VHS_VideoCombine', 'inputs': {'images': ['a3', 0],"
    " 'format': 'image/webp', 'filename_prefix': 'f'}}";

static const any_source any_sources[] = {
    { NINO_PORT_IMAGE, "a1" },
    { NINO_PORT_IMAGE, "a2" },
    { NINO_PORT_IMAGE, "a3" },
    { NINO_PORT_IMAGE, "a4" },
    { NINO_PORT_MASK, "b1" },
    { NINO_PORT_MASK, "b2" },
    { NINO_PORT_MASK, "b3" },
    { NINO_PORT_MASK, "b4" },
    { NINO_PORT_LATENT, "c1" },
    { NINO_PORT_LATENT, "c2" },
    { NINO_PORT_LATENT, "c3" },
    { NINO_PORT_LATENT, "c4" },
    { NINO_PORT_STRING, "d1" },
    { NINO_PORT_STRING, "d2" },
    { NINO_PORT_STRING, "d3" },
    { NINO_PORT_INT, "e1" },
    { NINO_PORT_INT, "e2" },
    { NINO_PORT_INT, "e3" },
    { NINO_PORT_FLOAT, "f1" },
    { NINO_PORT_FLOAT, "f2" },
    { NINO_PORT_BOOLEAN, "g1" },
    { NINO_PORT_MODEL, "h1" },
    { NINO_PORT_CONDITIONING, "h2" },
    { NINO_PORT_CONDITIONING, "h3" },
    { NINO_PORT_AUDIO, "i1" },
    { NINO_PORT_VIDEO, "j1" },
    { NINO_PORT_SIGMAS, "k1" },
    { NINO_PORT_SIGMAS, "k2" },
    { NINO_PORT_SAMPLER, "l1" },
    { NINO_PORT_NOISE, "m1" },
    { NINO_PORT_GUIDER, "n1" },
    { NINO_PORT_MODEL, "o1" },
    { NINO_PORT_UPSCALE_MODEL, "p1" },
    { NINO_PORT_MODEL_PATCH, "p2" },
    { NINO_PORT_LATENT_OPERATION, "q1" },
    { NINO_PORT_CONTEXT, "q2" },
    { NINO_PORT_BUS, "q3" },
    { NINO_PORT_BASIC_PIPE, "q4" },
    { NINO_PORT_LORA_STACK, "q5" },
    { NINO_PORT_BOUNDING_BOX, "q6" },
    { NINO_PORT_VEC2, "r2" },
    { NINO_PORT_VEC3, "r3" },
    { NINO_PORT_VEC4, "r4" },
    { NINO_PORT_FILENAMES, "s1" },
};

static uint64_t any_state;

// Below n.
static inline uint64_t any_draw(uint64_t n)
{
    any_state ^= any_state << 13;
    any_state ^= any_state >> 7;
    any_state ^= any_state << 17;
    return any_state % n;
}

// Class i is to be tried ($NINODES_TEST_CLASS: one alone), with what is drawn for it ($NINODES_TEST_SEED: other than always).
static inline bool any_begin(int i)
{
    const char *only = getenv("NINODES_TEST_CLASS"), *seed = getenv("NINODES_TEST_SEED");
    any_state =
        88172645463325252u + (seed ? strtoull(seed, NULL, 10) : 0) * 1000003 + (uint64_t) i * 7919;
    return !only || !strcmp(only, nino_node_defs[i]->key);
}

// in.png of the sources
static inline void any_picture(nino_ctx *ctx)
{
    static uint8_t pixels[40][48][4];
    const nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_U8, .n = 1,        .height = 40,
                            .width = 48,      .channels = 4,          .data = pixels };
    for (int i = 0; i < (int) sizeof(pixels); i++)
        (&pixels[0][0][0])[i] = (uint8_t) (i / 7 * 13);
    flow_picture(ctx, &r, "in.png");
}

// On $NINODES_TEST_DEVICE, or the reference.
static inline nino_ctx *any_open(void)
{
    const char *device = getenv("NINODES_TEST_DEVICE");
    nino_ctx *ctx = flow_open_with(device ? device : "ref", NULL, NULL);
    CHECK(ctx);
    any_picture(ctx);
    return ctx;
}

// What gives that type; NULL: nothing here does.
static inline const char *any_source_of(nino_port_type t, int *slot)
{
    const any_source *fits[64];
    size_t n = 0;
    *slot = t == NINO_PORT_CLIP ? 1 : t == NINO_PORT_VAE ? 2 : 0;
    if (*slot)
        return any_draw(2) ? "h1" : "o1";
    for (size_t i = 0; i < sizeof(any_sources) / sizeof(any_sources[0]); i++)
        if (any_sources[i].type == t || t == NINO_PORT_ANY)
            fits[n++] = &any_sources[i];
    return n ? fits[any_draw(n)]->link : NULL;
}

static inline int64_t any_int(const nino_param *p, bool *is_large)
{
    const int64_t some[] = { p->min.i, p->min.i + 1, p->def.i, 0, 1, 2, 3, 7, 8, 16, 33, 64 };
    int64_t v = some[any_draw(sizeof(some) / sizeof(some[0]))];
    if (!*is_large && any_draw(8) == 0) {
        *is_large = true;
        v = p->max.i < 2000 ? p->max.i : (int64_t) any_draw(2000);
    }
    v = v > 64 && !*is_large ? 64 : v; // pictures and steps without end take time, and are no news
    v = v < p->min.i ? p->min.i : v > p->max.i ? p->max.i : v;
    return any_draw(40) ? v : -v - 1;
}

static inline double any_float(const nino_param *p)
{
    const double some[] = { p->min.f, p->max.f < 1e4 ? p->max.f : 3.0, p->def.f, 0, 0.5, 1, 2.25 };
    const double v = some[any_draw(sizeof(some) / sizeof(some[0]))];
    return any_draw(40) ? v < p->min.f ? p->min.f : v > p->max.f ? p->max.f : v : -1e30;
}

// In JSON, with ' for ".
static inline const char *any_text(void)
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
    return some[any_draw(sizeof(some) / sizeof(some[0]))];
}

// What may be linked instead of a value of that type.
static inline nino_port_type any_port_of(nino_type t)
{
    switch (t) {
    case NINO_BOOL: return NINO_PORT_BOOLEAN;
    case NINO_INT:
    case NINO_SEED: return NINO_PORT_INT;
    case NINO_FLOAT: return NINO_PORT_FLOAT;
    case NINO_STRING: return NINO_PORT_STRING;
    default: return NINO_PORT_NONE;
    }
}

// "'KEY': VALUE"
static inline void any_value(char *to, size_t size, const nino_param *p, bool *is_large)
{
    static const char *const files[] = { "in.png", "demo_flux.safetensors", "none" };
    int names = 0, slot;
    const char *from = any_draw(6) ? NULL : any_source_of(any_port_of(p->type), &slot);
    if (from) {
        snprintf(to, size, "'%s': ['%s', %d]", p->key, from, slot);
        return;
    }
    switch (p->type) {
    case NINO_BOOL: snprintf(to, size, "'%s': %s", p->key, any_draw(2) ? "true" : "false"); break;
    case NINO_ENUM:
        while (p->names[names])
            names++;
        snprintf(to, size, "'%s': '%s'", p->key, names ? p->names[any_draw((uint64_t) names)] : "");
        break;
    case NINO_INT:
        snprintf(to, size, "'%s': %lld", p->key, (long long) any_int(p, is_large));
        break;
    case NINO_SEED:
        snprintf(to, size, "'%s': %llu", p->key, (unsigned long long) any_draw(9));
        break;
    case NINO_FLOAT: snprintf(to, size, "'%s': %g", p->key, any_float(p)); break;
    case NINO_FILE: snprintf(to, size, "'%s': '%s'", p->key, files[any_draw(3)]); break;
    default: snprintf(to, size, "'%s': '%s'", p->key, any_text());
    }
}

// One part anew. False: nothing here gives what it needs.
static inline bool any_part(any_case *c, int k)
{
    char *to = c->part[k];
    const size_t size = sizeof(c->part[k]);
    int slot;
    *to = 0;
    if (k >= c->n_inputs) {
        if (any_draw(4))
            any_value(to, size, &c->def->params[k - c->n_inputs], &c->is_large);
        return true;
    }
    const nino_port *in = &c->def->inputs[k];
    const char *from = any_source_of(in->type, &slot);
    if (from && (!in->optional || any_draw(2)))
        snprintf(to, size, "'%s': ['%s', %d]", in->key, from, slot);
    return from || in->optional;
}

// False: it cannot run by itself.
static inline bool any_make(any_case *c, const nino_node_def *d)
{
    *c = (any_case){ .def = d };
    while (d->inputs && d->inputs[c->n_inputs].key)
        c->n_inputs++;
    c->n = c->n_inputs;
    while (d->params && d->params[c->n - c->n_inputs].key)
        c->n++;
    CHECK(c->n <= ANY_PARTS);
    bool ok = !d->is_virtual && ((d->outputs && d->outputs[0].key) || d->is_output);
    for (int k = 0; ok && k < c->n; k++)
        ok = any_part(c, k);
    return ok;
}

// The workflow with that node as 'x', and `more` nodes (", 'y': {...}" each).
static inline void any_json(const any_case *c, const char *more, char *json, size_t size)
{
    size_t n = (size_t) snprintf(json, size, "{%s, 'x': {'class_type': '%s', 'inputs': {'-': 0",
                                 any_nodes, c->def->key);
    for (int k = 0; k < c->n && n < size; k++)
        if (*c->part[k])
            n += (size_t) snprintf(json + n, size - n, ", %s", c->part[k]);
    if (n < size)
        n += (size_t) snprintf(json + n, size - n, "}}%s}", more);
    CHECK(n < size);
}
