// What tokenizers and prompts stand on, at its edges: sets of strings, character maps, protocol buffers,
// lower case, tokenizers inside a file; texts and steps that grow beyond what is read.
#include "core/base/file.h"
#include "core/file/safetensors.h"
#include "core/text/bpe.h"
#include "core/text/charsmap.h"
#include "core/text/proto.h"
#include "core/text/strings.h"
#include "core/text/unicode.h"
#include "core/text/unigram.h"
#include "tests/unit/file/pth_file.h"
#include "tests/text.h"

#include <zlib.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-edges-XXXXXX";

static nino_weights *open_file(void)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/w", dir);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    return w;
}

// ---- strings -----------------------------------------------------------------------------------

static void check_strings(void)
{
    nino_strings s = { 0 };
    bool is_new;
    CHECK(nino_strings_find(&s, "a", 1) == -1);
    nino_strings_prefetch(&s, 5); // of none: nothing happens
    CHECK(!nino_strings_reserve(&s, (1u << 30) + 1, 0));
    CHECK(!nino_strings_reserve(&s, 1, ((size_t) 1 << 31) + 1) && !s.cap && !s.n_slots);
    CHECK(nino_strings_reserve(&s, 2, 3) && nino_strings_reserve(&s, 1, 1) && s.cap == 2);
    // one hash for all: they are told apart by what they are (until the table grows)
    CHECK(nino_strings_reserve(&s, 40, 100));
    static const char *const all[] = { "ab", "ac", "", "abc", "b" };
    for (int i = 0; i < 5; i++) {
        CHECK(nino_strings_add_hashed(&s, 77, all[i], strlen(all[i]), &is_new) == i && is_new);
        CHECK(nino_strings_add_hashed(&s, 77, all[i], strlen(all[i]), &is_new) == i && !is_new);
    }
    for (int i = 0; i < 5; i++)
        CHECK(nino_strings_find_hashed(&s, 77, all[i], strlen(all[i])) == i);
    CHECK(nino_strings_find_hashed(&s, 77, "ad", 2) == -1 && s.longest == 3);
    nino_strings_prefetch(&s, 77);
    nino_strings_release(&s);
    char name[16]; // many: it grows, and finds them all
    for (int i = 0; i < 3000; i++) {
        const int n = snprintf(name, sizeof(name), "%d", i * 7);
        CHECK(nino_strings_add(&s, name, (size_t) n, &is_new) == i && is_new);
    }
    for (int i = 0; i < 21000; i++) {
        const int n = snprintf(name, sizeof(name), "%d", i);
        CHECK(nino_strings_find(&s, name, (size_t) n) == (i % 7 ? -1 : i / 7));
    }
    nino_strings_release(&s);
}

// ---- files -------------------------------------------------------------------------------------

static void check_charsmap(void)
{
    static const struct {
        const char *blob;
        size_t n;
    } bad[] = { { "\4\0\0", 3 },
                { "\4\0\0\0", 4 },
                { "\0\0\0\0\0\0\0\0\0", 9 },
                { "\3\0\0\0\0\0\0\0\0", 9 },
                { "\5\0\0\0\0\0\0\0\0\0\0", 11 },
                { "\10\0\0\0\0\0\0\0\0", 9 },
                { "\4\0\0\0\0\0\0\0", 8 },
                { "\4\0\0\0\0\0\0\0x", 9 } };
    nino_charsmap m;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        err = (nino_error){ 0 };
        CHECK(nino_charsmap_load(&m, bad[i].blob, bad[i].n, "m", &err) == NINO_ERR_FORMAT);
        CHECK(!m.units && !m.text && strstr(err.msg, "damaged"));
    }
    CHECK_OK(nino_charsmap_load(&m, "\4\0\0\0\0\0\0\0", 9, "m", &err), err);
    CHECK(m.n_units == 1 && m.n_text == 1);
    nino_charsmap_release(&m);
    const size_t n = ((size_t) 64 << 20) + 1;
    char *large = calloc(n, 1); // right but for its length
    CHECK(large);
    large[0] = 4;
    CHECK(nino_charsmap_load(&m, large, n, "m", &err) == NINO_ERR_FORMAT && !m.units);
    CHECK_OK(nino_charsmap_load(&m, large, n - 1, "m", &err), err);
    nino_charsmap_release(&m);
    free(large);
}

