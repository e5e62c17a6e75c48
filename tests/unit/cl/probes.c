// The kernels that measure a device (cl/kernels/probe.cl) read, write, copy and multiply what they say: what
// they leave is compared with the same walk written out. A probe that did less would promise too much.
#include "tests/cl.h"

#include <math.h>

enum { AHEAD = 3, MOST = 1 << 16, ITEMS = 256, FILLED = 7 };

typedef struct form { // of a schedule
    const char *schedule;
    int width, unroll, group, items; // floats of a vector; items of a launch
    bool has_parts;                  // each item walks a part of its own
} form;

static const form forms[] = { { "cpu", 16, 8, 1, 4, true }, { "generic", 4, 4, 256, 256, false } };

typedef struct probe {
    const form *f;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_mem set, out;
    cl_uint n, repeat; // vectors of the set
} probe;

static float set[MOST], was[MOST], out[AHEAD + ITEMS + 1];

static void begin(probe *p, const nino_cl_device *dev)
{
    char *text = NULL, *options = NULL;
    nino_error err;
    cl_int e;
    CHECK_OK(nino_cl_program_text(p->f->schedule, "probe", "", &text, &options, &err), err);
    CHECK((p->context = nino_ocl.clCreateContext(NULL, 1, &dev->id, NULL, NULL, &e)));
    CHECK((p->queue = nino_ocl.clCreateCommandQueue(p->context, dev->id, 0, &e)));
    CHECK((p->program =
               nino_ocl.clCreateProgramWithSource(p->context, 1, (const char **) &text, NULL, &e)));
    CHECK(!nino_ocl.clBuildProgram(p->program, 1, &dev->id, options, NULL, NULL));
    CHECK((p->set = nino_ocl.clCreateBuffer(p->context, CL_MEM_READ_WRITE, sizeof(set), NULL, &e)));
    CHECK((p->out = nino_ocl.clCreateBuffer(p->context, CL_MEM_READ_WRITE, sizeof(out), NULL, &e)));
    free(text);
    free(options);
}

static void end(probe *p)
{
    CHECK(!nino_ocl.clReleaseMemObject(p->set) && !nino_ocl.clReleaseMemObject(p->out));
    CHECK(!nino_ocl.clReleaseProgram(p->program));
    CHECK(!nino_ocl.clReleaseCommandQueue(p->queue) && !nino_ocl.clReleaseContext(p->context));
}

typedef struct arg {
    size_t size;
    const void *value;
} arg;

// Runs a kernel on a fresh set, whose values differ; what it leaves is in set and out.
static void run(probe *p, const char *name, const arg *a, int n)
{
    const size_t items = (size_t) p->f->items, group = (size_t) p->f->group;
    cl_int e;
    cl_kernel k = nino_ocl.clCreateKernel(p->program, name, &e);
    CHECK(k);
    for (int i = 0; i < MOST; i++)
        was[i] = (float) (i * 37 % 101);
    for (int i = 0; i < (int) (sizeof(out) / sizeof(*out)); i++)
        out[i] = FILLED;
    CHECK(!nino_ocl.clEnqueueWriteBuffer(p->queue, p->set, CL_TRUE, 0, sizeof(was), was, 0, NULL,
                                         NULL));
    CHECK(!nino_ocl.clEnqueueWriteBuffer(p->queue, p->out, CL_TRUE, 0, sizeof(out), out, 0, NULL,
                                         NULL));
    for (int i = 0; i < n; i++)
        CHECK(!nino_ocl.clSetKernelArg(k, (cl_uint) i, a[i].size, a[i].value));
    CHECK(!nino_ocl.clEnqueueNDRangeKernel(p->queue, k, 1, NULL, &items, &group, 0, NULL, NULL));
    CHECK(!nino_ocl.clEnqueueReadBuffer(p->queue, p->set, CL_TRUE, 0, sizeof(set), set, 0, NULL,
                                        NULL));
    CHECK(!nino_ocl.clEnqueueReadBuffer(p->queue, p->out, CL_TRUE, 0, sizeof(out), out, 0, NULL,
                                        NULL));
    CHECK(!nino_ocl.clReleaseKernel(k));
}

