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
