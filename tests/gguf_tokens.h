// Pieces of GGUF files; a SentencePiece model as the key-values that llama.cpp's converter makes of
// it.
#pragma once
#include "core/base/buf.h"
#include "core/text/proto.h"
#include "tests/test.h"

enum { GGUF_TOKEN_KEYS = 7 }; // how many gguf_tokens() adds

static inline void gguf_u32(nino_buf *b, uint32_t v) { nino_buf_add(b, &v, sizeof(v)); }
static inline void gguf_u64(nino_buf *b, uint64_t v) { nino_buf_add(b, &v, sizeof(v)); }

static inline void gguf_bytes(nino_buf *b, const void *p, size_t n)
{
    gguf_u64(b, n);
    nino_buf_add(b, p, n);
}

static inline void gguf_string(nino_buf *b, const char *s) { gguf_bytes(b, s, strlen(s)); }

static inline void gguf_text(nino_buf *b, const char *key, const char *value)
{
    gguf_string(b, key);
    gguf_u32(b, 8);
    gguf_string(b, value);
}

static inline void gguf_bool(nino_buf *b, const char *key, bool value)
{
    gguf_string(b, key);
    gguf_u32(b, 7);
    nino_buf_addc(b, value ? 1 : 0);
}

static inline void gguf_list(nino_buf *b, const char *key, uint32_t type, uint64_t count,
                             const nino_buf *values)
{
    gguf_string(b, key);
    gguf_u32(b, 9);
    gguf_u32(b, type);
    gguf_u64(b, count);
    nino_buf_add(b, values->data, values->len);
}

// To where a tensor may begin.
static inline void gguf_pad(nino_buf *b)
{
    while (b->len % 32)
        nino_buf_add(b, "", 1);
}

// Takes both.
static inline void gguf_save(nino_buf *head, nino_buf *data, const char *path)
{
    gguf_pad(head);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(head->data, 1, head->len, f) == head->len &&
          fwrite(data->data, 1, data->len, f) == data->len && fclose(f) == 0);
    nino_buf_release(head);
    nino_buf_release(data);
}

typedef struct gguf_model {
    nino_buf tokens, scores, types, charsmap;
    uint64_t n;
    bool prefix, trims;
} gguf_model;

static inline void gguf_read_piece(gguf_model *m, const nino_proto_field *message)
{
    nino_proto r = nino_proto_of(message->data, message->len);
    nino_proto_field f, text = { .data = (const unsigned char *) "" };
    float score = 0;
    uint32_t type = 1;
    while (nino_proto_next(&r, &f))
        if (f.number == 1)
            text = f;
        else if (f.number == 2)
            nino_proto_float(&f, &score);
        else if (f.number == 3)
            type = (uint32_t) f.value;
    gguf_bytes(&m->tokens, text.data, text.len);
    nino_buf_add(&m->scores, &score, 4);
    gguf_u32(&m->types, type);
    m->n++;
}

static inline void gguf_read_normalizer(gguf_model *m, const nino_proto_field *message)
{
    nino_proto r = nino_proto_of(message->data, message->len);
    nino_proto_field f;
    while (nino_proto_next(&r, &f))
        if (f.number == 2)
            nino_buf_add(&m->charsmap, f.data, f.len);
        else if (f.number == 3)
            m->prefix = f.value;
        else if (f.number == 4)
            m->trims = f.value;
}

static inline void gguf_tokens(nino_buf *b, const void *spiece, size_t n)
{
    gguf_model m = { .prefix = true, .trims = true };
    nino_proto r = nino_proto_of(spiece, n);
    nino_proto_field f;
    while (nino_proto_next(&r, &f))
        if (f.number == 1)
            gguf_read_piece(&m, &f);
        else if (f.number == 3)
            gguf_read_normalizer(&m, &f);
    gguf_text(b, "tokenizer.ggml.model", "t5");
    gguf_list(b, "tokenizer.ggml.tokens", 8, m.n, &m.tokens);
    gguf_list(b, "tokenizer.ggml.scores", 6, m.n, &m.scores);
    gguf_list(b, "tokenizer.ggml.token_type", 5, m.n, &m.types);
    gguf_list(b, "tokenizer.ggml.precompiled_charsmap", 0, m.charsmap.len, &m.charsmap);
    gguf_bool(b, "tokenizer.ggml.add_space_prefix", m.prefix);
    gguf_bool(b, "tokenizer.ggml.remove_extra_whitespaces", m.trims);
    nino_buf_release(&m.tokens);
    nino_buf_release(&m.scores);
    nino_buf_release(&m.types);
    nino_buf_release(&m.charsmap);
}
