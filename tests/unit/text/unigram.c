// SentencePiece models written here: normalising, the best pieces, unknown characters, what
// tokenizer.json does otherwise, files that are damaged.
#include "core/text/charsmap.h"
#include "core/text/proto.h"
#include "core/text/unigram.h"
#include "tests/text.h"

#include <math.h>

#define SP "\xe2\x96\x81"

static nino_error err;

static const char *ids(const nino_unigram *u, const char *text)
{
    int32_t *list = NULL;
    int n = 0;
    CHECK_OK(nino_unigram_ids(u, text, strlen(text), &list, &n, &err), err);
    return text_ids(list, n);
}

static nino_unigram *model_of(nino_buf *b)
{
    nino_unigram *u = NULL;
    CHECK(!b->failed);
    CHECK_OK(nino_unigram_from_spiece(b->data, b->len, "spiece.model", &u, &err), err);
    nino_buf_release(b);
    return u;
}

enum { PAD, END, UNK, SPACE, A, B, AB, ABC, C, SP_A, USER, UNUSED, E_ACUTE };

static void add_pieces(nino_buf *b)
{
    text_piece(b, "<pad>", 0, 3);
    text_piece(b, "</s>", 0, 3);
    text_piece(b, "<unk>", 0, 2);
    text_piece(b, SP, -2, 0);
    text_piece(b, "a", -3, 1);
    text_piece(b, "b", -3, 1);
    text_piece(b, "ab", -5, 1);
    text_piece(b, "abc", -9, 1);
    text_piece(b, "c", -3, 1);
    text_piece(b, SP "a", -4, 1);
    text_piece(b, "<Yx>", 0, 4);
    text_piece(b, "cc", -0.5f, 5); // unused, whatever its score
    text_piece(b, "\xc3\xa9", -3, 1);
}

static const text_rule rules[] = {
    { "A", "a" },           { "B", "b" },
    { "C", "ccc" },         { "e\xcc\x81", "\xc3\xa9" }, // é from two code points
    { "e", "b" },           { "\t", " " },
    { "\xe2\x80\x8b", "" }, // zero width space
    { "Y", "b" },           { "Z", " c " },
    { NULL, NULL }
};

static void add_normalizer(nino_buf *b, bool prefix, bool spaces)
{
    nino_buf map = text_charsmap(rules), n = { 0 };
    text_bytes(&n, 1, "test", 4);
    text_bytes(&n, 2, map.data, map.len);
    if (!prefix)
        text_number(&n, 3, 0);
    if (!spaces)
        text_number(&n, 4, 0);
    text_bytes(b, 3, n.data, n.len);
    nino_buf_release(&map);
    nino_buf_release(&n);
}

static void pieces(void)
{
    nino_buf b = { 0 };
    add_pieces(&b);
    add_normalizer(&b, true, true);
    nino_unigram *u = model_of(&b);
    CHECK(nino_unigram_size(u) == E_ACUTE + 1);
    CHECK_STR(ids(u, ""), "");
    CHECK_STR(ids(u, "  "), "");
    CHECK_STR(ids(u, "a"), "9");
    CHECK_STR(ids(u, "b"), "3 5");
    CHECK_STR(ids(u, "bab"), "3 5 6");    // ab -5 against a b -6
    CHECK_STR(ids(u, "babc"), "3 5 6 8"); // ab c -8 against abc -9
    CHECK_STR(ids(u, "cc"), "3 8 8");     // cc is unused
    CHECK_STR(ids(u, "bqb"), "3 5 2 5");
    CHECK_STR(ids(u, "bqrb"), "3 5 2 5"); // a run of unknown ones is one
    CHECK_STR(ids(u, "q"), "3 2");
    CHECK_STR(ids(u, "\xe6\x97\xa5\xe6\x9c\xac b"), "3 2 3 5");
    CHECK_STR(ids(u, "</s>"), "3 2"); // control pieces are not in texts
    // Normalising: the longest rule, spaces.
    CHECK_STR(ids(u, "A B"), "9 3 5");
    CHECK_STR(ids(u, "  a \t  b  "), "9 3 5");
    CHECK_STR(ids(u, "eC"), "3 5 8 8 8");
    CHECK_STR(ids(u, "be\xcc\x81"), "3 5 12");
    CHECK_STR(ids(u, "\xe2\x80\x8b"), ""); // only the prefix is left, a space at the end
    CHECK_STR(ids(u, "bZb Zb"), "3 5 3 8 3 5 3 8 3 5");
    CHECK_STR(ids(u, "Z"), "3 8");
    // User-defined pieces are found first and not normalised.
    CHECK_STR(ids(u, "b<Yx>Yb"), "3 5 10 5 5");
    nino_unigram_destroy(&u);
    nino_unigram_destroy(&u);
}

