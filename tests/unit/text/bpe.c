// CLIP's tokenizer on a vocabulary of six merges: clean-up, splitting, merging, files that are
// damaged.
#include "core/text/bpe.h"
#include "tests/text.h"

#include <zlib.h>

static nino_error err;
static nino_bpe *bpe;

static const char *ids(nino_bpe_clean clean, const char *text)
{
    int32_t *list = NULL;
    int n = 0;
    CHECK_OK(nino_bpe_ids(bpe, clean, text, strlen(text), &list, &n, &err), err);
    return text_ids(list, n);
}

static void same(const char *a, const char *b)
{
    char first[8192];
    snprintf(first, sizeof(first), "%s", ids(NINO_BPE_CLEAN_HF, a));
    CHECK_STR(first, ids(NINO_BPE_CLEAN_HF, b));
}

// Ids of words of single bytes: "a b" stands for the words a and b.
static const char *spelled(const char *words)
{
    int32_t *list = malloc(sizeof(*list) * (strlen(words) + 1));
    int n = 0;
    for (const char *s = words; *s; s++)
        if (*s != ' ')
            list[n++] = text_byte(*s, !s[1] || s[1] == ' ');
    return text_ids(list, n);
}

static void spells(const char *text, const char *words)
{
    char want[8192];
    snprintf(want, sizeof(want), "%s", spelled(words));
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, text), want);
}

static void merging(void)
{
    CHECK(nino_bpe_size(bpe) == TEXT_END + 1);
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, ""), "");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "cat"), "513");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "Cat DOG"), "513 515");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "cats"), "512 83 338"); // ca t s</w>
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "dogcat"), "514 70 513");
    // From left to right; the last one is "a</w>", another symbol.
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "aaaa"), "516 64 320");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "aaaaa"), "516 516 320");
    // A word as long as a prompt.
    char *longest = malloc(100001);
    memset(longest, 'a', 100000);
    longest[100000] = 0;
    int32_t *list = NULL;
    int n = 0;
    CHECK_OK(nino_bpe_ids(bpe, NINO_BPE_CLEAN_HF, longest, 100000, &list, &n, &err), err);
    CHECK(n == 50001 && list[0] == TEXT_AA && list[49998] == TEXT_AA &&
          list[49999] == text_byte('a', 0) && list[50000] == text_byte('a', 1));
    free(list);
    free(longest);
}

static void splitting(void)
{
    spells("b e", "b e");
    spells("be12?!", "be 1 2 ?!");
    spells("b'x", "b ' x");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "b's"), "321 517"); // 's is one word
    spells("b're b'LL", "b 're b 'll");
    spells("!!'s", "!!' s"); // inside a run of others it is not
    spells("b_e-b", "b _ e - b");
    // Special tokens, exact or in other letters; in the middle of a run only exact ones.
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "<|startoftext|>b<|EndOfText|>"), "518 321 519");
    CHECK_STR(ids(NINO_BPE_CLEAN_HF, "!<|endoftext|>"), "256 519");
    CHECK_STR(ids(NINO_BPE_CLEAN_PLAIN, "b <|endoftext|>"), "321 519");
    // Superscript and Roman digits are numbers, one each.
    same("\xc2\xb2\xe2\x85\xa7", "\xc2\xb2 \xe2\x85\xa7");
}

