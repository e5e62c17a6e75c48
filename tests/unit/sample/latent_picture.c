// Saved latents as pictures: each format is told from the others by its values, the colours are
// those of the previews; kinds without colours, batches, clips and what is refused.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ninodes/picture.h>

#include "core/file/latent_file.h"
#include "core/file/safetensors.h"
#include "core/sample/latent_preview.h"
#include "tests/test.h"

static char dir[] = "/tmp/ninodes-latent-picture-XXXXXX";
static unsigned state = 1;

// Of a variance of 1, as a model's latents are.
static float next(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++, state = state * 1664525U + 1013904223U)
        sum += (double) (state >> 8) / (1 << 24);
    return (float) sum;
}

static const char *saved(const nino_array *first)
{
    static char path[128];
    nino_error err = { 0 };
    const nino_array *none = nino_array_create(NINO_F32, NINO_SHAPE(0));
    const nino_st_entry entries[] = { { "latent_tensor", first },
                                      { "latent_format_version_0", none } };
    CHECK_OK(nino_st_save(dir, "a.latent", true, entries, 2, NULL, 0, &err), err);
    nino_array_unref((nino_array **) &none);
    snprintf(path, sizeof(path), "%s/a.latent", dir);
    return path;
}

static bool has_pixels(const nino_picture *p, int frame, const uint8_t *rgb, size_t n)
{
    const uint8_t *own = p->rgba + (size_t) frame * n * 4;
    for (size_t i = 0; i < n; i++)
        if (memcmp(own + i * 4, rgb + i * 3, 3) != 0 || own[i * 4 + 3] != 255)
            return false;
    return true;
}

static void check_format(const char *name)
{
    const nino_latent_format *f = nino_latent_format_find(name);
    const nino_shape s =
        f->time_factor > 1 ? NINO_SHAPE(1, f->channels, 3, 8, 6) : NINO_SHAPE(1, f->channels, 8, 6);
    const int64_t inner = f->time_factor > 1 ? 3 * 8 * 6 : 8 * 6;
    nino_array *a = nino_array_create(NINO_F32, s), *rgb = NULL;
    nino_picture p = { 0 };
    nino_error err = { 0 };
    for (int64_t i = 0; i < nino_shape_count(&s); i++)
        nino_array_f32(a)[i] = next();
    nino_latent_process_out(f, nino_array_f32(a), 1, inner);
    CHECK_OK(nino_picture_load(saved(a), &p, &err), err);
    const int fold = f->fold ? f->fold : 1, pixels = 48 * fold * fold;
    CHECK(p.width == 6 * fold && p.height == 8 * fold && !p.is_cut);
    CHECK(p.frames == (f->time_factor > 1 ? 3 : 1));
    CHECK_STR(p.format, "latent");
    nino_latent_process_in(f, nino_array_f32(a), 1, inner);
    CHECK_OK(nino_preview_rgb(f, nino_array_f32(a), &s, &rgb, &err), err);
    CHECK(rgb->shape.dim[0] == p.frames);
    for (int i = 0; i < p.frames; i++)
        CHECK(has_pixels(&p, i, (const uint8_t *) rgb->data + (size_t) i * pixels * 3, pixels));
    nino_array_unref(&rgb);
    nino_array_unref(&a);
    nino_picture_release(&p);
}

