// Qwen2.5-VL's vision network. Source: Qwen2.5-VL technical report (arXiv 2502.13923);
// huggingface/transformers modeling_qwen2_5_vl.py (names, order of rotated channels), ComfyUI
// text_encoders/qwen_vl.py.
#include "core/model/llm/vision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/text_block.h"

#define DEPTH 80 // of a head: half for rows, half for columns
#define PAIRS (DEPTH / 2)
#define THETA 10000.0

// Layers that look at the whole picture.
static bool is_whole(int layer) { return layer % 8 == 7 && layer < 32; }

// ---- positions -------------------------------------------------------------------------------
// [P,80]: the first pairs of a head turn with the patch's row, the others with its column.
static nino_tensor *vision_rope_table(nino_stream *s, const nino_vision_grid *g)
{
    const int64_t n = (int64_t) g->rows * g->cols * 4;
    if (nino_stream_status(s, NULL))
        return NULL;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, DEPTH));
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "vision", "out of memory for %lld patches",
                                (long long) n);
    for (int64_t i = 0; i < n && !nino_stream_is_plan(s); i++) {
        const int cell = g->cell[i / 4], k = (int) (i % 4);
        const int y = cell / g->cols * 2 + k / 2, x = cell % g->cols * 2 + k % 2;
        float *row = nino_array_f32(a) + i * DEPTH;
        for (int j = 0; j < PAIRS; j++) {
            const int axis = PAIRS / 2, place = j < axis ? y : x;
            const double angle = place * pow(THETA, -(double) (j % axis) / axis);
            *row++ = (float) cos(angle);
            *row++ = (float) sin(angle);
        }
    }
    nino_tensor *t = nino_upload(s, a, NINO_F32);
    nino_array_unref(&a);
    return t;
}

// ---- layers ----------------------------------------------------------------------------------
static nino_tensor *vision_turn(nino_stream *s, const nino_vision *v, nino_tensor *x,
                                nino_tensor *table)
{
    const int64_t n = nino_dim(x, 1);
    x = nino_reshape(s, x, NINO_SHAPE(n, v->heads, 2, PAIRS));
    x = nino_permute(s, x, (const int[]){ 0, 1, 3, 2 });
    x = nino_reshape(s, x, NINO_SHAPE(1, n, v->width));
    return nino_rope(s, x, nino_ref(table), v->heads);
}

// Tokens first ... of x as windows of len tokens.
static nino_tensor *windows(nino_stream *s, nino_tensor *x, int64_t first, int64_t n, int64_t len)
{
    const int64_t width = nino_dim(x, 2);
    x = nino_ref(x);
    if (n * len != nino_dim(x, 1))
        x = nino_slice(s, x, 1, first, n * len);
    return nino_reshape(s, x, NINO_SHAPE(n, len, width));
}

// Every window by itself.
static nino_tensor *vision_in_windows(nino_stream *s, const nino_vision *v,
                                      const nino_vision_grid *g, nino_tensor *q, nino_tensor *k,
                                      nino_tensor *val)
{
    nino_tensor *out = NULL;
    int64_t first = 0;
    for (int i = 0; i < g->n_groups; i++) {
        const int64_t n = g->group[i].windows, len = g->group[i].cells * 4;
        nino_tensor *t =
            nino_attention(s, windows(s, q, first, n, len), windows(s, k, first, n, len),
                           windows(s, val, first, n, len), v->heads, 0);
        t = nino_reshape(s, t, NINO_SHAPE(1, n * len, v->width));
        out = i ? nino_concat(s, out, t, 1) : t;
        first += n * len;
    }
    nino_unref(q);
    nino_unref(k);
    nino_unref(val);
    return out;
}

static nino_tensor *vision_run_layer(nino_stream *s, const nino_vision *v,
                                     const nino_vision_grid *g, int i, nino_tensor *x,
                                     nino_tensor *table)
{
    const nino_vision_layer *w = &v->layer[i];
    nino_tensor *u = nino_branch_norm(s, nino_ref(x), &w->norm1);
    nino_tensor *q = vision_turn(s, v, nino_linear_op(s, nino_ref(u), &w->q), table);
    nino_tensor *k = vision_turn(s, v, nino_linear_op(s, nino_ref(u), &w->k), table);
    nino_tensor *val = nino_linear_op(s, u, &w->v);
    u = is_whole(i) ? nino_attention(s, q, k, val, v->heads, 0)
                    : vision_in_windows(s, v, g, q, k, val);
    x = nino_branch_add(s, x, u, &w->proj);
    u = nino_branch_norm(s, nino_ref(x), &w->norm2);
    nino_tensor *gate = nino_linear_op(s, nino_ref(u), &w->gate);
    u = nino_mul(s, gate, nino_linear_op(s, u, &w->up), NINO_ACT_NONE);
    return nino_branch_add(s, x, u, &w->down);
}

nino_tensor *nino_vision_states(nino_stream *s, const nino_vision *v, const nino_vision_grid *g,
                                const nino_array *patches, int n)
{
    nino_tensor *table = vision_rope_table(s, g);
    nino_tensor *x = nino_linear_op(s, nino_upload(s, patches, NINO_F32), &v->patch);
    char stage[32];
    for (int i = 0; i < n; i++) {
        snprintf(stage, sizeof(stage), "vision.%d", i);
        nino_scope_begin(s, NINO_EV_STAGE, stage, 0, 0);
        x = vision_run_layer(s, v, g, i, x, table);
        nino_scope_end(s);
    }
    nino_unref(table);
    return x;
}

// Cells in the picture's order.
static nino_status vision_settle(const nino_vision_grid *g, const nino_array *rows,
                                 nino_array **out, nino_error *err)
{
    const int64_t n = (int64_t) g->rows * g->cols, width = rows->shape.dim[2];
    *out = nino_array_create(NINO_F32, NINO_SHAPE(n, width));
    for (int64_t i = 0; *out && i < n; i++)
        memcpy(nino_array_f32(*out) + g->cell[i] * width, nino_array_f32(rows) + i * width,
               (size_t) width * sizeof(float));
    return *out ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "picture", "out of memory");
}

nino_status nino_vision_see(nino_stream *s, const nino_vision *v, const nino_vision_grid *g,
                            const nino_array *picture, nino_array **out, nino_error *err)
{
    const int64_t cells = (int64_t) g->rows * g->cols;
    *out = NULL;
    nino_array *patches = nino_vision_patches(g, picture);
    if (!patches)
        return nino_fail(err, NINO_ERR_NOMEM, "picture", "out of memory");
    nino_scope_begin(s, NINO_EV_STAGE, "vision", (uint32_t) g->rows, (uint32_t) g->cols);
    nino_tensor *x = nino_vision_states(s, v, g, patches, v->n_layers);
    x = nino_branch_norm(s, x, &v->merge_norm);
    x = nino_reshape(s, x, NINO_SHAPE(1, cells, (int64_t) v->width * 4));
    x = nino_linear_op(s, nino_linear_op(s, x, &v->merge[0]), &v->merge[1]);
    nino_scope_end(s);
    nino_array *rows = nino_download(s, x, NINO_F32);
    nino_status st = nino_stream_status(s, err);
    if (!st)
        st = vision_settle(g, rows, out, err);
    nino_array_unref(&rows);
    nino_array_unref(&patches);
    return st;
}
