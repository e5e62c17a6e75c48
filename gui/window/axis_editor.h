// One axis of a grid: which input of the workflow it changes, and an editor for its values by their
// type: numbers as ranges and lists, choices to tick, texts one a line.
#pragma once
#include "workflow/tab.h"
#include <gtk/gtk.h>
#include <ninodes/grid.h>

typedef struct NinoGridInput {
    char *name;  // "NODE.INPUT", for nino_graph_set(); the node by its title where that is clear
    char *label; // for people
    char *value; // as it is now
    const nino_param *param;
} NinoGridInput;
// Those that an axis can change: NinoGridInput, owned by the array.
GPtrArray *nino_grid_inputs(NinoTab *tab);

#define NINO_TYPE_AXIS_EDITOR (nino_axis_editor_get_type())
G_DECLARE_FINAL_TYPE(NinoAxisEditor, nino_axis_editor, NINO, AXIS_EDITOR, GtkBox)

// title: "Columns"; inputs is referenced.
GtkWidget *nino_axis_editor_new(const char *title, GPtrArray *inputs);
// "NODE.INPUT=VALUES" as nino_axis_parse() takes it; NULL: no input is chosen. g_free()
char *nino_axis_editor_get(NinoAxisEditor *e);
// Chooses the input, if the workflow has it, and shows such values.
void nino_axis_editor_set(NinoAxisEditor *e, const char *axis);
// Signal "changed".
