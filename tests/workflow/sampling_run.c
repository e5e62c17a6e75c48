// Sampling with a network that is computed by hand: plans of every sampler, cancel, bad input.
#include "core/op/stream_priv.h"
#include "tests/guided.h"

// ---- plan, cancel, bad input -----------------------------------------------------------------

// Every sampler: the plan counts the evaluations that the run makes.
static void test_plan(void)
{
    other_net(NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_discrete(NINO_PRED_EPS, false));
    nino_stream *real = stream;
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, NULL);
    CHECK(plan);
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    nino_error err = { 0 };
    for (int id = 0; id <= NINO_SAMPLER_EULER_PP; id++) {
        nino_sigmas sig = { 0 };
        nino_array *out = NULL;
        CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_KARRAS, 7, &sig, &err), err);
        s.sampler = nino_sampler_default((nino_sampler_id) id);
        double before = be->flops;
        CHECK_OK(run(&s, sig.v, sig.n, &out, &err), err);
        CHECK(!stream->n_scopes); // steps are closed, also where there were more than planned
        nino_array_unref(&out);
        const double made = be->flops - before;
        const int calls = net.n;
        stream = nino_stream_create(&(nino_stream_params){ .backend = plan }, &err);
        CHECK(stream);
        before = plan->flops;
        CHECK_OK(run(&s, sig.v, sig.n, &out, &err), err);
        CHECK(out->shape.dim[3] == C && net.n <= 2); // walked twice, then counted
        nino_array_unref(&out);
        if (id == NINO_SAMPLER_DPM_ADAPTIVE)
            CHECK(plan->flops > before); // how many there are depends on the picture
        else if (plan->flops - before != made) {
            fprintf(stderr, "%s: plan %g, run %g (%d calls)\n",
                    id < NINO_SAMPLER_COUNT ? nino_sampler_names[id] : "euler_pp",
                    plan->flops - before, made, calls);
            CHECK(!"plan");
        }
        nino_stream_destroy(&stream);
        stream = real;
        nino_sigmas_release(&sig);
    }
    // as many steps as a node allows
    nino_sigmas many = { 0 };
    nino_array *out = NULL;
    CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_KARRAS, 10000, &many, &err), err);
    s.sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    stream = nino_stream_create(&(nino_stream_params){ .backend = plan }, &err);
    CHECK(stream);
    // (a callback for every step would fill the test's list)
    const nino_sample_params q = { .guider = &s.g,
                                   .sampler = &s.sampler,
                                   .sigmas = many.v,
                                   .n_sigmas = many.n,
                                   .samples =
                                       (s.samples = array_of(NINO_SHAPE(1, H, W, C), 0, 0)) };
    net.n = 0;
    CHECK_OK(nino_sample_latent(stream, &q, &out, NULL, &err), err);
    CHECK(net.n == 2);
    nino_array_unref(&out);
    nino_sigmas_release(&many);
    nino_stream_destroy(&stream);
    stream = real;
    nino_backend_close(&plan);
    end_setup(&s, p, n);
}

// Cancelled while evaluation k runs: an error, and nothing stays in the pool.
static void test_cancel(void)
{
    volatile int flag = 0;
    nino_stream *real = stream;
    nino_cond *p = cond_of(1, 4, 1), *n = cond_of(1, 4, -1);
    setup s = setup_of(p, n, 3);
    s.one_by_one = true;
    nino_error err = { 0 };
    nino_mem_stat before, after;
    nino_sigmas sig = { 0 };
    CHECK_OK(nino_schedule_make(net.d.sampling, NINO_SCHEDULER_NORMAL, 5, &sig, &err), err);
    s.sampler = nino_sampler_default(NINO_SAMPLER_HEUN);
    stream = nino_stream_create(
        &(nino_stream_params){ .backend = be, .cancel = &flag, .precision = NINO_PREC_F32 }, &err);
    CHECK(stream);
    nino_pool_stat(be->pool, &before);
    for (int k = 0; k < 12; k++) {
        nino_array *out = NULL;
        nino_stream_clear_error(stream);
        flag = 0;
        net.cancel = &flag;
        net.cancel_at = k;
        CHECK(run(&s, sig.v, sig.n, &out, &err) == NINO_ERR_CANCELLED);
        CHECK(!out && net.n == k + 1 && !stream->n_scopes);
        nino_pool_stat(be->pool, &after);
        CHECK(after.in_use == before.in_use);
    }
    net.cancel = NULL;
    nino_stream_destroy(&stream);
    stream = real;
    nino_sigmas_release(&sig);
    end_setup(&s, p, n);
}

// As many entries share a forward as the budget has room for, and the result is the same.
static void test_budget(void)
{
    static float free_x0[C * CELLS];
    nino_cond *p = cond_of(6, 4, 1), *n = cond_of(2, 8, -1);
    setup s = setup_of(p, n, 3);
    const float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
    nino_array_unref(&out);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 8 && net.call[0].context.dim[1] == 8);
    memcpy(free_x0, last.x0, sizeof(free_x0));
    nino_backend_drop_weights(be);
    nino_pool_trim(be->pool);
    nino_pool_set_budget(be->pool, 20 << 20); // less than a whole arena of a plan: one by one
    for (int i = 0; i < 2; i++) {             // the second time it is known
        net.only = stream;                    // not the plans
        CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
        nino_array_unref(&out);
        CHECK(net.n == 8 && net.call[0].x.dim[0] == 1);
        CHECK(!memcmp(free_x0, last.x0, sizeof(free_x0)));
    }
    nino_pool_set_budget(be->pool, 1 << 30); // room for all of them
    end_setup(&s, p, n);
    p = cond_of(6, 4, 1), n = cond_of(2, 8, -1);
    s = setup_of(p, n, 3);
    net.only = stream;
    CHECK_OK(run(&s, sigmas, 2, &out, &err), err);
    nino_array_unref(&out);
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 8);
    CHECK(!memcmp(free_x0, last.x0, sizeof(free_x0)));
    net.only = NULL;
    nino_pool_set_budget(be->pool, 0);
    end_setup(&s, p, n);
}

static void test_bad(void)
{
    nino_cond *p = cond_of(1, 4, 1);
    setup s = setup_of(p, NULL, 1);
    const float sigmas[2] = { 3.5f, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    net.gives_nan = true;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_RANGE);
    CHECK_STR(err.kind, "nan");
    CHECK_STR(err.where, "fake.safetensors");
    net.gives_nan = false;

    p->entry->area_kind = NINO_AREA_CELLS;
    p->entry->area_h = p->entry->area_w = 8;
    p->entry->area_y = H + 3;
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_RANGE && strstr(err.msg, "outside"));
    p->entry->area_kind = NINO_AREA_NONE;
    s.samples = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, H, W, C)); // a video
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && strstr(err.msg, "pictures"));
    CHECK(!out);
    end_setup(&s, p, NULL);
}

int main(void)
{
    open_all();
    test_plan();
    test_cancel();
    test_budget();
    test_bad();
    close_all();
    return 0;
}
