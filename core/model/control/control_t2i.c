// T2I-Adapters: a small network of its own whose maps of the hint are added to the way down, the
// same ones at every step.
// Source: Mou et al., T2I-Adapter (2023), TencentARC/T2I-Adapter adapter.py, as ComfyUI 0.3.64
// t2i_adapter/adapter.py runs it.
#include "core/model/control/control.h"
#include "core/model/dit.h"

#include <stdio.h>
#include <string.h>

#define LEVELS 4
#define MAX_BLOCKS 8

typedef struct t2i_block {
    nino_conv first, second;
} t2i_block;

typedef struct t2i_level {
    bool is_halved; // before it, by averaging where there is no convolution for it
    nino_conv down; // or no weight
    nino_conv in;   // where the width changes
    t2i_block block[MAX_BLOCKS];
    int n;
    nino_conv out; // light ones; or no weight
} t2i_level;

typedef struct t2i {
    int unshuffle;     // squares of so many pixels are one position
    int hint_channels; // 1: the mean of the colours
    bool is_xl;
    nino_conv in; // full ones; or no weight
    t2i_level level[LEVELS];
} t2i;

// ---- once a sampling -------------------------------------------------------------------------
// Means of 2 x 2; an odd side has zeros at both ends, which count, of which the first is read.
static nino_tensor *halved(nino_stream *s, nino_tensor *x)
{
    for (int axis = 1; axis < 3; axis++)
        if (nino_dim(x, axis) % 2) {
            nino_shape shape = *nino_shape_of(x);
            shape.dim[axis] = 1;
            x = nino_concat(s, nino_zeros(s, shape, nino_dtype_of(x)), x, axis);
        }
    return nino_resample(s, x, nino_dim(x, 1) / 2, nino_dim(x, 2) / 2, NINO_FILTER_AREA);
}

static nino_tensor *run_level(nino_stream *s, const t2i_level *l, nino_tensor *x)
{
    if (l->is_halved)
        x = l->down.w ? nino_conv2d(s, x, &l->down) : halved(s, x);
    if (l->in.w)
        x = nino_conv2d(s, x, &l->in);
    for (int i = 0; i < l->n; i++) {
        nino_tensor *h = nino_conv2d(s, nino_ref(x), &l->block[i].first);
        x = nino_conv2d_add(s, h, &l->block[i].second, x);
    }
    return l->out.w ? nino_conv2d(s, x, &l->out) : x;
}

static nino_tensor *grey(nino_stream *s, nino_tensor *x)
{
    nino_tensor *sum = nino_slice(s, nino_ref(x), 3, 0, 1);
    sum = nino_add(s, sum, nino_slice(s, nino_ref(x), 3, 1, 1));
    sum = nino_add(s, sum, nino_slice(s, x, 3, 2, 1));
    return nino_scale(s, sum, 1.0f / 3, 0);
}

static void t2i_prepare(nino_stream *s, const nino_control_net *c, nino_tensor *hint, int type,
                        nino_control_hint *out)
{
    const t2i *w = c->net;
    const int64_t u = w->unshuffle;
    (void) type;
    nino_scope_begin(s, NINO_EV_STAGE, "control.hint", 0, 0);
    nino_tensor *x = w->hint_channels == 1 ? grey(s, hint) : hint;
    const int64_t batch = nino_dim(x, 0), rows = nino_dim(x, 1) / u, columns = nino_dim(x, 2) / u;
    x = nino_dit_tokens(s, x, u);
    x = nino_reshape(s, x, NINO_SHAPE(batch, rows, columns, w->hint_channels * u * u));
    if (w->in.w)
        x = nino_conv2d(s, x, &w->in);
    for (int i = 0; i < LEVELS; i++) {
        x = run_level(s, &w->level[i], x);
        out->t[i] = nino_ref(x);
    }
    nino_unref(x);
    nino_scope_end(s);
}

static void t2i_forward(nino_stream *s, const nino_control_net *c, const nino_forward *f,
                        const nino_control_hint *hint, float strength, nino_residuals *out)
{
    static const int stage[2][LEVELS] = { { 2, 5, 8, 11 }, { 3, 5, 8, -1 } };
    const t2i *w = c->net;
    (void) f;
    for (int i = 0; i < LEVELS; i++) {
        const int k = stage[w->is_xl][i];
        nino_residual_put(s, k < 0 ? &out->middle : &out->after[k], nino_ref(hint->t[i]), strength);
    }
}

// ---- loading ---------------------------------------------------------------------------------
// Channels of a convolution that keeps them where it must.
static void t2i_conv(nino_loader *l, const char *name, int64_t cin, int64_t want, nino_conv *out)
{
    nino_load_conv(l, name, cin, out);
    if (!l->st && want >= 0 && out->w->n != want)
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s.weight has %lld rows where %lld are needed",
                       l->prefix, name, (long long) out->w->n, (long long) want);
}

