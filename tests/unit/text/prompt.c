// Prompts as ComfyUI reads them: weights, escapes, word groups, chunks of 77, padding and masks.
// The expected values follow from the rules in prompt.h.
#include "core/text/prompt.h"
#include "core/base/file.h"
#include "core/text/prompt_parse.h"
#include "tests/text.h"

#include <math.h>

static nino_error err;
static nino_tokenizer *tok;
static char dir[] = "/tmp/ninodes-prompt-XXXXXX";

// ---- parentheses -----------------------------------------------------------------------------

// "text*weight|text*weight"
static const char *segments(const char *prompt)
{
    static char out[4096];
    const size_t len = strlen(prompt);
    char *copy = strdup(prompt);
    nino_segment *list = NULL;
    size_t n = 0, at = 0;
    nino_prompt_escape(copy, len);
    CHECK_OK(nino_prompt_segments(copy, len, &list, &n, &err), err);
    out[0] = 0;
    for (size_t i = 0; i < n; i++) {
        char *part = calloc(1, list[i].len + 1);
        memcpy(part, list[i].text, list[i].len);
        part[nino_prompt_unescape(part, list[i].len)] = 0;
        at += (size_t) snprintf(out + at, sizeof(out) - at, "%s%s*%.6g", i ? "|" : "", part,
                                list[i].weight);
        free(part);
    }
    free(list);
    free(copy);
    return out;
}

static void weights(void)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "a cat", "a cat*1" },
        { "(foo)", "foo*1.1" },
        { "(foo)(bar)", "foo*1.1|bar*1.1" },
        { "a (b) c", "a *1|b*1.1| c*1" },
        { "(foo:2.0)", "foo*2" },
        { "((foo))", "foo*1.21" },
        { "(((foo)))", "foo*1.331" },
        { "((foo):1.5)", "foo*1.65" }, // the inner pair multiplies what the outer one sets
        { "((foo:1.5))", "foo*1.5" },  // the inner number replaces
        { "(foo:0.0)", "foo*0" },
        { "(foo:1.9)", "foo*1.9" },
        { "(foo:9)", "foo*9" },
        { "(foo:.5)", "foo*0.5" },
        { "(foo:1e+1)", "foo*10" },
        { "(foo:5E-1)", "foo*0.5" },
        { "(foo:2e0)", "foo*2" },
        { "(foo:1e)", "foo:1e*1.1" },
        { "(foo:1e-)", "foo:1e-*1.1" },
        { "(foo:.)", "foo:.*1.1" },
        { "(foo:0x1)", "foo:0x1*1.1" },
        { "((foo:1.0):0.0)", "foo*1" },
        { "(a (b:1.3) c:0.5)", "a *0.5|b*1.3| c*0.5" },
        { "(a (b) c:0.5)", "a *0.5|b*0.55| c*0.5" },
        { "foo ((((lol (cat:666) attack:100)))) baz",
          "foo *1|lol *100|cat*666| attack*100| baz*1" },
        { "foo ((((lol (cat:666) attack):100))) baz",
          "foo *1|lol *110|cat*666| attack*110| baz*1" },
        // Numbers are what Python's float() reads; else the colon is text.
        { "(a:b)", "a:b*1.1" },
        { "(a:)", "a:*1.1" },
        { "(:1.2)", ":1.2*1.1" },
        { "(a:1.2:1.3)", "a:1.2*1.3" },
        { "(a:1.2:x)", "a:1.2:x*1.1" },
        { "(a: 1.2 )", "a*1.2" },
        { "(a:1 2)", "a:1 2*1.1" },
        { "(a:-.5)", "a*-0.5" },
        { "(a:+1.)", "a*1" },
        { "(a:.)", "a:.*1.1" },
        { "(a:1e1)", "a*10" },
        { "(a:1e)", "a:1e*1.1" },
        { "(a:1_0)", "a*10" },
        { "(a:1__0)", "a:1__0*1.1" },
        { "(a:_1)", "a:_1*1.1" },
        { "(a:0x10)", "a:0x10*1.1" },
        { "(a:1,2)", "a:1,2*1.1" },
        { "(a:inf)", "a*inf" },
        { "(a:-Infinity)", "a*-inf" },
        { "(a:\xef\xbc\x91.\xef\xbc\x95)", "a*1.5" }, // fullwidth digits
        { "(a\xef\xbc\x9a"
          "1.5)",
          "a\xef\xbc\x9a"
          "1.5*1.1" }, // a fullwidth colon is text
        { "(\xc3\xa9t\xc3\xa9:1.2)", "\xc3\xa9t\xc3\xa9*1.2" },
        // Unbalanced.
        { "(a", "(a*1" },
        { "a)", "a)*1" },
        { "(a (b)", "a *1.1|(b*1.1" },
        { "((a)", "(a*1.1" },
        { "a))(b)", "a))(b)*1" },
        { ")(a)", ")(a)*1" },
        { "(a)) (b)", "a*1.1|) (b)*1" },
        { "(", "(*1" },
        { ")", ")*1" },
        // Only parentheses.
        { "()", "" },
        { "(())", "" },
        { "()()a", "a*1" },
        { "( )", " *1.1" },
        // Escapes.
        { "\\(a\\)", "(a)*1" },
        { "(a\\):1.5)", "a)*1.5" },
        { "(a \\(b\\))", "a (b)*1.1" },
        { "\\\\(a)", "\\(a)*1" },
        { "\\a\\", "\\a\\*1" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_STR(segments(cases[i][0]), cases[i][1]);
    double v;
    CHECK(nino_prompt_number("nan", 3, &v) && isnan(v));
    CHECK(!nino_prompt_number("", 0, &v) && !nino_prompt_number("  ", 2, &v));
    CHECK(!nino_prompt_number("1\0", 2, &v));
}

