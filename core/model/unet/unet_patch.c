// What patches of a MODEL change in a UNet: attentions that look at pictures, at tiles or not at
// all, features that are weighted before they meet a skip, a coarser middle.
// Sources: Si et al., FreeU (2023); Ahn et al., Perturbed-Attention Guidance (2024); Hong et al.,
// Self-Attention Guidance (2022); tfernd/HyperTile; kohya-ss, Deep Shrink; as ComfyUI 0.33.0 has
// them.
#include "core/model/unet/unet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- self-attention --------------------------------------------------------------------------

// How much the queries of one row look at each key, all heads' mean: added to to[T].
static void unet_look(const float *q, const float *k, int64_t tokens, int64_t channels, int heads,
                      float *logit, float *to)
{
    const int64_t depth = channels / heads;
    const float scale = 1.0f / sqrtf((float) depth);
    for (int h = 0; h < heads; h++)
        for (int64_t i = 0; i < tokens; i++) {
            const float *a = q + i * channels + h * depth;
            float top = -INFINITY;
            double sum = 0;
            for (int64_t j = 0; j < tokens; j++) {
                const float *b = k + j * channels + h * depth;
                float dot = 0;
                for (int64_t c = 0; c < depth; c++)
                    dot += a[c] * b[c];
                logit[j] = dot * scale;
                top = fmaxf(top, logit[j]);
            }
            for (int64_t j = 0; j < tokens; j++)
                sum += (double) (logit[j] = expf(logit[j] - top));
            for (int64_t j = 0; j < tokens; j++)
                to[j] += (float) ((double) logit[j] / sum / heads);
        }
}

// The rows of the negative side, on the host: nothing else needs more than an attention's answer.
static void unet_see(nino_stream *s, const nino_pass *p, nino_tensor *q, nino_tensor *k, int heads)
{
    nino_attention_map *map = p->map;
    const int64_t rows = nino_dim(q, 0), tokens = nino_dim(q, 1), channels = nino_dim(q, 2);
    int64_t n = 0;
    for (int64_t i = 0; i < rows && i < p->n_rows; i++)
        n += p->negative && p->negative[i];
    if (!n)
        return;
    nino_array *hq = nino_download(s, nino_ref(q), NINO_F32);
    nino_array *hk = nino_download(s, nino_ref(k), NINO_F32);
    float *logit = malloc((size_t) tokens * sizeof(float));
    free(map->weight);
    map->weight = calloc((size_t) (n * tokens), sizeof(float));
    map->rows = n;
    map->n = tokens;
    if (!logit || !map->weight)
        nino_stream_fail(s, NINO_ERR_NOMEM, "SelfAttentionGuidance", "no memory for its map");
    float *to = map->weight;
    for (int64_t i = 0; i < rows && hq && hk && logit && to && !nino_stream_is_plan(s); i++)
        if (i < p->n_rows && p->negative[i]) {
            unet_look(nino_array_f32(hq) + i * tokens * channels,
                      nino_array_f32(hk) + i * tokens * channels, tokens, channels, heads, logit,
                      to);
            to += tokens;
        }
    free(logit);
    nino_array_unref(&hq);
    nino_array_unref(&hk);
}

// In how many parts a side is cut: as many as fit whose size divides it.
static int64_t tiles_of(int64_t side, int64_t least)
{
    for (int64_t i = least < side ? least : side; i <= side; i++)
        if (i > 0 && side % i == 0)
            return side / i;
    return 1;
}

// The cut of a self-attention of so many tokens; false: none. ComfyUI takes rows for columns where
// the sides differ, and so do we.
static bool unet_tiles(const unet_walk *w, const nino_patch *p, int64_t tokens, int64_t cut[4])
{
    const int64_t least = (int64_t) fmax(32, p->v[0]) / 8;
    const double aspect = (double) w->width / (double) w->height;
    int depth = -1;
    for (int i = 0; i <= (int) p->v[2] && depth < 0; i++)
        if ((double) tokens == (double) w->height / exp2(i) * ((double) w->width / exp2(i)))
            depth = i;
    if (depth < 0)
        return false;
    const int64_t h = (int64_t) rint(sqrt((double) tokens * aspect));
    const int64_t v = (int64_t) rint(sqrt((double) tokens / aspect));
    const int64_t factor = p->v[3] != 0 ? (int64_t) 1 << depth : 1;
    cut[0] = tiles_of(h, least * factor);
    cut[1] = h / cut[0];
    cut[2] = tiles_of(v, least * factor);
    cut[3] = v / cut[2];
    return cut[0] * cut[2] > 1 && h * v == tokens;
}

