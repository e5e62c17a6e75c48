// The settings of memory that tiles and clips go by: memory.chunk_size, memory.memory_threshold and
// memory.cleanup_frequency, as the environment has them before the process reads them.
#include "core/op/pool.h"
#include "core/tile/fit.h"
#include "core/tile/video_tiles.h"
#include "tests/unit/tile/pointwise.h"

static nino_error err;
static nino_monitor *monitor;
static nino_mon_reader *reader;

static nino_stream *open_plan(nino_backend **be, uint64_t budget)
{
    *be = nino_plan_open(&nino_profile_ref, budget, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = *be, .monitor = monitor, .precision = NINO_PREC_F32 },
        &err);
    CHECK(*be && s);
    return s;
}

static void close_plan(nino_backend **be, nino_stream **s)
{
    nino_stream_destroy(s);
    nino_backend_close(be);
}

static nino_array *blank(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    memset(a->data, 0, a->bytes);
    return a;
}

static nino_status take(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    (void) priv;
    (void) first;
    (void) frames;
    (void) e;
    return NINO_OK;
}

// Frames of each piece of a clip of `t` latent frames, as "3 4 2 ", and what was said.
static void pieces(pw_kind kind, int t, int chunk, char *text, size_t size, char *message)
{
    nino_event ev[64];
    const nino_vae v = pw_vae(kind);
    const nino_video_params p = { .tile = { .style = NINO_TILE_NEVER }, .chunk = chunk };
    nino_backend *be;
    nino_stream *s = open_plan(&be, 0);
    nino_array *z = blank(NINO_SHAPE(1, t, 3, 4, PW_CHANNELS));
    CHECK_OK(nino_vae_decode_video(s, &v, z, &p, &(nino_frame_sink){ take, NULL }, NULL, &err),
             err);
    *text = *message = 0;
    for (size_t n; (n = nino_mon_reader_read(reader, ev, 64, NULL));)
        for (size_t i = 0; i < n; i++) {
            if (ev[i].kind == NINO_EV_CHUNK)
                snprintf(text + strlen(text), size - strlen(text), "%d ",
                         (int) ev[i].u.chunk.frames);
            if (ev[i].kind == NINO_EV_MESSAGE)
                snprintf(message, 200, "%s", nino_monitor_name_text(monitor, ev[i].name));
        }
    CHECK(nino_stream_taken(s)->chunk_most == 0); // nothing is left to choose
    nino_array_unref(&z);
    close_plan(&be, &s);
}

// Two latent frames at once: 2 frames each, the first one has one.
static void check_chunk_size(void)
{
    char text[100], message[200];
    const nino_vae causal = pw_vae(PW_CAUSAL), cut = pw_vae(PW_CHUNKS);
    CHECK(nino_vae_piece(&causal, true) == 2 && nino_vae_piece(&causal, false) == 1);
    CHECK(nino_vae_piece(&cut, true) == 1);
    pieces(PW_CAUSAL, 5, 0, text, sizeof(text), message);
    CHECK_STR(text, "3 4 2 ");
    pieces(PW_CAUSAL, 1, 0, text, sizeof(text), message);
    CHECK_STR(text, "1 ");
    // Chunks share one, and of a later one the first stands for one frame: three are the least, and each goes one further.
    pieces(PW_CHUNKS, 5, 0, text, sizeof(text), message);
    CHECK_STR(text, "5 5 5 ");
    CHECK_STR(message, "pointwise: chunks of 2 latent frames cannot share 1: 3 are taken");
    pieces(PW_CHUNKS, 5, 4, text, sizeof(text), message); // as the node says
    CHECK_STR(text, "7 3 ");
    CHECK_STR(message, "");
}

