// Loads the translations and sets the locale.
#include "base/i18n.h"
#include "base/places.h"

#include <gtk/gtk.h>
#include <locale.h>

void nino_i18n_start(const char *language)
{
    gtk_disable_setlocale(); // it would set all again, and undo what follows
    // One by one: that one is missing leaves the others. Sorting follows the language too.
    static const int categories[] = { LC_CTYPE, LC_MESSAGES, LC_TIME, LC_COLLATE, LC_NUMERIC };
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

const char *nino_i18n_translate(const char *text) { return _(text); }
