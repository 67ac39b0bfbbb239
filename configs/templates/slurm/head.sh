{{#options}}
#SBATCH {{option}}
{{/options}}

folder={{folder}}
runner=({{runner}})
scontrol=$(command -v scontrol)
{{#setup}}

{{setup}}
{{/setup}}

set -eo pipefail
