#!/bin/bash
# The queue's rows: each state looks different.
exec bash "$(dirname "$0")/program.sh" queue_rows "$@"
