// Conditioning nodes: which entries come out, and what each of them says.
#include "tests/node.h"

static nino_array *tokens(int64_t n, float first)
{
    nino_array *a = node_array(SHAPE(1, n, 2), NULL, 0);
    for (int64_t i = 0; i < n * 2; i++)
        nino_array_f32(a)[i] = first + (float) i;
    return a;
}

// One entry a context given; pooled may be NULL. Takes the arrays.
static nino_value *cond(nino_array *context, nino_array *pooled)
{
    nino_cond *c = nino_cond_create(1);
    CHECK(c);
    c->entry[0].context = context;
    c->entry[0].pooled = pooled;
    return node_cond(c);
}

static const nino_cond *got(int i) { return node.out[i]->u.cond; }

static void combine(void)
{
    node_new("ConditioningCombine");
    nino_value *a = node_give("conditioning_1", cond(tokens(2, 1), NULL));
    nino_value *b = node_give("conditioning_2", cond(tokens(3, 9), NULL));
    node_go();
    CHECK(got(0)->n == 2);
    CHECK(got(0)->entry[0].context == a->u.cond->entry[0].context); // shared, not copied
    CHECK(got(0)->entry[1].context == b->u.cond->entry[0].context);
}

static void concat(void)
{
    node_new("ConditioningConcat");
    node_give("conditioning_to", cond(tokens(1, 1), A(SHAPE(1, 2), 5, 6)));
    node_give("conditioning_from", cond(tokens(2, 10), A(SHAPE(1, 2), 7, 8)));
    node_go();
    CHECK(got(0)->n == 1);
    EXPECT(got(0)->entry[0].context, SHAPE(1, 3, 2), 0, 1, 2, 10, 11, 12, 13);
    EXPECT(got(0)->entry[0].pooled, SHAPE(1, 2), 0, 5, 6); // the first one's stays
    CHECK(!got(0)->entry[0].context_mask);
    nino_value *masked = node_give("conditioning_from", cond(tokens(2, 10), NULL));
    masked->u.cond->entry[0].context_mask = A(SHAPE(1, 2), 1, 0);
    node_go(); // a prompt without a mask is looked at whole
    EXPECT(got(0)->entry[0].context_mask, SHAPE(1, 3), 0, 1, 1, 0);
    node_give("conditioning_from", cond(A(SHAPE(1, 1, 3), 1, 2, 3), NULL));
    node_fails("shape", "conditioning_from");
    node_give("conditioning_from", node_cond(nino_cond_create(0)));
    node_fails("shape", "conditioning_from");
}

static void average(void)
{
    node_new("ConditioningAverage");
    node_set("conditioning_to_strength", "0.25");
    node_give("conditioning_to", cond(A(SHAPE(1, 2, 1), 4, 8), A(SHAPE(1, 1), 4)));
    node_give("conditioning_from", cond(A(SHAPE(1, 1, 1), 16), A(SHAPE(1, 1), 8)));
    node_go(); // the shorter prompt goes on with zeros
    EXPECT(got(0)->entry[0].context, SHAPE(1, 2, 1), 0, 13, 2);
    EXPECT(got(0)->entry[0].pooled, SHAPE(1, 1), 0, 7);
    // a longer one is cut
    node_give("conditioning_from", cond(A(SHAPE(1, 3, 1), 0, 4, 100), NULL));
    node_go();
    EXPECT(got(0)->entry[0].context, SHAPE(1, 2, 1), 0, 1, 5);
    EXPECT(got(0)->entry[0].pooled, SHAPE(1, 1), 0, 4); // nothing to mix it with
    // the other way round it is taken over
    node_give("conditioning_to", cond(A(SHAPE(1, 1, 1), 4), NULL));
    node_give("conditioning_from", cond(A(SHAPE(1, 1, 1), 0), A(SHAPE(1, 1), 8)));
    node_go();
    EXPECT(got(0)->entry[0].pooled, SHAPE(1, 1), 0, 8);
}

static void areas(void)
{
    node_new("ConditioningSetArea");
    nino_value *in = node_give("conditioning", cond(tokens(1, 0), NULL));
    in->u.cond->entry[0].mask_bounds = true;
    node_set("width", "72");
    node_set("height", "100"); // not a multiple: cells are whole
    node_set("x", "16");
    node_set("y", "8");
    node_set("strength", "0.5");
    node_go();
    const nino_cond_entry *e = got(0)->entry;
    CHECK(e->area_kind == NINO_AREA_CELLS && e->area_w == 9 && e->area_h == 12);
    CHECK(e->area_x == 2 && e->area_y == 1 && e->strength == 0.5 && !e->mask_bounds);
    CHECK(in->u.cond->entry[0].area_kind == NINO_AREA_NONE); // the input is as it was

    node_new("ConditioningSetAreaPercentage");
    node_give("conditioning", cond(tokens(1, 0), NULL));
    node_set("width", "0.25");
    node_set("y", "0.5");
    node_go();
    e = got(0)->entry;
    CHECK(e->area_kind == NINO_AREA_FRACTION && e->area_w == 0.25 && e->area_h == 1);
    CHECK(e->area_x == 0 && e->area_y == 0.5 && e->strength == 1);

    node_new("ConditioningSetAreaStrength");
    node_give("conditioning", cond(tokens(1, 0), NULL));
    node_set("strength", "2.5");
    node_go();
    CHECK(got(0)->entry[0].strength == 2.5 && got(0)->entry[0].area_kind == NINO_AREA_NONE);
}

