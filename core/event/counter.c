// The table of counters, and samples of them as records.
#include <ninodes/monitor.h>

#include <math.h>

// clang-format off
#define ROW(id_, sample_, kind_, unit_, name_, label_, lo_, hi_, text_, ...) \
    [NINO_COUNTER_##id_] = { .id = NINO_COUNTER_##id_, .sample = NINO_EV_##sample_, \
        .kind = NINO_COUNTER_##kind_, .unit = NINO_UNIT_##unit_, .name = name_, .label = label_, \
        .lo = lo_, .hi = hi_, .text = text_, __VA_ARGS__ },
static const nino_counter rows[] = { NINO_COUNTERS(ROW) };
#undef ROW
// clang-format on

_Static_assert(NINO_COUNTER_END <= NINO_COUNTER_MAX, "samples have room for every counter");

const nino_counter *nino_counter_row(unsigned id)
{
    return id != NINO_COUNTER_NONE && id < NINO_COUNTER_END ? &rows[id] : NULL;
}

const char *nino_unit_text(nino_unit unit)
{
    static const char *const texts[] = { "", "%", "B", "MHz", "W", "°C" };
    return (unsigned) unit < sizeof(texts) / sizeof(texts[0]) ? texts[unit] : "";
}

// ---- samples -----------------------------------------------------------------------------------

void nino_sample_clear(nino_sample *s, nino_event_kind kind)
{
    *s = (nino_sample){ .kind = (uint8_t) kind };
    for (size_t i = 0; i < NINO_COUNTER_MAX; i++)
        s->value[i] = NAN;
}

size_t nino_sample_write(const nino_sample *s, nino_event out[NINO_SAMPLE_RECORDS])
{
    size_t n = 0, slot = NINO_SAMPLE_VALUES;
    const nino_counter *c;
    for (unsigned id = 1; (c = nino_counter_row(id)); id++) {
        if (c->sample != s->kind)
            continue;
        if (slot == NINO_SAMPLE_VALUES) {
            out[n++] = (nino_event){ .t_ns = s->t_ns, .kind = s->kind };
            slot = 0;
        }
        out[n - 1].u.sample.id[slot] = (uint16_t) id;
        out[n - 1].u.sample.value[slot++] = s->value[id];
    }
    for (size_t i = 0; i < n; i++)
        out[i].sub = (uint8_t) (n - 1 - i);
    return n;
}

bool nino_sample_add(nino_sample *s, const nino_event *ev)
{
    if (s->is_whole || s->kind != ev->kind || s->t_ns != ev->t_ns) {
        nino_sample_clear(s, (nino_event_kind) ev->kind);
        s->t_ns = ev->t_ns;
    }
    for (size_t i = 0; i < NINO_SAMPLE_VALUES; i++)
        if (nino_counter_row(ev->u.sample.id[i]))
            s->value[ev->u.sample.id[i]] = ev->u.sample.value[i];
    s->is_whole = ev->sub == 0;
    return s->is_whole;
}

bool nino_sample_value(const nino_event *ev, nino_counter_id id, double *v)
{
    if (ev->kind != NINO_EV_DEVICE && ev->kind != NINO_EV_HOST)
        return false;
    for (size_t i = 0; i < NINO_SAMPLE_VALUES; i++)
        if (ev->u.sample.id[i] == id) {
            *v = ev->u.sample.value[i];
            return true;
        }
    return false;
}