// Two of a batch, of a kind that nobody has colours for: dark to bright from left to right.
static void check_unknown(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(2, 7, 2, 4));
    nino_picture p = { 0 };
    nino_error err = { 0 };
    for (int i = 0; i < 2 * 7 * 2 * 4; i++)
        nino_array_f32(a)[i] = (float) (i % 4) * (i < 7 * 2 * 4 ? 1.0F : -1.0F);
    const char *path = saved(a);
    CHECK_OK(nino_picture_load(path, &p, &err), err);
    CHECK(p.width == 4 && p.height == 2 && p.frames == 2);
    CHECK(p.rgba[0] < p.rgba[4] && p.rgba[4] < p.rgba[8] && p.rgba[8] < p.rgba[12]);
    CHECK(p.rgba[0] == p.rgba[1] && p.rgba[0] == p.rgba[2]);
    CHECK(p.rgba[32] > p.rgba[36]); // the second one the other way
    for (int i = 0; i < 16; i++) {  // 0 .. 3 have the mean 1.5 and the variance 1.25
        const double v = ((i < 8 ? i % 4 : 3 - i % 4) - 1.5) / (4 * sqrt(1.25)) + 0.5;
        CHECK(p.rgba[4 * i] == (int) (255 * v) && p.rgba[4 * i + 3] == 255);
    }
    nino_picture_release(&p);
    CHECK_OK(nino_picture_load_frames(path, 1, &p, &err), err);
    CHECK(p.frames == 1 && p.is_cut);
    nino_picture_release(&p);
    nino_array_f32(a)[0] = NAN;
    CHECK_OK(nino_picture_load(saved(a), &p, &err), err);
    nino_picture_release(&p);
    nino_array_unref(&a);
}

// Frames of a clip on one sheet: as many as it holds, evenly chosen from the first to the last, row by
// row in as many columns as make it square; frame i is filled with i.
static void check_sheet(void)
{
    enum { H = 2, W = 3 };
    for (int had = 1; had <= 3 * NINO_PREVIEW_FRAMES + 1; had++) {
        nino_array *frames = nino_array_create(NINO_U8, NINO_SHAPE(had, H, W, 3)), *sheet = NULL;
        nino_error err = { 0 };
        CHECK(frames);
        for (int i = 0; i < had * H * W * 3; i++)
            ((uint8_t *) frames->data)[i] = (uint8_t) (1 + i / (H * W * 3));
        CHECK_OK(nino_preview_sheet(frames, &sheet, &err), err);
        const int n = had < NINO_PREVIEW_FRAMES ? had : NINO_PREVIEW_FRAMES;
        int columns = 1;
        while (columns * columns < n)
            columns++;
        const int rows = n / columns + (n % columns > 0);
        CHECK(sheet->shape.dim[1] == rows * H && sheet->shape.dim[2] == columns * W);
        for (int i = 0; i < rows * H * columns * W * 3; i++) {
            const int row = i / (columns * W * 3), column = i / 3 % (columns * W);
            const int at = row / H * columns + column / W;
            const int frame = n == had ? at : at * (had - 1) / (n - 1);
            CHECK(((uint8_t *) sheet->data)[i] == (at < n ? 1 + frame : 0));
        }
        nino_array_unref(&sheet);
        nino_array_unref(&frames);
    }
}

static void check_refused(void)
{
    char path[128];
    nino_error err = { 0 };
    nino_picture p = { 0 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(4));
    const nino_st_entry entry = { "weight", a };
    memset(a->data, 0, a->bytes);
    CHECK_OK(nino_st_save(dir, "model.latent", true, &entry, 1, NULL, 0, &err), err);
    snprintf(path, sizeof(path), "%s/model.latent", dir);
    CHECK(nino_picture_load(path, &p, &err) == NINO_ERR_FORMAT && !p.rgba);
    CHECK(strstr(err.msg, "latent_tensor") && !strcmp(err.where, path));
    CHECK(truncate(path, 40) == 0);
    CHECK(nino_picture_load(path, &p, &err) == NINO_ERR_FORMAT && !p.rgba);
    unlink(path);
    nino_array_unref(&a);
}

int main(void)
{
    char path[128];
    CHECK(mkdtemp(dir));
    check_format("sd15");
    check_format("sdxl");
    check_format("sd3");
    check_format("flux");
    check_format("flux2");
    check_format("wan21");
    check_format("wan22");
    check_unknown();
    check_sheet();
    check_refused();
    snprintf(path, sizeof(path), "%s/a.latent", dir);
    unlink(path);
    rmdir(dir);
    return 0;
}
