// Sizes: what images, masks and latents have, and those that models are made for.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

// ---- what there is ---------------------------------------------------------------------------

// Numbers for the outputs from `first` on.
static nino_status give_ints(nino_run *r, int first, int n, const int64_t *v, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < n && !st; i++)
        st = nino_out_int(r, first + i, v[i], err);
    return st;
}

static nino_picture picture_in(const nino_run *r)
{
    return nino_picture_of(nino_ext_array(r->in[0]));
}

static nino_status size_run(nino_run *r, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const int64_t v[] = { p.w, p.h, p.n };
    return give_ints(r, 0, r->def->outputs[2].key ? 3 : 2, v, err);
}

static nino_status size_and_count_run(nino_run *r, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const int64_t v[] = { p.w, p.h, p.n };
    nino_ext_give(r, 0, r->in[0]);
    return give_ints(r, 1, 3, v, err);
}

static nino_status latent_size_run(nino_run *r, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const int64_t v[] = { p.n, p.c, p.t, p.h, p.w };
    nino_ext_give(r, 0, r->in[0]);
    return give_ints(r, 1, 5, v, err);
}

// Pixels that a cell of a latent stands for.
static int64_t cells_of(const nino_value *v)
{
    return v->type == NINO_PORT_LATENT ? v->u.latent.factor ? v->u.latent.factor : 8 : 1;
}

static nino_status any_size_run(nino_run *r, nino_error *err)
{
    if (!nino_ext_array(r->in[0]))
        return nino_fail_kind(err, NINO_ERR_ARG, "type_mismatch", "input",
                              "an image, a mask or a latent is needed");
    const nino_picture p = picture_in(r);
    const int64_t by = cells_of(r->in[0]), v[] = { p.w * by, p.h * by };
    return give_ints(r, 0, 2, v, err);
}

NINO_NODE(kj_size, "GetImageSizeAndCount", "Get Image Size & Count", "KJNodes/image",
          "Size and number of a batch, which is handed on", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(image, IMAGE), NINO_PORT(width, INT), NINO_PORT(height, INT),
                       NINO_PORT(count, INT)),
          NINO_RUN(size_and_count_run));

NINO_NODE(kj_latent_size, "GetLatentSizeAndCount", "Get Latent Size & Count", "KJNodes/image",
          "Size and number of a batch of latents, which is handed on",
          NINO_INPUTS(NINO_PORT(latent, LATENT)),
          NINO_OUTPUTS(NINO_PORT(latent, LATENT), NINO_PORT(batch_size, INT),
                       NINO_PORT(channels, INT), NINO_PORT(frames, INT), NINO_PORT(height, INT),
                       NINO_PORT(width, INT)),
          NINO_RUN(latent_size_run));

NINO_NODE(essentials_size, "GetImageSize+", "Get Image Size", "essentials/image utils",
          "Size and number of a batch", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT), NINO_PORT(count, INT)),
          NINO_RUN(size_run));

NINO_NODE(easy_size, "easy imageSize", "ImageSize", "EasyUse/Image", "Size of an image",
          NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width_int, INT), NINO_PORT(height_int, INT)), .is_output = true,
          NINO_RUN(size_run));

NINO_NODE(rgthree_size, "Image or Latent Size (rgthree)", "Image or Latent Size", "rgthree",
          "Size in pixels of an image, a mask or a latent", NINO_INPUTS(NINO_PORT(input, ANY)),
          NINO_OUTPUTS(NINO_PORT(WIDTH, INT), NINO_PORT(HEIGHT, INT)), NINO_RUN(any_size_run));

static nino_status was_size_run(nino_run *r, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const int64_t v[] = { p.w, p.h };
    nino_status st = give_ints(r, 0, 2, v, err);
    if (!st)
        st = nino_out_float(r, 2, (double) p.w, err);
    if (!st)
        st = nino_out_float(r, 3, (double) p.h, err);
    return st ? st : give_ints(r, 4, 2, v, err);
}

NINO_NODE(was_size, "Image Size to Number", "Image Size to Number", "WAS Suite/Number/Operations",
          "Size of an image in several types", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width_num, ANY), NINO_PORT(height_num, ANY),
                       NINO_PORT(width_float, FLOAT), NINO_PORT(height_float, FLOAT),
                       NINO_PORT(width_int, INT), NINO_PORT(height_int, INT)),
          NINO_RUN(was_size_run));

