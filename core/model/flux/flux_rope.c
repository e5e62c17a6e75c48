// Rotary position embedding of FLUX.1: three axes share the channels of a head, and every token
// has three coordinates. Sources: Su et al., RoFormer (2021); black-forest-labs/flux math.py and
// layers.py; placement of reference latents: ComfyUI ldm/flux/model.py.
#include "core/model/flux/flux.h"

#include <math.h>
#include <string.h>

#define THETA 10000.0

static int64_t tokens_of(int64_t cells) { return (cells + 1) / 2; }

// Channels of axis 0 (which picture), 1 (row) and 2 (column): 16, 56, 56 of 128.
static void flux_rope_split(int depth, int axis[3])
{
    axis[0] = depth / 8;
    axis[1] = axis[2] = (depth - axis[0]) / 2;
}

static float *put_token(float *to, const int axis[3], const double pos[3])
{
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < axis[a] / 2; k++) {
            const double angle = pos[a] / pow(THETA, 2.0 * k / axis[a]);
            *to++ = (float) cos(angle);
            *to++ = (float) sin(angle);
        }
    return to;
}

static float *put_grid(float *to, const int axis[3], int64_t h, int64_t w, int picture, int64_t y0,
                       int64_t x0)
{
    for (int64_t y = 0; y < tokens_of(h); y++)
        for (int64_t x = 0; x < tokens_of(w); x++) {
            const double pos[3] = { picture, (double) (y + tokens_of(y0)),
                                    (double) (x + tokens_of(x0)) };
            to = put_token(to, axis, pos);
        }
    return to;
}

// Reference latents below or beside those before, where the whole stays smaller.
static float *put_offset(float *to, const int axis[3], const flux_rope *r)
{
    int64_t below = 0, beside = 0;
    for (int g = 1; g < r->n; g++) {
        const bool is_beside = r->h[g] + below > r->w[g] + beside;
        const int64_t y0 = is_beside ? 0 : below, x0 = is_beside ? beside : 0;
        to = put_grid(to, axis, r->h[g], r->w[g], 1, y0, x0);
        below = below > r->h[g] + y0 ? below : r->h[g] + y0;
        beside = beside > r->w[g] + x0 ? beside : r->w[g] + x0;
    }
    return to;
}

// Each starts at the lower right corner of what is before.
static float *put_uxo(float *to, const int axis[3], const flux_rope *r)
{
    int64_t y0 = 2 * tokens_of(r->h[0]), x0 = 2 * tokens_of(r->w[0]);
    for (int g = 1; g < r->n; g++) {
        to = put_grid(to, axis, r->h[g], r->w[g], 0, y0, x0);
        y0 += r->h[g];
        x0 += r->w[g];
    }
    return to;
}

static nino_array *flux_rope_make(int depth, const flux_rope *r)
{
    static const double origin[3];
    int axis[3];
    int64_t tokens = r->text;
    for (int g = 0; g < r->n; g++)
        tokens += tokens_of(r->h[g]) * tokens_of(r->w[g]);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(tokens, depth));
    if (!a)
        return NULL;
    flux_rope_split(depth, axis);
    float *to = nino_array_f32(a);
    for (int64_t i = 0; i < r->text; i++)
        to = put_token(to, axis, origin);
    to = put_grid(to, axis, r->h[0], r->w[0], 0, 0, 0);
    if (r->method == NINO_REFS_OFFSET)
        put_offset(to, axis, r);
    else if (r->method == NINO_REFS_UXO)
        put_uxo(to, axis, r);
    else
        for (int g = 1; g < r->n; g++)
            to = put_grid(to, axis, r->h[g], r->w[g], g, 0, 0);
    return a;
}

nino_array *flux_rope_table(flux *net, const flux_rope *r)
{
    pthread_mutex_lock(&net->lock);
    if (!net->table || memcmp(&net->table_of, r, sizeof(*r)) != 0) {
        nino_array_unref(&net->table);
        net->table = flux_rope_make(net->depth, r);
        net->table_of = *r;
    }
    nino_array *a = net->table ? nino_array_ref(net->table) : NULL;
    pthread_mutex_unlock(&net->lock);
    return a;
}
