// Model folders: roots with ComfyUI's sub-folder names, and the folders that extra_model_paths.yaml
// adds. Of YAML only what that file needs is read: sections, "key: value", "key: |" blocks.
#include "core/file/model_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/vars.h"

#define YAML "extra_model_paths.yaml"
#define MAX_YAML ((size_t) 1 << 20)

typedef struct extra {
    const char *kind, *dir;
    bool is_default; // before the roots
    struct extra *next;
} extra;

typedef struct root {
    const char *dir;
    struct root *next;
} root;

struct nino_paths {
    nino_arena *arena;
    root *roots;
    extra *extras;
};

// Former folder names; both are searched.
static const char *const aliases[][2] = { { "diffusion_models", "unet" },
                                          { "text_encoders", "clip" } };

static bool model_paths_same_kind(const char *a, const char *b)
{
    if (!strcmp(a, b))
        return true;
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if ((!strcmp(a, aliases[i][0]) && !strcmp(b, aliases[i][1])) ||
            (!strcmp(a, aliases[i][1]) && !strcmp(b, aliases[i][0])))
            return true;
    return false;
}

static const char *model_paths_join(nino_arena *a, const char *dir, const char *name)
{
    nino_buf b = { 0 };
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    if (name[0] == '/' || !n)
        nino_buf_adds(&b, name);
    else
        nino_buf_addf(&b, "%.*s/%s", (int) n, dir, name);
    while (b.len > 1 && b.data[b.len - 1] == '/')
        b.data[--b.len] = 0;
    const char *out = b.failed ? NULL : nino_arena_strdup(a, b.data);
    nino_buf_release(&b);
    return out;
}

// ---- extra_model_paths.yaml ------------------------------------------------------------------

typedef struct yaml {
    nino_paths *paths;
    const char *dir, *name;
    int line;
    const char *base; // base_path of this section
    bool is_default;
    extra *first, **tail; // entries of this section, paths as written
} yaml;

static nino_status bad_yaml(const yaml *y, const char *what, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", y->name, "%s at line %d", what, y->line);
}

// The section is over: its folders are known now, wherever base_path stood.
static nino_status end_section(yaml *y, nino_error *err)
{
    nino_arena *a = y->paths->arena;
    const char *base = y->base ? model_paths_join(a, y->dir, y->base) : y->dir;
    extra **end = &y->paths->extras;
    while (*end)
        end = &(*end)->next;
    for (extra *e = y->first, *next; e; e = next) {
        next = e->next;
        e->dir = base ? model_paths_join(a, base, e->dir) : NULL;
        e->is_default = y->is_default;
        e->next = NULL;
        if (!e->dir)
            return nino_fail(err, NINO_ERR_NOMEM, y->name, "out of memory");
        *end = e;
        end = &e->next;
    }
    y->first = NULL;
    y->tail = &y->first;
    y->base = NULL;
    y->is_default = false;
    return NINO_OK;
}

static nino_status add_entry(yaml *y, const char *kind, const char *dir, nino_error *err)
{
    extra *e = nino_arena_alloc(y->paths->arena, sizeof(*e));
    if (!e)
        return nino_fail(err, NINO_ERR_NOMEM, y->name, "out of memory");
    *e = (extra){ .kind = kind, .dir = dir };
    *y->tail = e;
    y->tail = &e->next;
    return NINO_OK;
}

static nino_status set_key(yaml *y, const char *key, char *value, nino_error *err)
{
    const size_t n = strlen(value);
    if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value) {
        value[n - 1] = 0;
        value++;
        if (strchr(value, '\\'))
            return bad_yaml(y, "escapes in quotes are not read", err);
    } else if (*value && strchr("\"'[{&*!>%@`", *value)) {
        return bad_yaml(y, "only plain and quoted values are read", err);
    }
    if (!strcmp(key, "is_default")) {
        y->is_default = !strcasecmp(value, "true") || !strcasecmp(value, "yes");
        return NINO_OK;
    }
    if (!*value)
        return bad_yaml(y, "a value is missing", err);
    if (strcmp(key, "base_path"))
        return add_entry(y, key, value, err);
    const char *home = getenv("HOME");
    y->base = value;
    if (value[0] == '~' && (value[1] == '/' || !value[1]) && home)
        y->base = model_paths_join(y->paths->arena, home, value[1] ? value + 2 : "");
    return y->base ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, y->name, "out of memory");
}

// Cuts "# comment" and white space off the end.
static void model_paths_trim(char *s)
{
    for (char *c = s; *c; c++)
        if (*c == '#' && (c == s || c[-1] == ' ' || c[-1] == '\t'))
            *c = 0;
    size_t n = strlen(s);
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
        s[--n] = 0;
}

nino_status nino_paths_add_yaml(nino_paths *p, const char *dir, const char *text, const char *name,
                                nino_error *err)
{
    yaml y = { .paths = p, .dir = dir, .name = name };
    nino_status st = NINO_OK;
    char *copy = nino_arena_strdup(p->arena, text), *block = NULL; // block: key of an open "|"
    size_t section_indent = 0, block_indent = 0;
    bool in_section = false;
    y.tail = &y.first;
    if (!copy)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    for (char *line = copy, *next; line && st == NINO_OK; line = next) {
        y.line++;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        model_paths_trim(line);
        const size_t indent = strspn(line, " ");
        char *s = line + indent;
        if (!*s)
            continue;
        if (*s == '\t')
            return bad_yaml(&y, "a tab indents", err);
        if (block && indent > block_indent) {
            st = add_entry(&y, block, s, err);
            continue;
        }
        block = NULL;
        char *colon = strchr(s, ':');
        if (!colon || (colon[1] && colon[1] != ' '))
            return bad_yaml(&y, "\"key: value\" is needed", err);
        *colon = 0;
        char *value = colon + 1 + strspn(colon + 1, " ");
        if (!indent) {
            if (*value)
                return bad_yaml(&y, "a section must stand alone on its line", err);
            st = end_section(&y, err);
            in_section = true;
            section_indent = 0;
            continue;
        }
        if (!in_section || (section_indent && indent != section_indent))
            return bad_yaml(&y, "the indentation does not fit", err);
        section_indent = indent;
        if (!strcmp(value, "|") || !strcmp(value, "|-")) {
            block = s;
            block_indent = indent;
        } else {
            st = set_key(&y, s, value, err);
        }
    }
    return st ? st : end_section(&y, err);
}

