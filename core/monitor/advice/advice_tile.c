// Advice on tiles: not needed at all, or too small for their overlap.
#include "core/monitor/advice/advice_rules.h"

#include "core/tile/tile.h"

typedef struct tiles {
    uint32_t n, passes;
    int w, h, tile_w, tile_h; // of the image, of the largest tile
    double seconds;           // of computing,
    double compiling;         // and of preparing kernels meanwhile
    double area, core;        // pixels computed; pixels of the image, both over all passes
    uint64_t peak;            // of a tile
    char node[64];
    bool has_seam;
    nino_event seam;
} tiles;

// The tiles of the last decode or encode that was tiled.
static bool advice_tile_find_tiles(const advisor *a, tiles *t)
{
    size_t n, k;
    const nino_event *ev = nino_history_points(a->h, NINO_EV_TILE_INFO, &n);
    if (!ev || !n || ev[n - 1].t_ns < a->begin_ns)
        return false;
    size_t first = n - 1; // order counts up within one image
    while (first > 0 && ev[first - 1].u.tile.order < ev[first].u.tile.order &&
           ev[first - 1].t_ns >= a->begin_ns)
        first--;
    *t = (tiles){ .passes = ev[n - 1].u.tile.n_passes ? ev[n - 1].u.tile.n_passes : 1 };
    for (size_t i = first; i < n; i++) {
        const int right = ev[i].u.tile.x + ev[i].u.tile.w, low = ev[i].u.tile.y + ev[i].u.tile.h;
        t->n++;
        t->w = right > t->w ? right : t->w;
        t->h = low > t->h ? low : t->h;
        t->tile_w = ev[i].u.tile.w > t->tile_w ? ev[i].u.tile.w : t->tile_w;
        t->tile_h = ev[i].u.tile.h > t->tile_h ? ev[i].u.tile.h : t->tile_h;
        t->seconds += (double) ev[i].u.tile.ns * 1e-9;
        t->area += (double) ev[i].u.tile.w * ev[i].u.tile.h;
        t->peak = ev[i].u.tile.peak_bytes > t->peak ? ev[i].u.tile.peak_bytes : t->peak;
    }
    t->core = (double) t->w * t->h;
    const uint64_t took = ev[first].u.tile.ns, end = ev[first].t_ns,
                   begin = end > took ? end - took : 0;
    t->compiling = fmin(nino_advice_compiling(a, begin, ev[n - 1].t_ns, NULL, NULL), t->seconds);
    t->seconds -= t->compiling;
    nino_advice_node_of(a, ev[n - 1].parent, t->node, sizeof(t->node));
    const nino_event *seam = nino_history_points(a->h, NINO_EV_SEAM, &k);
    if (seam && k && seam[k - 1].t_ns >= ev[first].t_ns) {
        t->has_seam = true;
        t->seam = seam[k - 1];
    }
    return t->core > 0 && t->seconds > 0;
}

static void say_evidence(const advisor *a, nino_advice *v, const tiles *t)
{
    char peak[32], room[32];
    SAY(a, v->evidence,
        "%u tiles of up to %dx%d took %s and computed %.0f %% of the %dx%d image's pixels", t->n,
        t->tile_w, t->tile_h, NINO_ADVICE_TIME(a, t->seconds), 100 * t->area / t->core, t->w, t->h);
    if (t->passes > 1)
        ADD(a, v->evidence, "the image was computed in %u passes", t->passes);
    if (t->compiling > 0)
        ADD(a, v->evidence, "%s of compiling came on top", NINO_ADVICE_TIME(a, t->compiling));
    nino_advice_bytes(a, peak, sizeof(peak), (double) t->peak);
    if (a->budget)
        ADD(a, v->evidence, "a tile needed %s of %s", peak,
            nino_advice_bytes(a, room, sizeof(room), (double) a->budget));
    else
        ADD(a, v->evidence, "a tile needed %s, there was no limit", peak);
    if (t->has_seam)
        ADD(a, v->evidence, "neighbours differ by %.2f/255 (at most %.1f)",
            (double) t->seam.u.seam.mean, (double) t->seam.u.seam.max);
}

