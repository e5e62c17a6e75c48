// Batches of several, tiles and back, sizes of nine kinds, boxes, slices, noise levels by hand.
// Values worked out by hand or by Python, as said.
#include "core/node/planar.h"
#include "tests/node.h"

// ---- BatchImagesNode and its like ------------------------------------------------------------

static void check_batch_images(void)
{
    node_new("BatchImagesNode");
    node_give("images.image0", node_image(A(SHAPE(1, 1, 2, 3), 0, .1f, .2f, .3f, .4f, .5f)));
    node_give("images.image3", node_image(A(SHAPE(1, 1, 2, 4), 1, 1, 1, .5f, 0, 0, 0, .25f)));
    node_give("images.image1", node_image(A(SHAPE(1, 1, 1, 3), .9f, .8f, .7f)));
    node_go();
    const nino_array *a = node.out[0]->u.image;
    CHECK(a->shape.rank == 4 && a->shape.dim[0] == 3 && a->shape.dim[2] == 2 &&
          a->shape.dim[3] == 4);
    const float *v = nino_array_f32(a);
    CHECK(v[1] == .1f && v[3] == 1 && v[7] == 1); // without alpha: opaque
    CHECK(fabsf(v[8] - .9f) < 1e-6f && fabsf(v[12] - .9f) < 1e-6f && v[11] == 1); // made wider
    CHECK(v[19] == .5f && v[23] == .25f); // in the order of the names
}

static void check_batch_masks(void)
{
    node_new("BatchMasksNode");
    node_give("masks.mask0", node_mask(A(SHAPE(1, 2, 2), 0, 1, 1, 0)));
    node_give("masks.mask1", node_mask(A(SHAPE(2, 1, 1), .25f, .75f)));
    node_go();
    const nino_array *a = node.out[0]->u.mask;
    CHECK(a->shape.rank == 3 && a->shape.dim[0] == 3 && a->shape.dim[1] == 2);
    CHECK(nino_array_f32(a)[1] == 1 && fabsf(nino_array_f32(a)[4] - .25f) < 1e-6f &&
          fabsf(nino_array_f32(a)[11] - .75f) < 1e-6f);
}

static nino_value *latent(nino_array *samples, const int64_t *index)
{
    nino_value *v = node_value(NINO_PORT_LATENT);
    v->u.latent.samples = samples;
    if (index) {
        v->u.latent.batch_index = calloc(4, sizeof(int64_t));
        memcpy(v->u.latent.batch_index, index, (size_t) samples->shape.dim[0] * sizeof(int64_t));
    }
    return v;
}

static void check_batch_latents(void)
{
    node_new("BatchLatentsNode");
    node_give("latents.latent0", latent(A(SHAPE(2, 1, 1, 1), 1, 2), NULL));
    node_give("latents.latent1", latent(A(SHAPE(1, 1, 1, 1), 3), (const int64_t[]){ 5 }));
    node_give("latents.latent2", latent(A(SHAPE(1, 1, 1, 1), 4), NULL));
    node_go();
    const nino_latent *l = &node.out[0]->u.latent;
    const int64_t want[] = { 0, 1, 5, 0 };
    CHECK(l->samples->shape.dim[0] == 4 && nino_array_f32(l->samples)[3] == 4);
    CHECK(!memcmp(l->batch_index, want, sizeof(want)));
}

// ---- tiles -----------------------------------------------------------------------------------

