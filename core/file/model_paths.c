// Model folders: roots with ComfyUI's sub-folder names, and the folders that extra_model_paths.yaml
// adds.
#include "core/file/model_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/vars.h"
#include "core/file/extra_paths.h"

#define YAML "extra_model_paths.yaml"
#define MAX_YAML ((size_t) 1 << 20)

typedef struct extra {
    const char *kind, *dir;
    struct extra *next;
} extra;

typedef struct root {
    const char *dir;
    struct root *next;
} root;

// A folder whose extra_model_paths.yaml was looked for: what roots have in common is read once.
typedef struct asked {
    dev_t dev;
    ino_t ino;
    struct asked *next;
} asked;

struct nino_paths {
    nino_arena *arena;
    root *roots;
    extra *defaults, *others; // before the roots, and after them
    asked *asked;
};

// Former folder names, and what goes with another; both are searched.
static const char *const aliases[][2] = { { "diffusion_models", "unet" },
                                          { "text_encoders", "clip" },
                                          { "controlnet", "t2i_adapter" } };

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

// ---- extra_model_paths.yaml ------------------------------------------------------------------

// The folders of one file, until all of it is read.
typedef struct extra_lists {
    nino_arena *arena;
    extra *defaults, *others, **end; // end: of others
} extra_lists;

// Of folders that go first, the last one does.
static bool take_extra(void *priv, const char *kind, const char *dir, bool is_default)
{
    extra_lists *l = priv;
    extra *e = nino_arena_alloc(l->arena, sizeof(*e));
    if (!e || !(e->kind = nino_arena_strdup(l->arena, kind)) ||
        !(e->dir = nino_arena_strdup(l->arena, dir)))
        return false;
    if (is_default) {
        e->next = l->defaults;
        l->defaults = e;
    } else {
        *l->end = e;
        l->end = &e->next;
    }
    return true;
}

static extra **model_paths_end(extra **list)
{
    while (*list)
        list = &(*list)->next;
    return list;
}

// False: it was already, by this name or another, or it is not there.
static bool is_first_look(nino_paths *p, const char *dir)
{
    struct stat st;
    if (stat(dir, &st))
        return false;
    for (const asked *a = p->asked; a; a = a->next)
        if (a->dev == st.st_dev && a->ino == st.st_ino)
            return false;
    asked *a = nino_arena_alloc(p->arena, sizeof(*a));
    if (a) {
        *a = (asked){ st.st_dev, st.st_ino, p->asked };
        p->asked = a;
    }
    return true;
}

// A file that cannot be read half-way adds nothing.
static void read_yaml(nino_paths *p, const char *dir, const nino_log *log)
{
    nino_buf path = { 0 };
    char *text = NULL;
    size_t len = 0;
    nino_error e = { 0 };
    extra_lists l = { .arena = p->arena, .end = &l.others };
    if (!is_first_look(p, dir))
        return;
    nino_buf_addf(&path, "%s/" YAML, dir);
    if (!path.failed) {
        nino_status st = nino_file_read(path.data, MAX_YAML, false, &text, &len, &e);
        if (st == NINO_ERR_MISSING)
            goto end;
        if (st == NINO_OK)
            st = nino_extra_paths_read(dir, text, len, path.data, take_extra, &l, &e);
        if (st) {
            nino_logf(log, NINO_LOG_WARN, "%s: %s; the file is ignored", path.data, e.msg);
            goto end;
        }
        *model_paths_end(&p->others) = l.others;
        *model_paths_end(&l.defaults) = p->defaults;
        p->defaults = l.defaults;
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
    if (!strcmp(base, ".") || !strcmp(base, "..") || !*base) {
        nino_buf b = { 0 };
        nino_buf_addf(&b, "%s/..", dir);
        const char *up = b.failed ? NULL : nino_arena_strdup(a, b.data);
        nino_buf_release(&b);
        return up;
    }
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

static size_t add_extras(nino_buf *all, const extra *e, const char *kind)
{
    size_t n = 0;
    for (; e; e = e->next)
        if (model_paths_same_kind(e->kind, kind)) {
            nino_buf_adds(all, e->dir);
            nino_buf_addc(all, 0);
            n++;
        }
    return n;
}

char **nino_paths_dirs(const nino_paths *p, const char *kind)
{
    nino_buf all = { 0 };
    size_t n = add_extras(&all, p->defaults, kind);
    for (const root *r = p->roots; r; r = r->next) {
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
    n += add_extras(&all, p->others, kind);
    char **out = all.failed ? NULL : model_paths_pack(all.data, all.len, n);
    nino_buf_release(&all);
    return out;
}
