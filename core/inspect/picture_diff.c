// Two pictures, pixel by pixel.
#include <ninodes/picture.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/error.h"

nino_status nino_picture_compare(const nino_picture *a, const nino_picture *b,
                                 nino_picture_diff *out, nino_error *err)
{
    nino_picture_diff d = { .psnr = INFINITY };
    double sum = 0, power = 0;
    uint64_t n_values = 0;
    if (a->width != b->width || a->height != b->height || a->frames != b->frames)
        return nino_fail(err, NINO_ERR_RANGE, "", "%dx%d pixels, %d frames against %dx%d, %d",
                         a->width, a->height, a->frames, b->width, b->height, b->frames);
    const uint64_t frame = (uint64_t) a->width * (uint64_t) a->height;
    d.n_pixels = frame * (uint64_t) a->frames;
    for (uint64_t i = 0; i < d.n_pixels; i++) {
        const uint8_t *p = a->rgba + 4 * i, *q = b->rgba + 4 * i;
        const int channels = p[3] == 255 && q[3] == 255 ? 3 : 4;
        int most = 0;
        for (int k = 0; k < channels; k++) {
            const int v = abs(p[k] - q[k]);
            most = v > most ? v : most;
            sum += v * v;
            power += p[k] * p[k];
        }
        n_values += (uint64_t) channels;
        if (most && !d.n_differ++) {
            d.frame = (int) (i / frame);
            d.y = (int) (i % frame / (uint64_t) a->width);
            d.x = (int) (i % (uint64_t) a->width);
        }
        d.most = most > d.most ? most : d.most;
    }
    d.nmse = power > 0 ? sum / power : sum;
    if (sum > 0)
        d.psnr = 10 * log10(255.0 * 255 * (double) n_values / sum);
    *out = d;
    return NINO_OK;
}