static void cleaning(void)
{
    same(" \t b\r\n\xc2\xa0\xe3\x80\x80"
         "e ",
         "b e");
    same("b\x01\xe2\x80\x8b\xef\xbf\xbd"
         "e",
         "be");                                                     // control, format, U+FFFD
    same("e\xcc\x81", "\xc3\xa9");                                  // NFC
    same("\xe4\xb8\x80\xe4\xba\x8c", "\xe4\xb8\x80 \xe4\xba\x8c");  // ideographs
    same("\xce\x9f\xce\xa3", "\xce\xbf\xcf\x82");                   // final sigma
    same("\xce\xa3\xce\x9f \xce\xa3", "\xcf\x83\xce\xbf \xcf\x83"); // others
    same("\xc4\xb0", "i\xcc\x87");
    same("\xc3\x28", "("); // malformed
    CHECK(strcmp(ids(NINO_BPE_CLEAN_HF, "\xea\xb0\x80"), "") != 0);
    char hangul[64]; // stays one word
    snprintf(hangul, sizeof(hangul), "%s", ids(NINO_BPE_CLEAN_HF, "\xea\xb0\x80\xea\xb0\x81"));
    CHECK(strcmp(hangul, ids(NINO_BPE_CLEAN_HF, "\xea\xb0\x80 \xea\xb0\x81")) != 0);
    // The plain clean-up does none of that but white space and case.
    CHECK_STR(ids(NINO_BPE_CLEAN_PLAIN, " \t B\r\n\xe3\x80\x80"
                                        "e "),
              "321 324");
    char apart[64], together[64];
    snprintf(apart, sizeof(apart), "%s", ids(NINO_BPE_CLEAN_PLAIN, "\xe4\xb8\x80 \xe4\xba\x8c"));
    snprintf(together, sizeof(together), "%s",
             ids(NINO_BPE_CLEAN_PLAIN, "\xe4\xb8\x80\xe4\xba\x8c"));
    CHECK(strcmp(apart, together) != 0);
}

// ---- other files -----------------------------------------------------------------------------

#define SPECIALS "\"<|startoftext|>\": 2, \"<|endoftext|>\": 3"
#define VOCAB "{\"a\": 0, \"b</w>\": 1, " SPECIALS ", \"ab</w>\": 4}"

// Both ends are needed, and may stand anywhere in the vocabulary.
static void ends_of_files(void)
{
    static const char *const vocab[] = {
        "{\"<|startoftext|>\": 0, \"<|endoftext|>\": 1, \"a</w>\": 2}",
        "{\"<|endoftext|>\": 0, \"<|startoftext|>\": 1, \"a</w>\": 2}",
        "{\"<|startoftext|>\": 0, \"a</w>\": 1}",
        "{\"<|endoftext|>\": 0, \"a</w>\": 1}",
    };
    for (int k = 0; k < 4; k++) {
        nino_bpe *b = NULL;
        int32_t start, end;
        const nino_status st = nino_bpe_from_vocab(NINO_BPE_CLIP, vocab[k], strlen(vocab[k]),
                                                   "#version: 0.2\n", 14, "x", &b, &err);
        if (k >= 2) {
            CHECK(st == NINO_ERR_FORMAT && !b && strstr(err.msg, "<|endoftext|>"));
            continue;
        }
        CHECK_OK(st, err);
        nino_bpe_ends(b, &start, &end);
        CHECK(start == k && end == !k);
        nino_bpe_destroy(&b);
    }
}

static void other_files(void)
{
    ends_of_files();
    nino_bpe *b = NULL;
    int32_t *list = NULL;
    int n = 0;
    const char *merges = "#version: 0.2\r\na b</w>\r\n\r\n";
    CHECK_OK(nino_bpe_from_vocab(NINO_BPE_CLIP, VOCAB, strlen(VOCAB), merges, strlen(merges), "x",
                                 &b, &err),
             err);
    CHECK_OK(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, "ab aab z", 8, &list, &n, &err), err);
    CHECK_STR(text_ids(list, n), "4 0 4 3"); // the unknown z is <|endoftext|>
    int32_t start, end;
    nino_bpe_ends(b, &start, &end);
    CHECK(start == 2 && end == 3);
    nino_bpe_destroy(&b);
    for (int pairs = 0; pairs < 2; pairs++) {
        char json[512];
        snprintf(json, sizeof(json),
                 "{\"model\": {\"type\": \"BPE\", \"vocab\": %s, \"merges\": [%s]}}", VOCAB,
                 pairs ? "[\"a\", \"b</w>\"]" : "\"a b</w>\"");
        CHECK_OK(nino_bpe_from_json(NINO_BPE_CLIP, json, strlen(json), "x", &b, &err), err);
        CHECK_OK(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, "ab b", 4, &list, &n, &err), err);
        CHECK_STR(text_ids(list, n), "4 1");
        nino_bpe_destroy(&b);
    }
}

// ---- against the definition ------------------------------------------------------------------

