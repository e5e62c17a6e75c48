// Inputs do what they say: of every node that makes pictures or masks of such, each input that is not
// marked as without effect is changed until the result differs; marked ones never change it. And no node
// changes what it was given.
#include "core/base/hash.h"
#include "tests/flow.h"

#include <math.h>

enum { W = 96, H = 80 };

// What makes an input matter that would not by the defaults of the others.
static const char *const presets[][2] = {
    { "FeatherMask", "left=20" },
    { "FeatherMask", "top=20" },
    { "ImageScaleBy", "scale_by=0.7" },
    { "CropMask", "width=40" },
    { "CropMask", "height=40" },
    { "ImageCrop", "width=40" },
    { "ImageCrop", "height=40" },
    { "GrowMask", "expand=5" },
    { "ImageStitch", "spacing_width=8" },
    { "ImageCrop+", "width=40" },
    { "ImageCrop+", "height=40" },
    { "Image Inset Crop (rgthree)", "left=16" },
    { "easy imageInsetCrop", "left=16" },
    { "ImageResizeKJv2", "keep_proportion=pad" },
    { "Image Resize (rgthree)", "width=40" },
    { "Image Resize (rgthree)", "height=20" },
    { "easy imageScaleDownToSize", "size=40" },
    { "easy imageScaleToNormPixels", "scale_by=0.7" },
    { "Image Resize", "mode=resize" },
    { "Image Resize", "supersample=false" },
    { "Image Resize", "resize_width=40" },
    { "Image Resize", "resize_height=30" },
    { "ConstrainImage|pysssss", "max_width=40" },
    { "ConstrainImage|pysssss", "min_height=70" },
    { "GrowMaskWithBlur", "expand=3" },
    { "MaskFromColor+", "threshold=127" },
};

// No effect on these pictures, but elsewhere.
static const char *const elsewhere[][3] = {
    { "RebatchImages", "batch_size", "several pictures" },
    { "ImageFromBatch", "batch_index", "several pictures" },
    { "ImageFromBatch", "length", "several pictures" },
    { "ImageCompositeMasked", "resize_source", "a source of another size" },
    { "ImageStitch", "match_image_size", "pictures of two sizes" },
    { "ImagePadForOutpaint", "feathering", "the second output" },
    { "SplitImageToTileList", "tile_width", "pictures that are wider" },
    { "SplitImageToTileList", "tile_height", "pictures that are higher" },
    { "SplitImageToTileList", "overlap", "pictures of several tiles" },
    { "ImageMergeTileList", "overlap", "several tiles" },
    { "CenterCropImages", "width", "pictures that are wider" },
    { "CenterCropImages", "height", "pictures that are higher" },
    { "VHS_MergeImages", "merge_strategy", "pictures of two sizes" },
    { "VHS_MergeImages", "scale_method", "pictures of two sizes" },
    { "VHS_MergeImages", "crop", "pictures of two sizes" },
    { "VHS_MergeMasks", "merge_strategy", "masks of two sizes" },
    { "VHS_MergeMasks", "scale_method", "masks of two sizes" },
    { "VHS_MergeMasks", "crop", "masks of two sizes" },
    { "VHS_SelectEveryNthImage", "select_every_nth", "several pictures" },
    { "VHS_SelectEveryNthMask", "select_every_nth", "several masks" },
    { "VHS_SelectImages", "err_if_missing", "numbers that are not there" },
    { "VHS_SelectImages", "err_if_empty", "numbers that are not there" },
    { "VHS_SelectMasks", "err_if_missing", "numbers that are not there" },
    { "VHS_SelectMasks", "err_if_empty", "numbers that are not there" },
    { "ImageFromBatch+", "start", "several pictures" },
    { "ImageFromBatch+", "length", "several pictures" },
    { "MaskFromBatch+", "start", "several masks" },
    { "MaskFromBatch+", "length", "several masks" },
    { "ImageExpandBatch+", "method", "several pictures" },
    { "MaskExpandBatch+", "method", "several masks" },
    { "ImageConcanate", "match_image_size", "pictures of two sizes" },
    { "easy imageConcat", "match_image_size", "pictures of two sizes" },
    { "ImageConcatMulti", "direction", "several pictures" },
    { "ImageConcatMulti", "match_image_size", "several pictures" },
    { "ImageBatchMultiple+", "method", "pictures of two sizes" },
    { "GrowMaskWithBlur", "incremental_expandrate", "several masks" },
    { "GrowMaskWithBlur", "lerp_alpha", "several masks" },
    { "GrowMaskWithBlur", "decay_factor", "several masks" },
    { "MaskFromColor+", "green", "colours that are near" },
    { "MaskFromColor+", "blue", "colours that are near" },
    { "MaskBoundingBox+", "padding", "masks that do not reach the edges" },
    { "BlockifyMask", "block_size", "masks with holes" },
    { "ImageResizeKJ", "width", "no picture to take the size of" },
    { "ImageResizeKJ", "height", "no picture to take the size of" },
    { "ImageResizeKJ", "upscale_method", "no picture to take the size of" },
    { "ImageResizeKJ", "keep_proportion", "no picture to take the size of" },
    { "GetImageRangeFromBatch", "num_frames", "several pictures" },
    { "ImageResizeKJ", "divisible_by", "no picture to take the size of" },
    { "ImageResizeKJ", "crop", "no picture to take the size of" },
    { "ConstrainImage|pysssss", "max_height", "limits of another aspect ratio" },
    { "ConstrainImage|pysssss", "min_width", "limits of another aspect ratio" },
    { "ConstrainImage|pysssss", "min_height", "limits of another aspect ratio" },
    { "ConstrainImageforVideo|pysssss", "max_height", "limits of another aspect ratio" },
    { "ConstrainImageforVideo|pysssss", "min_width", "limits of another aspect ratio" },
    { "ConstrainImageforVideo|pysssss", "min_height", "limits of another aspect ratio" },
    { "Image Resize", "rescale_factor", "mode rescale" },
    { "CR Image Input Switch (4 way)", "Input", "several pictures" },
};

