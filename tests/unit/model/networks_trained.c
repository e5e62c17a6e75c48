// How files of diffusion networks say how they were trained, and which files and inputs are
// refused.
#include "tests/networks.h"

// ---- how it was trained ----------------------------------------------------------------------
static nino_weights *marked(const net_unet *u, const char *a, const char *b, float value)
{
    nino_weights *w = made_unet(u, NULL);
    const char *const marks[] = { a, b };
    for (int i = 0; i < nino_weights_count(w); i++)
        put(tensor(w, nino_weights_at(w, i)), nino_weights_at(w, i)->name);
    for (int i = 0; i < 2 && marks[i]; i++) {
        nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(1));
        CHECK(m != NULL);
        nino_array_f32(m)[0] = i ? 0.01f : value;
        put(m, marks[i]);
    }
    nino_weights_unref(&w);
    return save_copy("marked");
}

static void check_sampling(nino_weights *w, const char *family, nino_prediction prediction,
                           nino_schedule_kind schedule, double sigma_max, const char *format)
{
    nino_diffusion *d = test_diffusion(w, family);
    CHECK(d->sampling->prediction == prediction && d->sampling->schedule == schedule);
    CHECK(fabs(d->sampling->sigma_max / sigma_max - 1) < 1e-5);
    CHECK_STR(d->format->name, format);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

static void test_sampling(void)
{
    const nino_schedule_kind discrete = NINO_SCHEDULE_DISCRETE, edm = NINO_SCHEDULE_EDM;
    check_sampling(made_unet(&tiny_xl, NULL), "sdxl", NINO_PRED_EPS, discrete, 14.614643, "sdxl");
    check_sampling(marked(&tiny_xl, "v_pred", NULL, 0), "sdxl", NINO_PRED_V, discrete, 14.614643,
                   "sdxl");
    check_sampling(marked(&tiny_xl, "v_pred", "ztsnr", 0), "sdxl", NINO_PRED_V, discrete, 4518.757,
                   "sdxl");
    check_sampling(marked(&tiny_xl, "edm_vpred.sigma_max", "edm_vpred.sigma_min", 500), "sdxl",
                   NINO_PRED_V, edm, 500, "sdxl");
    check_sampling(marked(&tiny_xl, "edm_mean", "edm_std", 0), "sdxl", NINO_PRED_EDM, edm, 80,
                   "sdxl_playground");
    // SD 2: the spread of one bias in the last transformer, where the full model has it
    net_unet sd2 = { 32, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 0 }, 1, 1024, 0, 4, 4, true };
    check_sampling(made_unet(&sd2, NULL), "sd2", NINO_PRED_EPS, discrete, 14.614643, "sd15");
    nino_weights *w = made_unet(&sd2, NULL);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = tensor(w, t);
        for (int k = 0;
             k < 32 && strstr(t->name, "output_blocks.11.1.transformer_blocks.0.norm1.b"); k++)
            nino_array_f32(a)[k] = k % 2 ? 0.5f : 0.3f;
        put(a, t->name);
    }
    nino_weights_unref(&w);
    check_sampling(save_copy("marked"), "sd2", NINO_PRED_V, discrete, 14.614643, "sd15");
    sd2.in = 9; // inpainting models of SD 2 were trained on eps whatever the bias
    check_sampling(made_unet(&sd2, NULL), "sd2", NINO_PRED_EPS, discrete, 14.614643, "sd15");
}

// A network with marks at the top, or below the prefix that its names have; the first holds `value`,
// n times, the second 0.01.
static nino_weights *with_marks(const char *const *marks, const char *prefix, int n, float value)
{
    nino_weights *w = made_unet(&tiny_xl, "model.diffusion_model.");
    for (int i = 0; i < nino_weights_count(w); i++)
        put(tensor(w, nino_weights_at(w, i)), nino_weights_at(w, i)->name);
    for (int i = 0; i < 2 && marks[i]; i++) {
        nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(i ? 1 : n));
        CHECK(m != NULL);
        for (int k = 0; k < (i ? 1 : n); k++)
            nino_array_f32(m)[k] = i ? 0.01f : value;
        put(m, nino_name_of("%s%s", prefix, marks[i]).s);
    }
    nino_weights_unref(&w);
    return save_copy("marked");
}

