#pragma once
// Tests that cannot run on every machine. Catch2 2.13 cannot skip a test, so they have a hidden tag
// for what they need, such as [.gpu], and ctest runs those of a tag in a process of their own (see
// tests/CMakeLists.txt). It ends at the first test that cannot run, with an exit code that ctest
// shows as "Skipped".

#include <string>

namespace kzoo::test {

// Ends the process with the exit code for skipped tests.
[[noreturn]] void skip(const std::string& why);

// Skips where there is no CUDA device.
void needs_gpu();

// Skips where the kernel has no Landlock, or one that does not limit signals (before Linux 6.12).
void needs_landlock();

// As the setting of a command, hides all GPUs from it.
inline constexpr const char* kNoGpu = "CUDA_VISIBLE_DEVICES=";

}  // namespace kzoo::test