static void check_tiles(void)
{
    // 160 wide in tiles of 64 that share 16: 0, 48, 96; 100 high: 0, 36
    node_new("SplitImageToTileList");
    node_give("image", node_image(node_ramp(SHAPE(1, 100, 160, 1), 1e-5)));
    node_set("tile_width", "64");
    node_set("tile_height", "64");
    node_set("overlap", "16");
    node_go();
    nino_value *list = node.out[0];
    CHECK(list->is_list && list->n_items == 6);
    static const int at[][2] = {
        { 0, 0 }, { 0, 48 }, { 0, 96 }, { 36, 0 }, { 36, 48 }, { 36, 96 }
    };
    for (int i = 0; i < 6; i++) {
        const nino_array *t = list->item[i]->u.image;
        CHECK(t->shape.dim[1] == 64 && t->shape.dim[2] == 64);
        CHECK(nino_array_f32(t)[0] == (float) (1e-5 * (at[i][0] * 160 + at[i][1])));
    }
    // what was cut is whole again
    nino_value *tiles = nino_value_ref(list);
    node_new("ImageMergeTileList");
    node_give("image_list", tiles);
    node_set("final_width", "160");
    node_set("final_height", "100");
    node_set("overlap", "16");
    node_go();
    const nino_array *whole = node.out[0]->u.image;
    CHECK(whole->shape.dim[1] == 100 && whole->shape.dim[2] == 160);
    for (int i = 0; i < 16000; i++)
        CHECK(fabs((double) nino_array_f32(whole)[i] - 1e-5 * i) < 1e-6);
    // a tile as large as the picture is the picture
    node_new("SplitImageToTileList");
    node_give("image", node_image(node_ramp(SHAPE(1, 64, 64, 3), 1e-5)));
    node_go();
    CHECK(node.out[0]->n_items == 1);
    // half a wave: of two tiles of 64 that share 48 columns, column 20 is nearer to the first
    node_new("ImageMergeTileList");
    list = nino_value_create_list(NINO_PORT_IMAGE);
    for (int i = 0; i < 2; i++) {
        nino_array *a = node_array(SHAPE(1, 64, 64, 1), NULL, 0);
        for (int k = 0; k < 64 * 64; k++)
            nino_array_f32(a)[k] = (float) i;
        CHECK(nino_value_append(list, node_image(a)));
    }
    node_give("image_list", list);
    node_set("final_width", "80");
    node_set("final_height", "64");
    node_set("overlap", "48");
    node_go();
    const double w0 = sin(M_PI * 20 / 63), w1 = sin(M_PI * 4 / 63);
    CHECK(fabs((double) nino_array_f32(node.out[0]->u.image)[32 * 80 + 20] - w1 / (w0 + w1)) <
          1e-5);
}

// ---- sizes -----------------------------------------------------------------------------------

static void resize(const char *type, const char *key, const char *value, int64_t w, int64_t h)
{
    node_new("ResizeImageMaskNode");
    node_give("input", node_image(node_ramp(SHAPE(1, 50, 75, 3), 1e-4)));
    node_set("resize_type", type);
    node_set("resize_type.width", "0");
    node_set("resize_type.height", "0");
    if (key)
        node_set(key, value);
    node_go();
    const nino_array *a = node.out[0]->u.image;
    if (a->shape.dim[2] != w || a->shape.dim[1] != h)
        fprintf(stderr, "%s %s: %lld x %lld\n", type, value, (long long) a->shape.dim[2],
                (long long) a->shape.dim[1]);
    CHECK(node.out[0]->type == NINO_PORT_IMAGE && a->shape.dim[2] == w && a->shape.dim[1] == h);
}

// Sizes by Python's round(), of 75 x 50.
static void check_resize(void)
{
    resize("scale dimensions", NULL, NULL, 75, 50);
    resize("scale dimensions", "resize_type.width", "20", 20, 13);
    resize("scale dimensions", "resize_type.height", "7", 10, 7);           // 10.5: to even
    resize("scale by multiplier", "resize_type.multiplier", "0.5", 38, 25); // 37.5
    resize("scale longer dimension", "resize_type.longer_size", "33", 33, 22);
    resize("scale shorter dimension", "resize_type.shorter_size", "33", 50, 33); // 49.5
    resize("scale width", "resize_type.width", "150", 150, 100);
    resize("scale height", "resize_type.height", "5", 8, 5); // 7.5
    resize("scale total pixels", "resize_type.megapixels", "0.01", 125, 84);
    resize("scale to multiple", "resize_type.multiple", "32", 64, 32);
    resize("scale to multiple", "resize_type.multiple", "1", 75, 50);
    resize("scale to multiple", "resize_type.multiple", "64", 75, 50); // nothing would be left
    // masks keep their type, and have the other's size
    node_new("ResizeImageMaskNode");
    node_give("input", node_mask(A(SHAPE(1, 1, 2), 0, 1)));
    node_set("resize_type", "match size");
    node_fails("value", "resize_type.match");
    node_give("resize_type.match", node_image(node_ramp(SHAPE(1, 4, 8, 3), 0)));
    node_set("scale_method", "nearest-exact");
    node_go();
    const nino_array *m = node.out[0]->u.mask;
    CHECK(node.out[0]->type == NINO_PORT_MASK && m->shape.rank == 3 && m->shape.dim[1] == 4 &&
          m->shape.dim[2] == 8);
    CHECK(nino_array_f32(m)[3] == 0 && nino_array_f32(m)[4] == 1);
}