static void nesting(void)
{
    char text[2 * 300 + 2];
    nino_segment *list = NULL;
    size_t n = 0;
    for (size_t depth = NINO_PROMPT_MAX_DEPTH - 1; depth < NINO_PROMPT_MAX_DEPTH + 2; depth++) {
        memset(text, '(', depth);
        text[depth] = 'a';
        memset(text + depth + 1, ')', depth);
        const nino_status st = nino_prompt_segments(text, 2 * depth + 1, &list, &n, &err);
        CHECK(st == (depth <= NINO_PROMPT_MAX_DEPTH ? NINO_OK : NINO_ERR_RANGE));
        if (!st) {
            CHECK(n == 1);
            free(list);
        }
    }
}

// ---- chunks ----------------------------------------------------------------------------------

// The real rules with the small vocabulary's numbers, which stands in for T5's too.
static nino_prompt_rules rules_of(nino_prompt_style style)
{
    nino_prompt_rules r = nino_prompt_rules_for(style, tok);
    if (style > NINO_PROMPT_CLIP_H)
        r.start = -1;
    return r;
}

static nino_prompt build(nino_prompt_style style, const char *text)
{
    const nino_prompt_rules r = rules_of(style);
    nino_prompt p;
    CHECK_OK(nino_prompt_build(tok, &r, text, &p, &err), err);
    return p;
}

// Number of word tokens in a chunk, after checking everything about it: start, words, end, padding.
static int words_in(const nino_prompt *p, int chunk, int pad)
{
    const nino_token *t = p->tokens + chunk * p->chunk_len;
    int n = 0;
    CHECK(t[0].id == TEXT_START && t[0].word == 0 && t[0].weight == 1.0f && t[0].attend);
    while (t[n + 1].word) {
        CHECK(t[n + 1].attend && t[n + 1].vector == -1 && t[n + 1].id >= 0);
        n++;
    }
    CHECK(t[n + 1].id == TEXT_END && t[n + 1].attend && t[n + 1].weight == 1.0f);
    for (int i = n + 2; i < p->chunk_len; i++)
        CHECK(t[i].id == pad && !t[i].attend && !t[i].word && t[i].weight == 1.0f);
    CHECK(nino_prompt_attended(p, chunk) == n + 2);
    return n;
}

// "70 7": words in each chunk of a CLIP prompt.
static const char *chunks(const char *text)
{
    static char out[256];
    nino_prompt l = build(NINO_PROMPT_CLIP_L, text), g = build(NINO_PROMPT_CLIP_G, text);
    size_t at = 0;
    out[0] = 0;
    CHECK(l.chunk_len == 77 && g.chunk_len == 77 && l.n_chunks == g.n_chunks);
    for (int c = 0; c < l.n_chunks; c++) {
        const int n = words_in(&l, c, TEXT_END);
        CHECK(words_in(&g, c, 0) == n);
        at += (size_t) snprintf(out + at, sizeof(out) - at, "%s%d", c ? " " : "", n);
    }
    nino_prompt_release(&l);
    nino_prompt_release(&g);
    return out;
}

// n times `s`, then `tail`
static const char *times(int n, const char *s, const char *tail)
{
    static char out[8192];
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t) snprintf(out + at, sizeof(out) - at, "%s", s);
    snprintf(out + at, sizeof(out) - at, "%s", tail);
    return out;
}

