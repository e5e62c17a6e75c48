// Asking a device for matrix instructions: by a program that uses them and a product that is compared,
// not by its name.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"
#include "cl/wmma/wmma.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, SIDE = 16 };

// Small whole numbers, and as f16: 0 to 7.
static int ask_value(int i, int k, int step) { return (i * step + k * 3 + i * k) % 8; }
static uint16_t ask_half(int v)
{
    static const uint16_t halves[8] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700 };
    return halves[v];
}

typedef struct question {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem mem[3]; // A, B, D
} question;

static cl_int build(question *q, const nino_cl_device *dev, const char *options)
{
    const nino_sched *schedule = NULL;
    char *common = NULL, *own = NULL;
    cl_int e = nino_sched_find("wmma", "", &schedule, NULL) ? CL_INVALID_VALUE : CL_SUCCESS;
    const nino_profile p = { .schedule = schedule };
    char all[256];
    if (e || nino_cl_program_source(&p, "common", &common, NULL) ||
        nino_cl_program_source(&p, "ask", &own, NULL))
        e = CL_OUT_OF_HOST_MEMORY;
    const char *const source[] = { common, "\n", own };
    snprintf(all, sizeof(all), "-cl-std=CL1.2 -w -DF16=1 -D%s=1 %s", e ? "" : schedule->define,
             options ? options : "-DNATIVE=1");
    if (!e)
        q->context = OCL_NEW(e, clCreateContext, NULL, 1, &dev->id, NULL, NULL);
    if (!e)
        q->program =
            OCL_NEW(e, clCreateProgramWithSource, q->context, 3, (const char **) source, NULL);
    if (!e)
        e = OCL(clBuildProgram, q->program, 1, &dev->id, all, NULL, NULL);
    if (!e)
        q->kernel = OCL_NEW(e, clCreateKernel, q->program, "ask");
    free(common);
    free(own);
    return e;
}

// Lanes 16 to 31 of both operands hold what 0 to 15 do.
static cl_int launch(question *q, const nino_cl_device *dev, float d[LANES][8])
{
    uint16_t from[2][LANES][SIDE];
    const size_t lanes = LANES,
                 bytes[3] = { sizeof(from[0]), sizeof(from[0]), sizeof(float) * 256 };
    cl_int e;
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < SIDE; k++) {
            from[0][l][k] = ask_half(ask_value(l % SIDE, k, 5));
            from[1][l][k] = ask_half(ask_value(l % SIDE, k, 7));
        }
    q->queue = OCL_NEW(e, clCreateCommandQueue, q->context, dev->id, 0);
    for (int i = 0; i < 3 && !e; i++) {
        q->mem[i] = OCL_NEW(e, clCreateBuffer, q->context, CL_MEM_READ_WRITE, bytes[i], NULL);
        if (!e && i < 2)
            e = OCL(clEnqueueWriteBuffer, q->queue, q->mem[i], CL_TRUE, 0, bytes[i], from[i], 0,
                    NULL, NULL);
        if (!e)
            e = OCL(clSetKernelArg, q->kernel, (cl_uint) i, sizeof(cl_mem), &q->mem[i]);
    }
    if (!e)
        e = OCL(clEnqueueNDRangeKernel, q->queue, q->kernel, 1, NULL, &lanes, &lanes, 0, NULL,
                NULL);
    return e ? e
             : OCL(clEnqueueReadBuffer, q->queue, q->mem[2], CL_TRUE, 0, bytes[2], d, 0, NULL,
                   NULL);
}

// Whole numbers that f32 holds: every order of the sum is exact.
static bool ask_is_right(float d[LANES][8])
{
    for (int l = 0; l < LANES; l++)
        for (int v = 0; v < 8; v++) {
            int sum = 1;
            for (int k = 0; k < SIDE; k++)
                sum += ask_value(2 * v + l / SIDE, k, 5) * ask_value(l % SIDE, k, 7);
            if (d[l][v] != (float) sum)
                return false;
        }
    return true;
}

bool NINO_CL_OWN(ask)(const nino_cl_device *dev, const char *options)
{
    question q = { 0 };
    float d[LANES][8] = { { 0 } };
    const bool is_there = !build(&q, dev, options) && !launch(&q, dev, d) && ask_is_right(d);
    for (int i = 0; i < 3; i++)
        if (q.mem[i])
            nino_ocl.clReleaseMemObject(q.mem[i]);
    if (q.kernel)
        nino_ocl.clReleaseKernel(q.kernel);
    if (q.program)
        nino_ocl.clReleaseProgram(q.program);
    if (q.queue)
        nino_ocl.clReleaseCommandQueue(q.queue);
    if (q.context)
        nino_ocl.clReleaseContext(q.context);
    return is_there;
}
