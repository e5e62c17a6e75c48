// Where tiles lie, and decode and encode in tiles against the whole image and against ComfyUI's
// blending written out plainly.
#include "core/tile/tile_way.h"
#include "tests/random_tiny.h"
#include "tests/vae.h"

// ---- layouts ---------------------------------------------------------------------------------
static void check_starts(int size, int tile, int overlap)
{
    int pos[200], n = 0;
    const int got = nino_tile_starts(size, tile, overlap, pos, 200);
    if (size <= tile) {
        CHECK(got == 1 && pos[0] == 0);
        return;
    }
    for (int p = 0; p < size - overlap; p += tile - overlap, n++)
        CHECK(n < got && pos[n] == p);
    CHECK(n == got);
}

static void check_axis(int size, int tile, int overlap)
{
    static nino_tile_axis stock, even;
    CHECK(nino_tile_axis_stock(&stock, size, tile, overlap));
    CHECK(nino_tile_axis_even(&even, size, tile, overlap));
    CHECK(stock.n == even.n);
    const nino_tile_axis *axes[] = { &stock, &even };
    for (int k = 0; k < 2; k++) {
        const nino_tile_axis *a = axes[k];
        CHECK(a->pos[0] == 0 && a->pos[a->n - 1] + a->len[a->n - 1] == size);
        for (int i = 0; i < a->n; i++)
            CHECK(a->len[i] > 0 && a->len[i] <= tile && a->len[i] <= size);
        for (int i = 1; i < a->n; i++) {
            const int shared = a->pos[i - 1] + a->len[i - 1] - a->pos[i];
            CHECK(k ? shared >= overlap && shared <= overlap + 2 : shared == overlap);
            CHECK(!k || a->len[i] == a->len[0]);
        }
    }
}

static void check_layouts(void)
{
    static nino_tile_axis a;
    for (int size = 1; size < 150; size += 1)
        for (int tile = 4; tile < 70; tile += 5)
            for (int overlap = 0; overlap <= tile / 2; overlap += 3) {
                check_starts(size, tile, overlap);
                check_axis(size, tile, overlap);
            }
    // ComfyUI's passes over 128 cells: 64/16, 128/16 and 32/16
    int pos[8];
    CHECK(nino_tile_starts(128, 64, 16, pos, 8) == 3 && pos[1] == 48 && pos[2] == 96);
    CHECK(nino_tile_starts(128, 128, 16, pos, 8) == 1);
    CHECK(nino_tile_starts(128, 32, 16, pos, 8) == 7 && pos[6] == 96);
    // no more are written than there are, nor than there is room for
    for (int room = 0; room < 8; room++) {
        for (int i = 0; i < 8; i++)
            pos[i] = -7;
        CHECK(nino_tile_starts(128, 64, 16, pos, room) == 3);
        for (int i = 0; i < 8; i++)
            CHECK(pos[i] == (i < 3 && i < room ? 48 * i : -7));
        CHECK(nino_tile_starts(128, 128, 16, pos + 7, room == 0 ? 0 : 1) == 1 &&
              pos[7] == (room ? 0 : -7));
        CHECK(nino_tile_starts(128, 64, 16, NULL, room) == 3);
    }
    // no progress, or more tiles than anybody wants
    CHECK(nino_tile_starts(128, 16, 16, pos, 8) == 0);
    CHECK(!nino_tile_axis_stock(&a, 128, 16, 16) && !nino_tile_axis_even(&a, 128, 16, 20));
    CHECK(!nino_tile_axis_even(&a, 100000, 4, 1));
}

// ---- pictures --------------------------------------------------------------------------------
enum { Z = 4, F = 4, MARGIN = 8 }; // the network below sees less than 8 cells around

static test_device dev;
static nino_vae *vae;
static const nino_tile_params whole = { .style = NINO_TILE_NEVER };

static nino_array *noise(int n, int h, int w, int c, float from, float to)
{
    uint64_t state = (uint64_t) (n * 7919 + h * 104729 + w) | 1;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, c));
    CHECK(a != NULL);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        nino_array_f32(a)[i] = from + (to - from) * (float) (state >> 40) / (float) (1 << 24);
    }
    return a;
}

static float at(const nino_array *a, int64_t y, int64_t x, int64_t c)
{
    return nino_array_f32(a)[(y * a->shape.dim[2] + x) * a->shape.dim[3] + c];
}

