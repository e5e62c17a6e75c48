// The language models' byte-level BPE: where words end, special tokens, the same vocabulary from
// every kind of file, and files that are refused.
#include "core/text/base64.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/bpe_priv.h"
#include "core/text/tokenizer.h"
#include "tests/gguf_tokens.h"
#include "tests/text.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;

static void words(void)
{
    static const struct {
        const char *text, *qwen, *mistral; // words with '|' between; NULL: as Qwen
    } cases[] = {
        { "a photo, (cat)", "a| photo|,| (|cat|)", NULL },
        { "(cat:1.3)", "(cat|:|1|.|3|)", NULL },
        { "12345 x", "1|2|3|4|5| x", "123|45| x" },
        { "it's WE'LL 'Tis x'\xc5\xbf", "it|'s| WE|'LL| '|Tis| x|'\xc5\xbf", NULL },
        { "x'sa'ta'REa'vea'ma'Lla'dx'\xc5\xbf"
          "a'eb'ra'l",
          "x|'s|a|'t|a|'RE|a|'ve|a|'m|a|'Ll|a|'d|x|'\xc5\xbf|a|'eb|'ra|'l", NULL },
        { "'", "'", NULL },
        { "'1''s''", "'|1|''|s|''", NULL },
        { "a  b   ", "a| | b|   ", NULL },
        { "a\n\n b\r\n", "a|\n\n| b|\r\n", NULL },
        { "  \n  x", "  \n| | x", NULL },
        { "!!\n\nx", "!!\n\n|x", NULL },
        { "\ta \t", "\ta| \t", NULL },
        { "\xe4\xb8\x80\xe5\x8f\xaa\xc2\xa0z", "\xe4\xb8\x80\xe5\x8f\xaa|\xc2\xa0z", NULL },
        { "a\x1c\x1c", "a|\x1c\x1c", NULL }, // no white space to a pattern
        { "e\xcc\x81", "e|\xcc\x81", NULL }, // a mark is no letter
        { "\xc2\xb2\xe2\x85\xa3", "\xc2\xb2|\xe2\x85\xa3", "\xc2\xb2\xe2\x85\xa3" }, // numbers
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int p = 0; p < 2; p++) {
            nino_buf got = { 0 };
            const char *want = p && cases[i].mistral ? cases[i].mistral : cases[i].qwen;
            for (const char *s = cases[i].text; *s;) {
                const size_t n = nino_bpe_word(p ? NINO_BPE_MISTRAL : NINO_BPE_QWEN, s, strlen(s));
                if (got.len)
                    nino_buf_addc(&got, '|');
                nino_buf_add(&got, s, n);
                s += n;
            }
            CHECK_STR(got.data, want);
            nino_buf_release(&got);
        }
}

static void digits(void)
{
    nino_buf b = { 0 };
    CHECK(nino_base64_decode("AAEC/w==", 8, &b) && b.len == 4 && !memcmp(b.data, "\0\1\2\xff", 4));
    nino_buf_clear(&b);
    CHECK(nino_base64_decode("Y2F0", 4, &b) && b.len == 3 && !memcmp(b.data, "cat", 3));
    CHECK(!nino_base64_decode("Y2 0", 4, &b) && !nino_base64_decode("Y2:0", 4, &b) &&
          !nino_base64_decode("Y2{0", 4, &b) && !nino_base64_decode("Y2[0", 4, &b));
    nino_buf_release(&b);
}

static const char *ids_of(const nino_tokenizer *t, const char *text)
{
    int32_t *ids = NULL;
    int n = 0;
    CHECK_OK(nino_tokenizer_ids(t, text, &ids, &n, &err), err);
    return text_ids(ids, n);
}

static nino_tokenizer *open_in(const char *folder)
{
    nino_tokenizer *t = NULL;
    CHECK_OK(nino_tokenizer_open(NINO_TOKENIZER_QWEN, (const char *[]){ folder, NULL }, &t, &err),
             err);
    return t;
}

