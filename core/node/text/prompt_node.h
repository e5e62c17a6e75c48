// Internal: what nodes that encode prompts share.
#pragma once
#include "core/node/util.h"

// Encodes with the CLIP of input 0. *entry, which may be NULL: the only one of a new conditioning,
// which is output 0.
nino_status nino_prompt_encode(nino_run *r, const nino_clip_text *text, nino_cond_entry **entry,
                               nino_error *err);
