// The workflow as a form: the values of its nodes from top to bottom, without links and places.
#pragma once
#include "workflow/tab.h"

#define NINO_TYPE_FORM (nino_form_get_type())
G_DECLARE_FINAL_TYPE(NinoForm, nino_form, NINO, FORM, GtkWidget)

GtkWidget *nino_form_new(void);
// Shows a tab (NULL: none); borrowed until the next call. Also call it when the workflow changed.
void nino_form_show(NinoForm *form, NinoTab *tab);
// Signal "refused" (const char *text): a value was not accepted.
