// Every allocation of the nodes that work on the host fails once: a clean "nomem", no leak. Inputs
// of one size, so that nothing is scaled on a device.
#include "tests/node.h"
#include "tests/oom.h"

static const char *const classes[] = {
    "ConditioningCombine",
    "ConditioningConcat",
    "ConditioningAverage",
    "ConditioningSetArea",
    "ConditioningSetMask",
    "ConditioningZeroOut",
    "ReferenceLatent",
    "LatentComposite",
    "LatentCompositeMasked",
    "LatentFlip",
    "LatentRotate",
    "LatentConcat",
    "LatentCut",
    "LatentAdd",
    "LatentMultiply",
    "LatentInterpolate",
    "LatentBlend",
    "LatentBatch",
    "LatentFromBatch",
    "RepeatLatentBatch",
    "LatentBatchSeedBehavior",
    "SetLatentNoiseMask",
    "SolidMask",
    "InvertMask",
    "ThresholdMask",
    "CropMask",
    "MaskComposite",
    "FeatherMask",
    "GrowMask",
    "MaskToImage",
    "ImageToMask",
    "ImageColorToMask",
    "SplitImageWithAlpha",
    "JoinImageWithAlpha",
    "ImageCompositeMasked",
    "PorterDuffImageComposite",
    "EmptyImage",
    "ImageInvert",
    "ImageCrop",
    "ImageFlip",
    "ImageRotate",
    "ImageFromBatch",
    "RepeatImageBatch",
    "ImagePadForOutpaint",
    "ImageStitch",
    "ImageBlend",
    "ImageBlur",
    "ImageSharpen",
    "ImageAddNoise",
    "Canny",
    "PrimitiveInt",
    "PrimitiveString",
    "StringConcatenate",
    "StringSubstring",
    "CaseConverter",
    "StringTrim",
    "StringReplace",
    "StringContains",
};

static const char *current;

static nino_value *latent_input(void)
{
    nino_value *v = node_latent(node_ramp(SHAPE(2, 3, 3, 2), 0.1));
    v->u.latent.noise_mask = node_ramp(SHAPE(2, 3, 3), 0.1);
    v->u.latent.batch_index = calloc(2, sizeof(int64_t));
    CHECK(v->u.latent.batch_index);
    return v;
}

static nino_value *cond_input(void)
{
    nino_cond *c = nino_cond_create(2);
    CHECK(c);
    for (int i = 0; i < 2; i++) {
        c->entry[i].context = node_ramp(SHAPE(1, 2, 3), 1);
        c->entry[i].pooled = node_ramp(SHAPE(1, 3), 1);
    }
    return node_cond(c);
}

static nino_value *input_of(nino_port_type type)
{
    switch (type) {
    case NINO_PORT_IMAGE: return node_image(node_ramp(SHAPE(2, 3, 3, 3), 0.01));
    case NINO_PORT_MASK: return node_mask(node_ramp(SHAPE(2, 3, 3), 0.05));
    case NINO_PORT_LATENT: return latent_input();
    case NINO_PORT_CONDITIONING: return cond_input();
    default: return NULL;
    }
}

// Small sizes, and more than one pass where a number says how many.
static void small_parameters(void)
{
    static const char *const values[][2] = { { "width", "8" },        { "height", "8" },
                                             { "expand", "2" },       { "string", "a b" },
                                             { "string_a", "a" },     { "rotation", "90 degrees" },
                                             { "spacing_width", "2" } };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const nino_param *p = nino_param_find(node.run.def, values[i][0]);
        if (p && (p->type != NINO_INT || p->min.i <= 8))
            node_set(values[i][0], values[i][1]);
    }
}

static void scenario(int may_fail)
{
    const long at = oom_pause();
    node_new(current);
    small_parameters();
    for (const nino_port *p = node.run.def->inputs; p && p->key; p++)
        node_give(p->key, input_of(p->type));
    oom_resume(at);
    const nino_status st = node_try();
    const long rest = oom_pause();
    if (st) {
        CHECK(may_fail && oom.fired);
        CHECK(st == NINO_ERR_NOMEM && node.err.code == NINO_ERR_NOMEM);
        CHECK_STR(node.err.kind, "nomem");
    } else {
        for (int i = 0; node.run.def->outputs[i].key; i++)
            CHECK(node.out[i] && node.out[i]->type == node.run.def->outputs[i].type);
    }
    node_clear();
    oom.at = rest;
}

int main(void)
{
    long sum = 0;
    node_open();
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        current = classes[i];
        node_new(current); // so that the arena's first block is not counted
        small_parameters();
        sum += oom_each(scenario);
    }
    printf("  %ld allocations of %zu nodes\n", sum, sizeof(classes) / sizeof(classes[0]));
    node_close();
    return 0;
}
