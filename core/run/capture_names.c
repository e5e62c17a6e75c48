// Names of captured nodes and of the folders that they go to.
#include "core/run/capture_priv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void nino_capture_function(const char *class_type, char *out, size_t size)
{
    static const char *const known[][2] = { { "CheckpointLoader", "checkpoint_loader" },
                                            { "KSampler", "ksampler" },
                                            { "VAEDecode", "vae_decode" } };
    size_t n = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(class_type, known[i][0])) {
            snprintf(out, size, "%s", known[i][1]);
            return;
        }
    for (const char *s = class_type; *s && n + 2 < size; s++) {
        const bool is_start = isupper((unsigned char) *s) && s > class_type &&
                              (islower((unsigned char) s[-1]) || islower((unsigned char) s[1]));
        if (is_start)
            out[n++] = '_';
        out[n++] = (char) (isalnum((unsigned char) *s) ? tolower((unsigned char) *s) : '_');
    }
    out[n] = 0;
}

// What tells of a family, how many pixels a latent cell has, and frames a latent frame.
typedef struct capture_kind {
    char family[24];
    int factor, time_factor;
    const nino_shape *latent, *image;
} capture_kind;

static void look_at(capture_kind *k, const nino_value *v)
{
    if (v->type == NINO_PORT_VAE && v->u.vae) {
        snprintf(k->family, sizeof(k->family), "%.23s", v->u.vae->family);
        k->factor = v->u.vae->factor;
        k->time_factor = v->u.vae->time_factor;
    } else if (v->type == NINO_PORT_MODEL && v->u.model) {
        const nino_latent_format *f = v->u.model->format;
        const char *family = v->u.model->net->family; // "flux_schnell": flux
        snprintf(k->family, sizeof(k->family), "%.*s", (int) strcspn(family, "_"), family);
        k->factor = f->factor;
        k->time_factor = f->time_factor;
    } else if (v->type == NINO_PORT_LATENT && v->u.latent.samples) {
        k->latent = &v->u.latent.samples->shape;
    } else if (v->type == NINO_PORT_IMAGE && v->u.image) {
        k->image = &v->u.image->shape;
    }
}

void nino_capture_folder(nino_value *const *values, const nino_port *ports, char *out, size_t size)
{
    // Of a latent of a video alone it is not known: that of Wan and Hunyuan.
    capture_kind k = { .family = "", .factor = 8, .time_factor = 4 };
    out[0] = 0;
    for (int i = 0; ports && ports[i].key; i++)
        if (values[i] && !values[i]->is_list)
            look_at(&k, values[i]);
    if (k.latent) {
        const int r = k.latent->rank;
        const int n =
            snprintf(out, size, "%.24s_%" PRId64 "x%" PRId64, *k.family ? k.family : "latent",
                     k.latent->dim[r - 2] * k.factor, k.latent->dim[r - 3] * k.factor);
        if (r == 5)
            snprintf(out + n, size - (size_t) n, "_%" PRId64 "frames",
                     1 + (k.latent->dim[1] - 1) * (k.time_factor > 0 ? k.time_factor : 1));
    } else if (k.image) {
        snprintf(out, size, "%.24s_%" PRId64 "x%" PRId64, *k.family ? k.family : "image",
                 k.image->dim[2], k.image->dim[1]);
    }
}
