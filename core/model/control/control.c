// Choosing the network of a control network's file, and what all of them share.
#include "core/model/control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/model/detect.h"
#include "core/model/merge/merge.h"

const char *const nino_control_types[] = { "auto",
                                           "openpose",
                                           "depth",
                                           "hed/pidi/scribble/ted",
                                           "canny/lineart/anime_lineart/mlsd",
                                           "normal",
                                           "segment",
                                           "tile",
                                           "repaint",
                                           NULL };

#define CAN_RUN                                                                                    \
    "ControlNets of SD and SDXL, union ones, control-LoRAs, T2I-Adapters and ControlNets "         \
    "of FLUX.1, SD3 and Qwen-Image"

// ---- loading ---------------------------------------------------------------------------------
static const char *base_name(const nino_weights *file)
{
    const char *path = nino_weights_path(file), *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static nino_status control_refuse(const nino_weights *file, const nino_detected *d, nino_error *err)
{
    const char *what = d->is_lora        ? "a LoRA"
                       : d->diffusion[0] ? "a diffusion model"
                       : d->text[0][0]   ? "a text encoder"
                       : d->vae[0]       ? "a VAE"
                       : d->upscale[0]   ? "an upscale model"
                                         : NULL;
    if (d->control[0])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", base_name(file),
                              "this is a %s; those that can be run are " CAN_RUN, d->control);
    if (what)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "model", base_name(file),
                              "not a control network: this is %s", what);
    return nino_fail_kind(err, NINO_ERR_FORMAT, "model", base_name(file),
                          "not a known control network: those that can be run are " CAN_RUN);
}

// ComfyUI tells by the file's name: *_shuffle and *_shuffle_fp16.
static bool is_named_average(const char *name)
{
    static const char *const ends[] = { "_shuffle", "_shuffle_fp16" };
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    const char *dot = strrchr(name, '.');
    const size_t n = dot ? (size_t) (dot - name) : strlen(name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t k = strlen(ends[i]);
        if (n >= k && !strncmp(name + n - k, ends[i], k))
            return true;
    }
    return false;
}

nino_control_net *nino_control_create(nino_weights *file, const char *name, nino_error *err)
{
    nino_control_net *c = calloc(1, sizeof(*c));
    if (!c) {
        nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "no memory for its layers");
        return NULL;
    }
    name = name ? name : nino_weights_path(file);
    *c = (nino_control_net){
        .refs = 1, .factor = 8, .multiple = 1, .is_average = is_named_average(name)
    };
    snprintf(c->name, sizeof(c->name), "%s", name);
    c->identity = nino_weights_identity(file);
    c->file = nino_weights_ref(file);
    return c;
}

nino_status nino_control_load(nino_weights *file, const char *name, nino_control_net **out,
                              nino_error *err)
{
    nino_detected d;
    nino_status st;
    *out = NULL;
    nino_control_net *c = nino_control_create(file, name, err);
    if (!c)
        return NINO_ERR_NOMEM;
    nino_detect(file, &d);
    snprintf(c->family, sizeof(c->family), "%s", d.control);
    c->weight_bytes = nino_weights_bytes(file, d.control_prefix);
    if (!strcmp(d.control, NINO_CONTROL_UNET) || !strcmp(d.control, NINO_CONTROL_UNION))
        st = nino_control_unet_load(file, d.control_prefix, c, err);
    else if (!strcmp(d.control, NINO_CONTROL_LORA))
        st = nino_control_lora_load(file, c, err);
    else if (!strcmp(d.control, NINO_CONTROL_T2I))
        st = nino_control_t2i_load(file, d.control_prefix, c, err);
    else if (!strcmp(d.control, NINO_CONTROL_FLUX) || !strcmp(d.control, NINO_CONTROL_XLABS))
        st = nino_control_flux_load(file, d.control_prefix, c, err);
    else if (!strcmp(d.control, NINO_CONTROL_SD3))
        st = nino_control_sd3_load(file, d.control_prefix, c, err);
    else if (!strcmp(d.control, NINO_CONTROL_QWEN))
        st = nino_control_qwen_load(file, d.control_prefix, c, err);
    else
        st = control_refuse(file, &d, err);
    if (st)
        nino_control_unref(&c);
    *out = c;
    return st;
}

// ---- differences -----------------------------------------------------------------------------
#define DIFF_PREFIX "control_model."

typedef struct control_diff {
    nino_weights *base, *model; // owned references
    char prefix[32];            // of the model's names
} control_diff;

// The model's tensor that belongs to one of the control network; NULL: none of that size.
static const nino_tensor_info *diff_partner(const control_diff *d, const char *name)
{
    const size_t n = strlen(DIFF_PREFIX);
    char full[256];
    if (strncmp(name, DIFF_PREFIX, n) != 0)
        return NULL;
    snprintf(full, sizeof(full), "%s%s", d->prefix, name + n);
    const nino_tensor_info *a = nino_weights_find(d->base, name);
    const nino_tensor_info *b = nino_weights_find(d->model, full);
    bool same = a && b && a->rank == b->rank && a->rank > 0;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i] == b->dim[i];
    return same ? b : NULL;
}

