// A small run with everything that can go wrong in it, and names for its records; for the tests of
// traces.
#pragma once
#include <math.h>
#include <ninodes/monitor.h>

static const char *const names[] = { "",
                                     "job",
                                     "1 \"A\\B\" \n",
                                     "decoder",
                                     "conv2d",
                                     "conv",
                                     "1x64x64",
                                     "t 1/2",
                                     "out/x.png",
                                     "pread",
                                     "4096x3x1/64x1x1/5000",
                                     "128x1x1//",
                                     "bad \xff byte" };
static inline const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < sizeof(names) / sizeof(names[0]) ? names[id] : "";
}

static nino_event scope(uint64_t t, nino_event_kind kind, uint32_t name, uint32_t id, uint32_t up)
{
    return (nino_event){ .t_ns = t, .kind = (uint8_t) kind, .name = name, .id = id, .parent = up };
}

static nino_event kernel(uint64_t t, uint64_t ns, uint32_t parent)
{
    return (nino_event){ .t_ns = t,
                         .kind = NINO_EV_KERNEL,
                         .track = 256,
                         .name = 4,
                         .id = nino_kernel_id(16, ns < 1000 ? 10 : 11),
                         .parent = parent,
                         .u.kernel = {
                             .dur_ns = ns, .flops = 1e6, .bytes = 1e3, .family = 5, .shape = 6 } };
}

static nino_event memory(uint64_t t, uint64_t in_use)
{
    return (nino_event){ .t_ns = t,
                         .kind = NINO_EV_MEM,
                         .u.mem = { .bytes = 256,
                                    .in_use = in_use,
                                    .reserved = 4096,
                                    .owner = NINO_OWN_ACTIVATION,
                                    .owner_use = (uint32_t) in_use / 256 } };
}

static size_t a_run(nino_event *e)
{
    size_t n = 0;
    e[n++] = scope(1000, NINO_EV_JOB, 1, 1, 0);
    e[n++] = scope(1100, NINO_EV_NODE, 2, 2, 1);
    e[n++] = memory(1150, 512);
    e[n++] = scope(1200, NINO_EV_STAGE, 3, 3, 2);
    e[n++] = scope(1300, NINO_EV_STAGE, 3, 4, 3); // a stage in a stage
    e[n++] = scope(1300, NINO_EV_TILE, 7, 5, 4);
    e[n++] = kernel(1350, 500, 5);
    e[n++] = kernel(1849, 100, 5);   // begins a hair before the one before it ends
    e[n++] = kernel(1400, 30000, 5); // side by side
    e[n++] = kernel(1300, 70000, 5); // and earlier than what was told before
    e[n++] = memory(1500, 1024);
    e[n++] = memory(1450, 256); // another thread
    e[n++] = scope(2000, NINO_EV_END, 0, 5, 4);
    e[n++] = (nino_event){ .t_ns = 2000, .kind = NINO_EV_TILE_INFO, .parent = 5 };
    e[n++] = (nino_event){ .t_ns = 2000,
                           .kind = NINO_EV_DEVICE,
                           .track = 3,
                           .u.sample = { { NINO_COUNTER_GPU_BUSY, NINO_COUNTER_GPU_CLOCK,
                                           NINO_COUNTER_GTT_USED },
                                         { (double) NAN, 2900, 5 } } };
    e[n++] = (nino_event){ .t_ns = 2100,
                           .kind = NINO_EV_TRANSFER,
                           .track = 2,
                           .name = 9,
                           .u.kernel = { .dur_ns = 40, .bytes = 4096 } };
    e[n++] = scope(2200, NINO_EV_END, 0, 4, 3);
    e[n++] = scope(2200, NINO_EV_END, 0, 3, 2);
    e[n++] = (nino_event){ .t_ns = 2300, .kind = NINO_EV_OUTPUT, .name = 8 };
    e[n++] = scope(2400, NINO_EV_END, 0, 2, 1);
    e[n++] = scope(2500, NINO_EV_END, 0, 1, 0);
    return n;
}
