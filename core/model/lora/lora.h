// Internal: LoRA and its relatives: files of small changes to the weights of a network. A network
// with LoRAs is one that was loaded from a view of its file in which weights are computed when they
// are read; the network it came from stays as it was.
// Dialects of names and kinds of changes: lora_key.c and lora_math.h.
#pragma once
#include "core/file/weights.h"

typedef struct nino_lora nino_lora; // one file; immutable

// Reads the names of a file. One in which nothing looks like a LoRA is no error: then none of its
// tensors is ever used.
nino_status nino_lora_open(nino_weights *file, const char *name, nino_lora **out, nino_error *err);
nino_lora *nino_lora_ref(nino_lora *l);  // NULL-safe
void nino_lora_unref(nino_lora **l);     // NULL-safe
int nino_lora_count(const nino_lora *l); // tensors

// What became of a file's tensors, over all networks it was applied to.
typedef struct nino_lora_report {
    bool *used;          // nino_lora_count() of them, by tensor
    int n_misfits;       // layers of another size than the network's
    char misfit[2][192]; // the first of them, with the sizes
} nino_lora_report;
// Prints what was not used: how many tensors and the first few names. "": all were.
const char *nino_lora_unused(const nino_lora *l, const nino_lora_report *r, char *buf, size_t size);

// ---- for networks ----------------------------------------------------------------------------
// The LoRAs that a network was loaded with, in order. Immutable.
typedef struct nino_lora_stack nino_lora_stack;
nino_lora_stack *nino_lora_stack_ref(nino_lora_stack *s); // NULL-safe
void nino_lora_stack_unref(nino_lora_stack **s);          // NULL-safe
