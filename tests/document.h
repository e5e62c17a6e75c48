// What the tests of editable workflows share.
#pragma once
#include <ninodes/document.h>

#include "tests/test.h"

static nino_error err;

#define OK(call) CHECK_OK(call, err)

static inline nino_document *load(const char *json)
{
    nino_document *d = nino_document_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(d ? NINO_OK : err.code, err);
    return d;
}

static inline const nino_doc_node *node(const nino_document *d, const char *id)
{
    const nino_doc_node *n = nino_document_node(d, nino_document_find(d, id));
    CHECK(n);
    return n;
}

// As it would be saved; good until the next change.
static inline const char *text_of(nino_document *d)
{
    const char *s = nino_document_ui_json(d, NULL);
    CHECK(s);
    return s;
}

static inline char *kept_text(nino_document *d)
{
    char *s = strdup(text_of(d));
    CHECK(s);
    return s;
}

// The last step undone and done again; what is written can be read and is written the same again.
static inline void check_undo(nino_document *d, const char *before)
{
    char *after = kept_text(d);
    nino_document *copy = load(after);
    CHECK_STR(text_of(copy), after);
    nino_document_destroy(&copy);
    OK(nino_document_undo(d, &err));
    CHECK_STR(text_of(d), before);
    OK(nino_document_redo(d, &err));
    CHECK_STR(text_of(d), after);
    free(after);
}
