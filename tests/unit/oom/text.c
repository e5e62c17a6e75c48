// Every allocation of tokenizers and prompts fails once: a clean "nomem", and no leak.
#include "core/base/utf8.h"
#include "core/file/safetensors.h"
#include "core/text/bpe_priv.h"
#include "core/text/prompt.h"
#include "core/text/unigram.h"
#include "tests/gguf_tokens.h"
#include "tests/unit/oom/arena.h"
#include "tests/text.h"

#include <unistd.h>

static nino_error err;
static nino_buf model, json;
static char folder[] = "/tmp/ninodes-oom-XXXXXX";

// A file of the folder with that text, or without it: gone.
static void put(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = text ? fopen(path, "w") : NULL;
    CHECK(text ? f && fputs(text, f) >= 0 && !fclose(f) : !unlink(path));
}

static bool done(nino_status st, int may_fail) { return oom_passed(st, &err, may_fail); }

#define PROMPT                                                                                     \
    "Cat \xc3\xa9 \xe6\x97\xa5 dogs' (aaaaaaaaaaaaaaaaaaaaaaaa:1.2) embedding:none, x \\(b\\)"

static void test_bpe(int may_fail)
{
    static const char vocab[] = "{\"a\": 0, \"b</w>\": 1, \"<|startoftext|>\": 2, "
                                "\"<|endoftext|>\": 3}",
                      merges[] = "#version\na b</w>\n";
    nino_bpe *b = NULL;
    int32_t *ids = NULL;
    int n;
    if (done(nino_bpe_from_vocab(NINO_BPE_CLIP, vocab, strlen(vocab), merges, strlen(merges), "x",
                                 &b, &err),
             may_fail)) {
        if (done(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, PROMPT, strlen(PROMPT), &ids, &n, &err),
                 may_fail))
            CHECK(n > 40);
        free(ids);
    }
    nino_bpe_destroy(&b);
}

// A language model's: special tokens; and tekken's, whose merges are found.
static nino_buf qwen, tekken;

static void test_llm(int may_fail)
{
    nino_bpe *b = NULL;
    int32_t *ids = NULL;
    int n;
    if (done(nino_bpe_from_json(NINO_BPE_QWEN, qwen.data, qwen.len, "q", &b, &err), may_fail) &&
        done(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, PROMPT, strlen(PROMPT), &ids, &n, &err), may_fail))
        CHECK(n > 40);
    free(ids);
    nino_bpe_destroy(&b);
    if (done(nino_bpe_from_tekken(tekken.data, tekken.len, "t", &b, &err), may_fail))
        CHECK(nino_bpe_size(b) == 261 && nino_bpe_special(b, "<s>") == 1);
    nino_bpe_destroy(&b);
}

static void make_llm(void)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char utf8[4];
    int extra = 0;
    nino_buf_adds(&qwen, "{\"model\":{\"merges\":[[\"a\",\"b\"]],\"vocab\":{\"ab\":256");
    nino_buf_adds(&tekken,
                  "{\"config\":{\"default_vocab_size\":261,\"default_num_special_tokens\":4},"
                  "\"special_tokens\":[{\"token_str\":\"<unk>\"},{\"token_str\":\"<s>\"}],"
                  "\"vocab\":[");
    for (int c = 0; c < 256; c++) {
        const bool is_plain = (c >= 33 && c <= 126) || (c >= 161 && c != 173);
        const int n = nino_utf8_put(utf8, is_plain ? (uint32_t) c : 256u + (uint32_t) extra++);
        nino_buf_addc(&qwen, ',');
        nino_buf_add_json_string(&qwen, utf8, (size_t) n);
        nino_buf_addf(&qwen, ":%d", c);
        nino_buf_addf(&tekken, "{\"rank\":%d,\"token_bytes\":\"%c%c==\"},", c, digit[c >> 2],
                      digit[(c & 3) << 4]);
    }
    nino_buf_adds(&qwen, "}},\"added_tokens\":[{\"content\":\"<|endoftext|>\",\"id\":257}]}");
    nino_buf_adds(&tekken, "{\"rank\":256,\"token_bytes\":\"YWI=\"}]}");
    CHECK(!qwen.failed && !tekken.failed);
}

static void ids_of(nino_unigram *u, int may_fail)
{
    int32_t *ids = NULL;
    int n;
    if (done(nino_unigram_ids(u, PROMPT, strlen(PROMPT), &ids, &n, &err), may_fail))
        CHECK(n > 10);
    free(ids);
    nino_unigram_destroy(&u);
}

static void test_spiece(int may_fail)
{
    nino_unigram *u = NULL;
    if (done(nino_unigram_from_spiece(model.data, model.len, "m", &u, &err), may_fail))
        ids_of(u, may_fail);
}

static void test_json(int may_fail)
{
    nino_unigram *u = NULL;
    if (done(nino_unigram_from_json(json.data, json.len, "m", &u, &err), may_fail))
        ids_of(u, may_fail);
}

