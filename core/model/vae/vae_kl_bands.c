// AutoencoderKL's decoder in bands of rows: what the whole maps would give, within rounding, in less
// memory. The middle, whose attention sees everything, is computed whole, at the latent's size. Each
// layer after it goes over its map in bands that see one row of their neighbours, which is all that
// a 3x3 convolution sees, and norms have the statistics of the whole map. So nothing is computed
// twice but those rows, and no more than a layer's input and output are kept, where whole maps need
// copies for norms, shortcuts and workspaces at the same time.
#include "core/base/size.h"
#include "core/model/bands.h"
#include "core/model/vae/vae_kl.h"

#include <stdio.h>

typedef struct walk {
    nino_stream *s;
    const nino_vae_bands *how;
    int64_t elements; // of a band
} walk;

// A convolution of a map, perhaps normalised, perhaps added to another one.
typedef struct layer {
    const nino_norm *norm; // may be NULL
    const nino_conv *conv;
    nino_bands *in, *residual; // residual may be NULL
    bool keeps_in;             // somebody needs it after this layer
} layer;

// How many bands the layer has; 0: there is no input, the stream has failed.
static int64_t bands_of(const walk *k, const layer *l)
{
    const int64_t h = l->in->h;
    if (!h)
        return 0;
    const int64_t up = l->conv->upsample2x ? 2 : 1;
    const int64_t width = l->in->w * up, n = l->conv->w->n;
    const int64_t channels = l->in->c > n && up == 1 ? l->in->c : n;
    int64_t rows = k->elements / (width * channels * up);
    rows = rows < 1 ? 1 : rows > h ? h : rows;
    return nino_ceil_div(h, rows);
}

// Rows first ... end - 1 of the input give those of the result.
static nino_tensor *run_rows(walk *k, const layer *l, nino_tensor *stat, int64_t first, int64_t end)
{
    nino_stream *s = k->s;
    const int64_t up = l->conv->upsample2x ? 2 : 1;
    const int64_t from = first > 0 ? first - 1 : 0, to = end < l->in->h ? end + 1 : end;
    nino_tensor *x = nino_bands_get(l->in, from, to);
    if (l->norm)
        x = nino_group_norm_given(s, x, l->norm, nino_ref(stat), NINO_ACT_SILU);
    x = l->residual ? nino_conv2d_add(s, x, l->conv, nino_bands_get(l->residual, from, to))
                    : nino_conv2d(s, x, l->conv);
    x = nino_slice(s, x, 1, (first - from) * up, (end - first) * up);
    if (!l->keeps_in)
        nino_bands_drop(l->in, end - 1);
    if (l->residual)
        nino_bands_drop(l->residual, end - 1);
    return x;
}

static void begin(const walk *k, nino_bands *m, int groups)
{
    nino_bands_begin(m, k->s, k->how->on_host, groups);
}

// *in becomes what the layer makes of it; groups: of the norm that comes next.
static void run_layer(walk *k, const layer *l, int groups)
{
    const int64_t h = l->in->h, n = bands_of(k, l);
    nino_tensor *stat = l->norm ? nino_bands_stat(l->in) : NULL;
    nino_bands out;
    begin(k, &out, groups);
    for (int64_t i = 0; i < n && !nino_stream_status(k->s, NULL); i++)
        nino_bands_put(&out, run_rows(k, l, stat, i * h / n, (i + 1) * h / n));
    nino_unref(stat);
    nino_bands_end(l->in);
    *l->in = out;
}

// The first convolution of a block, which leaves its input, or what the shortcut makes of it, for
// the second one: *in becomes that, *mid the result.
static void run_first(walk *k, const nino_kl_resnet *w, nino_bands *in, nino_bands *mid)
{
    const bool has_shortcut = w->shortcut.w != NULL;
    const layer l = { &w->norm1, &w->conv1, in, NULL, true };
    const int64_t h = in->h, n = bands_of(k, &l);
    nino_tensor *stat = nino_bands_stat(in);
    nino_bands skip;
    begin(k, &skip, 0);
    for (int64_t i = 0; i < n && !nino_stream_status(k->s, NULL); i++) {
        const int64_t first = i * h / n, end = (i + 1) * h / n;
        nino_bands_put(mid, run_rows(k, &l, stat, first, end));
        if (!has_shortcut)
            continue;
        nino_bands_put(&skip, nino_linear_op(k->s, nino_bands_get(in, first, end), &w->shortcut));
        nino_bands_drop(in, end - 1);
    }
    nino_unref(stat);
    if (has_shortcut) {
        nino_bands_end(in);
        *in = skip;
    }
}

static void run_block(walk *k, const nino_kl_resnet *w, nino_bands *x, int groups)
{
    nino_bands mid;
    begin(k, &mid, w->norm2.groups);
    run_first(k, w, x, &mid);
    run_layer(k, &(layer){ &w->norm2, &w->conv2, &mid, x, false }, groups);
    nino_bands_end(x);
    *x = mid;
}

static void level_bands(walk *k, const nino_kl_half *d, int i, nino_bands *x)
{
    const nino_kl_level *l = &d->level[i];
    char stage[32];
    snprintf(stage, sizeof(stage), "decoder.up.%d", i);
    nino_scope_begin(k->s, NINO_EV_STAGE, stage, 0, 0);
    for (int b = 0; b < l->n_blocks; b++)
        run_block(k, &l->block[b], x,
                  b + 1 < l->n_blocks || !l->resample.w ? d->norm_out.groups : 0);
    if (l->resample.w)
        run_layer(k, &(layer){ NULL, &l->resample, x, NULL, false }, d->norm_out.groups);
    nino_scope_end(k->s);
}

static void out_bands(walk *k, const nino_kl_half *d, nino_bands *x)
{
    const layer l = { &d->norm_out, &d->conv_out, x, NULL, false };
    const int64_t h = x->h, n = bands_of(k, &l);
    nino_scope_begin(k->s, NINO_EV_STAGE, "decoder.out", 0, 0);
    nino_tensor *stat = nino_bands_stat(x);
    for (int64_t i = 0; i < n && !nino_stream_status(k->s, NULL); i++) {
        nino_tensor *t = run_rows(k, &l, stat, i * h / n, (i + 1) * h / n);
        t = nino_scale(k->s, t, 0.5f, 0.5f); // -1..1 to 0..1
        if (t)
            k->how->put(k->how->priv, i * h / n, t);
    }
    nino_unref(stat);
    nino_scope_end(k->s);
}

void nino_vae_kl_decode_bands(nino_stream *s, const nino_vae *v, nino_tensor *z,
                              const nino_vae_bands *how)
{
    const nino_kl_half *d = nino_vae_kl_decoder(v);
    const int64_t width = nino_dim(z, 2) * v->factor;
    walk k = { .s = s, .how = how, .elements = how->rows * width * d->conv_out.w->c };
    nino_bands x;
    begin(&k, &x, d->norm_out.groups);
    nino_bands_put(&x, nino_vae_kl_decode_mid(s, v, z));
    for (int i = d->n_levels - 1; i >= 0 && !nino_stream_status(s, NULL); i--)
        level_bands(&k, d, i, &x);
    if (!nino_stream_status(s, NULL))
        out_bands(&k, d, &x);
    nino_bands_end(&x);
}
