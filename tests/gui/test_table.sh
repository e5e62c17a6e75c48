#!/bin/bash
# The kernel table: head, top, rows by shape and by work size, filter, export.
exec bash "$(dirname "$0")/program.sh" live_table "$@"
