// The language model's forward pass, from rows of the embedding to hidden states.
// Sources: Qwen3 technical report (arXiv 2505.09388), Qwen2.5-VL (arXiv 2502.13923: positions of
// pictures), Su et al. 2021 (arXiv 2104.09864: rotation); huggingface/transformers modeling_qwen3.py
// (names, order of halves), ComfyUI text_encoders/llama.py (which states).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/model/llm/llm.h"
#include "core/model/text_block.h"

// Pairs of a head that turn with the time, and with time and height; the others with the width.
#define PAIRS_T 16
#define PAIRS_TH 40

// ---- positions -------------------------------------------------------------------------------
static void fill_row(const nino_llm *net, nino_llm_place at, float *row)
{
    const int pairs = net->depth / 2;
    const bool is_word = at.t == at.h && at.t == at.w;
    for (int j = 0; j < pairs; j++) {
        const int place = is_word || j < PAIRS_T ? at.t : j < PAIRS_TH ? at.h : at.w;
        const double angle = place * pow(net->theta, -2.0 * j / net->depth);
        *row++ = (float) cos(angle);
        *row++ = (float) sin(angle);
    }
}

// [T,depth]
static nino_tensor *llm_rope_table(nino_stream *s, const nino_llm *net, const nino_llm_in *in)
{
    const int64_t n = nino_dim(in->x, 1);
    if (nino_stream_status(s, NULL))
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, net->depth));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "llm", "out of memory for %lld positions",
                                (long long) n);
    for (int32_t i = 0; i < n && !nino_stream_is_plan(s); i++)
        fill_row(net, in->place ? in->place[i] : (nino_llm_place){ i, i, i },
                 nino_array_f32(a) + (int64_t) i * net->depth);
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

// Pairs are a channel of the first half of a head and one of the second; the op turns neighbours.
// Queries and keys can stay in the new order, as only their products count.
static nino_tensor *turn(nino_stream *s, const nino_llm *net, nino_tensor *x, int heads,
                         nino_tensor *table)
{
    const int64_t n = nino_dim(x, 1), pairs = net->depth / 2;
    if (net->is_paired)
        return nino_rope(s, x, nino_ref(table), heads);
    x = nino_reshape(s, x, NINO_SHAPE(n, heads, 2, pairs));
    x = nino_permute(s, x, (const int[]){ 0, 1, 3, 2 });
    x = nino_reshape(s, x, NINO_SHAPE(1, n, heads * (2 * pairs)));
    return nino_rope(s, x, nino_ref(table), heads);
}

// ---- layers ----------------------------------------------------------------------------------
static nino_tensor *llm_heads(nino_stream *s, const nino_llm *net, nino_tensor *u,
                              const nino_linear *w, const nino_norm *n)
{
    return net->has_head_norms ? nino_linear_heads(s, u, w, n, NULL) : nino_linear_op(s, u, w);
}

static nino_tensor *llm_attend(nino_stream *s, const nino_llm *net, const nino_llm_layer *w,
                               nino_tensor *u, nino_tensor *table, nino_tensor *bias)
{
    nino_tensor *q = llm_heads(s, net, nino_ref(u), &w->q, &w->norm_q);
    nino_tensor *k = llm_heads(s, net, nino_ref(u), &w->k, &w->norm_k);
    nino_tensor *v = nino_linear_op(s, u, &w->v);
    q = turn(s, net, q, net->heads, table);
    k = turn(s, net, k, net->kv_heads, table);
    return nino_attention_causal(s, q, k, v, net->heads, nino_ref(bias));
}

static nino_tensor *llm_run_layer(nino_stream *s, const nino_llm *net, const nino_llm_layer *w,
                                  nino_tensor *x, nino_tensor *table, nino_tensor *bias)
{
    nino_tensor *u = nino_branch_norm(s, nino_ref(x), &w->norm1);
    x = nino_branch_add(s, x, llm_attend(s, net, w, u, table, bias), &w->o);
    u = nino_branch_norm(s, nino_ref(x), &w->norm2);
    nino_tensor *gate = nino_linear_op(s, nino_ref(u), &w->gate);
    u = nino_mul(s, gate, nino_linear_op(s, u, &w->up), NINO_ACT_NONE);
    return nino_branch_add(s, x, u, &w->down);
}

nino_tensor *nino_llm_run(nino_stream *s, const nino_llm *net, const nino_llm_in *in)
{
    nino_tensor *table = llm_rope_table(s, net, in), *out = NULL;
    nino_tensor *bias = nino_attend_bias(s, nino_dim(in->x, 1), in->attend);
    nino_tensor *x = nino_cast(s, in->x, NINO_F32);
    char stage[48];
    for (int i = 0, k = 0; k < in->n_out; i++) {
        for (; k < in->n_out && in->out[k] == i; k++) {
            const bool is_normed = in->is_normed && k == in->n_out - 1;
            nino_tensor *state = nino_ref(x);
            state = is_normed ? nino_rms_norm(s, state, &net->final_norm) : state;
            out = k ? nino_concat(s, out, state, 2) : state;
        }
        if (k == in->n_out)
            break;
        snprintf(stage, sizeof(stage), "%s.%d", in->stage, i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        x = llm_run_layer(s, net, &net->layer[i], x, table, bias);
        nino_scope_end(s);
    }
    nino_unref(x);
    nino_unref(table);
    nino_unref(bias);
    return out;
}