// The gain of a setting by plan: measured time, scaled by what plan says of both. Else by the
// pixels that tiles of that size compute. False: no gain, or it does not fit.
static bool advice_tile_weigh(const advisor *a, const tiles *t, nino_advice *v, double area_then,
                              double peak_then)
{
    double seconds;
    uint64_t peak;
    if (a->plan_s > 0) {
        const double ran =
            fmax(a->wall_s - nino_advice_compiling(a, a->begin_ns, UINT64_MAX, NULL, NULL), 0);
        if (!nino_advice_plan(a, v->setting, &seconds, &peak))
            return false;
        v->gain_s = ran * (1 - seconds / a->plan_s);
        v->gain_bytes = (double) a->plan_peak - (double) peak;
        if (ran < a->wall_s)
            SAY(a, v->how, "plan: %s instead of %s, scaled to the %s measured, compiling apart",
                NINO_ADVICE_TIME(a, seconds), NINO_ADVICE_TIME(a, a->plan_s),
                NINO_ADVICE_TIME(a, ran));
        else
            SAY(a, v->how, "plan: %s instead of %s, scaled to the %s measured",
                NINO_ADVICE_TIME(a, seconds), NINO_ADVICE_TIME(a, a->plan_s),
                NINO_ADVICE_TIME(a, ran));
    } else {
        v->gain_s = t->seconds * (1 - area_then / t->area);
        v->gain_bytes = (double) t->peak - peak_then;
        SAY(a, v->how,
            "%s of tiles x share of pixels not computed again (%.0f %% of the image instead of "
            "%.0f %%)",
            NINO_ADVICE_TIME(a, t->seconds), 100 * area_then / t->core, 100 * t->area / t->core);
        if (a->budget && peak_then > (double) a->budget * 0.9)
            return false;
    }
    return v->gain_s > 0.02 * a->wall_s;
}

static double axis_pixels(int size, int tile, int overlap)
{
    nino_tile_axis x;
    double n = 0;
    if (tile >= size || !nino_tile_axis_even(&x, size, tile, overlap))
        return size;
    for (int i = 0; i < x.n; i++)
        n += x.len[i];
    return n;
}

// A setting that is worth it stays in the table; another takes its place back.
static bool try_tile(advisor *a, const tiles *t, const char *rule, int tile, int overlap)
{
    const int most = overlap > tile / 4 ? tile / 4 : overlap;
    const double area = axis_pixels(t->w, tile, most) * axis_pixels(t->h, tile, most);
    const bool is_whole = tile >= t->w && tile >= t->h;
    nino_advice *v = nino_advice_new(a, rule, t->node);
    if (!v)
        return false;
    v->action = NINO_ADVICE_SET;
    v->changes_result = 1;
    PUT(v->setting, "%.40s.tile_size=%d", t->node, tile);
    if (is_whole)
        SAY(a, v->title, "Decode without tiles: the whole %dx%d image fits", t->w, t->h);
    else
        SAY(a, v->title, "Larger tiles: %d instead of %d pixels", tile, t->tile_w);
    say_evidence(a, v, t);
    const double tile_area = (double) t->tile_w * t->tile_h;
    const double then = (double) (tile < t->w ? tile : t->w) * (tile < t->h ? tile : t->h);
    if (advice_tile_weigh(a, t, v, area * t->passes, (double) t->peak * then / tile_area))
        return true;
    a->n--;
    return false;
}

static void overlap_less(advisor *a, const tiles *t, int tile, int overlap)
{
    const int less = overlap / 2 / 32 * 32;
    // Neighbours agree: what they share is computed twice without need.
    if (less < 32 || !t->has_seam || (double) t->seam.u.seam.mean > 0.5)
        return;
    nino_advice *v = nino_advice_new(a, "overlap-too-large", t->node);
    if (!v)
        return;
    v->action = NINO_ADVICE_SET;
    v->changes_result = 1;
    PUT(v->setting, "%.40s.overlap=%d", t->node, less);
    SAY(a, v->title, "Less overlap: %d instead of %d pixels", less, overlap);
    say_evidence(a, v, t);
    const double area = axis_pixels(t->w, tile, less) * axis_pixels(t->h, tile, less);
    if (!advice_tile_weigh(a, t, v, area * t->passes, (double) t->peak))
        a->n--;
}

void nino_advise_tiles(advisor *a)
{
    tiles t;
    char text[32];
    if (!advice_tile_find_tiles(a, &t) || t.n < 2 ||
        !nino_advice_value(a, t.node, "tile_size", text, sizeof(text)))
        return;
    const int tile = atoi(text);
    const int overlap =
        nino_advice_value(a, t.node, "overlap", text, sizeof(text)) ? atoi(text) : tile / 8;
    const int size = t.w > t.h ? t.w : t.h, whole = (size + 63) / 64 * 64;
    if (tile < 64)
        return;
    // Stock tiling has a pass with tiles of half the width: twice the size holds the image there.
    if (t.passes > 1 && whole * 2 <= 4096 && try_tile(a, &t, "tiled-but-fits", whole * 2, overlap))
        return;
    if (whole <= 4096 && try_tile(a, &t, "tiled-but-fits", whole, overlap))
        return;
    for (int factor = 4; factor > 1; factor /= 2)
        if (tile * factor <= 2048 && tile * factor < whole &&
            try_tile(a, &t, "tiles-too-small", tile * factor, overlap))
            return;
    overlap_less(a, &t, tile, overlap);
}