static void check_proto(void)
{
    static const struct {
        const char *p;
        size_t n;
        bool is_good;
        uint64_t value;
    } cases[] = {
        { "\x08\x05", 2, true, 5 },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, true, UINT64_MAX },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, false, 0 },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 12, false, 0 },
        { "\x08\x85", 2, false, 0 },
        { "\x08", 1, false, 0 },
        { "\x0b\x00", 2, false, 0 }, // a group
        { "\x00\x00", 2, false, 0 }, // field 0
        { "\x0a\x05xx", 4, false, 0 },
        { "\x0d\1\2\3", 4, false, 0 },
        { "\x09\1\2\3\4\5\6\7\x08", 9, true, 0x0807060504030201 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_proto r = nino_proto_of(cases[i].p, cases[i].n);
        nino_proto_field f;
        CHECK(nino_proto_next(&r, &f) == cases[i].is_good && r.is_bad == !cases[i].is_good);
        CHECK(!cases[i].is_good || (f.number == 1 && f.value == cases[i].value));
        CHECK(!nino_proto_next(&r, &f)); // the end, or still bad
        float v = 3;
        CHECK(!cases[i].is_good || (!nino_proto_float(&f, &v) && v == 3));
    }
}

// ---- lower case --------------------------------------------------------------------------------

#define SIGMA "\xce\xa3"
#define SMALL "\xcf\x83"
#define FINAL "\xcf\x82"

