// Memory tools with figures: what the device's pool holds and in how many pieces, giving it back,
// and what the system has. WindowsPaginationDiagnostic reads this system, whatever it is called.
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/probe.h"
#include "core/node/util.h"
#include "core/op/backend.h"

#define GIB 0x1p30
#define MIB 0x1p20

static void print_pool(nino_buf *b, const char *when, const nino_pool *pool)
{
    nino_mem_stat m;
    nino_pool_stat(pool, &m);
    nino_buf_addf(
        b,
        "%s: %.1f MiB in use, %.1f MiB held from the device, largest free piece %.1f MiB, "
        "fragmentation %.0f %%, %.2f GiB of system memory available\n",
        when, (double) m.in_use / MIB, (double) m.reserved / MIB, (double) m.largest_free / MIB,
        100 * m.fragmentation, (double) nino_mem_available() / GIB);
}

static void trim_pool(nino_pool *pool, nino_buf *b)
{
    nino_buf_addf(b, "device pool: %.1f MiB given back\n", (double) nino_pool_trim(pool) / MIB);
}

// Weights and cached results; they come back when they are needed.
static void drop_all(nino_run *r, nino_buf *b)
{
    nino_backend *be = nino_stream_backend(r->stream);
    nino_mem_stat before, after;
    nino_buf_addf(b, "results of earlier runs: %.1f MiB freed\n",
                  (double) nino_services_of(r->ctx)->trim(r->ctx) / MIB);
    nino_pool_stat(be->pool, &before);
    nino_backend_drop_weights(be);
    nino_pool_stat(be->pool, &after);
    nino_buf_addf(b, "weights on the device: %.1f MiB freed\n",
                  (double) (before.in_use - after.in_use) / MIB);
    malloc_trim(0);
}

static nino_status rocm_memory_tidy(nino_run *r, bool drops, nino_error *err)
{
    nino_buf text[1] = { { 0 } };
    nino_pool *pool = nino_stream_backend(r->stream)->pool;
    const nino_status st = r->is_plan ? NINO_OK : nino_stream_finish(r->stream, err);
    if (st)
        return st;
    if (!r->is_plan) {
        print_pool(&text[0], "before", pool);
        if (drops)
            drop_all(r, &text[0]);
        trim_pool(pool, &text[0]);
        print_pool(&text[0], "after", pool);
    }
    return nino_probe_texts(r, text, err);
}

static nino_status defragment_run(nino_run *r, nino_error *err)
{
    return rocm_memory_tidy(r, false, err);
}
static nino_status reset_run(nino_run *r, nino_error *err)
{
    return rocm_memory_tidy(r, true, err);
}

NINO_NODE(rocm_defragment, "ROCMMemoryDefragmenter", "ROCm Memory Defragmenter",
          "ROCm Ninodes/Memory",
          "Gives arenas that nothing uses back to the device and says how scattered the rest is",
          NINO_OUTPUTS(NINO_PORT(MEMORY_STATUS, STRING)), .is_output = true,
          NINO_RUN(defragment_run, .is_volatile = true));

NINO_NODE(rocm_memory_reset, "ROCMEmergencyMemoryReset", "ROCm Emergency Memory Reset",
          "ROCm Ninodes/Memory",
          "Frees cached results, weights and the device's pool; what is needed is read again",
          NINO_OUTPUTS(NINO_PORT(MEMORY_STATUS, STRING)), .is_output = true,
          NINO_RUN(reset_run, .is_volatile = true));

// ---- WindowsPaginationDiagnostic -------------------------------------------------------------

typedef struct paging_params {
    bool check_memory, check_paging_file, apply_fixes;
} paging_params;

typedef struct system_memory { // bytes; 0: the system does not say
    uint64_t total, available, swap, swap_free, limit, committed;
} system_memory;

static system_memory read_system(void)
{
    system_memory m = { 0 };
    const struct {
        const char *key;
        uint64_t *to;
    } keys[] = { { "MemTotal:", &m.total },    { "MemAvailable:", &m.available },
                 { "SwapTotal:", &m.swap },    { "SwapFree:", &m.swap_free },
                 { "CommitLimit:", &m.limit }, { "Committed_AS:", &m.committed } };
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof(line), f))
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            const size_t n = strlen(keys[i].key);
            uint64_t kib;
            if (!strncmp(line, keys[i].key, n) && sscanf(line + n, "%" SCNu64, &kib) == 1)
                *keys[i].to = kib * 1024;
        }
    if (f)
        fclose(f);
    if (!m.available)
        m.available = nino_mem_available();
    return m;
}

