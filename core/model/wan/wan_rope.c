// Rotary position embedding of Wan: frame, row and column share the channels of a head.
// Sources: Su et al., RoFormer (2021); Wan-Video/Wan2.1 model.py (rope_params, rope_apply).
#include "core/model/wan/wan.h"

#include <math.h>

#define THETA 10000.0

// cos and sin of positions 0 .. n-1 on an axis of `channels`: [n][channels]
static void fill_axis(float *to, int64_t n, int channels)
{
    for (int64_t p = 0; p < n; p++)
        for (int k = 0; k < channels / 2; k++) {
            const double angle = (double) p / pow(THETA, 2.0 * k / channels);
            *to++ = (float) cos(angle);
            *to++ = (float) sin(angle);
        }
}

static float *wan_rope_put(float *to, const float *from, int n)
{
    for (int i = 0; i < n; i++)
        *to++ = from[i];
    return to;
}

nino_array *wan_rope_make(const void *key)
{
    const wan_size *s = key;
    const int side = NINO_WAN_HEAD / 6 * 2, time = NINO_WAN_HEAD - 2 * side; // 42, 42 and 44
    const int64_t t = s->frames * time, h = s->h * side, w = s->w * side;
    nino_array *axes = nino_array_create(NINO_F32, NINO_SHAPE(t + h + w));
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(s->frames * s->h * s->w, NINO_WAN_HEAD));
    if (!axes || !a) {
        nino_array_unref(&axes);
        nino_array_unref(&a);
        return NULL;
    }
    float *frames = nino_array_f32(axes), *rows = frames + t, *columns = rows + h;
    fill_axis(frames, s->frames, time);
    fill_axis(rows, s->h, side);
    fill_axis(columns, s->w, side);
    float *to = nino_array_f32(a);
    for (int64_t f = 0; f < s->frames; f++)
        for (int64_t y = 0; y < s->h; y++)
            for (int64_t x = 0; x < s->w; x++) {
                to = wan_rope_put(to, frames + f * time, time);
                to = wan_rope_put(to, rows + y * side, side);
                to = wan_rope_put(to, columns + x * side, side);
            }
    nino_array_unref(&axes);
    return a;
}
