// Loads and stores: kernel arguments, global memory by address, LDS.
#include "tests/gate/isa/isa.h"

#include <string.h>

// ---- addresses -------------------------------------------------------------------------------
// The bytes at an address of one of the buffers; NULL: there are none.
static uint8_t *global_at(isa_wave *w, const isa_insn *i, uint64_t at, uint64_t bytes,
                          bool is_store)
{
    isa_group *g = w->group;
    const isa_range *r = &g->ranges[g->last];
    if (at < r->at || at - r->at >= r->bytes) {
        size_t low = 0, high = g->n_ranges;
        while (high - low > 1) {
            const size_t mid = (low + high) / 2;
            if (g->ranges[mid].at <= at)
                low = mid;
            else
                high = mid;
        }
        r = &g->ranges[g->last = low];
    }
    const bool is_inside =
        at >= r->at && at - r->at <= r->bytes && bytes <= r->bytes - (at - r->at);
    if (!is_inside || (is_store && r->is_constant)) {
        isa_fail(w, i, "%s of %u bytes at %#llx, %s", is_store ? "a store" : "a load",
                 (unsigned) bytes, (unsigned long long) at,
                 is_inside ? "which is constant" : "which is outside of all buffers");
        return NULL;
    }
    return (uint8_t *) (uintptr_t) at;
}

// Who else has touched words of LDS since the last barrier.
static bool lds_touch(isa_wave *w, const isa_insn *i, uint32_t at, uint32_t bytes, bool is_store)
{
    isa_group *g = w->group;
    const uint8_t me = (uint8_t) (w->number + 1);
    if (at >= g->lds_bytes || bytes > g->lds_bytes - at) {
        isa_fail(w, i, "%u bytes at %u of LDS, of which the kernel has %u", bytes, at,
                 g->lds_bytes);
        return false;
    }
    for (uint32_t k = at / 2; k < (at + bytes + 1) / 2; k++) {
        isa_word *t = &g->touched[k];
        if (t->epoch != g->epoch)
            *t = (isa_word){ .epoch = g->epoch };
        const bool is_read = is_store && t->reader && t->reader != me;
        if ((t->writer && t->writer != me) || is_read)
            isa_fail(w, i, "LDS at %u: wave %d has %s it since the last barrier", 2 * k,
                     (is_read ? t->reader : t->writer) - 1, is_read ? "read" : "written");
        if (is_store)
            t->writer = me;
        else
            t->reader = t->reader && t->reader != me ? 255 : me;
    }
    return !w->has_failed;
}

// ---- kernel arguments and constants ----------------------------------------------------------
static void run_s_load(isa_wave *w, const isa_insn *i)
{
    uint64_t at = isa_scalar64(w, &i->src[0]) + (uint64_t) (int64_t) i->offset;
    at += i->src[1].kind == ISA_VALUE ? i->src[1].value : isa_scalar(w, &i->src[1]);
    const uint8_t *p = global_at(w, i, at & ~3ull, 4u * (uint64_t) i->what->n, false);
    if (!p)
        return;
    memcpy(&w->s[i->dst[0].reg], p, 4u * (size_t) i->what->n);
    isa_expect(w, i, ISA_LGKM, true, ISA_SGPR, i->dst[0].reg, (uint8_t) i->what->n);
}

// ---- global memory ---------------------------------------------------------------------------
// A register pair, or an offset of 32 bits to a scalar pair.
static uint64_t address_of(const isa_wave *w, const isa_insn *i, const isa_operand *v,
                           const isa_operand *base, int l)
{
    const uint64_t own = w->v[v->reg][l];
    const uint64_t at = base->kind == ISA_SGPR && base->reg != ISA_NULL
                            ? own + isa_scalar64(w, base)
                            : own | (uint64_t) w->v[v->reg + 1][l] << 32;
    return at + (uint64_t) (int64_t) i->offset;
}

// Of these types a register is more than the bytes that are loaded.
static uint32_t widened(const char *name, uint32_t v)
{
    const size_t n = strlen(name);
    if (!strcmp(name + n - 3, "_i8"))
        return (uint32_t) (int32_t) (int8_t) v;
    return !strcmp(name + n - 4, "_i16") ? (uint32_t) (int32_t) (int16_t) v : v;
}

