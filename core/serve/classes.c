// What there is to run with: the node table in the form of ComfyUI's object_info, lists of models.
#include "core/serve/serve_priv.h"

#include "core/base/file.h"
#include "core/file/model_paths.h"
#include "core/node/param.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- object_info -------------------------------------------------------------------------------

static void add_choices(nino_buf *b, const char *const *names)
{
    for (; names && *names; names++)
        serve_text(b, NULL, *names);
}

// One list of files serves all parameters of a kind in one answer.
typedef struct listed {
    const char *kind;
    char **files;
} listed;
enum { MAX_KINDS = 32 };
typedef struct lists {
    nino_serve *s;
    listed list[MAX_KINDS];
    size_t n;
} lists;

static char **files_of(lists *l, const char *kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->list[i].kind, kind))
            return l->list[i].files;
    char **files = nino_ctx_list_models(l->s->ctx, kind);
    if (l->n < MAX_KINDS)
        l->list[l->n++] = (listed){ kind, files };
    return files; // one of too many kinds is not freed; there are fewer
}

static void lists_release(lists *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].files);
}

static void add_value(nino_buf *b, const char *key, const nino_param *p, const nino_default *v)
{
    serve_key(b, key);
    nino_param_print(b, p, v);
}

static void add_true(nino_buf *b, const char *key)
{
    serve_key(b, key);
    nino_buf_adds(b, "true");
}

static void add_param(nino_buf *b, lists *l, const nino_param *p)
{
    serve_key(b, p->key);
    nino_buf_addc(b, '[');
    if (p->type == NINO_ENUM || p->type == NINO_FILE) {
        nino_buf_addc(b, '[');
        add_choices(b, p->type == NINO_ENUM ? p->names : p->extra);
        if (p->type == NINO_FILE)
            add_choices(b, (const char *const *) files_of(l, p->folder));
        nino_buf_addc(b, ']');
    } else {
        serve_text(b, NULL, nino_param_type_name(p));
    }
    nino_buf_adds(b, ",{");
    if (p->type != NINO_FILE)
        add_value(b, "default", p, &p->def);
    if (p->type == NINO_INT || p->type == NINO_FLOAT || p->type == NINO_SEED) {
        const nino_default seed_max = { .u = UINT64_MAX }, zero = { .u = 0 };
        add_value(b, "min", p, p->type == NINO_SEED ? &zero : &p->min);
        add_value(b, "max", p, p->type == NINO_SEED ? &seed_max : &p->max);
        if (p->type != NINO_SEED)
            add_value(b, "step", p, &p->step);
    }
    if (p->type == NINO_SEED || p->control_slot)
        add_true(b, "control_after_generate");
    if (p->multiline)
        add_true(b, "multiline");
    if (p->upload_slot)
        add_true(b, "image_upload");
    if (p->type == NINO_FILE && !strcmp(p->folder, "output"))
        serve_text(b, "image_folder", p->folder);
    if (p->help)
        serve_text(b, "tooltip", p->help);
    nino_buf_adds(b, "}]");
}

static void add_inputs(nino_buf *b, lists *l, const nino_node_def *d, bool is_optional)
{
    serve_key(b, is_optional ? "optional" : "required");
    nino_buf_addc(b, '{');
    for (const nino_port *p = d->inputs; p && p->key; p++) {
        if (p->optional != is_optional)
            continue;
        serve_key(b, p->key);
        nino_buf_addc(b, '[');
        serve_text(b, NULL, nino_port_type_name(p->type));
        nino_buf_adds(b, ",{");
        if (p->help)
            serve_text(b, "tooltip", p->help);
        nino_buf_adds(b, "}]");
    }
    for (const nino_param *p = d->params; p && p->key; p++)
        if (p->optional == is_optional)
            add_param(b, l, p);
    nino_buf_addc(b, '}');
}

static void add_order(nino_buf *b, const nino_node_def *d, bool is_optional)
{
    serve_key(b, is_optional ? "optional" : "required");
    nino_buf_addc(b, '[');
    for (const nino_port *p = d->inputs; p && p->key; p++)
        if (p->optional == is_optional)
            serve_text(b, NULL, p->key);
    for (const nino_param *p = d->params; p && p->key; p++)
        if (p->optional == is_optional)
            serve_text(b, NULL, p->key);
    nino_buf_addc(b, ']');
}

