// StyleModelApply: the tokens of a style model go behind every prompt, weaker or stronger; what
// does not fit is refused. The loaders' files.
#include "core/model/clip/style_model.h"
#include "core/file/safetensors.h"
#include "tests/node.h"
#include "tests/vae.h"

static nino_error err;
static test_dir dir;

// up [4,2] and down [3,4]: silu(up x) summed in pairs and once over all.
static nino_weights *file(bool is_adapter)
{
    nino_array *up = A(SHAPE(4, 2), 1, 0, 0, 1, 1, 1, 0, 0);
    nino_array *up_b = A(SHAPE(4), 0, 0, 0, 1);
    nino_array *down = A(SHAPE(3, 4), 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1);
    nino_array *down_b = A(SHAPE(3), 0, 0, 0.5f);
    const nino_st_entry e[] = { { is_adapter ? "style_embedding" : "redux_up.weight", up },
                                { "redux_up.bias", up_b },
                                { "redux_down.weight", down },
                                { "redux_down.bias", down_b } };
    CHECK_OK(nino_st_save(dir.path, "s", true, e, 4, NULL, 0, &err), err);
    nino_array_unref(&up);
    nino_array_unref(&up_b);
    nino_array_unref(&down);
    nino_array_unref(&down_b);
    return test_open("%s/s", dir.path);
}

static double silu(double x) { return x / (1 + exp(-x)); }

static nino_value *cond(int64_t width)
{
    nino_value *v = nino_value_create(NINO_PORT_CONDITIONING);
    CHECK(v && (v->u.cond = nino_cond_create(2)));
    for (int i = 0; i < 2; i++) {
        nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, width));
        CHECK(a != NULL);
        nino_array_f32(a)[0] = (float) i + 7;
        v->u.cond->entry[i].context = a;
    }
    return v;
}

static void setup(nino_style *m, int64_t width, int64_t seen)
{
    nino_value *style = nino_value_create(NINO_PORT_STYLE_MODEL);
    nino_value *vision = nino_value_create(NINO_PORT_CLIP_VISION_OUTPUT);
    CHECK(style && vision);
    node_new("StyleModelApply");
    style->u.style = nino_style_ref(m);
    vision->u.vision.last =
        seen == 2 ? A(SHAPE(2, 1, 2), 1, 2, -1, 3) : node_array(SHAPE(2, 1, seen), NULL, 0);
    node_give("conditioning", cond(width));
    node_give("style_model", style);
    node_give("clip_vision_output", vision);
}

static void test_apply(nino_style *m)
{
    setup(m, 3, 2);
    node_set("strength", "2");
    node_go();
    for (int i = 0; i < 2; i++) {
        const nino_array *a = node.out[0]->u.cond->entry[i].context;
        const float *v = nino_array_f32(a);
        CHECK(a->shape.dim[1] == 4 && a->shape.dim[2] == 3 && v[0] == (float) i + 7);
        CHECK(fabs(v[6] - 2 * silu(1)) < 1e-5 && fabs(v[7] - 2 * silu(2)) < 1e-5);
        CHECK(fabs(v[8] - 2 * (silu(3) + silu(1) + 0.5)) < 1e-5);
        CHECK(fabs(v[9] - 2 * silu(-1)) < 1e-5 && fabs(v[10] - 2 * silu(3)) < 1e-5);
    }
    CHECK(node.in[0]->u.cond->entry[0].context->shape.dim[1] == 2); // the input stays
    node_set("strength_type", "attn_bias");
    node_fails("value", "strength_type");
    node_set("strength", "1"); // where both are the same
    node_go();
    setup(m, 5, 2);
    node_fails("model", "a");
    setup(m, 3, 6);
    node_fails("model", "a");
}

int main(void)
{
    static const char *const files[] = { "s", NULL };
    nino_style *m = NULL;
    dir = test_dir_create();
    node_open();
    nino_weights *w = file(true);
    CHECK(nino_style_load(w, "a", &m, &err) == NINO_ERR_UNSUPPORTED && !m);
    nino_weights_unref(&w);
    w = file(false);
    CHECK_OK(nino_style_load(w, "a", &m, &err), err);
    CHECK(m->in == 2 && m->out == 3);
    nino_weights_unref(&w);
    test_apply(m);
    nino_style_unref(&m);
    node_close();
    test_dir_remove(&dir, files);
    return 0;
}
