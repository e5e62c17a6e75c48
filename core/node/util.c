// What the run functions of several node families share: outputs, memory checks, cancel.
#include "core/node/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/size.h"
#include <ninodes/run_profile.h>

uint64_t nino_mem_available(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    uint64_t kib = 0;
    char line[128];
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    if (f)
        fclose(f);
    if (kib)
        return kib * 1024;
    const long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t) pages * (uint64_t) size : 0;
}

#define ALWAYS_OK ((uint64_t) 64 << 20) // not worth asking the system

nino_status nino_node_fits(nino_dtype dtype, nino_shape shape, const char *what, nino_error *err)
{
    uint64_t bytes = nino_dtype_size(dtype);
    bool fits = true;
    char dims[96];
    for (int i = 0; i < shape.rank; i++)
        fits = fits && nino_mul_u64(bytes, (uint64_t) shape.dim[i], &bytes);
    nino_shape_print(dims, sizeof(dims), &shape);
    if (!fits)
        return nino_fail_kind(err, NINO_ERR_NOMEM, "limit", what, "%s is too large", dims);
    const uint64_t available = bytes > ALWAYS_OK ? nino_mem_available() : bytes;
    if (bytes > available)
        return nino_fail_kind(err, NINO_ERR_NOMEM, "limit", what,
                              "%s needs %.1f GiB, %.1f GiB are free", dims, (double) bytes / 0x1p30,
                              (double) available / 0x1p30);
    return NINO_OK;
}

nino_array *nino_node_array(nino_dtype dtype, nino_shape shape, const char *what, nino_error *err)
{
    if (nino_node_fits(dtype, shape, what, err))
        return NULL;
    nino_array *a = nino_array_create(dtype, shape);
    if (!a)
        nino_fail(err, NINO_ERR_NOMEM, what, "out of memory");
    return a;
}

nino_status nino_node_cancelled(const nino_run *r, nino_error *err)
{
    if (r->cancel && __atomic_load_n(r->cancel, __ATOMIC_RELAXED))
        return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
    return NINO_OK;
}

nino_value *nino_node_out(nino_run *r, int i, nino_port_type type, nino_error *err)
{
    nino_value *v = nino_value_create(type);
    if (!v)
        nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    r->out[i] = v;
    return v;
}

int nino_run_texts(const nino_run *r, nino_meta *out)
{
    const struct {
        const char *key, *text;
    } all[NINO_RUN_TEXTS] = { { "prompt", r->prompt_json },
                              { "workflow", r->workflow_json },
                              { NINO_RUN_PROFILE_KEY, r->profile_json } };
    int n = 0;
    for (int i = 0; i < NINO_RUN_TEXTS; i++)
        if (all[i].text && !r->no_metadata)
            out[n++] = (nino_meta){ all[i].key, all[i].text, strlen(all[i].text) };
    return n;
}

const char *nino_node_folder(const nino_run *r, bool is_temp)
{
    if (r->is_plan)
        return NULL;
    const nino_services *s = nino_services_of(r->ctx);
    const char *dir = s->output_dir(r->ctx);
    return dir && is_temp ? s->temp_dir(r->ctx) : dir;
}

void nino_node_hand_on(nino_run *r)
{
    nino_value_unref(&r->out[0]);
    r->out[0] = nino_value_ref(r->in[0]);
}

