// Images of extensions: sizes, cuts, joins. Values worked out by hand from the definitions.
#include "tests/unit/node/ext.h"

#include <math.h>

static void picture(const char *port, int64_t n, int64_t h, int64_t w)
{
    node_give(port, node_image(node_ramp(SHAPE(n, h, w, 3), 0.001)));
}

static void check_size(int line, const char *class_type, const char *pairs, int64_t h, int64_t w,
                       int64_t want_h, int64_t want_w)
{
    node_new(class_type);
    ext_set(pairs);
    picture(node.run.def->inputs[0].key, 1, h, w);
    node_go();
    const nino_array *a = node.out[0]->is_list ? node.out[0]->item[0]->u.image : node_out_image(0);
    if (a->shape.dim[1] != want_h || a->shape.dim[2] != want_w) {
        fprintf(stderr, "line %d: %s (%s) is %dx%d\n", line, class_type, pairs,
                (int) a->shape.dim[2], (int) a->shape.dim[1]);
        exit(1);
    }
    for (int i = 1; node.run.def->outputs[i].key && i < 3; i++)
        if (node.run.def->outputs[i].type == NINO_PORT_INT)
            CHECK(node.out[i]->u.i == (i == 1 ? want_w : want_h));
}
// height and width before and after
#define SIZED(class_type, pairs, h, w, want_h, want_w)                                             \
    check_size(__LINE__, class_type, pairs, h, w, want_h, want_w)

static void sizes_of(void)
{
    node_new("GetImageSizeAndCount");
    picture("image", 3, 4, 6);
    node_go();
    CHECK(node.out[0] == node.in[0]);
    CHECK(node.out[1]->u.i == 6 && node.out[2]->u.i == 4 && node.out[3]->u.i == 3);
    node_new("GetImageSize+");
    picture("image", 3, 4, 6);
    node_go();
    CHECK(node.out[0]->u.i == 6 && node.out[1]->u.i == 4 && node.out[2]->u.i == 3);
    node_new("easy imageSize");
    picture("image", 3, 4, 6);
    node_go();
    CHECK(node.out[0]->u.i == 6 && node.out[1]->u.i == 4);
    node_new("Image Size to Number");
    picture("image", 1, 4, 6);
    node_go();
    CHECK(node.out[1]->u.i == 4 && node.out[2]->u.f == 6 && node.out[5]->u.i == 4);
    node_new("GetLatentSizeAndCount");
    node_give("latent", node_latent(node_ramp(SHAPE(2, 5, 3, 7, 16), 0)));
    node_go();
    CHECK(node.out[1]->u.i == 2 && node.out[2]->u.i == 16 && node.out[3]->u.i == 5);
    CHECK(node.out[4]->u.i == 3 && node.out[5]->u.i == 7);
    node_new("Image or Latent Size (rgthree)");
    node_give("input", node_latent(node_ramp(SHAPE(1, 3, 7, 4), 0)));
    node_go();
    CHECK(node.out[0]->u.i == 56 && node.out[1]->u.i == 24);
    node_give("input", ext_value("3"));
    node_fails("type_mismatch", "input");
    node_new("easy imageSizeBySide");
    picture("image", 1, 4, 6);
    node_go();
    CHECK(node.out[0]->u.i == 6);
    node_set("side", "Shortest");
    node_go();
    CHECK(node.out[0]->u.i == 4);
}

static void sizes_by_name(void)
{
    GIVES("CM_SDXLResolution", "resolution=1344x768", 1, "768");
    GIVES("CM_SDXLExtendedResolution", "resolution=576x1792", 0, "576");
    static const char *const near[] = { "CM_NearestSDXLResolution",
                                        "CM_NearestSDXLExtendedResolution" };
    for (int i = 0; i < 2; i++) {
        node_new(near[i]);
        picture("image", 1, 3, 5); // 1.667: nearest are 1344x768 and 1280x768
        node_go();
        CHECK(node.out[0]->u.i == (i ? 1280 : 1344) && node.out[1]->u.i == 768);
    }
    node_new("SDXL Empty Latent Image (rgthree)");
    ext_set("dimensions= 896 x 1152  (portrait)|clip_scale=1.5|batch_size=2");
    node_go();
    CHECK(node_out_samples(0)->shape.dim[1] == 144);
    CHECK(node_out_samples(0)->shape.dim[0] == 2 && node_out_samples(0)->shape.dim[2] == 112);
    CHECK(node.out[1]->u.i == 1344 && node.out[2]->u.i == 1728);
    GIVES("SDXLEmptyLatentSizePicker+", "resolution=832x1216 (0.68)|width_override=640", 1, "640");
    GIVES("SDXLEmptyLatentSizePicker+", "resolution=832x1216 (0.68)", 2, "1216");
    GIVES("CR Aspect Ratio", "aspect_ratio=SD1.5 - 2:3 portrait 512x768|swap_dimensions=On", 0,
          "768");
    GIVES("CR Aspect Ratio", "width=640|prescale_factor=0.5", 0, "320");
    GIVES("CR SDXL Aspect Ratio", "aspect_ratio=21:9 landscape 1536x640", 1, "640");
    GIVES("CR SDXL Aspect Ratio", "batch_size=3", 3, "3");
    GIVES("CR Aspect Ratio Social Media",
          "aspect_ratio=YouTube Banner - 2560\xc3\x97"
          "1440",
          1, "1440");
    GIVES("CR Image Size", "width=640|upscale_factor=2", 2, "2.0");
}