static nino_ctx *ctx;
static uint8_t pixels[H][W][4];

static bool is_elsewhere(const char *node, const char *key)
{
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (!strcmp(elsewhere[i][0], node) && !strcmp(elsewhere[i][1], key))
            return true;
    return false;
}

static const char *source_of(nino_port_type t)
{
    return t == NINO_PORT_IMAGE ? "['1', 0]" : t == NINO_PORT_MASK ? "['1', 1]" : NULL;
}

// The node between what is there and a picture; false: it is not of this kind.
static bool make_json(const nino_node_def *d, char *json, size_t size)
{
    const nino_port_type out = d->outputs && d->outputs[0].key ? d->outputs[0].type : 0;
    char inputs[600] = "";
    bool has_input = false;
    for (int i = 0; d->inputs && d->inputs[i].key; i++) {
        if (d->inputs[i].grows && d->inputs[i].optional)
            continue;
        const char *from = source_of(d->inputs[i].type);
        const size_t n = strlen(inputs);
        if (!from && !d->inputs[i].optional)
            return false;
        if (from)
            snprintf(inputs + n, sizeof(inputs) - n, "%s'%s': %s", n ? ", " : "", d->inputs[i].key,
                     from);
        has_input |= from != NULL;
    }
    for (int i = 0; d->params && d->params[i].key; i++)
        if (d->params[i].type == NINO_FILE)
            return false;
    if (!has_input || d->is_virtual || d->is_output || !source_of(out))
        return false;
    snprintf(
        json, size,
        "{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'from memory'}},"
        " '4': {'class_type': '%s', 'inputs': {%s}}, %s"
        " '6': {'class_type': 'SaveImage', 'inputs': {'images': ['%d', 0], 'filename_prefix': "
        "'x'}},"
        " '7': {'class_type': 'SaveImage', 'inputs': {'images': ['1', 0], 'filename_prefix': 'y'}},"
        " '8': {'class_type': 'MaskToImage', 'inputs': {'mask': ['1', 1]}},"
        " '9': {'class_type': 'SaveImage', 'inputs': {'images': ['8', 0], 'filename_prefix': "
        "'z'}}}",
        d->key, inputs,
        out == NINO_PORT_MASK ? "'5': {'class_type': 'MaskToImage', 'inputs': {'mask': ['4', 0]}},"
                              : "",
        out == NINO_PORT_MASK ? 5 : 4);
    return true;
}

