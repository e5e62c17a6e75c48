// What an unCLIP model (Stable Diffusion 2.1 unCLIP) is told of pictures: their CLIP embeddings
// with noise added, and how much that was. Ramesh et al. 2022, "Hierarchical Text-Conditional Image
// Generation with CLIP Latents"; the noise follows the squared cosine of Nichol and Dhariwal 2021.
// Semantics: ComfyUI model_base.py (unclip_adm), noise_aug_modules.py.
#include <math.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/sample/guide/guide_priv.h"

#define LEVELS 1000
#define MERGED_NOISE 0.05 // what several pictures together get once more

// cos^2 is the part of the signal's variance that is left at time t of 0..1.
static double signal(double t)
{
    const double c = cos((t + 0.008) / 1.008 * M_PI / 2);
    return c * c;
}

// The parts of signal and noise at a level.
static void parts_at(int level, float *keep, float *noise)
{
    double left = 1;
    for (int i = 0; i <= level; i++) {
        const double beta = 1 - signal((double) (i + 1) / LEVELS) / signal((double) i / LEVELS);
        left *= 1 - fmin(beta, 0.999);
    }
    *keep = (float) sqrt(left);
    *noise = (float) sqrt(1 - left);
}

// to[2 n]: the embedding from[n] (may be the same) with noise, then the level.
static void augment(const float *from, int n, double amount, nino_rng *rng, float *noise, float *to)
{
    const int level = (int) rint((LEVELS - 1) * amount);
    float keep, add;
    parts_at(level, &keep, &add);
    nino_rng_randn(rng, noise, n);
    for (int i = 0; i < n; i++)
        to[i] = keep * from[i] + add * noise[i];
    nino_guide_embed(to + n, level, n);
}

// y += what one picture is. rng: as it is after the last one.
static void cond_unclip_add_picture(const nino_guide_run *r, const nino_cond_picture *p, int64_t i,
                                    int n, nino_rng *rng, float *spare, float *y)
{
    float *one = spare + n;
    nino_rng_seed(rng, r->seed - 10); // the same noise for each
    augment(nino_array_f32(p->embeds) + i * n, n, p->noise, rng, spare, one);
    for (int k = 0; k < 2 * n; k++)
        y[k] += one[k] * (float) p->strength;
}

nino_status nino_cond_unclip(const nino_guide_run *r, const nino_cond_entry *e, nino_array *y,
                             nino_error *err)
{
    const int n = r->net->y_dim / 2;
    float *v = nino_array_f32(y), *spare = calloc((size_t) n * 3 + 1, sizeof(*spare));
    nino_rng rng;
    nino_status st = NINO_OK;
    int64_t count = 0;
    if (!spare)
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
    for (int k = 0; !st && k < e->n_pictures; k++) {
        const nino_cond_picture *p = &e->pictures[k];
        const int64_t width = p->embeds->shape.dim[p->embeds->shape.rank - 1];
        if (p->embeds->shape.rank != 2 || width != n)
            st = nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                                "a picture's embedding has %lld numbers where this model (%s) "
                                "needs %d: encode with the CLIP vision of its own file "
                                "(unCLIPCheckpointLoader)",
                                (long long) width, r->net->family, n);
        for (int64_t i = 0; !st && i < p->embeds->shape.dim[0]; i++, count++)
            cond_unclip_add_picture(r, p, i, n, &rng, spare, v);
    }
    if (!st && count > 1)
        augment(v, n, MERGED_NOISE, &rng, spare, v); // its noise goes on behind the last one's
    free(spare);
    return st;
}
