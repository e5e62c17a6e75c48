# The examples of data/examples: GNU parallel, Open MPI and a Slurm cluster of one node that the test starts in its own
# folder. Each gives the files of a single run.
. tests/cli/common
[ -d data/demo/models ] || { echo "skip: no demo model"; exit 77; }
top=$PWD
NINODES=$(realpath "$N")
export NINODES
W="$top/data/workflows/text_to_image.json --models $top/data/demo/models --device ref --no-profile --set KSampler.steps=1
   --set EmptySD3LatentImage.width=32 --set EmptySD3LatentImage.height=32 --set EmptySD3LatentImage.batch_size=5"
expect 0 "$NINODES" run $W --output "$tmp/one" --telemetry=off -q
[ "$(ls "$tmp/one" | wc -l)" = 5 ] || die "not five files"
tried=
try() { # NAME COMMAND...: in a folder of its own
    name=$1
    shift
    mkdir -p "$tmp/$name"
    (cd "$tmp/$name" && "$@") >"$tmp/out" 2>"$tmp/err" || die "$name"
    diff -r "$tmp/one" "$tmp/$name/output" >"$tmp/out" || die "$name: not the files of a single run"
    tried="$tried $name"
}

if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q GNU; then
    export PARALLEL_HOME=$tmp/parallel-home
    mkdir "$PARALLEL_HOME" && touch "$PARALLEL_HOME/will-cite"
    try parallel "$top/data/examples/parallel.sh" 3 $W --output output
else
    echo "part skipped: GNU parallel is not installed"
fi

if command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    root=
    [ "$(id -u)" != 0 ] || root=--allow-run-as-root
    export OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=/bin/false
    MPIRUN="mpirun $root --oversubscribe" try mpi "$top/data/examples/mpi.sh" 3 $W --output output
else
    echo "part skipped: Open MPI is not installed"
fi

# A cluster of one node: munged for the names of users, slurmctld, slurmd; ports, keys and logs of our own.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
stop_slurm() {
    for p in slurmd slurmctld munged; do
        [ ! -s "$tmp/$p.pid" ] || kill "$(cat "$tmp/$p.pid")" 2>/dev/null
    done
    for _ in $(seq 50); do
        kill -0 "$(cat "$tmp/slurmctld.pid" 2>/dev/null)" 2>/dev/null || break
        sleep 0.1
    done
    rm -rf "$tmp"
}
start_slurm() {
    host=$(hostname -s)
    user=$(id -un)
    mkdir -p "$tmp/slurm/state" "$tmp/slurm/spool"
    chmod 755 "$tmp"
    (umask 077 && head -c 1024 /dev/urandom >"$tmp/munge.key")
    munged --force --socket="$tmp/munge.socket" --key-file="$tmp/munge.key" --log-file="$tmp/munged.log" \
        --pid-file="$tmp/munged.pid" --seed-file="$tmp/munge.seed" || return 1
    cat >"$tmp/slurm.conf" <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$tmp/munge.socket
CredType=cred/munge
StateSaveLocation=$tmp/slurm/state
SlurmdSpoolDir=$tmp/slurm/spool
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
EOF
    export SLURM_CONF=$tmp/slurm.conf
    slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF" -N "$host" || return 1
    for _ in $(seq 100); do
        sinfo -h -o %t 2>/dev/null | grep -q '^idle' && return 0
        sleep 0.2
    done
    return 1
}
if command -v sbatch >/dev/null && command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v munged >/dev/null; then
    trap stop_slurm EXIT
    if start_slurm >"$tmp/out" 2>"$tmp/err"; then
        export WAIT=1 TMPDIR=$tmp
        try slurm "$top/data/examples/slurm.sh" 3 $W --output output
        [ "$(ls "$tmp/slurm/part-"[123].log | wc -l)" = 3 ] || die "not an array of three"
    else
        echo "part skipped: Slurm does not start here: $(tail -n 1 "$tmp/slurmctld.log" "$tmp/slurmd.log" "$tmp/err" 2>/dev/null)"
    fi
else
    echo "part skipped: Slurm is not installed"
fi
[ -n "$tried" ] || { echo "skip: none of GNU parallel, Open MPI and Slurm is installed"; exit 77; }
echo "tried:$tried"
exit 0
