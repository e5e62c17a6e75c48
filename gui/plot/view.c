// Making a view.
#include "plot/view.h"

#include "base/i18n.h"

GtkWidget *nino_view_new(const NinoViewType *type, NinoRun *run)
{
    GtkWidget *w = type->create(run);
    g_autofree char *name = g_strconcat("view-", type->id, NULL);
    gtk_widget_set_name(w, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, _(type->title),
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, _(type->help), -1);
    nino_export_install(w, run);
    return w;
}
