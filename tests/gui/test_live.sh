#!/bin/bash
# Every view of a run: drawn in light and dark, filtered by a range, exported; what they cost in the long form.
set -eu
program="$(dirname "$0")/program.sh"
if [ -n "${NINODES_TEST_LONG:-}" ]; then bash "$program" live_cost 5; fi
exec bash "$program" live_views @ "$@"
