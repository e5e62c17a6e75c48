// What is said to viewers where pictures and clips cannot be done as they were asked for: exact tiles that there are
// none of, tiles that share less than asked for, memory of the device that ran out. And that nothing is said else.
#include "core/tile/tile.h"
#include "core/tile/video_tiles.h"
#include "tests/unit/tile/pointwise.h"

static nino_error err;
static nino_backend *be;
static nino_monitor *monitor;
static nino_mon_reader *reader;
static nino_stream *stream;
static char line[300]; // the last one of the log

static void on_log(void *priv, nino_log_level level, const char *text)
{
    (void) priv;
    if (level == NINO_LOG_INFO)
        snprintf(line, sizeof(line), "%s", text);
}

static const nino_log to_line = { .fn = on_log, .max = NINO_LOG_INFO };

static void open_all(bool is_plan, uint64_t budget)
{
    *line = 0;
    be = is_plan ? nino_plan_open(&nino_profile_ref, budget, &to_line, &err)
                 : nino_ref_open(budget, &to_line, &err);
    monitor = nino_monitor_create();
    reader = nino_mon_reader_create(monitor);
    CHECK(be && monitor && reader);
    stream = nino_stream_create(
        &(nino_stream_params){ .backend = be, .monitor = monitor, .precision = NINO_PREC_F32 },
        &err);
    CHECK(stream);
}

static void close_all(void)
{
    nino_stream_destroy(&stream);
    nino_backend_close(&be);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&monitor);
}

// All messages, each with a "; " behind it.
static const char *said(void)
{
    static char text[1000];
    nino_event ev[64];
    *text = 0;
    for (size_t n; (n = nino_mon_reader_read(reader, ev, 64, NULL));)
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_MESSAGE)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s; ",
                         nino_monitor_name_text(monitor, ev[i].name));
    return text;
}

static nino_status skip(void *priv, int64_t first, const nino_array *a, nino_error *e)
{
    (void) priv;
    (void) first;
    (void) a;
    (void) e;
    return NINO_OK;
}

// One of h x w cells.
static nino_status run(pw_kind kind, bool is_encode, int h, int w, nino_tile_params tile)
{
    const nino_vae v = pw_vae(kind);
    const int f = is_encode ? v.factor : 1, c = is_encode ? 3 : PW_CHANNELS;
    const nino_video_params p = { .tile = tile };
    nino_array *out = NULL;
    nino_array *in =
        nino_array_create(NINO_F32, kind == PW_PICTURE || is_encode ? NINO_SHAPE(1, h * f, w * f, c)
                                                                    : NINO_SHAPE(1, 1, h, w, c));
    CHECK(in);
    memset(in->data, 0, in->bytes);
    nino_status st;
    if (kind == PW_PICTURE)
        st = is_encode ? nino_vae_encode_tiled(stream, &v, in, &tile, &out, NULL, &err)
                       : nino_vae_decode_tiled(stream, &v, in, &tile, &out, NULL, &err);
    else if (is_encode)
        st = nino_vae_encode_video(stream, &v, in, &p, &out, NULL, &err);
    else
        st =
            nino_vae_decode_video(stream, &v, in, &p, &(nino_frame_sink){ skip, NULL }, NULL, &err);
    nino_array_unref(&in);
    nino_array_unref(&out);
    return st;
}

