// Upscale models of any size with random weights, under each set of names.
#pragma once
#include "tests/random_net.h"

typedef enum up_names { UP_OLD, UP_NEW, UP_BSRGAN } up_names;

typedef struct random_up {
    up_names names;
    const char *prefix;        // NULL: none
    int width, grown, blocks;  // channels, those that a convolution of a block adds
    int n_up, unshuffle;       // doublings; 0 or 1: none
    bool is_plus;              // ESRGAN+
    int convs, scale;          // compact, of `width` channels, when convs is not 0
    const char *without, *odd; // a tensor that is left out; one that has a row too many
    int channels;              // of the picture; 0: 3
    net_fill fill;
} random_up;

static inline void random_up_esrgan(net_list *l, const random_up *r)
{
    static const char *const blocks[] = { "model.1.sub.%d.RDB%d.", "body.%d.rdb%d.",
                                          "RRDB_trunk.%d.RDB%d." };
    static const char *const up[] = { "model.%d", "conv_up%d", "upconv%d" };
    const int f = r->unshuffle ? r->unshuffle : 1, w = r->width, c = r->channels ? r->channels : 3;
    const bool is_old = r->names == UP_OLD;
    char base[64], name[96];
    net_conv(l, w, c * f * f, 3, "%s", is_old ? "model.0" : "conv_first");
    for (int b = 0; b < r->blocks; b++)
        for (int d = 1; d <= 3; d++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(base, sizeof(base), blocks[r->names], b, d);
#pragma GCC diagnostic pop
            for (int k = 1; k <= 5; k++)
                net_conv(l, k < 5 ? r->grown : w, w + (k - 1) * r->grown, 3, "%sconv%d%s", base, k,
                         is_old ? ".0" : "");
            snprintf(name, sizeof(name), "%sconv1x1.weight", base);
            if (r->is_plus)
                net_add(l, name, 4, (const int64_t[]){ r->grown, w, 1, 1 });
        }
    snprintf(name, sizeof(name), "model.1.sub.%d", r->blocks);
    net_conv(l, w, w, 3, "%s", is_old ? name : r->names == UP_NEW ? "conv_body" : "trunk_conv");
    for (int i = 1; i <= r->n_up; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof(name), up[r->names], is_old ? 3 * i : i);
#pragma GCC diagnostic pop
        net_conv(l, w, w, 3, "%s", name);
    }
    snprintf(base, sizeof(base), "model.%d", 3 * r->n_up + 2);
    snprintf(name, sizeof(name), "model.%d", 3 * r->n_up + 4);
    net_conv(l, w, w, 3, "%s", is_old ? base : r->names == UP_NEW ? "conv_hr" : "HRconv");
    net_conv(l, c, w, 3, "%s", is_old ? name : "conv_last");
}

static inline void random_up_compact(net_list *l, const random_up *r)
{
    const int c = r->channels ? r->channels : 3;
    for (int i = 0; i < r->convs; i++) {
        char slope[32];
        const bool is_last = i + 1 == r->convs;
        net_conv(l, is_last ? c * r->scale * r->scale : r->width, i ? r->width : c, 3, "body.%d",
                 2 * i);
        snprintf(slope, sizeof(slope), "body.%d.weight", 2 * i + 1);
        if (!is_last)
            net_add(l, slope, 1, (const int64_t[]){ r->width });
    }
}

static inline void random_up_save(const random_up *r, const char *path, nino_dtype type)
{
    net_list l = { .prefix = r->prefix };
    (r->convs ? random_up_compact : random_up_esrgan)(&l, r);
    for (int i = 0; i < l.n; i++)
        if (r->without && !strcmp(l.t[i].name, r->without)) {
            memmove(l.t + i, l.t + i + 1, (size_t) (l.n - i - 1) * sizeof(*l.t));
            l.n--;
            i--;
        } else if (r->odd && !strcmp(l.t[i].name, r->odd)) {
            l.t[i].dim[0]++;
        }
    net_save(&l, path, type, r->fill);
}
