# shellcheck shell=bash disable=SC1091,SC2034 # lines of a batch script
# For runner submit … --setup examples/cluster/container.sh: each job runs the program in kernel-zoo's image
# (the Dockerfile's), here by Apptainer. Neither the image nor these lines have been run yet.
#
# On a machine that has docker:
#   docker build -t kernel-zoo . && docker save -o kernel-zoo.tar kernel-zoo
# On the cluster, to the shared folder:
#   apptainer build /shared/kernel-zoo.sif docker-archive:kernel-zoo.tar
#
# submit, status and merge, typed on the login node, run outside the image, so a runner of the same version
# must be built there. `runner` is the command that both batch scripts call. --bind makes the folder of the
# submission, which the script has in $folder, the same inside. Plugins are those of the image; the folder of
# a file named by --plugins, or of --plugin-dir, needs a --bind of its own.
type module &>/dev/null || . /etc/profile.d/modules.sh
module load apptainer # where it is a module
runner=(apptainer exec --nv --bind "$folder" /shared/kernel-zoo.sif /kernel-zoo/build/release/bin/runner)
