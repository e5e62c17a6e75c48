// Where the chunks of a clip lie for video VAEs that are not causal in time.
// Latent frame 0 is frame 0, latent frame k > 0 is frames 1 + (k-1) tc ... k tc. The first frame of
// a chunk stands for one frame only, so a later chunk begins one latent frame earlier than what it
// shares with the one before it.
#include "core/tile/video_tiles.h"

bool nino_chunk_get(int64_t t, int chunk, int overlap, int tc, int radius, int i, nino_chunk *out)
{
    const int64_t shared = overlap < 0 ? 0 : overlap;
    const int64_t size = chunk < shared + 2 ? shared + 2 : chunk, step = size - shared - 1;
    const int64_t end = size + (i - 1) * step; // of the chunk before
    if (t < 1 || (i > 0 && end >= t))
        return false;
    if (i == 0) {
        *out = (nino_chunk){ .n = size < t ? size : t };
        return true;
    }
    const int64_t first = end - shared - 1;
    *out = (nino_chunk){ .first = first, .n = first + size < t ? size : t - first };
    out->from = 1 + first * tc; // of latent frame first + 1
    out->skip = 1;
    out->blend = shared * tc;
    // Latent frames that both have seen enough around: first + 1 + radius ... end - 1 - radius.
    if (radius >= 0 && shared >= (int64_t) radius * 2) {
        const int64_t cut = first + 1 + (shared + 1) / 2;
        out->skip += (cut - first - 1) * tc;
        out->from += (cut - first - 1) * tc;
        out->blend = 0;
    }
    return true;
}
