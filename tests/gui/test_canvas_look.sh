#!/bin/bash
# How the canvas looks: marks of a run, fitted views, contrast.
exec bash "$(dirname "$0")/program.sh" canvas_look "$@"
