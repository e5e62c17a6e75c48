// OpenCL through a table filled by dlopen(), so that the library starts without OpenCL installed
// and tests can make any call fail. The only include of <CL/cl.h>.
#pragma once
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <stdbool.h>
#include <stdint.h>

#define NINO_OCL_FUNCTIONS(X)                                                                      \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clCreateCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clCreateBuffer)                                                                              \
    X(clCreateSubBuffer)                                                                           \
    X(clReleaseMemObject)                                                                          \
    X(clCreateProgramWithSource)                                                                   \
    X(clCreateProgramWithBinary)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramInfo)                                                                            \
    X(clGetProgramBuildInfo)                                                                       \
    X(clReleaseProgram)                                                                            \
    X(clCreateKernel)                                                                              \
    X(clSetKernelArg)                                                                              \
    X(clGetKernelInfo)                                                                             \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clReleaseKernel)                                                                             \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clWaitForEvents)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clReleaseEvent)                                                                              \
    X(clFlush)

typedef struct nino_ocl_api {
#define X(fn) __typeof__(fn) *fn;
    NINO_OCL_FUNCTIONS(X)
#undef X
} nino_ocl_api;
extern nino_ocl_api nino_ocl;

// Fills the table once; false: no OpenCL library here. Thread-safe.
bool nino_ocl_load(void);

// A call that returns a cl_int, e.g. OCL(clFlush, queue).
#define OCL(fn, ...) (nino_ocl_fault() ?: nino_ocl.fn(__VA_ARGS__))
// A call that returns an object; e (a cl_int lvalue) gets the code: OCL_NEW(e, clCreateKernel, p,
// n)
#define OCL_NEW(e, fn, ...) (((e) = nino_ocl_fault()) ? NULL : nino_ocl.fn(__VA_ARGS__, &(e)))

// Tests: counts the call; its code when this call is to fail, else 0. Releases are not counted.
cl_int nino_ocl_fault(void);
// Calls number first..last from now on (1 is the next one) fail with `code`; first 0: none.
// $NINODES_FAIL_CL ("7" or "7:-36" once, "7+:-36" from there on) sets it when the table is filled.
void nino_ocl_set_fault(uint64_t first, uint64_t last, cl_int code);
uint64_t nino_ocl_calls(void); // calls counted since nino_ocl_set_fault()

// "CL_OUT_OF_RESOURCES"; never NULL.
const char *nino_ocl_error_name(cl_int e);
