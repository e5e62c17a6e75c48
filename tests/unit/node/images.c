// Image nodes: values worked out by hand from ComfyUI's definitions.
#include "tests/node.h"

static void image(const char *port, nino_array *a) { node_give(port, node_image(a)); }

static void flat(void)
{
    node_new("EmptyImage");
    node_set("width", "2");
    node_set("height", "1");
    node_set("batch_size", "2");
    node_set("color", "16744192"); // ff7f00
    node_go();
    EXPECT(node_out_image(0), SHAPE(2, 1, 2, 3), 1e-7f, 1, 127.0f / 255, 0, 1, 127.0f / 255, 0, 1,
           127.0f / 255, 0, 1, 127.0f / 255, 0);
    node_set("batch_size", "4096");
    node_set("width", "16384");
    node_set("height", "16384");
    node_fails("limit", "");
    node_new("ImageInvert");
    image("image", A(SHAPE(1, 1, 1, 4), 0, 0.25f, 1, 1));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 4), 0, 1, 0.75f, 0, 0);
}

static void cut_and_turn(void)
{
    node_new("ImageCrop");
    image("image", node_ramp(SHAPE(1, 2, 3, 1), 1));
    node_set("x", "1");
    node_set("height", "1");
    node_go(); // no more than there is
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 1), 0, 1, 2);
    node_set("x", "99");
    node_set("y", "99");
    node_go(); // at least the last pixel
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 1), 0, 5);
    node_new("ImageFlip");
    image("image", node_ramp(SHAPE(1, 2, 2, 1), 1));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 1), 0, 2, 3, 0, 1);
    node_new("ImageRotate");
    image("image", node_ramp(SHAPE(1, 1, 3, 1), 1));
    node_set("rotation", "90 degrees");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 3, 1, 1), 0, 0, 1, 2);
    node_set("rotation", "270 degrees");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 3, 1, 1), 0, 2, 1, 0);
}

static void batches(void)
{
    node_new("ImageFromBatch");
    image("image", node_ramp(SHAPE(3, 1, 1, 1), 1));
    node_set("batch_index", "1");
    node_set("length", "9");
    node_go();
    EXPECT(node_out_image(0), SHAPE(2, 1, 1, 1), 0, 1, 2);
    node_set("batch_index", "9");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 1), 0, 2);
    node_new("RepeatImageBatch");
    image("image", node_ramp(SHAPE(2, 1, 1, 1), 1));
    node_set("amount", "2");
    node_go();
    EXPECT(node_out_image(0), SHAPE(4, 1, 1, 1), 0, 0, 1, 0, 1);
}

static void outpaint(void)
{
    node_new("ImagePadForOutpaint");
    image("image", A(SHAPE(1, 1, 1, 3), 0.1f, 0.2f, 0.3f));
    node_set("left", "1");
    node_set("bottom", "1");
    node_go(); // too small for the fade
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 3), 0, 0.5f, 0.5f, 0.5f, 0.1f, 0.2f, 0.3f, 0.5f, 0.5f,
           0.5f, 0.5f, 0.5f, 0.5f);
    EXPECT(node_out_mask(1), SHAPE(1, 2, 2), 0, 1, 0, 1, 1);
    // A fade of 2 from the left: distances 0, 1, 2 ... give 1, 1/4, 0. From the right it would
    // count from the outside.
    image("image", node_array(SHAPE(1, 5, 5, 1), NULL, 0));
    node_set("bottom", "0");
    node_set("feathering", "2");
    node_go();
    CHECK(node_out_mask(1)->shape.dim[1] == 5 && node_out_mask(1)->shape.dim[2] == 6);
    const float *m = nino_array_f32(node_out_mask(1));
    CHECK(m[0] == 1 && m[1] == 1 && m[2] == 0.25f && m[3] == 0 && m[5] == 0);
    node_set("left", "0");
    node_set("right", "1");
    node_go();
    m = nino_array_f32(node_out_mask(1));
    CHECK(m[0] == 0 && m[3] == 0 && m[4] == 0.25f && m[5] == 1);
}

static void size_is(int64_t h, int64_t w)
{
    const nino_shape *s = &node_out_image(0)->shape;
    if (s->dim[1] != h || s->dim[2] != w)
        fprintf(stderr, "%lldx%lld\n", (long long) s->dim[2], (long long) s->dim[1]);
    CHECK(s->dim[1] == h && s->dim[2] == w);
}

