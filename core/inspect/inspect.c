// nino_inspect_file(): what a model, latent, picture or video file is, for people and for the app.
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_walk.h"
#include "core/base/json.h"
#include "core/base/num.h"
#include "core/media/frame_list.h"
#include "core/media/image.h"
#include "core/media/video.h"
#include "core/model/detect.h"
#include "core/model/clip/text_encoder.h"
#include "core/model/control/control.h"
#include "core/model/diffusion/model_patch.h"
#include "core/model/upscale/upscale.h"
#include "core/model/vae/vae.h"
#include <ninodes/ctx.h>
#include <ninodes/graph.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <ninodes/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PARTS 12
#define MAX_SMALL ((size_t) 1 << 30)

// Everything an info points to lives in its arena; out of memory shows as a NULL and is checked at
// the end.
typedef struct maker {
    nino_inspect *i;
    nino_arena *a;
    bool failed;
} maker;

static const char *inspect_text(maker *m, const char *s)
{
    const char *copy = nino_arena_strdup(m->a, s);
    m->failed |= !copy;
    return copy;
}

static void inspect_add_part(maker *m, const char *role, const char *family, const char *detail)
{
    if (m->i->n_parts < MAX_PARTS)
        m->i->parts[m->i->n_parts++] =
            (nino_inspect_part){ role, inspect_text(m, family), inspect_text(m, detail) };
}

// ---- model files -----------------------------------------------------------------------------
_Static_assert(NINO_DTYPE_COUNT <=
                   sizeof(((nino_inspect *) 0)->dtypes) / sizeof(((nino_inspect *) 0)->dtypes[0]),
               "every type may occur in a file");

static void list_tensors(maker *m, const nino_weights *w)
{
    nino_inspect *out = m->i;
    uint64_t count[NINO_DTYPE_COUNT] = { 0 }, bytes[NINO_DTYPE_COUNT] = { 0 };
    const int n = nino_weights_count(w);
    out->tensors = nino_arena_alloc(m->a, ((size_t) n + 1) * sizeof(*out->tensors));
    if (!out->tensors) {
        m->failed = true;
        return;
    }
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_inspect_tensor *x = &out->tensors[out->n_tensors++];
        x->name = inspect_text(m, t->name);
        x->dtype = nino_dtype_name(t->dtype);
        x->rank = t->rank;
        x->bytes = t->bytes;
        memcpy(x->dim, t->dim, sizeof(x->dim));
        out->tensor_bytes += t->bytes;
        count[t->dtype]++;
        bytes[t->dtype] += t->bytes;
    }
    for (;;) { // most bytes first
        int best = -1;
        for (int t = 0; t < NINO_DTYPE_COUNT; t++)
            if (count[t] && (best < 0 || bytes[t] > bytes[best]))
                best = t;
        if (best < 0)
            break;
        out->dtypes[out->n_dtypes].name = nino_dtype_name((nino_dtype) best);
        out->dtypes[out->n_dtypes].tensors = count[best];
        out->dtypes[out->n_dtypes++].bytes = bytes[best];
        count[best] = 0;
    }
}

static void list_meta(maker *m, const nino_weights *w)
{
    const int n = nino_weights_meta_count(w);
    m->i->meta = nino_arena_alloc(m->a, ((size_t) n + 1) * sizeof(*m->i->meta));
    m->failed |= !m->i->meta;
    for (int i = 0; i < n && !m->failed; i++) {
        const nino_meta *e = nino_weights_meta_at(w, i);
        m->i->meta[m->i->n_meta++] =
            (nino_inspect_meta){ inspect_text(m, e->key), inspect_text(m, e->value) };
    }
}

static void add_vae(maker *m, nino_weights *w, const nino_detected *d)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    if (nino_vae_load(w, NULL, &v, &err) == NINO_OK)
        inspect_add_part(m, "vae", v->family, v->detail);
    else
        inspect_add_part(m, "vae", d->vae, err.msg);
    nino_vae_unref(&v);
}

