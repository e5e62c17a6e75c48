// Every allocation of a sampling fails once: a clean "nomem", nothing leaks on the host or device.
#include "tests/guided.h"
#include "tests/oom.h"

static float sigmas[3] = { 3.5f, 1.0f, 0 };

static void add_everything(nino_cond *c)
{
    nino_cond_entry *e = &c->entry[1];
    e->area_kind = NINO_AREA_CELLS;
    e->area_h = e->area_w = 8;
    e->area_y = 2;
    give(&c->entry[0].mask, array_of(NINO_SHAPE(1, 2 * H, 2 * W), 0.5, 0.01));
    give(&e->concat_latent, array_of(NINO_SHAPE(1, 2 * H, W, C), 0.5, 0.01));
    give(&e->concat_mask, array_of(NINO_SHAPE(1, 8 * H, 8 * W), 0.5, 0.01));
    for (int i = 0; i < 2; i++) {
        c->entry[i].refs = calloc(1, sizeof(nino_array *));
        CHECK(c->entry[i].refs);
        c->entry[i].n_refs = 1;
        give(&c->entry[i].refs[0], array_of(NINO_SHAPE(1, 4, 4, C), 0.2, 0.01));
        give(&c->entry[i].pooled, array_of(NINO_SHAPE(1, 8), 0.5, 0.01));
    }
}

static void scenario(int may_fail)
{
    const long at = oom_pause();
    nino_error err = { 0 };
    open_all();
    other_net(NINO_DIFFUSION_FLUX, "sd15", C + 64, nino_sampling_flow(3, 1000));
    net.d.y_dim = 8;
    sigmas[0] = 0.9f;
    sigmas[1] = 0.4f;
    nino_cond *p = cond_of(2, 4, 1), *n = cond_of(2, 4, -1);
    add_everything(p);
    add_everything(n);
    setup s = setup_of(p, n, 3);
    s.batch = 2;
    s.sampler = nino_sampler_default(NINO_SAMPLER_DPMPP_2M_SDE);
    s.samples = array_of(NINO_SHAPE(2, H, W, C), -1.5, 0.31);
    s.mask = array_of(NINO_SHAPE(1, 2 * H, W), 0, 0.05);
    const nino_sample_params q = { .guider = &s.g,
                                   .noise = { .seed = 5 },
                                   .sampler = &s.sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = 3,
                                   .samples = s.samples,
                                   .noise_mask = s.mask };
    nino_mem_stat before, after;
    nino_pool_stat(be->pool, &before);
    nino_array *out = NULL, *x0 = NULL;
    oom_resume(at);
    const nino_status st = nino_sample_latent(stream, &q, &out, &x0, &err);
    const long later = oom_pause();
    if (st) {
        CHECK(may_fail && oom.fired && !out && !x0);
        CHECK(st == NINO_ERR_NOMEM && err.code == NINO_ERR_NOMEM);
    }
    nino_pool_stat(be->pool, &after);
    CHECK(after.by_owner[NINO_OWN_ACTIVATION] == before.by_owner[NINO_OWN_ACTIVATION]);
    nino_array_unref(&out);
    nino_array_unref(&x0);
    end_setup(&s, p, n);
    close_all();
    oom.at = later;
}

int main(void)
{
    printf("  %ld allocations\n", oom_each(scenario));
    return 0;
}