static void test_marks(void)
{
    static const struct {
        const char *mark[2];
        int n;
        float value;
        nino_prediction prediction;
        double sigma_min, sigma_max, sigma_data;
        const char *format;
    } t[] = {
        { { "edm_vpred.sigma_max" }, 1, 500, NINO_PRED_V, 0.002, 500, 1, "sdxl" },
        { { "edm_vpred.sigma_max" }, 2, 500, NINO_PRED_V, 0.002, 120, 1, "sdxl" }, // no number
        { { "edm_vpred.sigma_max", "edm_vpred.sigma_min" },
          1,
          90,
          NINO_PRED_V,
          0.01,
          90,
          1,
          "sdxl" },
        { { "edm_vpred.sigma_min" }, 1, 0.5f, NINO_PRED_EPS, 0.029167, 14.614643, 1, "sdxl" },
        { { "edm_mean", "edm_std" }, 1, 1, NINO_PRED_EDM, 0.002, 80, 0.5, "sdxl_playground" },
        { { "edm_mean" }, 1, 1, NINO_PRED_EPS, 0.029167, 14.614643, 1, "sdxl" },
        { { "edm_std" }, 1, 1, NINO_PRED_EPS, 0.029167, 14.614643, 1, "sdxl" },
        { { "ztsnr" }, 1, 1, NINO_PRED_EPS, 0.029167, 14.614643, 1, "sdxl" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        for (int below = 0; below < 2; below++) {
            const char *prefix = below ? "model.diffusion_model." : "";
            nino_weights *w = with_marks(t[i].mark, prefix, t[i].n, t[i].value);
            nino_diffusion *d = test_diffusion(w, "sdxl");
            const nino_sampling *m = d->sampling;
            CHECK(m->prediction == t[i].prediction);
            CHECK(fabs((double) m->sigma_min / t[i].sigma_min - 1) < 1e-4);
            CHECK(fabs((double) m->sigma_max / t[i].sigma_max - 1) < 1e-4);
            CHECK(m->sigma_data == t[i].sigma_data);
            CHECK_STR(d->format->name, t[i].format);
            nino_diffusion_unref(&d);
            nino_weights_unref(&w);
        }
}

// SD 2 whose deciding bias has `other` everywhere but at `at`, and every second value `by` higher.
static nino_weights *with_bias(float other, float by, int at, float value, bool is_diffusers)
{
    const net_unet u = { 32, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 0 }, 1, 1024, 0, 4, 4, true };
    static const char name[] = "output_blocks.11.1.transformer_blocks.0.norm1.bias";
    nino_weights *w = made_unet(&u, NULL);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = tensor(w, t);
        for (int k = 0; k < 32 && !strcmp(t->name, name); k++)
            nino_array_f32(a)[k] = k == at ? value : other + (k % 2 ? by : 0);
        put(a, t->name);
    }
    if (is_diffusers) { // read by both names; where there is one of ComfyUI's, that counts
        nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(32));
        for (int k = 0; a && k < 32; k++)
            nino_array_f32(a)[k] = k % 2 ? 5 : 0;
        put(a, "up_blocks.3.attentions.2.transformer_blocks.0.norm1.bias");
    }
    nino_weights_unref(&w);
    return save_copy("marked");
}

