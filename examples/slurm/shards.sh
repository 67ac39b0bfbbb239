#!/bin/bash
# An experiment on a cluster with Slurm, a part of its problems in each job:
#
#   ./zoo build --device cuda                        # once, where the nodes see it
#   sbatch examples/slurm/shards.sh h200 --device cuda
#   ./zoo merge results/shards                       # once the jobs have ended
#
# A job that starts again continues its journal. `sbatch --array=1,3 …` starts two of them again.
#SBATCH --array=0-3
#SBATCH --gpus=1 --cpus-per-task=8 --time=60
#SBATCH --exclusive
#SBATCH --requeue --open-mode=append
#SBATCH --output=slurm-%A_%a.log

# Numbers from 0, in the order of `./zoo check`. All kernels of a problem run on one device.
problems=(0-1 2-3 4 5)
folder=${SHARDS:-results/shards}
runner=("${RUNNER:-build/release/bin/runner}")
# module load cuda/13.0
# runner=(apptainer exec --nv kernel-zoo.sif /kernel-zoo/build/release/bin/runner)

mkdir -p "$folder"
shard=$SLURM_ARRAY_TASK_ID
exec "${runner[@]}" run "$@" --problems "${problems[shard]}" \
  --journal "$folder/shard-$shard.jsonl" --or-resume