typedef struct side_params {
    int64_t side;
} side_params;

static nino_status side_run(nino_run *r, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const bool shortest = ((const side_params *) r->params)->side == 1;
    return nino_out_int(r, 0, (p.w > p.h) == shortest ? p.h : p.w, err);
}

NINO_NODE(easy_side, "easy imageSizeBySide", "ImageSize (Side)", "EasyUse/Image",
          "Length of the longer or shorter side", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(resolution, INT)),
          NINO_PARAMS(side_params, NINO_P_ENUM(side_params, side, NINO_WORDS("Longest", "Shortest"),
                                               0, .label = "Side", .help = "Which one is told")),
          .is_output = true, NINO_RUN(side_run));

// ---- sizes of models -------------------------------------------------------------------------

// "896x1152", "1080 x 1350": the first two numbers with an x between them.
static bool read_size(const char *text, int64_t *w, int64_t *h)
{
    for (const char *s = text; *s; s++) {
        int used = 0;
        long long a = 0, b = 0;
        const bool starts = s == text || s[-1] < '0' || s[-1] > '9';
        if (starts && sscanf(s, "%lld x %n%lld", &a, &used, &b) == 2 && a > 0 && b > 0) {
            *w = a;
            *h = b;
            return true;
        }
        // a multiplication sign in UTF-8
        if (starts && sscanf(s, "%lld\xc3\x97%lld", &a, &b) == 2 && a > 0 && b > 0) {
            *w = a;
            *h = b;
            return true;
        }
    }
    return false;
}

typedef struct size_choice {
    int64_t resolution;
} size_choice;

static nino_status choice_run(nino_run *r, nino_error *err)
{
    const int64_t at = ((const size_choice *) r->params)->resolution;
    int64_t v[2] = { 0 };
    read_size(r->def->params[0].names[at], &v[0], &v[1]);
    return give_ints(r, 0, 2, v, err);
}

NINO_NODE(cm_sdxl, "CM_SDXLResolution", "SDXLResolution", "math/graphics",
          "A size that SDXL was trained with",
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_PARAMS(size_choice, NINO_P_ENUM(size_choice, resolution,
                                               NINO_WORDS("1024x1024", "1152x896", "896x1152",
                                                          "1216x832", "832x1216", "1344x768",
                                                          "768x1344", "1536x640", "640x1536"),
                                               0, .label = "Size", .help = "Width and height")),
          NINO_RUN(choice_run));

NINO_NODE(
    cm_sdxl_extended, "CM_SDXLExtendedResolution", "SDXLExtendedResolution", "math/graphics",
    "A size that SDXL was trained with",
    NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT)),
    NINO_PARAMS(size_choice,
                NINO_P_ENUM(size_choice, resolution,
                            NINO_WORDS("512x2048", "512x1984", "512x1920", "512x1856", "576x1792",
                                       "576x1728", "576x1664", "640x1600", "640x1536", "704x1472",
                                       "704x1408", "704x1344", "768x1344", "768x1280", "832x1216",
                                       "832x1152", "896x1152", "896x1088", "960x1088", "960x1024",
                                       "1024x1024", "1024x960", "1088x960", "1088x896", "1152x896",
                                       "1152x832", "1216x832", "1280x768", "1344x768", "1408x704",
                                       "1472x704", "1536x640", "1600x640", "1664x576", "1728x576",
                                       "1792x576", "1856x512", "1920x512", "1984x512", "2048x512"),
                            0, .label = "Size", .help = "Width and height")),
    NINO_RUN(choice_run));

extern const nino_node_def nino_node_cm_sdxl, nino_node_cm_sdxl_extended;

// The one whose aspect ratio is nearest; of two the first.
static nino_status nearest(nino_run *r, const nino_node_def *of, nino_error *err)
{
    const nino_picture p = picture_in(r);
    const double want = (double) p.w / (double) p.h;
    double least = INFINITY;
    int64_t best[2] = { 1024, 1024 };
    for (int i = 0; of->params[0].names[i]; i++) {
        int64_t w = 1, h = 1;
        read_size(of->params[0].names[i], &w, &h);
        const double d = fabs(want - (double) w / (double) h);
        if (d < least) {
            least = d;
            best[0] = w;
            best[1] = h;
        }
    }
    return give_ints(r, 0, 2, best, err);
}

