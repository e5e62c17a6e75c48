// Internal: PyTorch's files (.pth, .pt, .ckpt) without running their pickle.
#pragma once
#include "core/file/safetensors.h"

// Reads the table of tensors of the archive open at fd. The pickle goes through a machine that
// knows only the instructions a state dict needs; every other instruction or name is refused with
// kind "unknown". As in ComfyUI the tensors are those of "state_dict" if there is one, else of the
// only value of a dict if that is a dict; where that has none itself, of the dict that is called as
// training programs do ("params_ema", "params", ...). Those of the dicts "string_to_param",
// "image_proj" and "ip_adapter" among them are listed as "string_to_param.NAME" and so on. A file that is one bare tensor lists it as "tensor".
nino_status nino_pth_parse(int fd, uint64_t file_bytes, const char *name, nino_st_header *out,
                           nino_error *err);
// The same of a file older than PyTorch 1.6, which is no archive.
nino_status nino_pth_old_parse(int fd, uint64_t file_bytes, const char *name, nino_st_header *out,
                               nino_error *err);
