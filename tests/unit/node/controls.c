// Nodes that put control networks on conditioning: what each entry gets, which share one, strength 0,
// union types, and the picture and mask that inpainting networks see.
#include "tests/node.h"

static nino_control_net *net(int n_types, bool has_mask)
{
    nino_control_net *c = calloc(1, sizeof(*c));
    CHECK(c);
    *c = (nino_control_net){ .refs = 1,
                             .name = "a.safetensors",
                             .detail = "a control network",
                             .n_types = n_types,
                             .has_mask = has_mask };
    return c;
}

static void give_net(nino_control_net *c, int type)
{
    node_give("control_net", node_value(NINO_PORT_CONTROL_NET))->u.control =
        (nino_control_value){ .net = c, .type = type };
}

static nino_cond *texts(int n)
{
    nino_cond *c = nino_cond_create(n);
    CHECK(c);
    for (int i = 0; i < n; i++)
        c->entry[i].context = A(SHAPE(1, 1, 1), 1);
    return c;
}

static const nino_control_use *use_at(int slot, int entry)
{
    nino_cond_control *c = node.out[slot]->u.cond->entry[entry].control_net;
    return c ? nino_control_use_of(c) : NULL;
}

static void give_both(const char *class_type, int n)
{
    node_new(class_type);
    node_give("positive", node_cond(texts(n)));
    node_give("negative", node_cond(texts(1)));
    give_net(net(0, false), 2);
    node_give("image", node_image(A(SHAPE(1, 1, 2, 3), 0, 0, 0, 1, 1, 1)));
}

// Both sides have the same control, which they can share a forward with; what is chained is, too.
static void advanced(void)
{
    give_both("ControlNetApplyAdvanced", 2);
    node_set("strength", "0.5");
    node_set("start_percent", "0.25");
    node_set("end_percent", "0.75");
    node_go();
    const nino_control_use *u = use_at(0, 0);
    CHECK(u && u == use_at(0, 1) && u == use_at(1, 0) && !u->previous && !u->vae && !u->mask);
    CHECK(u->strength == 0.5 && u->start == 0.25 && u->end == 0.75 && u->type == 2);
    CHECK(u->hint == nino_in_image(&node.run, 3));
    CHECK(!node.out[0]->u.cond->entry[0].control_for_all);
    CHECK(!nino_in_cond(&node.run, 0)->entry[0].control_net); // what came in is as it was
    CHECK(nino_value_is_network(node.out[0]) && !nino_value_is_network(node.in[0]));
    CHECK(nino_cond_bytes(node.out[0]->u.cond) > u->hint->bytes);
    // once more, on entries of which one has another control
    nino_cond *first = nino_cond_copy(node.out[0]->u.cond);
    nino_cond *second = nino_cond_copy(node.out[1]->u.cond), *none = texts(1);
    nino_cond *mixed = nino_cond_join(first, none);
    CHECK(first && second && mixed);
    nino_cond_unref(&none);
    nino_cond_unref(&first);
    node_new("ControlNetApplyAdvanced");
    node_give("positive", node_cond(mixed));
    node_give("negative", node_cond(second));
    give_net(net(0, false), -1);
    node_give("image", node_image(A(SHAPE(1, 1, 1, 3), 0, 0, 0)));
    node_go();
    const nino_control_use *v = use_at(0, 0);
    CHECK(v->previous && v->previous->strength == 0.5 && v == use_at(0, 1) && v == use_at(1, 0));
    CHECK(use_at(0, 2) != v && !use_at(0, 2)->previous && v->end == 1 && v->start == 0);
}

static void strength_0(void)
{
    give_both("ControlNetApplyAdvanced", 1);
    node_set("strength", "0");
    node_go();
    CHECK(node.out[0]->u.cond == nino_in_cond(&node.run, 0));
    CHECK(node.out[1]->u.cond == nino_in_cond(&node.run, 1));
    node_new("ControlNetApply");
    node_give("conditioning", node_cond(texts(1)));
    give_net(net(0, false), -1);
    node_give("image", node_image(A(SHAPE(1, 1, 1, 3), 0, 0, 0)));
    node_set("strength", "0");
    node_go();
    CHECK(node.out[0]->u.cond == nino_in_cond(&node.run, 0));
    node_set("strength", "2");
    node_go();
    CHECK(use_at(0, 0)->strength == 2 && use_at(0, 0)->end == 1);
    CHECK(node.out[0]->u.cond->entry[0].control_for_all);
}

static nino_vae *give_vae(void)
{
    nino_vae *v = calloc(1, sizeof(*v));
    CHECK(v);
    *v = (nino_vae){ .channels = 16, .factor = 8, .refs = 1 };
    return node_give("vae", node_value(NINO_PORT_VAE))->u.vae = v;
}

static void with_vae(void)
{
    give_both("ControlNetApplySD3", 1);
    const nino_vae *v = give_vae();
    node_go();
    CHECK(use_at(0, 0)->vae == v && use_at(0, 0)->hint == nino_in_image(&node.run, 4));
}

static void union_types(void)
{
    static const struct {
        const char *word;
        int type, needs;
    } types[] = { { "auto", -1, 0 },
                  { "openpose", 0, 1 },
                  { "canny/lineart/anime_lineart/mlsd", 3, 4 },
                  { "repaint", 7, 8 } };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        node_new("SetUnionControlNetType");
        give_net(net(6, false), 5);
        node_set("type", types[i].word);
        if (types[i].needs > 6) {
            node_fails("value", "type");
            CHECK(strstr(node.err.msg, "repaint") && strstr(node.err.msg, "ProMax"));
            continue;
        }
        node_go();
        CHECK(node.out[0]->u.control.type == types[i].type);
        CHECK(nino_value_shares(node.out[0], node.in[0]));
    }
    node_new("SetUnionControlNetType"); // of no union network: it goes on as it is
    give_net(net(0, false), -1);
    node_set("type", "repaint");
    node_go();
}

// Only where the network has a channel for it.
static void inpainting(void)
{
    for (int has_mask = 0; has_mask < 2; has_mask++) {
        node_new("ControlNetInpaintingAliMamaApply");
        node_give("positive", node_cond(texts(1)));
        node_give("negative", node_cond(texts(1)));
        give_net(net(0, has_mask), -1);
        give_vae();
        node_give("image",
                  node_image(A(SHAPE(1, 1, 3, 3), 0.5f, 0.5f, 0.5f, 0.25f, 0.5f, 1, 1, 1, 1)));
        node_give("mask", node_mask(A(SHAPE(1, 1, 3), 0, 0.4f, 1)));
        node_go();
        const nino_control_use *u = use_at(0, 0);
        CHECK(u == use_at(1, 0) && !u->mask == !has_mask);
        if (!has_mask) {
            CHECK(u->hint == nino_in_image(&node.run, 4));
            continue;
        }
        EXPECT(u->mask, SHAPE(1, 1, 3), 1e-6f, 1, 0.6f, 0);
        EXPECT(u->hint, SHAPE(1, 1, 3, 3), 1e-6f, 0.5f, 0.5f, 0.5f, 0.25f, 0.5f, 1, 0, 0, 0);
        EXPECT(nino_in_mask(&node.run, 5), SHAPE(1, 1, 3), 1e-6f, 0, 0.4f, 1);
    }
}

int main(void)
{
    node_open();
    advanced();
    strength_0();
    with_vae();
    union_types();
    inpainting();
    node_close();
    return 0;
}
