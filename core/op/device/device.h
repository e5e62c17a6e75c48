// Internal: the devices of this process, whatever makes them. core lists "ref"; cl/ registers its
// devices through one hook, so core never includes OpenCL.
#pragma once
#include "core/base/buf.h"
#include "core/op/backend.h"
#include <ninodes/ctx.h>

typedef struct nino_device_provider {
    const char *prefix; // "cl"
    // Fills up to max entries; returns the number of devices.
    size_t (*list)(nino_device_info *out, size_t max);
    // Opens device number i.
    nino_backend *(*open)(size_t i, const nino_ctx_params *params, const nino_log *log,
                          nino_error *err);
    // Why no device of it can be used, or none that is a GPU though this machine has one: a clause
    // in `cause`, and in `lines` all that was found and what to do, a line each. "": all is well.
    void (*explain)(char *cause, size_t size, nino_buf *lines);
    // As nino_kernel_folder().
    bool (*kernel_folder)(int i, char *out, size_t size);
} nino_device_provider;

// Defined by cl/ (or by core/op/device/device_none.c when built with CL=0).
extern const nino_device_provider *const nino_cl_provider; // NULL without OpenCL support

// "", NULL: first OpenCL GPU, else first OpenCL device; without OpenCL support ref. "cl", "cl:N",
// "cl:NAME" (substring, any case), "ref".
nino_backend *nino_device_open(const char *selector, const nino_ctx_params *params,
                               const nino_log *log, nino_error *err);