// The project's own vocabulary as the key-values of a GGUF file; `pre` and the types may be wrong.
static nino_weights *gguf_of(const nino_json *root, const char *pre, int type, bool has_merges)
{
    nino_buf b = { 0 }, tokens = { 0 }, types = { 0 }, merges = { 0 };
    const nino_json *vocab = nino_json_get(nino_json_get(root, "model"), "vocab");
    const nino_json *list = nino_json_get(nino_json_get(root, "model"), "merges");
    const nino_json *added = nino_json_get(root, "added_tokens");
    for (const nino_json *v = vocab->child; v; v = v->next) { // in the order of their ids
        gguf_bytes(&tokens, v->key, v->key_len);
        gguf_u32(&types, 1);
    }
    for (const nino_json *a = added->child; a; a = a->next) {
        gguf_string(&tokens, nino_json_get(a, "content")->text);
        gguf_u32(&types, (uint32_t) type);
    }
    for (const nino_json *m = list->child; m; m = m->next)
        gguf_bytes(&merges, m->text, m->len);
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, 0);
    gguf_u64(&b, has_merges ? 5 : 4);
    gguf_text(&b, "tokenizer.ggml.model", "gpt2");
    gguf_text(&b, "tokenizer.ggml.pre", pre);
    gguf_list(&b, "tokenizer.ggml.tokens", 8, vocab->count + added->count, &tokens);
    gguf_list(&b, "tokenizer.ggml.token_type", type < 0 ? 8 : 5, vocab->count + added->count,
              type < 0 ? &tokens : &types);
    if (has_merges)
        gguf_list(&b, "tokenizer.ggml.merges", 8, list->count, &merges);
    CHECK_OK(nino_file_save(dir.path, "gguf", false, b.data, b.len, &err), err);
    nino_buf *all[] = { &b, &tokens, &types, &merges };
    for (int i = 0; i < 4; i++)
        nino_buf_release(all[i]);
    return test_open("%s/gguf", dir.path);
}

static void refuse_gguf(const nino_json *root, const char *pre, int type, bool has_merges,
                        const char *say)
{
    nino_tokenizer *t = NULL;
    nino_weights *w = gguf_of(root, pre, type, has_merges);
    err = (nino_error){ 0 };
    CHECK(nino_tokenizer_from_gguf(w, &t, &err) && !t && strstr(err.msg, say));
    nino_weights_unref(&w);
}

// tokenizer.json, vocab.json with merges.txt and GGUF metadata.
static void same_vocabulary(void)
{
    static const char own[] = "tests/data/models/tokenizers/qwen25";
    static const char *const texts[] = { "",
                                         "a photo of a cat",
                                         "<|im_start|>user\nhi<|im_end|>",
                                         "caf\xc3\xa9 cafe\xcc\x81",
                                         "<think><thin k>",
                                         "bad \xff x",
                                         "<|im_start|><|im_sta" };
    char *text;
    size_t len;
    nino_json_doc *doc;
    nino_buf merges = { 0 }, path = { 0 };
    nino_tokenizer *got = NULL, *want = open_in(own), *two;
    nino_buf_addf(&path, "%s/tokenizer.json", own);
    CHECK_OK(nino_file_read(path.data, 1 << 20, false, &text, &len, &err), err);
    CHECK_OK(nino_json_parse(text, len, "own", NULL, &doc, &err), err);
    const nino_json *model = nino_json_get(doc->root, "model");
    nino_buf json = { 0 };
    nino_json_write(&json, NULL, nino_json_get(model, "vocab"));
    nino_buf_adds(&merges, "#version: 0.2\n");
    for (const nino_json *m = nino_json_get(model, "merges")->child; m; m = m->next)
        nino_buf_addf(&merges, "%s\n", m->text);
    CHECK_OK(nino_file_save(dir.path, "vocab.json", false, json.data, json.len, &err), err);
    CHECK_OK(nino_file_save(dir.path, "merges.txt", false, merges.data, merges.len, &err), err);
    two = open_in(dir.path); // without special tokens, which follow
    nino_weights *w = gguf_of(doc->root, "qwen2", 3, true);
    CHECK_OK(nino_tokenizer_from_gguf(w, &got, &err), err);
    CHECK(nino_tokenizer_size(got) == nino_tokenizer_size(want) &&
          nino_tokenizer_size(two) == nino_tokenizer_size(want));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char wanted[256];
        snprintf(wanted, sizeof(wanted), "%s", ids_of(want, texts[i]));
        CHECK_STR(ids_of(two, texts[i]), wanted);
        CHECK_STR(ids_of(got, texts[i]), wanted);
    }
    CHECK(nino_tokenizer_special(got, "<think>") == nino_tokenizer_special(want, "<think>") &&
          nino_tokenizer_special(got, "<think>") > 0 && nino_tokenizer_special(got, "think") < 0);
    refuse_gguf(doc->root, "llama-bpe", 3, true, "cuts words as llama-bpe does");
    refuse_gguf(doc->root, "qwen2", -1, true, "token_type is not one i32 a token");
    refuse_gguf(doc->root, "qwen2", 3, false, "merges is not a list");
    nino_weights_unref(&w);
    nino_tokenizer *all[] = { got, want, two };
    for (int i = 0; i < 3; i++)
        nino_tokenizer_unref(&all[i]);
    nino_json_doc_destroy(&doc);
    nino_buf_release(&json);
    nino_buf_release(&merges);
    nino_buf_release(&path);
    free(text);
}

