// A wave: its registers, what it waits for, and the loop over its instructions.
#include "tests/gate/isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint64_t isa_n_insns;

void isa_fail(isa_wave *w, const isa_insn *i, const char *fmt, ...)
{
    char what[200];
    va_list args;
    if (w->has_failed)
        return;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    snprintf(w->error, sizeof(w->error), "%s, %#llx \"%.80s\", wave %d: %s", w->kernel->name,
             (unsigned long long) (i->address - w->kernel->entry), i->text, w->number, what);
    w->has_failed = w->is_ended = true;
}

// ---- registers -------------------------------------------------------------------------------
uint32_t isa_scalar(const isa_wave *w, const isa_operand *o)
{
    uint32_t v = o->kind == ISA_SGPR   ? w->s[o->reg]
                 : o->kind == ISA_VGPR ? w->v[o->reg][0]
                                       : (uint32_t) o->value;
    if (o->abs)
        v &= 0x7fffffff;
    return o->neg ? v ^ 0x80000000 : v;
}

uint64_t isa_scalar64(const isa_wave *w, const isa_operand *o)
{
    if (o->kind == ISA_SGPR)
        return o->reg == ISA_NULL ? 0 : w->s[o->reg] | (uint64_t) w->s[o->reg + 1] << 32;
    return o->value;
}

void isa_set_scalar(isa_wave *w, const isa_operand *o, uint32_t v)
{
    if (o->reg != ISA_NULL)
        w->s[o->reg] = v;
}

void isa_set_scalar64(isa_wave *w, const isa_operand *o, uint64_t v)
{
    if (o->reg == ISA_NULL)
        return;
    w->s[o->reg] = (uint32_t) v;
    w->s[o->reg + 1] = (uint32_t) (v >> 32);
}

const uint32_t *isa_fetch(const isa_wave *w, const isa_operand *o, isa_lanes room)
{
    const uint32_t sign = o->type == 'h' ? 0x8000 : 0x80000000;
    if (o->kind == ISA_VGPR && !o->neg && !o->abs)
        return w->v[o->reg];
    const uint32_t one = o->kind == ISA_SGPR ? w->s[o->reg] : (uint32_t) o->value;
    for (int l = 0; l < ISA_LANES; l++) {
        uint32_t v = o->kind == ISA_VGPR ? w->v[o->reg][l] : one;
        v = o->abs ? v & ~sign : v;
        room[l] = o->neg ? v ^ sign : v;
    }
    return room;
}

void isa_fetch64(const isa_wave *w, const isa_operand *o, uint64_t out[ISA_LANES])
{
    const uint64_t sign = 1ull << 63, one = isa_scalar64(w, o);
    for (int l = 0; l < ISA_LANES; l++) {
        uint64_t v = one;
        if (o->kind == ISA_VGPR)
            v = w->v[o->reg][l] | (uint64_t) w->v[o->reg + 1][l] << 32;
        v = o->abs ? v & ~sign : v;
        out[l] = o->neg ? v ^ sign : v;
    }
}

static void blend(uint32_t *to, const uint32_t *v, uint32_t mask)
{
    if (mask == UINT32_MAX)
        memcpy(to, v, sizeof(isa_lanes));
    else
        for (int l = 0; l < ISA_LANES; l++)
            to[l] = mask >> l & 1 ? v[l] : to[l];
}

void isa_put(isa_wave *w, const isa_operand *o, const isa_lanes v)
{
    isa_lanes both;
    if (o->type == 'h') { // the higher half stays
        for (int l = 0; l < ISA_LANES; l++)
            both[l] = (w->v[o->reg][l] & 0xffff0000) | (v[l] & 0xffff);
        v = both;
    }
    if (w->is_holding)
        memcpy(w->held, v, sizeof(w->held));
    else
        blend(w->v[o->reg], v, w->s[ISA_EXEC]);
}

void isa_put64(isa_wave *w, const isa_operand *o, const uint64_t v[ISA_LANES])
{
    isa_lanes half;
    for (int h = 0; h < 2; h++) {
        for (int l = 0; l < ISA_LANES; l++)
            half[l] = (uint32_t) (v[l] >> (32 * h));
        blend(w->v[o->reg + h], half, w->s[ISA_EXEC]);
    }
}