static bool take(const nino_job *job, size_t i, nino_raster *p)
{
    return !nino_job_image(job, "6", i, p, NULL);
}

// What the node was given is as it was: another one may have it, too.
static void check_sources(const nino_job *job, const nino_node_def *d, const char *change)
{
    nino_raster image = { NINO_RASTER_INIT }, mask = { NINO_RASTER_INIT };
    CHECK(!nino_job_image(job, "7", 0, &image, NULL) && !nino_job_image(job, "9", 0, &mask, NULL));
    CHECK(image.height == H && image.width == W && mask.height == H && mask.width == W);
    for (int i = 0; i < H * W; i++) {
        const uint8_t *at = pixels[i / W][i % W];
        bool is_same = fabsf(((const float *) mask.data)[3 * i] - 1 + (float) at[3] / 255) < 1e-6f;
        for (int c = 0; c < 3; c++)
            is_same &= fabsf(((const float *) image.data)[3 * i + c] - (float) at[c] / 255) < 1e-6f;
        if (!is_same)
            fprintf(stderr, "%s (%s) changes its input\n", d->key, change ? change : "as it is");
        CHECK(is_same);
    }
}

// The result with this assignment ("KEY=VALUE" or NULL). False: it failed.
static bool result(const nino_node_def *d, const char *json, const char *change, nino_hash *out)
{
    static const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .keep_results = true,
                                        .no_files = true, .is_silent = true, .is_anew = true };
    const nino_raster r = { NINO_RASTER_INIT, .type = NINO_RASTER_U8, .n = 1,        .height = H,
                            .width = W,       .channels = 4,          .data = pixels };
    nino_error err;
    nino_status st = NINO_OK;
    char text[200];
    nino_graph *g = flow_graph(json);
    CHECK_OK(nino_graph_set_image(g, "1", &r, &err), err);
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
        if (!strcmp(presets[i][0], d->key)) {
            snprintf(text, sizeof(text), "4.%s", presets[i][1]);
            CHECK_OK(nino_graph_set(g, text, &err), err);
        }
    snprintf(text, sizeof(text), "4.%s", change ? change : "");
    if (change)
        st = nino_graph_set(g, text, &err);
    nino_job *job = st ? NULL : nino_job_start(ctx, g, &o, &err);
    while (job && !nino_job_done(job, &st, &err))
        nino_job_wait(job, 50);
    nino_raster p = { NINO_RASTER_INIT };
    const bool ok = job && !st && take(job, 0, &p);
    if (ok)
        check_sources(job, d, change);
    nino_hasher *h = nino_hasher_create();
    for (size_t i = 0; ok && take(job, i, &p); i++) {
        const int size[4] = { p.n, p.height, p.width, p.channels };
        nino_hasher_add(h, size, sizeof(size));
        nino_hasher_add(h, p.data,
                        sizeof(float) * (size_t) p.n * (size_t) p.height * (size_t) p.width *
                            (size_t) p.channels);
    }
    *out = nino_hasher_finish(&h);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    return ok;
}

