// CLBlast through a table filled by dlopen(), so that the library starts without it. The only include of
// <clblast_c.h>.
#include "cl/blas.h"

#include <clblast_c.h>
#include <dlfcn.h>
#include <pthread.h>

#define FUNCTIONS(X)                                                                               \
    X(CLBlastSgemmWithTempBuffer)                                                                  \
    X(CLBlastSGemmTempBufferSize)                                                                  \
    X(CLBlastClearCache)

static struct {
#define X(fn) __typeof__(fn) *fn;
    FUNCTIONS(X)
#undef X
} clblast;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

static void clblast_open(void)
{
    void *lib = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return;
#define X(fn)                                                                                      \
    *(void **) &clblast.fn = dlsym(lib, #fn);                                                      \
    if (!clblast.fn)                                                                               \
        return;
    FUNCTIONS(X)
#undef X
    is_loaded = true;
}

static bool clblast_load(void)
{
    pthread_once(&once, clblast_open);
    return is_loaded;
}

static CLBlastTranspose clblast_order(const nino_cl_sgemm *g)
{
    return g->is_b_rows ? CLBlastTransposeYes : CLBlastTransposeNo;
}

static cl_int clblast_temp_bytes(cl_command_queue queue, const nino_cl_sgemm *g, size_t *bytes)
{
    return clblast.CLBlastSGemmTempBufferSize(CLBlastLayoutRowMajor, CLBlastTransposeNo,
                                              clblast_order(g), g->rows, g->n, g->c, g->a_at, g->c,
                                              g->b_at, g->b_ld, g->y_at, g->n, &queue, bytes);
}

static cl_int clblast_sgemm(cl_command_queue queue, const nino_cl_sgemm *g, cl_event *event)
{
    return clblast.CLBlastSgemmWithTempBuffer(
        CLBlastLayoutRowMajor, CLBlastTransposeNo, clblast_order(g), g->rows, g->n, g->c, 1, g->a,
        g->a_at, g->c, g->b, g->b_at, g->b_ld, 0, g->y, g->y_at, g->n, &queue, event, g->temp);
}

static void clblast_forget(void) { clblast.CLBlastClearCache(); }

nino_cl_blas nino_blas = { .name = "CLBlast",
                           .load = clblast_load,
                           .temp_bytes = clblast_temp_bytes,
                           .sgemm = clblast_sgemm,
                           .forget = clblast_forget };
