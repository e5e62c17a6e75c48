// What a VAE needs on a device, from walking the model on a plan backend, and whether that fits.
#include "core/tile/fit.h"
#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/vars.h"
#include "core/op/backend.h"
#include "core/op/pool.h"
#include "core/tile/needs.h"

#include <stdlib.h>

// What goes through: images together, or a clip.
typedef struct walk {
    const nino_vae *v;
    bool is_decode, is_clip;
    int64_t n, pieces; // images, latent frames; clips that are streamed: how often
    int64_t all;       // latent frames of a clip
    int64_t h, w;
    int64_t all_h, all_w; // of the picture that it is a tile of; 0: no tile
    nino_vae_bands bands; // rows > 0: of an exact decode
} walk;

static void drop_rows(void *priv, int64_t first, nino_tensor *rows)
{
    (void) priv;
    (void) first;
    nino_unref(rows);
}

static nino_tensor *input(nino_stream *s, const walk *k, int64_t n)
{
    const int unit = k->is_decode ? 1 : k->v->factor;
    const int64_t c = k->is_decode ? k->v->channels : 3;
    return nino_zeros(s, NINO_SHAPE(n, k->h * unit, k->w * unit, c), nino_stream_act_type(s));
}

static void run_once(nino_stream *s, const void *priv)
{
    const walk *k = priv;
    const nino_vae *v = k->v;
    if (k->bands.rows) {
        v->decode_bands(s, v, input(s, k, 1), &k->bands);
    } else if (!k->is_clip) {
        const int64_t u = k->is_decode ? v->factor : 1, c = k->is_decode ? 3 : v->channels;
        nino_tensor *canvas =
            k->all_h ? nino_zeros(s, NINO_SHAPE(k->all_h * u, k->all_w * u, c + 1), NINO_F32)
                     : NULL;
        nino_tensor *t = input(s, k, k->n);
        t = k->is_decode ? nino_vae_decode(s, v, t) : nino_vae_encode(s, v, t);
        nino_unref(canvas ? nino_blend_div(s, nino_blend(s, canvas, t, 0, 0, 0, 0, 0)) : t);
    } else if (!v->decode_next) {
        nino_unref(v->decode_clip(s, v, input(s, k, k->n)));
    } else {
        const bool is_whole = !nino_acts(&nino_stream_backend(s)->profile, NINO_POLICY_STREAMING);
        nino_vae_clip clip;
        nino_vae_clip_begin(&clip, v, k->is_decode);
        for (int64_t i = 0; i < (is_whole ? 1 : k->pieces); i++) {
            const int64_t piece = k->is_decode ? k->n : i || v->pads_end ? v->time_factor : 1;
            const int64_t n = !is_whole      ? piece
                              : k->is_decode ? k->all
                                             : nino_vae_frames(v, k->all);
            nino_unref(nino_vae_clip_next(s, &clip, input(s, k, n)));
        }
        nino_vae_clip_end(&clip);
    }
}

int nino_vae_piece(const nino_vae *v, bool is_decode)
{
    const int n = atoi(nino_vars_get()->chunk_size); // "auto": 0
    return v->decode_next && is_decode && n > 1 ? n : 1;
}

void nino_tidy_after(nino_stream *s, int64_t i)
{
    const int every = atoi(nino_vars_get()->cleanup_frequency);
    if (every > 0 && (i + 1) % every == 0)
        nino_pool_trim(nino_stream_backend(s)->pool);
}