static nino_status no_embedding(void *priv, const char *name, nino_weights **out, nino_error *e)
{
    (void) priv;
    (void) out;
    CHECK_STR(name, strchr(name, ',') ? "none," : "none");
    return e->code = NINO_ERR_MISSING;
}

static void test_prompt(int may_fail)
{
    nino_tokenizer *t = NULL;
    nino_prompt p = { 0 }, q = { 0 };
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_T5_SD3);
    r.embedding = no_embedding;
    if (done(nino_tokenizer_from_spiece(model.data, model.len, "m", &t, &err), may_fail)) {
        if (done(nino_prompt_build(t, &r, PROMPT, &p, &err), may_fail))
            CHECK(p.n_chunks == 1 && p.is_weighted);
        else
            CHECK(!p.tokens && !p.vectors);
        done(nino_prompt_empty(&r, 77, &q, &err), may_fail);
    }
    nino_prompt_release(&p);
    nino_prompt_release(&q);
    nino_tokenizer_unref(&t);
}

// Opened from a folder, it goes with all that it has read.
static void test_open(int may_fail)
{
    const char *const dirs[] = { folder, NULL };
    nino_tokenizer *t = NULL;
    int32_t *ids = NULL;
    int n;
    if (done(nino_tokenizer_open(NINO_TOKENIZER_CLIP, dirs, &t, &err), may_fail)) {
        done(nino_tokenizer_ids(t, "ab", &ids, &n, &err), may_fail);
        free(ids);
    }
    nino_tokenizer_unref(&t);
}

// A set that could not grow is as it was: the same string goes in once there is memory again.
static void test_strings(int may_fail)
{
    nino_strings s = { 0 };
    for (int i = 0; i < 200; i++) {
        char name[16];
        bool is_new;
        const size_t n = (size_t) snprintf(name, sizeof(name), "string %d", i);
        int64_t k = nino_strings_add(&s, name, n, &is_new);
        if (k < 0) {
            CHECK(may_fail && oom.fired && !is_new);
            const long at = oom_pause();
            k = nino_strings_add(&s, name, n, &is_new);
            oom.at = at;
        }
        CHECK(k == i && is_new && nino_strings_find(&s, name, n) == i);
    }
    CHECK(nino_strings_find(&s, "string 0", 8) == 0 && s.n == 200);
    nino_strings_release(&s);
}

// ---- out of files ------------------------------------------------------------------------------

static nino_weights *in_file(const char *name)
{
    char path[64];
    nino_error e = { 0 };
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    nino_weights *w = nino_weights_open(path, &e);
    CHECK_OK(w ? NINO_OK : e.code, e);
    return w;
}

static nino_status an_embedding(void *priv, const char *name, nino_weights **out, nino_error *e)
{
    char path[64];
    CHECK(priv == folder);
    if (strcmp(name, "vectors") != 0) // it is asked for with its comma first
        return e->code = NINO_ERR_MISSING;
    snprintf(path, sizeof(path), "%s/vectors", folder);
    *out = nino_weights_open(path, e);
    return *out ? NINO_OK : e->code;
}

// Vectors in a prompt, with weights and where parentheses are text.
static void test_vectors(int may_fail)
{
    const long at = oom_pause();
    nino_tokenizer *t = NULL;
    CHECK_OK(nino_tokenizer_from_spiece(model.data, model.len, "m", &t, &err), err);
    oom_resume(at);
    for (int k = 0; k < 2; k++) {
        nino_prompt p = { 0 };
        nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_T5_BARE);
        r.priv = folder;
        r.embedding = an_embedding;
        r.width = 2;
        r.is_plain = k;
        if (done(nino_prompt_build(t, &r, "a embedding:vectors, a", &p, &err), may_fail))
            CHECK(p.n_vectors == 3 && p.vectors[5] == 5);
        else
            CHECK(!p.tokens && !p.vectors);
        nino_prompt_release(&p);
    }
    const long rest = oom_pause();
    nino_tokenizer_unref(&t);
    oom.at = rest;
}

// Tokenizers in the tensors of a file, and in the metadata of two others.
static void test_inside(int may_fail)
{
    static const char *const files[] = { "inside", "t5", "gpt2" };
    for (int k = 0; k < 3; k++) {
        nino_tokenizer *t = NULL;
        const long at = oom_pause();
        nino_weights *w = in_file(files[k]);
        oom.at = at;
        if (done(k ? nino_tokenizer_from_gguf(w, &t, &err)
                   : nino_tokenizer_from_weights(w, &t, &err),
                 may_fail))
            CHECK(nino_tokenizer_size(t) >= 4);
        else
            CHECK(!t);
        nino_tokenizer_unref(&t);
        const long rest = oom_pause();
        nino_weights_unref(&w);
        oom.at = rest;
    }
}

