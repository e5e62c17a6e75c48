// IPAdapter, IPAdapterAdvanced: a picture as a prompt of a MODEL. Behaviour of the classes of these
// names in ComfyUI_IPAdapter_plus.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

// ---- weights ---------------------------------------------------------------------------------

typedef enum ip_weight {
    IP_LINEAR,
    IP_EASE_IN,
    IP_EASE_OUT,
    IP_EASE_IN_OUT,
    IP_REVERSE_IN_OUT,
    IP_WEAK_INPUT,
    IP_WEAK_OUTPUT,
    IP_WEAK_MIDDLE,
    IP_STRONG_MIDDLE,
    IP_STYLE,
    IP_COMPOSITION,
    IP_STRONG_STYLE,
    IP_STYLE_AND_COMPOSITION,
    IP_STYLE_PRECISE,
    IP_COMPOSITION_PRECISE
} ip_weight;

static const char *const ip_weight_names[] = { "linear",
                                               "ease in",
                                               "ease out",
                                               "ease in-out",
                                               "reverse in-out",
                                               "weak input",
                                               "weak output",
                                               "weak middle",
                                               "strong middle",
                                               "style transfer",
                                               "composition",
                                               "strong style transfer",
                                               "style and composition",
                                               "style transfer precise",
                                               "composition precise",
                                               NULL };

// Of transformer i of n, the middle one of which is `middle`.
static double eased(ip_weight how, int i, int n, int middle)
{
    const double half = n / 2.0, edge = fabs(i - half) / half, at = (double) i / n;
    switch (how) {
    case IP_EASE_IN: return 0.05 + 0.95 * (1 - at);
    case IP_EASE_OUT: return 0.05 + 0.95 * at;
    case IP_EASE_IN_OUT: return 0.05 + 0.95 * (1 - edge);
    case IP_REVERSE_IN_OUT: return 0.05 + 0.95 * edge;
    case IP_WEAK_INPUT: return i < middle ? 0.2 : 1;
    case IP_WEAK_MIDDLE: return i == middle ? 0.2 : 1;
    case IP_WEAK_OUTPUT: return i > middle ? 0.2 : 1;
    case IP_STRONG_MIDDLE: return i == middle ? 1 : 0.2;
    default: return 1;
    }
}

// Those transformers alone that make a picture's style or its composition; of the latter `composed`.
static double styled(ip_weight how, int i, bool is_xl, double weight, double composed)
{
    const bool has_composition = how == IP_COMPOSITION || how == IP_STYLE_AND_COMPOSITION;
    if (is_xl ? i == 3 : i == 4 || i == 5)
        return !has_composition ? 0 : !is_xl && i == 4 ? 0.25 * composed : composed;
    if (how == IP_COMPOSITION)
        return 0;
    if (how == IP_STRONG_STYLE)
        return weight;
    return is_xl ? (i == 6 ? weight : 0) : i < 4 || i > 8 ? weight : 0;
}

#define MANY_LAYERS 50 // cross-attentions that SDXL has more of, the others fewer

static void set_weights(nino_image_prompt *p, ip_weight how, double weight)
{
    const bool is_xl = p->adapter->out == 2048;
    const int n = p->adapter->n_layers > MANY_LAYERS ? 11 : 16, middle = n == 11 ? 4 : 6;
    p->n_weights = NINO_IP_TRANSFORMERS;
    for (int i = 0; i < NINO_IP_TRANSFORMERS; i++)
        if (how < IP_STYLE)
            p->weight[i] = weight * eased(how, i, n, middle);
        else // with a style of its own the composition has a weight of 1
            p->weight[i] = styled(how, i, is_xl, weight, how == IP_COMPOSITION ? weight : 1);
}

// ---- pictures --------------------------------------------------------------------------------

typedef enum ip_combine { IP_CONCAT, IP_ADD, IP_SUBTRACT, IP_AVERAGE, IP_NORM_AVERAGE } ip_combine;

static const char *const ip_combine_names[] = { "concat",  "add",          "subtract",
                                                "average", "norm average", NULL };

// The pictures' states [N,..] become one [1,..].
static nino_array *combined(const nino_array *a, ip_combine how)
{
    nino_shape shape = a->shape;
    const int64_t n = shape.dim[0];
    shape.dim[0] = 1;
    nino_array *out = nino_array_create(NINO_F32, shape);
    const int64_t count = nino_shape_count(&shape);
    for (int64_t k = 0; k < count && out; k++) {
        const float *v = nino_array_f32(a) + k;
        double sum = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += (double) v[i * count];
            square += (double) v[i * count] * (double) v[i * count];
        }
        if (how == IP_SUBTRACT)
            sum = (double) v[0] - (sum - (double) v[0]) / (double) (n - 1);
        else if (how == IP_AVERAGE)
            sum /= (double) n;
        else if (how == IP_NORM_AVERAGE)
            sum /= sqrt(square) * (double) n;
        nino_array_f32(out)[k] = (float) sum;
    }
    return out;
}

