// Any prompt is packed into whole chunks with the right frame; the same one twice gives the same.
#include "core/text/prompt.h"
#include "tests/fuzz/fuzz.h"
#include "tests/text.h"

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "(",
                                   ")",
                                   "((((",
                                   "))))",
                                   "\\(",
                                   "\\)",
                                   "\\",
                                   ":",
                                   ":1.2)",
                                   ":-inf)",
                                   ":1_0)",
                                   ":nan)",
                                   " embedding:",
                                   "\nembedding:",
                                   "embedding:x,",
                                   "embedding:two",
                                   "embedding:wide",
                                   "embedding:bad",
                                   " ",
                                   "\xe3\x80\x80",
                                   "\xef\xbc\x91",
                                   "\xe6\x97\xa5",
                                   "e\xcc\x81",
                                   "\xff",
                                   "</s>",
                                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                   NULL };

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char *const seeds[] = {
        "a (b:1.2) ((c)) \\(d\\) embedding:two, (embedding:wide:0.5)\nembedding:x\n(e (f:0.3) g)",
        "(((((((((a)))))))))) (a:b:1.5) () (:1) (a:",
        "aaaaaaaaaaaaaaaaaaaa (bababab:1.1)(bababab)(bababab)(bababababab)(bababab)(bababab)",
    };
    return fuzz_text(seeds, sizeof(seeds) / sizeof(seeds[0]), i, buf, cap);
}

static nino_tokenizer *tok;
enum { END_ID = 1, WIDTH = 4 };

static void open_once(void)
{
    nino_buf b = { 0 };
    nino_error err;
    if (tok)
        return;
    text_piece(&b, "<unk>", 0, 2);
    text_piece(&b, "</s>", 0, 3);
    text_piece(&b, "\xe2\x96\x81", -2, 1);
    text_piece(&b, "a", -3, 1);
    text_piece(&b, "aa", -3, 1);
    text_piece(&b, "b", -3, 1);
    CHECK_OK(nino_tokenizer_from_spiece(b.data, b.len, "fuzz", &tok, &err), err);
    nino_buf_release(&b);
}

// No file is opened here: names that would be found are refused, or said to be missing.
static nino_status embedding(void *priv, const char *name, nino_weights **out, nino_error *err)
{
    (void) priv;
    (void) out;
    CHECK(*name && !strpbrk(name, " \n\t"));
    return err->code = *name == 'b' ? NINO_ERR_FORMAT : NINO_ERR_MISSING;
}

static void warn(void *priv, const char *text)
{
    (void) priv;
    CHECK(*text && !strchr(text, '\n'));
    TELL("warned: %s\n", text);
}

static void check(const nino_prompt *p, const nino_prompt_rules *r)
{
    CHECK(p->n_chunks >= 1 && p->chunk_len >= r->max_len && p->chunk_len >= r->min_len);
    CHECK(!p->vectors && !p->n_vectors);
    TELL("%d of %d, %d:", p->n_chunks, p->chunk_len, p->is_weighted);
    for (int c = 0; c < p->n_chunks; c++) {
        const nino_token *t = p->tokens + (size_t) c * (size_t) p->chunk_len;
        const int n = nino_prompt_attended(p, c);
        CHECK(n >= 1 && n <= p->chunk_len && t[n - 1].id == END_ID);
        CHECK(r->start < 0 || t[0].id == r->start);
        for (int i = 0; i < p->chunk_len; i++) {
            CHECK(t[i].id >= 0 && t[i].vector == -1 && t[i].attend == (i < n));
            CHECK(t[i].word || t[i].weight == 1.0f);
            CHECK(i < n || t[i].id == r->pad);
            if (i <= n && i < p->chunk_len)
                TELL(" %d/%d/%.4g", t[i].id, t[i].word, (double) t[i].weight);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error err = { 0 };
    char *text = malloc(size + 1);
    CHECK(text);
    memcpy(text, data, size);
    text[size] = 0;
    open_once();
    for (int style = NINO_PROMPT_CLIP_L; style <= NINO_PROMPT_UMT5_WAN; style++) {
        nino_prompt p, q;
        nino_prompt_rules r = nino_prompt_rules_of((nino_prompt_style) style);
        r.end = END_ID;
        r.embedding = style == NINO_PROMPT_CLIP_H ? NULL : embedding;
        r.warn = warn;
        if (nino_prompt_build(tok, &r, text, &p, &err)) {
            CHECK(err.code == NINO_ERR_RANGE && !p.tokens);
            tell_error(&err);
            continue;
        }
        check(&p, &r);
        CHECK_OK(nino_prompt_build(tok, &r, text, &q, &err), err);
        CHECK(p.n_chunks == q.n_chunks && p.chunk_len == q.chunk_len);
        for (int i = 0; i < p.n_chunks * p.chunk_len; i++)
            CHECK(p.tokens[i].id == q.tokens[i].id && p.tokens[i].word == q.tokens[i].word &&
                  !memcmp(&p.tokens[i].weight, &q.tokens[i].weight, sizeof(float)));
        nino_prompt_release(&p);
        nino_prompt_release(&q);
    }
    free(text);
    return 0;
}