// escape_whitespaces of the normaliser: spaces stay spaces, which no piece here has.
static void unescaped(bool is_unescaped, const char *want)
{
    nino_buf b = { 0 }, n = { 0 };
    add_pieces(&b);
    text_number(&n, 3, 0);
    text_number(&n, 5, !is_unescaped);
    text_bytes(&b, 3, n.data, n.len);
    nino_buf_release(&n);
    nino_unigram *u = model_of(&b);
    CHECK_STR(ids(u, "b b"), want);
    nino_unigram_destroy(&u);
}

static void switches(void)
{
    nino_buf b = { 0 };
    unescaped(false, "5 3 5");
    unescaped(true, "5 2 5");
    add_pieces(&b);
    add_normalizer(&b, false, false);
    nino_unigram *u = model_of(&b);
    CHECK_STR(ids(u, "a"), "4");
    CHECK_STR(ids(u, " a  b "), "9 3 3 5 3");
    nino_unigram_destroy(&u);
    add_pieces(&b); // no normaliser: the defaults, no character map
    u = model_of(&b);
    CHECK_STR(ids(u, " a  b A"), "9 3 5 3 2");
    nino_unigram_destroy(&u);
}

// A user-defined piece costs 0.1, less than any sum of real scores.
static void user_defined(void)
{
    nino_buf b = { 0 };
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, SP, -1, 1);
    text_piece(&b, "x", -1, 1);
    text_piece(&b, "y", -1, 1);
    text_piece(&b, "xyx", 0, 4);
    nino_unigram *u = model_of(&b);
    CHECK_STR(ids(u, "yxyxy"), "1 3 4 3");
    nino_unigram_destroy(&u);
}

static void add_bytes(nino_buf *b, int n)
{
    nino_buf trainer = { 0 };
    for (int i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof(name), "<0x%02X>", (unsigned) i);
        text_piece(b, name, 0, 6);
    }
    text_number(&trainer, 35, 1);
    text_bytes(b, 2, trainer.data, trainer.len);
    nino_buf_release(&trainer);
}

static void byte_fallback(void)
{
    nino_buf b = { 0 };
    nino_unigram *u = NULL;
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, SP, -1, 1);
    text_piece(&b, "x", -1, 1);
    add_bytes(&b, 256);
    u = model_of(&b);
    CHECK_STR(ids(u, "xq\xc3\xa9x"), "1 2 116 198 172 2"); // byte + 3
    nino_unigram_destroy(&u);
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, "x", -1, 1);
    add_bytes(&b, 255);
    CHECK(nino_unigram_from_spiece(b.data, b.len, "m", &u, &err) == NINO_ERR_FORMAT && !u);
    nino_buf_release(&b);
}

static void parts(void)
{
    const nino_piece list[] = { { "<unk>", 5, 0, NINO_PIECE_UNKNOWN },
                                { "a", 1, -1, NINO_PIECE_NORMAL },
                                { " ", 1, -1, NINO_PIECE_NORMAL } };
    nino_unigram_parts p = { .pieces = list, .n_pieces = 3, .no_escape = true };
    nino_unigram *u = NULL;
    CHECK_OK(nino_unigram_from_parts(&p, "gguf", &u, &err), err);
    CHECK_STR(ids(u, "a a"), "2 1 2 1");
    nino_unigram_destroy(&u);
    p.n_pieces = 0;
    CHECK(nino_unigram_from_parts(&p, "gguf", &u, &err) == NINO_ERR_FORMAT);
}

// ---- tokenizer.json --------------------------------------------------------------------------

static char *base64(const nino_buf *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc(b->len / 3 * 4 + 8);
    size_t n = 0;
    for (size_t i = 0; i < b->len; i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < b->len ? (unsigned char) b->data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            out[n++] = i + k <= b->len ? digits[v >> (18 - 6 * k) & 63] : '=';
    }
    out[n] = 0;
    return out;
}

#define JSON_VOCAB                                                                                 \
    "[[\"<pad>\", 0], [\"</s>\", 0], [\"<unk>\", 0], [\"" SP "\", -2], [\"a\", -3], [\"b\", -3], " \
    "[\"ab\", -5], [\"" SP "a\", -4], [\"\xc3\xa9\", -3]]"
#define JSON_MODEL "\"model\": {\"type\": \"Unigram\", \"unk_id\": 2, \"vocab\": " JSON_VOCAB "}"
#define JSON_ADDED                                                                                 \
    "\"added_tokens\": [{\"id\": 1, \"content\": \"</s>\"}, {\"id\": 50, \"content\": \"<e>\", "   \
    "\"lstrip\": true, \"rstrip\": true}, {\"id\": 51, \"content\": \"<e>>\"}]"