// The network's own values, not clamped.
static nino_array *raw_decode(const nino_array *z)
{
    nino_tensor *t = vae->decode(dev.s, vae, nino_upload(dev.s, z, NINO_F32));
    nino_array *a = nino_download(dev.s, t, NINO_F32);
    CHECK(a != NULL);
    return a;
}

// ComfyUI's tiled_scale, one pass, as its documentation reads: every tile decoded on its own, a
// ramp of (k+1)/feather on all sides, weighted mean. Sums go to out, which is divided by nothing.
static void plain_pass(const nino_array *z, int tile_h, int tile_w, int overlap, double *out)
{
    const int h = (int) z->shape.dim[1], w = (int) z->shape.dim[2];
    const size_t n = (size_t) (h * w) * F * F;
    double *sum = calloc(n * 3, sizeof(*sum)), *div = calloc(n, sizeof(*div));
    int ys[64], xs[64];
    const int ny = nino_tile_starts(h, tile_h, overlap, ys, 64);
    const int nx = nino_tile_starts(w, tile_w, overlap, xs, 64);
    CHECK(sum && div);
    for (int k = 0; k < ny * nx; k++) {
        const int y0 = ys[k / nx], x0 = xs[k % nx];
        const int th = h - y0 < tile_h ? h - y0 : tile_h, tw = w - x0 < tile_w ? w - x0 : tile_w;
        nino_array *part = test_crop(z, y0, x0, th, tw);
        nino_array *d = raw_decode(part);
        const int feather = overlap * F;
        for (int y = 0; y < th * F; y++)
            for (int x = 0; x < tw * F; x++) {
                double m = 1;
                const int edge[4] = { y, th * F - 1 - y, x, tw * F - 1 - x };
                for (int e = 0; e < 4; e++)
                    if (feather < (e < 2 ? th : tw) * F && edge[e] < feather && ny * nx > 1)
                        m *= (double) (edge[e] + 1) / feather;
                const size_t i = (size_t) ((y0 * F + y) * w * F + x0 * F + x);
                div[i] += m;
                for (int c = 0; c < 3; c++)
                    sum[3 * i + (size_t) c] += m * (double) at(d, y, x, c);
            }
        nino_array_unref(&part);
        nino_array_unref(&d);
    }
    for (size_t i = 0; i < 3 * n; i++)
        out[i] += sum[i] / div[i / 3];
    free(sum);
    free(div);
}

static void check_stock(void)
{
    const nino_tile_params p = { .style = NINO_TILE_STOCK, .tile = 24 * F, .overlap = 6 * F };
    nino_tile_report r;
    nino_array *z = noise(1, 30, 41, Z, -1, 1);
    nino_array *got = test_decode(&dev, vae, z, &p, &r);
    double *want = calloc((size_t) nino_shape_count(&got->shape), sizeof(*want));
    CHECK(want != NULL);
    plain_pass(z, 48, 12, 6, want);
    plain_pass(z, 12, 48, 6, want);
    plain_pass(z, 24, 24, 6, want);
    double worst = 0;
    for (int64_t i = 0; i < nino_shape_count(&got->shape); i++)
        worst = fmax(worst, fabs((double) nino_array_f32(got)[i] - fmin(fmax(want[i] / 3, 0), 1)));
    printf("  stock passes against plain loops: largest difference %.1e\n", worst);
    CHECK(worst < 2e-6);
    // 1x6, 4x1 and 2x2 tiles
    CHECK(r.tiled && r.n_tiles == 6 + 4 + 2 * 2 && r.overlap == 6 * F &&
          r.seam.n_seams == 5 + 3 + 4);
    CHECK(r.seam.mean > 0 && r.seam.max > r.seam.mean);
    CHECK(r.seam.pixels == 30 * 41 * F * F && r.seam.recomputed > 2 * r.seam.pixels);
    free(want);
    nino_array_unref(&got);
    nino_array_unref(&z);

    // small enough for one tile in every pass: the plain decode
    z = noise(1, 12, 10, Z, -1, 1);
    nino_array *a = test_decode(&dev, vae, z, &p, &r), *b = test_decode(&dev, vae, z, &whole, NULL);
    CHECK(!r.tiled && r.n_tiles == 1 && !memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&z);
}

