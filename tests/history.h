// Made-up runs for tests of what reads a history.
#pragma once
#include "tests/test.h"

#include <math.h>
#include <ninodes/history.h>

typedef struct fake_run {
    nino_history *h;
    uint64_t t; // now
    uint32_t n_names, scope;
    char name[64][64];
} fake_run;

static inline const char *fake_name(void *priv, uint32_t id)
{
    const fake_run *r = priv;
    return id < r->n_names ? r->name[id] : "";
}

static inline uint32_t fake_id(fake_run *r, const char *text)
{
    for (uint32_t i = 0; i < r->n_names; i++)
        if (!strcmp(r->name[i], text))
            return i;
    CHECK(r->n_names < 64);
    snprintf(r->name[r->n_names], sizeof(r->name[0]), "%s", text);
    return r->n_names++;
}

static inline void fake_add(fake_run *r, nino_event e)
{
    e.t_ns = e.t_ns ? e.t_ns : r->t;
    nino_history_add(r->h, &e, 1, fake_name, r);
}

static inline fake_run fake_begin(void)
{
    fake_run r = { .h = nino_history_create(0), .t = 1000000000, .n_names = 1, .scope = 1 };
    CHECK(r.h);
    fake_add(&r, (nino_event){ .kind = NINO_EV_JOB, .id = 1, .name = fake_id(&r, "job") });
    return r;
}

static inline uint32_t fake_scope(fake_run *r, nino_event_kind kind, const char *name,
                                  uint32_t parent)
{
    const uint32_t id = ++r->scope;
    fake_add(r, (nino_event){
                    .kind = (uint8_t) kind, .id = id, .parent = parent, .name = fake_id(r, name) });
    return id;
}

static inline void fake_end(fake_run *r, uint32_t id)
{
    fake_add(r, (nino_event){ .kind = NINO_EV_END, .id = id });
}

// A kernel or (family "transfer") a copy that takes `us` and ends now.
static inline void fake_kernel(fake_run *r, uint32_t parent, const char *name, double us,
                               double flops, double bytes)
{
    const bool is_copy = !strcmp(name, "upload") || !strcmp(name, "download");
    fake_add(r, (nino_event){ .kind = is_copy ? NINO_EV_TRANSFER : NINO_EV_KERNEL,
                              .track = 256,
                              .id = 32,
                              .parent = parent,
                              .name = fake_id(r, name),
                              .u.kernel = { .dur_ns = (uint64_t) (us * 1000),
                                            .flops = flops,
                                            .bytes = bytes,
                                            .family = fake_id(r, "gemm"),
                                            .shape = fake_id(r, "1x8x8") } });
    r->t += (uint64_t) (us * 1000);
}

static inline void fake_step(fake_run *r, uint32_t parent, uint32_t i, uint32_t n, double seconds)
{
    r->t += (uint64_t) (seconds * 1e9);
    fake_add(r, (nino_event){ .kind = NINO_EV_STEP_INFO,
                              .parent = parent,
                              .u.step = { .step = i + 1,
                                          .total = n,
                                          .sigma = 14.6 * pow(0.7, i),
                                          .seconds = seconds } });
}

static inline void fake_ceilings(fake_run *r, double f32, double f16, double bandwidth,
                                 double launch_s, uint64_t measured_at)
{
    fake_add(r, (nino_event){ .kind = NINO_EV_CEILINGS,
                              .name = fake_id(r, "a device"),
                              .u.ceilings = { f32, f16, bandwidth, launch_s, measured_at } });
    for (uint32_t i = 0; i < 3; i++)
        fake_add(r, (nino_event){ .kind = NINO_EV_CEILING_POINT,
                                  .u.ceiling_point = { 32768u << (8 * i), bandwidth * (4 - i),
                                                       bandwidth * (3 - i) + 1, bandwidth * (3 - i),
                                                       i, 3 } });
}

static inline void fake_sample(fake_run *r, const nino_sample *s)
{
    nino_event ev[NINO_SAMPLE_RECORDS];
    const size_t n = nino_sample_write(s, ev);
    for (size_t i = 0; i < n; i++)
        fake_add(r, ev[i]);
}

static inline void fake_device(fake_run *r, double mhz, double watt)
{
    nino_sample s;
    nino_sample_clear(&s, NINO_EV_DEVICE);
    s.value[NINO_COUNTER_GPU_BUSY] = 50;
    s.value[NINO_COUNTER_GPU_CLOCK] = mhz;
    s.value[NINO_COUNTER_GPU_POWER] = watt;
    s.value[NINO_COUNTER_GPU_TEMPERATURE] = 60;
    s.value[NINO_COUNTER_VRAM_USED] = 1 << 28;
    s.value[NINO_COUNTER_GTT_USED] = s.value[NINO_COUNTER_RAM_AVAILABLE] = 1 << 30;
    fake_sample(r, &s);
}
