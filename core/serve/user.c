// What the web frontend keeps here: settings, files of the user, and its own pages.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/model_paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Of a name, and of a path below the user's folder.
enum { MAX_SETTINGS = 4 << 20, MAX_NAME = 2048, MAX_PATH = SERVE_MAX_USER_DIR + MAX_NAME + 16 };
#define SETTINGS_FILE "settings.json"
#define FILES_DIR "files" // below the user's folder

// The page of our own, data/serve/page.html.
extern const char nino_serve_page[]; // terminated
__asm__(".pushsection .rodata\n"
        ".global nino_serve_page\n"
        ".hidden nino_serve_page\n"
        "nino_serve_page:\n"
        ".incbin \"data/serve/page.html\"\n"
        ".byte 0\n"
        ".popsection\n");

// ---- files of the user -------------------------------------------------------------------------

// The folder of the user's files, or what is below it; *below: checked.
static void files_path(const nino_serve *s, char out[MAX_PATH], const char *below)
{
    snprintf(out, MAX_PATH, "%s/" FILES_DIR "%s%s", s->params.user_dir, *below ? "/" : "", below);
}

static bool has_flag(const nino_serve_call *c, const char *key)
{
    char v[16];
    return serve_query(c->query, key, v, sizeof(v)) && (!strcmp(v, "true") || !strcmp(v, "1"));
}

// The time and size of a file, as the frontend lists it; of its name alone otherwise.
static void add_file(nino_buf *b, const char *dir, const char *name, bool is_full)
{
    char path[MAX_PATH + MAX_NAME];
    struct stat sb;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!is_full || stat(path, &sb)) {
        serve_text(b, NULL, name);
        return;
    }
    serve_key(b, NULL);
    nino_buf_addc(b, '{');
    serve_text(b, "path", name);
    serve_number(b, "size", (double) sb.st_size);
    serve_number(b, "modified", (double) sb.st_mtime * 1000);
    serve_number(b, "created", (double) sb.st_ctime * 1000);
    nino_buf_addc(b, '}');
}

static void list_files(nino_serve_call *c, const char *below)
{
    char dir[MAX_PATH];
    if (nino_file_check_name(below, NULL)) {
        serve_fail(c, 400, "invalid_request", "dir names no folder of the user");
        return;
    }
    files_path(c->s, dir, below);
    // every page lists these two at its start, before there is anything in them
    const bool is_usual = !strcmp(below, "workflows") || !strcmp(below, "subgraphs");
    if (access(dir, R_OK) && !is_usual) {
        serve_fail(c, 404, "not_found", "there is no such folder");
        return;
    }
    const bool recurse = has_flag(c, "recurse"), split = has_flag(c, "split");
    const bool is_full = has_flag(c, "full_info");
    char **files = nino_paths_list((char *const[]){ dir, NULL }, NULL);
    if (!files) { // which is not that there are none
        serve_fail(c, 500, "out_of_memory", "out of memory");
        return;
    }
    nino_buf_addc(&c->body, '[');
    for (char **f = files; *f; f++) {
        if (!recurse && strchr(*f, '/'))
            continue;
        if (!split || is_full) {
            add_file(&c->body, dir, *f, is_full);
            continue;
        }
        serve_key(&c->body, NULL);
        nino_buf_addc(&c->body, '[');
        serve_text(&c->body, NULL, *f);
        for (const char *p = *f; *p;) {
            const size_t k = strcspn(p, "/");
            serve_key(&c->body, NULL);
            nino_buf_add_json_string(&c->body, p, k);
            p += k + (p[k] == '/');
        }
        nino_buf_addc(&c->body, ']');
    }
    nino_buf_addc(&c->body, ']');
    free(files);
    serve_reply_json(c, 200);
}

// The path of a file in the address, decoded and checked. False: answered.
static bool file_path(nino_serve_call *c, const char *rest, size_t len, char *out, size_t size)
{
    if (serve_unescape(out, size, rest, len, false) && *out && !nino_file_check_name(out, NULL))
        return true;
    serve_fail(c, 403, "invalid_request", "no name below the folder of the user");
    return false;
}

void serve_get_userdata(nino_serve_call *c, const char *rest)
{
    char name[MAX_NAME], dir[MAX_PATH];
    int fd;
    if (!*rest) {
        if (serve_query(c->query, "dir", name, sizeof(name)) && *name)
            list_files(c, name);
        else
            serve_fail(c, 400, "invalid_request", "dir is missing");
        return;
    }
    if (!file_path(c, rest, strlen(rest), name, sizeof(name)))
        return;
    files_path(c->s, dir, "");
    if (!nino_file_open_below(dir, name, &fd, NULL))
        serve_reply_fd(c, fd, name);
    else if (strcmp(name, "user.css") != 0 || !serve_page_part(c, "/user.css"))
        serve_fail(c, 404, "not_found", "there is no such file");
}