// Values away from every overlap are the same bits as in the whole image; those inside differ by
// what the missing context costs. Returns the share of exact values.
static double check_core(const nino_array *got, const nino_array *want, int tile, int overlap,
                         int unit)
{
    static nino_tile_axis ax, ay;
    const int64_t *d = got->shape.dim;
    int64_t exact = 0;
    CHECK(nino_tile_axis_even(&ax, (int) d[2] / unit, tile, overlap));
    CHECK(nino_tile_axis_even(&ay, (int) d[1] / unit, tile, overlap));
    for (int64_t i = 0; i < nino_shape_count(&got->shape); i++) {
        const int x = (int) (i / d[3] % d[2]), y = (int) (i / d[3] / d[2] % d[1]);
        bool is_core = true;
        for (int k = 1; k < ax.n; k++)
            is_core &= x < ax.pos[k] * unit || x >= (ax.pos[k - 1] + ax.len[k - 1]) * unit;
        for (int k = 1; k < ay.n; k++)
            is_core &= y < ay.pos[k] * unit || y >= (ay.pos[k - 1] + ay.len[k - 1]) * unit;
        exact += is_core;
        CHECK(!is_core || nino_array_f32(got)[i] == nino_array_f32(want)[i]);
    }
    return (double) exact / (double) nino_shape_count(&got->shape);
}

static void check_even(int h, int w, int tile, int overlap, int n_tiles)
{
    const nino_tile_params p = { .style = NINO_TILE_ALWAYS,
                                 .tile = tile * F,
                                 .overlap = overlap * F };
    nino_tile_report r;
    nino_array *z = noise(2, h, w, Z, -1, 1);
    nino_array *got = test_decode(&dev, vae, z, &p, &r);
    nino_array *want = test_decode(&dev, vae, z, &whole, NULL);
    CHECK(r.n_tiles == n_tiles && r.tiled == (n_tiles > 1));
    CHECK(r.tile_w <= tile * F && r.tile_h <= tile * F && r.tile_w <= w * F && r.tile_h <= h * F);
    const double exact = check_core(got, want, tile, overlap, F), nmse = test_nmse(got, want);
    printf("  %dx%d, tile %d, overlap %d: %d tiles, %.0f%% exact, nmse %.1e, seam %.2f/255\n", w, h,
           tile, overlap, r.n_tiles, 100 * exact, nmse, r.seam.mean);
    CHECK(exact > 0.5 && (r.tiled ? nmse > 0 && nmse < 1e-3 : nmse == 0 && exact == 1));
    CHECK(r.seam.pixels == (r.tiled ? 2u * (unsigned) (h * w) * F * F : 0u));
    nino_array *all[] = { z, got, want };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
}

static void check_encode(void)
{
    const nino_tile_params p = { .style = NINO_TILE_ALWAYS, .tile = 40 * F, .overlap = 10 * F };
    nino_tile_report r;
    // odd sizes lose (size % factor) pixels, half of them at the top and the left
    nino_array *x = noise(1, 60 * F + 3, 50 * F + 2, 4, 0, 1), *part;
    nino_array *whole_z = test_encode(&dev, vae, x, &whole, &r);
    CHECK(!r.tiled && whole_z->shape.dim[1] == 60 && whole_z->shape.dim[2] == 50);
    nino_array *rgb = nino_array_create(NINO_F32, NINO_SHAPE(1, 60 * F, 50 * F, 3));
    for (int64_t i = 0; i < 60 * F * 50 * F * 3; i++)
        nino_array_f32(rgb)[i] = at(x, i / (3 * 50 * F) + 1, i / 3 % (50 * F) + 1, i % 3);
    part = test_encode(&dev, vae, rgb, &whole, NULL);
    CHECK(!memcmp(part->data, whole_z->data, part->bytes));
    nino_array *tiled = test_encode(&dev, vae, x, &p, &r);
    CHECK(r.tiled && r.n_tiles == 4 && r.seam.n_seams == 4);
    const double nmse = test_nmse(tiled, whole_z);
    printf("  encode: %.0f%% exact, nmse %.1e\n", 100 * check_core(tiled, whole_z, 40, 10, 1),
           nmse);
    CHECK(nmse > 0 && nmse < 1e-2);
    nino_array *all[] = { x, whole_z, rgb, part, tiled };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
}

// ---- parameters, memory, events --------------------------------------------------------------
static void refused(const nino_array *z, nino_tile_params p, nino_status want, const char *words)
{
    nino_error err = { 0 };
    nino_array *out = NULL;
    const nino_status st = nino_vae_decode_tiled(dev.s, vae, z, &p, &out, NULL, &err);
    if (st != want || !strstr(err.msg, words))
        fprintf(stderr, "%s: %s\n", nino_status_name(st), err.msg);
    CHECK(st == want && !out && strstr(err.msg, words));
    CHECK_STR(err.where, vae->name);
}

