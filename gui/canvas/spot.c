// A group or a point of a link as a widget, for keyboard and screen readers. The pointer never
// meets it: the canvas knows better what is below.
#include "canvas/spot.h"

#include "base/i18n.h"

G_DEFINE_TYPE(NinoSpot, nino_spot, GTK_TYPE_WIDGET)

static void on_spot_focus(GtkWidget *w, GParamSpec *spec, gpointer user)
{
    (void) spec, (void) user;
    if (gtk_widget_get_parent(w))
        gtk_widget_queue_draw(gtk_widget_get_parent(w));
}

static void spot_finalize(GObject *o)
{
    g_free(NINO_SPOT(o)->id);
    g_free(NINO_SPOT(o)->label);
    G_OBJECT_CLASS(nino_spot_parent_class)->finalize(o);
}

static void nino_spot_class_init(NinoSpotClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = spot_finalize;
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "ninospot");
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void nino_spot_init(NinoSpot *s)
{
    gtk_widget_set_focusable(GTK_WIDGET(s), TRUE);
    gtk_widget_set_can_target(GTK_WIDGET(s), FALSE);
    g_signal_connect(s, "notify::has-focus", G_CALLBACK(on_spot_focus), NULL);
}

GtkWidget *nino_spot_new(gboolean is_group, const char *id)
{
    NinoSpot *s = g_object_new(NINO_TYPE_SPOT, NULL);
    s->is_group = is_group;
    s->id = g_strdup(id);
    return GTK_WIDGET(s);
}

void nino_spot_set(NinoSpot *s, const char *label, gboolean is_selected)
{
    if (s->label && s->is_selected == is_selected && g_str_equal(s->label, label))
        return;
    char *kept = g_strdup(label); // may be its own
    g_free(s->label);
    s->label = kept;
    s->is_selected = is_selected;
    g_autofree char *name = g_strconcat(kept, is_selected ? _(", selected") : "", NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}
