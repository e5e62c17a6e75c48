// How a picture goes through a VAE: whole, in tiles, in exact bands, and how large those are, by what
// plan says that each needs.
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/op/backend.h"
#include "core/tile/fit.h"
#include "core/tile/tile_job.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static double tile_mib(uint64_t bytes) { return (double) bytes / (1 << 20); }

__attribute__((format(printf, 2, 3))) static void say_why(nino_tile_report *r, const char *fmt, ...)
{
    const size_t n = strlen(r->why);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why + n, sizeof(r->why) - n, fmt, ap);
    va_end(ap);
}

// Said in the log and to viewers.
__attribute__((format(printf, 3, 4))) static void tile_warn(nino_stream *s, const nino_vae *v,
                                                            const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    nino_logf(nino_stream_backend(s)->log, NINO_LOG_WARN, "%s: %s", v->name, text);
    nino_monitor_message(nino_stream_monitor(s), NINO_LOG_WARN, "%s: %s", v->name, text);
}

void nino_tile_warn_inexact(nino_stream *s, const nino_vae *v)
{
    if (!nino_stream_is_plan(s))
        tile_warn(
            s, v,
            "exact tiles are for pictures decoded by AutoencoderKL; here they overlap and are "
            "blended");
}

int nino_tile_least(nino_tile_style style, int overlap)
{
    const int least = style == NINO_TILE_STOCK ? 4 * overlap : 2 * overlap;
    return least < NINO_TILE_LEAST ? NINO_TILE_LEAST : least;
}

// What fits in one piece only gets it; without, a run may yet have room, or says what was missing.
static void tile_gather(nino_stream *s, uint64_t bytes)
{
    if (bytes)
        (void) nino_backend_gather(nino_stream_backend(s), bytes, NULL);
}

void nino_tile_fit_way(nino_stream *s, const nino_tile_fit *of, nino_tile_way *w,
                       nino_tile_report *r)
{
    const int f = of->v->factor, asked = w->tile;
    const bool is_picture = !of->frames;
    nino_tile_style style = w->style;
    nino_tile_fit fit = *of;
    uint64_t gather = 0;
    int found = 0, shared = w->overlap;
    while (true) {
        fit.is_stock = style == NINO_TILE_STOCK;
        found = nino_vae_fit_tile(s, &fit, nino_tile_least(style, shared), asked, &gather);
        if (found || (!(is_picture && fit.is_stock) && shared < 2))
            break;
        if (is_picture && fit.is_stock)
            style = NINO_TILE_ALWAYS;
        else
            shared /= 2;
    }
    tile_gather(s, gather);
    if (!found || (found == asked && style == w->style && shared == w->overlap))
        return;
    say_why(r, "; tiles of %d, for those of %d there is no room", found * f, asked * f);
    if (shared < w->overlap && !nino_stream_is_plan(s))
        tile_warn(s, of->v,
                  "so little memory that tiles share %d pixels instead of %d: seams may show",
                  shared * f, w->overlap * f);
    w->style = style;
    w->tile = found;
    w->overlap = shared;
}

// Bands of rows for which there is memory, with maps on the device where that is possible. What
// cannot be made to fit stays as it was asked for, and fails with what was missing: nobody who asks
// for exact gets less in silence.
static void tile_fit_exact(nino_tile_job *j, bool has_budget, nino_tile_way *w, nino_tile_report *r)
{
    const int asked = w->tile < j->h ? w->tile : j->h;
    int found = has_budget ? 0 : asked;
    uint64_t gather = 0;
    for (int i = 0; i < 2 && !found; i++) {
        const nino_tile_fit fit = {
            .v = j->v, .is_decode = true, .h = j->h, .w = j->w, .is_exact = true, .on_host = i > 0
        };
        found = nino_vae_fit_tile(j->s, &fit, 1, asked, &gather);
        w->on_host = found && i > 0;
    }
    tile_gather(j->s, gather);
    w->tile = found ? found : asked;
    w->overlap = 0;
    say_why(r, "; exact in bands of %d rows%s", w->tile * j->v->factor,
            w->on_host ? ", maps wait on the host" : "");
}

// Whole when plan says that it fits (AUTO, NEVER), else in tiles.
static nino_status choose_style(nino_tile_job *j, bool has_budget, nino_tile_way *w,
                                nino_tile_report *r, nino_error *err)
{
    const bool is_never = w->style == NINO_TILE_NEVER;
    nino_vae_need need = { 0 };
    uint64_t budget, gather = 0;
    snprintf(r->why, sizeof(r->why), "%s", is_never ? "whole image" : "tiles were asked for");
    if (!nino_acts(&nino_stream_backend(j->s)->profile, NINO_POLICY_TILES)) {
        snprintf(r->why, sizeof(r->why), "tiles are not planned");
        w->style = w->style == NINO_TILE_AUTO ? NINO_TILE_NEVER : w->style;
        return NINO_OK;
    }
    if (w->style != NINO_TILE_AUTO && !(is_never && has_budget))
        return NINO_OK;
    const nino_status st = nino_vae_need_get(j->s, j->v, j->is_decode, 1, j->h, j->w, &need, err);
    if (st)
        return st;
    const bool fits =
        nino_vae_fits(j->s, &need, &budget) ||
        (is_never && nino_vae_fits_thrifty(j->s, j->v, j->is_decode, j->h, j->w, &gather));
    tile_gather(j->s, gather);
    const double all = tile_mib(need.activations + need.weights);
    if (!budget)
        snprintf(r->why, sizeof(r->why), "whole image: %.0f MiB, no budget is set", all);
    else
        snprintf(r->why, sizeof(r->why),
                 "%s: the whole image needs %.0f MiB, the budget is %.0f MiB",
                 fits ? "whole image" : "tiled", all, tile_mib(budget));
    w->style = fits ? NINO_TILE_NEVER : w->fallback;
    return NINO_OK;
}