#define JSON_METASPACE                                                                             \
    "{\"type\": \"Metaspace\", \"replacement\": \"" SP "\", \"prepend_scheme\": \"%s\"}"

static nino_unigram *json_of(const char *normalizer, const char *pre)
{
    nino_buf b = { 0 };
    nino_unigram *u = NULL;
    nino_buf_addf(&b, "{" JSON_ADDED ", \"normalizer\": %s, \"pre_tokenizer\": %s, " JSON_MODEL "}",
                  normalizer, pre);
    CHECK_OK(nino_unigram_from_json(b.data, b.len, "tokenizer.json", &u, &err), err);
    nino_buf_release(&b);
    return u;
}

// A text of words, none of them long, that becomes longer than any may.
static void too_long(void)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    int32_t *list = NULL;
    int n = 0;
    nino_unigram *u = json_of("{\"type\": \"Replace\", \"pattern\": {\"String\": \"b\"}, "
                              "\"content\": \"aaaaaaaaa\"}",
                              "{\"type\": \"WhitespaceSplit\"}");
    CHECK(text != NULL);
    for (int i = 0; i < N; i++)
        text[i] = i & 1 ? ' ' : 'b';
    CHECK(nino_unigram_ids(u, text, N, &list, &n, &err) == NINO_ERR_RANGE && !list);
    CHECK(strstr(err.msg, "too long"));
    free(text);
    nino_unigram_destroy(&u);
}

static void json_words(void)
{
    char pre[256];
    snprintf(pre, sizeof(pre), JSON_METASPACE, "first");
    nino_unigram *u =
        json_of("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Strip\", "
                "\"strip_left\": false, \"strip_right\": true}, {\"type\": "
                "\"Replace\", \"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \"" SP "\"}]}",
                pre);
    CHECK(nino_unigram_size(u) == 52);
    CHECK_STR(ids(u, "ab"), "3 6");
    CHECK_STR(ids(u, "a   ab  "), "7 3 6");
    CHECK_STR(ids(u, "  a"), "7");
    CHECK_STR(ids(u, " "), "");
    CHECK_STR(ids(u, "qa q"), "3 2 4 3 2");
    // Added tokens; only the first part gets a space in front.
    CHECK_STR(ids(u, "a</s>a"), "7 1 4");
    CHECK_STR(ids(u, "</s>a"), "1 4");
    CHECK_STR(ids(u, "</s> a"), "1 7");
    CHECK_STR(ids(u, "a <e> a"), "7 50 4"); // takes the spaces beside it
    CHECK_STR(ids(u, "a<e>>a"), "7 51 4");  // the longest
    nino_unigram_destroy(&u);
    snprintf(pre, sizeof(pre), JSON_METASPACE, "always");
    u = json_of("null", pre);
    CHECK_STR(ids(u, "a</s>a"), "7 1 7");
    CHECK_STR(ids(u, "a  a"), "7 3 7");
    nino_unigram_destroy(&u);
    u = json_of("null", "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
                        "\"WhitespaceSplit\"}, {\"type\": \"Metaspace\", \"replacement\": \"" SP
                        "\", \"add_prefix_space\": true}]}");
    CHECK_STR(ids(u, "  a\n\xe3\x80\x80"
                     "ab "),
              "7 3 6");
    nino_unigram_destroy(&u);
    too_long();
    // The four separators are no white space there, though they are in Unicode.
    u = json_of("{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}", "null");
    CHECK_STR(ids(u, "\x1c"
                     "a\x1f"),
              "2 4 2");
    CHECK_STR(ids(u, "\x0b"
                     "a\xc2\x85 "),
              "4");
    nino_unigram_destroy(&u);
    u = json_of("{\"type\": \"Replace\", \"pattern\": {\"String\": \"xx\"}, \"content\": \"b\"}",
                "null");
    CHECK_STR(ids(u, "xxax"), "5 4 2");
    nino_unigram_destroy(&u);
}

// The map goes by grapheme clusters, and by the shortest rule that fits one.
static void json_charsmap(void)
{
    static const text_rule map_rules[] = {
        { "x", "a" }, { "xy", "b" }, { "e\xcc\x81", "\xc3\xa9" }, { NULL, NULL }
    };
    nino_buf map = text_charsmap(map_rules), step = { 0 };
    char *text = base64(&map);
    nino_buf_addf(&step, "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"%s\"}", text);
    nino_unigram *u = json_of(step.data, "null");
    CHECK_STR(ids(u, "xy"), "4 2");                           // two clusters: x, then y
    CHECK_STR(ids(u, "ae\xcc\x81"), "4 8");                   // one cluster
    CHECK_STR(ids(u, "ax\xcc\x81"), "4 4");                   // the accent goes with its cluster
    CHECK_STR(ids(u, "ax\xcc\x81\xcc\x81\xcc\x81"), "4 4 2"); // too long: by characters
    nino_unigram_destroy(&u);
    free(text);
    nino_buf_release(&step);
    nino_buf_release(&map);
}

