// SkipLayerGuidanceSD3, DiT and DiTSimple: what they give of a network that is computed by hand, and
// when; blocks that are left out change its answer by a known amount.
#include "tests/guided.h"
#include "tests/node.h"

#define CFG 4.0
#define COUNT (C * CELLS)

static float x[MAX_BATCH * COUNT];

// What the node makes of the setup's model takes its place.
static void apply(setup *s)
{
    node_give("model", node_value(NINO_PORT_MODEL));
    node.in[0]->u.model = nino_model_ref(s->m);
    node_go();
    nino_model_unref(&s->m);
    s->m = nino_model_ref(node.out[0]->u.model);
    s->g.model = s->m;
    node_clear();
}

// The plain answer, and what the network answers without the blocks less than with them.
static double plain(const setup *s, nino_skip skip)
{
    spot *p = spot_of(0, s->g.positive->entry, 1), *n = spot_of(1, s->g.negative->entry, 1);
    oracle(p, 1, x, 1, s->sigma, pos);
    oracle(n, 1, x, 1, s->sigma, neg);
    return s->sigma * (0.05 * (double) skip.doubles + 0.03 * (double) skip.singles);
}

static setup made(nino_cond **p, nino_cond **n)
{
    other_net(NINO_DIFFUSION_FLUX, "sd15", 0, nino_sampling_flow(3, 1000));
    *p = cond_of(1, 4, 1);
    *n = cond_of(1, 5, -1); // of another length: apart
    setup s = setup_of(*p, *n, CFG);
    s.sigma = 0.95; // 0.944 ... 0.997: from 1 % to 15 % with a shift of 3
    return s;
}

// One more evaluation of the positive side in the range, none outside of it.
static void test_sd3(void)
{
    nino_cond *p, *n;
    setup s = made(&p, &n);
    node_new("SkipLayerGuidanceSD3");
    node_set("layers", "[0], 2 and 1000000000000");
    node_set("scale", "2.5");
    apply(&s);
    evaluate(&s, x);
    const double less = plain(&s, (nino_skip){ .doubles = 5 });
    apply_cfg(CFG, COUNT);
    for (int i = 0; i < COUNT; i++)
        pos[i] += 2.5 * less;
    compare(pos, COUNT, 5e-5);
    CHECK(net.n == 3 && net.call[2].context.dim[1] == 4);
    CHECK(net.call[2].skip.doubles == 5 && !net.call[2].skip.singles && !net.call[0].skip.doubles);
    s.sigma = 0.9;
    evaluate(&s, x);
    CHECK(net.n == 2);
    // a schedule that is given later does not move the range
    nino_sampling_unref(&s.m->sampling);
    s.m->sampling = nino_sampling_flow(10, 1000);
    evaluate(&s, x);
    CHECK(net.n == 2);
    s.sigma = 0.95;
    evaluate(&s, x);
    CHECK(net.n == 3);
    end_setup(&s, p, n);
}

static double spread(const double *v)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < COUNT; i++)
        mean += v[i] / COUNT;
    for (int i = 0; i < COUNT; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / (COUNT - 1));
}

static void test_dit(void)
{
    nino_cond *p, *n;
    setup s = made(&p, &n);
    node_new("SkipLayerGuidanceDiT");
    node_set("double_layers", "1");
    node_set("single_layers", "0,1");
    node_set("rescaling_scale", "0.75");
    apply(&s);
    evaluate(&s, x);
    const double less = plain(&s, (nino_skip){ 2, 3 }), had = spread(pos);
    apply_cfg(CFG, COUNT);
    for (int i = 0; i < COUNT; i++)
        pos[i] += 3 * less;
    const double by = 0.75 * had / spread(pos) + 0.25;
    for (int i = 0; i < COUNT; i++)
        pos[i] *= by;
    compare(pos, COUNT, 5e-5);
    CHECK(net.n == 3 && net.call[2].skip.doubles == 2 && net.call[2].skip.singles == 3);
    end_setup(&s, p, n);

    // two prompts: it guides away from what the second gives
    s = made(&p, &n);
    nino_cond *middle = cond_of(1, 7, 1);
    node_new("SkipLayerGuidanceDiT");
    apply(&s);
    s.g.kind = NINO_GUIDE_DUAL_CFG;
    s.g.middle = middle;
    s.g.cfg2 = 2;
    evaluate(&s, x);
    CHECK(net.n == 4 && net.call[3].context.dim[1] == 7 && net.call[3].skip.doubles == 0x380);
    end_setup(&s, p, n);
    nino_cond_unref(&middle);
}

// The negative side itself does without the blocks.
static void test_simple(void)
{
    nino_cond *p, *n;
    setup s = made(&p, &n);
    node_new("SkipLayerGuidanceDiTSimple");
    node_set("double_layers", "0");
    node_set("single_layers", "");
    node_set("end_percent", "0.15");
    apply(&s);
    evaluate(&s, x);
    const double less = plain(&s, (nino_skip){ .doubles = 1 });
    for (int i = 0; i < COUNT; i++)
        neg[i] -= less;
    apply_cfg(CFG, COUNT);
    compare(pos, COUNT, 5e-5);
    CHECK(net.n == 2);
    for (int i = 0; i < 2; i++)
        CHECK(net.call[i].skip.doubles == (net.call[i].context.dim[1] == 5));
    s.sigma = 0.5; // behind the range
    evaluate(&s, x);
    plain(&s, (nino_skip){ 0 });
    apply_cfg(CFG, COUNT);
    compare(pos, COUNT, 5e-5);
    end_setup(&s, p, n);
}

// No layers, no strength: the model as it was.
static void test_nothing(void)
{
    nino_cond *p, *n;
    setup s = made(&p, &n);
    node_new("SkipLayerGuidanceSD3");
    node_set("layers", "none");
    apply(&s);
    CHECK(!s.m->n_patches);
    node_new("SkipLayerGuidanceSD3");
    node_set("scale", "0");
    apply(&s);
    evaluate(&s, x);
    CHECK(net.n == 2);
    end_setup(&s, p, n);
}

int main(void)
{
    open_all();
    node_open();
    test_sd3();
    test_dit();
    test_simple();
    test_nothing();
    node_close();
    close_all();
    return 0;
}
