// Nodes that never run: notes, and what the editor resolves before a run. API files rarely hold
// them.
#include <ninodes/node.h>

static const nino_port nothing[] = { { 0 } };

const nino_node_def nino_node_note = {
    .key = "Note",
    .title = "Note",
    .category = "utils",
    .help = "Text for people",
    .outputs = nothing,
    .is_virtual = true,
};
const nino_node_def nino_node_markdown_note = {
    .key = "MarkdownNote",
    .title = "Markdown Note",
    .category = "utils",
    .help = "Formatted text for people",
    .outputs = nothing,
    .is_virtual = true,
};
// Its value is written into the inputs it is connected to when a workflow is exported.
const nino_node_def nino_node_primitive = {
    .key = "PrimitiveNode",
    .title = "Primitive",
    .category = "utils",
    .help = "A value that several inputs share",
    .outputs = nothing,
    .is_virtual = true,
};
// Links go through to its only input.
static const nino_port any[] = { { .key = "", .type = NINO_PORT_ANY, .optional = true }, { 0 } };
const nino_node_def nino_node_reroute = {
    .key = "Reroute",
    .title = "Reroute",
    .category = "utils",
    .help = "A bend in a link",
    .outputs = any,
    .is_virtual = true,
};
