// Tokenizer files of every form: one that is taken tokenises any text to ids below its size; one
// that is refused says so in one line.
#include "core/text/bpe.h"
#include "core/text/unigram.h"
#include "tests/fuzz/fuzz.h"
#include "tests/text.h"

const size_t fuzz_max_len = 16384;

const char *const fuzz_words[] = { "\x0a\x07",
                                   "\x12\x04",
                                   "\x18\x01",
                                   "\x18\x02",
                                   "\x18\x04",
                                   "\x18\x06",
                                   "\x1a",
                                   "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                   "\xff\xff\xff\xff\x0f",
                                   "<0x41>",
                                   "<unk>",
                                   "\xe2\x96\x81",
                                   "\"Unigram\"",
                                   "\"vocab\": [",
                                   "[\"a\", -1.5],",
                                   "\"unk_id\": 0",
                                   "\"added_tokens\": [",
                                   "\"normalizer\":",
                                   "\"Precompiled\"",
                                   "\"precompiled_charsmap\": \"",
                                   "\"Strip\"",
                                   "\"Replace\"",
                                   "\"Metaspace\"",
                                   "\"WhitespaceSplit\"",
                                   "\"merges\": [",
                                   "\"a b\",",
                                   "<|endoftext|>",
                                   "<|startoftext|>",
                                   "</w>",
                                   "#version: 0.2\n",
                                   "\n",
                                   "-1e308",
                                   "\x1f\x8b\x08",
                                   NULL };

static const char unigram_json[] =
    "{\"added_tokens\": [{\"id\": 1, \"content\": \"</s>\"}, {\"id\": 5, \"content\": \"<e>\", "
    "\"lstrip\": true, \"rstrip\": true}], \"normalizer\": {\"type\": \"Sequence\", "
    "\"normalizers\": [{\"type\": \"Strip\", \"strip_right\": true}, {\"type\": \"Replace\", "
    "\"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \"\xe2\x96\x81\"}, {\"type\": \"Replace\", "
    "\"pattern\": {\"String\": \"q\"}, \"content\": \"a\"}]}, \"pre_tokenizer\": {\"type\": "
    "\"Sequence\", \"pretokenizers\": [{\"type\": \"WhitespaceSplit\"}, {\"type\": \"Metaspace\", "
    "\"replacement\": \"\xe2\x96\x81\", \"prepend_scheme\": \"first\"}]}, \"model\": {\"type\": "
    "\"Unigram\", \"unk_id\": 0, \"byte_fallback\": true, \"vocab\": [[\"<unk>\", 0], [\"</s>\", "
    "0], [\"\xe2\x96\x81\", -2], [\"a\", -3], [\"<0x62>\", -1]]}}";

static const char bpe_json[] =
    "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b</w>\": 1, \"<|startoftext|>\": 2, "
    "\"<|endoftext|>\": 3, \"ab</w>\": 4}, \"merges\": [\"a b</w>\", [\"a\", \"a\"]]}}";

static size_t spiece(uint8_t *buf, size_t cap, bool has_map)
{
    static const text_rule rules[] = { { "Q", "aa" }, { "e\xcc\x81", "b" }, { NULL, NULL } };
    nino_buf b = { 0 }, map = text_charsmap(rules), n = { 0 };
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, "</s>", 0, 3);
    text_piece(&b, "\xe2\x96\x81", -2, 0);
    text_piece(&b, "a", -3, 1);
    text_piece(&b, "aab", -3.5f, 1);
    text_piece(&b, "<u>", 0, 4);
    text_piece(&b, "cc", 0, 5);
    if (has_map)
        text_bytes(&n, 2, map.data, map.len);
    text_number(&n, 3, !has_map);
    text_bytes(&b, 3, n.data, n.len);
    const size_t len = b.len;
    CHECK(len <= cap);
    memcpy(buf, b.data, len);
    nino_buf_release(&b);
    nino_buf_release(&map);
    nino_buf_release(&n);
    return len;
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const texts[] = { unigram_json, bpe_json, TEXT_BPE_MERGES };
    if (i < 2)
        return spiece(buf, cap, i);
    if (i >= 2 + sizeof(texts) / sizeof(texts[0]))
        return 0;
    const size_t n = strlen(texts[i - 2]);
    CHECK(n <= cap);
    memcpy(buf, texts[i - 2], n);
    return n;
}

#define TEXT "  Aab QqQ e\xcc\x81 <u> cc</s> <e> b\xff\xe6\x97\xa5 <|endoftext|>it's 12"

static void check_refused(const nino_error *err)
{
    tell_error(err);
    CHECK(err->code == NINO_ERR_FORMAT || err->code == NINO_ERR_UNSUPPORTED);
    CHECK(*err->kind && *err->msg && !strchr(err->msg, '\n'));
    CHECK_STR(err->where, "fuzz");
}

static void check_ids(int32_t *ids, int n, int size)
{
    TELL("%d:", size);
    for (int i = 0; i < n; i++) {
        CHECK(ids[i] >= 0 && ids[i] < size);
        TELL(" %d", ids[i]);
    }
    free(ids);
}

static void check_unigram(nino_status st, nino_unigram *u, const char *text, size_t len,
                          nino_error *err)
{
    int32_t *ids = NULL;
    int n = 0;
    if (st) {
        CHECK(!u);
        check_refused(err);
        return;
    }
    CHECK_OK(nino_unigram_ids(u, TEXT, strlen(TEXT), &ids, &n, err), *err);
    check_ids(ids, n, nino_unigram_size(u));
    ids = NULL;
    n = 0;
    if (nino_unigram_ids(u, text, len, &ids, &n, err) == NINO_OK) // the file itself, as text
        check_ids(ids, n, nino_unigram_size(u));
    nino_unigram_destroy(&u);
}

static void check_bpe(nino_status st, nino_bpe *b, const char *text, size_t len, nino_error *err)
{
    if (st) {
        CHECK(!b);
        check_refused(err);
        return;
    }
    for (int clean = NINO_BPE_CLEAN_HF; clean <= NINO_BPE_CLEAN_PLAIN; clean++) {
        int32_t *ids = NULL;
        int n = 0;
        CHECK_OK(nino_bpe_ids(b, (nino_bpe_clean) clean, TEXT, strlen(TEXT), &ids, &n, err), *err);
        check_ids(ids, n, nino_bpe_size(b));
        ids = NULL;
        n = 0;
        CHECK_OK(nino_bpe_ids(b, (nino_bpe_clean) clean, text, len, &ids, &n, err), *err);
        check_ids(ids, n, nino_bpe_size(b));
    }
    nino_bpe_destroy(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data;
    nino_unigram *u = NULL;
    nino_bpe *b = NULL;
    nino_error err = { 0 };
    if (size && *text == '{') {
        nino_status st = nino_unigram_from_json(text, size, "fuzz", &u, &err);
        check_unigram(st, u, text, size, &err);
        st = nino_bpe_from_json(NINO_BPE_CLIP, text, size, "fuzz", &b, &err);
        check_bpe(st, b, text, size, &err);
    } else {
        nino_status st = nino_unigram_from_spiece(text, size, "fuzz", &u, &err);
        check_unigram(st, u, text, size, &err);
        st = nino_bpe_from_simple(text, size, "fuzz", &b, &err);
        check_bpe(st, b, text, size, &err);
    }
    return 0;
}
