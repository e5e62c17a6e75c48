// Names of output files: tokens of filename_prefix, path rules, counters. Rules of ComfyUI's
// folder_paths.get_save_image_path and of its frontend (dates, widget values), checked after
// expansion.
#include "core/node/util.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/num.h"

#define MAX_BASE 200 // bytes of the last component: the file system allows 255 with _00001_.png
#define MAX_COUNTER 99999999

// ---- tokens ----------------------------------------------------------------------------------

// d M h m s one or two digits, yy and yyyy; the rest stays.
static void add_date(nino_buf *out, const char *format, size_t len, const struct tm *t)
{
    for (size_t i = 0; i < len;) {
        const char c = format[i];
        size_t run = 1;
        while (i + run < len && format[i + run] == c)
            run++;
        const char *at = strchr("dMhms", c);
        const int value[] = { t->tm_mday, t->tm_mon + 1, t->tm_hour, t->tm_min, t->tm_sec };
        if (c && at) {
            run = run > 2 ? 2 : run;
            nino_buf_addf(out, "%0*d", (int) run, value[at - "dMhms"]);
        } else if (c == 'y' && run >= 2) {
            run = run >= 4 ? 4 : 2;
            nino_buf_addf(out, "%0*d", (int) run, run == 4 ? t->tm_year + 1900 : t->tm_year % 100);
        } else {
            run = 1;
            nino_buf_addc(out, c);
        }
        i += run;
    }
}

// %NODE.INPUT%: the literal of that input; what a file name cannot hold becomes '_'.
static bool prefix_add_input(nino_buf *out, const nino_json *prompt, const char *token, size_t len)
{
    const char *dot = memchr(token, '.', len);
    if (!dot || !prompt || memchr(dot + 1, '.', len - (size_t) (dot + 1 - token)))
        return false;
    char node[128], input[128];
    snprintf(node, sizeof(node), "%.*s", (int) (dot - token), token);
    snprintf(input, sizeof(input), "%.*s", (int) (len - (size_t) (dot + 1 - token)), dot + 1);
    for (const nino_json *n = prompt->child; n; n = n->next) {
        const char *title = nino_json_str(nino_json_get(nino_json_get(n, "_meta"), "title"));
        const char *class_type = nino_json_str(nino_json_get(n, "class_type"));
        const bool is_it = (title && !strcmp(title, node)) || !strcmp(n->key, node) ||
                           (class_type && !strcmp(class_type, node));
        const nino_json *v = is_it ? nino_json_get(nino_json_get(n, "inputs"), input) : NULL;
        if (!v || v->type == NINO_JSON_ARRAY || v->type == NINO_JSON_OBJECT)
            continue;
        const char *text = v->type == NINO_JSON_BOOL ? (v->boolean ? "true" : "false")
                           : v->text                 ? v->text
                                                     : "";
        for (; *text; text++) {
            const unsigned char c = (unsigned char) *text;
            nino_buf_addc(out, c < 0x20 || c == 0x7f || strchr("/?<>\\:*|\"", c) ? '_' : *text);
        }
        return true;
    }
    return false;
}

static bool prefix_add_token(nino_buf *out, const char *token, size_t len,
                             const nino_prefix_vars *vars, const nino_json *prompt)
{
    const struct tm *t = vars->now;
    const struct {
        const char *name;
        int value, digits;
    } number[] = {
        { "width", vars->width, 1 },      { "height", vars->height, 1 },
        { "year", t->tm_year + 1900, 1 }, { "month", t->tm_mon + 1, 2 },
        { "day", t->tm_mday, 2 },         { "hour", t->tm_hour, 2 },
        { "minute", t->tm_min, 2 },       { "second", t->tm_sec, 2 },
    };
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        if (strlen(number[i].name) == len && !memcmp(number[i].name, token, len)) {
            nino_buf_addf(out, "%0*d", number[i].digits, number[i].value);
            return true;
        }
    if (len > 5 && !memcmp(token, "date:", 5)) {
        add_date(out, token + 5, len - 5, t);
        return true;
    }
    return prefix_add_input(out, prompt, token, len);
}

