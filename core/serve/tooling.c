// What painting programs ask of the external tooling extension of ComfyUI: pictures handed over by an id
// before a prompt, results taken by one after it, and which family of networks a model file holds.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/model_paths.h"
#include "core/node/util.h"
#include <ninodes/inspect.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SENT = 512 << 20, MAX_INSPECTED = 1000 }; // bytes that are kept; files in an answer

static void sent_dir(const nino_serve *s, char *out, size_t size)
{
    snprintf(out, size, "%s/" NINO_SENT_DIR, nino_ctx_temp_dir(s->ctx));
}

static bool is_sent_id(const char *id)
{
    const size_t n = strlen(id);
    return n && n <= NINO_SENT_ID && strspn(id, NINO_SENT_CHARS) == n;
}

// Takes the oldest away until there is room for as many bytes.
static void make_room(const char *dir, uint64_t bytes)
{
    for (;;) {
        char oldest[sizeof(((struct dirent *) 0)->d_name)] = "";
        uint64_t total = bytes;
        struct timespec first = { 0 };
        DIR *d = opendir(dir);
        for (struct dirent *e; d && (e = readdir(d));) {
            struct stat sb;
            if (!is_sent_id(e->d_name) || fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW))
                continue;
            total += (uint64_t) sb.st_size;
            if (!*oldest || sb.st_mtim.tv_sec < first.tv_sec ||
                (sb.st_mtim.tv_sec == first.tv_sec && sb.st_mtim.tv_nsec < first.tv_nsec)) {
                first = sb.st_mtim;
                snprintf(oldest, sizeof(oldest), "%s", e->d_name);
            }
        }
        const bool is_gone = d && total > MAX_SENT && *oldest && !unlinkat(dirfd(d), oldest, 0);
        if (d)
            closedir(d);
        if (!is_gone)
            return;
    }
}

static bool is_there(const char *dir, const char *name)
{
    int fd = -1;
    const bool is = !nino_file_open_below(dir, name, &fd, NULL);
    if (is)
        close(fd);
    return is;
}

void serve_put_picture(nino_serve_call *c, const char *rest)
{
    char id[NINO_SENT_ID + 1], dir[4200];
    nino_error e = { .code = NINO_OK };
    sent_dir(c->s, dir, sizeof(dir));
    if (!serve_unescape(id, sizeof(id), rest, strlen(rest), false) || !is_sent_id(id) ||
        !c->r->body_bytes) {
        serve_fail(c, 400, "invalid_request",
                   "there is no picture, or no id of letters and digits");
        return;
    }
    const bool is_known = is_there(dir, id); // an id is that of one picture
    if (!is_known) {
        make_room(dir, c->r->body_bytes);
        if (nino_file_mkdirs(dir, true, &e) ||
            nino_file_save(dir, id, true, c->r->body, (size_t) c->r->body_bytes, &e)) {
            serve_fail(c, 500, "io", "%s", e.msg);
            return;
        }
    }
    nino_buf_addf(&c->body, "{\"status\":\"%s\"}", is_known ? "cached" : "success");
    serve_reply_json(c, is_known ? 200 : 201);
}

// One that was sent, or a result that a node has kept under its name.
void serve_get_picture(nino_serve_call *c, const char *rest)
{
    char id[256], dir[4200];
    int fd = -1;
    sent_dir(c->s, dir, sizeof(dir));
    if (!serve_unescape(id, sizeof(id), rest, strlen(rest), false) || strchr(id, '/') ||
        nino_file_check_name(id, NULL) ||
        (nino_file_open_below(dir, id, &fd, NULL) &&
         nino_file_open_below(nino_ctx_temp_dir(c->s->ctx), id, &fd, NULL))) {
        serve_fail(c, 404, "not_found", "there is no such picture");
        return;
    }
    serve_reply_fd(c, fd, id);
    serve_header(&c->answer, "Content-Security-Policy", "default-src 'none'; sandbox");
}

void serve_no_list(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_adds(&c->body, "[]");
    serve_reply_json(c, 200);
}

// ---- models ------------------------------------------------------------------------------------

// The extension's name of a family; its own where both call it the same.
static const char *family_name(const char *family)
{
    static const char *const names[][2] = { { "sd2", "sd20" },
                                            { "sdxl_refiner", "sdxl-refiner" },
                                            { "qwen_image", "qwen-image" },
                                            { "zimage", "z-image" },
                                            { "wan", "wan21" },
                                            { "hunyuan_video", "hunyuan-video" },
                                            { "aura", "aura-flow" } };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(names[i][0], family))
            return names[i][1];
    return family;
}

static void add_model(nino_buf *b, const nino_inspect *i)
{
    const nino_inspect_part *p = i->parts, *end = p + i->n_parts;
    while (p < end && strcmp(p->role, "diffusion") != 0)
        p++;
    serve_text(b, "base_model", p < end ? family_name(p->family) : "unknown");
    const char *channels = p < end ? strstr(p->detail, ", 9 input channels") : NULL;
    nino_buf_addf(b, ",\"is_inpaint\":%s", channels ? "true" : "false");
    if (p < end && !strcmp(p->family, "sdxl"))
        serve_text(b, "type", "eps"); // what a file does not say otherwise
}

static size_t inspected_number(const nino_serve_call *c, const char *key, size_t other)
{
    char text[24], *end;
    if (!serve_query(c->query, key, text, sizeof(text)) || *text < '0' || *text > '9')
        return other;
    const unsigned long v = strtoul(text, &end, 10);
    return *end ? other : v;
}

void serve_model_info(nino_serve_call *c, const char *rest)
{
    char kind[64] = "checkpoints";
    if ((*rest && !serve_unescape(kind, sizeof(kind), rest, strlen(rest), false)) ||
        !serve_is_model_folder(kind)) {
        serve_fail(c, 400, "invalid_request", "there is no such folder of models");
        return;
    }
    const size_t from = inspected_number(c, "offset", 0);
    const size_t max = inspected_number(c, "limit", MAX_INSPECTED);
    char **dirs = nino_paths_dirs(nino_ctx_settings(c->s->ctx)->paths, kind);
    char **files = nino_ctx_list_models(c->s->ctx, kind);
    size_t n = 0, shown = 0;
    nino_buf_addc(&c->body, '{');
    for (; files && files[n]; n++) {
        char path[4200];
        nino_inspect i = { 0 };
        nino_status st = NINO_ERR_MISSING;
        if (n < from || shown == max)
            continue;
        for (char **d = dirs; d && *d && st == NINO_ERR_MISSING; d++)
            if (is_there(*d, files[n]) &&
                (size_t) snprintf(path, sizeof(path), "%s/%s", *d, files[n]) < sizeof(path))
                st = nino_inspect_file(path, &i, NULL);
        shown++;
        serve_key(&c->body, files[n]);
        nino_buf_addc(&c->body, '{');
        if (st)
            serve_text(&c->body, "base_model", "unknown");
        else
            add_model(&c->body, &i);
        nino_buf_addc(&c->body, '}');
        nino_inspect_release(&i);
    }
    if (strstr(c->query, "limit=")) {
        serve_key(&c->body, "_meta");
        nino_buf_addf(&c->body, "{\"offset\":%zu,\"count\":%zu,\"total\":%zu}", from, shown, n);
    }
    nino_buf_addc(&c->body, '}');
    free(files);
    free(dirs);
    serve_reply_json(c, 200);
}
