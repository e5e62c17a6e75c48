// GGUF tables at their edges: numbers that a 64-bit sum cannot hold, shapes and names that stay as they
// are, long arrays of a file that changed after it was opened.
#include <fcntl.h>

#include "core/base/file.h"
#include "core/file/gguf.h"
#include "core/file/gguf_list.h"
#include "core/text/tokenizer.h"
#include "tests/gguf_tokens.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;

enum { I8 = 24 }; // a type of tensors; others: tests/gguf_tokens.h

static nino_buf head_of(unsigned n_tensors, unsigned n_keys)
{
    nino_buf b = { 0 };
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, n_tensors);
    gguf_u64(&b, n_keys);
    return b;
}

static void add_tensor(nino_buf *b, const char *name, uint64_t n, uint64_t offset)
{
    gguf_string(b, name);
    gguf_u32(b, 1);
    gguf_u64(b, n);
    gguf_u32(b, I8);
    gguf_u64(b, offset);
}

// Takes the table. kind: of the refusal, NULL: there is none, and the header is the caller's.
static nino_st_header parse(nino_buf *b, uint64_t file_bytes, const char *kind)
{
    nino_st_header h;
    err = (nino_error){ 0 };
    const nino_status st = nino_gguf_parse(b->data, b->len, file_bytes, "x.gguf", &h, NULL, &err);
    if (kind) {
        CHECK(st == NINO_ERR_FORMAT && !h.arena);
        CHECK_STR(err.kind, kind);
    } else {
        CHECK_OK(st, err);
    }
    nino_buf_release(b);
    return h;
}

// ---- tensors -----------------------------------------------------------------------------------

static void check_places(void)
{
    const uint64_t half = INT64_MAX; // bytes, 2^63 with what fills them up
    nino_buf b = head_of(3, 0);
    add_tensor(&b, "a", half, 0);
    add_tensor(&b, "b", half - 1000, half + 1);
    add_tensor(&b, "c", 2000, 0 - (uint64_t) 992);
    parse(&b, UINT64_MAX, "truncated"); // c would end beyond 64 bits
    CHECK(strstr(err.where, ": c"));
    b = head_of(2, 0);
    add_tensor(&b, "a", half, 0);
    add_tensor(&b, "b", half - 1000, half + 1);
    nino_st_header h = parse(&b, UINT64_MAX, NULL);
    CHECK(h.infos[1].bytes == half - 1000 && h.infos[1].offset > half);
    nino_st_header_release(&h);
    b = head_of(2, 0); // with the table before it, b would end beyond 64 bits
    add_tensor(&b, "a", half, 0);
    add_tensor(&b, "b", half - 10, half + 1);
    parse(&b, UINT64_MAX, "truncated");
    CHECK(strstr(err.where, ": b"));
    b = head_of(1, 0); // cut where zeros would lead up to the data
    add_tensor(&b, "a", 1, 0);
    CHECK(b.len % 32);
    parse(&b, b.len, "truncated");
    b = head_of(3, 0);
    add_tensor(&b, "b", 32, 0);
    add_tensor(&b, "a", 32, 32);
    add_tensor(&b, "a", 32, 64);
    parse(&b, 4096, "dup");
}

static void check_align(void)
{
    nino_buf b = head_of(0, 1), one = { 0 };
    gguf_u32(&one, 64);
    gguf_list(&b, "general.alignment", 4, 1, &one);
    parse(&b, b.len, "schema"); // a list of one number is no number
    CHECK(strstr(err.msg, "not a u32"));
    nino_buf_release(&one);
}

// Any two keys that are the same, wherever they stand among the others.
static void check_keys(void)
{
    static const char *const keys[] = { "a.first", "b.second", "c.third", "d.fourth" };
    for (int n = 2; n <= 4; n++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k <= i; k++) { // k == i: all differ
                nino_buf b = head_of(0, (unsigned) n), one = { 0 };
                gguf_u32(&one, 64);
                for (int at = 0; at < n; at++)
                    gguf_list(&b, keys[at == i ? k : at], 4, 1, &one);
                nino_st_header h = parse(&b, b.len, k == i ? NULL : "dup");
                nino_buf_release(&one);
                if (k == i) {
                    CHECK(h.n_meta == n);
                    nino_st_header_release(&h);
                    continue;
                }
                char want[64];
                snprintf(want, sizeof(want), "the key '%s' occurs twice", keys[k]);
                CHECK_STR(err.msg, want);
            }
}