static void inspect_add_upscale(maker *m, nino_weights *w, const char *family)
{
    nino_error err = { 0 };
    nino_upscale *u = NULL;
    if (nino_upscale_load(w, NULL, &u, &err) == NINO_OK)
        inspect_add_part(m, "upscale", u->family, u->detail);
    else
        inspect_add_part(m, "upscale", family, err.msg);
    nino_upscale_unref(&u);
}

static void add_blocks(maker *m, nino_weights *w, const char *family)
{
    nino_error err = { 0 };
    nino_block_net *n = NULL;
    const nino_status st = nino_model_patch_load(w, "", &n, &err);
    inspect_add_part(m, "control", family, st ? err.msg : n->detail);
    nino_block_net_unref(&n);
}

static void inspect_add_control(maker *m, nino_weights *w, const char *family)
{
    nino_error err = { 0 };
    nino_control_net *c = NULL;
    if (!strcmp(family, NINO_CONTROL_BLOCKS) || !strcmp(family, NINO_CONTROL_ZIMAGE)) {
        add_blocks(m, w, family);
        return;
    }
    if (nino_control_load(w, NULL, &c, &err) == NINO_OK)
        inspect_add_part(m, "control", c->family, c->detail);
    else
        inspect_add_part(m, "control", family, err.msg);
    nino_control_unref(&c);
}

static void inspect_add_text(maker *m, nino_weights *w, const char *family, const char *prefix)
{
    nino_error err = { 0 };
    nino_encoder *e = NULL;
    int id = 0;
    while (id < NINO_ENC_COUNT && strcmp(family, nino_encoder_names[id]) != 0)
        id++;
    if (!strcmp(family, "qwen25_vision"))
        inspect_add_part(
            m, "text encoder", family,
            "what Qwen2.5-VL sees pictures with; it belongs beside the language model");
    else if (id == NINO_ENC_COUNT)
        inspect_add_part(m, "text encoder", family, "this version cannot run it");
    else if (nino_encoder_load((nino_encoder_id) id, w, prefix, NULL, &e, &err) == NINO_OK)
        inspect_add_part(m, "text encoder", family, e->detail);
    else
        inspect_add_part(m, "text encoder", family, err.msg);
    nino_encoder_destroy(&e);
}

static void add_latent(maker *m, const nino_tensor_info *t)
{
    char detail[96];
    size_t n = (size_t) snprintf(detail, sizeof(detail), "%s", nino_dtype_name(t->dtype));
    for (int k = 0; k < t->rank; k++)
        n += (size_t) snprintf(detail + n, sizeof(detail) - n, "%s%lld", k ? "x" : " ",
                               (long long) t->dim[k]);
    inspect_add_part(m, "latent", t->rank == 5 ? "video" : "image", detail);
}

static void list_parts(maker *m, nino_weights *w, const nino_detected *d)
{
    const nino_tensor_info *latent = nino_weights_find(w, "latent_tensor");
    if (latent)
        add_latent(m, latent);
    if (d->is_lora)
        inspect_add_part(m, "lora", "lora", d->detail);
    if (d->diffusion[0])
        inspect_add_part(m, "diffusion", d->diffusion, d->detail);
    for (int i = 0; i < 4 && d->text[i][0]; i++)
        inspect_add_text(m, w, d->text[i], d->text_prefix[i]);
    if (d->vae[0])
        add_vae(m, w, d);
    if (d->control[0])
        inspect_add_control(m, w, d->control);
    if (d->upscale[0])
        inspect_add_upscale(m, w, d->upscale);
}

// ---- what the name says ----------------------------------------------------------------------
static bool has_inspect_word(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = name; (p = strcasestr(p, word)); p++) {
        const char before = p == name ? ' ' : p[-1], after = p[n];
        if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", before) &&
            (!after ||
             !strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", after)))
            return true;
    }
    return false;
}

