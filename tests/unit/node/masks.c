// Mask nodes, and images with transparency: values worked out by hand.
#include "tests/node.h"

static void mask(const char *port, nino_array *a) { node_give(port, node_mask(a)); }
static void image(const char *port, nino_array *a) { node_give(port, node_image(a)); }

static void plain(void)
{
    node_new("SolidMask");
    node_set("value", "0.3");
    node_set("width", "2");
    node_set("height", "1");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 2), 0, 0.3f, 0.3f);
    node_new("InvertMask");
    mask("mask", A(SHAPE(2, 1, 1), 0.25f, 2));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 1), 0, 0.75f, -1);
    node_new("ThresholdMask");
    mask("mask", A(SHAPE(1, 1, 3), 0.3f, 0.30001f, 0.29f));
    node_set("value", "0.3"); // compared as floats: equal is not above
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 0, 0, 1, 0);
}

static void crop(void)
{
    node_new("CropMask");
    mask("mask", node_ramp(SHAPE(2, 2, 3), 1));
    node_set("x", "1");
    node_set("y", "1");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 2), 0, 4, 5, 10, 11);
    node_set("x", "3");
    node_fails("range", "x");
    node_set("x", "0");
    node_set("y", "2");
    node_fails("range", "y");
}

static void combine(void)
{
    // of 0.6, 0, 0.5 with 0.5, 0.4, 1; for the last three that is 1, 0, 0 with 0, 0, 1
    static const struct {
        const char *operation;
        float want[3];
    } table[] = {
        { "multiply", { 0.3f, 0, 0.5f } },
        { "add", { 1, 0.4f, 1 } },
        { "subtract", { 0.1f, 0, 0 } },
        { "and", { 0, 0, 0 } },
        { "or", { 1, 0, 1 } },
        { "xor", { 1, 0, 1 } },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const float *w = table[i].want;
        node_new("MaskComposite");
        mask("destination", A(SHAPE(1, 1, 4), 0.5f, 0.6f, 0, 0.5f));
        mask("source", A(SHAPE(1, 2, 4), 0.5f, 0.4f, 1, 1, 9, 9, 9, 9));
        node_set("x", "1");
        node_set("operation", table[i].operation);
        node_go();
        EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 1e-6f, 0.5f, w[0], w[1], w[2]);
    }
    node_set("x", "4"); // beyond: nothing happens
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 0.5f, 0.6f, 0, 0.5f);
    mask("source", node_ramp(SHAPE(2, 1, 1), 1));
    node_fails("shape", "source");
}

// From the far edge ComfyUI's first line is the near edge's, its second one the last.
static void feather(void)
{
    node_new("FeatherMask");
    mask("mask", A(SHAPE(1, 1, 4), 1, 1, 1, 1));
    node_set("left", "2");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 0.5f, 1, 1, 1);
    node_set("left", "0");
    node_set("right", "2");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 0.5f, 1, 1, 1);
    node_set("right", "4");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 0.25f, 1, 0.75f, 0.5f);
    node_set("right", "0");
    node_set("top", "9"); // at most as many lines as there are
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 1, 1, 1, 1);
}

static void grow(void)
{
    node_new("GrowMask");
    mask("mask", A(SHAPE(1, 3, 4), 0, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 0, 0));
    node_set("expand", "1");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 3, 4), 0, 0, 0.5f, 0, 0, 0.5f, 0.5f, 0.5f, 0, 0, 0.5f, 0, 0);
    node_set("tapered_corners", "false");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 3, 4), 0, 0.5f, 0.5f, 0.5f, 0, 0.5f, 0.5f, 0.5f, 0, 0.5f,
           0.5f, 0.5f, 0);
    node_set("expand", "16384"); // ends when nothing changes any more
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 3, 4), 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
           0.5f, 0.5f, 0.5f, 0.5f);
    node_set("expand", "-1");
    mask("mask", A(SHAPE(2, 1, 3), 1, 1, 0, 1, 1, 1)); // the edge does not eat into it
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 3), 0, 1, 0, 0, 1, 1, 1);
}

static void convert(void)
{
    node_new("MaskToImage");
    mask("mask", A(SHAPE(1, 1, 2), 0.5f, 1));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 0, 0.5f, 0.5f, 0.5f, 1, 1, 1);
    node_new("ImageToMask");
    image("image", node_ramp(SHAPE(2, 1, 1, 3), 1));
    node_set("channel", "blue");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 1), 0, 2, 5);
    node_set("channel", "alpha");
    node_fails("shape", "channel");
    node_new("ImageColorToMask");
    image("image", A(SHAPE(1, 1, 3, 3), 1, 0, 2.0f / 255, 1, 0, 2.4f / 255, 2, -1, 2.6f / 255));
    node_set("color", "16711682"); // ff0002, and what rounds to it
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 0, 1, 1, 0);
}