// gather: bytes that the arena of activations has from the start; 0: it grows.
static nino_status need_dry(nino_stream *s, nino_need_walk run, const void *priv, uint64_t limit,
                            uint64_t gather, nino_vae_need *out, nino_error *err)
{
    nino_backend *be = nino_stream_backend(s);
    nino_stream *dry = NULL;
    nino_status st = NINO_OK;
    nino_backend *plan = nino_plan_open(&be->profile, limit, limit ? NULL : be->log, err);
    if (!plan)
        return err ? err->code : NINO_ERR_NOMEM;
    dry = nino_stream_create(&(nino_stream_params){ .backend = plan,
                                                    .precision = nino_stream_precision(s),
                                                    .keeps_scores = nino_stream_keeps_scores(s) },
                             err);
    if (!dry || (gather && nino_pool_gather(plan->pool, gather, err))) {
        st = err ? err->code : NINO_ERR_NOMEM;
        goto end;
    }
    plan->evict = be->evict;
    // The first walk brings the weights in, the second one meets them there, as a second tile does.
    for (int pass = 0; pass < 2 && !st; pass++) {
        nino_pool_reset_peak(plan->pool);
        out->flops = -plan->flops;
        out->reread = plan->load_bytes;
        run(dry, priv);
        st = nino_stream_status(dry, err);
    }
    if (!st) {
        nino_mem_stat m;
        nino_pool_stat(plan->pool, &m);
        out->weights = m.by_owner[NINO_OWN_WEIGHTS];
        out->activations = m.peak - out->weights;
        out->reserved = m.reserved;
        out->reread = plan->load_bytes - out->reread;
        out->flops += plan->flops;
        out->ops = plan->ops;
    }
end:
    nino_stream_destroy(&dry);
    nino_backend_close(&plan);
    return st;
}

// All that a VAE's walk depends on beside the device, which is the same as long as needs are kept. False: no
// memory, or who made the VAE is not known.
static bool need_key(nino_stream *s, const walk *k, uint64_t limit, uint64_t gather, nino_hash *out)
{
    const nino_vae *v = k->v;
    const uint64_t with[] = { limit,
                              gather,
                              nino_stream_precision(s),
                              nino_stream_keeps_scores(s),
                              nino_stream_backend(s)->evict,
                              nino_stream_backend(s)->profile.switched,
                              v->kind,
                              v->weight_bytes,
                              (uint64_t) v->channels,
                              v->has_encoder * 2u + v->has_decoder };
    const int64_t of[] = { k->is_decode, k->is_clip, k->n,     k->pieces,     k->all,          k->h,
                           k->w,         k->all_h,   k->all_w, k->bands.rows, k->bands.on_host };
    nino_hasher *h = v->identity.lo || v->identity.hi ? nino_hasher_create() : NULL;
    if (!h)
        return false;
    nino_hasher_add(h, &v->identity, sizeof(v->identity));
    nino_hasher_add(h, with, sizeof(with));
    nino_hasher_add(h, of, sizeof(of));
    *out = nino_hasher_finish(&h);
    return true;
}

// As need_dry(), but of a VAE only once in a plan's walks.
static nino_status need_walk(nino_stream *s, nino_need_walk run, const void *priv, uint64_t limit,
                             uint64_t gather, nino_vae_need *out, nino_error *err)
{
    nino_needs *needs = run == run_once ? nino_stream_needs(s) : NULL;
    nino_status st;
    nino_hash key;
    if (!needs || !need_key(s, priv, limit, gather, &key))
        return need_dry(s, run, priv, limit, gather, out, err);
    if (nino_needs_find(needs, &key, &st, out) && (st == NINO_OK || !err))
        return st;
    st = need_dry(s, run, priv, limit, gather, out, err);
    if (st == NINO_OK || st == NINO_ERR_NOMEM)
        nino_needs_add(needs, &key, st, out);
    return st;
}

nino_status nino_need_get(nino_stream *s, nino_need_walk run, const void *priv, uint64_t limit,
                          nino_vae_need *out, nino_error *err)
{
    return need_walk(s, run, priv, limit, 0, out, err);
}

nino_status nino_vae_need_get(nino_stream *s, const nino_vae *v, bool is_decode, int n, int h,
                              int w, nino_vae_need *out, nino_error *err)
{
    const walk k = { .v = v, .is_decode = is_decode, .n = n, .h = h, .w = w };
    return nino_need_get(s, run_once, &k, 0, out, err);
}

