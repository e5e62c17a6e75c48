// Pictures and latents from memory, in place of what a node would load.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/params.h"
#include "core/workflow/graph.h"

#define MAX_SIDE 16384
#define MAX_CELLS ((int64_t) 1 << 30)

static const char *wrong_with(const nino_raster *r, nino_port_type type)
{
    const bool is_image = type == NINO_PORT_IMAGE;
    if (!r->data)
        return "has no pixels";
    if (r->n < 1 || r->height < 1 || r->width < 1 || r->frames < 0 || r->channels < 1)
        return "has no size";
    if (is_image && (r->frames || (r->channels != 3 && r->channels != 4)))
        return "is not a batch of pictures of 3 or 4 channels";
    if (r->type != NINO_RASTER_F32 && (!is_image || r->type != NINO_RASTER_U8))
        return is_image ? "is neither of bytes nor of floats" : "is not of floats";
    return NULL;
}

static bool is_too_large(const nino_raster *r)
{
    const int64_t most = MAX_CELLS / r->channels / r->height / r->width;
    return r->height > MAX_SIDE || r->width > MAX_SIDE || r->channels > MAX_SIDE ||
           r->n > (r->frames ? most / r->frames : most);
}

static nino_shape graph_memory_shape_of(const nino_raster *r, int channels)
{
    return r->frames ? NINO_SHAPE(r->n, r->frames, r->height, r->width, channels)
                     : NINO_SHAPE(r->n, r->height, r->width, channels);
}

// Channels [from, from + n) of every cell.
static nino_array *take_channels(const nino_raster *r, int from, int n)
{
    nino_array *a = nino_array_create(NINO_F32, graph_memory_shape_of(r, n));
    const int64_t cells = a ? nino_shape_count(&a->shape) / n : 0;
    for (int64_t i = 0; i < cells; i++)
        for (int k = 0; k < n; k++) {
            const int64_t at = i * r->channels + from + k;
            nino_array_f32(a)[i * n + k] = r->type == NINO_RASTER_F32
                                               ? ((const float *) r->data)[at]
                                               : (float) ((const uint8_t *) r->data)[at] / 255.0f;
        }
    return a;
}

static bool is_graph_memory_finite(const nino_array *a)
{
    const int64_t n = nino_shape_count(&a->shape);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(nino_array_f32(a)[i]))
            return false;
    return true;
}

// As LoadImage has it: 1 - alpha, or 64x64 zeros.
static nino_array *graph_memory_make_mask(const nino_raster *r)
{
    if (r->channels < 4)
        return nino_array_create(NINO_F32, NINO_SHAPE(r->n, 64, 64));
    nino_array *a = take_channels(r, 3, 1);
    const int64_t n = a ? nino_shape_count(&a->shape) : 0;
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(a)[i] = 1.0f - nino_array_f32(a)[i];
    if (a)
        a->shape = NINO_SHAPE(r->n, r->height, r->width);
    return a;
}

static nino_status make_values(const nino_raster *r, nino_port_type type, const char *node,
                               nino_value *out[NINO_MAX_GIVEN], nino_error *err)
{
    const bool is_image = type == NINO_PORT_IMAGE;
    nino_array *a = take_channels(r, 0, is_image ? 3 : r->channels);
    nino_array *mask = is_image ? graph_memory_make_mask(r) : NULL;
    out[0] = nino_value_create(type);
    out[1] = is_image ? nino_value_create(NINO_PORT_MASK) : NULL;
    nino_status st = NINO_OK;
    if (!a || !out[0] || (is_image && (!mask || !out[1])))
        st = nino_fail(err, NINO_ERR_NOMEM, node, "out of memory");
    else if (!is_graph_memory_finite(a) || (mask && !is_graph_memory_finite(mask)))
        st = nino_fail(err, NINO_ERR_RANGE, node, "a value is not finite");
    if (st == NINO_OK) {
        *(is_image ? &out[0]->u.image : &out[0]->u.latent.samples) = nino_array_ref(a);
        if (is_image)
            out[1]->u.mask = nino_array_ref(mask);
    }
    nino_array_unref(&a);
    nino_array_unref(&mask);
    return st;
}

static nino_hash hash_raster(const nino_raster *r, int64_t bytes)
{
    const int32_t head[] = { (int32_t) r->type, r->n, r->frames, r->height, r->width, r->channels };
    const nino_hash parts[] = { nino_hash_bytes(head, sizeof(head)),
                                nino_hash_bytes(r->data, (size_t) bytes) };
    return nino_hash_bytes(parts, sizeof(parts));
}

static nino_status graph_memory_set(nino_graph *g, const char *node, nino_port_type type,
                                    const nino_raster *given, nino_error *err)
{
    nino_raster r;
    nino_value *v[NINO_MAX_GIVEN] = { NULL };
    nino_hash key = { 0 };
    const int i = nino_graph_find(g, node);
    nino_gnode *n = i < 0 ? NULL : &g->nodes[i];
    if (!n)
        return nino_fail(err, NINO_ERR_UNKNOWN, node, "there is no node of this id");
    const nino_node_def *def = n->def;
    if (!def || (def->inputs && def->inputs[0].key) || !def->outputs ||
        def->outputs[0].type != type)
        return nino_fail(err, NINO_ERR_ARG, node, "%.60s does not load %s", n->class_type,
                         nino_port_type_name(type));
    if (given) {
        if (!NINO_TAKE(&r, given, NINO_RASTER_INIT, err))
            return NINO_ERR_ARG;
        const char *wrong = wrong_with(&r, type);
        if (wrong)
            return nino_fail(err, NINO_ERR_ARG, node, "the raster %s", wrong);
        if (is_too_large(&r))
            return nino_fail(err, NINO_ERR_RANGE, node,
                             "the raster is larger than %d a side or "
                             "2^30 values",
                             MAX_SIDE);
        const nino_status st = make_values(&r, type, node, v, err);
        if (st) {
            nino_value_unref(&v[0]);
            nino_value_unref(&v[1]);
            return st;
        }
        const nino_shape shape = graph_memory_shape_of(&r, r.channels);
        key = hash_raster(&r, nino_shape_count(&shape) * (r.type == NINO_RASTER_F32 ? 4 : 1));
    }
    for (int k = 0; k < NINO_MAX_GIVEN; k++) {
        nino_value_unref(&n->given[k]);
        n->given[k] = v[k];
    }
    n->given_key = key;
    return NINO_OK;
}

nino_status nino_graph_set_image(nino_graph *g, const char *node, const nino_raster *image,
                                 nino_error *err)
{
    return graph_memory_set(g, node, NINO_PORT_IMAGE, image, err);
}

nino_status nino_graph_set_latent(nino_graph *g, const char *node, const nino_raster *latent,
                                  nino_error *err)
{
    return graph_memory_set(g, node, NINO_PORT_LATENT, latent, err);
}

void nino_raster_of(const nino_array *a, nino_raster *out)
{
    const nino_shape *s = &a->shape;
    const bool is_clip = s->rank == 5;
    out->type = NINO_RASTER_F32;
    out->n = (int) s->dim[0];
    out->frames = is_clip ? (int) s->dim[1] : 0;
    out->height = (int) s->dim[is_clip ? 2 : 1];
    out->width = (int) s->dim[is_clip ? 3 : 2];
    out->channels = (int) s->dim[is_clip ? 4 : 3];
    out->data = a->data;
}
