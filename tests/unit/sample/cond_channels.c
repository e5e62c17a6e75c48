// What one entry of conditioning tells a network, number by number: the channels beside a picture's or a clip's latent, videos to
// follow; what is refused, in which words; that nothing stays behind when it goes.
#include "tests/unit/sample/cond_model.h"

// ---- channels beside a picture's latent -----------------------------------------------------------

// Makes m.concat and compares its value at item b, row y, column x, channel c with what `of` says.
static void concat(const nino_cond_entry *e, int channels,
                   double (*of)(const nino_cond_entry *e, int b, int cell, int c))
{
    make(e, NINO_COND_POSITIVE);
    const nino_shape want = NINO_SHAPE(B, H, W, channels);
    CHECK(m.concat && nino_shape_equal(&m.concat->shape, &want));
    for (int i = 0; i < B * H * W * channels; i++) {
        const int c = i % channels, cell = i / channels % (H * W), b = i / channels / (H * W);
        const double v = of(e, b, cell, c), got = (double) nino_array_f32(m.concat)[i];
        if (!(fabs(got - v) < 1e-4 * (1 + fabs(v)))) {
            fprintf(stderr, "item %d, cell %d, channel %d: %g, expected %g\n", b, cell, c, got, v);
            exit(1);
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.concat);
}

static double at(const nino_array *a, int b, int cell, int c) // item b, or the only one
{
    const int n = (int) a->shape.dim[a->shape.rank - 1];
    const int64_t cells = nino_shape_count(&a->shape) / n / a->shape.dim[0];
    return (double) nino_array_f32(a)[((b % a->shape.dim[0]) * cells + cell) * n + c];
}

static double of_blank(const nino_cond_entry *e, int b, int cell, int c)
{
    static const double grey[] = { 1, 0.8223, -0.6876, 0.6364, 0.1380 };
    (void) e, (void) b, (void) cell;
    return c < 5 ? grey[c] : 1;
}

static double mask_at(const nino_cond_entry *e, int b, int cell)
{
    const nino_array *a = e->concat_mask ? e->concat_mask : r.mask;
    return (double) nino_array_f32(a)[b % a->shape.dim[0] * H * W + cell];
}

static double of_inpaint(const nino_cond_entry *e, int b, int cell, int c)
{
    if (!c)
        return nearbyint(mask_at(e, b, cell));
    return e->concat_latent ? in_model(at(e->concat_latent, b, cell, c - 1))
                            : at(r.latent, b, cell, c - 1);
}

static double of_pix2pix(const nino_cond_entry *e, int b, int cell, int c)
{
    return e->concat_latent ? at(e->concat_latent, b, cell, c) : 0;
}

static double of_flux(const nino_cond_entry *e, int b, int cell, int c)
{
    const int n = (int) r.channels, k = c - n, y = cell / W, x = cell % W;
    if (c < n)
        return in_model(e->concat_latent ? at(e->concat_latent, b, cell, c) : 0);
    const nino_array *a = e->concat_mask ? e->concat_mask : r.mask;
    return a ? (double) nino_array_f32(
                   a)[((b % a->shape.dim[0] * H + y) * SIDE + k / SIDE) * W * SIDE + x * SIDE +
                      k % SIDE]
             : 1;
}

static void check_inpaint(const char *format, int channels)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    set_run(format, 1 + channels, NINO_SHAPE(B, H, W, channels));
    nino_array *latent = counted(NINO_SHAPE(1, H, W, channels), -2, 0.07);
    nino_array *image = counted(NINO_SHAPE(B, H, W, channels), 1, 0.03);
    nino_array *half = counted(NINO_SHAPE(1, H, W), 0, 0.125); // 0.5 is even, 1.5 is not
    nino_array *each = counted(NINO_SHAPE(B, H, W), 1, -0.04);
    r.latent = latent;
    concat(&e, 1 + channels, of_blank);
    e.concat_latent = image; // a picture alone is not looked at
    concat(&e, 1 + channels, of_blank);
    e.concat_mask = half;
    concat(&e, 1 + channels, of_inpaint);
    e.concat_latent = NULL;
    concat(&e, 1 + channels, of_inpaint);
    r.mask = each; // the entry's comes before it
    concat(&e, 1 + channels, of_inpaint);
    e.concat_mask = NULL;
    concat(&e, 1 + channels, of_inpaint);
    r.latent = image;
    concat(&e, 1 + channels, of_inpaint);
    e.concat_latent = counted(NINO_SHAPE(1, H, W, channels + 1), 0, 1);
    char words[96];
    snprintf(words, sizeof(words), "the conditioning's latent has %d channels, this model %d",
             channels + 1, channels);
    refused(&e, NINO_ERR_ARG, "shape", words);
    CHECK(latent->refs == 1 && image->refs == 1 && half->refs == 1 && each->refs == 1);
    drop(e.concat_latent);
    drop(e.context);
    drop(latent);
    drop(image);
    drop(half);
    drop(each);
}