static void masks_and_ranges(void)
{
    node_new("ConditioningSetMask");
    node_give("conditioning", cond(tokens(1, 0), NULL));
    nino_value *m = node_give("mask", node_mask(A(SHAPE(1, 1, 2), 0, 1)));
    node_set("strength", "0.75");
    node_go();
    const nino_cond_entry *e = got(0)->entry;
    CHECK(e->mask == m->u.mask && e->mask_strength == 0.75 && !e->mask_bounds && e->strength == 1);
    node_set("set_cond_area", "mask bounds");
    node_go();
    CHECK(got(0)->entry[0].mask_bounds);

    node_new("ConditioningSetTimestepRange");
    node_give("conditioning", cond(tokens(1, 0), NULL));
    node_set("start", "0.25");
    node_set("end", "0.75");
    node_go();
    CHECK(got(0)->entry[0].start == 0.25 && got(0)->entry[0].end == 0.75);
}

static void zero(void)
{
    node_new("ConditioningZeroOut");
    nino_value *in = node_give("conditioning", cond(tokens(1, 3), A(SHAPE(1, 1), 5)));
    node_go();
    EXPECT(got(0)->entry[0].context, SHAPE(1, 1, 2), 0, 0, 0);
    EXPECT(got(0)->entry[0].pooled, SHAPE(1, 1), 0, 0);
    EXPECT(in->u.cond->entry[0].context, SHAPE(1, 1, 2), 0, 3, 4);
}

static void reference(void)
{
    node_new("ReferenceLatent");
    node_give("conditioning", cond(tokens(1, 3), NULL));
    node_go(); // without a latent nothing happens
    CHECK(got(0)->n == 1 && got(0)->entry[0].n_refs == 0);
    nino_value *l = node_give("latent", node_latent(A(SHAPE(1, 1, 1, 2), 1, 2)));
    node_go();
    nino_value *first = nino_value_ref(node.out[0]);
    CHECK(got(0)->entry[0].n_refs == 1 && got(0)->entry[0].refs[0] == l->u.latent.samples);
    node_give("conditioning", first);
    node_go(); // chained: one more
    CHECK(got(0)->entry[0].n_refs == 2 && first->u.cond->entry[0].n_refs == 1);
    node_new("FluxKontextMultiReferenceLatentMethod");
    node_give("conditioning", cond(tokens(1, 3), NULL));
    node_set("reference_latents_method", "uxo/uno");
    node_go();
    CHECK(got(0)->entry[0].ref_method == NINO_REFS_UXO);
    node_set("reference_latents_method", "index_timestep_zero");
    node_go();
    CHECK(got(0)->entry[0].ref_method == NINO_REFS_INDEX_TIMESTEP_ZERO);
    node_set("reference_latents_method", "offset");
    node_go();
    CHECK(got(0)->entry[0].ref_method == NINO_REFS_OFFSET);
}

// Pictures are added to every entry; the list that came stays as it was.
static void unclip(void)
{
    node_new("unCLIPConditioning");
    nino_cond *c = nino_cond_create(2);
    nino_value *v = node_value(NINO_PORT_CLIP_VISION_OUTPUT);
    v->u.vision.embeds = A(SHAPE(1, 3), 1, 2, 3);
    node_give("conditioning", node_cond(c));
    node_give("clip_vision_output", v);
    node_set("strength", "0.25");
    node_set("noise_augmentation", "0.5");
    node_go();
    const nino_cond *out = node.out[0]->u.cond;
    CHECK(out->n == 2 && c->entry[0].n_pictures == 0);
    for (int i = 0; i < 2; i++)
        CHECK(out->entry[i].n_pictures == 1 && out->entry[i].pictures[0].strength == 0.25 &&
              out->entry[i].pictures[0].noise == 0.5);
    node_set("strength", "0");
    node_go();
    CHECK(node.out[0]->u.cond == c);
}

int main(void)
{
    node_open();
    combine();
    concat();
    average();
    areas();
    masks_and_ranges();
    zero();
    reference();
    unclip();
    node_close();
    return 0;
}