// The shape a tensor of six values has, where the file says that it was `dims`.
static nino_st_header with_shape(const int *dims, int n)
{
    nino_buf b = head_of(1, 1), list = { 0 };
    for (int i = 0; i < n; i++)
        gguf_u32(&list, (uint32_t) dims[i]);
    gguf_list(&b, "comfy.gguf.orig_shape.w", 5, (uint64_t) n, &list);
    add_tensor(&b, "w", 6, 0);
    nino_buf_release(&list);
    return parse(&b, 4096, NULL);
}

static void check_shapes(void)
{
    static const struct {
        int dims[6], n, rank;
        const char *what;
    } cases[] = {
        { { 2, 3 }, 2, 2, "another shape of as many values" },
        { { 1, 2, 1, 3, 1 }, 5, 5, "as many dimensions as are read" },
        { { 1, 2, 1, 3, 1, 1 }, 6, 1, "one more" },
        { { 2, 4 }, 2, 1, "other values" },
        { { 0x40000000, 0x40000000, 0x40000000 }, 3, 1, "more than 64 bits" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_st_header h = with_shape(cases[i].dims, cases[i].n);
        if (h.infos[0].rank != cases[i].rank)
            fprintf(stderr, "  %s: rank %d\n", cases[i].what, h.infos[0].rank);
        CHECK(h.infos[0].rank == cases[i].rank);
        CHECK(h.infos[0].dim[0] == (cases[i].rank > 1 ? cases[i].dims[0] : 6));
        nino_st_header_release(&h);
    }
}

// Names of language models get their names elsewhere, where the file is of a model that is known.
static void check_names(void)
{
    static const struct {
        const char *arch, *name, *want;
    } cases[] = {
        { "qwen3", "blk.12.attn_q.weight", "model.layers.12.self_attn.q_proj.weight" },
        { "qwen3", "output.weight", "lm_head.weight" },
        { "bert", "blk.12.attn_q.weight", "blk.12.attn_q.weight" },
        { "qwen3", "blk.x.attn_q.weight", "blk.x.attn_q.weight" },
        { "qwen3", "blk.1234567.attn_q.weight", "blk.1234567.attn_q.weight" },
        { "qwen3", "blk.12", "blk.12" },
        { "qwen3", "blk.12.other.weight", "blk.12.other.weight" },
        { "qwen3", "12.attn_q.weight", "12.attn_q.weight" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_buf b = head_of(2, 1);
        gguf_text(&b, "general.architecture", cases[i].arch);
        add_tensor(&b, "blk.0.attn_output.weight", 32, 0);
        add_tensor(&b, cases[i].name, 32, 32);
        nino_st_header h = parse(&b, 4096, NULL);
        CHECK_STR(h.infos[1].name, cases[i].want);
        nino_st_header_release(&h);
    }
}

// ---- long arrays -------------------------------------------------------------------------------

static const char *const keys[] = { "words", "numbers", NULL };

static nino_weights *save(nino_buf *b)
{
    CHECK_OK(nino_file_save(dir.path, "gguf", false, b->data, b->len, &err), err);
    nino_buf_release(b);
    return test_open("%s/gguf", dir.path);
}

// Two keys: `words`, two strings, and `numbers`, three of one byte.
static nino_weights *make_lists(void)
{
    nino_buf b = head_of(0, 3), list = { 0 };
    gguf_text(&b, "a", "b");
    gguf_string(&list, "one");
    gguf_string(&list, "");
    gguf_list(&b, "words", 8, 2, &list);
    list.len = 0;
    nino_buf_adds(&list, "123");
    gguf_list(&b, "numbers", 0, 3, &list);
    nino_buf_release(&list);
    return save(&b);
}

static void check_lists(void)
{
    nino_gguf_list l[2];
    void *owned = NULL;
    const char *s;
    size_t len;
    nino_weights *w = make_lists();
    CHECK_OK(nino_gguf_lists(w, keys, l, &owned, &err), err);
    CHECK(l[0].type == 8 && l[0].count == 2 && l[1].type == 0 && l[1].count == 3);
    CHECK(!memcmp(l[1].p, "123", 3) && l[1].end == l[1].p + 3);
    CHECK(nino_gguf_next(&l[0], &s, &len) && len == 3 && !memcmp(s, "one", 3));
    CHECK(nino_gguf_next(&l[0], &s, &len) && len == 0);
    CHECK(!nino_gguf_next(&l[0], &s, &len) && !nino_gguf_next(&l[1], &s, &len));
    free(owned);
    CHECK(!nino_gguf_lists(w, (const char *const[]){ "a", NULL }, l, &owned, &err));
    CHECK(!l[0].count); // a text is no list
    free(owned);
    nino_weights_unref(&w);
    nino_array *a = nino_array_create(NINO_U8, NINO_SHAPE(1));
    const nino_st_entry entry = { "words", a };
    CHECK(a);
    CHECK_OK(nino_st_save(dir.path, "gguf", true, &entry, 1, NULL, 0, &err), err);
    nino_array_unref(&a);
    w = test_open("%s/gguf", dir.path);
    CHECK_OK(nino_gguf_lists(w, keys, l, &owned, &err), err); // of no GGUF file
    CHECK(!owned && !l[0].count && !l[1].count);
    nino_weights_unref(&w);
}

// The file is written over after it was opened; whatever stands there then is refused.
static void check_changed(void)
{
    enum { FIRST = 24, TYPE_OF_FIRST = FIRST + 8 + 1, WORDS = TYPE_OF_FIRST + 4 + 8 + 1 };
    enum { TYPE = WORDS + 8 + 5, OF = TYPE + 4, COUNT = OF + 4, LENGTH = COUNT + 8 };
    static const struct {
        int at;
        const char *bytes, *what;
        int n;
    } cases[] = {
        { FIRST, "\xff\xff\xff\xff\xff\xff\xff\xff", "a key without an end", 8 },
        { TYPE_OF_FIRST, "\xd", "a type that is none", 1 },
        { TYPE_OF_FIRST + 4, "\xff\xff", "a text without an end", 2 },
        { OF, "\x9", "a list of lists", 1 },
        { OF, "\xc", "numbers for which there is no room", 1 },
        { OF, "\x77", "a list of a type that is none", 1 },
        { COUNT, "\0\0\0\0\0\0\1", "more values than bytes", 7 },
        { COUNT, "\x1f", "more words than there are", 1 },
        { LENGTH, "\0\1", "a word without an end", 2 },
        { 16, "\x4", "one key more", 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_gguf_list l[2];
        void *owned = &l;
        char path[160];
        nino_weights *w = make_lists();
        snprintf(path, sizeof(path), "%s/gguf", dir.path);
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        CHECK(fd >= 0 &&
              pwrite(fd, cases[i].bytes, (size_t) cases[i].n, cases[i].at) == cases[i].n &&
              !close(fd));
        if (nino_gguf_lists(w, keys, l, &owned, &err) != NINO_ERR_FORMAT)
            fprintf(stderr, "  %s\n", cases[i].what);
        CHECK(err.code == NINO_ERR_FORMAT && strstr(err.msg, "has changed") && !owned);
        err = (nino_error){ 0 };
        nino_weights_unref(&w);
    }
    nino_gguf_list l[2];
    void *owned = &l;
    char path[160];
    nino_weights *w = make_lists();
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    CHECK(!truncate(path, 30));
    CHECK(nino_gguf_lists(w, keys, l, &owned, &err) && !owned);
    nino_weights_unref(&w);
}

// A file of 513 MiB whose table is as long, for there is no tensor: holes cost nothing.
static void check_long(void)
{
    nino_gguf_list l[2];
    void *owned = &l;
    char path[160];
    nino_weights *w = make_lists();
    nino_weights_unref(&w);
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    CHECK(!truncate(path, (off_t) 513 << 20));
    w = test_open("%s/gguf", dir.path);
    CHECK(nino_gguf_lists(w, keys, l, &owned, &err) == NINO_ERR_FORMAT && !owned);
    CHECK_STR(err.kind, "limit");
    nino_weights_unref(&w);
}

// ---- tokenizers --------------------------------------------------------------------------------

// A tokenizer of one token, of whose lists one is another; `say`: part of the refusal.
static void check_tokenizer(const char *model, uint32_t tokens, uint64_t n_tokens, uint32_t n_types,
                            uint32_t map, const char *say)
{
    nino_buf b = head_of(0, 5), list = { 0 };
    nino_tokenizer *t = NULL;
    const bool is_bpe = !strcmp(model, "gpt2");
    gguf_text(&b, "tokenizer.ggml.model", model);
    if (tokens == 8 && n_tokens)
        gguf_string(&list, "<unk>");
    gguf_list(&b, "tokenizer.ggml.tokens", tokens, n_tokens, &list);
    list.len = 0;
    gguf_u32(&list, 0);
    gguf_list(&b, "tokenizer.ggml.scores", 6, 1, &list);
    list.len = 0;
    for (uint32_t i = 0; i < n_types; i++)
        gguf_u32(&list, is_bpe ? 1 : 2);
    gguf_list(&b, "tokenizer.ggml.token_type", 5, n_types, &list);
    list.len = 0;
    gguf_u32(&list, 0);
    if (!map)
        list.len = 0;
    gguf_list(&b, is_bpe ? "tokenizer.ggml.merges" : "tokenizer.ggml.precompiled_charsmap",
              is_bpe ? 8 : map, map ? 1 : 0, &list);
    nino_buf_release(&list);
    nino_weights *w = save(&b);
    const nino_status st = nino_tokenizer_from_gguf(w, &t, &err);
    if (!strstr(err.msg, say))
        fprintf(stderr, "  %s: %s\n", say, err.msg);
    CHECK(st == NINO_ERR_FORMAT && !t && strstr(err.msg, say));
    nino_weights_unref(&w);
}

// 4194305 words of no letter: 32 MiB of zeros, most of them a hole in the file.
static void check_many(const char *model)
{
    const uint64_t n = (1 << 22) + 1;
    nino_buf b = head_of(0, 2), none = { 0 };
    char path[160];
    nino_tokenizer *t = NULL;
    gguf_text(&b, "tokenizer.ggml.model", model);
    gguf_list(&b, "tokenizer.ggml.tokens", 8, n, &none);
    const off_t size = (off_t) (b.len + n * 8);
    CHECK_OK(nino_file_save(dir.path, "gguf", false, b.data, b.len, &err), err);
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    CHECK(!truncate(path, size));
    nino_buf_release(&b);
    nino_weights *w = test_open("%s/gguf", dir.path);
    CHECK(nino_tokenizer_from_gguf(w, &t, &err) == NINO_ERR_FORMAT && !t);
    CHECK(strstr(err.msg, "at most 4194304 strings"));
    nino_weights_unref(&w);
}

static void check_tokenizers(void)
{
    check_tokenizer("t5", 8, 1, 1, 0, "it has no pieces");
    check_tokenizer("t5", 0, 0, 1, 0, "tokens is not a list");
    check_tokenizer("t5", 8, 1, 2, 0, "token_type is not one i32 a token");
    check_tokenizer("t5", 8, 1, 1, 4, "precompiled_charsmap is not bytes");
    check_tokenizer("t5", 8, 1, 1, 1, "character map is damaged");
    check_tokenizer("gpt2", 0, 0, 1, 0, "tokens is not a list");
    check_tokenizer("gpt2", 8, 0, 1, 0, "tokens is not a list");
    check_tokenizer("gpt2", 8, 1, 2, 0, "token_type is not one i32 a token");
    check_many("t5");
    check_many("gpt2");
}

int main(void)
{
    static const char *const files[] = { "gguf", NULL };
    dir = test_dir_create();
    check_places();
    check_align();
    check_keys();
    check_shapes();
    check_names();
    check_lists();
    check_changed();
    check_long();
    check_tokenizers();
    test_dir_remove(&dir, files);
    return 0;
}