static void resizes(void)
{
    SIZED("ImageResizeKJ", "width=33|height=0|divisible_by=2", 4, 6, 4, 32);
    SIZED("ImageResizeKJ", "width=30|height=40|keep_proportion=true", 4, 6, 20, 30);
    SIZED("ImageResizeKJ", "width=0|height=40|keep_proportion=true", 4, 6, 40, 60);
    node_new("ImageResizeKJ");
    picture("image", 1, 4, 6);
    picture("get_image_size", 1, 8, 10);
    node_go();
    CHECK(node.out[1]->u.i == 10 && node.out[2]->u.i == 8);
    ext_set("keep_proportion=true|divisible_by=7"); // the other picture's size is taken as it is
    node_go();
    CHECK(node.out[1]->u.i == 10 && node.out[2]->u.i == 8);
    SIZED("ImageResizeKJv2", "width=33|height=0", 4, 6, 4, 32);
    SIZED("ImageResizeKJv2", "width=30|height=40|keep_proportion=resize", 4, 6, 20, 30);
    SIZED("ImageResizeKJv2", "width=30|height=40|keep_proportion=pad", 4, 6, 40, 30);
    SIZED("ImageResizeKJv2", "width=8|height=8|keep_proportion=crop", 4, 6, 8, 8);
    SIZED("ImageResizeKJv2", "width=8|height=3|keep_proportion=total_pixels|divisible_by=1", 4, 6,
          4, 6); // 24 pixels, as it was
    SIZED("ImageResize+", "width=30|height=40|method=keep proportion", 4, 6, 20, 30);
    SIZED("ImageResize+", "width=0|height=40|method=keep proportion", 4, 6, 40, 60);
    SIZED("ImageResize+", "width=30|height=40|method=pad", 4, 6, 40, 30);
    SIZED("ImageResize+", "width=30|height=40|method=fill / crop", 4, 6, 40, 30);
    SIZED("ImageResize+", "width=30|height=0|method=stretch", 4, 6, 4, 30);
    SIZED("ImageResize+", "width=8|height=8|condition=downscale if bigger", 4, 6, 4, 6);
    SIZED("ImageResize+", "width=8|height=8|condition=if smaller area", 4, 6, 8, 8);
    SIZED("ImageResize+", "width=31|height=21|multiple_of=4", 4, 6, 20, 28);
    SIZED("Image Resize (rgthree)", "width=3|height=4|fit=crop", 4, 6, 4, 3);
    SIZED("Image Resize (rgthree)", "width=3|height=4|fit=pad", 4, 6, 4, 3);
    SIZED("Image Resize (rgthree)", "width=3|height=4|fit=contain", 4, 6, 2, 3);
    SIZED("Image Resize (rgthree)", "measurement=percentage|width=50|height=0", 4, 6, 2, 3);
    SIZED("ConstrainImage|pysssss", "max_width=3|max_height=4", 4, 6, 2, 3);
    SIZED("ConstrainImage|pysssss", "max_width=3|max_height=4|min_height=4", 4, 6, 4, 3);
    SIZED("ConstrainImage|pysssss", "max_width=9|max_height=9|min_width=2", 4, 6, 4, 6);
    SIZED("ConstrainImageforVideo|pysssss", "max_width=12|max_height=9", 4, 6, 8, 12);
    SIZED("ConstrainImageforVideo|pysssss", "max_width=3|max_height=4|crop_if_required=yes", 4, 6,
          2, 3);
    SIZED("easy imageScaleDownToSize", "size=3", 4, 6, 2, 3);
    SIZED("easy imageScaleDownToSize", "size=3|mode=false", 4, 6, 3, 4); // of 4.5
    SIZED("easy imageScaleDownToSize", "size=9", 4, 6, 4, 6);
    SIZED("easy imageScaleToNormPixels", "scale_by=1.5", 16, 20, 24, 24);
    SIZED("Image Resize", "mode=resize|resize_width=9|resize_height=8|supersample=false", 4, 6, 8,
          16);
    SIZED("Image Resize", "mode=rescale|rescale_factor=0.5", 4, 6, 2, 3);
}

