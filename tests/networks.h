// Small UNets and FLUX networks with random weights, what an evaluation of them takes, and files
// made from other ones' tensors.
#pragma once
#include "tests/diffusion.h"

static const net_unet tiny_sd
    __attribute__((unused)) = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };
static const net_unet tiny_xl
    __attribute__((unused)) = { 32, 3, { 1, 2, 2 }, { 0, 2, 1 }, 2, 40, 20, 4, 4, true };
static const net_unet tiny_short
    __attribute__((unused)) = { 32, 2, { 1, 1 }, { 1, 0 }, -1, 24, 0, 9, 4, false };
static const net_flux tiny_flux __attribute__((unused)) = { 128, 64, 2, 2, 16, 20, 12, true };
static const net_flux tiny_fill __attribute__((unused)) = { 128, 64, 1, 1, 96, 20, 12, true };
static const net_flux tiny_fast __attribute__((unused)) = { 64, 32, 1, 1, 16, 20, 12, false };

static nino_error err;
static test_device dev;
static test_dir dir;

static inline nino_weights *made(net_list l, const char *file)
{
    return test_net_file(&dir, l, file);
}

static inline nino_weights *made_unet(const net_unet *u, const char *prefix)
{
    return made(net_list_unet(u, prefix), "ldm");
}

static inline nino_weights *made_flux(const net_flux *f, const char *prefix)
{
    return made(net_list_flux(f, prefix), "bfl");
}

// Everything an evaluation takes, random, of a size in cells.
typedef struct inputs {
    test_inputs in;
    nino_array *owned[8];
    float t[2];
} inputs;

static inline void fill(inputs *p, const nino_diffusion *d, int64_t n, int64_t h, int64_t w,
                        int64_t tokens)
{
    const int c = d->format->channels, extra = d->in_channels - c;
    *p = (inputs){ .t = { 0.8f, 0.3f } };
    for (int i = 0; i < 2 && d->kind == NINO_DIFFUSION_UNET; i++)
        p->t[i] *= 999;
    p->owned[0] = test_values(NINO_SHAPE(n, h, w, c), 3);
    p->owned[1] = test_values(NINO_SHAPE(n, tokens, d->context_dim), 4);
    p->owned[2] = d->y_dim ? test_values(NINO_SHAPE(n, d->y_dim), 5) : NULL;
    p->owned[3] = extra ? test_values(NINO_SHAPE(n, h, w, extra), 6) : NULL;
    p->in = (test_inputs){ .x = p->owned[0],
                           .context = p->owned[1],
                           .y = p->owned[2],
                           .concat = p->owned[3],
                           .timestep = p->t,
                           .guidance = 3.5f };
}

static inline void drop(inputs *p)
{
    for (int i = 0; i < 8; i++)
        nino_array_unref(&p->owned[i]);
}

static inline nino_array *run(const nino_diffusion *d, int64_t n, int64_t h, int64_t w)
{
    inputs p;
    fill(&p, d, n, h, w, 5);
    nino_array *out = test_forward(dev.s, d, &p.in);
    CHECK(nino_shape_equal(&out->shape, &p.in.x->shape));
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    drop(&p);
    return out;
}

// ---- a file being made from another one's tensors ---------------------------------------------
typedef struct copy {
    nino_st_entry e[1024];
    char names[1024][160];
    int n;
} copy;

static copy to;

static inline void put(nino_array *a, const char *name)
{
    CHECK(to.n < 1024);
    const int len = snprintf(to.names[to.n], sizeof(to.names[0]), "%s", name);
    CHECK(len < (int) sizeof(to.names[0]));
    to.e[to.n] = (nino_st_entry){ to.names[to.n], a };
    to.n++;
}

static inline nino_weights *save_copy(const char *file)
{
    CHECK_OK(nino_st_save(dir.path, file, false, to.e, to.n, NULL, 0, &err), err);
    for (int i = 0; i < to.n; i++) {
        nino_array *a = (nino_array *) to.e[i].array;
        nino_array_unref(&a);
    }
    to.n = 0;
    return test_open("%s/%s", dir.path, file);
}

static inline nino_array *tensor(const nino_weights *w, const nino_tensor_info *t)
{
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    return a;
}