static void edge(const char *class_type, const char *key, const char *size, int64_t w, int64_t h)
{
    node_new(class_type);
    node_give("images", node_image(node_ramp(SHAPE(2, 50, 75, 3), 1e-5)));
    node_set(key, size);
    node_go();
    const nino_array *a = node.out[0]->u.image;
    CHECK(a->shape.dim[0] == 2 && a->shape.dim[2] == w && a->shape.dim[1] == h);
}

static void check_edges(void)
{
    edge("ResizeImagesByLongerEdge", "longer_edge", "40", 40, 26); // 26.67, cut off
    edge("ResizeImagesByShorterEdge", "shorter_edge", "40", 60, 40);
    node_new("CenterCropImages");
    node_give("images", node_image(A(SHAPE(1, 1, 4, 1), .1f, .2f, .3f, 2)));
    node_set("width", "2");
    node_set("height", "5");
    node_go();
    CHECK(node.out[0]->u.image->shape.dim[1] == 1 && node.out[0]->u.image->shape.dim[2] == 2);
    CHECK(nino_array_f32(node.out[0]->u.image)[0] == 51 / 255.0f); // .2 * 255, cut off
}

static void check_tone(void)
{
    node_new("AdjustBrightness");
    node_give("images", node_image(A(SHAPE(1, 1, 1, 3), .25f, .5f, .75f)));
    node_set("factor", "1.5");
    node_go();
    CHECK(nino_array_f32(node.out[0]->u.image)[0] == .375f &&
          nino_array_f32(node.out[0]->u.image)[2] == 1);
    node_new("AdjustContrast");
    node_give("images", node_image(A(SHAPE(1, 1, 1, 3), 0, .5f, .75f)));
    node_set("factor", "1.5");
    node_go();
    const float *v = nino_array_f32(node.out[0]->u.image);
    CHECK(v[0] == 0 && v[1] == .5f && v[2] == .875f);
    node_new("NormalizeImages");
    node_give("images", node_image(A(SHAPE(1, 1, 1, 3), 0, .5f, .75f)));
    node_set("std", "0.25");
    node_go();
    v = nino_array_f32(node.out[0]->u.image);
    CHECK(v[0] == -2 && v[1] == 0 && v[2] == 1);
}

// ---- boxes -----------------------------------------------------------------------------------

static void check_boxes(void)
{
    node_new("PrimitiveBoundingBox");
    node_set("x", "2");
    node_set("y", "1");
    node_set("width", "3");
    node_set("height", "9");
    node_go();
    nino_value *box = nino_value_ref(node.out[0]);
    CHECK_STR(box->u.string, "{\"x\": 2, \"y\": 1, \"width\": 3, \"height\": 9}");
    node_new("ImageCropV2");
    node_give("image", node_image(node_ramp(SHAPE(1, 4, 4, 1), 1)));
    node_give("crop_region", box);
    node_go(); // what is outside is missing
    const nino_array *a = node.out[0]->u.image;
    CHECK(a->shape.dim[1] == 3 && a->shape.dim[2] == 2 && nino_array_f32(a)[0] == 6);
    node_give("crop_region", node_value(NINO_PORT_BOUNDING_BOX))->u.string =
        strdup("{\"x\": 99, \"y\": 99, \"width\": 1, \"height\": 1}");
    node_go(); // the last pixel
    CHECK(nino_array_f32(node.out[0]->u.image)[0] == 15);
    node_give("crop_region", node_value(NINO_PORT_BOUNDING_BOX))->u.string = strdup("{\"x\": 1}");
    node_fails("value", "crop_region");
}

// A subject of 8x8 at (4, 2) in 32x16, cut to a square with a margin of a half.
static void check_subject(void)
{
    nino_array *mask = node_array(SHAPE(1, 16, 32), NULL, 0);
    nino_array *image = node_array(SHAPE(1, 16, 32, 3), NULL, 0);
    for (int y = 2; y < 10; y++)
        for (int x = 4; x < 12; x++)
            nino_array_f32(mask)[y * 32 + x] = 1;
    for (int i = 0; i < 16 * 32 * 3; i++)
        nino_array_f32(image)[i] = .5f;
    node_new("ImageCropToMask");
    node_give("images", node_image(image));
    node_give("masks", node_mask(mask));
    node_set("width", "64");
    node_set("height", "64");
    node_set("pad_factor", "1.5");
    node_set("background", "#ff0000");
    node_go();
    const nino_array *a = node.out[0]->u.image;
    CHECK(a->shape.dim[1] == 64 && a->shape.dim[2] == 64 && a->shape.dim[3] == 3);
    const float *v = nino_array_f32(a);
    CHECK(v[0] == 1 && v[1] == 0 && v[2] == 0);                     // the background
    CHECK(fabsf(v[(32 * 64 + 32) * 3 + 1] - 127 / 255.0f) < 1e-6f); // the subject, 8 bits
    node_set("background", "#12345g");
    nino_error e = { 0 };
    CHECK(node.run.def->ops->check(NULL, node.params, &e) && !strcmp(e.where, "background"));
}

