// Internal: one call of an op as a text, which records of kernels carry: op, types, shapes, weights and
// attributes, "linear f16:77x768 weight=q8_0:3072 bias act=gelu". Read back it is a case of the kernel
// harness, so that what a run did can be done again by itself.
#pragma once
#include "core/harness/kernel_check.h"

enum { NINO_CALL_TEXT = 480 };

// Returns buf; "" where there is no room for all of it.
const char *nino_call_write(char buf[NINO_CALL_TEXT], const nino_op_desc *d);
// type: as nino_check_run() takes it. Errors: NINO_ERR_FORMAT, with the word that is wrong;
// NINO_ERR_UNSUPPORTED: the harness cannot make that call.
nino_status nino_call_read(const char *text, nino_check_case *c, nino_dtype *type, nino_error *err);
