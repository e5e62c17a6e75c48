// What is wrong with a workflow, and why it could not run here: a list that jumps to the node.
#pragma once
#include "workflow/tab.h"

#define NINO_TYPE_PROBLEMS (nino_problems_get_type())
G_DECLARE_FINAL_TYPE(NinoProblems, nino_problems, NINO, PROBLEMS, GtkWidget)

GtkWidget *nino_problems_new(void);
// Where files are looked for; NULL: as the library does.
void nino_problems_set_folders(NinoProblems *p, const char *const *models, const char *input);
// Checks the graph of a tab (NULL: nothing open) and marks its nodes that cannot run. Returns the
// number of errors.
guint nino_problems_check(NinoProblems *p, NinoTab *tab);
// The answer to "does it fit": bytes needed and there, or an error; shown above the list.
void nino_problems_set_plan(NinoProblems *p, const char *text, gboolean fits);
// Signals: "jump" (const char *node), "plan": the user wants to know what the run needs.
