// In place of clblast.c in builds without it (CLBLAST=0).
#include "cl/blas.h"

static bool clblast_load(void) { return false; }

nino_cl_blas nino_blas = { .name = "CLBlast", .load = clblast_load };