static void print_system(const system_memory *m, nino_run *r, nino_buf *b)
{
    const nino_backend *be = nino_stream_backend(r->stream);
    nino_buf_addf(b, "Device: %s (%s)\n", be->info.name, be->info.selector);
    nino_buf_addf(b, "Memory: %.2f GiB\nSwap: %.2f GiB\n", (double) m->total / GIB,
                  (double) m->swap / GIB);
}

static void print_status(const system_memory *m, const paging_params *p, nino_buf *b)
{
    if (p->check_memory)
        nino_buf_addf(b, "%.2f GiB of memory available: %s\n", (double) m->available / GIB,
                      m->available < 4 * GIB   ? "critical, less than 4 GB"
                      : m->available < 8 * GIB ? "low, less than 8 GB"
                                               : "enough");
    if (p->check_paging_file && m->swap)
        nino_buf_addf(b, "%.2f of %.2f GiB of swap in use\n",
                      (double) (m->swap - m->swap_free) / GIB, (double) m->swap / GIB);
    else if (p->check_paging_file)
        nino_buf_adds(b, "no swap\n");
    if (p->check_paging_file && m->limit)
        nino_buf_addf(b,
                      "%.2f GiB promised to programs; the limit, where it is enforced, is %.2f "
                      "GiB\n",
                      (double) m->committed / GIB, (double) m->limit / GIB);
}

static void rocm_memory_print_advice(const system_memory *m, const paging_params *p, nino_buf *b)
{
    if (p->check_memory && m->available < 8 * GIB)
        nino_buf_adds(b, "close other programs, or use a quantised model or smaller pictures\n");
    if (p->check_paging_file && !m->swap && m->available < 8 * GIB)
        nino_buf_adds(b, "with swap, other programs could be put aside\n");
    if (p->check_paging_file && m->swap && m->swap - m->swap_free > m->swap / 2)
        nino_buf_adds(b,
                      "more than half of the swap is in use: what is read back from it is slow\n");
    if (!b->len)
        nino_buf_adds(b, "nothing to do\n");
}

static nino_status paging_run(nino_run *r, nino_error *err)
{
    const paging_params *p = r->params;
    nino_buf text[4] = { { 0 } };
    if (r->is_plan)
        return nino_probe_texts(r, text, err);
    const nino_status st = nino_stream_finish(r->stream, err);
    if (st)
        return st;
    const system_memory m = read_system();
    print_system(&m, r, &text[0]);
    print_status(&m, p, &text[1]);
    rocm_memory_print_advice(&m, p, &text[2]);
    if (p->apply_fixes)
        trim_pool(nino_stream_backend(r->stream)->pool, &text[3]);
    nino_buf_adds(&text[3], "the system's settings are left as they are\n");
    return nino_probe_texts(r, text, err);
}

NINO_NODE(
    paging, "WindowsPaginationDiagnostic", "Pagination Diagnostic", "ROCm Ninodes/Memory",
    "Memory and swap of this system in figures; made for Windows, it works anywhere",
    NINO_OUTPUTS(NINO_PORT(SYSTEM_INFO, STRING), NINO_PORT(MEMORY_STATUS, STRING),
                 NINO_PORT(RECOMMENDATIONS, STRING), NINO_PORT(FIXES_APPLIED, STRING)),
    NINO_PARAMS(
        paging_params,
        NINO_P_BOOL(paging_params, check_memory, true, .label = "Memory",
                    .help = "Says how much memory is available"),
        NINO_P_BOOL(paging_params, check_paging_file, true, .label = "Swap",
                    .help = "Says how much swap there is and how much of it is used"),
        NINO_P_BOOL(paging_params, apply_fixes, true, .label = "Free memory",
                    .help = "Gives unused device memory back; nothing of the system is changed")),
    .is_output = true, NINO_RUN(paging_run, .is_volatile = true));
