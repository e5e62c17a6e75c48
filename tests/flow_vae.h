// Workflows of tests around one small VAE: the folders they run in and the network itself.
#pragma once
#include "tests/flow.h"
#include "tests/random_vae.h"
#include <sys/stat.h>

static const random_vae flow_small_vae = { .ch = 32,
                                           .mult = { 1, 2 },
                                           .n_levels = 2,
                                           .n_res = 1,
                                           .z = 4,
                                           .quant_convs = true,
                                           .dtype = NINO_F32,
                                           .seed = 5 };

// Saves v as models/SUB/NAME of the private folder.
static inline void flow_save_vae(random_vae v, const char *sub, const char *name)
{
    char dir[512], cmd[600];
    nino_error err = { 0 };
    snprintf(dir, sizeof(dir), "%s/models/%s", flow_temp(), sub);
    snprintf(cmd, sizeof(cmd), "mkdir -p %s %s/input", dir, flow_temp());
    CHECK(system(cmd) == 0);
    CHECK_OK(random_vae_save(v, dir, name, &err), err);
}

// Sockets of this test lie in a folder of its own.
static inline void flow_own_sockets(void)
{
    char dir[512];
    snprintf(dir, sizeof(dir), "%s/run", flow_temp());
    CHECK(mkdir(dir, 0700) == 0);
    setenv("XDG_RUNTIME_DIR", dir, 1);
}

// A context on ref over the private folder that viewers can attach to.
static inline nino_ctx *flow_open_serving(void)
{
    static char models[256], input[256], output[256];
    const char *roots[] = { models, NULL };
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    snprintf(input, sizeof(input), "%s/input", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const nino_job_options job = { NINO_JOB_OPTIONS_INIT, .models = roots, .input_dir = input,
                                   .output_dir = output, .no_profile = 1 };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "", .serve = 1,
                                .job = &job };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}
