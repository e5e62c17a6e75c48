// Loads the translations and sets the locale, but not the one of numbers.
#include "base/i18n.h"
#include "base/places.h"

#include <gtk/gtk.h>
#include <locale.h>

void nino_i18n_start(const char *language)
{
    // Numbers stay those of "C": workflows, traces, tables and the editors of nodes write 7.5
    // everywhere, and GTK would set every category. Sorting follows the language too.
    gtk_disable_setlocale();
    static const int categories[] = { LC_CTYPE, LC_MESSAGES, LC_TIME, LC_COLLATE };
    for (gsize i = 0; i < G_N_ELEMENTS(categories); i++)
        setlocale(categories[i], "");
    if (language && !g_str_equal(language, "system")) {
        g_setenv("LANGUAGE", language, TRUE);
        // gettext looks at LANGUAGE only where the locale is another one than "C", and this one is
        // part of every Debian.
        if (!g_strcmp0(setlocale(LC_MESSAGES, NULL), "C"))
            setlocale(LC_MESSAGES, "C.UTF-8");
    }
    g_autofree char *dir = nino_place_of_catalogues();
    bindtextdomain("ninodes", dir);
    bind_textdomain_codeset("ninodes", "UTF-8");
    textdomain("ninodes");
}