// [B,(nh h nw w),C] -> [(B nh nw),(h w),C], or back.
static nino_tensor *unet_cut(nino_stream *s, nino_tensor *x, const int64_t cut[4], bool is_back)
{
    const int64_t tokens = cut[0] * cut[1] * cut[2] * cut[3], c = nino_dim(x, 2);
    const int64_t n = nino_dim(x, 0) * nino_dim(x, 1) / (tokens ? tokens : 1);
    if (is_back)
        x = nino_reshape(s, x, NINO_SHAPE(n * cut[0], cut[2], cut[1], cut[3], c));
    else
        x = nino_reshape(s, x, NINO_SHAPE(n * cut[0], cut[1], cut[2], cut[3], c));
    x = nino_permute(s, x, (const int[]){ 0, 2, 1, 3, 4 });
    return is_back ? nino_reshape(s, x, NINO_SHAPE(n, tokens, c))
                   : nino_reshape(s, x, NINO_SHAPE(n * cut[0] * cut[2], cut[1] * cut[3], c));
}

// q and k times their factors, as a factor of the logits.
static float unet_logits(const unet_walk *w, nino_patch_kind kind, const nino_tensor *q, int heads)
{
    double by = 1;
    bool is_any = false;
    for (const nino_patch *p = NULL; (p = nino_pass_next(w->pass, kind, p)); is_any = true)
        by *= p->v[0] * p->v[1];
    // 0 means the usual, so that factors of 0 must be something else
    return is_any ? (float) fmax(by / sqrt((double) nino_dim(q, 2) / heads), 1e-30) : 0;
}

nino_tensor *unet_patch_self(nino_stream *s, unet_walk *w, nino_tensor *q, nino_tensor *k,
                             nino_tensor *v, int heads)
{
    const nino_pass *p = w->pass;
    const bool is_middle = p && w->part == UNET_IN_MIDDLE;
    int64_t cut[4];
    if (is_middle && p->is_perturbed) {
        nino_unref(q);
        nino_unref(k);
        return v;
    }
    if (is_middle && p->map && !w->has_seen) {
        unet_see(s, p, q, k, heads);
        w->has_seen = true;
    }
    const float scale = unet_logits(w, NINO_PATCH_SELF_SCALE, q, heads);
    const nino_patch *tile = nino_pass_next(p, NINO_PATCH_HYPERTILE, NULL);
    if (!tile || nino_stream_status(s, NULL) || !unet_tiles(w, tile, nino_dim(q, 1), cut))
        return nino_attention(s, q, k, v, heads, scale);
    q = unet_cut(s, q, cut, false);
    k = unet_cut(s, k, cut, false);
    v = unet_cut(s, v, cut, false);
    return unet_cut(s, nino_attention(s, q, k, v, heads, scale), cut, true);
}

nino_tensor *unet_patch_cross(nino_stream *s, unet_walk *w, nino_tensor *q, nino_tensor *k,
                              nino_tensor *v, int heads)
{
    nino_tensor *kept = w->ip.n ? nino_ref(q) : NULL;
    const float scale = unet_logits(w, NINO_PATCH_CROSS_SCALE, q, heads);
    nino_tensor *out = nino_attention(s, q, k, v, heads, scale);
    out = nino_ip_attend(s, &w->ip, kept, out, heads, w->cross, w->transformer);
    nino_unref(kept);
    return out;
}

void unet_patch_out(const unet_walk *w, bool is_cross, float *before, float *after)
{
    const nino_patch_kind kind = is_cross ? NINO_PATCH_CROSS_SCALE : NINO_PATCH_SELF_SCALE;
    for (const nino_patch *p = NULL; (p = nino_pass_next(w->pass, kind, p));) {
        *before *= (float) p->v[2];
        *after *= (float) p->v[3];
    }
}

// ---- a coarser middle ------------------------------------------------------------------------

nino_tensor *unet_patch_down(nino_stream *s, const unet_walk *w, nino_tensor *x, int i,
                             bool after_skip)
{
    for (const nino_patch *p = NULL; (p = nino_pass_next(w->pass, NINO_PATCH_DOWNSCALE, p));) {
        const double by = 1.0 / p->v[1];
        if ((int) p->v[0] != i || (p->v[2] != 0) != after_skip || p->v[1] <= 1)
            continue;
        const int64_t h = (int64_t) rint((double) nino_dim(x, 1) * by);
        const int64_t v = (int64_t) rint((double) nino_dim(x, 2) * by);
        x = nino_resample(s, x, h > 0 ? h : 1, v > 0 ? v : 1, (nino_filter) p->filter[0]);
    }
    return x;
}

