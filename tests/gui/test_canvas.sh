#!/bin/bash
# The canvas: nodes, editors, search, subgraphs, by actions, pointer and keyboard.
exec bash "$(dirname "$0")/program.sh" canvas "$@"
