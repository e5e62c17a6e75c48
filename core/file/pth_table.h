// Internal to core/file: what both forms of PyTorch files do with the tensors of their pickle.
#pragma once
#include "core/file/pth_pickle.h"
#include "core/file/safetensors.h"

#define NINO_PTH_MAX_PICKLE (64u << 20)
#define NINO_PTH_MAX_NAME 1024u

// Refuses names that no table may have, and keys that are too long. file: for messages.
nino_status nino_pth_check_name(const nino_pickle_tensor *t, const char *file, nino_error *err);
// The table's row of a tensor whose storage begins at `data`.
nino_status nino_pth_fill(const nino_pickle_tensor *t, uint64_t data, const char *file,
                          nino_arena *arena, nino_tensor_info *info, nino_error *err);
void nino_pth_sort(nino_st_header *h); // by offset
