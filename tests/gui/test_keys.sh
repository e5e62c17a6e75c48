#!/bin/bash
# Keyboard shortcuts and the window that changes them.
exec bash "$(dirname "$0")/program.sh" keys "$@"
