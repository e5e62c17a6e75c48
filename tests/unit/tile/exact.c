// Exact tiles: AutoencoderKL decoded in bands of rows whose norms see the whole picture gives what
// the whole decode gives, in less memory, as plan says to the byte; and when it is chosen.
#include "core/tile/fit.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

#include <malloc.h>

#define MIB 1048576.0
enum { H = 45, W = 28 }; // cells

static nino_vae *vae;
static test_device dev;
static nino_error err;
static nino_array *latent;

static nino_vae *make(bool is_folded)
{
    static const char *const files[] = { "v", NULL };
    const test_dir dir = test_dir_create();
    const random_vae r = { .ch = 32,
                           .mult = { 1, 2 },
                           .n_levels = 2,
                           .n_res = 1,
                           .z = 4,
                           .quant_convs = true,
                           .is_folded = is_folded,
                           .dtype = NINO_F32,
                           .seed = 11 };
    nino_vae *v = NULL;
    CHECK_OK(random_vae_save(r, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "random", &v, &err), err);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
    return v;
}

// Neither noise nor even: the left half is brighter, so that parts have other statistics.
static nino_array *make_latent(void)
{
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, H, W, vae->channels));
    CHECK(z != NULL);
    for (int i = 0; i < H * W * vae->channels; i++)
        nino_array_f32(z)[i] =
            (float) (i * 31 % 17) / 8 - 1 + (i / vae->channels / W < H / 3 ? 1.5f : 0);
    return z;
}

typedef struct canvas {
    nino_stream *s;
    nino_array *a;
    int64_t next;
    int n;
} canvas;

static void put(void *priv, int64_t first, nino_tensor *rows)
{
    canvas *c = priv;
    nino_array *a = nino_download(c->s, rows, NINO_F32);
    CHECK(a && first == c->next && a->shape.dim[2] == W * vae->factor && a->shape.dim[3] == 3);
    memcpy(nino_array_f32(c->a) + first * W * vae->factor * 3, a->data, a->bytes);
    c->next = first + a->shape.dim[1];
    c->n++;
    nino_array_unref(&a);
}

// The network's own values, not clamped. rows 0: whole.
static nino_array *decode(nino_stream *s, int rows, bool on_host, int *n)
{
    nino_tensor *z = nino_upload(s, latent, nino_stream_act_type(s));
    canvas c = { .s = s };
    const nino_vae_bands how = { rows, on_host, put, &c };
    if (!rows)
        return nino_download(s, vae->decode(s, vae, z), NINO_F32);
    c.a = nino_array_create(NINO_F32, NINO_SHAPE(1, H * vae->factor, W * vae->factor, 3));
    CHECK(c.a);
    vae->decode_bands(s, vae, z, &how);
    CHECK_OK(nino_stream_status(s, &err), err);
    CHECK(c.next == H * vae->factor);
    if (n)
        *n = c.n;
    return c.a;
}

// f32: within rounding. f16: as near to the f32 result as the whole decode in f16 is.
static void check_equal(bool is_ref)
{
    static const int rows[] = { 4, 14, 1000 };
    nino_array *want = decode(dev.s, 0, false, NULL);
    for (int i = is_ref; i < 6; i += 2 + is_ref) { // ref is slow
        int n = 0;
        nino_array *got = decode(dev.s, rows[i / 2], i % 2, &n);
        const double nmse = test_nmse(got, want);
        printf("  bands of %d rows%s: %d, nmse %.1e\n", rows[i / 2], i % 2 ? ", host" : "", n,
               nmse);
        CHECK(nmse <= 1e-10);
        CHECK(n == (H * vae->factor + rows[i / 2] - 1) / rows[i / 2]);
        nino_array_unref(&got);
    }
    nino_stream_set_precision(dev.s, NINO_PREC_F16);
    nino_array *half = decode(dev.s, 0, false, NULL), *got = decode(dev.s, 14, true, NULL);
    printf("  f16: whole nmse %.1e, bands %.1e\n", test_nmse(half, want), test_nmse(got, want));
    CHECK(test_nmse(got, want) <= 1.5 * test_nmse(half, want));
    nino_stream_set_precision(dev.s, NINO_PREC_F32);
    nino_array_unref(&half);
    nino_array_unref(&got);
    nino_array_unref(&want);
}

// What a decode takes besides weights, which are there already.
static uint64_t peak(nino_stream *s, int rows, bool on_host)
{
    nino_pool *pool = nino_stream_backend(s)->pool;
    nino_mem_stat m;
    nino_pool_reset_peak(pool);
    nino_array *a = decode(s, rows, on_host, NULL);
    CHECK(a != NULL);
    nino_array_unref(&a);
    nino_pool_stat(pool, &m);
    return m.peak - m.by_owner[NINO_OWN_WEIGHTS];
}