static void alpha(void)
{
    node_new("SplitImageWithAlpha");
    image("image", A(SHAPE(1, 1, 2, 4), 1, 2, 3, 0.25f, 4, 5, 6, 1));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 0, 1, 2, 3, 4, 5, 6);
    EXPECT(node_out_mask(1), SHAPE(1, 1, 2), 0, 0.75f, 0);
    image("image", A(SHAPE(1, 1, 1, 3), 1, 2, 3));
    node_go();
    EXPECT(node_out_mask(1), SHAPE(1, 1, 1), 0, 0);
    node_new("JoinImageWithAlpha");
    image("image", A(SHAPE(2, 1, 1, 3), 1, 2, 3, 4, 5, 6));
    mask("alpha", A(SHAPE(1, 1, 2), 0, 0.5f)); // scaled: 0.25; the shorter batch counts
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 4), 1e-6f, 1, 2, 3, 0.75f);
}

static void paste(void)
{
    node_new("ImageCompositeMasked");
    image("destination", node_array(SHAPE(1, 2, 2, 3), NULL, 0));
    image("source", A(SHAPE(1, 1, 2, 4), 1, 1, 1, 0, 1, 1, 1, 0)); // its alpha is left out
    node_set("x", "1");
    node_set("y", "1");
    mask("mask", A(SHAPE(1, 1, 2), 0.5f, 0.5f));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 3), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5f, 0.5f, 0.5f);
    image("destination", node_array(SHAPE(1, 1, 1, 4), NULL, 0));
    image("source", A(SHAPE(1, 1, 1, 3), 0.5f, 0.25f, 1)); // opaque
    node_set("x", "0");
    node_set("y", "0");
    node_give("mask", node_mask(A(SHAPE(1, 1, 1), 1)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 4), 0, 0.5f, 0.25f, 1, 1);
}

// Every operator on one pixel: s = 0.8 at alpha 0.5, d = 0.4 at alpha 0.75; results from the
// formulas with premultiplied colours 0.4 and 0.3.
static void porter_duff(void)
{
    static const struct {
        const char *mode;
        float color, alpha;
    } table[] = {
        { "ADD", 0.7f, 1 },
        { "CLEAR", 0, 0 },
        { "DARKEN", (0.1f + 0.15f + 0.3f) / 0.875f, 0.875f },
        { "DST", 0.4f, 0.75f },
        { "DST_ATOP", (0.15f + 0.1f) / 0.5f, 0.5f },
        { "DST_IN", 0.15f / 0.375f, 0.375f },
        { "DST_OUT", 0.4f, 0.375f },
        { "DST_OVER", (0.3f + 0.1f) / 0.875f, 0.875f },
        { "LIGHTEN", (0.1f + 0.15f + 0.4f) / 0.875f, 0.875f },
        { "MULTIPLY", 0.12f / 0.375f, 0.375f },
        { "OVERLAY", 0.24f / 0.875f, 0.875f },
        { "SCREEN", 0.58f / 0.875f, 0.875f },
        { "SRC", 0.8f, 0.5f },
        { "SRC_ATOP", (0.3f + 0.15f) / 0.75f, 0.75f },
        { "SRC_IN", 0.8f, 0.375f },
        { "SRC_OUT", 0.8f, 0.125f },
        { "SRC_OVER", 0.55f / 0.875f, 0.875f },
        { "XOR", (0.1f + 0.15f) / 0.5f, 0.5f },
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        node_new("PorterDuffImageComposite");
        image("source", A(SHAPE(2, 1, 1, 1), 0.8f, 0));
        mask("source_alpha", A(SHAPE(1, 1, 1), 0.5f));
        image("destination", A(SHAPE(1, 1, 1, 1), 0.4f));
        mask("destination_alpha", A(SHAPE(1, 1, 1), 0.25f));
        node_set("mode", table[i].mode);
        node_go();
        EXPECT(node_out_image(0), SHAPE(1, 1, 1, 1), 1e-6f, table[i].color);
        EXPECT(node_out_mask(1), SHAPE(1, 1, 1), 1e-6f, 1 - table[i].alpha);
    }
    image("source", A(SHAPE(1, 1, 1, 3), 1, 1, 1));
    node_fails("shape", "source");
    // all are scaled to the destination
    image("source", A(SHAPE(1, 2, 2, 1), 1, 1, 1, 1));
    mask("source_alpha", node_array(SHAPE(1, 4, 4), NULL, 0));
    node_set("mode", "SRC");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 1, 1), 1e-6f, 1);
}

int main(void)
{
    node_open();
    plain();
    crop();
    combine();
    feather();
    grow();
    convert();
    alpha();
    paste();
    porter_duff();
    node_close();
    return 0;
}