static void check_pictures(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    nino_array *one = counted(NINO_SHAPE(1, H, W, 4), -2, 0.07),
               *both = counted(NINO_SHAPE(B, H, W, 4), 1, 0.03),
               *clip = counted(NINO_SHAPE(1, 1, H, W, 4), 1, 0.03);
    set_run("sd15", 4, NINO_SHAPE(B, H, W, 4)); // InstructPix2Pix: as nodes have it
    concat(&e, 4, of_pix2pix);
    e.concat_latent = one;
    concat(&e, 4, of_pix2pix);
    e.concat_latent = both;
    concat(&e, 4, of_pix2pix);
    e.concat_latent = clip;
    refused(&e, NINO_ERR_ARG, "shape", "the conditioning's latent has 4 channels, this model 4");
    e.concat_latent = NULL;
    static const int none[] = { 1, 3, 6, 20, 68 };
    for (int i = 0; i < 5; i++) {
        char words[80];
        net.in_channels = 4 + none[i];
        snprintf(words, sizeof(words),
                 "fake models with %d channels beside the latent are not supported", none[i]);
        refused(&e, NINO_ERR_UNSUPPORTED, "model", words);
    }
    for (int extra = -1; extra <= 0; extra++) {
        net.in_channels = 4 + extra;
        make(&e, NINO_COND_POSITIVE);
        CHECK(!m.concat);
        nino_cond_model_release(&m);
    }
    drop(one);
    drop(both);
    drop(clip);
    drop(e.context);
}

static void check_flux(void)
{
    enum { C = 16 };
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    nino_array *image = counted(NINO_SHAPE(1, H, W, C), -2, 0.07);
    nino_array *one = counted(NINO_SHAPE(1, H * SIDE, W * SIDE), 0, 0.01),
               *each = counted(NINO_SHAPE(B, H * SIDE, W * SIDE), 1, 0.02);
    for (int fill = 0; fill < 2; fill++) {
        const int extra = C + fill * SIDE * SIDE;
        set_run("flux", extra, NINO_SHAPE(B, H, W, C));
        net.kind = NINO_DIFFUSION_FLUX;
        CHECK(net.format->shift != 0); // of zeros something else comes
        for (int k = 0; k < 8; k++) {
            e.concat_latent = k % 2 ? image : NULL;
            e.concat_mask = k / 2 % 2 ? one : NULL;
            r.mask = k / 4 ? each : NULL;
            concat(&e, extra, of_flux);
        }
        e.concat_latent = one;
        refused(&e, NINO_ERR_ARG, "shape",
                "the conditioning's latent has 40 channels, this model 16");
    }
    drop(image);
    drop(one);
    drop(each);
    drop(e.context);
}

// ---- clips ----------------------------------------------------------------------------------------

enum { T = 2, PLANE = H * W, CLIP = T * PLANE };

// A model with `extra` channels beside a clip's latent, and a conditioning of c channels: how many of the
// first are a mask, or -1: refused.
static void check_clip(int extra, int c, int vision, int mask_channels)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .concat_latent = counted(NINO_SHAPE(1, T, H, W, c), 1, 0.01),
                          .concat_mask = counted(NINO_SHAPE(1, T - 1, H, W, 1), 0, 0.05) };
    set_run("sd15", extra, NINO_SHAPE(B, T, H, W, 4));
    net.vision_dim = vision;
    if (mask_channels < 0) {
        char words[160];
        snprintf(words, sizeof(words),
                 "the conditioning's latent has %d channels and 2 frames, this model takes %d "
                 "channels beside a latent of 2 frames",
                 c, extra);
        refused(&e, NINO_ERR_ARG, "shape", words);
    } else {
        make(&e, NINO_COND_POSITIVE);
        const nino_shape want = NINO_SHAPE(B, T, H, W, extra);
        CHECK(nino_shape_equal(&m.concat->shape, &want));
        for (int i = 0; i < B * CLIP * extra; i++) {
            const int cell = i / extra % CLIP, k = i % extra - mask_channels;
            // what is no whole latent stays as it is
            const bool is_whole = k < (extra - mask_channels) / 4 * 4;
            const double v = k >= 0 ? 1 + 0.01 * (cell * c + k) : 0,
                         mask = cell < PLANE ? 1 - 0.05 * cell : 0; // frames beyond are not given
            const double is = (double) nino_array_f32(m.concat)[i];
            CHECK(fabs(is - (k < 0 ? mask : is_whole ? in_model(v) : v)) < 1e-4);
        }
        nino_cond_model_release(&m);
    }
    drop(e.context);
    drop(e.concat_latent);
    drop(e.concat_mask);
}

