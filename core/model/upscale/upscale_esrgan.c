// ESRGAN: a trunk of residual-in-residual dense blocks (RRDB) at the resolution of the picture,
// then doublings. ESRGAN itself, ESRGAN+, Real-ESRGAN (which looks at small scales through a pixel
// unshuffle), BSRGAN and RealSR are this network under three sets of names.
// Sources: Wang et al., ESRGAN (2018) and Real-ESRGAN (2021); names: chaiNNer-org/spandrel.
#include "core/model/loader.h"
#include "core/model/upscale/upscale.h"

#include <stdio.h>
#include <string.h>

#define MAX_UP 4      // doublings
#define STRIPE_MAPS 6 // that a stripe has at most, in maps of the blocks, which have 9 at once
#define HALO 2        // rows
#define LEAST_ROWS 16 // of a stripe

typedef struct dense { // dense block
    nino_conv conv[5];
    nino_conv skip; // ESRGAN+: 1x1, from the block's input to the second and the fourth
} dense;

typedef struct block {
    dense dense[3];
} block;

typedef struct esrgan_net {
    nino_conv first, body, up[MAX_UP], hr, last;
    block *block;
    int n_blocks, n_up, unshuffle;
} esrgan_net;

// ---- forward ---------------------------------------------------------------------------------
// x + 0.2 y
static nino_tensor *add_fifth(nino_stream *s, nino_tensor *x, nino_tensor *y)
{
    return nino_add(s, nino_scale(s, y, 0.2f, 0), x);
}

// Each convolution sees the input and the results of all before it.
static nino_tensor *run_dense(nino_stream *s, const dense *d, nino_tensor *x)
{
    nino_tensor *seen = nino_ref(x), *second = NULL;
    for (int i = 0; i < 4; i++) {
        nino_tensor *y = nino_conv2d(s, nino_ref(seen), &d->conv[i]);
        if (d->skip.w && i == 1) {
            y = nino_conv2d_add(s, nino_ref(x), &d->skip, y);
            second = nino_ref(y);
        } else if (d->skip.w && i == 3) {
            y = nino_add(s, y, second);
        }
        seen = nino_concat(s, seen, y, 3);
    }
    return add_fifth(s, x, nino_conv2d(s, seen, &d->conv[4]));
}

static nino_tensor *run_block(nino_stream *s, const block *b, nino_tensor *x)
{
    nino_tensor *r = nino_ref(x);
    for (int i = 0; i < 3; i++)
        r = run_dense(s, &b->dense[i], r);
    return add_fifth(s, x, r);
}

static nino_tensor *run_tail(nino_stream *s, const esrgan_net *net, nino_tensor *x)
{
    for (int i = 0; i < net->n_up; i++)
        x = nino_conv2d(s, x, &net->up[i]);
    x = nino_conv2d(s, x, &net->hr);
    return nino_conv2d(s, x, &net->last);
}

// What follows the blocks, in stripes of rows that see HALO rows of their neighbours, as far as its
// convolutions look: all at once, two maps of the result's size with all channels would need more
// memory than everything before.
static nino_tensor *run_stripes(nino_stream *s, const esrgan_net *net, nino_tensor *x)
{
    const int64_t h = nino_dim(x, 1), up = 1 << net->n_up;
    const int64_t n = (2 * up * up + STRIPE_MAPS - 1) / STRIPE_MAPS, even = (h + n - 1) / n;
    const int64_t rows = even < LEAST_ROWS ? LEAST_ROWS : even;
    nino_tensor *out = NULL;
    if (h <= rows)
        return run_tail(s, net, x);
    for (int64_t y = 0; y < h; y += rows) {
        const int64_t len = h - y < rows ? h - y : rows, after = h - y - len;
        const int64_t top = y < HALO ? y : HALO, below = after < HALO ? after : HALO;
        nino_tensor *t = nino_slice(s, nino_ref(x), 1, y - top, top + len + below);
        t = nino_slice(s, run_tail(s, net, t), 1, top * up, len * up);
        out = out ? nino_concat(s, out, t, 1) : t;
    }
    nino_unref(x);
    return out;
}

static nino_tensor *esrgan_run(nino_stream *s, const nino_upscale *u, nino_tensor *x)
{
    const esrgan_net *net = u->net;
    const int f = net->unshuffle;
    nino_scope_begin(s, NINO_EV_STAGE, "upscale.blocks", 0, 0);
    if (f > 1)
        x = nino_shuffle(s, x, false, 1, f, 0, INT64_C(3) * f * f, NULL);
    x = nino_conv2d(s, x, &net->first);
    nino_tensor *t = nino_ref(x);
    for (int i = 0; i < net->n_blocks; i++)
        t = run_block(s, &net->block[i], t);
    x = nino_conv2d_add(s, t, &net->body, x);
    nino_scope_end(s);
    nino_scope_begin(s, NINO_EV_STAGE, "upscale.enlarge", 0, 0);
    x = run_stripes(s, net, x);
    nino_scope_end(s);
    return x;
}

// ---- names -----------------------------------------------------------------------------------
typedef struct dialect {
    const char *first, *blocks; // blocks: their numbers follow
    const char *dense, *tail;   // of a dense block, then its number; behind a convolution's
    const char *body, *up;      // body: NULL, the last of the blocks; up: a number follows
    const char *hr, *last;      // NULL: as up, by their place in the sequence
} dialect;

static const dialect dialects[] = {
    { "model.0", "model.1.sub.", "RDB", ".0", NULL, "model.", NULL, NULL }, // ESRGAN
    { "conv_first", "body.", "rdb", "", "conv_body", "conv_up", "conv_hr", "conv_last" },
    { "conv_first", "RRDB_trunk.", "RDB", "", "trunk_conv", "upconv", "HRconv", "conv_last" },
};