static void check_memory(void)
{
    static const int rows[] = { 0, 8, 8 };
    uint64_t run[3], plan[3];
    nino_backend *be = nino_plan_open(&dev.be->profile, 0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK(s != NULL);
    peak(s, 0, false); // weights come
    peak(dev.s, 0, false);
    for (int i = 0; i < 3; i++) {
        run[i] = peak(dev.s, rows[i], i > 1);
        plan[i] = peak(s, rows[i], i > 1);
        CHECK(run[i] == plan[i]);
    }
    printf("  peak: whole %.2f MiB, bands of 8 rows %.2f, maps on the host %.2f\n",
           (double) run[0] / MIB, (double) run[1] / MIB, (double) run[2] / MIB);
    // Of a network so small the middle, which is done whole, is what bands need; what they save is more of a whole that
    // multiplies 36 numbers a tile than of one that multiplies 25. Of networks of full size: check_full_size().
    CHECK(run[1] < run[0] && run[2] < run[0] * 0.85);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

// ---- the network of SDXL, SD3 and Flux.1, by plan: nothing but headers is read ----------------

static void full_memory(const nino_vae *v, const char *profile, nino_precision precision)
{
    nino_profile p;
    nino_vae_need whole = { 0 }, device = { 0 }, host = { 0 };
    CHECK_OK(nino_profile_load(profile, &p, &err), err);
    nino_backend *be = nino_plan_open(&p, 0, NULL, &err);
    nino_stream *s =
        nino_stream_create(&(nino_stream_params){ .backend = be, .precision = precision }, &err);
    const nino_tile_fit on_device = { .v = v, .is_exact = true, .h = 128, .w = 128 };
    nino_tile_fit on_host = on_device;
    on_host.on_host = true;
    CHECK(be && s);
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 128, 128, &whole, &err), err);
    CHECK_OK(nino_vae_need_exact(s, &on_device, 8, &device, &err), err);
    CHECK_OK(nino_vae_need_exact(s, &on_host, 8, &host, &err), err);
    printf(
        "  %s %s, 1024x1024: whole %.0f MiB, bands of 64 rows %.0f, maps on the host %.0f, FLOPs "
        "+%.1f %%\n",
        p.name, precision == NINO_PREC_F16 ? "f16" : "f32", (double) whole.activations / MIB,
        (double) device.activations / MIB, (double) host.activations / MIB,
        100 * (device.flops / whole.flops - 1));
    CHECK((double) device.activations < 0.65 * (double) whole.activations);
    CHECK((double) host.activations < 0.15 * (double) whole.activations);
    CHECK(device.flops > whole.flops && device.flops < 1.1 * whole.flops);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

// What is chosen within so many MiB, by the plan that runs before the node; NULL: too little.
static void full_choice(const nino_vae *v, const nino_array *z, uint64_t mib, const char *why)
{
    const nino_tile_params p = {
        .style = NINO_TILE_AUTO, .tile = 768, .overlap = 96, .exact = true
    };
    nino_profile profile;
    nino_array *out = NULL;
    nino_tile_report r;
    CHECK_OK(nino_profile_load("gfx1151", &profile, &err), err);
    nino_backend *be = nino_plan_open(&profile, mib << 20, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F16 }, &err);
    CHECK(be && s);
    const nino_status st = nino_vae_decode_tiled(s, v, z, &p, &out, &r, &err);
    printf("  %d MiB: %s\n", (int) mib, st ? err.msg : r.why);
    CHECK(why ? !st && strstr(r.why, why) && !strstr(r.why, "ran out") : st == NINO_ERR_NOMEM);
    CHECK(!why || r.tiled == !strstr(r.why, "whole image:"));
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

static void fail_behind_rows(nino_stream *s, const nino_vae *v, nino_tensor *z,
                             const nino_vae_bands *how)
{
    (void) how;
    nino_unref(z);
    nino_stream_fail(s, NINO_ERR_ARG, v->name, "made up");
}

// A picture that is not whole is none, and goes: it would show in what is in use.
static void check_failed(void)
{
    enum { TIMES = 16 };
    const nino_tile_params p = { .style = NINO_TILE_EXACT, .tile = 16 * vae->factor };
    nino_vae failing = *vae;
    failing.decode_bands = fail_behind_rows;
    const size_t picture = sizeof(float) * 3 * H * W * (size_t) vae->factor * (size_t) vae->factor;
    size_t before = 0;
    for (int i = 0; i < 1 + TIMES; i++) {
        nino_array *out = NULL;
        test_device d;
        CHECK(test_device_open(&d, "ref", 0));
        CHECK(nino_vae_decode_tiled(d.s, &failing, latent, &p, &out, NULL, &err) == NINO_ERR_ARG &&
              !out);
        CHECK_STR(err.msg, "made up");
        test_device_close(&d);
        if (!i)
            before =
                mallinfo2().uordblks + mallinfo2().hblkhd; // 0 where a sanitizer has its own malloc
    }
    CHECK(!before || mallinfo2().uordblks + mallinfo2().hblkhd < before + TIMES / 2 * picture);
}

static void check_full_size(void)
{
    static const char *const files[] = { "v", NULL };
    const test_dir dir = test_dir_create();
    random_vae r = random_vae_full(16);
    nino_vae *v = NULL;
    r.with_encoder = false;
    r.is_blank = true;
    CHECK_OK(random_vae_save(r, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "random", &v, &err), err);
    nino_weights_unref(&w);
    full_memory(v, "pocl-cpu", NINO_PREC_F32);
    full_memory(v, "gfx1151", NINO_PREC_F32);
    full_memory(v, "gfx1151", NINO_PREC_F16);
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 128, 128, 16));
    CHECK(z);
    full_choice(v, z, 2000, "whole image: ");
    full_choice(v, z, 1000, "; exact in bands of ");
    full_choice(v, z, 400, "maps wait on the host");
    full_choice(v, z, 60, NULL);
    nino_array_unref(&z);
    nino_vae_unref(&v);
    test_dir_remove(&dir, files);
}