// What became of the tiles, for who planned them. asked: 0: the whole was, else tiles of that side.
static void tile_tell(nino_tile_job *j, const nino_tile_way *w, int asked, bool is_other_style,
                      bool can_be_exact)
{
    const int f = j->v->factor;
    nino_taken *t = nino_stream_taken(j->s);
    const bool is_whole = w->style == NINO_TILE_ALWAYS && w->tile >= j->w && w->tile >= j->h;
    if (w->style == NINO_TILE_NEVER || (is_whole && !asked) ||
        (asked && w->tile >= asked && !is_other_style))
        return;
    t->tile = w->tile * f;
    t->tile_most = (asked ? asked : j->w > j->h ? j->w : j->h) * f;
    t->is_exact = w->style == NINO_TILE_EXACT;
    t->is_tiled = !t->is_exact;
    t->can_be_exact = can_be_exact && t->is_tiled;
}

nino_status nino_tile_choose(nino_tile_job *j, bool exact, nino_tile_way *w, nino_tile_report *r,
                             nino_error *err)
{
    const bool can = j->is_decode && j->v->decode_bands;
    const bool is_asked = w->style != NINO_TILE_AUTO && w->style != NINO_TILE_NEVER;
    const nino_choice *chosen = nino_stream_choice(j->s);
    const int asked = w->tile;
    const nino_tile_style style = w->style;
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(j->s)->pool, &m);
    const bool has_budget =
        m.budget && nino_acts(&nino_stream_backend(j->s)->profile, NINO_POLICY_TILES);
    exact = exact || w->style == NINO_TILE_EXACT;
    if (exact && can)
        w->fallback = NINO_TILE_EXACT;
    if (w->style == NINO_TILE_EXACT)
        w->style = NINO_TILE_ALWAYS; // if it cannot be exact
    const nino_status st = choose_style(j, has_budget, w, r, err);
    if (st)
        return st;
    const bool may_be_exact = can && !is_asked && !exact; // it was to be whole
    exact = exact || (may_be_exact && chosen->is_exact);
    if (w->style != NINO_TILE_NEVER && chosen->tile && chosen->tile / j->v->factor < w->tile)
        w->tile = chosen->tile / j->v->factor > NINO_TILE_LEAST ? chosen->tile / j->v->factor
                                                                : NINO_TILE_LEAST;
    if (w->style != NINO_TILE_NEVER && exact && can)
        w->style = NINO_TILE_EXACT;
    else if (w->style != NINO_TILE_NEVER && exact)
        nino_tile_warn_inexact(j->s, j->v);
    if (w->style == NINO_TILE_EXACT)
        tile_fit_exact(j, has_budget, w, r);
    else if (w->style != NINO_TILE_NEVER && has_budget)
        nino_tile_fit_way(
            j->s, &(nino_tile_fit){ .v = j->v, .is_decode = j->is_decode, .h = j->h, .w = j->w }, w,
            r);
    tile_tell(j, w, is_asked ? asked : 0, w->style != style, may_be_exact);
    if (!nino_stream_is_plan(j->s) && (m.budget || w->style != NINO_TILE_NEVER))
        nino_logf(nino_stream_backend(j->s)->log, NINO_LOG_INFO, "%s: %s", j->v->name, r->why);
    return NINO_OK;
}

bool nino_tile_shrink(nino_tile_job *j, nino_tile_way *w, nino_tile_report *r)
{
    const int f = j->v->factor;
    if (w->style == NINO_TILE_NEVER)
        w->style = w->fallback;
    else if (w->style == NINO_TILE_EXACT && !w->on_host)
        w->on_host = true;
    else if (w->tile / 2 >=
             (w->style == NINO_TILE_EXACT ? 1 : nino_tile_least(w->style, w->overlap)))
        w->tile /= 2;
    else
        return false;
    if (w->style == NINO_TILE_EXACT)
        snprintf(r->why, sizeof(r->why), "device memory ran out: exact in bands of %d rows%s",
                 w->tile * f, w->on_host ? ", maps wait on the host" : "");
    else
        snprintf(r->why, sizeof(r->why), "device memory ran out: tiles of %d with an overlap of %d",
                 w->tile * f, w->overlap * f);
    tile_warn(j->s, j->v, "%s", r->why);
    return true;
}