static bool diff_covers(void *priv, const char *name) { return diff_partner(priv, name) != NULL; }

static nino_status diff_apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                              float *values, nino_error *err)
{
    const control_diff *d = priv;
    const nino_tensor_info *m = diff_partner(d, t->name);
    const int64_t width = nino_tensor_info_row(t);
    nino_factors f;
    float *more = malloc((size_t) (width * rows) * sizeof(*more) + 1);
    if (!more)
        return nino_fail(err, NINO_ERR_NOMEM, t->name, "out of memory");
    nino_status st = nino_weights_read_rows_f32(d->model, m, row0, rows, more, err);
    if (!st && !(st = nino_weights_scale(d->model, m, &f, err)))
        st = nino_factors_apply(d->model, &f, row0, rows, width, more, err);
    for (int64_t i = 0; !st && i < width * rows; i++)
        values[i] += more[i];
    free(more);
    return st;
}

static void diff_destroy(void *priv)
{
    control_diff *d = priv;
    nino_weights_unref(&d->base);
    nino_weights_unref(&d->model);
    free(d);
}

nino_status nino_control_load_diff(nino_weights *file, const char *name, const nino_model *m,
                                   nino_control_net **out, nino_error *err)
{
    *out = NULL;
    if (!nino_weights_find(file, "difference") &&
        !nino_weights_find(file, DIFF_PREFIX "difference"))
        return nino_control_load(file, name, out, err);
    control_diff *d = calloc(1, sizeof(*d));
    if (!d)
        return nino_fail(err, NINO_ERR_NOMEM, name, "no memory for its layers");
    d->base = nino_weights_ref(file);
    snprintf(d->prefix, sizeof(d->prefix), "%s", m->net->prefix);
    nino_status st = nino_model_file(m, &d->model, err);
    if (st) {
        diff_destroy(d);
        return st;
    }
    const nino_weights_change change = { .priv = d,
                                         .identity = nino_weights_identity(d->model),
                                         .covers = diff_covers,
                                         .apply = diff_apply,
                                         .destroy = diff_destroy };
    nino_weights *sum = nino_weights_changed(file, &change, err);
    if (!sum)
        return NINO_ERR_NOMEM;
    st = nino_control_load(sum, name, out, err);
    nino_weights_unref(&sum);
    return st;
}

// ---- sharing ---------------------------------------------------------------------------------
nino_control_net *nino_control_ref(nino_control_net *c)
{
    if (c)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void nino_control_unref(nino_control_net **pc)
{
    nino_control_net *c = *pc;
    *pc = NULL;
    if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (c->destroy)
        c->destroy(c);
    nino_layers_release(&c->layers);
    nino_weights_unref(&c->file);
    free(c);
}

nino_status nino_control_bind(nino_control_net *c, const nino_model *m, nino_control_net **out,
                              nino_error *err)
{
    const nino_diffusion *d = m->net;
    *out = NULL;
    if (c->serves != d->kind || !d->has_residuals ||
        (c->in_channels && c->in_channels != m->format->channels) ||
        (c->context_dim && c->context_dim != d->context_dim) || c->y_dim > d->y_dim)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", c->name,
                              "%s does not go with this model (%s): it is for another family",
                              c->detail, d->family);
    if (c->needs_model)
        return nino_control_lora_bind(c, m, out, err);
    *out = nino_control_ref(c);
    return NINO_OK;
}

void nino_control_hint_release(nino_control_hint *h)
{
    for (int i = 0; i < NINO_CONTROL_TENSORS; i++) {
        nino_unref(h->t[i]);
        h->t[i] = NULL;
    }
}

// ---- on conditioning -------------------------------------------------------------------------
static void use_destroy(nino_cond_control *head)
{
    nino_control_use *u = nino_control_use_of(head);
    nino_cond_control *previous = u->previous ? &u->previous->head : NULL;
    nino_cond_control_unref(&previous);
    nino_control_unref(&u->net);
    nino_array_unref(&u->hint);
    nino_array_unref(&u->mask);
    nino_vae_unref(&u->vae);
    free(u);
}

nino_control_use *nino_control_use_create(const nino_control_use *u)
{
    nino_control_use *c = malloc(sizeof(*c));
    if (!c)
        return NULL;
    *c = *u;
    c->head = (nino_cond_control){ .refs = 1, .destroy = use_destroy };
    c->head.bytes = sizeof(*c) + c->hint->bytes + (c->mask ? c->mask->bytes : 0);
    if (c->previous) {
        nino_cond_control_ref(&c->previous->head);
        c->head.bytes += c->previous->head.bytes;
    }
    nino_control_ref(c->net);
    nino_array_ref(c->hint);
    nino_array_ref(c->mask);
    nino_vae_ref(c->vae);
    return c;
}
