// A backend without a device: it lists the programs that the ops which it is given would need.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include <stdlib.h>

typedef struct lister {
    nino_cl cl; // first
    nino_cl_device dev;
} lister;

static nino_status list_upload(nino_backend *be, const nino_block *dst, const void *src,
                               size_t bytes, nino_error *err)
{
    (void) be;
    (void) dst;
    (void) src;
    (void) bytes;
    (void) err;
    return NINO_OK;
}

static nino_status list_finish(nino_backend *be, nino_error *err)
{
    (void) be;
    (void) err;
    return NINO_OK;
}

static void list_close(nino_backend *be) { free(be); }

static const nino_backend_impl impl = { .name = "list",
                                        .close = list_close,
                                        .upload = list_upload,
                                        .run = nino_cl_run,
                                        .finish = list_finish };

// Compute units and local memory decide how products are cut: those of a device that is not here are
// what a GPU of its kind has.
nino_backend *nino_cl_list_programs(const nino_profile *p, const nino_device_info *like,
                                    nino_programs *out)
{
    lister *l = p->schedule->is_plain ? NULL : calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    if (like)
        l->dev.info = *like;
    else
        l->dev.info = (nino_device_info){ .compute_units = 20, .local_bytes = 64 << 10 };
    l->cl.be.impl = &impl;
    l->cl.be.profile = *p;
    l->cl.dev = &l->dev;
    l->cl.local_bytes = l->dev.info.local_bytes;
    l->cl.listing = out;
    return &l->cl.be;
}