// What was made coarse, in range or not, gets as fine as the skip again.
static nino_tensor *as_fine_as(nino_stream *s, const nino_patch *p, nino_tensor *x,
                               const nino_tensor *skip)
{
    if (nino_dim(x, 1) == nino_dim(skip, 1))
        return x;
    return nino_resample(s, x, nino_dim(skip, 1), nino_dim(skip, 2), (nino_filter) p->filter[1]);
}

// torch's "nearest" takes the cell that begins before, no op does: on the host, it is rare.
nino_tensor *unet_patch_up(nino_stream *s, nino_tensor *x, int64_t h, int64_t w)
{
    nino_array *a = nino_download(s, x, NINO_F32);
    if (!a)
        return NULL;
    const int64_t n = a->shape.dim[0], had_h = a->shape.dim[1], had_w = a->shape.dim[2];
    const int64_t c = a->shape.dim[3];
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, c));
    for (int64_t i = 0; i < n * h * w && out; i++) {
        const int64_t y = i / w % h * had_h / h, v = i % w * had_w / w;
        memcpy(nino_array_f32(out) + i * c,
               nino_array_f32(a) + ((i / (h * w) * had_h + y) * had_w + v) * c,
               (size_t) c * sizeof(float));
    }
    nino_tensor *t = out ? nino_upload(s, out, nino_stream_act_type(s))
                         : nino_stream_fail(s, NINO_ERR_NOMEM, "unet", "no memory to enlarge");
    nino_array_unref(&a);
    nino_array_unref(&out);
    return t;
}

// ---- FreeU -----------------------------------------------------------------------------------

#define WAVES 7 // of frequencies -1 and 0 in both directions: one constant, three cosines and sines

// values [WAVES][h*w], divided by sqrt(h*w); is_back: [h*w][WAVES].
static nino_weight *unet_waves(int64_t h, int64_t w, bool is_back)
{
    const int64_t n = h * w;
    nino_array *a =
        nino_array_create(NINO_F32, is_back ? NINO_SHAPE(n, WAVES) : NINO_SHAPE(WAVES, n));
    if (!a)
        return NULL;
    float *to = nino_array_f32(a);
    const double one = 1 / sqrt((double) n);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < WAVES; k++) {
            const int f = (k + 1) / 2; // 0, or which of y, x, both
            const int64_t y = i / w, x = i % w;
            const double turn =
                (f & 1 ? (double) y / (double) h : 0) + (f & 2 ? (double) x / (double) w : 0);
            const double v = k && k % 2 == 0 ? sin(2 * M_PI * turn) : cos(2 * M_PI * turn);
            to[is_back ? i * WAVES + k : k * n + i] = (float) (v * one);
        }
    nino_weight *out = nino_weight_from_array(a, NINO_W_MATRIX);
    nino_array_unref(&a);
    return out;
}

// The mean of c channels, and a value for half of them.
static nino_weight *unet_means(int64_t c, bool is_back)
{
    const int64_t n = is_back ? c / 2 : c;
    nino_array *a = nino_array_create(NINO_F32, is_back ? NINO_SHAPE(n, 1) : NINO_SHAPE(1, n));
    for (int64_t i = 0; i < n && a; i++)
        nino_array_f32(a)[i] = is_back ? 1.0f : 1.0f / (float) c;
    nino_weight *out = a ? nino_weight_from_array(a, NINO_W_MATRIX) : NULL;
    nino_array_unref(&a);
    return out;
}

// w 0: of means of h channels.
static const unet_basis *basis_of(nino_stream *s, unet *u, int64_t h, int64_t w)
{
    unet_basis *b;
    pthread_mutex_lock(&u->bases.lock);
    for (b = u->bases.first; b && (b->h != h || b->w != w);)
        b = b->next;
    if (!b && (b = calloc(1, sizeof(*b)))) {
        *b = (unet_basis){ u->bases.first, h, w, w ? unet_waves(h, w, false) : unet_means(h, false),
                           w ? unet_waves(h, w, true) : unet_means(h, true) };
        u->bases.first = b;
    }
    pthread_mutex_unlock(&u->bases.lock);
    if (b && b->to && b->from)
        return b;
    return nino_stream_fail(s, NINO_ERR_NOMEM, "FreeU", "no memory for its frequencies");
}