static void prefix_expand(nino_buf *out, const char *s, const nino_prefix_vars *vars,
                          const nino_json *prompt)
{
    while (*s) {
        const char *end = *s == '%' ? strchr(s + 1, '%') : NULL;
        if (end && end > s + 1 &&
            prefix_add_token(out, s + 1, (size_t) (end - s - 1), vars, prompt)) {
            s = end + 1;
            continue;
        }
        nino_buf_addc(out, *s++);
    }
}

// ---- path rules ------------------------------------------------------------------------------

static nino_status prefix_refuse(const char *name, const char *why, nino_error *err)
{
    return nino_fail_kind(err, NINO_ERR_FORMAT, "path", "filename_prefix", "'%.100s' %s", name,
                          why);
}

// Writes the components of `name` without empty ones and "." to `out`, or says what is wrong.
static nino_status prefix_normalise(const char *name, nino_buf *out, nino_error *err)
{
    const size_t len = strlen(name);
    if (!len)
        return prefix_refuse(name, "is empty", err);
    if (name[len - 1] == '/')
        return prefix_refuse(name, "ends in a slash, so there is no file name", err);
    if (name[0] == '/')
        return prefix_refuse(name, "is absolute; outputs stay in the output folder", err);
    if (name[0] == '~')
        return prefix_refuse(name, "starts with '~'; outputs stay in the output folder", err);
    for (const char *s = name; *s;) {
        const size_t n = strcspn(s, "/");
        if (n && !(n == 1 && s[0] == '.')) {
            if (n > MAX_BASE)
                return prefix_refuse(name, "has a part longer than 200 bytes", err);
            if (out->len)
                nino_buf_addc(out, '/');
            nino_buf_add(out, s, n);
        }
        s += n + (s[n] == '/');
    }
    if (out->failed)
        return nino_fail(err, NINO_ERR_NOMEM, "filename_prefix", "out of memory");
    if (!out->len)
        return prefix_refuse(name, "is not a file name", err);
    const nino_status st = nino_file_check_name(out->data, err);
    if (st && err) // the input is what people can change
        snprintf(err->where, sizeof(err->where), "filename_prefix");
    return st;
}

nino_status nino_prefix_expand(const char *prefix, const nino_prefix_vars *vars, char **out,
                               nino_error *err)
{
    nino_status st = NINO_OK;
    nino_json_doc *doc = NULL;
    nino_buf text = { 0 }, name = { 0 };
    if (vars->prompt_json && strchr(prefix, '%') && strchr(prefix, '.')) // else nobody asks for it
        nino_json_parse(vars->prompt_json, strlen(vars->prompt_json), "prompt", NULL, &doc, NULL);
    prefix_expand(&text, prefix, vars, doc ? doc->root : NULL);
    for (char *c = text.data; c && *c; c++) // as Windows names folders
        *c = *c == '\\' ? '/' : *c;
    if (text.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, "filename_prefix", "out of memory");
    else if ((st = prefix_normalise(text.data ? text.data : "", &name, err)) == NINO_OK) {
        *out = name.data;
        name = (nino_buf){ 0 };
    }
    nino_json_doc_destroy(&doc);
    nino_buf_release(&text);
    nino_buf_release(&name);
    return st;
}

nino_status nino_prefix_check(const char *dir, const char *prefix, nino_error *err)
{
    const struct tm epoch = { .tm_mday = 1, .tm_year = 70 };
    const nino_prefix_vars vars = { .width = 1, .height = 1, .now = &epoch };
    char *name = NULL;
    nino_status st = nino_prefix_expand(prefix, &vars, &name, err);
    nino_buf path = { 0 };
    for (char *slash = name ? strchr(name, '/') : NULL; slash && dir && st == NINO_OK;
         slash = strchr(slash + 1, '/')) {
        struct stat sb;
        nino_buf_clear(&path);
        nino_buf_addf(&path, "%s/%.*s", dir, (int) (slash - name), name);
        if (path.failed || lstat(path.data, &sb))
            break; // not there yet
        if (S_ISLNK(sb.st_mode))
            st = prefix_refuse(name, "leads through a link", err);
        else if (!S_ISDIR(sb.st_mode))
            st = prefix_refuse(name, "leads through something that is not a folder", err);
    }
    if (name && dir && st == NINO_OK) {
        nino_error e = { 0 };
        const char *base = strrchr(name, '/');
        nino_buf_clear(&path);
        nino_buf_adds(&path, dir);
        if (base)
            nino_buf_addf(&path, "/%.*s", (int) (base - name), name);
        st = path.failed ? nino_fail(&e, NINO_ERR_NOMEM, "", "out of memory")
                         : nino_file_check_folder(path.data, &e);
        if (st)
            nino_fail(err, st, "", "%s: %s", e.where, e.msg);
    }
    nino_buf_release(&path);
    free(name);
    return st;
}

