// Private to core/model/lora and merge: a LoRA file as layers, and a stack of files.
#pragma once
#include "core/model/lora/lora.h"
#include "core/model/lora/lora_math.h"

struct nino_lora {
    int refs;
    nino_weights *file;
    char name[128];
    struct nino_arena *arena;
    lora_layer *layer;
    int n_layers;
};

struct nino_lora_stack {
    int refs, n;
    struct {
        nino_lora *lora;
        double strength;
    } e[];
};

// A new stack: s (NULL: none) and one more on top. NULL: out of memory.
nino_lora_stack *lora_stack_push(const nino_lora_stack *s, nino_lora *l, double strength);
