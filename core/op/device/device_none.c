// Stands in for cl/ when ninodes is built without OpenCL.
#include "core/op/device/device.h"

const nino_device_provider *const nino_cl_provider = NULL;