// ---- loading ---------------------------------------------------------------------------------
// 3x3 with a bias and exactly n rows; n < 0: any. Returns the rows.
static int64_t esrgan_load_conv(nino_loader *l, const char *name, int64_t cin, int64_t n,
                                nino_act act, nino_conv *out)
{
    nino_load_conv(l, name, cin, out);
    const int64_t rows = nino_load_rows(l, out->w);
    if (!l->st && out->w->role != NINO_W_CONV3)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight is no 3x3 convolution", l->prefix, name);
    if (!l->st && !out->b)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.bias is missing", l->prefix, name);
    if (!l->st && n >= 0 && rows != n)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       l->prefix, name, (long long) rows, (long long) n);
    out->act = act;
    return rows;
}

static void load_dense(nino_loader *l, const dialect *a, int at, int i, int64_t width, dense *d)
{
    const nino_name base = nino_name_of("%s%d.%s%d", a->blocks, at, a->dense, i);
    int64_t grown = -1;
    for (int k = 0; k < 5; k++) {
        const nino_name name = nino_name_of("%s.conv%d%s", base.s, k + 1, a->tail);
        const int64_t cin = width + (k ? k * grown : 0);
        const int64_t rows = esrgan_load_conv(l, name.s, cin, k == 4 ? width : grown,
                                              k == 4 ? NINO_ACT_NONE : NINO_ACT_LEAKY, &d->conv[k]);
        grown = k ? grown : rows;
    }
    if (!nino_load_has(l, "%s.conv1x1.weight", base.s))
        return;
    nino_load_conv(l, nino_name_of("%s.conv1x1", base.s).s, width, &d->skip);
    if (!l->st && (d->skip.w->role != NINO_W_MATRIX || d->skip.w->n != grown))
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.conv1x1 is no 1x1 convolution to %lld channels",
                       l->prefix, base.s, (long long) grown);
}

static void load_ups(nino_loader *l, const dialect *a, int64_t width, esrgan_net *net)
{
    const int count = nino_load_count(l, a->up); // of the sequence, or 1 + the doublings
    net->n_up = a->hr ? count - 1 : (count - 5) / 3;
    net->n_up = net->n_up < 0 ? 0 : net->n_up;
    if (net->n_up > MAX_UP || (!a->hr && (count < 5 || (count - 5) % 3)))
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "its layers after the blocks are not doublings");
    for (int i = 1; i <= net->n_up && !l->st; i++) {
        nino_conv *up = &net->up[i - 1];
        const nino_name name = nino_name_of("%s%d", a->up, a->hr ? i : 3 * i);
        esrgan_load_conv(l, name.s, width, width, NINO_ACT_LEAKY, up);
        up->upsample2x = true;
    }
    const nino_name hr = nino_name_of("%s%d", a->up, 3 * net->n_up + 2);
    const nino_name last = nino_name_of("%s%d", a->up, 3 * net->n_up + 4);
    esrgan_load_conv(l, a->hr ? a->hr : hr.s, width, width, NINO_ACT_LEAKY, &net->hr);
    esrgan_load_conv(l, a->last ? a->last : last.s, width, 3, NINO_ACT_NONE, &net->last);
}

static void esrgan_load_net(nino_loader *l, const dialect *a, esrgan_net *net)
{
    const int64_t width = esrgan_load_conv(l, a->first, -1, -1, NINO_ACT_NONE, &net->first);
    const int64_t in = l->st ? 3 : net->first.w->c;
    net->unshuffle = in == 48 ? 4 : in == 12 ? 2 : 1;
    if (in != INT64_C(3) * net->unshuffle * net->unshuffle)
        nino_load_fail(l, NINO_ERR_UNSUPPORTED, "it takes %lld channels, pictures have 3",
                       (long long) in);
    net->n_blocks = nino_load_count(l, a->blocks) - !a->body;
    net->block = nino_load_alloc(l, (size_t) net->n_blocks, sizeof(block));
    for (int i = 0; i < net->n_blocks && !l->st; i++)
        for (int k = 0; k < 3; k++)
            load_dense(l, a, i, k + 1, width, &net->block[i].dense[k]);
    const nino_name body =
        a->body ? nino_name_of("%s", a->body) : nino_name_of("%s%d", a->blocks, net->n_blocks);
    esrgan_load_conv(l, body.s, width, width, NINO_ACT_NONE, &net->body);
    load_ups(l, a, width, net);
}

nino_status nino_upscale_esrgan_load(nino_weights *file, const char *prefix, nino_upscale *u,
                                     nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &u->layers, .err = err };
    esrgan_net *net = nino_load_alloc(&l, 1, sizeof(*net));
    size_t i = 0;
    while (i + 1 < sizeof(dialects) / sizeof(dialects[0]) &&
           !(nino_load_has(&l, "%s.weight", dialects[i].first) &&
             nino_load_count(&l, dialects[i].blocks)))
        i++;
    if (!l.st)
        esrgan_load_net(&l, &dialects[i], net);
    if (!l.st && 1 << net->n_up < net->unshuffle)
        nino_load_fail(&l, NINO_ERR_UNSUPPORTED, "it makes pictures smaller");
    if (l.st)
        return l.st;
    u->net = net;
    u->run = esrgan_run;
    u->scale = (1 << net->n_up) / net->unshuffle;
    u->least = net->unshuffle > 1 ? 4 : 2;
    u->multiple = net->unshuffle > 1 ? 4 : 1;
    snprintf(u->detail, sizeof(u->detail), "ESRGAN, %d block%s of %lld channels, %dx",
             net->n_blocks, net->n_blocks == 1 ? "" : "s", (long long) net->first.w->n, u->scale);
    return NINO_OK;
}
