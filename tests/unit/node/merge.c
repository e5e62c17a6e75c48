// ModelMergeSD1, Flux1, SD35_Large ...: which share every weight gets, by the name it begins with.
#include "core/model/loader.h"
#include "core/model/merge/merge.h"
#include "tests/node.h"
#include "tests/random_dit.h"

static nino_error err;

// The same names with other values if is_other.
static nino_value *model(net_list l, bool is_other)
{
    char path[] = "/tmp/ninodes-merge-XXXXXX";
    nino_diffusion *d = NULL;
    const int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0);
    for (int i = 0; is_other && i < l.n / 2; i++) {
        const net_tensor t = l.t[i];
        l.t[i] = l.t[l.n - 1 - i];
        l.t[l.n - 1 - i] = t;
    }
    net_save(&l, path, NINO_F32, NET_RANDOM);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(unlink(path) == 0);
    CHECK_OK(nino_diffusion_load(w, "m", &d, &err), err);
    nino_value *v = node_value(NINO_PORT_MODEL);
    CHECK((v->u.model = nino_model_create(d)));
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    return v;
}

static nino_array *tensor(const nino_value *v, const char *name)
{
    const nino_diffusion *d = v->u.model->net;
    const nino_tensor_info *t = nino_weights_find(d->file, nino_name_of("%s%s", d->prefix, name).s);
    CHECK(t);
    nino_array *a = nino_weights_read_f32(d->file, t, &err);
    CHECK(a);
    return a;
}

static void expect_share(const char *name, double share)
{
    nino_array *a = tensor(node.in[0], name), *b = tensor(node.in[1], name);
    nino_array *c = tensor(node.out[0], name);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++) {
        const double want =
            share * (double) nino_array_f32(a)[i] + (1 - share) * (double) nino_array_f32(b)[i];
        if (!(fabs((double) nino_array_f32(c)[i] - want) < 1e-5)) {
            fprintf(stderr, "%s: %g, expected %g\n", name, (double) nino_array_f32(c)[i], want);
            exit(1);
        }
    }
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
}

static void unets(const char *class_type, const char *dot)
{
    static const net_unet unet = { 32, 2, { 1, 1 }, { 1, 0 }, 1, 24, 0, 4, 4, false };
    node_new(class_type);
    node_give("model1", model(net_list_unet(&unet, NULL), false));
    node_give("model2", model(net_list_unet(&unet, "model.diffusion_model."), true));
    node_set("time_embed.", "0.25");
    node_set(nino_name_of("input_blocks.1%s", dot).s, "0.5");
    node_set(nino_name_of("middle_block.2%s", dot).s, "0");
    node_set("out.", "0.75");
    node_go();
    expect_share("time_embed.2.weight", 0.25);
    expect_share("input_blocks.0.0.weight", 1);
    expect_share("input_blocks.1.0.in_layers.2.weight", 0.5);
    expect_share("middle_block.0.in_layers.2.weight", 1);
    expect_share("middle_block.2.out_layers.3.weight", 0);
    expect_share("output_blocks.0.0.in_layers.2.weight", 1);
    expect_share("out.2.weight", 0.75);
}

static void flux(void)
{
    static const net_flux tiny = { 64, 32, 2, 2, 16, 24, 12, true };
    node_new("ModelMergeFlux1");
    node_give("model1", model(net_list_flux(&tiny, NULL), false));
    node_give("model2", model(net_list_flux(&tiny, NULL), true));
    node_set("img_in.", "0.5");
    node_set("double_blocks.1.", "0.25");
    node_set("single_blocks.0.", "0");
    node_set("final_layer.", "0.125");
    node_go();
    expect_share("img_in.weight", 0.5);
    expect_share("guidance_in.in_layer.weight", 1);
    expect_share("double_blocks.0.img_mlp.0.weight", 1);
    expect_share("double_blocks.1.txt_attn.qkv.weight", 0.25);
    expect_share("single_blocks.0.linear1.weight", 0);
    expect_share("single_blocks.1.linear2.weight", 1);
    expect_share("final_layer.linear.weight", 0.125);
    node_set("single_blocks.37.", "0.5"); // of the real size: not in this one
    node_go();
    expect_share("single_blocks.1.linear2.weight", 1);
}

// The positions have no dot behind their name; the first share is theirs all the same.
static void sd3(const char *class_type)
{
    static const net_sd3 tiny = { 64, 3, 96, 24, 20, 8, 1, true };
    node_new(class_type);
    node_give("model1", model(net_list_sd3(&tiny, NULL), false));
    node_give("model2", model(net_list_sd3(&tiny, NULL), true));
    node_set("pos_embed.", "0.5");
    node_set("t_embedder.", "0.25");
    node_set("joint_blocks.1.", "0");
    node_set("final_layer.", "0.125");
    node_go();
    expect_share("pos_embed", 0.5);
    expect_share("x_embedder.proj.weight", 1);
    expect_share("t_embedder.mlp.2.weight", 0.25);
    expect_share("joint_blocks.0.x_block.attn2.qkv.weight", 1);
    expect_share("joint_blocks.1.context_block.mlp.fc1.weight", 0);
    expect_share("joint_blocks.2.x_block.attn.proj.weight", 1);
    expect_share("final_layer.linear.weight", 0.125);
}

// Rows fill the struct without holes, one number each; ComfyUI's counts.
static void tables(void)
{
    static const struct {
        const char *name;
        int n;
    } want[] = { { "ModelMergeSD1", 30 },    { "ModelMergeSD2", 30 },
                 { "ModelMergeSDXL", 24 },   { "ModelMergeFlux1", 63 },
                 { "ModelMergeSD3_2B", 30 }, { "ModelMergeSD35_Large", 44 },
                 { "ModelMergeWAN2_1", 46 } };
    for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
        const nino_node_def *d = nino_node_find(want[k].name, NULL);
        int n = 0;
        CHECK(d);
        for (; d->params[n].key; n++)
            CHECK(d->params[n].offset == (size_t) n * sizeof(double) && d->params[n].def.f == 1);
        CHECK(n == want[k].n);
    }
}

int main(void)
{
    node_open();
    tables();
    unets("ModelMergeSD1", ".");
    unets("ModelMergeSDXL", "");
    flux();
    sd3("ModelMergeSD3_2B");
    sd3("ModelMergeSD35_Large");
    node_close();
    return 0;
}
