# shellcheck shell=bash disable=SC1091 # lines of a batch script
# For runner submit … --setup examples/cluster/modules.sh -- --partition=gpu --gpus=1 --time=60
# These lines stand at the start of both batch scripts. The names of modules are those of your cluster:
# `module avail cuda`. What they load must be what kernel-zoo was built with. There is no `module purge`: on
# some clusters it unloads what Slurm itself needs.
type module &>/dev/null || . /etc/profile.d/modules.sh # a batch script is no login shell
module load gcc/12 cuda/13.0
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true # for the log