// tokenizer.json that is wrong in one place each.
static void refuse_json(void)
{
    static const char not_two[] = "an entry of model.merges is not two symbols",
                      no_added[] = "an entry of added_tokens has no content or no id",
                      no_text[] = "a special token has no text of at most 4096 bytes, or no id";
    static const struct {
        nino_bpe_pattern pattern;
        const char *vocab, *merges, *added, *say;
    } t[] = {
        { NINO_BPE_QWEN, "[]", "[]", "[]", "the vocabulary is not an object" },
        { NINO_BPE_QWEN, "{'a': 0.5}", "[]", "[]", "is not a whole number" },
        { NINO_BPE_QWEN, "{'a': -1}", "[]", "[]", "id is not in 0...16777215" },
        { NINO_BPE_QWEN, "{'a': 16777216}", "[]", "[]", "id is not in 0...16777215" },
        { NINO_BPE_QWEN, "{}", "{}", "[]", "model.merges is not a list" },
        { NINO_BPE_QWEN, "{}", "null", "[]", "model.merges is not a list" },
        { NINO_BPE_QWEN, "{}", "[7]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[['a']]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[['a','b','c']]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[['a',7]]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[[7,'b']]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[['','b']]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "[['a','']]", "[]", not_two },
        { NINO_BPE_QWEN, "{}", "['a b','ab']", "[]", "merge 2 is not two symbols" },
        { NINO_BPE_QWEN, "{}", "['a ']", "[]", "merge 1 is not two symbols" },
        { NINO_BPE_QWEN, "{}", "[' a']", "[]", "merge 1 is not two symbols" },
        { NINO_BPE_QWEN, "{}", "['a  b c']", "[]", "merge 1 is not two symbols" },
        { NINO_BPE_QWEN, "{}", "[]", "[7]", no_added },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': 7, 'id': 1}]", no_added },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': 'a'}]", no_added },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': 'a', 'id': 'b'}]", no_added },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': '', 'id': 1}]", no_text },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': 'a', 'id': -1}]", no_text },
        { NINO_BPE_QWEN, "{}", "[]", "[{'content': 'a', 'id': 16777216}]", no_text },
        // what is there twice keeps its first id; the last of Qwen's own has no room behind this one
        { NINO_BPE_QWEN, "{}", "[]",
          "[{'content': '<|endoftext|>', 'id': 16777200}, {'content': '<|endoftext|>', 'id': 1}]",
          no_text },
        { NINO_BPE_QWEN, "{}", "[['a','b']]", "[]", "has no tokens for single bytes" },
        { NINO_BPE_CLIP, "{}", "[]", "[]", "has no <|startoftext|> and <|endoftext|>" },
        { NINO_BPE_CLIP, "{'<|startoftext|>': 1}", "[]", "[]", "has no <|startoftext|>" },
        { NINO_BPE_CLIP, "{'<|endoftext|>': 1}", "[]", "[]", "has no <|startoftext|>" },
        // which are not tokens because a merge makes them
        { NINO_BPE_CLIP, "{'<|endoftext|>': 1}", "[['<|start','oftext|>']]", "[]",
          "has no <|startoftext|>" },
        { NINO_BPE_CLIP, "{'<|startoftext|>': 1}", "[['<|end','oftext|>']]", "[]",
          "has no <|startoftext|>" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_buf b = { 0 };
        nino_bpe *bpe = NULL;
        nino_buf_addf(&b, "{'model':{'vocab':%s,'merges':%s},'added_tokens':%s}", t[i].vocab,
                      t[i].merges, t[i].added);
        char *json = test_quoted(b.data);
        err = (nino_error){ 0 };
        CHECK(nino_bpe_from_json(t[i].pattern, json, b.len, "x", &bpe, &err) == NINO_ERR_FORMAT);
        if (!strstr(err.msg, t[i].say))
            fprintf(stderr, "%s: %s\n", json, err.msg);
        CHECK(!bpe && strstr(err.msg, t[i].say));
        free(json);
        nino_buf_release(&b);
    }
    // symbols that are longer than any
    for (int k = 0; k < 3; k++) {
        nino_buf b = { 0 };
        nino_bpe *bpe = NULL;
        nino_buf_adds(&b, k ? "{\"model\":{\"vocab\":{},\"merges\":[[\"a\",\""
                            : "{\"model\":{\"vocab\":{\"");
        for (int i = 0; i < 4097 - (k == 2); i++) // 2: only what is made of both is too long
            nino_buf_addc(&b, 'a');
        nino_buf_adds(&b, k ? "\"]]}}" : "\":1},\"merges\":[]}}");
        CHECK(nino_bpe_from_json(NINO_BPE_QWEN, b.data, b.len, "x", &bpe, &err) == NINO_ERR_FORMAT);
        CHECK(!bpe && strstr(err.msg, "longer than 4096 bytes"));
        nino_buf_release(&b);
    }
}