// A file that cannot be read half-way adds nothing.
static void read_yaml(nino_paths *p, const char *dir, const nino_log *log)
{
    nino_buf path = { 0 };
    char *text = NULL;
    size_t len = 0;
    nino_error e = { 0 };
    extra **end = &p->extras;
    while (*end)
        end = &(*end)->next;
    nino_buf_addf(&path, "%s/" YAML, dir);
    if (!path.failed) {
        nino_status st = nino_file_read(path.data, MAX_YAML, false, &text, &len, &e);
        if (st == NINO_ERR_MISSING)
            goto end;
        if (st == NINO_OK)
            st = nino_paths_add_yaml(p, dir, text, path.data, &e);
        if (st) {
            *end = NULL;
            nino_logf(log, NINO_LOG_WARN, "%s: %s; the file is ignored", path.data, e.msg);
        }
    }
end:
    free(text);
    nino_buf_release(&path);
}

// ---- folders ---------------------------------------------------------------------------------

static bool add_root(nino_paths *p, const char *dir, size_t len)
{
    root *r = nino_arena_alloc(p->arena, sizeof(*r)), **end = &p->roots;
    while (len > 1 && dir[len - 1] == '/')
        len--;
    if (!r || !(r->dir = nino_arena_strndup(p->arena, dir, len)))
        return false;
    while (*end)
        end = &(*end)->next;
    *end = r;
    return true;
}

// The folder that a root stands in, by its name: a root may be a link or not exist yet.
static const char *parent_of(nino_arena *a, const char *dir)
{
    const char *slash = strrchr(dir, '/'), *base = slash ? slash + 1 : dir;
    if (!strcmp(base, ".") || !strcmp(base, "..") || !*base)
        return model_paths_join(a, dir, "..");
    if (!slash)
        return ".";
    return slash == dir ? "/" : nino_arena_strndup(a, dir, (size_t) (slash - dir));
}

nino_paths *nino_paths_create(const char *const *models, const nino_log *log, nino_error *err)
{
    nino_paths *p = calloc(1, sizeof(*p));
    bool ok = p && (p->arena = nino_arena_create());
    const char *env = nino_vars_get()->models;
    for (const char *const *m = models; ok && m && *m; m++)
        ok = add_root(p, *m, strlen(*m));
    if (!models || !*models) {
        for (const char *s = env; ok && *s;) {
            const size_t n = strcspn(s, ":");
            if (n)
                ok = add_root(p, s, n);
            s += n + (s[n] == ':');
        }
        if (ok && !p->roots)
            ok = add_root(p, "models", strlen("models"));
    }
    if (!ok) {
        nino_fail(err, NINO_ERR_NOMEM, "models", "out of memory");
        nino_paths_destroy(&p);
        return NULL;
    }
    for (const root *r = p->roots; r; r = r->next) {
        const char *parent = parent_of(p->arena, r->dir);
        read_yaml(p, r->dir, log);
        if (parent)
            read_yaml(p, parent, log);
    }
    return p;
}

void nino_paths_destroy(nino_paths **p)
{
    if (!*p)
        return;
    nino_arena_destroy(&(*p)->arena);
    free(*p);
    *p = NULL;
}

// A NULL-terminated array of strings and the strings themselves in one block.
static char **model_paths_pack(const char *text, size_t len, size_t n)
{
    char **out = malloc((n + 1) * sizeof(*out) + len + 1);
    if (!out)
        return NULL;
    char *s = (char *) (out + n + 1);
    if (len)
        memcpy(s, text, len);
    s[len] = 0;
    for (size_t i = 0; i < n; i++, s += strlen(s) + 1)
        out[i] = s;
    out[n] = NULL;
    return out;
}

char **nino_paths_dirs(const nino_paths *p, const char *kind)
{
    nino_buf all = { 0 };
    size_t n = 0;
    for (int is_default = 1; is_default >= 0; is_default--) {
        for (const root *r = is_default ? NULL : p->roots; r; r = r->next) {
            nino_buf_addf(&all, "%s/%s", r->dir, kind);
            nino_buf_addc(&all, 0);
            n++;
            for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
                for (int k = 0; k < 2; k++)
                    if (!strcmp(kind, aliases[i][k])) {
                        nino_buf_addf(&all, "%s/%s", r->dir, aliases[i][1 - k]);
                        nino_buf_addc(&all, 0);
                        n++;
                    }
        }
        for (const extra *e = p->extras; e; e = e->next)
            if (e->is_default == (bool) is_default && model_paths_same_kind(e->kind, kind)) {
                nino_buf_adds(&all, e->dir);
                nino_buf_addc(&all, 0);
                n++;
            }
    }
    char **out = all.failed ? NULL : model_paths_pack(all.data, all.len, n);
    nino_buf_release(&all);
    return out;
}
