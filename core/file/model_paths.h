// Internal: where model files are looked for: the model folders and extra_model_paths.yaml.
#pragma once
#include "core/base/log.h"

typedef struct nino_paths nino_paths;

// models: NULL-terminated roots that hold "vae", "checkpoints", ...; NULL: $NINODES_MODELS, else
// "models". extra_model_paths.yaml is read in each root and beside it; one that cannot be read is
// reported to the log and ignored.
nino_paths *nino_paths_create(const char *const *models, const nino_log *log, nino_error *err);
void nino_paths_destroy(nino_paths **p);
// Folders to search for a kind, in order; malloc'd NULL-terminated array, one free(). NULL: out of
// memory.
char **nino_paths_dirs(const nino_paths *p, const char *kind);
// Names of the files below dirs, sorted, each once, "sub/name" for sub-folders; links and hidden
// files are left out. ext: accepted endings, NULL-terminated; NULL: any. One malloc'd block.
char **nino_paths_list(char *const *dirs, const char *const *ext);
extern const char *const nino_model_endings[]; // NULL-terminated
