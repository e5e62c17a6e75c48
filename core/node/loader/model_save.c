// ModelSave and CLIPSave: what a chain of loaders, LoRAs and merges gives, as safetensors files of
// their own. Behaviour: ComfyUI nodes_model_merging.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/model/loader.h"
#include "core/model/merge/merge.h"
#include "core/model/clip/text_encoder.h"
#include "core/node/sampling_node.h"
#include "core/node/util.h"

typedef struct save_params {
    const char *filename_prefix;
} save_params;

#define MAX_META (NINO_RUN_TEXTS + 4)

typedef struct content {
    nino_st_source *entry;
    char (*name)[256];
    int n;
    nino_meta meta[MAX_META];
    int n_meta;
} content;

static void model_save_release(content *c)
{
    free(c->entry);
    free(c->name);
    *c = (content){ 0 };
}

// All tensors of the file that begin with `from`, which becomes `to`; room for `more`.
static nino_status model_save_take(content *c, const nino_weights *file, const char *from,
                                   const char *to, int more, nino_error *err)
{
    const size_t skip = strlen(from);
    const int count = nino_weights_count(file);
    c->entry = calloc((size_t) (count + more) + 1, sizeof(*c->entry));
    c->name = calloc((size_t) count + 1, sizeof(*c->name));
    if (!c->entry || !c->name)
        return nino_fail(err, NINO_ERR_NOMEM, nino_weights_path(file), "out of memory");
    for (int i = 0; i < count; i++) {
        const nino_tensor_info *t = nino_weights_at(file, i);
        if (strncmp(t->name, from, skip) != 0)
            continue;
        const int len = snprintf(c->name[c->n], sizeof(c->name[0]), "%s%s", to, t->name + skip);
        if (len >= (int) sizeof(c->name[0]))
            return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", nino_weights_path(file),
                                  "a tensor's name has %d characters", len);
        c->entry[c->n] = (nino_st_source){ .name = c->name[c->n], .file = file, .info = t };
        c->n++;
    }
    return NINO_OK;
}

static void add_meta(content *c, const char *key, const char *value)
{
    c->meta[c->n_meta++] = (nino_meta){ key, value, strlen(value) };
}

// What the tensors alone do not tell goes along.
static void keep_heads(content *c, const nino_weights *file)
{
    const char *channels = nino_weights_meta(file, NINO_META_HEAD_CHANNELS);
    if (channels)
        add_meta(c, NINO_META_HEAD_CHANNELS, channels);
}

// Writes it below the output folder under the next free number of the prefix and the suffix.
static nino_status write(nino_run *r, content *c, const char *suffix, nino_error *err)
{
    const char *dir = nino_node_folder(r, false),
               *prefix = ((const save_params *) r->params)->filename_prefix;
    const time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = { .now = &tm, .prompt_json = r->prompt_json };
    nino_file_writer *w = NULL;
    char *name = NULL, *full = NULL, *path = NULL;
    c->n_meta += nino_run_texts(r, c->meta + c->n_meta);
    nino_status st = nino_file_mkdirs(dir, false, err);
    if (st || (st = nino_prefix_expand(prefix, &vars, &name, err)))
        goto end;
    const size_t size = strlen(name) + strlen(suffix) + 1;
    if (!(full = malloc(size))) {
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        goto end;
    }
    snprintf(full, size, "%s%s", name, suffix);
    int64_t counter = nino_prefix_counter(dir, full);
    if ((st = nino_prefix_open(dir, full, ".safetensors", counter, &w, err)) ||
        (st = nino_st_write(w, full, c->entry, c->n, c->meta, c->n_meta, r->cancel, err)) ||
        (st = nino_prefix_commit(&w, dir, full, ".safetensors", &counter, &path, err)))
        goto end;
    nino_run_output(r, path);
end:
    nino_file_writer_abort(&w);
    free(name);
    free(full);
    free(path);
    return st;
}

static nino_status model_save_save_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             ((const save_params *) params)->filename_prefix, err);
}