enum { LETTERS = 3, SYMBOLS = 60, LONGEST = 120 };
static char symbol[SYMBOLS][64]; // of the first 2 * LETTERS, letters, the second half ends a word
static int pair[SYMBOLS][2];     // what the others are merged from, in the order of their ranks
static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % n;
}

static nino_bpe *random_merges(void)
{
    nino_buf vocab = { 0 }, merges = { 0 };
    nino_bpe *b = NULL;
    nino_buf_adds(&vocab, "{\"<|startoftext|>\": 100, \"<|endoftext|>\": 101");
    nino_buf_adds(&merges, "#version: 0.2\n");
    for (int i = 0; i < SYMBOLS; i++) {
        if (i < 2 * LETTERS) {
            snprintf(symbol[i], sizeof(symbol[i]), "%c%s", 'a' + i % LETTERS,
                     i < LETTERS ? "" : "</w>");
        } else {
            bool is_new = false;
            while (!is_new) {
                int *p = pair[i];
                do
                    p[0] = (int) any((uint32_t) i);
                while (strchr(symbol[p[0]], '<'));
                p[1] = (int) any((uint32_t) i);
                is_new = strlen(symbol[p[0]]) + strlen(symbol[p[1]]) < 14;
                snprintf(symbol[i], sizeof(symbol[i]), "%.30s%.30s", symbol[p[0]], symbol[p[1]]);
                for (int k = 0; k < i; k++)
                    is_new = is_new && strcmp(symbol[k], symbol[i]) != 0;
            }
            nino_buf_addf(&merges, "%s %s\n", symbol[pair[i][0]], symbol[pair[i][1]]);
        }
        nino_buf_addf(&vocab, ", \"%s\": %d", symbol[i], i);
    }
    nino_buf_addc(&vocab, '}');
    CHECK_OK(nino_bpe_from_vocab(NINO_BPE_CLIP, vocab.data, vocab.len, merges.data, merges.len, "x",
                                 &b, &err),
             err);
    nino_buf_release(&vocab);
    nino_buf_release(&merges);
    return b;
}

// The pair of the lowest rank, everywhere from left to right, until there is none.
static int merge_slowly(int *list, int n)
{
    for (int i = 2 * LETTERS; i < SYMBOLS; i++) {
        int k = 0, is_met = 0;
        for (int at = 0; at < n; at++, k++) {
            const int is = at + 1 < n && list[at] == pair[i][0] && list[at + 1] == pair[i][1];
            list[k] = is ? i : list[at];
            at += is;
            is_met |= is;
        }
        n = k;
        if (is_met)
            i = 2 * LETTERS - 1; // what is new may be half of an earlier pair
    }
    return n;
}

static void defined(void)
{
    nino_bpe *b = random_merges();
    for (int round = 0; round < 300; round++) {
        char word[LONGEST + 1] = "";
        int want[LONGEST], n_want = 1 + (int) any(LONGEST), n = 0;
        int32_t *list = NULL;
        for (int i = 0; i < n_want; i++) {
            want[i] = (int) any(LETTERS);
            word[i] = (char) ('a' + want[i]);
        }
        want[n_want - 1] += LETTERS;
        CHECK_OK(nino_bpe_ids(b, NINO_BPE_CLEAN_HF, word, strlen(word), &list, &n, &err), err);
        n_want = merge_slowly(want, n_want);
        CHECK(n == n_want);
        for (int i = 0; i < n; i++)
            CHECK(list[i] == want[i]);
        free(list);
    }
    nino_bpe_destroy(&b);
}

