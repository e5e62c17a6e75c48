// Maps in bands of rows: kept, cut out, and their statistics merged.
#include "core/model/bands.h"

#include "core/op/plan/plan.h"

#include <stdlib.h>

void nino_bands_begin(nino_bands *m, nino_stream *s, bool on_host, int groups)
{
    *m = (nino_bands){ .s = s, .on_host = on_host, .groups = groups };
}

static void bands_release(nino_band *b)
{
    nino_unref(b->tensor);
    nino_array_unref(&b->array);
    b->tensor = NULL;
}

void nino_bands_end(nino_bands *m)
{
    for (int i = 0; i < m->n; i++)
        bands_release(&m->band[i]);
    nino_unref(m->stat);
    free(m->band);
    *m = (nino_bands){ 0 };
}

static nino_band *bands_add(nino_bands *m)
{
    if (m->n == m->room) {
        const int room = m->room ? 2 * m->room : 16;
        nino_band *b = realloc(m->band, (size_t) room * sizeof(*b));
        if (!b)
            return nino_stream_fail(m->s, NINO_ERR_NOMEM, "bands", "no host memory for %d", room);
        m->band = b;
        m->room = room;
    }
    m->band[m->n] = (nino_band){ .first = m->h };
    return &m->band[m->n++];
}

static size_t bands_row(const nino_bands *m)
{
    return (size_t) (m->w * m->c) * nino_dtype_size(m->type);
}

void nino_bands_put(nino_bands *m, nino_tensor *rows)
{
    nino_band *b = rows ? bands_add(m) : NULL;
    if (!b) {
        nino_unref(rows);
        return;
    }
    b->n = nino_dim(rows, 1);
    m->h += b->n;
    m->w = nino_dim(rows, 2);
    m->c = nino_dim(rows, 3);
    m->type = nino_dtype_of(rows);
    if (m->groups) { // together: what is downloaded waits for the device
        nino_tensor *stat = nino_group_stat(m->s, nino_ref(rows), m->groups);
        m->stat = nino_own(m->s, m->stat ? nino_concat(m->s, m->stat, stat, 0) : stat);
    }
    if (!m->on_host)
        b->tensor = nino_own(m->s, rows);
    else if (nino_stream_is_plan(m->s)) { // nothing would be in it
        nino_plan_carry(nino_stream_backend(m->s), bands_row(m) * (size_t) b->n, true);
        nino_unref(rows);
    } else
        b->array = nino_download(m->s, rows, m->type);
}

// The same from the host. A plan has the bands, and nothing in them.
static nino_tensor *bands_upload(nino_bands *m, int64_t first, int64_t end)
{
    const size_t row = bands_row(m);
    nino_host_piece *piece = malloc((size_t) (m->n + 1) * sizeof(*piece));
    int n = 0;
    if (!piece)
        return nino_stream_fail(m->s, NINO_ERR_NOMEM, "bands", "no host memory for %d", m->n);
    for (int i = m->n_dropped; i < m->n; i++) {
        const nino_band *b = &m->band[i];
        const int64_t from = b->first > first ? b->first : first;
        const int64_t to = b->first + b->n < end ? b->first + b->n : end;
        if (from < to)
            piece[n++] = (nino_host_piece){
                b->array ? (const char *) b->array->data + (size_t) (from - b->first) * row : NULL,
                (size_t) (to - from) * row
            };
    }
    nino_tensor *t =
        nino_upload_pieces(m->s, NINO_SHAPE(1, end - first, m->w, m->c), m->type, piece, n);
    free(piece);
    nino_plan_carry(nino_stream_backend(m->s), row * (size_t) (end - first), false);
    return t;
}

nino_tensor *nino_bands_get(nino_bands *m, int64_t first, int64_t end)
{
    nino_tensor *out = NULL;
    if (nino_stream_status(m->s, NULL))
        return NULL;
    if (m->on_host)
        return bands_upload(m, first, end);
    for (int i = m->n_dropped; i < m->n; i++) {
        const nino_band *b = &m->band[i];
        const int64_t from = b->first > first ? b->first : first;
        const int64_t to = b->first + b->n < end ? b->first + b->n : end;
        if (from >= to)
            continue;
        nino_tensor *part = nino_slice(m->s, nino_ref(b->tensor), 1, from - b->first, to - from);
        out = out ? nino_concat(m->s, out, part, 1) : part;
    }
    return out;
}

void nino_bands_drop(nino_bands *m, int64_t row)
{
    for (; m->n_dropped < m->n; m->n_dropped++) {
        nino_band *b = &m->band[m->n_dropped];
        if (b->first + b->n > row)
            return;
        nino_unref(b->tensor);
        nino_array_unref(&b->array);
        b->tensor = NULL;
    }
}

// One more part of n values goes into a group's mean and sum of squared deviations (Chan).
static void bands_merge(double sum[2], double count, const float *stat, double n)
{
    const double d = (double) stat[0] + (double) stat[1] - sum[0];
    sum[0] += d * n / (count + n);
    sum[1] += n * (double) stat[2] + d * d * count * n / (count + n);
}

nino_tensor *nino_bands_stat(nino_bands *m)
{
    const nino_shape shape = NINO_SHAPE(1, m->groups, 3);
    nino_array *all = nino_array_create(NINO_F32, shape);
    double(*sum)[2] = calloc((size_t) m->groups, sizeof(*sum)), count = 0;
    nino_tensor *t = NULL;
    const int64_t width = m->groups ? m->w * (m->c / m->groups) : 0; // values of a group in a row
    nino_array *part = nino_download(m->s, m->stat, NINO_F32);
    m->stat = NULL;
    if (!all || !sum) {
        nino_stream_fail(m->s, NINO_ERR_NOMEM, "bands", "no host memory for statistics");
        goto end;
    }
    for (int i = 0; i < m->n && part; i++) {
        const double n = (double) (m->band[i].n * width);
        const float *stat = nino_array_f32(part) + (size_t) (i * m->groups) * 3;
        for (int g = 0; g < m->groups; g++)
            bands_merge(sum[g], count, stat + (size_t) g * 3, n);
        count += n;
    }
    if (!nino_stream_status(m->s, NULL)) {
        for (int g = 0; g < m->groups; g++) {
            float *to = nino_array_f32(all) + (size_t) g * 3;
            to[0] = (float) sum[g][0];
            to[1] = (float) (sum[g][0] - (double) to[0]);
            to[2] = (float) (count > 0 ? sum[g][1] / count : 0);
        }
        t = nino_upload(m->s, all, NINO_F32);
    }
end:
    free(sum);
    nino_array_unref(&part);
    nino_array_unref(&all);
    return t;
}