// ---- damaged files ---------------------------------------------------------------------------

static void refused(nino_buf *b, const char *kind)
{
    nino_unigram *u = NULL;
    const nino_status st = nino_unigram_from_spiece(b->data ? b->data : "", b->len, "m", &u, &err);
    if (st == NINO_OK || u || strcmp(err.kind, kind) || strchr(err.msg, '\n')) {
        fprintf(stderr, "%d %s: %s, not %s\n", (int) st, err.kind, err.msg, kind);
        exit(1);
    }
    nino_buf_release(b);
}

static void damaged(void)
{
    nino_buf b = { 0 }, good = { 0 };
    nino_unigram *u = NULL;
    refused(&b, "schema"); // nothing in it
    nino_buf_adds(&b, "this is no model at all, only text");
    refused(&b, "syntax");
    text_piece(&b, "a", -1, 1);
    refused(&b, "schema"); // no unknown piece
    text_piece(&b, "<unk>", 0, 2);
    refused(&b, "schema"); // only that
    for (int i = 0; i < 2; i++)
        text_piece(&b, "<unk>", 0, 2);
    refused(&b, "schema");
    for (int i = 0; i < 2; i++)
        text_piece(&b, "a", 0, 1);
    refused(&b, "dup");
    text_piece(&b, "", 0, 1);
    refused(&b, "schema");
    text_piece(&b, "a", 0, 9);
    refused(&b, "schema");
    text_piece(&b, "a", NAN, 1);
    refused(&b, "schema");
    text_piece(&b, "<0x41>", 0, 6); // bytes that are not used
    refused(&b, "schema");
    text_piece(&b, "<byte>", 0, 6);
    refused(&b, "schema");
    text_bytes(&b, 2, "\x18\x02", 2); // model_type BPE
    refused(&b, "model");
    text_bytes(&b, 3, "\x12\x05\x04\0\0\0x", 7); // a map without a trie
    refused(&b, "schema");
    // Every cut of a good model that is not at a field's end.
    add_pieces(&good);
    add_normalizer(&good, true, true);
    for (size_t n = 0; n < good.len; n += n < 300 ? 1 : 997) {
        if (nino_unigram_from_spiece(good.data, n, "m", &u, &err) == NINO_OK)
            nino_unigram_destroy(&u);
        else
            CHECK(!strcmp(err.kind, "syntax") || !strcmp(err.kind, "schema"));
    }
    nino_buf_release(&good);
}

static void damaged_json(void)
{
    static const char *const bad[][2] = {
        { "", "syntax" },
        { "{}", "schema" },
        { "{\"model\": {\"type\": \"BPE\"}}", "model" },
        { "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": []}}", "schema" },
        { "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 1, \"vocab\": [[\"a\", 0]]}}",
          "schema" },
        { "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"a\"]]}}", "schema" },
        { "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"a\", NaN]]}}",
          "schema" },
        { "{\"added_tokens\": [{\"id\": -1, \"content\": \"x\"}], " JSON_MODEL "}", "schema" },
        { "{\"normalizer\": {\"type\": \"NFD\"}, " JSON_MODEL "}", "model" },
        { "{\"normalizer\": {\"type\": \"Replace\", \"content\": \"x\"}, " JSON_MODEL "}",
          "schema" },
        { "{\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"Regex\": \".*\"}, \"content\": "
          "\"x\"}, " JSON_MODEL "}",
          "model" },
        { "{\"normalizer\": {\"type\": \"Precompiled\", \"precompiled_charsmap\": "
          "\"!\"}, " JSON_MODEL "}",
          "schema" },
        { "{\"pre_tokenizer\": {\"type\": \"ByteLevel\"}, " JSON_MODEL "}", "model" },
        { "{\"pre_tokenizer\": {\"type\": \"Metaspace\"}, " JSON_MODEL "}", "schema" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        nino_unigram *u = NULL;
        CHECK(nino_unigram_from_json(bad[i][0], strlen(bad[i][0]), "t.json", &u, &err) && !u);
        CHECK_STR(err.kind, bad[i][1]);
        CHECK_STR(err.where, "t.json");
    }
}

int main(void)
{
    pieces();
    switches();
    user_defined();
    byte_fallback();
    parts();
    json_words();
    json_charsmap();
    damaged();
    damaged_json();
    return 0;
}
