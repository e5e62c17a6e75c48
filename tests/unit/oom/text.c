// Every allocation of tokenizers and prompts fails once: a clean "nomem", and no leak.
#include "core/base/utf8.h"
#include "core/text/bpe_priv.h"
#include "core/text/prompt.h"
#include "core/text/unigram.h"
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
