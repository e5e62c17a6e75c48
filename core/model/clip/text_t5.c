// T5's encoder: T5 v1.1 (Flux, SD3; positions in the first block, used by all) and UMT5 (Wan;
// positions in every block). Sizes come from tensor shapes.
// Sources: Raffel et al. 2020 (arXiv 1910.10683), Shazeer 2020 (gated units); huggingface/
// transformers modeling_t5.py (names, buckets), ComfyUI text_encoders/t5.py (masks).
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/model/clip/text_encoder.h"
#include "core/model/text_block.h"

#define NORM_EPS 1e-6f
#define MAX_DISTANCE 128 // of two tokens; beyond, all share a bucket

typedef struct block {
    nino_norm norm1, norm2;
    nino_linear q, k, v, o;
    nino_linear wi_0, wi_1, wo; // wi_0 with the activation; no wi_1: not gated
    nino_array *position;       // f32 [buckets,heads] or NULL: the block before decides
} block;

typedef struct t5_net {
    int n_layers, heads;
    nino_norm final_norm;
    block layer[];
} t5_net;

// ---- positions -------------------------------------------------------------------------------
// Half of the buckets are for keys behind the query. Half of each half are exact distances, the
// rest are logarithmic up to MAX_DISTANCE.
static int bucket_of(int64_t offset, int n_buckets)
{
    const int half = n_buckets / 2, exact = half / 2;
    const int64_t d = offset < 0 ? -offset : offset;
    const int first = offset > 0 ? half : 0;
    if (d < exact)
        return first + (int) d;
    const float log_ratio = logf((float) d / (float) exact) /
                            (float) log((double) MAX_DISTANCE / exact) * (float) (half - exact);
    const int far = exact + (int) log_ratio;
    return first + (far < half - 1 ? far : half - 1);
}

// bias[n][h][q][k] = table[bucket(k - q)][h], and as good as -infinity where nothing is to be seen.
// A row is a piece of one line of 2 len - 1 offsets.
static void fill_bias(float *bias, const nino_array *table, int64_t n, int64_t len, float *line,
                      const bool *attend)
{
    const int n_buckets = (int) table->shape.dim[0], heads = (int) table->shape.dim[1];
    for (int h = 0; h < heads; h++) {
        for (int64_t o = 0; o < 2 * len - 1; o++)
            line[o] = nino_array_f32(table)[bucket_of(o - (len - 1), n_buckets) * heads + h];
        for (int64_t i = 0; i < n; i++)
            for (int64_t q = 0; q < len; q++)
                memcpy(bias + ((i * heads + h) * len + q) * len, line + len - 1 - q,
                       (size_t) len * sizeof(float));
    }
    for (int64_t row = 0; attend && row < n * heads * len; row++)
        for (int64_t k = 0; k < len; k++)
            if (!attend[row / (heads * len) * len + k])
                bias[row * len + k] = -FLT_MAX;
}

// The table grows with the square of the prompt: systems that promise more memory than they have
// would end the process while it is filled.
static bool has_room(nino_stream *s, int64_t n, int64_t heads, int64_t len)
{
    const double memory = (double) sysconf(_SC_PHYS_PAGES) * (double) sysconf(_SC_PAGESIZE);
    const double bytes = (double) n * (double) heads * (double) len * (double) len * sizeof(float);
    if (nino_stream_is_plan(s) || memory <= 0 || bytes <= memory / 2)
        return true;
    nino_stream_fail(s, NINO_ERR_NOMEM, "t5",
                     "a prompt of %lld tokens needs %.1f GiB for their positions, of %.1f GiB",
                     (long long) len, bytes / 0x1p30, memory / 0x1p30);
    return false;
}

// [N or 1,heads,T,T]
static nino_tensor *position_bias(nino_stream *s, const nino_array *table, const nino_shape *x,
                                  const bool *attend)
{
    const int64_t n = attend ? x->dim[0] : 1, len = x->dim[1];
    if (nino_stream_status(s, NULL) || !has_room(s, n, table->shape.dim[1], len))
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, table->shape.dim[1], len, len));
    nino_array *line = nino_array_create(NINO_F32, NINO_SHAPE(2 * len));
    nino_tensor *t = NULL;
    if (a && line) {
        if (!nino_stream_is_plan(s))
            fill_bias(nino_array_f32(a), table, n, len, nino_array_f32(line), attend);
        t = nino_upload(s, a, NINO_F32);
    } else {
        nino_stream_fail(s, NINO_ERR_NOMEM, "t5", "out of memory for %lld positions",
                         (long long) len);
    }
    nino_array_unref(&a);
    nino_array_unref(&line);
    return t;
}

// ---- forward ---------------------------------------------------------------------------------
static nino_tensor *text_t5_run_block(nino_stream *s, const block *w, int heads, nino_tensor *x,
                                      nino_tensor *bias)
{
    nino_tensor *t = nino_branch_norm(s, nino_ref(x), &w->norm1);
    nino_tensor *q = nino_linear_op(s, nino_ref(t), &w->q);
    nino_tensor *k = nino_linear_op(s, nino_ref(t), &w->k);
    nino_tensor *v = nino_linear_op(s, t, &w->v);
    t = nino_attention_bias(s, q, k, v, heads, 1, nino_ref(bias)); // not scaled by the depth
    x = nino_branch_add(s, x, t, &w->o);
    t = nino_branch_norm(s, nino_ref(x), &w->norm2);
    nino_tensor *up = w->wi_1.w ? nino_linear_op(s, nino_ref(t), &w->wi_1) : NULL;
    t = nino_linear_op(s, t, &w->wi_0);
    if (up)
        t = nino_mul(s, t, up, NINO_ACT_NONE);
    return nino_branch_add(s, x, t, &w->wo);
}

