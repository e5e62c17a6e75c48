// Previews while a node samples. Their time is measured (scope "preview") and bounded: one that
// would bring the sum above the ctx's share of the sampling time is left out.
#include "core/node/sampling/sample_preview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/time.h"
#include "core/media/png.h"
#include "core/node/util.h"
#include "core/op/backend.h"
#include "core/sample/latent_preview.h"
#include "core/tile/fit.h"

struct nino_preview {
    nino_run *r;
    const nino_preview_settings *set;
    const nino_latent_format *format;
    nino_value *tiny; // a VAE; NULL: latent2rgb
    bool is_off;
    uint64_t began_ns;
    double began_flops;
    double spent, rgb_spent;    // seconds: on all of them, on the linear map's
    double tiny_last, rgb_last; // what the last one of each kind would take again; 0: not known
    nino_vae_need need;         // of tiny, for this latent
};

static void warn(nino_preview *p, const nino_error *err)
{
    nino_logf(p->r->log, NINO_LOG_WARN, "no previews: %s%s%s", err->where, *err->where ? ": " : "",
              err->msg);
    nino_monitor_message(nino_services_of(p->r->ctx)->monitor(p->r->ctx), NINO_LOG_WARN,
                         "no previews: %s", err->msg);
}

// The word that VAELoader takes; for video there are two decoders of different makers.
static nino_status load_tiny(nino_preview *p, nino_error *err)
{
    char light[32];
    snprintf(light, sizeof(light), "light%s", p->format->tiny_vae);
    nino_status st = nino_node_load_vae(p->r->ctx, p->format->tiny_vae, &p->tiny, err);
    if (st == NINO_ERR_MISSING && p->format->time_factor > 1 &&
        !nino_node_load_vae(p->r->ctx, light, &p->tiny, NULL))
        st = NINO_OK;
    if (!st && !p->tiny->u.vae->has_decoder) {
        nino_value_unref(&p->tiny);
        st = nino_fail(err, NINO_ERR_MISSING, p->format->tiny_vae, "its decoder is not there");
    }
    return st;
}

static void open_tiny(nino_preview *p)
{
    nino_error err = { 0 };
    const bool must = p->set->kind == NINO_PREVIEW_TAESD;
    if (!p->format->tiny_vae)
        nino_fail(&err, NINO_ERR_UNSUPPORTED, p->format->name,
                  "no tiny autoencoder for this model");
    else
        load_tiny(p, &err);
    if (!p->tiny && must && p->format->rgb) {
        nino_logf(p->r->log, NINO_LOG_WARN, "previews are latent2rgb: %s: %s", err.where, err.msg);
    } else if (!p->tiny && !p->format->rgb) {
        warn(p, &err);
        p->is_off = true;
    }
}

nino_preview *nino_preview_create(nino_run *r, const nino_latent_format *format)
{
    const nino_preview_settings *set = nino_services_of(r->ctx)->previews(r->ctx);
    nino_preview *p = NULL;
    if (set->kind == NINO_PREVIEW_NONE || r->is_plan || !(p = calloc(1, sizeof(*p))))
        return NULL;
    *p = (nino_preview){ .r = r, .set = set, .format = format, .began_ns = nino_now_ns() };
    p->began_flops = nino_stream_backend(r->stream)->flops;
    if (set->kind != NINO_PREVIEW_LATENT2RGB)
        open_tiny(p);
    return p;
}

void nino_preview_destroy(nino_preview **pp)
{
    if (!*pp)
        return;
    nino_value_unref(&(*pp)->tiny);
    free(*pp);
    *pp = NULL;
}

// The diffusion model stays where it is: a decode that would push its weights out is not worth it.
static bool tiny_fits(nino_preview *p, const nino_shape *s)
{
    nino_mem_stat m;
    nino_pool_stat(nino_stream_backend(p->r->stream)->pool, &m);
    const nino_vae *v = p->tiny->u.vae;
    const int h = (int) s->dim[s->rank - 2], w = (int) s->dim[s->rank - 1];
    nino_status st = NINO_OK;
    if (!p->need.ops)
        st = s->rank == 5 && v->decode_next
                 ? nino_vae_need_clip(p->r->stream, v, true, s->dim[2], 0, h, w, &p->need, NULL)
                 : nino_vae_need_get(p->r->stream, v, true, 1, h, w, &p->need, NULL);
    return !st && (!m.budget || m.in_use + p->need.reserved <= m.budget);
}

static double elapsed(const nino_preview *p)
{
    return (double) (nino_now_ns() - p->began_ns) * 1e-9;
}

// Spent on what is not done a second time: kernels that are built, weights that are read.
static double once(const nino_backend *be) { return (double) (be->build_ns + be->load_ns) * 1e-9; }

// What the first decode will take: its arithmetic at the rate of the sampling, a program for each
// op that has not run yet, its weights.
static double first_tiny(const nino_preview *p)
{
    const nino_backend *be = nino_stream_backend(p->r->stream);
    const double done = be->flops - p->began_flops;
    const int fresh = __builtin_popcountll(p->need.ops & ~be->ops);
    double seconds = done > 0 ? p->need.flops / done * elapsed(p) : 0;
    if (be->n_builds)
        seconds += fresh * (double) be->build_ns * 1e-9 / (double) be->n_builds;
    if (be->load_bytes)
        seconds += (double) be->load_ns * 1e-9 * (double) p->need.weights / (double) be->load_bytes;
    return seconds;
}

