// What the kernels of attention with an online softmax share (attn.cl of every schedule). Reference:
// core/op/ref/attn.c.
//
//   O[n][i][h] = sum over keys j of softmax_j(scale Q[n][i][h] . K[n][j][h]) V[n][j][h]
//
//   Q, O  [N][Tq][heads * D], K, V [N][Tk][kv_heads * D], storage type T (F16, BF16); any Tq, Tk, D
//   Head h has head h * kv_heads / heads of K and V.
//   -D D=n    channels of a head                                                            [64]
//   -D BQ=n   queries of a work-group, or the most it may have                              [48]
//   -D BIAS=1 bias f32 is added to the logits; the row of query i of head h of batch item n is number
//             n * bias_n + h * bias_h + i * bias_q, of Tk values. -infinity and -FLT_MAX hide a key; a
//             query that sees none gets 0
//   -D CAUSAL=1 query i sees the first min(Tk, i + ahead) keys, at least one
//
// The scores of a block of keys, the running maximum and sum and the unnormalised result are f32
// and never leave the work-group.
#ifndef D
#define D 64
#endif
#ifndef BQ
#define BQ 48
#endif

// Keys that query q sees.
#if CAUSAL
#define SEEN(q) min(Tk, (q) + ahead)
#else
#define SEEN(q) Tk
#endif

#if BIAS
#define HIDE(score, b) ((b) <= -FLT_MAX ? -INFINITY : (score) + (b))
// Of a row that sees no key so far: exp(-infinity - 0) is 0, and so is the sum.
#define FINITE_MAX(m) ((m) == -INFINITY ? 0.0f : (m))
#define INVERSE(sum) ((sum) == 0.0f ? 0.0f : 1.0f / (sum))
#else
#define FINITE_MAX(m) (m)
#define INVERSE(sum) (1.0f / (sum))
#endif
