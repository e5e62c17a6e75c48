// Small Wan networks with random weights, and what an evaluation of them takes.
#pragma once
#include "tests/diffusion.h"

static const net_wan tiny_t2v __attribute__((unused)) = { 128, 160, 2, 16, 16, 20, 0, 0, 0 };
static const net_wan tiny_i2v __attribute__((unused)) = { 256, 96, 1, 36, 16, 20, 24, 0, 0 };
static const net_wan tiny_flf __attribute__((unused)) = { 128, 96, 1, 36, 16, 20, 24, 7, 0 };
static const net_wan tiny_vace __attribute__((unused)) = { 128, 96, 4, 16, 16, 20, 0, 0, 2 };
static const net_wan tiny_5b __attribute__((unused)) = { 128, 96, 2, 48, 48, 20, 0, 0, 0 };

static nino_error err;
static test_device dev;
static test_dir dir;

static inline nino_weights *made(net_list l, const char *file)
{
    return test_net_file(&dir, l, file);
}

typedef struct inputs { // everything an evaluation takes, random
    test_inputs in;
    nino_array *owned[4];
    float t[8];
} inputs;

static inline void fill(inputs *p, const nino_diffusion *d, int64_t n, int64_t h, int64_t w)
{
    const int c = d->format->channels, extra = d->in_channels - c;
    *p = (inputs){ .t = { 800, 300, 0, 550, 20, 999, 1, 400 } };
    p->owned[0] = test_values(NINO_SHAPE(n, 3, h, w, c), 3);
    p->owned[1] = test_values(NINO_SHAPE(n, 5, d->context_dim), 4);
    p->owned[2] = extra ? test_values(NINO_SHAPE(n, 3, h, w, extra), 6) : NULL;
    p->owned[3] = d->vision_dim ? test_values(NINO_SHAPE(n, 6, d->vision_dim), 7) : NULL;
    p->in = (test_inputs){ .x = p->owned[0],
                           .context = p->owned[1],
                           .concat = p->owned[2],
                           .vision = p->owned[3],
                           .timestep = p->t };
}

static inline void drop(inputs *p)
{
    for (int i = 0; i < 4; i++)
        nino_array_unref(&p->owned[i]);
}
