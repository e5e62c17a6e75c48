// Files of blockwise ControlNets: what is read of them, and what of damaged and other ones is said.
#include "core/model/block_control/block_control.h"
#include "core/model/detect.h"
#include "tests/diffusion.h"

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
    CHECK_OK(nino_block_net_load(w, "a", &n, &err), err);
    CHECK(n->hidden == WIDTH && n->n_blocks == BLOCKS && n->has_mask == has_mask);
    nino_block_net *same = nino_block_net_ref(n);
    nino_block_net_unref(&same);
    CHECK(!same && n->refs == 1);
    nino_block_net_unref(&n);
    nino_weights_unref(&w);
}

static void refused(net_list l, nino_status want, const char *words)
{
    nino_error err = { 0 };
    nino_block_net *n = NULL;
    nino_weights *w = test_net_file(&dir, l, "b.safetensors");
    const nino_status st = nino_block_net_load(w, "b.safetensors", &n, &err);
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

int main(void)
{
    static const char *const files[] = { "a.safetensors", "b.safetensors", NULL };
    net_list z = other("control_all_x_embedder.2-1");
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
    refused(z, NINO_ERR_UNSUPPORTED, "model_patch_z_image");
    refused(other("audio_proj.proj1"), NINO_ERR_FORMAT, "not a known model patch");
    test_dir_remove(&dir, files);
    return 0;
}
