#pragma once
// Landlock: which files a process can open, however it does.

#include "os/posix.hpp"

#include <filesystem>
#include <vector>

namespace kzoo::process::landlock {

// The rules of a confined child: it can change files only below `writable` and where CUDA writes,
// and reach no device but those of CUDA and of memory. What is open already stays usable. Owns
// nothing where the kernel does not have Landlock.
descriptor rules(const std::vector<std::filesystem::path>& writable);

// Puts them into force for this thread and what it starts. A system call alone, for a child that
// shares its parent's memory. False where it fails.
bool obey(int rules);

}  // namespace kzoo::process::landlock