// Python's answers: the capital sigma that ends a word is another small one.
static void check_sigma(void)
{
    static const char *const cases[][2] = {
        { "A" SIGMA, "a" FINAL },
        { "A." SIGMA, "a." FINAL },
        { "A^" SIGMA, "a^" FINAL },
        { "A\xcc\x81" SIGMA, "a\xcc\x81" FINAL },         // an accent
        { "A\xe2\x83\x9d" SIGMA, "a\xe2\x83\x9d" FINAL }, // a circle around it
        { "A\xc2\xad" SIGMA, "a\xc2\xad" FINAL },         // a soft hyphen
        { "A\xca\xb0" SIGMA, "a\xca\xb0" FINAL },         // a letter that modifies
        { "A\xc2\xa8" SIGMA, "a\xc2\xa8" FINAL },         // a symbol that does
        { "\xcd\xb8" SIGMA, "\xcd\xb8" SMALL },           // what is no letter yet
        { "." SIGMA, "." SMALL },
        { SIGMA, SMALL },
        { " " SIGMA, " " SMALL },
        { "1" SIGMA, "1" SMALL },
        { "A" SIGMA ".", "a" FINAL "." },
        { "A" SIGMA ".B", "a" SMALL ".b" },
        { "A" SIGMA "\xcc\x81 b", "a" FINAL "\xcc\x81 b" },
        { "A" SIGMA "\xcd\xb8", "a" FINAL "\xcd\xb8" },
        { "A" SIGMA "'", "a" FINAL "'" },
        { "A" SIGMA "1", "a" FINAL "1" },
        // what has a case and is no letter of one: an ordinal, a Roman numeral, letters in a circle and in a square
        { "\xc2\xaa" SIGMA, "\xc2\xaa" FINAL },
        { "A" SIGMA "\xc2\xba", "a" SMALL "\xc2\xba" },
        { "\xe2\x85\xa0" SIGMA, "\xe2\x85\xb0" FINAL },
        { "\xe2\x85\xbf" SIGMA, "\xe2\x85\xbf" FINAL },
        { "\xe2\x86\x80" SIGMA, "\xe2\x86\x80" SMALL }, // a thousand, by another numeral, has none
        { "\xe2\x92\xb6" SIGMA, "\xe2\x93\x90" FINAL },
        { "\xf0\x9f\x85\x89" SIGMA, "\xf0\x9f\x85\x89" FINAL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = { 0 };
        nino_text_lower(&b, cases[i][0], strlen(cases[i][0]));
        CHECK_STR(b.data, cases[i][1]);
        nino_buf_release(&b);
    }
}

static void check_cases(void)
{
    static const struct {
        void (*f)(nino_buf *, const char *, size_t);
        const char *from, *to;
    } cases[] = { { nino_text_upper,
                    "stra\xc3\x9f"
                    "e",
                    "STRASSE" },
                  { nino_text_title,
                    "\xc3\x9f"
                    "a b\xc3\x9f",
                    "Ssa B\xc3\x9f" },
                  { nino_text_capitalize, "\xc3\x9fL", "Ssl" },
                  { nino_text_capitalize, "", "" },
                  { nino_text_lower, "\xc4\xb0X", "i\xcc\x87x" },
                  { nino_text_nfc, "e\xcc\x81", "\xc3\xa9" } };
    static const uint32_t spaces[] = { ' ', '\t', 0x1c, 0x85, 0xa0, 0x2028, 0x2029, 0x3000 },
                          others[] = { 'a', 0x200b, 0x180e, 0x2060, 0xfeff };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = { 0 };
        cases[i].f(&b, cases[i].from, strlen(cases[i].from));
        CHECK_STR(b.data ? b.data : "", cases[i].to);
        nino_buf_release(&b);
    }
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        CHECK(nino_text_is_space(spaces[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!nino_text_is_space(others[i]));
    CHECK(nino_text_digit('7') == 7 && nino_text_digit(0x667) == 7 && nino_text_digit(0xb2) == -1);
}

// ---- tokenizers --------------------------------------------------------------------------------

// Not a text of U8 of a length that is read.
static void check_inside(void)
{
    nino_tokenizer *t = NULL;
    nino_array *none = nino_array_create(NINO_U8, NINO_SHAPE(0)),
               *some = nino_array_create(NINO_U8, NINO_SHAPE(8));
    CHECK(none && some);
    memset(some->data, 'x', 8);
    const nino_st_entry e[] = { { "spiece_model", none }, { "tekken_model", some } };
    CHECK_OK(nino_st_save(dir, "w", true, e, 1, NULL, 0, &err), err);
    nino_weights *w = open_file();
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK_STR(err.kind, "dtype");
    nino_weights_unref(&w);
    CHECK_OK(nino_st_save(dir, "w", true, e + 1, 1, NULL, 0, &err), err);
    w = open_file();
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK(strstr(err.where, "tekken_model"));
    char path[128];
    snprintf(path, sizeof(path), "%s/w", dir);
    CHECK(!truncate(path, 20)); // under a reader
    CHECK(nino_tokenizer_from_weights(w, &t, &err) && !t && err.msg[0]);
    nino_weights_unref(&w);
    nino_array_unref(&none);
    nino_array_unref(&some);

    static const char header[] = "{\"spiece_model\":{\"dtype\":\"U8\",\"shape\":[67108865],"
                                 "\"data_offsets\":[0,67108865]}}";
    const uint64_t n = sizeof(header) - 1; // a byte more than 64 MiB, which are a hole
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(&n, 1, 8, f) == 8 && fputs(header, f) >= 0 && !fclose(f));
    CHECK(!truncate(path, (off_t) (8 + n + 67108865)));
    w = open_file();
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK(strstr(err.msg, "at most 64 MiB"));
    nino_weights_unref(&w);

    static const char turned[] = "\x80\x02}X\x0c\0\0\0spiece_model" REBUILD
                                 "((X\7\0\0\0storagectorch\nByteStorage\n" KEY("0")
                                     KEY("c") "K\6tQK\0K\2K\3\x86K\1K\2\x86\x89" DICT "tRs.";
    nino_buf b = pth_archive(turned, sizeof(turned) - 1);
    w = pth_open_bytes(b.data, b.len, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(nino_tokenizer_from_weights(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK_STR(err.kind, "dtype");
    nino_weights_unref(&w);
    nino_buf_release(&b);
}

// Each kind of file, by the kind of tokenizer that wants it: it is opened, and refused for what it is.
static void check_kinds(void)
{
    static const struct {
        nino_tokenizer_kind kind;
        const char *file, *says;
    } cases[] = {
        { NINO_TOKENIZER_MISTRAL, "tekken.json", "vocab" },
        { NINO_TOKENIZER_MISTRAL, "tokenizer.json", "vocabulary" },
        { NINO_TOKENIZER_QWEN, "tokenizer.json", "vocabulary" },
        { NINO_TOKENIZER_CLIP, "tokenizer.json", "vocabulary" },
        { NINO_TOKENIZER_T5, "tokenizer.json", "there is no model" },
        { NINO_TOKENIZER_UMT5, "tokenizer.json", "there is no model" },
    };
    const char *dirs[] = { dir, NULL };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_tokenizer *t = NULL;
        char path[128];
        CHECK_OK(nino_file_save(dir, cases[i].file, true, "{}", 2, &err), err);
        CHECK(nino_tokenizer_open(cases[i].kind, dirs, &t, &err) == NINO_ERR_FORMAT && !t);
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "  %s: %s\n", cases[i].file, err.msg);
        CHECK(strstr(err.where, cases[i].file) && strstr(err.msg, cases[i].says));
        snprintf(path, sizeof(path), "%s/%s", dir, cases[i].file);
        CHECK(!unlink(path));
    }
    nino_buf model = { 0 };
    nino_tokenizer *t = NULL;
    text_piece(&model, "<unk>", 0, 2);
    text_piece(&model, "a", -1, 1);
    CHECK_OK(nino_tokenizer_from_spiece(model.data, model.len, "m", &t, &err), err);
    CHECK(nino_tokenizer_special(t, "<unk>") == -1 && nino_tokenizer_size(t) == 2);
    nino_tokenizer_unref(&t);
    nino_buf_release(&model);
}

// A vocabulary of more lines than merges are read is unpacked as far as those; one that is cut is refused.
static void check_packed(void)
{
    nino_buf text = { 0 };
    nino_bpe *b = NULL;
    nino_buf_adds(&text, "#version\n");
    for (int i = 0; i < 60000; i++) // pairs of bytes
        nino_buf_addf(&text, "%c %c\n", 'A' + i / 57 % 57, 'A' + i % 57);
    for (int k = 0; k < 3; k++) {
        unsigned char *packed = malloc(text.len + 1000);
        z_stream z = { .next_in = (Bytef *) text.data,
                       .avail_in = (uInt) (k ? 40000 : text.len),
                       .next_out = packed,
                       .avail_out = (uInt) text.len + 1000 };
        CHECK(packed && deflateInit2(&z, 0, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END && deflateEnd(&z) == Z_OK);
        const size_t n = z.total_out - (k == 0 ? 1000 : k == 2 ? 4 : 0); // the end is not looked at
        const nino_status st = nino_bpe_from_simple((char *) packed, n, "v", &b, &err);
        CHECK(k == 2 ? st == NINO_ERR_FORMAT && !b && !strcmp(err.kind, "truncated") : !st && b);
        nino_bpe_destroy(&b);
        free(packed);
    }
    nino_bpe_destroy(NULL);
    nino_bpe_destroy(&b);
    nino_buf_release(&text);
}

static void check_specials(void)
{
    static const struct {
        const char *tokens, *says;
    } cases[] = {
        { "[]", NULL },
        { "[{'content':'<x>','id':300}]", NULL },
        { "[{'content':'<x>','id':300},{'content':'<x>','id':301}]", NULL },
        { "[{'content':'','id':300}]", "no text" },
        { "[{'content':'<x>','id':-1}]", "no text" },
        { "[{'content':'<x>','id':16777216}]", "or no id" },
        { "[{'content':'<x>','id':1.5},{'content':'<y>','id':2}]", "no content or no id" },
        { "[{'id':1}]", "no content or no id" },
        { "[{'content':5,'id':1}]", "no content or no id" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf json = { 0 };
        char *tokens = test_quoted(cases[i].tokens);
        nino_bpe *b = NULL;
        uint32_t extra = 256;
        nino_buf_adds(&json, "{\"model\":{\"merges\":[],\"vocab\":{");
        for (int c = 0; c < 256; c++) { // a symbol a byte
            const bool is_plain = (c >= 33 && c <= 126) || (c >= 161 && c != 173);
            nino_buf name = { 0 };
            nino_buf_addc(&json, c ? ',' : ' ');
            nino_text_put(&name, is_plain ? (uint32_t) c : extra++);
            nino_buf_add_json_string(&json, name.data, name.len);
            nino_buf_addf(&json, ":%d", c);
            nino_buf_release(&name);
        }
        nino_buf_addf(&json, "}},\"added_tokens\":%s}", tokens);
        const nino_status st =
            nino_bpe_from_json(NINO_BPE_MISTRAL, json.data, json.len, "j", &b, &err);
        if (cases[i].says ? !st || !strstr(err.msg, cases[i].says) : st)
            fprintf(stderr, "  %s: %s\n", cases[i].tokens, err.msg);
        CHECK(cases[i].says ? st && !b && strstr(err.msg, cases[i].says) : !st && b);
        CHECK(!b || nino_bpe_special(b, "<x>") == (i ? 300 : -1));
        nino_bpe_destroy(&b);
        free(tokens);
        nino_buf_release(&json);
    }
}

// ---- texts that grow ---------------------------------------------------------------------------

// What a step makes of the text may be at most 4 MiB, also where the next one would shorten it again.
static void check_growing(void)
{
    enum { N = 1 << 20 };
    static const char begin[] = "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[",
                      end[] = "]},\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":"
                              "[[\"<unk>\",0],[\"a\",-1]]}}";
    static const char *const steps[] = {
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"bbbbbbbb\"},"
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"bbbbbbbb\"},\"content\":\"a\"}",
        "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},"
        "\"content\":\"bbbbbbbbbbbbbbbbbbbbbbbb\"},"
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"bb\"},\"content\":\"\"}",
    };
    char *text = malloc(N + 1);
    CHECK(text);
    for (int k = 0; k < 2; k++) {
        nino_buf json = { 0 };
        nino_unigram *u = NULL;
        int32_t *ids = NULL;
        int n = 0;
        nino_buf_addf(&json, "%s%s%s", begin, steps[k], end);
        CHECK_OK(nino_unigram_from_json(json.data, json.len, "j", &u, &err), err);
        for (int i = 0; i < N; i++)
            text[i] = k && i % 3 ? ' ' : 'a';
        text[N] = 'a';
        CHECK(nino_unigram_ids(u, text, N, &ids, &n, &err) == NINO_ERR_RANGE && !ids);
        CHECK(strstr(err.msg, "too long"));
        CHECK_OK(nino_unigram_ids(u, text, 3000, &ids, &n, &err), err);
        CHECK(n == (k ? 1000 : 3000));
        free(ids);
        ids = NULL;
        CHECK(nino_unigram_ids(u, text, N + 1, &ids, &n, &err) == NINO_ERR_RANGE && !ids);
        nino_unigram_destroy(&u);
        nino_buf_release(&json);
    }
    nino_unigram *never = NULL;
    nino_unigram_destroy(&never);
    nino_unigram_destroy(NULL);
    free(text);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(dir));
    check_strings();
    check_charsmap();
    check_proto();
    check_sigma();
    check_cases();
    check_inside();
    check_kinds();
    check_packed();
    check_specials();
    check_growing();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}
