// Workflows in the UI form for tests of Use Everywhere: put together from pieces, and what a link became.
#pragma once
#include "core/workflow/workflow.h"
#include "tests/prompt.h"

static inline nino_graph *load(const char *quoted)
{
    nino_error err = { 0 };
    char *json = test_quoted(quoted);
    nino_graph *g = nino_graph_load(json, strlen(json), "flow.json", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    free(json);
    return g;
}

// "['4', 0]", a number, or "-": not there.
static inline void expect(nino_graph *g, const char *node, const char *input, const char *want)
{
    const int i = nino_graph_find(g, node);
    CHECK(i >= 0);
    const nino_json *v = nino_json_get(nino_json_get(g->nodes[i].json, "inputs"), input);
    nino_buf b = { 0 };
    if (v)
        nino_json_write(&b, g->doc, v);
    else
        nino_buf_adds(&b, "-");
    char *quoted = test_quoted(want);
    CHECK_STR(b.data, quoted);
    free(quoted);
    nino_buf_release(&b);
}

#define IN(name, type, link) "{'name': '" name "', 'type': '" type "', 'link': " link "}"
#define OUT(type, links) "{'name': '" type "', 'type': '" type "', 'links': " links "}"
#define NODE(id, type, inputs, outputs, more)                                                      \
    "{'id': " id ", 'type': '" type "', 'pos': [0, 0], 'inputs': [" inputs                         \
    "], 'outputs': [" outputs "], 'widgets_values': []" more "}"
#define VAE NODE("1", "VAELoader", "", OUT("VAE", "[1]"), "")
