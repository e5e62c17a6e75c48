// Allocation failures while diffusion networks are loaded and run: everything is freed, and one
// clear error comes out.
#include "tests/oom.h"
#include "tests/random_dit.h"

#include "tests/diffusion.h"

static nino_weights *file;
static nino_diffusion *net;
static nino_array *x, *context, *y, *concat, *vision;
static nino_array *ref;

static void test_load(int may_fail)
{
    nino_error err = { 0 };
    nino_diffusion *d = NULL;
    const nino_status st = nino_diffusion_load(file, "test", &d, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK((d != NULL) == (st == NINO_OK));
    nino_diffusion_unref(&d);
}

// Device and stream are made before failures begin: their own are tested elsewhere.
static void test_run(int may_fail)
{
    const long at = oom_pause();
    nino_error err = { 0 };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s != NULL);
    nino_diffusion *d = NULL; // a new one, which has not made its table of positions yet
    CHECK_OK(nino_diffusion_load(file, "test", &d, &err), err);
    oom_resume(at);
    static const float t = 0.5f;
    const test_inputs in = { .x = x,
                             .context = context,
                             .y = y,
                             .concat = concat,
                             .vision = vision,
                             .ref = { ref },
                             .n_refs = ref ? 1 : 0,
                             .ref_method = NINO_REFS_INDEX_TIMESTEP_ZERO,
                             .timestep = &t,
                             .guidance = 2 };
    nino_array *out = test_forward_or(s, d, &in, &err);
    CHECK(out || (may_fail && err.code == NINO_ERR_NOMEM));
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_diffusion_unref(&d);
    nino_backend_close(&be);
}

static void check_network(net_list l, bool is_flux)
{
    char path[64];
    nino_error err = { 0 };
    const test_dir dir = test_dir_create();
    snprintf(path, sizeof(path), "%s/net", dir.path);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    file = test_open("%s", path);
    printf("  load: %ld allocations\n", oom_each(test_load));
    CHECK_OK(nino_diffusion_load(file, "test", &net, &err), err);
    const int c = net->format->channels, extra = net->in_channels - c;
    const bool is_wan = net->kind == NINO_DIFFUSION_WAN;
    x = test_values(is_wan ? NINO_SHAPE(1, 2, 2, 3, c) : NINO_SHAPE(1, 2, 3, c), 1);
    concat = is_wan ? test_values(NINO_SHAPE(1, 2, 2, 3, extra), 5) : NULL;
    vision = net->vision_dim ? test_values(NINO_SHAPE(1, 3, net->vision_dim), 6) : NULL;
    context = test_values(NINO_SHAPE(1, 2, net->context_dim), 2);
    y = net->y_dim ? test_values(NINO_SHAPE(1, net->y_dim), 3) : NULL;
    ref = is_flux ? test_values(NINO_SHAPE(1, 2, 2, c), 4) : NULL;
    printf("  run: %ld allocations\n", oom_each(test_run));
    nino_array_unref(&x);
    nino_array_unref(&context);
    nino_array_unref(&y);
    nino_array_unref(&concat);
    nino_array_unref(&vision);
    nino_array_unref(&ref);
    nino_diffusion_unref(&net);
    nino_weights_unref(&file);
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
}

int main(void)
{
    const net_unet sd = { 32, 1, { 1 }, { 1 }, -1, 8, 4, 4, 4, true };
    const net_flux flux = { 64, 32, 1, 1, 16, 8, 8, true };
    const net_flux2 flux2 = { 64, 32, 1, 1, 128, 8, 16, true };
    const net_zimage zimage = { 32, 16, 1, 1, 16, 8, 16, 16 };
    const net_wan wan = { 128, 8, 1, 36, 16, 8, 8, 4, 0 };
    check_network(net_list_unet(&sd, NULL), false);
    check_network(net_list_flux(&flux, NULL), true);
    check_network(net_list_wan(&wan, NULL), false);
    check_network(net_list_flux2(&flux2, NULL), true);
    check_network(net_list_zimage(&zimage, NULL), false);
    return 0;
}