// t latent frames of a clip. From the third piece of a stream on nothing changes.
static walk clip_walk(const nino_vae *v, bool is_decode, int64_t t, int chunk, int64_t h, int64_t w)
{
    const bool is_stream = v->decode_next != NULL;
    const int64_t n = is_stream ? nino_vae_piece(v, is_decode) : chunk > 0 ? chunk : t;
    const int64_t pieces = is_decode ? (t + n - 1) / n : t;
    return (walk){ .v = v,
                   .is_decode = is_decode,
                   .is_clip = true,
                   .n = n < t ? n : t,
                   .pieces = pieces < 4 ? pieces : 4,
                   .all = t,
                   .h = h,
                   .w = w };
}

nino_status nino_vae_need_clip(nino_stream *s, const nino_vae *v, bool is_decode, int64_t t,
                               int chunk, int h, int w, nino_vae_need *out, nino_error *err)
{
    const walk k = clip_walk(v, is_decode, t, chunk, h, w);
    const nino_status st = nino_need_get(s, run_once, &k, 0, out, err);
    const bool is_stream =
        v->decode_next && nino_acts(&nino_stream_backend(s)->profile, NINO_POLICY_STREAMING);
    const int64_t walked = is_stream        ? k.pieces * (is_decode ? k.n : 1)
                           : v->decode_next ? k.all
                                            : k.n;
    out->flops *= (double) t / (double) walked;
    return st;
}

nino_status nino_vae_decode_peak(nino_stream *s, const nino_vae *v, int n, int h, int w,
                                 uint64_t *activation_bytes, uint64_t *weight_bytes,
                                 nino_error *err)
{
    nino_vae_need need = { 0 };
    const nino_status st = nino_vae_need_get(s, v, true, n, h, w, &need, err);
    if (st)
        return st;
    *activation_bytes = need.activations;
    *weight_bytes = need.weights;
    return NINO_OK;
}

// What the budget leaves to others than weights: those, this VAE's or others', are given up when
// memory is short; the rest stays. Of the budget memory.memory_threshold may be filled. 0: there is
// no budget.
static uint64_t room_for(nino_stream *s, uint64_t *budget)
{
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(s)->pool, &m);
    const uint64_t others = m.in_use - m.by_owner[NINO_OWN_WEIGHTS];
    *budget = m.budget;
    const double share = nino_strtod(nino_vars_get()->memory_threshold, NULL);
    const uint64_t most = share < 1 ? (uint64_t) ((double) m.budget * share) : m.budget;
    return !m.budget ? 0 : most > others ? most - others : 1;
}

bool nino_vae_fits(nino_stream *s, const nino_vae_need *need, uint64_t *budget)
{
    const uint64_t room = room_for(s, budget);
    return !room || need->reserved <= room;
}

// ---- the size of tiles -------------------------------------------------------------------------

bool nino_need_fits(nino_stream *s, nino_need_walk run, const void *priv, bool keeps_weights,
                    uint64_t *gather)
{
    enum { PARTS = 4 };
    nino_vae_need need = { 0 }, all = { 0 };
    uint64_t budget;
    const uint64_t room = room_for(s, &budget);
    if (gather)
        *gather = 0;
    if (!need_walk(s, run, priv, room, 0, &need, NULL) && !(keeps_weights && need.reread))
        return true;
    if (!gather || !room || need_walk(s, run, priv, 0, 0, &all, NULL) || all.activations > room ||
        (keeps_weights && all.weights > room - all.activations))
        return false;
    // Arenas that grow as they are needed leave gaps that one made in advance has not. How large it
    // must be depends on the gaps in it; what it leaves is for weights.
    const uint64_t most = nino_pool_largest_gather(nino_stream_backend(s)->pool);
    const uint64_t rest = room - all.activations;
    const uint64_t spare = rest - (keeps_weights ? all.weights : 0);
    for (int i = 0; i <= PARTS; i++) {
        *gather = all.activations + spare / PARTS * (uint64_t) i;
        if (*gather <= most && !need_walk(s, run, priv, room, *gather, &need, NULL) &&
            !(keeps_weights && need.reread))
            return true;
    }
    *gather = 0;
    return false;
}

