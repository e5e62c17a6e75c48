// Nodes that patch a MODEL: what the patch holds, where its range comes from, and that the model that
// was given stays as it was. What patches do: tests/workflow/guidance.c, tests/golden/unet_patches.c.
#include "tests/fake_net.h"
#include "tests/node.h"

static fake_net net;

static nino_value *model_value(nino_model *m)
{
    nino_value *v = nino_value_create(NINO_PORT_MODEL);
    CHECK(v && m);
    v->u.model = m;
    return v;
}

// Parts of the sampling become noise levels of the schedule where the node stands: one that a later
// node sets does not move them.
static void downscale(void)
{
    nino_model *m = nino_model_create(&net.d);
    node_new("PatchModelAddDownscale");
    node_give("model", model_value(m));
    node_set("start_percent", "0.2");
    node_set("end_percent", "0.5");
    node_go();
    CHECK(m->n_patches == 0);
    nino_value *patched = nino_value_ref(node.out[0]);
    const nino_patch *p = &patched->u.model->patch[0];
    CHECK(patched->u.model->n_patches == 1 && p->kind == NINO_PATCH_DOWNSCALE && p->has_range);
    CHECK(p->is_in_sigmas && !p->ends_before);
    CHECK(p->start == nino_sampling_percent_to_sigma(net.d.sampling, 0.2));
    CHECK(p->end == nino_sampling_percent_to_sigma(net.d.sampling, 0.5) && p->end < p->start);
    node_new("ModelSamplingDiscrete");
    node_give("model", nino_value_ref(patched));
    node_set("zsnr", "true");
    node_go();
    const nino_model *after = node.out[0]->u.model;
    CHECK(nino_sampling_percent_to_sigma(after->sampling, 0.2) != p->start);
    CHECK(after->patch[0].start == p->start && after->patch[0].end == p->end);
    nino_value_unref(&patched);
    node_new("PatchModelAddDownscale");
    node_give("model", model_value(nino_model_create(&net.d)));
    node_set("upscale_method", "bislerp");
    node_fails("value", "upscale_method");
}

// The empty prompt lives as long as the models that have it.
static void perp_neg(void)
{
    nino_value *empty = nino_value_create(NINO_PORT_CONDITIONING);
    nino_cond *c = empty->u.cond = nino_cond_create(1);
    CHECK(c);
    node_new("PerpNeg");
    node_give("model", model_value(nino_model_create(&net.d)));
    node_give("empty_conditioning", empty);
    node_set("neg_scale", "1.5");
    node_go();
    nino_model *m = nino_model_copy(node.out[0]->u.model);
    node_clear();
    CHECK(m && m->n_patches == 1 && m->patch[0].kind == NINO_PATCH_PERP_NEG);
    CHECK(m->patch[0].v[0] == 1.5 && m->patch[0].empty == c);
    nino_model_unref(&m); // the last one: leaks show under the address sanitizer
}

int main(void)
{
    fake_init(&net, NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_discrete(NINO_PRED_EPS, false));
    node_open();
    downscale();
    perp_neg();
    node_close();
    fake_release(&net);
    return 0;
}
