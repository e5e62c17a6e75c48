// Internal: previews while a node samples: how often, at what cost, written where.
// Thread-safety: the node's thread.
#pragma once
#include "core/node/node_impl.h"
#include "core/sample/guide/guide.h"

typedef struct nino_preview nino_preview;

// As the ctx is set up; NULL: no previews.
nino_preview *nino_preview_create(nino_run *r, const nino_latent_format *format);
void nino_preview_destroy(nino_preview **p); // NULL-safe
// After a step: makes a preview if it is time and its cost stays within the share. What goes wrong
// is a warning, and ends the previews of this node. p may be NULL.
void nino_preview_step(nino_preview *p, const nino_sample_step *step);
