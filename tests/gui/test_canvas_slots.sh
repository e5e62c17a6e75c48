#!/bin/bash
# Adding a node at a slot of another one, by keyboard alone.
exec bash "$(dirname "$0")/program.sh" canvas_slots "$@"