static void add_outputs(nino_buf *b, const nino_node_def *d)
{
    nino_buf_adds(b, ",\"output\":[");
    for (const nino_port *p = d->outputs; p && p->key; p++)
        serve_text(b, NULL, nino_port_type_name(p->type));
    nino_buf_adds(b, "],\"output_is_list\":[");
    for (const nino_port *p = d->outputs; p && p->key; p++)
        nino_buf_adds(b, p == d->outputs ? "false" : ",false");
    nino_buf_adds(b, "],\"output_name\":[");
    for (const nino_port *p = d->outputs; p && p->key; p++)
        serve_text(b, NULL, p->key);
    nino_buf_adds(b, "],\"output_tooltips\":[");
    for (const nino_port *p = d->outputs; p && p->key; p++)
        serve_text(b, NULL, p->help ? p->help : "");
    nino_buf_addc(b, ']');
}

static void add_class(nino_buf *b, lists *l, const nino_node_def *d, const char *name)
{
    serve_key(b, name);
    nino_buf_adds(b, "{\"input\":{");
    add_inputs(b, l, d, false);
    add_inputs(b, l, d, true);
    nino_buf_adds(b, "},\"input_order\":{");
    add_order(b, d, false);
    add_order(b, d, true);
    nino_buf_adds(b, "},\"is_input_list\":false");
    add_outputs(b, d);
    serve_text(b, "name", name);
    serve_text(b, "display_name", d->title ? d->title : d->key);
    serve_text(b, "description", d->help ? d->help : "");
    serve_text(b, "python_module", "nodes");
    serve_text(b, "category", d->category ? d->category : "");
    nino_buf_addf(b, ",\"output_node\":%s,\"deprecated\":%s,\"experimental\":false}",
                  d->is_output ? "true" : "false", name == d->key ? "false" : "true");
}

// A class and its former names, or the one of them that is asked for.
static void add_names(nino_buf *b, lists *l, const nino_node_def *d, const char *only)
{
    if (!*only || !strcmp(only, d->key))
        add_class(b, l, d, d->key);
    for (const nino_alias *a = d->aliases; a && a->name; a++)
        if (!*only || !strcmp(only, a->name))
            add_class(b, l, d, a->name);
}

void serve_object_info(nino_serve_call *c, const char *rest)
{
    char only[256] = "";
    lists l = { .s = c->s };
    if (*rest && !serve_unescape(only, sizeof(only), rest, strlen(rest), false))
        snprintf(only, sizeof(only), "?");
    nino_buf_addc(&c->body, '{');
    for (int i = 0; nino_node_defs[i]; i++)
        if (!nino_node_defs[i]->is_virtual) // the editor has those itself
            add_names(&c->body, &l, nino_node_defs[i], only);
    nino_buf_addc(&c->body, '}');
    lists_release(&l);
    serve_reply_json(c, 200);
}

// ---- models ------------------------------------------------------------------------------------

static const char *const folders[] = { "checkpoints", "configs",       "loras",
                                       "vae",         "text_encoders", "diffusion_models",
                                       "clip_vision", "style_models",  "embeddings",
                                       "vae_approx",  "controlnet",    "upscale_models",
                                       "gligen",      "hypernetworks", "model_patches",
                                       NULL };

bool serve_is_model_folder(const char *name)
{
    for (size_t i = 0; folders[i]; i++)
        if (!strcmp(name, folders[i]))
            return true;
    return !strcmp(name, "clip") || !strcmp(name, "unet");
}

void serve_embeddings(nino_serve_call *c, const char *rest)
{
    (void) rest;
    char **files = nino_ctx_list_models(c->s->ctx, "embeddings");
    nino_buf_addc(&c->body, '[');
    for (char **f = files; f && *f; f++) {
        char *dot = strrchr(*f, '.');
        if (dot)
            *dot = 0;
        serve_text(&c->body, NULL, *f);
    }
    nino_buf_addc(&c->body, ']');
    free(files);
    serve_reply_json(c, 200);
}

static void add_dirs(nino_buf *b, const nino_serve *s, const char *kind, const char *key)
{
    char **dirs = nino_paths_dirs(nino_ctx_settings(s->ctx)->paths, kind);
    serve_key(b, key);
    nino_buf_addc(b, '[');
    for (char **d = dirs; d && *d; d++)
        serve_text(b, NULL, *d);
    nino_buf_addc(b, ']');
    free(dirs);
}

void serve_folder_paths(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_addc(&c->body, '{');
    for (size_t i = 0; folders[i]; i++)
        add_dirs(&c->body, c->s, folders[i], folders[i]);
    nino_buf_addc(&c->body, '}');
    serve_reply_json(c, 200);
}

