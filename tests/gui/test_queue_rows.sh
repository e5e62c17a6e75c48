#!/bin/bash
# The queue's rows: each state looks different, a job that made a picture shows it.
here=$(dirname "$0")
exec bash "$here/program.sh" queue_rows "$here/../../data/demo/input/square.png"
