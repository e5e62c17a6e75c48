// Samples of trace files older than the table of counters: records with fixed fields in files of
// the own form, and zeros for what was not known.
#include "core/monitor/trace/trace.h"

#include <math.h>
#include <string.h>

// The fields of a record behind its first 24 bytes.
typedef struct old_device {
    float busy, mhz, watt, celsius; // NaN: not known
    uint64_t vram_used, gtt_used, ram_available;
} old_device;

typedef struct old_host { // MiB
    uint32_t vram_total, gtt_total, ram_total, swap_total, swap_used, own;
    float cpu_busy, fabric_mhz, memory_mhz;
    uint16_t throttle, gtt_others; // of 4 MiB
} old_host;

_Static_assert(sizeof(old_device) == sizeof(((nino_event *) 0)->u) &&
                   sizeof(old_host) == sizeof(((nino_event *) 0)->u),
               "as they were written");

static void take_device(double *v, const old_device *d)
{
    v[NINO_COUNTER_GPU_BUSY] = (double) d->busy;
    v[NINO_COUNTER_GPU_CLOCK] = (double) d->mhz;
    v[NINO_COUNTER_GPU_POWER] = (double) d->watt;
    v[NINO_COUNTER_GPU_TEMPERATURE] = (double) d->celsius;
    v[NINO_COUNTER_VRAM_USED] = (double) d->vram_used;
    v[NINO_COUNTER_GTT_USED] = (double) d->gtt_used;
    v[NINO_COUNTER_RAM_AVAILABLE] = (double) d->ram_available;
}

static void take_host(double *v, const old_host *h)
{
    const double mib = 1 << 20;
    v[NINO_COUNTER_VRAM_TOTAL] = h->vram_total * mib;
    v[NINO_COUNTER_GTT_TOTAL] = h->gtt_total * mib;
    v[NINO_COUNTER_RAM_TOTAL] = h->ram_total * mib;
    v[NINO_COUNTER_SWAP_TOTAL] = h->swap_total * mib;
    v[NINO_COUNTER_SWAP_USED] = h->swap_used * mib;
    v[NINO_COUNTER_PROCESS_RAM] = h->own * mib;
    v[NINO_COUNTER_CPU_BUSY] = (double) h->cpu_busy;
    v[NINO_COUNTER_FABRIC_CLOCK] = (double) h->fabric_mhz;
    v[NINO_COUNTER_MEMORY_CLOCK] = (double) h->memory_mhz;
    v[NINO_COUNTER_GPU_THROTTLE] = h->throttle;
    v[NINO_COUNTER_GTT_OTHERS] = h->gtt_others * mib * 4;
}

void nino_trace_zeros(nino_sample *s)
{
    static const uint8_t zero_is_unknown[] = { NINO_COUNTER_VRAM_USED,     NINO_COUNTER_GTT_USED,
                                               NINO_COUNTER_RAM_AVAILABLE, NINO_COUNTER_GTT_TOTAL,
                                               NINO_COUNTER_RAM_TOTAL,     NINO_COUNTER_VRAM_TOTAL,
                                               NINO_COUNTER_PROCESS_RAM };
    double *v = s->value;
    for (size_t i = 0; i < sizeof(zero_is_unknown); i++)
        if (v[zero_is_unknown[i]] == 0)
            v[zero_is_unknown[i]] = NAN;
    if (v[NINO_COUNTER_SWAP_TOTAL] == 0)
        v[NINO_COUNTER_SWAP_USED] = NAN;
    if (isnan(v[NINO_COUNTER_GTT_TOTAL])) // no device that would tell any of these
        v[NINO_COUNTER_GTT_OTHERS] = v[NINO_COUNTER_GPU_THROTTLE] = NAN;
}

void nino_trace_add_old(nino_trace_batch *b, const nino_event *ev)
{
    old_device d;
    old_host h;
    nino_sample s;
    nino_sample_clear(&s, (nino_event_kind) ev->kind);
    s.t_ns = ev->t_ns;
    memcpy(&d, &ev->u, sizeof(d));
    memcpy(&h, &ev->u, sizeof(h));
    if (ev->kind == NINO_EV_DEVICE) {
        take_device(s.value, &d);
    } else if (ev->kind == NINO_EV_HOST) {
        take_host(s.value, &h);
    } else {
        nino_trace_batch_add(b, *ev);
        return;
    }
    nino_trace_zeros(&s);
    nino_trace_batch_sample(b, &s, ev->track);
}
