#!/bin/bash
# Merges the shards of {{experiment}}, once they have ended: sbatch --dependency=afterany:JOB
{{>slurm/head.sh}}
exec "${runner[@]}" merge "$folder"{{#by_device}} --by-device{{/by_device}}
