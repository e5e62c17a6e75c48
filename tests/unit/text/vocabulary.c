// Byte-level vocabularies that are refused, each with what is wrong with it: in the metadata of GGUF
// files, in tokenizer.json, in tekken.json, in vocab.json with merges.txt.
#include "core/base/file.h"
#include "core/text/bpe.h"
#include "tests/gguf_tokens.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;

// ---- GGUF --------------------------------------------------------------------------------------

enum { U8 = 0, U32 = 4, I32 = 5, STRING = 8 };

typedef struct gguf_case {
    const char *model, *pre;            // NULL: not said
    uint32_t token_type, type_type;     // of the lists of tokens, of their types
    uint32_t n_tokens, n_types, merges; // merges: type of that list
    const char *merge;
    uint32_t kind; // of the first token
    const char *says;
} gguf_case;

static void add_list(nino_buf *b, const char *key, uint32_t type, uint32_t n, const char *text,
                     uint32_t first)
{
    nino_buf values = { 0 };
    for (uint32_t i = 0; i < n; i++)
        if (type == STRING)
            gguf_string(&values, i ? "b" : text);
        else if (type == U8)
            nino_buf_addc(&values, 1);
        else
            gguf_u32(&values, i ? 1 : first);
    gguf_list(b, key, type, n, &values);
    nino_buf_release(&values);
}

static void check_gguf(const gguf_case *c)
{
    nino_buf b = { 0 };
    nino_bpe *bpe = NULL;
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, 0);
    gguf_u64(&b, 3 + (c->model != NULL) + (c->pre != NULL));
    if (c->model)
        gguf_text(&b, "tokenizer.ggml.model", c->model);
    if (c->pre)
        gguf_text(&b, "tokenizer.ggml.pre", c->pre);
    add_list(&b, "tokenizer.ggml.tokens", c->token_type, c->n_tokens, "a", 0);
    add_list(&b, "tokenizer.ggml.token_type", c->type_type, c->n_types, "x", c->kind);
    add_list(&b, "tokenizer.ggml.merges", c->merges, 1, c->merge, 0);
    CHECK_OK(nino_file_save(dir.path, "gguf", false, b.data, b.len, &err), err);
    nino_buf_release(&b);
    nino_weights *w = test_open("%s/gguf", dir.path);
    CHECK(nino_bpe_from_gguf(w, &bpe, &err) && !bpe);
    if (!strstr(err.msg, c->says))
        fprintf(stderr, "  %s\n", err.msg);
    CHECK(strstr(err.msg, c->says) && strstr(err.where, "gguf"));
    nino_weights_unref(&w);
}

static void check_ggufs(void)
{
    static const char tokens[] = "tokens is not a list", types[] = "not one i32 a token",
                      none[] = "no byte-level tokenizer", bytes[] = "byte";
    static const gguf_case cases[] = {
        { NULL, NULL, STRING, I32, 2, 2, STRING, "a b", 1, none },
        { "llama", "qwen2", STRING, I32, 2, 2, STRING, "a b", 1, none },
        { "gpt2", "falcon", STRING, I32, 2, 2, STRING, "a b", 1, "cuts words as falcon does" },
        { "gpt2", "qwen2", I32, I32, 2, 2, STRING, "a b", 1, tokens },
        { "gpt2", "qwen2", STRING, I32, 0, 0, STRING, "a b", 1, tokens },
        { "gpt2", "qwen2", STRING, U8, 2, 2, STRING, "a b", 1, types },
        { "gpt2", "qwen2", STRING, STRING, 2, 2, STRING, "a b", 1, types },
        { "gpt2", "qwen2", STRING, U32, 2, 1, STRING, "a b", 1, types },
        { "gpt2", "qwen2", STRING, I32, 2, 3, STRING, "a b", 1, types },
        { "gpt2", "qwen2", STRING, I32, 2, 2, I32, "", 1, "merges is not a list of strings" },
        // tokens of every kind, which do not have all bytes among them
        { "gpt2", NULL, STRING, U32, 2, 2, STRING, "a b", 1, bytes },
        { "gpt2", "tekken", STRING, I32, 2, 2, STRING, "a b", 3, bytes },
        { "gpt2", "qwen2", STRING, I32, 2, 2, STRING, "a b", 4, bytes },
        { "gpt2", "qwen2", STRING, I32, 2, 2, STRING, "a b", 5, bytes },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_gguf(&cases[i]);
}

// ---- tekken.json -------------------------------------------------------------------------------

#define CONFIG(size, specials)                                                                     \
    "'config':{'default_vocab_size':" size ",'default_num_special_tokens':" specials "}"

static void check_tekkens(void)
{
    static const struct {
        const char *json, *says;
    } cases[] = {
        { "{", "" },
        { "[]", "no sizes" },
        { "{" CONFIG("10", "-1") "}", "no sizes" },
        { "{" CONFIG("10", "10") "}", "no sizes" },
        { "{" CONFIG("'x'", "1") "}", "no sizes" },
        { "{" CONFIG("10", "1") ",'special_tokens':[{},{}]}", "no sizes" },
        { "{" CONFIG("10", "1") "}", "vocab is not a list" },
        { "{" CONFIG("10", "1") ",'vocab':{}}", "vocab is not a list" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':1,'token_bytes':'YQ=='}]}", "no rank" },
        { "{" CONFIG("10", "1") ",'vocab':[{'token_bytes':'YQ=='}]}", "no rank" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0}]}", "no rank" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0,'token_bytes':7}]}", "no rank" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0,'token_bytes':'!'}]}", "no bytes" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0,'token_bytes':''}]}", "no bytes" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0,'token_bytes':'YQ=='},{'rank':1,"
                                "'token_bytes':'YQ=='}]}",
          "same bytes" },
        { "{" CONFIG("10", "1") ",'vocab':[{'rank':0,'token_bytes':'YQ=='}]}", "single bytes" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *json = test_quoted(cases[i].json);
        nino_bpe *b = NULL;
        CHECK(nino_bpe_from_tekken(json, strlen(json), "tekken.json", &b, &err) && !b);
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "  %zu: %s\n", i, err.msg);
        CHECK(strstr(err.msg, cases[i].says));
        free(json);
    }
}

// ---- vocab.json with merges.txt ----------------------------------------------------------------

static void check_merges(void)
{
    static const char vocab[] = "{\"a\": 0, \"b</w>\": 1, \"<|startoftext|>\": 2, "
                                "\"<|endoftext|>\": 3}";
    static const struct {
        const char *vocab, *merges, *says;
    } cases[] = {
        { vocab, "#version\na b</w> c\n", "merge 1 is not two symbols" },
        { vocab, "#version\n  \n b\n", "merge 1 is not two symbols" },
        { vocab, "#version\na\r\n", "merge 1 is not two symbols" },
        { vocab, "#version\na   b</w>\nab", "merge 2 is not two symbols" },
        { "{\"a\": 0}", "", "" },
        { "[]", "", "" },
        { "{\"a\": -1}", "", "" },
        { "{\"a\": 1.5}", "", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_bpe *b = NULL;
        CHECK(nino_bpe_from_vocab(NINO_BPE_CLIP, cases[i].vocab, strlen(cases[i].vocab),
                                  cases[i].merges, strlen(cases[i].merges), "vocab", &b, &err));
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "  %zu: %s\n", i, err.msg);
        CHECK(!b && strstr(err.msg, cases[i].says));
    }
}

int main(void)
{
    static const char *const files[] = { "gguf", NULL };
    dir = test_dir_create();
    check_ggufs();
    check_tekkens();
    check_merges();
    test_dir_remove(&dir, files);
    return 0;
}