// Other values to try, one after the other. False: no more.
static bool other_value(const nino_param *p, int i, char *text, size_t size)
{
    static const double scale[] = { 1, 2, -1, 8, 0.5, -8, 40 };
    static const char *const colours[] = { "#102030", "other" };
    switch (p->type) {
    case NINO_BOOL: snprintf(text, size, "%s=%s", p->key, p->def.b ? "false" : "true"); return !i;
    case NINO_ENUM:
        if (!p->names[i])
            return false;
        snprintf(text, size, "%s=%s", p->key, p->names[i]);
        return true;
    case NINO_INT: {
        int64_t v = p->def.i + (int64_t) (scale[i % 7] * (double) (p->step.i ? p->step.i : 1));
        v = v < p->min.i ? p->min.i + 3 * (p->step.i ? p->step.i : 1) : v > p->max.i ? p->max.i : v;
        snprintf(text, size, "%s=%lld", p->key, (long long) v);
        return i < 7;
    }
    case NINO_FLOAT: {
        double v = p->def.f + scale[i % 7] * (p->step.f > 0 ? p->step.f : 0.1);
        v = v < p->min.f ? p->min.f : v > p->max.f ? p->max.f : v;
        snprintf(text, size, "%s=%g", p->key, v);
        return i < 7;
    }
    case NINO_SEED: snprintf(text, size, "%s=77", p->key); return !i;
    case NINO_STRING: snprintf(text, size, "%s=%s", p->key, colours[i % 2]); return i < 2;
    default: return false;
    }
}

static int check_node(const nino_node_def *d, const char *json, int *n_inputs)
{
    nino_hash plain, other;
    int wrong = 0;
    char text[160];
    if (!result(d, json, NULL, &plain))
        return 0; // not with these sources
    for (const nino_param *p = d->params; p && p->key; p++) {
        bool has_effect = false;
        for (int i = 0; !has_effect && other_value(p, i, text, sizeof(text)); i++)
            has_effect = !result(d, json, text, &other) || memcmp(&plain, &other, sizeof(plain));
        ++*n_inputs;
        if (has_effect == !p->is_inert || (!p->is_inert && is_elsewhere(d->key, p->key)))
            continue;
        fprintf(stderr, "%s.%s: %s\n", d->key, p->key,
                p->is_inert ? "marked, but it has an effect" : "no effect, and not marked");
        wrong++;
    }
    return wrong;
}

static const nino_param *param_of(const char *node, const char *key)
{
    const nino_param *p = nino_node_find(node, NULL)->params;
    while (strcmp(p->key, key) != 0)
        p++;
    return p;
}

static bool is_marked(const char *node, const char *key) { return param_of(node, key)->is_inert; }

// Pieces of time are for VAEs that are not causal: no effect on Wan's, some on the tiny ones.
static bool is_for_taehv(const char *node, const char *key)
{
    const nino_param *p = param_of(node, key);
    return !p->is_inert && p->acts_for && strstr(p->acts_for, "TAEHV");
}

int main(void)
{
    char json[2000];
    int wrong = 0, nodes = 0, inputs = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < 4; c++)
                pixels[y][x][c] =
                    (uint8_t) (c < 3 ? (x * (c + 1) + y * 3 + 31 * (x / 5 ^ y / 7)) % 256
                                     : (x * 2 + y * 3) % 250);
    ctx = flow_open("ref", "tests/data");
    CHECK(ctx);
    for (int i = 0; nino_node_defs[i]; i++) {
        if (!make_json(nino_node_defs[i], json, sizeof(json)))
            continue;
        nodes++;
        wrong += check_node(nino_node_defs[i], json, &inputs);
    }
    // Clips are encoded as Wan's encoder does, without pieces.
    CHECK(is_marked("VAEEncodeTiled", "temporal_size") &&
          is_marked("VAEEncodeTiled", "temporal_overlap") &&
          !is_marked("VAEEncodeTiled", "overlap"));
    CHECK(is_for_taehv("VAEDecodeTiled", "temporal_size") &&
          is_for_taehv("VAEDecodeTiled", "temporal_overlap") &&
          is_for_taehv("ROCMOptimizedVAEDecodeTiled", "temporal_size") &&
          is_for_taehv("ROCMOptimizedVAEDecode", "temporal_chunk_size") &&
          !param_of("VAEDecodeTiled", "overlap")->acts_for &&
          !param_of("VAEEncodeTiled", "temporal_size")->acts_for);
    printf("  %d inputs of %d nodes\n", inputs, nodes);
    CHECK(nodes > 30 && inputs > 60);
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