#define ARG(x)                                                                                     \
    {                                                                                              \
        sizeof(x), &(x)                                                                            \
    }

// How often an item comes by a vector of the set.
static int visits(const probe *p, cl_uint item, cl_uint vector)
{
    const cl_uint items = (cl_uint) p->f->items, part = p->n / items;
    if (p->f->has_parts)
        return vector / part == item ? (int) p->repeat : 0;
    int n = 0;
    for (cl_uint i = 0; i < p->repeat * (cl_uint) p->f->unroll; i++)
        n += (item + i * items) % p->n == vector;
    return n;
}

static void check_read(probe *p)
{
    const cl_ulong set_off = AHEAD, out_off = AHEAD;
    const arg a[] = { ARG(p->set),  ARG(set_off), ARG(p->out),
                      ARG(out_off), ARG(p->n),    ARG(p->repeat) };
    run(p, "probe_read", a, 6);
    CHECK(!memcmp(set, was, sizeof(set)) && out[AHEAD - 1] == FILLED &&
          out[AHEAD + p->f->items] == FILLED);
    for (cl_uint i = 0; i < (cl_uint) p->f->items; i++) {
        double sum = 0; // of each vector's first four
        for (cl_uint v = 0; v < p->n; v++)
            for (int c = 0; c < 4; c++)
                sum += visits(p, i, v) *
                       (double) was[(AHEAD + v) * (cl_uint) p->f->width + (cl_uint) c];
        CHECK((double) out[AHEAD + i] == sum);
    }
}

static void check_written(probe *p, bool is_copy)
{
    const cl_ulong set_off = AHEAD;
    const cl_uint width = (cl_uint) p->f->width;
    const arg a[] = { ARG(p->set), ARG(set_off), ARG(p->n), ARG(p->repeat) };
    run(p, is_copy ? "probe_copy" : "probe_write", a, 4);
    const cl_uint first = (AHEAD + (is_copy ? p->n : 0)) * width;
    for (cl_uint i = 0; i < MOST; i++) {
        const bool is_in = i >= first && i < first + p->n * width;
        const float want = !is_in    ? was[i]
                           : is_copy ? was[i - p->n * width]
                                     : (float) (p->repeat - 1);
        CHECK(set[i] == want);
    }
}

// 12 chains s = s x + y from (item mod 16) + j / 16 on, `lanes` of them added up.
static void check_fma(probe *p, const char *name, int lanes)
{
    const cl_ulong out_off = AHEAD;
    const float x = 0.5f, y = 0.25f;
    const arg a[] = { ARG(p->out), ARG(out_off), ARG(x), ARG(y), ARG(p->repeat) };
    run(p, name, a, 5);
    for (int i = 0; i < p->f->items; i++) {
        double sum = 0;
        for (int j = 0; j < 12; j++) {
            double s = i % 16 + j * 0.0625;
            for (cl_uint r = 0; r < p->repeat; r++)
                s = s * (double) x + (double) y;
            sum += s;
        }
        CHECK((double) out[AHEAD + i] == lanes * sum); // a few bits: exact
    }
}

static void check_nothing(probe *p)
{
    const cl_ulong out_off = AHEAD;
    const arg a[] = { ARG(p->out), ARG(out_off) };
    run(p, "probe_nothing", a, 2);
    for (int i = 0; i < (int) (sizeof(out) / sizeof(*out)); i++)
        CHECK(out[i] == FILLED);
}

int main(void)
{
    const nino_cl_device *dev = test_cl_device();
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        probe p = { .f = &forms[i], .n = 1024 };
        begin(&p, dev);
        check_nothing(&p);
        for (p.repeat = 1; p.repeat < 4; p.repeat++) {
            check_read(&p);
            check_written(&p, false);
            check_written(&p, true);
            check_fma(&p, "probe_fma", p.f->has_parts ? 4 : 1);
            if (p.f->has_parts)
                check_fma(&p, "probe_fma_narrow", 4);
        }
        end(&p);
    }
    return 0;
}
