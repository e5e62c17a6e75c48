#!/bin/bash
# The canvas by pointer and keyboard: nodes, links, groups, points of links, ends of subgraphs.
exec bash "$(dirname "$0")/program.sh" canvas_input "$@"