// ---- waiting ---------------------------------------------------------------------------------
// The oldest are back first, but with scalar loads on their way nothing is known of less than all.
static void wave_wait(isa_wave *w, int counter, int most)
{
    int n = 0, kept = 0;
    bool is_any = false;
    for (int k = 0; k < w->n_pending; k++)
        if (w->pending[k].counter == counter) {
            n++;
            is_any = is_any || w->pending[k].is_scalar;
        }
    int back = n > most && (!is_any || !most) ? n - most : 0;
    for (int k = 0; k < w->n_pending; k++)
        if (w->pending[k].counter == counter && back > 0)
            back--;
        else
            w->pending[kept++] = w->pending[k];
    w->n_pending = kept;
}

// A counter that is full holds the wave until the oldest is back. Scalar loads among them, of which none is the oldest,
// would have to be waited for all.
void isa_expect(isa_wave *w, const isa_insn *i, int counter, bool is_scalar, isa_kind kind,
                uint16_t reg, uint8_t n)
{
    wave_wait(w, counter, ISA_MOST - 1);
    if (w->n_pending == ISA_PENDING) {
        isa_fail(w, i, "more scalar loads are on their way than a counter counts");
        return;
    }
    w->pending[w->n_pending++] = (isa_pending){ (uint8_t) counter, is_scalar, kind, reg, n };
}

static bool is_on_its_way(const isa_wave *w, const isa_operand *o)
{
    for (int k = 0; k < w->n_pending; k++) {
        const isa_pending *p = &w->pending[k];
        if (p->kind == o->kind && p->reg < o->reg + o->n && o->reg < p->reg + p->n)
            return true;
    }
    return false;
}

static void check_operands(isa_wave *w, const isa_insn *i)
{
    for (int k = 0; k < i->n_dst + i->n_src; k++) {
        const isa_operand *o = k < i->n_dst ? &i->dst[k] : &i->src[k - i->n_dst];
        if ((o->kind == ISA_VGPR || o->kind == ISA_SGPR) && is_on_its_way(w, o))
            isa_fail(w, i, "%c%d is read or written while a load to it has not been waited for",
                     o->kind == ISA_VGPR ? 'v' : 's', o->reg);
    }
}

// Stores to LDS that others are to see behind the barrier.
static void check_barrier(isa_wave *w, const isa_insn *i)
{
    for (int k = 0; k < w->n_pending; k++)
        if (w->pending[k].counter == ISA_LGKM && w->pending[k].kind == ISA_NONE)
            isa_fail(w, i, "a store to LDS has not been waited for");
}

// ---- the loop --------------------------------------------------------------------------------
static void run_other(isa_wave *w, const isa_insn *i)
{
    const char form = i->what->form[0];
    if (form == 'W')
        for (int c = 0; c < ISA_COUNTERS; c++) {
            if (i->wait[c] >= 0)
                wave_wait(w, c, i->wait[c]);
        }
    if (!strcmp(i->what->name, "s_endpgm"))
        w->is_ended = true;
    if (!strcmp(i->what->name, "s_barrier")) {
        check_barrier(w, i);
        w->is_at_barrier = true;
    }
}

static void run_pair(isa_wave *w, const isa_insn *i)
{
    const isa_insn *other = i + 1;
    if (!other->what || !other->what->run) {
        isa_fail(w, other, "the instruction is not known");
        return;
    }
    if (w->n_pending)
        check_operands(w, other);
    w->is_holding = true;
    i->what->run(w, i);
    w->is_holding = false;
    other->what->run(w, other);
    blend(w->v[i->dst[0].reg], w->held, w->s[ISA_EXEC]);
    w->at += 2;
}

void isa_wave_run(isa_wave *w)
{
    w->is_at_barrier = false;
    while (!w->is_ended && !w->is_at_barrier) {
        isa_insn *i = &w->program->insns[w->at];
        i->n_run++;
        isa_n_insns++;
        if (!i->what) {
            isa_fail(w, i, "the instruction is not known");
            return;
        }
        const isa_operand *matrix = w->matrix;
        w->matrix = NULL;
        if (w->n_pending)
            check_operands(w, i);
        if (i->is_first_of_pair) {
            run_pair(w, i);
            continue;
        }
        w->at++; // a branch says another
        if (!i->what->run) {
            run_other(w, i);
            continue;
        }
        if (i->what->n == -1) // of matrices
            w->matrix = matrix;
        i->what->run(w, i);
    }
}
