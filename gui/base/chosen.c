// A chooser may be accepted with nothing chosen, or with a place that has no path.
#include "base/chosen.h"

#include "base/i18n.h"

enum { KEPT_S = 60 };

// GTK 4.8's chooser does not end what it has begun: the folder that it was reading, or looked at again, tells its
// widget when it is done, and ends the process where that is gone.
static void on_visible(GtkNativeDialog *dialog)
{
    if (!gtk_native_dialog_get_visible(dialog))
        g_timeout_add_once(KEPT_S * 1000, g_object_unref, g_object_ref(dialog));
}

GtkFileChooserNative *nino_chooser_new(const char *title, GtkWindow *parent,
                                       GtkFileChooserAction action, const char *accept)
{
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(title, parent, action, accept, _("_Cancel"));
    g_signal_connect(dialog, "notify::visible", G_CALLBACK(on_visible), NULL);
    return dialog;
}

char *nino_chosen_path(GtkNativeDialog *dialog, int response)
{
    g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                                : NULL;
    return file ? g_file_get_path(file) : NULL;
}