nino_status nino_node_out_text(nino_run *r, int i, char *text, nino_error *err)
{
    nino_value *v = text ? nino_node_out(r, i, NINO_PORT_STRING, err) : NULL;
    if (!v) {
        free(text);
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    v->u.string = text;
    return NINO_OK;
}

// ---- typed outputs ---------------------------------------------------------------------------

static nino_status util_no_memory(const nino_run *r, nino_error *err)
{
    if (err && err->code)
        return err->code;
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

#define OUT_POINTER(name, T, port, field, unref)                                                   \
    nino_status nino_out_##name(nino_run *r, int i, T *p, nino_error *err)                         \
    {                                                                                              \
        nino_value *v = p ? nino_node_out(r, i, port, err) : NULL;                                 \
        if (!v) {                                                                                  \
            unref(&p);                                                                             \
            return util_no_memory(r, err);                                                         \
        }                                                                                          \
        v->u.field = p;                                                                            \
        return NINO_OK;                                                                            \
    }

OUT_POINTER(model, nino_model, NINO_PORT_MODEL, model, nino_model_unref)
OUT_POINTER(clip, nino_clip, NINO_PORT_CLIP, clip, nino_clip_unref)
OUT_POINTER(cond, nino_cond, NINO_PORT_CONDITIONING, cond, nino_cond_unref)
OUT_POINTER(guider, nino_guider, NINO_PORT_GUIDER, guider, nino_guider_unref)
OUT_POINTER(clip_vision, nino_clip_vision, NINO_PORT_CLIP_VISION, clip_vision,
            nino_clip_vision_unref)
OUT_POINTER(style, nino_style, NINO_PORT_STYLE_MODEL, style, nino_style_unref)
OUT_POINTER(patch, nino_block_net, NINO_PORT_MODEL_PATCH, patch, nino_block_net_unref)
OUT_POINTER(upscale, nino_upscale, NINO_PORT_UPSCALE_MODEL, upscale, nino_upscale_unref)
OUT_POINTER(image, nino_array, NINO_PORT_IMAGE, image, nino_array_unref)
OUT_POINTER(mask, nino_array, NINO_PORT_MASK, mask, nino_array_unref)

nino_status nino_out_control(nino_run *r, int i, nino_control_net *c, int type, nino_error *err)
{
    nino_value *v = c ? nino_node_out(r, i, NINO_PORT_CONTROL_NET, err) : NULL;
    if (!v) {
        nino_control_unref(&c);
        return util_no_memory(r, err);
    }
    v->u.control = (nino_control_value){ .net = c, .type = type };
    return NINO_OK;
}

nino_status nino_out_ip_adapter(nino_run *r, int i, nino_ip_value ip, nino_error *err)
{
    nino_value *v = ip.adapter ? nino_node_out(r, i, NINO_PORT_IPADAPTER, err) : NULL;
    if (!v) {
        nino_ip_adapter_unref(&ip.adapter);
        nino_clip_vision_unref(&ip.vision);
        return util_no_memory(r, err);
    }
    v->u.ip = ip;
    return NINO_OK;
}

nino_status nino_out_audio(nino_run *r, int i, nino_sound sound, nino_error *err)
{
    nino_value *v = nino_node_out(r, i, NINO_PORT_AUDIO, err);
    if (!v) {
        nino_sound_release(&sound);
        return NINO_ERR_NOMEM;
    }
    v->u.audio = sound;
    return NINO_OK;
}

nino_status nino_out_latent(nino_run *r, int i, nino_latent latent, nino_error *err)
{
    nino_value *v = latent.samples ? nino_node_out(r, i, NINO_PORT_LATENT, err) : NULL;
    if (!v) {
        nino_array_unref(&latent.samples);
        nino_array_unref(&latent.noise_mask);
        free(latent.batch_index);
        return util_no_memory(r, err);
    }
    v->u.latent = latent;
    return NINO_OK;
}

nino_status nino_out_vision(nino_run *r, int i, nino_vision_output out, nino_error *err)
{
    nino_value *v = nino_node_out(r, i, NINO_PORT_CLIP_VISION_OUTPUT, err);
    if (!v) {
        nino_vision_out_release(&out);
        return NINO_ERR_NOMEM;
    }
    v->u.vision = out;
    return NINO_OK;
}

nino_status nino_out_sigmas(nino_run *r, int i, nino_sigmas s, nino_error *err)
{
    nino_value *v = nino_node_out(r, i, NINO_PORT_SIGMAS, err);
    if (!v) {
        free(s.v);
        return NINO_ERR_NOMEM;
    }
    v->u.sigmas = s;
    return NINO_OK;
}

#define OUT_PLAIN(name, T, port, field, value)                                                     \
    nino_status nino_out_##name(nino_run *r, int i, T p, nino_error *err)                          \
    {                                                                                              \
        nino_value *v = nino_node_out(r, i, port, err);                                            \
        if (!v)                                                                                    \
            return NINO_ERR_NOMEM;                                                                 \
        v->u.field = value;                                                                        \
        return NINO_OK;                                                                            \
    }

OUT_PLAIN(noise, nino_noise, NINO_PORT_NOISE, noise, p)
OUT_PLAIN(sampler, const nino_sampler *, NINO_PORT_SAMPLER, sampler, *p)
OUT_PLAIN(int, int64_t, NINO_PORT_INT, i, p)
OUT_PLAIN(float, double, NINO_PORT_FLOAT, f, p)
OUT_PLAIN(bool, bool, NINO_PORT_BOOLEAN, b, p)

void nino_run_output(nino_run *r, const char *path) { nino_services_of(r->ctx)->output(r, path); }

void nino_run_text(nino_run *r, const char *title, const char *text)
{
    nino_services_of(r->ctx)->text(r, title, text);
}

void nino_run_step(nino_run *r, uint32_t step, uint32_t total)
{
    nino_services_of(r->ctx)->step(r, step, total);
}

nino_model *nino_need_model(const nino_run *r, int i, nino_error *err)
{
    nino_model *m = nino_in_model(r, i);
    if (!m)
        nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", r->def->inputs[i].key,
                       "%s models cannot be run yet",
                       r->in[i] ? r->in[i]->u.unloaded.family : "such");
    return m;
}
