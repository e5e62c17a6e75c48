// Registers the OpenCL devices with core (core/op/device/device.h).
#include "cl/runtime.h"

static size_t list_devices(nino_device_info *out, size_t max)
{
    const nino_cl_device *list;
    const size_t n = nino_cl_devices(&list);
    for (size_t i = 0; i < n && i < max; i++)
        out[i] = list[i].info;
    return n;
}

static nino_backend *open_device(size_t i, const nino_ctx_params *params, const nino_log *log,
                                 nino_error *err)
{
    const nino_cl_device *list;
    if (i >= nino_cl_devices(&list)) {
        nino_fail(err, NINO_ERR_UNKNOWN, "", "there is no OpenCL device %zu", i);
        return NULL;
    }
    return nino_cl_open(&list[i], params, log, err);
}

static size_t count_objects(size_t i, size_t *n_fit)
{
    const nino_cl_device *list;
    *n_fit = 0;
    return i < nino_cl_devices(&list) ? nino_cl_code_count(&list[i], n_fit) : 0;
}

static const nino_device_provider provider = { "cl",
                                               list_devices,
                                               open_device,
                                               nino_cl_explain,
                                               nino_cl_list_programs,
                                               nino_cl_kernel_folder,
                                               nino_cl_program_text,
                                               count_objects };
const nino_device_provider *const nino_cl_provider = &provider;
