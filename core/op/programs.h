// Internal: the programs that work needs: what a backend compiles, by file and options, each once, in the
// order in which it is first asked for.
#pragma once
#include "core/base/buf.h"
#include <ninodes/base.h>
#include <ninodes/job.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct nino_programs {
    nino_plan_program *list;
    size_t n, cap;
    bool is_short;      // memory for one was not there
    nino_buf *launches; // NULL, or: each main launch of an op adds a line "KERNEL FILE OPTIONS"
    bool tells_helpers; // and each of a helper kernel
} nino_programs;

// What a process that compiles for another is told: a program, and what it answers when that is done. Its
// command line is NAME NINO_HELPER_ARG DEVICE CACHE_DIR.
#define NINO_HELPER_ARG "--compile-kernels"
#define NINO_HELPER_IDLE (UINT32_C(1) << 31) // of an index: nobody waits for it
typedef struct nino_helper_task {
    uint32_t index;
    nino_plan_program program;
} nino_helper_task;

// Also when it is there already.
void nino_programs_add(nino_programs *p, const char *file, const char *options);
bool nino_programs_has(const nino_programs *p, const char *file, const char *options);
void nino_programs_release(nino_programs *p);
