#!/bin/bash
# {{experiment}} in {{shards}} shards. A task that is started again goes on with its journal; to run what shards 1
# and 3 lack, say: sbatch --array=1,3 {{script}}
{{>slurm/head.sh}}
problems=( # of shard 0, 1, …
{{#problems}}
  {{numbers}}
{{/problems}}
)

shard=$SLURM_ARRAY_TASK_ID
echo "shard $shard in job $SLURM_JOB_ID on $SLURMD_NODENAME, start $((1 + ${SLURM_RESTART_COUNT:-0}))"
# For `runner status`, where these scripts are submitted again.
again="job $SLURM_ARRAY_JOB_ID"
grep -qx "$again" "$folder/submitted" || echo "$again" >>"$folder/submitted" || true
trap : TERM # of scancel and pre-emption: the runner ends by itself, and then this script
code=0
"${runner[@]}" run "$folder"/{{file}} {{run_options}} \
  --problems "${problems[shard]}" --journal "$folder/shard-$shard.jsonl" --or-resume || code=$?
# Killed by another signal, for want of memory, say: it goes on once more, up to three times.
if ((code > 128 && code != 130 && code != 143 && ${SLURM_RESTART_COUNT:-0} < 3)); then
  # By the task's number: the id of one of them is that of the whole array.
  "$scontrol" requeue "${SLURM_ARRAY_JOB_ID}_$shard" ||
    echo "shard $shard could not be queued again: sbatch --array=$shard $folder/shards.sh"
fi
exit $code
