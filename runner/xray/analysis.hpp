#pragma once
// Runs a cell from its analysed build in a process of its own.

#include "core/problem.hpp"
#include "xray/counters.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::xray {

inline constexpr std::string_view kAnalysedCommand = "__analysed";

struct analysed_cell {
  std::string library;
  std::uint32_t variant = 0;
  kzoo::problem problem;
  std::uint64_t most_blocks = 0;  // per launch; 0: all, unless the problem is large
};

// The cell's launches, with counts. Throws failure.
std::vector<launch> analyse(const analysed_cell& cell, double timeout_seconds);

std::vector<launch> analyse_here(const analysed_cell& cell);

// The main function of the process. `cell`: its last argument.
int analysed_main(std::string_view cell);

// Returns the build of FOLDER/cpu/NAME.so that records its accesses, made when needed by the
// plugin's own build. Throws failure, unavailable or error.
std::filesystem::path analysed_build(const std::filesystem::path& file);

// Returns the existing analysed build; empty if there is none, or only an older plugin's.
std::filesystem::path existing_build(const std::filesystem::path& file);

// An analysis as JSON, schema kzoo.xray/1: docs/formats.md.
std::string to_text(const document& d);
std::string schema();

}  // namespace kzoo::xray
