// Rotary position embedding of Qwen-Image: three axes share the channels of a head, and every token
// has three coordinates, which are counted from the middle of its picture; the text goes on along
// the diagonal. Sources: Su et al., RoFormer (2021); Qwen-Image Technical Report (2025);
// placement of reference latents: ComfyUI ldm/qwen_image/model.py.
#include "core/model/qwen_image/qwen_image.h"

// A picture of h x w cells whose middle is y0, x0 cells from the origin.
static float *qwen_rope_grid(float *to, const nino_rope_axes *axes, int64_t h, int64_t w,
                             int picture, int64_t y0, int64_t x0)
{
    const int64_t rows = nino_dit_side(h, 2), columns = nino_dit_side(w, 2);
    const int64_t middle_y = rows / 2 - nino_dit_side(y0, 2);
    const int64_t middle_x = columns / 2 - nino_dit_side(x0, 2);
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            const double pos[3] = { picture, (double) (y - middle_y), (double) (x - middle_x) };
            to = nino_rope_put(to, axes, pos);
        }
    return to;
}

// Reference latents below or beside those before, where the whole stays smaller.
static void qwen_rope_offset(float *to, const qwen_rope *r)
{
    int64_t below = 0, beside = 0;
    for (int g = 1; g < r->n; g++) {
        const bool is_beside = r->h[g] + below > r->w[g] + beside;
        const int64_t y0 = is_beside ? 0 : below, x0 = is_beside ? beside : 0;
        to = qwen_rope_grid(to, &r->axes, r->h[g], r->w[g], 1, y0, x0);
        below = below > r->h[g] + y0 ? below : r->h[g] + y0;
        beside = beside > r->w[g] + x0 ? beside : r->w[g] + x0;
    }
}

nino_array *qwen_rope_make(const void *key)
{
    const qwen_rope *r = key;
    int64_t tokens = r->text, depth = 0;
    for (int i = 0; i < r->axes.n; i++)
        depth += r->axes.channels[i];
    for (int g = 0; g < r->n; g++)
        tokens += nino_dit_side(r->h[g], 2) * nino_dit_side(r->w[g], 2);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(tokens, depth));
    if (!a)
        return NULL;
    float *to = nino_array_f32(a);
    const int64_t rows = nino_dit_side(r->h[0], 2) / 2, columns = nino_dit_side(r->w[0], 2) / 2;
    for (int64_t i = 0; i < r->text; i++) {
        const double p = (double) (i + (rows > columns ? rows : columns));
        to = nino_rope_put(to, &r->axes, (const double[]){ p, p, p });
    }
    to = qwen_rope_grid(to, &r->axes, r->h[0], r->w[0], 0, 0, 0);
    if (r->method == NINO_REFS_OFFSET || r->method == NINO_REFS_UXO)
        qwen_rope_offset(to, r);
    else
        for (int g = 1; g < r->n; g++)
            to = qwen_rope_grid(to, &r->axes, r->h[g], r->w[g],
                                r->method == NINO_REFS_NEGATIVE_INDEX ? -g : g, 0, 0);
    return a;
}
