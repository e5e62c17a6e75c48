// Pictures of an unfinished latent, as clients expect them: as JPEG, since some take every PNG for a
// result; and as large as pages show them: at most at their own size, and a latent has an eighth of it.
#include "core/serve/serve_priv.h"

#include "core/media/image.h"

#include <stdlib.h>

enum { PREVIEW_SIDE = 512, PREVIEW_QUALITY = 95 };

// Where a row or a column of the large picture lies between two of the small one.
typedef struct between {
    int32_t low, high;
    float share; // of the high one
} between;

static void place(between *out, int large, int small)
{
    for (int i = 0; i < large; i++) {
        const float at = ((float) i + 0.5f) * (float) small / (float) large - 0.5f;
        const int low = at < 0 ? 0 : (int) at;
        out[i] = (between){ low, low + 1 < small ? low + 1 : low, at < 0 ? 0 : at - (float) low };
    }
}

static uint8_t *enlarge(const nino_image *i, int width, int height)
{
    uint8_t *out = malloc((size_t) width * (size_t) height * 3);
    between *x = malloc((size_t) width * sizeof(*x)), *y = malloc((size_t) height * sizeof(*y));
    const float *from = nino_array_f32(i->pixels);
    const bool ok = out && x && y;
    if (ok) {
        place(x, width, i->width);
        place(y, height, i->height);
    }
    for (int r = 0; ok && r < height; r++) {
        const float *a = from + (size_t) y[r].low * (size_t) (i->width * i->channels);
        const float *b = from + (size_t) y[r].high * (size_t) (i->width * i->channels);
        uint8_t *to = out + (size_t) r * (size_t) width * 3;
        for (int c = 0; c < width; c++)
            for (int k = 0; k < 3; k++) {
                const int l = x[c].low * i->channels + (i->channels < 3 ? 0 : k);
                const int h = x[c].high * i->channels + (i->channels < 3 ? 0 : k);
                const float top = a[l] + (a[h] - a[l]) * x[c].share;
                const float low = b[l] + (b[h] - b[l]) * x[c].share;
                *to++ = (uint8_t) ((top + (low - top) * y[r].share) * 255 + 0.5f);
            }
    }
    free(x);
    free(y);
    if (!ok)
        free(out);
    return ok ? out : NULL;
}

bool serve_preview(nino_buf *out, const void *png, size_t len)
{
    nino_image i;
    if (nino_image_read(png, len, "preview", true, &i, NULL))
        return false;
    const int large = i.width > i.height ? i.width : i.height;
    const int side = large < PREVIEW_SIDE ? PREVIEW_SIDE : large;
    const int w = (int) ((int64_t) i.width * side / large);
    const int h = (int) ((int64_t) i.height * side / large);
    uint8_t *rgb = w > 0 && h > 0 ? enlarge(&i, w, h) : NULL;
    const bool ok = rgb && !nino_jpeg_encode(out, rgb, w, h, PREVIEW_QUALITY, NULL);
    free(rgb);
    nino_image_release(&i);
    return ok;
}