// A block type in the name, "x-Q4_K_M.gguf": files mix them, so one tensor of it is enough. NULL:
// no such word in the name.
static const char *disagreeing_block(const char *base, const nino_inspect *i)
{
    for (int t = 0; t < NINO_DTYPE_COUNT; t++) {
        const char *word = nino_dtype_name((nino_dtype) t);
        if (!nino_dtype_is_block((nino_dtype) t) || !has_inspect_word(base, word))
            continue;
        for (size_t k = 0; k < i->n_dtypes; k++)
            if (!strcmp(i->dtypes[k].name, word))
                return "";
        return word;
    }
    return NULL;
}

// "" when name and content agree or the name says nothing.
static const char *disagreeing_hint(const char *path, const nino_inspect *i)
{
    static const struct {
        const char *word, *content; // content must start with this
        const char *hint;
    } hints[] = {
        { "e4m3fn", "fp8 e4m3", "fp8 e4m3fn" },
        { "e5m2", "fp8 e5m2", "fp8 e5m2" },
        { "fp8", "fp8", "fp8" },
        { "int8", "int8", "int8" },
        { "nf4", "4 bit", "nf4, 4 bit" },
        { "nvfp4", "nvfp4", "nvfp4" },
        { "fp4", "fp4", "fp4" },
        { "bf16", "bf16", "bf16" },
        { "fp16", "f16", "f16" },
        { "f16", "f16", "f16" },
        { "fp32", "f32", "f32" },
        { "f32", "f32", "f32" },
    };
    const char *base = strrchr(path, '/');
    const bool is_plain = !strcmp(i->quantisation, "none");
    const char *content = !is_plain ? i->quantisation : i->n_dtypes ? i->dtypes[0].name : "";
    base = base ? base + 1 : path;
    const char *block = disagreeing_block(base, i);
    if (block)
        return block;
    // Without the factors that "scaled" promises, values would be wrong.
    if (has_inspect_word(base, "scaled") && !strncmp(content, "fp8", 3) &&
        !strstr(content, "scaled"))
        return "fp8 scaled";
    for (size_t k = 0; k < sizeof(hints) / sizeof(hints[0]); k++)
        if (has_inspect_word(base, hints[k].word))
            return strncmp(content, hints[k].content, strlen(hints[k].content)) ? hints[k].hint
                                                                                : "";
    return "";
}

// What GGUF files call architectures, and part of the name of the families they mean here.
static const char *const architectures[][2] = {
    { "flux", "flux" },      { "flux", "chroma" },       { "wan", "wan" },
    { "sd1", "sd15" },       { "sd1", "sd2" },           { "sdxl", "sdxl" },
    { "sd3", "sd3" },        { "aura", "aura" },         { "ltxv", "ltxv" },
    { "lumina2", "lumina" }, { "hidream", "hidream" },   { "t5", "t5" },
    { "t5encoder", "t5" },   { "lumina2", "z_image" },   { "qwen_image", "qwen_image" },
    { "qwen3", "qwen3" },    { "mistral3", "mistral3" }, { "qwen2vl", "qwen25" },
};

// "" when the metadata names what is inside, nothing, or what is not known here.
static const char *disagreeing_architecture(const nino_inspect *i)
{
    const char *says = NULL;
    bool is_known = false;
    for (size_t k = 0; k < i->n_meta; k++)
        says = strcmp(i->meta[k].key, "general.architecture") ? says : i->meta[k].value;
    for (size_t k = 0; says && k < sizeof(architectures) / sizeof(architectures[0]); k++) {
        if (strcmp(architectures[k][0], says))
            continue;
        is_known = true;
        for (size_t p = 0; p < i->n_parts; p++)
            if (strstr(i->parts[p].family, architectures[k][1])) // "umt5" is a T5 too
                return "";
    }
    return is_known && i->n_parts ? says : "";
}

static nino_status inspect_weights(maker *m, const char *path, nino_error *err)
{
    nino_detected d;
    nino_weights *w = nino_weights_open(path, err);
    if (!w)
        return err->code;
    nino_detect(w, &d);
    m->i->format = nino_weights_format(w);
    m->i->file_bytes = nino_weights_file_bytes(w);
    list_tensors(m, w);
    list_meta(m, w);
    list_parts(m, w, &d);
    m->i->quantisation = inspect_text(m, d.quantisation);
    if (!m->failed) {
        m->i->name_hint = disagreeing_hint(path, m->i);
        m->i->arch_hint = disagreeing_architecture(m->i);
    }
    nino_weights_unref(&w);
    return NINO_OK;
}

