// A locale with a decimal comma, for tests of what has to write and read numbers without it.
#pragma once
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

// Sets it: one of the machine, or one made here; false if there is none.
static inline bool set_comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE",       "fr_FR.UTF-8",
                                         "nl_NL.UTF-8", "pl_PL.UTF-8", "ru_RU.UTF-8" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    char dir[] = "/tmp/ninodes-locale-XXXXXX", cmd[300];
    if (!mkdtemp(dir))
        return false;
    snprintf(cmd, sizeof(cmd),
             "cd %s && printf 'LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping "
             "3;3\nEND LC_NUMERIC\nLC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\n' >src && "
             "localedef -c -i src -f ANSI_X3.4-1968 ./comma >log 2>&1",
             dir);
    const int rc = system(cmd); // complains about the other categories
    setenv("LOCPATH", dir, 1);
    const bool ok = setlocale(LC_NUMERIC, "comma") != NULL;
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    return system(cmd) == 0 && rc >= 0 && ok;
}