static void check_clips(void)
{
    check_clip(8, 4, 0, 4);
    check_clip(8, 4, 6, 4);
    check_clip(8, 8, 0, 0); // as many as it takes
    check_clip(8, 8, 6, 0);
    check_clip(8, 12, 6, 4); // too many, of a model that sees pictures
    check_clip(8, 9, 6, 4);
    check_clip(8, 12, 0, -1);
    check_clip(8, 7, 6, -1);
    check_clip(8, 3, 0, -1);
    check_clip(4, 4, 0, 0);
    check_clip(4, 5, 6, -1); // no room for a mask
    check_clip(5, 1, 0, 4);
    check_clip(6, 6, 0, 0);
    check_clip(10, 6, 0, 4);
    check_clip(3, 3, 0, 0);
}

// Of another size: the middle, scaled; each of more clips than the batch has.
static void check_scaled_clip(void)
{
    nino_cond_entry e = { .concat_latent = counted(NINO_SHAPE(3, T, 2 * H, 2 * W + 2, 4), 0, 0),
                          .concat_mask = counted(NINO_SHAPE(1, T, 2 * H, 2 * W, 4), 0.25, 0) };
    set_run("sd15", 8, NINO_SHAPE(B, T, H, W, 4));
    float *v = nino_array_f32(e.concat_latent);
    const int wide = 2 * W + 2, frame = 2 * H * wide * 4;
    for (int i = 0; i < 3 * T * frame; i++) { // columns 0 and last are cut away
        const int x = i / 4 % wide;
        v[i] = x == 0 || x == wide - 1 ? 1e6f : (float) (i / frame + 10 * (i % 4) + 100 * x);
    }
    nino_array *out = NULL;
    CHECK_OK(nino_cond_concat_video(&r, &e, &out, &err), err);
    for (int i = 0; i < B * CLIP * 8; i++) {
        const int k = i % 8, cell = i / 8 % CLIP, b = i / 8 / CLIP ? 2 : 0; // the first and last
        const double is = (double) nino_array_f32(out)[i],
                     want = b * T + cell / PLANE + 10 * (k - 4) + 100 * (1.5 + 2 * (cell % W));
        CHECK(fabs(is - (k < 4 ? 0.75 : in_model(want))) < 1e-3);
    }
    nino_array_unref(&out);
    static const nino_shape wrong[] = { { .rank = 2, .dim = { T, 2 } },
                                        { .rank = 5, .dim = { 1, T, 1, 2, 3 } },
                                        { .rank = 5, .dim = { 1, T + 1, H, W, 4 } } };
    for (int k = 0; k < 3; k++) {
        char words[96];
        e.concat_mask->shape = wrong[k];
        snprintf(words, sizeof(words), "the conditioning's mask has %d latent frames, the latent 2",
                 (int) wrong[k].dim[1]);
        CHECK(nino_cond_concat_video(&r, &e, &out, &err) == NINO_ERR_ARG && !out);
        CHECK_STR(err.msg, words);
    }
    drop(e.concat_latent);
    drop(e.concat_mask);
}

// Videos to follow: two latents in the model's units, then the mask; none: all is to be made.
static void check_followed(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    set_run("sd3", 0, NINO_SHAPE(B, T, H, W, 16));
    CHECK(net.format->shift != 0);
    const int c = 2 * 16 + 3;
    for (int n = 0; n <= 2; n++) {
        for (int i = 0; i < n; i++) {
            drop(e.control[i]);
            e.control[i] = counted(NINO_SHAPE(1, T, H, W, c), i + 1, 0.01);
            e.control_strength[i] = 0.25 * (i + 1);
        }
        e.n_controls = n;
        net.control_dim = 0;
        make(&e, NINO_COND_POSITIVE);
        CHECK(!m.n_controls && !m.control[0]);
        nino_cond_model_release(&m);
        net.control_dim = c;
        make(&e, NINO_COND_POSITIVE);
        CHECK(m.n_controls == (n ? n : 1));
        for (int k = 0; k < m.n_controls; k++) {
            const nino_shape want = NINO_SHAPE(1, T, H, W, c);
            CHECK(nino_shape_equal(&m.control[k]->shape, &want));
            CHECK(m.control_strength[k] == (n ? 0.25f * (float) (k + 1) : 1));
            for (int i = 0; i < CLIP * c; i++) {
                const double v = n ? k + 1 + 0.01 * i : i % c < 32 ? 0 : 1;
                const double is = (double) nino_array_f32(m.control[k])[i];
                CHECK(fabs(is - (i % c < 32 ? in_model(v) : v)) < 1e-3);
            }
        }
        nino_cond_model_release(&m);
    }
    e.control[1]->shape = NINO_SHAPE(1, T, W, H, c);
    refused(
        &e, NINO_ERR_ARG, "shape",
        "the video to follow has another size than the latent, which has 2 frames of 5x3 cells");
    drop(e.control[0]);
    drop(e.control[1]);
    drop(e.context);
}

int main(void)
{
    check_inpaint("sd15", 4);
    check_inpaint("flux", 16);
    check_pictures();
    check_flux();
    check_clips();
    check_scaled_clip();
    check_followed();
    return 0;
}
