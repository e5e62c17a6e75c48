#!/bin/bash
# What is read from live views: flame graph of a selection, whether a request would fit, the value at the cursor.
exec bash "$(dirname "$0")/program.sh" live_reading @ "$@"
