#!/bin/bash
# The colours of kinds of time are told apart in every theme and with every common colour blindness.
B=${B:-build}
[ -x "$B/tests/gui/program/colours" ] || { echo "skip: the app was not built"; exit 77; }
exec "$B/tests/gui/program/colours"
