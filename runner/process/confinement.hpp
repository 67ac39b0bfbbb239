#pragma once
// What a process that runs foreign code may do to others, as far as the kernel can limit it.

namespace kzoo::process {

// From now on this process, its threads and its descendants can change files only under the
// temporary folders, /dev, /proc and the folder in which CUDA caches compiled kernels; they cannot
// trace other processes, nor, from Linux 6.12 on, send signals to them. By Landlock; without effect
// where the kernel does not have it. Files that are open already stay usable.
void confine();

}  // namespace kzoo::process