// The newer form has the folders of a kind, and for each file the number of its folder.
static void list_kinds(nino_serve_call *c)
{
    nino_buf *b = &c->body;
    nino_buf_addc(b, '[');
    for (size_t i = 0; folders[i]; i++) {
        serve_key(b, NULL);
        nino_buf_addc(b, '{');
        serve_text(b, "name", folders[i]);
        add_dirs(b, c->s, folders[i], "folders");
        nino_buf_adds(b, ",\"extensions\":[");
        for (const char *const *e = nino_model_endings; *e; e++)
            serve_text(b, NULL, *e);
        nino_buf_adds(b, "]}");
    }
    nino_buf_addc(b, ']');
    serve_reply_json(c, 200);
}

static void list_files_of(nino_serve_call *c, const char *kind)
{
    char **dirs = nino_paths_dirs(nino_ctx_settings(c->s->ctx)->paths, kind);
    nino_buf *b = &c->body;
    nino_buf_addc(b, '[');
    for (size_t i = 0; dirs && dirs[i]; i++) {
        char **files = nino_paths_list((char *const[]){ dirs[i], NULL }, nino_model_endings);
        for (char **f = files; f && *f; f++) {
            char path[4200];
            struct stat sb;
            const int n = snprintf(path, sizeof(path), "%s/%s", dirs[i], *f);
            if (n < 0 || (size_t) n >= sizeof(path) || stat(path, &sb))
                continue;
            serve_key(b, NULL);
            nino_buf_addc(b, '{');
            serve_text(b, "name", *f);
            serve_number(b, "pathIndex", (double) i);
            serve_number(b, "modified", (double) sb.st_mtime);
            serve_number(b, "created", (double) sb.st_ctime);
            serve_number(b, "size", (double) sb.st_size);
            nino_buf_addc(b, '}');
        }
        free(files);
    }
    nino_buf_addc(b, ']');
    free(dirs);
    serve_reply_json(c, 200);
}

void serve_models(nino_serve_call *c, const char *rest)
{
    const bool is_new = !strncmp(c->path, "/experiment", 11);
    nino_buf *b = &c->body;
    char kind[64];
    if (*rest && (!serve_unescape(kind, sizeof(kind), rest, strlen(rest), false) ||
                  !serve_is_model_folder(kind))) {
        serve_fail(c, 404, "not_found", "there is no such folder of models");
        return;
    }
    if (is_new && *rest)
        list_files_of(c, kind);
    else if (is_new)
        list_kinds(c);
    if (is_new)
        return;
    char **files = *rest ? nino_ctx_list_models(c->s->ctx, kind) : NULL;
    nino_buf_addc(b, '[');
    for (const char *const *f = *rest ? (const char *const *) files : folders; f && *f; f++)
        serve_text(b, NULL, *f);
    nino_buf_addc(b, ']');
    free(files);
    serve_reply_json(c, 200);
}

// The header of a safetensors file says how it was trained.
void serve_view_metadata(nino_serve_call *c, const char *rest)
{
    char kind[64], name[1024];
    unsigned char head[8];
    int fd = -1;
    nino_json_doc *doc = NULL;
    char *text = NULL;
    if (!serve_unescape(kind, sizeof(kind), rest, strlen(rest), false) ||
        !serve_is_model_folder(kind) || !serve_query(c->query, "filename", name, sizeof(name))) {
        serve_fail(c, 404, "not_found", "there is no such model");
        return;
    }
    char **dirs = NULL;
    char **files = nino_ctx_list_models(c->s->ctx, kind);
    bool is_listed = false;
    for (char **f = files; f && *f; f++)
        is_listed |= !strcmp(*f, name);
    free(files);
    dirs = is_listed ? nino_paths_dirs(nino_ctx_settings(c->s->ctx)->paths, kind) : NULL;
    for (char **d = dirs; d && *d && fd < 0; d++)
        if (nino_file_open_below(*d, name, &fd, NULL))
            fd = -1;
    free(dirs);
    uint64_t len = 0;
    if (fd >= 0 && !nino_file_pread(fd, head, 8, 0, name, NULL))
        for (int i = 7; i >= 0; i--)
            len = len << 8 | head[i];
    if (len && len <= 100u << 20 && (text = malloc((size_t) len + 1)) &&
        !nino_file_pread(fd, text, (size_t) len, 8, name, NULL))
        nino_json_parse(text, (size_t) len, name, NULL, &doc, NULL);
    const nino_json *meta = doc ? nino_json_get(doc->root, "__metadata__") : NULL;
    if (meta) {
        nino_json_write(&c->body, doc, meta);
        serve_reply_json(c, 200);
    } else {
        serve_fail(c, 404, "not_found", "there is no such model, or it says nothing of itself");
    }
    nino_json_doc_destroy(&doc);
    free(text);
    if (fd >= 0)
        close(fd);
}