// ---- counters --------------------------------------------------------------------------------

static int64_t prefix_counter(const char *dir, const char *name, bool is_plain)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const size_t len = strlen(base);
    nino_buf path = { 0 };
    nino_buf_addf(&path, "%s/%.*s", dir, slash ? (int) (slash - name) : 0, name);
    DIR *d = path.failed ? NULL : opendir(path.data);
    int64_t best = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, base, len) || e->d_name[len] != '_')
            continue;
        char digits[16];
        const char *s = e->d_name + len + 1;
        const size_t n = strspn(s, "0123456789");
        if (!n || n > 8 || (s[n] && s[n] != '_' && !(is_plain && s[n] == '.')))
            continue;
        snprintf(digits, sizeof(digits), "%.*s", (int) n, s);
        int64_t v = 0;
        if (nino_parse_i64(digits, &v) && v > best)
            best = v;
    }
    if (d)
        closedir(d);
    nino_buf_release(&path);
    return best + 1;
}

int64_t nino_prefix_counter(const char *dir, const char *name)
{
    return prefix_counter(dir, name, false);
}

int64_t nino_prefix_counter_plain(const char *dir, const char *name)
{
    return prefix_counter(dir, name, true);
}

static char *numbered(const char *dir, const char *name, int64_t counter, const char *ext)
{
    nino_buf b = { 0 };
    if (dir)
        nino_buf_addf(&b, "%s/", dir);
    const bool is_plain = ext[0] == ':';
    nino_buf_addf(&b, "%s_%05" PRId64 "%s%s", name, counter, is_plain ? "" : "_", ext + is_plain);
    return b.data; // NULL: no memory
}

nino_status nino_prefix_open(const char *dir, const char *name, const char *ext, int64_t counter,
                             nino_file_writer **w, nino_error *err)
{
    char *file = numbered(NULL, name, counter, ext);
    const nino_status st = file ? nino_file_writer_open(dir, file, true, w, err)
                                : nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    free(file);
    return st;
}

nino_status nino_prefix_commit(nino_file_writer **w, const char *dir, const char *name,
                               const char *ext, int64_t *counter, char **path, nino_error *err)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    nino_status st = NINO_OK;
    for (;; (*counter)++) {
        char *last = numbered(NULL, base, *counter, ext);
        nino_error e = { 0 };
        st = last ? nino_file_writer_commit_as(w, last, &e)
                  : nino_fail(&e, NINO_ERR_NOMEM, name, "out of memory");
        free(last);
        // somebody else may have taken the number meanwhile
        if (!st || !e.kind || strcmp(e.kind, "exists") || *counter >= MAX_COUNTER) {
            if (st && err)
                *err = e;
            break;
        }
    }
    if (!st && !(*path = numbered(dir, name, (*counter)++, ext)))
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    nino_file_writer_abort(w);
    return st;
}

nino_status nino_prefix_save(const char *dir, const char *name, const char *ext, int64_t *counter,
                             const void *data, size_t len, char **path, nino_error *err)
{
    nino_file_writer *w = NULL;
    nino_status st = nino_prefix_open(dir, name, ext, *counter, &w, err);
    if (!st)
        st = nino_file_writer_write(w, data, len, err);
    if (!st)
        st = nino_prefix_commit(&w, dir, name, ext, counter, path, err);
    nino_file_writer_abort(&w);
    return st;
}