static void packing(void)
{
    CHECK_STR(chunks(""), "0");
    CHECK_STR(chunks("   "), "0");
    CHECK_STR(chunks("()"), "0");
    CHECK_STR(chunks("cat"), "1");
    CHECK_STR(chunks(times(75, "b", "")), "75");
    CHECK_STR(chunks(times(76, "b", "")), "75 1");
    CHECK_STR(chunks(times(150, "b", "")), "75 75");
    CHECK_STR(chunks(times(300, "b ", "")), "75 75 75 75");
    // A group is what one pair of parentheses holds: under 8 tokens it stays whole.
    CHECK_STR(chunks(times(68, "b", "(bbbbbbb)")), "75");
    CHECK_STR(chunks(times(69, "b", "(bbbbbbb)")), "69 7");
    CHECK_STR(chunks(times(75, "b", "(b)")), "75 1");
    CHECK_STR(chunks(times(69, "b", "(bbbbbbbb)")), "75 2");
    CHECK_STR(chunks(times(75, "b", "(bbbbbbbb)")), "75 8");
    CHECK_STR(chunks(times(69, "b", "(bbbbbbb)(b)")), "69 8");
    CHECK_STR(chunks(times(30, "(bbbbbbb)", "")), "70 70 70");
}

static void tokens(void)
{
    nino_prompt p = build(NINO_PROMPT_CLIP_L, "cat (dog:1.5) ((aa))b");
    int32_t ids[77];
    static const int32_t want[] = { TEXT_START, TEXT_CAT, TEXT_DOG, 64, 320, 321, TEXT_END };
    static const double weight[] = { 1, 1, 1.5, 1.21, 1.21, 1, 1 };
    static const int word[] = { 0, 1, 2, 4, 4, 5, 0 }; // the space between is group 3
    CHECK(p.is_weighted && p.n_chunks == 1 && !p.vectors && !p.n_vectors && p.width == 768);
    nino_prompt_chunk_ids(&p, 0, ids);
    for (int i = 0; i < 7; i++)
        CHECK(ids[i] == want[i] && p.tokens[i].weight == (float) weight[i] &&
              p.tokens[i].word == word[i]);
    nino_prompt_release(&p);
    p = build(NINO_PROMPT_CLIP_L, "cat (dog:1.0)");
    CHECK(!p.is_weighted);
    nino_prompt_release(&p);
    p = build(NINO_PROMPT_CLIP_L, "(:d:0.5)"); // "(:" is no weight, the last colon is
    CHECK(p.is_weighted && p.tokens[1].weight == 0.5f && p.tokens[2].id == text_byte('d', 1));
    nino_prompt_release(&p);
    // An end token that was written out ends the mask.
    p = build(NINO_PROMPT_CLIP_L, "cat <|endoftext|> dog");
    CHECK(nino_prompt_attended(&p, 0) == 3 && p.tokens[3].id == TEXT_DOG && !p.tokens[3].attend);
    nino_prompt_release(&p);
    nino_prompt_release(NULL);
}

static void t5(void)
{
    static const struct {
        nino_prompt_style style;
        int min;
    } all[] = { { NINO_PROMPT_T5_FLUX, 256 },
                { NINO_PROMPT_T5_SD3, 77 },
                { NINO_PROMPT_UMT5_WAN, 512 } };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        nino_prompt p = build(all[i].style, "cat (dog:2)");
        CHECK(p.n_chunks == 1 && p.chunk_len == all[i].min && p.is_weighted);
        CHECK(p.tokens[0].id == TEXT_CAT && p.tokens[1].id == TEXT_DOG &&
              p.tokens[2].id == TEXT_END);
        CHECK(p.tokens[1].weight == 2.0f && nino_prompt_attended(&p, 0) == 3);
        for (int k = 3; k < p.chunk_len; k++)
            CHECK(p.tokens[k].id == 0 && !p.tokens[k].attend);
        nino_prompt_release(&p);
        p = build(all[i].style, "");
        CHECK(p.chunk_len == all[i].min && p.tokens[0].id == TEXT_END && p.tokens[0].attend &&
              nino_prompt_attended(&p, 0) == 1);
        nino_prompt_release(&p);
        p = build(all[i].style, times(all[i].min, "b ", "(b)")); // nothing is cut off
        CHECK(p.n_chunks == 1 && p.chunk_len == all[i].min + 2 &&
              nino_prompt_attended(&p, 0) == p.chunk_len);
        nino_prompt_release(&p);
    }
}

