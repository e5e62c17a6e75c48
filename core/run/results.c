// Results of nodes by content key, the least recently used dropped first.
#include "core/run/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ENTRIES 4096

typedef struct entry {
    nino_hash key;
    nino_value **out;
    int n_out;
    nino_shown shown;
    uint64_t bytes, used; // used: the cache's clock when last touched
} entry;

struct nino_results {
    entry *e;
    int n;
    uint64_t bytes, max_bytes, clock;
    bool is_plan; // only networks are kept
};

bool nino_shown_add_path(nino_shown *s, const char *path)
{
    char **p = realloc(s->path, (s->n_paths + 1) * sizeof(*p));
    if (!p)
        return false;
    s->path = p;
    if (!(p[s->n_paths] = strdup(path)))
        return false;
    s->n_paths++;
    return true;
}

bool nino_shown_add_text(nino_shown *s, const char *title, const char *text)
{
    struct nino_shown_text *t = realloc(s->text, (s->n_texts + 1) * sizeof(*t));
    if (!t)
        return false;
    s->text = t;
    t[s->n_texts].title = strdup(title);
    t[s->n_texts].text = strdup(text);
    if (t[s->n_texts].title && t[s->n_texts].text) {
        s->n_texts++;
        return true;
    }
    free(t[s->n_texts].title);
    free(t[s->n_texts].text);
    return false;
}

static uint64_t shown_bytes(const nino_shown *s)
{
    uint64_t n = s->n_paths * sizeof(*s->path) + s->n_texts * sizeof(*s->text);
    for (size_t i = 0; i < s->n_paths; i++)
        n += strlen(s->path[i]) + 1;
    for (size_t i = 0; i < s->n_texts; i++)
        n += strlen(s->text[i].title) + strlen(s->text[i].text) + 2;
    return n;
}

void nino_shown_release(nino_shown *s)
{
    for (size_t i = 0; i < s->n_paths; i++)
        free(s->path[i]);
    for (size_t i = 0; i < s->n_texts; i++) {
        free(s->text[i].title);
        free(s->text[i].text);
    }
    free(s->path);
    free(s->text);
    *s = (nino_shown){ 0 };
}

nino_results *nino_results_create(uint64_t max_bytes)
{
    nino_results *c = calloc(1, sizeof(*c));
    if (c)
        c->max_bytes = max_bytes;
    return c;
}

nino_results *nino_results_create_plan(const nino_results *c)
{
    nino_results *plan = nino_results_create(c->max_bytes);
    if (plan)
        plan->is_plan = true;
    return plan;
}

static void results_release(entry *e)
{
    for (int i = 0; i < e->n_out; i++)
        nino_value_unref(&e->out[i]);
    free(e->out);
    nino_shown_release(&e->shown);
}

static void remove_at(nino_results *c, int i)
{
    c->bytes -= c->e[i].bytes;
    results_release(&c->e[i]);
    c->e[i] = c->e[--c->n];
}

void nino_results_destroy(nino_results **c)
{
    if (!*c)
        return;
    nino_results_clear(*c);
    free((*c)->e);
    free(*c);
    *c = NULL;
}

static int results_find(const nino_results *c, nino_hash key)
{
    for (int i = 0; i < c->n; i++)
        if (c->e[i].key.lo == key.lo && c->e[i].key.hi == key.hi)
            return i;
    return -1;
}

static bool has_files(const nino_shown *s)
{
    for (size_t i = 0; i < s->n_paths; i++)
        if (access(s->path[i], F_OK))
            return false;
    return true;
}

bool nino_results_get(nino_results *c, nino_hash key, nino_value **out, int n,
                      const nino_shown **shown)
{
    const int i = results_find(c, key);
    if (i < 0)
        return false;
    if (c->e[i].n_out != n || !has_files(&c->e[i].shown)) {
        remove_at(c, i);
        return false;
    }
    c->e[i].used = ++c->clock;
    for (int k = 0; k < n; k++)
        out[k] = nino_value_ref(c->e[i].out[k]);
    *shown = &c->e[i].shown;
    return true;
}

bool nino_results_has(const nino_results *c, nino_hash key, int n)
{
    const int i = results_find(c, key);
    return i >= 0 && c->e[i].n_out == n && has_files(&c->e[i].shown);
}

static void results_make_room(nino_results *c, uint64_t bytes)
{
    while (c->n && (c->bytes + bytes > c->max_bytes || c->n >= MAX_ENTRIES)) {
        int oldest = 0;
        for (int i = 1; i < c->n; i++)
            if (c->e[i].used < c->e[oldest].used)
                oldest = i;
        remove_at(c, oldest);
    }
}

void nino_results_put(nino_results *c, nino_hash key, nino_value *const *out, int n,
                      nino_shown *shown)
{
    const int old = results_find(c, key);
    uint64_t bytes = sizeof(entry) + shown_bytes(shown);
    if (old >= 0)
        remove_at(c, old);
    for (int i = 0; i < n; i++)
        bytes += nino_value_bytes(out[i]);
    results_make_room(c, bytes);
    nino_value **copy = calloc((size_t) n + 1, sizeof(*copy));
    entry *e = bytes <= c->max_bytes ? realloc(c->e, ((size_t) c->n + 1) * sizeof(*e)) : NULL;
    if (e)
        c->e = e;
    if (!e || !copy) { // too big, or no memory to remember it: then it is not remembered
        free(copy);
        nino_shown_release(shown);
        return;
    }
    for (int i = 0; i < n; i++)
        copy[i] = c->is_plan && !nino_value_is_network(out[i]) ? NULL : nino_value_ref(out[i]);
    e[c->n++] = (entry){ key, copy, n, *shown, bytes, ++c->clock };
    c->bytes += bytes;
    *shown = (nino_shown){ 0 };
}

void nino_results_drop_sharing(nino_results *c, const nino_value *v)
{
    for (int i = c->n - 1; i >= 0; i--)
        for (int k = 0; k < c->e[i].n_out; k++)
            if (nino_value_shares(c->e[i].out[k], v)) {
                remove_at(c, i);
                break;
            }
}

uint64_t nino_results_clear(nino_results *c)
{
    const uint64_t bytes = c->bytes;
    while (c->n)
        remove_at(c, c->n - 1);
    return bytes;
}