// ---- pictures --------------------------------------------------------------------------------
// Nodes of an embedded graph: members of the API form, or the "nodes" array of the editor's form.
static void add_graph(maker *m, const char *role, const nino_text *t)
{
    nino_json_doc *doc = NULL;
    nino_error err = { 0 };
    char detail[96];
    if (nino_json_parse(t->value, t->value_len, role, NULL, &doc, &err)) {
        snprintf(detail, sizeof(detail), "unreadable: %.80s", err.msg);
    } else {
        const nino_json *nodes = nino_json_get(doc->root, "nodes");
        snprintf(detail, sizeof(detail), "%u nodes, %zu bytes%s",
                 nodes ? nodes->count : doc->root->count, t->value_len,
                 t->is_edited ? ", edited after it was saved" : "");
    }
    inspect_add_part(m, "graph", role, detail);
    nino_json_doc_destroy(&doc);
}

// The workflows and other texts that a file carries.
static void add_texts(maker *m, const nino_texts *texts)
{
    static const char *const keys[] = { "prompt", "workflow", "usercomment" };
    size_t n_graphs = 0;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const nino_text *t = nino_texts_find(texts, keys[i]);
        if (t)
            add_graph(m, keys[i], t);
        n_graphs += t != NULL;
    }
    if (!n_graphs)
        inspect_add_part(m, "graph", "none", "no workflow in it");
    m->i->meta = nino_arena_alloc(m->a, ((size_t) texts->n + 1) * sizeof(*m->i->meta));
    m->failed |= !m->i->meta;
    for (int i = 0; i < texts->n && !m->failed; i++)
        m->i->meta[m->i->n_meta++] = (nino_inspect_meta){ inspect_text(m, texts->list[i].key),
                                                          inspect_text(m, texts->list[i].value) };
}

// A part "video": what its frames are coded with, and "512x320, 16 frames, 4 fps, 4.000 s".
static void add_video(maker *m, const char *codec, int width, int height, int64_t frames,
                      double fps, double seconds)
{
    char detail[160], number[32];
    size_t n = (size_t) snprintf(detail, sizeof(detail), "%dx%d, %lld frame%s", width, height,
                                 (long long) frames, frames == 1 ? "" : "s");
    nino_print_double(number, sizeof(number), round(fps * 1000) / 1000);
    if (fps > 0)
        n += (size_t) snprintf(detail + n, sizeof(detail) - n, ", %s fps", number);
    if (seconds > 0)
        nino_snprintf(detail + n, sizeof(detail) - n, ", %.3f s", seconds);
    inspect_add_part(m, "video", codec, detail);
}

static nino_status inspect_video(maker *m, const char *path, nino_error *err)
{
    char head[64];
    nino_video_info v;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return nino_file_errno(err, path, "cannot open");
    const ssize_t n = pread(fd, head, sizeof(head), 0);
    const off_t bytes = lseek(fd, 0, SEEK_END);
    const nino_status st = nino_video_read(fd, path, &v, NULL, err);
    close(fd);
    if (st)
        return st;
    m->i->file_bytes = bytes > 0 ? (uint64_t) bytes : 0;
    if (v.width) {
        m->i->format = nino_video_container(head, n > 0 ? (size_t) n : 0);
        add_video(m, v.codec, v.width, v.height, v.frames, v.fps, v.seconds);
    } else {
        m->i->format = "sound";
        inspect_add_part(m, "sound", v.codec, "");
    }
    add_texts(m, &v.texts);
    nino_video_info_release(&v);
    return NINO_OK;
}

