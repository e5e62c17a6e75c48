// extra_model_paths.yaml: libyaml makes a tree of it, and what is in the tree means what it means to
// ComfyUI (its load_extra_path_config).
#include "core/file/extra_paths.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <yaml.h>

#include "core/base/buf.h"
#include "core/base/error.h"

// Merges ("<<: *other"), and keys of a mapping with those merged into it.
enum { MAX_MERGES = 64, MAX_KEYS = 1024 };

typedef struct extra_key {
    const yaml_node_t *key, *value;
} extra_key;

typedef struct extra_keys {
    extra_key at[MAX_KEYS];
    size_t n;
} extra_keys;

typedef struct extra_reader {
    yaml_document_t doc;
    const char *dir, *name;
    nino_extra_fn fn;
    void *priv;
    extra_keys sections, keys; // keys: of the section
    int merges;
} extra_reader;

static nino_status extra_bad(const extra_reader *x, yaml_mark_t at, const char *what,
                             nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", x->name, "%s at line %zu, column %zu",
                          what, at.line + 1, at.column + 1);
}

static nino_status extra_nomem(const extra_reader *x, nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, x->name, "out of memory");
}

static const char *extra_text(const yaml_node_t *n) { return (const char *) n->data.scalar.value; }

static bool extra_is_text(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE && !memchr(extra_text(n), 0, n->data.scalar.length);
}

