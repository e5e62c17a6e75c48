// Kernels and transfers of a history: sorted by start on each track, with sums of busy time at
// check points, so that a pixel column of a plot costs two binary searches however much happened
// in it.
#include "core/monitor/history/history_priv.h"

enum {
    LOOK_BACK = 16
}; // slices that may overlap on one track (queues that run kernels side by side)

history_track *history_track_of(const nino_history *h, uint16_t number)
{
    for (size_t i = 0; i < h->n_tracks; i++)
        if (h->track[i]->number == number)
            return h->track[i];
    return NULL;
}

history_track *history_track_get(nino_history *h, uint16_t number)
{
    history_track *t = history_track_of(h, number);
    if (t || h->n_tracks == HISTORY_TRACKS || !(t = calloc(1, sizeof(*t))))
        return t;
    t->number = number;
    size_t at = h->n_tracks++; // threads first, by number
    while (at > 0 && h->track[at - 1]->number > number) {
        h->track[at] = h->track[at - 1];
        at--;
    }
    h->track[at] = t;
    return t;
}

size_t nino_history_tracks(const nino_history *h, nino_track_info *out, size_t max)
{
    for (size_t i = 0; i < h->n_tracks && i < max; i++)
        out[i] = (nino_track_info){ .number = h->track[i]->number,
                                    .n_rows = (uint16_t) h->track[i]->n_rows,
                                    .n_slices = h->track[i]->slices.n };
    return h->n_tracks;
}

// ---- families ----------------------------------------------------------------------------------

size_t nino_history_family_of(const nino_history *h, uint32_t family_name)
{
    const int8_t f = family_name < h->n_names ? h->name[family_name].family : -1;
    return f >= 0 ? (size_t) f : NINO_HISTORY_FAMILIES - 1;
}

unsigned nino_history_bits(const nino_history *h, uint32_t kernel_name)
{
    return kernel_name < h->n_names ? h->name[kernel_name].bits : 0;
}

static size_t family_add(nino_history *h, uint32_t name)
{
    if (name < h->n_names && h->name[name].family < 0 && name &&
        h->n_families < NINO_HISTORY_FAMILIES - 1) {
        h->name[name].family = (int8_t) h->n_families;
        h->family[h->n_families++] = name;
    }
    return nino_history_family_of(h, name);
}

size_t nino_history_families(const nino_history *h, const char **out, size_t max)
{
    for (size_t i = 0; i < h->n_families && i < max; i++)
        out[i] = h->name[h->family[i]].text;
    return h->n_families;
}

// ---- adding ------------------------------------------------------------------------------------

static bool add_check_point(history_track *t)
{
    if (!history_reserve((void **) &t->busy, &t->cap_busy, t->n_busy, sizeof(*t->busy)))
        return false;
    memcpy(t->busy[t->n_busy++], t->sum, sizeof(t->sum));
    return true;
}

bool history_slice_add(nino_history *h, const nino_event *ev)
{
    history_track *t = history_track_get(h, ev->track);
    if (!t)
        return false;
    const size_t f = family_add(h, ev->u.kernel.family);
    if (t->slices.n % HISTORY_STRIDE == 0 && t->slices.n / HISTORY_STRIDE == t->n_busy &&
        !add_check_point(t))
        return false;
    const size_t at = history_list_add(&t->slices, ev);
    if (at == SIZE_MAX)
        return false;
    // Check points behind an insertion: the new slice moves in, the last one before them moves out.
    for (size_t k = at / HISTORY_STRIDE + 1; k < t->n_busy; k++) {
        if (k * HISTORY_STRIDE >= t->slices.n)
            break;
        const nino_event *out = &t->slices.ev[k * HISTORY_STRIDE];
        t->busy[k][f] += ev->u.kernel.dur_ns;
        t->busy[k][nino_history_family_of(h, out->u.kernel.family)] -= out->u.kernel.dur_ns;
    }
    t->sum[f] += ev->u.kernel.dur_ns;
    if (ev->kind == NINO_EV_KERNEL && nino_kernel_bits(ev) && ev->name < h->n_names)
        h->name[ev->name].bits = (uint8_t) nino_kernel_bits(ev);
    h->kept++;
    return true;
}

void history_drop_slices(nino_history *h, history_track *t, uint64_t before)
{
    history_list *l = &t->slices;
    const size_t n = nino_history_lower(l->ev, l->n, before);
    if (!n)
        return;
    memmove(l->ev, l->ev + n, (l->n - n) * sizeof(*l->ev));
    l->n -= n;
    h->kept -= n;
    t->n_busy = 0; // there is room for fewer check points than before
    memset(t->sum, 0, sizeof(t->sum));
    for (size_t i = 0; i < l->n; i++) {
        if (i % HISTORY_STRIDE == 0)
            add_check_point(t);
        t->sum[nino_history_family_of(h, l->ev[i].u.kernel.family)] += l->ev[i].u.kernel.dur_ns;
    }
}

// ---- reading -----------------------------------------------------------------------------------

const nino_event *nino_history_slices(const nino_history *h, uint16_t track, size_t *n)
{
    const history_track *t = history_track_of(h, track);
    *n = t ? t->slices.n : 0;
    return t ? t->slices.ev : NULL;
}

size_t nino_history_slice_at(const nino_history *h, uint16_t track, uint64_t t)
{
    const history_track *k = history_track_of(h, track);
    return k ? nino_history_lower(k->slices.ev, k->slices.n, t) : 0;
}

// Busy time up to `ns`.
static void busy_until(const nino_history *h, const history_track *t, uint64_t ns,
                       uint64_t out[NINO_HISTORY_FAMILIES])
{
    const nino_event *ev = t->slices.ev;
    const size_t n = nino_history_lower(ev, t->slices.n, ns);
    const size_t from = n / HISTORY_STRIDE;
    memset(out, 0, NINO_HISTORY_FAMILIES * sizeof(*out));
    size_t i = 0;
    if (from < t->n_busy) {
        memcpy(out, t->busy[from], sizeof(t->busy[from]));
        i = from * HISTORY_STRIDE;
    } else if (t->n_busy) { // n is the end, and a multiple of the stride
        memcpy(out, t->busy[t->n_busy - 1], sizeof(t->busy[0]));
        i = (t->n_busy - 1) * HISTORY_STRIDE;
    }
    for (; i < n; i++)
        out[nino_history_family_of(h, ev[i].u.kernel.family)] += ev[i].u.kernel.dur_ns;
    for (size_t k = n; k > 0 && n - k < LOOK_BACK; k--) { // the part after ns
        const nino_event *e = &ev[k - 1];
        if (e->t_ns + e->u.kernel.dur_ns > ns)
            out[nino_history_family_of(h, e->u.kernel.family)] -= e->t_ns + e->u.kernel.dur_ns - ns;
    }
}

void nino_history_busy(const nino_history *h, uint16_t track, uint64_t t0, uint64_t t1,
                       uint64_t out[NINO_HISTORY_FAMILIES])
{
    const history_track *t = history_track_of(h, track);
    memset(out, 0, NINO_HISTORY_FAMILIES * sizeof(*out));
    if (!t || t1 <= t0)
        return;
    uint64_t before[NINO_HISTORY_FAMILIES];
    busy_until(h, t, t0, before);
    busy_until(h, t, t1, out);
    for (size_t f = 0; f < NINO_HISTORY_FAMILIES; f++)
        out[f] = out[f] > before[f] ? out[f] - before[f] : 0;
}
