#pragma once

#include <exception>

namespace kzoo::cli {

// Documented in the README; scripts rely on them.
inline constexpr int kOk = 0;
inline constexpr int kSomeCellFailed = 1;
inline constexpr int kBadInput = 2;  // usage, experiment file
inline constexpr int kNoSuchDevice = 3;
inline constexpr int kRegression = 4;
inline constexpr int kNotWritten = 5;   // disk full, closed pipe
inline constexpr int kSignalled = 128;  // plus the signal's number, as in a shell
int exit_code_of(const std::exception& fault);

}  // namespace kzoo::cli
