// A kernel over its range: what a wave begins with, work-groups one after the other, waves in turn between
// barriers.
#include "tests/gate/isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t isa_n_launches;

// Of the descriptor.
enum { HAS_KERNARG = 1 << 3, IS_WAVE32 = 1 << 10, HAS_DYNAMIC_STACK = 1 << 11 };
// What nothing has been stored in: no number, and as an address nowhere.
enum { GARBAGE = 0x7fdead };

// ---- arguments -------------------------------------------------------------------------------
static uint64_t hidden_value(const isa_launch *l, const char *kind)
{
    const size_t n = strlen(kind);
    const int axis = n ? kind[n - 1] - 'x' : 0;
    if (!strcmp(kind, "hidden_grid_dims"))
        return (uint64_t) l->dims;
    if (axis < 0 || axis > 2)
        return 0;
    if (!strncmp(kind, "hidden_block_count", 18))
        return l->global[axis] / l->local[axis];
    return !strncmp(kind, "hidden_group_size", 17) ? l->local[axis] : 0;
}

static void fill_hidden(const isa_launch *l, uint8_t *kernarg)
{
    for (int i = 0; i < l->kernel->n_args; i++) {
        const isa_arg *a = &l->kernel->args[i];
        const uint64_t v = hidden_value(l, a->kind);
        if (!strncmp(a->kind, "hidden", 6) && a->size <= sizeof(v) &&
            a->offset + a->size <= l->kernel->kernarg_bytes)
            memcpy(kernarg + a->offset, &v, a->size);
    }
}

// ---- a wave's beginning ----------------------------------------------------------------------
static void wave_begin(isa_wave *w, const isa_launch *l, uint64_t kernarg, const uint32_t id[3],
                       uint32_t items)
{
    const isa_kernel *k = l->kernel;
    const uint32_t first = (uint32_t) w->number * ISA_LANES, left = items - first;
    uint32_t at = k->rsrc2 >> 1 & 31;
    uint32_t *v = w->v[0];
    for (size_t i = 0; i < (size_t) k->n_vgprs * ISA_LANES; i++)
        v[i] = (uint32_t) GARBAGE << 8 | (i & 255);
    for (int i = 0; i < ISA_SGPRS; i++)
        w->s[i] = (uint32_t) GARBAGE << 8 | (uint32_t) i;
    w->s[0] = (uint32_t) kernarg;
    w->s[1] = (uint32_t) (kernarg >> 32);
    for (int axis = 0; axis < 3; axis++)
        if (k->rsrc2 >> (7 + axis) & 1)
            w->s[at++] = id[axis];
    w->s[ISA_NULL] = 0;
    w->s[ISA_EXEC] = left >= ISA_LANES ? UINT32_MAX : (1u << left) - 1;
    w->s[ISA_EXEC + 1] = w->s[ISA_SCC] = 0;
    for (uint32_t lane = 0; lane < ISA_LANES; lane++) {
        const uint32_t i = first + lane, x = l->local[0], y = l->local[1];
        v[lane] = i % x | (i / x % y) << 10 | (i / x / y) << 20;
    }
    w->at = isa_insn_at(l->program, k->entry);
    w->is_ended = w->is_at_barrier = w->is_holding = w->has_failed = false;
    w->n_pending = 0;
    w->matrix = NULL;
}

static const char *objection_to(const isa_launch *l)
{
    const isa_kernel *k = l->kernel;
    const uint32_t items = l->local[0] * l->local[1] * l->local[2];
    if (k->scratch_bytes || k->properties & HAS_DYNAMIC_STACK)
        return "it needs scratch memory";
    if ((k->properties & 0x3ff) != HAS_KERNARG || !(k->properties & IS_WAVE32))
        return "it begins with other registers than the address of its arguments, or is no wave32";
    if ((k->rsrc1 >> 12 & 255) != 0xf0) // FLOAT_ROUND_MODE_*, FLOAT_DENORM_MODE_*
        return "it rounds not to nearest even, or flushes numbers below the normal ones";
    if (k->lds_bytes > ISA_LDS)
        return "it has more LDS than a work-group";
    if (!items || items > ISA_WAVES * ISA_LANES || items > k->most_items)
        return "its work-groups are not of a size that it is for";
    for (int i = 0; i < 3; i++)
        if (l->global[i] % l->local[i] || (k->required[i] && k->required[i] != l->local[i]))
            return "its range is not of whole work-groups, or not of those that it requires";
    return isa_insn_at(l->program, k->entry) < l->program->n_insns ? NULL : "it has no code";
}