// ---- latents ---------------------------------------------------------------------------------

static void check_slices(void)
{
    node_new("LatentCutToBatch");
    node_give("samples", latent(node_ramp(SHAPE(1, 5, 1, 2, 1), 1), NULL));
    node_set("slice_size", "2");
    node_go(); // frames 0 1, 2 3; the fifth is dropped
    const nino_array *a = node.out[0]->u.latent.samples;
    CHECK(a->shape.rank == 5 && a->shape.dim[0] == 2 && a->shape.dim[1] == 2);
    CHECK(nino_array_f32(a)[4] == 4 && nino_array_f32(a)[7] == 7);
    node_new("LatentCutToBatch");
    node_give("samples", latent(node_ramp(SHAPE(1, 2, 4, 1), 1), NULL));
    node_set("dim", "x");
    node_set("slice_size", "2");
    node_go();
    a = node.out[0]->u.latent.samples;
    const float want[] = { 0, 1, 4, 5, 2, 3, 6, 7 };
    CHECK(a->shape.dim[0] == 2 && a->shape.dim[2] == 2 && !memcmp(a->data, want, sizeof(want)));
    node_set("dim", "t"); // no frames: as it is
    node_go();
    CHECK(node.out[0] == node.in[0]);
}

static void check_replace(void)
{
    node_new("ReplaceVideoLatentFrames");
    node_give("destination", latent(node_ramp(SHAPE(1, 4, 1, 1, 1), 1), NULL));
    node_give("source", latent(A(SHAPE(1, 2, 1, 1, 1), 8, 9), NULL));
    node_set("index", "-2");
    node_go();
    const float want[] = { 0, 1, 8, 9 };
    CHECK(!memcmp(node.out[0]->u.latent.samples->data, want, sizeof(want)));
    node_set("index", "3"); // does not fit: unchanged
    node_go();
    CHECK(node.out[0] == node.in[0]);
    node_give("source", latent(A(SHAPE(1, 1, 1, 2, 1), 8, 9), NULL));
    node_fails("shape", "source");
}

// ---- sigmas, values --------------------------------------------------------------------------

static void sigmas(const char *text, int n, const float *want)
{
    node_new("ManualSigmas");
    node_set("sigmas", text);
    node_go();
    CHECK(node.out[0]->u.sigmas.n == n);
    CHECK(!n || !memcmp(node.out[0]->u.sigmas.v, want, (size_t) n * sizeof(float)));
}

static void check_sigmas(void)
{
    sigmas("1., 0.909, .5", 3, (const float[]){ 1, .909f, .5f });
    sigmas("1e-3", 2, (const float[]){ 1, -3 });
    sigmas("[+2;-.5]x", 2, (const float[]){ 2, -.5f });
    sigmas("none", 0, NULL);
    node_new("ManualSigmas");
    node_set("sigmas", "1..5");
    node_fails("value", "sigmas");
    // exp(s)/(exp(s) + 1/t - 1) with s of 4096 cells, by Python
    node_new("LTXVScheduler");
    node_set("steps", "4");
    node_set("stretch", "false");
    node_go();
    const float *v = node.out[0]->u.sigmas.v;
    for (int i = 0; i < 4; i++) {
        const double t = 1 - i / 4.0;
        CHECK(fabs((double) v[i] - exp(2.05) / (exp(2.05) + 1 / t - 1)) < 1e-6);
    }
    CHECK(v[4] == 0);
    node_set("stretch", "true");
    node_go();
    CHECK(fabsf(node.out[0]->u.sigmas.v[3] - .1f) < 1e-6f && node.out[0]->u.sigmas.v[0] == 1);
}

static void text_of(const char *class_type, const char *key, const char *value, const char *text,
                    const char *want)
{
    node_new(class_type);
    node_set("texts", text);
    if (key)
        node_set(key, value);
    node_go();
    CHECK_STR(node.out[0]->u.string, want);
}

