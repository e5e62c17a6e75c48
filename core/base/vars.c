// Every environment variable ninodes reads.
#include "core/base/vars.h"

#include <ninodes/base.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static nino_vars vars;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// An empty variable is the same as none.
static const char *get(const char *name, const char *def)
{
    const char *v = getenv(name);
    return v && *v ? v : def;
}

static void read_all(void)
{
#define X(field, name, def, help) vars.field = get(name, def);
    NINO_VARS(X)
#undef X
}

const nino_vars *nino_vars_get(void)
{
    pthread_once(&once, read_all);
    return &vars;
}

const nino_variable *nino_variables(void)
{
    static const nino_variable all[] = {
#define X(field, name, def, help) { name, def, help },
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
