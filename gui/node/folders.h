// Where the files are that values name: folders of models, of inputs and of outputs.
#pragma once
#include <glib.h>
#include <ninodes/document.h>

// Copied. NULL: as the library finds them.
void nino_folders_set(const char *const *models, const char *input, const char *output);
const char *nino_folders_get(gboolean is_output); // of inputs, or of outputs
// Files that a parameter of this folder can take, and extra ones (NULL-terminated or NULL); g_strfreev().
char **nino_folders_files(const char *folder, const char *const *extra);
// Where a model of one of these folders is; NULL: nowhere. g_free().
char *nino_folders_model_path(const char *folder, const char *name);
// The file that the value names in the folder of inputs or outputs, or NULL: it names none.
char *nino_folders_input_path(const nino_doc_widget *w);