static void check_parameters(void)
{
    nino_tile_params p = { .style = NINO_TILE_ALWAYS, .tile = 32 * F, .overlap = 31 * F };
    nino_tile_report r;
    nino_array *z = noise(1, 40, 40, Z, -1, 1);
    nino_array *a = test_decode(&dev, vae, z, &p, &r); // an overlap above tile/4 is tile/4
    CHECK(r.overlap == 8 * F && r.n_tiles == 4);
    nino_array_unref(&a);
    refused(z, (nino_tile_params){ .style = NINO_TILE_ALWAYS, .tile = 3 * F }, NINO_ERR_RANGE,
            "tile");
    refused(z, (nino_tile_params){ .style = NINO_TILE_STOCK, .tile = 64, .overlap = -4 },
            NINO_ERR_RANGE, "overlap");
    nino_array *other = noise(1, 8, 8, 16, -1, 1);
    refused(other, whole, NINO_ERR_RANGE, "16 channels");
    nino_array *video = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 8, 8, Z));
    refused(video, whole, NINO_ERR_UNSUPPORTED, "video");
    nino_array_f32(z)[7] = NAN;
    refused(z, whole, NINO_ERR_RANGE, "not finite");
    nino_array_unref(&z);
    nino_array_unref(&other);
    nino_array_unref(&video);
}

static void check_events(void)
{
    const nino_tile_params p = { .style = NINO_TILE_ALWAYS, .tile = 24 * F, .overlap = 4 * F };
    static nino_event e[4096];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = nino_mon_reader_create(m);
    nino_error err = { 0 };
    nino_tile_report r;
    nino_array *z = noise(1, 20, 64, Z, -1, 1), *out = NULL;
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = dev.be, .monitor = m }, &err);
    CHECK(m && reader && s);
    CHECK_OK(nino_vae_decode_tiled(s, vae, z, &p, &out, &r, &err), err);
    const size_t n = nino_mon_reader_read(reader, e, 4096, NULL);
    uint64_t core = 0;
    int scopes = 0, infos = 0, seams = 0;
    uint32_t scope = 0;
    for (size_t i = 0; i < n; i++) {
        if (e[i].kind == NINO_EV_TILE) {
            CHECK(e[i].u.scope.arg0 == (uint32_t) scopes && e[i].u.scope.arg1 == 3);
            scope = e[i].id;
            scopes++;
        } else if (e[i].kind == NINO_EV_TILE_INFO) {
            CHECK(e[i].parent == scope && e[i].u.tile.order == infos && e[i].u.tile.n == 3);
            CHECK(e[i].u.tile.h == 20 * F && e[i].u.tile.core_h == 20 * F);
            CHECK(e[i].u.tile.ns > 0 && e[i].u.tile.peak_bytes > 0 && e[i].u.tile.n_passes == 1);
            CHECK(e[i].u.tile.core_x >= e[i].u.tile.x && e[i].u.tile.core_w < e[i].u.tile.w);
            CHECK_STR(nino_monitor_name_text(m, e[i].name), r.why);
            core += e[i].u.tile.core_w;
            infos++;
        } else if (e[i].kind == NINO_EV_SEAM) {
            CHECK(e[i].u.seam.n_seams == 2 && e[i].u.seam.pixels == 20 * 64 * F * F);
            CHECK(e[i].u.seam.recomputed == 20 * 8 * F * F);
            CHECK(e[i].u.seam.mean > 0 && e[i].u.seam.mean == (float) r.seam.mean);
            CHECK(e[i].u.seam.max == (float) r.seam.max);
            CHECK(e[i].u.seam.gradient == (float) r.seam.gradient);
            seams++;
        }
    }
    CHECK_STR(r.why, "tiles were asked for");
    CHECK(scopes == 3 && infos == 3 && seams == 1);
    CHECK(core == (64 - 2 * 4) * F); // everything but the two overlaps
    nino_array_unref(&z);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
}

