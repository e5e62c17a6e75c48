// A made-up run for tests of the live views: the shape of a real one (weights, steps with stages of
// kernels, a decode in tiles), the same every time.
#pragma once
#include "plot/run_model.h"

#include <math.h>

static const char *const names[] = {
    "",         "job",        "3 KSampler",    "8 VAEDecode", "step",           "unet.in.4",
    "unet.mid", "unet.out.7", "decoder.up.2",  "tile",        "conv3x3_f16",    "conv",
    "gemm_f16", "gemm",       "attention_f16", "attn",        "group_norm_f16", "norm",
    "silu",     "elt",        "2x320x64x64",   "upload",
};

static const char *name_of(void *priv, uint32_t id)
{
    (void) priv;
    return id < G_N_ELEMENTS(names) ? names[id] : "";
}

// ---- a made-up run: the shape of a real one, the same every time --------------------------------

typedef struct Maker {
    NinoRun *run;
    nino_trace *trace;     // may be NULL
    uint64_t t, gpu, seed; // now on the host, when the queue is free
    uint32_t next_id, use[NINO_OWN_COUNT];
    nino_event batch[256]; // as they come from a socket
    size_t n_batch;
} Maker;

static void flush(Maker *m)
{
    nino_run_add(m->run, m->batch, m->n_batch, name_of, NULL);
    if (m->trace)
        nino_trace_add(m->trace, m->batch, m->n_batch, name_of, NULL);
    m->n_batch = 0;
}

static void put(Maker *m, nino_event ev)
{
    m->batch[m->n_batch++] = ev;
    if (m->n_batch == G_N_ELEMENTS(m->batch))
        flush(m);
}

static uint64_t chance(Maker *m, uint64_t n)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (m->seed >> 33) % n;
}

static uint32_t begin(Maker *m, nino_event_kind kind, uint32_t name, uint32_t up, uint32_t a,
                      uint32_t b)
{
    put(m, (nino_event){ .t_ns = m->t,
                         .kind = (uint8_t) kind,
                         .name = name,
                         .id = ++m->next_id,
                         .parent = up,
                         .u.scope = { a, b } });
    return m->next_id;
}

static void end(Maker *m, uint32_t id)
{
    put(m, (nino_event){ .t_ns = m->t, .kind = NINO_EV_END, .id = id });
}

static void memory(Maker *m, nino_mem_op op, nino_mem_owner owner, uint32_t place, uint64_t bytes)
{
    if (op == NINO_MEM_ALLOC)
        m->use[owner] += (uint32_t) (bytes / 256);
    if (op == NINO_MEM_FREE)
        m->use[owner] -= (uint32_t) (bytes / 256);
    uint64_t all = 0;
    for (int i = 0; i < NINO_OWN_COUNT; i++)
        all += m->use[i] * 256ull;
    put(m, (nino_event){ .t_ns = m->t,
                         .kind = NINO_EV_MEM,
                         .sub = (uint8_t) op,
                         .id = place,
                         .parent = m->next_id,
                         .u.mem = { .bytes = bytes,
                                    .in_use = all,
                                    .reserved = 3ull << 30,
                                    .largest_free = 300u << 20,
                                    .owner = (uint8_t) owner,
                                    .is_hit = 1,
                                    .arena = owner == NINO_OWN_WEIGHTS ? 1 : 2,
                                    .owner_use = m->use[owner] } });
}

static void kernel(Maker *m, uint32_t name, uint32_t up, uint64_t ns, double flops, double bytes)
{
    m->t += 3000 + chance(m, 2000); // the host is ahead of the queue
    const uint64_t queued = m->t, start = MAX(m->gpu + 800, m->t + 20000);
    m->gpu = start + ns + chance(m, ns / 8 + 1);
    put(m, (nino_event){ .t_ns = start,
                         .kind = NINO_EV_KERNEL,
                         .sub = 1,
                         .track = 256,
                         .name = name,
                         .id = 16,
                         .parent = up,
                         .u.kernel = { .dur_ns = m->gpu - start,
                                       .queued_us = (uint32_t) ((start - queued) / 1000),
                                       .submitted_us = 15,
                                       .flops = flops,
                                       .bytes = bytes,
                                       .family = name + 1,
                                       .shape = 20 } });
}

