// Pictures through an upscale model in tiles: against ComfyUI's tiled_scale written from its
// description, against the picture as a whole, and in less memory, by plan and in a run.
#include "core/tile/tile_upscale.h"
#include "tests/random_upscale.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;

static nino_upscale *make(const random_up *r)
{
    char path[64];
    nino_upscale *u = NULL;
    snprintf(path, sizeof(path), "%s/m", dir.path);
    random_up_save(r, path, NINO_F16);
    nino_weights *w = test_open("%s", path);
    CHECK_OK(nino_upscale_load(w, "m", &u, &err), err);
    nino_weights_unref(&w);
    return u;
}

// Smooth, with something at every pixel; the last channel is no colour.
static nino_array *picture(int n, int h, int w, int c)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, c));
    uint64_t state = 7;
    for (int i = 0; i < n * h * w; i++)
        for (int k = 0; k < c; k++)
            nino_array_f32(a)[i * c + k] =
                k == 3 ? 0
                       : 0.5f +
                             0.3f * sinf((float) (i % w) * 0.05f + (float) (i / w) * 0.03f +
                                         (float) k) +
                             0.05f * random_vae_value(&state);
    return a;
}

static nino_array *enlarge(test_device *d, const nino_upscale *u, const nino_array *x,
                           nino_tile_report *r)
{
    nino_array *y = NULL;
    CHECK_OK(nino_upscale_tiled(d->s, u, x, &y, r, &err), err);
    return y;
}

// ---- tiled_scale -----------------------------------------------------------------------------

// Line t of n is a line of a ramp at both ends; a tile that the ramp would fill has none.
static double ramp(int t, int n, int feather)
{
    double m = 1;
    if (n <= feather)
        return 1;
    m *= t < feather ? (t + 1.0) / feather : 1;
    m *= n - 1 - t < feather ? (double) (n - t) / feather : 1;
    return m;
}

// One picture, tile by tile through the network without tiles.
static nino_array *plain_tiled(test_device *d, const nino_upscale *u, const nino_array *x, int side)
{
    const int64_t *s = x->shape.dim;
    const int h = (int) s[1], w = (int) s[2], f = u->scale, feather = 32 * f;
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(1, h * f, w * f, 3));
    double *div = calloc((size_t) (h * f * w * f), sizeof(*div));
    for (int y0 = 0; y0 < (h > side ? h - 32 : 1); y0 += side - 32)
        for (int x0 = 0; x0 < (w > side ? w - 32 : 1); x0 += side - 32) {
            const int th = h - y0 < side ? h - y0 : side, tw = w - x0 < side ? w - x0 : side;
            nino_array *t = test_crop(x, y0, x0, th, tw), *y = enlarge(d, u, t, NULL);
            for (int i = 0; i < th * f; i++)
                for (int k = 0; k < tw * f; k++) {
                    const double m = ramp(i, th * f, feather) * ramp(k, tw * f, feather);
                    const int64_t at = (int64_t) (y0 * f + i) * w * f + x0 * f + k;
                    for (int c = 0; c < 3; c++)
                        nino_array_f32(out)[at * 3 + c] +=
                            (float) (m * (double) nino_array_f32(y)[(i * tw * f + k) * 3 + c]);
                    div[at] += m;
                }
            nino_array_unref(&t);
            nino_array_unref(&y);
        }
    for (int64_t i = 0; i < (int64_t) h * f * w * f * 3; i++)
        nino_array_f32(out)[i] = (float) ((double) nino_array_f32(out)[i] / div[i / 3]);
    free(div);
    return out;
}