static nino_status nearest_run(nino_run *r, nino_error *err)
{
    return nearest(r, &nino_node_cm_sdxl, err);
}

static nino_status nearest_extended_run(nino_run *r, nino_error *err)
{
    return nearest(r, &nino_node_cm_sdxl_extended, err);
}

NINO_NODE(cm_nearest, "CM_NearestSDXLResolution", "NearestSDXLResolution", "math/graphics",
          "The size of SDXL that is nearest to an image's aspect ratio",
          NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT)), NINO_RUN(nearest_run));

NINO_NODE(cm_nearest_extended, "CM_NearestSDXLExtendedResolution", "NearestSDXLExtendedResolution",
          "math/graphics", "The size of SDXL that is nearest to an image's aspect ratio",
          NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_RUN(nearest_extended_run));

// ---- empty latents by name of a size ---------------------------------------------------------

static nino_status give_latent(nino_run *r, int i, int64_t n, int64_t w, int64_t h, nino_error *err)
{
    nino_latent l = { .samples = nino_node_array(NINO_F32, NINO_SHAPE(n, h / 8, w / 8, 4),
                                                 r->def->key, err),
                      .factor = 8 };
    return nino_out_latent(r, i, l, err);
}

typedef struct rgthree_latent_params {
    int64_t dimensions;
    double clip_scale;
    int64_t batch_size;
} rgthree_latent_params;

static nino_status rgthree_latent_run(nino_run *r, nino_error *err)
{
    const rgthree_latent_params *p = r->params;
    int64_t w = 1024, h = 1024;
    read_size(r->def->params[0].names[p->dimensions], &w, &h);
    const int64_t v[] = { (int64_t) ((double) w * p->clip_scale),
                          (int64_t) ((double) h * p->clip_scale) };
    const nino_status st = give_latent(r, 0, p->batch_size, w, h, err);
    return st ? st : give_ints(r, 1, 2, v, err);
}

NINO_NODE(rgthree_latent, "SDXL Empty Latent Image (rgthree)", "SDXL Empty Latent Image (rgthree)",
          "rgthree", "A latent of zeros of a size that SDXL was trained with",
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT), NINO_PORT(CLIP_WIDTH, INT),
                       NINO_PORT(CLIP_HEIGHT, INT)),
          NINO_PARAMS(rgthree_latent_params,
                      NINO_P_ENUM(rgthree_latent_params, dimensions,
                                  NINO_WORDS("1536 x 640   (landscape)", "1344 x 768   (landscape)",
                                             "1216 x 832   (landscape)", "1152 x 896   (landscape)",
                                             "1024 x 1024  (square)", " 896 x 1152  (portrait)",
                                             " 832 x 1216  (portrait)", " 768 x 1344  (portrait)",
                                             " 640 x 1536  (portrait)"),
                                  4, .label = "Size", .help = "Width and height"),
                      NINO_P_FLOAT(rgthree_latent_params, clip_scale, 2.0, 1.0, 10.0, 0.5,
                                   .label = "Text scale",
                                   .help = "What the size is multiplied by for the prompt"),
                      NINO_P_INT(rgthree_latent_params, batch_size, 1, 1, 64, 1, .label = "Batch",
                                 .help = "How many are made at once")),
          NINO_RUN(rgthree_latent_run));

typedef struct picker_params {
    int64_t resolution;
    int64_t batch_size;
    int64_t width_override;
    int64_t height_override;
} picker_params;

static nino_status picker_run(nino_run *r, nino_error *err)
{
    const picker_params *p = r->params;
    int64_t v[2] = { 1024, 1024 };
    read_size(r->def->params[0].names[p->resolution], &v[0], &v[1]);
    v[0] = p->width_override > 0 ? p->width_override : v[0];
    v[1] = p->height_override > 0 ? p->height_override : v[1];
    const nino_status st = give_latent(r, 0, p->batch_size, v[0], v[1], err);
    return st ? st : give_ints(r, 1, 2, v, err);
}

