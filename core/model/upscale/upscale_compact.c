// SRVGGNetCompact, the small network of realesr-general and realesr-animevideo: convolutions with a
// PReLU behind each, then pixels out of channels, added to the picture enlarged as it is.
// Source: Wang et al., Real-ESRGAN (2021); names: chaiNNer-org/spandrel.
#include "core/model/loader.h"
#include "core/model/upscale/upscale.h"

#include <stdio.h>

#define MAX_SCALE 8

typedef struct layer {
    nino_conv conv;
    nino_weight *slope; // of the PReLU; NULL: the last one
} layer;

typedef struct compact_net {
    layer *layer;
    int n;
} compact_net;

static nino_tensor *compact_run(nino_stream *s, const nino_upscale *u, nino_tensor *x)
{
    const compact_net *net = u->net;
    nino_tensor *y = nino_ref(x);
    nino_scope_begin(s, NINO_EV_STAGE, "upscale", 0, 0);
    for (int i = 0; i < net->n; i++) {
        y = nino_conv2d(s, y, &net->layer[i].conv);
        if (net->layer[i].slope)
            y = nino_prelu(s, y, net->layer[i].slope);
    }
    x = nino_shuffle(s, x, true, 1, u->scale, 0, 3, NULL);
    x = nino_shuffle(s, y, true, 1, u->scale, 0, 3, x);
    nino_scope_end(s);
    return x;
}

static void compact_load_layer(nino_loader *l, int i, int n, int64_t cin, layer *out)
{
    const nino_name name = nino_name_of("body.%d", 2 * i);
    nino_load_conv(l, name.s, cin, &out->conv);
    if (!l->st && (out->conv.w->role != NINO_W_CONV3 || !out->conv.b))
        nino_load_fail(l, NINO_ERR_FORMAT, "%s%s is no 3x3 convolution with a bias", l->prefix,
                       name.s);
    if (i + 1 < n)
        nino_load_vector(l, nino_name_of("body.%d.weight", 2 * i + 1).s,
                         nino_load_rows(l, out->conv.w), &out->slope);
}

nino_status nino_upscale_compact_load(nino_weights *file, const char *prefix, nino_upscale *u,
                                      nino_error *err)
{
    nino_loader l = { .file = file, .prefix = prefix, .layers = &u->layers, .err = err };
    compact_net *net = nino_load_alloc(&l, 1, sizeof(*net));
    const int count = nino_load_count(&l, "body.");
    int64_t c = 3;
    if (count < 3 || count % 2 == 0)
        nino_load_fail(&l, NINO_ERR_FORMAT,
                       "%sbody has %d layers: convolutions with a PReLU "
                       "between them are an odd number",
                       prefix, count);
    layer *layers = nino_load_alloc(&l, (size_t) (count + 1) / 2, sizeof(layer));
    for (int i = 0; 2 * i < count && !l.st; i++) {
        compact_load_layer(&l, i, (count + 1) / 2, c, &layers[i]);
        c = nino_load_rows(&l, layers[i].conv.w);
    }
    int64_t scale = 1;
    while (scale < MAX_SCALE && 3 * scale * scale != c)
        scale++;
    if (!l.st && 3 * scale * scale != c)
        nino_load_fail(&l, NINO_ERR_UNSUPPORTED,
                       "it makes %lld channels, which are not pictures of 3", (long long) c);
    if (l.st)
        return l.st;
    *net = (compact_net){ layers, (count + 1) / 2 };
    u->net = net;
    u->run = compact_run;
    u->scale = (int) scale;
    snprintf(u->detail, sizeof(u->detail), "compact (SRVGG), %d convolutions of %lld channels, %dx",
             net->n, (long long) layers[0].conv.w->n, u->scale);
    return NINO_OK;
}
