// How pictures and clips go through networks within budgets, by plan: what is chosen and why, what the
// planner is told, where tiles lie, how much memory is in use at the most. For every style, odd sizes, and
// budgets from none to too little. tests/data/recorded/tiles.txt records what is chosen today, see
// tests/unit/recorded.h; beside it, of every row: as many tiles are told as there are, what is in use keeps to
// the budget, and needs that are kept from walk to walk change nothing.
#include "core/tile/needs.h"
#include "core/tile/tile_upscale.h"
#include "core/tile/video_tiles.h"
#include "tests/unit/recorded.h"
#include "tests/unit/tile/pointwise.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static nino_error err;
static nino_profile profile;

typedef struct call {
    const char *what;
    pw_kind kind;
    bool is_encode, is_upscale;
    int n, h, w; // pictures or latent frames (to encode: frames), cells
    nino_tile_params tile;
    int chunk, overlap; // of frames
    bool repeats;
    nino_choice choice;
    uint32_t switched; // policies
    int units;         // of an upscaler: what a side is a multiple of
} call;

// ---- what is told on the way ---------------------------------------------------------------------

typedef struct told {
    int tiles, chunks, seams, clips;
    uint64_t sum; // of all numbers of all of them, in their order
    char first[120], last[120];
} told;

static void add(told *t, uint64_t v) { t->sum = t->sum * 31 % 1000003 + v % 1000003; }

static void add_tile(told *t, const nino_event *e, const char *why)
{
    char *text = t->tiles++ ? t->last : t->first;
    snprintf(text, sizeof(t->last), "%d,%d %dx%d (%d,%d %dx%d) %d/%d pass %d/%d peak %llu",
             e->u.tile.x, e->u.tile.y, e->u.tile.w, e->u.tile.h, e->u.tile.core_x, e->u.tile.core_y,
             e->u.tile.core_w, e->u.tile.core_h, e->u.tile.order, e->u.tile.n, e->u.tile.pass,
             e->u.tile.n_passes, (unsigned long long) e->u.tile.peak_bytes);
    for (const char *c = text; *c; c++)
        add(t, (uint64_t) *c);
    for (const char *c = why; *c; c++)
        add(t, (uint64_t) *c);
}

static void listen(const nino_monitor *m, nino_mon_reader *reader, told *t)
{
    nino_event ev[64];
    for (size_t n; (n = nino_mon_reader_read(reader, ev, COUNT(ev), NULL));)
        for (size_t i = 0; i < n; i++) {
            const nino_event *e = &ev[i];
            if (e->kind == NINO_EV_TILE_INFO)
                add_tile(t, e, nino_monitor_name_text(m, e->name));
            if (e->kind == NINO_EV_CHUNK) {
                t->chunks++;
                add(t, e->u.chunk.first + 7u * e->u.chunk.frames + 13u * e->u.chunk.order +
                           17u * e->u.chunk.n);
                add(t, e->u.chunk.cache_bytes);
                add(t, e->u.chunk.peak_bytes);
            }
            if (e->kind == NINO_EV_SEAM) {
                t->seams++;
                CHECK(e->u.seam.mean == 0 && e->u.seam.max == 0 && e->u.seam.gradient == 0);
                add(t, e->u.seam.n_seams);
                add(t, e->u.seam.pixels);
                add(t, e->u.seam.recomputed);
            }
            t->clips += e->kind == NINO_EV_CLIP;
        }
}

// ---- one call ------------------------------------------------------------------------------------

static nino_status skip(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    int64_t *next = priv;
    (void) e;
    *next = first + frames->shape.dim[0];
    return NINO_OK;
}

static nino_array *blank(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    memset(a->data, 0, a->bytes);
    return a;
}

static nino_status run_clip(nino_stream *s, const call *c, nino_tile_report *r)
{
    const nino_vae v = pw_vae(c->kind);
    const nino_video_params p = {
        .tile = c->tile, .chunk = c->chunk, .overlap = c->overlap, .repeat_last = c->repeats
    };
    int64_t next = 0;
    nino_array *z = NULL, *in;
    nino_status st;
    if (c->is_encode) {
        in = blank(NINO_SHAPE(c->n, c->h * v.factor + 1, c->w * v.factor, 3));
        st = nino_vae_encode_video(s, &v, in, &p, &z, r, &err);
    } else {
        in = blank(NINO_SHAPE(1, c->n, c->h, c->w, v.channels));
        st = nino_vae_decode_video(s, &v, in, &p, &(nino_frame_sink){ skip, &next }, r, &err);
        CHECK(st || next == nino_vae_frames(&v, c->n));
    }
    nino_array_unref(&in);
    nino_array_unref(&z);
    return st;
}