NINO_NODE(
    essentials_picker, "SDXLEmptyLatentSizePicker+", "Empty Latent Size Picker",
    "essentials/utilities", "A latent of zeros of a size by name",
    NINO_OUTPUTS(NINO_PORT(LATENT, LATENT), NINO_PORT(width, INT), NINO_PORT(height, INT)),
    NINO_PARAMS(picker_params,
                NINO_P_ENUM(picker_params, resolution,
                            NINO_WORDS("704x1408 (0.5)", "704x1344 (0.52)", "768x1344 (0.57)",
                                       "768x1280 (0.6)", "832x1216 (0.68)", "832x1152 (0.72)",
                                       "896x1152 (0.78)", "896x1088 (0.82)", "960x1088 (0.88)",
                                       "960x1024 (0.94)", "1024x1024 (1.0)", "1024x960 (1.07)",
                                       "1088x960 (1.13)", "1088x896 (1.21)", "1152x896 (1.29)",
                                       "1152x832 (1.38)", "1216x832 (1.46)", "1280x768 (1.67)",
                                       "1344x768 (1.75)", "1344x704 (1.91)", "1408x704 (2.0)",
                                       "1472x704 (2.09)", "1536x640 (2.4)", "1600x640 (2.5)",
                                       "1664x576 (2.89)", "1728x576 (3.0)"),
                            10, .label = "Size", .help = "Width and height"),
                NINO_P_INT(picker_params, batch_size, 1, 1, 4096, 1, .label = "Batch",
                           .help = "How many are made at once"),
                NINO_P_INT(picker_params, width_override, 0, 0, 16384, 8, .label = "Width",
                           .help = "In place of the chosen one, 0 to keep it"),
                NINO_P_INT(picker_params, height_override, 0, 0, 16384, 8, .label = "Height",
                           .help = "In place of the chosen one, 0 to keep it")),
    NINO_RUN(picker_run));

typedef struct cr_aspect_params {
    int64_t width;
    int64_t height;
    int64_t aspect_ratio;
    int64_t swap_dimensions;
    double upscale_factor;
    double prescale_factor;
    int64_t batch_size;
} cr_aspect_params;

typedef struct cr_sdxl_params {
    int64_t width;
    int64_t height;
    int64_t aspect_ratio;
    int64_t swap_dimensions;
    double upscale_factor;
    int64_t batch_size;
} cr_sdxl_params;

// The size by name; "custom", or a name without one: that of the widgets.
static void cr_size(const nino_run *r, int64_t choice, bool swap, int64_t v[2])
{
    read_size(r->def->params[2].names[choice], &v[0], &v[1]);
    if (swap) {
        const int64_t w = v[0];
        v[0] = v[1];
        v[1] = w;
    }
}

static nino_status cr_aspect_run(nino_run *r, nino_error *err)
{
    const cr_aspect_params *p = r->params;
    int64_t v[2] = { p->width, p->height };
    cr_size(r, p->aspect_ratio, p->swap_dimensions == 1, v);
    for (int i = 0; i < 2; i++)
        v[i] = (int64_t) ((double) v[i] * p->prescale_factor);
    nino_status st = give_ints(r, 0, 2, v, err);
    if (!st)
        st = nino_out_float(r, 2, p->upscale_factor, err);
    if (!st)
        st = nino_out_float(r, 3, p->prescale_factor, err);
    if (!st)
        st = nino_out_int(r, 4, p->batch_size, err);
    if (!st)
        st = give_latent(r, 5, p->batch_size, v[0], v[1], err);
    return st ? st : nino_ext_out_copy(r, 6, "", err);
}

static nino_status cr_sdxl_run(nino_run *r, nino_error *err)
{
    const cr_sdxl_params *p = r->params;
    int64_t v[2] = { p->width, p->height };
    cr_size(r, p->aspect_ratio, p->swap_dimensions == 1, v);
    nino_status st = give_ints(r, 0, 2, v, err);
    if (!st)
        st = nino_out_float(r, 2, p->upscale_factor, err);
    if (!st)
        st = nino_out_int(r, 3, p->batch_size, err);
    if (!st)
        st = give_latent(r, 4, p->batch_size, v[0], v[1], err);
    return st ? st : nino_ext_out_copy(r, 5, "", err);
}

