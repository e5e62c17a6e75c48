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
    // A backend whose run() does nothing but add the programs that it would launch kernels of to
    // `out`, which outlives it. like: of the device of that profile; NULL: it is not here.
    nino_backend *(*list_programs)(const nino_profile *p, const nino_device_info *like,
                                   nino_programs *out);
    // As nino_kernel_folder().
    bool (*kernel_folder)(int i, char *out, size_t size);
    // The source and the options of a program of that schedule, to free().
    nino_status (*source)(const char *schedule, const char *file, const char *options, char **out,
                          char **all_options, nino_error *err);
    // As nino_device_objects(), of device number i.
    size_t (*objects)(size_t i, size_t *n_fit);
} nino_device_provider;

// Defined by cl/ (or by core/op/device/device_none.c when built with CL=0).
extern const nino_device_provider *const nino_cl_provider; // NULL without OpenCL support

// As nino_device_provider.list_programs; NULL: what that profile is of compiles nothing, or memory is short.
nino_backend *nino_device_program_lister(const nino_profile *p, const nino_device_info *like,
                                         nino_programs *out);

// As nino_device_provider.source. NINO_ERR_UNSUPPORTED: this library has no OpenCL kernels.
nino_status nino_device_source(const char *schedule, const char *file, const char *options,
                               char **out, char **all_options, nino_error *err);

// "", NULL: first OpenCL GPU, else first OpenCL device; without OpenCL support ref. "cl", "cl:N",
// "cl:NAME" (substring, any case), "ref".
nino_backend *nino_device_open(const char *selector, const nino_ctx_params *params,
                               const nino_log *log, nino_error *err);
