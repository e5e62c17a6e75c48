// Internal to core/harness: a case of the kernel harness made ready to run: operands on the host,
// and one backend's half with guards around every buffer.
#pragma once
#include "core/harness/kernel_check.h"

#define CHECK_GUARD ((size_t) 4096)
#define CHECK_GUARD_BYTE 0xA5

typedef struct check_side { // one backend's half of a comparison
    nino_backend *be;
    nino_op_call call;
    nino_tensor src[NINO_OP_MAX_SRC], dst;
    nino_block src_mem[NINO_OP_MAX_SRC], dst_mem, work_mem; // with guards
    int in_place;
} check_side;

typedef struct check_job {
    nino_op_desc d;
    nino_array *x[NINO_OP_MAX_SRC]; // f32, rounded to the type of the storage
    nino_weight *w, *bias;
} check_job;

// The call of a case whose op and attributes d has, with its weight: the shapes and types.
nino_status nino_check_describe(const nino_check_case *c, nino_dtype type, nino_op_desc *d,
                                nino_error *err);
// Release in any case.
nino_status check_job_init(check_job *j, const nino_check_case *c, nino_dtype type,
                           const nino_profile *p, uint64_t seed, nino_error *err);
void check_job_release(check_job *j);
// s->be and s->in_place are set; release in any case.
nino_status check_side_prepare(check_side *s, const check_job *j, nino_error *err);
void check_side_release(check_side *s);
// Runs the call; the result as an array of its storage type. NULL: it failed, or a guard was hurt.
nino_array *check_side_run(check_side *s, nino_error *err);
// Runs the call once more and waits: seconds.
nino_status check_side_time(check_side *s, double *seconds, nino_error *err);
