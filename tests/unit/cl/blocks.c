// Every type of weights as kernels decode it (cl/kernels/blocks.cl), in the vectors of each schedule: the bits of
// the reference. One kernel for all types, so that each is looked at in every run of the tests.
#include "core/harness/kernel_check.h"
#include "core/op/raw.h"
#include "core/tensor/quant.h"
#include "core/tensor/quant_grid.h"
#include "tests/cl.h"

#include <math.h>

enum { BLOCKS = 6, MOST = BLOCKS * 256 };

// In the order of TYPES() of blocks.cl.
static const struct {
    nino_dtype type;
    const uint16_t *grid; // the codebook
    size_t entries;
} types[] = {
    { NINO_F32, NULL, 0 },
    { NINO_F16, NULL, 0 },
    { NINO_BF16, NULL, 0 },
    { NINO_F8_E4M3, NULL, 0 },
    { NINO_F8_E5M2, NULL, 0 },
    { NINO_I8, NULL, 0 },
    { NINO_Q1_0, NULL, 0 },
    { NINO_Q2_0, NULL, 0 },
    { NINO_Q4_0, NULL, 0 },
    { NINO_Q4_1, NULL, 0 },
    { NINO_Q5_0, NULL, 0 },
    { NINO_Q5_1, NULL, 0 },
    { NINO_Q8_0, NULL, 0 },
    { NINO_Q2_K, NULL, 0 },
    { NINO_Q3_K, NULL, 0 },
    { NINO_Q4_K, NULL, 0 },
    { NINO_Q5_K, NULL, 0 },
    { NINO_Q6_K, NULL, 0 },
    { NINO_IQ1_S, nino_grid_iq1s, 2048 },
    { NINO_IQ1_M, nino_grid_iq1s, 2048 },
    { NINO_IQ2_XXS, nino_grid_iq2xxs, 256 },
    { NINO_IQ2_XS, nino_grid_iq2xs, 512 },
    { NINO_IQ2_S, nino_grid_iq2s, 1024 },
    { NINO_IQ3_XXS, nino_grid_iq3xxs, 256 },
    { NINO_IQ3_S, nino_grid_iq3s, 512 },
    { NINO_IQ4_NL, NULL, 0 },
    { NINO_IQ4_XS, NULL, 0 },
    { NINO_TQ1_0, NULL, 0 },
    { NINO_TQ2_0, NULL, 0 },
    { NINO_MXFP4, NULL, 0 },
    { NINO_NVFP4, NULL, 0 },
};
enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

// What is added to the program: values of the type of that number, one work-item for all.
static const char every[] =
    "\nkernel void every(const int type, const int n, bytes W, grids grid, global float *y)\n"
    "{\n"
    "    int at = 0;\n"
    "#define ONE(name, values, size) \\\n"
    "    if (type == at++) \\\n"
    "        for (int i = 0; i < n; i += V) \\\n"
    "            PASTE(vstore, V)(values_##name(W, grid, i), 0, y + i);\n"
    "    TYPES(ONE)\n"
    "}\n";

typedef struct program {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
} program;

static program build(const nino_cl_device *dev, const char *schedule, const char *file,
                     const char *defs)
{
    program p;
    char *text = NULL, *options = NULL, log[2000] = "";
    nino_error err;
    cl_int e;
    CHECK_OK(nino_cl_program_text(schedule, file, defs, &text, &options, &err), err);
    const char *const source[] = { text, every };
    CHECK((p.context = nino_ocl.clCreateContext(NULL, 1, &dev->id, NULL, NULL, &e)));
    CHECK((p.queue = nino_ocl.clCreateCommandQueue(p.context, dev->id, 0, &e)));
    CHECK((p.program =
               nino_ocl.clCreateProgramWithSource(p.context, 2, (const char **) source, NULL, &e)));
    if (nino_ocl.clBuildProgram(p.program, 1, &dev->id, options, NULL, NULL)) {
        nino_ocl.clGetProgramBuildInfo(p.program, dev->id, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1,
                                       log, NULL);
        fprintf(stderr, "%s\n", log);
        CHECK(!"it builds");
    }
    CHECK((p.kernel = nino_ocl.clCreateKernel(p.program, "every", &e)));
    free(text);
    free(options);
    return p;
}