NINO_NODE(
    cr_aspect, "CR Aspect Ratio", "CR Aspect Ratio", "Comfyroll Studio/Essential/Aspect Ratio",
    "A size by name and an empty latent of it",
    NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT), NINO_PORT(upscale_factor, FLOAT),
                 NINO_PORT(prescale_factor, FLOAT), NINO_PORT(batch_size, INT),
                 NINO_PORT(empty_latent, LATENT), NINO_PORT(show_help, STRING)),
    NINO_PARAMS(
        cr_aspect_params,
        NINO_P_INT(cr_aspect_params, width, 1024, 64, 8192, 1, .label = "Width",
                   .help = "Width in pixels"),
        NINO_P_INT(cr_aspect_params, height, 1024, 64, 8192, 1, .label = "Height",
                   .help = "Height in pixels"),
        NINO_P_ENUM(cr_aspect_params, aspect_ratio,
                    NINO_WORDS("custom", "SD1.5 - 1:1 square 512x512",
                               "SD1.5 - 2:3 portrait 512x768", "SD1.5 - 3:4 portrait 512x682",
                               "SD1.5 - 3:2 landscape 768x512", "SD1.5 - 4:3 landscape 682x512",
                               "SD1.5 - 16:9 cinema 910x512", "SD1.5 - 1.85:1 cinema 952x512",
                               "SD1.5 - 2:1 cinema 1024x512", "SDXL - 1:1 square 1024x1024",
                               "SDXL - 3:4 portrait 896x1152", "SDXL - 5:8 portrait 832x1216",
                               "SDXL - 9:16 portrait 768x1344", "SDXL - 9:21 portrait 640x1536",
                               "SDXL - 4:3 landscape 1152x896", "SDXL - 3:2 landscape 1216x832",
                               "SDXL - 16:9 landscape 1344x768", "SDXL - 21:9 landscape 1536x640"),
                    0, .label = "Aspect ratio",
                    .help = "A size that is chosen by name, or the one below"),
        NINO_P_ENUM(cr_aspect_params, swap_dimensions, NINO_WORDS("Off", "On"), 0, .label = "Swap",
                    .help = "Exchanges width and height"),
        NINO_P_FLOAT(cr_aspect_params, upscale_factor, 1.0, 0.1, 100.0, 0.1,
                     .label = "Upscale factor", .help = "Handed on"),
        NINO_P_FLOAT(cr_aspect_params, prescale_factor, 1.0, 0.1, 100.0, 0.1,
                     .label = "Scale first", .help = "What width and height are multiplied by"),
        NINO_P_INT(cr_aspect_params, batch_size, 1, 1, 64, 1, .label = "Batch",
                   .help = "How many are made at once")),
    NINO_RUN(cr_aspect_run));

NINO_NODE(
    cr_social, "CR Aspect Ratio Social Media", "CR Aspect Ratio Social Media",
    "Comfyroll Studio/Essential/Aspect Ratio", "A size by name and an empty latent of it",
    NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT), NINO_PORT(upscale_factor, FLOAT),
                 NINO_PORT(prescale_factor, FLOAT), NINO_PORT(batch_size, INT),
                 NINO_PORT(empty_latent, LATENT), NINO_PORT(show_help, STRING)),
    NINO_PARAMS(
        cr_aspect_params,
        NINO_P_INT(cr_aspect_params, width, 1024, 64, 8192, 1, .label = "Width",
                   .help = "Width in pixels"),
        NINO_P_INT(cr_aspect_params, height, 1024, 64, 8192, 1, .label = "Height",
                   .help = "Height in pixels"),
        NINO_P_ENUM(cr_aspect_params, aspect_ratio,
                    NINO_WORDS("custom", "Instagram Portrait - 1080x1350",
                               "Instagram Square - 1080x1080", "Instagram Landscape - 1080x608",
                               "Instagram Stories/Reels - 1080x1920",
                               "Facebook Landscape - 1080x1350", "Facebook Marketplace - 1200x1200",
                               "Facebook Stories - 1080x1920", "TikTok - 1080x1920",
                               "YouTube Banner - 2560×1440", "LinkedIn Profile Banner - 1584x396",
                               "LinkedIn Page Cover - 1128x191", "LinkedIn Post - 1200x627",
                               "Pinterest Pin Image - 1000x1500", "CivitAI Cover - 1600x400",
                               "OpenArt App - 1500x1000"),
                    0, .label = "Aspect ratio",
                    .help = "A size that is chosen by name, or the one below"),
        NINO_P_ENUM(cr_aspect_params, swap_dimensions, NINO_WORDS("Off", "On"), 0, .label = "Swap",
                    .help = "Exchanges width and height"),
        NINO_P_FLOAT(cr_aspect_params, upscale_factor, 1.0, 0.1, 100.0, 0.1,
                     .label = "Upscale factor", .help = "Handed on"),
        NINO_P_FLOAT(cr_aspect_params, prescale_factor, 1.0, 0.1, 100.0, 0.1,
                     .label = "Scale first", .help = "What width and height are multiplied by"),
        NINO_P_INT(cr_aspect_params, batch_size, 1, 1, 64, 1, .label = "Batch",
                   .help = "How many are made at once")),
    NINO_RUN(cr_aspect_run));