static void fit(void)
{
    node_new("ImageScaleToTotalPixels");
    image("image", node_array(SHAPE(1, 30, 50, 3), NULL, 0));
    node_set("megapixels", "0.01"); // 10485 pixels: 132.19 x 79.3
    node_go();
    size_is(79, 132);
    node_set("resolution_steps", "16"); // 8.26 and 4.96 of them
    node_go();
    size_is(80, 128);
    node_set("resolution_steps", "256"); // not none
    node_go();
    size_is(256, 256);
    node_new("ImageScaleToMaxDimension");
    image("image", node_array(SHAPE(1, 30, 50, 3), NULL, 0));
    node_set("largest_size", "21"); // 12.6
    node_go();
    size_is(13, 21);
    image("image", node_array(SHAPE(1, 50, 30, 3), NULL, 0));
    node_go();
    size_is(21, 13);
    image("image", node_array(SHAPE(1, 5, 5, 3), NULL, 0));
    node_go();
    size_is(21, 21);
    node_set("largest_size", "0");
    node_fails("range", "");
    node_new("FluxKontextImageScale");
    image("image", node_array(SHAPE(1, 9, 16, 3), NULL, 0)); // 1.778: 1392/752 = 1.851, 1328/800
    node_go();                                               // = 1.66
    size_is(752, 1392);
    node_new("ResizeAndPadImage");
    image("image", A(SHAPE(1, 1, 2, 1), 0.25f, 0.75f));
    node_set("target_width", "3");
    node_set("target_height", "4");
    node_set("interpolation", "nearest-exact");
    node_go(); // 3 wide and 1 high: row 1 of 4
    EXPECT(node_out_image(0), SHAPE(1, 4, 3, 1), 0, 1, 1, 1, 0.25f, 0.75f, 0.75f, 1, 1, 1, 1, 1, 1);
    node_set("padding_color", "black");
    node_go();
    CHECK(nino_array_f32(node_out_image(0))[0] == 0);
}

static void stitch(void)
{
    node_new("ImageStitch");
    image("image1", node_array(SHAPE(1, 2, 1, 3), NULL, 0));
    node_go(); // alone: as it is
    CHECK(node.out[0] == node.in[0]);
    image("image2", A(SHAPE(2, 1, 1, 4), 1, 1, 1, 0.5f, 1, 1, 1, 0.5f));
    node_set("match_image_size", "false");
    node_go(); // one row short: black below would be, half of 1 above is 0; white border, opaque
    EXPECT(node_out_image(0), SHAPE(2, 2, 2, 4), 0, 0, 0, 0, 1, 1, 1, 1, 0.5f, 0, 0, 0, 1, 1, 1, 1,
           1, 0, 0, 0, 1, 1, 1, 1, 0.5f, 0, 0, 0, 1, 1, 1, 1, 1);
    node_new("ImageStitch");
    image("image1", A(SHAPE(1, 1, 1, 3), 0, 0, 0));
    image("image2", A(SHAPE(1, 2, 2, 3), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    node_set("direction", "left");
    node_set("spacing_width", "1"); // made even
    node_set("spacing_color", "red");
    node_go(); // the second one is scaled to one row
    EXPECT(node_out_image(0), SHAPE(1, 1, 4, 3), 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0);
    node_set("direction", "down");
    node_set("spacing_width", "0");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 1, 3), 0, 0, 0, 0, 1, 1, 1);
}

static void blend(void)
{
    static const struct {
        const char *mode;
        float want; // of 0.4 and 0.6 at factor 1
    } table[] = {
        { "normal", 0.6f },  { "multiply", 0.24f },
        { "screen", 0.76f }, { "overlay", 0.48f },
        { "difference", 0 }, { "soft_light", 0.4f + 0.2f * (0.63245553f - 0.4f) },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        node_new("ImageBlend");
        image("image1", A(SHAPE(1, 1, 1, 1), 0.4f));
        image("image2", A(SHAPE(1, 1, 1, 1), 0.6f));
        node_set("blend_factor", "1");
        node_set("blend_mode", table[i].mode);
        node_go();
        EXPECT(node_out_image(0), SHAPE(1, 1, 1, 1), 1e-6f, table[i].want);
    }
    node_set("blend_factor", "0.5");
    node_set("blend_mode", "normal");
    image("image2", A(SHAPE(2, 2, 2, 1), 1, 1, 1, 1, 0, 0, 0, 0)); // scaled; two go with one
    node_go();
    EXPECT(node_out_image(0), SHAPE(2, 1, 1, 1), 1e-6f, 0.7f, 0.2f);
    image("image1", node_ramp(SHAPE(3, 1, 1, 1), 0.1));
    node_fails("shape", "image2");
    image("image2", A(SHAPE(1, 1, 1, 3), 1, 1, 1)); // channels of the first
    node_go();
    EXPECT(node_out_image(0), SHAPE(3, 1, 1, 1), 1e-6f, 0.5f, 0.55f, 0.6f);
}