// x with its lowest frequencies times v.
static nino_tensor *unet_filter(nino_stream *s, unet *u, nino_tensor *x, double v)
{
    const int64_t n = nino_dim(x, 0), h = nino_dim(x, 1), w = nino_dim(x, 2), c = nino_dim(x, 3);
    const unet_basis *b = nino_stream_status(s, NULL) ? NULL : basis_of(s, u, h, w);
    if (!b) {
        nino_unref(x);
        return NULL;
    }
    const nino_linear to = { .w = b->to }, from = { .w = b->from };
    nino_tensor *y = nino_reshape(s, nino_ref(x), NINO_SHAPE(n, h * w, c));
    y = nino_permute(s, y, (const int[]){ 0, 2, 1 });
    y = nino_linear_op(s, nino_linear_op(s, y, &to), &from);
    y = nino_permute(s, y, (const int[]){ 0, 2, 1 });
    y = nino_reshape(s, y, NINO_SHAPE(n, h, w, c));
    return nino_add(s, x, nino_scale(s, y, (float) (v - 1), 0));
}

// Values of cells, x [N,H,W,1], from (least in a picture) 1 to (most) b.
static nino_tensor *unet_strength(nino_stream *s, nino_tensor *x, double b)
{
    nino_array *a = nino_download(s, x, NINO_F32);
    if (!a)
        return NULL;
    const int64_t n = a->shape.dim[0], cells = a->shape.dim[1] * a->shape.dim[2];
    for (int64_t i = 0; i < n; i++) {
        float *v = nino_array_f32(a) + i * cells, low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < cells; k++) {
            low = fminf(low, v[k]);
            high = fmaxf(high, v[k]);
        }
        for (int64_t k = 0; k < cells; k++)
            v[k] = ((float) b - 1) * (high > low ? (v[k] - low) / (high - low) : 0) + 1;
    }
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

// first, half of the channels of x, times how strong all of them are in a cell.
static nino_tensor *unet_weigh(nino_stream *s, unet *u, nino_tensor *x, nino_tensor *first,
                               double b)
{
    const unet_basis *means = basis_of(s, u, nino_dim(x, 3), 0);
    if (!means) {
        nino_unref(first);
        return NULL;
    }
    const nino_linear mean = { .w = means->to }, spread = { .w = means->from };
    nino_tensor *m = unet_strength(s, nino_linear_op(s, nino_ref(x), &mean), b);
    return nino_mul(s, first, nino_linear_op(s, m, &spread), NINO_ACT_NONE);
}

static void unet_free(nino_stream *s, unet *u, const nino_patch *p, nino_tensor **x,
                      nino_tensor **skip)
{
    const int64_t c = nino_dim(*x, 3), half = c / 2;
    const int wide = c == 4 * (int64_t) u->channels ? 0 : c == 2 * (int64_t) u->channels ? 1 : -1;
    if (wide < 0)
        return;
    nino_tensor *first = nino_slice(s, nino_ref(*x), 3, 0, half);
    if (p->kind == NINO_PATCH_FREEU)
        first = nino_scale(s, first, (float) p->v[wide], 0);
    else
        first = unet_weigh(s, u, *x, first, p->v[wide]);
    *x = nino_concat(s, first, nino_slice(s, *x, 3, half, c - half), 3);
    *skip = unet_filter(s, u, *skip, p->v[2 + wide]);
}

// In the order in which the nodes come.
void unet_patch_join(nino_stream *s, unet *u, const unet_walk *w, nino_tensor **x,
                     nino_tensor **skip)
{
    const nino_pass *p = w->pass;
    for (int i = 0; p && i < p->n_patches && !nino_stream_status(s, NULL); i++) {
        const nino_patch_kind kind = p->patch[i].kind;
        if (kind == NINO_PATCH_DOWNSCALE)
            *x = as_fine_as(s, &p->patch[i], *x, *skip);
        else if ((kind == NINO_PATCH_FREEU || kind == NINO_PATCH_FREEU2) && p->active >> i & 1)
            unet_free(s, u, &p->patch[i], x, skip);
    }
}

void unet_destroy(nino_diffusion *d)
{
    unet *u = d->net;
    while (u->bases.first) {
        unet_basis *b = u->bases.first;
        u->bases.first = b->next;
        nino_weight_destroy(&b->to);
        nino_weight_destroy(&b->from);
        free(b);
    }
    pthread_mutex_destroy(&u->bases.lock);
}
