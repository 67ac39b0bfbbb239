#pragma once
// Tests that cannot run on every machine. Catch2 2.13 cannot skip a test. Such tests therefore have
// a hidden tag, such as [.gpu], and ctest runs each tag in its own process (tests/CMakeLists.txt).
// The first test that cannot run ends the process; ctest shows its exit code as "Skipped".

#include <string>

namespace kzoo::test {

// Ends the process with the exit code for skipped tests.
[[noreturn]] void skip(const std::string& why);

// Skips if there is no CUDA device.
void needs_gpu();

// Skips if the kernel has no Landlock that limits signals (since Linux 6.12).
void needs_landlock();

// A command's setting that hides all GPUs from it.
inline constexpr const char* kNoGpu = "CUDA_VISIBLE_DEVICES=";

}  // namespace kzoo::test
