// Settings files: the variables of vars.h for those who do not set them in the environment.
#include "core/base/settings.h"

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/vars.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILE_NAME "ninodes.conf"

static const struct {
    const char *name;
    nino_setting_scope scope;
} known[] = {
#define X(field, name, scope, def, help) { name, scope },
    NINO_VARS(X)
#undef X
};
enum { N_KNOWN = sizeof(known) / sizeof(known[0]) };

static char *value[N_KNOWN], problem[512];

static void complain(const char *path, int line, const char *what, const char *name)
{
    if (!problem[0])
        snprintf(problem, sizeof(problem), "%s:%d: %s \"%s\"", path, line, what, name);
}

// "mem_limit" of NINODES_MEM_LIMIT; -1: not one that a file may set.
static int settings_find(const char *key)
{
    static const char prefix[] = "NINODES_";
    for (int i = 0; i < N_KNOWN; i++)
        if (known[i].scope != NINO_SETTING_NONE &&
            !strncmp(known[i].name, prefix, sizeof(prefix) - 1) &&
            !strcasecmp(known[i].name + sizeof(prefix) - 1, key))
            return i;
    return -1;
}

static char *settings_trim(char *s)
{
    while (isspace((unsigned char) *s))
        s++;
    for (size_t n = strlen(s); n && isspace((unsigned char) s[n - 1]);)
        s[--n] = 0;
    return s;
}

// "name = value"; what an earlier file has set stays.
static void read_line(char *line, const char *path, int number, bool is_project)
{
    char *key = settings_trim(line), *equals = strchr(key, '=');
    if (!*key || *key == '#')
        return;
    if (!equals) {
        complain(path, number, "no \"=\" in", key);
        return;
    }
    *equals = 0;
    key = settings_trim(key);
    const int i = settings_find(key);
    if (i < 0)
        complain(path, number, "there is no setting", key);
    else if (is_project && known[i].scope != NINO_SETTING_ANY)
        complain(path, number, "only your own " FILE_NAME " may set", key);
    else if (!value[i])
        value[i] = strdup(settings_trim(equals + 1));
}

static void read_settings(const char *path, bool is_project)
{
    char *text = NULL;
    size_t len;
    if (access(path, R_OK) || nino_file_read(path, 1 << 16, false, &text, &len, NULL))
        return;
    int number = 0;
    for (char *at = text; at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        read_line(at, path, ++number, is_project);
        at = end;
    }
    free(text);
}

// base/ninodes/ninodes.conf, where base is `dir`, or `sub` of it.
static void settings_read_folder(const char *dir, size_t len, const char *sub)
{
    char path[4096];
    const int n = snprintf(path, sizeof(path), "%.*s%s/ninodes/" FILE_NAME, (int) len, dir, sub);
    if (len && *dir == '/' && n > 0 && (size_t) n < sizeof(path))
        read_settings(path, false);
}

void nino_settings_read(void)
{
    const char *own = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const char *all = getenv("XDG_CONFIG_DIRS");
    read_settings(FILE_NAME, true);
    if (own && *own)
        settings_read_folder(own, strlen(own), "");
    else if (home)
        settings_read_folder(home, strlen(home), "/.config");
    for (const char *p = all && *all ? all : "/etc/xdg"; *p;) {
        const size_t n = strcspn(p, ":");
        settings_read_folder(p, n, "");
        p += n + (p[n] == ':');
    }
}

const char *nino_settings_get(const char *name)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(known[i].name, name))
            return value[i] && *value[i] ? value[i] : NULL;
    return NULL;
}

const char *nino_settings_problem(void)
{
    nino_vars_get();
    return problem[0] ? problem : NULL;
}
