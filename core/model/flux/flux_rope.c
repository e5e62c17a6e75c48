// Where the tokens of FLUX.1 and FLUX.2 are: which picture, row and column, and which word.
// Sources: Su et al., RoFormer (2021); black-forest-labs/flux math.py and layers.py; placement of
// reference latents: ComfyUI ldm/flux/model.py.
#include "core/model/flux/flux.h"

static float *flux_put_grid(float *to, const flux_place *p, int64_t h, int64_t w, int64_t picture,
                            int64_t y0, int64_t x0)
{
    const int64_t top = flux_tokens(p, y0), left = flux_tokens(p, x0);
    for (int64_t y = 0; y < flux_tokens(p, h); y++)
        for (int64_t x = 0; x < flux_tokens(p, w); x++)
            to = nino_rope_put(to, &p->axes,
                               (const double[NINO_ROPE_AXES]){ (double) picture, (double) (y + top),
                                                               (double) (x + left) });
    return to;
}

// Reference latents below or beside those before, where the whole stays smaller.
static float *flux_put_offset(float *to, const flux_rope *r)
{
    int64_t below = 0, beside = 0;
    for (int g = 1; g < r->n; g++) {
        const bool is_beside = r->h[g] + below > r->w[g] + beside;
        const int64_t y0 = is_beside ? 0 : below, x0 = is_beside ? beside : 0;
        to = flux_put_grid(to, &r->place, r->h[g], r->w[g], 1, y0, x0);
        below = below > r->h[g] + y0 ? below : r->h[g] + y0;
        beside = beside > r->w[g] + x0 ? beside : r->w[g] + x0;
    }
    return to;
}

// Each starts at the lower right corner of what is before.
static float *flux_put_uxo(float *to, const flux_rope *r)
{
    const int64_t patch = r->place.patch;
    int64_t y0 = patch * flux_tokens(&r->place, r->h[0]);
    int64_t x0 = patch * flux_tokens(&r->place, r->w[0]);
    for (int g = 1; g < r->n; g++) {
        to = flux_put_grid(to, &r->place, r->h[g], r->w[g], 0, y0, x0);
        y0 += r->h[g];
        x0 += r->w[g];
    }
    return to;
}

nino_array *flux_rope_make(const void *key)
{
    const flux_rope *r = key;
    const flux_place *p = &r->place;
    int64_t tokens = r->text, depth = 0;
    for (int i = 0; i < p->axes.n; i++)
        depth += p->axes.channels[i];
    for (int g = 0; g < r->n; g++)
        tokens += flux_tokens(p, r->h[g]) * flux_tokens(p, r->w[g]);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(tokens, depth));
    if (!a)
        return NULL;
    float *to = nino_array_f32(a);
    for (int64_t i = 0; i < r->text; i++)
        to = nino_rope_put(to, &p->axes, (const double[NINO_ROPE_AXES]){ 0, 0, 0, (double) i });
    to = flux_put_grid(to, p, r->h[0], r->w[0], 0, 0, 0);
    if (r->method == NINO_REFS_OFFSET)
        flux_put_offset(to, r);
    else if (r->method == NINO_REFS_UXO)
        flux_put_uxo(to, r);
    else
        for (int g = 1; g < r->n; g++)
            to = flux_put_grid(to, p, r->h[g], r->w[g], g * p->step, 0, 0);
    return a;
}
