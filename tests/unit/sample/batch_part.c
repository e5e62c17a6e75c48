// A part of a batch is sampled as it would be in the whole: same start noise, same noise on the way,
// to the bit, for every sampler that looks at each item alone.
#include "core/sample/guide/guide.h"
#include "tests/sampling.h"

enum { item = 37, batch = 5, whole = item * batch }; // no multiple of torch's blocks of 16

static nino_status part_denoise(void *priv, const float *x, double sigma, float *denoised,
                                float *uncond, nino_error *err)
{
    (void) err;
    const float s = (float) sigma;
    for (int64_t i = 0; i < *(int64_t *) priv; i++) {
        denoised[i] = 0.8f * tanhf(0.7f * x[i] / (1 + s));
        if (uncond)
            uncond[i] = 0.5f * denoised[i];
    }
    return NINO_OK;
}

// x: items first ... first + n of the batch, sampled as a part of it, or all as a batch of its own.
static void sample_part(nino_sampler_id id, double churn, int64_t first, int64_t n, float *x)
{
    nino_error err = { 0 };
    nino_sampling *ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    nino_sampler sampler = nino_sampler_default(id);
    const nino_ksampler_steps steps = { .scheduler = NINO_SCHEDULER_KARRAS,
                                        .steps = 4,
                                        .denoise = 1,
                                        .start_step = -1,
                                        .end_step = -1 };
    const nino_batch_part part = { .first = first, .total = n < batch ? batch : 0 };
    nino_sigmas sigmas;
    int64_t count = n * item;
    sampler.s_churn = churn;
    CHECK(ms);
    CHECK_OK(nino_schedule_ksampler(ms, &steps, &sigmas, &err), err);
    CHECK(nino_noise_fill_part(7, x, n, item, NULL, &part));
    nino_sampling_noise_scaling(ms, sigmas.v[0], true, x, NULL, x, count);
    const nino_sampler_run r = { .ms = ms,
                                 .denoise = part_denoise,
                                 .denoise_priv = &count,
                                 .x = x,
                                 .count = count,
                                 .whole = part.total * item,
                                 .at = first * item,
                                 .sigmas = sigmas.v,
                                 .n_sigmas = sigmas.n,
                                 .seed = 12345 };
    CHECK_OK(nino_sampler_run_all(&sampler, &r, &err), err);
    nino_sigmas_release(&sigmas);
    nino_sampling_unref(&ms);
}

static void check_sampler(nino_sampler_id id, double churn)
{
    float all[whole], part[whole];
    sample_part(id, churn, 0, batch, all);
    for (int first = 0, n = 1; first + n <= batch; first += n, n++) {
        sample_part(id, churn, first, n, part);
        if (memcmp(all + (size_t) first * item, part, (size_t) n * item * sizeof(float))) {
            fprintf(stderr, "%s: item %d of a part is another\n", nino_sampler_get(id)->name,
                    first);
            exit(1);
        }
    }
}

// Whatever is not known to work on each item alone keeps a batch together.
static void check_patches(void)
{
    static const nino_patch_kind known[] = { NINO_PATCH_RESCALE,       NINO_PATCH_CFG,
                                             NINO_PATCH_SKIP_NEGATIVE, NINO_PATCH_EPSILON,
                                             NINO_PATCH_PERTURBED,     NINO_PATCH_DOWNSCALE };
    for (int kind = 0; kind < NINO_PATCH_KINDS; kind++) {
        nino_patch patch[2] = { { .kind = NINO_PATCH_CFG }, { .kind = (nino_patch_kind) kind } };
        nino_model m = { .n_patches = 2 };
        bool is_known = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
            is_known |= known[i] == (nino_patch_kind) kind;
        memcpy(m.patch, patch, sizeof(patch));
        const nino_guider one = { .kind = NINO_GUIDE_CFG, .model = &m },
                          two = { .kind = NINO_GUIDE_CFG, .model2 = &m };
        CHECK(nino_guide_is_apart(&one, NINO_SAMPLER_EULER) == is_known);
        CHECK(nino_guide_is_apart(&two, NINO_SAMPLER_EULER) == is_known);
    }
}

// What is there for each item of a batch goes with a whole one only, wherever a conditioning has it.
static void check_conds(void)
{
    enum { FIELDS = 9, REFS = 3, SIDES = 3 };
    nino_array *one = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3)),
               *more = nino_array_create(NINO_F32, NINO_SHAPE(2, 2, 3));
    CHECK(one && more);
    for (int side = 0; side < SIDES; side++)
        for (int at = -1; at < FIELDS + NINO_COND_CONTROLS + REFS; at++) { // -1: nowhere
            nino_array *refs[REFS];
            nino_cond_entry e[2] = {
                { .n_controls = NINO_COND_CONTROLS, .refs = refs, .n_refs = REFS }
            };
            e[1] = e[0];
            nino_array **const field[FIELDS] = { &e[1].context,       &e[1].context_mask,
                                                 &e[1].pooled,        &e[1].mask,
                                                 &e[1].concat_latent, &e[1].concat_mask,
                                                 &e[1].vision,        &e[1].control_context,
                                                 &e[0].context };
            for (int i = 0; i < FIELDS; i++)
                *field[i] = i == at ? more : one;
            for (int i = 0; i < NINO_COND_CONTROLS; i++)
                e[1].control[i] = FIELDS + i == at ? more : one;
            for (int i = 0; i < REFS; i++)
                refs[i] = FIELDS + NINO_COND_CONTROLS + i == at ? more : one;
            nino_cond c = { .refs = 1, .n = 2, .entry = e };
            nino_guider g = { .kind = NINO_GUIDE_CFG };
            *(nino_cond * *[]){ &g.positive, &g.middle, &g.negative }[side] = &c;
            CHECK(nino_guide_is_apart(&g, NINO_SAMPLER_EULER) == (at < 0));
        }
    nino_array_unref(&one);
    nino_array_unref(&more);
}

int main(void)
{
    check_patches();
    check_conds();
    const int64_t index[2] = { 3, 1 };
    const nino_batch_part part = { .first = 2, .total = 4 };
    const nino_guider plain = { .kind = NINO_GUIDE_CFG }, perp = { .kind = NINO_GUIDE_PERP_NEG };
    float a[2 * item], b[2 * item];
    for (int i = 0; i < NINO_SAMPLER_COUNT; i++)
        if (nino_guide_is_apart(&plain, (nino_sampler_id) i))
            check_sampler((nino_sampler_id) i, 0);
    check_sampler(NINO_SAMPLER_EULER, 0.4);
    // indices of their own name the draws already
    nino_noise_fill(9, a, 2, item, index);
    CHECK(nino_noise_fill_part(9, b, 2, item, index, &part));
    CHECK(!memcmp(a, b, sizeof(a)));
    CHECK(!nino_guide_is_apart(&plain, NINO_SAMPLER_DPM_ADAPTIVE));
    CHECK(!nino_guide_is_apart(&perp, NINO_SAMPLER_EULER));
    return 0;
}
