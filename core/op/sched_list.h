// The schedules: ways in which kernels are written and cut. A row each; the folder of cl/ of that
// name has its functions and the kernels that are its alone. Whoever must know the schedules reads
// this list: core/op/sched.c, cl/cl_schedule.c, the Makefile and tests/gate.
//
// SCHEDULE(name, form of the shared kernels, what core must know of it: members of nino_sched)
// clang-format off
SCHEDULE(cpu, SCHED_CPU, .has_winograd = true, .packs_keys = true, .decode_rows = 192,
         .tunes = NINO_TUNES_GEMM_PIECES | NINO_TUNES_GEMM_ROWS | NINO_TUNES_WINO_TILES)
SCHEDULE(generic, SCHED_GENERIC, .tunes = NINO_TUNES_GEMM_TILE)
SCHEDULE(wmma, SCHED_GENERIC, .base = "generic", .has_matrix = true, .keeps_rows = true,
         .tunes = NINO_TUNES_GEMM_TILE | NINO_TUNES_MATRIX)
// clang-format on
#undef SCHEDULE
