// Allocation failures while autoencoders, vision networks and style models are read: what was read
// until then goes with them, and one clear error comes out. (Diffusion networks, text encoders and
// TAEHV: networks.c, clip.c, video.c.)
#include "tests/oom.h"
#include "tests/random_net.h"

#include "core/model/clip/clip_vision.h"
#include "core/model/clip/style_model.h"
#include "core/model/text_block.h"
#include "core/model/unet/unet.h"
#include "core/model/vae/vae.h"
#include "tests/random_text.h"
#include "tests/random_tiny.h"
#include "tests/random_wan.h"

static test_dir dir;
static nino_weights *file;
static nino_error err;

static void check_status(nino_status st, bool is_there, int may_fail)
{
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM && err.code == NINO_ERR_NOMEM));
    CHECK(is_there == (st == NINO_OK));
}

static void read_vae(int may_fail)
{
    nino_vae *v = NULL;
    const nino_status st = nino_vae_load(file, "test", &v, &err);
    check_status(st, v != NULL, may_fail);
    nino_vae_unref(&v);
}

static void read_vision(int may_fail)
{
    nino_clip_vision *v = NULL;
    const nino_status st = nino_clip_vision_load(file, "", "test", &v, &err);
    check_status(st, v != NULL, may_fail);
    nino_clip_vision_unref(&v);
}

static void read_style(int may_fail)
{
    nino_style *m = NULL;
    const nino_status st = nino_style_load(file, "test", &m, &err);
    check_status(st, m != NULL, may_fail);
    nino_style_unref(&m);
}

// The mask of the tokens that count, as text encoders make it for each prompt.
static void make_mask(int may_fail)
{
    static const bool attend[] = { true, false, true };
    const long at = oom_pause();
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s != NULL);
    oom_resume(at);
    nino_tensor *t = nino_attend_bias(s, 3, attend);
    CHECK(t || (may_fail && nino_stream_status(s, NULL) == NINO_ERR_NOMEM));
    nino_unref(t);
    const long end = oom_pause();
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    oom_resume(end);
}

// A map that a Kohya patch of the UNet has made smaller gets the size of the one that it meets.
static void enlarge(int may_fail)
{
    const long at = oom_pause();
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3, 2));
    CHECK(s && a);
    for (int i = 0; i < 12; i++)
        nino_array_f32(a)[i] = (float) i;
    nino_tensor *small = nino_upload(s, a, NINO_F32);
    oom_resume(at);
    nino_tensor *t = unet_patch_up(s, small, 5, 4);
    CHECK(t || (may_fail && nino_stream_status(s, NULL) == NINO_ERR_NOMEM));
    nino_unref(t);
    const long end = oom_pause();
    nino_array_unref(&a);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    oom_resume(end);
}

// In the file that was just written.
static void fail_each(const char *what, void (*read)(int may_fail))
{
    if (!file)
        file = test_open("%s/file", dir.path);
    printf("  %s: %ld allocations\n", what, oom_each(read));
    nino_weights_unref(&file);
}

int main(void)
{
    const random_vae kl = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .with_encoder = true
    };
    const random_tiny tiny = { 4, 2, 1, 4, true, "taesd_encoder.", "taesd_decoder." };
    random_text clip = { .width = 16, .layers = 2, .mlp = 16, .patch = 4, .side = 2 };
    net_list style = { 0 };
    char path[64];
    dir = test_dir_create();
    CHECK_OK(random_vae_save(kl, dir.path, "file", &err), err);
    fail_each("AutoencoderKL", read_vae);
    CHECK_OK(random_tiny_save(&tiny, dir.path, "file", &err), err);
    fail_each("TAESD", read_vae);
    nino_vae *wan = wan_make(&dir, "file", true, false, 4);
    nino_vae_unref(&wan);
    fail_each("Wan's VAE", read_vae);
    clip.has_projection = true;
    clip.projection = 8;
    for (int i = 0; i < 2; i++) {
        clip.is_open = i; // stacked q, k and v, a projection to be turned
        file = random_text_file(&dir, "file", &clip, 1, NULL);
        fail_each(i ? "OpenCLIP's vision network" : "CLIP vision", read_vision);
    }
    net_linear(&style, 8, 4, true, "redux_up");
    net_linear(&style, 6, 8, true, "redux_down");
    snprintf(path, sizeof(path), "%s/file", dir.path);
    net_save(&style, path, NINO_F32, NET_RANDOM);
    fail_each("style model", read_style);
    printf("  a mask: %ld allocations\n", oom_each(make_mask));
    printf("  a larger map: %ld allocations\n", oom_each(enlarge));
    test_dir_remove(&dir, (const char *const[]){ "file", NULL });
    return 0;
}
