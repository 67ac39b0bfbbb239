# For runner submit … --setup examples/cluster/container.sh: each job runs the program in kernel-zoo's image
# (the Dockerfile's), here by Apptainer, from a copy on the shared folder:
#   apptainer build /shared/kernel-zoo.sif docker-daemon://kernel-zoo:latest
# `runner` is the command that both batch scripts call. --bind makes the folder of the submission, which
# the script has in $folder, the same inside.
module load apptainer
runner=(apptainer exec --nv --bind "$folder" /shared/kernel-zoo.sif /kernel-zoo/build/release/bin/runner)
