// What is made is given back: of every pair of making and destroying among plans, pools, needs, meters, and of
// every way in which pictures and clips go through tiles, as many allocations are left as there were before. The
// small ones also with every allocation failing once.
#include "core/run/planner.h"
#include "core/tile/needs.h"
#include "core/tile/tile_upscale.h"
#include "core/tile/video_meter.h"
#include "core/tile/video_tiles.h"
#include "tests/oom.h"
#include "tests/unit/tile/pointwise.h"

static nino_error err;

// ---- small ones ------------------------------------------------------------------------------------

static nino_backend *open_plan(int may_fail)
{
    err = (nino_error){ .code = NINO_OK };
    nino_backend *be = nino_plan_open(&nino_profile_ref, (uint64_t) 1 << 30, NULL, &err);
    oom_passed(be ? NINO_OK : err.code, &err, may_fail);
    return be;
}

// With who lists what it needs, and more scopes than there is room for at first.
static void make_plan(int may_fail)
{
    nino_backend *be = open_plan(may_fail), *lister = open_plan(may_fail);
    if (be && lister) {
        nino_plan_set_lister(be, lister);
        lister = open_plan(may_fail); // takes the other's place
        nino_plan_set_lister(be, lister);
        lister = NULL;
        for (int i = 0; i < 100; i++) {
            be->impl->scope_begin(be, NINO_EV_STAGE, "x", 0, 0);
            be->impl->scope_end(be);
        }
    }
    nino_backend_close(&be);
    nino_backend_close(&lister);
}

static void make_pool(int may_fail)
{
    enum { N = 40 };
    const nino_pool_params exact = { .is_exact = true }, shared = { .min_arena = 1 << 20 };
    for (int k = 0; k < 2; k++) {
        nino_block b[N] = { { 0 } };
        nino_pool *p = nino_pool_create(k ? &exact : &shared);
        CHECK(p || may_fail);
        for (int i = 0; i < N && p; i++)
            CHECK(!nino_pool_alloc(p, 5000, NINO_OWN_ACTIVATION, &b[i], &err) || may_fail);
        for (int i = 0; i < N; i += 2)
            nino_pool_free(p, &b[i]);
        nino_pool_destroy(&p);
        CHECK(!p);
    }
}

// What comes and goes takes no more room of the lists than what is there at once.
static void check_traffic(void)
{
    enum { N = 40, TURNS = 500 };
    const nino_pool_params shared = { .min_arena = 4 << 20 };
    nino_pool *p = nino_pool_create(&shared);
    nino_block b[N];
    long calls = 0;
    CHECK(p);
    for (int t = 0; t < TURNS; t++) {
        for (int i = 0; i < N; i++)
            CHECK(!nino_pool_alloc(p, (uint64_t) (5000 + i * t), NINO_OWN_ACTIVATION, &b[i], &err));
        for (int i = 0; i < N; i++)
            nino_pool_free(p, &b[i * 7 % N]);
        calls = t ? calls : oom.calls;
    }
    CHECK(oom.calls == calls);
    nino_pool_destroy(&p);
}

// Found where there was memory to keep it; the last that was kept counts.
static void make_needs(int may_fail)
{
    nino_needs *n = nino_needs_create();
    int found = 0;
    CHECK(n || may_fail);
    for (uint64_t i = 0; i < 100 && n; i++) {
        const nino_hash key = { .lo = i % 90, .hi = 7 };
        const nino_vae_need need = { .weights = i };
        nino_needs_add(n, &key, i % 2 ? NINO_ERR_NOMEM : NINO_OK, &need);
    }
    for (uint64_t i = 0; i < 90; i++) {
        const nino_hash key = { .lo = i, .hi = 7 }, other = { .lo = i, .hi = 8 };
        nino_status st = NINO_ERR_ARG;
        nino_vae_need need = { 0 };
        CHECK(!nino_needs_find(n, &other, &st, &need) && st == NINO_ERR_ARG && !need.weights);
        if (!nino_needs_find(n, &key, &st, &need))
            continue;
        found++;
        CHECK(need.weights == (i < 10 && !oom.fired ? i + 90 : need.weights));
        CHECK(need.weights % 90 == i && st == (need.weights % 2 ? NINO_ERR_NOMEM : NINO_OK));
    }
    CHECK(found == 90 || (may_fail && oom.fired));
    nino_needs_destroy(&n);
    CHECK(!n);
}

static void make_meter(int may_fail)
{
    nino_clip_meter m;
    const long at = oom_pause();
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(3, 2, 2, 3));
    CHECK(a);
    memset(a->data, 0, a->bytes);
    oom_resume(at);
    (void) may_fail;
    nino_clip_meter_begin(&m);
    for (int i = 0; i < 60; i++) {
        nino_clip_meter_frames(&m, a);
        nino_clip_meter_border(&m, 3 * i);
    }
    CHECK(m.n == 180 || oom.fired);
    nino_clip_meter_publish(&m, NULL, 1);
    nino_clip_meter_end(&m);
    CHECK(!m.steps && !m.border && !m.last && !m.n);
    nino_array_unref(&a);
}