static void check_scale(test_device *d)
{
    static const struct {
        int h, w, n_tiles, channels;
        random_up r;
    } cases[] = {
        { 9, 600, 2, 3, { .width = 4, .convs = 2, .scale = 2 } },
        { 545, 600, 4, 3, { .width = 4, .convs = 2, .scale = 1 } }, // the last ones are 33 high
        { 1000, 20, 3, 4, { .width = 4, .convs = 2, .scale = 2 } },
        { 3, 513, 2, 3, { .width = 4, .grown = 2, .blocks = 1, .n_up = 1, .unshuffle = 2 } },
        { 1, 1, 1, 3, { .width = 4, .grown = 2, .blocks = 1, .n_up = 2, .unshuffle = 2 } },
        { 512, 512, 1, 3, { .width = 4, .convs = 2, .scale = 1 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        random_up r = cases[i].r;
        nino_tile_report report;
        r.fill = NET_RANDOM;
        nino_upscale *u = make(&r);
        nino_array *x = picture(1, cases[i].h, cases[i].w, cases[i].channels);
        nino_array *got = enlarge(d, u, x, &report), *want = plain_tiled(d, u, x, 512);
        printf("  %dx%d, %dx: %d tiles, largest difference %.1e\n", cases[i].w, cases[i].h,
               u->scale, report.n_tiles, test_max_diff(got, want));
        CHECK(report.n_tiles == cases[i].n_tiles && report.tiled == (cases[i].n_tiles > 1));
        CHECK(test_max_diff(got, want) <= 1e-5);
        CHECK(test_max_diff(got, got) == 0 && nino_array_f32(got)[0] >= 0);
        nino_array_unref(&x);
        nino_array_unref(&got);
        nino_array_unref(&want);
        nino_upscale_unref(&u);
    }
}

// ---- seams -----------------------------------------------------------------------------------

// The picture as a whole, which the node does only where it fits into a tile.
static nino_array *whole(test_device *d, const nino_upscale *u, const nino_array *x)
{
    nino_tensor *t = u->run(d->s, u, nino_upload(d->s, x, NINO_F32));
    nino_array *y = nino_download(d->s, nino_act_op(d->s, t, NINO_ACT_CLAMP01), NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    return y;
}

// The network with what it adds to the picture a tenth as large: what a trained one adds are
// details.
static nino_upscale *make_gentle(const random_up *r)
{
    char path[64], name[32];
    nino_st_entry e[16];
    nino_upscale *u = NULL;
    snprintf(path, sizeof(path), "%s/m", dir.path);
    snprintf(name, sizeof(name), "body.%d.", 2 * (r->convs - 1));
    random_up_save(r, path, NINO_F32);
    nino_weights *w = test_open("%s", path);
    const int n = nino_weights_count(w);
    CHECK(n <= 16);
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err);
        for (int64_t k = 0;
             !strncmp(t->name, name, strlen(name)) && k < nino_shape_count(&a->shape); k++)
            nino_array_f32(a)[k] *= 0.1f;
        e[i] = (nino_st_entry){ t->name, a };
    }
    CHECK_OK(nino_st_save(dir.path, "m", false, e, n, NULL, 0, &err), err);
    for (int i = 0; i < n; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    nino_weights_unref(&w);
    w = test_open("%s", path);
    CHECK_OK(nino_upscale_load(w, "m", &u, &err), err);
    nino_weights_unref(&w);
    return u;
}

// Tiles differ at their edges, where they see zeros instead of the picture, as far as their
// convolutions look: 12 of the 128 columns that two share. Nothing else changes, and of the
// difference the ramps leave less than 12 parts of 128: with a network that adds details to the
// picture less than 1 of 255.
static void check_seams(test_device *d)
{
    const random_up r = { .width = 8, .convs = 3, .scale = 4, .fill = NET_RANDOM };
    for (int gentle = 0; gentle < 2; gentle++) {
        nino_upscale *u = gentle ? make_gentle(&r) : make(&r);
        nino_array *x = picture(1, 24, 760, 3);
        nino_tile_report report;
        nino_array *tiled = enlarge(d, u, x, &report), *plain = whole(d, u, x);
        double edge = 0, rest = 0;
        for (int64_t i = 0; i < nino_shape_count(&tiled->shape); i++) {
            const int64_t column = i / 3 % (760 * 4) - 480 * 4; // of the shared ones
            const bool sees_zeros = (column >= 0 && column < 12) || (column >= 116 && column < 128);
            const double e =
                fabs((double) nino_array_f32(tiled)[i] - (double) nino_array_f32(plain)[i]) * 255;
            *(sees_zeros ? &edge : &rest) = fmax(e, sees_zeros ? edge : rest);
        }
        printf("  seams: %.3f of 255 where tiles see zeros, %.5f elsewhere; tiles differ by %.1f\n",
               edge, rest, report.seam.max);
        CHECK(report.n_tiles == 2 && report.seam.n_seams > 0 && report.seam.pixels > 0);
        CHECK(edge > 0 && edge <= report.seam.max * 12 / 128 && rest <= 0.01);
        CHECK(!gentle || edge <= 1);
        nino_array_unref(&x);
        nino_array_unref(&tiled);
        nino_array_unref(&plain);
        nino_upscale_unref(&u);
    }
}

// ---- memory ----------------------------------------------------------------------------------

static uint64_t peak_of(test_device *d)
{
    nino_mem_stat m;
    nino_pool_stat(d->be->pool, &m);
    return m.peak;
}

// Halved as ComfyUI does, but before anything ran out; what then comes is what it would make.
static void check_memory(const char *device)
{
    static const struct {
        int limit, side;                                                  // MiB
    } cases[] = { { 1024, 512 }, { 31, 512 }, { 26, 256 }, { 14, 128 } }; // 31: only in one piece
    const random_up r = { .width = 32, .convs = 2, .scale = 2, .fill = NET_RANDOM };
    nino_upscale *u = make(&r);
    nino_array *x = picture(1, 400, 400, 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t limit = (uint64_t) cases[i].limit << 20;
        nino_tile_report report, planned;
        test_device d, free_one;
        if (!test_device_open(&d, device, limit))
            break;
        CHECK(test_device_open(&free_one, device, 0));
        nino_array *y = enlarge(&d, u, x, &report),
                   *want = plain_tiled(&free_one, u, x, cases[i].side);
        const int most = cases[i].side < 400 ? cases[i].side : 400;
        const nino_profile p = d.be->profile;
        nino_backend *be = nino_plan_open(&p, limit, NULL, &err);
        nino_stream *s = nino_stream_create(
            &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
        CHECK(be && s);
        nino_array *empty = NULL;
        CHECK_OK(nino_upscale_tiled(s, u, x, &empty, &planned, &err), err);
        test_device dry = { be, s };
        printf("  %s, %d MiB: tiles of %d, plan %llu bytes, run %llu: %s\n", device, cases[i].limit,
               report.tile_w / 2, (unsigned long long) peak_of(&dry),
               (unsigned long long) peak_of(&d), report.why);
        CHECK(report.tile_w == 2 * most && planned.tile_w == report.tile_w);
        CHECK(peak_of(&dry) == peak_of(&d) && peak_of(&d) <= limit);
        CHECK(test_max_diff(y, want) <= 1e-5);
        CHECK(!strncmp(report.why, "tiles of ", 9) &&
              !!strstr(report.why, "no room") == (cases[i].side < 512));
        nino_array_unref(&y);
        nino_array_unref(&want);
        nino_array_unref(&empty);
        test_device_close(&dry);
        test_device_close(&d);
        test_device_close(&free_one);
        nino_upscale_unref(&u);
        u = make(&r);
    }
    nino_array_unref(&x);
    nino_upscale_unref(&u);
}

static void check_refusals(test_device *d)
{
    const random_up r = { .width = 4, .convs = 2, .scale = 8, .fill = NET_RANDOM };
    nino_upscale *u = make(&r);
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, 8192, 3)), *y = NULL;
    CHECK(nino_upscale_tiled(d->s, u, x, &y, NULL, &err) == NINO_ERR_RANGE && !y);
    CHECK(strstr(err.msg, "8192x1") && strstr(err.msg, "65535"));
    nino_array_unref(&x);
    x = picture(1, 4, 4, 3);
    nino_array_f32(x)[5] = NAN;
    CHECK(nino_upscale_tiled(d->s, u, x, &y, NULL, &err) == NINO_ERR_RANGE && !y);
    CHECK_STR(err.kind, "nan");
    nino_stream_clear_error(d->s);
    nino_array_unref(&x);
    nino_upscale_unref(&u);
}

int main(void)
{
    static const char *const files[] = { "m", NULL };
    test_device d;
    dir = test_dir_create();
    CHECK(test_device_open(&d, "ref", 0));
    check_scale(&d);
    check_seams(&d);
    check_refusals(&d);
    test_device_close(&d);
    check_memory("ref");
    check_memory("cl");
    test_dir_remove(&dir, files);
    return 0;
}
