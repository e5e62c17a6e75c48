// Where tokenizers and embeddings are found: folders by kind, a ComfyUI checkout, the tensor inside
// an encoder's file; what is said when there is none, or a damaged one.
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/run/context.h"
#include "core/text/tokenizer.h"
#include "tests/text.h"

#include <sys/stat.h>

static nino_error err;
static char root[] = "/tmp/ninodes-text-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static int k;
    k = (k + 1) % 4;
    snprintf(paths[k], sizeof(paths[k]), "%s/%s", root, name);
    return paths[k];
}

static void save(const char *name, const void *p, size_t n)
{
    CHECK_OK(nino_file_save(root, name, true, p, n, &err), err);
}

static void save_text(const char *name, const char *text) { save(name, text, strlen(text)); }

static nino_buf spiece(void)
{
    nino_buf b = { 0 };
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, "\xe2\x96\x81", -1, 1);
    text_piece(&b, "a", -1, 1);
    return b;
}

static const char *joined(char **list)
{
    static char out[1024];
    size_t n = 0;
    CHECK(list);
    for (char **s = list; *s; s++)
        n += (size_t) snprintf(out + n, sizeof(out) - n, "%s%s", n ? ":" : "", *s);
    free(list);
    return out;
}

static void dirs(void)
{
    char a[] = "/x/tokenizers", b[] = "t/", m1[] = "/x/models/", m2[] = "models", m3[] = "..",
         m4[] = "/x/more";
    char *tokenizers[] = { a, b, NULL }, *models[] = { m1, m2, m4, m3, NULL }, *none[] = { NULL };
    CHECK_STR(joined(nino_tokenizer_dirs(NINO_TOKENIZER_CLIP, tokenizers, models)),
              "/x/tokenizers/clip:t/clip:/x/comfy/sd1_tokenizer:/x/ComfyUI/comfy/sd1_tokenizer:"
              "comfy/sd1_tokenizer:ComfyUI/comfy/sd1_tokenizer:../../comfy/sd1_tokenizer:"
              "../../ComfyUI/comfy/sd1_tokenizer");
    models[1] = NULL;
    CHECK_STR(joined(nino_tokenizer_dirs(NINO_TOKENIZER_T5, none, models)),
              "/x/comfy/text_encoders/t5_tokenizer:/x/ComfyUI/comfy/text_encoders/t5_tokenizer");
    CHECK_STR(joined(nino_tokenizer_dirs(NINO_TOKENIZER_UMT5, tokenizers, models)),
              "/x/tokenizers/umt5:t/umt5");
    char **empty = nino_tokenizer_dirs(NINO_TOKENIZER_UMT5, none, models);
    CHECK(empty && !*empty);
    free(empty);
}

static nino_status open_in(nino_tokenizer_kind kind, const char *a, const char *b,
                           nino_tokenizer **out)
{
    const char *list[] = { a, b, NULL };
    *out = NULL;
    return nino_tokenizer_open(kind, list, out, &err);
}

static void opening(void)
{
    nino_tokenizer *t = NULL;
    nino_buf model = spiece();
    save_text("simple/bpe_simple_vocab_16e6.txt", TEXT_BPE_MERGES);
    save_text("vocab/vocab.json", "{\"<|startoftext|>\": 0, \"<|endoftext|>\": 1}");
    save_text("vocab/merges.txt", "#version: 0.2\n");
    save_text("half/vocab.json", "{\"<|startoftext|>\": 0, \"<|endoftext|>\": 1}");
    save("t5/spiece.model", model.data, model.len);
    save_text("bad/spiece.model", "no model");
    nino_buf_release(&model);
    CHECK_OK(open_in(NINO_TOKENIZER_CLIP, path_of("nowhere"), path_of("simple"), &t), err);
    CHECK_STR(nino_tokenizer_path(t), path_of("simple/bpe_simple_vocab_16e6.txt"));
    CHECK(nino_tokenizer_size(t) == TEXT_END + 1);
    nino_tokenizer *shared = nino_tokenizer_ref(t);
    nino_tokenizer_unref(&t);
    CHECK(!t && shared && !nino_tokenizer_ref(NULL));
    nino_tokenizer_unref(&shared);
    nino_tokenizer_unref(&shared);
    CHECK_OK(open_in(NINO_TOKENIZER_CLIP, path_of("vocab"), NULL, &t), err);
    CHECK(nino_tokenizer_size(t) == 2);
    nino_tokenizer_unref(&t);
    CHECK_OK(open_in(NINO_TOKENIZER_CLIP, path_of("half"), path_of("vocab"), &t), err);
    nino_tokenizer_unref(&t);
    CHECK_OK(open_in(NINO_TOKENIZER_T5, path_of("simple"), path_of("t5"), &t), err);
    int32_t *ids = NULL;
    int n = 0;
    CHECK_OK(nino_tokenizer_ids(t, "a a", &ids, &n, &err), err);
    CHECK_STR(text_ids(ids, n), "1 2 1 2");
    nino_tokenizer_unref(&t);
    // A damaged file is not passed over.
    CHECK(open_in(NINO_TOKENIZER_T5, path_of("bad"), path_of("t5"), &t) == NINO_ERR_FORMAT && !t);
    CHECK(strstr(err.where, "bad/spiece.model") && !strchr(err.msg, '\n'));
}

