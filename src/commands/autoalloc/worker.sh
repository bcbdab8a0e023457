# One worker in a job of Slurm, submitted by diadem autoalloc slurm, which sets diadem, coordinator, keys and drain above.
# shellcheck shell=sh disable=SC2154
# A machine of another name would be asked for, or would count, if sbatch carries these over.
unset DIADEM_MACHINE DIADEM_WORKER
set -- --coordinator "$coordinator" ${keys:+--keys "$keys"}
# Without the coordinator, or after the end of the run, the job ends at once and takes no place from others.
"$diadem" status "$@" > /dev/null || exit
# Variables that sbatch carries over are the options of the worker.
export DIADEM_MACHINE="$SLURMD_NODENAME" DIADEM_NAME="$SLURMD_NODENAME-$SLURM_JOB_ID"
export DIADEM_THREADS="${DIADEM_THREADS:-$SLURM_CPUS_ON_NODE}" DIADEM_DRAIN="${DIADEM_DRAIN:-$drain}"
export DIADEM_ON_COORDINATOR_LOST="${DIADEM_ON_COORDINATOR_LOST:-finish}" DIADEM_GIVE_UP_AFTER="${DIADEM_GIVE_UP_AFTER:-1h}"
# Slurm signals this process before the time limit. It must be the worker, which drains.
exec "$diadem" worker "$@"