static void block(Maker *m, uint32_t stage, uint32_t up, int n)
{
    const uint32_t id = begin(m, NINO_EV_STAGE, stage, up, 0, 0);
    for (int i = 0; i < n; i++) {
        memory(m, NINO_MEM_ALLOC, NINO_OWN_ACTIVATION, (uint32_t) (i * 3) << 16, 24 << 20);
        kernel(m, 16, id, 60000, 1e7, 2e7);
        kernel(m, 10, id, 900000 + (chance(m, 40) == 0 ? 6000000 : 0), 9e9, 3e7);
        kernel(m, 12, id, 400000, 4e9, 4e7);
        kernel(m, 14, id, 700000, 6e9, 3e7);
        kernel(m, 18, id, 30000, 2e6, 2e7);
        if (i > 0)
            memory(m, NINO_MEM_FREE, NINO_OWN_ACTIVATION, (uint32_t) (i * 3 - 3) << 16, 24 << 20);
    }
    memory(m, NINO_MEM_FREE, NINO_OWN_ACTIVATION, (uint32_t) (n * 3 - 3) << 16, 24 << 20);
    end(m, id);
}

// The run up to its first step; the job's and the node's scopes are open.
static uint32_t make_start(Maker *m, uint32_t *job)
{
    *job = begin(m, NINO_EV_JOB, 1, 0, 0, 0);
    const uint32_t node = begin(m, NINO_EV_NODE, 2, *job, 0, 2);
    memory(m, NINO_MEM_BUDGET, NINO_OWN_ACTIVATION, 0, 4ull << 30);
    memory(m, NINO_MEM_PLANNED, NINO_OWN_ACTIVATION, 0, 5ull << 29);
    memory(m, NINO_MEM_ARENA, NINO_OWN_WEIGHTS, 0, 2ull << 30);
    memory(m, NINO_MEM_ARENA, NINO_OWN_ACTIVATION, 0, 1ull << 30);
    for (uint32_t i = 0; i < 40; i++) {
        memory(m, NINO_MEM_ALLOC, NINO_OWN_WEIGHTS, i * (44u << 12), 44 << 20);
        put(m, (nino_event){ .t_ns = m->t,
                             .kind = NINO_EV_TRANSFER,
                             .sub = i % 4 == 3 ? NINO_TRANSFER_LATE : NINO_TRANSFER_AHEAD,
                             .track = 1,
                             .name = 21,
                             .parent = node,
                             .u.kernel = { .dur_ns = 5000000, .bytes = 44 << 20 } });
        m->t += 6000000;
        m->gpu = m->t;
    }
    memory(m, NINO_MEM_ALLOC, NINO_OWN_WORKSPACE, 700u << 12, 120 << 20);
    return node;
}

static void make_step(Maker *m, uint32_t node, int i, int steps)
{
    const uint32_t step = begin(m, NINO_EV_STEP, 4, node, (uint32_t) i, (uint32_t) steps);
    const uint64_t from = m->t;
    block(m, 5, step, 6);
    block(m, 6, step, 2);
    block(m, 7, step, 8);
    m->t = MAX(m->t, m->gpu); // waits
    end(m, step);
    put(m, (nino_event){ .t_ns = m->t,
                         .kind = NINO_EV_STEP_INFO,
                         .parent = step,
                         .u.step = { (uint32_t) i + 1, (uint32_t) steps, 14.6 * pow(0.8, i),
                                     (double) (m->t - from) * 1e-9, 1, 0, 0 } });
}

// What comes after the steps: a decode in tiles.
static void make_end(Maker *m, uint32_t node, uint32_t job)
{
    end(m, node);
    const uint32_t decode = begin(m, NINO_EV_NODE, 3, job, 1, 2);
    for (uint32_t i = 0; i < 9; i++) {
        const uint32_t tile = begin(m, NINO_EV_TILE, 9, decode, i, 9);
        block(m, 8, tile, 4);
        m->t = MAX(m->t, m->gpu);
        end(m, tile);
    }
    end(m, decode);
    end(m, job);
    flush(m);
}