static void missing(void)
{
    nino_tokenizer *t = NULL;
    CHECK(open_in(NINO_TOKENIZER_T5, "/one/place", "/another", &t) == NINO_ERR_MISSING && !t);
    CHECK_STR(err.kind, "missing_file");
    CHECK_STR(err.where, "T5 tokenizer");
    CHECK_STR(err.msg, "no tokenizer.json or spiece.model in /one/place, /another");
    // However long their names are, every folder is named.
    char names[12][200];
    const char *list[13] = { NULL };
    for (int i = 0; i < 12; i++) {
        memset(names[i], 'x', 190);
        snprintf(names[i] + 190, 10, "/end%02d", i);
        list[i] = names[i];
    }
    CHECK(nino_tokenizer_open(NINO_TOKENIZER_CLIP, list, &t, &err) == NINO_ERR_MISSING);
    for (int i = 0; i < 12; i++) {
        char end[8];
        snprintf(end, sizeof(end), "end%02d", i);
        CHECK(strstr(err.msg, end));
    }
    list[0] = NULL;
    CHECK(nino_tokenizer_open(NINO_TOKENIZER_UMT5, list, &t, &err) == NINO_ERR_MISSING);
}

static nino_weights *weights_with(const char *tensor, const void *p, size_t n, nino_dtype dtype)
{
    nino_array *a = nino_array_create(dtype, NINO_SHAPE((int64_t) n));
    CHECK(a && a->bytes >= n);
    memcpy(a->data, p, n);
    const nino_st_entry e = { tensor, a };
    CHECK_OK(nino_st_save(root, "encoder.safetensors", true, &e, 1, NULL, 0, &err), err);
    nino_array_unref(&a);
    nino_weights *w = nino_weights_open(path_of("encoder.safetensors"), &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    return w;
}

static void inside(void)
{
    nino_buf model = spiece();
    nino_tokenizer *t = NULL;
    static const char *const names[] = { "spiece_model", "text_encoders.umt5xxl.spiece_model" };
    for (int i = 0; i < 2; i++) {
        nino_weights *w = weights_with(names[i], model.data, model.len, NINO_U8);
        CHECK_OK(nino_tokenizer_from_weights(w, &t, &err), err);
        CHECK(nino_tokenizer_size(t) == 3 && strstr(nino_tokenizer_path(t), "spiece_model"));
        nino_tokenizer_unref(&t);
        nino_weights_unref(&w);
    }
    nino_weights *w = weights_with("another", model.data, model.len, NINO_U8);
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_MISSING && !t);
    nino_weights_unref(&w);
    w = weights_with("spiece_model", model.data, model.len, NINO_I8);
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK_STR(err.kind, "dtype");
    nino_weights_unref(&w);
    w = weights_with("spiece_model", model.data, model.len - 1, NINO_U8);
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK(strstr(err.where, "spiece_model"));
    nino_weights_unref(&w);
    nino_buf_release(&model);
}

// As a node gets them.
static void in_context(void)
{
    char models[256];
    const char *roots[] = { models, NULL };
    nino_ctx_params params = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "",
                               .job =
                                   &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots } };
    nino_tokenizer *t = NULL, *again = NULL;
    nino_weights *w = NULL;
    snprintf(models, sizeof(models), "%s", path_of("here/models"));
    save_text("here/models/tokenizers/clip/bpe_simple_vocab_16e6.txt", TEXT_BPE_MERGES);
    nino_buf model = spiece();
    save("here/comfy/text_encoders/t5_tokenizer/spiece.model", model.data, model.len);
    nino_buf_release(&model);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(2, 4));
    const nino_st_entry e = { "emb_params", a };
    CHECK_OK(nino_st_save(root, "here/models/embeddings/sub/style.safetensors", true, &e, 1, NULL,
                          0, &err),
             err);
    nino_array_unref(&a);
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    CHECK_OK(nino_ctx_tokenizer(ctx, NINO_TOKENIZER_CLIP, &t, &err), err);
    CHECK(strstr(nino_tokenizer_path(t), "/models/tokenizers/clip/"));
    CHECK_OK(nino_ctx_tokenizer(ctx, NINO_TOKENIZER_CLIP, &again, &err), err);
    CHECK(again == t);
    nino_tokenizer_unref(&t);
    nino_ctx_trim(ctx);
    CHECK(nino_tokenizer_size(again) == TEXT_END + 1); // still ours
    nino_tokenizer_unref(&again);
    CHECK_OK(nino_ctx_tokenizer(ctx, NINO_TOKENIZER_T5, &t, &err), err);
    CHECK_STR(nino_tokenizer_path(t),
              path_of("here/comfy/text_encoders/t5_tokenizer/spiece.model"));
    nino_tokenizer_unref(&t);
    CHECK(nino_ctx_tokenizer(ctx, NINO_TOKENIZER_UMT5, &t, &err) == NINO_ERR_MISSING && !t);
    CHECK(strstr(err.msg, "tokenizers/umt5"));
    CHECK_OK(nino_ctx_open_embedding(ctx, "style", &w, &err), err);
    CHECK(nino_weights_count(w) == 1);
    nino_weights_unref(&w);
    CHECK_OK(nino_ctx_open_embedding(ctx, "sub/style.safetensors", &w, &err), err);
    nino_weights_unref(&w);
    CHECK(nino_ctx_open_embedding(ctx, "../../encoder", &w, &err) == NINO_ERR_MISSING);
    CHECK(nino_ctx_open_embedding(ctx, "none", &w, &err) == NINO_ERR_MISSING && !w);
    CHECK_STR(err.kind, "missing_file");
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    CHECK(mkdtemp(root));
    dirs();
    opening();
    missing();
    inside();
    in_context();
    char command[128];
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    return system(command);
}
