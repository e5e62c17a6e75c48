// Tokenizers in GGUF metadata: the ids of the SentencePiece model they were made from (the demo's,
// and T5's and UMT5's own), and what is refused.
#include "core/base/file.h"
#include "core/text/tokenizer.h"
#include "tests/gguf_tokens.h"
#include "tests/text.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;

// A GGUF file of these key-values and no tensor.
static nino_weights *make_file(const nino_buf *kv, unsigned n_keys)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, 0);
    gguf_u64(&b, n_keys);
    nino_buf_add(&b, kv->data, kv->len);
    CHECK_OK(nino_file_save(dir.path, "gguf", false, b.data, b.len, &err), err);
    nino_buf_release(&b);
    return test_open("%s/gguf", dir.path);
}

static void compare(const void *spiece, size_t n)
{
    static const char *const texts[] = {
        "",
        "a",
        "a photo of a cat",
        "  two   spaces\tand a tab\n",
        "<extra_id_5> </s>",
        "\xef\xac\x81ne \xef\xbc\xa1\xc2\xbd \xe2\x84\xa2 \xe2\x91\xa0",
        "na\xc3\xafve caf\xc3\xa9",
        "\xe4\xb8\x80\xe5\x8f\xaa\xe7\x8c\xab",
        "\xf0\x9f\x90\xb1 emoji",
        "UPPER lower 123,456.78",
        "bad \xff\xfe bytes",
        "\xe2\x96\x81 below",
        "(masterpiece:1.2), [best] {quality}"
    };
    nino_buf kv = { 0 };
    nino_tokenizer *want = NULL, *got = NULL;
    gguf_tokens(&kv, spiece, n);
    nino_weights *w = make_file(&kv, GGUF_TOKEN_KEYS);
    CHECK_OK(nino_tokenizer_from_spiece(spiece, n, "spiece", &want, &err), err);
    CHECK_OK(nino_tokenizer_from_gguf(w, &got, &err), err);
    CHECK(nino_tokenizer_size(got) == nino_tokenizer_size(want));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int32_t *a = NULL, *b = NULL;
        int n_a = 0, n_b = 0;
        CHECK_OK(nino_tokenizer_ids(want, texts[i], &a, &n_a, &err), err);
        CHECK_OK(nino_tokenizer_ids(got, texts[i], &b, &n_b, &err), err);
        CHECK(n_a == n_b && (!n_a || !memcmp(a, b, (size_t) n_a * sizeof(*a))));
        free(a);
        free(b);
    }
    nino_tokenizer_unref(&want);
    nino_tokenizer_unref(&got);
    nino_weights_unref(&w);
    nino_buf_release(&kv);
}

// A model of a few pieces, with rules, byte pieces and flags.
static void test_small(void)
{
    static const text_rule rules[] = { { "\xef\xac\x81", "fi" }, { "\t", " " }, { NULL, NULL } };
    for (int k = 0; k < 4; k++) {
        nino_buf m = { 0 }, norm = { 0 }, map = text_charsmap(rules), trainer = { 0 };
        text_piece(&m, "<pad>", 0, 3);
        text_piece(&m, "<unk>", 0, 2);
        text_piece(&m, "\xe2\x96\x81", -2, 0);
        text_piece(&m,
                   "\xe2\x96\x81"
                   "a",
                   -1.5f, 0);
        text_piece(&m, "a", -3, 0);
        text_piece(&m, "fi", -2.25f, 1);
        text_piece(&m, "<extra_id_5>", 0, 4);
        text_piece(&m, "cat", -9, 5);
        for (int i = 0; k == 3 && i < 256; i++) {
            char name[8];
            snprintf(name, sizeof(name), "<0x%02X>", (unsigned) i);
            text_piece(&m, name, -20, 6);
        }
        text_bytes(&norm, 2, map.data, map.len);
        text_number(&norm, 3, k != 1);
        text_number(&norm, 4, k != 2);
        text_bytes(&m, 3, norm.data, norm.len);
        text_number(&trainer, 35, k == 3);
        text_bytes(&m, 2, trainer.data, trainer.len);
        compare(m.data, m.len);
        nino_buf_release(&m);
        nino_buf_release(&norm);
        nino_buf_release(&map);
        nino_buf_release(&trainer);
    }
}

