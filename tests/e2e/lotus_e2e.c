// Lotus from a picture to a picture in one step, told what it is to do by LotusConditioning, whose text
// encoder lies among the user's models: against torch (tests/data/make/lotus.py); and the numbers that
// tell it its task.
#include "tests/diffusion.h"
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = { { "lotus_own", "8", 1e-6 } };

static void folder(const char *name)
{
    char cmd[700];
    snprintf(cmd, sizeof(cmd), "mkdir -p '%s/%s'", flow_models(), name);
    CHECK(system(cmd) == 0);
}

// What the network makes of nothing, told these numbers. Norms over one channel each would not let
// them through, as those of the smallest UNets are.
static nino_array *answer(const char *data, const float *y)
{
    const float t = 999;
    test_device d;
    CHECK(test_device_open(&d, "ref", 0));
    nino_weights *w = test_open("%s/diffusion_models/wide.safetensors", flow_models());
    nino_weights *io = test_open("%s/synth/lotus_text_io.safetensors", data);
    nino_diffusion *net = test_diffusion(w, "lotus");
    nino_array *context = test_tensor(io, "conditioning", false);
    nino_array *task = nino_array_create(NINO_F32, NINO_SHAPE(1, 4));
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, 8, 8, 4));
    CHECK(task && x);
    memcpy(task->data, y, task->bytes);
    memset(x->data, 0, x->bytes);
    nino_stream_set_precision(d.s, NINO_PREC_F32);
    nino_array *out = test_forward(
        d.s, net, &(test_inputs){ .x = x, .context = context, .y = task, .timestep = &t });
    nino_array *all[] = { context, task, x };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
    test_device_close(&d);
    return out;
}

static nino_array *sampled(const char *data)
{
    nino_error err = { 0 };
    nino_array *got = NULL;
    nino_ctx *ctx = flow_open_with("ref", data, "/e2e_2026/input");
    nino_graph *g = flow_graph(FLOW_OF(
        "'1': {'class_type': 'UNETLoader', 'inputs': {'unet_name': 'wide.safetensors', "
        "'weight_dtype': 'default'}}",
        "'2': {'class_type': 'LotusConditioning', 'inputs': {}}",
        "'4': {'class_type': 'DisableNoise', 'inputs': {}}",
        "'5': {'class_type': 'BasicGuider', 'inputs': {'model': ['1', 0], 'conditioning': ['2', "
        "0]}}",
        "'6': {'class_type': 'KSamplerSelect', 'inputs': {'sampler_name': 'euler'}}",
        "'7': {'class_type': 'SetFirstSigma', 'inputs': {'sigmas': ['10', 0], 'sigma': 10000}}",
        "'9': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
        "'batch_size': 1}}",
        "'10': {'class_type': 'BasicScheduler', 'inputs': {'model': ['1', 0], 'scheduler': "
        "'normal', 'steps': 1, 'denoise': 1}}",
        "'8': {'class_type': 'SamplerCustomAdvanced', 'inputs': {'noise': ['4', 0], 'guider': "
        "['5', 0], 'sampler': ['6', 0], 'sigmas': ['7', 0], 'latent_image': ['9', 0]}}",
        "'11': {'class_type': 'SaveLatent', 'inputs': {'samples': ['8', 0], 'filename_prefix': "
        "'l'}}"));
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    nino_weights *w = test_open("%s", r.path[0]);
    CHECK_OK(nino_latent_load(w, &got, &err), err);
    for (int64_t i = 0; i < nino_shape_count(&got->shape); i++)
        nino_array_f32(got)[i] *= 0.18215f;
    nino_weights_unref(&w);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return got;
}

static void check_task(const char *data)
{
    static const float task[] = { 0.84147098f, 0, 0.54030231f, 1 }, none[4];
    const net_unet unet = { 64, 1, { 1 }, { 1 }, 1, 32, 4, 4, 4, true };
    char path[600];
    folder("diffusion_models");
    snprintf(path, sizeof(path), "%s/diffusion_models/wide.safetensors", flow_models());
    net_list l = net_list_unet(&unet, NULL);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    nino_array *got = sampled(data), *want = answer(data, task), *other = answer(data, none);
    const double far = test_nmse(got, want);
    printf("task: nmse %.1e\n", far);
    CHECK(far < 1e-9 && test_nmse(other, want) > 1e-4);
    nino_array_unref(&got);
    nino_array_unref(&want);
    nino_array_unref(&other);
}

int main(void)
{
    const char *data = test_data_next(NULL);
    char cmd[1400];
    folder("text_encoders");
    snprintf(cmd, sizeof(cmd), "cp '%s/synth/lotus_text.safetensors' '%s/text_encoders'", data,
             flow_models());
    CHECK(system(cmd) == 0);
    check_task(data);
    return e2e_check_flows(data, flows, sizeof(flows) / sizeof(flows[0]));
}
