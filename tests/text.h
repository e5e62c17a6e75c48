// Tokenizers small enough to write down: a CLIP vocabulary of single bytes and a few merges, a
// SentencePiece model, and the trie of a character map.
#pragma once
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/text/tokenizer.h"
#include "tests/test.h"

// ---- CLIP ------------------------------------------------------------------------------------

// A bpe_simple_vocab: ids 0...255 are bytes, 256...511 bytes at the end of a word, then the merges,
// <|startoftext|> and <|endoftext|>.
#define TEXT_BPE_MERGES                                                                            \
    "\"vocab.txt#version: 0.2\n"                                                                   \
    "c a\n"                                                                                        \
    "ca t</w>\n"                                                                                   \
    "d o\n"                                                                                        \
    "do g</w>\n"                                                                                   \
    "a a\n"                                                                                        \
    "' s</w>\n"
enum { TEXT_CA = 512, TEXT_CAT, TEXT_DO, TEXT_DOG, TEXT_AA, TEXT_S, TEXT_START, TEXT_END };

// Id of an ASCII letter or digit there.
static inline int text_byte(char c, int is_last) { return c - 33 + (is_last ? 256 : 0); }

// The tokenizer of that vocabulary, from a file in dir, which is made: "/tmp/...-XXXXXX".
static inline nino_tokenizer *text_open_clip(char *dir)
{
    const char *dirs[] = { dir, NULL };
    nino_error err = { 0 };
    nino_tokenizer *tok = NULL;
    CHECK(mkdtemp(dir));
    CHECK_OK(nino_file_save(dir, "bpe_simple_vocab_16e6.txt", true, TEXT_BPE_MERGES,
                            strlen(TEXT_BPE_MERGES), &err),
             err);
    CHECK_OK(nino_tokenizer_open(NINO_TOKENIZER_CLIP, dirs, &tok, &err), err);
    return tok;
}

// ---- SentencePiece ---------------------------------------------------------------------------

static inline void text_varint(nino_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        nino_buf_addc(b, (char) (v | 0x80));
    nino_buf_addc(b, (char) v);
}

static inline void text_number(nino_buf *b, unsigned field, uint64_t v)
{
    text_varint(b, field << 3);
    text_varint(b, v);
}

static inline void text_bytes(nino_buf *b, unsigned field, const void *p, size_t n)
{
    text_varint(b, field << 3 | 2);
    text_varint(b, n);
    nino_buf_add(b, p, n);
}

// type 0: left out
static inline void text_piece(nino_buf *model, const char *piece, float score, int type)
{
    nino_buf p = { 0 };
    text_bytes(&p, 1, piece, strlen(piece));
    text_varint(&p, 2 << 3 | 5);
    nino_buf_add(&p, &score, 4);
    if (type)
        text_number(&p, 3, (uint64_t) type);
    text_bytes(model, 1, p.data, p.len);
    nino_buf_release(&p);
}

// A precompiled_charsmap of a few rules. Every trie node gets 256 units of its own.
typedef struct text_rule {
    const char *from, *to;
} text_rule;

#define TEXT_NODES 64

static inline nino_buf text_charsmap(const text_rule *rules)
{
    static uint32_t unit[(TEXT_NODES + 1) * 256];
    uint32_t at[TEXT_NODES] = { 0 }; // unit of a node; its children are at (node + 1) * 256 ^ byte
    uint32_t n_nodes = 1;
    nino_buf texts = { 0 }, out = { 0 };
    memset(unit, 0, sizeof(unit));
    unit[0] = 256 << 10;
    for (; rules->from; rules++) {
        uint32_t node = 0;
        for (const unsigned char *s = (const unsigned char *) rules->from; *s; s++) {
            const uint32_t k = (node + 1) * 256 ^ *s;
            uint32_t child = 0;
            for (uint32_t i = 1; i < n_nodes; i++)
                if (at[i] == k)
                    child = i;
            if (!child) {
                CHECK(n_nodes < TEXT_NODES);
                child = n_nodes++;
                at[child] = k;
                unit[k] = (k ^ (child + 1) * 256) << 10 | *s;
            }
            node = child;
        }
        unit[at[node]] |= 0x100;
        unit[(node + 1) * 256] = 0x80000000u | (uint32_t) texts.len;
        nino_buf_add(&texts, rules->to, strlen(rules->to) + 1);
    }
    const uint32_t bytes = (n_nodes + 1) * 256 * 4;
    nino_buf_add(&out, &bytes, 4);
    nino_buf_add(&out, unit, bytes);
    nino_buf_add(&out, texts.data, texts.len);
    nino_buf_release(&texts);
    return out;
}

// "1 2 3" of ids, which are freed.
static inline const char *text_ids(int32_t *ids, int n)
{
    static char out[8192];
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < n && at < sizeof(out) - 16; i++)
        at += (size_t) snprintf(out + at, sizeof(out) - at, "%s%d", i ? " " : "", (int) ids[i]);
    free(ids);
    return out;
}
