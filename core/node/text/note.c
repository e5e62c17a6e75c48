// Nodes that never run: notes, and what the editor resolves before a run. API files rarely hold
// them.
#include "core/node/node_impl.h"

NINO_NODE(note, "Note", "Note", "utils", "Text for people", NINO_NO_OUTPUTS, .is_virtual = true);
NINO_NODE(markdown_note, "MarkdownNote", "Markdown Note", "utils", "Formatted text for people",
          NINO_NO_OUTPUTS, .is_virtual = true);
// Its value is written into the inputs it is connected to when a workflow is exported.
NINO_NODE(primitive, "PrimitiveNode", "Primitive", "utils", "A value that several inputs share",
          NINO_NO_OUTPUTS, .is_virtual = true);
// Links go through to its only input.
NINO_NODE(reroute, "Reroute", "Reroute", "utils", "A bend in a link",
          NINO_OUTPUTS({ .key = "", .type = NINO_PORT_ANY, .optional = true }), .is_virtual = true);
