// Records of commands for the monitor.
#include "cl/runtime.h"

enum { PLACES = 4 }; // that a launch may have among those told

static uint64_t record_mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u; }

static bool is_record_alike(const nino_cl_told *t, const nino_launch *l, const nino_shape *shape)
{
    for (int i = 0; i < 3; i++)
        if (t->launch.global[i] != l->global[i] || t->launch.local[i] != l->local[i])
            return false;
    return t->launch.requested == l->requested && nino_shape_equal(&t->shape, shape);
}

// The names of a launch and of the shape that it makes: most launches are like an earlier one.
static const nino_cl_told *told_of(nino_cl *cl, nino_monitor *m, const nino_launch *l,
                                   const nino_shape *shape)
{
    nino_cl_tellings *all = &cl->told;
    if (all->monitor != nino_monitor_number(m))
        *all = (nino_cl_tellings){ .monitor = nino_monitor_number(m) };
    uint64_t h =
        record_mix(record_mix(record_mix(0, l->global[0]), l->global[1]), (uint64_t) l->requested);
    for (int i = 0; i < shape->rank; i++)
        h = record_mix(h, (uint64_t) shape->dim[i]);
    nino_cl_told *t = NULL;
    for (uint64_t i = 0; i < PLACES; i++) {
        t = &all->at[((h >> 32) + i) & (NINO_CL_TOLD - 1)];
        if (!t->launch_name)
            break;
        if (is_record_alike(t, l, shape))
            return t;
    }
    if (t->launch_name) // its places are taken: the first one is given up
        t = &all->at[h >> 32 & (NINO_CL_TOLD - 1)];
    char text[96], launch[NINO_LAUNCH_TEXT];
    nino_shape_print(text, sizeof(text), shape);
    *t = (nino_cl_told){ .launch = *l,
                         .shape = *shape,
                         .launch_name = nino_monitor_name(m, nino_launch_write(launch, l)),
                         .shape_name = nino_monitor_name(m, text) };
    return t;
}

void nino_cl_record(nino_cl *cl, nino_cl_command *c)
{
    nino_monitor *m = c->rec.monitor;
    nino_event *ev = &c->rec.ev;
    ev->kind = (uint8_t) c->kind;
    ev->track = 256;
    ev->parent = nino_monitor_current(m);
    ev->name = nino_monitor_name(m, c->name);
    ev->u.kernel.bytes = c->bytes;
    if (c->kind != NINO_EV_KERNEL)
        return;
    const nino_op_desc *d = c->what ? c->what->d : NULL;
    const nino_shape none = { .rank = 0 };
    const nino_cl_told *told = told_of(cl, m, &c->launch, d ? &d->dst : &none);
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
