// A row of the list of problems: where, what, and what can be done about it there.
#pragma once
#include "workflow/tab.h"

// "2 Load VAE · vae_name"; a node within a subgraph has no title out here. g_free().
char *nino_problem_place(const nino_issue *issue, NinoTab *tab);
// The issue's texts are copied. model_folder: where models lie first, or NULL. The row keeps its node's id as "node".
GtkWidget *nino_problem_row_new(const nino_issue *issue, NinoTab *tab, const char *model_folder);
