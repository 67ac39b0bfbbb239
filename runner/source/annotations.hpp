#pragma once
// Build settings in a source's first lines:
//
//   // kzoo: arch=90a libraries=cublas
//
// KEY=VALUE, separated by spaces; commas separate the elements of a list, except inside
// parentheses, and quotes keep spaces together. KEY alone is KEY=true. What follows the word `tune`
// in a line is in a table of that name:
//
//   // kzoo: tune BM=64,128 BN=64,128 restrictions=BM*BN<=8192

#include "experiment/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

std::string_view without_byte_order_mark(std::string_view text);

// The keys of all such lines before the first line of code. Adds errors to `report`.
experiment::node_table annotations(std::string_view source, input::diagnostics& report);

// Whether the text is an architecture for CMake and nvcc: "90", "90a", "90a-real", "80-virtual",
// "native", "all", "all-major".
bool is_architecture(std::string_view text);
// nvcc's option for an architecture.
std::string architecture_option(std::string name);
inline constexpr const char* kArchitectureForm =
    "an architecture as CMake writes it: 90a, 80-virtual, native";

struct build_settings {
  std::vector<std::string> architectures;  // arch=90a: as CMAKE_CUDA_ARCHITECTURES
  std::vector<std::string> libraries;      // libraries=cublas: linked for cuda, and where native
  std::vector<std::string> options;        // options=-DTILE=64: of the compiler
  bool native = false;                     // for cpu without the simulator
};

build_settings read_build_settings(experiment::table_reader& keys);

}  // namespace kzoo::source
