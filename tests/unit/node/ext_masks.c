// Masks of extensions. Blurs against PIL and torchvision's formula, the rest worked out by hand.
#include "tests/unit/node/ext.h"

static void grow(void)
{
    // PIL's GaussianBlur of 8-bit greys: (4,3) 255, (5,3) 200, (0,0) 255 of 9x7
    static const struct {
        double radius;
        uint8_t want[63];
    } blurred[] = {
        { 1.5, { 57, 41, 21, 9,  6, 5, 3, 1,  0,  40, 30, 18, 13, 12, 12, 8, 4, 1, 19, 16, 14,
                 18, 22, 22, 15, 7, 2, 6, 7,  11, 19, 26, 26, 18, 8,  2,  1, 3, 8, 16, 22, 22,
                 15, 7,  2,  0,  1, 4, 9, 12, 12, 8,  4,  1,  0,  0,  1,  4, 5, 5, 3,  1,  0 } },
        { 0.7, { 160, 39, 5,  0, 0, 0, 0, 0, 0, 38, 9,   0,   1,  3, 3, 0, 0, 0, 3, 1,  0,
                 9,   34, 29, 6, 0, 0, 0, 0, 3, 29, 119, 104, 24, 3, 0, 0, 0, 0, 9, 34, 29,
                 6,   0,  0,  0, 0, 0, 1, 3, 3, 0,  0,   0,   0,  0, 0, 0, 0, 0, 0, 0,  0 } },
        { 4.0,
          { 40, 36, 32, 27, 23, 19, 15, 11, 9,  36, 33, 29, 25, 21, 17, 14, 10, 9,  32, 29, 26,
            22, 19, 16, 13, 10, 9,  27, 25, 22, 19, 17, 14, 11, 9,  8,  22, 20, 19, 17, 14, 12,
            10, 9,  8,  18, 17, 16, 14, 12, 11, 9,  8,  8,  15, 14, 13, 12, 11, 10, 8,  8,  7 } }
    };
    for (size_t k = 0; k < sizeof(blurred) / sizeof(blurred[0]); k++) {
        nino_array *m = node_array(SHAPE(1, 7, 9), NULL, 0);
        nino_array_f32(m)[31] = nino_array_f32(m)[0] = 1;
        nino_array_f32(m)[32] = 200.0f / 255;
        node_new("GrowMaskWithBlur");
        char radius[16];
        snprintf(radius, sizeof(radius), "%g", blurred[k].radius);
        node_set("blur_radius", radius);
        node_give("mask", node_mask(m));
        node_go();
        for (int i = 0; i < 63; i++)
            CHECK(rintf(nino_array_f32(node_out_mask(0))[i] * 255) == blurred[k].want[i]);
    }
    node_new("GrowMaskWithBlur"); // a cross, then a square
    ext_set("expand=1");
    node_give("mask", node_mask(A(SHAPE(1, 3, 3), 0, 0, 0, 0, 0.5f, 0, 0, 0, 0)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 3, 3), 0, 0, 0.5f, 0, 0.5f, 0.5f, 0.5f, 0, 0.5f, 0);
    EXPECT(node_out_mask(1), SHAPE(1, 3, 3), 0, 1, 0.5f, 1, 0.5f, 0.5f, 0.5f, 1, 0.5f, 1);
    ext_set("tapered_corners=false|expand=-1|flip_input=true");
    node_go(); // 1 - m is 0.5 in the middle: the square of minima
    EXPECT(node_out_mask(0), SHAPE(1, 3, 3), 0, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
           0.5f);
    node_new("GrowMaskWithBlur"); // the second frame grows by 1 more
    ext_set("expand=1|incremental_expandrate=1|tapered_corners=true");
    node_give("mask", node_mask(A(SHAPE(2, 1, 5), 1, 0, 0, 0, 0, 1, 0, 0, 0, 0)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 5), 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0);
    node_new("GrowMaskWithBlur");
    ext_set("lerp_alpha=0.25");
    node_give("mask", node_mask(A(SHAPE(2, 1, 2), 1, 0, 0, 1)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(2, 1, 2), 1e-7f, 1, 0, 0.75f, 0.25f);
    ext_set("lerp_alpha=1|decay_factor=0.5");
    node_go(); // (0.5, 1) / 1
    EXPECT(node_out_mask(0), SHAPE(2, 1, 2), 1e-7f, 1, 0, 0.5f, 1);
    node_new("GrowMaskWithBlur");
    ext_set("fill_holes=true");
    node_give("mask", node_mask(A(SHAPE(1, 3, 4), 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0)));
    node_go(); // as the original: 255, not 1
    EXPECT(node_out_mask(0), SHAPE(1, 3, 4), 0, 255, 255, 255, 0, 255, 255, 255, 0, 255, 255, 255,
           0);
}

static void blur(void)
{
    node_new("MaskBlur+"); // 4 becomes 5
    ext_set("amount=4");
    node_give("mask", node_mask(A(SHAPE(1, 4, 5), 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                  0, 0, 0.5f)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 4, 5), 1e-6f, 0.2390435f, 0.2152781f, 0.1195218f, 0.0345992f,
           0, 0.2152781f, 0.1938754f, 0.1101430f, 0.0398091f, 0.0130757f, 0.1195218f, 0.1076391f,
           0.0684107f, 0.0471800f, 0.0451697f, 0.0691983f, 0.0623187f, 0.0476749f, 0.0551855f,
           0.0682823f);
    node_new("MaskSmooth+"); // a lonely pixel goes
    ext_set("amount=3");
    node_give("mask", node_mask(A(SHAPE(1, 3, 4), 0, 0, 1, 1, 0, 0, 1, 1, 0.9f, 0, 1, 1)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 3, 4), 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1);
}

static void of_colours(void)
{
    node_new("ColorToMask");
    ext_set("red=255|threshold=10");
    node_give("images", node_image(A(SHAPE(1, 1, 3, 3), 1, 0, 0, 0.97f, 0.02f, 0, 0.95f, 0, 0)));
    node_go(); // distances 0, 9.2, 12.75
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 0, 1, 1, 0);
    node_set("invert", "true");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 0, 0, 0, 1);
    node_new("MaskFromColor+");
    ext_set("red=255|green=0|blue=0|threshold=5");
    node_give("image", node_image(A(SHAPE(1, 1, 3, 3), 1, 0, 0, 0.98f, 0.0195f, 0, 0.97f, 0, 0)));
    node_go(); // 250, 5 and 247
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 0, 1, 1, 0);
    node_new("MaskFromRGBCMYBW+");
    node_give("image", node_image(A(SHAPE(1, 1, 4, 3), 0.9f, 0.1f, 0.1f, 0.9f, 0.95f, 0.1f, 0, 0, 0,
                                    1, 0.9f, 0.9f)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 4), 0, 1, 0, 0, 0);
    EXPECT(node_out_mask(5), SHAPE(1, 1, 4), 0, 0, 1, 0, 0);
    EXPECT(node_out_mask(6), SHAPE(1, 1, 4), 0, 0, 0, 1, 0);
    EXPECT(node_out_mask(7), SHAPE(1, 1, 4), 0, 0, 0, 0, 1);
    node_new("easy imageToMask");
    ext_set("channel=green");
    node_give("image", node_image(A(SHAPE(1, 1, 1, 3), 0.1f, 0.2f, 0.3f)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 1), 0, 0.2f);
}

