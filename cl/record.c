// Records of commands for the monitor.
#include "cl/runtime.h"
#include "core/base/hash.h"
#include "core/harness/kernel_call.h"
#include "core/op/weight.h"

enum { PLACES = 4 }; // that a launch may have among those told

static uint64_t record_mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u; }

static bool is_record_alike(const nino_cl_told *t, const nino_cl_command *c, uint64_t call)
{
    const nino_launch *l = &c->launch;
    for (int i = 0; i < 3; i++)
        if (t->launch.global[i] != l->global[i] || t->launch.local[i] != l->local[i])
            return false;
    return t->launch.requested == l->requested && t->kernel == c->kernel && t->call == call;
}

// Of all that its text tells: which weights they are does not count, only what they are like.
static uint64_t call_hash(const nino_op_desc *d)
{
    if (!d)
        return 0;
    nino_op_desc plain = *d;
    const nino_weight *w = d->weight;
    uint64_t h =
        record_mix(d->bias != NULL, w ? (uint64_t) w->n << 16 | w->dtype << 8 | w->role : 1);
    plain.weight = plain.bias = plain.norm = NULL;
    const nino_hash of = nino_hash_bytes(&plain, sizeof(plain));
    return record_mix(h, of.lo ^ of.hi);
}

// The names of a launch and of the shape that it makes: most launches are like an earlier one.
static const nino_cl_told *told_of(nino_cl *cl, nino_monitor *m, const nino_cl_command *c)
{
    const nino_launch *l = &c->launch;
    const nino_op_desc *d = c->what ? c->what->d : NULL;
    const nino_shape none = { .rank = 0 };
    const uint64_t call = call_hash(d);
    nino_cl_tellings *all = &cl->told;
    if (all->monitor != nino_monitor_number(m))
        *all = (nino_cl_tellings){ .monitor = nino_monitor_number(m) };
    const uint64_t h = record_mix(record_mix(record_mix(call, l->global[0]), l->global[1]),
                                  (uint64_t) l->requested);
    nino_cl_told *t = NULL;
    for (uint64_t i = 0; i < PLACES; i++) {
        t = &all->at[((h >> 32) + i) & (NINO_CL_TOLD - 1)];
        if (!t->launch_name)
            break;
        if (is_record_alike(t, c, call))
            return t;
    }
    if (t->launch_name) // its places are taken: the first one is given up
        t = &all->at[h >> 32 & (NINO_CL_TOLD - 1)];
    char shape[96], launch[NINO_LAUNCH_TOLD_TEXT], program[NINO_KERNEL_PROGRAM],
        text[NINO_CALL_TEXT] = "";
    nino_shape_print(shape, sizeof(shape), d ? &d->dst : &none);
    // What another library launches has no kernel of ours.
    nino_launch_write_told(launch, l,
                           c->kernel ? nino_cl_kernel_program(cl, c->kernel, program) : "",
                           d ? nino_call_write(text, d) : text);
    *t = (nino_cl_told){ .launch = *l,
                         .kernel = c->kernel,
                         .call = call,
                         .launch_name = nino_monitor_name(m, launch),
                         .shape_name = nino_monitor_name(m, shape) };
    return t;
}

void nino_cl_record(nino_cl *cl, nino_cl_command *c)
{
    nino_monitor *m = c->rec.monitor;
    nino_event *ev = &c->rec.ev;
    ev->kind = (uint8_t) c->kind;
    ev->track = (uint16_t) (256 + cl->be.queue);
    ev->parent = nino_monitor_current(m);
    ev->name = nino_monitor_name(m, c->name);
    ev->u.kernel.bytes = c->bytes;
    if (c->kind != NINO_EV_KERNEL)
        return;
    const nino_op_desc *d = c->what ? c->what->d : NULL;
    const nino_cl_told *told = told_of(cl, m, c);
    ev->id = nino_kernel_id(d ? (unsigned) nino_dtype_bits(d->dst_type) : 0, told->launch_name);
    if (!d)
        return;
    ev->sub = (uint8_t) (d->op + 1);
    ev->u.kernel.shape = told->shape_name;
    ev->u.kernel.family = nino_monitor_name(m, nino_ops[d->op].family);
    if (c->what->is_main) {
        const double share = c->what->share > 0 ? c->what->share : 1;
        ev->u.kernel.flops = nino_sched_flops(&cl->be.profile, d) * share;
        ev->u.kernel.bytes = nino_ops[d->op].bytes(d) * share;
    }
}