static void check_values(void)
{
    text_of("AddTextPrefix", "prefix", "a ", "cat", "a cat");
    text_of("AddTextSuffix", "suffix", "!", "cat", "cat!");
    text_of("TruncateText", "max_length", "2", "äöü", "äö");
    text_of("TextToLowercase", NULL, NULL, "ÄB", "äb");
    text_of("TextToUppercase", NULL, NULL, "straße", "STRASSE");
    text_of("StripWhitespace", NULL, NULL, " \n a b\t", "a b");
    text_of("StripWhitespace", NULL, NULL, "  ", "");
    node_new("SeedNode");
    node_set("seed", "9223372036854775807");
    node_go();
    CHECK(node.out[0]->u.i == INT64_MAX);
    node_new("CustomCombo");
    node_set("choice", "blue");
    node_set("index", "2");
    node_go();
    CHECK_STR(node.out[0]->u.string, "blue");
    CHECK(node.out[1]->u.i == 2);
    static const char *const passes[][2] = {
        { "SelectModelDevice", "model" }, { "SelectCLIPDevice", "clip" },
        { "SelectVAEDevice", "vae" },     { "wanBlockSwap", "model" },
        { "FluxKVCache", "model" },       { "ModelAttentionBackend", "model" },
        { "TorchCompileModel", "model" }, { "TomePatchModel", "model" },
    };
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        node_new(passes[i][0]);
        node_give(passes[i][1], node_value(nino_port_find(node.run.def, passes[i][1])->type));
        node_go();
        CHECK(node.out[0] == node.in[0]);
    }
    node_new("MergeImageLists");
    node_give("images", node_image(A(SHAPE(1, 1, 1, 1), 1)));
    node_go();
    CHECK(node.out[0]->is_list && node.out[0]->n_items == 1);
    node_new("ImageCompare");
    node_go();
}

// ---- logic -----------------------------------------------------------------------------------

static bool truth(nino_value *v)
{
    node_new("ComfyNotNode");
    node_give("value", v);
    node_go();
    return !node.out[0]->u.b;
}

static nino_value *text_value(nino_port_type type, const char *s)
{
    nino_value *v = node_value(type);
    v->u.string = strdup(s);
    return v;
}

static nino_value *int_value(int64_t i)
{
    nino_value *v = node_value(NINO_PORT_INT);
    v->u.i = i;
    return v;
}

static void check_logic(void)
{
    CHECK(!truth(int_value(0)) && truth(int_value(-1)));
    CHECK(!truth(node_value(NINO_PORT_FLOAT)) && !truth(node_value(NINO_PORT_BOOLEAN)));
    CHECK(!truth(text_value(NINO_PORT_STRING, "")) && truth(text_value(NINO_PORT_STRING, "False")));
    CHECK(!truth(text_value(NINO_PORT_DICT, "{ }")) && truth(text_value(NINO_PORT_ARRAY, "[0]")));
    CHECK(truth(latent(A(SHAPE(1, 1, 1, 1), 0), NULL))); // an object
    node_new("ComfyNotNode");
    node_give("value", node_image(A(SHAPE(1, 1, 1, 1), 0)));
    node_fails("value", "value");
    static const struct {
        int a, b;
        bool both, one;
    } cases[] = { { 0, 0, false, false }, { 1, 0, false, true }, { 2, 3, true, true } };
    for (int i = 0; i < 3; i++)
        for (int is_or = 0; is_or < 2; is_or++) {
            node_new(is_or ? "ComfyOrNode" : "ComfyAndNode");
            node_give("values.value0", int_value(cases[i].a));
            node_give("values.value9", int_value(cases[i].b));
            node_go();
            CHECK(node.out[0]->u.b == (is_or ? cases[i].one : cases[i].both));
        }
    node_new("CreateList");
    node_give("inputs.input0", int_value(1));
    nino_value *list = nino_value_create_list(NINO_PORT_INT);
    CHECK(nino_value_append(list, int_value(2)) && nino_value_append(list, int_value(3)));
    node_give("inputs.input1", list);
    node_go();
    CHECK(node.out[0]->n_items == 3 && node.out[0]->item[2]->u.i == 3);
}

int main(void)
{
    node_open();
    check_batch_images();
    check_batch_masks();
    check_batch_latents();
    check_tiles();
    check_resize();
    check_edges();
    check_tone();
    check_boxes();
    check_subject();
    check_slices();
    check_replace();
    check_sigmas();
    check_values();
    check_logic();
    node_close();
    return 0;
}
