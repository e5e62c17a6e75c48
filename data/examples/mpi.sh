#!/bin/sh
# A workflow in N parts, each a rank of Open MPI, which chooses the machines:
#   mpi.sh N WORKFLOW [OPTION]...                       options of both run and gather, such as --models
#   MPIRUN='mpirun --hostfile hosts.txt' mpi.sh N WORKFLOW ...      the folder is shared by all
# No message passes between the ranks: each keeps its part in a file.
set -eu
n=$1
shift
export NINODES="${NINODES:-ninodes}" NINODES_PARTS="${NINODES_PARTS:-parts}"
${MPIRUN:-mpirun} -n "$n" sh -c \
    'exec "$NINODES" run "$@" --shard $((OMPI_COMM_WORLD_RANK + 1))/$OMPI_COMM_WORLD_SIZE --parts "$NINODES_PARTS" --quiet' part "$@"
exec "$NINODES" gather "$@" --parts "$NINODES_PARTS"