// What PIL 9.4 makes of 7x5 pixels of grey.
static void filtered(void)
{
    static const struct {
        const char *method;
        int half[6], through_8x[6]; // 3x2
        long sum;                   // of 11x8 pixels, each times its number
    } of[] = {
        { "lanczos", { 93, 145, 121, 128, 168, 130 }, { 95, 145, 121, 128, 168, 129 }, 533433 },
        { "nearest", { 141, 93, 45, 207, 211, 215 }, { 141, 93, 45, 207, 211, 215 }, 503116 },
        { "bilinear", { 102, 137, 125, 127, 164, 129 }, { 101, 138, 124, 128, 159, 131 }, 539722 },
        { "bicubic", { 96, 142, 123, 128, 166, 130 }, { 96, 142, 123, 128, 165, 130 }, 534691 },
    };
    for (size_t k = 0; k < 3 * sizeof(of) / sizeof(of[0]); k++) {
        const int m = (int) k / 3, how = (int) k % 3;
        char pairs[96];
        snprintf(pairs, sizeof(pairs),
                 "mode=rescale|resampling=%s|supersample=%s|rescale_factor=%s", of[m].method,
                 how == 1 ? "true" : "false", how == 2 ? "1.6" : "0.5");
        node_new("Image Resize");
        ext_set(pairs);
        nino_array *a = node_ramp(SHAPE(1, 5, 7, 3), 0);
        for (int i = 0; i < 105; i++) {
            const int y = i / 21, x = i / 3 % 7;
            nino_array_f32(a)[i] = (float) ((37 * y * y + 91 * x + 13 * x * y) % 256) / 255;
        }
        node_give("image", node_image(a));
        node_go();
        const float *out = nino_array_f32(node_out_image(0));
        long sum = 0;
        for (int i = 0; i < 88 && how == 2; i++)
            sum += (i + 1) * lroundf(out[3 * i] * 255);
        CHECK(how < 2 || sum == of[m].sum);
        for (int i = 0; i < 6 && how < 2; i++)
            CHECK(lroundf(out[3 * i] * 255) == (how ? of[m].through_8x : of[m].half)[i]);
    }
}

static void framed(void)
{
    node_new("ImageResizeKJv2"); // 1x2 into 2x2: a row of colour below
    ext_set("width=2|height=2|keep_proportion=pad|crop_position=top|pad_color=255, 0, 51|"
            "divisible_by=1");
    node_give("image", node_image(A(SHAPE(1, 1, 2, 3), 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f)));
    node_give("mask", node_mask(A(SHAPE(1, 1, 2), 0.25f, 0.75f)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 3), 1e-6f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 1, 0,
           0.2f, 1, 0, 0.2f);
    EXPECT(node_out_mask(3), SHAPE(1, 2, 2), 1e-6f, 0.25f, 0.75f, 0, 0);
    node_set("keep_proportion", "pad_edge"); // the mean of the edge
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 3), 1e-6f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.25f,
           0.35f, 0.45f, 0.25f, 0.35f, 0.45f);
    node_set("keep_proportion", "pad_edge_pixel");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 3), 1e-6f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.1f,
           0.2f, 0.3f, 0.4f, 0.5f, 0.6f);
    node_set("pad_color", "red, x");
    node_fails("value", "pad_color");
    node_set("keep_proportion", "pillarbox_blur");
    node_fails("value", "keep_proportion");
    node_new("ImageResize+"); // torch's nearest of 6x4 at 4x3: columns 0 1 3 4, rows 0 1 2
    ext_set("width=4|height=3");
    node_give("image", node_image(node_ramp(SHAPE(1, 4, 6, 1), 1.0 / 32)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 3, 4, 1), 1e-6f, 0, 1 / 32.0f, 3 / 32.0f, 4 / 32.0f,
           6 / 32.0f, 7 / 32.0f, 9 / 32.0f, 10 / 32.0f, 12 / 32.0f, 13 / 32.0f, 15 / 32.0f,
           16 / 32.0f);
    node_new("ResizeMask");
    ext_set("width=4|height=8|keep_proportions=true");
    node_give("mask", node_mask(node_ramp(SHAPE(1, 2, 2), 0)));
    node_go();
    CHECK(node.out[1]->u.i == 4 && node.out[2]->u.i == 4);
}

