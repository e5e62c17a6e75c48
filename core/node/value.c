// Values on links: creation, sharing, sizes.
#include "core/node/value.h"

#include <stdlib.h>
#include <string.h>

nino_value *nino_value_create(nino_port_type type)
{
    nino_value *v = calloc(1, sizeof(*v));
    if (v) {
        v->type = type;
        v->refs = 1;
    }
    return v;
}

nino_value *nino_value_ref(nino_value *v)
{
    if (v)
        __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

// ---- lists -----------------------------------------------------------------------------------

nino_value *nino_value_create_list(nino_port_type type)
{
    nino_value *v = nino_value_create(type);
    if (v)
        v->is_list = true;
    return v;
}

int nino_value_count(const nino_value *v) { return !v ? 0 : v->is_list ? v->n_items : 1; }

nino_value *nino_value_at(nino_value *v, int i)
{
    if (!v || !v->is_list)
        return v;
    return v->n_items ? v->item[i < v->n_items ? i : v->n_items - 1] : NULL;
}

bool nino_value_append(nino_value *list, nino_value *v)
{
    const int n = v && v->is_list ? v->n_items : 1;
    nino_value **item = realloc(list->item, (size_t) (list->n_items + n) * sizeof(*item) + 1);
    if (item)
        list->item = item;
    for (int i = 0; item && i < n; i++)
        item[list->n_items++] = v && v->is_list ? nino_value_ref(v->item[i]) : v;
    if (!item || (v && v->is_list))
        nino_value_unref(&v);
    return item != NULL;
}

nino_value *nino_value_create_bundle(nino_port_type type, int n)
{
    nino_value *v = nino_value_create(type);
    if (v && !(v->item = calloc((size_t) n + 1, sizeof(*v->item))))
        nino_value_unref(&v);
    if (v)
        v->n_items = n;
    return v;
}

bool nino_value_is_bundle(nino_port_type type)
{
    return type >= NINO_PORT_CONTEXT && type <= NINO_PORT_VEC4;
}

static void free_items(nino_value *v)
{
    for (int i = 0; i < v->n_items; i++)
        nino_value_unref(&v->item[i]);
    free(v->item);
    free(v);
}

void nino_value_unref(nino_value **pv)
{
    nino_value *v = pv ? *pv : NULL;
    if (!v)
        return;
    *pv = NULL;
    if (__atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (v->is_list || nino_value_is_bundle(v->type)) {
        free_items(v);
        return;
    }
    switch (v->type) {
    case NINO_PORT_LATENT:
        nino_array_unref(&v->u.latent.samples);
        nino_array_unref(&v->u.latent.noise_mask);
        free(v->u.latent.batch_index);
        break;
    case NINO_PORT_IMAGE: nino_array_unref(&v->u.image); break;
    case NINO_PORT_MASK: nino_array_unref(&v->u.mask); break;
    case NINO_PORT_VAE: nino_vae_unref(&v->u.vae); break;
    case NINO_PORT_MODEL: nino_model_unref(&v->u.model); break;
    case NINO_PORT_CLIP: nino_clip_unref(&v->u.clip); break;
    case NINO_PORT_CONDITIONING: nino_cond_unref(&v->u.cond); break;
    case NINO_PORT_SIGMAS: free(v->u.sigmas.v); break;
    case NINO_PORT_GUIDER: nino_guider_unref(&v->u.guider); break;
    case NINO_PORT_BOUNDING_BOX:
    case NINO_PORT_DICT:
    case NINO_PORT_ARRAY:
    case NINO_PORT_STRING: free(v->u.string); break;
    case NINO_PORT_CLIP_VISION: nino_clip_vision_unref(&v->u.clip_vision); break;
    case NINO_PORT_CLIP_VISION_OUTPUT: nino_vision_out_release(&v->u.vision); break;
    case NINO_PORT_STYLE_MODEL: nino_style_unref(&v->u.style); break;
    case NINO_PORT_UPSCALE_MODEL: nino_upscale_unref(&v->u.upscale); break;
    case NINO_PORT_IPADAPTER:
        nino_ip_adapter_unref(&v->u.ip.adapter);
        nino_clip_vision_unref(&v->u.ip.vision);
        break;
    case NINO_PORT_MODEL_PATCH: nino_block_net_unref(&v->u.patch); break;
    case NINO_PORT_CONTROL_NET: nino_control_unref(&v->u.control.net); break;
    case NINO_PORT_AUDIO: nino_sound_release(&v->u.audio); break;
    case NINO_PORT_VIDEO:
        nino_array_unref(&v->u.video.frames);
        nino_sound_release(&v->u.video.sound);
        break;
    default: break;
    }
    nino_weights_unref(&v->u.unloaded.file);
    free(v);
}

static const nino_clip *networks(const nino_clip *c) { return c->owner ? c->owner : c; }

bool nino_value_shares(const nino_value *a, const nino_value *b)
{
    if (!a || !b)
        return false;
    if (a->is_list || nino_value_is_bundle(a->type)) {
        for (int i = 0; i < a->n_items; i++)
            if (nino_value_shares(a->item[i], b))
                return true;
        return false;
    }
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case NINO_PORT_VAE: return a->u.vae == b->u.vae;
    case NINO_PORT_CLIP_VISION: return a->u.clip_vision == b->u.clip_vision;
    case NINO_PORT_STYLE_MODEL: return a->u.style == b->u.style;
    case NINO_PORT_UPSCALE_MODEL: return a->u.upscale == b->u.upscale;
    case NINO_PORT_IPADAPTER: return a->u.ip.adapter == b->u.ip.adapter;
    case NINO_PORT_MODEL_PATCH: return a->u.patch == b->u.patch;
    case NINO_PORT_CONTROL_NET: return a->u.control.net == b->u.control.net;
    case NINO_PORT_MODEL:
        return a->u.model && b->u.model ? a->u.model->net == b->u.model->net
                                        : a->u.unloaded.file == b->u.unloaded.file;
    case NINO_PORT_CLIP:
        return a->u.clip && b->u.clip ? networks(a->u.clip) == networks(b->u.clip)
                                      : a->u.unloaded.file == b->u.unloaded.file;
    default: return false;
    }
}

static bool has_control(const nino_cond *c)
{
    for (int i = 0; c && i < c->n; i++)
        if (c->entry[i].control_net)
            return true;
    return false;
}

bool nino_value_is_network(const nino_value *v)
{
    switch (v ? v->type : NINO_PORT_NONE) {
    case NINO_PORT_MODEL:
    case NINO_PORT_CLIP:
    case NINO_PORT_VAE:
    case NINO_PORT_CLIP_VISION:
    case NINO_PORT_STYLE_MODEL:
    case NINO_PORT_UPSCALE_MODEL:
    case NINO_PORT_IPADAPTER:
    case NINO_PORT_CONTROL_NET:
    case NINO_PORT_MODEL_PATCH:
    case NINO_PORT_CONTEXT:
    case NINO_PORT_BASIC_PIPE:
    case NINO_PORT_BUS:
    case NINO_PORT_GUIDER: return true; // a guider has its model, a bundle may have one
    case NINO_PORT_CONDITIONING: return has_control(v->u.cond);
    default: return false;
    }
}

static uint64_t cond_bytes(const nino_cond *c) { return c ? nino_cond_bytes(c) : 0; }

static uint64_t guider_bytes(const nino_guider *g)
{
    return g ? cond_bytes(g->positive) + cond_bytes(g->middle) + cond_bytes(g->negative) : 0;
}

static uint64_t vision_bytes(const nino_vision_output *o)
{
    return (o->last ? o->last->bytes : 0) + (o->penultimate ? o->penultimate->bytes : 0) +
           (o->embeds ? o->embeds->bytes : 0);
}

uint64_t nino_value_bytes(const nino_value *v)
{
    if (!v)
        return 0;
    uint64_t n = sizeof(*v);
    for (int i = 0; i < v->n_items; i++)
        n += nino_value_bytes(v->item[i]);
    if (v->is_list || nino_value_is_bundle(v->type))
        return n;
    switch (v->type) {
    case NINO_PORT_LATENT:
        n += v->u.latent.samples ? v->u.latent.samples->bytes : 0;
        n += v->u.latent.noise_mask ? v->u.latent.noise_mask->bytes : 0;
        break;
    case NINO_PORT_IMAGE: n += v->u.image ? v->u.image->bytes : 0; break;
    case NINO_PORT_MASK: n += v->u.mask ? v->u.mask->bytes : 0; break;
    case NINO_PORT_AUDIO: n += v->u.audio.wave ? v->u.audio.wave->bytes : 0; break;
    case NINO_PORT_VIDEO:
        n += v->u.video.frames ? v->u.video.frames->bytes : 0;
        n += v->u.video.sound.wave ? v->u.video.sound.wave->bytes : 0;
        break;
    case NINO_PORT_CONDITIONING: n += cond_bytes(v->u.cond); break;
    case NINO_PORT_SIGMAS: n += (uint64_t) v->u.sigmas.n * sizeof(float); break;
    case NINO_PORT_GUIDER: n += guider_bytes(v->u.guider); break;
    case NINO_PORT_BOUNDING_BOX:
    case NINO_PORT_DICT:
    case NINO_PORT_ARRAY:
    case NINO_PORT_STRING: n += v->u.string ? strlen(v->u.string) + 1 : 0; break;
    case NINO_PORT_CLIP_VISION_OUTPUT: n += vision_bytes(&v->u.vision); break;
    default: break;
    }
    return n;
}

const char *nino_port_type_name(nino_port_type t)
{
    static const char *const names[] = {
        "NONE",
        "MODEL",
        "CLIP",
        "VAE",
        "CONDITIONING",
        "LATENT",
        "IMAGE",
        "MASK",
        "STRING",
        "INT",
        "FLOAT",
        "BOOLEAN",
        "NOISE",
        "SAMPLER",
        "SIGMAS",
        "GUIDER",
        "CLIP_VISION",
        "CLIP_VISION_OUTPUT",
        "STYLE_MODEL",
        "VIDEO",
        "*",
        "other",
        "UPSCALE_MODEL",
        "CONTROL_NET",
        "IPADAPTER",
        "AUDIO",
        "LATENT_OPERATION",
        "BOUNDING_BOX",
        "DICT",
        "ARRAY",
        [NINO_PORT_CONTEXT] = "RGTHREE_CONTEXT",
        [NINO_PORT_BASIC_PIPE] = "BASIC_PIPE",
        [NINO_PORT_BUS] = "BUS",
        [NINO_PORT_LORA_STACK] = "LORA_STACK",
        [NINO_PORT_FILENAMES] = "VHS_FILENAMES",
        [NINO_PORT_VIDEO_INFO] = "VHS_VIDEOINFO",
        [NINO_PORT_VEC2] = "VEC2",
        [NINO_PORT_VEC3] = "VEC3",
        [NINO_PORT_VEC4] = "VEC4",
        [NINO_PORT_MODEL_PATCH] = "MODEL_PATCH",
    };
    return (size_t) t < sizeof(names) / sizeof(names[0]) ? names[t] : "?";
}