static nino_status inspect_image(maker *m, const char *path, const char *data, size_t len,
                                 nino_error *err)
{
    nino_image image;
    char detail[96];
    nino_status st = nino_image_read(data, len, path, false, &image, err);
    if (st)
        return st;
    const nino_timing t =
        nino_apng_is(data, len) ? nino_apng_timing(data, len) : nino_webp_timing(data, len);
    m->i->format = nino_apng_is(data, len) ? "apng" : image.format;
    if (t.frames) {
        add_video(m, image.format, image.width, image.height, t.frames,
                  t.seconds > 0 ? t.frames / t.seconds : 0, t.seconds);
    } else {
        snprintf(detail, sizeof(detail), "%dx%d", image.width, image.height);
        inspect_add_part(m, "image", image.format, detail);
    }
    add_texts(m, &image.texts);
    nino_image_release(&image);
    return NINO_OK;
}

// A workflow file: a JSON object.
static nino_status inspect_workflow(maker *m, const char *path, const char *data, size_t len,
                                    nino_error *err)
{
    char detail[96];
    nino_graph *g = nino_graph_load(data, len, path, err);
    if (!g)
        return err && err->code ? err->code : NINO_ERR_FORMAT;
    const size_t n = nino_graph_nodes(g, NULL, 0);
    nino_graph_node *nodes = calloc(n + 1, sizeof(*nodes));
    size_t missing = 0;
    if (nodes)
        nino_graph_nodes(g, nodes, n);
    for (size_t i = 0; nodes && i < n; i++)
        missing += !nodes[i].def;
    m->failed |= !nodes;
    m->i->format = "workflow";
    snprintf(detail, sizeof(detail), "%zu nodes to run, %zu of them not supported", n, missing);
    inspect_add_part(m, "graph", nino_graph_ui_json(g, NULL) ? "UI form" : "API form", detail);
    free(nodes);
    nino_graph_destroy(&g);
    return NINO_OK;
}

typedef nino_status (*inspect_small)(maker *m, const char *path, const char *data, size_t len,
                                     nino_error *err);

// Pictures and workflows are read whole; NULL: the file is neither. *is_video: nor that.
static inspect_small find_small(const char *path, bool *is_video)
{
    char head[64] = { 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof(head) - 1, 0);
    if (fd >= 0)
        close(fd);
    *is_video = n > 0 && (nino_video_is(head, (size_t) n) || nino_sound_is(head, (size_t) n));
    if (n > 0 && nino_image_is(head, (size_t) n))
        return inspect_image;
    const char *p = head + (memcmp(head, "\xef\xbb\xbf", 3) ? 0 : 3);
    // A safetensors file of a 123-byte header starts with a brace too, and then with zeros.
    return p[strspn(p, " \t\r\n")] == '{' && n > 0 && strlen(head) == (size_t) n ? inspect_workflow
                                                                                 : NULL;
}

static nino_status inspect_whole(maker *m, const char *path, inspect_small f, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_status st = nino_file_read(path, MAX_SMALL, false, &data, &len, err);
    if (st == NINO_OK)
        st = f(m, path, data, len, err);
    free(data);
    m->i->file_bytes = len;
    return st;
}

nino_status nino_inspect_file(const char *path, nino_inspect *out, nino_error *err)
{
    nino_error own = { 0 };
    maker m = { .i = out };
    bool is_video;
    const inspect_small small = find_small(path, &is_video);
    nino_status st;
    memset(out, 0, sizeof(*out));
    out->quantisation = "none";
    out->name_hint = out->arch_hint = "";
    err = err ? err : &own;
    m.a = nino_arena_create();
    out->priv = m.a;
    if (m.a)
        out->parts = nino_arena_alloc(m.a, MAX_PARTS * sizeof(*out->parts));
    if (!m.a || !out->parts)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "no memory for the description");
    else
        st = small      ? inspect_whole(&m, path, small, err)
             : is_video ? inspect_video(&m, path, err)
                        : inspect_weights(&m, path, err);
    if (!st && m.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "no memory for the description");
    if (st)
        nino_inspect_release(out);
    return st;
}

void nino_inspect_release(nino_inspect *i)
{
    nino_arena *a = i->priv;
    nino_arena_destroy(&a);
    memset(i, 0, sizeof(*i));
}