static void cuts(void)
{
    node_new("ImageCrop+");
    ext_set("width=2|height=1|position=bottom-center|x_offset=1");
    node_give("image", node_image(node_ramp(SHAPE(1, 2, 4, 1), 1)));
    node_go(); // x = round(1) + 1
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 1), 0, 6, 7);
    CHECK(node.out[1]->u.i == 2 && node.out[2]->u.i == 1);
    node_set("x_offset", "9");
    node_fails("range", "x_offset");
    static const char *const insets[] = { "Image Inset Crop (rgthree)", "easy imageInsetCrop" };
    for (int i = 0; i < 2; i++) {
        SIZED(insets[i], "left=9|top=16|bottom=7", 32, 40, 16, 32); // 9 and 7 snap to 8 and 0
        SIZED(insets[i], "measurement=Percentage|right=50", 32, 40, 32, 24); // 20 snaps to 16
    }
    node_new("ImageFlip+");
    ext_set("axis=x");
    node_give("image", node_image(node_ramp(SHAPE(1, 2, 2, 1), 1)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 1), 0, 1, 0, 3, 2);
    node_set("axis", "xy");
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 1), 0, 3, 2, 1, 0);
    node_new("MaskFlip+");
    ext_set("axis=y");
    node_give("mask", node_mask(node_ramp(SHAPE(1, 2, 2), 1)));
    node_go();
    EXPECT(node_out_mask(0), SHAPE(1, 2, 2), 0, 2, 3, 0, 1);
    node_new("Image Flip");
    ext_set("mode=vertical");
    node_give("images", node_image(node_ramp(SHAPE(1, 2, 2, 1), 1)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 2, 2, 1), 0, 2, 3, 0, 1);
}

static void joins(void)
{
    static const char *const names[] = { "ImageConcanate", "easy imageConcat" };
    for (int i = 0; i < 2; i++) {
        node_new(names[i]);
        ext_set("match_image_size=false|direction=left");
        node_give("image1", node_image(A(SHAPE(1, 3, 1, 1), 1, 2, 3)));
        node_give("image2", node_image(A(SHAPE(1, 1, 1, 1), 9)));
        node_go();
        EXPECT(node_out_image(0), SHAPE(1, 3, 2, 1), 0, 0, 1, 9, 2, 0, 3);
        node_set("direction", "down");
        node_go();
        EXPECT(node_out_image(0), SHAPE(1, 4, 1, 1), 0, 1, 2, 3, 9);
        node_new(names[i]);
        picture("image1", 2, 8, 4);
        picture("image2", 1, 4, 4);
        ext_set("match_image_size=true");
        node_go();
        CHECK(node_out_image(0)->shape.dim[0] == 2 && node_out_image(0)->shape.dim[2] == 12);
    }
    node_new("ImageConcatMulti");
    ext_set("inputcount=3|direction=down");
    for (int i = 1; i < 4; i++) {
        char key[16];
        snprintf(key, sizeof(key), "image_%d", i);
        node_give(key, node_image(node_array(SHAPE(1, 1, 1, 1), (float[]){ (float) i }, 1)));
    }
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 3, 1, 1), 0, 1, 2, 3);
    node_set("inputcount", "99");
    node_fails("value", "inputcount");
}

static void colours(void)
{
    static const char *const flat[] = { "ImageRemoveAlpha+", "Images to RGB" };
    for (int i = 0; i < 2; i++) {
        node_new(flat[i]);
        node_give(i ? "images" : "image", node_image(A(SHAPE(1, 1, 1, 4), 0.1f, 0.2f, 0.3f, 0)));
        node_go();
        EXPECT(node_out_image(0), SHAPE(1, 1, 1, 3), 0, 0.1f, 0.2f, 0.3f);
    }
    static const struct {
        const char *how;
        float grey;
    } greys[] = { { "luminance (Rec.709)", 0.2126f * 0.2f + 0.7152f * 0.4f + 0.0722f * 0.9f },
                  { "luminance (Rec.601)", 0.299f * 0.2f + 0.587f * 0.4f + 0.114f * 0.9f },
                  { "average", 0.5f },
                  { "lightness", 0.55f } };
    for (int i = 0; i < 4; i++) {
        node_new("ImageDesaturate+");
        ext_set("factor=0.5");
        node_set("method", greys[i].how);
        node_give("image", node_image(A(SHAPE(1, 1, 1, 3), 0.2f, 0.4f, 0.9f)));
        node_go();
        const float g = greys[i].grey;
        EXPECT(node_out_image(0), SHAPE(1, 1, 1, 3), 1e-6f, 0.1f + g / 2, 0.2f + g / 2,
               0.45f + g / 2);
    }
    node_new("ImagePosterize+");
    ext_set("threshold=0.5");
    node_give("image", node_image(A(SHAPE(1, 1, 2, 3), 0.9f, 0.5f, 0.2f, 0.1f, 0.5f, 0.8f)));
    node_go();
    EXPECT(node_out_image(0), SHAPE(1, 1, 2, 3), 0, 1, 1, 1, 0, 0, 0);
}

int main(void)
{
    node_open();
    sizes_of();
    sizes_by_name();
    resizes();
    filtered();
    framed();
    cuts();
    joins();
    colours();
    node_close();
    return 0;
}