// Through the tiles' interface: pictures, events' numbers, and that tiles of today do lose.
static void check_tiles(void)
{
    nino_tile_params p = { .style = NINO_TILE_NEVER, .tile = 30, .overlap = 6 };
    nino_tile_report r;
    nino_array *want = test_decode(&dev, vae, latent, &p, NULL);
    p.style = NINO_TILE_STOCK;
    nino_array *tiles = test_decode(&dev, vae, latent, &p, &r);
    CHECK(r.tiled && r.overlap == 6);
    p.exact = true;
    nino_array *exact = test_decode(&dev, vae, latent, &p, &r);
    printf("  tiles of 30: nmse %.1e, exact %.1e: %s\n", test_nmse(tiles, want),
           test_nmse(exact, want), r.why);
    CHECK(r.tiled && r.n_tiles == 3 && r.tile_h == 30 && r.tile_w == W * vae->factor && !r.overlap);
    CHECK(!strcmp(r.why, "tiles were asked for; exact in bands of 30 rows"));
    CHECK(test_nmse(exact, want) <= 1e-10 && test_nmse(tiles, want) >= 1e-6);
    nino_array_unref(&exact);
    p = (nino_tile_params){ .style = NINO_TILE_AUTO, .tile = 30, .overlap = 6, .exact = true };
    exact = test_decode(&dev, vae, latent, &p, &r); // nothing asks for tiles
    CHECK(!r.tiled && !memcmp(exact->data, want->data, want->bytes));
    nino_array *all[] = { want, tiles, exact };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
}

// FLUX.2's latents, whose cells are squares of the network's.
static void check_folded(void)
{
    vae = make(true);
    latent = make_latent();
    CHECK(vae->factor == 4 && vae->channels == 16 && vae->decode_bands);
    if (test_device_open(&dev, "cl", 0)) {
        printf("folded\n");
        check_equal(false);
        test_device_close(&dev);
    }
    nino_array_unref(&latent);
    nino_vae_unref(&vae);
}

static void walk_once(nino_stream *dry, const void *priv)
{
    const nino_tile_fit *f = priv;
    nino_vae_walk(dry, f, 1, f->w, f->h);
}

// What fits as it is needs no arena made in advance, whether its weights have to stay or not.
static void check_room(uint64_t budget)
{
    const nino_tile_fit f = { .v = vae, .is_decode = true, .h = H, .w = W };
    test_device d;
    CHECK(test_device_open(&d, "ref", budget));
    for (int keeps = 0; keeps < 2; keeps++) {
        uint64_t gather = 1;
        CHECK(nino_need_fits(d.s, walk_once, &f, keeps, &gather) && !gather);
        CHECK(nino_need_fits(d.s, walk_once, &f, keeps, NULL));
    }
    test_device_close(&d);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    check_full_size();
    vae = make(false);
    latent = make_latent();
    CHECK(vae->factor == 2 && vae->decode_bands);
    check_room(0);
    check_room(1 << 30);
    check_failed();
    for (const char *const *name = devices; *name; name++) {
        if (!test_device_open(&dev, *name, 0))
            continue;
        printf("%s\n", *name);
        check_equal(!strcmp(*name, "ref"));
        check_memory();
        check_tiles();
        test_device_close(&dev);
    }
    nino_array_unref(&latent);
    nino_vae_unref(&vae);
    check_folded();
    return 0;
}
