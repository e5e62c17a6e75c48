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
