// What control networks add to the maps of a diffusion network.
#include "core/model/residuals.h"

// Whether b goes with every position of a.
static bool is_spread(const nino_tensor *a, const nino_tensor *b)
{
    nino_op_rows rows;
    return nino_op_broadcast(nino_shape_of(a), nino_shape_of(b), &rows);
}

void nino_residual_put(nino_stream *s, nino_tensor **slot, nino_tensor *t, float strength)
{
    if (strength != 1)
        t = nino_scale(s, t, strength, 0);
    if (!*slot)
        *slot = t;
    else if (is_spread(t, *slot)) // of the two one may have a value a channel only
        *slot = nino_add(s, t, *slot);
    else
        *slot = nino_add(s, *slot, t);
}

nino_tensor *nino_residual_take(nino_stream *s, nino_tensor *map, nino_tensor **slot,
                                const char *where)
{
    nino_tensor *t = *slot;
    *slot = NULL;
    if (!t || !map) {
        nino_unref(t);
        return map;
    }
    if (nino_shape_equal(nino_shape_of(map), nino_shape_of(t)))
        return nino_add(s, t, map); // in the residual's memory: the map is often used once more
    if (is_spread(map, t))
        return nino_add(s, map, t);
    nino_stream_fail(s, NINO_ERR_ARG, where,
                     "what the control network adds is %lld wide where this model's map is %lld "
                     "wide: it is for another model",
                     (long long) nino_dim(t, -1), (long long) nino_dim(map, -1));
    nino_unref(t);
    nino_unref(map);
    return NULL;
}

nino_tensor *nino_residual_take_tokens(nino_stream *s, nino_tensor *x, int64_t first,
                                       nino_tensor **slot, const char *where)
{
    const int64_t batch = nino_dim(x, 0), n = nino_dim(x, 1), c = nino_dim(x, 2);
    nino_tensor *t = *slot;
    const int64_t has = nino_dim(t, 1), rest = n - first - has;
    if (t && x && nino_dim(t, 2) == c && rest >= 0) {
        if (first)
            t = nino_concat(s, nino_zeros(s, NINO_SHAPE(batch, first, c), nino_dtype_of(t)), t, 1);
        if (rest)
            t = nino_concat(s, t, nino_zeros(s, NINO_SHAPE(batch, rest, c), nino_dtype_of(x)), 1);
        *slot = t;
    }
    return nino_residual_take(s, x, slot, where);
}

void nino_residuals_release(nino_residuals *r)
{
    for (int i = 0; r && i < NINO_RESIDUALS; i++) {
        nino_unref(r->after[i]);
        nino_unref(r->late[i]);
        r->after[i] = r->late[i] = NULL;
    }
    if (r) {
        nino_unref(r->middle);
        r->middle = NULL;
    }
}