static void run_global_load(isa_wave *w, const isa_insn *i)
{
    const uint32_t bytes = (uint32_t) i->what->n * 4;
    const uint64_t size = i->what->form[0] == 'n' ? bytes : (uint64_t) -i->what->n;
    const int n = i->what->form[0] == 'n' ? i->what->n : 1;
    uint32_t all[ISA_LANES][4] = { { 0 } };
    for (int l = 0; l < ISA_LANES; l++)
        if (w->s[ISA_EXEC] >> l & 1) {
            const uint8_t *p =
                global_at(w, i, address_of(w, i, &i->src[0], &i->src[1], l), size, false);
            if (!p)
                return;
            memcpy(all[l], p, size);
        }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < ISA_LANES; l++)
            if (w->s[ISA_EXEC] >> l & 1)
                w->v[i->dst[0].reg + k][l] = widened(i->what->name, all[l][k]);
    isa_expect(w, i, ISA_VM, false, ISA_VGPR, i->dst[0].reg, (uint8_t) n);
}

static void run_global_store(isa_wave *w, const isa_insn *i)
{
    const bool is_whole = i->what->form[2] == 'n';
    const uint64_t size = is_whole ? 4u * (uint64_t) i->what->n : (uint64_t) -i->what->n;
    for (int l = 0; l < ISA_LANES; l++)
        if (w->s[ISA_EXEC] >> l & 1) {
            uint8_t *p = global_at(w, i, address_of(w, i, &i->src[0], &i->src[2], l), size, true);
            uint32_t v[4] = { 0 };
            for (int k = 0; k < i->src[1].n; k++)
                v[k] = w->v[i->src[1].reg + k][l];
            if (!p)
                return;
            memcpy(p, v, size);
        }
    isa_expect(w, i, ISA_VS, false, ISA_NONE, 0, 0);
}

static void run_global_add(isa_wave *w, const isa_insn *i)
{
    for (int l = 0; l < ISA_LANES; l++)
        if (w->s[ISA_EXEC] >> l & 1) {
            uint8_t *p = global_at(w, i, address_of(w, i, &i->src[0], &i->src[2], l), 4, true);
            uint32_t v;
            if (!p)
                return;
            memcpy(&v, p, 4);
            v += w->v[i->src[1].reg][l];
            memcpy(p, &v, 4);
        }
    isa_expect(w, i, ISA_VS, false, ISA_NONE, 0, 0);
}

// ---- LDS -------------------------------------------------------------------------------------
static void ds_load(isa_wave *w, const isa_insn *i, int reg, int n, uint32_t offset, uint32_t size)
{
    const uint32_t *at = w->v[i->src[0].reg];
    uint32_t all[ISA_LANES][4] = { { 0 } };
    for (int l = 0; l < ISA_LANES; l++)
        if (w->s[ISA_EXEC] >> l & 1) {
            if (!lds_touch(w, i, at[l] + offset, size, false))
                return;
            memcpy(all[l], w->group->lds + at[l] + offset, size);
        }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < ISA_LANES; l++)
            if (w->s[ISA_EXEC] >> l & 1)
                w->v[reg + k][l] = widened(i->what->name, all[l][k]);
}

static void ds_store(isa_wave *w, const isa_insn *i, const isa_operand *o, uint32_t offset,
                     uint32_t size)
{
    const uint32_t *at = w->v[i->src[0].reg];
    for (int l = 0; l < ISA_LANES; l++)
        if (w->s[ISA_EXEC] >> l & 1) {
            uint32_t v[4] = { 0 };
            for (int k = 0; k < o->n; k++)
                v[k] = w->v[o->reg + k][l];
            if (!lds_touch(w, i, at[l] + offset, size, true))
                return;
            memcpy(w->group->lds + at[l] + offset, v, size);
        }
}

static uint32_t ds_size(const isa_insn *i, char letter)
{
    return letter == 'n' ? 4u * (uint32_t) i->what->n : (uint32_t) -i->what->n;
}

static void run_ds_load(isa_wave *w, const isa_insn *i)
{
    const int n = i->what->form[0] == 'n' ? i->what->n : 1;
    const isa_operand to = i->dst[0];
    ds_load(w, i, to.reg, n, (uint32_t) i->offset, ds_size(i, i->what->form[0]));
    isa_expect(w, i, ISA_LGKM, false, ISA_VGPR, to.reg, (uint8_t) n);
}

static void run_ds_store(isa_wave *w, const isa_insn *i)
{
    ds_store(w, i, &i->src[1], (uint32_t) i->offset, ds_size(i, i->what->form[2]));
    isa_expect(w, i, ISA_LGKM, false, ISA_NONE, 0, 0);
}