// The states of pictures that the adapter is for.
static nino_status see(nino_run *r, const nino_ip_adapter *a, const nino_clip_vision *v,
                       const nino_array *image, nino_array **out, nino_error *err)
{
    nino_vision_output seen;
    const nino_status st = nino_clip_vision_encode(r->stream, v, image, true, &seen, err);
    if (st)
        return st;
    *out = nino_array_ref(a->kind == NINO_IP_PLAIN ? seen.embeds : seen.penultimate);
    nino_vision_out_release(&seen);
    return NINO_OK;
}

// What the negative side has without a picture: an embedding of zeros, or a black picture.
static nino_status see_nothing(nino_run *r, const nino_ip_adapter *a, const nino_clip_vision *v,
                               const nino_array *like, nino_array **out, nino_error *err)
{
    nino_shape shape = like->shape;
    shape.dim[0] = 1;
    if (a->kind == NINO_IP_PLAIN) {
        *out = nino_array_create(NINO_F32, shape);
        return *out ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    const int64_t side = (int64_t) v->side * v->patch;
    nino_array *black = nino_node_array(NINO_F32, NINO_SHAPE(1, side, side, 3), "picture", err);
    const nino_status st = black ? see(r, a, v, black, out, err) : NINO_ERR_NOMEM;
    nino_array_unref(&black);
    return st;
}

// [N,T,C] as one text: [1,N*T,C]; fewer tokens go round.
static nino_array *in_a_row(const nino_array *tokens, int64_t want)
{
    const nino_shape *d = &tokens->shape;
    const int64_t had = d->dim[0] * d->dim[1], c = d->dim[2];
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(1, want, c));
    for (int64_t i = 0; i < want && out; i++)
        memcpy(nino_array_f32(out) + i * c, nino_array_f32(tokens) + i % had * c,
               (size_t) c * sizeof(float));
    return out;
}

static nino_status project(nino_run *r, const nino_ip_adapter *a, nino_array *positive,
                           nino_array *negative, nino_image_prompt *p, nino_error *err)
{
    nino_array *yes = NULL, *no = NULL;
    nino_status st = nino_ip_adapter_tokens(r->stream, a, positive, &yes, err);
    if (!st)
        st = nino_ip_adapter_tokens(r->stream, a, negative, &no, err);
    if (!st) {
        const int64_t one = yes->shape.dim[0] * yes->shape.dim[1];
        const int64_t other = no->shape.dim[0] * no->shape.dim[1];
        p->positive = in_a_row(yes, one > other ? one : other);
        p->negative = in_a_row(no, one > other ? one : other);
        if (!p->positive || !p->negative)
            st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    nino_array_unref(&yes);
    nino_array_unref(&no);
    return st;
}

// ---- nodes -----------------------------------------------------------------------------------

typedef struct ip_ask { // what both nodes come to
    double weight, start, end;
    ip_weight how;
    ip_combine combine;
    nino_ip_scaling scaling;
    const nino_array *opposite, *mask; // may be NULL
    const nino_clip_vision *vision;    // NULL: the adapter's
} ip_ask;

static nino_status ip_states(nino_run *r, const ip_ask *ask, const nino_ip_adapter *a,
                             nino_array **yes, nino_array **no, nino_error *err)
{
    const nino_clip_vision *v = ask->vision ? ask->vision : r->in[1]->u.ip.vision;
    if (!v)
        return nino_fail_kind(err, NINO_ERR_ARG, "missing_input", r->def->key,
                              "it needs a CLIP vision network: IPAdapterAdvanced takes one, "
                              "IPAdapterUnifiedLoader brings one");
    nino_status st = see(r, a, v, nino_in_image(r, 2), yes, err);
    if (!st && ask->opposite)
        st = see(r, a, v, ask->opposite, no, err);
    else if (!st)
        st = see_nothing(r, a, v, *yes, no, err);
    if (st || ask->combine == IP_CONCAT || (*yes)->shape.dim[0] < 2)
        return st;
    nino_array *one = combined(*yes, ask->combine);
    nino_array_unref(yes);
    *yes = one;
    return one ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status ip_ask_run(nino_run *r, const ip_ask *ask, nino_error *err)
{
    nino_ip_adapter *a = r->in[1]->u.ip.adapter;
    nino_array *yes = NULL, *no = NULL;
    nino_image_prompt *p = calloc(1, sizeof(*p));
    if (!p)
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    *p = (nino_image_prompt){ .refs = 1,
                              .adapter = nino_ip_adapter_ref(a),
                              .scaling = ask->scaling,
                              .mask = nino_array_ref((nino_array *) ask->mask) };
    set_weights(p, ask->how, ask->weight);
    nino_status st = ip_states(r, ask, a, &yes, &no, err);
    if (!st)
        st = project(r, a, yes, no, p, err);
    if (!st)
        st = nino_out_patched(r,
                              &(nino_patch){ .kind = NINO_PATCH_IMAGE_PROMPT,
                                             .has_range = true,
                                             .ends_before = true,
                                             .start = ask->start,
                                             .end = ask->end,
                                             .image = p },
                              err);
    nino_array_unref(&yes);
    nino_array_unref(&no);
    nino_image_prompt_unref(&p);
    return st;
}

typedef struct ip_params {
    double weight, start_at, end_at;
    int64_t weight_type;
} ip_params;

static nino_status ip_run(nino_run *r, nino_error *err)
{
    static const ip_weight how[] = { IP_LINEAR, IP_EASE_OUT, IP_STYLE };
    const ip_params *p = r->params;
    const ip_ask ask = { .weight = p->weight,
                         .start = p->start_at,
                         .end = p->end_at,
                         .how = how[p->weight_type],
                         .mask = nino_in_mask(r, 3) };
    return ip_ask_run(r, &ask, err);
}

#define IP_RANGE(S)                                                                                \
    NINO_P_FLOAT(S, start_at, 0, 0, 1, 0.001, .label = "From",                                     \
                 .help = "Part of the sampling after which the picture counts"),                   \
        NINO_P_FLOAT(S, end_at, 1, 0, 1, 0.001, .label = "To",                                     \
                     .help = "Part of the sampling up to which it counts")
#define IP_MASK NINO_PORT(attn_mask, MASK, .optional = true, .help = "Where the picture counts")

NINO_NODE(
    ip_adapter, "IPAdapter", "IPAdapter", "ipadapter", "A picture as a prompt beside the text",
    NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(ipadapter, IPADAPTER), NINO_PORT(image, IMAGE),
                IP_MASK),
    NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
    NINO_PARAMS(ip_params,
                NINO_P_FLOAT(ip_params, weight, 1, -1, 3, 0.05, .label = "Weight",
                             .help = "How much the picture counts"),
                IP_RANGE(ip_params),
                NINO_P_ENUM(ip_params, weight_type,
                            NINO_WORDS("standard", "prompt is more important", "style transfer"), 0,
                            .label = "Weight type",
                            .help = "Where in the network the picture counts")),
    NINO_RUN(ip_run));

typedef struct ip_advanced_params {
    double weight;
    int64_t weight_type, combine_embeds;
    double start_at, end_at;
    int64_t embeds_scaling;
} ip_advanced_params;

static nino_status ip_advanced_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const ip_advanced_params *p = params;
    (void) ctx;
    return p->weight_type < IP_STYLE_PRECISE
               ? NINO_OK
               : nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "weight_type",
                                "\"%s\" is not supported", ip_weight_names[p->weight_type]);
}

