#!/bin/sh
# A workflow in N parts as a Slurm job array, and a job behind it that joins them:
#   slurm.sh N WORKFLOW [OPTION]...                     options of both run and gather, such as --models
#   SBATCH_PARTITION=gpu SBATCH_GPUS=1 slurm.sh 8 WORKFLOW ...      sbatch reads these
# Prints the number of the job that joins, whose output names the files; waits for it with WAIT=1. A part that fails
# (scontrol requeue brings it back) keeps the others: only it is computed again.
set -eu
n=$1
shift
export NINODES="${NINODES:-ninodes}" NINODES_PARTS="${NINODES_PARTS:-parts}"
part=$(mktemp "${TMPDIR:-/tmp}/part.XXXXXX")
trap 'rm -f "$part"' EXIT
cat >"$part" <<'END'
#!/bin/sh
exec "$NINODES" run "$@" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --parts "$NINODES_PARTS" --quiet
END
array=$(sbatch --parsable --job-name=ninodes --output=part-%a.log --array="1-$n" "$part" "$@")
cat >"$part" <<'END'
#!/bin/sh
exec "$NINODES" gather "$@" --parts "$NINODES_PARTS" --quiet
END
sbatch --parsable --job-name=ninodes-gather --output=gather.log --dependency="afterok:${array%%;*}" \
    --kill-on-invalid-dep=yes ${WAIT:+--wait} "$part" "$@"
