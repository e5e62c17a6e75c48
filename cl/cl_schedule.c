// The schedules of core/op/sched_list.h with what cl/ has of each, and which kernel file is whose.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"
#include "core/base/vars.h"

#include <string.h>

#define SCHEDULE(name, ...) extern const nino_cl_schedule nino_cl_##name##_schedule;
#include "core/op/sched_list.h"

static const nino_cl_schedule *const all[] = {
#define SCHEDULE(name, ...) &nino_cl_##name##_schedule,
#include "core/op/sched_list.h"
};

const nino_cl_schedule *nino_cl_schedule_of(const nino_profile *p)
{
    return all[p->schedule - nino_scheds];
}

const nino_sched *nino_cl_base(const nino_sched *s)
{
    const nino_sched *base = NULL;
    return s->base && !nino_sched_find(s->base, s->name, &base, NULL) ? base : NULL;
}

const nino_sched *nino_cl_native(const nino_cl_device *dev)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !dev->is_host; i++)
        if (all[i]->is_native && all[i]->is_native(dev, NULL))
            return &nino_scheds[i];
    return NULL;
}

bool nino_cl_is_emulated(const nino_cl_device *dev, const nino_sched *s)
{
    return all[s - nino_scheds]->is_native && dev->native != s;
}

nino_status nino_cl_profile_of(const nino_cl_device *dev, nino_profile *out, nino_error *err)
{
    const char *name = nino_vars_get()->schedule;
    nino_status st = nino_profile_find(dev->info.name, dev->is_host, out, err);
    if (st)
        return st;
    nino_profile_estimate(out, dev->info.compute_units, dev->clock_mhz, dev->lanes);
    if (*name)
        st = nino_sched_find(name, "NINODES_SCHEDULE", &out->schedule, err);
    else if (dev->native && nino_cl_base(dev->native) == out->schedule)
        out->schedule = dev->native;
    else if (!dev->is_host && nino_cl_is_emulated(dev, out->schedule))
        out->schedule = nino_cl_base(out->schedule);
    const nino_cl_schedule *s = nino_cl_schedule_of(out);
    out->has_dots =
        !st && dev->is_host && s->has_dots && (nino_debug_has("dots") || s->has_dots(dev));
    return st;
}

static const char *cl_schedule_find(const nino_cl_text *list, const char *file)
{
    for (; list->name; list++)
        if (!strcmp(list->name, file))
            return list->text;
    return NULL;
}

const char *nino_cl_source(const nino_profile *p, const char *file)
{
    const char *own = NULL;
    for (const nino_sched *s = p->schedule; s && !own; s = nino_cl_base(s))
        own = cl_schedule_find(all[s - nino_scheds]->kernels, file);
    return own ? own : cl_schedule_find(nino_cl_shared_kernels, file);
}
