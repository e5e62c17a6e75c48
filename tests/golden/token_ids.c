// Ids of prompts in the demo's vocabularies, against the code that trained with them, and of the
// reference prompts (openai's CLIP tokenizer and SentencePiece), from every file that holds the
// published vocabularies.
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/bpe.h"
#include "core/text/tokenizer.h"
#include "core/text/unigram.h"
#include "tests/text.h"

enum { PROMPTS = 69, OWN_PROMPTS = 9 };

static const char *assets;
static nino_json_doc *vectors;
static nino_error err;

static char *read_asset(const char *name, size_t *len)
{
    char path[512], *data;
    snprintf(path, sizeof(path), "%s/%s", assets, name);
    CHECK_OK(nino_file_read(path, 64 << 20, false, &data, len, &err), err);
    return data;
}

// Frees ids.
static bool same(const nino_json *expected, int32_t *ids, int n)
{
    bool ok = expected->type == NINO_JSON_ARRAY && (int) expected->count == n;
    const nino_json *v = expected->child;
    for (int i = 0; ok && i < n; i++, v = v->next) {
        int64_t id;
        ok = nino_json_i64(v, &id) && id == ids[i];
    }
    free(ids);
    return ok;
}

typedef nino_status (*ids_fn)(const void *t, const nino_json *text, int32_t **ids, int *n);

static nino_status bpe_plain(const void *t, const nino_json *text, int32_t **ids, int *n)
{
    return nino_bpe_ids(t, NINO_BPE_CLEAN_PLAIN, text->text, text->len, ids, n, &err);
}
static nino_status bpe_hf(const void *t, const nino_json *text, int32_t **ids, int *n)
{
    return nino_bpe_ids(t, NINO_BPE_CLEAN_HF, text->text, text->len, ids, n, &err);
}
static nino_status unigram(const void *t, const nino_json *text, int32_t **ids, int *n)
{
    return nino_unigram_ids(t, text->text, text->len, ids, n, &err);
}
static nino_status tokenizer(const void *t, const nino_json *text, int32_t **ids, int *n)
{
    return nino_tokenizer_ids(t, text->text, ids, n, &err);
}

// Does the text hold an ideograph of the CJK blocks U+3400...U+9FFF?
static bool has_ideograph(const char *s)
{
    for (; *s; s++)
        if ((unsigned char) *s >= 0xe3 && (unsigned char) *s <= 0xe9 &&
            ((unsigned char) *s > 0xe3 || (unsigned char) s[1] >= 0x90))
            return true;
    return false;
}

// CLIPTokenizer sets ideographs apart, openai's does not: those prompts differ, and no others.
static void check(const char *what, ids_fn get, const void *t, const char *key, bool splits_cjk)
{
    int n_same = 0, n_cjk = 0;
    for (const nino_json *c = nino_json_get(vectors->root, "cases")->child; c; c = c->next) {
        const nino_json *text = nino_json_get(c, "text");
        int32_t *ids = NULL;
        int n = 0;
        CHECK_OK(get(t, text, &ids, &n), err);
        const bool is_cjk = splits_cjk && has_ideograph(text->text);
        const bool ok = same(nino_json_get(c, key), ids, n);
        if (ok == is_cjk) {
            fprintf(stderr, "%s: other ids for: %s\n", what, text->text);
            exit(1);
        }
        n_same += ok;
        n_cjk += is_cjk;
    }
    CHECK(n_same + n_cjk == (test_data_is_own(assets) ? OWN_PROMPTS : PROMPTS));
    printf("  %s: %d prompts the same\n", what, n_same);
}

static const char *ids_of(ids_fn get, const void *t, const char *text)
{
    const nino_json v = { .type = NINO_JSON_STRING, .text = text, .len = strlen(text) };
    int32_t *ids = NULL;
    int n = 0;
    CHECK_OK(get(t, &v, &ids, &n), err);
    return text_ids(ids, n);
}