static nino_encoder_out text_t5_forward(nino_stream *s, const nino_encoder *e,
                                        const nino_encoder_in *in)
{
    const t5_net *net = e->net;
    const int last = in->layer < 0 ? net->n_layers + in->layer + 1 : net->n_layers;
    const nino_shape shape = *nino_shape_of(in->x);
    nino_tensor *x = nino_cast(s, in->x, NINO_F32), *bias = NULL;
    char stage[32];
    for (int i = 0; i < last; i++) {
        const block *w = &net->layer[i];
        snprintf(stage, sizeof(stage), "%s.%d", nino_encoder_names[e->id], i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        if (w->position) {
            nino_unref(bias);
            bias = position_bias(s, w->position, &shape, in->attend);
        }
        x = text_t5_run_block(s, w, net->heads, x, bias);
        nino_scope_end(s);
    }
    nino_unref(bias);
    if (in->is_normed)
        x = nino_rms_norm(s, x, &net->final_norm);
    return (nino_encoder_out){ .hidden = x };
}

// ---- loading ---------------------------------------------------------------------------------
// The table of block i: required in the first.
static void get_position(nino_loader *l, const char *stem, int i, nino_array **out)
{
    const nino_name name = nino_name_of("%sSelfAttention.relative_attention_bias.weight", stem);
    const nino_tensor_info *t = NULL;
    if (l->st || (i && !nino_load_has(l, "%s", name.s)))
        return;
    nino_text_table(l, name.s, -1, &t);
    nino_load_table(l, t, out);
}

// RMS norms have no beta.
static void text_t5_get_norm(nino_loader *l, const char *name, int64_t width, nino_norm *out)
{
    out->eps = NORM_EPS;
    nino_load_vector(l, nino_name_of("%s.weight", name).s, width, &out->gamma);
}

static void get_block(nino_loader *l, int64_t width, int i, block *out)
{
    const nino_name attn = nino_name_of("encoder.block.%d.layer.0.", i);
    const nino_name ff = nino_name_of("encoder.block.%d.layer.1.", i);
    text_t5_get_norm(l, nino_name_of("%slayer_norm", attn.s).s, width, &out->norm1);
    nino_text_linear(l, attn.s, "SelfAttention.q", -1, width, &out->q);
    const int64_t inner = nino_load_rows(l, out->q.w);
    nino_text_linear(l, attn.s, "SelfAttention.k", inner, width, &out->k);
    nino_text_linear(l, attn.s, "SelfAttention.v", inner, width, &out->v);
    nino_text_linear(l, attn.s, "SelfAttention.o", width, inner, &out->o);
    get_position(l, attn.s, i, &out->position);
    text_t5_get_norm(l, nino_name_of("%slayer_norm", ff.s).s, width, &out->norm2);
    if (nino_load_has(l, "%sDenseReluDense.wi_1.weight", ff.s)) {
        nino_text_linear(l, ff.s, "DenseReluDense.wi_0", -1, width, &out->wi_0);
        nino_text_linear(l, ff.s, "DenseReluDense.wi_1", nino_load_rows(l, out->wi_0.w), width,
                         &out->wi_1);
        out->wi_0.act = NINO_ACT_GELU_TANH;
    } else { // the first T5
        nino_text_linear(l, ff.s, "DenseReluDense.wi", -1, width, &out->wi_0);
        out->wi_0.act = NINO_ACT_RELU;
    }
    nino_text_linear(l, ff.s, "DenseReluDense.wo", width, nino_load_rows(l, out->wi_0.w), &out->wo);
}

// Heads and buckets are those of the first block's table, the same in every block.
static void check_heads(nino_loader *l, t5_net *net)
{
    const char *what = NULL;
    if (l->st)
        return;
    const int64_t *dim = net->layer[0].position->shape.dim;
    net->heads = (int) dim[1];
    if (dim[0] < 4 || dim[0] % 4 || dim[0] / 4 >= MAX_DISTANCE)
        what = "a number of position buckets that cannot be used";
    for (int i = 0; i < net->n_layers && !what; i++) {
        const block *w = &net->layer[i];
        if (w->q.w->n % dim[1])
            what = "projections that do not divide into the heads";
        else if (w->position &&
                 (w->position->shape.dim[0] != dim[0] || w->position->shape.dim[1] != dim[1]))
            what = "position tables of different sizes";
    }
    if (what)
        nino_load_fail(l, NINO_ERR_FORMAT, "its T5 has %s", what);
}

nino_status nino_text_t5_load(nino_encoder *e, nino_error *err)
{
    static const char *const tokens[] = { "shared.weight", "encoder.embed_tokens.weight" };
    nino_loader l = { .file = e->file, .prefix = e->prefix, .layers = &e->layers, .err = err };
    nino_text_start(&l, e, tokens[nino_load_has(&l, "%s", tokens[0]) ? 0 : 1], "encoder.block.");
    if (l.st)
        return l.st;
    const nino_dtype type = e->tokens->dtype;
    e->makes_finite = type != NINO_F32 && type != NINO_F16 && type != NINO_BF16;
    t5_net *net =
        nino_load_alloc(&l, 1, sizeof(*net) + (size_t) e->n_layers * sizeof(net->layer[0]));
    if (!net)
        return l.st;
    net->n_layers = e->n_layers;
    e->net = net;
    e->forward = text_t5_forward;
    for (int i = 0; i < e->n_layers && !l.st; i++)
        get_block(&l, e->width, i, &net->layer[i]);
    text_t5_get_norm(&l, "encoder.final_layer_norm", e->width, &net->final_norm);
    check_heads(&l, net);
    snprintf(e->detail, sizeof(e->detail), "%s, %d layers, width %d", nino_encoder_titles[e->id],
             e->n_layers, e->width);
    return l.st;
}