static void test_real(const char *data)
{
    char path[512], *text = NULL;
    size_t n = 0;
    snprintf(path, sizeof(path), "%s/models/tokenizers/t5/spiece.model", data);
    CHECK_OK(nino_file_read(path, 1 << 26, false, &text, &n, &err), err);
    compare(text, n);
    free(text);
    nino_weights *w = test_open("%s/models/text_encoders/umt5_tiny.safetensors", data);
    const nino_tensor_info *t = nino_weights_find(w, "spiece_model");
    if (t && (text = malloc((size_t) t->bytes))) {
        CHECK_OK(nino_weights_read(w, t, text, &err), err);
        compare(text, (size_t) t->bytes);
        free(text);
    }
    nino_weights_unref(&w);
}

static nino_status open_bad(nino_buf *kv, unsigned n_keys)
{
    nino_tokenizer *t = NULL;
    nino_weights *w = make_file(kv, n_keys);
    const nino_status st = nino_tokenizer_from_gguf(w, &t, &err);
    CHECK(!t);
    nino_weights_unref(&w);
    nino_buf_clear(kv);
    return st;
}

static void test_bad(void)
{
    nino_buf kv = { 0 }, list = { 0 };
    gguf_text(&kv, "general.architecture", "t5");
    CHECK(open_bad(&kv, 1) == NINO_ERR_MISSING);
    gguf_text(&kv, "tokenizer.ggml.model", "llama");
    CHECK(open_bad(&kv, 1) == NINO_ERR_MISSING);
    gguf_text(&kv, "tokenizer.ggml.model", "t5");
    CHECK(open_bad(&kv, 1) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "schema");
    // one token; the kinds and the numbers of its lists, its score and its type; what is told
#define SCORES "tokenizer.ggml: scores is not one f32 a token"
#define TYPES "tokenizer.ggml: token_type is not one i32 a token"
    static const struct {
        unsigned tokens, scores, n_scores, types, n_types, map, score, type;
        const char *told;
    } rows[] = {
        { 8, 6, 2, 5, 1, 0, 0, 0, SCORES },
        { 8, 5, 1, 5, 1, 0, 0, 0, SCORES },
        { 8, 6, 0, 5, 1, 0, 0, 0, SCORES },
        { 8, 6, 1, 6, 1, 0, 0, 0, TYPES },
        { 8, 6, 1, 5, 2, 0, 0, 0, TYPES },
        { 8, 6, 1, 4, 0, 0, 0, 0, TYPES },
        { 4, 6, 1, 5, 1, 0, 0, 0,
          "tokenizer.ggml: tokens is not a list of at most 4194304 strings" },
        { 8, 6, 1, 5, 1, 4, 0, 2, "tokenizer.ggml: precompiled_charsmap is not bytes" },
        { 8, 6, 1, 5, 1, 6, 0, 2, "tokenizer.ggml: precompiled_charsmap is not bytes" },
        { 8, 6, 1, 5, 1, 0, 0, 0, "a piece has an unknown type" }, // a type that is none
        { 8, 6, 1, 4, 1, 0, 0, 0, "a piece has an unknown type" },
        { 8, 6, 1, 5, 1, 0, 0x7fc00000u, 2, "a score is not a finite number" }, // no number
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        nino_buf_clear(&list);
        if (rows[k].tokens == 8)
            gguf_string(&list, "<unk>");
        else
            gguf_u32(&list, 1);
        gguf_text(&kv, "tokenizer.ggml.model", "t5");
        gguf_list(&kv, "tokenizer.ggml.tokens", rows[k].tokens, 1, &list);
        nino_buf_clear(&list);
        gguf_u32(&list, rows[k].score);
        gguf_u32(&list, 0);
        list.len = 4 * rows[k].n_scores;
        gguf_list(&kv, "tokenizer.ggml.scores", rows[k].scores, rows[k].n_scores, &list);
        nino_buf_clear(&list);
        gguf_u32(&list, rows[k].type);
        gguf_u32(&list, 2);
        list.len = 4 * rows[k].n_types;
        gguf_list(&kv, "tokenizer.ggml.token_type", rows[k].types, rows[k].n_types, &list);
        list.len = 4;
        if (rows[k].map)
            gguf_list(&kv, "tokenizer.ggml.precompiled_charsmap", rows[k].map, 1, &list);
        err = (nino_error){ 0 };
        CHECK(open_bad(&kv, rows[k].map ? 5 : 4) == NINO_ERR_FORMAT);
        CHECK_STR(err.msg, rows[k].told);
        CHECK_STR(err.kind, "schema");
    }
    nino_buf_release(&kv);
    nino_buf_release(&list);
}

int main(void)
{
    static const char *const files[] = { "gguf", NULL };
    dir = test_dir_create();
    test_small();
    test_bad();
    for (const char *data = NULL; (data = test_data_next(data));)
        test_real(data);
    if (!test_assets())
        test_skip_part("T5's and UMT5's own models");
    test_dir_remove(&dir, files);
    return 0;
}