static void drawn(void)
{
    node_new("DrawMaskOnImage");
    ext_set("color=#ff0000");
    node_give("image", node_image(A(SHAPE(1, 1, 2, 3), 0, 0.5f, 1, 0, 0.5f, 1)));
    node_give("mask", node_mask(A(SHAPE(1, 1, 2), 0.5f, 0)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 1e-6f, 0.5f, 0.25f, 0.5f, 0, 0.5f, 1);
    node_set("color", "1, 2");
    node_fails("value", "color");
    node_new("MaskBoundingBox+");
    ext_set("padding=1");
    node_give("mask", node_mask(A(SHAPE(1, 3, 4), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5f)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 2, 2), 0, 0, 0, 0, 0.5f);
    CHECK(node.out[2]->u.i == 2 && node.out[3]->u.i == 1 && node.out[4]->u.i == 2);
    node_set("blur", "3");
    node_fails("value", "blur");
    node_new("MaskBoundingBox+");
    node_give("mask", node_mask(A(SHAPE(1, 1, 1), 0)));
    node_fails("value", "mask");
}

static void values(void)
{
    node_new("Mask Invert");
    node_give("masks", node_mask(A(SHAPE(1, 1, 2), 0.25f, 1)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 2), 0, 0.75f, 0);
    node_new("RemapMaskRange");
    ext_set("min=0.2|max=0.8");
    node_give("mask", node_mask(A(SHAPE(1, 1, 3), 0, 0.25f, 0.5f)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 1, 3), 1e-6f, 0.2f, 0.5f, 0.8f);
    nino_array *m = node_array(SHAPE(1, 2, 28), NULL, 0); // the rectangle is columns 1 to 26
    nino_array_f32(m)[1] = nino_array_f32(m)[26] = 0.5f;
    node_new("BlockifyMask");
    ext_set("block_size=8");
    node_give("masks", node_mask(m));
    node_go(); // of 26, three blocks: 1-8, 9-16, 17-26; the middle one has nothing
    for (int x = 0; x < 28; x++)
        CHECK(nino_array_f32(node_out_mask(0))[x] ==
              ((x >= 1 && x <= 8) || (x >= 17 && x <= 26) ? 1 : 0));
    node_new("MaskFromList+");
    ext_set("width=1|height=2|str_values=0.5, 2|values=0.25");
    node_go();
    EXPECT(node_out_mask(0), SHAPE(3, 2, 1), 0, 0.25f, 0.25f, 0.5f, 0.5f, 1, 1);
    REFUSES("MaskFromList+", "str_values=a", "value", "str_values");
    REFUSES("MaskFromList+", "", "value", "str_values");
    node_new("RemoveLatentMask+");
    nino_value *l = node_latent(node_ramp(SHAPE(1, 2, 2, 4), 1));
    l->u.latent.noise_mask = node_ramp(SHAPE(1, 16, 16), 0);
    node_give("samples", l);
    node_go();
    CHECK(!node.out[0]->u.latent.noise_mask && node_out_samples(0) == l->u.latent.samples);
}

int main(void)
{
    node_open();
    grow();
    blur();
    of_colours();
    drawn();
    values();
    node_close();
    return 0;
}
