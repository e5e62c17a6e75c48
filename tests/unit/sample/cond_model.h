// What one entry of conditioning tells a network: a run on a latent, its answer made and released, what it refuses.
#pragma once
#include <malloc.h>
#include <math.h>

#include "core/base/error.h"
#include "core/model/detect.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/test.h"

enum { B = 2, H = 3, W = 5, SIDE = 8, DIM = 256 };

static nino_error err;
static nino_diffusion net;
static nino_model model;
static nino_guider guider = { .model = &model };
static nino_guide_run r;
static nino_cond_model m;

static nino_array *counted(nino_shape shape, double from, double step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (from + step * (double) i);
    return a;
}

static void drop(nino_array *a) { nino_array_unref(&a); }

// A run on a latent of that shape of a model with `extra` channels beside it.
static void set_run(const char *format, int extra, nino_shape latent)
{
    const nino_latent_format *f = nino_latent_format_find(format);
    CHECK(f && latent.dim[latent.rank - 1] == f->channels);
    net = (nino_diffusion){ .format = f,
                            .in_channels = f->channels + extra,
                            .context_dim = 4,
                            .family = "fake",
                            .name = "fake.st" };
    model.format = f;
    r = (nino_guide_run){ .net = &net, .guider = &guider };
    nino_guide_set_shape(&r, &latent);
}

// A tensor that stays each time shows in what is in use, and so does the smallest array.
static void leaves_nothing(const nino_cond_entry *e, int kind)
{
    enum { TIMES = 64, LEAST = 32 };
    size_t before = 0;
    for (int i = 0; i < 2 * TIMES; i++) {
        nino_cond_model_make(&r, e, kind, &m, &err);
        nino_cond_model_release(&m);
        if (i == TIMES - 1)
            before = mallinfo2().uordblks; // 0 where a sanitizer has its own malloc
    }
    CHECK(mallinfo2().uordblks < before + TIMES * LEAST || !before);
}

static void make(const nino_cond_entry *e, int kind)
{
    leaves_nothing(e, kind);
    CHECK_OK(nino_cond_model_make(&r, e, kind, &m, &err), err);
}

static void refused(const nino_cond_entry *e, nino_status want, const char *what, const char *words)
{
    leaves_nothing(e, NINO_COND_POSITIVE);
    CHECK(nino_cond_model_make(&r, e, NINO_COND_POSITIVE, &m, &err) == want);
    CHECK_STR(err.kind, what);
    CHECK_STR(err.where, "fake.st");
    CHECK_STR(err.msg, words);
    nino_cond_model_release(&m);
}

static double in_model(double v) { return (v - net.format->shift) * net.format->scale; }
