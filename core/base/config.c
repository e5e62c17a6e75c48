// Settings for those outside: what they are, setting one, and writing the user's ninodes.conf.
#include "core/base/settings.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; // of values that nino_config_write() changes
static nino_config_row rows[NINO_VAR_COUNT + 1];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

static void fill_rows(void)
{
    size_t n = 0;
    for (int i = 0; i < NINO_VAR_COUNT; i++) {
        const nino_setting_row *r = &nino_setting_rows[i];
        if (*r->key)
            rows[n++] = (nino_config_row){ r->key,
                                           r->variable,
                                           r->flag,
                                           r->values,
                                           r->def,
                                           r->help,
                                           r->scope == NINO_SETTING_ANY };
    }
}

const nino_config_row *nino_config_rows(void)
{
    pthread_once(&rows_once, fill_rows);
    return rows;
}

bool nino_config_get(const char *key, nino_config_value *out)
{
    const int i = nino_settings_find(key);
    if (i < 0)
        return false;
    nino_vars_get();
    pthread_mutex_lock(&lock);
    *out = *nino_settings_at(i);
    pthread_mutex_unlock(&lock);
    return true;
}

// The row of a key that takes the value; -1: it is told why not.
static int config_check(const char *key, const char *value, nino_error *err)
{
    char what[300];
    const int i = nino_settings_find(key);
    if (i >= 0 && (!value || !nino_settings_is_wrong(i, value, what, sizeof(what))))
        return i;
    if (i >= 0) {
        nino_fail(err, NINO_ERR_RANGE, key, "%s", what);
        return -1;
    }
    const char *names[NINO_VAR_COUNT], *near;
    size_t n = 0;
    for (const nino_config_row *r = nino_config_rows(); r->key; r++)
        names[n++] = r->key;
    near = nino_nearest(key, names, n);
    nino_fail(err, NINO_ERR_UNKNOWN, key, "there is no such setting%s%s%s",
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return -1;
}

nino_status nino_config_set(const char *key, const char *value, const char *where, nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    const int i = config_check(key, value, &e);
    char *text = i < 0 ? NULL : strdup(value), *who = i < 0 ? NULL : strdup(where);
    if (i >= 0 && (!text || !who))
        nino_fail(&e, NINO_ERR_NOMEM, key, "out of memory");
    else if (i >= 0 && nino_vars_are_read())
        nino_fail(&e, NINO_ERR_ARG, key, "settings have been used already");
    if (e.code) {
        free(text);
        free(who);
        if (err)
            *err = e;
        return e.code;
    }
    *nino_settings_at(i) = (nino_config_value){ text, NINO_CONFIG_SET, who, 0 };
    return NINO_OK;
}

// ---- writing ---------------------------------------------------------------------------------

typedef struct file_text {
    nino_buf out;
    int row;
    const char *key, *value; // of the row; value NULL: it goes
    size_t section;          // length of the key's section, 0: none
    char inside[64];         // the section that was entered
    bool is_inside, is_done; // is_inside: it is the key's
    int line, at;            // lines written; where the key is now, 0: nowhere
} file_text;

static void config_add_line(file_text *f, const char *line, size_t n)
{
    nino_buf_add(&f->out, line, n);
    nino_buf_addc(&f->out, '\n');
    f->line++;
}

static void config_add_own(file_text *f)
{
    const char *name = f->is_inside ? f->key + f->section + (f->section > 0) : f->key;
    char line[512];
    if (f->is_done || !f->value)
        return;
    const bool is_bare = !strpbrk(f->value, " #\"'\t");
    const int n = snprintf(line, sizeof(line), is_bare ? "%s = %s" : "%s = \"%s\"", name, f->value);
    config_add_line(f, line, (size_t) n);
    f->is_done = true;
    f->at = f->line;
}

// Every way to write a heading or a key that is read is known here, too.
static void config_take_line(file_text *f, const char *line, size_t n)
{
    char copy[160], full[240], section[sizeof(f->inside)];
    snprintf(copy, sizeof(copy), "%.*s", (int) (n < sizeof(copy) ? n : sizeof(copy) - 1), line);
    char *text = nino_settings_trim(copy), *equals = strchr(text, '=');
    if (nino_settings_heading(text, section, sizeof(section))) {
        if (f->is_inside)
            config_add_own(f); // at the end of its section
        f->is_inside = f->section && strlen(section) == f->section &&
                       !strncasecmp(section, f->key, f->section);
        memcpy(f->inside, section, sizeof(section));
    } else if (equals) {
        *equals = 0;
        snprintf(full, sizeof(full), "%s%s%s", f->inside, *f->inside ? "." : "",
                 nino_settings_trim(text));
        if (nino_settings_find(full) == f->row) {
            config_add_own(f);
            return;
        }
    }
    config_add_line(f, line, n);
}

static void config_rewrite(file_text *f, const char *text)
{
    f->section = strcspn(f->key, ".");
    f->section = f->key[f->section] ? f->section : 0;
    f->is_inside = !f->section;
    for (const char *at = text; at && *at;) {
        const size_t n = strcspn(at, "\n");
        config_take_line(f, at, n);
        at += n + (at[n] == '\n');
    }
    if (!f->is_done && f->value && !f->is_inside) {
        char heading[80];
        const int n = snprintf(heading, sizeof(heading), "[%.*s]", (int) f->section, f->key);
        config_add_line(f, heading, (size_t) n);
        f->is_inside = true;
    }
    config_add_own(f);
}

// Texts that were told stay, once each: somebody may have them. NULL: no memory.
static const char *config_keep(const char *text)
{
    static struct kept {
        struct kept *next;
        char text[];
    } * all;
    for (const struct kept *k = all; k; k = k->next)
        if (!strcmp(k->text, text))
            return k->text;
    const size_t n = strlen(text) + 1;
    struct kept *k = malloc(sizeof(*k) + n);
    if (!k)
        return NULL;
    memcpy(k->text, text, n);
    k->next = all;
    all = k;
    return k->text;
}

// What was written is told from now on, where nothing counts more.
static void config_remember(int i, const char *value, const char *path, int line)
{
    pthread_mutex_lock(&lock);
    nino_config_value *now = nino_settings_at(i);
    const bool is_own = now->source == NINO_CONFIG_DEFAULT ||
                        (now->source == NINO_CONFIG_FILE && !strcmp(now->where, path));
    if (is_own && !value) {
        *now = (nino_config_value){ nino_setting_rows[i].def, NINO_CONFIG_DEFAULT, "", 0 };
    } else if (is_own) {
        const char *copy = config_keep(value), *where = config_keep(path);
        if (copy)
            now->text = copy;
        if (where)
            now->where = where;
        now->source = NINO_CONFIG_FILE;
        now->line = line;
    }
    pthread_mutex_unlock(&lock);
}

nino_status nino_config_write(const char *key, const char *value, nino_error *err)
{
    char path[4096], *text = NULL;
    size_t len = 0;
    const int i = config_check(key, value, err);
    if (i < 0)
        return nino_settings_find(key) < 0 ? NINO_ERR_UNKNOWN : NINO_ERR_RANGE;
    if (!nino_settings_own_path(path, sizeof(path)))
        return nino_fail(err, NINO_ERR_IO, key, "there is no home folder for ninodes.conf");
    if (value && (strpbrk(value, "\n\"") || strlen(value) > 400))
        return nino_fail(err, NINO_ERR_RANGE, key, "a line of ninodes.conf cannot hold this text");
    nino_vars_get();
    nino_status st = nino_file_read(path, 1 << 16, false, &text, &len, err);
    if (st && st != NINO_ERR_MISSING) // one that cannot be read is not written over
        return st;
    if (!st && strlen(text) < len) { // what follows would be lost
        free(text);
        return nino_fail(err, NINO_ERR_FORMAT, path, "has a zero byte, it is no text");
    }
    file_text f = { .row = i, .key = nino_setting_rows[i].key, .value = value };
    config_rewrite(&f, st ? NULL : text);
    free(text);
    st = f.out.failed ? nino_fail(err, NINO_ERR_NOMEM, key, "out of memory")
                      : nino_place_save(path, f.out.data ? f.out.data : "", f.out.len, err);
    nino_buf_release(&f.out);
    if (!st)
        config_remember(i, value, path, f.at);
    return st;
}

// ---- near words ------------------------------------------------------------------------------

// Number of letters to change (Levenshtein); words longer than 47 letters count as far.
static int config_distance(const char *a, const char *b)
{
    int row[48];
    const int n = (int) strlen(b);
    if (n > 47 || strlen(a) > 47)
        return 99;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 0; j < n; j++) {
            const int change = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            const int best = row[j] < row[j + 1] ? row[j] : row[j + 1];
            row[j + 1] = change < best + 1 ? change : best + 1;
        }
    }
    return row[n];
}

const char *nino_nearest(const char *word, const char *const *list, size_t n)
{
    const char *best = NULL;
    int least = 4;
    for (size_t i = 0; i < n; i++) {
        const char *point = strrchr(list[i], '.'), *own = strrchr(word, '.');
        int d = config_distance(word, list[i]);
        if (point && own) { // in another section
            const int tail = 1 + config_distance(own + 1, point + 1);
            d = tail < d ? tail : d;
        }
        if (!strncmp(word, list[i], strlen(word)) && strlen(word) > 1)
            d = 1;
        if (point && !strcmp(word, point + 1)) // without its section
            d = 1;
        if (d < least && d * 2 <= (int) strlen(list[i]) + 1) {
            least = d;
            best = list[i];
        }
    }
    return best;
}
