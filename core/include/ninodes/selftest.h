// The kernels of a device checked against the reference: every op, odd sizes, guard bands around
// what a kernel may write.
//
// Threads: any thread; one self-test at a time.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_selftest_case {
    // Everything that identifies the case: "conv2d_f16_n1_c320_32x32".
    const char *name;
    bool ok;
    // Normalised mean square error, largest difference, and what the first may be.
    double nmse, max_abs, tol;
    // With nino_selftest_params.bench the time of a run and its arithmetic, else 0.
    double ms, gflops;
    // What went wrong, or "".
    const char *note;
} nino_selftest_case;

#define NINO_SELFTEST_PARAMS_INIT .size = sizeof(nino_selftest_params)
typedef struct nino_selftest_params {
    // Set by NINO_SELFTEST_PARAMS_INIT.
    size_t size;
    // As in nino_ctx_params.
    const char *device;
    // Only cases with this in their name. NULL: all.
    const char *op;
    // Of the random inputs. 0: a fixed one.
    uint64_t seed;
    // Times the cases as well.
    bool bench;
    // Small shapes only.
    bool quick;
    // How kernels are cut on an OpenCL device: the name of a schedule (nino_device_info). One that
    // needs matrix instructions runs emulated where the device has none, which is slow. NULL: the
    // device's own.
    const char *schedule;
    // Who multiplies the matrices of linear layers, as in nino_ctx_params.
    const char *gemm;
} nino_selftest_params;

// Calls report() once a case, with texts that live until it returns. NINO_OK: all passed.
// NINO_ERR_DEVICE: some did not, or the device failed. NINO_ERR_UNKNOWN: no such device or schedule,
// or no case of that name. NINO_ERR_ARG: a schedule or an engine for a device that has none (ref).
// NINO_ERR_UNSUPPORTED: an engine that is not there. params may be NULL.
NINO_API nino_status nino_selftest(const nino_selftest_params *params,
                                   void (*report)(void *priv, const nino_selftest_case *c),
                                   void *priv, nino_error *err);

NINO_END
