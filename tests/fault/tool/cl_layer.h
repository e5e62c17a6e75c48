// What the OpenCL layer of the fault tests is told and counts: exported as cl_fault_now, so that a test
// in the same process finds it with dlsym(); other programs set it by $NINODES_CL_FAULT.
#pragma once
#include <stdatomic.h>

typedef enum cl_fault_kind {
    CL_FAULT_NONE,
    CL_FAULT_ONCE,    // the call fails
    CL_FAULT_FOREVER, // and every later one: a device that is lost
    CL_FAULT_LATE,    // a command is taken, and has failed when its event is asked
    CL_FAULT_HANG,    // the call does not return until it is told otherwise
    CL_FAULT_ABORT,   // the driver ends the process, as ROCm's does; code: by which signal
    CL_FAULT_PROBE,   // it tries what a confined process cannot do, and reports it
} cl_fault_kind;

enum { CL_FAULT_CALLS = 48 };

typedef struct cl_fault {
    // What is to happen.
    atomic_int kind;
    atomic_int code;      // of the call that fails
    atomic_long at;       // its number, from 1
    char call[48];        // count this call only; "": all
    atomic_llong limit;   // bytes of all buffers; beyond them ...
    atomic_int is_lazy;   // 0: a buffer is refused; 1: made, and the next command fails
    atomic_int is_fenced; // buffers are full of NaNs and end at a page that nobody may touch
    // What was counted.
    atomic_long calls;   // that can fail, since it was last set to 0
    atomic_int fired;    // faults made
    atomic_long objects; // that live: contexts, queues, buffers, programs, kernels, events
    atomic_llong bytes;  // of all buffers that live
    atomic_int broken;   // fences that were written on
    char hit[48];        // the call that failed
    struct {
        _Atomic(const char *) call; // NULL: no more
        atomic_long n;              // since the program began
    } each[CL_FAULT_CALLS];
} cl_fault;
extern cl_fault cl_fault_now;
