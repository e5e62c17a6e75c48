// Clips whose tiles were asked for with a size that the budget does not allow: plan chooses smaller
// ones before the run, their overlap stays, and the report says why. Walked on the plan backend.
#include "core/tile/fit.h"
#include "core/tile/video_tiles.h"
#include "tests/random_taehv.h"

enum { H = 44, W = 40, T = 5, TILE = 32, OVERLAP = 4 }; // cells

static nino_error err;
static nino_vae *vae;
static nino_profile profile;

static nino_status skip(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    (void) priv;
    (void) first;
    (void) frames;
    (void) e;
    return NINO_OK;
}

static nino_stream *open_plan(nino_backend **be, uint64_t budget)
{
    *be = nino_plan_open(&profile, budget, NULL, &err);
    CHECK_OK(*be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = *be, .precision = NINO_PREC_F32 }, &err);
    CHECK(s);
    return s;
}

// What a tile of this side takes.
static uint64_t need(bool is_decode, int side)
{
    nino_backend *be;
    nino_vae_need n = { 0 };
    nino_stream *s = open_plan(&be, 0);
    CHECK_OK(nino_vae_need_clip(s, vae, is_decode, T, 3, side, side, &n, &err), err);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return n.activations + n.weights;
}

static nino_taken taken; // of the last go()

static nino_status go(bool is_decode, nino_tile_style style, uint64_t budget, nino_tile_report *r)
{
    const int f = vae->factor;
    const nino_video_params p = {
        .tile = { .style = style, .tile = TILE * f, .overlap = OVERLAP * f },
        .chunk = 3,
        .overlap = 1
    };
    nino_backend *be;
    nino_stream *s = open_plan(&be, budget);
    nino_array *in = is_decode ? nino_array_create(NINO_F32, NINO_SHAPE(1, T, H, W, vae->channels))
                               : nino_array_create(NINO_F32, NINO_SHAPE(T, H * f, W * f, 3));
    nino_array *z = NULL;
    CHECK(in);
    const nino_status st =
        is_decode ? nino_vae_decode_video(s, vae, in, &p, &(nino_frame_sink){ skip, NULL }, r, &err)
                  : nino_vae_encode_video(s, vae, in, &p, &z, r, &err);
    taken = *nino_stream_taken(s);
    nino_array_unref(&in);
    nino_array_unref(&z);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return st;
}

static void check(bool is_decode, nino_tile_style style)
{
    const int f = vae->factor;
    const uint64_t small = need(is_decode, 3 * OVERLAP), large = need(is_decode, TILE);
    nino_tile_report r = { 0 };
    CHECK(large > small + small / 2);
    CHECK_OK(go(is_decode, style, 0, &r), err); // without a budget: as asked
    CHECK(r.tiled && !strcmp(r.why, "tiles were asked for") && r.overlap == OVERLAP * f);
    CHECK(!taken.tile && !taken.is_tiled);
    const int as_asked = r.tile_w;
    CHECK_OK(go(is_decode, style, (small + large) / 2, &r), err);
    printf("  %s: %s, %d x %d\n", is_decode ? "decode" : "encode", r.why, r.tile_w, r.tile_h);
    CHECK(strstr(r.why, "tiles were asked for; tiles of ") && strstr(r.why, "there is no room"));
    CHECK(!strstr(r.why, "ran out") && r.tile_w < as_asked && r.overlap == OVERLAP * f);
    char words[64]; // what the planner learns of it
    snprintf(words, sizeof(words), "tiles of %d, for those of %d", taken.tile, taken.tile_most);
    CHECK(taken.is_tiled && taken.tile_most == TILE * f && strstr(r.why, words));
    CHECK(go(is_decode, style, small / 50, &r) == NINO_ERR_NOMEM); // nothing fits: it says so
}

int main(void)
{
    static const char *const files[] = { "taew2_1.safetensors", NULL };
    static const tae_net net = { .z = 16,
                                 .patch = 1,
                                 .width = { 16, 16, 16, 16 },
                                 .grow = { 1, 2, 2 },
                                 .pool = { 2, 2, 1 },
                                 .dtype = NINO_F32 };
    static tae_file f;
    const test_dir dir = test_dir_create();
    CHECK_OK(nino_profile_load("gfx1151", &profile, &err), err);
    vae = tae_make(&dir, files[0], &net, &f);
    check(true, NINO_TILE_STOCK);
    check(true, NINO_TILE_ALWAYS);
    if (vae->encode_next) {
        check(false, NINO_TILE_STOCK);
        check(false, NINO_TILE_ALWAYS);
    }
    nino_vae_unref(&vae);
    tae_release(&f);
    test_dir_remove(&dir, files);
    return 0;
}
