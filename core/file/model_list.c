// Listing model files: what a file picker shows. Links are followed as when a file is opened; no
// folder is listed twice, so links that go round in a circle end.
#include "core/file/model_paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include <ninodes/document.h>

const char *const nino_model_endings[] = { ".safetensors", ".sft",  ".gguf", ".pth",
                                           ".pt",          ".ckpt", ".bin",  NULL };

#define MAX_FOLDERS 4096
#define MAX_DEPTH 8 // sub-folders in sub-folders

typedef struct listing {
    char **name;
    size_t n, cap;
    bool failed;
} listing;

typedef struct folder_id {
    dev_t dev;
    ino_t ino;
} folder_id;

// One listing over several folders.
typedef struct walk {
    const char *const *ext;
    const char *dir;        // the one that is read
    listing files, folders; // by their names below it; folders are those of `dir` alone
    folder_id *seen;        // MAX_FOLDERS of them
    size_t n_seen;
} walk;

static void model_list_add(listing *l, const char *name)
{
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 64;
        char **p = realloc(l->name, cap * sizeof(*p));
        if (!p) {
            l->failed = true;
            return;
        }
        l->name = p;
        l->cap = cap;
    }
    char *copy = strdup(name);
    if (copy)
        l->name[l->n++] = copy;
    else
        l->failed = true;
}

static bool has_ext(const char *name, const char *const *ext)
{
    const char *dot = strrchr(name, '.');
    for (; ext && *ext; ext++)
        if (dot && !strcasecmp(dot, *ext))
            return true;
    return !ext;
}

// Is it a folder that was not met before? One beyond the limit counts as met.
static bool is_new(walk *w, const struct stat *sb)
{
    for (size_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].dev == sb->st_dev && w->seen[i].ino == sb->st_ino)
            return false;
    if (w->n_seen == MAX_FOLDERS)
        return false;
    w->seen[w->n_seen++] = (folder_id){ sb->st_dev, sb->st_ino };
    return true;
}

static int model_list_depth_of(const char *name)
{
    int n = 0;
    for (; *name; name++)
        n += *name == '/';
    return n;
}

static void model_list_read_folder(walk *w, const char *sub)
{
    const char *dir = w->dir;
    nino_buf path = { 0 }, name = { 0 };
    nino_buf_addf(&path, "%s%s%s", dir, *sub ? "/" : "", sub);
    DIR *d = path.failed ? NULL : opendir(path.data);
    bool failed = path.failed || (!d && errno == ENOMEM);
    for (struct dirent *e; d && !failed && (e = readdir(d));) {
        struct stat sb;
        if (e->d_name[0] == '.')
            continue;
        nino_buf_clear(&path);
        nino_buf_clear(&name);
        nino_buf_addf(&name, "%s%s%s", sub, *sub ? "/" : "", e->d_name);
        const char *below = name.failed ? "" : name.data;
        nino_buf_addf(&path, "%s/%s", dir, below);
        failed = name.failed || path.failed;
        if (failed || stat(path.data, &sb))
            continue;
        if (S_ISREG(sb.st_mode) && has_ext(e->d_name, w->ext))
            model_list_add(&w->files, below);
        else if (S_ISDIR(sb.st_mode) && model_list_depth_of(below) < MAX_DEPTH && is_new(w, &sb))
            model_list_add(&w->folders, below);
    }
    if (d)
        closedir(d);
    w->files.failed |= failed;
    nino_buf_release(&path);
    nino_buf_release(&name);
}

static void model_list_release(listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
}

static int model_list_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

// All files of one of the folders to look through.
static void walk_dir(walk *w, const char *dir)
{
    struct stat sb;
    if (stat(dir, &sb) || !is_new(w, &sb))
        return;
    w->dir = dir;
    model_list_read_folder(w, "");
    for (size_t i = 0; i < w->folders.n; i++) // grows while it is walked
        model_list_read_folder(w, w->folders.name[i]);
    w->files.failed |= w->folders.failed;
    model_list_release(&w->folders);
    w->folders = (listing){ 0 };
}

char **nino_paths_list(char *const *dirs, const char *const *ext)
{
    walk w = { .ext = ext, .seen = malloc(MAX_FOLDERS * sizeof(*w.seen)) };
    w.files.failed = !w.seen;
    for (; dirs && *dirs && w.seen; dirs++)
        walk_dir(&w, *dirs);
    free(w.seen);
    listing files = w.files;
    if (files.n)
        qsort(files.name, files.n, sizeof(*files.name), model_list_by_name);
    size_t bytes = 0, n = 0;
    for (size_t i = 0; i < files.n; i++)
        bytes += strlen(files.name[i]) + 1;
    char **out = files.failed ? NULL : malloc((files.n + 1) * sizeof(*out) + bytes);
    char *text = out ? (char *) (out + files.n + 1) : NULL;
    for (size_t i = 0; out && i < files.n; i++) {
        if (i && !strcmp(files.name[i], files.name[i - 1])) // in two folders: the first one counts
            continue;
        const size_t len = strlen(files.name[i]) + 1;
        out[n++] = memcpy(text, files.name[i], len);
        text += len;
    }
    if (out)
        out[n] = NULL;
    model_list_release(&files);
    return out;
}

char *nino_find_model(const char *const *models, const char *folder, const char *name,
                      nino_error *err)
{
    const nino_log silent = { 0 };
    char *path = NULL;
    struct stat sb;
    nino_paths *p =
        nino_file_check_name(name, err) ? NULL : nino_paths_create(models, &silent, err);
    char **dirs = p ? nino_paths_dirs(p, folder) : NULL;
    bool has_memory = !p || dirs;
    for (char **d = dirs; d && *d && !path && has_memory; d++) {
        nino_buf b = { 0 };
        nino_buf_addf(&b, "%s/%s", *d, name);
        has_memory = !b.failed;
        if (has_memory && !stat(b.data, &sb) && S_ISREG(sb.st_mode))
            path = b.data;
        else
            nino_buf_release(&b);
    }
    if (!has_memory)
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    else if (dirs && !path)
        nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", name, "is in no folder of %s",
                       folder);
    free(dirs);
    nino_paths_destroy(&p);
    return path;
}

char **nino_list_files(const char *const *models, const char *input_dir, const char *folder,
                       nino_error *err)
{
    const nino_log silent = { 0 };
    char input[] = "input", **out;
    if (!strcmp(folder, "output")) { // which this does not know: outputs come and go
        out = nino_paths_list((char *const[]){ NULL }, NULL);
    } else if (!strcmp(folder, "input")) {
        out =
            nino_paths_list((char *const[]){ input_dir ? (char *) input_dir : input, NULL }, NULL);
    } else {
        nino_paths *p = nino_paths_create(models, &silent, err);
        char **dirs = p ? nino_paths_dirs(p, folder) : NULL;
        out = dirs ? nino_paths_list(dirs, nino_model_endings) : NULL;
        free(dirs);
        nino_paths_destroy(&p);
    }
    if (!out)
        nino_fail(err, NINO_ERR_NOMEM, folder, "out of memory");
    return out;
}