static void check_inexact(void)
{
    static const char inexact[] = "pointwise: exact tiles are for pictures decoded by "
                                  "AutoencoderKL; here they overlap and are "
                                  "blended; ";
    static const struct {
        pw_kind kind;
        bool is_encode;
        nino_tile_style style;
        bool is_exact, is_said;
    } cases[] = {
        { PW_PICTURE, false, NINO_TILE_ALWAYS, false, false },
        { PW_PICTURE, false, NINO_TILE_ALWAYS, true, false },
        { PW_PICTURE, false, NINO_TILE_EXACT, false, false },
        { PW_PICTURE, true, NINO_TILE_ALWAYS, false, false },
        { PW_PICTURE, true, NINO_TILE_ALWAYS, true, true },
        { PW_PICTURE, true, NINO_TILE_EXACT, false, true },
        { PW_PICTURE, true, NINO_TILE_STOCK, true, true },
        { PW_PICTURE, true, NINO_TILE_NEVER, true, false },
        { PW_PICTURE, true, NINO_TILE_AUTO, true, false }, // it fits
        { PW_CAUSAL, false, NINO_TILE_ALWAYS, false, false },
        { PW_CAUSAL, false, NINO_TILE_ALWAYS, true, true },
        { PW_CAUSAL, false, NINO_TILE_NEVER, true, false },
        { PW_CAUSAL, true, NINO_TILE_STOCK, true, true },
        { PW_CAUSAL, true, NINO_TILE_AUTO, true, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int is_plan = 0; is_plan < 2; is_plan++) {
            open_all(is_plan, 0);
            CHECK_OK(run(cases[i].kind, cases[i].is_encode, 12, 14,
                         (nino_tile_params){ cases[i].style, 16, 4, cases[i].is_exact, false }),
                     err);
            CHECK_STR(said(), cases[i].is_said && !is_plan ? inexact : "");
            close_all();
        }
}

// How it is done stands in the log where something was chosen or asked for; a plan does nothing.
static void check_log(void)
{
    static const struct {
        nino_tile_style style;
        int budget; // KiB
        const char *said;
    } cases[] = {
        { NINO_TILE_NEVER, 0, "" },
        { NINO_TILE_ALWAYS, 0, "pointwise: tiles were asked for" },
        { NINO_TILE_NEVER, 4096,
          "pointwise: whole image: the whole image needs 0 MiB, the budget is 4 MiB" },
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        open_all(i % 2, (uint64_t) cases[i / 2].budget << 10);
        CHECK_OK(run(PW_PICTURE, false, 12, 14,
                     (nino_tile_params){ cases[i / 2].style, 16, 4, false, false }),
                 err);
        CHECK_STR(line, i % 2 ? "" : cases[i / 2].said);
        close_all();
    }
}

#define RAN_OUT "pointwise: device memory ran out: "
#define BANDS(n) RAN_OUT "exact in bands of " n " rows, maps wait on the host; "

// Tiles of 64 pixels that share 16, of 112 x 80; budget: KiB.
static void check_little(void)
{
    static const struct {
        pw_kind kind;
        nino_tile_style style;
        int budget;
        bool fits;
        const char *said;
    } cases[] = {
        { PW_PICTURE, NINO_TILE_ALWAYS, 10, false, RAN_OUT "tiles of 32 with an overlap of 16; " },
        { PW_PICTURE, NINO_TILE_EXACT, 10, false,
          BANDS("64") BANDS("32") BANDS("16") BANDS("8") BANDS("4") BANDS("2") },
        { PW_CAUSAL, NINO_TILE_ALWAYS, 10, false, RAN_OUT "tiles of 32 with an overlap of 16; " },
        { PW_PICTURE, NINO_TILE_ALWAYS, 260, true,
          "pointwise: so little memory that tiles share 8 pixels instead of 16: seams may show; " },
        { PW_CAUSAL, NINO_TILE_ALWAYS, 180, true,
          "pointwise: so little memory that tiles share 8 pixels instead of 16: seams may show; " },
        { PW_PICTURE, NINO_TILE_EXACT, 300, true, "" },
        { PW_PICTURE, NINO_TILE_ALWAYS, 4000, true, "" },
        { PW_CAUSAL, NINO_TILE_ALWAYS, 4000, true, "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_all(false, (uint64_t) cases[i].budget << 10);
        const nino_status st = run(cases[i].kind, false, 40, 56,
                                   (nino_tile_params){ cases[i].style, 64, 16, false, false });
        const char *got = said();
        if (strcmp(got, cases[i].said) || !st != cases[i].fits)
            fprintf(stderr, "%d: %d %s\n", (int) i, st, got);
        CHECK(st == (cases[i].fits ? NINO_OK : NINO_ERR_NOMEM));
        CHECK_STR(got, cases[i].said);
        close_all();
    }
}

int main(void)
{
    pw_make();
    check_inexact();
    check_little();
    check_log();
    pw_release();
    return 0;
}