NINO_NODE(cr_sdxl, "CR SDXL Aspect Ratio", "CR SDXL Aspect Ratio",
          "Comfyroll Studio/Essential/Aspect Ratio",
          "A size of SDXL by name and an empty latent of it",
          NINO_OUTPUTS(NINO_PORT(width, INT), NINO_PORT(height, INT),
                       NINO_PORT(upscale_factor, FLOAT), NINO_PORT(batch_size, INT),
                       NINO_PORT(empty_latent, LATENT), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(cr_sdxl_params,
                      NINO_P_INT(cr_sdxl_params, width, 1024, 64, 8192, 1, .label = "Width",
                                 .help = "Width in pixels"),
                      NINO_P_INT(cr_sdxl_params, height, 1024, 64, 8192, 1, .label = "Height",
                                 .help = "Height in pixels"),
                      NINO_P_ENUM(cr_sdxl_params, aspect_ratio,
                                  NINO_WORDS("custom", "1:1 square 1024x1024",
                                             "3:4 portrait 896x1152", "5:8 portrait 832x1216",
                                             "9:16 portrait 768x1344", "9:21 portrait 640x1536",
                                             "4:3 landscape 1152x896", "3:2 landscape 1216x832",
                                             "16:9 landscape 1344x768", "21:9 landscape 1536x640"),
                                  0, .label = "Aspect ratio",
                                  .help = "A size that is chosen by name, or the one below"),
                      NINO_P_ENUM(cr_sdxl_params, swap_dimensions, NINO_WORDS("Off", "On"), 0,
                                  .label = "Swap", .help = "Exchanges width and height"),
                      NINO_P_FLOAT(cr_sdxl_params, upscale_factor, 1.0, 0.1, 100.0, 0.1,
                                   .label = "Upscale factor", .help = "Handed on"),
                      NINO_P_INT(cr_sdxl_params, batch_size, 1, 1, 64, 1, .label = "Batch",
                                 .help = "How many are made at once")),
          NINO_RUN(cr_sdxl_run));

typedef struct cr_size_params {
    int64_t width;
    int64_t height;
    double upscale_factor;
} cr_size_params;

static nino_status cr_size_run(nino_run *r, nino_error *err)
{
    const cr_size_params *p = r->params;
    const int64_t v[] = { p->width, p->height };
    nino_status st = give_ints(r, 0, 2, v, err);
    if (!st)
        st = nino_out_float(r, 2, p->upscale_factor, err);
    return st ? st : nino_ext_out_copy(r, 3, "", err);
}

NINO_NODE(cr_image_size, "CR Image Size", "CR Image Size (Legacy)",
          "Comfyroll Studio/Essential/Legacy", "A size by hand",
          NINO_OUTPUTS(NINO_PORT(Width, INT), NINO_PORT(Height, INT),
                       NINO_PORT(upscale_factor, FLOAT), NINO_PORT(show_help, STRING)),
          NINO_PARAMS(cr_size_params,
                      NINO_P_INT(cr_size_params, width, 512, 64, 2048, 1, .label = "Width",
                                 .help = "Width in pixels"),
                      NINO_P_INT(cr_size_params, height, 512, 64, 2048, 1, .label = "Height",
                                 .help = "Height in pixels"),
                      NINO_P_FLOAT(cr_size_params, upscale_factor, 1.0, 1.0, 2000.0, 0.01,
                                   .label = "Upscale factor", .help = "Handed on")),
          NINO_RUN(cr_size_run));