static nino_buf gzip(const char *text, size_t len)
{
    z_stream z = { .next_in = (Bytef *) text, .avail_in = (uInt) len };
    nino_buf out = { 0 };
    unsigned char part[4096];
    int r;
    CHECK(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    do {
        z.next_out = part;
        z.avail_out = sizeof(part);
        r = deflate(&z, Z_FINISH);
        nino_buf_add(&out, part, sizeof(part) - z.avail_out);
    } while (r == Z_OK);
    deflateEnd(&z);
    return out;
}

static void compressed(void)
{
    nino_buf z = gzip(TEXT_BPE_MERGES, strlen(TEXT_BPE_MERGES));
    nino_bpe *b = NULL;
    CHECK_OK(nino_bpe_from_simple(z.data, z.len, "vocab.gz", &b, &err), err);
    CHECK(nino_bpe_size(b) == TEXT_END + 1);
    nino_bpe_destroy(&b);
    CHECK(nino_bpe_from_simple(z.data, z.len - 9, "vocab.gz", &b, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "truncated");
    CHECK(nino_bpe_from_simple("\x1f\x8b", 2, "vocab.gz", &b, &err) == NINO_ERR_FORMAT &&
          !b); // the mark alone
    CHECK_STR(err.msg, "the gzip data is cut off or damaged");
    CHECK_OK(nino_bpe_from_simple("\x1f", 1, "vocab", &b, &err), err); // a line that is no pair
    nino_bpe_destroy(&b);
    nino_buf_release(&z);
    char *zeros = calloc(1, 65 << 20);
    CHECK(zeros);
    z = gzip(zeros, 65 << 20);
    free(zeros);
    CHECK(nino_bpe_from_simple(z.data, z.len, "vocab.gz", &b, &err) == NINO_ERR_FORMAT && !b);
    CHECK_STR(err.kind, "bomb");
    nino_buf_release(&z);
}

static void refused(const char *vocab, const char *merges, const char *kind)
{
    nino_bpe *b = NULL;
    const nino_status st = nino_bpe_from_vocab(NINO_BPE_CLIP, vocab, strlen(vocab), merges,
                                               strlen(merges), "v.json", &b, &err);
    if (st != NINO_ERR_FORMAT || b || strcmp(err.kind, kind) || strcmp(err.where, "v.json") ||
        strchr(err.msg, '\n')) {
        fprintf(stderr, "%s: %d %s: %s: %s, not %s\n", vocab, (int) st, err.kind, err.where,
                err.msg, kind);
        exit(1);
    }
}

static void damaged(void)
{
    refused("{\"a\": 0", "", "syntax");
    refused("[1]", "", "schema");
    refused("{\"a\": \"x\", " SPECIALS "}", "", "schema");
    refused("{\"a\": -1, " SPECIALS "}", "", "schema");
    refused("{\"a\": 99999999, " SPECIALS "}", "", "schema");
    refused("{\"a\": 0, \"a\": 1, " SPECIALS "}", "", "dup");
    refused("{\"a\": 0}", "", "schema"); // no special tokens
    refused("{" SPECIALS "}", "#version\nab\n", "schema");
    refused("{" SPECIALS "}", "#version\na b c\n", "schema");
    refused("{" SPECIALS "}", "#version\n a\n", "schema");
    nino_bpe *b = NULL;
    static const char *const jsons[] = { "{}", "{\"model\": {\"vocab\": " VOCAB "}}",
                                         "{\"model\": {\"vocab\": " VOCAB ", \"merges\": [3]}}",
                                         "{\"model\": {\"vocab\": " VOCAB
                                         ", \"merges\": [[\"a\"]]}}" };
    for (size_t i = 0; i < sizeof(jsons) / sizeof(jsons[0]); i++)
        CHECK(nino_bpe_from_json(NINO_BPE_CLIP, jsons[i], strlen(jsons[i]), "t.json", &b, &err) ==
                  NINO_ERR_FORMAT &&
              !b);
    int32_t *list = NULL;
    int n = 0;
    char *huge = malloc(NINO_BPE_MAX_TEXT + 1);
    memset(huge, 'a', NINO_BPE_MAX_TEXT + 1);
    CHECK(nino_bpe_ids(bpe, NINO_BPE_CLEAN_HF, huge, NINO_BPE_MAX_TEXT + 1, &list, &n, &err) ==
          NINO_ERR_RANGE);
    free(huge);
}

int main(void)
{
    CHECK_OK(nino_bpe_from_simple(TEXT_BPE_MERGES, strlen(TEXT_BPE_MERGES), "vocab", &bpe, &err),
             err);
    merging();
    splitting();
    cleaning();
    defined();
    other_files();
    compressed();
    damaged();
    nino_bpe_destroy(&bpe);
    nino_bpe_destroy(&bpe);
    return 0;
}
