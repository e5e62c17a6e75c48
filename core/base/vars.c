// Every environment variable ninodes reads.
#include "core/base/vars.h"
#include "core/base/settings.h"

#include <ninodes/base.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nino_vars vars;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static atomic_bool are_read;

static void vars_read_all(void)
{
    atomic_store(&are_read, true);
    nino_settings_read();
#define X(field, name, scope, key, flag, values, def, help)                                        \
    vars.field = nino_settings_at(NINO_VAR_##field)->text;
    NINO_VARS(X)
#undef X
}

bool nino_vars_are_read(void) { return atomic_load(&are_read); }

const nino_vars *nino_vars_get(void)
{
    pthread_once(&once, vars_read_all);
    return &vars;
}

const nino_variable *nino_variables(void)
{
    static const nino_variable all[] = {
#define X(field, name, scope, key, flag, values, def, help)                                        \
    { name, def, help, scope != NINO_SETTING_NONE },
        NINO_VARS(X)
#undef X
            { 0 },
    };
    return all;
}

_Bool nino_debug_has(const char *word)
{
    const nino_vars *v = nino_vars_get();
    const size_t n = strlen(word);
    if (!strcmp(word, "capture") && !strcmp(v->capture, "1"))
        return 1;
    for (const char *p = v->debug; *p; p += *p == ',') {
        const size_t w = strcspn(p, ",");
        if (w == n && !memcmp(p, word, n))
            return 1;
        p += w;
    }
    return 0;
}

// `dir`, else `set`, else XDG/ninodes, else ~/REST/ninodes.
static bool choose_dir(const char *dir, const char *set, const char *xdg, const char *rest,
                       char *out, size_t size)
{
    const char *home = getenv("HOME");
    int n = -1;
    if (dir)
        n = *dir ? snprintf(out, size, "%s", dir) : -1;
    else if (*set)
        n = snprintf(out, size, "%s", set);
    else if (xdg && *xdg == '/')
        n = snprintf(out, size, "%s/ninodes", xdg);
    else if (home && *home == '/')
        n = snprintf(out, size, "%s/%s/ninodes", home, rest);
    if (n <= 0 || (size_t) n >= size)
        return false;
    while (n > 1 && out[n - 1] == '/')
        out[--n] = 0;
    return true;
}

bool nino_cache_dir(const char *dir, char *out, size_t size)
{
    return choose_dir(dir, nino_vars_get()->cache_dir, getenv("XDG_CACHE_HOME"), ".cache", out,
                      size);
}

bool nino_state_dir(const char *dir, char *out, size_t size)
{
    return choose_dir(dir, "", getenv("XDG_STATE_HOME"), ".local/state", out, size);
}
