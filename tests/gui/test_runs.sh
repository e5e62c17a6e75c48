#!/bin/bash
# Kept runs: listed, opened, compared, named, deleted.
exec bash "$(dirname "$0")/program.sh" runs @ "$@"