static void clip(void)
{
    size_t n_vocab, n_merges, n_simple;
    char *vocab = read_asset("models/tokenizers/clip/vocab.json", &n_vocab),
         *merges = read_asset("models/tokenizers/clip/merges.txt", &n_merges),
         *simple = read_asset("models/tokenizers/clip/bpe_simple_vocab_16e6.txt.gz", &n_simple);
    nino_bpe *a = NULL, *b = NULL;
    CHECK_OK(
        nino_bpe_from_vocab(NINO_BPE_CLIP, vocab, n_vocab, merges, n_merges, "vocab", &a, &err),
        err);
    CHECK_OK(nino_bpe_from_simple(simple, n_simple, "simple", &b, &err), err);
    CHECK(nino_bpe_size(a) == 49408 && nino_bpe_size(b) == 49408);
    check("CLIP, vocab.json, plain", bpe_plain, a, "clip", false);
    check("CLIP, vocab.json", bpe_hf, a, "clip", true);
    check("CLIP, bpe_simple_vocab, plain", bpe_plain, b, "clip", false);
    check("CLIP, bpe_simple_vocab", bpe_hf, b, "clip", true);
    // What the other prompts become, by the rule.
    char *plain = strdup(ids_of(bpe_plain, a, "\xe6\x97\xa5 \xe6\x9c\xac \xe3\x81\xae"));
    CHECK_STR(ids_of(bpe_hf, a, "\xe6\x97\xa5\xe6\x9c\xac\xe3\x81\xae"), plain);
    free(plain);
    nino_bpe_destroy(&a);
    nino_bpe_destroy(&b);
    free(vocab);
    free(merges);
    free(simple);
}

static void t5(void)
{
    size_t n_model, n_json;
    char *model = read_asset("models/tokenizers/t5/spiece.model", &n_model),
         *json = read_asset("models/tokenizers/t5/tokenizer.json", &n_json);
    nino_unigram *a = NULL, *b = NULL;
    CHECK_OK(nino_unigram_from_spiece(model, n_model, "spiece.model", &a, &err), err);
    CHECK_OK(nino_unigram_from_json(json, n_json, "tokenizer.json", &b, &err), err);
    CHECK(nino_unigram_size(a) == 32000 && nino_unigram_size(b) == 32100);
    check("T5, spiece.model", unigram, a, "t5_spm", false);
    check("T5, tokenizer.json", unigram, b, "t5_spm", false);
    // Tokens written out: text to SentencePiece, tokens to the other.
    CHECK_STR(ids_of(unigram, b, "a</s> b<extra_id_1>"), "3 9 1 3 115 32098");
    CHECK_STR(ids_of(unigram, a, "a</s>"), "3 9 2 87 7 3155");
    nino_unigram_destroy(&a);
    nino_unigram_destroy(&b);
    free(model);
    free(json);
}

static void umt5(void)
{
    char path[512];
    nino_tokenizer *t = NULL;
    snprintf(path, sizeof(path), "%s/models/text_encoders/umt5_tiny.safetensors", assets);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK_OK(nino_tokenizer_from_weights(w, &t, &err), err);
    check("spiece_model inside umt5_tiny", tokenizer, t, "t5_spm", false);
    nino_tokenizer_unref(&t);
    nino_weights_unref(&w);
}

static void demo(void)
{
    size_t n_vocab, n_merges, n_model;
    char *vocab = read_asset("models/tokenizers/clip/vocab.json", &n_vocab),
         *merges = read_asset("models/tokenizers/clip/merges.txt", &n_merges),
         *model = read_asset("models/tokenizers/t5/spiece.model", &n_model);
    nino_bpe *a = NULL;
    nino_unigram *b = NULL;
    CHECK_OK(
        nino_bpe_from_vocab(NINO_BPE_CLIP, vocab, n_vocab, merges, n_merges, "vocab", &a, &err),
        err);
    CHECK_OK(nino_unigram_from_spiece(model, n_model, "spiece.model", &b, &err), err);
    check("the demo's CLIP", bpe_hf, a, "clip", false);
    check("the demo's T5", unigram, b, "t5_spm", false);
    nino_bpe_destroy(&a);
    nino_unigram_destroy(&b);
    free(vocab);
    free(merges);
    free(model);
}

int main(void)
{
    while ((assets = test_data_next(assets))) {
        size_t n;
        char *json = read_asset("vectors/token_ids.json", &n);
        CHECK_OK(nino_json_parse(json, n, "token_ids.json", NULL, &vectors, &err), err);
        free(json);
        if (test_data_is_own(assets)) {
            demo();
        } else {
            clip();
            t5();
            umt5();
        }
        nino_json_doc_destroy(&vectors);
    }
    return 0;
}
