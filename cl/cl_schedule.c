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

nino_status nino_cl_profile_of(const nino_cl_device *dev, nino_profile *out, nino_error *err)
{
    const char *name = nino_vars_get()->schedule;
    const nino_status st = nino_profile_find(dev->info.name, dev->is_host, out, err);
    if (!st)
        nino_profile_estimate(out, dev->info.compute_units, dev->clock_mhz, dev->lanes);
    return st || !*name ? st : nino_sched_find(name, "NINODES_SCHEDULE", &out->schedule, err);
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
    const char *own = cl_schedule_find(nino_cl_schedule_of(p)->kernels, file);
    return own ? own : cl_schedule_find(nino_cl_shared_kernels, file);
}