static nino_status run_picture(nino_stream *s, const call *c, nino_tile_report *r)
{
    const nino_vae v = pw_vae(c->kind);
    const nino_upscale u = { .refs = 1,
                             .name = "larger",
                             .scale = 2,
                             .least = c->units,
                             .multiple = c->units,
                             .run = pw_upscale };
    const int f = c->is_encode ? v.factor : 1;
    nino_array *in =
        blank(NINO_SHAPE(c->n, c->h * f, c->w * f, c->is_encode || c->is_upscale ? 3 : 4));
    nino_array *out = NULL;
    const nino_status st = c->is_upscale ? nino_upscale_tiled(s, &u, in, &out, r, &err)
                           : c->is_encode
                               ? nino_vae_encode_tiled(s, &v, in, &c->tile, &out, r, &err)
                               : nino_vae_decode_tiled(s, &v, in, &c->tile, &out, r, &err);
    CHECK(!!out == !st);
    nino_array_unref(&in);
    nino_array_unref(&out);
    return st;
}

// The row of one call. with_needs: what a walk has found is kept for the next one.
static void describe(const call *c, uint64_t budget, bool with_needs, char *text, size_t size)
{
    nino_tile_report r = { 0 };
    told t = { .sum = 1 };
    nino_mem_stat mem;
    nino_profile p = profile;
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = nino_mon_reader_create(m);
    nino_needs *needs = with_needs ? nino_needs_create() : NULL;
    p.switched = c->switched;
    err = (nino_error){ .code = NINO_OK };
    nino_backend *be = nino_plan_open(&p, budget, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){
            .backend = be, .monitor = m, .precision = NINO_PREC_F32, .needs = needs },
        &err);
    CHECK(m && reader && be && s);
    nino_stream_set_choice(s, &c->choice);
    const nino_status st = c->kind == PW_PICTURE ? run_picture(s, c, &r) : run_clip(s, c, &r);
    listen(m, reader, &t);
    nino_pool_stat(be->pool, &mem);
    const nino_taken *k = nino_stream_taken(s);
    snprintf(text, size,
             "%s | %s | tiled %d of %d %dx%d +%d seams %u %llu %llu | took %d/%d %d/%d %d/%d %d/%d "
             "%d%d%d%d%d | peak %llu reserved %llu seconds ~%.6g | told %d %d %d %d %llu: %s; %s",
             st ? err.where : "fits", st ? err.msg : r.why, r.tiled, r.n_tiles, r.tile_w, r.tile_h,
             r.overlap, r.seam.n_seams, (unsigned long long) r.seam.pixels,
             (unsigned long long) r.seam.recomputed, k->tile, k->tile_most, k->rows, k->rows_most,
             k->images, k->images_most, k->chunk, k->chunk_most, k->is_tiled, k->is_exact,
             k->can_be_exact, k->can_spend, k->is_narrow, (unsigned long long) mem.peak,
             (unsigned long long) mem.reserved, nino_plan_backend_seconds(be), t.tiles, t.chunks,
             t.seams, t.clips, (unsigned long long) t.sum, t.first, t.last);
    CHECK(!budget || mem.reserved <= budget);
    // A clip that ran out of memory begins anew, and tells its tiles once more.
    CHECK(st || !r.tiled || t.tiles == r.n_tiles * (c->kind == PW_PICTURE ? c->n : 1) ||
          (c->kind != PW_PICTURE && t.tiles > r.n_tiles));
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    nino_needs_destroy(&needs);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
}

// KiB
static const int budgets[] = { 0, 20000, 4000, 2500, 1500, 1000, 600, 350, 180, 90, 20 };

static void show(const call *c)
{
    for (size_t i = 0; i < COUNT(budgets); i++) {
        const uint64_t budget = (uint64_t) budgets[i] << 10;
        static char text[2000], again[2000];
        describe(c, budget, false, text, sizeof(text));
        if (i % 3 == 2) { // what is kept changes nothing
            describe(c, budget, true, again, sizeof(again));
            CHECK_STR(again, text);
        }
        record_row("%s, %d KiB: %s", c->what, budgets[i], text);
    }
}

// ---- calls ---------------------------------------------------------------------------------------