// Two addresses, by offsets in units of the value or of 64 of them.
static uint32_t ds_unit(const isa_insn *i)
{
    const uint32_t size = strstr(i->what->name, "b64") ? 8 : 4;
    return strstr(i->what->name, "stride64") ? 64 * size : size;
}

static void run_ds_load2(isa_wave *w, const isa_insn *i)
{
    const int n = i->what->n / 2;
    const uint32_t unit = ds_unit(i), at[2] = { (uint32_t) i->offset, (uint32_t) i->offset1 };
    isa_lanes address; // which the first half may overwrite
    isa_insn both = *i;
    memcpy(address, w->v[i->src[0].reg], sizeof(address));
    for (int k = 0; k < 2; k++) {
        const bool is_same = i->src[0].reg >= i->dst[0].reg && i->src[0].reg < i->dst[0].reg + n;
        isa_lanes first;
        if (k && is_same) {
            memcpy(first, w->v[i->src[0].reg], sizeof(first));
            memcpy(w->v[i->src[0].reg], address, sizeof(address));
        }
        ds_load(w, &both, i->dst[0].reg + k * n, n, at[k] * unit, (uint32_t) n * 4);
        if (k && is_same)
            memcpy(w->v[i->src[0].reg], first, sizeof(first));
    }
    isa_expect(w, i, ISA_LGKM, false, ISA_VGPR, i->dst[0].reg, i->dst[0].n);
}

static void run_ds_store2(isa_wave *w, const isa_insn *i)
{
    const uint32_t unit = ds_unit(i), size = 4u * (uint32_t) i->what->n;
    ds_store(w, i, &i->src[1], (uint32_t) i->offset * unit, size);
    ds_store(w, i, &i->src[2], (uint32_t) i->offset1 * unit, size);
    isa_expect(w, i, ISA_LGKM, false, ISA_NONE, 0, 0);
}

// n: registers, or with a form of one register bytes below 0.
#define LOADS(family, address)                                                                     \
    { #family "_load_u8", "w:" address, run_##family##_load, -1 },                                 \
        { #family "_load_i8", "w:" address, run_##family##_load, -1 },                             \
        { #family "_load_u16", "w:" address, run_##family##_load, -2 },                            \
        { #family "_load_i16", "w:" address, run_##family##_load, -2 },                            \
        { #family "_load_b32", "n:" address, run_##family##_load, 1 },                             \
        { #family "_load_b64", "n:" address, run_##family##_load, 2 },                             \
        { #family "_load_b96", "n:" address, run_##family##_load, 3 },                             \
    {                                                                                              \
#family "_load_b128", "n:" address, run_##family##_load, 4                                 \
    }
#define STORES(family, base)                                                                       \
    { #family "_store_b8", ":aw" base, run_##family##_store, -1 },                                 \
        { #family "_store_b16", ":aw" base, run_##family##_store, -2 },                            \
        { #family "_store_b32", ":an" base, run_##family##_store, 1 },                             \
        { #family "_store_b64", ":an" base, run_##family##_store, 2 },                             \
        { #family "_store_b96", ":an" base, run_##family##_store, 3 },                             \
    {                                                                                              \
#family "_store_b128", ":an" base, run_##family##_store, 4                                 \
    }
const isa_semantics isa_memory_table[] = {
    { "s_load_b32", "n:ts", run_s_load, 1 },
    { "s_load_b64", "n:ts", run_s_load, 2 },
    { "s_load_b128", "n:ts", run_s_load, 4 },
    { "s_load_b256", "n:ts", run_s_load, 8 },
    { "s_load_b512", "n:ts", run_s_load, 16 },
    LOADS(global, "ab"),
    STORES(global, "b"),
    { "global_atomic_add_u32", ":awb", run_global_add, 1 },
    LOADS(ds, "w"),
    STORES(ds, ""),
    { "ds_load_2addr_b32", "n:w", run_ds_load2, 2 },
    { "ds_load_2addr_b64", "n:w", run_ds_load2, 4 },
    { "ds_load_2addr_stride64_b32", "n:w", run_ds_load2, 2 },
    { "ds_load_2addr_stride64_b64", "n:w", run_ds_load2, 4 },
    { "ds_store_2addr_b32", ":wnn", run_ds_store2, 1 },
    { "ds_store_2addr_b64", ":wnn", run_ds_store2, 2 },
    { "ds_store_2addr_stride64_b32", ":wnn", run_ds_store2, 1 },
    { "ds_store_2addr_stride64_b64", ":wnn", run_ds_store2, 2 },
    { NULL, NULL, NULL, 0 }
};
