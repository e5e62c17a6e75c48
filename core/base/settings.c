// Settings files, the environment, and which of them counts for each row of vars.h.
#include "core/base/settings.h"

#include "core/base/file.h"
#include "core/base/num.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILE_NAME "ninodes.conf"

const nino_setting_row nino_setting_rows[NINO_VAR_COUNT] = {
#define X(field, name, scope, key, flag, values, def, help)                                        \
    { name, scope, key, flag, values, def, help },
    NINO_VARS(X)
#undef X
};

static nino_config_value value[NINO_VAR_COUNT]; // text NULL: nothing has set it
static char problem[512];

typedef struct reader { // of one file
    const char *path;   // lives as long as the process
    int line, seen[NINO_VAR_COUNT];
    bool is_project;
    char section[64];
} reader;

// ---- what is wrong ---------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void complain(const reader *r, const char *fmt, ...)
{
    char what[400];
    va_list ap;
    if (problem[0])
        return;
    va_start(ap, fmt);
    nino_vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    snprintf(problem, sizeof(problem), "%.100s:%d: %s", r->path, r->line, what);
}

static bool has_word(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = choices; *p;) {
        const size_t k = strcspn(p, "|");
        if (k == n && !memcmp(p, word, n))
            return true;
        p += k + (p[k] == '|');
    }
    return false;
}

bool nino_settings_is_wrong(int row, const char *text, char *out, size_t size)
{
    const nino_setting_row *r = &nino_setting_rows[row];
    const char *name = *r->key ? r->key : r->variable, *dots = strstr(r->values, "..");
    double v;
    if (strchr(r->values, '|') && !has_word(r->values, text))
        snprintf(out, size, "%s is one of %s, not \"%.60s\"", name, r->values, text);
    else if (dots && (!nino_parse_double(text, &v) || !(v >= nino_strtod(r->values, NULL)) ||
                      !(v <= nino_strtod(dots + 2, NULL))))
        snprintf(out, size, "%s is a number from %.*s to %s, not \"%.60s\"", name,
                 (int) (dots - r->values), r->values, dots + 2, text);
    else
        return false;
    return true;
}

// ---- files -----------------------------------------------------------------------------------

int nino_settings_find(const char *key)
{
    char name[96];
    size_t n = 0;
    for (; n < sizeof(name) - 1 && key[n]; n++)
        name[n] = (char) (key[n] == '-' ? '_' : tolower((unsigned char) key[n]));
    name[n] = 0;
    for (int i = 0; i < NINO_VAR_COUNT; i++)
        if (*nino_setting_rows[i].key && !strcmp(nino_setting_rows[i].key, name))
            return i;
    return -1;
}

char *nino_settings_trim(char *s)
{
    while (isspace((unsigned char) *s))
        s++;
    for (size_t n = strlen(s); n && isspace((unsigned char) s[n - 1]);)
        s[--n] = 0;
    return s;
}

// The text of a value: "..." or '...', else up to a comment; NULL: the quotes do not end.
static char *settings_value(char *s)
{
    const char quote = *s == '"' || *s == '\'' ? *s : 0;
    if (!quote) {
        for (char *p = s; *p; p++)
            if (*p == '#' && (p == s || isspace((unsigned char) p[-1])))
                *p-- = 0; // the loop ends there
        return nino_settings_trim(s);
    }
    char *end = strchr(s + 1, quote);
    if (!end)
        return NULL;
    char *rest = end + 1 + strspn(end + 1, " \t\r");
    if (*rest && *rest != '#')
        return NULL;
    *end = 0;
    return s + 1;
}

static void complain_of_key(const reader *r, const char *key)
{
    const char *names[NINO_VAR_COUNT];
    size_t n = 0;
    for (int i = 0; i < NINO_VAR_COUNT; i++)
        if (*nino_setting_rows[i].key)
            names[n++] = nino_setting_rows[i].key;
    const char *near = nino_nearest(key, names, n);
    complain(r, "there is no setting \"%.60s\"%s%s%s", key, near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "");
}

bool nino_settings_heading(const char *line, char *out, size_t size)
{
    const char *end = strchr(line, ']'), *rest = end ? end + 1 + strspn(end + 1, " \t") : NULL;
    if (*line != '[' || !rest || (*rest && *rest != '#'))
        return false;
    while (isspace((unsigned char) *++line)) // in "[ section ]"
        ;
    while (end > line && isspace((unsigned char) end[-1]))
        end--;
    snprintf(out, size, "%.*s", (int) (end - line), line);
    return true;
}

static void read_heading(reader *r, const char *s)
{
    if (!nino_settings_heading(s, r->section, sizeof(r->section))) {
        complain(r, "no heading: \"%.60s\"", s);
        return;
    }
    for (int i = 0; i < NINO_VAR_COUNT; i++) {
        const size_t n = strlen(r->section);
        if (!strncasecmp(nino_setting_rows[i].key, r->section, n) &&
            nino_setting_rows[i].key[n] == '.')
            return;
    }
    complain(r, "there is no section [%s]", r->section);
}