// Nothing but the end follows the words, and the empty prompt is as long, of pads alone.
static void bare(void)
{
    nino_prompt_rules r = rules_of(NINO_PROMPT_T5_BARE);
    nino_prompt p = build(NINO_PROMPT_T5_BARE, "cat (dog:2)");
    CHECK(p.n_chunks == 1 && p.chunk_len == 3 && p.is_weighted);
    CHECK(p.tokens[1].id == TEXT_DOG && p.tokens[2].id == TEXT_END);
    nino_prompt_release(&p);
    p = build(NINO_PROMPT_T5_BARE, "");
    CHECK(p.chunk_len == 1 && p.tokens[0].id == TEXT_END);
    nino_prompt_release(&p);
    CHECK_OK(nino_prompt_empty(&r, 3, &p, &err), err);
    for (int i = 0; i < 3; i++)
        CHECK(p.tokens[i].id == 0);
    CHECK(p.chunk_len == 3);
    nino_prompt_release(&p);
}

static void empty(void)
{
    nino_prompt_rules r = rules_of(NINO_PROMPT_CLIP_G);
    nino_prompt p;
    CHECK_OK(nino_prompt_empty(&r, 77, &p, &err), err);
    CHECK(p.n_chunks == 1 && p.chunk_len == 77 && !p.is_weighted && words_in(&p, 0, 0) == 0);
    nino_prompt_release(&p);
    CHECK(nino_prompt_empty(&r, 1, &p, &err) == NINO_ERR_ARG);
    r = rules_of(NINO_PROMPT_T5_SD3);
    CHECK_OK(nino_prompt_empty(&r, 90, &p, &err), err);
    CHECK(p.chunk_len == 90 && p.tokens[0].id == TEXT_END && p.tokens[89].id == 0);
    CHECK(nino_prompt_attended(&p, 0) == 1);
    nino_prompt_release(&p);
}

static void limits(void)
{
    nino_prompt_rules r = rules_of(NINO_PROMPT_CLIP_L);
    nino_prompt p;
    char *huge = malloc((1 << 20) + 2);
    memset(huge, 'b', (1 << 20) + 1);
    huge[(1 << 20) + 1] = 0;
    CHECK(nino_prompt_build(tok, &r, huge, &p, &err) == NINO_ERR_RANGE && !p.tokens);
    free(huge);
    r.max_len = 9;
    CHECK(nino_prompt_build(tok, &r, "b", &p, &err) == NINO_ERR_ARG);
    r.max_len = 10;
    CHECK_OK(nino_prompt_build(tok, &r, "(bbbbbbb)(bbbbbbb)", &p, &err), err);
    CHECK(p.n_chunks == 2 && p.chunk_len == 10);
    nino_prompt_release(&p);
}

// The numbers that the published vocabularies begin, end and fill a text with.
static void real_numbers(void)
{
    static const nino_prompt_style clip[] = { NINO_PROMPT_CLIP_L, NINO_PROMPT_CLIP_G,
                                              NINO_PROMPT_CLIP_H };
    for (int i = 0; i < 3; i++) {
        const nino_prompt_rules r = nino_prompt_rules_of(clip[i]);
        CHECK(r.start == 49406 && r.end == 49407 && r.max_len == 77);
        CHECK(r.pad == (i ? 0 : 49407));
    }
    const nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_T5_FLUX);
    CHECK(r.start == -1 && r.end == 1 && r.pad == 0 && r.min_len == 256 && r.width == 4096);
}

// Rules that contradict themselves, and an empty prompt without room for its ends.
static void bad_rules(void)
{
    static const nino_prompt_rules bad[] = {
        { .width = -1, .max_len = 77 },   { .min_pad = -1, .max_len = 77 },
        { .min_len = -1, .max_len = 77 }, { .max_len = -1 },
        { .max_len = 77, .min_pad = 1 },  { .max_len = 9 },
        { .max_len = 77, .min_len = 78 }, { .start = -1, .end = -1 },
    };
    nino_prompt p;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(nino_prompt_build(tok, &bad[i], "a", &p, &err) == NINO_ERR_ARG && !p.tokens);
        CHECK(strstr(err.msg, "do not fit"));
    }
    const nino_prompt_rules clip = nino_prompt_rules_of(NINO_PROMPT_CLIP_L);
    for (int len = -1; len < 2; len++)
        CHECK(nino_prompt_empty(&clip, len, &p, &err) == NINO_ERR_ARG && !p.tokens);
    CHECK_OK(nino_prompt_empty(&clip, 2, &p, &err), err);
    CHECK(p.chunk_len == 2 && p.tokens[0].id == 49406 && p.tokens[1].id == 49407);
    nino_prompt_release(&p);
}

int main(void)
{
    real_numbers();
    tok = text_open_clip(dir);
    weights();
    nesting();
    packing();
    tokens();
    t5();
    bare();
    empty();
    limits();
    bad_rules();
    nino_tokenizer_unref(&tok);
    char path[128];
    snprintf(path, sizeof(path), "%s/bpe_simple_vocab_16e6.txt", dir);
    return unlink(path) || rmdir(dir);
}