#define P_PREFIX(d)                                                                                \
    NINO_P_STRING(save_params, filename_prefix, d, .label = "File name",                           \
                  .help = "Start of the name, with sub-folders of the output folder")

// ---- ModelSave -------------------------------------------------------------------------------

// What loaders cannot see in the weights: that the model predicts v, and from pure noise.
static void add_marks(content *c, const nino_model *m, const nino_array *empty)
{
    const nino_sampling *s = m->sampling;
    const bool is_v = m->net->sampling->prediction == NINO_PRED_V;
    if (m->net->kind != NINO_DIFFUSION_UNET || m->net->sampling->schedule != NINO_SCHEDULE_DISCRETE)
        return;
    add_meta(c, "modelspec.predict_key", is_v ? "v" : "epsilon");
    if (is_v)
        c->entry[c->n++] = (nino_st_source){ .name = "v_pred", .array = empty };
    if (is_v && s->schedule == NINO_SCHEDULE_DISCRETE && s->sigma_max > 1000)
        c->entry[c->n++] = (nino_st_source){ .name = "ztsnr", .array = empty };
}

static nino_status model_save_model_run(nino_run *r, nino_error *err)
{
    nino_model *m = nino_need_model(r, 0, err);
    nino_weights *file = NULL;
    content c = { 0 };
    const nino_array empty = { .dtype = NINO_F32, .shape = NINO_SHAPE(0) };
    if (!m)
        return NINO_ERR_UNSUPPORTED;
    if (!nino_node_folder(r, false))
        return NINO_OK;
    nino_status st = nino_model_file(m, &file, err);
    if (!st && m->net->is_scaled && nino_weights_base(file) != file)
        st = nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", m->net->name,
                            "its weights are scaled 8-bit floats and were changed: start from a "
                            "file in f16, bf16 or f32");
    if (!st)
        st = model_save_take(&c, file, m->net->prefix, "model.diffusion_model.", 2, err);
    if (!st) {
        keep_heads(&c, file);
        add_marks(&c, m, &empty);
        st = write(r, &c, "", err);
    }
    model_save_release(&c);
    nino_weights_unref(&file);
    return st;
}

NINO_NODE(model_save, "ModelSave", "ModelSave", "advanced/model_merging",
          "Writes a diffusion model as a file, with its LoRAs and merges in the weights",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_NO_OUTPUTS,
          NINO_PARAMS(save_params, P_PREFIX("diffusion_models/ComfyUI")), .is_output = true,
          NINO_RUN(model_save_model_run, .check = model_save_save_check));

// ---- CLIPSave --------------------------------------------------------------------------------

static nino_status clip_run(nino_run *r, nino_error *err)
{
    static const char *const suffix[NINO_ENC_COUNT] = { "_clip_l",   "_clip_g",   "_clip_h",
                                                        "_t5xxl",    "_umt5xxl",  "_qwen3",
                                                        "_mistral3", "_qwen25_vl" };
    const nino_clip *clip = nino_in_clip(r, 0);
    nino_status st = NINO_OK;
    for (int i = 0; i < NINO_ENC_COUNT && !st && nino_node_folder(r, false); i++) {
        content c = { 0 };
        const nino_encoder *e = clip->enc[i];
        if (!e)
            continue;
        if (!(st = model_save_take(&c, e->file, e->prefix, "", 0, err))) {
            add_meta(&c, "format", "pt");
            keep_heads(&c, e->file);
            st = write(r, &c, suffix[i], err);
        }
        model_save_release(&c);
    }
    return st;
}

NINO_NODE(clip_save, "CLIPSave", "CLIPSave", "advanced/model_merging",
          "Writes every text encoder as a file, with its LoRAs and merges in the weights",
          NINO_INPUTS(NINO_PORT(clip, CLIP)), NINO_NO_OUTPUTS,
          NINO_PARAMS(save_params, P_PREFIX("clip/ComfyUI")), .is_output = true,
          NINO_RUN(clip_run, .check = model_save_save_check));