void serve_userdata_v2(nino_serve_call *c, const char *rest)
{
    char dir[MAX_PATH], below[MAX_NAME] = "";
    (void) rest;
    serve_query(c->query, "path", below, sizeof(below));
    if (*below && nino_file_check_name(below, NULL)) {
        serve_fail(c, 400, "invalid_request", "path names no folder of the user");
        return;
    }
    files_path(c->s, dir, below);
    DIR *d = opendir(dir);
    nino_buf *b = &c->body;
    nino_buf_addc(b, '[');
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[MAX_PATH + MAX_NAME];
        struct stat sb;
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (*e->d_name == '.' || lstat(path, &sb) || S_ISLNK(sb.st_mode))
            continue;
        serve_key(b, NULL);
        nino_buf_addc(b, '{');
        serve_text(b, "name", e->d_name);
        snprintf(path, sizeof(path), "%s%s%s", below, *below ? "/" : "", e->d_name);
        serve_text(b, "path", path);
        serve_text(b, "type", S_ISDIR(sb.st_mode) ? "directory" : "file");
        serve_number(b, "size", (double) sb.st_size);
        serve_number(b, "modified", (double) sb.st_mtime);
        nino_buf_addc(b, '}');
    }
    nino_buf_addc(b, ']');
    if (d)
        closedir(d);
    serve_reply_json(c, 200);
}

static void move_file(nino_serve_call *c, const char *rest, const char *mark)
{
    char from[MAX_NAME], to[MAX_NAME], dir[MAX_PATH], a[MAX_PATH], b[MAX_PATH];
    char overwrite[16] = "";
    serve_query(c->query, "overwrite", overwrite, sizeof(overwrite));
    if (!file_path(c, rest, (size_t) (mark - rest), from, sizeof(from)) ||
        !file_path(c, mark + 6, strlen(mark + 6), to, sizeof(to)))
        return;
    files_path(c->s, dir, "");
    files_path(c->s, a, from);
    files_path(c->s, b, to);
    char *slash = strrchr(b, '/');
    *slash = 0;
    const bool has_folder = !nino_file_mkdirs(b, true, NULL);
    *slash = '/';
    if (access(a, F_OK)) {
        serve_fail(c, 404, "not_found", "there is no such file");
    } else if (!access(b, F_OK) && !strcmp(overwrite, "false")) {
        serve_fail(c, 409, "exists", "there is a file of that name");
    } else if (!has_folder || rename(a, b)) {
        serve_fail(c, 500, "io", "the file cannot be moved: %s", strerror(errno));
    } else {
        add_file(&c->body, dir, to, has_flag(c, "full_info"));
        serve_reply_json(c, 200);
    }
}

void serve_post_userdata(nino_serve_call *c, const char *rest)
{
    char name[MAX_NAME], dir[MAX_PATH], overwrite[16] = "", path[MAX_PATH];
    nino_error e = { .code = NINO_OK };
    const char *move = strstr(rest, "/move/");
    if (move) {
        move_file(c, rest, move);
        return;
    }
    if (!file_path(c, rest, strlen(rest), name, sizeof(name)))
        return;
    serve_query(c->query, "overwrite", overwrite, sizeof(overwrite));
    files_path(c->s, dir, "");
    files_path(c->s, path, name);
    if (!strcmp(overwrite, "false") && !access(path, F_OK)) {
        serve_fail(c, 409, "exists", "there is a file of that name");
        return;
    }
    if (nino_file_mkdirs(dir, true, &e) ||
        nino_file_save(dir, name, true, c->r->body_bytes ? c->r->body : "",
                       (size_t) c->r->body_bytes, &e)) {
        serve_fail(c, 500, "io", "the file cannot be written: %s", e.msg);
        return;
    }
    add_file(&c->body, dir, name, has_flag(c, "full_info"));
    serve_reply_json(c, 200);
}

void serve_delete_userdata(nino_serve_call *c, const char *rest)
{
    char name[MAX_NAME], path[MAX_PATH];
    if (!file_path(c, rest, strlen(rest), name, sizeof(name)))
        return;
    files_path(c->s, path, name);
    if (unlink(path))
        serve_fail(c, 404, "not_found", "there is no such file");
    else
        serve_reply(c, 204, "");
}

// ---- settings ----------------------------------------------------------------------------------

static nino_status open_settings(const nino_serve *s, nino_json_doc **doc, nino_error *err)
{
    char path[MAX_PATH], damaged[MAX_PATH + 16], *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof(path), "%s/" SETTINGS_FILE, s->params.user_dir);
    nino_status st = nino_file_read(path, MAX_SETTINGS, false, &text, &len, err);
    if (!st)
        st = nino_json_parse(text, len, "settings", NULL, doc, err);
    free(text);
    if (!st && (*doc)->root->type == NINO_JSON_OBJECT)
        return NINO_OK;
    nino_json_doc_destroy(doc);
    if (st && st != NINO_ERR_MISSING && st != NINO_ERR_FORMAT)
        return st;                // what is there is not to be written anew
    if (st != NINO_ERR_MISSING) { // by somebody else: kept beside, for whom it may concern
        snprintf(damaged, sizeof(damaged), "%s.damaged", path);
        if (rename(path, damaged))
            return nino_fail(err, NINO_ERR_IO, "settings", "%s: %s", path, strerror(errno));
    }
    return nino_json_parse("{}", 2, "settings", NULL, doc, err);
}