// The files for both.
static void make_files(void)
{
    nino_array *v = nino_array_create(NINO_F32, NINO_SHAPE(3, 2)),
               *m = nino_array_create(NINO_U8, NINO_SHAPE((int64_t) model.len));
    nino_buf b = { 0 }, tokens = { 0 }, types = { 0 }, merges = { 0 };
    CHECK(v && m);
    for (int i = 0; i < 6; i++)
        nino_array_f32(v)[i] = (float) i;
    memcpy(m->data, model.data, model.len);
    const nino_st_entry e[] = { { "emb_params", v }, { "spiece_model", m } };
    CHECK_OK(nino_st_save(folder, "vectors", false, e, 1, NULL, 0, &err), err);
    CHECK_OK(nino_st_save(folder, "inside", false, e + 1, 1, NULL, 0, &err), err);
    nino_array_unref(&v);
    nino_array_unref(&m);
    for (int k = 0; k < 2; k++) {
        nino_buf_clear(&b);
        nino_buf_adds(&b, "GGUF");
        gguf_u32(&b, 3);
        gguf_u64(&b, 0);
        gguf_u64(&b, k ? 4 : GGUF_TOKEN_KEYS);
        if (!k) {
            gguf_tokens(&b, model.data, model.len);
        } else {
            int extra = 0;
            for (int c = 0; c < 256; c++) { // a symbol a byte, then a pair of them
                char utf8[4];
                const bool is_plain = (c >= 33 && c <= 126) || (c >= 161 && c != 173);
                const int n =
                    nino_utf8_put(utf8, is_plain ? (uint32_t) c : 256u + (uint32_t) extra++);
                gguf_bytes(&tokens, utf8, (size_t) n);
                gguf_u32(&types, 1);
            }
            gguf_string(&tokens, "ab");
            gguf_u32(&types, 1);
            gguf_string(&tokens, "<|endoftext|>");
            gguf_u32(&types, 3);
            gguf_string(&merges, "a b");
            gguf_text(&b, "tokenizer.ggml.model", "gpt2");
            gguf_list(&b, "tokenizer.ggml.tokens", 8, 258, &tokens);
            gguf_list(&b, "tokenizer.ggml.token_type", 5, 258, &types);
            gguf_list(&b, "tokenizer.ggml.merges", 8, 1, &merges);
        }
        CHECK_OK(nino_file_save(folder, k ? "gpt2" : "t5", false, b.data, b.len, &err), err);
    }
    nino_buf_release(&b);
    nino_buf_release(&tokens);
    nino_buf_release(&types);
    nino_buf_release(&merges);
}

static void test_dirs(int may_fail)
{
    char a[] = "/x/tokenizers", m[] = "/x/models";
    char *tokenizers[] = { a, NULL }, *models[] = { m, NULL };
    char **list = nino_tokenizer_dirs(NINO_TOKENIZER_CLIP, tokenizers, models);
    CHECK(list || may_fail);
    free(list);
}

int main(void)
{
    static const text_rule rules[] = { { "C", "c" }, { NULL, NULL } };
    nino_buf map = text_charsmap(rules), normalizer = { 0 };
    text_bytes(&normalizer, 2, map.data, map.len);
    text_piece(&model, "<unk>", 0, 2);
    text_piece(&model, "\xe2\x96\x81", -1, 1);
    text_piece(&model, "a", -1, 1);
    text_piece(&model, "<user>", -1, 4);
    text_bytes(&model, 3, normalizer.data, normalizer.len);
    nino_buf_adds(&json, "{\"added_tokens\": [{\"id\": 9, \"content\": \"</s>\"}], \"normalizer\": "
                         "{\"type\": \"Replace\", \"pattern\": {\"String\": \"o\"}, \"content\": "
                         "\"a\"}, \"pre_tokenizer\": {\"type\": \"Metaspace\", \"replacement\": "
                         "\"_\"}, \"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": "
                         "[[\"<unk>\", 0], [\"_\", -1], [\"a\", -1]]}}");
    CHECK(!model.failed && !json.failed);
    CHECK(oom_each(test_bpe) > 5);
    make_llm();
    CHECK(oom_each(test_llm) > 40);
    CHECK(oom_each(test_spiece) > 5);
    CHECK(oom_each(test_json) > 5);
    CHECK(oom_each(test_prompt) > 10);
    CHECK(mkdtemp(folder) != NULL);
    put("vocab.json", "{\"<|startoftext|>\": 0, \"<|endoftext|>\": 1, \"a\": 2}");
    put("merges.txt", "#version: 0.2\n");
    CHECK(oom_each(test_open) > 5);
    put("vocab.json", NULL);
    put("merges.txt", NULL);
    CHECK(oom_each(test_strings) > 4);
    make_files();
    CHECK(oom_each(test_vectors) > 10);
    CHECK(oom_each(test_inside) > 20);
    static const char *const files[] = { "vectors", "inside", "t5", "gpt2" };
    for (int i = 0; i < 4; i++)
        put(files[i], NULL);
    CHECK(!rmdir(folder));
    CHECK(oom_each(test_dirs) > 2);
    nino_buf_release(&map);
    nino_buf_release(&normalizer);
    nino_buf_release(&model);
    nino_buf_release(&json);
    nino_buf_release(&qwen);
    nino_buf_release(&tekken);
    return 0;
}
