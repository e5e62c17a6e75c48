// A chooser may be accepted with nothing chosen, or with a place that has no path.
#include "base/chosen.h"

char *nino_chosen_path(GtkNativeDialog *dialog, int response)
{
    g_autoptr(GFile) file = response == GTK_RESPONSE_ACCEPT
                                ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                                : NULL;
    return file ? g_file_get_path(file) : NULL;
}