static nino_status ip_advanced_run(nino_run *r, nino_error *err)
{
    const ip_advanced_params *p = r->params;
    const ip_ask ask = { .weight = p->weight,
                         .start = p->start_at,
                         .end = p->end_at,
                         .how = (ip_weight) p->weight_type,
                         .combine = (ip_combine) p->combine_embeds,
                         .scaling = (nino_ip_scaling) p->embeds_scaling,
                         .opposite = nino_in_image(r, 3),
                         .mask = nino_in_mask(r, 4),
                         .vision = NINO_IN(r, 5, clip_vision) };
    const nino_status st = ip_advanced_check(r->ctx, p, err);
    return st ? st : ip_ask_run(r, &ask, err);
}

NINO_NODE(ip_advanced, "IPAdapterAdvanced", "IPAdapter Advanced", "ipadapter",
          "Pictures as a prompt beside the text, with all settings",
          NINO_INPUTS(NINO_PORT(model, MODEL), NINO_PORT(ipadapter, IPADAPTER),
                      NINO_PORT(image, IMAGE),
                      NINO_PORT(image_negative, IMAGE, .optional = true,
                                .help = "What the negative side sees; nothing without it"),
                      IP_MASK,
                      NINO_PORT(clip_vision, CLIP_VISION, .optional = true,
                                .help = "The vision network; without it the loader's")),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(
              ip_advanced_params,
              NINO_P_FLOAT(ip_advanced_params, weight, 1, -1, 5, 0.05, .label = "Weight",
                           .help = "How much the pictures count"),
              NINO_P_ENUM(ip_advanced_params, weight_type, ip_weight_names, 0,
                          .label = "Weight type",
                          .help = "Where in the network the pictures count; the two precise ones "
                                  "are not supported"),
              NINO_P_ENUM(ip_advanced_params, combine_embeds, ip_combine_names, 0,
                          .label = "Combine", .help = "How several pictures become one prompt"),
              IP_RANGE(ip_advanced_params),
              NINO_P_ENUM(ip_advanced_params, embeds_scaling,
                          NINO_WORDS("V only", "K+V", "K+V w/ C penalty", "K+mean(V) w/ C penalty"),
                          0, .label = "Scaling", .help = "What the weight is a factor of")),
          NINO_RUN(ip_advanced_run, .check = ip_advanced_check));