static bool is_tiny_affordable(const nino_preview *p)
{
    const double next = p->tiny_last > 0 ? p->tiny_last : first_tiny(p);
    return p->spent + next <= p->set->share * elapsed(p);
}

// Half of the share is kept for decodes, where there may be some.
static bool is_rgb_affordable(const nino_preview *p)
{
    const double share = p->set->share * (p->tiny ? 0.5 : 1);
    return p->spent == 0 || (p->rgb_spent + p->rgb_last <= share * elapsed(p) &&
                             p->spent + p->rgb_last <= p->set->share * elapsed(p));
}

static nino_status sample_preview_save(nino_preview *p, const nino_array *pixels, nino_error *err)
{
    const char *dir = nino_services_of(p->r->ctx)->temp_dir(p->r->ctx),
               *slash = strrchr(p->set->path, '/');
    const int w = (int) pixels->shape.dim[2], h = (int) pixels->shape.dim[1];
    nino_buf png = { 0 };
    nino_status st = nino_png_encode(&png, pixels->data, w, h, 3, 8, NULL, 0, err);
    if (!st)
        st = nino_file_mkdirs(dir, true, err);
    if (!st)
        st = nino_file_save(dir, slash + 1, true, png.data, png.len, err);
    nino_buf_release(&png);
    return st;
}

static void sample_preview_publish(nino_preview *p, const nino_sample_step *step,
                                   const nino_array *pixels, double seconds)
{
    nino_monitor *m = nino_services_of(p->r->ctx)->monitor(p->r->ctx);
    nino_event ev = { .kind = NINO_EV_PREVIEW, .name = nino_monitor_name(m, p->set->path) };
    ev.u.step.step = (uint32_t) step->step;
    ev.u.step.total = (uint32_t) step->total;
    ev.u.step.sigma = step->sigma;
    ev.u.step.seconds = seconds;
    ev.u.step.eta_s = (double) NAN;
    ev.u.step.width = (uint32_t) pixels->shape.dim[2];
    ev.u.step.height = (uint32_t) pixels->shape.dim[1];
    nino_monitor_publish(m, &ev);
}

// All frames of a video on one picture.
static nino_status sample_preview_draw(nino_preview *p, const nino_sample_step *step,
                                       bool with_tiny, nino_array **pixels, nino_error *err)
{
    nino_array *frames = NULL;
    nino_status st = with_tiny
                         ? nino_preview_tiny(p->r->stream, p->tiny->u.vae, p->format,
                                             step->denoised, &step->shape, &frames, err)
                         : nino_preview_rgb(p->format, step->denoised, &step->shape, &frames, err);
    if (!st && frames->shape.dim[0] > 1)
        st = nino_preview_sheet(frames, pixels, err);
    else if (!st)
        *pixels = nino_array_ref(frames);
    nino_array_unref(&frames);
    return st;
}

static void sample_preview_make(nino_preview *p, const nino_sample_step *step, bool with_tiny)
{
    nino_stream *s = p->r->stream;
    nino_array *pixels = NULL;
    nino_error err = { 0 };
    const uint64_t begin = nino_now_ns();
    const double before = once(nino_stream_backend(s));
    nino_scope_begin(s, NINO_EV_STAGE, "preview", 0, 0);
    nino_status st = sample_preview_draw(p, step, with_tiny, &pixels, &err);
    if (!st)
        st = sample_preview_save(p, pixels, &err);
    nino_scope_end(s);
    const double seconds = (double) (nino_now_ns() - begin) * 1e-9;
    p->spent += seconds;
    p->rgb_spent += with_tiny ? 0 : seconds;
    *(with_tiny ? &p->tiny_last : &p->rgb_last) =
        fmax(seconds - (once(nino_stream_backend(s)) - before), 1e-6);
    if (!st) {
        sample_preview_publish(p, step, pixels, seconds);
    } else if (st != NINO_ERR_CANCELLED) { // the sampling goes on without
        warn(p, &err);
        p->is_off = true;
        if (nino_stream_status(s, NULL) != NINO_ERR_CANCELLED)
            nino_stream_clear_error(s);
    }
    nino_array_unref(&pixels);
}

void nino_preview_step(nino_preview *p, const nino_sample_step *step)
{
    if (!p || p->is_off || (step->step - 1) % p->set->every ||
        nino_stream_status(p->r->stream, NULL))
        return;
    if (p->tiny && !tiny_fits(p, &step->shape))
        nino_value_unref(&p->tiny);
    // Until a decode is worth its time there is the linear map, which takes next to none.
    const bool is_waiting = !p->tiny || p->tiny_last == 0;
    if (p->tiny && is_tiny_affordable(p))
        sample_preview_make(p, step, true);
    else if ((is_waiting || p->set->kind == NINO_PREVIEW_AUTO) && p->format->rgb &&
             is_rgb_affordable(p))
        sample_preview_make(p, step, false);
}