// "key = value"; what an earlier file has set stays.
static void read_line(reader *r, char *line)
{
    char *key = nino_settings_trim(line), *equals = strchr(key, '='), full[160], what[300];
    if (!*key || *key == '#')
        return;
    if (*key == '[') {
        read_heading(r, key);
        return;
    }
    if (!equals) {
        complain(r, "no \"=\" in \"%.60s\"", key);
        return;
    }
    *equals = 0;
    key = nino_settings_trim(key);
    snprintf(full, sizeof(full), "%s%s%s", r->section, *r->section ? "." : "", key);
    const int i = nino_settings_find(full);
    char *text = settings_value(nino_settings_trim(equals + 1));
    if (i < 0)
        complain_of_key(r, full);
    else if (r->is_project && nino_setting_rows[i].scope != NINO_SETTING_ANY)
        complain(r, "only your own " FILE_NAME " may set \"%s\"", full);
    else if (r->seen[i])
        complain(r, "%s is set in line %d already", full, r->seen[i]);
    else if (!text)
        complain(r, "the quotes of %s do not end the line", full);
    else if (*text && nino_settings_is_wrong(i, text, what, sizeof(what)))
        complain(r, "%s", what);
    else if (*text && !value[i].text)
        value[i] = (nino_config_value){ strdup(text), NINO_CONFIG_FILE, r->path, r->line };
    if (i >= 0)
        r->seen[i] = r->line;
}

// Paths live as long as the process: values and complaints name them.
static const char *keep_path(const char *path)
{
    static struct kept {
        struct kept *next;
        char path[];
    } * all;
    for (const struct kept *k = all; k; k = k->next)
        if (!strcmp(k->path, path))
            return k->path;
    const size_t n = strlen(path) + 1;
    struct kept *k = malloc(sizeof(*k) + n);
    if (!k)
        return NULL;
    memcpy(k->path, path, n);
    k->next = all;
    all = k;
    return k->path;
}

static void read_settings(const char *path, bool is_project)
{
    char *text = NULL;
    size_t len;
    if (access(path, R_OK) || nino_file_read(path, 1 << 16, false, &text, &len, NULL))
        return;
    reader r = { .path = keep_path(path), .is_project = is_project };
    const bool is_cut = strlen(text) < len;
    for (char *at = text; at && r.path;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        r.line++;
        read_line(&r, at);
        at = end;
    }
    if (is_cut && r.path)
        complain(&r, "a zero byte; what follows it is not read");
    free(text);
}

// base/ninodes/ninodes.conf, where base is `dir`, or `sub` of it.
static bool settings_path(const char *dir, size_t len, const char *sub, char *out, size_t size)
{
    const int n = snprintf(out, size, "%.*s%s/ninodes/" FILE_NAME, (int) len, dir, sub);
    return len && *dir == '/' && n > 0 && (size_t) n < size;
}

bool nino_settings_own_path(char *out, size_t size)
{
    const char *own = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (own && *own)
        return settings_path(own, strlen(own), "", out, size);
    return home && settings_path(home, strlen(home), "/.config", out, size);
}

static void read_environment(void)
{
    char what[300];
    for (int i = 0; i < NINO_VAR_COUNT; i++) {
        const char *name = nino_setting_rows[i].variable, *v = getenv(name);
        if (!v || !*v || value[i].source == NINO_CONFIG_SET) // an empty one is the same as none
            continue;
        if (!nino_settings_is_wrong(i, v, what, sizeof(what)))
            value[i] = (nino_config_value){ strdup(v), NINO_CONFIG_VARIABLE, name, 0 };
        else if (!problem[0])
            snprintf(problem, sizeof(problem), "%s: %s", name, what);
    }
}

void nino_settings_read(void)
{
    char path[4096];
    const char *all = getenv("XDG_CONFIG_DIRS");
    problem[0] = 0;
    for (int i = 0; i < NINO_VAR_COUNT; i++) {
        if (value[i].source == NINO_CONFIG_FILE || value[i].source == NINO_CONFIG_VARIABLE)
            free((char *) value[i].text); // of the time before
        if (value[i].source != NINO_CONFIG_SET)
            value[i] = (nino_config_value){ 0 };
    }
    read_environment();
    read_settings(FILE_NAME, true);
    if (nino_settings_own_path(path, sizeof(path)))
        read_settings(path, false);
    for (const char *p = all && *all ? all : "/etc/xdg"; *p;) {
        const size_t n = strcspn(p, ":");
        if (settings_path(p, n, "", path, sizeof(path)))
            read_settings(path, false);
        p += n + (p[n] == ':');
    }
    for (int i = 0; i < NINO_VAR_COUNT; i++)
        if (!value[i].text)
            value[i] = (nino_config_value){ nino_setting_rows[i].def, NINO_CONFIG_DEFAULT, "", 0 };
}

nino_config_value *nino_settings_at(int row) { return &value[row]; }

const char *nino_settings_problem(void)
{
    nino_vars_get();
    return problem[0] ? problem : NULL;
}
