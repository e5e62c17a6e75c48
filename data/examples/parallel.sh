#!/bin/sh
# A workflow in N parts with GNU parallel, here or on the machines of a list that ssh reaches:
#   parallel.sh N WORKFLOW [OPTION]...                  options of both run and gather, such as --models
#   PARALLEL='--sshloginfile hosts.txt --workdir .' parallel.sh N WORKFLOW ...      the folder is shared by all
set -eu
n=$1
shift
parts=${NINODES_PARTS:-parts}
seq "$n" | parallel --jobs "${JOBS:-$n}" --halt now,fail=1 --quote "${NINODES:-ninodes}" run "$@" --shard "{}/$n" --parts "$parts" --quiet
exec "${NINODES:-ninodes}" gather "$@" --parts "$parts"
