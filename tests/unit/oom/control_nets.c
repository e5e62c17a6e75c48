// Allocation failures while control networks are loaded, bound to a model and run: everything is
// freed, and one clear error comes out.
#include "tests/oom.h"

#include "core/model/control/control.h"
#include "tests/diffusion.h"

static const char *name;
static nino_weights *file;
static nino_model *model;
static nino_array *x, *hint, *context, *y;

static void test_load(int may_fail)
{
    nino_error err = { 0 };
    nino_control_net *c = NULL;
    const nino_status st = nino_control_load(file, name, &c, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK((c != NULL) == (st == NINO_OK));
    nino_control_unref(&c);
}

static void test_bind(int may_fail)
{
    const long at = oom_pause();
    nino_error err = { 0 };
    nino_control_net *c = NULL, *bound = NULL;
    CHECK_OK(nino_control_load(file, name, &c, &err), err);
    oom_resume(at);
    const nino_status st = nino_control_bind(c, model, &bound, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK((bound != NULL) == (st == NINO_OK));
    nino_control_unref(&bound);
    nino_control_unref(&c);
}

// Device, stream and network are made before failures begin.
static void test_run(int may_fail)
{
    const long at = oom_pause();
    static const float t = 0.5f;
    nino_error err = { 0 };
    nino_control_net *c = NULL;
    nino_control_hint read = { { NULL } };
    nino_residuals r = { .middle = NULL };
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s != NULL);
    CHECK_OK(nino_control_load(file, name, &c, &err), err);
    nino_forward in = { .timestep = &t, .guidance = 2 };
    in.x = test_up(s, x);
    in.context = test_up(s, context);
    in.y = test_up(s, y);
    oom_resume(at);
    c->prepare(s, c, test_up(s, hint), c->n_types ? 0 : -1, &read);
    c->forward(s, c, &in, &read, 0.5f, &r);
    const nino_status st = nino_stream_status(s, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    nino_residuals_release(&r);
    nino_control_hint_release(&read);
    nino_unref(in.x);
    nino_unref(in.context);
    nino_unref(in.y);
    nino_stream_destroy(&s);
    nino_control_unref(&c);
    nino_backend_close(&be);
}

static void check(const char *which, int64_t channels, int64_t width, int64_t pooled,
                  bool is_latent)
{
    name = which;
    printf("%s\n", which);
    file = test_open("tests/data/synth/%s.safetensors", which);
    printf("  load: %ld allocations\n", oom_each(test_load));
    if (model)
        printf("  bind: %ld allocations\n", oom_each(test_bind));
    x = test_values(NINO_SHAPE(1, 2, 2, channels), 1);
    hint = test_values(is_latent ? NINO_SHAPE(1, 2, 2, channels) : NINO_SHAPE(1, 16, 16, 3), 2);
    context = test_values(NINO_SHAPE(1, 2, width), 3);
    y = pooled ? test_values(NINO_SHAPE(1, pooled), 4) : NULL;
    if (!model)
        printf("  run: %ld allocations\n", oom_each(test_run));
    nino_array *all[] = { x, hint, context, y };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    nino_weights_unref(&file);
}

int main(void)
{
    check("control_sdxl_union", 4, 40, 48, false);
    check("control_t2i_light", 4, 8, 0, false);
    check("control_flux_union", 16, 32, 32, true);
    check("control_sd3", 16, 40, 24, true);
    nino_error err = { 0 };
    nino_diffusion *d = NULL;
    nino_weights *w = test_open("tests/data/synth/sdxl_unet_ch32.safetensors");
    CHECK_OK(nino_diffusion_load(w, "test", &d, &err), err);
    CHECK((model = nino_model_create(d)) != NULL);
    check("control_lora_sdxl", 4, 40, 48, false);
    nino_model_unref(&model);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    return 0;
}
