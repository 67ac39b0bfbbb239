#pragma once
// What a process that runs foreign code may do to others, as far as the kernel can limit it.

#include <filesystem>
#include <vector>

namespace kzoo::process {

// From now on this thread, and the threads and processes that it starts, can change files only
// under `writable`, /dev, /proc and the folder in which CUDA caches compiled kernels; they cannot
// trace other processes, nor, from Linux 6.12 on, send signals to them. By Landlock; without effect
// where the kernel does not have it. Files that are open already stay usable. System calls are
// refused as refused_calls.hpp says.
void confine(const std::vector<std::filesystem::path>& writable);

}  // namespace kzoo::process