void serve_get_settings(nino_serve_call *c, const char *rest)
{
    char id[256] = "";
    nino_json_doc *doc = NULL;
    nino_error e = { .code = NINO_OK };
    if (open_settings(c->s, &doc, &e)) {
        serve_fail(c, 500, "io", "the settings cannot be read: %s", e.msg);
        return;
    }
    const bool ok = serve_unescape(id, sizeof(id), rest, strlen(rest), false);
    const nino_json *v = !ok ? NULL : *id ? nino_json_get(doc->root, id) : doc->root;
    if (v)
        nino_json_write(&c->body, doc, v);
    else
        nino_buf_adds(&c->body, "null");
    nino_json_doc_destroy(&doc);
    serve_reply_json(c, 200);
}

static nino_status set_one(nino_json_doc *settings, const char *key, const nino_json_doc *from,
                           const nino_json *v)
{
    nino_buf b = { 0 };
    nino_json_write(&b, from, v);
    const nino_status st =
        b.failed ? NINO_ERR_NOMEM : nino_json_set(settings, settings->root, key, b.data, NULL);
    nino_buf_release(&b);
    return st;
}

void serve_post_settings(nino_serve_call *c, const char *rest)
{
    char id[256] = "";
    nino_json_doc *given = NULL, *doc = NULL;
    nino_buf b = { 0 };
    nino_error e = { .code = NINO_OK };
    if (!serve_unescape(id, sizeof(id), rest, strlen(rest), false) ||
        nino_json_parse(c->r->body ? c->r->body : "", (size_t) c->r->body_bytes, "body", NULL,
                        &given, &e) ||
        (!*id && given->root->type != NINO_JSON_OBJECT)) {
        serve_fail(c, 400, "invalid_json", "%s", e.code ? e.msg : "the body is not an object");
        goto end;
    }
    nino_status st = open_settings(c->s, &doc, &e);
    if (*id)
        st = st ? st : set_one(doc, id, given, given->root);
    for (const nino_json *v = *id ? NULL : given->root->child; v && !st; v = v->next)
        st = set_one(doc, v->key, given, v);
    if (!st)
        nino_json_write(&b, doc, doc->root);
    if (st || b.failed || b.len > MAX_SETTINGS ||
        nino_file_save(c->s->params.user_dir, SETTINGS_FILE, false, b.data, b.len, &e))
        serve_fail(c, 500, "io", "the settings cannot be written: %s", e.msg);
    else
        serve_reply(c, 200, "");
end:
    nino_buf_release(&b);
    nino_json_doc_destroy(&given);
    nino_json_doc_destroy(&doc);
}

void serve_users(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "{\"storage\":\"server\",\"migrated\":true}");
    serve_reply_json(c, 200);
}

// ---- pages -------------------------------------------------------------------------------------

void serve_extensions(nino_serve_call *c, const char *rest)
{
    char dir[4200];
    (void) rest;
    const char *const ext[] = { "js", NULL };
    char **files = NULL;
    if (c->s->params.frontend_dir) {
        snprintf(dir, sizeof(dir), "%s/extensions", c->s->params.frontend_dir);
        files = nino_paths_list((char *const[]){ dir, NULL }, NULL);
    }
    nino_buf_addc(&c->body, '[');
    for (char **f = files; f && *f; f++) {
        const char *dot = strrchr(*f, '.');
        char path[1200];
        if (!dot || strcmp(dot + 1, ext[0]) != 0)
            continue;
        snprintf(path, sizeof(path), "/extensions/%s", *f);
        serve_text(&c->body, NULL, path);
    }
    nino_buf_addc(&c->body, ']');
    free(files);
    serve_reply_json(c, 200);
}

void serve_static(nino_serve_call *c, const char *rest)
{
    char name[MAX_NAME];
    int fd;
    const char *dir = c->s->params.frontend_dir;
    const bool is_root = !strcmp(rest, "/") || !strcmp(rest, "/index.html");
    if (!dir && is_root) {
        nino_buf_adds(&c->body, nino_serve_page);
        serve_reply(c, 200, "text/html; charset=utf-8");
        serve_header(&c->answer, "Content-Security-Policy",
                     "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                     "img-src 'self' blob:; frame-ancestors 'none'");
        return;
    }
    if (!dir ||
        !serve_unescape(name, sizeof(name), is_root ? "index.html" : rest + 1,
                        is_root ? 10 : strlen(rest + 1), false) ||
        nino_file_open_below(dir, name, &fd, NULL)) {
        if (!serve_page_part(c, rest))
            serve_fail(c, 404, "not_found", "there is nothing at %.200s", rest);
        return;
    }
    serve_reply_fd(c, fd, name);
    serve_header(&c->answer, "Cache-Control", "no-cache");
}