// Radius 1, sigma 1: weights exp(-1/2), 1, exp(-1/2) in both directions; edges are mirrored.
static void blur(void)
{
    const float e = expf(-0.5f), side = e / (1 + 2 * e), mid = 1 / (1 + 2 * e);
    node_new("ImageBlur");
    image("image", A(SHAPE(1, 3, 3, 1), 0, 0, 0, 0, 1, 0, 0, 0, 0));
    node_go(); // an edge pixel sees the middle twice
    EXPECT(node_out_image(0), SHAPE(1, 3, 3, 1), 1e-6f, 4 * side * side, 2 * side * mid,
           4 * side * side, 2 * side * mid, mid * mid, 2 * side * mid, 4 * side * side,
           2 * side * mid, 4 * side * side);
    node_set("blur_radius", "3");
    node_fails("shape", "image"); // nothing left to mirror
    node_new("ImageSharpen");
    image("image", A(SHAPE(1, 3, 3, 1), 0.4f, 0.4f, 0.4f, 0.4f, 0.5f, 0.4f, 0.4f, 0.4f, 0.4f));
    node_set("alpha", "0.1"); // once the difference
    node_go();
    const float blurred = 0.4f + 0.1f * mid * mid;
    CHECK(fabsf(nino_array_f32(node_out_image(0))[4] - (2 * 0.5f - blurred)) < 1e-6f);
    node_set("alpha", "5"); // and never out of range
    node_go();
    CHECK(nino_array_f32(node_out_image(0))[4] == 1);
}

// torch.manual_seed(0); torch.randn(4) starts with these.
static void noise(void)
{
    node_new("ImageAddNoise");
    image("image", A(SHAPE(1, 1, 1, 4), 0.5f, 0.5f, 0.5f, 1));
    node_set("strength", "0.1");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 4), 1e-5f, 0.65410f, 0.47066f, 0.28212f, 1);
}

// A white square on black: its outline, one pixel wide, and nothing else.
static void edges(void)
{
    node_new("Canny");
    nino_array *a = node_array(SHAPE(2, 16, 16, 3), NULL, 0);
    for (int y = 4; y < 12; y++)
        for (int x = 4; x < 12; x++)
            for (int k = 0; k < 3; k++)
                nino_array_f32(a)[(y * 16 + x) * 3 + k] = 1;
    image("image", a);
    node_go();
    const float *v = nino_array_f32(node_out_image(0));
    CHECK(node_out_image(0)->shape.dim[3] == 3);
    int n = 0;
    for (int i = 0; i < 16 * 16; i++) {
        const int y = i / 16, x = i % 16;
        CHECK(v[i * 3] == v[i * 3 + 1] && (v[i * 3] == 0 || v[i * 3] == 1));
        n += v[i * 3] == 1;
        if (v[i * 3] == 1) // within a pixel of the border
            CHECK(y >= 3 && y <= 12 && x >= 3 && x <= 12 &&
                  (y <= 4 || y >= 11 || x <= 4 || x >= 11));
    }
    CHECK(n > 0);
    for (int i = 16 * 16 * 3; i < 2 * 16 * 16 * 3; i++)
        CHECK(v[i] == 0); // the black one has none
    node_set("low_threshold", "0.9");
    node_fails("range", "low_threshold");
    image("image", node_array(SHAPE(1, 2, 8, 3), NULL, 0));
    node_set("low_threshold", "0.1");
    node_fails("shape", "image");
}

// A weak edge counts only where it touches a strong one: a step of 1 that fades to 0.2 downwards,
// and the same weak step alone. Column 7 is half of the step, or the ridge would lie between two.
static void hysteresis(void)
{
    node_new("Canny");
    nino_array *a = node_array(SHAPE(2, 24, 16, 3), NULL, 0);
    for (int y = 0; y < 24; y++)
        for (int x = 7; x < 16; x++)
            for (int k = 0; k < 3; k++) {
                const float fade = y < 8 ? 1 : y < 16 ? 1 - 0.1f * (float) (y - 7) : 0.2f;
                const float part = x == 7 ? 0.5f : 1;
                nino_array_f32(a)[(y * 16 + x) * 3 + k] = part * fade;
                nino_array_f32(a)[((24 + y) * 16 + x) * 3 + k] = part * 0.2f;
            }
    image("image", a);
    node_set("low_threshold", "0.2");
    node_go();
    const float *v = nino_array_f32(node_out_image(0));
    int n[2] = { 0, 0 };
    for (int i = 0; i < 16; i++) {
        n[0] += v[(20 * 16 + i) * 3] == 1;
        n[1] += v[((24 + 20) * 16 + i) * 3] == 1;
    }
    CHECK(n[0] == 1 && n[1] == 0);
}

int main(void)
{
    node_open();
    flat();
    cut_and_turn();
    batches();
    outpaint();
    fit();
    stitch();
    blend();
    blur();
    noise();
    edges();
    hysteresis();
    node_close();
    return 0;
}