// ---- a work-group ----------------------------------------------------------------------------
// False: a wave has failed.
static bool group_run(isa_group *g)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int i = 0; i < g->n_waves; i++) {
            if (g->waves[i].is_ended)
                continue;
            isa_wave_run(&g->waves[i]);
            if (g->waves[i].has_failed)
                return false;
            goes_on = goes_on || !g->waves[i].is_ended;
        }
        g->epoch++; // all of them are at a barrier
    }
    return true;
}

static bool groups_run(isa_group *g, const isa_launch *l, uint64_t kernarg, char err[400])
{
    const uint32_t items = l->local[0] * l->local[1] * l->local[2];
    uint32_t id[3], n[3];
    for (int i = 0; i < 3; i++)
        n[i] = l->global[i] / l->local[i];
    for (id[2] = 0; id[2] < n[2]; id[2]++)
        for (id[1] = 0; id[1] < n[1]; id[1]++)
            for (id[0] = 0; id[0] < n[0]; id[0]++) {
                memset(g->lds, 0xdb, g->lds_bytes);
                g->epoch++;
                for (int i = 0; i < g->n_waves; i++)
                    wave_begin(&g->waves[i], l, kernarg, id, items);
                if (group_run(g))
                    continue;
                for (int i = 0; i < g->n_waves; i++)
                    if (g->waves[i].has_failed)
                        snprintf(err, 400, "%.380s", g->waves[i].error);
                return false;
            }
    return true;
}

// ---- a launch --------------------------------------------------------------------------------
// The buffers with what only this launch may read: its arguments, and the program itself.
static isa_range *ranges_of(const isa_launch *l, const uint8_t *kernarg)
{
    const isa_range own[2] = {
        { (uint64_t) (uintptr_t) kernarg, l->kernel->kernarg_bytes, true },
        { (uint64_t) (uintptr_t) l->program->image, l->program->bytes, true },
    };
    isa_range *all = calloc(l->n_ranges + 2, sizeof(*all));
    for (size_t i = 0; all && i < l->n_ranges + 2; i++) {
        size_t at = i;
        const isa_range r = i < l->n_ranges ? l->ranges[i] : own[i - l->n_ranges];
        for (; at && all[at - 1].at > r.at; at--)
            all[at] = all[at - 1];
        all[at] = r;
    }
    return all;
}

bool isa_launch_run(const isa_launch *l, char err[400])
{
    const isa_kernel *k = l->kernel;
    const char *objection = objection_to(l);
    const int n = (int) ((l->local[0] * l->local[1] * l->local[2] + ISA_LANES - 1) / ISA_LANES);
    if (objection) {
        snprintf(err, 400, "%s: %s", k->name, objection);
        return false;
    }
    uint8_t *kernarg = malloc(k->kernarg_bytes + 64);
    isa_group *g = calloc(1, sizeof(*g));
    isa_range *ranges = kernarg ? ranges_of(l, kernarg) : NULL;
    isa_wave *waves = aligned_alloc(64, (sizeof(*waves) * (size_t) n + 63) / 64 * 64);
    bool ok = g && ranges && waves;
    if (ok) {
        memcpy(kernarg, l->kernarg, k->kernarg_bytes);
        fill_hidden(l, kernarg);
        g->lds_bytes = k->lds_bytes;
        g->ranges = ranges;
        g->n_ranges = l->n_ranges + 2;
        g->waves = waves;
        g->n_waves = n;
        for (int i = 0; i < n; i++) {
            waves[i].program = l->program;
            waves[i].kernel = k;
            waves[i].group = g;
            waves[i].number = i;
        }
        isa_n_launches++;
        ok = groups_run(g, l, (uint64_t) (uintptr_t) kernarg, err);
    } else {
        snprintf(err, 400, "%s: out of memory", k->name);
    }
    free(waves);
    free(ranges);
    free(g);
    free(kernarg);
    return ok;
}
