// Internal: structs that callers fill and that begin with their size (the ABI rule of
// ninodes/ninodes.h), and job options: their words, copies, and one laid over another.
#pragma once
#include "core/base/arena.h"
#include <ninodes/options.h>

// Fills *out from what a caller has passed, which may be older and shorter or newer and longer:
// what it does not have is zero, what is not known here is not looked at. in NULL: all zero. False:
// its size was never set, *err names the macro that does.
#define NINO_TAKE(out, in, INIT, err) nino_params_take(out, sizeof(*(out)), in, #INIT, err)
bool nino_params_take(void *out, size_t size, const void *in, const char *init, nino_error *err);

// What `over` says, and where it says nothing what *o says.
void nino_options_lay_over(nino_job_options *o, const nino_job_options *over);
// Which policies are other than NINO_POLICY_STANDARD.
uint32_t nino_options_switched(const nino_job_options *o);
// Moves its texts into the arena. False: out of memory.
bool nino_options_keep(nino_job_options *o, nino_arena *arena);
