// What web frontends ask for that is no job and no file of the user: lists of pictures, the log,
// parts of the page that its folder lacks, and what is switched off here.
#include "core/serve/serve_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The icon of the app, which browsers ask every site for.
extern const char nino_serve_icon[]; // terminated
__asm__(".pushsection .rodata\n"
        ".global nino_serve_icon\n"
        ".hidden nino_serve_icon\n"
        "nino_serve_icon:\n"
        ".incbin \"data/desktop/org.ninodes.Studio.svg\"\n"
        ".byte 0\n"
        ".popsection\n");

// Other packages bring the templates; a page without them has none to offer. A style sheet of the
// user's own is asked for before there is one, and a browser takes no answer of another type.
bool serve_page_part(nino_serve_call *c, const char *path)
{
    static const struct {
        const char *path, *type, *text;
    } parts[] = {
        { "/favicon.ico", "image/svg+xml", nino_serve_icon },
        { "/user.css", "text/css; charset=utf-8", "" },
        { "/templates/index.json", "application/json", "[]" },
        { "/templates/index_logo.json", "application/json", "{}" },
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strcmp(path, parts[i].path)) {
            nino_buf_clear(&c->body);
            nino_buf_adds(&c->body, parts[i].text);
            serve_reply(c, 200, parts[i].type);
            return true;
        }
    return false;
}

// ---- lists of pictures -------------------------------------------------------------------------

typedef struct dated_file {
    char *name;
    struct timespec at;
} dated_file;

static int newest_first(const void *a, const void *b)
{
    const dated_file *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? 1 : -1;
    if (x->at.tv_nsec != y->at.tv_nsec)
        return x->at.tv_nsec < y->at.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

static dated_file *read_folder(const char *dir, size_t *n)
{
    size_t max = 0;
    dated_file *list = NULL;
    DIR *d = opendir(dir);
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat sb;
        if (*e->d_name == '.' || fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(sb.st_mode))
            continue;
        if (*n == max) {
            dated_file *more = realloc(list, (max = max ? 2 * max : 64) * sizeof(*list));
            if (!more)
                break;
            list = more;
        }
        list[*n] = (dated_file){ strdup(e->d_name), sb.st_mtim };
        *n += list[*n].name != NULL;
    }
    if (d)
        closedir(d);
    if (*n)
        qsort(list, *n, sizeof(*list), newest_first);
    return list;
}

void serve_internal_files(nino_serve_call *c, const char *rest)
{
    const char *dir = serve_folder_of(c->s, rest);
    size_t n;
    if (!dir) {
        nino_buf_adds(&c->body, "{\"error\":\"Invalid directory type\"}");
        serve_reply_json(c, 400);
        return;
    }
    dated_file *list = read_folder(dir, &n);
    nino_buf_addc(&c->body, '[');
    for (size_t i = 0; i < n; i++) {
        char text[300];
        snprintf(text, sizeof(text), "%s [%s]", list[i].name, rest);
        serve_text(&c->body, NULL, text);
        free(list[i].name);
    }
    free(list);
    nino_buf_addc(&c->body, ']');
    serve_reply_json(c, 200);
}

// ---- what there is little of -------------------------------------------------------------------

// What the server has to say it says where it was started, to whoever may read that.
void serve_logs(nino_serve_call *c, const char *rest)
{
    nino_buf_adds(&c->body, !strcmp(rest, "raw") ? "{\"entries\":[],\"size\":{\"cols\":80,"
                                                   "\"rows\":24}}"
                                                 : "\"\"");
    serve_reply_json(c, 200);
}

void serve_logs_subscribe(nino_serve_call *c, const char *rest)
{
    (void) rest;
    serve_reply(c, 200, "");
}

// One user has the server.
void serve_post_users(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "{\"error\":\"This server has one user.\"}");
    serve_reply_json(c, 400);
}

void serve_no_subgraph(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "null");
    serve_reply_json(c, 200);
}

// As of a server that was started without the database of files; /features says so, too.
void serve_no_assets(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "{\"error\":{\"code\":\"SERVICE_DISABLED\",\"message\":\"There is no "
                            "database of assets here.\",\"details\":{}}}");
    serve_reply_json(c, 503);
}