// The deviation that decides is 0.09, about whatever mean, and of all values.
static void test_spread(void)
{
    static const struct {
        float other, by, value;
        int at; // -1: nowhere
        nino_prediction want;
    } t[] = {
        { 0.4f, 0.179f, 0, -1, NINO_PRED_EPS },  { 0.4f, 0.181f, 0, -1, NINO_PRED_V },
        { -3, 0.179f, 0, -1, NINO_PRED_EPS },    { -3, 0.181f, 0, -1, NINO_PRED_V },
        { 0, 0, 0.514f, 0, NINO_PRED_EPS },      { 0, 0, 0.520f, 0, NINO_PRED_V },
        { 0, 0, 0.514f, 31, NINO_PRED_EPS },     { 0, 0, 0.520f, 31, NINO_PRED_V },
        { 0.25f, 0, -0.264f, 0, NINO_PRED_EPS }, { 0.25f, 0, -0.27f, 31, NINO_PRED_V },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        check_sampling(with_bias(t[i].other, t[i].by, t[i].at, t[i].value, i == 0), "sd2",
                       t[i].want, NINO_SCHEDULE_DISCRETE, 14.614643, "sd15");
}

// ---- refused ---------------------------------------------------------------------------------
static nino_weights *damaged(net_list l, const char *name, int64_t rows)
{
    return made(test_net_damaged(l, name, rows), "damaged");
}

static void test_wrong_files(void)
{
    static const char *const unet[] = {
        "time_embed.2.weight",
        "input_blocks.1.0.in_layers.0.weight",
        "input_blocks.1.0.in_layers.2.weight",
        "input_blocks.1.1.proj_in.weight",
        "input_blocks.1.1.norm.weight",
        "middle_block.1.transformer_blocks.0.attn1.to_q.weight",
        "middle_block.2.out_layers.3.weight",
        "output_blocks.3.0.skip_connection.weight",
        "output_blocks.2.1.transformer_blocks.0.ff.net.2.weight",
        "output_blocks.5.0.emb_layers.1.weight",
        "out.0.weight",
        "out.2.weight",
    };
    static const char *const flux[] = {
        "img_in.weight",
        "txt_in.weight",
        "vector_in.out_layer.weight",
        "double_blocks.0.img_mod.lin.weight",
        "double_blocks.1.txt_attn.qkv.weight",
        "double_blocks.1.img_attn.norm.query_norm.scale",
        "single_blocks.0.linear1.weight",
        "single_blocks.1.linear2.weight",
        "final_layer.linear.weight",
        "final_layer.adaLN_modulation.1.weight",
    };
    for (size_t i = 0; i < sizeof(unet) / sizeof(unet[0]); i++)
        test_refused_net(damaged(net_list_unet(&tiny_sd, NULL), unet[i], 0), NINO_ERR_FORMAT,
                         unet[i]);
    for (size_t i = 0; i < sizeof(flux) / sizeof(flux[0]); i++)
        test_refused_net(damaged(net_list_flux(&tiny_flux, NULL), flux[i], 0), NINO_ERR_FORMAT,
                         flux[i]);
    test_refused_net(damaged(net_list_unet(&tiny_sd, NULL), "input_blocks.3.0.op.weight", 0),
                     NINO_ERR_FORMAT, "input_blocks.3.0 is missing");
    test_refused_net(
        damaged(net_list_unet(&tiny_sd, NULL), "input_blocks.2.0.in_layers.2.weight", 31),
        NINO_ERR_FORMAT, "input_blocks.2.0.");
    test_refused_net(damaged(net_list_unet(&tiny_sd, NULL), "out.2.weight", 5), NINO_ERR_FORMAT,
                     "out.2");
    test_refused_net(
        damaged(net_list_flux(&tiny_flux, NULL), "double_blocks.0.img_attn.qkv.weight", 300),
        NINO_ERR_FORMAT, "double_blocks.0.img_attn.qkv.weight");
    test_refused_net(
        damaged(net_list_flux(&tiny_flux, NULL), "double_blocks.0.txt_attn.qkv.weight", 512),
        NINO_ERR_FORMAT, "double_blocks.0.txt_attn.qkv.weight has 512 rows");
    test_refused_net(
        damaged(net_list_flux(&tiny_flux, NULL), "single_blocks.0.modulation.lin.weight", 512),
        NINO_ERR_FORMAT, "single_blocks.0.modulation.lin.weight has 512 rows");
    test_refused_net(damaged(net_list_flux(&tiny_flux, NULL), "final_layer.linear.weight", 60),
                     NINO_ERR_FORMAT, "final_layer.linear");
    // other families, and files without a diffusion model
    const net_list empty = { 0 };
    net_list l = empty;
    net_linear(&l, 8, 8, true, "mlp_t5.0");
    test_refused_net(made(l, "other"), NINO_ERR_UNSUPPORTED, "hunyuan_dit");
    l = empty;
    net_linear(&l, 8, 8, true, "text_model.encoder.layers.0.self_attn.q_proj");
    test_refused_net(made(l, "other"), NINO_ERR_FORMAT, "a text encoder");
    l = empty;
    net_linear(&l, 8, 8, true, "something");
    test_refused_net(made(l, "other"), NINO_ERR_FORMAT, "no tensor name of a known network");
    net_unet lotus = tiny_sd;
    lotus.y = 4;
    lotus.in = 8;
    test_refused_net(made(net_list_unet(&lotus, NULL), "other"), NINO_ERR_UNSUPPORTED,
                     "a Lotus of 8 channels");
    l = net_list_unet(&tiny_sd, NULL);
    net_linear(&l, 8, 8, false, "label_emb");
    test_refused_net(made(l, "other"), NINO_ERR_UNSUPPORTED, "the x4 upscaler");
}

static void test_wrong_inputs(void)
{
    nino_weights *w = made_unet(&tiny_xl, NULL);
    nino_diffusion *d = test_diffusion(w, "sdxl");
    inputs p;
    fill(&p, d, 1, 4, 4, 4);
    nino_array *wrong = test_values(NINO_SHAPE(1, 4, 39), 1);
    test_inputs in = p.in;
    in.context = wrong;
    test_refused_inputs(dev.s, d, &in, "39 wide where 40");
    in = p.in;
    in.y = NULL;
    test_refused_inputs(dev.s, d, &in, "pooled");
    in = p.in;
    in.concat = p.in.x;
    test_refused_inputs(dev.s, d, &in, "takes 4 channels");
    nino_array *pair = test_values(NINO_SHAPE(2, 4, 40), 1);
    in = p.in;
    in.context = pair;
    test_refused_inputs(dev.s, d, &in, "batch");
    nino_array_unref(&wrong);
    nino_array_unref(&pair);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const files[] = { "ldm", "bfl", "marked", "damaged", "other", NULL };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_sampling();
    test_marks();
    test_spread();
    test_wrong_files();
    test_wrong_inputs();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
