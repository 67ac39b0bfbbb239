#!/usr/bin/env bash
# A Slurm of its own on this machine: munged, slurmctld and three slurmd, for the user who calls this,
# with all their files in DIR. Once it is there, the programs of Slurm use it with SLURM_CONF=DIR/slurm.conf.
#
#   slurm_cluster.sh start DIR [PID]   exit code 77, with a word, where Slurm is missing or does not
#                                      start; stops when that process has ended, however it did
#   slurm_cluster.sh stop DIR          ends the jobs and all that `start` has started
#   slurm_cluster.sh lose DIR PID      kills the slurmstepd and the slurmd above a process of a job: it
#                                      runs on, and Slurm takes the node for lost
set -euo pipefail
command=$1 dir=$2 pid=${3-}
PATH=$PATH:/usr/sbin:/sbin
export SLURM_CONF=$dir/slurm.conf

skip() {
  echo "skipped: $*" >&2
  exit 77
}

# What runs on after this script, with its process id and output in files.
daemon() {
  local name=$1
  shift
  setsid "$@" >"$dir/$name.out" 2>&1 </dev/null &
  echo $! >"$dir/$name.pid"
}

wait_for() {
  local what=$1
  shift
  for _ in {1..100}; do
    ! "$@" >/dev/null 2>&1 || return 0
    sleep 0.1
  done
  tail -n 3 "$dir"/*.out >&2
  stop
  skip "$what does not start here"
}

is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The first of four ports in a row that nobody listens at.
free_ports() {
  local port
  for _ in {1..50}; do
    port=$((20000 + RANDOM % 10000))
    if is_free "$port" && is_free $((port + 1)) && is_free $((port + 2)) && is_free $((port + 3)); then
      echo "$port"
      return
    fi
  done
  skip "no four free ports"
}

configure() {
  local host port user
  host=$(hostname -s) port=$(free_ports) user=$(id -un)
  cat >"$SLURM_CONF" <<TEXT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/slurmctld.own
SlurmdPidFile=$dir/%n.own
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/%n.log
PluginDir=$(plugin_folder)
PlugStackConfig=$dir/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_interval=1,bf_interval=1
ReturnToService=2
SlurmdTimeout=6
KillWait=5
MinJobAge=300
MaxArraySize=101
MailProg=/bin/true
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 State=UNKNOWN
NodeName=node3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 3)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
TEXT
  : >"$dir/plugstack.conf"
}

plugin_folder() { dirname "$(find /usr/lib /usr/lib64 -name select_cons_tres.so 2>/dev/null | head -n 1)"; }

start() {
  local program
  for program in munged slurmctld slurmd sbatch squeue scontrol scancel; do
    command -v "$program" >/dev/null || skip "there is no $program here; Debian's packages are slurm-wlm and munge"
  done
  mkdir -p "$dir"/{state,node1,node2,node3}
  chmod 755 "$dir"
  configure
  head -c 1024 /dev/urandom >"$dir/munge.key"
  chmod 400 "$dir/munge.key"
  daemon munged munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
    --pid-file="$dir/munged.own" --seed-file="$dir/munge.seed" --log-file="$dir/munged.log"
  wait_for munged test -S "$dir/munge.socket"
  daemon slurmctld slurmctld -D -f "$SLURM_CONF"
  for node in node1 node2 node3; do daemon "$node" slurmd -D -N "$node" -f "$SLURM_CONF"; done
  wait_for Slurm three_idle
  [[ -z $pid ]] || setsid "$BASH" "${BASH_SOURCE[0]}" guard "$dir" "$pid" >/dev/null 2>&1 </dev/null &
}

# Stops when a process has ended without doing so.
guard() {
  while kill -0 "$pid" 2>/dev/null; do
    [[ -d $dir ]] || return 0
    sleep 0.5
  done
  [[ ! -d $dir ]] || stop
}

parent_of() { ps -o ppid= -p "$1" | tr -d ' '; }

lose() {
  local node stepd
  node=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SLURMD_NODENAME=//p')
  stepd=$(parent_of "$(parent_of "$pid")")
  [[ $(ps -o args= -p "$stepd") == slurmstepd* ]]
  echo "$pid" >"$dir/lost-$pid.pid"
  kill -9 "$(<"$dir/$node.pid")" "$stepd"
  scontrol update "NodeName=$node" State=DOWN Reason=lost # what slurmctld does itself, minutes later
}

three_idle() { (($(sinfo --noheader --Node --states=idle --partition=all --format=%N | wc -l) == 3)); }

no_jobs() { [[ -z $(squeue --noheader) ]]; }

# A process that was lost may have ended, and another one may have its number.
is_of_this_cluster() {
  { tr '\0' '\n' <"/proc/$1/environ" | grep -qx "SLURM_CONF=$SLURM_CONF"; } 2>/dev/null
}

stop() {
  local file
  if [[ -s $dir/slurmctld.pid ]] && kill -0 "$(<"$dir/slurmctld.pid")" 2>/dev/null; then
    scancel --state=PENDING --me 2>/dev/null || true
    scancel --me 2>/dev/null || true
    for _ in {1..80}; do ! no_jobs || break; sleep 0.1; done
  fi
  for file in "$dir"/lost-*.pid; do
    if [[ ! -s $file ]] || ! is_of_this_cluster "$(<"$file")"; then rm -f "$file"; fi
  done
  for file in "$dir"/*.pid; do [[ ! -s $file ]] || kill "$(<"$file")" 2>/dev/null || true; done
  for file in "$dir"/*.pid; do
    for _ in {1..50}; do kill -0 "$(<"$file")" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$(<"$file")" 2>/dev/null || true
  done
}

case $command in
  start) start ;;
  stop) stop ;;
  guard) guard ;;
  lose) lose ;;
esac
