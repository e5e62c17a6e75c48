#!/bin/bash
# The canvas: nodes, editors, search, subgraphs, ports, by actions.
exec bash "$(dirname "$0")/program.sh" canvas "$@"