// A reason that is too long for its place is cut.
static void check_long_reason(void)
{
    struct {
        nino_tile_report r;
        char behind[256];
    } at = { 0 };
    nino_tile_way way = { .style = NINO_TILE_ALWAYS, .tile = 52, .overlap = 8 };
    const nino_tile_fit fit = { .v = vae, .is_decode = true, .h = 64, .w = 64 };
    test_device d;
    CHECK(test_device_open(&d, "ref", 3 << 20));
    memset(at.r.why, 'x', sizeof(at.r.why) - 10);
    nino_tile_fit_way(d.s, &fit, &way, &at.r);
    CHECK(way.tile < 52 && strlen(at.r.why) == sizeof(at.r.why) - 1);
    CHECK_STR(at.r.why + sizeof(at.r.why) - 10, "; tiles o");
    for (size_t i = 0; i < sizeof(at.behind); i++)
        CHECK(!at.behind[i]);
    test_device_close(&d);
}

// With little memory: AUTO tiles from the start, the whole image falls back to tiles, and when even
// small tiles do not fit the error says how much was missing.
static void check_memory(const char *device)
{
    nino_array *z = noise(1, 64, 64, Z, -1, 1), *out = NULL;
    nino_tile_params p = { .style = NINO_TILE_AUTO, .tile = 52 * F, .overlap = 8 * F };
    uint64_t act = 0, weights = 0, part = 0;
    nino_tile_report r;
    nino_error err = { 0 };
    test_device d;
    CHECK_OK(nino_vae_decode_peak(dev.s, vae, 1, 64, 64, &act, &weights, &err), err);
    CHECK_OK(nino_vae_decode_peak(dev.s, vae, 1, 32, 32, &part, &weights, &err), err);
    printf("  64x64 cells need %.1f MiB and %.2f for weights, 32x32 %.1f\n", (double) act / 1048576,
           (double) weights / 1048576, (double) part / 1048576);
    CHECK(act > 3 * part && act < 5 * part && weights > 0);
    nino_array *want = test_decode(&dev, vae, z, &p, &r);
    CHECK(!r.tiled && strstr(r.why, "whole image"));

    CHECK(test_device_open(&d, device, act / 2));
    nino_array *got = test_decode(&d, vae, z, &p, &r);
    printf("  budget %.1f MiB: %s, %d tiles of %dx%d\n", (double) act / 2 / 1048576, r.why,
           r.n_tiles, r.tile_w, r.tile_h);
    CHECK(r.tiled && r.tile_w < 52 * F && r.overlap == 8 * F && strstr(r.why, "tiled:") &&
          strstr(r.why, "no room") && test_nmse(got, want) < 2e-2);
    nino_array_unref(&got);
    got = test_decode(&d, vae, z, &whole, &r);
    printf("  whole image asked for: %s, nmse %.1e\n", r.why, test_nmse(got, want));
    CHECK(r.tiled && r.overlap == 16 * F && strstr(r.why, "tiled:") && test_nmse(got, want) < 1e-2);
    nino_array_unref(&got);
    test_device_close(&d);

    CHECK(test_device_open(&d, device, act / 500));
    CHECK(nino_vae_decode_tiled(d.s, vae, z, &p, &out, &r, &err) == NINO_ERR_NOMEM && !out);
    printf("  budget %.2f MiB: %s\n", (double) act / 500 / 1048576, err.msg);
    test_device_close(&d);
    nino_array_unref(&z);
    nino_array_unref(&want);
}

int main(void)
{
    static const char *const files[] = { "v", NULL }, *const devices[] = { "ref", "cl", NULL };
    const random_tiny t = { .width = 8,
                            .levels = 3,
                            .blocks = 1,
                            .z = Z,
                            .encoder = "taesd_encoder.",
                            .decoder = "taesd_decoder." };
    const test_dir dir = test_dir_create();
    nino_error err = { 0 };
    check_layouts();
    CHECK_OK(random_tiny_save(&t, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "a tiny vae", &vae, &err), err);
    nino_weights_unref(&w);
    CHECK(vae->factor == F && vae->channels == Z);
    check_long_reason();
    for (const char *const *name = devices; *name; name++) {
        if (!test_device_open(&dev, *name, 0))
            continue;
        printf("%s\n", *name);
        check_stock();
        check_even(40, 90, 64, 16, 2);
        check_even(50, 41, 40, 10, 4);
        check_even(30, 31, 64, 16, 1);
        check_encode();
        check_parameters();
        check_events();
        check_memory(*name);
        test_device_close(&dev);
    }
    nino_vae_unref(&vae);
    test_dir_remove(&dir, files);
    return 0;
}