static const call calls[] = {
    { "never", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_NEVER } },
    { "never, three", .n = 3, .h = 20, .w = 31, .tile = { NINO_TILE_NEVER } },
    { "never, three at once", .n = 3, .h = 20, .w = 31, .tile = { NINO_TILE_NEVER },
      .choice = { .images = 2 } },
    { "never, five at once", .n = 3, .h = 20, .w = 31, .tile = { NINO_TILE_NEVER },
      .choice = { .images = 5 } },
    { "never, of few cells", .n = 3, .h = 4, .w = 4, .tile = { NINO_TILE_NEVER },
      .choice = { .images = 2 } },
    { "never, a cell more", .n = 3, .h = 1, .w = 17, .tile = { NINO_TILE_NEVER },
      .choice = { .images = 2 } },
    { "never, one by one", .n = 3, .h = 20, .w = 31,
      .tile = { NINO_TILE_NEVER, .one_by_one = true }, .choice = { .images = 2 } },
    { "never, exact", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_NEVER, .exact = true } },
    { "never, encoded", .is_encode = true, .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_NEVER } },
    { "never, large", .n = 1, .h = 70, .w = 90, .tile = { NINO_TILE_NEVER } },
    { "stock", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_STOCK, 40, 8, false, false } },
    { "stock, odd", .n = 2, .h = 57, .w = 33, .tile = { NINO_TILE_STOCK, 49, 11, false, false } },
    { "stock, wide overlap", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_STOCK, 40, 39, false, false } },
    { "stock, exact", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_STOCK, 40, 8, true, false } },
    { "stock, encoded", .is_encode = true, .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_STOCK, 40, 8, false, false } },
    { "stock, tile as large as it", .n = 1, .h = 20, .w = 40,
      .tile = { NINO_TILE_STOCK, 80, 8, false, false } },
    { "auto", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_AUTO, 64, 8, false, false } },
    { "auto, exact", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_AUTO, 64, 8, true, false } },
    { "auto, exact by choice", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_AUTO, 64, 8, false, false }, .choice = { .is_exact = true } },
    { "auto, tiles by choice", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_AUTO, 64, 8, false, false }, .choice = { .tile = 32 } },
    { "auto, tiny tiles by choice", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_AUTO, 64, 8, false, false }, .choice = { .tile = 3, .spends = true } },
    { "auto, weights go", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_AUTO, 64, 8, false, false },
      .choice = { .spends = true } },
    { "auto, encoded", .is_encode = true, .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_AUTO, 64, 8, true, false } },
    { "auto, high", .n = 1, .h = 90, .w = 20, .tile = { NINO_TILE_AUTO, 512, 64, false, false } },
    { "auto, wide", .n = 2, .h = 20, .w = 90, .tile = { NINO_TILE_AUTO, 512, 64, false, false } },
    { "auto, between the sides", .n = 1, .h = 20, .w = 90,
      .tile = { NINO_TILE_AUTO, 64, 8, false, false } },
    { "auto, nothing planned", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_AUTO, 64, 8, false, false }, .switched = 1u << NINO_POLICY_TILES },
    { "always, nothing planned", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_ALWAYS, 64, 8, false, false }, .switched = 1u << NINO_POLICY_TILES },
    { "always", .n = 1, .h = 41, .w = 57, .tile = { NINO_TILE_ALWAYS, 32, 8, false, false } },
    { "always, none shared", .n = 2, .h = 41, .w = 57,
      .tile = { NINO_TILE_ALWAYS, 33, 0, false, false } },
    { "always, exact", .n = 1, .h = 41, .w = 57, .tile = { NINO_TILE_ALWAYS, 32, 8, true, false } },
    { "always, encoded", .is_encode = true, .n = 1, .h = 41, .w = 57,
      .tile = { NINO_TILE_ALWAYS, 32, 8, true, false } },
    { "always, least tile", .n = 1, .h = 9, .w = 10,
      .tile = { NINO_TILE_ALWAYS, 8, 8, false, false } },
    { "always, too small", .n = 1, .h = 9, .w = 10,
      .tile = { NINO_TILE_ALWAYS, 7, 2, false, false } },
    { "always, less than nothing shared", .n = 1, .h = 9, .w = 10,
      .tile = { NINO_TILE_ALWAYS, 8, -2, false, false } },
    { "always, whole", .n = 1, .h = 16, .w = 16,
      .tile = { NINO_TILE_ALWAYS, 32, 8, false, false } },
    { "exact", .n = 1, .h = 40, .w = 56, .tile = { NINO_TILE_EXACT, 32, 8, false, false } },
    { "exact, odd", .n = 2, .h = 43, .w = 30, .tile = { NINO_TILE_EXACT, 29, 3, false, false } },
    { "exact, encoded", .is_encode = true, .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_EXACT, 32, 8, false, false } },
    { "exact, a tile by choice", .n = 1, .h = 40, .w = 56,
      .tile = { NINO_TILE_EXACT, 32, 8, false, false }, .choice = { .tile = 24 } },
    { "clip", PW_CAUSAL, .n = 5, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false } },
    { "clip, three at once", PW_CAUSAL, .n = 5, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .choice = { .chunk = 3 } },
    { "clip, all at once", PW_CAUSAL, .n = 5, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .choice = { .chunk = 9 } },
    { "clip of two", PW_CAUSAL, .n = 2, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .choice = { .chunk = 2 } },
    { "clip of one", PW_CAUSAL, .n = 1, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false } },
    { "clip, one by one", PW_CAUSAL, .n = 5, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, true }, .choice = { .chunk = 3 } },
    { "clip, never", PW_CAUSAL, .n = 4, .h = 20, .w = 28, .tile = { NINO_TILE_NEVER } },
    { "clip, never, large", PW_CAUSAL, .n = 3, .h = 40, .w = 150, .tile = { NINO_TILE_NEVER } },
    { "clip, stock", PW_CAUSAL, .n = 4, .h = 21, .w = 29,
      .tile = { NINO_TILE_STOCK, 24, 6, true, false } },
    { "clip, always", PW_CAUSAL, .n = 4, .h = 29, .w = 21,
      .tile = { NINO_TILE_ALWAYS, 24, 6, false, false } },
    { "clip, tiles by choice", PW_CAUSAL, .n = 4, .h = 29, .w = 21,
      .tile = { NINO_TILE_AUTO, 32, 4, false, false }, .choice = { .tile = 20 } },
    { "clip, tiny tiles by choice", PW_CAUSAL, .n = 4, .h = 29, .w = 21,
      .tile = { NINO_TILE_AUTO, 32, 4, false, false }, .choice = { .tile = 2 } },
    { "clip, wider than high, tile between", PW_CAUSAL, .n = 4, .h = 12, .w = 40,
      .tile = { NINO_TILE_AUTO, 48, 8, false, false } },
    { "clip, higher than wide, tile between", PW_CAUSAL, .n = 4, .h = 40, .w = 12,
      .tile = { NINO_TILE_AUTO, 48, 8, false, false } },
    { "clip, too small", PW_CAUSAL, .n = 4, .h = 40, .w = 12,
      .tile = { NINO_TILE_ALWAYS, 7, 2, false, false } },
    { "clip, less than nothing shared", PW_CAUSAL, .n = 4, .h = 40, .w = 12,
      .tile = { NINO_TILE_ALWAYS, 8, -2, false, false } },
    { "clip, too many tiles", PW_CAUSAL, .n = 1, .h = 4, .w = 1100,
      .tile = { NINO_TILE_ALWAYS, 8, 6, false, false } },
    { "clip, nothing planned", PW_CAUSAL, .n = 4, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .switched = 1u << NINO_POLICY_TILES },
    { "clip, not streamed", PW_CAUSAL, .n = 4, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .switched = 1u << NINO_POLICY_STREAMING },
    { "clip, encoded", PW_CAUSAL, .is_encode = true, .n = 7, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false } },
    { "clip, encoded, always", PW_CAUSAL, .is_encode = true, .n = 4, .h = 29, .w = 21,
      .tile = { NINO_TILE_ALWAYS, 24, 6, false, false } },
    { "clip, encoded, not streamed", PW_CAUSAL, .is_encode = true, .n = 7, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .switched = 1u << NINO_POLICY_STREAMING },
    { "chunks, all", PW_CHUNKS, .n = 5, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false } },
    { "chunks of three", PW_CHUNKS, .n = 7, .h = 20, .w = 28,
      .tile = { NINO_TILE_AUTO, 32, 8, false, false }, .chunk = 3, .overlap = 1 },
    { "chunks of two", PW_CHUNKS, .n = 6, .h = 21, .w = 28,
      .tile = { NINO_TILE_ALWAYS, 32, 8, false, false }, .chunk = 2, .overlap = 2 },
    { "chunks, the last one twice", PW_CHUNKS, .n = 6, .h = 20, .w = 28,
      .tile = { NINO_TILE_STOCK, 32, 8, false, false }, .chunk = 4, .overlap = 1, .repeats = true },
    { "larger", .is_upscale = true, .n = 1, .h = 40, .w = 56, .units = 1 },
    { "larger, of fours", .is_upscale = true, .n = 2, .h = 41, .w = 57, .units = 4 },
    { "larger, two tiles", .is_upscale = true, .n = 1, .h = 9, .w = 513, .units = 1 },
    { "larger, tiles by choice", .is_upscale = true, .n = 2, .h = 150, .w = 140, .units = 1,
      .choice = { .tile = 128 } },
    { "larger, tiles between", .is_upscale = true, .n = 1, .h = 150, .w = 150, .units = 1,
      .choice = { .tile = 300 } },
    { "larger, weights go", .is_upscale = true, .n = 1, .h = 129, .w = 128, .units = 1,
      .choice = { .tile = 1, .spends = true } },
};

int main(void)
{
    profile = nino_profile_ref;
    profile.peak_f32 = 1e12;
    profile.bandwidth = 1e11;
    profile.efficiency_gemm = 0.5;
    CHECK_OK(nino_sched_find("generic", "test", &profile.schedule, &err), err);
    pw_make();
    for (size_t i = 0; i < COUNT(calls); i++)
        show(&calls[i]);
    pw_release();
    recorded_check("tiles.txt");
    return 0;
}