// Half of the budget may be filled; what others have is in that, weights are not: they can go.
static void check_threshold(void)
{
    nino_backend *be;
    nino_block a, b;
    uint64_t budget = 0;
    nino_stream *s = open_plan(&be, 100000);
    CHECK(nino_vae_fits(s, &(nino_vae_need){ .reserved = 50000 }, &budget) && budget == 100000);
    CHECK(!nino_vae_fits(s, &(nino_vae_need){ .reserved = 50001 }, &budget));
    CHECK_OK(nino_pool_alloc(be->pool, 2560, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK_OK(nino_pool_alloc(be->pool, 5120, NINO_OWN_WEIGHTS, &b, &err), err);
    CHECK(nino_vae_fits(s, &(nino_vae_need){ .reserved = 50000 - 2560 }, &budget));
    CHECK(!nino_vae_fits(s, &(nino_vae_need){ .reserved = 50001 - 2560 }, &budget));
    nino_pool_free(be->pool, &a);
    CHECK_OK(nino_pool_alloc(be->pool, 51200, NINO_OWN_ACTIVATION, &a, &err), err);
    CHECK(!nino_vae_fits(s, &(nino_vae_need){ .reserved = 2 }, &budget)); // nothing is left
    nino_pool_free(be->pool, &a);
    nino_pool_free(be->pool, &b);
    close_plan(&be, &s);
    s = open_plan(&be, 0); // half of no limit is none
    CHECK(nino_vae_fits(s, &(nino_vae_need){ .reserved = UINT64_MAX }, &budget) && !budget);
    close_plan(&be, &s);
}

// How often something was given back, where there is an arena that nobody uses beside those that tiles do.
static uint64_t trims_of(int side, bool is_clip, int frames)
{
    const nino_vae v = pw_vae(is_clip ? PW_CAUSAL : PW_PICTURE);
    const nino_tile_params t = { .style = NINO_TILE_ALWAYS, .tile = 8, .overlap = 0 };
    const nino_video_params p = { .tile = { .style = NINO_TILE_NEVER } };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_array *out = NULL, *z = is_clip ? blank(NINO_SHAPE(1, frames, 4, 4, PW_CHANNELS))
                                         : blank(NINO_SHAPE(1, 4, side, PW_CHANNELS));
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    uint64_t before = 0;
    nino_mem_stat m;
    CHECK(be && s);
    for (int i = 0; i < 2; i++) { // the first time weights come
        nino_block large, other;
        CHECK_OK(nino_pool_alloc(be->pool, 80 << 20, NINO_OWN_ACTIVATION, &large, &err), err);
        CHECK_OK(nino_pool_alloc(be->pool, 100 << 20, NINO_OWN_ACTIVATION, &other, &err), err);
        nino_pool_free(be->pool, &other);
        nino_pool_free(be->pool, &large);
        nino_pool_stat(be->pool, &m);
        before = m.trims;
        if (is_clip)
            CHECK_OK(
                nino_vae_decode_video(s, &v, z, &p, &(nino_frame_sink){ take, NULL }, NULL, &err),
                err);
        else
            CHECK_OK(nino_vae_decode_tiled(s, &v, z, &t, &out, NULL, &err), err);
        nino_array_unref(&out);
    }
    nino_pool_stat(be->pool, &m);
    nino_array_unref(&z);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return m.trims - before;
}

// After every second tile or piece.
static void check_cleanup(void)
{
    nino_backend *be;
    nino_block b;
    nino_mem_stat m;
    nino_stream *s = open_plan(&be, 0);
    for (int i = 0; i < 6; i++) {
        CHECK_OK(nino_pool_alloc(be->pool, 512, NINO_OWN_ACTIVATION, &b, &err), err);
        nino_pool_free(be->pool, &b);
        nino_tidy_after(s, i);
        nino_pool_stat(be->pool, &m);
        CHECK((int) m.trims == (i + 1) / 2 && (m.reserved == 0) == (i % 2 == 1));
    }
    close_plan(&be, &s);
    CHECK(trims_of(4, false, 0) == 0); // one tile
    CHECK(trims_of(8, false, 0) == 1);
    CHECK(trims_of(0, true, 2) == 0); // one piece of two latent frames
    CHECK(trims_of(0, true, 4) == 1);
}

int main(void)
{
    CHECK(!setenv("NINODES_CHUNK_SIZE", "2", 1) && !setenv("NINODES_MEMORY_THRESHOLD", "0.5", 1) &&
          !setenv("NINODES_CLEANUP_FREQUENCY", "2", 1));
    monitor = nino_monitor_create();
    reader = nino_mon_reader_create(monitor);
    CHECK(monitor && reader);
    pw_make();
    check_chunk_size();
    check_threshold();
    check_cleanup();
    pw_release();
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&monitor);
    return 0;
}
