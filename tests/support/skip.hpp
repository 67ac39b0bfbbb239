#pragma once
// Tests that some machines cannot make. Catch2 2.13 has no word for them, so they are hidden from
// the others by their tag, [.gpu] say, and ctest runs them in a process of their own, which ends at
// the first that cannot be made, with an exit code that ctest shows as "Skipped".

#include <string>

namespace kzoo::test {

// Ends the process as one that skipped its tests.
[[noreturn]] void skip(const std::string& why);

// Skips where there is no CUDA device.
void needs_gpu();

// Put before a command, leaves it no GPU to see.
inline constexpr const char* kNoGpu = "CUDA_VISIBLE_DEVICES=";

}  // namespace kzoo::test