// ---- tekken ----------------------------------------------------------------------------------

// 256 bytes, then what `more` says; the rest of the file may be replaced.
static nino_status tekken(const char *config, const char *specials, const char *more, int bytes,
                          nino_bpe **out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    nino_buf b = { 0 };
    nino_buf_addf(&b, "{\"config\":%s,\"special_tokens\":%s,\"vocab\":[", config, specials);
    for (int i = 0; i < bytes; i++)
        nino_buf_addf(&b, "%s{\"rank\":%d,\"token_bytes\":\"%c%c==\"}", i ? "," : "", i,
                      digit[i >> 2], digit[(i & 3) << 4]);
    nino_buf_addf(&b, "%s]}", more);
    err = (nino_error){ 0 };
    const nino_status st = nino_bpe_from_tekken(b.data, b.len, "tekken", out, &err);
    nino_buf_release(&b);
    return st;
}

static void tekken_files(void)
{
    static const char good[] = "{\"default_vocab_size\":263,\"default_num_special_tokens\":4}";
    static const char specials[] = "[{\"token_str\":\"<unk>\"},{\"token_str\":\"<s>\"}]";
    static const struct {
        const char *config, *specials, *more;
        int bytes;
        const char *say;
    } bad[] = {
        { "{}", specials, "", 256, "config has no sizes" },
        { "{\"default_vocab_size\":4,\"default_num_special_tokens\":4}", specials, "", 256,
          "sizes" },
        { "{\"default_vocab_size\":300,\"default_num_special_tokens\":1}", specials, "", 256,
          "sizes" },
        { good, "[{}]", "", 256, "no token_str" },
        { good, "[{\"token_str\":7}]", "", 256, "no token_str" },
        { "{\"default_vocab_size\":263,\"default_num_special_tokens\":-4}", specials, "", 256,
          "sizes" },
        { good, specials, ",{\"rank\":256,\"token_bytes\":7}", 256, "or no bytes" },
        { good, specials, ",{\"rank\":256,\"token_bytes\":\"\"}", 256, "or no bytes" },
        { good, specials, "", 255, "no tokens for single bytes" },
        { good, specials, ",{\"rank\":257,\"token_bytes\":\"Y2E=\"}", 256,
          "no rank that is its place" },
        { good, specials, ",{\"rank\":256}", 256, "or no bytes" },
        { good, specials, ",{\"rank\":256,\"token_bytes\":\"Y!\"}", 256, "or no bytes" },
        { good, specials, ",{\"rank\":256,\"token_bytes\":\"YQ==\"}", 256, "the same bytes" },
    };
    nino_bpe *b = NULL;
    int32_t *ids = NULL;
    int n = 0;
    // ca, at, cat of c+at before ca+t, as the left part's rank decides; one beyond the size
    CHECK_OK(
        tekken(
            good, specials,
            ",{\"rank\":256,\"token_bytes\":\"Y2E=\"},{\"rank\":257,\"token_bytes\":\"YXQ=\"}"
            ",{\"rank\":258,\"token_bytes\":\"Y2F0\"},{\"rank\":259,\"token_bytes\":\"Y2F0cw==\"}",
            256, &b),
        err);
    CHECK(nino_bpe_size(b) == 263 && nino_bpe_special(b, "<s>") == 1);
    CHECK_OK(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, "<s>cats at", 10, &ids, &n, &err), err);
    char want[64];
    snprintf(want, sizeof(want), "1 %d %d %d %d", 4 + 258, 4 + 's', 4 + ' ', 4 + 257);
    CHECK_STR(text_ids(ids, n), want);
    nino_bpe_destroy(&b);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(tekken(bad[i].config, bad[i].specials, bad[i].more, bad[i].bytes, &b) ==
              NINO_ERR_FORMAT);
        if (b || !strstr(err.msg, bad[i].say))
            fprintf(stderr, "%zu: %s\n", i, err.msg);
        CHECK(!b && strstr(err.msg, bad[i].say));
    }
}

int main(void)
{
    static const char *const files[] = { "gguf", "vocab.json", "merges.txt", NULL };
    dir = test_dir_create();
    words();
    digits();
    same_vocabulary();
    refuse_json();
    tekken_files();
    test_dir_remove(&dir, files);
    return 0;
}
