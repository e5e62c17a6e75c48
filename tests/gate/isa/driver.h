// Parts of the OpenCL driver over the interpreter.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "tests/gate/isa/isa.h"

#include <CL/cl.h>

// ---- device.c: what it says it is, and the compiler -------------------------------------------
// A clGet...Info() with one answer.
cl_int isa_answer(const void *value, size_t bytes, size_t size, void *out, size_t *needed);
// malloc'd object; false: log says why.
bool isa_compile(const char *source, const char *options, uint8_t **object, size_t *bytes,
                 char *log, size_t log_size);

// ---- report.c: what has been executed ---------------------------------------------------------
// is_given: the program came as a code object, not as a source.
void isa_report_launch(const char *kernel, const char *options, bool is_given, uint64_t n_insns,
                       const char *err);
// Before a program goes.
void isa_report_program(const isa_program *p, const char *options);