// ---- pictures and clips ------------------------------------------------------------------------------

static nino_backend *be;
static nino_tile_style style;
static pw_kind kind;
static bool is_encode, is_upscale, is_exact, has_needs;

static nino_status take(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    (void) priv;
    (void) first;
    (void) frames;
    (void) e;
    return NINO_OK;
}

static nino_array *blank(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    memset(a->data, 0, a->bytes);
    return a;
}

static nino_status go(nino_stream *s, nino_array *in, nino_array **out)
{
    const nino_vae v = pw_vae(kind);
    const nino_upscale u = {
        .refs = 1, .name = "larger", .scale = 2, .least = 1, .multiple = 1, .run = pw_upscale
    };
    const nino_tile_params t = { .style = style, .tile = 16, .overlap = 4, .exact = is_exact };
    const nino_video_params p = { .tile = t, .chunk = kind == PW_CHUNKS ? 3 : 0, .overlap = 1 };
    if (is_upscale)
        return nino_upscale_tiled(s, &u, in, out, NULL, &err);
    if (kind == PW_PICTURE)
        return is_encode ? nino_vae_encode_tiled(s, &v, in, &t, out, NULL, &err)
                         : nino_vae_decode_tiled(s, &v, in, &t, out, NULL, &err);
    return is_encode
               ? nino_vae_encode_video(s, &v, in, &p, out, NULL, &err)
               : nino_vae_decode_video(s, &v, in, &p, &(nino_frame_sink){ take, NULL }, NULL, &err);
}

static void check_way(const char *what)
{
    nino_array *out = NULL;
    nino_needs *needs = has_needs ? nino_needs_create() : NULL;
    const long before = oom.live;
    nino_array *in = is_upscale           ? blank(NINO_SHAPE(1, 20, 140, 3))
                     : kind == PW_PICTURE ? blank(NINO_SHAPE(2, 18, 26, is_encode ? 3 : 4))
                     : is_encode          ? blank(NINO_SHAPE(5, 18, 26, 3))
                                          : blank(NINO_SHAPE(1, 5, 9, 13, 4));
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32, .needs = needs }, &err);
    CHECK(s);
    nino_stream_set_choice(s, &(nino_choice){ .tile = is_upscale ? 128 : 0 });
    const nino_status st = go(s, in, &out); // what does not fit leaves nothing either
    CHECK(!st || (st == NINO_ERR_NOMEM && nino_stream_is_plan(s) && !out));
    nino_array_unref(&in);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    if (oom.live != before && !needs) {
        fprintf(stderr, "%s: %ld not freed\n", what, oom.live - before);
        exit(1);
    }
    nino_needs_destroy(&needs);
}

// Weights that come, and room of the pool's own lists, stay: a way counts from its second time on.
static void check_ways(const char *what)
{
    const long before = oom.live;
    for (int is_plan = 0; is_plan < 2; is_plan++) {
        be = is_plan ? nino_plan_open(&nino_profile_ref, (uint64_t) 200 << 10, NULL, &err)
                     : nino_ref_open(0, NULL, &err);
        CHECK(be);
        has_needs = true;
        check_way(what);
        has_needs = false;
        check_way(what);
        check_way(what);
        nino_backend_close(&be);
    }
    if (oom.live != before) {
        fprintf(stderr, "%s: %ld not freed with the device\n", what, oom.live - before);
        exit(1);
    }
}

static void check_tiles(void)
{
    static const nino_tile_style styles[] = { NINO_TILE_NEVER, NINO_TILE_STOCK, NINO_TILE_AUTO,
                                              NINO_TILE_ALWAYS, NINO_TILE_EXACT };
    static const char *const names[] = { "never", "stock", "auto", "always", "exact" };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 2; k++)
            for (kind = PW_PICTURE; kind <= PW_CHUNKS; kind++) {
                style = styles[i];
                is_encode = k && kind != PW_CHUNKS;
                if (style != NINO_TILE_EXACT || kind == PW_PICTURE)
                    check_ways(names[i]);
            }
    kind = PW_PICTURE;
    is_upscale = true;
    check_ways("larger");
    is_upscale = false;
}

int main(void)
{
    printf("  plan: %ld allocations\n", oom_each(make_plan));
    printf("  pool: %ld allocations\n", oom_each(make_pool));
    printf("  needs: %ld allocations\n", oom_each(make_needs));
    printf("  meter: %ld allocations\n", oom_each(make_meter));
    check_traffic();
    pw_make();
    check_tiles();
    pw_release();
    return 0;
}
