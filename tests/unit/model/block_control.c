// Files of models/model_patches, blockwise ControlNets of Qwen-Image and Fun ControlNets of Z-Image:
// what is read of them, and what of damaged and other ones is said.
#include "core/model/diffusion/model_patch.h"
#include "core/model/detect.h"
#include "core/model/zimage/zimage.h"
#include "tests/diffusion.h"
#include "tests/random_dit.h"

enum { WIDTH = 12, BLOCKS = 3 };

static test_dir dir;

static net_list listed(int64_t features)
{
    const int64_t width = WIDTH;
    char name[64];
    net_list l = { 0 };
    net_linear(&l, WIDTH, features, true, "img_in");
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof(name), "controlnet_blocks.%d.%c_rms.weight", i, "xy"[k]);
            net_add(&l, name, 1, &width);
        }
        net_linear(&l, WIDTH, WIDTH, true, "controlnet_blocks.%d.input_proj", i);
        net_linear(&l, WIDTH, WIDTH, true, "controlnet_blocks.%d.output_proj", i);
    }
    return l;
}

static void check_read(int64_t features, bool has_mask)
{
    nino_error err = { 0 };
    nino_block_net *n = NULL;
    nino_detected d;
    nino_weights *w = test_net_file(&dir, listed(features), "a.safetensors");
    nino_detect(w, &d);
    CHECK_STR(d.control, NINO_CONTROL_BLOCKS);
    CHECK_OK(nino_model_patch_load(w, "a", &n, &err), err);
    CHECK(n->hidden == WIDTH && n->n_blocks == BLOCKS && n->has_mask == has_mask);
    nino_block_net *same = nino_block_net_ref(n);
    nino_block_net_unref(&same);
    CHECK(!same && n->refs == 1);
    nino_block_net_unref(&n);
    nino_weights_unref(&w);
}

// ---- Z-Image ---------------------------------------------------------------------------------
static const net_zimage fun = { 32, 16, 0, 2, 24, 0, 20, 0 };

static net_list fun_listed(int layers, int64_t features, bool answers)
{
    return net_list_zimage_fun(&fun, layers, features, answers);
}

static void check_fun(int layers, int64_t features, bool answers, const char *detail)
{
    nino_error err = { 0 };
    nino_block_net *n = NULL;
    nino_detected d;
    nino_weights *w = test_net_file(&dir, fun_listed(layers, features, answers), "a.safetensors");
    nino_detect(w, &d);
    CHECK_STR(d.control, NINO_CONTROL_ZIMAGE);
    CHECK_OK(nino_model_patch_load(w, "a", &n, &err), err);
    CHECK(n->hidden == fun.width && n->n_blocks == layers && n->has_inpaint == answers);
    CHECK(n->zimage->depth == fun.depth && n->zimage->time == fun.time);
    CHECK(n->zimage->refines == answers && !n->zimage->is_broken);
    CHECK_STR(n->detail, detail);
    nino_block_net_unref(&n);
    nino_weights_unref(&w);
}

static void refused(net_list l, nino_status want, const char *words)
{
    nino_error err = { 0 };
    nino_block_net *n = NULL;
    nino_weights *w = test_net_file(&dir, l, "b.safetensors");
    const nino_status st = nino_model_patch_load(w, "b.safetensors", &n, &err);
    const bool says = strstr(err.msg, words) || strstr(err.where, words);
    if (st != want || !says)
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, nino_status_name(st));
    CHECK(st == want && !n && says && !strchr(err.msg, '\n'));
    CHECK_STR(err.kind, "model");
    CHECK(strstr(err.where, "b.safetensors"));
    nino_weights_unref(&w);
}

static net_list other(const char *name)
{
    net_list l = { 0 };
    net_linear(&l, 4, 4, true, "%s", name);
    return l;
}

// Of fifteen layers without, or with another first size of, a tensor.
static void refused_fun(const char *tensor, int64_t rows, const char *words)
{
    refused(test_net_damaged(fun_listed(15, 132, true), tensor, rows), NINO_ERR_FORMAT, words);
}

static void check_damaged_fun(void)
{
    refused(fun_listed(4, 132, true), NINO_ERR_FORMAT, "4 control_layers");
    refused(fun_listed(0, 132, true), NINO_ERR_FORMAT, "0 control_layers");
    refused(fun_listed(6, 132, false), NINO_ERR_FORMAT, "132 features where 64 are needed");
    refused(fun_listed(15, 64, true), NINO_ERR_FORMAT, "64 features where 132 are needed");
    refused(fun_listed(15, 132, false), NINO_ERR_FORMAT, "control_noise_refiner.0.before_proj");
    refused_fun("control_noise_refiner.1.after_proj.weight", 0,
                "control_noise_refiner.1.after_proj");
    refused_fun("control_layers.7.after_proj.weight", 16, "control_layers.7.after_proj");
    refused_fun("control_layers.0.before_proj.weight", 0, "control_layers.0.before_proj");
    refused(
        test_net_damaged(fun_listed(15, 132, true), "control_layers.0.attention.q_norm.weight", 7),
        NINO_ERR_UNSUPPORTED, "heads of 7 channels in 32");
    refused_fun("control_layers.3.attention.q_norm.weight", 32,
                "control_layers.3.attention.q_norm");
    refused_fun("control_layers.2.attention.qkv.weight", 64, "control_layers.2.attention.qkv");
    refused_fun("control_layers.9.feed_forward.w3.weight", 8, "control_layers.9.feed_forward.w3");
    refused_fun("control_layers.0.adaLN_modulation.0.weight", 0, "adaLN_modulation.0");
    refused_fun("control_layers.5.adaLN_modulation.0.weight", 64,
                "control_layers.5.adaLN_modulation.0");
    refused_fun("control_all_x_embedder.2-1.bias", 8, "control_all_x_embedder.2-1");
}

int main(void)
{
    static const char *const files[] = { "a.safetensors", "b.safetensors", NULL };
    dir = test_dir_create();
    check_read(64, false);
    check_read(68, true);
    refused(listed(72), NINO_ERR_FORMAT, "72 features");
    refused(test_net_damaged(listed(64), "controlnet_blocks.1.output_proj.weight", 0),
            NINO_ERR_FORMAT, "controlnet_blocks.1.output_proj.weight");
    refused(test_net_damaged(listed(64), "controlnet_blocks.2.input_proj.weight", 8),
            NINO_ERR_FORMAT, "controlnet_blocks.2.input_proj");
    refused(test_net_damaged(listed(64), "controlnet_blocks.2.x_rms.weight", 8), NINO_ERR_FORMAT,
            "controlnet_blocks.2.x_rms");
    refused(test_net_damaged(listed(64), "img_in.weight", 0), NINO_ERR_FORMAT, "img_in");
    refused(other("weights"), NINO_ERR_FORMAT, "not a known model patch");
    refused(other("feature_embedder.mid_layer_norm"), NINO_ERR_UNSUPPORTED, "model_patch_uso");
    refused(other("audio_proj.proj1"), NINO_ERR_FORMAT, "not a known model patch");
    check_fun(6, 64, false, "Fun ControlNet of Z-Image, 6 layers");
    check_fun(3, 132, true,
              "Fun ControlNet of Z-Image, 3 layers, takes a mask and a picture to paint in");
    check_fun(15, 132, true,
              "Fun ControlNet of Z-Image, 15 layers, takes a mask and a picture to paint in");
    check_damaged_fun();
    test_dir_remove(&dir, files);
    return 0;
}
