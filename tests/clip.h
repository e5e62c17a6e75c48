// What tests of text encoders share: tokenizers and embeddings from given folders.
#pragma once
#include "core/model/clip/text_encoder.h"
#include "core/text/embedding.h"
#include "tests/vae.h"

typedef struct test_services {
    char dir[NINO_TOKENIZER_KINDS][300]; // folders of the tokenizers
    const char *embeddings;              // folder, NULL: none
    char *const *files;                  // in it, NULL-terminated
    char warning[512];                   // the last one
    nino_tokenizer *tok[NINO_TOKENIZER_KINDS];
} test_services;

static inline nino_status test_tokenizer(void *priv, nino_tokenizer_kind kind, nino_tokenizer **out,
                                         nino_error *err)
{
    test_services *t = priv;
    const char *const dirs[] = { t->dir[kind], NULL };
    nino_status st = NINO_OK;
    if (!t->tok[kind])
        st = nino_tokenizer_open(kind, dirs, &t->tok[kind], err);
    *out = nino_tokenizer_ref(t->tok[kind]);
    return st;
}

static inline nino_status test_embedding(void *priv, const char *name, nino_weights **out,
                                         nino_error *err)
{
    const test_services *t = priv;
    char path[256];
    const int i = t->files ? nino_embedding_find(name, t->files) : -1;
    if (i < 0)
        return NINO_ERR_MISSING;
    snprintf(path, sizeof(path), "%s/%s", t->embeddings, t->files[i]);
    return (*out = nino_weights_open(path, err)) ? NINO_OK : NINO_ERR_IO;
}

static inline void test_warn(void *priv, const char *text)
{
    test_services *t = priv;
    snprintf(t->warning, sizeof(t->warning), "%s", text);
}

static inline nino_text_services test_services_open(test_services *t, const char *assets)
{
    *t = (test_services){ .files = NULL };
    static const char *const names[NINO_TOKENIZER_KINDS] = { "clip", "t5", "umt5", "qwen25",
                                                             "mistral3" };
    for (int i = 0; i < NINO_TOKENIZER_KINDS; i++)
        snprintf(t->dir[i], sizeof(t->dir[i]), "%s/models/tokenizers/%s", assets, names[i]);
    return (nino_text_services){ t, test_tokenizer, test_embedding, test_warn };
}

static inline void test_services_close(test_services *t)
{
    for (int i = 0; i < NINO_TOKENIZER_KINDS; i++)
        nino_tokenizer_unref(&t->tok[i]);
}

static inline nino_cond *test_clip_encode(nino_stream *s, const nino_clip *c,
                                          const nino_clip_text *text)
{
    nino_error err = { 0 };
    nino_cond *cond = NULL;
    CHECK_OK(nino_clip_encode(s, c, text, &cond, &err), err);
    CHECK(cond->n == 1 && cond->entry[0].context);
    return cond;
}