static void end(program *p)
{
    CHECK(!nino_ocl.clReleaseKernel(p->kernel) && !nino_ocl.clReleaseProgram(p->program));
    CHECK(!nino_ocl.clReleaseCommandQueue(p->queue) && !nino_ocl.clReleaseContext(p->context));
}

static cl_mem buffer(const program *p, const void *from, size_t bytes)
{
    cl_int e;
    static const uint16_t none[8];
    cl_mem m = nino_ocl.clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes ? bytes : sizeof(none),
                                       NULL, &e);
    CHECK(m);
    if (from || !bytes)
        CHECK(!nino_ocl.clEnqueueWriteBuffer(p->queue, m, CL_TRUE, 0, bytes ? bytes : sizeof(none),
                                             from ? from : none, 0, NULL, NULL));
    return m;
}

static void check_type(program *p, int k, uint64_t *rng)
{
    static float want[MOST], got[MOST];
    const cl_int type = k;
    size_t values = 256, bytes = 0;
    if (nino_dtype_is_block(types[k].type))
        nino_dtype_block(types[k].type, &values, &bytes);
    const cl_int n = (cl_int) (BLOCKS * values);
    nino_array *a = nino_check_blocks(NINO_SHAPE(n), types[k].type, rng);
    CHECK(a);
    cl_mem mem[3] = { buffer(p, a->data, a->bytes),
                      buffer(p, types[k].grid, types[k].entries * sizeof(uint16_t)),
                      buffer(p, NULL, sizeof(got)) };
    const size_t one = 1;
    CHECK(!nino_ocl.clSetKernelArg(p->kernel, 0, sizeof(type), &type));
    CHECK(!nino_ocl.clSetKernelArg(p->kernel, 1, sizeof(n), &n));
    for (cl_uint i = 0; i < 3; i++)
        CHECK(!nino_ocl.clSetKernelArg(p->kernel, 2 + i, sizeof(*mem), &mem[i]));
    CHECK(
        !nino_ocl.clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    CHECK(!nino_ocl.clEnqueueReadBuffer(p->queue, mem[2], CL_TRUE, 0, (size_t) n * sizeof(*got),
                                        got, 0, NULL, NULL));
    CHECK(nino_dtype_is_block(types[k].type)
              ? nino_quant_to_f32(want, a->data, types[k].type, (size_t) n)
              : nino_to_f32(want, a->data, types[k].type, (size_t) n));
    for (cl_int i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof(*got)) != 0 && !(isnan(got[i]) && isnan(want[i]))) {
            fprintf(stderr, "  %s: value %d is %g, of the reference %g\n",
                    nino_dtype_name(types[k].type), (int) i, (double) got[i], (double) want[i]);
            CHECK(!"the bits of the reference");
        }
    for (int i = 0; i < 3; i++)
        CHECK(!nino_ocl.clReleaseMemObject(mem[i]));
    nino_array_unref(&a);
}

int main(void)
{
    const nino_cl_device *dev = test_cl_device();
    static const struct {
        const char *schedule, *file, *defs;
    } made[] = { { "cpu", "quant", "" },
                 { "generic", "quant", "" },
                 { "generic", "skinny", " -DRAW=q8_0" } }; // 16, 4, 8 values
    uint64_t rng = 20261128;
    for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
        program p = build(dev, made[i].schedule, made[i].file, made[i].defs);
        for (int k = 0; k < N_TYPES; k++)
            check_type(&p, k, &rng);
        end(&p);
    }
    return 0;
}