bool nino_vae_fits_thrifty(nino_stream *s, const nino_vae *v, bool is_decode, int h, int w,
                           uint64_t *gather)
{
    const walk k = { .v = v, .is_decode = is_decode, .n = 1, .h = h, .w = w };
    return nino_need_fits(s, run_once, &k, false, gather);
}

static walk exact_walk(const nino_tile_fit *f, int tile)
{
    return (walk){ .v = f->v,
                   .is_decode = true,
                   .n = 1,
                   .h = f->h,
                   .w = f->w,
                   .bands = { (int64_t) tile * f->v->factor, f->on_host, drop_rows, NULL } };
}

void nino_vae_walk(nino_stream *dry, const nino_tile_fit *f, int n, int w, int h)
{
    walk k = { .v = f->v, .is_decode = f->is_decode, .n = n, .h = h, .w = w };
    if (f->frames)
        k = clip_walk(f->v, f->is_decode, f->frames, f->chunk, h, w);
    if (f->is_exact)
        k = exact_walk(f, h);
    run_once(dry, &k);
}

nino_status nino_vae_need_exact(nino_stream *s, const nino_tile_fit *f, int tile,
                                nino_vae_need *out, nino_error *err)
{
    const walk k = exact_walk(f, tile);
    return nino_need_get(s, run_once, &k, 0, out, err);
}

// Every shape of tile that a picture is computed in.
static bool fits_tile(nino_stream *s, const nino_tile_fit *f, int tile, bool keeps_weights,
                      uint64_t *gather)
{
    const int w[3] = { tile, tile / 2, tile * 2 }, h[3] = { tile, tile * 2, tile / 2 };
    bool fits = true;
    *gather = 0;
    for (int i = 0; i < (f->is_stock && !f->frames ? 3 : 1) && fits; i++) {
        const int64_t th = h[i] < f->h ? h[i] : f->h, tw = w[i] < f->w ? w[i] : f->w;
        walk k = { .v = f->v, .is_decode = f->is_decode, .n = 1, .h = th, .w = tw };
        if (f->frames)
            k = clip_walk(f->v, f->is_decode, f->frames, f->chunk, th, tw);
        if (f->is_exact)
            k = exact_walk(f, tile);
        else if (!k.is_clip && (k.h < f->h || k.w < f->w)) {
            k.all_h = f->h;
            k.all_w = f->w;
        }
        uint64_t n = 0; // what tiles leave behind while others run is not walked, bands are all
        fits = nino_need_fits(s, run_once, &k, keeps_weights, f->is_exact ? &n : NULL);
        *gather = n > *gather ? n : *gather;
    }
    return fits;
}

int nino_vae_fit_tile(nino_stream *s, const nino_tile_fit *f, int least, int most, uint64_t *gather)
{
    int lo = least, hi = most;
    // Weights are read once; where no tile leaves them room, or a planner says so, they come and go.
    bool keeps = !nino_stream_choice(s)->spends;
    uint64_t n = 0;
    *gather = 0;
    if (least > most)
        return 0;
    if (fits_tile(s, f, most, keeps, gather))
        return most;
    nino_stream_taken(s)->can_spend = keeps;
    if (!fits_tile(s, f, least, keeps, gather)) {
        keeps = false;
        if (fits_tile(s, f, most, false, gather))
            return most;
        if (!fits_tile(s, f, least, false, gather))
            return 0;
    }
    while (hi - lo > 1) {
        const int mid = lo + (hi - lo) / 2;
        if (fits_tile(s, f, mid, keeps, &n)) {
            lo = mid;
            *gather = n;
        } else {
            hi = mid;
        }
    }
    return lo;
}