static void t2i_load_block(nino_loader *l, const char *base, int64_t c, t2i_block *out)
{
    t2i_conv(l, nino_name_of("%s.block1", base).s, c, c, &out->first);
    t2i_conv(l, nino_name_of("%s.block2", base).s, c, c, &out->second);
    out->first.act = NINO_ACT_RELU;
}

// Level i of a full adapter: two blocks of one list, of which the first may change the width.
static void load_full_level(nino_loader *l, bool is_diffusers, int i, int64_t *c, t2i_level *out)
{
    const nino_name level = nino_name_of("body.%d", i);
    for (int k = 0; k < 2; k++) {
        const nino_name base = is_diffusers ? nino_name_of("body.%d.resnets.%d", i, k)
                                            : nino_name_of("body.%d", 2 * i + k);
        const nino_name in =
            is_diffusers ? nino_name_of("%s.in_conv", level.s) : nino_name_of("%s.in_conv", base.s);
        const nino_name down = nino_name_of("%s.down_opt.op", base.s);
        if (!k && nino_load_has(l, "%s.weight", down.s)) {
            t2i_conv(l, down.s, *c, *c, &out->down);
            out->down.stride = 2;
        }
        if (!k && nino_load_has(l, "%s.weight", in.s)) {
            nino_load_conv(l, in.s, *c, &out->in);
            *c = nino_load_rows(l, out->in.w);
        }
        t2i_load_block(l, base.s, *c, &out->block[k]);
    }
    out->n = 2;
}

static void load_light_level(nino_loader *l, int i, int64_t *c, t2i_level *out)
{
    const nino_name in = nino_name_of("body.%d.in_conv", i),
                    o = nino_name_of("body.%d.out_conv", i);
    out->n = nino_load_count(l, nino_name_of("body.%d.body.", i).s);
    if (out->n < 1 || out->n > MAX_BLOCKS)
        nino_load_fail(l, NINO_ERR_FORMAT, "body.%d has %d blocks, 1 to %d are known", i, out->n,
                       MAX_BLOCKS);
    nino_load_conv(l, in.s, *c, &out->in);
    const int64_t inner = nino_load_rows(l, out->in.w);
    for (int k = 0; k < out->n && !l->st; k++)
        t2i_load_block(l, nino_name_of("body.%d.body.%d", i, k).s, inner, &out->block[k]);
    nino_load_conv(l, o.s, inner, &out->out);
    *c = nino_load_rows(l, out->out.w);
}

nino_status nino_control_t2i_load(nino_weights *file, const char *prefix, nino_control_net *c,
                                  nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &c->layers, .err = err };
    t2i *w = nino_load_alloc(&l, 1, sizeof(*w));
    if (!w)
        return l.st;
    c->net = w;
    c->serves = NINO_DIFFUSION_UNET;
    c->prepare = t2i_prepare;
    c->forward = t2i_forward;
    const bool is_light = nino_load_has(&l, "body.0.body.0.block1.weight");
    const bool is_diffusers = nino_load_has(&l, "body.0.resnets.0.block1.weight");
    int64_t width = -1, cin = 0;
    if (!is_light) {
        nino_load_conv(&l, "conv_in", -1, &w->in);
        width = nino_load_rows(&l, w->in.w);
        cin = l.st ? 0 : w->in.w->c;
    }
    w->is_xl =
        cin == 256 || cin == 768; // 1 or 3 colours of squares of 16; 64 or 192 of squares of 8
    w->unshuffle = w->is_xl ? 16 : 8;
    for (int i = 0; i < LEVELS && !l.st; i++) {
        w->level[i].is_halved = w->is_xl ? i == 2 : i > 0;
        if (is_light)
            load_light_level(&l, i, &width, &w->level[i]);
        else
            load_full_level(&l, is_diffusers, i, &width, &w->level[i]);
    }
    if (is_light && !l.st)
        cin = w->level[0].in.w->c;
    const int64_t cells = (int64_t) w->unshuffle * w->unshuffle;
    w->hint_channels = (int) (cin / cells);
    if (!l.st && ((w->hint_channels != 1 && w->hint_channels != 3) || cin % cells))
        nino_load_fail(&l, NINO_ERR_UNSUPPORTED, "an adapter that takes %lld features is not known",
                       (long long) cin);
    c->multiple = w->unshuffle;
    snprintf(c->detail, sizeof(c->detail), "T2I-Adapter of %s%s, %s", w->is_xl ? "SDXL" : "SD1.5",
             is_light ? ", light" : "", w->hint_channels == 1 ? "grey" : "colour");
    return l.st;
}
