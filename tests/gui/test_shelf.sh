#!/bin/bash
# The drawer of nodes: found by typing, added by Enter, by a double click, by dragging onto the canvas; models with their loaders.
exec bash "$(dirname "$0")/program.sh" shelf "$@"