static bool extra_is_plain(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool extra_is_word(const yaml_node_t *n, const char *const *words)
{
    for (; *words; words++)
        if (!strcasecmp(extra_text(n), *words))
            return true;
    return false;
}

static bool extra_is_null(const yaml_node_t *n)
{
    static const char *const words[] = { "", "~", "null", NULL };
    return extra_is_plain(n) && extra_is_word(n, words);
}

// As Python takes it: words for "no" count only without quotes, what is empty never does.
static bool extra_is_true(const yaml_node_t *n)
{
    static const char *const no[] = { "false", "no", "off", "0", NULL };
    if (n->type == YAML_SCALAR_NODE)
        return *extra_text(n) && !extra_is_null(n) && !(extra_is_plain(n) && extra_is_word(n, no));
    return n->type == YAML_SEQUENCE_NODE
               ? n->data.sequence.items.start != n->data.sequence.items.top
               : n->data.mapping.pairs.start != n->data.mapping.pairs.top;
}

// ---- paths -----------------------------------------------------------------------------------

static void extra_add_home(nino_buf *b, const char *user, size_t n)
{
    const char *home = n ? NULL : getenv("HOME");
    char *who = strndup(user, n), room[4096];
    struct passwd pw, *found = NULL;
    if (!home && who &&
        !(n ? getpwnam_r(who, &pw, room, sizeof(room), &found)
            : getpwuid_r(getuid(), &pw, room, sizeof(room), &found)) &&
        found)
        home = found->pw_dir;
    if (home) {
        nino_buf_adds(b, home);
    } else { // nobody of that name: as it stands
        nino_buf_addc(b, '~');
        nino_buf_add(b, user, n);
    }
    b->failed |= !who;
    free(who);
}

// ~, ~user, $NAME and ${NAME}; those that are not known stay.
static void extra_expand(nino_buf *b, const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (*s == '~') {
        const size_t n = strcspn(s + 1, "/");
        extra_add_home(b, s + 1, n);
        s += 1 + n;
    }
    while (*s) {
        const bool braced = s[0] == '$' && s[1] == '{';
        const char *name = s + 1 + braced;
        const size_t n = *s != '$' ? 0 : braced ? strcspn(name, "}") : strspn(name, letters);
        char *key = n && (!braced || name[n]) ? strndup(name, n) : NULL;
        const char *value = key ? getenv(key) : NULL;
        if (value) {
            nino_buf_adds(b, value);
            s = name + n + braced;
        } else {
            nino_buf_addc(b, *s++);
        }
        free(key);
    }
}

// dir/path without ".", "..", and slashes that say nothing; path alone when it is absolute. "a/.."
// goes by name, also where a is a link.
static void extra_join(nino_buf *b, const char *dir, const char *path)
{
    const char *const part[] = { *path == '/' ? "" : dir, path };
    const bool is_absolute = *path == '/' || *dir == '/';
    size_t fixed = 0; // what ".." cannot take away
    nino_buf_clear(b);
    for (size_t k = 0; k < 2; k++)
        for (const char *s = part[k], *end; *s; s = *end ? end + 1 : end) {
            const size_t n = strcspn(s, "/");
            end = s + n;
            if (!n || (n == 1 && *s == '.'))
                continue;
            if (n == 2 && s[0] == '.' && s[1] == '.' && b->len > fixed) {
                while (b->len > fixed && b->data[b->len - 1] != '/')
                    b->len--;
                b->len -= b->len > 0;
                b->data[b->len] = 0;
                continue;
            }
            const bool is_up = n == 2 && s[0] == '.' && s[1] == '.';
            if (is_up && is_absolute)
                continue;
            if (b->len || is_absolute)
                nino_buf_addc(b, '/');
            nino_buf_add(b, s, n);
            if (is_up)
                fixed = b->len;
        }
    if (!b->len)
        nino_buf_addc(b, is_absolute ? '/' : '.');
}

// ---- sections --------------------------------------------------------------------------------

static yaml_node_t *extra_node(extra_reader *x, int i)
{
    return yaml_document_get_node(&x->doc, i);
}

static bool extra_is_key(extra_key k, const char *text) { return !strcmp(extra_text(k.key), text); }

// One more key; an equal one that stands in the same mapping before loses its value, and one that
// is merged in does not count.
static nino_status extra_add_key(extra_reader *x, extra_keys *keys, extra_key k, bool is_merged,
                                 nino_error *err)
{
    if (!extra_is_text(k.key))
        return extra_bad(x, k.key->start_mark, "a key must be a text", err);
    for (size_t i = 0; i < keys->n; i++)
        if (extra_is_key(keys->at[i], extra_text(k.key))) {
            if (!is_merged)
                keys->at[i] = k;
            return NINO_OK;
        }
    if (keys->n == MAX_KEYS)
        return extra_bad(x, k.key->start_mark, "too many keys", err);
    keys->at[keys->n++] = k;
    return NINO_OK;
}

static bool extra_is_merge(const yaml_node_t *key)
{
    return extra_is_plain(key) && !strcmp(extra_text(key), "<<");
}

// The keys of a mapping, its own before those that it merges in: own ones win, then the first.
static nino_status extra_take_keys(extra_reader *x, extra_keys *keys, const yaml_node_t *map,
                                   bool is_merged, nino_error *err)
{
    nino_status st = NINO_OK;
    if (map->type != YAML_MAPPING_NODE)
        return extra_bad(x, map->start_mark, "\"key: value\" is needed", err);
    const yaml_node_pair_t *first = map->data.mapping.pairs.start,
                           *end = map->data.mapping.pairs.top;
    for (const yaml_node_pair_t *p = first; st == NINO_OK && p < end; p++) {
        const extra_key k = { extra_node(x, p->key), extra_node(x, p->value) };
        if (!extra_is_merge(k.key))
            st = extra_add_key(x, keys, k, is_merged, err);
    }
    for (const yaml_node_pair_t *p = first; st == NINO_OK && p < end; p++) {
        const yaml_node_t *key = extra_node(x, p->key), *from = extra_node(x, p->value);
        if (!extra_is_merge(key))
            continue;
        if (++x->merges > MAX_MERGES)
            return extra_bad(x, key->start_mark, "too many merges", err);
        if (from->type != YAML_SEQUENCE_NODE) {
            st = extra_take_keys(x, keys, from, true, err);
            continue;
        }
        const yaml_node_item_t *item = from->data.sequence.items.start;
        for (; st == NINO_OK && item < from->data.sequence.items.top; item++)
            st = extra_take_keys(x, keys, extra_node(x, *item), true, err);
    }
    return st;
}

static const yaml_node_t *extra_find(const extra_keys *keys, const char *text)
{
    for (size_t i = 0; i < keys->n; i++)
        if (extra_is_key(keys->at[i], text))
            return keys->at[i].value;
    return NULL;
}

// The folders in one text, one a line.
static nino_status extra_lines(extra_reader *x, const char *kind, const yaml_node_t *value,
                               const char *base, bool is_default, nino_error *err)
{
    nino_buf line = { 0 }, path = { 0 };
    bool ok = true;
    if (!extra_is_text(value) || extra_is_null(value))
        return extra_bad(x, value->start_mark, "the name of a folder is missing", err);
    for (const char *s = extra_text(value), *end; ok && *s; s = *end ? end + 1 : end) {
        end = s + strcspn(s, "\n");
        if (end == s)
            continue;
        nino_buf_clear(&line);
        nino_buf_add(&line, s, (size_t) (end - s));
        if (!line.failed)
            extra_join(&path, base, line.data);
        ok = !line.failed && !path.failed && x->fn(x->priv, kind, path.data, is_default);
    }
    nino_buf_release(&line);
    nino_buf_release(&path);
    return ok ? NINO_OK : extra_nomem(x, err);
}

static nino_status extra_kind(extra_reader *x, extra_key k, const char *base, bool is_default,
                              nino_error *err)
{
    const char *kind = extra_text(k.key);
    nino_status st = NINO_OK;
    if (k.value->type != YAML_SEQUENCE_NODE)
        return extra_lines(x, kind, k.value, base, is_default, err);
    const yaml_node_item_t *item = k.value->data.sequence.items.start;
    for (; st == NINO_OK && item < k.value->data.sequence.items.top; item++)
        st = extra_lines(x, kind, extra_node(x, *item), base, is_default, err);
    return st;
}

static nino_status extra_section(extra_reader *x, const yaml_node_t *section, nino_error *err)
{
    nino_buf given = { 0 }, base = { 0 };
    if (extra_is_null(section))
        return NINO_OK;
    const extra_keys *keys = &x->keys;
    x->keys.n = 0;
    nino_status st = extra_take_keys(x, &x->keys, section, false, err);
    if (st)
        return st;
    const yaml_node_t *path = extra_find(keys, "base_path");
    const yaml_node_t *first = extra_find(keys, "is_default");
    if (path && (!extra_is_text(path) || extra_is_null(path)))
        return extra_bad(x, path->start_mark, "base_path must be a folder", err);
    if (path)
        extra_expand(&given, extra_text(path));
    if (!given.failed)
        extra_join(&base, x->dir, given.len ? given.data : "");
    if (given.failed || base.failed)
        st = extra_nomem(x, err);
    for (size_t i = 0; st == NINO_OK && i < keys->n; i++)
        if (!extra_is_key(keys->at[i], "base_path") && !extra_is_key(keys->at[i], "is_default"))
            st = extra_kind(x, keys->at[i], base.data, first && extra_is_true(first), err);
    nino_buf_release(&given);
    nino_buf_release(&base);
    return st;
}

static nino_status extra_document(extra_reader *x, nino_error *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(&x->doc);
    if (!root || extra_is_null(root))
        return NINO_OK; // nothing, or only comments
    nino_status st = extra_take_keys(x, &x->sections, root, false, err);
    for (size_t i = 0; st == NINO_OK && i < x->sections.n; i++)
        st = extra_section(x, x->sections.at[i].value, err);
    return st;
}

static nino_status extra_parse(extra_reader *x, yaml_parser_t *parser, nino_error *err)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &x->doc))
        goto bad;
    nino_status st = extra_document(x, err);
    yaml_document_delete(&x->doc);
    if (st)
        return st;
    if (!yaml_parser_load(parser, &second))
        goto bad;
    if (yaml_document_get_root_node(&second))
        st = extra_bad(x, second.start_mark, "a second document begins", err);
    yaml_document_delete(&second);
    return st;
bad:
    if (parser->error == YAML_MEMORY_ERROR)
        return extra_nomem(x, err);
    if (parser->error == YAML_READER_ERROR)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "syntax", x->name, "%s at byte %zu",
                              parser->problem, parser->problem_offset);
    return extra_bad(x, parser->problem_mark, parser->problem, err);
}

nino_status nino_extra_paths_read(const char *dir, const char *text, size_t len, const char *name,
                                  nino_extra_fn fn, void *priv, nino_error *err)
{
    yaml_parser_t parser;
    extra_reader *x = calloc(1, sizeof(*x));
    if (!x || !yaml_parser_initialize(&parser)) {
        free(x);
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    x->dir = dir;
    x->name = name;
    x->fn = fn;
    x->priv = priv;
    yaml_parser_set_input_string(&parser, (const unsigned char *) text, len);
    const nino_status st = extra_parse(x, &parser, err);
    yaml_parser_delete(&parser);
    free(x);
    return st;
}
